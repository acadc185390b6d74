/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_swarm_improve: single steps that lower the loss of a swarm. All tuples of a column
 * look for their best homes elsewhere, once. From these follows what it costs to do without any set
 * of them: those of one tuple, of all but one label of a tree, of one end of a number, or all. A
 * set that costs more than the rest gains is given up before anything is moved. Where the rest then
 * lacks rows or values, rows that it covers anyway are fetched from columns that can spare them.
 */
#include <string.h>

#include "cluster/flock_visit.h"

enum {
  MOST_ROWS = 1024, /* columns of more are left alone */
  MOST_PEELED = 16, /* values of a number where its ends are tried to be cut off */
  MOST_STEPS = 8,   /* on a column, before the next one has its turn */
  HOPE = 13,        /* an estimate may be so many tenths of the gain: rows may share a home */
  HOPES = 10
};

/* ------------------------------------------------------------ leaving */

static shoal_planned *find_planned(shoal_plan *p, const shoal_swarm *s, uint32_t column) {
  for (uint32_t i = 0; i < p->n; i++)
    if (p->items[i].column == column) return &p->items[i];
  if (p->n == SHOAL_VISIT_PLANNED) return NULL;
  p->items[p->n] = (shoal_planned){column, s->size[column], s->loss[column], s->box[column]};
  return &p->items[p->n++];
}

/* What the rows of tuple i cost there; `later`: what each of them loses. */
static uint64_t cost_in(const shoal_visit *v, uint32_t i, const shoal_planned *to,
                        uint32_t *later) {
  *later = shoal_box_loss_with(v->swarm->ground, &to->box, v->values[i]);
  return (uint64_t)v->n_rows[i] * *later + (uint64_t)to->size * (*later - to->loss);
}

/* Finds each tuple of the set its home, given those before it. False: they cost `gain` or more. */
static bool make_plan(shoal_visit *v, uint64_t *gain) {
  shoal_plan *p = &v->plan;
  p->n = 0;
  for (uint32_t i = 0; i < v->n; i++) {
    if (!v->out[i]) continue;
    shoal_planned *best = find_planned(p, v->swarm, v->home[i].column);
    if (!best) return false;
    uint32_t later;
    uint64_t least = cost_in(v, i, best, &later);
    for (uint32_t j = 0; j < p->n; j++) {
      uint32_t loss;
      uint64_t cost = cost_in(v, i, &p->items[j], &loss);
      if (cost >= least) continue;
      best = &p->items[j];
      least = cost;
      later = loss;
    }
    if (least >= *gain) return false;
    *gain -= least;
    v->goes_to[i] = best->column;
    best->size += v->n_rows[i];
    best->loss = later;
    shoal_box_add(v->swarm->ground, &best->box, v->values[i]);
  }
  return true;
}

static void send(shoal_visit *v) {
  shoal_swarm *s = v->swarm;
  for (uint32_t r = s->head[v->column], next; r != SHOAL_NIL; r = next) {
    uint32_t i = s->index[s->ground->tuple[r]];
    next = s->next[r];
    if (v->out[i]) shoal_swarm_move(s, r, v->goes_to[i]);
  }
}

/* The set leaves; rows that are then lacking are fetched. */
static bool leave_and_fetch(shoal_visit *v, const shoal_box *rest, uint32_t n_rest, uint64_t gain) {
  shoal_swarm *s = v->swarm;
  size_t before = s->n_moved;
  shoal_fetching f; /* large: not to be cleared */
  if (n_rest && !shoal_visit_prepare(v, &f, rest, n_rest, (int64_t)gain)) return false;
  send(v);
  shoal_swarm_settle(s, v->column);
  if (!s->failed && (!n_rest || shoal_visit_fetch(&f, (int64_t)gain))) return true;
  shoal_swarm_undo(s, before);
  return false;
}

/*
 * Tries to do without the set, whose cost is an estimate. The rest has so many rows, which reach so
 * far, and each loses `loss` then.
 */
static bool leave(shoal_visit *v, uint64_t cost, const shoal_lanes *rest, uint32_t n_rest,
                  uint32_t loss) {
  uint64_t gain = shoal_swarm_cost(v->swarm, v->column) - (uint64_t)n_rest * loss;
  shoal_box box;
  if (cost * HOPES >= gain * HOPE || !make_plan(v, &gain)) return false;
  if (n_rest) shoal_lanes_box(v->swarm->ground, rest, &box);
  return leave_and_fetch(v, &box, n_rest, gain);
}

/* The same, where it is not known yet what the rest reaches. */
static bool leave_set(shoal_visit *v, uint64_t cost, uint32_t n_rest) {
  const shoal_ground *g = v->swarm->ground;
  shoal_lanes rest;
  bool any = false;
  for (uint32_t i = 0; i < v->n; i++) {
    if (v->out[i]) continue;
    if (!any) shoal_lanes_start(g, &rest, v->lanes[i]);
    else shoal_lanes_add(g, &rest, v->lanes[i]);
    any = true;
  }
  return leave(v, cost, &rest, n_rest, any ? shoal_lanes_loss(g, &rest) : 0);
}

