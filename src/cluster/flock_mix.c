/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_mix: pools. The rows of a cluster and of its nearest neighbours are thrown
 * together, sorted by some order of the attributes, and cut into runs anew by dynamic programming:
 * the best of all ways to cut that order. A run [i, j) that contains two runs that fit is never
 * needed: cut in two it loses no more. So with e(j) the start of the shortest run that ends at j
 * and fits, only starts from e(e(j)) + 1 to e(j) are looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/flock.h"

enum {
  PARTNERS = 3, /* clusters beside the one at hand */
  ORDERS = 4    /* of attributes, tried on each pool */
};

typedef struct run_cost {
  uint32_t runs; /* aims other than il: the more the better */
  uint64_t loss;
} run_cost;

typedef struct mixing {
  shoal_flock_pool pool;
  uint32_t best[SHOAL_MOST_POOLED];      /* the rows in the best order so far */
  uint32_t first[SHOAL_MOST_POOLED + 1]; /* e(j), or SHOAL_NIL */
  uint32_t from[SHOAL_MOST_POOLED + 1], best_from[SHOAL_MOST_POOLED + 1];
  run_cost cost[SHOAL_MOST_POOLED + 1];
} mixing;

/* ------------------------------------------------------------ cutting an order */

static void count(shoal_herd *h, uint32_t row, uint32_t *distinct, bool in) {
  for (size_t d = 0; d < h->n_counts; d++) {
    uint32_t group = h->group[d][row];
    if (group == SHOAL_NO_GROUP) continue;
    if (in) distinct[d] += h->seen[d][group]++ == 0;
    else distinct[d] -= --h->seen[d][group] == 0;
  }
}

static bool can_shrink(const shoal_herd *h, uint32_t row, const uint32_t *distinct) {
  for (size_t d = 0; d < h->n_counts; d++) {
    uint32_t group = h->group[d][row];
    if (group != SHOAL_NO_GROUP && h->seen[d][group] == 1 && distinct[d] <= h->fit->counts[d].least)
      return false;
  }
  return true;
}

/* e(j) for every j. */
static void find_shortest(mixing *m, uint32_t *distinct) {
  shoal_herd *h = m->pool.herd;
  uint32_t low = 0;
  memset(distinct, 0, h->n_counts * sizeof *distinct);
  for (uint32_t j = 1; j <= m->pool.n; j++) {
    count(h, m->pool.rows[j - 1], distinct, true);
    while (j - low > h->fit->k && can_shrink(h, m->pool.rows[low], distinct))
      count(h, m->pool.rows[low++], distinct, false);
    bool fits = j - low >= h->fit->k;
    for (size_t d = 0; d < h->n_counts; d++) fits = fits && distinct[d] >= h->fit->counts[d].least;
    m->first[j] = fits ? low : SHOAL_NIL;
  }
  while (low < m->pool.n) count(h, m->pool.rows[low++], distinct, false);
}

static bool is_better(shoal_aim aim, run_cost a, run_cost b) {
  if (aim != SHOAL_AIM_IL && a.runs != b.runs) return a.runs > b.runs;
  return a.loss < b.loss;
}

/* The best cut of the rows as they stand; its cost, with from[] telling the runs. */
static run_cost cut(mixing *m) {
  shoal_herd *h = m->pool.herd;
  shoal_span *extent = h->span;
  const run_cost none = {0, UINT64_MAX};
  m->cost[0] = (run_cost){0, 0};
  for (uint32_t j = 1; j <= m->pool.n; j++) {
    m->cost[j] = none;
    if (m->first[j] == SHOAL_NIL) continue;
    uint32_t e = m->first[j], stop = e && m->first[e] != SHOAL_NIL ? m->first[e] + 1 : 0;
    uint32_t loss = 0, last = SHOAL_NIL;
    bool grown = true;
    shoal_extent_start(h->axes, extent, shoal_herd_places(h, m->pool.rows[j - 1]));
    for (uint32_t i = j; i-- > stop;) {
      uint32_t tuple = h->tuple[m->pool.rows[i]];
      if (tuple != last) {
        shoal_extent_add(h->axes, extent, shoal_herd_places(h, m->pool.rows[i]));
        last = tuple;
        grown = true;
      }
      if (i > e || m->cost[i].loss == UINT64_MAX) continue;
      if (grown) loss = shoal_extent_loss(h->axes, extent);
      grown = false;
      run_cost c = {m->cost[i].runs + 1, m->cost[i].loss + (uint64_t)(j - i) * loss};
      if (m->cost[j].loss != UINT64_MAX && !is_better(h->aim, c, m->cost[j])) continue;
      m->cost[j] = c;
      m->from[j] = i;
    }
  }
  return m->cost[m->pool.n];
}

/* ------------------------------------------------------------ pools */

/* Puts the runs of the best order into clusters. */
static void apply(mixing *m) {
  shoal_herd *h = m->pool.herd;
  shoal_flock_pool_clear(&m->pool);
  for (uint32_t j = m->pool.n; j > 0; j = m->best_from[j]) {
    uint32_t c = shoal_flock_pool_slot(&m->pool);
    for (uint32_t i = m->best_from[j]; i < j; i++) shoal_herd_link(h, m->best[i], c);
    shoal_herd_refresh(h, c);
  }
  shoal_flock_pool_close(&m->pool);
}

static bool has_changed(const mixing *m, uint32_t a) {
  const shoal_herd *h = m->pool.herd;
  for (uint32_t i = 0; i < m->pool.n_clusters; i++)
    if (h->changed[m->pool.clusters[i]] > h->mixed[a]) return true;
  return false;
}

static void mix(mixing *m, uint32_t a, uint32_t *distinct) {
  shoal_flock_pool *pool = &m->pool;
  shoal_herd *h = pool->herd;
  if (!shoal_flock_pool_fill(pool, a, PARTNERS) || !has_changed(m, a) ||
      h->n_free < pool->n / h->fit->k)
    return;
  run_cost now = {pool->n_clusters, pool->loss};
  bool found = false;
  for (int t = 0; t < ORDERS; t++) {
    shoal_flock_pool_sort(pool);
    find_shortest(m, distinct);
    run_cost cost = cut(m);
    h->work += pool->n;
    if (cost.loss == UINT64_MAX || !is_better(h->aim, cost, now)) continue;
    now = cost;
    found = true;
    memcpy(m->best, pool->rows, pool->n * sizeof *m->best);
    memcpy(m->best_from, m->from, ((size_t)pool->n + 1) * sizeof *m->best_from);
  }
  if (found) apply(m);
  h->mixed[a] = found ? 0 : h->clock;
}

void shoal_flock_mix(shoal_herd *h, uint64_t round) {
  if (h->fit->n_others || h->aim == SHOAL_AIM_DM) return;
  mixing *m = shoal_alloc(1, sizeof *m);
  uint32_t *distinct = shoal_alloc(h->n_counts, sizeof *distinct);
  if (!m || !distinct) h->failed = true;
  else if (shoal_flock_pool_init(&m->pool, h, round)) {
    shoal_herd_arrange(h);
    for (uint32_t i = 0; i < h->n_at && !shoal_herd_is_done(h); i++) {
      uint32_t a = h->at[i];
      if (h->size[a] && h->loss[a]) mix(m, a, distinct);
    }
    shoal_flock_pool_reset(&m->pool);
  }
  free(m);
  free(distinct);
}
