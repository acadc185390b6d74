/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/growing: see growing.h. */
#include "cluster/growing.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/work.h"

enum { ROWS_PER_REPORT = 256 };

static shoal_span *extent_of(const shoal_growing *g, uint32_t cluster) {
  return g->extents + (size_t)cluster * g->axes->n;
}

static const uint32_t *groups_of(const shoal_growing *g, uint32_t kind) {
  return g->groups + (size_t)kind * g->fit->n_counts;
}

/* ------------------------------------------------------------ kinds */

/* Splits kinds by the group of one more count. */
static bool refine_kinds(shoal_growing *g, const shoal_count *count) {
  shoal_ids ids;
  if (!shoal_ids_init(&ids, g->n_kinds)) return false;
  bool ok = true;
  for (uint32_t row = 0; ok && row < g->axes->n_rows; row++) {
    uint64_t key = (uint64_t)g->kind_of_row[row] << 32 | shoal_count_group(count, row);
    g->kind_of_row[row] = shoal_ids_insert(&ids, key);
    ok = g->kind_of_row[row] != SHOAL_NO_ID;
  }
  g->n_kinds = ids.n_ids;
  shoal_ids_reset(&ids);
  return ok;
}

static uint32_t rank_of(const shoal_growing *g, const shoal_kind_order *order, uint32_t row) {
  const shoal_count *count = &g->fit->counts[order->count];
  uint32_t group = shoal_count_group(count, row);
  return group == SHOAL_NO_GROUP ? count->n_groups : order->rank_of[group];
}

/* Renumbers kinds by rank; within a rank they keep the order of their first rows. */
static bool sort_kinds(shoal_growing *g, const shoal_kind_order *order) {
  uint32_t n_ranks = g->fit->counts[order->count].n_groups + 1;
  uint32_t *start = shoal_alloc_zero((size_t)n_ranks + 1, sizeof *start);
  uint32_t *number = shoal_alloc(g->n_kinds, sizeof *number);
  bool ok = start && number;
  uint32_t n_found = 0; /* kinds are numbered in the order of their first rows */
  for (uint32_t row = 0; ok && row < g->axes->n_rows; row++)
    if (g->kind_of_row[row] == n_found) {
      n_found++;
      start[rank_of(g, order, row) + 1]++;
    }
  for (uint32_t r = 0; ok && r < n_ranks; r++) start[r + 1] += start[r];
  n_found = 0;
  for (uint32_t row = 0; ok && row < g->axes->n_rows; row++) {
    if (g->kind_of_row[row] == n_found) number[n_found++] = start[rank_of(g, order, row)]++;
    g->kind_of_row[row] = number[g->kind_of_row[row]];
  }
  free(start);
  free(number);
  return ok;
}

static bool find_kinds(shoal_growing *g, const shoal_kind_order *order) {
  size_t n_rows = (size_t)g->axes->n_rows, n_counts = g->fit->n_counts;
  g->n_kinds = 1;
  g->kind_of_row = shoal_arena_alloc(&g->arena, n_rows, sizeof *g->kind_of_row);
  if (!g->kind_of_row) return false;
  memset(g->kind_of_row, 0, n_rows * sizeof *g->kind_of_row);
  for (size_t d = 0; d < n_counts; d++)
    if (!refine_kinds(g, &g->fit->counts[d])) return false;
  if (order && !sort_kinds(g, order)) return false;
  if (n_counts > SIZE_MAX / ((size_t)g->n_kinds + 1)) return false;
  g->groups = shoal_arena_alloc(&g->arena, g->n_kinds * n_counts, sizeof *g->groups);
  g->div = shoal_arena_alloc(&g->arena, g->n_kinds, sizeof *g->div);
  g->distinct = shoal_arena_alloc(&g->arena, n_counts, sizeof *g->distinct);
  g->gain = shoal_arena_alloc(&g->arena, n_counts, sizeof *g->gain);
  if (!g->groups || !g->div || !g->distinct || !g->gain) return false;
  for (uint32_t row = 0; row < n_rows; row++)
    for (size_t d = 0; d < n_counts; d++)
      g->groups[g->kind_of_row[row] * n_counts + d] = shoal_count_group(&g->fit->counts[d], row);
  return shoal_seen_init(&g->seen, g->fit);
}

/* ------------------------------------------------------------ memory */

void shoal_growing_reset(shoal_growing *g) {
  shoal_row_tree_reset(&g->all);
  shoal_row_tree_reset(&g->by_kind);
  shoal_seen_reset(&g->seen);
  shoal_arena_reset(&g->arena);
}

