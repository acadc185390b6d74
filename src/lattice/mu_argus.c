/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/mu_argus: cell suppression by combinations of at most three attributes (Samarati 2001,
 * section 7).
 *
 * One pass: single attributes in column order, then pairs, then triples, ascending. A combination
 * is counted on the tuples without a suppressed cell in it. Each tuple whose values have fewer than
 * k rows loses one cell. As in the paper, no combination is checked again, so cells suppressed
 * later can make an earlier combination unsafe. Combinations of any size that are left unsafe are
 * then searched for.
 */
#include "lattice/mu_argus.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { MAX_TOGETHER = 3, MAX_SENSITIVE = 3, DEFAULT_SENSITIVITY = 2 };

/* Combinations tried afterwards, at most: all of 13 attributes. */
#define MAX_TRIED UINT64_C(10000)

typedef struct argus {
  const shoal_frequency_set *frequency;
  const shoal_mu_argus_options *options;
  const shoal_run *run;
  shoal_mu_argus *result;
  size_t n;            /* quasi-identifiers */
  uint32_t **labels;   /* by quasi-identifier and tuple; suppressed: n_labels */
  uint32_t *n_labels;  /* of the level, by quasi-identifier */
  uint32_t *n_used;    /* labels in use before anything is suppressed */
  size_t *combination; /* scratch: attributes, ascending */
  uint32_t *active;    /* scratch: the tuples counted */
  uint32_t *group;     /* scratch: of each active tuple */
  uint64_t *rows;      /* scratch: of each group */
  uint32_t n_active, n_groups;
  shoal_grouper grouper;
  shoal_arena arena; /* of the arrays */
} argus;

static uint8_t sensitivity_of(const argus *a, size_t q) {
  return a->options->sensitivity ? a->options->sensitivity[q] : DEFAULT_SENSITIVITY;
}

/* ------------------------------------------------------------ memory */

void shoal_mu_argus_reset(shoal_mu_argus *result) {
  shoal_arena_reset(&result->arena);
  memset(result, 0, sizeof *result);
}

static bool allocate(argus *a) {
  shoal_mu_argus *r = a->result;
  size_t n = a->n, n_tuples = a->frequency->n_tuples;
  r->n_quasi = n;
  bool ok = SHOAL_ARENA_ZEROED(&r->arena, r->levels, n) &&
            SHOAL_ARENA_ZEROED(&r->arena, r->suppressed, n) &&
            SHOAL_ARENA_ARRAY(&r->arena, r->class_of_tuple, n_tuples) &&
            SHOAL_ARENA_ZEROED(&a->arena, a->labels, n) &&
            SHOAL_ARENA_ARRAY(&a->arena, a->n_labels, n) &&
            SHOAL_ARENA_ARRAY(&a->arena, a->n_used, n) &&
            SHOAL_ARENA_ARRAY(&a->arena, a->combination, n) &&
            SHOAL_ARENA_ARRAY(&a->arena, a->active, n_tuples) &&
            SHOAL_ARENA_ARRAY(&a->arena, a->group, n_tuples) &&
            SHOAL_ARENA_ARRAY(&a->arena, a->rows, n_tuples);
  for (size_t q = 0; ok && q < n; q++)
    ok = SHOAL_ARENA_ZEROED(&r->arena, r->suppressed[q], n_tuples) &&
         SHOAL_ARENA_ARRAY(&a->arena, a->labels[q], n_tuples);
  return ok;
}

/* ------------------------------------------------------------ levels and labels */

/* Sets the attribute's level, and each tuple's label there. */
static shoal_status set_level(argus *a, size_t q, shoal_error *error) {
  const shoal_frequency_set *f = a->frequency;
  uint32_t level = a->options->levels ? a->options->levels[q] : 0;
  uint32_t top = shoal_hierarchy_height(f->hierarchies[q]);
  shoal_label_use use;
  SHOAL_TRY(shoal_label_use_count(f, q, level, &use, error));
  while (a->options->generalize && sensitivity_of(a, q) > 0 && level < top &&
         use.fewest_rows < a->options->k)
    SHOAL_TRY(shoal_label_use_count(f, q, ++level, &use, error));
  const shoal_level *labels = &f->hierarchies[q]->levels[level];
  a->result->levels[q] = level;
  a->n_labels[q] = labels->n_labels;
  a->n_used[q] = use.n_labels;
  for (uint32_t t = 0; t < f->n_tuples; t++)
    a->labels[q][t] = labels->of_leaf[shoal_code_at(f->codes[q], t)];
  return SHOAL_OK;
}

