/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/heights: the best node of all under an objective that only classes bound. Heights
 * ascend and bounds are handed up; a node whose bound is not below the best cost is not looked at,
 * nor is one known by monotonicity not to satisfy.
 */
#include <math.h>
#include <stdlib.h>

#include "lattice/objective.h"

typedef struct ascent {
  shoal_search *search;
  const shoal_objective *objective;
  uint32_t *levels;
  double *bounds; /* by node */
  bool found;
  double cost;
  shoal_node best;
} ascent;

/* Rounding apart, can a node with this bound be better than the best? */
static bool hopeless(const ascent *a, double bound) {
  return a->found && bound >= a->cost - fabs(a->cost) * 1e-12;
}

static void hand_up(ascent *a, uint64_t node, double bound) {
  const shoal_space *space = &a->search->space;
  if (bound > a->bounds[node]) a->bounds[node] = bound;
  for (size_t q = 0; q < space->n; q++) {
    if (a->levels[q] == space->top[q]) continue;
    double *above = &a->bounds[node + space->stride[q]];
    if (a->bounds[node] > *above) *above = a->bounds[node];
  }
}

/* Computes the node's classes, its cost if it satisfies, and what it tells of nodes above. */
static shoal_status look(ascent *a, uint64_t node, shoal_error *error) {
  shoal_search *search = a->search;
  shoal_classes classes;
  uint8_t *breaks;
  shoal_node figures;
  SHOAL_TRY(shoal_search_inspect(search, node, &figures, &classes, &breaks, error));
  shoal_cost_view view = {.search = search,
                          .levels = a->levels,
                          .classes = &classes,
                          .breaks = breaks,
                          .node = &figures};
  if (figures.satisfies) {
    double cost = a->objective->cost(&view);
    if (!a->found || cost < a->cost) {
      a->best = figures;
      a->cost = cost;
      a->found = true;
    }
  }
  hand_up(a, node, a->objective->by_classes(&view));
  free(breaks);
  shoal_search_keep(search, node, &classes);
  return SHOAL_OK;
}

static shoal_status visit(ascent *a, uint64_t node, shoal_error *error) {
  shoal_search *search = a->search;
  shoal_space_levels(&search->space, node, a->levels);
  bool satisfies = true;
  if (hopeless(a, a->bounds[node])) {
    hand_up(a, node, a->bounds[node]);
    return SHOAL_OK;
  }
  if (search->tags) SHOAL_TRY(shoal_search_settle(search, node, &satisfies, error));
  return satisfies ? look(a, node, error) : SHOAL_OK;
}

static shoal_status climb(ascent *a, uint32_t *levels, shoal_error *error) {
  const shoal_space *space = &a->search->space;
  for (uint64_t node = 0; node < space->n_nodes; node++) a->bounds[node] = -INFINITY;
  for (uint32_t height = 0; height <= space->height; height++)
    for (bool more = shoal_space_first(space, height, levels); more;
         more = shoal_space_next(space, levels))
      SHOAL_TRY(visit(a, shoal_space_node(space, levels), error));
  return SHOAL_OK;
}

shoal_status shoal_search_by_heights(shoal_search *search, shoal_node *solution, bool *found,
                                     shoal_error *error) {
  ascent a = {.search = search, .objective = search->objective};
  a.levels = shoal_alloc(search->space.n, sizeof *a.levels);
  a.bounds = shoal_alloc((size_t)search->space.n_nodes, sizeof *a.bounds);
  uint32_t *levels = shoal_alloc(search->space.n, sizeof *levels);
  shoal_status status =
      a.levels && a.bounds && levels ? climb(&a, levels, error) : shoal_fail_memory(error);
  *found = a.found;
  search->cost = a.cost;
  *solution = a.best;
  free(levels);
  free(a.bounds);
  free(a.levels);
  return status;
}
