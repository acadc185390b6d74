/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_start: the first clusters of a block. Tuples, or parts of similar tuples where
 * there are many, are agglomerated. Where distinct values, not k, limit the number of clusters, or
 * their number is the objective, agglomeration can use up rare values too early: then enhanced-pk
 * (Truta, Campan & Meyer 2007), which looks at the values first, divides the same rows, and the
 * cheaper of both results is taken.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "cluster/flock_clusters.h"
#include "cluster/flock_cut.h"

enum {
  MAX_UNITS = 4000,  /* tuples that agglomeration starts from; if there are more: parts */
  PART_SAMPLES = 16, /* see shoal_cut_limits */
  PART_OTHERS = 48,
  MAX_BY_VALUES = 20000 /* rows that enhanced-pk divides: its time grows with their square */
};

uint32_t shoal_max_clusters(shoal_clusters *b) {
  const shoal_packed_rows *p = b->p;
  uint64_t most = p->n / p->fit->k;
  uint32_t *n_rows = b->rows; /* scratch: by group */
  for (size_t d = 0; d < p->n_counts; d++) {
    memset(n_rows, 0, (size_t)p->n * sizeof *n_rows);
    for (uint32_t i = 0; i < p->n; i++)
      if (p->group[d][i] != SHOAL_NO_GROUP) n_rows[p->group[d][i]]++;
    uint64_t low = 0, high = most;
    while (low < high) { /* the largest m with: sum of min(rows of the group, m) >= p x m */
      uint64_t m = (low + high + 1) / 2, sum = 0;
      for (uint32_t g = 0; g < p->n; g++) sum += n_rows[g] < m ? n_rows[g] : m;
      if (sum >= m * p->fit->counts[d].least) low = m;
      else high = m - 1;
    }
    most = low;
  }
  return (uint32_t)most;
}

uint32_t shoal_enough_clusters(shoal_clusters *b) {
  uint32_t most = shoal_max_clusters(b);
  return most - (uint32_t)((uint64_t)most * b->cost.max_missing / 100);
}

/* ------------------------------------------------------------ units of agglomeration */

/* The rows of a tuple as one unit or, if sizes are to be exact, as units of k and a rest. */
static void add_tuple(shoal_clusters *units, uint32_t t) {
  const shoal_packed_rows *p = units->p;
  uint32_t first = p->first[t], n = p->first[t + 1] - first;
  uint32_t k = p->fit->k < n ? (uint32_t)p->fit->k : n;
  uint32_t n_full = units->cost.exact_sizes ? n / k : 1, full = units->cost.exact_sizes ? k : n;
  for (uint32_t i = 0; i < n_full; i++) {
    uint32_t c = shoal_clusters_take(units);
    for (uint32_t j = 0; j < full; j++) shoal_clusters_put(units, first + i + j * n_full, c);
    shoal_clusters_refresh(units, c);
  }
  if (n_full * full == n) return;
  uint32_t c = shoal_clusters_take(units);
  for (uint32_t j = n_full * full; j < n; j++) shoal_clusters_put(units, first + j, c);
  shoal_clusters_refresh(units, c);
}

/* Parts of similar tuples. False: no memory. */
static bool add_parts(shoal_clusters *units, const shoal_axes *axes, uint64_t seed) {
  const shoal_packed_rows *p = units->p;
  shoal_item *items = shoal_alloc(p->n_tuples, sizeof *items);
  uint32_t *first = shoal_alloc((size_t)p->n_tuples + 1, sizeof *first), n = 0;
  shoal_cut_limits limits = {.max_weight = p->n_tuples / (MAX_UNITS / 2),
                             .n_samples = PART_SAMPLES,
                             .n_others = PART_OTHERS,
                             .seed = seed};
  for (uint32_t t = 0; items && t < p->n_tuples; t++)
    items[t] = (shoal_item){t, axes->tuple_of_row[p->row[p->first[t]]], 1, 1, 0};
  if (items && first) n = shoal_flock_cut(axes, items, p->n_tuples, &limits, first);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t c = shoal_clusters_take(units);
    for (uint32_t j = first[i]; j < first[i + 1]; j++)
      for (uint32_t r = p->first[items[j].id]; r < p->first[items[j].id + 1]; r++)
        shoal_clusters_put(units, r, c);
    shoal_clusters_refresh(units, c);
  }
  free(items);
  free(first);
  return n > 0;
}

