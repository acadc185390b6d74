/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_fill: as many clusters as there can be, of k rows each, with little loss. A tuple
 * of more than k rows gives clusters that lose nothing; what is left over of all tuples is gathered
 * into clusters of k rows: two parts that are more than k together make one, and what one of them
 * has beyond it goes on looking. Where sensitive values are too scarce for that the rows are halved
 * from the top down, which keeps account of them.
 */
#include "cluster/flock.h"

/* Every n-th row of a tuple goes to a cluster of k; false where that does not fit. */
static bool carve(shoal_herd *h, uint32_t tuple) {
  uint32_t c = shoal_herd_take(h), n = 0, k = (uint32_t)h->fit->k, stride = h->size[tuple] / k;
  if (c == SHOAL_NIL) return false;
  shoal_herd_refresh(h, c);
  shoal_trial_begin(h);
  for (uint32_t r = h->head[tuple], at = 0, next; r != SHOAL_NIL && n < k; r = next, at++) {
    next = h->next[r];
    if (at % stride) continue;
    if (!shoal_trial_move(h, r, c)) break;
    n++;
  }
  if (!h->failed && shoal_herd_fits(h, c)) {
    shoal_trial_keep(h);
    return true;
  }
  shoal_trial_undo(h);
  shoal_herd_release(h, c);
  return false;
}

bool shoal_flock_fill(shoal_herd *h) {
  shoal_herd_make_tuples(h);
  for (uint32_t t = 0; t < h->n_tuples; t++)
    while (h->size[t] > h->fit->k && carve(h, t)) continue;
  return !h->failed && shoal_flock_gather_exact(h) && shoal_flock_gather(h);
}

bool shoal_flock_divide(shoal_herd *h, uint32_t target) {
  if (h->aim != SHOAL_AIM_DM && h->n / h->fit->k == target) {
    if (!shoal_flock_fill(h)) return false;
    if (h->n_slots - h->n_free >= target) return true;
    shoal_herd_clear(h);
  }
  return shoal_flock_halve(h, target);
}
