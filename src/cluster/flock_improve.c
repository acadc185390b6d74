/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_improve: single steps that lower the loss. The one that does most of the work is to
 * eject: some rows of a cluster, without which it would cover less, go where they cost least, and
 * rows that others can spare take their place where the cluster then lacks rows or values. A swap
 * of two rows is a case of it. A cluster may also be dissolved as a whole, or cut in two.
 *
 * Rows look for a place among the clusters near theirs in the flock's order, and among those that
 * lose most anyway: what is lost already costs nothing to lose again.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "cluster/flock.h"

enum {
  REACH = 16,       /* neighbours on each side that may take a row, or lend one */
  NEAR = 10,        /* neighbours on each side whose change is a reason to try again */
  MOST_PEELED = 16, /* places on a number where its ends are tried to be cut off */
  LOOKED_AT = 1024, /* rows of a lender */
  LARGE = 4096      /* clusters above this are left alone */
};

static bool is_near_changed(const shoal_herd *h, uint32_t a) {
  uint64_t since = h->tried[a];
  uint32_t at = h->position[a], from = at > NEAR ? at - NEAR : 0;
  for (uint32_t i = from; i < h->n_at && i <= at + NEAR; i++)
    if (h->changed[h->at[i]] > since) return true;
  return false;
}

/* A place in the order for every step: 1 ahead, 1 back, 2 ahead, ...; SHOAL_NIL: beyond its ends.
 */
static uint32_t near(const shoal_herd *h, uint32_t at, uint32_t step) {
  uint32_t away = step / 2 + 1;
  if (step % 2) return away > at ? SHOAL_NIL : at - away;
  return at + away < h->n_at ? at + away : SHOAL_NIL;
}

/* A place for a row, the cheapest so far. */
typedef struct place {
  const uint32_t *places; /* of the row */
  uint32_t from, best;
  uint64_t limit;
} place;

static inline void try_home(const shoal_herd *h, uint32_t c, place *p) {
  if (h->loss[c] >= p->limit || c == p->from || !h->size[c]) return;
  uint64_t cost = shoal_herd_join_cost(h, c, p->places, p->limit);
  if (cost >= p->limit) return;
  p->limit = cost;
  p->best = c;
}

uint32_t shoal_flock_home(shoal_herd *h, uint32_t row, uint32_t from, uint64_t *limit) {
  place p = {shoal_herd_places(h, row), from, SHOAL_NIL, *limit};
  uint32_t at = h->position[from];
  h->work += 2 * REACH;
  for (uint32_t away = 1; away <= REACH; away++) {
    if (at + away < h->n_at) try_home(h, h->at[at + away], &p);
    if (away <= at) try_home(h, h->at[at - away], &p);
  }
  for (uint32_t i = 0; i < h->n_worst; i++) try_home(h, h->worst[i], &p);
  *limit = p.limit;
  return p.best;
}

/* ------------------------------------------------------------ refilling */

/* A count that the cluster lacks groups of, or n_counts. */
static size_t lacking(const shoal_herd *h, uint32_t a) {
  size_t d = 0;
  while (d < h->n_counts && shoal_herd_variety(h, a, d)->distinct >= h->fit->counts[d].least) d++;
  return d;
}

/* What a's loss grows by at least, whichever row of c joins it. */
static uint64_t least_growth(const shoal_herd *h, uint32_t a, uint32_t c, uint64_t limit) {
  const shoal_span *to = h->extent + (size_t)a * h->n_axes, *of = h->extent + (size_t)c * h->n_axes;
  const uint32_t *losses = h->axis_loss + (size_t)a * h->n_axes;
  uint64_t growth = h->loss[a], size = (uint64_t)h->size[a] + 1;
  for (size_t q = 0; q < h->n_axes && growth < limit; q++) {
    if (of[q].hi < to[q].lo)
      growth += size * (shoal_axis_loss(&h->axes->items[q], of[q].hi, to[q].hi) - losses[q]);
    else if (of[q].lo > to[q].hi)
      growth += size * (shoal_axis_loss(&h->axes->items[q], to[q].lo, of[q].lo) - losses[q]);
  }
  return growth;
}

