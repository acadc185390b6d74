/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_swarm_fetch: rows that a column fetches from others, in place of those that leave
 * it; see flock_visit.h. Which columns overlap it is found out once, how many rows of one it covers
 * when that is asked for. So it is most often known before anything is moved that there are too
 * few.
 */
#include "cluster/flock_visit.h"

static size_t n_known(const shoal_ground *g) {
  return g->n_counts < SHOAL_SWARM_KNOWN ? g->n_counts : SHOAL_SWARM_KNOWN;
}

/* ------------------------------------------------------------ what is lacking */

/* How many groups of a count the column has no more once the set has left. */
static uint32_t groups_lost(const shoal_visit *v, size_t d) {
  const shoal_swarm *s = v->swarm;
  const shoal_ground *g = s->ground;
  uint16_t *seen = s->seen + (v->column * g->n_counts + d) * SHOAL_GROUND_GROUPS;
  uint32_t lost = 0;
  for (int again = 0; again < 2; again++) /* taken out, and put back */
    for (uint32_t r = s->head[v->column]; r != SHOAL_NIL; r = s->next[r]) {
      uint8_t group = g->group[r * g->n_counts + d];
      if (!v->out[s->index[g->tuple[r]]] || group == SHOAL_GROUND_NO_GROUP) continue;
      if (again) seen[group]++;
      else lost += --seen[group] == 0;
    }
  return lost;
}

/* How many groups of a count the column then has; `f` is told which, if it is one of the first. */
static uint32_t groups_left(const shoal_visit *v, size_t d, shoal_fetching *f) {
  const shoal_swarm *s = v->swarm;
  if (d >= SHOAL_SWARM_KNOWN)
    return s->distinct[v->column * s->ground->n_counts + d] - groups_lost(v, d);
  uint64_t has = 0;
  for (uint32_t i = 0; i < v->n; i++)
    if (!v->out[i]) has |= v->groups[i][d];
  f->has[d] = has;
  return shoal_n_groups(has);
}

/* Which rows the column wants then; returns how many it must fetch at least. */
static uint32_t find_wanted(const shoal_visit *v, uint32_t n_rest, shoal_fetching *f) {
  const shoal_ground *g = v->swarm->ground;
  uint32_t k = (uint32_t)g->fit->k, most = n_rest < k ? k - n_rest : 0;
  f->wanted.any = n_rest < k;
  for (size_t d = 0; d < g->n_counts; d++) {
    uint32_t left = groups_left(v, d, f), least = g->fit->counts[d].least;
    if (d < SHOAL_SWARM_KNOWN) f->wanted.groups[d] = left < least ? ~f->has[d] : 0;
    else f->wanted.any |= left < least;
    if (left < least && least - left > most) most = least - left;
  }
  return most;
}

/* ------------------------------------------------------------ who can lend */

/* How many rows of a column another one covers. */
static uint32_t count_covered(const shoal_swarm *s, uint32_t by, uint32_t column) {
  const shoal_ground *g = s->ground;
  const int16_t *cover = s->cover + by * g->n_lanes;
  uint32_t last = SHOAL_NIL, n = 0;
  bool covered = false;
  for (uint32_t r = s->head[column]; r != SHOAL_NIL; r = s->next[r]) {
    if (g->tuple[r] != last)
      covered = shoal_lanes_below(g, cover, shoal_lanes_of_tuple(g, g->tuple[r]));
    last = g->tuple[r];
    n += covered;
  }
  return n;
}

/* Columns from which rows may be fetched, whatever set leaves. */
static void know_lenders(shoal_visit *v) {
  const shoal_swarm *s = v->swarm;
  const shoal_ground *g = s->ground;
  shoal_lenders *l = &v->lenders;
  shoal_lanes common;
  shoal_lanes_turn(g, s->cover + v->column * g->n_lanes, common.lane);
  v->knows_lenders = true;
  l->n = 0;
  for (uint32_t c = 0; c < s->n_columns && l->n < SHOAL_VISIT_FETCHED; c++)
    if (s->size[c] && c != v->column &&
        shoal_lanes_below(g, s->cover + c * g->n_lanes, common.lane))
      l->items[l->n++] = (shoal_lender){c, s->loss[c], SHOAL_NIL};
}

