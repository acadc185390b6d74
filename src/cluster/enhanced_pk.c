/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/enhanced_pk: clusters with k rows and p distinct values, as many as the sensitive values
 * allow (EnhancedPKClustering of Truta, Campan & Meyer 2007, section 3.2, read as in
 * docs/reading-the-papers.md R11 to R16). There are maxClusters clusters, the bound of the hardest
 * sensitive attribute. They get rows in four steps:
 *
 *   1. rows of that attribute's rare values, round robin: iValue rows per cluster (Split);
 *   2. one row of each frequent value, the best pair of row and cluster first;
 *   3. groups that the other attributes lack, from the remaining rows (T); if T has none, the last
 *      cluster is dissolved into T;
 *   4. rows up to k, by loss alone; the smallest clusters are dissolved if rows are missing.
 *
 * Without counts there are n / k clusters, which start with the first n / k rows, and step 4 does
 * the rest. Rows whose value of the hardest attribute is missing go to T.
 */
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/sort.h"
#include "cluster/greedy.h"

enum { ROWS_PER_REPORT = 64 };

/* Input of steps 1 and 2: the hardest attribute and its values, the most frequent first. */
typedef struct split_plan {
  size_t hardest;
  uint32_t p;
  uint32_t i_value;
  uint32_t max_clusters;
  uint32_t n_values;   /* groups that have rows */
  uint32_t *rank_of;   /* by group */
  uint32_t *kinds_end; /* by rank: one past its last kind */
} split_plan;

typedef struct pair {
  shoal_choice choice;
  uint32_t cluster;
} pair;

typedef struct enhanced {
  const shoal_cluster_task *task;
  split_plan plan;
  shoal_growing_clusters g;
  shoal_arena arena;
  pair *heap;
  uint32_t n_clusters; /* clusters are g.order[0 .. n_clusters - 1]; the paper's aux, then v */
} enhanced;

/* ------------------------------------------------------------ the plan */

/* A value's key is (UINT32_MAX - rows) << 32 | group: the most frequent values come first. */
static uint32_t rows_of(uint64_t key) { return UINT32_MAX - (uint32_t)(key >> 32); }

/* maxClusters = min over i of floor((n - cf(p - i)) / i); iValue is the least such i (R12). */
static void bound_clusters(split_plan *plan, const uint64_t *keys, uint64_t n_valued) {
  uint64_t most = UINT64_MAX, frequent = 0;
  for (uint32_t i = plan->p; i >= 1; i--) { /* `frequent` is cf(p - i) */
    uint64_t clusters = (n_valued - frequent) / i;
    if (clusters <= most) {
      most = clusters;
      plan->i_value = i;
    }
    frequent += rows_of(keys[plan->p - i]);
  }
  plan->max_clusters = (uint32_t)most;
}

static void rank_values(split_plan *plan, const shoal_distinct_requirement *count, uint64_t n_rows,
                        uint64_t *keys) {
  uint64_t n_valued = 0;
  for (uint32_t g = 0; g < count->n_groups; g++) keys[g] = (uint64_t)UINT32_MAX << 32 | g;
  for (uint64_t row = 0; row < n_rows; row++) {
    uint32_t group = shoal_distinct_requirement_group(count, row);
    if (group == SHOAL_NONE) continue;
    keys[group] -= UINT64_C(1) << 32;
    n_valued++;
  }
  shoal_sort_u64(keys, count->n_groups);
  for (uint32_t r = 0; r < count->n_groups; r++) {
    plan->rank_of[(uint32_t)keys[r]] = r;
    if (rows_of(keys[r])) plan->n_values = r + 1;
  }
  if (plan->p && plan->p <= plan->n_values) bound_clusters(plan, keys, n_valued);
}

/* The hardest attribute allows the fewest clusters; of equals it is the first. */
static shoal_status make_plan(enhanced *e, shoal_error *error) {
  const shoal_cluster_requirements *required = e->task->required;
  split_plan *plan = &e->plan;
  for (size_t d = 1; d < required->n_counts; d++)
    if (required->counts[d].max_clusters < required->counts[plan->hardest].max_clusters)
      plan->hardest = d;
  const shoal_distinct_requirement *count = &required->counts[plan->hardest];
  plan->p = count->min_distinct;
  uint64_t *keys;
  if (!SHOAL_ARENA_ARRAY(&e->arena, plan->rank_of, count->n_groups) ||
      !SHOAL_ARENA_ARRAY(&e->arena, plan->kinds_end, count->n_groups) ||
      !SHOAL_ARENA_ARRAY(&e->arena, keys, count->n_groups))
    return shoal_fail_memory(error);
  memset(plan->kinds_end, 0, count->n_groups * sizeof *plan->kinds_end);
  rank_values(plan, count, e->task->axes->n_rows, keys);
  return SHOAL_OK;
}

