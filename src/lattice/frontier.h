/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/frontier: the nodes of the lattice by about ascending bound, one at a time. Each node is
 * reached from one node below it only, the one with its last raised attribute a level lower: where
 * bounds do not fall going up, only those are ever made that a search comes to.
 *
 * Bounds from 0 to that of the top are cut into many steps of one width; the nodes of a step come
 * in any order, before all of the next. So no order is kept among the nodes that wait, and all that
 * are still to come are bounded by their step.
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
  double steps;    /* to 1 of bound */
  uint32_t *first; /* by step: the first that waits + 1; 0: none */
  uint32_t *last;  /* by step: the last one + 1, where there is a first */
  uint32_t step;   /* all before it are done */
  struct shoal_frontier_waiting *waiting;
  size_t n_waiting, capacity;
  uint32_t free;    /* the first place to be used again + 1 */
  uint32_t *levels; /* of the node given last */
} shoal_frontier;

shoal_status shoal_frontier_init(shoal_frontier *frontier, const shoal_space *space,
                                 const shoal_bound *bound, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_frontier_reset(shoal_frontier *frontier);

/* The next node, its levels in frontier->levels; *more is false after the last. */
shoal_status shoal_frontier_next(shoal_frontier *frontier, shoal_frontier_node *next, bool *more,
                                 shoal_error *error) SHOAL_MUST_CHECK;

/* No node from the one given last on has a bound below this. */
double shoal_frontier_least(const shoal_frontier *frontier);

#endif
