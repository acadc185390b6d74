/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/flock_lines: cells, lines and their cuts; see flock_lines.h. */
#include "cluster/flock_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "cluster/flock_units.h"

enum {
  PAIRS = 512,      /* of rows, to see what an axis loses by and large */
  MOST_CELLS = 2048 /* gathered together: that takes their square */
};

/* ------------------------------------------------------------ order */

/* The axis with most places. */
static size_t choose_axis(const shoal_axes *axes) {
  size_t best = 0;
  for (size_t q = 1; q < axes->n; q++)
    if (axes->items[q].n_places > axes->items[best].n_places) best = q;
  return best;
}

/* What random pairs of rows lose on an axis. */
static uint64_t loss_of_pairs(const shoal_axes *axes, size_t q) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < PAIRS; i++) {
    uint32_t a = shoal_axes_row(axes, (uint32_t)(shoal_mix(2 * i) % axes->n_rows))[q];
    uint32_t b = shoal_axes_row(axes, (uint32_t)(shoal_mix(2 * i + 1) % axes->n_rows))[q];
    sum += shoal_axis_loss(&axes->items[q], a < b ? a : b, a < b ? b : a);
  }
  return sum;
}

/* The axes: what loses most first, that of the lines last. */
static void order_axes(const shoal_axes *axes, size_t *order) {
  uint64_t loss[SHOAL_GROUND_AXES];
  size_t last = choose_axis(axes), n = 0;
  for (size_t q = 0; q < axes->n; q++) {
    if (q == last) continue;
    loss[q] = loss_of_pairs(axes, q);
    size_t i = n++;
    for (; i && loss[order[i - 1]] < loss[q]; i--) order[i] = order[i - 1];
    order[i] = q;
  }
  order[n] = last;
}

/* Sorts tuples by an axis; equal ones keep their order. `at` has room for its places and one. */
static void sort_by_axis(const shoal_axes *axes, size_t q, const uint32_t *from, uint32_t *to,
                         uint32_t *at) {
  memset(at, 0, ((size_t)axes->items[q].n_places + 1) * sizeof *at);
  for (uint32_t i = 0; i < axes->n_tuples; i++) at[shoal_axes_tuple(axes, from[i])[q] + 1]++;
  for (uint32_t p = 0; p < axes->items[q].n_places; p++) at[p + 1] += at[p];
  for (uint32_t i = 0; i < axes->n_tuples; i++)
    to[at[shoal_axes_tuple(axes, from[i])[q]]++] = from[i];
}

/* The rows of tuples in that order; `at` has room for the tuples and one. */
static void sort_rows(const shoal_axes *axes, const uint32_t *order, uint32_t *at, uint32_t *rows) {
  memset(at, 0, axes->n_tuples * sizeof *at);
  for (uint32_t r = 0; r < axes->n_rows; r++) at[axes->tuple_of_row[r]]++;
  for (uint32_t i = 0, first = 0; i < axes->n_tuples; i++) {
    uint32_t n = at[order[i]];
    at[order[i]] = first;
    first += n;
  }
  for (uint32_t r = 0; r < axes->n_rows; r++) rows[at[axes->tuple_of_row[r]]++] = r;
}

bool shoal_lines_order(const shoal_axes *axes, uint32_t *rows) {
  size_t by[SHOAL_GROUND_AXES], room = axes->n_tuples;
  for (size_t q = 0; q < axes->n; q++)
    if (axes->items[q].n_places > room) room = axes->items[q].n_places;
  uint32_t *order = shoal_alloc(axes->n_tuples, sizeof *order);
  uint32_t *other = shoal_alloc(axes->n_tuples, sizeof *other);
  uint32_t *at = shoal_alloc(room + 1, sizeof *at);
  bool ok = order && other && at;
  if (ok) {
    order_axes(axes, by);
    for (uint32_t i = 0; i < axes->n_tuples; i++) order[i] = i;
    for (size_t i = axes->n; i-- > 0;) {
      sort_by_axis(axes, by[i], order, other, at);
      uint32_t *sorted = other;
      other = order;
      order = sorted;
    }
    sort_rows(axes, order, at, rows);
  }
  free(order);
  free(other);
  free(at);
  return ok;
}

