/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/neighbours: the neighbours of a node and their costs, for the local search (climb.h).
 * Private to this directory.
 *
 * A step raises or lowers one attribute by a level. An exchange raises one and lowers another.
 */
#pragma once

#include "lattice/optimal_bounds.h"

/* What nodes are compared by. */
typedef struct shoal_node_figures {
  bool satisfies;
  uint64_t suppressed;
  double cost; /* if it satisfies */
} shoal_node_figures;

/* Is a better than b, rounding apart? Nodes that do not satisfy compare by suppressed rows. */
bool shoal_node_figures_better(const shoal_node_figures *a, const shoal_node_figures *b);

/* A neighbour: attribute q at level lq, and r at lr unless it is SHOAL_NO_ATTRIBUTE. */
typedef struct shoal_move {
  size_t q;
  uint32_t lq;
  size_t r;
  uint32_t lr;
  bool improves; /* it is better than the current node; else the rest is undefined */
  shoal_node_figures figures;
} shoal_move;

/* The current node. */
typedef struct shoal_place {
  shoal_search *search;
  const shoal_objective *objective;
  const shoal_search_limits *limits;
  uint64_t limit; /* max_suppressed, or fewer so that a row is left if one must be */
  shoal_level_costs costs;
  shoal_cost_bound bound; /* if the objective has costs of levels */
  uint32_t *levels;
  shoal_node node;            /* without its number */
  shoal_node_figures figures; /* exact */
  shoal_classes atoms;
  double *extra;       /* by attribute: what the suppressed rows add to its cost */
  uint8_t *suppressed; /* by atom */
  uint32_t *outside;   /* by atom: scratch of a batch */
  size_t suppressed_capacity, outside_capacity;
  struct shoal_place_worker *workers; /* SHOAL_BATCH_NODES */
} shoal_place;

/* Pointers are borrowed until the reset. Nothing to reset if it fails. */
shoal_status shoal_place_init(shoal_place *place, shoal_search *search,
                              const shoal_objective *objective, const shoal_search_limits *limits,
                              shoal_error *error) SHOAL_MUST_CHECK;
void shoal_place_reset(shoal_place *place);

/* Makes the node at place->levels the current one. Cost: a pass over the tuples. */
shoal_status shoal_place_arrive(shoal_place *place, shoal_error *error) SHOAL_MUST_CHECK;

typedef enum shoal_neighbourhood { SHOAL_STEPS, SHOAL_EXCHANGES } shoal_neighbourhood;

/*
 * The best neighbour that changes one of n <= SHOAL_BATCH_NODES attributes, from attribute `first`
 * on, in a circle: steps of it, or exchanges that raise it. best->improves is set if it is better
 * than the current node. A limit may end the work before all are tried. Attributes are distributed
 * to threads; without a deadline neither results nor counters depend on their number. Cost: up to a
 * pass over the atoms for each neighbour.
 */
shoal_status shoal_place_try(shoal_place *place, shoal_neighbourhood kind, size_t first, size_t n,
                             shoal_move *best, shoal_error *error) SHOAL_MUST_CHECK;
