/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/heights: the best node of all under an objective that only classes bound. Heights
 * ascend and bounds are handed up; a node whose bound is not below the best cost is not looked at,
 * nor is one known by monotonicity not to satisfy. Nodes of a height are looked at several at a
 * time: what is found at one may leave another without hope, but not the other way.
 */
#include <math.h>
#include <stdlib.h>

#include "lattice/objective.h"
#include "lattice/walk.h"

typedef struct ascent {
  shoal_search *search;
  const shoal_objective *objective;
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
    uint64_t level = node / space->stride[q] % ((uint64_t)space->top[q] + 1);
    if (level == space->top[q]) continue;
    double *above = &a->bounds[node + space->stride[q]];
    if (a->bounds[node] > *above) *above = a->bounds[node];
  }
}

/* What looking at nodes tells. */
typedef struct told {
  const ascent *ascent;
  struct {
    shoal_node figures;
    double cost;  /* where it satisfies */
    double bound; /* of nodes above */
  } of[SHOAL_LOOKS];
} told;

/* Computes the node's classes, its cost if it satisfies, and what it tells of nodes above. */
static shoal_status look_at(void *user, size_t i, shoal_look *look) {
  told *t = user;
  const shoal_search *search = t->ascent->search;
  const shoal_objective *objective = t->ascent->objective;
  SHOAL_TRY(shoal_look_roll_up(search, look, false));
  uint8_t *breaks = shoal_alloc(look->classes.n_classes, 1);
  if (!breaks) return shoal_fail_memory(&look->error);
  shoal_verdict verdict =
      shoal_judge(search->demands, search->frequency, &look->classes, UINT64_MAX, breaks);
  t->of[i].figures = shoal_search_figures(search, look->node, &verdict);
  shoal_cost_view view = {.search = search,
                          .levels = look->levels,
                          .classes = &look->classes,
                          .breaks = breaks,
                          .node = &t->of[i].figures};
  if (t->of[i].figures.satisfies) t->of[i].cost = objective->cost(&view);
  t->of[i].bound = objective->by_classes(&view);
  free(breaks);
  return SHOAL_OK;
}

static void take(ascent *a, const told *t, size_t i) {
  const shoal_node *figures = &t->of[i].figures;
  bool in_hope = !hopeless(a, a->bounds[figures->number]);
  if (in_hope && figures->satisfies && (!a->found || t->of[i].cost < a->cost)) {
    a->best = *figures;
    a->cost = t->of[i].cost;
    a->found = true;
  }
  hand_up(a, figures->number, t->of[i].bound);
}

static shoal_status look(void *user, const uint64_t *nodes, size_t n, bool *enough,
                         shoal_error *error) {
  (void)enough;
  ascent *a = user;
  told t = {.ascent = a};
  SHOAL_TRY(shoal_several_look(a->search, nodes, n, false, look_at, &t, error));
  for (size_t i = 0; i < n; i++) take(a, &t, i);
  return SHOAL_OK;
}

static shoal_status may_be_best(void *user, uint64_t node, bool *wanted, shoal_error *error) {
  ascent *a = user;
  *wanted = !hopeless(a, a->bounds[node]);
  if (!*wanted) hand_up(a, node, a->bounds[node]);
  return *wanted && a->search->tags ? shoal_search_settle(a->search, node, wanted, error)
                                    : SHOAL_OK;
}

shoal_status shoal_search_by_heights(shoal_search *search, shoal_node *solution, bool *found,
                                     shoal_error *error) {
  size_t n_nodes = (size_t)search->space.n_nodes;
  ascent a = {.search = search, .objective = search->objective};
  shoal_walk walk = {.search = search, .user = &a, .wants = may_be_best, .look = look};
  a.bounds = shoal_alloc(n_nodes, sizeof *a.bounds);
  if (!a.bounds) return shoal_fail_memory(error);
  for (size_t node = 0; node < n_nodes; node++) a.bounds[node] = -INFINITY;
  shoal_status status = shoal_walk_heights(&walk, 0, error);
  *found = a.found;
  search->cost = a.cost;
  *solution = a.best;
  free(a.bounds);
  return status;
}
