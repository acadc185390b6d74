/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_repair: destroy and repair (large neighbourhood search, Shaw 1998). A cluster of
 * high cost and its nearest neighbours are dissolved and agglomerated again, with some noise; local
 * moves follow. The result is kept unless it costs more. Agglomeration starts from parts of the old
 * clusters whose tuples lose little together, not from single tuples: several times faster, with
 * nearly the same gain.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cluster/flock_clusters.h"

enum {
  MAX_PARTNERS = 5,
  MAX_ROWS = 1024,   /* pooled */
  DRAWS = 3,         /* clusters drawn; the one with the highest cost is dissolved */
  ENOUGH = 6,        /* times the mean size, or k: rows of a pool */
  MAX_PERCENT = 109, /* of the old cost; above it, local moves are not tried */
  MIN_PART = 60,     /* percent of its cluster's loss that a part may lose: from this */
  MAX_PART = 100,    /* to below this */
  ROUNDS = 2         /* of local moves */
};

bool shoal_repair_init(shoal_repair *r, shoal_clusters *b) {
  uint32_t room = b->p->n < MAX_ROWS ? b->p->n : MAX_ROWS;
  memset(r, 0, sizeof *r);
  r->b = b;
  if (!shoal_clusters_init_like(&r->pool, b, room)) return false;
  if (shoal_agglomeration_init(&r->agglomeration, &r->pool)) return true;
  shoal_clusters_reset(&r->pool);
  return false;
}

void shoal_repair_reset(shoal_repair *r) {
  shoal_agglomeration_reset(&r->agglomeration);
  shoal_clusters_reset(&r->pool);
}

/* ------------------------------------------------------------ the pool */

typedef struct pooled {
  uint32_t clusters[MAX_PARTNERS + 1], n_clusters;
  uint32_t rows[MAX_ROWS], n;
} pooled;

/* Of DRAWS random clusters, the one of highest cost; SHOAL_NONE: none can be improved. */
static uint32_t draw_cluster(shoal_clusters *b) {
  uint32_t best = SHOAL_NONE;
  for (int i = 0; i < DRAWS; i++) {
    uint32_t c = shoal_clusters_random(b, b->n);
    if (!b->size[c] || b->size[c] > MAX_ROWS || (!b->loss[c] && !b->cost.square)) continue;
    if (best == SHOAL_NONE || shoal_clusters_cost(b, c) > shoal_clusters_cost(b, best)) best = c;
  }
  return best;
}

static uint32_t draw_row(shoal_clusters *b, uint32_t cluster) {
  uint32_t row = b->head[cluster];
  for (uint32_t n = shoal_clusters_random(b, b->size[cluster]); n; n--) row = b->next[row];
  return row;
}

/* The cluster, then those to which a random row of it adds the least cost, with some noise. */
static void choose_clusters(shoal_clusters *b, uint32_t cluster, pooled *pool) {
  enum { SHARES = 1024 };
  float cost[MAX_PARTNERS + 1] = {0};
  const int16_t *values = shoal_packed_values(b->p, b->p->tuple[draw_row(b, cluster)]);
  pool->clusters[0] = cluster;
  pool->n_clusters = 1;
  if (shoal_clusters_cheapest(b, values, cluster) == SHOAL_NONE) return;
  for (uint32_t c = 0; c < b->n; c++) {
    float own = b->join_cost[c];
    bool full = pool->n_clusters > MAX_PARTNERS;
    if (!b->size[c] || c == cluster || (full && own >= cost[MAX_PARTNERS])) continue;
    own *= 1 + (float)shoal_clusters_random(b, SHARES) / (2 * SHARES);
    if (full && own >= cost[MAX_PARTNERS]) continue;
    uint32_t i = full ? MAX_PARTNERS : pool->n_clusters++;
    for (; i > 1 && cost[i - 1] > own; i--) {
      cost[i] = cost[i - 1];
      pool->clusters[i] = pool->clusters[i - 1];
    }
    cost[i] = own;
    pool->clusters[i] = c;
  }
}

/* The rows of the chosen clusters, nearest first, until there are enough; false: of one cluster. */
static bool pool_rows(const shoal_clusters *b, pooled *pool) {
  uint64_t enough = ENOUGH * (uint64_t)(b->p->n / b->n_live);
  if (enough < ENOUGH * b->p->required->k) enough = ENOUGH * b->p->required->k;
  pool->n = 0;
  for (uint32_t i = 0; i < pool->n_clusters; i++) {
    uint32_t c = pool->clusters[i];
    if (pool->n >= enough || pool->n + b->size[c] > MAX_ROWS) pool->n_clusters = i;
    else
      for (uint32_t r = b->head[c]; r != SHOAL_NONE; r = b->next[r]) pool->rows[pool->n++] = r;
  }
  return pool->n_clusters > 1;
}

/* ------------------------------------------------------------ parts */

