/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_small: least information loss for small tables with k and counts alone, where there
 * is time to look at all clusters for every row. The order of the rows is cut in two, so that two
 * threads may work; each half is gathered, as a whole if it is not large, and bettered by single
 * steps. Then again and again some clusters near each other are made anew, with some chance in it,
 * bettered, and kept if nothing is lost by that (Shaw 1998 calls it large neighbourhood search). At
 * the end both halves together have their turn. The halves depend on the rows alone, not on the
 * threads.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/flock_halves.h"
#include "cluster/flock_units.h"

enum {
  LEAST_HALVED = 4000,  /* rows: fewer are one whole */
  STRETCH = 2000,       /* tuples that are gathered together at first, */
  LONGEST = 3000,       /* or a few more where few are left over */
  MOST_K = 100,         /* larger clusters are not for pools */
  MOST_CLUSTERS = 1024, /* that the rows could form: above that looking at all takes too long */
  DRAWS = 3,            /* clusters of which the one that loses most is made anew, */
  PARTNERS = 3,         /* with so many others */
  ENOUGH = 8,           /* or fewer if they have so many times k rows, */
  MOST_POOLED = 1024,   /* and at most so many rows in all */
  HOPE = 115,           /* single steps are tried if units lose so many hundredths at most */
  HOPES = 100,
  OFTEN = 16 /* remakes between two reports */
};

/* How long clusters are made anew: pairs of units looked at by that, for each tuple. The more of a
 * cluster's k rows must differ, the more such a pair costs, and the less is gained by it. */
static const struct effort {
  uint64_t most_values; /* that a cluster needs, in hundredths of k */
  uint32_t pairs;
} efforts[] = {{10, 575}, {30, 400}, {UINT32_MAX, 120}};

typedef struct small {
  shoal_halves halves;
  uint32_t *rows;
  shoal_ground ground;
  shoal_swarm swarms[SHOAL_HALVES + 1]; /* the last: the whole */
  uint32_t first[SHOAL_HALVES + 1], n_halves;
} small;

/* ------------------------------------------------------------ making anew */

typedef struct remaking {
  shoal_swarm *swarm;
  shoal_units *units;
  uint32_t columns[PARTNERS + 1], n_columns;
  uint32_t rows[MOST_POOLED], n;
} remaking;

/* Of a few clusters drawn, the one that loses most; SHOAL_NIL: none of them can gain anything. */
static uint32_t draw_column(shoal_swarm *s) {
  uint32_t best = SHOAL_NIL;
  for (int i = 0; i < DRAWS; i++) {
    uint32_t c = shoal_swarm_random(s, s->n_columns);
    if (!s->loss[c] || s->size[c] > MOST_POOLED) continue;
    if (best == SHOAL_NIL || shoal_swarm_cost(s, c) > shoal_swarm_cost(s, best)) best = c;
  }
  return best;
}

static uint32_t draw_row(shoal_swarm *s, uint32_t column) {
  uint32_t row = s->head[column];
  for (uint32_t steps = shoal_swarm_random(s, s->size[column]); steps; steps--) row = s->next[row];
  return row;
}

/* The cluster, and behind it those that would cost its row least, with some chance. */
static void choose_partners(remaking *m, uint32_t column, uint32_t row) {
  enum { SHARES = 1024 };
  shoal_swarm *s = m->swarm;
  uint64_t cost[PARTNERS + 1] = {0};
  (void)shoal_swarm_home(s, row, column);
  m->columns[0] = column;
  m->n_columns = 1;
  for (uint32_t c = 0; c < s->n_columns; c++) {
    if (!s->size[c] || c == column) continue;
    uint64_t own = (uint64_t)(uint32_t)s->cost[shoal_swarm_slot(c)] *
                   (2 * SHARES + shoal_swarm_random(s, SHARES));
    if (m->n_columns > PARTNERS && own >= cost[PARTNERS]) continue;
    uint32_t i = m->n_columns <= PARTNERS ? m->n_columns++ : PARTNERS;
    for (; i > 1 && cost[i - 1] > own; i--) {
      cost[i] = cost[i - 1];
      m->columns[i] = m->columns[i - 1];
    }
    cost[i] = own;
    m->columns[i] = c;
  }
}

