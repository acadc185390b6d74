/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/optimal_bounds: cost bound, suppression bounds and frontier of the branch and bound. */
#include "lattice/optimal_bounds.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ cost bound */

void shoal_cost_bound_reset(shoal_cost_bound *bound) {
  shoal_arena_reset(&bound->arena);
  memset(bound, 0, sizeof *bound);
}

/* The rows of a label, and what each of them loses by being suppressed. */
typedef struct label_loss {
  double extra;
  uint64_t rows;
} label_loss;

static int by_extra(const void *a, const void *b) {
  const label_loss *x = a, *y = b;
  return (x->extra > y->extra) - (x->extra < y->extra);
}

static bool sum_labels(shoal_arena *arena, shoal_level_bound *out, label_loss *labels, uint32_t n) {
  if (n > 1) qsort(labels, n, sizeof *labels, by_extra);
  out->n_labels = n;
  if (!SHOAL_ARENA_ARRAY(arena, out->rows, (size_t)n + 1) ||
      !SHOAL_ARENA_ARRAY(arena, out->extra, (size_t)n + 1))
    return false;
  out->rows[0] = 0;
  out->extra[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    out->rows[i + 1] = out->rows[i] + labels[i].rows;
    out->extra[i + 1] = out->extra[i] + (double)labels[i].rows * labels[i].extra;
  }
  return true;
}

static double term_of(const shoal_cost_bound *bound, size_t q, double cost) {
  return bound->weight[q] * (bound->objective->multiplies ? log1p(cost) : cost);
}

static bool fill_level(shoal_cost_bound *bound, const shoal_level_costs *costs, size_t q,
                       uint32_t l) {
  const shoal_frequency_set *frequency = bound->search->frequency;
  const shoal_level *level = &frequency->hierarchies[q]->levels[l];
  shoal_level_bound *out = &bound->levels[q][l];
  out->cost = bound->objective->level_cost(bound->search, costs, q, l);
  out->term = term_of(bound, q, out->cost);
  uint64_t *label_rows = shoal_alloc_zero(level->n_labels, sizeof *label_rows);
  label_loss *labels = shoal_alloc(level->n_labels, sizeof *labels);
  bool ok = label_rows && labels && SHOAL_ARENA_ZEROED(&bound->arena, out->lost, level->n_labels);
  uint32_t n = 0;
  for (uint32_t v = 0; ok && v < frequency->quasi[q]->n_values; v++)
    label_rows[level->of_leaf[v]] += costs->rows[q][v];
  for (uint32_t label = 0; ok && label < level->n_labels; label++) {
    if (!label_rows[label]) continue;
    double extra = bound->objective->row_lost(frequency, q, l, label, label_rows[label]);
    out->lost[label] = extra > 0 ? extra : 0;
    labels[n++] = (label_loss){out->lost[label], label_rows[label]};
  }
  ok = ok && sum_labels(&bound->arena, out, labels, n);
  free(label_rows);
  free(labels);
  return ok;
}

static bool fill_attribute(shoal_cost_bound *bound, const shoal_level_costs *costs, size_t q) {
  uint32_t top = bound->search->space.top[q];
  bool ok = SHOAL_ARENA_ZEROED(&bound->arena, bound->levels[q], (size_t)top + 1) != NULL;
  for (uint32_t l = 0; ok && l <= top; l++) ok = fill_level(bound, costs, q, l);
  double n = (double)bound->search->frequency->n_records;
  for (uint32_t l = 0; ok && l < top; l++) {
    double bits_per_row = (costs->entropy[q][l + 1] - costs->entropy[q][l]) / n;
    double cost = bound->levels[q][l + 1].term - bound->levels[q][l].term;
    bound->levels[q][l].ratio = (cost + 1e-12) / (bits_per_row + 1e-9);
  }
  return ok;
}

