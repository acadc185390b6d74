/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_exchange: the local move for clusters of exact size. If `dm`, `avg` or `balanced`
 * is minimized, most clusters have k rows and none to eject; then two clusters exchange a row each.
 * (exchange.c repairs clusters that violate the policy; it is not part of flock.)
 */
#include <math.h>

#include "cluster/flock_clusters.h"

enum { MAX_OTHERS = 12 }; /* clusters that a row is exchanged with */

/* Scratch boxes of a block. */
static shoal_packed_box rest_box(const shoal_clusters *b) {
  return shoal_packed_boxes_at(&b->scratch, b->p, 0);
}
static shoal_packed_box other_box(const shoal_clusters *b) {
  return shoal_packed_boxes_at(&b->scratch, b->p, 1);
}

/* Adds all rows of a cluster but one to a box; returns whether there are any. */
static bool add_all_but(const shoal_clusters *b, uint32_t cluster, uint32_t out,
                        shoal_packed_box box, bool is_empty) {
  uint32_t last = SHOAL_NONE;
  for (uint32_t r = b->head[cluster]; r != SHOAL_NONE; r = b->next[r]) {
    if (r == out || b->p->tuple[r] == last) continue;
    last = b->p->tuple[r];
    if (is_empty) shoal_packed_box_start(b->p, box, shoal_packed_values(b->p, last));
    else shoal_packed_box_add(b->p, box, shoal_packed_values(b->p, last));
    is_empty = false;
  }
  return !is_empty;
}

/* The loss of a cluster without row `out` and with a tuple of these values. */
static uint32_t loss_exchanged(const shoal_clusters *b, uint32_t cluster, uint32_t out,
                               const int16_t *values) {
  shoal_packed_box_start(b->p, other_box(b), values);
  (void)add_all_but(b, cluster, out, other_box(b), false);
  return shoal_packed_box_loss(b->p, other_box(b));
}

/* Does a cluster keep its distinct values with row `in` in place of its row `out`? */
static bool keeps_counts(const shoal_clusters *b, uint32_t cluster, uint32_t out, uint32_t in) {
  for (size_t d = 0; d < b->p->n_counts; d++) {
    uint32_t lost = b->p->group[d][out], gained = b->p->group[d][in];
    uint32_t distinct = shoal_clusters_groups(b, cluster, d)->distinct;
    if (lost == gained) continue;
    if (lost != SHOAL_NONE) distinct -= !shoal_clusters_has_group(b, cluster, d, out, 2);
    if (gained != SHOAL_NONE) distinct += !shoal_clusters_has_group(b, cluster, d, in, 1);
    if (distinct < b->p->required->counts[d].min_distinct) return false;
  }
  return true;
}

/* Exchanges a row for the best one of another cluster, if that lowers the cost. */
static bool exchange_with(shoal_clusters *b, uint32_t row, uint32_t other) {
  const int16_t *values = shoal_packed_values(b->p, b->p->tuple[row]);
  uint32_t best = SHOAL_NONE, own = b->cluster_of[row];
  uint32_t size = b->size[own], other_size = b->size[other];
  int64_t least = (int64_t)size * b->loss[own] + (int64_t)other_size * b->loss[other], cost = least;
  for (uint32_t r = b->head[other], last = SHOAL_NONE; r != SHOAL_NONE; r = b->next[r]) {
    if (b->p->tuple[r] != last) {
      last = b->p->tuple[r];
      uint32_t loss =
          shoal_packed_box_loss_with(b->p, rest_box(b), shoal_packed_values(b->p, last));
      cost = loss < b->loss[own] ? (int64_t)size * loss : least;
      if (cost < least) cost += (int64_t)other_size * loss_exchanged(b, other, r, values);
    }
    if (cost >= least || !keeps_counts(b, own, row, r) || !keeps_counts(b, other, r, row)) continue;
    least = cost;
    best = r;
  }
  if (best == SHOAL_NONE) return false;
  size_t since = b->n_moved;
  int64_t before = b->total;
  shoal_clusters_move(b, row, other);
  shoal_clusters_move(b, best, own);
  shoal_clusters_recompute(b, since);
  if (b->total < before && shoal_clusters_moves_satisfy(b, since)) return true;
  shoal_clusters_rollback(b, since);
  return false;
}

bool shoal_clusters_exchange(shoal_clusters *b, uint32_t cluster, const uint32_t *rows,
                             uint32_t n) {
  float max_cost = (float)b->loss[cluster] * (float)b->size[cluster];
  for (uint32_t i = 0; i < n; i++) {
    if (!add_all_but(b, cluster, rows[i], rest_box(b), true)) continue;
    if (shoal_packed_box_loss(b->p, rest_box(b)) == b->loss[cluster]) continue;
    const int16_t *values = shoal_packed_values(b->p, b->p->tuple[rows[i]]);
    (void)shoal_clusters_cheapest(b, values, cluster);
    for (int tried = 0; tried < MAX_OTHERS; tried++) {
      uint32_t other = shoal_open_lowest(b, b->join_cost);
      if (other == SHOAL_NONE) break;
      float square = (float)(b->cost.square * (2 * (int64_t)b->size[other] + 1));
      if (b->join_cost[other] - square >= max_cost) break; /* sizes do not change */
      if (exchange_with(b, rows[i], other)) return true;
      b->join_cost[other] = INFINITY;
    }
  }
  return false;
}
