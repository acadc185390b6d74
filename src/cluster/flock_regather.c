/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_regather: larger pools than flock_mix cuts anew. A cluster and a dozen of its
 * nearest neighbours go back to single tuples, are gathered and improved by themselves in another
 * order of the attributes, and stay so if they lose less.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "cluster/flock.h"

enum { REACH = 48, PARTNERS = 11, MOST_ROWS = 4096 };

typedef struct regathering {
  shoal_herd *herd;
  uint64_t state;
  uint32_t clusters[PARTNERS + 1], n_clusters;
  uint32_t rows[MOST_ROWS], n; /* of the herd, in the pool's order */
  uint32_t table[MOST_ROWS];   /* the same as rows of the table */
  uint64_t keys[MOST_ROWS];
  uint32_t rank[MOST_ROWS];
} regathering;

static uint32_t next_random(regathering *m, uint32_t below) {
  m->state = shoal_mix(m->state + UINT64_C(0x9e3779b97f4a7c15));
  return (uint32_t)((m->state >> 32) * below >> 32);
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void choose_partners(regathering *m, uint32_t a) {
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

static void sort_rows(regathering *m) {
  shoal_herd *h = m->herd;
  uint32_t order[64], n = (uint32_t)(h->n_axes < 64 ? h->n_axes : 64);
  for (uint32_t q = 0; q < n; q++) order[q] = q;
  for (uint32_t i = n; i > 1; i--) {
    uint32_t j = next_random(m, i), swap = order[i - 1];
    order[i - 1] = order[j];
    order[j] = swap;
  }
  memset(m->rank, 0, m->n * sizeof *m->rank);
  for (uint32_t o = 0; o < n; o++) {
    for (uint32_t i = 0; i < m->n; i++) {
      uint32_t place = shoal_herd_places(h, m->rows[i])[order[o]];
      if (m->rank[i] & 1) place = h->axes->items[order[o]].n_places - 1 - place;
      m->keys[i] = (uint64_t)m->rank[i] << 44 | (uint64_t)place << 12 | i;
    }
    qsort(m->keys, m->n, sizeof *m->keys, ascending);
    uint32_t now = 0;
    for (uint32_t i = 0; i < m->n; i++) {
      now += i && m->keys[i] >> 12 != m->keys[i - 1] >> 12;
      m->rank[m->keys[i] & (MOST_ROWS - 1)] = now;
    }
  }
  /* rows of one tuple must be neighbours: equal ranks are equal tuples when all axes were used */
  for (uint32_t i = 0; i < m->n; i++) m->table[i] = m->rows[m->keys[i] & (MOST_ROWS - 1)];
  memcpy(m->rows, m->table, m->n * sizeof *m->rows);
  for (uint32_t i = 0; i < m->n; i++) m->table[i] = h->row[m->rows[i]];
}

static bool regather(regathering *m, uint32_t a) {
  shoal_herd *h = m->herd;
  choose_partners(m, a);
  uint64_t now = 0, rows = 0;
  for (uint32_t i = 0; i < m->n_clusters; i++) {
    now += shoal_herd_cost(h, m->clusters[i]);
    rows += h->size[m->clusters[i]];
  }
  if (rows > MOST_ROWS) return false;
  m->n = 0;
  for (uint32_t i = 0; i < m->n_clusters; i++)
    for (uint32_t r = h->head[m->clusters[i]]; r != SHOAL_NIL; r = h->next[r]) m->rows[m->n++] = r;
  sort_rows(m);
  shoal_herd sub;
  shoal_cluster_task task = {.axes = h->axes, .fit = h->fit, .aim = h->aim};
  if (shoal_herd_init(&sub, &task, m->table, m->n, NULL) != SHOAL_OK) {
    h->failed = true;
    return false;
  }
  bool ok =
      h->aim == SHOAL_AIM_IL ? shoal_flock_gather(&sub) : shoal_flock_halve(&sub, m->n_clusters);
  for (int i = 0; ok && i < 3; i++)
    if (!shoal_flock_improve(&sub)) break;
  uint32_t n = 0;
  for (uint32_t c = 0; ok && c < sub.n_slots; c++) {
    if (!sub.size[c]) continue;
    n++;
    ok = shoal_herd_fits(&sub, c);
  }
  ok = ok && (h->aim == SHOAL_AIM_IL || n >= m->n_clusters) && shoal_herd_total(&sub) < now &&
       h->n_free + m->n_clusters >= n;
  if (ok) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < m->n_clusters; i++) h->head[m->clusters[i]] = SHOAL_NIL;
    for (uint32_t c = 0; c < sub.n_slots; c++) {
      if (!sub.size[c]) continue;
      uint32_t to = used < m->n_clusters ? m->clusters[used] : shoal_herd_take(h);
      used++;
      for (uint32_t r = sub.head[c]; r != SHOAL_NIL; r = sub.next[r])
        shoal_herd_link(h, m->rows[r], to);
      shoal_herd_refresh(h, to);
    }
    for (; used < m->n_clusters; used++) {
      shoal_herd_refresh(h, m->clusters[used]);
      shoal_herd_release(h, m->clusters[used]);
    }
  }
  shoal_herd_reset(&sub);
  return ok;
}

bool shoal_flock_regather(shoal_herd *h, uint64_t round) {
  regathering *m = shoal_alloc(1, sizeof *m);
  uint64_t *stamp = shoal_alloc_zero(h->n_slots, sizeof *stamp);
  bool any = false;
  if (m && stamp) {
    m->herd = h;
    m->state = shoal_mix(round + 77);
    shoal_herd_arrange(h);
    for (uint32_t i = 0; i < h->n_at; i++) {
      uint32_t a = h->at[i];
      if (!h->size[a] || !h->loss[a] || stamp[a] || h->position[a] == SHOAL_NIL) continue;
      any |= regather(m, a);
      for (uint32_t j = 0; j < m->n_clusters; j++) stamp[m->clusters[j]] = 1;
    }
  }
  free(stamp);
  free(m);
  return any;
}