/* ------------------------------------------------------------ combinations */

static void first_combination(size_t *combination, size_t size) {
  for (size_t i = 0; i < size; i++) combination[i] = i;
}

/* The next one of the same size, ascending; false after the last. */
static bool next_combination(size_t *combination, size_t size, size_t n) {
  size_t i = size;
  while (i > 0 && combination[i - 1] == n - size + i - 1) i--;
  if (i == 0) return false;
  combination[i - 1]++;
  for (; i < size; i++) combination[i] = combination[i - 1] + 1;
  return true;
}

/* Do the sensitivities ask for this combination? */
static bool is_asked_for(const argus *a, size_t size) {
  unsigned times[MAX_SENSITIVE + 1] = {0};
  if (size > MAX_TOGETHER) return false;
  for (size_t i = 0; i < size; i++) times[sensitivity_of(a, a->combination[i])]++;
  if (times[0] > 0) return false;
  if (size == 1) return true;
  if (a->options->reading == SHOAL_MU_ARGUS_WIDE) return times[2] + times[3] > 0;
  return times[1] <= 1 && times[2] <= 1 && times[3] <= 1;
}

/* Groups the active tuples by the combination, and counts each group's rows. */
static bool count_groups(argus *a, size_t size, bool suppressed_is_a_value) {
  size_t n = a->n_active;
  if (!shoal_grouper_start(&a->grouper, n)) return false;
  for (size_t i = 0; i < size; i++) {
    size_t q = a->combination[i];
    uint64_t n_labels = (uint64_t)a->n_labels[q] + suppressed_is_a_value;
    if (!shoal_grouper_fold(&a->grouper, n, a->active, a->labels[q], n_labels, a->group))
      return false;
  }
  a->n_groups = shoal_grouper_ids(&a->grouper, n, a->group);
  if (a->n_groups == SHOAL_NONE) return false;
  memset(a->rows, 0, a->n_groups * sizeof *a->rows);
  for (size_t i = 0; i < n; i++) a->rows[a->group[i]] += a->frequency->base.n_rows[a->active[i]];
  return true;
}

/* The same for the tuples without a suppressed cell in the combination. */
static bool count_values(argus *a, size_t size) {
  a->n_active = 0;
  for (uint32_t t = 0; t < a->frequency->n_tuples; t++) {
    size_t i = 0;
    while (i < size && !a->result->suppressed[a->combination[i]][t]) i++;
    if (i == size) a->active[a->n_active++] = t;
  }
  return count_groups(a, size, false);
}

/* The attribute of the combination whose cells are suppressed. */
static size_t attribute_to_suppress(const argus *a, size_t size) {
  size_t chosen = a->combination[0];
  bool by_sensitivity = a->options->reading == SHOAL_MU_ARGUS_WIDE;
  for (size_t i = 1; i < size; i++) {
    size_t q = a->combination[i];
    unsigned rank = by_sensitivity ? sensitivity_of(a, q) : 0;
    unsigned chosen_rank = by_sensitivity ? sensitivity_of(a, chosen) : 0;
    if (rank > chosen_rank || (rank == chosen_rank && a->n_used[q] > a->n_used[chosen])) chosen = q;
  }
  return chosen;
}

static bool suppress_rare(argus *a, size_t size) {
  if (!count_values(a, size)) return false;
  size_t q = attribute_to_suppress(a, size);
  for (uint32_t i = 0; i < a->n_active; i++) {
    if (a->rows[a->group[i]] >= a->options->k) continue;
    a->result->suppressed[q][a->active[i]] = 1;
    a->labels[q][a->active[i]] = a->n_labels[q];
  }
  return true;
}

/* ------------------------------------------------------------ what was missed */

/* The classes of the release, over all quasi-identifiers. */
static bool find_classes(argus *a) {
  shoal_mu_argus *r = a->result;
  a->n_active = a->frequency->n_tuples;
  for (uint32_t t = 0; t < a->n_active; t++) a->active[t] = t;
  first_combination(a->combination, a->n);
  if (!count_groups(a, a->n, true)) return false;
  r->n_classes = a->n_groups;
  if (!SHOAL_ARENA_ARRAY(&r->arena, r->class_rows, a->n_groups)) return false;
  for (uint32_t t = 0; t < a->n_active; t++) r->class_of_tuple[t] = a->group[t];
  for (uint32_t c = 0; c < a->n_groups; c++) r->class_rows[c] = a->rows[c];
  return true;
}