/* The rows of the cluster and its partners, nearest first, until they are enough; false: too many.
 */
static bool pool_rows(remaking *m) {
  const shoal_swarm *s = m->swarm;
  uint64_t enough = ENOUGH * s->ground->fit->k;
  m->n = 0;
  for (uint32_t i = 0; i < m->n_columns; i++) {
    if (m->n >= enough) m->n_columns = i;
    else if (m->n + s->size[m->columns[i]] > MOST_POOLED) return false;
    else
      for (uint32_t r = s->head[m->columns[i]]; r != SHOAL_NIL; r = s->next[r]) m->rows[m->n++] = r;
  }
  return true;
}

/* The column that a unit is already, as it was; SHOAL_NIL: none. */
static uint32_t column_of_unit(const shoal_swarm *s, const shoal_units *u, uint32_t a) {
  uint32_t column = s->column[u->head[a]];
  if ((float)s->size[column] != u->size[a]) return SHOAL_NIL;
  for (uint32_t r = u->head[a]; r != SHOAL_NIL; r = u->next[r])
    if (s->column[r] != column) return SHOAL_NIL;
  return column;
}

/* Units that are columns of the pool already are taken out of both. */
static void drop_kept(remaking *m) {
  shoal_units *u = m->units;
  for (uint32_t a = 0; a < u->n; a++) {
    if (u->head[a] == SHOAL_NIL) continue;
    uint32_t column = column_of_unit(m->swarm, u, a), i = 0;
    if (column == SHOAL_NIL) continue;
    u->head[a] = SHOAL_NIL;
    while (m->columns[i] != column) i++;
    m->columns[i] = m->columns[--m->n_columns];
  }
}

/* Puts units into columns, first into those of the pool; returns how many there are. */
static uint32_t put_units(remaking *m, uint32_t *columns) {
  shoal_swarm *s = m->swarm;
  const shoal_units *u = m->units;
  uint32_t n = 0;
  for (uint32_t a = 0; a < u->n && !s->failed; a++) {
    if (u->head[a] == SHOAL_NIL) continue;
    uint32_t to = n < m->n_columns ? m->columns[n] : shoal_swarm_take(s);
    if (to == SHOAL_NIL) s->failed = true;
    else columns[n++] = to;
    for (uint32_t r = u->head[a]; r != SHOAL_NIL && !s->failed; r = u->next[r])
      if (s->column[r] != to) shoal_swarm_move(s, r, to);
  }
  for (uint32_t i = 0; i < m->n_columns; i++) shoal_swarm_settle(s, m->columns[i]);
  return n;
}

/* What the rows lost before, and what they lose as units. */
static uint64_t cost_before(const remaking *m) {
  uint64_t cost = 0;
  for (uint32_t i = 0; i < m->n_columns; i++) cost += shoal_swarm_cost(m->swarm, m->columns[i]);
  return cost;
}

static uint64_t cost_of_units(const shoal_units *u) {
  uint64_t cost = 0;
  for (uint32_t a = 0; a < u->n; a++)
    if (u->head[a] != SHOAL_NIL) cost += (uint64_t)u->size[a] * (uint64_t)u->loss[a];
  return cost;
}

static void remake(remaking *m) {
  enum { ROUNDS = 2, SHARES = 1024 };
  shoal_swarm *s = m->swarm;
  uint32_t column = draw_column(s), columns[MOST_POOLED];
  if (column == SHOAL_NIL) return;
  choose_partners(m, column, draw_row(s, column));
  if (!pool_rows(m)) return;
  float chances = (float)shoal_swarm_random(s, SHARES) / (2 * SHARES);
  if (!shoal_units_gather(m->units, m->rows, m->n, chances, &s->random)) return;
  if (cost_of_units(m->units) * HOPES > cost_before(m) * HOPE) return;
  uint64_t before = shoal_swarm_total(s);
  s->n_moved = 0;
  drop_kept(m);
  uint32_t n = put_units(m, columns);
  for (int round = 0; round < ROUNDS; round++) {
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
      if (s->changed[columns[i]] > s->tried[columns[i]]) any |= shoal_swarm_improve(s, columns[i]);
    if (!any) break;
  }
  if (shoal_swarm_total(s) > before) shoal_swarm_undo(s, 0);
}

