/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_start: the initial clusters of a block. Tuples are agglomerated, or parts of
 * similar tuples if there are more than MAX_UNITS. If distinct values, not k, limit the number of
 * clusters, or the number is the objective, agglomeration can use up rare values too early. Then
 * enhanced-pk (Truta, Campan & Meyer 2007), which distributes values first, clusters the same rows,
 * and the better of both results is taken.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "cluster/flock_clusters.h"

enum {
  MAX_UNITS = 4000,  /* tuples that are agglomerated one by one */
  PART_SAMPLES = 16, /* see shoal_cut_limits */
  PART_OTHERS = 48,
  MAX_BY_VALUES = 20000 /* rows clustered by enhanced-pk: its time is quadratic */
};

/* The clusters, up to `max`, that a requirement on distinct values allows. */
static uint64_t max_by_values(const shoal_clusters *b, size_t d, uint64_t max) {
  const shoal_packed_rows *p = b->p;
  uint32_t *n_rows = b->rows; /* scratch: by group */
  memset(n_rows, 0, (size_t)p->n * sizeof *n_rows);
  for (uint32_t i = 0; i < p->n; i++)
    if (p->group[d][i] != SHOAL_NONE) n_rows[p->group[d][i]]++;
  uint64_t low = 0, high = max;
  while (low < high) { /* the largest m with: sum of min(rows of the group, m) >= p x m */
    uint64_t m = (low + high + 1) / 2, sum = 0;
    for (uint32_t g = 0; g < p->n; g++) sum += n_rows[g] < m ? n_rows[g] : m;
    if (sum >= m * p->required->counts[d].min_distinct) low = m;
    else high = m - 1;
  }
  return low;
}

uint32_t shoal_max_clusters(shoal_clusters *b) {
  uint64_t max = b->p->n / b->p->required->k;
  for (size_t d = 0; d < b->p->n_counts; d++) max = max_by_values(b, d, max);
  return (uint32_t)max;
}

uint32_t shoal_enough_clusters(shoal_clusters *b) {
  uint32_t max = shoal_max_clusters(b);
  return max - (uint32_t)((uint64_t)max * b->cost.max_missing / 100);
}

/* ------------------------------------------------------------ units of agglomeration */

/* The rows of a tuple as one unit or, if sizes have to be exact, as units of k and a rest. */
static void add_tuple(shoal_clusters *units, uint32_t t) {
  const shoal_packed_rows *p = units->p;
  uint32_t first = p->first[t], n = p->first[t + 1] - first;
  uint32_t k = p->required->k < n ? (uint32_t)p->required->k : n;
  uint32_t n_full = units->cost.exact_sizes ? n / k : 1, full = units->cost.exact_sizes ? k : n;
  for (uint32_t i = 0; i < n_full; i++) {
    uint32_t c = shoal_clusters_open(units);
    for (uint32_t j = 0; j < full; j++) shoal_clusters_put(units, first + i + j * n_full, c);
    shoal_clusters_refresh(units, c);
  }
  if (n_full * full == n) return;
  uint32_t c = shoal_clusters_open(units);
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
    uint32_t c = shoal_clusters_open(units);
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
    uint32_t to = shoal_clusters_open(b);
    for (uint32_t r = from->head[c]; r != SHOAL_NONE; r = from->next[r])
      shoal_clusters_put(b, r, to);
    shoal_clusters_refresh(b, to);
  }
}

