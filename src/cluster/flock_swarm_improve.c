/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_swarm_improve: single steps that lower the loss of a swarm. All tuples of a column
 * look for their best homes elsewhere, once. From these follows what it costs to do without any set
 * of them: those of one tuple, of all but one label of a tree, of one end of a number, or all. A
 * set that costs more than the rest gains is given up before anything is moved. Where the rest then
 * lacks rows or values, rows that it covers anyway are fetched from columns that can spare them.
 */
#include <string.h>

#include "cluster/flock_swarm.h"

enum {
  MOST_TUPLES = 256,  /* columns of more are left alone, */
  MOST_ROWS = 1024,   /* or of more rows */
  MOST_PLANNED = 32,  /* columns that rows of one step may go to */
  MOST_FETCHED = 256, /* rows that are looked at to be fetched, */
  MOST_LENDERS = 256, /* of so many columns */
  MOST_PEELED = 16,   /* values of a number where its ends are tried to be cut off */
  MOST_STEPS = 8,     /* on a column, before the next one has its turn */
  HOPE = 13,          /* an estimate may be so many tenths of the gain: rows may share a home */
  HOPES = 10
};

/* A column, tuple by tuple. */
typedef struct visit {
  shoal_swarm *swarm;
  uint32_t column, n;
  uint32_t row[MOST_TUPLES]; /* one of each tuple */
  uint32_t n_rows[MOST_TUPLES];
  shoal_home home[MOST_TUPLES];
  uint32_t goes_to[MOST_TUPLES];
  uint64_t groups[MOST_TUPLES][SHOAL_SWARM_KNOWN]; /* of the first counts */
  bool out[MOST_TUPLES];                           /* the set at hand */
} visit;

static size_t n_known(const shoal_ground *g) {
  return g->n_counts < SHOAL_SWARM_KNOWN ? g->n_counts : SHOAL_SWARM_KNOWN;
}

static const uint16_t *values_of(const visit *v, uint32_t i) {
  return shoal_ground_values(v->swarm->ground, v->row[i]);
}

/* ------------------------------------------------------------ fetching */

typedef struct fetching {
  shoal_swarm *swarm;
  uint32_t column, rows[MOST_FETCHED], n;
  shoal_wanted wanted;
  uint64_t has[SHOAL_SWARM_KNOWN]; /* groups of the column once the set has left */
} fetching;