/* The clusters of one block become those of another, on the same rows. */
static void adopt(shoal_clusters *b, const shoal_clusters *from) {
  for (uint32_t c = 0; c < from->n; c++) {
    if (!from->size[c]) continue;
    uint32_t to = shoal_clusters_take(b);
    for (uint32_t r = from->head[c]; r != SHOAL_NIL; r = from->next[r])
      shoal_clusters_put(b, r, to);
    shoal_clusters_refresh(b, to);
  }
}

static bool agglomerate(shoal_clusters *b, const shoal_axes *axes, uint64_t seed, bool *satisfied) {
  const shoal_packed_rows *p = b->p;
  shoal_clusters units;
  shoal_agglomeration g;
  uint32_t room = p->n_tuples;
  if (b->cost.exact_sizes) room += (uint32_t)(p->n / p->fit->k);
  if (!shoal_clusters_init_like(&units, b, room)) return false;
  bool ok = shoal_agglomeration_init(&g, &units);
  if (ok && p->n_tuples > MAX_UNITS) ok = add_parts(&units, axes, seed);
  else
    for (uint32_t t = 0; ok && t < p->n_tuples; t++) add_tuple(&units, t);
  *satisfied = ok && shoal_agglomerate(&g, 0);
  if (ok && !shoal_clusters_is_stopped(b)) adopt(b, &units);
  shoal_agglomeration_reset(&g);
  shoal_clusters_reset(&units);
  return ok;
}

/* ------------------------------------------------------------ enhanced-pk */

/* The rows of the block as a table of their own, in which groups are the sensitive values. */
typedef struct extract {
  shoal_axes axes;
  shoal_fit fit;
  shoal_count *counts;
  shoal_column *columns; /* by requirement */
  uint32_t **codes;      /* by requirement, by row: the group; n stands for missing */
  uint32_t *group_of;    /* by code */
  uint32_t *places;      /* by tuple */
  uint64_t *order;       /* row of the table << 32 | row of the block: ties go by the former */
  uint32_t *tuple_of_row;
} extract;

static void extract_reset(extract *x, size_t n_counts) {
  for (size_t d = 0; x->codes && d < n_counts; d++) free(x->codes[d]);
  free(x->codes);
  free(x->counts);
  free(x->columns);
  free(x->group_of);
  free(x->places);
  free(x->order);
  free(x->tuple_of_row);
}

static bool extract_counts(extract *x, const shoal_packed_rows *p) {
  for (uint32_t g = 0; g <= p->n; g++) x->group_of[g] = g < p->n ? g : SHOAL_NO_GROUP;
  for (size_t d = 0; d < p->n_counts; d++) {
    uint64_t *n_rows = shoal_alloc_zero(p->n, sizeof *n_rows);
    x->codes[d] = shoal_alloc(p->n, sizeof **x->codes);
    if (!n_rows || !x->codes[d]) {
      free(n_rows);
      return false;
    }
    for (uint32_t i = 0; i < p->n; i++) {
      uint32_t group = p->group[d][(uint32_t)x->order[i]];
      x->codes[d][i] = group == SHOAL_NO_GROUP ? p->n : group;
      if (group != SHOAL_NO_GROUP) n_rows[group]++;
    }
    shoal_spread spread = {.n_rows = p->n, .descending = n_rows};
    x->columns[d] = (shoal_column){
        .name = "", .n_values = p->n + 1, .code_size = sizeof **x->codes, .codes = x->codes[d]};
    x->counts[d] = p->fit->counts[d];
    x->counts[d].column = &x->columns[d];
    x->counts[d].group_of = x->group_of;
    x->counts[d].n_groups = p->n;
    shoal_spread_sort(&spread, p->n);
    x->counts[d].most = shoal_spread_max_groups(&spread, x->counts[d].least);
    free(n_rows);
  }
  return true;
}

