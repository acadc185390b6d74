/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/nearest: a k-d tree (Bentley 1975) of items that are classes or single rows. It finds the
 * class that costs least to join with another, the row nearest to a cluster, and the row furthest
 * from another. Losses only grow with a span, so the spans that all items below a node have in
 * common bound the loss of joining any of them, and most of the tree is skipped. Answers are exact;
 * of equals the lowest number wins.
 */
#pragma once

#include "base/memory.h"
#include "cluster/axes.h"

typedef struct shoal_near_node {
  uint32_t first, n; /* items in `order` */
  uint32_t children; /* the first of two adjacent nodes; 0: a leaf */
  uint32_t parent;   /* SHOAL_NONE: a root */
  uint32_t lowest;   /* of the items below that are not taken; SHOAL_NONE: there is none */
  uint32_t max_loss; /* classes: of a row of any class below */
  uint64_t min_rows; /* classes: of any class below */
} shoal_near_node;

typedef struct shoal_nearest {
  const shoal_axes *axes;
  const shoal_span *boxes; /* by class: axes->n_spans; borrowed. NULL: items are rows */
  const uint64_t *n_rows;  /* by class; borrowed */
  const uint8_t *is_free;  /* by row; borrowed */
  shoal_arena arena;
  uint32_t *order;
  uint32_t *leaf_of;      /* by item: its node */
  uint32_t *loss;         /* by class: of one of its rows */
  shoal_near_node *nodes; /* nodes 0 .. n_keys - 1 are the roots */
  uint32_t n_nodes;
  shoal_span
      *bounds; /* by node: greatest lo and least hi of the items below; sets: what all have */
} shoal_nearest;

/* The boxes and sizes of n >= 1 classes must outlive the tree. */
shoal_status shoal_nearest_init(shoal_nearest *t, const shoal_axes *axes, const shoal_span *boxes,
                                const uint64_t *n_rows, uint32_t n,
                                shoal_error *error) SHOAL_MUST_CHECK;
/*
 * All rows; is_free must outlive the tree. Rows of each key have a tree of their own. Keys are
 * numbered from 0 to n_keys - 1, and each has rows. key_of_row NULL: all rows have key 0.
 */
shoal_status shoal_nearest_init_rows(shoal_nearest *t, const shoal_axes *axes,
                                     const uint32_t *key_of_row, uint32_t n_keys,
                                     const uint8_t *is_free, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_nearest_reset(shoal_nearest *t);

/* The cheapest class to join with c, or SHOAL_NONE. `excluded` (by class) can be NULL. */
uint32_t shoal_nearest_class(const shoal_nearest *t, uint32_t c, const uint8_t *excluded);

/* The best row so far. */
typedef struct shoal_found {
  uint64_t loss; /* of a row of the box after it has joined */
  uint32_t row;
} shoal_found;

#define SHOAL_NOTHING_NEAR ((shoal_found){UINT64_MAX, SHOAL_NONE})

/* Replaces *found by the free row of that key that loses less in the box, if there is one. */
void shoal_nearest_row(const shoal_nearest *t, uint32_t key, const shoal_span *box,
                       shoal_found *found);
/* The free row of key 0 whose pair with `row` loses most. `box` is scratch. */
uint32_t shoal_nearest_furthest(const shoal_nearest *t, uint32_t row, shoal_span *box);

/* Call after is_free[row] was cleared, or set. */
void shoal_nearest_take(shoal_nearest *t, uint32_t row);
void shoal_nearest_put(shoal_nearest *t, uint32_t row);
