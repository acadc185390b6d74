/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/cut: see cut.h.
 *
 * Axes are tried from the one that loses most to the one that loses least, as in the paper. On an
 * axis the paper allows the median alone; here it is the allowed cut nearest to the median, so that
 * one heavy value or a demand that the median breaks does not close the axis. Cuts that end a label
 * come first: between children of the values' lowest common ancestor, and between numbers and
 * missing values (together they are `*`). Only then may a cut run through a child.
 *
 * Where a class that contains a satisfying one satisfies, a left side satisfies from some cut on
 * and a right side up to some cut, and both are found by halving. Elsewhere the nearest cuts are
 * tried one by one, up to MOST_TRIES of them: judging costs a pass over the rows.
 *
 * Relaxed (section 3.2 of the paper): rows of the median place go to both sides, the first ones
 * left, so that the sides are equally large.
 */
#include "cluster/cut.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
  MOST_TRIES = 16,  /* cuts judged on an axis, where not every demand is monotone */
  SPARSE_PLACES = 4 /* more places than this for each row: rows are sorted, not counted */
};

void shoal_cutter_reset(shoal_cutter *cutter) {
  if (cutter->judging.fit) shoal_judging_reset(&cutter->judging);
  free(cutter->extent);
  free(cutter->losses);
  free(cutter->order);
  free(cutter->counts);
  free(cutter->steps);
  free(cutter->picked);
  memset(cutter, 0, sizeof *cutter);
}

shoal_status shoal_cutter_init(shoal_cutter *cutter, const shoal_cluster_task *task,
                               shoal_error *error) {
  const shoal_axes *axes = task->axes;
  uint32_t most_places = 0;
  for (size_t q = 0; q < axes->n; q++)
    if (axes->items[q].n_places > most_places) most_places = axes->items[q].n_places;
  memset(cutter, 0, sizeof *cutter);
  SHOAL_TRY(shoal_judging_init(&cutter->judging, task->fit, error));
  cutter->task = task;
  cutter->extent = shoal_alloc(axes->n, sizeof *cutter->extent);
  cutter->losses = shoal_alloc(axes->n, sizeof *cutter->losses);
  cutter->order = shoal_alloc(axes->n, sizeof *cutter->order);
  cutter->counts = shoal_alloc(most_places, sizeof *cutter->counts);
  cutter->steps = shoal_alloc(most_places, sizeof *cutter->steps);
  cutter->picked = shoal_alloc(most_places, sizeof *cutter->picked);
  if (cutter->extent && cutter->losses && cutter->order && cutter->counts && cutter->steps &&
      cutter->picked)
    return SHOAL_OK;
  shoal_cutter_reset(cutter);
  return shoal_fail_memory(error);
}

/* ------------------------------------------------------------ looking at a node */

