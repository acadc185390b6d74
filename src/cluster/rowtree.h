/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/rowtree: which free row is nearest to a cluster, or furthest from a row? Rows stand in a
 * tree by a key, then by their place on one axis after another; a node knows the lowest row number
 * that is free below it. Losses only grow when a span does, so what is settled on the way down
 * bounds the loss of everything below, and most of the tree is never looked at. Answers are exact,
 * ties included: the lowest row number wins.
 */
#ifndef SHOAL_CLUSTER_ROWTREE_H
#define SHOAL_CLUSTER_ROWTREE_H

#include "cluster/axes.h"

#define SHOAL_NO_ROW UINT32_MAX

typedef struct shoal_row_node {
  uint32_t place;  /* the key at the top, below it the place on the axis of its depth */
  uint32_t least;  /* lowest free row below, or SHOAL_NO_ROW */
  uint32_t first;  /* its first child; of a leaf: its first row among `sorted` */
  uint32_t n;      /* children, or rows */
  uint32_t parent; /* SHOAL_NO_ROW at the top */
} shoal_row_node;

typedef struct shoal_row_tree {
  const shoal_axes *axes;
  const uint8_t *is_free; /* by row; borrowed */
  uint32_t *axis_at;      /* axes from the top down: few places first */
  uint32_t *sorted;       /* rows in the order of the leaves, ascending in each */
  uint32_t *leaf_of;      /* by row */
  shoal_row_node *nodes;  /* depth after depth; the first n_keys are the keys */
  const shoal_span *aim;  /* what is looked at, one span an axis */
  uint32_t *loss_now;     /* by depth: what the aim loses */
  uint32_t *loss_below;   /* by depth: a bound of what is lost from there on */
} shoal_row_tree;

/* The best row so far; start with shoal_nearest_start or shoal_furthest_start. */
typedef struct shoal_found {
  uint32_t loss;
  uint32_t row;
} shoal_found;

#define shoal_nearest_start ((shoal_found){UINT32_MAX, SHOAL_NO_ROW})
#define shoal_furthest_start ((shoal_found){0, SHOAL_NO_ROW})

/* All rows are free. Keys are 0 .. n_keys - 1, each of some row; NULL: all rows have key 0. */
shoal_status shoal_row_tree_init(shoal_row_tree *tree, const shoal_axes *axes,
                                 const uint32_t *key_of_row, uint32_t n_keys,
                                 const uint8_t *is_free, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_row_tree_reset(shoal_row_tree *tree);

/* After is_free[row] was cleared, or set. */
void shoal_row_tree_take(shoal_row_tree *tree, uint32_t row);
void shoal_row_tree_put(shoal_row_tree *tree, uint32_t row);

/* What the next questions are about: an extent, which must stay as it is meanwhile. */
void shoal_row_tree_aim_near(shoal_row_tree *tree, const shoal_span *extent);
/* Betters `found` by the free row of that key with the least loss once it has joined the extent. */
void shoal_row_tree_nearest(const shoal_row_tree *tree, uint32_t key, shoal_found *found);

/* The free row of key 0 whose pair with `row` loses most. */
uint32_t shoal_row_tree_furthest(shoal_row_tree *tree, uint32_t row, shoal_span *scratch);

#endif
