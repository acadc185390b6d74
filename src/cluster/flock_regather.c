/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_regather: larger pools than flock_mix cuts anew. A cluster and its nearest
 * neighbours go back to rows, are sorted by the attributes in another order, gathered (or divided)
 * and improved by themselves, and stay so if they lose no more. Pools come in batches in which no
 * two have a cluster in common. Those of a batch are chosen first and put back last, one after the
 * other, so that the work between, which is nearly all of it, may be shared by threads.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/work.h"
#include "cluster/flock.h"

enum { PARTNERS = 6, ROUNDS = 2 };

/* A pool, and how its rows are divided anew. */
typedef struct job {
  uint32_t clusters[SHOAL_MOST_PARTNERS + 1], n_clusters;
  uint64_t loss;
  uint32_t first, n; /* its rows in `rows` */
  uint32_t n_found;  /* new clusters; 0: the old ones stay */
  uint64_t work;
} job;

typedef struct regathering {
  shoal_herd *herd;
  shoal_flock_pool pool;
  job *jobs;
  uint32_t n_jobs;
  uint32_t *rows;  /* of the herd, pool by pool */
  uint32_t *label; /* of each: its new cluster, from 0 in each pool */
  uint8_t *taken;  /* by slot: it is in a pool of this batch */
  uint8_t *done;   /* by slot: it was in a pool of some batch */
  atomic_uint next;
  atomic_bool failed;
} regathering;

/* ------------------------------------------------------------ one pool, on any thread */

/* How many clusters `sub` has, if it is as good as the pool was; else 0. */
static uint32_t count_if_good(const job *j, shoal_herd *sub) {
  uint32_t n = 0;
  if (sub->failed || shoal_herd_total(sub) > j->loss) return 0;
  for (uint32_t c = 0; c < sub->n_slots; c++) {
    if (!sub->size[c]) continue;
    if (!shoal_herd_fits(sub, c)) return 0;
    n++;
  }
  return sub->aim != SHOAL_AIM_IL && n < j->n_clusters ? 0 : n;
}

/* Writes down the clusters of `sub`. */
static void note(const shoal_herd *sub, uint32_t *label) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < sub->n_slots; c++) {
    if (!sub->size[c]) continue;
    for (uint32_t r = sub->head[c]; r != SHOAL_NIL; r = sub->next[r]) label[r] = n;
    n++;
  }
}

static bool divide_anew(const regathering *g, job *j) {
  const shoal_herd *h = g->herd;
  shoal_herd sub;
  uint32_t *label = g->label + j->first;
  shoal_cluster_task task = {.axes = h->axes, .fit = h->fit, .aim = h->aim};
  for (uint32_t i = 0; i < j->n; i++) label[i] = h->row[g->rows[j->first + i]];
  if (shoal_herd_init(&sub, &task, label, j->n, NULL) != SHOAL_OK) return false;
  sub.stop = h->stop;
  bool ok =
      h->aim == SHOAL_AIM_IL ? shoal_flock_gather(&sub) : shoal_flock_divide(&sub, j->n_clusters);
  for (int i = 0; ok && i < ROUNDS && shoal_flock_improve(&sub);) i++;
  if (ok) j->n_found = count_if_good(j, &sub);
  if (j->n_found) note(&sub, label);
  j->work = sub.work + j->n;
  ok = ok && !sub.failed;
  shoal_herd_reset(&sub);
  return ok;
}

static void work(void *user, unsigned i) {
  (void)i;
  regathering *g = user;
  for (unsigned j; (j = atomic_fetch_add(&g->next, 1)) < g->n_jobs;) {
    if (atomic_load(&g->failed) || shoal_herd_is_done(g->herd)) return;
    if (!divide_anew(g, &g->jobs[j])) atomic_store(&g->failed, true);
  }
}

/* ------------------------------------------------------------ all pools */

static bool is_apart(const regathering *g) {
  for (uint32_t i = 0; i < g->pool.n_clusters; i++)
    if (g->taken[g->pool.clusters[i]]) return false;
  return true;
}