/* ------------------------------------------------------------ a swarm */

static bool is_over(const small *f, const shoal_swarm *s) {
  return shoal_halves_are_over(&f->halves, s);
}

/* Single steps on all columns that have changed. */
static void polish(const small *f, shoal_swarm *s) {
  for (uint32_t c = 0; c < s->n_columns && !is_over(f, s); c++)
    if (s->size[c] && s->changed[c] > s->tried[c]) (void)shoal_swarm_improve(s, c);
  s->n_moved = 0;
}

static uint64_t pairs_to_look_at(const shoal_fit *fit, uint32_t n_tuples) {
  uint64_t values = 0;
  size_t i = 0;
  for (size_t d = 0; d < fit->n_counts; d++)
    if (fit->counts[d].least > values) values = fit->counts[d].least;
  while (100 * values > efforts[i].most_values * fit->k && i + 1 < sizeof efforts / sizeof *efforts)
    i++;
  return (uint64_t)efforts[i].pairs * n_tuples;
}

/* At most as often as there are clusters: where they are small, pools are cheap but gain little. */
static void make_anew(small *f, unsigned half, shoal_units *units, uint32_t n_tuples) {
  shoal_swarm *s = &f->swarms[half];
  bool alone =
      shoal_run_threads(f->halves.task->run) == 1; /* then one half comes after the other */
  remaking m = {.swarm = s, .units = units};
  uint64_t pairs = pairs_to_look_at(s->ground->fit, n_tuples), end = units->n_looked + pairs;
  for (uint32_t i = 0; i < s->n_columns && units->n_looked < end && !is_over(f, s); i++) {
    uint64_t done = f->ground.n * (pairs - (end - units->n_looked)) / pairs / 2;
    if (alone) done = (done + (uint64_t)half * f->ground.n / 2) / 2;
    if ((half == 0 || alone) && i % OFTEN == 0) shoal_halves_report(&f->halves, done);
    remake(&m);
  }
  polish(f, s);
}

/* The first clusters: false where some stretch does not fit as a whole. */
static bool gather_stretches(const small *f, shoal_swarm *s, shoal_units *units, uint32_t first,
                             uint32_t end) {
  const shoal_ground *g = &f->ground;
  uint32_t *rows = shoal_alloc(end - first, sizeof *rows), last = g->tuple[end - 1] + 1;
  s->failed = !rows;
  for (uint32_t i = first; rows && i < end; i++) rows[i - first] = i;
  for (uint32_t from = first, to; from < end && !is_over(f, s); from = to) {
    uint32_t tuple = g->tuple[from];
    to = last - tuple < LONGEST ? end : g->first[tuple + STRETCH];
    if (!shoal_units_gather(units, rows + (from - first), to - from, 0, &s->random)) {
      free(rows);
      return false;
    }
    for (uint32_t a = 0; a < units->n; a++) {
      if (units->head[a] == SHOAL_NIL) continue;
      uint32_t column = shoal_swarm_take(s);
      for (uint32_t r = units->head[a]; r != SHOAL_NIL; r = units->next[r])
        shoal_swarm_put(s, r, column);
      shoal_swarm_settle(s, column);
    }
  }
  free(rows);
  return true;
}

static void cluster_half(void *user, unsigned i) {
  small *f = user;
  const shoal_ground *g = &f->ground;
  shoal_swarm *s = &f->swarms[i];
  shoal_units units;
  uint32_t first = f->first[i], end = f->first[i + 1];
  uint32_t n_tuples = g->tuple[end - 1] - g->tuple[first] + 1, room = LONGEST;
  if (room > n_tuples) room = n_tuples; /* which a pool has no more of */
  if (!shoal_swarm_init(s, g, (end - first) / (uint32_t)g->fit->k, i)) {
    s->failed = true;
    return;
  }
  if (!shoal_units_init(&units, g, room)) {
    s->failed = true;
    return;
  }
  if (gather_stretches(f, s, &units, first, end)) {
    polish(f, s);
    make_anew(f, i, &units, n_tuples);
  } else {
    atomic_store(&f->halves.unfit, true);
  }
  shoal_units_reset(&units);
}

