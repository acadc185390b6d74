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

enum {
  REACH = 40,   /* neighbours on each side that are looked at */
  CHANCE = 4,   /* up to a quarter of its cost is put on a neighbour at random, */
  SHARES = 1024 /* in so many steps: not every round has the same pools */
};

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

static uint32_t next_random(shoal_flock_pool *pool, uint32_t below) {
  pool->state = shoal_mix(pool->state + UINT64_C(0x9e3779b97f4a7c15));
  return (uint32_t)((pool->state >> 32) * below >> 32);
}

/* The clusters that would lose least together with a, and a itself. */
static void choose_clusters(shoal_flock_pool *pool, uint32_t a, uint32_t partners) {
  shoal_herd *h = pool->herd;
  uint64_t cost[SHOAL_MOST_PARTNERS];
  uint32_t at = h->position[a], first = at > REACH ? at - REACH : 0, n = 0;
  for (uint32_t i = first; partners && i < h->n_at && i <= at + REACH; i++) {
    uint32_t b = h->at[i];
    if (b == a || !h->size[b]) continue;
    memcpy(h->span, h->extent + (size_t)a * h->n_axes, h->n_axes * sizeof *h->span);
    shoal_extent_join(h->axes, h->span, h->extent + (size_t)b * h->n_axes);
    uint64_t joint = ((uint64_t)h->size[a] + h->size[b]) * shoal_extent_loss(h->axes, h->span) -
                     shoal_herd_cost(h, b);
    joint += joint * next_random(pool, SHARES) / (CHANCE * SHARES);
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

/* As many axes as fit into the key, the first one first; returns how many. */
static size_t make_keys(shoal_flock_pool *pool, size_t n_axes) {
  const shoal_herd *h = pool->herd;
  unsigned left = 64;
  size_t used = 0;
  for (uint32_t i = 0; i < pool->n; i++) {
    uint32_t row = pool->rows[i];
    pool->sorting[i] = (struct shoal_pooled){0, h->tuple[row], row};
  }
  for (; used < n_axes; used++) {
    uint32_t axis = pool->order[used];
    unsigned bits = bits_for(h->axes->items[axis].n_places);
    if (bits > left) break;
    left -= bits;
    for (uint32_t i = 0; i < pool->n; i++)
      pool->sorting[i].key =
          pool->sorting[i].key << bits | shoal_herd_places(h, pool->sorting[i].row)[axis];
  }
  return used;
}

/*
 * Hands the sorted rows from `first` to before `end` out, by the axis `at` and those behind it:
 * every other run of equal places backwards, so that neighbours across a change of an axis are
 * alike on the axes behind it.
 */
static void hand_out(shoal_flock_pool *pool, uint32_t first, uint32_t end, size_t at, size_t n_axes,
                     bool backwards) {
  const shoal_herd *h = pool->herd;
  if (at == n_axes || end - first < 2) {
    for (uint32_t i = first; i < end; i++) pool->rows[pool->n++] = pool->sorting[i].row;
    return;
  }
  uint32_t axis = pool->order[at];
  bool flip = false;
  while (first < end) {
    uint32_t from = first, to = end;
    if (backwards) {
      uint32_t place = shoal_herd_places(h, pool->sorting[end - 1].row)[axis];
      for (from = end - 1; from > first;) {
        if (shoal_herd_places(h, pool->sorting[from - 1].row)[axis] != place) break;
        from--;
      }
      end = from;
    } else {
      uint32_t place = shoal_herd_places(h, pool->sorting[first].row)[axis];
      for (to = first + 1; to < end; to++)
        if (shoal_herd_places(h, pool->sorting[to].row)[axis] != place) break;
      first = to;
    }
    hand_out(pool, from, to, at + 1, n_axes, flip);
    flip = !flip;
  }
}

void shoal_flock_pool_sort(shoal_flock_pool *pool) {
  size_t n_axes = make_keys(pool, shuffle_axes(pool));
  uint32_t n = pool->n;
  qsort(pool->sorting, n, sizeof *pool->sorting, ascending);
  pool->n = 0;
  hand_out(pool, 0, n, 0, n_axes, false);
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
