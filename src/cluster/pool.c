/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/pool: see pool.h. */
#include "cluster/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

void shoal_pool_reset(shoal_pool *pool) {
  free(pool->is_free);
  free(pool->kind_of_row);
  free(pool->groups);
  free(pool->div);
  free(pool->scratch);
  shoal_row_tree_reset(&pool->all);
  shoal_row_tree_reset(&pool->by_kind);
  memset(pool, 0, sizeof *pool);
}

/* ------------------------------------------------------------ kinds */

/* Joins what the rows were told apart by so far with their groups in one more count. */
static bool refine_kinds(shoal_pool *pool, const shoal_count *count) {
  shoal_ids ids;
  if (!shoal_ids_init(&ids, pool->n_kinds)) return false;
  bool ok = true;
  for (uint32_t row = 0; ok && row < pool->axes->n_rows; row++) {
    uint64_t key = (uint64_t)pool->kind_of_row[row] << 32 | shoal_count_group(count, row);
    pool->kind_of_row[row] = shoal_ids_insert(&ids, key);
    ok = pool->kind_of_row[row] != SHOAL_NO_ID;
  }
  pool->n_kinds = ids.n_ids;
  shoal_ids_reset(&ids);
  return ok;
}

static uint32_t rank_of(const shoal_pool *pool, const shoal_pool_order *order, uint32_t row) {
  const shoal_count *count = &pool->fit->counts[order->count];
  uint32_t group = shoal_count_group(count, row);
  return group == SHOAL_NO_GROUP ? count->n_groups : order->rank_of[group];
}

/* Numbers the kinds anew by their ranks, otherwise by first appearance. */
static bool sort_kinds(shoal_pool *pool, const shoal_pool_order *order) {
  uint32_t n_ranks = pool->fit->counts[order->count].n_groups + 1;
  uint32_t *start = shoal_alloc_zero((size_t)n_ranks + 1, sizeof *start);
  uint32_t *number = shoal_alloc(pool->n_kinds, sizeof *number);
  bool ok = start && number;
  uint32_t known = 0; /* kinds have their numbers by first appearance */
  for (uint32_t row = 0; ok && row < pool->axes->n_rows; row++)
    if (pool->kind_of_row[row] == known) {
      known++;
      start[rank_of(pool, order, row) + 1]++;
    }
  for (uint32_t r = 0; ok && r < n_ranks; r++) start[r + 1] += start[r];
  known = 0;
  for (uint32_t row = 0; ok && row < pool->axes->n_rows; row++) {
    if (pool->kind_of_row[row] == known) number[known++] = start[rank_of(pool, order, row)]++;
    pool->kind_of_row[row] = number[pool->kind_of_row[row]];
  }
  free(start);
  free(number);
  return ok;
}

static bool find_kinds(shoal_pool *pool, const shoal_pool_order *order) {
  size_t n_counts = pool->fit->n_counts;
  for (size_t d = 0; d < n_counts; d++)
    if (!refine_kinds(pool, &pool->fit->counts[d])) return false;
  if (order && !sort_kinds(pool, order)) return false;
  if (n_counts > SIZE_MAX / ((size_t)pool->n_kinds + 1)) return false;
  pool->groups = shoal_alloc((size_t)pool->n_kinds * n_counts, sizeof *pool->groups);
  pool->div = shoal_alloc(pool->n_kinds, sizeof *pool->div);
  if (!pool->groups || !pool->div) return false;
  for (uint32_t row = 0; row < pool->axes->n_rows; row++)
    for (size_t d = 0; d < n_counts; d++)
      pool->groups[pool->kind_of_row[row] * n_counts + d] =
          shoal_count_group(&pool->fit->counts[d], row);
  return true;
}

static shoal_status build(shoal_pool *pool, const shoal_pool_order *order, shoal_error *error) {
  uint64_t n_rows = pool->axes->n_rows;
  if (n_rows >= SHOAL_NO_ROW) return shoal_fail_memory(error);
  pool->n_free = (uint32_t)n_rows;
  pool->n_kinds = 1;
  pool->is_free = shoal_alloc((size_t)n_rows, sizeof *pool->is_free);
  pool->scratch = shoal_alloc(pool->axes->n, sizeof *pool->scratch);
  if (!pool->is_free || !pool->scratch) return shoal_fail_memory(error);
  memset(pool->is_free, 1, (size_t)n_rows);
  SHOAL_TRY(shoal_row_tree_init(&pool->all, pool->axes, NULL, 1, pool->is_free, error));
  if (!pool->fit) return SHOAL_OK;
  pool->kind_of_row = shoal_alloc_zero((size_t)n_rows, sizeof *pool->kind_of_row);
  if (!pool->kind_of_row || !find_kinds(pool, order)) return shoal_fail_memory(error);
  if (!pool->fit->n_counts) return SHOAL_OK;
  return shoal_row_tree_init(&pool->by_kind, pool->axes, pool->kind_of_row, pool->n_kinds,
                             pool->is_free, error);
}

