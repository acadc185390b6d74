/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_pair: what two clusters lose together, asked more often than anything else while
 * first clusters are gathered. Each cluster's spans are kept in a form from which that is soon
 * told: of numbers, what is lost from the least of all to either end, whose difference is the
 * loss; of trees, where the row of its low end begins in the table of pairs, and its high end.
 */
#ifndef SHOAL_CLUSTER_FLOCK_PAIR_H
#define SHOAL_CLUSTER_FLOCK_PAIR_H

#include "cluster/flock.h"

typedef struct shoal_flock_pair {
  const shoal_herd *herd;
  shoal_span *spans;      /* by cluster: n_axes; NULL: some axis has no such form */
  const uint32_t **pairs; /* by axis: its table; NULL: a number */
} shoal_flock_pair;

/* False without memory. */
bool shoal_flock_pair_init(shoal_flock_pair *pair, const shoal_herd *herd);
void shoal_flock_pair_reset(shoal_flock_pair *pair);

/* A cluster has got its extent, or another one. */
void shoal_flock_pair_note(shoal_flock_pair *pair, uint32_t cluster);

/* The loss from the extents themselves. */
uint32_t shoal_flock_pair_loss_slow(const shoal_flock_pair *pair, uint32_t a, uint32_t b);

/* What a row loses in a and b together; from `limit` on, only that it is not below it. */
static inline uint32_t shoal_flock_pair_loss(const shoal_flock_pair *pair, uint32_t a, uint32_t b,
                                             uint32_t limit) {
  if (!pair->spans) return shoal_flock_pair_loss_slow(pair, a, b);
  size_t n = pair->herd->n_axes;
  const shoal_span *x = pair->spans + a * n, *y = pair->spans + b * n;
  uint32_t loss = 0;
  for (size_t q = 0; q < n && loss < limit; q++) {
    uint32_t lo = x[q].lo < y[q].lo ? x[q].lo : y[q].lo, hi = x[q].hi > y[q].hi ? x[q].hi : y[q].hi;
    loss += pair->pairs[q] ? pair->pairs[q][lo + hi] : hi - lo;
  }
  return loss;
}

#endif