shoal_status shoal_cost_bound_init(shoal_cost_bound *bound, const shoal_search *search,
                                   const shoal_objective *objective, const shoal_level_costs *costs,
                                   shoal_error *error) {
  assert(objective->level_cost && objective->row_lost);
  *bound = (shoal_cost_bound){.search = search, .objective = objective, .n = search->space.n};
  bool ok = SHOAL_ARENA_ARRAY(&bound->arena, bound->weight, bound->n) &&
            SHOAL_ARENA_ZEROED(&bound->arena, bound->levels, bound->n);
  double sum = 0;
  for (size_t q = 0; q < bound->n; q++) sum += shoal_objective_weight(search, q);
  if (!(sum > 0)) sum = 1; /* all weights are 0: so are all costs */
  for (size_t q = 0; ok && q < bound->n; q++)
    bound->weight[q] = shoal_objective_weight(search, q) / (objective->is_mean ? sum : 1);
  for (size_t q = 0; ok && q < bound->n; q++) ok = fill_attribute(bound, costs, q);
  if (ok) return SHOAL_OK;
  shoal_cost_bound_reset(bound);
  return shoal_fail_memory(error);
}

/* The least that this many suppressed rows add: whole labels, and a part of one. */
static double min_extra(const shoal_level_bound *level, uint64_t suppressed) {
  uint32_t low = 0, high = level->n_labels;
  while (low < high) { /* the number of labels of which all rows are suppressed */
    uint32_t middle = low + (high - low + 1) / 2;
    if (level->rows[middle] <= suppressed) low = middle;
    else high = middle - 1;
  }
  if (low == level->n_labels) return level->extra[low];
  double part =
      (double)(suppressed - level->rows[low]) / (double)(level->rows[low + 1] - level->rows[low]);
  return level->extra[low] + part * (level->extra[low + 1] - level->extra[low]);
}

double shoal_cost_bound_at(const shoal_cost_bound *bound, const uint32_t *levels,
                           uint64_t suppressed) {
  double sum = 0;
  for (size_t q = 0; q < bound->n; q++) {
    const shoal_level_bound *level = &bound->levels[q][levels[q]];
    sum += suppressed ? term_of(bound, q, level->cost + min_extra(level, suppressed)) : level->term;
  }
  return bound->objective->multiplies ? expm1(sum) : sum;
}

double shoal_cost_bound_exact(const shoal_cost_bound *bound, const uint32_t *levels,
                              const double *extra) {
  double sum = 0;
  for (size_t q = 0; q < bound->n; q++)
    sum += term_of(bound, q, bound->levels[q][levels[q]].cost + extra[q]);
  return bound->objective->multiplies ? expm1(sum) : sum;
}

size_t shoal_cost_bound_path(const shoal_cost_bound *bound, uint64_t node, uint32_t *levels,
                             uint64_t *path) {
  const shoal_space *space = &bound->search->space;
  size_t length = 0;
  for (;;) {
    path[length++] = node;
    size_t best = space->n;
    for (size_t q = 0; q < space->n; q++)
      if (levels[q] < space->top[q] &&
          (best == space->n ||
           bound->levels[q][levels[q]].ratio < bound->levels[best][levels[best]].ratio))
        best = q;
    if (best == space->n) return length;
    levels[best]++;
    node += space->stride[best];
  }
}

/* ------------------------------------------------------------ suppression bounds */

enum { FIELDS = 4, FIELD_BITS = 16 };
static const uint64_t GUARDS = UINT64_C(0x8000800080008000);

void shoal_suppression_bounds_init(shoal_suppression_bounds *bounds, size_t n_levels,
                                   bool is_lower) {
  *bounds = (shoal_suppression_bounds){.n_levels = n_levels, .is_lower = is_lower};
}

void shoal_suppression_bounds_reset(shoal_suppression_bounds *bounds) {
  free(bounds->entries);
  shoal_suppression_bounds_init(bounds, bounds->n_levels, bounds->is_lower);
}

static size_t entry_words(const shoal_suppression_bounds *bounds) {
  return 1 + (bounds->n_levels + 3) / FIELDS;
}