shoal_status shoal_pool_init(shoal_pool *pool, const shoal_axes *axes, const shoal_fit *fit,
                             const shoal_pool_order *order, shoal_error *error) {
  *pool = (shoal_pool){.axes = axes, .fit = fit};
  shoal_status status = build(pool, order, error);
  if (status != SHOAL_OK) shoal_pool_reset(pool);
  return status;
}

/* ------------------------------------------------------------ rows go and come back */

void shoal_pool_give(shoal_pool *pool, uint32_t row, shoal_grown *grown, uint32_t cluster) {
  pool->is_free[row] = 0;
  pool->n_free--;
  shoal_row_tree_take(&pool->all, row);
  if (pool->by_kind.nodes) shoal_row_tree_take(&pool->by_kind, row);
  shoal_grown_add(grown, cluster, row);
}

void shoal_pool_take_back(shoal_pool *pool, shoal_grown *grown, uint32_t cluster) {
  for (uint32_t row = grown->first_row[cluster]; row != SHOAL_NO_ROW; row = grown->next_row[row]) {
    pool->is_free[row] = 1;
    pool->n_free++;
    shoal_row_tree_put(&pool->all, row);
    if (pool->by_kind.nodes) shoal_row_tree_put(&pool->by_kind, row);
  }
  shoal_grown_clear(grown, cluster);
}

/* ------------------------------------------------------------ questions */

uint32_t shoal_pool_furthest(shoal_pool *pool, uint32_t row) {
  return shoal_row_tree_furthest(&pool->all, row, pool->scratch);
}

uint32_t shoal_pool_nearest(shoal_pool *pool, const shoal_grown *grown, uint32_t cluster) {
  shoal_found found = shoal_nearest_start;
  shoal_row_tree_aim_near(&pool->all, shoal_grown_extent(grown, cluster));
  shoal_row_tree_nearest(&pool->all, 0, &found);
  return found.row;
}

/* The largest Div of the kinds that have free rows; pool->div has those of all of these. */
static uint64_t largest_div(shoal_pool *pool, const shoal_diversity *diversity, uint32_t from,
                            uint32_t to) {
  size_t n_counts = pool->fit->n_counts;
  uint64_t largest = 0;
  for (uint32_t kind = from; kind < to; kind++) {
    if (pool->by_kind.nodes[kind].least == SHOAL_NO_ROW) continue;
    pool->div[kind] = shoal_diversity_of(diversity, pool->groups + kind * n_counts);
    if (pool->div[kind] > largest) largest = pool->div[kind];
  }
  return largest;
}

shoal_choice shoal_pool_best(shoal_pool *pool, const shoal_grown *grown, uint32_t cluster,
                             const shoal_diversity *diversity, uint32_t from, uint32_t to) {
  const shoal_row_node *kinds = pool->by_kind.nodes;
  bool empty = !grown->n_rows[cluster]; /* its first row makes it lose nothing, whichever it is */
  shoal_found found = empty ? (shoal_found){0, SHOAL_NO_ROW} : shoal_nearest_start;
  uint64_t div = largest_div(pool, diversity, from, to);
  if (!empty) shoal_row_tree_aim_near(&pool->by_kind, shoal_grown_extent(grown, cluster));
  for (uint32_t kind = from; kind < to; kind++) {
    if (kinds[kind].least == SHOAL_NO_ROW || pool->div[kind] != div) continue;
    if (!empty) shoal_row_tree_nearest(&pool->by_kind, kind, &found);
    else if (kinds[kind].least < found.row) found.row = kinds[kind].least;
  }
  shoal_choice choice = {.div = div, .row = found.row};
  if (found.row != SHOAL_NO_ROW) choice.increase = shoal_grown_increase(grown, cluster, found.loss);
  return choice;
}
