/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/top_down: top-down specialization with local recoding (Wong, Li, Fu & Wang 2006 for
 * (alpha,k); Sun et al. for p+-sensitive and (p,alpha)-sensitive k-anonymity, as described in Khan
 * et al. 2020). All rows start as one class with the most general labels. A class is specialized on
 * one attribute: that of the largest gain, the first of equals. Each child of its label whose rows
 * satisfy every requirement becomes a class; the other rows stay behind and have to satisfy them
 * too (top_down_children.c). Wong et al. do not specialize the rows that stay behind; here they are
 * a class like any other. Any model can be a requirement, monotone or not.
 *
 * On a tree the children are those of the lowest common ancestor. If missing values occur beside
 * numbers, the label is `*` and its children are the numbers and each spelling of missing. Numbers
 * alone have no taxonomy: their interval is cut where it halves the rows. The children of a set are
 * its values with k rows, and sets of rarer values with k rows.
 *
 * The gain is counted by labels: a row of a kept child loses on that axis what the child's label
 * loses; a row that stays behind keeps the loss of the class's label. The gain if every child with
 * k rows could be kept is an upper bound, and axes whose bound is too small are not tried.
 *
 * Rows are in one array that is divided in place; a class is a range of it. Cost: about O(n log n)
 * for n rows, and 25 bytes per row.
 */
#include <string.h>

#include "base/thread.h"
#include "cluster/top_down.h"

enum { REPORTS = 100 };

/* ------------------------------------------------------------ children of a label */

/* The number of positions below the cut that comes nearest to half of the rows. */
static uint32_t half_of(const shoal_specializer *s) {
  uint64_t below = 0, nearest = UINT64_MAX;
  uint32_t best = 0;
  for (uint32_t i = 0; i + 1 < s->n_found; i++) {
    below += s->found[i].n;
    uint64_t off = 2 * below > s->n ? 2 * below - s->n : s->n - 2 * below;
    if (off >= nearest) continue;
    nearest = off;
    best = i + 1;
  }
  return best;
}

/* Places with equal keys belong to one child. */
typedef struct keying {
  const shoal_axis *axis;
  const shoal_level *level; /* of a tree's children */
  bool halves;              /* numbers alone: */
  uint32_t half;            /* positions below the cut */
} keying;

static uint32_t key_of(const keying *k, uint32_t i, uint32_t position) {
  if (k->level) return k->level->of_leaf[k->axis->code_at[position]];
  if (k->halves) return i >= k->half;
  return position < k->axis->n_numbers ? 0 : position;
}

/* The end of the child that begins at found[i]. */
static uint32_t label_end(const shoal_specializer *s, const keying *k, uint32_t i) {
  uint32_t end = i + 1, key = key_of(k, i, s->found[i].position);
  while (end < s->n_found && key_of(k, end, s->found[end].position) == key) end++;
  return end;
}

/* A value with k rows is a child; rarer values that follow each other are one with k rows. */
static uint32_t set_end(const shoal_specializer *s, uint32_t i) {
  uint64_t k = s->task->required->k, n = s->found[i].n;
  uint32_t end = i + 1;
  while (n < k && end < s->n_found && s->found[end].n < k) n += s->found[end++].n;
  return end;
}

/* Makes a child of the positions found[first .. end - 1]; returns whether it has k rows. */
static bool add_child(shoal_specializer *s, shoal_split_axis *split, const shoal_axis *axis,
                      uint32_t first, uint32_t end) {
  shoal_child_label child = {.last = s->found[end - 1].position};
  for (uint32_t i = first; i < end; i++) child.n += s->found[i].n;
  child.loss = axis->kind == SHOAL_AXIS_SET
                   ? shoal_set_axis_loss(axis, end - first)
                   : shoal_axis_loss(axis, s->found[first].position, child.last);
  bool large = child.n >= s->task->required->k;
  if (large) split->max_gain += (uint64_t)child.n * (split->loss - child.loss);
  split->children[split->n_children++] = child;
  return large;
}

static void make_split(shoal_specializer *s, size_t q) {
  const shoal_axes *axes = s->task->axes;
  const shoal_axis *axis = &axes->items[q];
  shoal_split_axis *split = &s->splits[q];
  shoal_span span = s->box[q];
  for (uint32_t i = 0; i < s->n; i++) s->sorted[i] = shoal_axes_row(axes, s->rows[i])[q];
  s->n_found = shoal_count_positions(s->sorted, s->n, span, s->scratch, s->found);
  keying k = {.axis = axis, .halves = !axis->hierarchy && span.hi < axis->n_numbers};
  if (axis->hierarchy) k.level = shoal_axis_children(axis, span.lo, span.hi);
  if (k.halves) k.half = half_of(s);
  split->n_children = 0;
  split->loss = shoal_box_axis_loss(axis, s->box, q);
  split->max_gain = 0;
  bool any = false;
  for (uint32_t i = 0, end; i < s->n_found; i = end) {
    end = axis->kind == SHOAL_AXIS_SET ? set_end(s, i) : label_end(s, &k, i);
    any = add_child(s, split, axis, i, end) || any;
  }
  if (!any) split->n_children = 0;
}