/* ------------------------------------------------------------ cells */

void shoal_lines_reset(shoal_lines *lines) {
  free(lines->cells.tuple);
  free(lines->cells.first);
  free(lines->cells.values);
  memset(lines, 0, sizeof *lines);
}

/* The values of a tuple but for the lines' axis. */
static void copy_values(const shoal_lines *lines, uint32_t tuple, uint16_t *to) {
  const shoal_ground *g = lines->ground;
  const uint16_t *values = g->values + (size_t)tuple * g->n_axes;
  for (size_t q = 0; q < g->n_axes; q++)
    if (q != lines->axis) *to++ = values[q];
}

static void fill_cells(shoal_lines *lines) {
  const shoal_ground *g = lines->ground;
  shoal_ground *cells = &lines->cells;
  cells->n_tuples = 0;
  for (uint32_t t = 0; t < g->n_tuples; t++) {
    uint16_t *values = cells->values + (size_t)cells->n_tuples * cells->n_axes;
    copy_values(lines, t, values);
    if (!t || memcmp(values, values - cells->n_axes, cells->n_axes * sizeof *values) != 0)
      cells->first[cells->n_tuples++] = g->first[t];
    for (uint32_t r = g->first[t]; r < g->first[t + 1]; r++) cells->tuple[r] = cells->n_tuples - 1;
  }
  cells->first[cells->n_tuples] = g->n;
}

bool shoal_lines_init(shoal_lines *lines, const shoal_ground *g, const shoal_axes *axes) {
  size_t axis = choose_axis(axes), q = 0;
  while (g->axis[q] != axis) q++;
  *lines = (shoal_lines){.ground = g, .axis = q, .cells = *g};
  shoal_ground *cells = &lines->cells;
  cells->n_axes--;
  if (q < g->n_numbers) cells->n_numbers--;
  for (; q < cells->n_axes; q++) {
    cells->axis[q] = g->axis[q + 1];
    cells->trees[q] = g->trees[q + 1];
  }
  cells->tuple = shoal_alloc(g->n, sizeof *cells->tuple);
  cells->first = shoal_alloc((size_t)g->n_tuples + 1, sizeof *cells->first);
  cells->values = shoal_alloc((size_t)g->n_tuples * cells->n_axes, sizeof *cells->values);
  bool ok = cells->tuple && cells->first && cells->values;
  if (ok) fill_cells(lines);
  else shoal_lines_reset(lines);
  return ok;
}

/* ------------------------------------------------------------ cuts */

/* Rows of a line at one place of its axis, and the best clusters up to them. */
typedef struct point {
  uint64_t best; /* what these lose along the axis; UINT64_MAX: the rows do not fit */
  uint64_t groups[SHOAL_SWARM_KNOWN];
  uint32_t first, n; /* rows */
  uint32_t from;     /* the first point of the last cluster */
  uint16_t value;
} point;

/* A line that is cut. */
typedef struct cutting {
  const shoal_lines *lines;
  shoal_swarm *swarm;
  uint64_t *keys; /* values and rows behind them */
  uint32_t n;
  point *points;
  uint32_t n_points;
} cutting;

static void find_points(cutting *c) {
  const shoal_ground *g = c->lines->ground;
  c->n_points = 0;
  for (uint32_t i = 0; i < c->n; i++) {
    uint16_t value = (uint16_t)(c->keys[i] >> 32);
    const uint8_t *group = g->group + (uint32_t)c->keys[i] * g->n_counts;
    if (!c->n_points || c->points[c->n_points - 1].value != value)
      c->points[c->n_points++] = (point){.best = UINT64_MAX, .first = i, .value = value};
    point *p = &c->points[c->n_points - 1];
    p->n++;
    for (size_t d = 0; d < g->n_counts; d++)
      if (group[d] != SHOAL_GROUND_NO_GROUP) p->groups[d] |= UINT64_C(1) << group[d];
  }
}

/* Rows of some points. */
typedef struct run {
  uint64_t n, groups[SHOAL_SWARM_KNOWN];
} run;