/* Kinds are sorted by the rank of their value of the hardest attribute. */
static void bound_kinds(enhanced *e) {
  size_t n_counts = e->task->required->n_counts;
  for (uint32_t kind = 0; kind < e->g.n_kinds; kind++) {
    uint32_t group = e->g.groups[kind * n_counts + e->plan.hardest];
    if (group != SHOAL_NONE) e->plan.kinds_end[e->plan.rank_of[group]] = kind + 1;
  }
}

/* ------------------------------------------------------------ rows and clusters */

static shoal_status give(enhanced *e, uint32_t cluster, uint32_t row, shoal_error *error) {
  shoal_growing_clusters_give(&e->g, cluster, row);
  return e->g.n_free % ROWS_PER_REPORT ? SHOAL_OK : shoal_growing_clusters_report(&e->g, error);
}

/* BestMatch of the cluster among the rows whose hardest value has that rank. */
static shoal_choice best_of_rank(enhanced *e, uint32_t cluster, uint32_t rank) {
  shoal_growing_clusters_measure(&e->g, cluster);
  return shoal_growing_clusters_best(&e->g, cluster, rank ? e->plan.kinds_end[rank - 1] : 0,
                                     e->plan.kinds_end[rank]);
}

/* ------------------------------------------------------------ steps 1 and 2 */

/* The paper's Split: the rarest value first, each row to the next cluster (R15). */
static shoal_status split(enhanced *e, shoal_error *error) {
  uint32_t c = 0;
  for (uint32_t rank = e->plan.n_values; rank-- > e->plan.p - e->plan.i_value;)
    for (;;) {
      shoal_choice choice = best_of_rank(e, c, rank);
      if (choice.row == SHOAL_NONE) break;
      SHOAL_TRY(give(e, c, choice.row, error));
      if (++c < e->n_clusters) continue;
      c = 0;
      if (e->g.n_rows[0] >= e->plan.i_value) return SHOAL_OK;
    }
  return SHOAL_OK;
}

static bool precedes(const pair *x, const pair *y) {
  if (x->choice.div != y->choice.div) return x->choice.div > y->choice.div;
  if (x->choice.increase != y->choice.increase) return x->choice.increase < y->choice.increase;
  if (x->choice.row != y->choice.row) return x->choice.row < y->choice.row;
  return x->cluster < y->cluster;
}

SHOAL_HEAP_DEFINE(pairs, pair, precedes)

/*
 * Gives each cluster a row of the value while there are any (R12). The choice of a cluster without
 * its row changes only if another cluster takes that row, and then for the worse. So the top of the
 * heap is the best pair if its row is still free; otherwise that cluster chooses again.
 */
