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

#include "base/hash.h"
#include "base/memory.h"
#include "cluster/flock.h"

enum {
  REACH = 40,      /* neighbours on each side looked at for a pool */
  PARTNERS = 3,    /* clusters beside the one at hand */
  ORDERS = 4,      /* of attributes, tried on each pool */
  MOST_ROWS = 2048 /* of a pool */
};

typedef struct run_cost {
  uint32_t runs; /* aims other than il: the more the better */
  uint64_t loss;
} run_cost;

typedef struct mixing {
  shoal_herd *herd;
  uint64_t state;                /* of the pseudo-random orders */
  uint32_t rows[MOST_ROWS];      /* the pool */
  uint32_t best[MOST_ROWS];      /* the same in the best order so far */
  uint32_t first[MOST_ROWS + 1]; /* e(j), or SHOAL_NIL */
  uint32_t from[MOST_ROWS + 1], best_from[MOST_ROWS + 1];
  run_cost cost[MOST_ROWS + 1];
  uint64_t keys[MOST_ROWS];
  uint32_t n;
  uint32_t clusters[PARTNERS + 1], n_clusters;
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
  shoal_herd *h = m->herd;
  uint32_t low = 0;
  memset(distinct, 0, h->n_counts * sizeof *distinct);
  for (uint32_t j = 1; j <= m->n; j++) {
    count(h, m->rows[j - 1], distinct, true);
    while (j - low > h->fit->k && can_shrink(h, m->rows[low], distinct))
      count(h, m->rows[low++], distinct, false);
    bool fits = j - low >= h->fit->k;
    for (size_t d = 0; d < h->n_counts; d++) fits = fits && distinct[d] >= h->fit->counts[d].least;
    m->first[j] = fits ? low : SHOAL_NIL;
  }
  while (low < m->n) count(h, m->rows[low++], distinct, false);
}

static bool is_better(shoal_aim aim, run_cost a, run_cost b) {
  if (aim != SHOAL_AIM_IL && a.runs != b.runs) return a.runs > b.runs;
  return a.loss < b.loss;
}