static bool extend(const shoal_ground *g, run *to, const point *p) {
  bool fits = (to->n += p->n) >= g->fit->k;
  for (size_t d = 0; d < g->n_counts; d++) {
    to->groups[d] |= p->groups[d];
    fits = fits && shoal_n_groups(to->groups[d]) >= g->fit->counts[d].least;
  }
  return fits;
}

static uint32_t width(const shoal_lines *lines, const point *a, const point *b) {
  const shoal_ground *g = lines->ground;
  const shoal_ground_tree *tree = &g->trees[lines->axis];
  if (lines->axis < g->n_numbers) return (uint32_t)(b->value - a->value);
  return tree->loss[(uint32_t)a->value * tree->n_labels + b->value];
}

/* All clusters that begin at a point: those that could be two are not looked at. */
static void cut_from(cutting *c, uint32_t i) {
  const shoal_ground *g = c->lines->ground;
  uint64_t before = i ? c->points[i - 1].best : 0;
  run all = {0}, behind = {0};
  bool fits = false, is_double = false;
  if (before == UINT64_MAX) return;
  for (uint32_t j = i; j < c->n_points && !is_double; j++) {
    point *p = &c->points[j];
    if (fits) is_double = extend(g, &behind, p);
    fits = extend(g, &all, p);
    uint64_t cost = before + all.n * width(c->lines, &c->points[i], p);
    if (!fits || cost >= p->best) continue;
    p->best = cost;
    p->from = i;
  }
}

/* The line's clusters become columns, the last first; what does not fit alone stays whole. */
static void cut(cutting *c) {
  shoal_swarm *s = c->swarm;
  find_points(c);
  for (uint32_t i = 0; i < c->n_points; i++) cut_from(c, i);
  for (uint32_t j = c->n_points, end = c->n; j;) {
    uint32_t column = shoal_swarm_take(s), from = c->points[j - 1].from;
    for (uint32_t i = c->points[from].first; i < end; i++)
      shoal_swarm_put(s, (uint32_t)c->keys[i], column);
    shoal_swarm_settle(s, column);
    end = c->points[from].first;
    j = from;
  }
}

/* ------------------------------------------------------------ gathering */

static void cut_units(cutting *c, const shoal_units *u) {
  const shoal_ground *g = c->lines->ground;
  for (uint32_t a = 0; a < u->n; a++) {
    bool sorted = true; /* as the rows of one cell are */
    c->n = 0;
    for (uint32_t r = u->head[a]; r != SHOAL_NIL; r = u->next[r]) {
      c->keys[c->n] = (uint64_t)shoal_ground_values(g, r)[c->lines->axis] << 32 | r;
      sorted = sorted && (!c->n || c->keys[c->n - 1] < c->keys[c->n]);
      c->n++;
    }
    if (!sorted) shoal_sort_keys(c->keys, c->n);
    cut(c);
  }
}

bool shoal_lines_gather(const shoal_lines *lines, shoal_swarm *s, uint32_t first, uint32_t end,
                        bool *fit) {
  const shoal_ground *cells = &lines->cells;
  uint32_t n_cells = cells->tuple[end - 1] - cells->tuple[first] + 1;
  *fit = n_cells <= MOST_CELLS;
  if (!*fit) return true;
  shoal_units units;
  cutting c = {.lines = lines, .swarm = s};
  if (!shoal_units_init(&units, cells, n_cells)) return false;
  uint32_t *rows = shoal_alloc(end - first, sizeof *rows);
  c.keys = shoal_alloc(end - first, sizeof *c.keys);
  c.points = shoal_alloc(end - first, sizeof *c.points);
  bool ok = rows && c.keys && c.points;
  if (ok) {
    for (uint32_t i = first; i < end; i++) rows[i - first] = i;
    *fit = shoal_units_gather(&units, rows, end - first, NULL, 0, &s->random);
    if (*fit) cut_units(&c, &units);
  }
  free(rows);
  free(c.keys);
  free(c.points);
  shoal_units_reset(&units);
  return ok;
}
