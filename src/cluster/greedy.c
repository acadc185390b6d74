/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/greedy: k-member, greedy-pk and hybrid-pk.
 *
 * greedy-pk: GreedyPKClustering of Campan, Truta, Miller & Sinca 2007, as described by Truta,
 * Campan & Meyer 2007. The first cluster starts from the row furthest from row 0, each later one
 * from the free row furthest from the previous start. The next row has the largest Div, then the
 * least increase of loss, then the lowest number. A cluster is complete with k rows and Hom 0. Rows
 * that cannot complete a cluster join those whose loss increases least.
 *
 * k-member: Byun, Kamra, Bertino & Li 2006, for k-anonymity alone: greedy-pk without counts.
 *
 * hybrid-pk: greedy-pk if p is easy, enhanced-pk if it is hard (Truta, Campan & Meyer 2007, section
 * 4), decided in advance from the necessary conditions. k allows n / k clusters, the second
 * necessary condition a number that depends on p. greedy-pk fills clusters up to k by loss alone
 * and uses up rare sensitive values that later clusters lack; enhanced-pk distributes them first,
 * which costs loss. p is easy if the values allow twice n / k clusters. From that factor on, on
 * 10,000 rows of Adult (k from 5 to 60, p from 2 to 10), greedy-pk makes at least 98% of the
 * clusters of enhanced-pk, mostly with less loss; below it, mostly fewer and with more loss.
 */
#include "cluster/greedy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/text.h"
#include "base/thread.h"

enum { ROWS_PER_REPORT = 256 };

static shoal_span *box_of(const shoal_growing_clusters *g, uint32_t cluster) {
  return g->boxes + (size_t)cluster * g->axes->n_spans;
}

static const uint32_t *groups_of(const shoal_growing_clusters *g, uint32_t kind) {
  return g->groups + (size_t)kind * g->required->n_counts;
}

/* ------------------------------------------------------------ kinds */

static uint32_t rank_of(const shoal_growing_clusters *g, const shoal_kind_order *order,
                        uint32_t row) {
  const shoal_distinct_requirement *count = &g->required->counts[order->count];
  uint32_t group = shoal_distinct_requirement_group(count, row);
  return group == SHOAL_NONE ? count->n_groups : order->rank_of[group];
}

/* Renumbers kinds by rank, stably. */
static bool sort_kinds(shoal_growing_clusters *g, const shoal_kind_order *order) {
  uint64_t *keys; /* rank << 32 | kind */
  uint32_t *number;
  if (!SHOAL_ARENA_ARRAY(&g->arena, keys, g->n_kinds) ||
      !SHOAL_ARENA_ARRAY(&g->arena, number, g->n_kinds))
    return false;
  for (uint32_t row = 0; row < g->axes->n_rows; row++)
    keys[g->kind_of_row[row]] = (uint64_t)rank_of(g, order, row) << 32 | g->kind_of_row[row];
  shoal_sort_u64(keys, g->n_kinds);
  for (uint32_t i = 0; i < g->n_kinds; i++) number[(uint32_t)keys[i]] = i;
  for (uint32_t row = 0; row < g->axes->n_rows; row++)
    g->kind_of_row[row] = number[g->kind_of_row[row]];
  return true;
}

static bool find_kinds(shoal_growing_clusters *g, const shoal_kind_order *order) {
  size_t n_rows = (size_t)g->axes->n_rows, n_counts = g->required->n_counts;
  g->n_kinds = 1;
  if (!SHOAL_ARENA_ARRAY(&g->arena, g->kind_of_row, n_rows)) return false;
  memset(g->kind_of_row, 0, n_rows * sizeof *g->kind_of_row);
  for (size_t d = 0; d < n_counts; d++) {
    const shoal_distinct_requirement *count = &g->required->counts[d];
    g->n_kinds = shoal_split_kinds(g->kind_of_row, n_rows, count->column, count->group_of);
    if (g->n_kinds == SHOAL_NONE) return false;
  }
  if (order && !sort_kinds(g, order)) return false;
  if (n_counts > SIZE_MAX / ((size_t)g->n_kinds + 1)) return false;
  if (!SHOAL_ARENA_ARRAY(&g->arena, g->groups, g->n_kinds * n_counts) ||
      !SHOAL_ARENA_ARRAY(&g->arena, g->div, g->n_kinds) ||
      !SHOAL_ARENA_ARRAY(&g->arena, g->distinct, n_counts) ||
      !SHOAL_ARENA_ARRAY(&g->arena, g->gain, n_counts))
    return false;
  for (uint32_t row = 0; row < n_rows; row++)
    for (size_t d = 0; d < n_counts; d++)
      g->groups[g->kind_of_row[row] * n_counts + d] =
          shoal_distinct_requirement_group(&g->required->counts[d], row);
  return shoal_seen_init(&g->seen, g->required, &g->arena);
}

