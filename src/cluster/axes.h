/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/axes: quasi-identifiers as clustering sees them. Every value of an attribute has a
 * position on a line: numbers in ascending order, leaves of a tree from left to right. The values
 * below a node of a tree are then contiguous, and a set of rows covers a span of positions on every
 * attribute. Its information loss (Truta, Campan & Meyer 2007, eq. 4) follows from the ends of the
 * span, and is that of the label which is released: the height of the lowest common ancestor, or
 * the width of the interval over the table's range. If intervals are widened to a grid, numbers of
 * one grid cell share a position, and the widened interval counts, as far as it is within the
 * range: then even a single number loses something.
 *
 * Sets have no order that matters: positions are values by their bytes, a class has a list of those
 * that occur in it, and it loses (values - 1) / (all values - 1). With more than SHOAL_MAX_SET
 * values its label is "*" and it loses everything, so the list ends there.
 *
 * Losses are integers: sums are exact and do not depend on the order of addition. An attribute
 * loses 0 to `full`, and all attributes together at most SHOAL_MAX_LOSS. `full` is a multiple of
 * the tree height or the range if that fits; otherwise losses are rounded (`exact` is false).
 */
#pragma once

#include "base/memory.h"
#include "group/classes.h"
#include "hierarchy/set_label.h"
#include "policy/policy.h"

/* The loss of a label. */
typedef enum shoal_loss_kind {
  SHOAL_LOSS_HEIGHT, /* height of its subtree / height of the tree */
  SHOAL_LOSS_LEAVES  /* (leaves below it - 1) / (all leaves - 1) */
} shoal_loss_kind;

typedef enum shoal_axis_kind {
  SHOAL_AXIS_NUMBER, /* loss: width of the interval */
  SHOAL_AXIS_TREE,   /* loss: of the lowest common ancestor */
  SHOAL_AXIS_SET     /* loss: (values in the class - 1) / (all values - 1), or all */
} shoal_axis_kind;

typedef struct shoal_axis {
  shoal_axis_kind kind;
  const shoal_hierarchy *hierarchy; /* of trees; otherwise NULL */
  const shoal_column *column;       /* borrowed from the frequency set */
  shoal_decimal snap;               /* of intervals */
  int64_t *numbers;                 /* of intervals: by code, x 10^-scale */
  unsigned scale;
  int64_t least, most; /* of the numbers */
  uint32_t n_values;   /* codes of the column */
  uint32_t n_positions;
  uint32_t n_numbers; /* numbers: positions 0 .. n_numbers - 1; missing values follow. Others: 0 */
  uint32_t *position_of; /* by code */
  uint32_t *code_at;     /* by position: its first code */
  bool has_floor;        /* trees: even a single value has a label of a higher level (min-level) */
  uint32_t full;         /* loss of the whole axis */
  /* Numbers, by position: losses from the least number to the ends of its label. The same array
     unless intervals are widened. */
  uint32_t *low_end, *high_end;
  uint32_t **loss_at; /* trees: by level, by label */
  uint32_t *pairs;    /* loss by lo x n_positions + hi; NULL if that is too large, and of sets */
  size_t set;         /* sets: its list's first span in a box */
  uint32_t set_loss[SHOAL_MAX_SET + 2]; /* sets: by size; the last: of all larger ones */
} shoal_axis;

typedef struct shoal_axes {
  size_t n;
  size_t n_spans; /* of a box: one per axis, then the lists of sets */
  shoal_axis *items;
  shoal_arena arena;      /* of all arrays */
  bool exact;             /* bench/bound.c allows for losses that are not */
  uint32_t max_positions; /* of an axis; at least 1 */
  uint64_t n_rows;
  uint32_t n_tuples;
  const uint32_t *tuple_of_row; /* borrowed from the frequency set */
  uint32_t *positions;          /* by tuple: its n positions */
} shoal_axes;

#define SHOAL_MAX_LOSS (UINT32_C(1) << 30)

/* The positions lo .. hi. */
typedef struct shoal_span {
  uint32_t lo, hi;
} shoal_span;