void shoal_flock_look_for_loan(shoal_herd *h, uint32_t a, uint32_t c, shoal_loan *best) {
  size_t lacks = lacking(h, a);
  const shoal_ends *ends = shoal_herd_ends(h, c);
  int64_t cost_of_c = (int64_t)shoal_herd_cost(h, c);
  int64_t spared = cost_of_c - (int64_t)(h->size[c] - 1) * shoal_herd_least_loss_without(h, ends);
  int64_t most = spared - best->gain;
  if (most <= 0 || least_growth(h, a, c, (uint64_t)most) >= (uint64_t)most) return;
  uint32_t last = SHOAL_NIL, looked = 0;
  for (uint32_t r = h->head[c]; r != SHOAL_NIL && looked++ < LOOKED_AT; r = h->next[r]) {
    if (!h->n_counts && h->tuple[r] == last) continue;
    last = h->tuple[r];
    if (lacks < h->n_counts) {
      uint32_t group = h->group[lacks][r];
      if (group == SHOAL_NO_GROUP || shoal_herd_has(h, a, lacks, group, 1)) continue;
    }
    if (!shoal_herd_spares(h, r)) continue;
    h->work++;
    const uint32_t *places = shoal_herd_places(h, r);
    if (spared <= best->gain) return;
    uint64_t limit = (uint64_t)(spared - best->gain);
    uint64_t cost = shoal_herd_join_cost(h, a, places, limit);
    if (cost >= limit) continue;
    int64_t rest = (int64_t)(h->size[c] - 1) * shoal_herd_loss_without(h, ends, places);
    if (cost_of_c - rest - (int64_t)cost <= best->gain || shoal_trial_has_moved(h, r)) continue;
    *best = (shoal_loan){r, cost_of_c - rest - (int64_t)cost};
  }
}

/* Brings rows into the cluster until it has k and its counts; at most `budget` may be lost. */
static bool refill(shoal_herd *h, uint32_t a, int64_t budget) {
  for (;;) {
    shoal_trial_settle(h);
    size_t lacks = lacking(h, a);
    if (lacks == h->n_counts && h->size[a] >= h->fit->k) return true;
    shoal_loan best = {SHOAL_NIL, -budget};
    for (uint32_t i = 0; i < 2 * REACH; i++) {
      uint32_t at = near(h, h->position[a], i);
      if (at != SHOAL_NIL && h->size[h->at[at]] > h->fit->k)
        shoal_flock_look_for_loan(h, a, h->at[at], &best);
    }
    for (uint32_t i = 0, moved = h->n_moved; i < moved; i++) { /* who took a row may give one */
      uint32_t c = h->cluster_of[h->moved[i]];
      if (c != a && h->size[c] > h->fit->k) shoal_flock_look_for_loan(h, a, c, &best);
    }
    if (best.row == SHOAL_NIL || !shoal_trial_move(h, best.row, a)) return false;
    budget += best.gain;
  }
}

/* ------------------------------------------------------------ ejecting */

/* Tries to do without some rows of a cluster; `gain` is what the others then lose less. */
static bool eject(shoal_herd *h, uint32_t a, const uint32_t *rows, uint32_t n, uint64_t gain) {
  shoal_trial_begin(h);
  uint64_t left = gain;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t cost = left;
    uint32_t home = shoal_flock_home(h, rows[i], a, &cost);
    if (home == SHOAL_NIL || !shoal_trial_move(h, rows[i], home)) {
      shoal_trial_undo(h);
      return false;
    }
    left -= cost;
  }
  if (!refill(h, a, (int64_t)left)) {
    shoal_trial_undo(h);
    return false;
  }
  return shoal_trial_end(h);
}

/* Rows whose leaving alone helps, each tuple tried once. */
static bool eject_single(shoal_herd *h, uint32_t a) {
  uint32_t n = 0, last = SHOAL_NIL;
  for (uint32_t r = h->head[a]; r != SHOAL_NIL; r = h->next[r]) h->set[n++] = r;
  for (uint32_t i = 0; i < n; i++) {
    if (h->tuple[h->set[i]] == last) continue;
    last = h->tuple[h->set[i]];
    uint32_t rest =
        shoal_herd_loss_without(h, shoal_herd_ends(h, a), shoal_herd_places(h, h->set[i]));
    uint64_t gain = shoal_herd_cost(h, a) - (uint64_t)(h->size[a] - 1) * rest;
    if (gain > rest && eject(h, a, &h->set[i], 1, gain)) return true;
  }
  return false;
}