static bool agglomerate(shoal_clusters *b, const shoal_axes *axes, uint64_t seed, bool *satisfied) {
  const shoal_packed_rows *p = b->p;
  shoal_clusters units;
  shoal_agglomeration g;
  uint32_t room = p->n_tuples;
  if (b->cost.exact_sizes) room += (uint32_t)(p->n / p->required->k);
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

/* The rows of the block as a task for enhanced-pk; groups are the sensitive values. */
typedef struct extract {
  shoal_arena arena;
  shoal_axes axes;
  shoal_cluster_requirements required;
  shoal_column *columns; /* by requirement */
  uint32_t *group_of;    /* by code */
  uint64_t *order; /* row of the table << 32 | row of the block: ties are resolved by the former */
  uint32_t *tuple_of_row;
} extract;

static bool extract_counts(extract *x, const shoal_clusters *b) {
  const shoal_packed_rows *p = b->p;
  for (uint32_t g = 0; g <= p->n; g++) x->group_of[g] = g < p->n ? g : SHOAL_NONE;
  for (size_t d = 0; d < p->n_counts; d++) {
    uint32_t *codes; /* by row: the group; n: missing */
    if (!SHOAL_ARENA_ARRAY(&x->arena, codes, p->n)) return false;
    for (uint32_t i = 0; i < p->n; i++) {
      uint32_t group = p->group[d][(uint32_t)x->order[i]];
      codes[i] = group == SHOAL_NONE ? p->n : group;
    }
    x->columns[d] = (shoal_column){
        .name = "", .n_values = p->n + 1, .code_size = sizeof *codes, .codes = codes};
    x->required.counts[d] = p->required->counts[d];
    x->required.counts[d].column = &x->columns[d];
    x->required.counts[d].group_of = x->group_of;
    x->required.counts[d].n_groups = p->n;
    x->required.counts[d].max_clusters = max_by_values(b, d, p->n);
  }
  return true;
}

static bool extract_init(extract *x, const shoal_clusters *b, const shoal_axes *axes) {
  const shoal_packed_rows *p = b->p;
  *x = (extract){.axes = *axes, .required = *p->required};
  if (!SHOAL_ARENA_ARRAY(&x->arena, x->required.counts, p->n_counts) ||
      !SHOAL_ARENA_ARRAY(&x->arena, x->columns, p->n_counts) ||
      !SHOAL_ARENA_ARRAY(&x->arena, x->group_of, (size_t)p->n + 1) ||
      !SHOAL_ARENA_ARRAY(&x->arena, x->order, p->n) ||
      !SHOAL_ARENA_ARRAY(&x->arena, x->tuple_of_row, p->n))
    return false;
  for (uint32_t i = 0; i < p->n; i++) x->order[i] = (uint64_t)p->row[i] << 32 | i;
  shoal_sort_u64(x->order, p->n);
  for (uint32_t i = 0; i < p->n; i++) x->tuple_of_row[i] = axes->tuple_of_row[x->order[i] >> 32];
  x->axes.n_rows = x->required.n_rows = p->n;
  x->axes.tuple_of_row = x->tuple_of_row;
  x->required.n_others = 0;
  return extract_counts(x, b);
}

/* Clusters the block, which satisfies the requirements, by enhanced-pk. False: no memory. */
static bool divide_by_values(shoal_clusters *b, const shoal_axes *axes) {
  extract x;
  shoal_partition partition = {0};
  bool ok = extract_init(&x, b, axes);
  if (ok) {
    assert(shoal_cluster_requirements_max_clusters(&x.required) > 0);
    shoal_cluster_task task = {.axes = &x.axes, .required = &x.required};
    ok = shoal_cluster_enhanced_pk(&task, &partition, NULL) == SHOAL_OK;
  }
  for (uint32_t i = 0; ok && i < b->p->n; i++)
    shoal_clusters_put(b, (uint32_t)x.order[i], partition.cluster_of_row[i]);
  b->n = ok ? partition.n_clusters : 0;
  for (uint32_t c = 0; c < b->n; c++) shoal_clusters_refresh(b, c);
  shoal_partition_reset(&partition);
  shoal_arena_reset(&x.arena);
  return ok;
}

/* ------------------------------------------------------------ the better of both */

/* Is the other result better? Clusters beyond those that suffice do not count. */
static bool is_better(shoal_clusters *b, const shoal_clusters *other) {
  uint32_t enough = shoal_enough_clusters(b);
  uint32_t more = other->n_live > enough ? other->n_live - enough : 0;
  uint32_t more_now = b->n_live > enough ? b->n_live - enough : 0;
  return other->total + b->cost.bonus * more < b->total + b->cost.bonus * more_now;
}

bool shoal_flock_start(shoal_clusters *b, const shoal_axes *axes, uint64_t seed, bool *satisfied) {
  const shoal_packed_rows *p = b->p;
  if (!agglomerate(b, axes, seed, satisfied)) return false;
  uint32_t max = shoal_max_clusters(b);
  bool limited =
      max < p->n / p->required->k || (b->cost.exact_sizes && b->n_live < shoal_enough_clusters(b));
  if (!limited || p->n > MAX_BY_VALUES || p->required->n_others || shoal_clusters_is_stopped(b))
    return true;
  if (!*satisfied) return true; /* not even the whole block satisfies k and the distinct values */
  shoal_clusters other;
  if (!shoal_clusters_init_like(&other, b, max)) return false;
  bool ok = divide_by_values(&other, axes);
  if (ok && is_better(b, &other)) {
    shoal_clusters_clear(b);
    adopt(b, &other);
  }
  shoal_clusters_reset(&other);
  return ok;
}
