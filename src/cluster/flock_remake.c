/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/flock_remake: see flock_remake.h. */
#include "cluster/flock_remake.h"

enum {
  DRAWS = 3,  /* columns of which the one that loses most is made anew, with others, */
  ENOUGH = 4, /* but no more once they have so many times k rows */
  HOPE = 109, /* single steps are tried if units lose so many hundredths at most */
  HOPES = 100,
  LEAST_PART = 60, /* how much parts may lose, in hundredths of their columns: from and to, */
  MOST_PART = 100  /* by chance */
};

/* ------------------------------------------------------------ a pool */

/* Of a few clusters drawn, the one that loses most; SHOAL_NIL: none of them can gain anything. */
static uint32_t draw_column(shoal_swarm *s) {
  uint32_t best = SHOAL_NIL;
  for (int i = 0; i < DRAWS; i++) {
    uint32_t c = shoal_swarm_random(s, s->n_columns);
    if (!s->loss[c] || s->size[c] > SHOAL_REMAKE_ROWS) continue;
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
static void choose_partners(shoal_remaking *m, uint32_t column, uint32_t row) {
  enum { SHARES = 1024 };
  shoal_swarm *s = m->swarm;
  uint64_t cost[SHOAL_REMAKE_PARTNERS + 1] = {0};
  (void)shoal_swarm_home(s, row, column);
  m->columns[0] = column;
  m->n_columns = 1;
  for (uint32_t c = 0; c < s->n_columns; c++) {
    if (!s->size[c] || c == column) continue;
    uint64_t own = (uint32_t)s->cost[shoal_swarm_slot(c)];
    bool full = m->n_columns > SHOAL_REMAKE_PARTNERS;
    if (full && 2 * SHARES * own >= cost[SHOAL_REMAKE_PARTNERS]) continue; /* whatever is drawn */
    own *= 2 * SHARES + shoal_swarm_random(s, SHARES);
    if (full && own >= cost[SHOAL_REMAKE_PARTNERS]) continue;
    uint32_t i = m->n_columns <= SHOAL_REMAKE_PARTNERS ? m->n_columns++ : SHOAL_REMAKE_PARTNERS;
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
static bool pool_rows(shoal_remaking *m) {
  const shoal_swarm *s = m->swarm;
  uint64_t enough = ENOUGH * s->ground->fit->k;
  m->n = 0;
  for (uint32_t i = 0; i < m->n_columns; i++) {
    if (m->n >= enough) m->n_columns = i;
    else if (m->n + s->size[m->columns[i]] > SHOAL_REMAKE_ROWS) return false;
    else
      for (uint32_t r = s->head[m->columns[i]]; r != SHOAL_NIL; r = s->next[r]) m->rows[m->n++] = r;
  }
  return true;
}

/* ------------------------------------------------------------ parts */

/* The parts of one column. */
typedef struct parts {
  shoal_lanes reach[SHOAL_REMAKE_ROWS];
  uint32_t tuple_part[SHOAL_REMAKE_ROWS], tuple[SHOAL_REMAKE_ROWS], n_tuples; /* seen in it */
  uint32_t n;
} parts;

/* The part that a tuple comes to: the first that then loses at most `most`, or a new one. */
static uint32_t find_part(parts *p, const shoal_ground *g, uint32_t tuple, uint32_t most) {
  const int16_t *lanes = shoal_lanes_of_tuple(g, tuple);
  shoal_lanes both;
  for (uint32_t i = 0; i < p->n; i++) {
    shoal_lanes_start(g, &both, lanes);
    shoal_lanes_add(g, &both, p->reach[i].lane);
    if (shoal_lanes_loss(g, &both) > most) continue;
    shoal_lanes_start(g, &p->reach[i], both.lane);
    return i;
  }
  shoal_lanes_start(g, &p->reach[p->n], lanes);
  return p->n++;
}

void shoal_remake_part(shoal_remaking *m, uint32_t hundredths) {
  shoal_swarm *s = m->swarm;
  const shoal_ground *g = s->ground;
  parts p; /* large: not to be cleared */
  uint32_t column = SHOAL_NIL, most = 0, first = 0;
  p.n = p.n_tuples = 0;
  for (uint32_t i = 0; i < m->n; i++) {
    uint32_t row = m->rows[i], tuple = g->tuple[row];
    if (s->column[row] != column) { /* the next one */
      column = s->column[row];
      most = (uint32_t)((uint64_t)s->loss[column] * hundredths / 100);
      first += p.n;
      p.n = p.n_tuples = 0;
    }
    uint32_t at = s->index[tuple];
    if (at >= p.n_tuples || p.tuple[at] != tuple) {
      at = s->index[tuple] = p.n_tuples++;
      p.tuple[at] = tuple;
      p.tuple_part[at] = find_part(&p, g, tuple, most);
    }
    m->part[i] = first + p.tuple_part[at];
  }
  m->n_parts = first + p.n;
}

/* ------------------------------------------------------------ units */

/* The column that a unit is already, as it was; SHOAL_NIL: none. */
static uint32_t column_of_unit(const shoal_swarm *s, const shoal_units *u, uint32_t a) {
  uint32_t column = s->column[u->head[a]];
  if ((float)s->size[column] != u->size[a]) return SHOAL_NIL;
  for (uint32_t r = u->head[a]; r != SHOAL_NIL; r = u->next[r])
    if (s->column[r] != column) return SHOAL_NIL;
  return column;
}

/* Units that are columns of the pool already are taken out of both. */
static void drop_kept(shoal_remaking *m) {
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
static uint32_t put_units(shoal_remaking *m, uint32_t *columns) {
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
static uint64_t cost_before(const shoal_remaking *m) {
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

/* ------------------------------------------------------------ making anew */

/* False: not all rows fit. */
static bool gather(shoal_remaking *m) {
  enum { SHARES = 1024 };
  shoal_swarm *s = m->swarm;
  float chances = (float)shoal_swarm_random(s, SHARES) / SHARES;
  shoal_remake_part(m, LEAST_PART + shoal_swarm_random(s, MOST_PART - LEAST_PART));
  const uint32_t *part = m->n_parts <= m->units->room ? m->part : NULL;
  return shoal_units_gather(m->units, m->rows, m->n, part, chances, &s->random);
}

void shoal_remake(shoal_remaking *m) {
  enum { ROUNDS = 2 };
  shoal_swarm *s = m->swarm;
  uint32_t column = draw_column(s), columns[SHOAL_REMAKE_ROWS];
  if (column == SHOAL_NIL) return;
  choose_partners(m, column, draw_row(s, column));
  if (!pool_rows(m)) return;
  if (!gather(m)) return;
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