/* The best cut of the rows as they stand; its cost, with from[] telling the runs. */
static run_cost cut(mixing *m) {
  shoal_herd *h = m->herd;
  shoal_span *extent = h->span;
  const run_cost none = {0, UINT64_MAX};
  m->cost[0] = (run_cost){0, 0};
  for (uint32_t j = 1; j <= m->n; j++) {
    m->cost[j] = none;
    if (m->first[j] == SHOAL_NIL) continue;
    uint32_t e = m->first[j], stop = e && m->first[e] != SHOAL_NIL ? m->first[e] + 1 : 0;
    uint32_t loss = 0, last = SHOAL_NIL;
    bool grown = true;
    shoal_extent_start(h->axes, extent, shoal_herd_places(h, m->rows[j - 1]));
    for (uint32_t i = j; i-- > stop;) {
      uint32_t tuple = h->tuple[m->rows[i]];
      if (tuple != last) {
        shoal_extent_add(h->axes, extent, shoal_herd_places(h, m->rows[i]));
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
  return m->cost[m->n];
}

/* ------------------------------------------------------------ orders */

static uint32_t next_random(mixing *m, uint32_t below) {
  m->state = shoal_mix(m->state + UINT64_C(0x9e3779b97f4a7c15));
  return (uint32_t)((m->state >> 32) * below >> 32);
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Sorts the pool by the axes in `order`, the first one first; every other run backwards. */
static void sort_rows(mixing *m, const uint32_t *order, size_t n_order) {
  shoal_herd *h = m->herd;
  uint32_t *rank = h->list; /* of each row of the pool, in the order so far */
  for (uint32_t i = 0; i < m->n; i++) rank[i] = 0;
  for (size_t o = 0; o < n_order; o++) {
    const shoal_axis *axis = &h->axes->items[order[o]];
    for (uint32_t i = 0; i < m->n; i++) {
      uint32_t place = shoal_herd_places(h, m->rows[i])[order[o]];
      if (rank[i] & 1) place = axis->n_places - 1 - place;
      m->keys[i] = (uint64_t)rank[i] << 42 | (uint64_t)place << 11 | i;
    }
    qsort(m->keys, m->n, sizeof *m->keys, ascending);
    uint32_t now = 0;
    for (uint32_t i = 0; i < m->n; i++) {
      now += i && m->keys[i] >> 11 != m->keys[i - 1] >> 11;
      rank[m->keys[i] & (MOST_ROWS - 1)] = now;
    }
    if (now == m->n - 1) break;
  }
  for (uint32_t i = 0; i < m->n; i++) h->set[i] = m->rows[m->keys[i] & (MOST_ROWS - 1)];
  memcpy(m->rows, h->set, m->n * sizeof *m->rows);
}

/* ------------------------------------------------------------ pools */

/* The clusters that would lose least together with a. */
static void choose_partners(mixing *m, uint32_t a) {
  shoal_herd *h = m->herd;
  uint64_t cost[PARTNERS];
  uint32_t at = h->position[a], first = at > REACH ? at - REACH : 0, n = 0;
  for (uint32_t i = first; i < h->n_at && i <= at + REACH; i++) {
    uint32_t b = h->at[i];
    if (b == a || !h->size[b]) continue;
    memcpy(h->span, h->extent + (size_t)a * h->n_axes, h->n_axes * sizeof *h->span);
    shoal_extent_join(h->axes, h->span, h->extent + (size_t)b * h->n_axes);
    uint64_t joint = (uint64_t)(h->size[a] + h->size[b]) * shoal_extent_loss(h->axes, h->span) -
                     shoal_herd_cost(h, b);
    if (n == PARTNERS && joint >= cost[n - 1]) continue;
    uint32_t j = n < PARTNERS ? n++ : n - 1;
    for (; j && cost[j - 1] > joint; j--) {
      cost[j] = cost[j - 1];
      m->clusters[j] = m->clusters[j - 1];
    }
    cost[j] = joint;
    m->clusters[j] = b;
  }
  m->clusters[n++] = a;
  m->n_clusters = n;
}

/* Axes on which the pool differs, in a random order. */
static size_t choose_order(mixing *m, uint32_t *order) {
  shoal_herd *h = m->herd;
  size_t n = 0;
  memcpy(h->span, h->extent + (size_t)m->clusters[0] * h->n_axes, h->n_axes * sizeof *h->span);
  for (uint32_t i = 1; i < m->n_clusters; i++)
    shoal_extent_join(h->axes, h->span, h->extent + (size_t)m->clusters[i] * h->n_axes);
  for (uint32_t q = 0; q < h->n_axes; q++)
    if (h->span[q].lo != h->span[q].hi) order[n++] = q;
  for (size_t i = n; i > 1; i--) {
    uint32_t j = next_random(m, (uint32_t)i), swap = order[i - 1];
    order[i - 1] = order[j];
    order[j] = swap;
  }
  return n;
}

/* Puts the runs of the best order into clusters: the pool's own slots, and free ones. */
static void apply(mixing *m) {
  shoal_herd *h = m->herd;
  uint32_t used = 0;
  for (uint32_t i = 0; i < m->n_clusters; i++) h->head[m->clusters[i]] = SHOAL_NIL;
  for (uint32_t j = m->n; j > 0; j = m->best_from[j], used++) {
    uint32_t c = used < m->n_clusters ? m->clusters[used] : shoal_herd_take(h);
    for (uint32_t i = m->best_from[j]; i < j; i++) shoal_herd_link(h, m->best[i], c);
    shoal_herd_refresh(h, c);
  }
  for (; used < m->n_clusters; used++) {
    shoal_herd_refresh(h, m->clusters[used]);
    shoal_herd_release(h, m->clusters[used]);
  }
}

static bool mix(mixing *m, uint32_t a, uint32_t *order, uint32_t *distinct) {
  shoal_herd *h = m->herd;
  choose_partners(m, a);
  run_cost now = {m->n_clusters, 0};
  uint64_t rows = 0;
  for (uint32_t i = 0; i < m->n_clusters; i++) {
    now.loss += shoal_herd_cost(h, m->clusters[i]);
    rows += h->size[m->clusters[i]];
  }
  if (rows > MOST_ROWS || h->n_free < rows / h->fit->k) return false;
  m->n = 0;
  for (uint32_t i = 0; i < m->n_clusters; i++)
    for (uint32_t r = h->head[m->clusters[i]]; r != SHOAL_NIL; r = h->next[r]) m->rows[m->n++] = r;
  bool found = false;
  for (int t = 0; t < ORDERS; t++) {
    sort_rows(m, order, choose_order(m, order));
    find_shortest(m, distinct);
    if (m->first[m->n] == SHOAL_NIL) continue;
    run_cost cost = cut(m);
    if (cost.loss == UINT64_MAX || !is_better(h->aim, cost, now)) continue;
    now = cost;
    found = true;
    memcpy(m->best, m->rows, m->n * sizeof *m->best);
    memcpy(m->best_from, m->from, ((size_t)m->n + 1) * sizeof *m->best_from);
  }
  if (found) apply(m);
  return found;
}

bool shoal_flock_mix(shoal_herd *h, uint64_t round) {
  if (h->fit->n_others || h->aim == SHOAL_AIM_DM) return false;
  mixing *m = shoal_alloc(1, sizeof *m);
  uint32_t *order = shoal_alloc(h->n_axes, sizeof *order);
  uint32_t *distinct = shoal_alloc(h->n_counts, sizeof *distinct);
  bool any = false;
  h->failed = h->failed || !m || !order || !distinct;
  if (!h->failed) {
    m->herd = h;
    m->state = round;
    shoal_herd_arrange(h);
    for (uint32_t i = 0; i < h->n_at; i++) {
      uint32_t a = h->at[i];
      if (h->size[a] && h->loss[a] && h->position[a] != SHOAL_NIL)
        any |= mix(m, a, order, distinct);
    }
  }
  free(m);
  free(order);
  free(distinct);
  return any;
}