/* The axes on which the rows differ, by loss; equal losses in the axes' order. */
static size_t order_axes(shoal_cutter *c) {
  const shoal_axes *axes = c->task->axes;
  shoal_extent_start(axes, c->extent, shoal_axes_row(axes, c->rows[0]));
  for (uint32_t i = 1; i < c->n; i++)
    shoal_extent_add(axes, c->extent, shoal_axes_row(axes, c->rows[i]));
  size_t n = 0;
  for (size_t q = 0; q < axes->n; q++) {
    shoal_span span = c->extent[q];
    if (span.lo == span.hi) continue;
    c->losses[q] = shoal_axis_loss(&axes->items[q], span.lo, span.hi);
    size_t at = n++;
    for (; at && c->losses[c->order[at - 1]] < c->losses[q]; at--) c->order[at] = c->order[at - 1];
    c->order[at] = q;
  }
  return n;
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void add_step(shoal_cutter *c, uint32_t place, uint32_t n_rows) {
  uint32_t before = c->n_steps ? c->steps[c->n_steps - 1].n_rows : 0;
  c->steps[c->n_steps++] = (shoal_step){place, before + n_rows};
}

/* Which places the rows have on an axis, and how many rows each. */
static void find_steps(shoal_cutter *c, size_t axis) {
  const shoal_axes *axes = c->task->axes;
  shoal_span span = c->extent[axis];
  c->axis = axis;
  c->n_steps = 0;
  for (uint32_t i = 0; i < c->n; i++) c->places[i] = shoal_axes_row(axes, c->rows[i])[axis];
  uint32_t n_places = span.hi - span.lo + 1;
  if (n_places / SPARSE_PLACES <= c->n) {
    memset(c->counts, 0, n_places * sizeof *c->counts);
    for (uint32_t i = 0; i < c->n; i++) c->counts[c->places[i] - span.lo]++;
    for (uint32_t p = 0; p < n_places; p++)
      if (c->counts[p]) add_step(c, span.lo + p, c->counts[p]);
    return;
  }
  memcpy(c->counts, c->places, c->n * sizeof *c->counts);
  qsort(c->counts, c->n, sizeof *c->counts, ascending);
  for (uint32_t i = 0, end; i < c->n; i = end) {
    for (end = i + 1; end < c->n && c->counts[end] == c->counts[i];) end++;
    add_step(c, c->counts[i], end - i);
  }
}

/* Steps after which a label ends, if not every one does; returns how many. */
static uint32_t pick_steps(shoal_cutter *c) {
  const shoal_axis *axis = &c->task->axes->items[c->axis];
  shoal_span span = c->extent[c->axis];
  if (!axis->hierarchy && span.hi < axis->n_numbers) return 0;
  const shoal_level *level = axis->hierarchy ? shoal_axis_children(axis, span.lo, span.hi) : NULL;
  uint32_t n = 0;
  for (uint32_t s = 0; s + 1 < c->n_steps; s++) {
    uint32_t here = c->steps[s].place, next = c->steps[s + 1].place;
    bool ends = level ? level->of_leaf[axis->code_at[here]] != level->of_leaf[axis->code_at[next]]
                      : next >= axis->n_numbers;
    if (ends) c->picked[n++] = c->steps[s];
  }
  return n;
}

/* ------------------------------------------------------------ trying a cut */

/* Rows below `place` go left, and the first n_at_place of those at it: n_left of them in all. */
static void divide(shoal_cutter *c, uint32_t place, uint32_t n_left, uint32_t n_at_place) {
  uint32_t *to[2] = {c->sides + n_left, c->sides};
  for (uint32_t i = 0; i < c->n; i++) {
    bool is_left = c->places[i] < place;
    if (c->places[i] == place && n_at_place) {
      is_left = true;
      n_at_place--;
    }
    *to[is_left]++ = c->rows[i];
  }
}

static bool left_fits(shoal_cutter *c, shoal_step step) {
  return shoal_judging_fits(&c->judging, c->sides, step.n_rows);
}

static bool right_fits(shoal_cutter *c, shoal_step step) {
  return shoal_judging_fits(&c->judging, c->sides + step.n_rows, c->n - step.n_rows);
}

static bool both_fit(shoal_cutter *c, shoal_step step) {
  divide(c, step.place, step.n_rows, UINT32_MAX);
  return left_fits(c, step) && right_fits(c, step);
}

/* Twice the rows that a cut is off the middle. */
static uint64_t off_middle(const shoal_cutter *c, shoal_step step) {
  uint64_t twice = 2 * (uint64_t)step.n_rows;
  return twice > c->n ? twice - c->n : c->n - twice;
}

/* Steps to choose from: those that leave both sides large enough, cut in two at the middle. */
typedef struct range {
  const shoal_step *steps;
  uint32_t first, middle, end; /* from `middle` on, at least half of the rows are left */
} range;

static range large_enough(const shoal_cutter *c, const shoal_step *steps, uint32_t n) {
  uint64_t k = c->task->fit->k;
  range r = {.steps = steps};
  while (r.first < n && steps[r.first].n_rows < k) r.first++;
  r.middle = r.first;
  while (r.middle < n && 2 * (uint64_t)steps[r.middle].n_rows < c->n) r.middle++;
  r.end = n;
  while (r.end > r.first && c->n - steps[r.end - 1].n_rows < k) r.end--;
  if (r.middle > r.end) r.middle = r.end;
  return r;
}

/* Which side of the middle is next: both neighbours of the median first, then the nearer one. */
static bool low_is_next(const shoal_cutter *c, range r, uint32_t low, uint32_t high) {
  if (low == r.first || high == r.end) return high == r.end;
  bool low_tried = low != r.middle, high_tried = high != r.middle;
  if (low_tried != high_tried) return high_tried;
  return off_middle(c, r.steps[low - 1]) <= off_middle(c, r.steps[high]);
}

/* Monotone demands: what fits from some step on, and up to some step, is found by halving. */
static uint32_t cut_by_halving(shoal_cutter *c, range r) {
  uint32_t at = low_is_next(c, r, r.middle, r.middle) ? r.middle - 1 : r.middle;
  divide(c, r.steps[at].place, r.steps[at].n_rows, UINT32_MAX);
  bool left = left_fits(c, r.steps[at]), right = right_fits(c, r.steps[at]);
  if (left && right) return r.steps[at].n_rows;
  if (!left && !right) return 0;
  uint32_t low = left ? r.first : at + 1, high = left ? at : r.end;
  while (low < high) { /* the first step whose left side fits, or whose right side does not */
    uint32_t half = low + (high - low) / 2;
    divide(c, r.steps[half].place, r.steps[half].n_rows, UINT32_MAX);
    bool below = left ? right_fits(c, r.steps[half]) : !left_fits(c, r.steps[half]);
    if (below) low = half + 1;
    else high = half;
  }
  if (low == (left ? r.first : r.end)) return 0;
  shoal_step step = r.steps[left ? low - 1 : low];
  return both_fit(c, step) ? step.n_rows : 0;
}

/* Other demands: one by one, from the median outward. */
static uint32_t cut_by_trying(shoal_cutter *c, range r) {
  uint32_t low = r.middle, high = r.middle;
  for (int tried = 0; tried < MOST_TRIES && high - low < r.end - r.first; tried++) {
    shoal_step step = r.steps[low_is_next(c, r, low, high) ? --low : high++];
    if (both_fit(c, step)) return step.n_rows;
  }
  return 0;
}

static uint32_t cut_after(shoal_cutter *c, const shoal_step *steps, uint32_t n) {
  range r = large_enough(c, steps, n);
  if (r.first == r.end) return 0;
  return c->task->fit->monotone ? cut_by_halving(c, r) : cut_by_trying(c, r);
}

/* Relaxed: half of the rows left, whatever their places. */
static uint32_t cut_in_half(shoal_cutter *c) {
  uint32_t n_left = c->n / 2, s = 0;
  while (c->steps[s].n_rows < n_left) s++;
  divide(c, c->steps[s].place, n_left, n_left - (s ? c->steps[s - 1].n_rows : 0));
  shoal_step half = {c->steps[s].place, n_left};
  return left_fits(c, half) && right_fits(c, half) ? n_left : 0;
}

static uint32_t cut_axis(shoal_cutter *c, size_t axis) {
  find_steps(c, axis);
  uint32_t n_picked = pick_steps(c), n_left = cut_after(c, c->picked, n_picked);
  if (!n_left && c->task->relaxed) n_left = cut_in_half(c);
  if (!n_left && n_picked + 1 < c->n_steps) n_left = cut_after(c, c->steps, c->n_steps - 1);
  return n_left;
}

uint32_t shoal_cutter_cut(shoal_cutter *cutter, uint32_t *rows, uint32_t n, uint32_t *scratch) {
  if (n < 2 || n / 2 < cutter->task->fit->k) return 0;
  cutter->rows = rows;
  cutter->n = n;
  cutter->sides = scratch;
  cutter->places = scratch + n;
  size_t n_axes = order_axes(cutter);
  uint32_t n_left = 0;
  for (size_t i = 0; i < n_axes && !n_left; i++) n_left = cut_axis(cutter, cutter->order[i]);
  if (n_left) memcpy(rows, scratch, n * sizeof *rows);
  return n_left;
}