/* The rows that a lender could spare once the plan is carried out; what it loses then. */
static uint32_t spare_rows(const shoal_visit *v, uint32_t column, uint32_t *loss) {
  const shoal_swarm *s = v->swarm;
  uint32_t size = s->size[column], k = (uint32_t)s->ground->fit->k;
  *loss = s->loss[column];
  for (uint32_t i = 0; i < v->plan.n; i++) {
    if (v->plan.items[i].column != column) continue;
    size = v->plan.items[i].size;
    *loss = v->plan.items[i].loss;
  }
  return size > k ? size - k : 0;
}

/* Lenders that have rows worth it, and how many they can spare; `order`: their numbers. */
static void find_willing(const shoal_visit *v, uint32_t loss, int64_t budget, uint32_t *order,
                         shoal_lenders *then) {
  then->n = 0;
  for (uint32_t i = 0; i < v->lenders.n; i++) {
    shoal_lender own = v->lenders.items[i];
    if (!own.n_rows) continue; /* covered */
    own.n_rows = spare_rows(v, own.column, &own.loss);
    if (!own.n_rows || (int64_t)own.loss + budget <= loss) continue;
    order[then->n] = i;
    then->items[then->n++] = own;
  }
}

/* The lender that loses most, of those from i on, comes to place i. */
static void bring_forward(shoal_lenders *then, uint32_t *order, uint32_t i) {
  uint32_t best = i;
  for (uint32_t j = i + 1; j < then->n; j++)
    if (then->items[j].loss > then->items[best].loss) best = j;
  shoal_lender lender = then->items[best];
  uint32_t number = order[best];
  then->items[best] = then->items[i];
  order[best] = order[i];
  then->items[i] = lender;
  order[i] = number;
}

/*
 * Could so many rows be fetched, if no other demand were there? `loss`: of the column then;
 * `budget`: what may be lost by that. If so, the lenders are left in `then`.
 */
static bool can_fetch(shoal_visit *v, uint32_t n_rows, uint32_t loss, int64_t budget,
                      shoal_lenders *then) {
  uint32_t order[SHOAL_VISIT_FETCHED];
  if (!v->knows_lenders) know_lenders(v);
  find_willing(v, loss, budget, order, then);
  for (uint32_t i = 0; i < then->n && n_rows && budget > 0; i++) {
    bring_forward(then, order, i);
    shoal_lender *own = &v->lenders.items[order[i]];
    if (own->n_rows == SHOAL_NIL) own->n_rows = count_covered(v->swarm, v->column, own->column);
    uint32_t n = own->n_rows < then->items[i].n_rows ? own->n_rows : then->items[i].n_rows;
    if (n > n_rows) n = n_rows;
    budget += ((int64_t)then->items[i].loss - loss) * n;
    n_rows -= n;
  }
  return !n_rows && budget > 0;
}

/* Keeps lenders that may have rows that are wanted; false: together they lack groups. */
static bool keep_useful(const shoal_fetching *f, const shoal_box *rest, shoal_lenders *lenders) {
  const shoal_swarm *s = f->swarm;
  const shoal_ground *g = s->ground;
  uint64_t found[SHOAL_SWARM_KNOWN];
  uint32_t n = 0;
  for (size_t d = 0; d < n_known(g); d++) found[d] = f->has[d];
  for (uint32_t i = 0; i < lenders->n; i++) {
    uint32_t c = lenders->items[i].column;
    if (!shoal_swarm_may_lend(s, c, rest, &f->wanted)) continue;
    lenders->items[n++] = lenders->items[i];
    for (size_t d = 0; d < n_known(g); d++) found[d] |= shoal_swarm_spare_groups(s, c, d);
  }
  lenders->n = n;
  for (size_t d = 0; d < n_known(g); d++)
    if (shoal_n_groups(found[d]) < g->fit->counts[d].least) return false;
  return true;
}

