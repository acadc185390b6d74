/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/optimal_bounds: the three structures of the branch and bound search in optimal.c. Private
 * to this directory.
 *
 * - Cost bound: no node at these levels that suppresses this many rows costs less.
 * - Suppression bounds: rows suppressed at a node, at least or at most, from nodes evaluated so
 * far.
 * - Frontier: the nodes that are still to be visited, by ascending cost bound.
 */
#pragma once

#include "lattice/objective.h"
#include "lattice/search.h"

/* ------------------------------------------------------------ cost bound */

/*
 * For objectives that combine the costs of single attributes (objective.h, level_cost). The cost of
 * a level is known before any class is computed. A suppressed row loses everything; the bound
 * assumes that rows are suppressed whose labels had lost most already.
 */

/* One attribute at one level. */
typedef struct shoal_level_bound {
  double cost;       /* nothing suppressed */
  double term;       /* the same, as it enters the sum over attributes */
  uint32_t n_labels; /* in use; those first whose rows lose least by being suppressed */
  uint64_t *rows;    /* of the first i labels; n_labels + 1 sums */
  double *extra;     /* what these rows lose by being suppressed; n_labels + 1 sums */
  double *lost;      /* by label: what a row of it adds to `cost` by being suppressed */
  double ratio;      /* of the step to the next level: cost per bit of information removed */
} shoal_level_bound;

typedef struct shoal_cost_bound {
  const shoal_search *search;
  const shoal_objective *objective;
  size_t n;
  double *weight;             /* by quasi-identifier; divided by their sum for a mean */
  shoal_level_bound **levels; /* by quasi-identifier and level */
  shoal_arena arena;          /* of both */
} shoal_cost_bound;

/* Cost: a pass over the values of each attribute for each of its levels. Reset also if it fails. */
shoal_status shoal_cost_bound_init(shoal_cost_bound *bound, const shoal_search *search,
                                   const shoal_objective *objective, const shoal_level_costs *costs,
                                   shoal_error *error) SHOAL_MUST_CHECK;
void shoal_cost_bound_reset(shoal_cost_bound *bound);

/* The minimum cost at these levels if at least `suppressed` rows are suppressed. */
double shoal_cost_bound_at(const shoal_cost_bound *bound, const uint32_t *levels,
                           uint64_t suppressed);

/* The exact cost at these levels; extra[q]: what the suppressed rows add to attribute q. */
double shoal_cost_bound_exact(const shoal_cost_bound *bound, const uint32_t *levels,
                              const double *extra);

/*
 * A path from the node to the top: each step raises the attribute with the smallest ratio. Returns
 * its length, at most the lattice's height + 1. `levels` are those of the node, and of the top
 * after the call.
 */
size_t shoal_cost_bound_path(const shoal_cost_bound *bound, uint64_t node, uint32_t *levels,
                             uint64_t *path);

/* ------------------------------------------------------------ suppression bounds */

/*
 * The rows that nodes at or below must suppress never rise going up the lattice: a node above gives
 * a lower bound, a node below an upper bound. Entries that another one implies are dropped. An
 * entry is a few words; 16 bits per level, four levels per word:
 *
 *      word 0              word 1                                               word 2 ...
 *     +-----------------+ +------------+------------+------------+------------+
 *     | rows suppressed | | 0, level 3 | 0, level 2 | 0, level 1 | 0, level 0 |  levels 4 to 7
 *     +-----------------+ +------------+------------+------------+------------+
 *                          63        48 47        32 31        16 15         0
 *
 * The highest bit of each field is 0 and serves as a guard: with all guards set in b, b - a clears
 * the guard of exactly those fields in which a is larger. One subtraction compares four levels.
 */
typedef struct shoal_suppression_bounds {
  size_t n_levels;
  bool is_lower;     /* a lower bound, from nodes above; else an upper bound, from nodes below */
  uint64_t *entries; /* the strongest first */
  size_t n_entries, capacity;
} shoal_suppression_bounds;

void shoal_suppression_bounds_init(shoal_suppression_bounds *bounds, size_t n_levels,
                                   bool is_lower);
void shoal_suppression_bounds_reset(shoal_suppression_bounds *bounds);

/* False: no memory. */
bool shoal_suppression_bounds_add(shoal_suppression_bounds *bounds, const uint32_t *levels,
                                  uint64_t suppressed);

/* The bound at these levels; `unknown` if there is none. Cost: at most a scan of the entries. */
uint64_t shoal_suppression_bounds_at(const shoal_suppression_bounds *bounds, const uint32_t *levels,
                                     uint64_t unknown);

/* ------------------------------------------------------------ frontier */

/*
 * A bucket queue of nodes. A node is generated from one node below it only: the one with the last
 * raised attribute a level lower. Since bounds do not fall going up, only nodes near those that the
 * search visits are ever generated.
 *
 * Bounds from 0 to that of the top are divided into 4,096 buckets of equal width, each a list in
 * one array. Nodes of a bucket come in the order of their insertion, before all of the next bucket.
 */
typedef struct shoal_frontier_node {
  double bound;
  uint64_t node;
} shoal_frontier_node;

typedef struct shoal_frontier {
  const shoal_space *space;
  const shoal_cost_bound *bound;
  double buckets_per_unit; /* of the bound */
  uint32_t *first;         /* by bucket: index of the first entry + 1; 0: empty */
  uint32_t *last;          /* by bucket: index of the last entry + 1, unless empty */
  uint32_t bucket;         /* all before it are empty */
  struct shoal_frontier_entry *entries;
  size_t n_entries, capacity;
  uint32_t free;    /* index of the first unused entry + 1 */
  uint32_t *levels; /* of the node returned last */
} shoal_frontier;

shoal_status shoal_frontier_init(shoal_frontier *frontier, const shoal_space *space,
                                 const shoal_cost_bound *bound,
                                 shoal_error *error) SHOAL_MUST_CHECK;
void shoal_frontier_reset(shoal_frontier *frontier);

/* The next node, its levels in frontier->levels; *more is false after the last. */
shoal_status shoal_frontier_next(shoal_frontier *frontier, shoal_frontier_node *next, bool *more,
                                 shoal_error *error) SHOAL_MUST_CHECK;

/* No node from the one returned last on has a smaller bound. */
double shoal_frontier_min(const shoal_frontier *frontier);