static shoal_status match(enhanced *e, uint32_t rank, shoal_error *error) {
  uint32_t n = e->n_clusters;
  for (uint32_t c = 0; c < n; c++) e->heap[c] = (pair){best_of_rank(e, c, rank), c};
  pairs_make(e->heap, n);
  while (n) {
    pair *top = &e->heap[0];
    if (top->choice.row == SHOAL_NONE) return SHOAL_OK;
    if (e->g.is_free[top->choice.row]) {
      SHOAL_TRY(give(e, top->cluster, top->choice.row, error));
      *top = e->heap[--n];
    } else {
      top->choice = best_of_rank(e, top->cluster, rank);
      if (top->choice.row == SHOAL_NONE) return SHOAL_OK;
    }
    pairs_sink(e->heap, n, 0);
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ orders of clusters */

typedef struct position {
  uint64_t key;
  uint32_t before; /* its old position: equals keep their order */
  uint32_t cluster;
} position;

static int min_key_first(const void *a, const void *b) {
  const position *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->before > y->before) - (x->before < y->before);
}

/* Sorts the clusters: the least Hom first, or the largest first. */
static shoal_status reorder(enhanced *e, bool by_hom, shoal_error *error) {
  uint32_t n = e->n_clusters, *order = e->g.order;
  position *positions;
  if (!SHOAL_ARENA_ARRAY(&e->arena, positions, n)) return shoal_fail_memory(error);
  for (uint32_t i = 0; i < n; i++) {
    if (by_hom) shoal_growing_clusters_measure(&e->g, order[i]);
    uint64_t key = by_hom ? e->g.hom : UINT64_MAX - e->g.n_rows[order[i]];
    positions[i] = (position){key, i, order[i]};
  }
  if (n > 1) qsort(positions, n, sizeof *positions, min_key_first);
  for (uint32_t i = 0; i < n; i++) order[i] = positions[i].cluster;
  return SHOAL_OK;
}

static void dissolve_last(enhanced *e) {
  shoal_growing_clusters_empty(&e->g, e->g.order[--e->n_clusters]);
}

/* ------------------------------------------------------------ steps 3 and 4 */

/*
 * The most diverse cluster first, each takes the best rows of T until Hom is 0. If no row of T adds
 * diversity, the last cluster is dissolved at once, even if it is the one at hand (R14).
 */
static shoal_status diversify(enhanced *e, shoal_error *error) {
  SHOAL_TRY(reorder(e, true, error));
  for (uint32_t h = 0; h < e->n_clusters; h++) {
    uint32_t cluster = e->g.order[h];
    shoal_growing_clusters_measure(&e->g, cluster);
    while (h < e->n_clusters && e->g.hom) {
      shoal_choice choice = shoal_growing_clusters_best(&e->g, cluster, 0, e->g.n_kinds);
      if (choice.row == SHOAL_NONE || !choice.div) {
        dissolve_last(e);
        continue;
      }
      SHOAL_TRY(give(e, cluster, choice.row, error));
      shoal_growing_clusters_note(&e->g, choice.row);
    }
  }
  return SHOAL_OK;
}

/* The largest first: as many clusters as there are rows for (R13), each filled up to k. */
static shoal_status fill(enhanced *e, shoal_error *error) {
  SHOAL_TRY(reorder(e, false, error));
  uint64_t k = e->task->required->k, rows = e->g.n_free;
  uint32_t large = 0;
  for (uint32_t i = 0; i < e->n_clusters; i++) {
    uint32_t n_rows = e->g.n_rows[e->g.order[i]];
    if (n_rows >= k) large++;
    else rows += n_rows;
  }
  while (e->n_clusters > large + rows / k) dissolve_last(e);
  for (uint32_t i = large; i < e->n_clusters; i++) {
    uint32_t cluster = e->g.order[i];
    while (e->g.n_rows[cluster] < k)
      SHOAL_TRY(give(e, cluster, shoal_growing_clusters_nearest(&e->g, cluster), error));
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ all steps */

static shoal_status prepare(enhanced *e, shoal_error *error) {
  const shoal_cluster_task *task = e->task;
  bool counts = task->required->n_counts;
  if (counts) SHOAL_TRY(make_plan(e, error));
  else e->plan.max_clusters = (uint32_t)(task->axes->n_rows / task->required->k);
  e->n_clusters = e->plan.max_clusters;
  shoal_kind_order order = {e->plan.hardest, e->plan.rank_of};
  SHOAL_TRY(shoal_growing_clusters_init(&e->g, task, e->n_clusters, counts ? &order : NULL, error));
  bool ok = SHOAL_ARENA_ARRAY(&e->arena, e->heap, e->n_clusters);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status grow(enhanced *e, shoal_partition *partition, shoal_error *error) {
  SHOAL_TRY(prepare(e, error));
  if (!e->task->required->n_counts) {
    for (uint32_t c = 0; c < e->n_clusters; c++) SHOAL_TRY(give(e, c, c, error));
  } else if (e->n_clusters) {
    bound_kinds(e);
    SHOAL_TRY(split(e, error));
    for (uint32_t rank = e->plan.p - e->plan.i_value; rank-- > 0;) SHOAL_TRY(match(e, rank, error));
    SHOAL_TRY(diversify(e, error));
  }
  SHOAL_TRY(fill(e, error));
  return shoal_growing_clusters_finish(&e->g, e->n_clusters, partition, error);
}

shoal_status shoal_cluster_enhanced_pk(const shoal_cluster_task *task, shoal_partition *partition,
                                       shoal_error *error) {
  enhanced e = {.task = task};
  shoal_status status = grow(&e, partition, error);
  shoal_growing_clusters_reset(&e.g);
  shoal_arena_reset(&e.arena);
  return status;
}
