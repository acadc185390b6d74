/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/k-member: rows -> clusters of k, for k-anonymity alone (Byun, Kamra, Bertino & Li 2006).
 * A cluster starts from the row furthest from where the last one started, the first from the row
 * furthest from row 0, and takes k - 1 times the row that makes it lose least. Rows too few for one
 * more cluster join those whose loss grows least. Of equals the lowest row number is taken.
 */
#include "cluster/pool.h"

static shoal_status grow(const shoal_cluster_task *task, shoal_pool *pool, shoal_grown *grown,
                         shoal_error *error) {
  uint64_t n_rows = task->axes->n_rows;
  uint32_t seed = 0;
  for (uint32_t c = 0; c < grown->capacity; c++) {
    seed = shoal_pool_furthest(pool, seed);
    shoal_pool_give(pool, seed, grown, c);
    while (grown->n_rows[c] < task->fit->k)
      shoal_pool_give(pool, shoal_pool_nearest(pool, grown, c), grown, c);
    SHOAL_TRY(shoal_run_report(task->run, "cluster", n_rows - pool->n_free, n_rows, "rows", error));
  }
  return SHOAL_OK;
}

shoal_status shoal_cluster_k_member(const shoal_cluster_task *task, shoal_partition *partition,
                                    shoal_error *error) {
  shoal_pool pool;
  shoal_grown grown;
  SHOAL_TRY(shoal_pool_init(&pool, task->axes, NULL, NULL, error));
  shoal_status status =
      shoal_grown_init(&grown, task->axes, task->axes->n_rows / task->fit->k, error);
  if (status == SHOAL_OK) {
    status = grow(task, &pool, &grown, error);
    if (status == SHOAL_OK)
      status = shoal_grown_finish(&grown, grown.capacity, task->run, partition, error);
    shoal_grown_reset(&grown);
  }
  shoal_pool_reset(&pool);
  return status;
}
