/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_pool: the rows of a cluster and of its nearest neighbours, thrown together and
 * sorted by some order of the attributes, to be divided anew; see flock.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "cluster/flock.h"

enum { REACH = 40 }; /* neighbours on each side that are looked at */

struct shoal_pooled {
  uint64_t key;
  uint32_t tuple, row;
};

void shoal_flock_pool_reset(shoal_flock_pool *pool) {
  free(pool->rows);
  free(pool->sorting);
  free(pool->order);
  memset(pool, 0, sizeof *pool);
}

bool shoal_flock_pool_init(shoal_flock_pool *pool, shoal_herd *herd, uint64_t seed) {
  *pool = (shoal_flock_pool){.herd = herd,
                             .state = seed,
                             .rows = shoal_alloc(SHOAL_MOST_POOLED, sizeof *pool->rows),
                             .sorting = shoal_alloc(SHOAL_MOST_POOLED, sizeof *pool->sorting),
                             .order = shoal_alloc(herd->n_axes, sizeof *pool->order)};
  if (pool->rows && pool->sorting && pool->order) return true;
  shoal_flock_pool_reset(pool);
  herd->failed = true;
  return false;
}

/* The clusters that would lose least together with a, and a itself. */
static void choose_clusters(shoal_flock_pool *pool, uint32_t a, uint32_t partners) {
  shoal_herd *h = pool->herd;
  uint64_t cost[SHOAL_MOST_PARTNERS];
  uint32_t at = h->position[a], first = at > REACH ? at - REACH : 0, n = 0;
  for (uint32_t i = first; i < h->n_at && i <= at + REACH; i++) {
    uint32_t b = h->at[i];
    if (b == a || !h->size[b]) continue;
    memcpy(h->span, h->extent + (size_t)a * h->n_axes, h->n_axes * sizeof *h->span);
    shoal_extent_join(h->axes, h->span, h->extent + (size_t)b * h->n_axes);
    uint64_t joint = ((uint64_t)h->size[a] + h->size[b]) * shoal_extent_loss(h->axes, h->span) -
                     shoal_herd_cost(h, b);
    if (n == partners && joint >= cost[n - 1]) continue;
    uint32_t j = n < partners ? n++ : n - 1;
    for (; j && cost[j - 1] > joint; j--) {
      cost[j] = cost[j - 1];
      pool->clusters[j] = pool->clusters[j - 1];
    }
    cost[j] = joint;
    pool->clusters[j] = b;
  }
  pool->clusters[n++] = a;
  pool->n_clusters = n;
}

bool shoal_flock_pool_fill(shoal_flock_pool *pool, uint32_t a, uint32_t partners) {
  shoal_herd *h = pool->herd;
  choose_clusters(pool, a, partners);
  uint64_t rows = 0;
  pool->loss = 0;
  for (uint32_t i = 0; i < pool->n_clusters; i++) {
    pool->loss += shoal_herd_cost(h, pool->clusters[i]);
    rows += h->size[pool->clusters[i]];
  }
  pool->n = 0;
  if (rows > SHOAL_MOST_POOLED) return false;
  for (uint32_t i = 0; i < pool->n_clusters; i++)
    for (uint32_t r = h->head[pool->clusters[i]]; r != SHOAL_NIL; r = h->next[r])
      pool->rows[pool->n++] = r;
  return true;
}

/* ------------------------------------------------------------ orders */

static uint32_t next_random(shoal_flock_pool *pool, uint32_t below) {
  pool->state = shoal_mix(pool->state + UINT64_C(0x9e3779b97f4a7c15));
  return (uint32_t)((pool->state >> 32) * below >> 32);
}

/* Axes on which the pool differs, in a random order; returns how many. */
static size_t shuffle_axes(shoal_flock_pool *pool) {
  shoal_herd *h = pool->herd;
  size_t n = 0;
  memcpy(h->span, h->extent + (size_t)pool->clusters[0] * h->n_axes, h->n_axes * sizeof *h->span);
  for (uint32_t i = 1; i < pool->n_clusters; i++)
    shoal_extent_join(h->axes, h->span, h->extent + (size_t)pool->clusters[i] * h->n_axes);
  for (uint32_t q = 0; q < h->n_axes; q++)
    if (h->span[q].lo != h->span[q].hi) pool->order[n++] = q;
  for (size_t i = n; i > 1; i--) {
    uint32_t j = next_random(pool, (uint32_t)i), swap = pool->order[i - 1];
    pool->order[i - 1] = pool->order[j];
    pool->order[j] = swap;
  }
  return n;
}

static int ascending(const void *a, const void *b) {
  const struct shoal_pooled *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->tuple != y->tuple) return x->tuple < y->tuple ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

static unsigned bits_for(uint32_t n_places) {
  return n_places > 1 ? 32 - (unsigned)__builtin_clz(n_places - 1) : 0;
}

/*
 * Each axis backwards after an odd place before it, so that neighbours across a change of the axis
 * before are alike. As many axes as fit into the key; rows of one tuple stay together anyway.
 */
static uint64_t key_of(const shoal_flock_pool *pool, const uint32_t *places, size_t n_axes) {
  uint64_t key = 0;
  unsigned left = 64, odd = 0;
  for (size_t i = 0; i < n_axes; i++) {
    uint32_t n_places = pool->herd->axes->items[pool->order[i]].n_places;
    uint32_t place = places[pool->order[i]];
    unsigned bits = bits_for(n_places);
    if (bits > left) break;
    left -= bits;
    key = key << (bits % 64) | (odd & 1 ? n_places - 1 - place : place);
    odd += place;
  }
  return key;
}

void shoal_flock_pool_sort(shoal_flock_pool *pool) {
  shoal_herd *h = pool->herd;
  size_t n_axes = shuffle_axes(pool);
  for (uint32_t i = 0; i < pool->n; i++) {
    uint32_t row = pool->rows[i];
    pool->sorting[i] =
        (struct shoal_pooled){key_of(pool, shoal_herd_places(h, row), n_axes), h->tuple[row], row};
  }
  qsort(pool->sorting, pool->n, sizeof *pool->sorting, ascending);
  for (uint32_t i = 0; i < pool->n; i++) pool->rows[i] = pool->sorting[i].row;
}

/* ------------------------------------------------------------ putting back */

void shoal_flock_pool_clear(shoal_flock_pool *pool) {
  pool->n_used = 0;
  for (uint32_t i = 0; i < pool->n_clusters; i++) pool->herd->head[pool->clusters[i]] = SHOAL_NIL;
}

uint32_t shoal_flock_pool_slot(shoal_flock_pool *pool) {
  uint32_t used = pool->n_used++;
  return used < pool->n_clusters ? pool->clusters[used] : shoal_herd_take(pool->herd);
}

void shoal_flock_pool_close(shoal_flock_pool *pool) {
  for (; pool->n_used < pool->n_clusters; pool->n_used++) {
    shoal_herd_refresh(pool->herd, pool->clusters[pool->n_used]);
    shoal_herd_release(pool->herd, pool->clusters[pool->n_used]);
  }
}
