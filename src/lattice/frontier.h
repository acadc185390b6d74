/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/frontier: the nodes of the lattice by ascending bound, then number, one at a time. Each
 * node is reached from one node below it only, the one with its last raised attribute a level
 * lower: where bounds do not fall going up, a heap of nodes reached gives them in order, and only
 * those are ever made that a search comes to.
 */
#ifndef SHOAL_LATTICE_FRONTIER_H
#define SHOAL_LATTICE_FRONTIER_H

#include "lattice/bound.h"

typedef struct shoal_frontier_node {
  double bound;
  uint64_t node;
} shoal_frontier_node;

typedef struct shoal_frontier {
  const shoal_space *space;
  const shoal_bound *bound;
  shoal_frontier_node *heap;
  size_t n_heap, capacity;
  uint32_t *levels; /* of the node given last */
} shoal_frontier;

shoal_status shoal_frontier_init(shoal_frontier *frontier, const shoal_space *space,
                                 const shoal_bound *bound, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_frontier_reset(shoal_frontier *frontier);

/* The next node, its levels in frontier->levels; *more is false after the last. */
shoal_status shoal_frontier_next(shoal_frontier *frontier, shoal_frontier_node *next, bool *more,
                                 shoal_error *error) SHOAL_MUST_CHECK;

#endif