/* ------------------------------------------------------------ memory */

void shoal_growing_clusters_reset(shoal_growing_clusters *g) {
  shoal_nearest_reset(&g->all);
  shoal_nearest_reset(&g->by_kind);
  shoal_arena_reset(&g->arena);
}

static bool allocate(shoal_growing_clusters *g) {
  size_t n = g->capacity, n_rows = (size_t)g->axes->n_rows;
  shoal_arena *arena = &g->arena;
  return SHOAL_ARENA_ARRAY(arena, g->order, n) &&
         SHOAL_ARENA_ARRAY(arena, g->boxes, n * g->axes->n_spans) &&
         SHOAL_ARENA_ARRAY(arena, g->n_rows, n) && SHOAL_ARENA_ARRAY(arena, g->loss, n) &&
         SHOAL_ARENA_ARRAY(arena, g->first_row, n) &&
         SHOAL_ARENA_ARRAY(arena, g->next_row, n_rows) &&
         SHOAL_ARENA_ARRAY(arena, g->point, g->axes->n_spans) &&
         SHOAL_ARENA_ARRAY(arena, g->is_free, n_rows);
}

static shoal_status build(shoal_growing_clusters *g, const shoal_kind_order *order,
                          shoal_error *error) {
  if (!allocate(g)) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < g->capacity; c++) {
    g->order[c] = c;
    g->n_rows[c] = g->loss[c] = 0;
    g->first_row[c] = SHOAL_NONE;
  }
  memset(g->is_free, 1, g->n_free);
  SHOAL_TRY(shoal_nearest_init_rows(&g->all, g->axes, NULL, 1, g->is_free, error));
  if (!g->required->n_counts) return SHOAL_OK;
  if (!find_kinds(g, order)) return shoal_fail_memory(error);
  return shoal_nearest_init_rows(&g->by_kind, g->axes, g->kind_of_row, g->n_kinds, g->is_free,
                                 error);
}

shoal_status shoal_growing_clusters_init(shoal_growing_clusters *g, const shoal_cluster_task *task,
                                         uint64_t capacity, const shoal_kind_order *order,
                                         shoal_error *error) {
  const shoal_axes *axes = task->axes;
  *g = (shoal_growing_clusters){.task = task,
                                .axes = axes,
                                .required = task->required,
                                .capacity = (uint32_t)capacity,
                                .n_free = (uint32_t)axes->n_rows};
  if (capacity >= SHOAL_NONE || axes->n_rows >= SHOAL_NONE ||
      axes->n_spans > SIZE_MAX / ((size_t)capacity + 1))
    return shoal_fail_memory(error);
  shoal_status status = build(g, order, error);
  if (status != SHOAL_OK) shoal_growing_clusters_reset(g);
  return status;
}

/* ------------------------------------------------------------ rows of clusters */

/* Adds a row to a cluster's list and box. */
static void join(shoal_growing_clusters *g, uint32_t cluster, uint32_t row) {
  shoal_span *box = box_of(g, cluster);
  const uint32_t *positions = shoal_axes_row(g->axes, row);
  if (g->n_rows[cluster]++) shoal_box_add(g->axes, box, positions);
  else shoal_box_start(g->axes, box, positions);
  g->loss[cluster] = shoal_box_loss(g->axes, box);
  g->next_row[row] = g->first_row[cluster];
  g->first_row[cluster] = row;
}

void shoal_growing_clusters_give(shoal_growing_clusters *g, uint32_t cluster, uint32_t row) {
  g->is_free[row] = 0;
  g->n_free--;
  shoal_nearest_take(&g->all, row);
  if (g->by_kind.nodes) shoal_nearest_take(&g->by_kind, row);
  join(g, cluster, row);
}

void shoal_growing_clusters_empty(shoal_growing_clusters *g, uint32_t cluster) {
  for (uint32_t row = g->first_row[cluster]; row != SHOAL_NONE; row = g->next_row[row]) {
    g->is_free[row] = 1;
    g->n_free++;
    shoal_nearest_put(&g->all, row);
    if (g->by_kind.nodes) shoal_nearest_put(&g->by_kind, row);
  }
  g->n_rows[cluster] = g->loss[cluster] = 0;
  g->first_row[cluster] = SHOAL_NONE;
}

/* ------------------------------------------------------------ diversity */

void shoal_growing_clusters_measure(shoal_growing_clusters *g, uint32_t cluster) {
  if (!g->required->n_counts) return;
  shoal_seen_clear(&g->seen);
  g->hom = 0;
  for (size_t d = 0; d < g->required->n_counts; d++) {
    const shoal_distinct_requirement *count = &g->required->counts[d];
    g->distinct[d] = 0;
    g->gain[d] = (uint64_t)count->min_distinct * count->weight;
    g->hom += g->gain[d];
  }
  for (uint32_t row = g->first_row[cluster]; row != SHOAL_NONE; row = g->next_row[row])
    shoal_growing_clusters_note(g, row);
}