/* Puts the rows of one cluster of the block into parts, each a cluster of r->pool. */
static void split_cluster(shoal_repair *r, uint32_t cluster, uint32_t percent) {
  const shoal_clusters *b = r->b;
  const shoal_packed_rows *p = b->p;
  shoal_clusters *pool = &r->pool;
  uint32_t first = pool->n, last_tuple = SHOAL_NONE, part = 0;
  uint32_t most = (uint32_t)((uint64_t)b->loss[cluster] * percent / 100);
  for (uint32_t row = b->head[cluster]; row != SHOAL_NONE; row = b->next[row]) {
    const int16_t *values = shoal_packed_values(p, p->tuple[row]);
    if (p->tuple[row] != last_tuple) {
      for (part = first; part < pool->n; part++)
        if (shoal_packed_box_loss_with(p, shoal_clusters_box(pool, part), values) <= most) break;
      if (part == pool->n) shoal_packed_box_start(p, shoal_clusters_box(pool, pool->n++), values);
      else shoal_packed_box_add(p, shoal_clusters_box(pool, part), values);
    }
    last_tuple = p->tuple[row];
    shoal_clusters_put(pool, row, part);
  }
  for (part = first; part < pool->n; part++) shoal_clusters_refresh(pool, part);
}

/* ------------------------------------------------------------ back into the block */

/* The old cluster that a new one equals; SHOAL_NONE: none. */
static uint32_t same_cluster(const shoal_repair *r, uint32_t c) {
  const shoal_clusters *b = r->b, *pool = &r->pool;
  uint32_t old = b->cluster_of[pool->head[c]];
  if (b->size[old] != pool->size[c]) return SHOAL_NONE;
  for (uint32_t row = pool->head[c]; row != SHOAL_NONE; row = pool->next[row])
    if (b->cluster_of[row] != old) return SHOAL_NONE;
  return old;
}

/* Moves rows until the block has the clusters of r->pool. Lists the clusters that changed. If it is
 * stopped in between, the whole result is discarded (flock.c). */
static uint32_t put_back(shoal_repair *r, pooled *pool, uint32_t *changed) {
  shoal_clusters *b = r->b;
  const shoal_clusters *made = &r->pool;
  uint32_t n = 0, free_slots = 0;
  bool kept[MAX_PARTNERS + 1] = {false}, same[MAX_ROWS] = {false};
  for (uint32_t c = 0; c < made->n; c++) {
    uint32_t old = made->size[c] ? same_cluster(r, c) : SHOAL_NONE;
    same[c] = old != SHOAL_NONE;
    for (uint32_t i = 0; i < pool->n_clusters; i++) kept[i] |= pool->clusters[i] == old;
  }
  for (uint32_t i = 0; i < pool->n_clusters; i++)
    if (!kept[i]) pool->clusters[free_slots++] = pool->clusters[i];
  for (uint32_t c = 0; c < made->n && !shoal_clusters_is_stopped(b); c++) {
    if (!made->size[c] || same[c]) continue;
    uint32_t to = n < free_slots ? pool->clusters[n] : shoal_clusters_open(b);
    assert(to != SHOAL_NONE); /* each cluster has k rows: there is room for all */
    changed[n++] = to;
    for (uint32_t row = made->head[c]; row != SHOAL_NONE; row = made->next[row])
      if (b->cluster_of[row] != to) shoal_clusters_move(b, row, to);
  }
  shoal_clusters_recompute(b, 0);
  return n;
}

/* A cost without the bonus for the number of clusters. */
static int64_t without_bonus(const shoal_clusters *b, int64_t cost, uint32_t n_clusters) {
  return cost + b->cost.bonus * n_clusters;
}

void shoal_repair_step(shoal_repair *r) {
  shoal_clusters *b = r->b, *made = &r->pool;
  uint32_t cluster = draw_cluster(b), changed[MAX_ROWS];
  pooled pool; /* large: not cleared */
  if (cluster == SHOAL_NONE) return;
  choose_clusters(b, cluster, &pool);
  if (!pool_rows(b, &pool)) return;
  int64_t before = b->total, pooled_cost = 0;
  for (uint32_t i = 0; i < pool.n_clusters; i++)
    pooled_cost += shoal_clusters_cost(b, pool.clusters[i]);
  made->random = b->random; /* both draw the same numbers now, but for different choices */
  float noise = (float)shoal_clusters_random(b, 1024) / 1024;
  uint32_t percent = MIN_PART + shoal_clusters_random(b, MAX_PART - MIN_PART);
  shoal_clusters_clear(made);
  shoal_clusters_activate(made, pool.rows, pool.n);
  for (uint32_t i = 0; i < pool.n_clusters; i++) split_cluster(r, pool.clusters[i], percent);
  bool ok = shoal_agglomerate(&r->agglomeration, noise);
  b->work += made->work;
  made->work = made->polled = 0;
  if (!ok || shoal_clusters_is_stopped(b)) return;
  /* Fewer clusters than before: never if they count, else down to min_live. */
  if (made->n_live < pool.n_clusters &&
      (b->cost.bonus || b->n_live + made->n_live < b->min_live + pool.n_clusters))
    return;
  /* Clearly worse: local moves seldom make up for it. */
  if (made->n_live <= pool.n_clusters &&
      without_bonus(made, made->total, made->n_live) * 100 >
          without_bonus(b, pooled_cost, pool.n_clusters) * MAX_PERCENT)
    return;
  b->n_moved = 0;
  uint32_t n = put_back(r, &pool, changed);
  for (int round = 0; round < ROUNDS; round++) {
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
      if (b->changed[changed[i]] > b->tried[changed[i]])
        any |= shoal_clusters_improve(b, changed[i]);
    if (!any) break;
  }
  if (b->total > before) shoal_clusters_rollback(b, 0);
  b->n_moved = 0;
}