static bool allocate(shoal_growing *g) {
  size_t n = g->capacity, n_rows = (size_t)g->axes->n_rows, n_axes = g->axes->n;
  g->order = shoal_arena_alloc(&g->arena, n, sizeof *g->order);
  g->extents = shoal_arena_alloc(&g->arena, n * n_axes, sizeof *g->extents);
  g->n_rows = shoal_arena_alloc(&g->arena, n, sizeof *g->n_rows);
  g->loss = shoal_arena_alloc(&g->arena, n, sizeof *g->loss);
  g->first_row = shoal_arena_alloc(&g->arena, n, sizeof *g->first_row);
  g->next_row = shoal_arena_alloc(&g->arena, n_rows, sizeof *g->next_row);
  g->is_free = shoal_arena_alloc(&g->arena, n_rows, sizeof *g->is_free);
  return g->order && g->extents && g->n_rows && g->loss && g->first_row && g->next_row &&
         g->is_free;
}

static shoal_status build(shoal_growing *g, const shoal_kind_order *order, shoal_error *error) {
  if (!allocate(g)) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < g->capacity; c++) {
    g->order[c] = c;
    g->n_rows[c] = g->loss[c] = 0;
    g->first_row[c] = SHOAL_NO_ROW;
  }
  memset(g->is_free, 1, g->n_free);
  SHOAL_TRY(shoal_row_tree_init(&g->all, g->axes, NULL, 1, g->is_free, error));
  if (!g->fit->n_counts) return SHOAL_OK;
  if (!find_kinds(g, order)) return shoal_fail_memory(error);
  return shoal_row_tree_init(&g->by_kind, g->axes, g->kind_of_row, g->n_kinds, g->is_free, error);
}

shoal_status shoal_growing_init(shoal_growing *g, const shoal_cluster_task *task, uint64_t capacity,
                                const shoal_kind_order *order, shoal_error *error) {
  const shoal_axes *axes = task->axes;
  *g = (shoal_growing){.task = task,
                       .axes = axes,
                       .fit = task->fit,
                       .capacity = (uint32_t)capacity,
                       .n_free = (uint32_t)axes->n_rows};
  if (capacity >= SHOAL_NO_ROW || axes->n_rows >= SHOAL_NO_ROW ||
      axes->n > SIZE_MAX / ((size_t)capacity + 1))
    return shoal_fail_memory(error);
  shoal_status status = build(g, order, error);
  if (status != SHOAL_OK) shoal_growing_reset(g);
  return status;
}

/* ------------------------------------------------------------ rows of clusters */

/* Adds a row to a cluster's list and extent. */
static void join(shoal_growing *g, uint32_t cluster, uint32_t row) {
  shoal_span *extent = extent_of(g, cluster);
  const uint32_t *places = shoal_axes_row(g->axes, row);
  if (g->n_rows[cluster]++) shoal_extent_add(g->axes, extent, places);
  else shoal_extent_start(g->axes, extent, places);
  g->loss[cluster] = shoal_extent_loss(g->axes, extent);
  g->next_row[row] = g->first_row[cluster];
  g->first_row[cluster] = row;
}

void shoal_growing_give(shoal_growing *g, uint32_t cluster, uint32_t row) {
  g->is_free[row] = 0;
  g->n_free--;
  shoal_row_tree_take(&g->all, row);
  if (g->by_kind.nodes) shoal_row_tree_take(&g->by_kind, row);
  join(g, cluster, row);
}

void shoal_growing_empty(shoal_growing *g, uint32_t cluster) {
  for (uint32_t row = g->first_row[cluster]; row != SHOAL_NO_ROW; row = g->next_row[row]) {
    g->is_free[row] = 1;
    g->n_free++;
    shoal_row_tree_put(&g->all, row);
    if (g->by_kind.nodes) shoal_row_tree_put(&g->by_kind, row);
  }
  g->n_rows[cluster] = g->loss[cluster] = 0;
  g->first_row[cluster] = SHOAL_NO_ROW;
}

/* ------------------------------------------------------------ diversity */

void shoal_growing_measure(shoal_growing *g, uint32_t cluster) {
  if (!g->fit->n_counts) return;
  shoal_seen_clear(&g->seen);
  g->hom = 0;
  for (size_t d = 0; d < g->fit->n_counts; d++) {
    const shoal_count *count = &g->fit->counts[d];
    g->distinct[d] = 0;
    g->gain[d] = (uint64_t)count->least * count->weight;
    g->hom += g->gain[d];
  }
  for (uint32_t row = g->first_row[cluster]; row != SHOAL_NO_ROW; row = g->next_row[row])
    shoal_growing_note(g, row);
}

void shoal_growing_note(shoal_growing *g, uint32_t row) {
  for (size_t d = 0; d < g->fit->n_counts; d++) {
    const shoal_count *count = &g->fit->counts[d];
    if (!shoal_seen_add(&g->seen, d, groups_of(g, g->kind_of_row[row])[d])) continue;
    if (g->distinct[d] == count->least) continue;
    g->distinct[d]++;
    g->gain[d] -= count->weight;
    g->hom -= count->weight;
  }
}

