/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/nearest: which class costs least to join with a given one? Classes stand in a tree by the
 * middles of what they cover. Losses only grow when a span does, so what all classes below a node
 * have in common bounds what joining any of them costs, and most of the tree is never looked at.
 * Answers are exact, ties included: the lowest number wins.
 */
#ifndef SHOAL_CLUSTER_NEAREST_H
#define SHOAL_CLUSTER_NEAREST_H

#include "cluster/axes.h"

#define SHOAL_NO_CLASS UINT32_MAX

typedef struct shoal_near_node {
  uint32_t first, n;  /* classes among `order` */
  uint32_t children;  /* the first of two neighbours; 0: a leaf */
  uint32_t most_loss; /* of a row of any class below */
  uint64_t least_rows;
} shoal_near_node;

typedef struct shoal_nearest {
  const shoal_axes *axes;
  const shoal_span *extents; /* by class; borrowed */
  const uint64_t *n_rows;    /* by class; borrowed */
  uint32_t *order;
  uint32_t *loss; /* by class: of one of its rows */
  shoal_near_node *nodes;
  shoal_span *bounds; /* by node and axis: greatest lo and least hi of the classes below */
  uint32_t n_nodes;
} shoal_nearest;

/* Extents, one span an axis, and sizes of n classes, one or more; both must outlive the tree. */
shoal_status shoal_nearest_init(shoal_nearest *nearest, const shoal_axes *axes,
                                const shoal_span *extents, const uint64_t *n_rows, uint32_t n,
                                shoal_error *error) SHOAL_MUST_CHECK;
void shoal_nearest_reset(shoal_nearest *nearest);

/* What all rows of two classes lose more once they are one. */
uint64_t shoal_nearest_cost(const shoal_nearest *nearest, uint32_t a, uint32_t b);

/* The class that costs least to join with c, of those that are not in `left_out` (by class; may be
 * NULL); SHOAL_NO_CLASS: there is none. */
uint32_t shoal_nearest_find(const shoal_nearest *nearest, uint32_t c, const uint8_t *left_out);

#endif