/* The row whose fetching gains most, above `least`; SHOAL_NIL: none. */
static uint32_t choose_fetched(const fetching *f, int64_t *least) {
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

/* Fetches rows until the column fits; at most `budget` may be lost by that. */
static bool fetch(fetching *f, int64_t budget) {
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

/* ------------------------------------------------------------ leaving */

/* A column as it will be once rows have gone to it. */
typedef struct planned {
  uint32_t column, size, loss;
  shoal_box box;
} planned;

typedef struct plan {
  planned items[MOST_PLANNED];
  uint32_t n;
} plan;

static planned *find_planned(plan *p, const shoal_swarm *s, uint32_t column) {
  for (uint32_t i = 0; i < p->n; i++)
    if (p->items[i].column == column) return &p->items[i];
  if (p->n == MOST_PLANNED) return NULL;
  p->items[p->n] = (planned){column, s->size[column], s->loss[column], s->box[column]};
  return &p->items[p->n++];
}

/* What the rows of tuple i cost there; `later`: what each of them loses. */
static uint64_t cost_in(const visit *v, uint32_t i, const planned *to, uint32_t *later) {
  *later = shoal_box_loss_with(v->swarm->ground, &to->box, values_of(v, i));
  return (uint64_t)v->n_rows[i] * *later + (uint64_t)to->size * (*later - to->loss);
}

/* Finds each tuple of the set its home, given those before it. False: they cost `gain` or more. */
static bool make_plan(visit *v, uint64_t *gain) {
  plan p;
  p.n = 0;
  for (uint32_t i = 0; i < v->n; i++) {
    if (!v->out[i]) continue;
    planned *best = find_planned(&p, v->swarm, v->home[i].column);
    if (!best) return false;
    uint32_t later;
    uint64_t least = cost_in(v, i, best, &later);
    for (uint32_t j = 0; j < p.n; j++) {
      uint32_t loss;
      uint64_t cost = cost_in(v, i, &p.items[j], &loss);
      if (cost >= least) continue;
      best = &p.items[j];
      least = cost;
      later = loss;
    }
    if (least >= *gain) return false;
    *gain -= least;
    v->goes_to[i] = best->column;
    best->size += v->n_rows[i];
    best->loss = later;
    shoal_box_add(v->swarm->ground, &best->box, values_of(v, i));
  }
  return true;
}

static void send(visit *v) {
  shoal_swarm *s = v->swarm;
  for (uint32_t r = s->head[v->column], next; r != SHOAL_NIL; r = next) {
    uint32_t i = s->index[s->ground->tuple[r]];
    next = s->next[r];
    if (v->out[i]) shoal_swarm_move(s, r, v->goes_to[i]);
  }
}

/* What the rows of one tuple cost in the home that was found for them. */
static uint64_t cost_alone(const visit *v, uint32_t i) {
  return v->home[i].first + (uint64_t)(v->n_rows[i] - 1) * v->home[i].later;
}

/* What the set costs if no two of its tuples share a home. */
static uint64_t estimate(const visit *v) {
  uint64_t cost = 0;
  for (uint32_t i = 0; i < v->n; i++)
    if (v->out[i]) cost += v->home[i].first + (uint64_t)(v->n_rows[i] - 1) * v->home[i].later;
  return cost;
}

/* What the rest has and wants; returns whether it lacks anything. */
static bool find_wanted(const visit *v, uint32_t n_rest, fetching *f) {
  const shoal_ground *g = v->swarm->ground;
  f->wanted.any = n_rest < g->fit->k || n_known(g) < g->n_counts;
  bool lacks = f->wanted.any;
  for (size_t d = 0; d < n_known(g); d++) {
    uint64_t has = 0;
    for (uint32_t i = 0; i < v->n; i++)
      if (!v->out[i]) has |= v->groups[i][d];
    f->has[d] = has;
    f->wanted.groups[d] = shoal_n_groups(has) < g->fit->counts[d].least ? ~has : 0;
    lacks |= f->wanted.groups[d] != 0;
  }
  return lacks;
}

/* Lists the rows to be fetched, of columns that lose so much at least. False: they lack groups. */
static bool list_fetched(fetching *f, const shoal_box *rest, uint32_t least_loss) {
  const shoal_swarm *s = f->swarm;
  const shoal_ground *g = s->ground;
  uint64_t found[SHOAL_SWARM_KNOWN];
  uint32_t lenders[MOST_LENDERS], n = 0;
  memcpy(found, f->has, sizeof found);
  for (uint32_t c = 0; c < s->n_columns && n < MOST_LENDERS; c++) {
    if (s->loss[c] < least_loss || c == f->column) continue;
    if (!shoal_swarm_may_lend(s, c, rest, &f->wanted)) continue;
    lenders[n++] = c;
    for (size_t d = 0; d < n_known(g); d++) found[d] |= shoal_swarm_spare_groups(s, c, d);
  }
  for (size_t d = 0; d < n_known(g); d++)
    if (shoal_n_groups(found[d]) < g->fit->counts[d].least) return false;
  for (uint32_t i = 0; i < n; i++)
    f->n += shoal_swarm_list_spare(s, lenders[i], rest, &f->wanted, f->rows + f->n,
                                   MOST_FETCHED - f->n);
  return true;
}

/* What it costs at least to fetch so many groups of a count; INT64_MAX: not as many are listed. */
static int64_t least_cost(const fetching *f, size_t d, uint32_t n, int64_t loss) {
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
    uint32_t best = 0;
    for (uint32_t group = 0; group < g->fit->counts[d].n_groups; group++)
      if (found >> group & 1 && (!(found >> best & 1) || most[group] > most[best])) best = group;
    cost += loss - most[best];
    found &= ~(UINT64_C(1) << best);
  }
  return cost;
}

/* Lists what the rest may fetch before anything is moved; false: it is not worth while. */
static bool can_fetch(const visit *v, fetching *f, const shoal_box *rest, uint32_t n_rest,
                      int64_t gain) {
  const shoal_ground *g = v->swarm->ground;
  int64_t loss = shoal_box_loss(g, rest);
  f->swarm = v->swarm;
  f->column = v->column;
  f->n = 0;
  if (!find_wanted(v, n_rest, f)) return true;
  if (!list_fetched(f, rest, loss > gain ? (uint32_t)(loss - gain) : 0)) return false;
  if (n_rest + f->n < g->fit->k) return false;
  for (size_t d = 0; d < n_known(g); d++) {
    if (!f->wanted.groups[d]) continue;
    uint32_t lacks = g->fit->counts[d].least - shoal_n_groups(f->has[d]);
    if (least_cost(f, d, lacks, loss) >= gain) return false;
  }
  return true;
}

/* The set leaves; rows that are then lacking are fetched. */
static bool leave_and_fetch(visit *v, const shoal_box *rest, uint32_t n_rest, uint64_t gain) {
  shoal_swarm *s = v->swarm;
  size_t before = s->n_moved;
  fetching f; /* large: not to be cleared */
  if (n_rest && !can_fetch(v, &f, rest, n_rest, (int64_t)gain)) return false;
  send(v);
  shoal_swarm_settle(s, v->column);
  if (!s->failed && (!n_rest || fetch(&f, (int64_t)gain))) return true;
  shoal_swarm_undo(s, before);
  return false;
}

/* Tries to do without the set, whose cost is an estimate; the rest has so many rows, in that box.
 */
static bool leave(visit *v, uint64_t cost, const shoal_box *rest, uint32_t n_rest) {
  shoal_swarm *s = v->swarm;
  uint64_t gain = shoal_swarm_cost(s, v->column);
  if (n_rest) gain -= (uint64_t)n_rest * shoal_box_loss(s->ground, rest);
  if (cost * HOPES >= gain * HOPE || !make_plan(v, &gain)) return false;
  return leave_and_fetch(v, rest, n_rest, gain);
}

/* The same, where the box of the rest is not known yet. */
static bool leave_set(visit *v) {
  shoal_swarm *s = v->swarm;
  shoal_box box;
  uint32_t rest = 0;
  uint64_t cost = estimate(v);
  if (cost * HOPES >= shoal_swarm_cost(s, v->column) * HOPE) return false;
  for (uint32_t i = 0; i < v->n; i++) {
    if (v->out[i]) continue;
    if (!rest) shoal_box_start(s->ground, &box, values_of(v, i));
    else shoal_box_add(s->ground, &box, values_of(v, i));
    rest += v->n_rows[i];
  }
  return leave(v, cost, &box, rest);
}

/* ------------------------------------------------------------ sets */

/* The rows of one tuple. */
static bool leave_single(visit *v) {
  const shoal_swarm *s = v->swarm;
  const shoal_ground *g = s->ground;
  shoal_box behind[MOST_TUPLES], before, rest;
  for (uint32_t i = v->n; i-- > 0;) { /* of i and all tuples behind it */
    if (i + 1 < v->n) behind[i] = behind[i + 1];
    else shoal_box_start(g, &behind[i], values_of(v, i));
    shoal_box_add(g, &behind[i], values_of(v, i));
  }
  memset(v->out, 0, v->n * sizeof *v->out);
  for (uint32_t i = 0; i < v->n; i++) {
    uint32_t n_rest = s->size[v->column] - v->n_rows[i];
    uint64_t cost = cost_alone(v, i);
    if (cost < shoal_swarm_cost(s, v->column)) {
      if (i) rest = before;
      if (i && i + 1 < v->n) shoal_box_join(g, &rest, &behind[i + 1]);
      else if (i + 1 < v->n) rest = behind[1];
      v->out[i] = true;
      if (leave(v, cost, &rest, n_rest)) return true;
      v->out[i] = false;
    }
    if (i) shoal_box_add(g, &before, values_of(v, i));
    else shoal_box_start(g, &before, values_of(v, i));
  }
  return false;
}

/* On a tree: keeps the rows below a label, if they are at least half of all. */
static bool leave_label(visit *v, size_t q) {
  const shoal_swarm *s = v->swarm;
  const shoal_ground_tree *tree = &s->ground->trees[q];
  uint32_t top = (uint32_t)s->box[v->column].lo[q], n_below[SHOAL_GROUND_LABELS];
  for (uint32_t i = 0; i < v->n; i++)
    for (uint32_t l = values_of(v, i)[q]; l != top; l = tree->parent[l]) n_below[l] = 0;
  for (uint32_t i = 0; i < v->n; i++)
    for (uint32_t l = values_of(v, i)[q]; l != top; l = tree->parent[l]) n_below[l] += v->n_rows[i];
  for (uint32_t i = 0; i < v->n; i++)
    for (uint32_t l = values_of(v, i)[q]; l != top; l = tree->parent[l]) {
      if (2 * n_below[l] < s->size[v->column]) continue;
      n_below[l] = 0; /* once is enough */
      for (uint32_t j = 0; j < v->n; j++)
        v->out[j] = tree->join[l * tree->n_labels + values_of(v, j)[q]] != l;
      if (leave_set(v)) return true;
    }
  return false;
}

/* On a number: leaves out the rows of one end, as far as `bound`; `hopeless`: further too. */
static bool leave_end(visit *v, size_t q, bool low, uint16_t bound, bool *hopeless) {
  const shoal_swarm *s = v->swarm;
  uint32_t n_out = 0;
  uint64_t cost = 0;
  for (uint32_t i = 0; i < v->n; i++) {
    uint16_t value = values_of(v, i)[q];
    v->out[i] = low ? value <= bound : value >= bound;
    if (!v->out[i]) continue;
    n_out += v->n_rows[i];
    cost += cost_alone(v, i);
  }
  *hopeless = 2 * n_out > s->size[v->column] ||
              cost * HOPES >= shoal_swarm_cost(s, v->column) * HOPE; /* more rows cost more */
  return !*hopeless && leave_set(v);
}

/* The next value inward from `bound`. */
static uint16_t next_value(const visit *v, size_t q, bool low, uint16_t bound) {
  uint16_t next = low ? UINT16_MAX : 0;
  for (uint32_t i = 0; i < v->n; i++) {
    uint16_t value = values_of(v, i)[q];
    if (low ? value > bound && value < next : value < bound && value > next) next = value;
  }
  return next;
}

static bool leave_ends(visit *v, size_t q) {
  const shoal_box *box = &v->swarm->box[v->column];
  for (int low = 1; low >= 0; low--) {
    uint16_t bound = (uint16_t)(low ? box->lo[q] : box->hi[q]);
    bool hopeless = false;
    for (int i = 0; i < MOST_PEELED && !hopeless; i++) {
      if (leave_end(v, q, low, bound, &hopeless)) return true;
      bound = next_value(v, q, low, bound);
    }
  }
  return false;
}

/* Rows that cost less elsewhere though their tuple cannot leave as a whole. */
static bool leave_partly(visit *v) {
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

static void note_groups(visit *v, uint32_t i, uint32_t row) {
  const shoal_ground *g = v->swarm->ground;
  for (size_t d = 0; d < n_known(g); d++) {
    uint8_t group = g->group[row * g->n_counts + d];
    if (group != SHOAL_GROUND_NO_GROUP) v->groups[i][d] |= UINT64_C(1) << group;
  }
}

/* False where it has too many tuples, or some have no other home. */
static bool begin(visit *v) {
  shoal_swarm *s = v->swarm;
  const uint32_t *tuple_of = s->ground->tuple;
  v->n = 0;
  for (uint32_t r = s->head[v->column]; r != SHOAL_NIL; r = s->next[r]) {
    uint32_t tuple = tuple_of[r], i = s->index[tuple];
    if (i >= v->n || tuple_of[v->row[i]] != tuple) {
      if (v->n == MOST_TUPLES) return false;
      i = s->index[tuple] = v->n++;
      v->row[i] = r;
      v->n_rows[i] = 0;
      memset(v->groups[i], 0, sizeof v->groups[i]);
    }
    v->n_rows[i]++;
    note_groups(v, i, r);
  }
  for (uint32_t i = 0; i < v->n; i++) {
    v->home[i] = shoal_swarm_home(s, v->row[i], v->column);
    if (v->home[i].column == SHOAL_NIL) return false;
  }
  return true;
}

static bool step(shoal_swarm *s, uint32_t column) {
  const shoal_ground *g = s->ground;
  visit v; /* large: not to be cleared */
  v.swarm = s;
  v.column = column;
  if (!s->loss[column] || s->size[column] > MOST_ROWS || !begin(&v)) return false;
  if (leave_single(&v)) return true;
  const shoal_box *box = &s->box[column];
  for (size_t q = g->n_numbers; q < g->n_axes; q++)
    if ((uint32_t)box->lo[q] >= g->trees[q].n_leaves && leave_label(&v, q)) return true;
  for (size_t q = 0; q < g->n_numbers; q++)
    if (box->lo[q] < box->hi[q] && leave_ends(&v, q)) return true;
  for (uint32_t i = 0; i < v.n; i++) v.out[i] = true;
  return leave_set(&v) || leave_partly(&v);
}

bool shoal_swarm_improve(shoal_swarm *s, uint32_t column) {
  int steps = 0;
  while (steps < MOST_STEPS && !s->failed && step(s, column)) steps++;
  if (steps < MOST_STEPS) s->tried[column] = s->clock;
  return steps > 0;
}