/* May it pay to do without a set of that cost, if each of the others then loses so much at least?
 */
static bool may_pay(const shoal_visit *v, uint64_t cost, uint32_t n_rest, uint32_t least_loss) {
  uint64_t most = shoal_swarm_cost(v->swarm, v->column) - (uint64_t)n_rest * least_loss;
  return cost * HOPES < most * HOPE;
}

/* ------------------------------------------------------------ sets */

/* The rows of one tuple. */
static bool leave_single(shoal_visit *v) {
  const shoal_swarm *s = v->swarm;
  const shoal_ground *g = s->ground;
  shoal_lanes before, rest;   /* of the tuples before it; of all others */
  if (v->n < 2) return false; /* then all of them: another step */
  shoal_lanes_start(g, &v->behind[v->n - 1], v->lanes[v->n - 1]);
  for (uint32_t i = v->n - 1; i-- > 1;) {
    shoal_lanes_start(g, &v->behind[i], v->behind[i + 1].lane);
    shoal_lanes_add(g, &v->behind[i], v->lanes[i]);
  }
  memset(v->out, 0, v->n * sizeof *v->out);
  for (uint32_t i = 0; i < v->n; i++) {
    shoal_lanes_start(g, &rest, i ? before.lane : v->behind[1].lane);
    if (i && i + 1 < v->n) shoal_lanes_add(g, &rest, v->behind[i + 1].lane);
    if (!i) shoal_lanes_start(g, &before, v->lanes[0]);
    else shoal_lanes_add(g, &before, v->lanes[i]);
    uint32_t n_rest = s->size[v->column] - v->n_rows[i], loss = shoal_lanes_loss(g, &rest);
    if (!may_pay(v, v->alone[i], n_rest, loss)) continue;
    v->out[i] = true;
    if (leave(v, v->alone[i], &rest, n_rest, loss)) return true;
    v->out[i] = false;
  }
  return false;
}

/* What is below a label. */
typedef struct below {
  uint64_t cost;
  uint32_t n_rows;
} below;

static void sum_labels(const shoal_visit *v, size_t q, uint32_t top, below *sums) {
  const uint8_t *parent = v->swarm->ground->trees[q].parent;
  for (uint32_t i = 0; i < v->n; i++)
    for (uint32_t l = v->values[i][q]; l != top; l = parent[l]) sums[l] = (below){0, 0};
  for (uint32_t i = 0; i < v->n; i++)
    for (uint32_t l = v->values[i][q]; l != top; l = parent[l]) {
      sums[l].cost += v->alone[i];
      sums[l].n_rows += v->n_rows[i];
    }
}

/* On a tree: keeps the rows below a label, if they are at least half of all. */
static bool leave_label(shoal_visit *v, size_t q) {
  const shoal_swarm *s = v->swarm;
  const shoal_ground_tree *tree = &s->ground->trees[q];
  uint32_t top = (uint32_t)s->box[v->column].lo[q];
  below sums[SHOAL_GROUND_LABELS];
  sum_labels(v, q, top, sums);
  for (uint32_t i = 0; i < v->n; i++)
    for (uint32_t l = v->values[i][q]; l != top; l = tree->parent[l]) {
      uint32_t n_rest = sums[l].n_rows;
      uint64_t cost = v->cost - sums[l].cost;
      if (2 * n_rest < s->size[v->column]) continue;
      sums[l].n_rows = 0; /* once is enough */
      if (!may_pay(v, cost, n_rest, tree->loss[l * tree->n_labels + l])) continue;
      for (uint32_t j = 0; j < v->n; j++)
        v->out[j] = tree->join[l * tree->n_labels + v->values[j][q]] != l;
      if (leave_set(v, cost, n_rest)) return true;
    }
  return false;
}