/* Fills in the levels of an entry. */
static inline void pack(const shoal_suppression_bounds *bounds, const uint32_t *levels,
                        uint64_t *entry) {
  size_t q = 0;
  for (; q + FIELDS <= bounds->n_levels; q += FIELDS)
    entry[1 + q / FIELDS] = levels[q] | (uint64_t)levels[q + 1] << FIELD_BITS |
                            (uint64_t)levels[q + 2] << 2 * FIELD_BITS |
                            (uint64_t)levels[q + 3] << 3 * FIELD_BITS;
  if (q == bounds->n_levels) return;
  uint64_t word = 0;
  for (size_t i = q; i < bounds->n_levels; i++)
    word |= (uint64_t)levels[i] << FIELD_BITS * (i % FIELDS);
  entry[1 + q / FIELDS] = word;
}

/* Is each level of a at most that of b? */
static inline bool is_below(uint64_t a, uint64_t b) {
  return (((b | GUARDS) - a) & GUARDS) == GUARDS;
}

/* Does an entry bound the levels of another? */
static bool applies(const shoal_suppression_bounds *bounds, const uint64_t *entry,
                    const uint64_t *other) {
  for (size_t w = 1; w < entry_words(bounds); w++)
    if (bounds->is_lower ? !is_below(other[w], entry[w]) : !is_below(entry[w], other[w]))
      return false;
  return true;
}

static bool is_at_least_as_strong(const shoal_suppression_bounds *bounds, uint64_t a, uint64_t b) {
  return bounds->is_lower ? a >= b : a <= b;
}

uint64_t shoal_suppression_bounds_at(const shoal_suppression_bounds *bounds, const uint32_t *levels,
                                     uint64_t unknown) {
  size_t words = entry_words(bounds), n = bounds->n_entries;
  if (!n) return unknown;
  uint64_t *asked = bounds->entries + n * words; /* there is always space for one more entry */
  pack(bounds, levels, asked);
  const uint64_t *entry = bounds->entries;
  if (bounds->is_lower) { /* the first word rejects most entries */
    for (size_t i = 0; i < n; i++, entry += words)
      if (is_below(asked[1], entry[1]) && applies(bounds, entry, asked)) return entry[0];
  } else {
    for (size_t i = 0; i < n; i++, entry += words)
      if (is_below(entry[1], asked[1]) && applies(bounds, entry, asked)) return entry[0];
  }
  return unknown;
}

/* Drops the entries that the new one, stored after all others, implies; returns its index. */
static size_t drop_implied(shoal_suppression_bounds *bounds, const uint64_t *new) {
  size_t words = entry_words(bounds), n_kept = 0, index = 0;
  for (size_t i = 0; i < bounds->n_entries; i++) {
    const uint64_t *entry = bounds->entries + i * words;
    if (is_at_least_as_strong(bounds, new[0], entry[0]) && applies(bounds, new, entry)) continue;
    bool stronger = is_at_least_as_strong(bounds, entry[0], new[0]);
    memmove(bounds->entries + n_kept++ * words, entry, words * sizeof *entry);
    if (stronger) index = n_kept;
  }
  bounds->n_entries = n_kept;
  return index;
}

bool shoal_suppression_bounds_add(shoal_suppression_bounds *bounds, const uint32_t *levels,
                                  uint64_t suppressed) {
  size_t words = entry_words(bounds), size_bytes = words * sizeof *bounds->entries;
  if (!shoal_grow(&bounds->entries, &bounds->capacity, (bounds->n_entries + 2) * words,
                  sizeof *bounds->entries))
    return false;
  uint64_t *new = bounds->entries + (bounds->n_entries + 1) * words; /* space for one before it */
  new[0] = suppressed;
  pack(bounds, levels, new);
  for (size_t i = 0; i < bounds->n_entries; i++) {
    const uint64_t *entry = bounds->entries + i * words;
    if (is_at_least_as_strong(bounds, entry[0], suppressed) && applies(bounds, entry, new))
      return true;
  }
  uint64_t *position = bounds->entries + drop_implied(bounds, new) * words;
  memmove(position + words, position,
          (size_t)(bounds->entries + bounds->n_entries * words - position) * sizeof *position);
  memcpy(position, new, size_bytes);
  bounds->n_entries++;
  return true;
}

/* ------------------------------------------------------------ frontier */

enum { N_BUCKETS = 4096 };

typedef struct shoal_frontier_entry {
  shoal_frontier_node item;
  uint32_t next; /* of its bucket, or of the unused entries: index + 1; 0: the last */
} entry;