/* Computes the splits of all axes and s->order; returns the number of axes in it. */
static size_t make_splits(shoal_specializer *s) {
  size_t n = 0;
  shoal_box_of(s->task->axes, s->box, s->rows, s->n);
  for (size_t q = 0; q < s->task->axes->n; q++) {
    if (s->box[q].lo == s->box[q].hi) continue;
    make_split(s, q);
    if (!s->splits[q].n_children) continue;
    size_t at = n++;
    for (; at && s->splits[s->order[at - 1]].max_gain < s->splits[q].max_gain; at--)
      s->order[at] = s->order[at - 1];
    s->order[at] = q;
  }
  return n;
}

/* ------------------------------------------------------------ trying an axis */

static uint32_t child_of(const shoal_split_axis *split, uint32_t position) {
  uint32_t low = 0, high = split->n_children - 1;
  while (low < high) {
    uint32_t half = low + (high - low) / 2;
    if (split->children[half].last < position) low = half + 1;
    else high = half;
  }
  return low;
}

/* Sorts the rows by child. */
static void distribute(shoal_specializer *s, size_t axis) {
  shoal_split_axis *split = &s->splits[axis];
  uint32_t start = 0;
  for (uint32_t c = 0; c < split->n_children; c++) {
    split->children[c].start = start;
    start += split->children[c].n;
  }
  for (uint32_t i = 0; i < s->n; i++) {
    uint32_t row = s->rows[i], c = child_of(split, shoal_axes_row(s->task->axes, row)[axis]);
    s->part_of[row] = c;
    s->sorted[split->children[c].start++] = row;
  }
  for (uint32_t c = 0; c < split->n_children; c++) split->children[c].start -= split->children[c].n;
}

static uint64_t gain_of(const shoal_split_axis *split) {
  uint64_t gain = 0;
  for (uint32_t c = 0; c < split->n_children; c++)
    if (split->children[c].kept)
      gain += (uint64_t)split->children[c].n * (split->loss - split->children[c].loss);
  return gain;
}

/* The best axis so far. */
typedef struct choice {
  bool any;
  size_t axis;
  uint64_t gain;
} choice;

static bool is_better(const choice *best, size_t axis, uint64_t gain) {
  return !best->any || gain > best->gain || (gain == best->gain && axis < best->axis);
}

static void try_axis(shoal_specializer *s, size_t axis, choice *best) {
  shoal_split_axis *split = &s->splits[axis];
  distribute(s, axis);
  shoal_judge_children(s, split);
  if (s->n_left == s->n || !is_better(best, axis, gain_of(split))) return;
  if (!shoal_repair_left(s, split)) return;
  uint64_t gain = gain_of(split);
  if (!is_better(best, axis, gain)) return;
  *best = (choice){true, axis, gain};
  uint32_t *part_of = s->best_part_of;
  s->best_part_of = s->part_of;
  s->part_of = part_of;
}

/* Sorts the rows by part: kept children by position, then the rows that stay behind. */
static uint32_t sort_by_part(shoal_specializer *s, const shoal_split_axis *split, uint32_t *rows) {
  uint32_t *start = s->starts, *part = s->left, n_parts = 0;
  for (uint32_t i = 0; i < s->n; i++) part[i] = s->best_part_of[rows[i]];
  shoal_sort_by_group(rows, s->n, part, split->n_children + 1, start, s->sorted);
  for (uint32_t c = 0; c <= split->n_children; c++)
    if (start[c] < start[c + 1]) s->sizes[n_parts++] = start[c + 1] - start[c];
  memcpy(rows, s->sorted, s->n * sizeof *rows);
  return n_parts;
}

/*
 * Divides the n rows of a class, which are ascending, into parts of s->sizes[i] rows, ascending in
 * each. Returns the number of parts; 0: no axis can be specialized.
 */
static uint32_t divide(shoal_specializer *s, uint32_t *rows, uint32_t n) {
  if (n / 2 < s->task->required->k || n < 2) return 0;
  s->rows = rows;
  s->n = n;
  if (s->balance.column) shoal_balance_start(s);
  size_t n_axes = make_splits(s);
  choice best = {0};
  for (size_t i = 0; i < n_axes; i++)
    if (is_better(&best, s->order[i], s->splits[s->order[i]].max_gain))
      try_axis(s, s->order[i], &best);
  return best.any ? sort_by_part(s, &s->splits[best.axis], rows) : 0;
}

/* ------------------------------------------------------------ memory */

static void reset(shoal_specializer *s) {
  shoal_requirement_checker_reset(&s->checker);
  shoal_arena_reset(&s->arena);
}

/* The maximum number of children of a label on the axis. */
static size_t max_children(const shoal_axis *axis) {
  if (axis->hierarchy) return axis->n_positions;
  return (size_t)(axis->n_positions - axis->n_numbers) + 2;
}

