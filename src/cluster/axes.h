/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/axes: quasi-identifiers as clustering sees them. Every value of an attribute has a place
 * on a line: numbers in ascending order, the leaves of a tree from left to right, so that the
 * values below a node are neighbours. What a set of rows covers of an attribute is then a span of
 * two places, whatever the attribute is, and the information it loses (Truta, Campan & Meyer 2007,
 * eq. 4) follows from the two: max - min, or the height of the lowest common ancestor.
 *
 * Losses are whole numbers, so that sums are exact, ties are ties, and no order of adding matters:
 * an attribute loses from 0 to `full`. All that attributes lose together is at most
 * SHOAL_MOST_LOSS, and `full` a multiple of tree height or range wherever that fits; else losses
 * are rounded (`exact` is false).
 */
#ifndef SHOAL_CLUSTER_AXES_H
#define SHOAL_CLUSTER_AXES_H

#include "group/classes.h"

/* What a label loses. */
typedef enum shoal_loss_kind {
  SHOAL_LOSS_HEIGHT, /* height of its subtree over the height of the tree */
  SHOAL_LOSS_LEAVES  /* (leaves below it - 1) over (all leaves - 1) */
} shoal_loss_kind;

typedef enum shoal_axis_kind {
  SHOAL_AXIS_NUMBER, /* loss: width of the interval */
  SHOAL_AXIS_TREE,   /* loss: of the lowest common ancestor */
  SHOAL_AXIS_SET     /* loss: (values in the class - 1) over (all values - 1); flock only */
} shoal_axis_kind;

typedef struct shoal_axis {
  shoal_axis_kind kind;
  const shoal_hierarchy *hierarchy; /* NULL: a number without one */
  uint32_t n_values;                /* codes of the column */
  uint32_t n_places;
  uint32_t n_numbers; /* numbers: places below it, ascending; behind them the missing; 0: a tree */
  uint32_t *place_of; /* by code */
  uint32_t *code_at;  /* a code at each place: the first that appeared */
  uint32_t full;      /* loss of everything, in units */
  uint32_t *from_least; /* numbers: loss from the least number to each place's */
  uint32_t **loss_at;   /* trees: by level, by label */
  uint32_t *pairs;      /* loss by lo x n_places + hi; NULL where that is too large */
} shoal_axis;

typedef struct shoal_axes {
  size_t n;
  shoal_axis *items;
  bool exact;
  uint64_t n_rows;
  uint32_t n_tuples;
  const uint32_t *tuple_of_row; /* borrowed from the frequency set */
  uint32_t *places;             /* by tuple: its n places side by side */
} shoal_axes;

#define SHOAL_MOST_LOSS (UINT32_C(1) << 30)

/* From the least to the greatest place that is covered. */
typedef struct shoal_span {
  uint32_t lo, hi;
} shoal_span;

/*
 * `frequency->hierarchies[q]` NULL means a number without a hierarchy. `weights`, by
 * quasi-identifier, may be NULL. The frequency set must outlive the axes.
 */
shoal_status shoal_axes_init(shoal_axes *axes, const shoal_frequency *frequency,
                             const shoal_decimal *weights, shoal_loss_kind kind,
                             shoal_error *error) SHOAL_MUST_CHECK;
void shoal_axes_reset(shoal_axes *axes);

/* Loss of a span where no table of pairs was made. */
uint32_t shoal_axis_loss_slow(const shoal_axis *axis, uint32_t lo, uint32_t hi);

/* Trees: the level of the children of the lowest common ancestor of two places that differ. */
const shoal_level *shoal_axis_children(const shoal_axis *axis, uint32_t lo, uint32_t hi);

/* What one row loses of the attribute if its class covers lo .. hi. */
static inline uint32_t shoal_axis_loss(const shoal_axis *axis, uint32_t lo, uint32_t hi) {
  if (axis->pairs) return axis->pairs[(size_t)lo * axis->n_places + hi];
  if (hi < axis->n_numbers) return axis->from_least[hi] - axis->from_least[lo];
  return lo == hi ? 0 : shoal_axis_loss_slow(axis, lo, hi);
}

/* The places of a row, one an axis. */
static inline const uint32_t *shoal_axes_tuple(const shoal_axes *axes, uint32_t tuple) {
  return axes->places + (size_t)tuple * axes->n;
}
static inline const uint32_t *shoal_axes_row(const shoal_axes *axes, uint32_t row) {
  return shoal_axes_tuple(axes, axes->tuple_of_row[row]);
}

/* ---- extents: one span an axis */

static inline void shoal_extent_start(const shoal_axes *axes, shoal_span *extent,
                                      const uint32_t *places) {
  for (size_t q = 0; q < axes->n; q++) extent[q] = (shoal_span){places[q], places[q]};
}

static inline void shoal_extent_add(const shoal_axes *axes, shoal_span *extent,
                                    const uint32_t *places) {
  for (size_t q = 0; q < axes->n; q++) {
    if (places[q] < extent[q].lo) extent[q].lo = places[q];
    if (places[q] > extent[q].hi) extent[q].hi = places[q];
  }
}

static inline void shoal_extent_join(const shoal_axes *axes, shoal_span *extent,
                                     const shoal_span *other) {
  for (size_t q = 0; q < axes->n; q++) {
    if (other[q].lo < extent[q].lo) extent[q].lo = other[q].lo;
    if (other[q].hi > extent[q].hi) extent[q].hi = other[q].hi;
  }
}

/* What one row loses in a class of that extent, over all attributes. */
static inline uint32_t shoal_extent_loss(const shoal_axes *axes, const shoal_span *extent) {
  uint32_t loss = 0;
  for (size_t q = 0; q < axes->n; q++)
    loss += shoal_axis_loss(&axes->items[q], extent[q].lo, extent[q].hi);
  return loss;
}

/* The same once a row at `places` has joined. */
static inline uint32_t shoal_extent_loss_with(const shoal_axes *axes, const shoal_span *extent,
                                              const uint32_t *places) {
  uint32_t loss = 0;
  for (size_t q = 0; q < axes->n; q++) {
    uint32_t lo = places[q] < extent[q].lo ? places[q] : extent[q].lo;
    uint32_t hi = places[q] > extent[q].hi ? places[q] : extent[q].hi;
    loss += shoal_axis_loss(&axes->items[q], lo, hi);
  }
  return loss;
}

#endif