/* Ejects all rows but those from `first` to before `end` of the sorted keys. */
static bool eject_outside(shoal_herd *h, uint32_t a, uint32_t first, uint32_t end) {
  uint32_t n = h->size[a], out = 0;
  shoal_extent_start(h->axes, h->span, shoal_herd_places(h, (uint32_t)h->keys[first]));
  for (uint32_t i = 0; i < n; i++) {
    uint32_t row = (uint32_t)h->keys[i];
    if (i < first || i >= end) h->set[out++] = row;
    else shoal_extent_add(h->axes, h->span, shoal_herd_places(h, row));
  }
  uint64_t rest = (uint64_t)(end - first) * shoal_extent_loss(h->axes, h->span);
  uint64_t cost = shoal_herd_cost(h, a);
  return rest < cost && eject(h, a, h->set, out, cost - rest);
}

/* On a tree: keeps the rows below the most frequent label of some level. */
static bool peel_tree(shoal_herd *h, uint32_t a, const shoal_axis *axis) {
  uint32_t n = h->size[a];
  for (uint32_t l = 0; l + 1 < axis->hierarchy->n_levels; l++) {
    const uint32_t *label = axis->hierarchy->levels[l].of_leaf;
    uint32_t best = 0, most = 0;
    for (uint32_t i = 0, end; i < n; i = end) {
      uint32_t own = label[axis->code_at[h->keys[i] >> 32]];
      for (end = i + 1; end < n && label[axis->code_at[h->keys[end] >> 32]] == own;) end++;
      if (end - i > most) most = end - i, best = i;
    }
    if (most == n) return false;
    if (n - most <= n / 2 && eject_outside(h, a, best, best + most)) return true;
  }
  return false;
}

/* On numbers: leaves out some rows of one end. */
static bool peel_number(shoal_herd *h, uint32_t a) {
  uint32_t n = h->size[a], tries = 0;
  for (uint32_t out = 1; out <= n / 2 && tries < MOST_PEELED; out++) {
    bool low = h->keys[out] >> 32 != h->keys[out - 1] >> 32;
    bool high = h->keys[n - out] >> 32 != h->keys[n - out - 1] >> 32;
    if (low && eject_outside(h, a, out, n)) return true;
    if (high && eject_outside(h, a, 0, n - out)) return true;
    tries += low || high;
  }
  return false;
}

/* Several rows at once: those that alone make the cluster wide on one axis. */
static bool eject_several(shoal_herd *h, uint32_t a) {
  for (size_t q = 0; q < h->n_axes; q++) {
    if (!h->axis_loss[(size_t)a * h->n_axes + q]) continue;
    uint32_t n = 0;
    for (uint32_t r = h->head[a]; r != SHOAL_NIL; r = h->next[r])
      h->keys[n++] = (uint64_t)shoal_herd_places(h, r)[q] << 32 | r;
    shoal_sort_keys(h->keys, n);
    const shoal_axis *axis = &h->axes->items[q];
    if (axis->hierarchy ? peel_tree(h, a, axis) : peel_number(h, a)) return true;
  }
  return false;
}

/* ------------------------------------------------------------ dissolving */

static bool dissolve(shoal_herd *h, uint32_t a) {
  uint32_t n = 0;
  uint64_t left = shoal_herd_cost(h, a);
  for (uint32_t r = h->head[a]; r != SHOAL_NIL; r = h->next[r]) h->set[n++] = r;
  shoal_trial_begin(h);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t cost = left;
    uint32_t home = shoal_flock_home(h, h->set[i], a, &cost);
    if (home == SHOAL_NIL || !shoal_trial_move(h, h->set[i], home)) {
      shoal_trial_undo(h);
      return false;
    }
    left -= cost;
  }
  return shoal_trial_end(h);
}

static bool improve(shoal_herd *h, uint32_t a) {
  enum { TIMES = 8 };
  bool any = false;
  for (int i = 0; i < TIMES; i++) {
    if (!h->size[a] || !h->loss[a] || h->size[a] > LARGE || shoal_herd_is_done(h)) return any;
    bool done =
        eject_single(h, a) || eject_several(h, a) || (h->aim == SHOAL_AIM_IL && dissolve(h, a));
    any = any || done;
    if (!done) break;
  }
  h->tried[a] = h->clock;
  return any;
}

bool shoal_flock_improve(shoal_herd *h) {
  bool any = false;
  shoal_herd_arrange(h);
  for (uint32_t i = 0; i < h->n_at && !shoal_herd_is_done(h); i++) {
    uint32_t a = h->at[i];
    if (h->size[a] && h->loss[a] && is_near_changed(h, a)) any |= improve(h, a);
  }
  return any;
}
