/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_regather: larger pools than flock_mix cuts anew. A cluster and its nearest
 * neighbours go back to rows, are gathered (or halved) and improved by themselves in another order
 * of the attributes, and stay so if they lose less.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "cluster/flock.h"

enum { PARTNERS = 6, ROUNDS = 2 };

/* Is the pool as good as `sub` has it? Another way to lose the same may lead further. */
static bool is_as_good(const shoal_flock_pool *pool, shoal_herd *sub) {
  const shoal_herd *h = pool->herd;
  uint32_t n = 0;
  if (sub->failed || shoal_herd_total(sub) > pool->loss) return false;
  for (uint32_t c = 0; c < sub->n_slots; c++) {
    if (!sub->size[c]) continue;
    if (!shoal_herd_fits(sub, c)) return false;
    n++;
  }
  if (h->aim != SHOAL_AIM_IL && n < pool->n_clusters) return false;
  return n <= h->n_free + pool->n_clusters;
}

static void apply(shoal_flock_pool *pool, const shoal_herd *sub) {
  shoal_herd *h = pool->herd;
  shoal_flock_pool_clear(pool);
  for (uint32_t c = 0; c < sub->n_slots; c++) {
    if (!sub->size[c]) continue;
    uint32_t slot = shoal_flock_pool_slot(pool);
    for (uint32_t r = sub->head[c]; r != SHOAL_NIL; r = sub->next[r])
      shoal_herd_link(h, pool->rows[r], slot);
    shoal_herd_refresh(h, slot);
  }
  shoal_flock_pool_close(pool);
}

static bool regather(shoal_flock_pool *pool, uint32_t a, uint32_t *rows) {
  shoal_herd *h = pool->herd, sub;
  if (!shoal_flock_pool_fill(pool, a, PARTNERS)) return false;
  shoal_flock_pool_sort(pool);
  for (uint32_t i = 0; i < pool->n; i++) rows[i] = h->row[pool->rows[i]];
  shoal_cluster_task task = {.axes = h->axes, .fit = h->fit, .aim = h->aim};
  if (shoal_herd_init(&sub, &task, rows, pool->n, NULL) != SHOAL_OK) {
    h->failed = true;
    return false;
  }
  bool ok = h->aim == SHOAL_AIM_IL ? shoal_flock_gather(&sub)
                                   : shoal_flock_divide(&sub, pool->n_clusters);
  for (int i = 0; ok && i < ROUNDS && shoal_flock_improve(&sub);) i++;
  ok = ok && is_as_good(pool, &sub);
  if (ok) apply(pool, &sub);
  h->work += sub.work + pool->n;
  h->failed = h->failed || sub.failed;
  shoal_herd_reset(&sub);
  return ok;
}

bool shoal_flock_regather(shoal_herd *h, uint64_t round) {
  if (h->fit->n_others || h->aim == SHOAL_AIM_DM) return false;
  shoal_flock_pool pool;
  uint8_t *done = shoal_alloc_zero(h->n_slots, 1); /* by slot: it was in a pool already */
  uint32_t *rows = shoal_alloc(SHOAL_MOST_POOLED, sizeof *rows);
  bool any = false;
  if (!done || !rows) h->failed = true;
  else if (shoal_flock_pool_init(&pool, h, ~round)) {
    shoal_herd_arrange(h);
    for (uint32_t i = 0; i < h->n_at && !shoal_herd_is_done(h); i++) {
      uint32_t a = h->at[i];
      if (!h->size[a] || !h->loss[a] || done[a]) continue;
      any |= regather(&pool, a, rows);
      for (uint32_t j = 0; j < pool.n_clusters; j++) done[pool.clusters[j]] = 1;
    }
    shoal_flock_pool_reset(&pool);
  }
  free(done);
  free(rows);
  return any;
}
