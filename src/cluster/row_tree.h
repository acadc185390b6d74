/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/row_tree: finds the free row nearest to a cluster, or furthest from a row. Rows are
 * leaves of a tree: by key at the top, then by position on one axis per level. A node has the
 * lowest free row below it. Losses only grow with a span, so the axes fixed on the way down bound
 * the loss of all rows below a node, and most of the tree is skipped. Answers are exact; of equals
 * the lowest row wins.
 */
#ifndef SHOAL_CLUSTER_ROW_TREE_H
#define SHOAL_CLUSTER_ROW_TREE_H

#include "base/memory.h"
#include "cluster/axes.h"

typedef struct shoal_row_node {
  uint32_t position; /* the key at the top, below it the position on the axis of its depth */
  uint32_t lowest;   /* lowest free row below it, or SHOAL_NONE */
  uint32_t first;    /* first child; of a leaf: first row in `sorted` */
  uint32_t n;        /* children, or rows */
  uint32_t parent;   /* SHOAL_NONE at the top */
} shoal_row_node;

typedef struct shoal_row_tree {
  const shoal_axes *axes;
  const uint8_t *is_free;     /* by row; borrowed */
  const uint32_t *key_of_row; /* borrowed; NULL: all rows have key 0 */
  shoal_arena arena;
  uint32_t *axis_at;       /* axes from the top down, the fewest positions first */
  uint32_t *sorted;        /* rows in the order of the leaves, ascending in each */
  uint32_t *leaf_of;       /* by row */
  shoal_row_node *nodes;   /* by depth; nodes 0 .. n_keys - 1 are the keys */
  const shoal_span *query; /* box of the current query */
  bool far;                /* it is for the furthest row */
  uint32_t *loss_now;      /* by depth: bound on the loss on that axis */
  uint32_t *loss_below;    /* by depth: bound on the loss from that axis on */
  shoal_span *point;       /* target of shoal_row_tree_furthest */
} shoal_row_tree;

/* The best row so far. */
typedef struct shoal_found {
  uint32_t loss;
  uint32_t row;
} shoal_found;

#define SHOAL_NOTHING_NEAR ((shoal_found){UINT32_MAX, SHOAL_NONE})

/* All rows are free. Keys are numbered from 0, and each has rows. */
shoal_status shoal_row_tree_init(shoal_row_tree *tree, const shoal_axes *axes,
                                 const uint32_t *key_of_row, const uint8_t *is_free,
                                 shoal_error *error) SHOAL_MUST_CHECK;
void shoal_row_tree_reset(shoal_row_tree *tree);

/* Call after is_free[row] was cleared, or set. */
void shoal_row_tree_take(shoal_row_tree *tree, uint32_t row);
void shoal_row_tree_put(shoal_row_tree *tree, uint32_t row);

/* Sets the box of the next queries; it must not change meanwhile. */
void shoal_row_tree_query(shoal_row_tree *tree, const shoal_span *box);
/* Replaces *found by the free row of that key that loses less after joining, if there is one. */
void shoal_row_tree_nearest(const shoal_row_tree *tree, uint32_t key, shoal_found *found);

/* The free row of key 0 whose pair with `row` loses most. */
uint32_t shoal_row_tree_furthest(shoal_row_tree *tree, uint32_t row);

#endif
