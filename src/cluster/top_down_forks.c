/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/top_down_forks: the children of a class's label on each axis, with their rows counted.
 *
 * On a tree they are the children of the lowest common ancestor. Where missing values lie beside
 * numbers the label is `*`, and its children are the numbers and each spelling of missing. Numbers
 * alone have no taxonomy to follow: their interval is halved where the rows are.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/top_down.h"

enum { SPARSE_PLACES = 4 }; /* more places than this for each row: rows are sorted, not counted */

static void find_extent(shoal_specializer *s) {
  const shoal_axes *axes = s->task->axes;
  shoal_extent_start(axes, s->extent, shoal_axes_row(axes, s->rows[0]));
  for (uint32_t i = 1; i < s->n; i++)
    shoal_extent_add(axes, s->extent, shoal_axes_row(axes, s->rows[i]));
}

static bool is_counted(const shoal_specializer *s, size_t q) {
  return (s->extent[q].hi - s->extent[q].lo) / SPARSE_PLACES <= s->n;
}

/* Rows by place, for all axes in one pass: the places of a row lie side by side. */
static void count_rows(shoal_specializer *s) {
  const shoal_axes *axes = s->task->axes;
  size_t n_counted = 0;
  for (size_t q = 0; q < axes->n; q++)
    if (s->extent[q].lo != s->extent[q].hi && is_counted(s, q)) s->counted[n_counted++] = q;
  for (uint32_t i = 0; i < s->n; i++) {
    const uint32_t *places = shoal_axes_row(axes, s->rows[i]);
    for (size_t c = 0; c < n_counted; c++) s->counts[s->counted[c]][places[s->counted[c]]]++;
  }
}

/* ------------------------------------------------------------ places of one axis */

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void find_places(shoal_specializer *s, size_t q) {
  const shoal_axes *axes = s->task->axes;
  s->n_found = 0;
  if (is_counted(s, q)) {
    uint32_t *counts = s->counts[q];
    for (uint32_t p = s->extent[q].lo; p <= s->extent[q].hi; p++) {
      if (counts[p]) s->found[s->n_found++] = (shoal_at_place){p, counts[p]};
      counts[p] = 0;
    }
    return;
  }
  for (uint32_t i = 0; i < s->n; i++) s->sorted[i] = shoal_axes_row(axes, s->rows[i])[q];
  qsort(s->sorted, s->n, sizeof *s->sorted, ascending);
  for (uint32_t i = 0, end; i < s->n; i = end) {
    for (end = i + 1; end < s->n && s->sorted[end] == s->sorted[i];) end++;
    s->found[s->n_found++] = (shoal_at_place){s->sorted[i], end - i};
  }
}

/* How many of the places lie at or below the cut that leaves nearest to half of the rows there. */
static uint32_t half_of(const shoal_specializer *s) {
  uint64_t below = 0, nearest = UINT64_MAX;
  uint32_t best = 0;
  for (uint32_t i = 0; i + 1 < s->n_found; i++) {
    below += s->found[i].n;
    uint64_t off = 2 * below > s->n ? 2 * below - s->n : s->n - 2 * below;
    if (off < nearest) best = i + 1;
    if (off < nearest) nearest = off;
  }
  return best;
}

/* ------------------------------------------------------------ children */

/* Which places are of one child: equal keys. */
typedef struct keying {
  const shoal_axis *axis;
  const shoal_level *level; /* of a tree's children */
  bool halves;              /* numbers alone */
  uint32_t half;
} keying;

static uint32_t key_of(const keying *k, uint32_t i, uint32_t place) {
  if (k->level) return k->level->of_leaf[k->axis->code_at[place]];
  if (k->halves) return i >= k->half;
  return place < k->axis->n_numbers ? 0 : place;
}

/* Places from `first` to `end` are one child. */
static void add_child(shoal_specializer *s, shoal_fork *fork, const shoal_axis *axis,
                      uint32_t first, uint32_t end) {
  shoal_child child = {.last = s->found[end - 1].place};
  for (uint32_t i = first; i < end; i++) child.n += s->found[i].n;
  child.loss = shoal_axis_loss(axis, s->found[first].place, child.last);
  if (child.n >= s->task->fit->k) fork->most += (uint64_t)child.n * (fork->loss - child.loss);
  fork->children[fork->n_children++] = child;
}

static void make_fork(shoal_specializer *s, size_t q) {
  const shoal_axis *axis = &s->task->axes->items[q];
  shoal_fork *fork = &s->forks[q];
  shoal_span span = s->extent[q];
  keying k = {.axis = axis};
  find_places(s, q);
  if (axis->hierarchy) k.level = shoal_axis_children(axis, span.lo, span.hi);
  k.halves = !axis->hierarchy && span.hi < axis->n_numbers;
  if (k.halves) k.half = half_of(s);
  fork->n_children = 0;
  fork->loss = shoal_axis_loss(axis, span.lo, span.hi);
  fork->most = 0;
  bool any = false;
  for (uint32_t i = 0, end; i < s->n_found; i = end) {
    uint32_t key = key_of(&k, i, s->found[i].place);
    for (end = i + 1; end < s->n_found && key_of(&k, end, s->found[end].place) == key;) end++;
    add_child(s, fork, axis, i, end);
    any = any || fork->children[fork->n_children - 1].n >= s->task->fit->k;
  }
  if (!any) fork->n_children = 0;
}

size_t shoal_specializer_fork(shoal_specializer *s) {
  size_t n = 0;
  find_extent(s);
  count_rows(s);
  for (size_t q = 0; q < s->task->axes->n; q++) {
    if (s->extent[q].lo == s->extent[q].hi) continue;
    make_fork(s, q);
    if (!s->forks[q].n_children) continue;
    size_t at = n++;
    for (; at && s->forks[s->order[at - 1]].most < s->forks[q].most; at--)
      s->order[at] = s->order[at - 1];
    s->order[at] = q;
  }
  return n;
}
