/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/nearest_class: finds the class that costs least to join with a given one. Classes are
 * leaves of a tree that divides them by the middles of their boxes. Losses only grow with a span,
 * so the spans that all classes below a node have in common bound the cost of joining any of them,
 * and most of the tree is skipped. Answers are exact; of equals the lowest number wins.
 */
#ifndef SHOAL_CLUSTER_NEAREST_CLASS_H
#define SHOAL_CLUSTER_NEAREST_CLASS_H

#include "base/memory.h"
#include "cluster/axes.h"

typedef struct shoal_near_node {
  uint32_t first, n; /* classes in `order` */
  uint32_t children; /* the first of two adjacent nodes; 0: a leaf */
  uint32_t max_loss; /* of a row of any class below */
  uint64_t min_rows; /* of any class below */
} shoal_near_node;

typedef struct shoal_nearest_class {
  const shoal_axes *axes;
  const shoal_span *boxes; /* by class: axes->n_spans; borrowed */
  const uint64_t *n_rows;  /* by class; borrowed */
  shoal_arena arena;
  uint32_t *order;
  uint32_t *loss; /* by class: of one of its rows */
  shoal_near_node *nodes;
  shoal_span
      *bounds; /* by node: greatest lo and least hi of the classes below; sets: what all have */
  uint32_t n_nodes;
} shoal_nearest_class;

/* The boxes and sizes of n >= 1 classes must outlive the tree. */
shoal_status shoal_nearest_class_init(shoal_nearest_class *nearest, const shoal_axes *axes,
                                      const shoal_span *boxes, const uint64_t *n_rows, uint32_t n,
                                      shoal_error *error) SHOAL_MUST_CHECK;
void shoal_nearest_class_reset(shoal_nearest_class *nearest);

/* The cheapest class to join with c, or SHOAL_NONE. `excluded` (by class) can be NULL. */
uint32_t shoal_nearest_class_find(const shoal_nearest_class *nearest, uint32_t c,
                                  const uint8_t *excluded);

#endif
