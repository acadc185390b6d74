/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/greedy-pk: rows -> clusters with k rows and p distinct values, one after the other
 * (GreedyPKClustering of Campan, Truta, Miller & Sinca 2007, as Truta, Campan & Meyer 2007 tell of
 * it). A cluster starts as in k-member; its next row is the one of largest Div, of these the one
 * that makes it lose least, of equals the lowest; it is complete with k rows and Hom 0. Where the
 * rows run out before that, they join the clusters whose loss grows least.
 */
#include "cluster/pool.h"

typedef struct greedy {
  const shoal_cluster_task *task;
  shoal_pool pool;
  shoal_grown grown;
  shoal_diversity diversity;
} greedy;

static void give(greedy *g, uint32_t cluster, uint32_t row) {
  shoal_pool_give(&g->pool, row, &g->grown, cluster);
  shoal_diversity_add(&g->diversity, shoal_pool_groups(&g->pool, row));
}

/* False: the free rows cannot complete the cluster. It is not worth taking them all to see that. */
static bool complete(greedy *g, uint32_t cluster) {
  while (g->diversity.hom) {
    shoal_choice choice =
        shoal_pool_best(&g->pool, &g->grown, cluster, &g->diversity, 0, g->pool.n_kinds);
    if (choice.row == SHOAL_NO_ROW || !choice.div) return false;
    give(g, cluster, choice.row);
  }
  while (g->grown.n_rows[cluster] < g->task->fit->k) {
    uint32_t row = shoal_pool_nearest(&g->pool, &g->grown, cluster);
    if (row == SHOAL_NO_ROW) return false;
    give(g, cluster, row);
  }
  return true;
}

static shoal_status grow(greedy *g, shoal_partition *partition, shoal_error *error) {
  uint64_t n_rows = g->task->axes->n_rows;
  uint32_t seed = 0, n = 0;
  while (g->pool.n_free >= g->task->fit->k && g->pool.n_free) {
    seed = shoal_pool_furthest(&g->pool, seed);
    shoal_diversity_start(&g->diversity);
    give(g, n, seed);
    if (!complete(g, n)) {
      shoal_pool_take_back(&g->pool, &g->grown, n);
      break;
    }
    n++;
    uint64_t done = n_rows - g->pool.n_free;
    SHOAL_TRY(shoal_run_report(g->task->run, "cluster", done, n_rows, "rows", error));
  }
  return shoal_grown_finish(&g->grown, n, g->task->run, partition, error);
}

shoal_status shoal_cluster_greedy_pk(const shoal_cluster_task *task, shoal_partition *partition,
                                     shoal_error *error) {
  greedy g = {.task = task};
  shoal_status status = shoal_pool_init(&g.pool, task->axes, task->fit, NULL, error);
  if (status == SHOAL_OK)
    status = shoal_grown_init(&g.grown, task->axes, task->axes->n_rows / task->fit->k, error);
  if (status == SHOAL_OK) status = shoal_diversity_init(&g.diversity, task->fit, error);
  if (status == SHOAL_OK) status = grow(&g, partition, error);
  shoal_diversity_reset(&g.diversity);
  shoal_grown_reset(&g.grown);
  shoal_pool_reset(&g.pool);
  return status;
}