/* Records the combination if it still has values of fewer than k rows. */
static bool record_missed(argus *a, size_t size) {
  shoal_mu_argus *r = a->result;
  uint64_t n_rows = 0;
  if (!count_values(a, size)) return false;
  for (uint32_t g = 0; g < a->n_groups; g++)
    if (a->rows[g] < a->options->k) n_rows += a->rows[g];
  if (n_rows == 0) return true;
  size_t *attributes;
  if (!SHOAL_ARENA_ARRAY(&r->arena, attributes, size)) return false;
  memcpy(attributes, a->combination, size * sizeof *attributes);
  r->missed[r->n_missed++] = (shoal_mu_argus_missed){.attributes = attributes,
                                                     .n_attributes = size,
                                                     .n_rows = n_rows,
                                                     .evaluated = is_asked_for(a, size)};
  return true;
}

static shoal_status run_all(argus *a, shoal_error *error) {
  for (size_t q = 0; q < a->n; q++) {
    const char *name = a->frequency->quasi[q]->name;
    if (sensitivity_of(a, q) > MAX_SENSITIVE)
      return shoal_fail(error, SHOAL_BAD_INPUT,
                        "mu-argus: the sensitivity of '%.60s' must be 0, 1, 2 or 3", name);
    uint32_t top = shoal_hierarchy_height(a->frequency->hierarchies[q]);
    if (a->options->levels && a->options->levels[q] > top)
      return shoal_fail(error, SHOAL_BAD_INPUT,
                        "mu-argus: level %u of '%.60s' is above its top, level %u",
                        a->options->levels[q], name, top);
  }
  if (!allocate(a)) return shoal_fail_memory(error);
  for (size_t q = 0; q < a->n; q++) SHOAL_TRY(set_level(a, q, error));
  uint64_t n = a->n, done = 0;
  uint64_t total = n + n * (n - 1) / 2 + (n > 2 ? n * (n - 1) * (n - 2) / 6 : 0);
  for (size_t size = 1; size <= a->n && size <= MAX_TOGETHER; size++) {
    first_combination(a->combination, size);
    do {
      SHOAL_TRY(shoal_run_report(a->run, "mu-argus", done++, total, "combinations", error));
      if (!is_asked_for(a, size)) continue;
      a->result->n_combinations++;
      if (!suppress_rare(a, size)) return shoal_fail_memory(error);
    } while (next_combination(a->combination, size, a->n));
  }
  shoal_mu_argus *r = a->result;
  for (uint32_t t = 0; t < a->frequency->n_tuples; t++) {
    uint64_t n_rows = a->frequency->base.n_rows[t], n_cells = 0;
    for (size_t q = 0; q < a->n; q++) n_cells += r->suppressed[q][t];
    r->n_cells += n_cells * n_rows;
    if (n_cells > 0) r->n_rows += n_rows;
  }
  if (!find_classes(a)) return shoal_fail_memory(error);
  uint64_t tried = 0;
  for (size_t size = 1; size <= a->n; size++) {
    first_combination(a->combination, size);
    do {
      if (tried == MAX_TRIED || a->result->n_missed == SHOAL_MU_ARGUS_MAX_MISSED) return SHOAL_OK;
      SHOAL_TRY(shoal_run_report(a->run, "missed", tried++, 0, "combinations", error));
      if (!record_missed(a, size)) return shoal_fail_memory(error);
    } while (next_combination(a->combination, size, a->n));
  }
  return SHOAL_OK;
}

shoal_status shoal_mu_argus_run(const shoal_frequency_set *frequency,
                                const shoal_mu_argus_options *options, const shoal_run *run,
                                shoal_mu_argus *result, shoal_error *error) {
  memset(result, 0, sizeof *result);
  argus a = {.frequency = frequency,
             .options = options,
             .run = run,
             .result = result,
             .n = frequency->n_quasi};
  shoal_grouper_init(&a.grouper);
  shoal_status status = run_all(&a, error);
  if (status != SHOAL_OK) shoal_mu_argus_reset(result);
  shoal_arena_reset(&a.arena);
  shoal_grouper_reset(&a.grouper);
  return status;
}