void shoal_growing_clusters_note(shoal_growing_clusters *g, uint32_t row) {
  for (size_t d = 0; d < g->required->n_counts; d++) {
    const shoal_distinct_requirement *count = &g->required->counts[d];
    if (!shoal_seen_add(&g->seen, d, groups_of(g, g->kind_of_row[row])[d])) continue;
    if (g->distinct[d] == count->min_distinct) continue;
    g->distinct[d]++;
    g->gain[d] -= count->weight;
    g->hom -= count->weight;
  }
}

/* Div of a row of that kind and the current cluster. */
static uint64_t div_of(const shoal_growing_clusters *g, uint32_t kind) {
  const uint32_t *groups = groups_of(g, kind);
  uint64_t sum = 0;
  for (size_t d = 0; d < g->required->n_counts; d++)
    if (shoal_seen_is_new(&g->seen, d, groups[d])) sum += g->gain[d];
  return sum;
}

/* ------------------------------------------------------------ choices */

uint32_t shoal_growing_clusters_nearest(shoal_growing_clusters *g, uint32_t cluster) {
  shoal_found found = SHOAL_NOTHING_NEAR;
  shoal_nearest_row(&g->all, 0, box_of(g, cluster), &found);
  return found.row;
}

/* IL(cl + t) - IL(cl), where `loss` is that of each row after t has joined. */
static uint64_t increase_of(const shoal_growing_clusters *g, uint32_t cluster, uint64_t loss) {
  uint64_t n = g->n_rows[cluster];
  return (n + 1) * loss - n * g->loss[cluster];
}

/* The largest Div of the kinds with free rows. Sets g->div of these kinds. */
static uint64_t largest_div(shoal_growing_clusters *g, uint32_t from, uint32_t to) {
  uint64_t largest = 0;
  for (uint32_t kind = from; kind < to; kind++) {
    if (g->by_kind.nodes[kind].lowest == SHOAL_NONE) continue;
    g->div[kind] = div_of(g, kind);
    if (g->div[kind] > largest) largest = g->div[kind];
  }
  return largest;
}

shoal_choice shoal_growing_clusters_best(shoal_growing_clusters *g, uint32_t cluster, uint32_t from,
                                         uint32_t to) {
  const shoal_near_node *kinds = g->by_kind.nodes;
  bool empty = !g->n_rows[cluster]; /* the first row loses nothing, whichever it is */
  shoal_found found = empty ? (shoal_found){0, SHOAL_NONE} : SHOAL_NOTHING_NEAR;
  uint64_t div = largest_div(g, from, to);
  for (uint32_t kind = from; kind < to; kind++) {
    if (kinds[kind].lowest == SHOAL_NONE || g->div[kind] != div) continue;
    if (!empty) shoal_nearest_row(&g->by_kind, kind, box_of(g, cluster), &found);
    else if (kinds[kind].lowest < found.row) found.row = kinds[kind].lowest;
  }
  shoal_choice choice = {.div = div, .row = found.row};
  if (found.row != SHOAL_NONE) choice.increase = increase_of(g, cluster, found.loss);
  return choice;
}

/* ------------------------------------------------------------ the partition */

shoal_status shoal_growing_clusters_report(const shoal_growing_clusters *g, shoal_error *error) {
  uint64_t n_rows = g->axes->n_rows;
  return shoal_run_report(g->task->run, "cluster", n_rows - g->n_free, n_rows, "rows", error);
}

/*
 * The position in `order` of the first cluster whose loss increases least. It increases by at least
 * the loss of each of its rows, so most clusters are skipped.
 */
static uint32_t min_increase(const shoal_growing_clusters *g, uint32_t n, uint32_t row) {
  const uint32_t *positions = shoal_axes_row(g->axes, row);
  uint64_t least = UINT64_MAX;
  uint32_t best = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t c = g->order[i];
    if (g->loss[c] >= least) continue;
    uint32_t loss = shoal_box_loss_with(g->axes, box_of(g, c), positions);
    uint64_t increase = increase_of(g, c, loss);
    if (increase >= least) continue;
    least = increase;
    best = i;
  }
  return best;
}