static bool extract_init(extract *x, const shoal_packed_rows *p, const shoal_axes *axes) {
  *x = (extract){.counts = shoal_alloc_zero(p->n_counts, sizeof *x->counts),
                 .columns = shoal_alloc_zero(p->n_counts, sizeof *x->columns),
                 .codes = shoal_alloc_zero(p->n_counts, sizeof *x->codes),
                 .group_of = shoal_alloc((size_t)p->n + 1, sizeof *x->group_of),
                 .places = shoal_alloc((size_t)p->n_tuples * axes->n, sizeof *x->places),
                 .order = shoal_alloc(p->n, sizeof *x->order),
                 .tuple_of_row = shoal_alloc(p->n, sizeof *x->tuple_of_row)};
  if (!x->counts || !x->columns || !x->codes || !x->group_of || !x->places || !x->order ||
      !x->tuple_of_row)
    return false;
  for (uint32_t i = 0; i < p->n; i++) x->order[i] = (uint64_t)p->row[i] << 32 | i;
  shoal_sort_keys(x->order, p->n);
  for (uint32_t i = 0; i < p->n; i++) x->tuple_of_row[i] = p->tuple[(uint32_t)x->order[i]];
  for (uint32_t t = 0; t < p->n_tuples; t++)
    memcpy(x->places + t * axes->n, shoal_axes_row(axes, p->row[p->first[t]]),
           axes->n * sizeof *x->places);
  x->axes = *axes;
  x->axes.n_rows = p->n;
  x->axes.n_tuples = p->n_tuples;
  x->axes.tuple_of_row = x->tuple_of_row;
  x->axes.places = x->places;
  x->fit = *p->fit;
  x->fit.n_rows = p->n;
  x->fit.counts = x->counts;
  x->fit.n_others = 0;
  return extract_counts(x, p);
}

/* Divides the block as enhanced-pk does, if that is possible. False: no memory. */
static bool divide_by_values(shoal_clusters *b, const shoal_axes *axes) {
  const shoal_packed_rows *p = b->p;
  extract x;
  shoal_partition partition = {0};
  bool ok = extract_init(&x, p, axes);
  if (ok && shoal_fit_most_clusters(&x.fit)) {
    shoal_cluster_task task = {.axes = &x.axes, .fit = &x.fit};
    ok = shoal_cluster_enhanced_pk(&task, &partition, NULL) == SHOAL_OK;
    for (uint32_t i = 0; ok && i < p->n; i++)
      shoal_clusters_put(b, (uint32_t)x.order[i], partition.cluster_of_row[i]);
    b->n = ok ? partition.n_clusters : 0;
    for (uint32_t c = 0; c < b->n; c++) shoal_clusters_refresh(b, c);
    shoal_partition_reset(&partition);
  }
  extract_reset(&x, p->n_counts);
  return ok;
}

/* ------------------------------------------------------------ the better of both */

/* Is the other division better? Clusters beyond those that are enough count for nothing. */
static bool is_better(shoal_clusters *b, const shoal_clusters *other) {
  uint32_t enough = shoal_enough_clusters(b);
  uint32_t more = other->n_live > enough ? other->n_live - enough : 0;
  uint32_t more_now = b->n_live > enough ? b->n_live - enough : 0;
  return other->total + b->cost.bonus * more < b->total + b->cost.bonus * more_now;
}

bool shoal_flock_start(shoal_clusters *b, const shoal_axes *axes, uint64_t seed, bool *satisfied) {
  const shoal_packed_rows *p = b->p;
  if (!agglomerate(b, axes, seed, satisfied)) return false;
  uint32_t most = shoal_max_clusters(b);
  bool scarce =
      most < p->n / p->fit->k || (b->cost.exact_sizes && b->n_live < shoal_enough_clusters(b));
  if (!scarce || p->n > MAX_BY_VALUES || p->fit->n_others || shoal_clusters_is_stopped(b))
    return true;
  shoal_clusters other;
  if (!shoal_clusters_init_like(&other, b, most)) return false;
  bool ok = divide_by_values(&other, axes);
  if (ok && other.n_live && (!*satisfied || is_better(b, &other))) {
    shoal_clusters_clear(b);
    adopt(b, &other);
    *satisfied = true;
  }
  shoal_clusters_reset(&other);
  return ok;
}