/* Div of a row of that kind and the current cluster. */
static uint64_t div_of(const shoal_growing *g, uint32_t kind) {
  const uint32_t *groups = groups_of(g, kind);
  uint64_t sum = 0;
  for (size_t d = 0; d < g->fit->n_counts; d++)
    if (shoal_seen_is_new(&g->seen, d, groups[d])) sum += g->gain[d];
  return sum;
}

/* ------------------------------------------------------------ choices */

uint32_t shoal_growing_furthest(shoal_growing *g, uint32_t row) {
  return shoal_row_tree_furthest(&g->all, row);
}

uint32_t shoal_growing_nearest(shoal_growing *g, uint32_t cluster) {
  shoal_found found = SHOAL_NOTHING_NEAR;
  shoal_row_tree_aim(&g->all, extent_of(g, cluster));
  shoal_row_tree_nearest(&g->all, 0, &found);
  return found.row;
}

/* IL(cl + t) - IL(cl), where `loss` is that of each row after t has joined. */
static uint64_t increase_of(const shoal_growing *g, uint32_t cluster, uint32_t loss) {
  uint64_t n = g->n_rows[cluster];
  return (n + 1) * loss - n * g->loss[cluster];
}

/* The largest Div of the kinds with free rows. Sets g->div of these kinds. */
static uint64_t largest_div(shoal_growing *g, uint32_t from, uint32_t to) {
  uint64_t largest = 0;
  for (uint32_t kind = from; kind < to; kind++) {
    if (g->by_kind.nodes[kind].least == SHOAL_NO_ROW) continue;
    g->div[kind] = div_of(g, kind);
    if (g->div[kind] > largest) largest = g->div[kind];
  }
  return largest;
}

shoal_choice shoal_growing_best(shoal_growing *g, uint32_t cluster, uint32_t from, uint32_t to) {
  const shoal_row_node *kinds = g->by_kind.nodes;
  bool empty = !g->n_rows[cluster]; /* the first row loses nothing, whichever it is */
  shoal_found found = empty ? (shoal_found){0, SHOAL_NO_ROW} : SHOAL_NOTHING_NEAR;
  uint64_t div = largest_div(g, from, to);
  if (!empty) shoal_row_tree_aim(&g->by_kind, extent_of(g, cluster));
  for (uint32_t kind = from; kind < to; kind++) {
    if (kinds[kind].least == SHOAL_NO_ROW || g->div[kind] != div) continue;
    if (!empty) shoal_row_tree_nearest(&g->by_kind, kind, &found);
    else if (kinds[kind].least < found.row) found.row = kinds[kind].least;
  }
  shoal_choice choice = {.div = div, .row = found.row};
  if (found.row != SHOAL_NO_ROW) choice.increase = increase_of(g, cluster, found.loss);
  return choice;
}

/* ------------------------------------------------------------ the partition */

shoal_status shoal_growing_report(const shoal_growing *g, shoal_error *error) {
  uint64_t n_rows = g->axes->n_rows;
  return shoal_run_report(g->task->run, "cluster", n_rows - g->n_free, n_rows, "rows", error);
}

/*
 * The position in `order` of the first cluster whose loss increases least. It increases by at least
 * the loss of each of its rows, so most clusters are skipped.
 */
static uint32_t least_increase(const shoal_growing *g, uint32_t n, uint32_t row) {
  const uint32_t *places = shoal_axes_row(g->axes, row);
  uint64_t least = UINT64_MAX;
  uint32_t best = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t c = g->order[i];
    if (g->loss[c] >= least) continue;
    uint32_t loss = shoal_extent_loss_with(g->axes, extent_of(g, c), places);
    uint64_t increase = increase_of(g, c, loss);
    if (increase >= least) continue;
    least = increase;
    best = i;
  }
  return best;
}

shoal_status shoal_growing_finish(shoal_growing *g, uint32_t n, shoal_partition *partition,
                                  shoal_error *error) {
  uint32_t n_rows = (uint32_t)g->axes->n_rows;
  SHOAL_TRY(shoal_partition_whole(partition, n_rows, error));
  if (!n) return SHOAL_OK;
  uint32_t *cluster_of_row = partition->cluster_of_row;
  partition->n_clusters = n;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t row = g->first_row[g->order[i]]; row != SHOAL_NO_ROW; row = g->next_row[row])
      cluster_of_row[row] = i;
  shoal_status status = SHOAL_OK;
  for (uint32_t row = 0; status == SHOAL_OK && row < n_rows; row++) {
    if (!g->is_free[row]) continue;
    cluster_of_row[row] = least_increase(g, n, row);
    join(g, g->order[cluster_of_row[row]], row);
    if (--g->n_free % ROWS_PER_REPORT == 0) status = shoal_growing_report(g, error);
  }
  if (status != SHOAL_OK) shoal_partition_reset(partition);
  return status;
}
