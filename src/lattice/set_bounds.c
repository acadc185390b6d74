/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/set_bounds: the classes over each set, and the rows of them that violate. */
#include "lattice/set_bounds.h"

#include <stdlib.h>
#include <string.h>

static const size_t MAX_BASE_BYTES = (size_t)256 << 20; /* of all sets */

/* ------------------------------------------------------------ entries */

static uint64_t n_levels(const shoal_space *space, size_t q) {
  return (uint64_t)(space->top[q] - shoal_space_bottom(space, q)) + 1;
}

uint64_t shoal_set_count_entries(const shoal_space *space, const shoal_quasi_set *set) {
  uint64_t n = 1;
  for (size_t i = 0; i < set->n && n <= SHOAL_MAX_SET_ENTRIES; i++)
    n *= n_levels(space, set->quasi[i]);
  return n;
}

uint64_t shoal_set_entry_at(const shoal_space *space, const shoal_quasi_set *set,
                            const uint32_t *levels) {
  uint64_t entry = 0;
  for (size_t i = 0; i < set->n; i++) {
    size_t q = set->quasi[i];
    entry = entry * n_levels(space, q) + (levels[q] - shoal_space_bottom(space, q));
  }
  return entry;
}

static shoal_status compute(const shoal_set_bounds *b, size_t s, const uint32_t *levels,
                            shoal_grouper *grouper, uint64_t *rows, shoal_error *error) {
  const shoal_set_bound *set = &b->sets[s];
  const shoal_classes *from = set->base.n_classes ? &set->base : &b->frequency->base;
  shoal_labelling labelling = {.levels = levels};
  shoal_classes over;
  uint32_t *ids = shoal_alloc(from->n_classes, sizeof *ids);
  if (!ids) return shoal_fail_memory(error);
  shoal_status status = shoal_classes_project(
      b->frequency, from, &labelling, &b->requirements->sets[s], NULL, grouper, &over, ids, error);
  free(ids);
  if (status != SHOAL_OK) return status;
  *rows = shoal_judge_over(b->requirements, s, b->frequency, &over, NULL);
  shoal_classes_reset(&over);
  return SHOAL_OK;
}

/* What is known of the set at the levels; UINT64_MAX: nothing. */
static uint64_t known_at(const shoal_set_bounds *b, size_t s, const uint32_t *levels) {
  uint64_t entry = shoal_set_entry_at(b->space, &b->requirements->sets[s], levels);
  return atomic_load_explicit(&b->sets[s].rows[entry], memory_order_relaxed);
}

/* Threads may compute an entry twice, with the same result. */
static shoal_status rows_at(const shoal_set_bounds *b, size_t s, const uint32_t *levels,
                            shoal_grouper *grouper, uint64_t *rows, shoal_error *error) {
  *rows = known_at(b, s, levels);
  if (*rows != UINT64_MAX) return SHOAL_OK;
  SHOAL_TRY(compute(b, s, levels, grouper, rows, error));
  uint64_t entry = shoal_set_entry_at(b->space, &b->requirements->sets[s], levels);
  atomic_store_explicit(&b->sets[s].rows[entry], *rows, memory_order_relaxed);
  return SHOAL_OK;
}