static void add_pool(regathering *g, uint32_t at) {
  const shoal_flock_pool *pool = &g->pool;
  job *j = &g->jobs[g->n_jobs++];
  *j = (job){.n_clusters = pool->n_clusters, .loss = pool->loss, .first = at, .n = pool->n};
  memcpy(j->clusters, pool->clusters, sizeof j->clusters);
  memcpy(g->rows + at, pool->rows, j->n * sizeof *g->rows);
  for (uint32_t i = 0; i < j->n_clusters; i++)
    g->taken[j->clusters[i]] = g->done[j->clusters[i]] = 1;
}

/* Pools that have no cluster in common; false: all had their turn. */
static bool choose_pools(regathering *g) {
  shoal_herd *h = g->herd;
  uint32_t at = 0;
  g->n_jobs = 0;
  memset(g->taken, 0, h->n_slots);
  for (uint32_t i = 0; i < h->n_at; i++) {
    uint32_t a = h->at[i];
    if (g->done[a] || !h->size[a] || !h->loss[a]) continue;
    bool fits = shoal_flock_pool_fill(&g->pool, a, PARTNERS);
    if (!fits) g->done[a] = 1;
    if (!fits || !is_apart(g)) continue;
    shoal_flock_pool_sort(&g->pool);
    add_pool(g, at);
    at += g->pool.n;
  }
  return g->n_jobs > 0;
}

/* The pool's rows into their new clusters, if there are slots for them. */
static void apply(regathering *g, const job *j) {
  shoal_herd *h = g->herd;
  uint32_t *slot_of = h->list;
  h->work += j->work;
  if (!j->n_found || j->n_found > h->n_free + j->n_clusters) return;
  memcpy(g->pool.clusters, j->clusters, sizeof j->clusters);
  g->pool.n_clusters = j->n_clusters;
  shoal_flock_pool_clear(&g->pool);
  for (uint32_t c = 0; c < j->n_found; c++) slot_of[c] = shoal_flock_pool_slot(&g->pool);
  for (uint32_t i = j->first; i < j->first + j->n; i++)
    shoal_herd_link(h, g->rows[i], slot_of[g->label[i]]);
  for (uint32_t c = 0; c < j->n_found; c++) shoal_herd_refresh(h, slot_of[c]);
  shoal_flock_pool_close(&g->pool);
}

static void regather(regathering *g, unsigned threads) {
  shoal_herd *h = g->herd;
  shoal_herd_arrange(h);
  while (!shoal_herd_is_done(h) && choose_pools(g)) {
    atomic_store(&g->next, 0);
    shoal_parallel(threads < g->n_jobs ? threads : g->n_jobs, work, g);
    if (atomic_load(&g->failed)) h->failed = true;
    for (uint32_t j = 0; j < g->n_jobs && !h->failed; j++) apply(g, &g->jobs[j]);
  }
}

void shoal_flock_regather(shoal_herd *h, uint64_t round, unsigned threads) {
  if (h->fit->n_others || h->aim == SHOAL_AIM_DM) return;
  uint32_t clusters = h->n_slots - h->n_free;
  regathering g = {.herd = h,
                   .jobs = shoal_alloc(clusters, sizeof *g.jobs),
                   .rows = shoal_alloc(h->n, sizeof *g.rows),
                   .label = shoal_alloc(h->n, sizeof *g.label),
                   .taken = shoal_alloc(h->n_slots, 1),
                   .done = shoal_alloc_zero(h->n_slots, 1)};
  if (!g.jobs || !g.rows || !g.label || !g.taken || !g.done) h->failed = true;
  else if (shoal_flock_pool_init(&g.pool, h, ~round)) {
    regather(&g, threads);
    shoal_flock_pool_reset(&g.pool);
  }
  free(g.jobs);
  free(g.rows);
  free(g.label);
  free(g.taken);
  free(g.done);
}