shoal_status shoal_growing_clusters_finish(shoal_growing_clusters *g, uint32_t n,
                                           shoal_partition *partition, shoal_error *error) {
  uint32_t n_rows = (uint32_t)g->axes->n_rows;
  SHOAL_TRY(shoal_partition_whole(partition, n_rows, error));
  if (!n) return SHOAL_OK;
  uint32_t *cluster_of_row = partition->cluster_of_row;
  partition->n_clusters = n;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t row = g->first_row[g->order[i]]; row != SHOAL_NONE; row = g->next_row[row])
      cluster_of_row[row] = i;
  shoal_status status = SHOAL_OK;
  for (uint32_t row = 0; status == SHOAL_OK && row < n_rows; row++) {
    if (!g->is_free[row]) continue;
    cluster_of_row[row] = min_increase(g, n, row);
    join(g, g->order[cluster_of_row[row]], row);
    if (--g->n_free % ROWS_PER_REPORT == 0) status = shoal_growing_clusters_report(g, error);
  }
  if (status != SHOAL_OK) shoal_partition_reset(partition);
  return status;
}

/* ------------------------------------------------------------ greedy-pk and k-member */

static void give(shoal_growing_clusters *g, uint32_t cluster, uint32_t row) {
  shoal_growing_clusters_give(g, cluster, row);
  shoal_growing_clusters_note(g, row);
}

/* Returns false if the free rows cannot complete the cluster. */
static bool complete(shoal_growing_clusters *g, uint32_t cluster) {
  while (g->hom) {
    shoal_choice choice = shoal_growing_clusters_best(g, cluster, 0, g->n_kinds);
    if (choice.row == SHOAL_NONE || !choice.div) return false;
    give(g, cluster, choice.row);
  }
  while (g->n_rows[cluster] < g->required->k) {
    uint32_t row = shoal_growing_clusters_nearest(g, cluster);
    if (row == SHOAL_NONE) return false;
    give(g, cluster, row);
  }
  return true;
}

static shoal_status grow(shoal_growing_clusters *g, shoal_partition *partition,
                         shoal_error *error) {
  uint32_t start = 0, n = 0;
  while (g->n_free >= g->required->k && g->n_free) {
    start = shoal_nearest_furthest(&g->all, start, g->point);
    shoal_growing_clusters_measure(g, n);
    give(g, n, start);
    if (!complete(g, n)) {
      shoal_growing_clusters_empty(g, n);
      break;
    }
    n++;
    SHOAL_TRY(shoal_growing_clusters_report(g, error));
  }
  return shoal_growing_clusters_finish(g, n, partition, error);
}

shoal_status shoal_cluster_greedy_pk(const shoal_cluster_task *task, shoal_partition *partition,
                                     shoal_error *error) {
  shoal_growing_clusters g;
  SHOAL_TRY(
      shoal_growing_clusters_init(&g, task, task->axes->n_rows / task->required->k, NULL, error));
  shoal_status status = grow(&g, partition, error);
  shoal_growing_clusters_reset(&g);
  return status;
}

shoal_status shoal_cluster_k_member(const shoal_cluster_task *task, shoal_partition *partition,
                                    shoal_error *error) {
  shoal_cluster_requirements size = *task->required;
  shoal_cluster_task by_size = *task;
  size.n_counts = 0;
  by_size.required = &size;
  return shoal_cluster_greedy_pk(&by_size, partition, error);
}

/* ------------------------------------------------------------ hybrid-pk */

/* Says in partition->why which algorithm ran; frees the partition without memory for that. */
static shoal_status explain(shoal_partition *partition, bool easy, uint64_t by_p, uint64_t by_k,
                            shoal_error *error) {
  shoal_text text;
  shoal_text_init(&text);
  shoal_text_print(&text, "p is %s: the sensitive values allow ", easy ? "easy" : "hard");
  shoal_text_add_count(&text, by_p);
  shoal_text_print(&text, " clusters, %s twice the ", easy ? "at least" : "less than");
  shoal_text_add_count(&text, by_k);
  shoal_text_print(&text, " of k: %s", easy ? "greedy-pk" : "enhanced-pk");
  bool ok = !text.failed;
  if (ok) (void)snprintf(partition->why, sizeof partition->why, "%s", text.bytes);
  else shoal_partition_reset(partition);
  shoal_text_reset(&text);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_cluster_hybrid_pk(const shoal_cluster_task *task, shoal_partition *partition,
                                     shoal_error *error) {
  const shoal_cluster_requirements *required = task->required;
  uint64_t by_k = task->axes->n_rows / required->k, by_p = UINT64_MAX;
  for (size_t d = 0; d < required->n_counts; d++)
    if (required->counts[d].max_clusters < by_p) by_p = required->counts[d].max_clusters;
  bool easy = by_p / 2 >= by_k;
  SHOAL_TRY(easy ? shoal_cluster_greedy_pk(task, partition, error)
                 : shoal_cluster_enhanced_pk(task, partition, error));
  if (required->n_counts) return explain(partition, easy, by_p, by_k, error);
  (void)snprintf(partition->why, sizeof partition->why,
                 "no number of distinct values is asked for: greedy-pk");
  return SHOAL_OK;
}