shoal_status shoal_set_bounds_at(const shoal_set_bounds *b, const uint32_t *levels, uint64_t limit,
                                 shoal_grouper *grouper, uint8_t *clean, uint64_t *rows,
                                 bool *complete, shoal_error *error) {
  *rows = 0;
  *complete = b->n_sets && !b->requirements->sets[0].required;
  for (size_t s = 1; s < b->n_sets; s++) { /* first without computing anything */
    if (!b->sets[s].rows) continue;
    uint64_t known = known_at(b, s, levels);
    if (known != UINT64_MAX && known > *rows) *rows = known;
  }
  for (size_t s = 0; clean && s < b->n_sets; s++) clean[s] = 0;
  for (size_t s = 1; s < b->n_sets && *rows <= limit; s++) {
    uint64_t own;
    if (!b->sets[s].used) continue;
    if (!b->sets[s].rows) {
      *complete = false;
      continue;
    }
    SHOAL_TRY(rows_at(b, s, levels, grouper, &own, error));
    if (clean) clean[s] = own == 0;
    if (own > *rows) *rows = own;
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ set up */

typedef struct preparation {
  shoal_set_bounds *bounds;
  const uint32_t *bottom; /* levels */
  atomic_size_t next;     /* the first set that no thread has taken */
  atomic_size_t bytes;    /* of the bases so far */
  atomic_bool failed;
} preparation;

static bool prepare_set(preparation *p, size_t s, shoal_grouper *grouper, uint32_t *ids) {
  shoal_set_bounds *b = p->bounds;
  const shoal_quasi_set *set = &b->requirements->sets[s];
  uint64_t n = shoal_set_count_entries(b->space, set);
  b->sets[s].used = set->required;
  if (!set->required || n > SHOAL_MAX_SET_ENTRIES) return true;
  b->sets[s].rows = shoal_alloc((size_t)n, sizeof *b->sets[s].rows);
  if (!b->sets[s].rows) return false;
  for (uint64_t i = 0; i < n; i++) atomic_init(&b->sets[s].rows[i], UINT64_MAX);
  shoal_labelling labelling = {.levels = p->bottom};
  shoal_classes base;
  if (shoal_classes_project(b->frequency, &b->frequency->base, &labelling, set, NULL, grouper,
                            &base, ids, NULL) != SHOAL_OK)
    return false;
  size_t bytes = shoal_classes_bytes(&base);
  bool smaller = base.n_classes < b->frequency->n_tuples / 2;
  if (smaller && atomic_fetch_add(&p->bytes, bytes) + bytes <= MAX_BASE_BYTES)
    b->sets[s].base = base;
  else shoal_classes_reset(&base);
  return true;
}

static void prepare_on_thread(void *user, unsigned thread) {
  (void)thread;
  preparation *p = user;
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  uint32_t *ids = shoal_alloc(p->bounds->frequency->n_tuples, sizeof *ids);
  if (!ids) atomic_store(&p->failed, true);
  for (size_t s; ids && (s = atomic_fetch_add(&p->next, 1)) < p->bounds->n_sets;)
    if (!prepare_set(p, s, &grouper, ids)) atomic_store(&p->failed, true);
  free(ids);
  shoal_grouper_reset(&grouper);
}

shoal_status shoal_set_bounds_init(shoal_set_bounds *b, const shoal_frequency_set *frequency,
                                   const shoal_requirements *requirements, const shoal_space *space,
                                   const shoal_run *run, shoal_error *error) {
  *b = (shoal_set_bounds){.frequency = frequency, .requirements = requirements, .space = space};
  if (requirements->n_sets <= 1) return SHOAL_OK;
  b->sets = shoal_alloc_zero(requirements->n_sets, sizeof *b->sets);
  uint32_t *bottom = shoal_alloc(space->n, sizeof *bottom);
  preparation p = {.bounds = b, .bottom = bottom};
  bool ok = b->sets && bottom;
  if (ok) {
    b->n_sets = requirements->n_sets;
    atomic_store(&p.next, 1);
    for (size_t q = 0; q < space->n; q++) bottom[q] = shoal_space_bottom(space, q);
    shoal_parallel(shoal_run_threads(run), prepare_on_thread, &p);
    ok = !atomic_load(&p.failed);
  }
  free(bottom);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

void shoal_set_bounds_reset(shoal_set_bounds *b) {
  for (size_t s = 0; s < b->n_sets; s++) {
    shoal_classes_reset(&b->sets[s].base);
    free(b->sets[s].rows);
  }
  free(b->sets);
  memset(b, 0, sizeof *b);
}