/*
 * `attributes`, by quasi-identifier, say how numbers are released (`recode`, `snap`); NULL: as
 * intervals if they have no hierarchy. `weights` may be NULL. The frequency set must outlive the
 * axes.
 */
shoal_status shoal_axes_init(shoal_axes *axes, const shoal_frequency_set *frequency,
                             const shoal_attribute *const *attributes, const shoal_decimal *weights,
                             shoal_loss_kind kind, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_axes_reset(shoal_axes *axes);

/* Loss of a span, computed without `pairs`; sets: of all values in it. */
uint32_t shoal_axis_loss_slow(const shoal_axis *axis, uint32_t lo, uint32_t hi);

/* Trees: the lowest common ancestor of the values of a span. */
void shoal_axis_ancestor(const shoal_axis *axis, shoal_span span, uint32_t *level, uint32_t *label);

/*
 * Loss of the label of a box on axis q, 0 to 1, unweighted and not rounded to integers; trees: by
 * height.
 */
double shoal_box_share(const shoal_axes *axes, const shoal_span *box, size_t q);

/* Trees: the level of the children of the lowest common ancestor of two positions that differ. */
const shoal_level *shoal_axis_children(const shoal_axis *axis, uint32_t lo, uint32_t hi);

/* Loss of one row on the attribute if its class covers lo .. hi. */
static inline uint32_t shoal_axis_loss(const shoal_axis *axis, uint32_t lo, uint32_t hi) {
  if (axis->pairs) return axis->pairs[(size_t)lo * axis->n_positions + hi];
  if (hi < axis->n_numbers) return axis->high_end[hi] - axis->low_end[lo];
  return lo == hi && !axis->has_floor ? 0 : shoal_axis_loss_slow(axis, lo, hi);
}

/* The positions of a tuple or a row, one per axis. */
static inline const uint32_t *shoal_axes_tuple(const shoal_axes *axes, uint32_t tuple) {
  return axes->positions + (size_t)tuple * axes->n;
}
static inline const uint32_t *shoal_axes_row(const shoal_axes *axes, uint32_t row) {
  return shoal_axes_tuple(axes, axes->tuple_of_row[row]);
}

/* ---- sets: the positions of a class, ascending, after their number */

/* Spans that hold a list. */
#define SHOAL_SET_SPANS ((SHOAL_MAX_SET + 2) / 2)

/* set[0] is the number of positions, which follow; SHOAL_MAX_SET + 1: more than the list holds. */
static inline uint32_t *shoal_box_set(const shoal_axis *axis, shoal_span *box) {
  return (uint32_t *)(void *)(box + axis->set);
}
static inline const uint32_t *shoal_box_set_const(const shoal_axis *axis, const shoal_span *box) {
  return (const uint32_t *)(const void *)(box + axis->set);
}

static inline bool shoal_set_contains(const uint32_t *set, uint32_t position) {
  bool found = false;
  for (uint32_t i = 1; i <= set[0] && i <= SHOAL_MAX_SET; i++) found |= set[i] == position;
  return found;
}

static inline uint32_t shoal_set_axis_loss(const shoal_axis *axis, uint32_t n) {
  return axis->set_loss[n <= SHOAL_MAX_SET ? n : SHOAL_MAX_SET + 1];
}

void shoal_set_insert(uint32_t *set, uint32_t position);
/* The number of positions of both, at most SHOAL_MAX_SET + 1. */
uint32_t shoal_set_union_size(const uint32_t *a, const uint32_t *b);
void shoal_set_join(uint32_t *set, const uint32_t *other);
/* Keeps the positions that `other` has too; a list that is too long has all. */
void shoal_set_intersect(uint32_t *set, const uint32_t *other);

/* ---- boxes: one span per axis, then the lists of sets; axes->n_spans in total */

/* No rows: joining or adding works, a loss has no meaning. */
static inline void shoal_box_clear(const shoal_axes *axes, shoal_span *box) {
  for (size_t q = 0; q < axes->n; q++) box[q] = (shoal_span){UINT32_MAX, 0};
  for (size_t i = axes->n; i < axes->n_spans; i++) box[i] = (shoal_span){0, 0};
}

static inline bool shoal_axes_have_sets(const shoal_axes *axes) { return axes->n_spans > axes->n; }

/* Adds positions to the lists of sets. */
void shoal_box_add_sets(const shoal_axes *axes, shoal_span *box, const uint32_t *positions);

static inline void shoal_box_start(const shoal_axes *axes, shoal_span *box,
                                   const uint32_t *positions) {
  for (size_t q = 0; q < axes->n; q++) box[q] = (shoal_span){positions[q], positions[q]};
  for (size_t i = axes->n; i < axes->n_spans; i++) box[i] = (shoal_span){0, 0};
  if (shoal_axes_have_sets(axes)) shoal_box_add_sets(axes, box, positions);
}

static inline void shoal_box_add(const shoal_axes *axes, shoal_span *box,
                                 const uint32_t *positions) {
  for (size_t q = 0; q < axes->n; q++) {
    if (positions[q] < box[q].lo) box[q].lo = positions[q];
    if (positions[q] > box[q].hi) box[q].hi = positions[q];
  }
  if (shoal_axes_have_sets(axes)) shoal_box_add_sets(axes, box, positions);
}

void shoal_box_join(const shoal_axes *axes, shoal_span *box, const shoal_span *other);

/* The box of n rows, at least one. */
void shoal_box_of(const shoal_axes *axes, shoal_span *box, const uint32_t *rows, size_t n);

/* Loss of one row on axis q in a class of that box; after a row at `position` has joined. */
static inline uint32_t shoal_box_axis_loss(const shoal_axis *axis, const shoal_span *box,
                                           size_t q) {
  if (axis->kind == SHOAL_AXIS_SET) return axis->set_loss[shoal_box_set_const(axis, box)[0]];
  return shoal_axis_loss(axis, box[q].lo, box[q].hi);
}
static inline uint32_t shoal_box_axis_loss_with(const shoal_axis *axis, const shoal_span *box,
                                                size_t q, uint32_t position) {
  if (axis->kind == SHOAL_AXIS_SET) {
    const uint32_t *set = shoal_box_set_const(axis, box);
    return shoal_set_axis_loss(axis, set[0] + !shoal_set_contains(set, position));
  }
  uint32_t lo = position < box[q].lo ? position : box[q].lo;
  uint32_t hi = position > box[q].hi ? position : box[q].hi;
  return shoal_axis_loss(axis, lo, hi);
}

/* Loss of one row in a class of that box, over all attributes. */
static inline uint32_t shoal_box_loss(const shoal_axes *axes, const shoal_span *box) {
  uint32_t loss = 0;
  for (size_t q = 0; q < axes->n; q++) loss += shoal_box_axis_loss(&axes->items[q], box, q);
  return loss;
}

/* The same after a row at `positions` has joined. */
static inline uint32_t shoal_box_loss_with(const shoal_axes *axes, const shoal_span *box,
                                           const uint32_t *positions) {
  uint32_t loss = 0;
  for (size_t q = 0; q < axes->n; q++)
    loss += shoal_box_axis_loss_with(&axes->items[q], box, q, positions[q]);
  return loss;
}

/* The same after two classes have joined. */
uint32_t shoal_box_loss_joined(const shoal_axes *axes, const shoal_span *box,
                               const shoal_span *other);

/*
 * Counting sort: writes n items (NULL: 0 .. n - 1) to `sorted` by group[i], stably. first[g] is
 * where group g starts, with n_groups + 1 entries.
 */
void shoal_sort_by_group(const uint32_t *items, uint32_t n, const uint32_t *group,
                         uint32_t n_groups, uint32_t *first, uint32_t *sorted);

/* Rows at a position of an axis. */
typedef struct shoal_position_count {
  uint32_t position, n;
} shoal_position_count;

/* Places per row above which they are sorted, not counted. */
#define SHOAL_SPARSE_POSITIONS 4

/*
 * Counts n positions, all within `span`: `counts` receives the distinct ones, ascending. `scratch`
 * has room for every position of the span, or for (SHOAL_SPARSE_POSITIONS + 1) x n entries. Returns
 * the number of distinct positions.
 */
uint32_t shoal_count_positions(const uint32_t *positions, uint32_t n, shoal_span span,
                               uint32_t *scratch, shoal_position_count *counts);