/* What it costs at least to fetch so many groups of a count; INT64_MAX: not as many are listed. */
static int64_t least_cost(const shoal_fetching *f, size_t d, uint32_t n, int64_t loss) {
  const shoal_swarm *s = f->swarm;
  const shoal_ground *g = s->ground;
  int64_t most[SHOAL_GROUND_GROUPS] = {0}, cost = 0;
  uint64_t found = 0;
  for (uint32_t i = 0; i < f->n; i++) {
    uint8_t group = g->group[f->rows[i] * g->n_counts + d];
    if (group == SHOAL_GROUND_NO_GROUP || !(f->wanted.groups[d] >> group & 1)) continue;
    int64_t own = s->loss[s->column[f->rows[i]]];
    if (own > most[group]) most[group] = own;
    found |= UINT64_C(1) << group;
  }
  if (shoal_n_groups(found) < n) return INT64_MAX;
  for (; n; n--) {
    uint32_t best = (uint32_t)__builtin_ctzll(found);
    for (uint64_t left = found & (found - 1); left; left &= left - 1) {
      uint32_t group = (uint32_t)__builtin_ctzll(left);
      if (most[group] > most[best]) best = group;
    }
    cost += loss - most[best];
    found &= ~(UINT64_C(1) << best);
  }
  return cost;
}

bool shoal_visit_prepare(shoal_visit *v, shoal_fetching *f, const shoal_box *rest, uint32_t n_rest,
                         int64_t budget) {
  const shoal_swarm *s = v->swarm;
  const shoal_ground *g = s->ground;
  uint32_t loss = shoal_box_loss(g, rest);
  shoal_lenders then;
  f->swarm = v->swarm;
  f->column = v->column;
  f->n = 0;
  uint32_t needed = find_wanted(v, n_rest, f);
  if (!needed) return true;
  if (!can_fetch(v, needed, loss, budget, &then) || !keep_useful(f, rest, &then)) return false;
  for (uint32_t i = 0; i < then.n; i++)
    f->n += shoal_swarm_list_spare(s, then.items[i].column, rest, &f->wanted, f->rows + f->n,
                                   SHOAL_VISIT_FETCHED - f->n);
  if (f->n < needed) return false;
  for (size_t d = 0; d < n_known(g); d++) {
    if (!f->wanted.groups[d]) continue;
    uint32_t lacks = g->fit->counts[d].least - shoal_n_groups(f->has[d]);
    if (least_cost(f, d, lacks, loss) >= budget) return false;
  }
  return true;
}

/* ------------------------------------------------------------ fetching */

/* The row whose fetching gains most, above `least`; SHOAL_NIL: none. */
static uint32_t choose_fetched(const shoal_fetching *f, int64_t *least) {
  const shoal_swarm *s = f->swarm;
  size_t lacks = shoal_swarm_lacking(s, f->column);
  uint32_t best = SHOAL_NIL;
  for (uint32_t i = 0; i < f->n; i++) {
    uint32_t r = f->rows[i], c = s->column[r];
    int64_t gain = (int64_t)s->loss[c] - s->loss[f->column];
    if (gain <= *least || c == f->column) continue;
    if (lacks < s->ground->n_counts && shoal_swarm_has(s, f->column, lacks, r)) continue;
    if (!shoal_swarm_spares(s, r)) continue;
    *least = gain;
    best = r;
  }
  return best;
}

bool shoal_visit_fetch(shoal_fetching *f, int64_t budget) {
  shoal_swarm *s = f->swarm;
  size_t before = s->n_moved;
  while (!shoal_swarm_fits(s, f->column)) {
    int64_t gain = -budget;
    uint32_t row = choose_fetched(f, &gain);
    if (row == SHOAL_NIL) return false;
    shoal_swarm_move(s, row, f->column);
    if (s->failed) return false;
    budget += gain;
  }
  for (size_t i = before; i < s->n_moved; i++) shoal_swarm_settle(s, s->moved_from[i]);
  return true;
}
