/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_swarm_fetch: rows that a column fetches from others, in place of those that leave
 * it; see flock_visit.h. Which columns overlap it is found out once, how many rows of one it covers
 * when that is asked for. So it is most often known before anything is moved that there are too
 * few.
 */
#include "cluster/flock_visit.h"

void shoal_visit_list(shoal_fetching *f, const shoal_box *box, uint32_t column) {
  const shoal_swarm *s = f->swarm;
  const shoal_ground *g = s->ground;
  uint32_t last = SHOAL_NIL;
  bool covered = false;
  for (uint32_t r = s->head[column]; r != SHOAL_NIL && f->n < SHOAL_VISIT_FETCHED; r = s->next[r]) {
    if (g->tuple[r] != last) covered = shoal_box_covers(g, box, shoal_ground_values(g, r));
    last = g->tuple[r];
    if (covered) f->rows[f->n++] = r;
  }
}

static uint32_t count_covered(const shoal_swarm *s, const shoal_box *box, uint32_t column) {
  const shoal_ground *g = s->ground;
  uint32_t last = SHOAL_NIL, n = 0;
  bool covered = false;
  for (uint32_t r = s->head[column]; r != SHOAL_NIL; r = s->next[r]) {
    if (g->tuple[r] != last) covered = shoal_box_covers(g, box, shoal_ground_values(g, r));
    last = g->tuple[r];
    n += covered;
  }
  return n;
}

/* Columns from which rows may be fetched, whatever set leaves. */
static void know_lenders(shoal_visit *v) {
  const shoal_swarm *s = v->swarm;
  shoal_lenders *l = &v->lenders;
  v->knows_lenders = true;
  l->n = 0;
  for (uint32_t c = 0; c < s->n_columns && l->n < SHOAL_VISIT_FETCHED; c++)
    if (s->size[c] && c != v->column &&
        shoal_box_overlaps(s->ground, &s->box[v->column], &s->box[c]))
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

bool shoal_visit_can_fetch(shoal_visit *v, uint32_t n_rows, uint32_t loss, int64_t budget,
                           shoal_lenders *then) {
  uint32_t order[SHOAL_VISIT_FETCHED];
  if (!v->knows_lenders) know_lenders(v);
  find_willing(v, loss, budget, order, then);
  for (uint32_t i = 0; i < then->n && n_rows && budget > 0; i++) {
    bring_forward(then, order, i);
    shoal_lender *own = &v->lenders.items[order[i]];
    if (own->n_rows == SHOAL_NIL)
      own->n_rows = count_covered(v->swarm, &v->swarm->box[v->column], own->column);
    uint32_t n = own->n_rows < then->items[i].n_rows ? own->n_rows : then->items[i].n_rows;
    if (n > n_rows) n = n_rows;
    budget += ((int64_t)then->items[i].loss - loss) * n;
    n_rows -= n;
  }
  return !n_rows && budget > 0;
}

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
