/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/optimal: the best node of all under an objective. Nodes are taken by their lower bounds,
 * the least first; once a bound is not below the best cost found, no node behind it can be better.
 * Where only classes give bounds, heights ascend and bounds are handed up. What monotonicity tells
 * is used besides: nodes known not to satisfy are never looked at.
 */
#include <math.h>
#include <stdlib.h>

#include "lattice/objective.h"

/* More nodes would not fit into memory with their bounds. */
static const uint64_t MAX_NODES = 20000000;

typedef struct candidate {
  double bound;
  uint64_t node;
} candidate;

typedef struct optimum {
  shoal_search *search;
  const shoal_objective *objective;
  shoal_level_costs costs;
  uint32_t *levels;
  double *bounds; /* by node; NULL where bounds come from levels */
  bool found;
  double cost;
  shoal_node best;
} optimum;

static int by_bound(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
  return (x->node > y->node) - (x->node < y->node);
}

/* Rounding apart, can a node with this bound be better than the best? */
static bool hopeless(const optimum *o, double bound) {
  return o->found && bound >= o->cost - fabs(o->cost) * 1e-12;
}

static void hand_up(optimum *o, uint64_t node, double bound) {
  const shoal_space *space = &o->search->space;
  if (bound > o->bounds[node]) o->bounds[node] = bound;
  for (size_t q = 0; q < space->n; q++) {
    if (o->levels[q] == space->top[q]) continue;
    double *above = &o->bounds[node + space->stride[q]];
    if (o->bounds[node] > *above) *above = o->bounds[node];
  }
}

/* Computes the node's classes, its cost if it satisfies, and what it tells of nodes above. */
static shoal_status look(optimum *o, uint64_t node, shoal_error *error) {
  shoal_search *search = o->search;
  shoal_classes classes;
  uint8_t *breaks;
  shoal_node figures;
  SHOAL_TRY(shoal_search_inspect(search, node, &figures, &classes, &breaks, error));
  shoal_cost_view view = {.search = search,
                          .levels_cost = &o->costs,
                          .levels = o->levels,
                          .classes = &classes,
                          .breaks = breaks,
                          .node = &figures};
  if (figures.satisfies) {
    double cost = o->objective->cost(&view);
    if (!o->found || cost < o->cost) {
      o->best = figures;
      o->cost = cost;
      o->found = true;
    }
  }
  if (o->bounds) hand_up(o, node, o->objective->by_classes(&view));
  free(breaks);
  shoal_search_keep(search, node, &classes);
  return SHOAL_OK;
}

static shoal_status visit(optimum *o, uint64_t node, shoal_error *error) {
  shoal_search *search = o->search;
  shoal_space_levels(&search->space, node, o->levels);
  bool satisfies = true;
  if (search->tags) SHOAL_TRY(shoal_search_settle(search, node, &satisfies, error));
  return satisfies ? look(o, node, error) : SHOAL_OK;
}

/* By levels: the bounds are known beforehand, and the first hopeless one ends the search. */
static shoal_status by_bounds(optimum *o, shoal_error *error) {
  shoal_search *search = o->search;
  uint64_t n = search->space.n_nodes;
  candidate *order = shoal_alloc((size_t)n, sizeof *order);
  if (!order) return shoal_fail_memory(error);
  for (uint64_t node = 0; node < n; node++) {
    shoal_space_levels(&search->space, node, o->levels);
    order[node] = (candidate){o->objective->by_level(search, &o->costs, o->levels), node};
  }
  if (n > 1) qsort(order, (size_t)n, sizeof *order, by_bound);
  shoal_status status = SHOAL_OK;
  for (uint64_t i = 0; status == SHOAL_OK && i < n && !hopeless(o, order[i].bound); i++)
    status = visit(o, order[i].node, error);
  free(order);
  return status;
}

/* By classes: heights ascend, so that every node below has handed its bound up before. */
static shoal_status by_heights(optimum *o, shoal_error *error) {
  const shoal_space *space = &o->search->space;
  o->bounds = shoal_alloc((size_t)space->n_nodes, sizeof *o->bounds);
  uint32_t *levels = shoal_alloc(space->n, sizeof *levels);
  shoal_status status = o->bounds && levels ? SHOAL_OK : shoal_fail_memory(error);
  for (uint64_t node = 0; status == SHOAL_OK && node < space->n_nodes; node++)
    o->bounds[node] = -INFINITY;
  for (uint32_t height = 0; status == SHOAL_OK && height <= space->height; height++) {
    for (bool more = shoal_space_first(space, height, levels); more && status == SHOAL_OK;
         more = shoal_space_next(space, levels)) {
      uint64_t node = shoal_space_node(space, levels);
      shoal_space_levels(space, node, o->levels);
      if (hopeless(o, o->bounds[node])) hand_up(o, node, o->bounds[node]);
      else status = visit(o, node, error);
    }
  }
  free(levels);
  return status;
}

shoal_status shoal_search_optimal(shoal_search *search, shoal_node *solution, bool *found,
                                  shoal_error *error) {
  if (search->space.n_nodes > MAX_NODES)
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "the lattice has %llu nodes, too many for 'optimal': use hierarchies with "
                      "fewer levels, or 'samarati'",
                      (unsigned long long)search->space.n_nodes);
  const shoal_objective *objective = search->objective;
  optimum o = {.search = search, .objective = objective};
  SHOAL_TRY(shoal_level_costs_init(&o.costs, search->frequency, error));
  o.levels = shoal_alloc(search->space.n, sizeof *o.levels);
  shoal_status status = !o.levels             ? shoal_fail_memory(error)
                        : objective->by_level ? by_bounds(&o, error)
                                              : by_heights(&o, error);
  *found = o.found;
  search->cost = o.cost;
  *solution = o.best;
  free(o.bounds);
  free(o.levels);
  shoal_level_costs_reset(&o.costs);
  return status;
}