/* *max: the maximum number of children on any axis. */
static bool allocate_axes(shoal_specializer *s, size_t *max) {
  const shoal_axes *axes = s->task->axes;
  if (!SHOAL_ARENA_ARRAY(&s->arena, s->box, axes->n_spans) ||
      !SHOAL_ARENA_ARRAY(&s->arena, s->splits, axes->n) ||
      !SHOAL_ARENA_ARRAY(&s->arena, s->order, axes->n))
    return false;
  *max = 1;
  for (size_t q = 0; q < axes->n; q++) {
    size_t children = max_children(&axes->items[q]);
    if (children > *max) *max = children;
    if (!SHOAL_ARENA_ARRAY(&s->arena, s->splits[q].children, children)) return false;
  }
  return SHOAL_ARENA_ARRAY(&s->arena, s->scratch, axes->max_positions) &&
         SHOAL_ARENA_ARRAY(&s->arena, s->found, axes->max_positions);
}

static bool allocate_rows(shoal_specializer *s, size_t max) {
  size_t n = (size_t)s->task->axes->n_rows;
  shoal_arena *arena = &s->arena;
  return SHOAL_ARENA_ARRAY(arena, s->part_of, n) && SHOAL_ARENA_ARRAY(arena, s->best_part_of, n) &&
         SHOAL_ARENA_ARRAY(arena, s->sorted, n) && SHOAL_ARENA_ARRAY(arena, s->left, n) &&
         SHOAL_ARENA_ARRAY(arena, s->donors, max) && SHOAL_ARENA_ARRAY(arena, s->starts, max + 2) &&
         SHOAL_ARENA_ARRAY(arena, s->sizes, max + 1) &&
         SHOAL_ARENA_ARRAY(arena, s->distinct, s->task->required->n_counts);
}

static shoal_status init(shoal_specializer *s, const shoal_cluster_task *task, shoal_error *error) {
  size_t max;
  s->task = task;
  if (allocate_axes(s, &max) && allocate_rows(s, max) &&
      shoal_seen_init(&s->seen, task->required, &s->arena) && shoal_balance_init(s))
    return shoal_requirement_checker_init(&s->checker, task->required, error);
  return shoal_fail_memory(error);
}

/* ------------------------------------------------------------ all classes */

typedef struct descent {
  const shoal_cluster_task *task;
  shoal_ranges ranges;
  shoal_row_range *waiting; /* classes of 2 k rows or more that were not specialized yet */
  size_t n_waiting;
  uint64_t n_done, n_reported; /* rows whose class is final */
  shoal_specializer specializer;
} descent;

static shoal_status count_done(descent *d, uint32_t n, shoal_error *error) {
  d->n_done += n;
  if (d->n_done - d->n_reported < d->ranges.n_rows / REPORTS + 1) return SHOAL_OK;
  d->n_reported = d->n_done;
  return shoal_run_report(d->task->run, "cluster", d->n_done, d->ranges.n_rows, "rows", error);
}

static shoal_status specialize(descent *d, shoal_row_range at, shoal_error *error) {
  uint32_t n_parts = divide(&d->specializer, d->ranges.rows + at.start, at.n);
  if (!n_parts) return count_done(d, at.n, error);
  for (uint32_t i = 0, start = at.start; i < n_parts; i++) {
    uint32_t n = d->specializer.sizes[i];
    d->ranges.starts[start] = 1;
    if (n / 2 >= d->task->required->k) d->waiting[d->n_waiting++] = (shoal_row_range){start, n};
    else SHOAL_TRY(count_done(d, n, error));
    start += n;
  }
  return SHOAL_OK;
}

static shoal_status descend(descent *d, shoal_error *error) {
  uint32_t n_rows = d->ranges.n_rows;
  size_t max_waiting = (size_t)(n_rows / 2 / d->task->required->k) + 1;
  if (!SHOAL_ARENA_ARRAY(&d->specializer.arena, d->waiting, max_waiting))
    return shoal_fail_memory(error);
  if (shoal_requirement_checker_satisfies(&d->specializer.checker, d->ranges.rows, n_rows))
    d->waiting[d->n_waiting++] = (shoal_row_range){0, n_rows};
  while (d->n_waiting) SHOAL_TRY(specialize(d, d->waiting[--d->n_waiting], error));
  return d->specializer.checker.failed ? shoal_fail_memory(error) : SHOAL_OK;
}

shoal_status shoal_cluster_top_down(const shoal_cluster_task *task, shoal_partition *partition,
                                    shoal_error *error) {
  descent d = {.task = task};
  SHOAL_TRY(shoal_ranges_init(&d.ranges, task->axes->n_rows, error));
  shoal_status status = init(&d.specializer, task, error);
  if (status == SHOAL_OK) status = descend(&d, error);
  if (status == SHOAL_OK) status = shoal_ranges_partition(&d.ranges, partition, error);
  reset(&d.specializer);
  shoal_ranges_reset(&d.ranges);
  return status;
}