/* ------------------------------------------------------------ the whole */

static void take_over(shoal_swarm *whole, const shoal_swarm *half) {
  for (uint32_t c = 0; c < half->n_columns; c++)
    if (half->size[c]) shoal_swarm_adopt(whole, half, c);
}

/* Columns that their own halves are done with have another turn only for the other half's sake. */
static void mark_undone(const small *f, shoal_swarm *whole) {
  uint32_t column = 0;
  whole->since = whole->clock;
  for (uint32_t i = 0; i < f->n_halves; i++) {
    const shoal_swarm *half = &f->swarms[i];
    for (uint32_t c = 0; c < half->n_columns; c++) {
      if (!half->size[c]) continue;
      if (half->changed[c] > half->tried[c]) whole->changed[column] = ++whole->clock;
      column++;
    }
  }
}

static void unite(small *f) {
  shoal_swarm *whole = &f->swarms[SHOAL_HALVES];
  const shoal_ground *g = &f->ground;
  if (!shoal_swarm_init(whole, g, g->n / (uint32_t)g->fit->k, SHOAL_HALVES)) {
    whole->failed = true;
    return;
  }
  for (uint32_t i = 0; i < f->n_halves; i++) {
    whole->border = whole->n_columns; /* in the end: where the last half begins */
    take_over(whole, &f->swarms[i]);
  }
  mark_undone(f, whole);
  polish(f, whole);
}

static void cut_halves(small *f) {
  const shoal_ground *g = &f->ground;
  bool whole = g->n < LEAST_HALVED || g->n_tuples < SHOAL_HALVES;
  uint32_t middle = whole ? g->n : g->first[g->n_tuples / 2];
  f->first[1] = middle;
  f->first[2] = g->n;
  f->n_halves = middle < g->n ? 2 : 1;
}

/* False: no memory. */
static bool cluster(small *f, shoal_partition *partition) {
  cut_halves(f);
  shoal_halves_report(&f->halves, 0);
  shoal_halves_work(&f->halves, f->n_halves, cluster_half, f);
  for (uint32_t i = 0; i < f->n_halves; i++)
    if (f->swarms[i].failed) return false;
  shoal_halves_report(&f->halves, f->ground.n / 2);
  if (atomic_load(&f->halves.unfit) || f->halves.status != SHOAL_OK) return true;
  const shoal_swarm *found = &f->swarms[0];
  if (f->n_halves > 1) {
    unite(f);
    found = &f->swarms[SHOAL_HALVES];
  }
  return !found->failed && shoal_halves_hand_over(found, 1, f->rows, partition);
}

shoal_status shoal_flock_small(const shoal_cluster_task *task, shoal_partition *partition,
                               bool *done, shoal_error *error) {
  *done = false;
  uint64_t k = task->fit->k;
  if (!shoal_ground_carries(task) || k > MOST_K || task->axes->n_rows / k > MOST_CLUSTERS)
    return SHOAL_OK;
  small *f = shoal_alloc_zero(1, sizeof *f);
  if (!f) return shoal_fail_memory(error);
  f->halves.task = task;
  f->halves.error = error;
  f->rows = shoal_alloc((size_t)task->axes->n_rows, sizeof *f->rows);
  bool ok = f->rows != NULL;
  if (ok) f->halves.status = shoal_flock_order_roughly(task, f->rows, error);
  if (ok && f->halves.status == SHOAL_OK)
    ok = shoal_ground_init(&f->ground, task, f->rows) && cluster(f, partition);
  *done = partition->cluster_of_row != NULL;
  shoal_status status = ok ? f->halves.status : shoal_fail_memory(error);
  for (size_t i = 0; i <= SHOAL_HALVES; i++) shoal_swarm_reset(&f->swarms[i]);
  shoal_ground_reset(&f->ground);
  free(f->rows);
  free(f);
  return status;
}
