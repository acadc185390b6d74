/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_chain: rows that go round. Where every cluster has just k rows, none can take a row
 * without giving one. A row goes where it costs least; the cluster that took it passes on the row
 * that does most good elsewhere; and so on, until one of them has a row for the cluster that gave
 * the first. As in Lin & Kernighan's (1973) way to improve tours, a chain goes on only as long as
 * it has won more than it has cost so far. A swap of two rows is not tried here: ejecting finds it.
 */
#include "cluster/flock.h"

enum {
  LINKS = 4, /* clusters that a chain leads through */
  TIMES = 8  /* chains that start at one cluster, one after the other */
};

/* A move, and what is left of the winnings after it. */
typedef struct link {
  uint32_t row, to;
  int64_t left;
} link;

static uint32_t last_taker(const shoal_herd *h) { return h->cluster_of[h->moved[h->n_moved - 1]]; }

/* The row that c should pass on, and where to; not to `first`, and only if something is left. */
static link next_link(shoal_herd *h, uint32_t first, uint32_t c, int64_t left) {
  link best = {SHOAL_NIL, SHOAL_NIL, 0};
  int64_t own = (int64_t)shoal_herd_cost(h, c);
  uint32_t last = SHOAL_NIL;
  const shoal_ends *ends = shoal_herd_ends(h, c);
  for (uint32_t r = h->head[c]; r != SHOAL_NIL; r = h->next[r]) {
    if (!h->n_counts && h->tuple[r] == last) continue;
    last = h->tuple[r];
    if (!shoal_herd_spares(h, r) || shoal_trial_has_moved(h, r)) continue;
    uint32_t without = shoal_herd_loss_without(h, ends, shoal_herd_places(h, r));
    int64_t won = left + own - (int64_t)(h->size[c] - 1) * without;
    if (won <= best.left) continue;
    uint64_t cost = (uint64_t)(won - best.left);
    uint32_t to = shoal_flock_home(h, r, c, &cost);
    if (to != SHOAL_NIL && to != first) best = (link){r, to, won - (int64_t)cost};
  }
  return best;
}

/* Lets a row of a go if that ends in a row for a; `gain` is what the others of a then lose less. */
static bool follow(shoal_herd *h, uint32_t a, uint32_t row, uint64_t gain) {
  uint64_t cost = gain;
  link step = {.row = row, .to = shoal_flock_home(h, row, a, &cost)};
  step.left = (int64_t)(gain - cost);
  shoal_trial_begin(h);
  for (int i = 0; i < LINKS && step.to != SHOAL_NIL; i++) {
    if (!shoal_trial_move(h, step.row, step.to)) break;
    shoal_trial_settle(h);
    shoal_loan back = {SHOAL_NIL, -step.left};
    if (i > 0) shoal_flock_look_for_loan(h, a, last_taker(h), &back);
    if (back.row != SHOAL_NIL) {
      if (!shoal_trial_move(h, back.row, a)) break;
      return shoal_trial_end(h);
    }
    if (i + 1 < LINKS) step = next_link(h, a, last_taker(h), step.left);
  }
  shoal_trial_undo(h);
  return false;
}

/* Each tuple of the cluster without which it would lose less. */
static bool start_at(shoal_herd *h, uint32_t a) {
  uint32_t n = 0, last = SHOAL_NIL;
  for (uint32_t r = h->head[a]; r != SHOAL_NIL; r = h->next[r]) h->set[n++] = r;
  for (uint32_t i = 0; i < n; i++) {
    if (h->tuple[h->set[i]] == last) continue;
    last = h->tuple[h->set[i]];
    const shoal_ends *ends = shoal_herd_ends(h, a);
    uint32_t rest = shoal_herd_loss_without(h, ends, shoal_herd_places(h, h->set[i]));
    uint64_t gain = shoal_herd_cost(h, a) - (uint64_t)(h->size[a] - 1) * rest;
    if (gain > rest && follow(h, a, h->set[i], gain)) return true;
  }
  return false;
}

void shoal_flock_chain(shoal_herd *h) {
  shoal_herd_arrange(h);
  for (uint32_t i = 0; i < h->n_at; i++) {
    uint32_t a = h->at[i];
    for (int t = 0; t < TIMES && !shoal_herd_is_done(h); t++)
      if (!h->size[a] || !h->loss[a] || h->size[a] > SHOAL_MOST_POOLED || !start_at(h, a)) break;
  }
}
