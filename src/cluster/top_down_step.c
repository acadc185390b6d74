/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/top_down_step: see top_down.h.
 *
 * What a specialization gains is counted by labels: each row of a kept child loses on that axis
 * what the child's label does and no longer what the class's does; rows left behind keep the
 * class's label. The gain if every large enough child could be kept is known beforehand, so that
 * axes are tried from the most promising on, and most are never tried.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/top_down.h"

/* ------------------------------------------------------------ memory */

void shoal_specializer_reset(shoal_specializer *s) {
  if (!s->task) return;
  for (size_t q = 0; q < s->task->axes->n; q++) {
    if (s->counts) free(s->counts[q]);
    if (s->forks) free(s->forks[q].children);
  }
  for (size_t d = 0; s->seen && d < s->task->fit->n_counts; d++) free(s->seen[d]);
  if (s->judging.fit) shoal_judging_reset(&s->judging);
  shoal_even_reset(&s->even);
  free(s->extent);
  free(s->forks);
  free(s->order);
  free(s->counts);
  free(s->counted);
  free(s->found);
  free(s->part_of);
  free(s->sorted);
  free(s->left);
  free(s->givers);
  free(s->seen);
  free(s->distinct);
  free(s->best_part_of);
  free(s->starts);
  free(s->sizes);
  memset(s, 0, sizeof *s);
}

/* The most children that a label on the axis can have. */
static size_t most_children(const shoal_axis *axis) {
  if (axis->hierarchy) return axis->n_places;
  return (size_t)(axis->n_places - axis->n_numbers) + 2;
}

static bool allocate_axes(shoal_specializer *s, size_t *most) {
  const shoal_axes *axes = s->task->axes;
  size_t most_places = 0;
  s->extent = shoal_alloc(axes->n, sizeof *s->extent);
  s->forks = shoal_alloc_zero(axes->n, sizeof *s->forks);
  s->order = shoal_alloc(axes->n, sizeof *s->order);
  s->counts = shoal_alloc_zero(axes->n, sizeof *s->counts);
  s->counted = shoal_alloc(axes->n, sizeof *s->counted);
  bool ok = s->extent && s->forks && s->order && s->counts && s->counted;
  *most = 1;
  for (size_t q = 0; ok && q < axes->n; q++) {
    const shoal_axis *axis = &axes->items[q];
    size_t children = most_children(axis);
    if (axis->n_places > most_places) most_places = axis->n_places;
    if (children > *most) *most = children;
    s->counts[q] = shoal_alloc_zero(axis->n_places, sizeof **s->counts);
    s->forks[q].children = shoal_alloc(children, sizeof(shoal_child));
    ok = s->counts[q] && s->forks[q].children;
  }
  if (ok) s->found = shoal_alloc(most_places, sizeof *s->found);
  return ok && s->found;
}

static bool allocate_rows(shoal_specializer *s, size_t most) {
  size_t n = (size_t)s->task->axes->n_rows;
  s->part_of = shoal_alloc(n, sizeof *s->part_of);
  s->best_part_of = shoal_alloc(n, sizeof *s->best_part_of);
  s->sorted = shoal_alloc(n, sizeof *s->sorted);
  s->left = shoal_alloc(n, sizeof *s->left);
  s->givers = shoal_alloc(most, sizeof *s->givers);
  s->starts = shoal_alloc(most + 1, sizeof *s->starts);
  s->sizes = shoal_alloc(most + 1, sizeof *s->sizes);
  return s->part_of && s->best_part_of && s->sorted && s->left && s->givers && s->starts &&
         s->sizes;
}

static bool allocate_counts(shoal_specializer *s) {
  const shoal_fit *fit = s->task->fit;
  s->seen = shoal_alloc_zero(fit->n_counts, sizeof *s->seen);
  s->distinct = shoal_alloc(fit->n_counts, sizeof *s->distinct);
  bool ok = s->seen && s->distinct;
  for (size_t d = 0; ok && d < fit->n_counts; d++) {
    s->seen[d] = shoal_alloc_zero(fit->counts[d].n_groups, sizeof **s->seen);
    ok = s->seen[d] != NULL;
  }
  return ok;
}

shoal_status shoal_specializer_init(shoal_specializer *s, const shoal_cluster_task *task,
                                    shoal_error *error) {
  size_t most;
  *s = (shoal_specializer){.task = task};
  if (allocate_axes(s, &most) && allocate_rows(s, most) && allocate_counts(s) &&
      shoal_even_init(&s->even, task->fit))
    return shoal_judging_init(&s->judging, task->fit, error);
  return shoal_fail_memory(error);
}

/* ------------------------------------------------------------ trying an axis */

static uint32_t child_of(const shoal_fork *fork, uint32_t place) {
  uint32_t low = 0, high = fork->n_children - 1;
  while (low < high) {
    uint32_t half = low + (high - low) / 2;
    if (fork->children[half].last < place) low = half + 1;
    else high = half;
  }
  return low;
}

/* Rows to their children. */
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

void shoal_specializer_leave_all(shoal_specializer *s, const shoal_fork *fork, shoal_child *child) {
  const uint32_t *rows = s->sorted + child->start;
  for (uint32_t i = 0; i < child->n; i++) shoal_specializer_leave(s, fork, rows[i]);
  child->kept = false;
}

/* Children that satisfy the demands are kept; rows of the others stay behind. */
static void judge_children(shoal_specializer *s, shoal_fork *fork) {
  s->n_left = 0;
  for (uint32_t c = 0; c < fork->n_children; c++) {
    shoal_child *child = &fork->children[c];
    child->kept = shoal_judging_fits(&s->judging, s->sorted + child->start, child->n) ||
                  (s->even.column && shoal_specializer_even(s, fork, child));
    if (!child->kept) shoal_specializer_leave_all(s, fork, child);
  }
}

/* Do the rows left behind satisfy the demands, or can that be reached? */
static bool settle_left(shoal_specializer *s, shoal_fork *fork) {
  if (!s->n_left || shoal_judging_fits(&s->judging, s->left, s->n_left)) return true;
  for (uint32_t c = 0; s->even.column && c < fork->n_children; c++) {
    shoal_child *child = &fork->children[c];
    if (child->kept && !shoal_specializer_even(s, fork, child))
      shoal_specializer_leave_all(s, fork, child);
  }
  if (s->n_left == s->n) return false;
  return (s->even.column && shoal_judging_fits(&s->judging, s->left, s->n_left)) ||
         shoal_specializer_mend(s, fork);
}

static uint64_t gain_of(const shoal_fork *fork) {
  uint64_t gain = 0;
  for (uint32_t c = 0; c < fork->n_children; c++)
    if (fork->children[c].kept)
      gain += (uint64_t)fork->children[c].n * (fork->loss - fork->children[c].loss);
  return gain;
}

/* The axis that gains most so far; of equal ones the first. */
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

/* ------------------------------------------------------------ the parts */

/* Kept children by place, then the rows left behind. */
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

uint32_t shoal_specializer_divide(shoal_specializer *s, uint32_t *rows, uint32_t n) {
  if (n / 2 < s->task->fit->k || n < 2) return 0;
  s->rows = rows;
  s->n = n;
  if (s->even.column) shoal_even_look(&s->even, rows, n);
  size_t n_axes = shoal_specializer_fork(s);
  choice best = {0};
  for (size_t i = 0; i < n_axes; i++)
    if (is_better(&best, s->order[i], s->forks[s->order[i]].most)) try_axis(s, s->order[i], &best);
  return best.any ? lay_out(s, &s->forks[best.axis], rows) : 0;
}
