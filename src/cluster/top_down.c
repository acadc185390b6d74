/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/top_down: top-down specialization with local recoding (Wong, Li, Fu & Wang 2006 for
 * (alpha,k); Sun et al. for p+-sensitive and (p,alpha)-sensitive k-anonymity, as described in Khan
 * et al. 2020). All rows start as one class with the most general labels. A class is specialized on
 * one attribute. Each child of its label whose rows satisfy every demand becomes a class; the other
 * rows stay behind, and top_down_repair.c makes them satisfy the demands too. The attribute is the
 * one with the largest gain, the first of equals. Wong et al. do not specialize the rows that stay
 * behind; here they are a class like any other. Any model can be a demand, monotone or not.
 *
 * On a tree the children are those of the lowest common ancestor. If missing values occur beside
 * numbers, the label is `*` and its children are the numbers and each spelling of missing. Numbers
 * alone have no taxonomy: their interval is cut where it halves the rows.
 *
 * The gain is counted by labels: a row of a kept child loses on that axis what the child's label
 * loses; a row that stays behind keeps the loss of the class's label. The gain if every child with
 * k rows could be kept is an upper bound, and axes whose bound is too small are not tried.
 *
 * Rows are in one array that is divided in place; a class is a range of it. Cost: about O(n log n)
 * for n rows, and 25 bytes per row.
 */
#include "cluster/top_down.h"

#include <string.h>

#include "base/work.h"

enum { REPORTS = 100 };

/* ------------------------------------------------------------ children of a label */

/* The number of places below the cut that comes nearest to half of the rows. */
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
  uint32_t half;            /* places below the cut */
} keying;

static uint32_t key_of(const keying *k, uint32_t i, uint32_t place) {
  if (k->level) return k->level->of_leaf[k->axis->code_at[place]];
  if (k->halves) return i >= k->half;
  return place < k->axis->n_numbers ? 0 : place;
}

/* Makes a child of the places found[first .. end - 1]; returns whether it has k rows. */
static bool add_child(shoal_specializer *s, shoal_fork *fork, const shoal_axis *axis,
                      uint32_t first, uint32_t end) {
  shoal_child child = {.last = s->found[end - 1].place};
  for (uint32_t i = first; i < end; i++) child.n += s->found[i].n;
  child.loss = shoal_axis_loss(axis, s->found[first].place, child.last);
  bool large = child.n >= s->task->fit->k;
  if (large) fork->most += (uint64_t)child.n * (fork->loss - child.loss);
  fork->children[fork->n_children++] = child;
  return large;
}

static void make_fork(shoal_specializer *s, size_t q) {
  const shoal_axes *axes = s->task->axes;
  const shoal_axis *axis = &axes->items[q];
  shoal_fork *fork = &s->forks[q];
  shoal_span span = s->extent[q];
  for (uint32_t i = 0; i < s->n; i++) s->sorted[i] = shoal_axes_row(axes, s->rows[i])[q];
  s->n_found = shoal_count_places(s->sorted, s->n, span, s->scratch, s->found);
  keying k = {.axis = axis, .halves = !axis->hierarchy && span.hi < axis->n_numbers};
  if (axis->hierarchy) k.level = shoal_axis_children(axis, span.lo, span.hi);
  if (k.halves) k.half = half_of(s);
  fork->n_children = 0;
  fork->loss = shoal_axis_loss(axis, span.lo, span.hi);
  fork->most = 0;
  bool any = false;
  for (uint32_t i = 0, end; i < s->n_found; i = end) {
    uint32_t key = key_of(&k, i, s->found[i].place);
    for (end = i + 1; end < s->n_found && key_of(&k, end, s->found[end].place) == key;) end++;
    any = add_child(s, fork, axis, i, end) || any;
  }
  if (!any) fork->n_children = 0;
}