/* The tuples by ascending value of a number. */
static void sort_tuples(const shoal_visit *v, size_t q, uint32_t *order) {
  for (uint32_t i = 0; i < v->n; i++) {
    uint32_t at = i;
    for (; at > 0 && v->values[order[at - 1]][q] > v->values[i][q]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
}

/* On a number: leaves out the rows of one end, value by value. */
static bool leave_end(shoal_visit *v, size_t q, const uint32_t *order, bool low) {
  const shoal_swarm *s = v->swarm;
  uint32_t n_out = 0, size = s->size[v->column];
  uint16_t last = v->values[order[low ? v->n - 1 : 0]][q]; /* the other end */
  uint64_t cost = 0;
  memset(v->out, 0, v->n * sizeof *v->out);
  for (uint32_t i = 0, peeled = 0; i + 1 < v->n && peeled < MOST_PEELED; i++) {
    uint32_t own = order[low ? i : v->n - 1 - i], next = order[low ? i + 1 : v->n - 2 - i];
    uint16_t bound = v->values[next][q];
    v->out[own] = true;
    n_out += v->n_rows[own];
    cost += v->alone[own];
    if (bound == v->values[own][q]) continue;
    peeled++;
    if (2 * n_out > size || !may_pay(v, cost, 0, 0)) return false; /* further ones cost more */
    uint32_t width = (uint32_t)(last > bound ? last - bound : bound - last);
    if (may_pay(v, cost, size - n_out, width) && leave_set(v, cost, size - n_out)) return true;
  }
  return false;
}

static bool leave_ends(shoal_visit *v, size_t q) {
  uint32_t order[SHOAL_VISIT_TUPLES] = {0};
  if (v->n < 2) return false; /* without one end nothing is left */
  sort_tuples(v, q, order);
  return leave_end(v, q, order, true) || leave_end(v, q, order, false);
}

static bool leave_all(shoal_visit *v) {
  for (uint32_t i = 0; i < v->n; i++) v->out[i] = true;
  return may_pay(v, v->cost, 0, 0) && leave_set(v, v->cost, 0);
}

/* Rows that cost less elsewhere though their tuple cannot leave as a whole. */
static bool leave_partly(shoal_visit *v) {
  shoal_swarm *s = v->swarm;
  size_t before = s->n_moved;
  for (uint32_t i = 0; i < v->n && s->n_moved == before; i++) {
    if (v->home[i].first >= s->loss[v->column]) continue;
    uint32_t tuple = s->ground->tuple[v->row[i]];
    for (uint32_t r = s->head[v->column], next; r != SHOAL_NIL && !s->failed; r = next) {
      next = s->next[r];
      if (s->ground->tuple[r] == tuple && shoal_swarm_spares(s, r))
        shoal_swarm_move(s, r, v->home[i].column);
    }
  }
  if (s->n_moved == before) return false;
  shoal_swarm_settle(s, v->column);
  return true;
}

/* ------------------------------------------------------------ a column */

static void note_groups(shoal_visit *v, uint32_t i, uint32_t row) {
  const shoal_ground *g = v->swarm->ground;
  for (size_t d = 0; d < g->n_counts && d < SHOAL_SWARM_KNOWN; d++) {
    uint8_t group = g->group[row * g->n_counts + d];
    if (group != SHOAL_GROUND_NO_GROUP) v->groups[i][d] |= UINT64_C(1) << group;
  }
}

/* False where it has too many tuples, or some have no other home. */
static bool begin(shoal_visit *v) {
  shoal_swarm *s = v->swarm;
  const uint32_t *tuple_of = s->ground->tuple;
  v->n = 0;
  for (uint32_t r = s->head[v->column]; r != SHOAL_NIL; r = s->next[r]) {
    uint32_t tuple = tuple_of[r], i = s->index[tuple];
    if (i >= v->n || tuple_of[v->row[i]] != tuple) {
      if (v->n == SHOAL_VISIT_TUPLES) return false;
      i = s->index[tuple] = v->n++;
      v->row[i] = r;
      v->n_rows[i] = 0;
      memset(v->groups[i], 0, sizeof v->groups[i]);
    }
    v->n_rows[i]++;
    note_groups(v, i, r);
  }
  v->cost = 0;
  for (uint32_t i = 0; i < v->n; i++) {
    v->home[i] = shoal_swarm_home(s, v->row[i], v->column);
    if (v->home[i].column == SHOAL_NIL) return false;
    v->values[i] = shoal_ground_values(s->ground, v->row[i]);
    v->lanes[i] = shoal_lanes_of_tuple(s->ground, tuple_of[v->row[i]]);
    v->alone[i] = v->home[i].first + (uint64_t)(v->n_rows[i] - 1) * v->home[i].later;
    v->cost += v->alone[i];
  }
  return true;
}

static bool step(shoal_swarm *s, uint32_t column) {
  const shoal_ground *g = s->ground;
  shoal_visit v; /* large: not to be cleared */
  v.swarm = s;
  v.column = column;
  v.knows_lenders = false;
  if (!s->loss[column] || s->size[column] > MOST_ROWS || !begin(&v)) return false;
  if (leave_single(&v)) return true;
  const shoal_box *box = &s->box[column];
  for (size_t q = g->n_numbers; q < g->n_axes; q++)
    if ((uint32_t)box->lo[q] >= g->trees[q].n_leaves && leave_label(&v, q)) return true;
  for (size_t q = 0; q < g->n_numbers; q++)
    if (box->lo[q] < box->hi[q] && leave_ends(&v, q)) return true;
  return leave_all(&v) || leave_partly(&v);
}

bool shoal_swarm_improve(shoal_swarm *s, uint32_t column) {
  int steps = 0;
  while (steps < MOST_STEPS && !s->failed && step(s, column)) steps++;
  if (steps < MOST_STEPS) s->tried[column] = s->clock;
  return steps > 0;
}