/* Never before the current bucket: rounding may put a node a little below the one it came from. */
static uint32_t bucket_of(const shoal_frontier *f, double bound) {
  double bucket = bound * f->buckets_per_unit;
  if (bucket <= f->bucket) return f->bucket;
  return bucket < N_BUCKETS - 1 ? (uint32_t)bucket : N_BUCKETS - 1;
}

static bool push(shoal_frontier *f, shoal_frontier_node item) {
  uint32_t position = f->free;
  if (position) {
    f->free = f->entries[position - 1].next;
  } else {
    if (f->n_entries == UINT32_MAX - 1 ||
        !shoal_grow(&f->entries, &f->capacity, f->n_entries + 1, sizeof *f->entries))
      return false;
    position = (uint32_t)++f->n_entries;
  }
  uint32_t bucket = bucket_of(f, item.bound);
  f->entries[position - 1] = (entry){item, 0};
  if (f->first[bucket]) f->entries[f->last[bucket] - 1].next = position;
  else f->first[bucket] = position;
  f->last[bucket] = position;
  return true;
}

/* False: the frontier is empty. */
static bool pop(shoal_frontier *f, shoal_frontier_node *item) {
  while (f->bucket < N_BUCKETS && !f->first[f->bucket]) f->bucket++;
  if (f->bucket == N_BUCKETS) return false;
  uint32_t position = f->first[f->bucket];
  entry *e = &f->entries[position - 1];
  *item = e->item;
  f->first[f->bucket] = e->next;
  e->next = f->free;
  f->free = position;
  return true;
}

shoal_status shoal_frontier_init(shoal_frontier *f, const shoal_space *space,
                                 const shoal_cost_bound *bound, shoal_error *error) {
  *f = (shoal_frontier){.space = space, .bound = bound};
  f->levels = shoal_alloc_zero(space->n, sizeof *f->levels);
  f->first = shoal_alloc_zero(N_BUCKETS, sizeof *f->first);
  f->last = shoal_alloc_zero(N_BUCKETS, sizeof *f->last);
  if (f->levels) shoal_space_levels(space, 0, f->levels);
  double max_bound = shoal_cost_bound_at(bound, space->top, 0);
  f->buckets_per_unit = max_bound > 0 ? N_BUCKETS / max_bound : 0;
  if (f->levels && f->first && f->last &&
      push(f, (shoal_frontier_node){shoal_cost_bound_at(bound, f->levels, 0), 0}))
    return SHOAL_OK;
  shoal_frontier_reset(f);
  return shoal_fail_memory(error);
}

void shoal_frontier_reset(shoal_frontier *f) {
  free(f->entries);
  free(f->first);
  free(f->last);
  free(f->levels);
  memset(f, 0, sizeof *f);
}

/* Generates the nodes that reach this one by lowering their last raised attribute. */
static bool push_above(shoal_frontier *f, uint64_t node) {
  size_t first = f->space->n;
  while (first > 0 && f->levels[first - 1] == shoal_space_bottom(f->space, first - 1)) first--;
  if (first > 0) first--;
  for (size_t q = first; q < f->space->n; q++) {
    if (f->levels[q] == f->space->top[q]) continue;
    f->levels[q]++;
    shoal_frontier_node above = {shoal_cost_bound_at(f->bound, f->levels, 0),
                                 node + f->space->stride[q]};
    f->levels[q]--;
    if (!push(f, above)) return false;
  }
  return true;
}

shoal_status shoal_frontier_next(shoal_frontier *f, shoal_frontier_node *next, bool *more,
                                 shoal_error *error) {
  *more = pop(f, next);
  if (!*more) return SHOAL_OK;
  shoal_space_levels(f->space, next->node, f->levels);
  return push_above(f, next->node) ? SHOAL_OK : shoal_fail_memory(error);
}

/* The bucket is a rounded product: its lower edge, minus a little, is safe. */
double shoal_frontier_min(const shoal_frontier *f) {
  return f->buckets_per_unit > 0 ? f->bucket / f->buckets_per_unit * (1 - 1e-9) : 0;
}