/* Makes the forks of all axes, and s->order; returns the number of axes in it. */
static size_t make_forks(shoal_specializer *s) {
  size_t n = 0;
  shoal_extent_of(s->task->axes, s->extent, s->rows, s->n);
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

/* ------------------------------------------------------------ trying an axis */

void shoal_specializer_leave(shoal_specializer *s, const shoal_fork *fork, uint32_t row) {
  s->left[s->n_left++] = row;
  s->part_of[row] = fork->n_children;
}

void shoal_specializer_leave_all(shoal_specializer *s, const shoal_fork *fork, shoal_child *child) {
  const uint32_t *rows = s->sorted + child->start;
  for (uint32_t i = 0; i < child->n; i++) shoal_specializer_leave(s, fork, rows[i]);
  child->kept = false;
}

static uint32_t child_of(const shoal_fork *fork, uint32_t place) {
  uint32_t low = 0, high = fork->n_children - 1;
  while (low < high) {
    uint32_t half = low + (high - low) / 2;
    if (fork->children[half].last < place) low = half + 1;
    else high = half;
  }
  return low;
}

/* Sorts the rows by child. */
static void distribute(shoal_specializer *s, size_t axis) {
  shoal_fork *fork = &s->forks[axis];
  uint32_t start = 0;
  for (uint32_t c = 0; c < fork->n_children; c++) {
    fork->children[c].start = start;
    start += fork->children[c].n;
  }
  for (uint32_t i = 0; i < s->n; i++) {
    uint32_t row = s->rows[i], c = child_of(fork, shoal_axes_row(s->task->axes, row)[axis]);
    s->part_of[row] = c;
    s->sorted[fork->children[c].start++] = row;
  }
  for (uint32_t c = 0; c < fork->n_children; c++) fork->children[c].start -= fork->children[c].n;
}

/* Keeps the children that satisfy the demands; the rows of the others stay behind. */
static void judge_children(shoal_specializer *s, shoal_fork *fork) {
  s->n_left = 0;
  for (uint32_t c = 0; c < fork->n_children; c++) {
    shoal_child *child = &fork->children[c];
    child->kept = shoal_judging_fits(&s->judging, s->sorted + child->start, child->n) ||
                  (s->even.column && shoal_even_trim(s, fork, child));
    if (!child->kept) shoal_specializer_leave_all(s, fork, child);
  }
}

/* Do the rows that stay behind satisfy the demands, if necessary after a repair? */
static bool settle_left(shoal_specializer *s, shoal_fork *fork) {
  if (!s->n_left || shoal_judging_fits(&s->judging, s->left, s->n_left)) return true;
  for (uint32_t c = 0; s->even.column && c < fork->n_children; c++) {
    shoal_child *child = &fork->children[c];
    if (child->kept && !shoal_even_trim(s, fork, child))
      shoal_specializer_leave_all(s, fork, child);
  }
  if (s->n_left == s->n) return false;
  return (s->even.column && shoal_judging_fits(&s->judging, s->left, s->n_left)) ||
         shoal_specializer_repair(s, fork);
}

static uint64_t gain_of(const shoal_fork *fork) {
  uint64_t gain = 0;
  for (uint32_t c = 0; c < fork->n_children; c++)
    if (fork->children[c].kept)
      gain += (uint64_t)fork->children[c].n * (fork->loss - fork->children[c].loss);
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
  shoal_fork *fork = &s->forks[axis];
  distribute(s, axis);
  judge_children(s, fork);
  if (s->n_left == s->n || !is_better(best, axis, gain_of(fork))) return;
  if (!settle_left(s, fork)) return;
  uint64_t gain = gain_of(fork);
  if (!is_better(best, axis, gain)) return;
  *best = (choice){true, axis, gain};
  uint32_t *part_of = s->best_part_of;
  s->best_part_of = s->part_of;
  s->part_of = part_of;
}

/* Sorts the rows by part: kept children by place, then the rows that stay behind. */
static uint32_t lay_out(shoal_specializer *s, const shoal_fork *fork, uint32_t *rows) {
  uint32_t *start = s->starts, n_parts = 0, at = 0;
  memset(start, 0, ((size_t)fork->n_children + 1) * sizeof *start);
  for (uint32_t i = 0; i < s->n; i++) start[s->best_part_of[rows[i]]]++;
  for (uint32_t c = 0; c <= fork->n_children; c++) {
    uint32_t n = start[c];
    if (n) s->sizes[n_parts++] = n;
    start[c] = at;
    at += n;
  }
  for (uint32_t i = 0; i < s->n; i++) s->sorted[start[s->best_part_of[rows[i]]]++] = rows[i];
  memcpy(rows, s->sorted, s->n * sizeof *rows);
  return n_parts;
}

/*
 * Divides the n rows of a class, which are ascending, into parts of s->sizes[i] rows, ascending in
 * each. Returns the number of parts; 0: no axis can be specialized.
 */
static uint32_t divide(shoal_specializer *s, uint32_t *rows, uint32_t n) {
  if (n / 2 < s->task->fit->k || n < 2) return 0;
  s->rows = rows;
  s->n = n;
  if (s->even.column) shoal_even_start(s);
  size_t n_axes = make_forks(s);
  choice best = {0};
  for (size_t i = 0; i < n_axes; i++)
    if (is_better(&best, s->order[i], s->forks[s->order[i]].most)) try_axis(s, s->order[i], &best);
  return best.any ? lay_out(s, &s->forks[best.axis], rows) : 0;
}

/* ------------------------------------------------------------ memory */

static void reset(shoal_specializer *s) {
  shoal_judging_reset(&s->judging);
  shoal_seen_reset(&s->seen);
  shoal_arena_reset(&s->arena);
}

/* The maximum number of children of a label on the axis. */
static size_t max_children(const shoal_axis *axis) {
  if (axis->hierarchy) return axis->n_places;
  return (size_t)(axis->n_places - axis->n_numbers) + 2;
}

/* *most: the maximum number of children on any axis. */
static bool allocate_axes(shoal_specializer *s, size_t *most) {
  const shoal_axes *axes = s->task->axes;
  if (!SHOAL_ARENA_ARRAY(&s->arena, s->extent, axes->n) ||
      !SHOAL_ARENA_ARRAY(&s->arena, s->forks, axes->n) ||
      !SHOAL_ARENA_ARRAY(&s->arena, s->order, axes->n))
    return false;
  *most = 1;
  for (size_t q = 0; q < axes->n; q++) {
    size_t children = max_children(&axes->items[q]);
    if (children > *most) *most = children;
    if (!SHOAL_ARENA_ARRAY(&s->arena, s->forks[q].children, children)) return false;
  }
  return SHOAL_ARENA_ARRAY(&s->arena, s->scratch, axes->max_places) &&
         SHOAL_ARENA_ARRAY(&s->arena, s->found, axes->max_places);
}

static bool allocate_rows(shoal_specializer *s, size_t most) {
  size_t n = (size_t)s->task->axes->n_rows;
  shoal_arena *arena = &s->arena;
  return SHOAL_ARENA_ARRAY(arena, s->part_of, n) && SHOAL_ARENA_ARRAY(arena, s->best_part_of, n) &&
         SHOAL_ARENA_ARRAY(arena, s->sorted, n) && SHOAL_ARENA_ARRAY(arena, s->left, n) &&
         SHOAL_ARENA_ARRAY(arena, s->givers, most) &&
         SHOAL_ARENA_ARRAY(arena, s->starts, most + 1) &&
         SHOAL_ARENA_ARRAY(arena, s->sizes, most + 1) &&
         SHOAL_ARENA_ARRAY(arena, s->distinct, s->task->fit->n_counts);
}

static shoal_status init(shoal_specializer *s, const shoal_cluster_task *task, shoal_error *error) {
  size_t most;
  s->task = task;
  if (allocate_axes(s, &most) && allocate_rows(s, most) && shoal_seen_init(&s->seen, task->fit) &&
      shoal_even_init(s))
    return shoal_judging_init(&s->judging, task->fit, error);
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
    if (n / 2 >= d->task->fit->k) d->waiting[d->n_waiting++] = (shoal_row_range){start, n};
    else SHOAL_TRY(count_done(d, n, error));
    start += n;
  }
  return SHOAL_OK;
}

static shoal_status descend(descent *d, shoal_error *error) {
  uint32_t n_rows = d->ranges.n_rows;
  size_t max_waiting = (size_t)(n_rows / 2 / d->task->fit->k) + 1;
  if (!SHOAL_ARENA_ARRAY(&d->specializer.arena, d->waiting, max_waiting))
    return shoal_fail_memory(error);
  if (shoal_judging_fits(&d->specializer.judging, d->ranges.rows, n_rows))
    d->waiting[d->n_waiting++] = (shoal_row_range){0, n_rows};
  while (d->n_waiting) SHOAL_TRY(specialize(d, d->waiting[--d->n_waiting], error));
  return d->specializer.judging.failed ? shoal_fail_memory(error) : SHOAL_OK;
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
