/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/optimal_levelwise: the node of minimum cost under an objective that only classes bound
 * (dm, avg, classes). Heights ascend. Each evaluated node gives a lower bound on the cost of all
 * nodes above it, and bounds are passed up. A node is evaluated only if its bound is below the best
 * cost, and tags do not show that it does not satisfy. Nodes of one height make batches: results of
 * one may only make the evaluation of another unnecessary.
 */
#include <math.h>
#include <stdlib.h>

#include "lattice/objective.h"
#include "lattice/search.h"

typedef struct ascent {
  shoal_search *search;
  const shoal_objective *objective;
  const shoal_search_limits *limits;
  double *bounds; /* by node */
  bool unproven;
  bool found;
  double cost;
  shoal_node best;
} ascent;

/* Apart from rounding, a node with this bound is not better than the best. */
static bool is_no_better(const ascent *a, double bound) {
  return a->found && bound >= a->cost - fabs(a->cost) * 1e-12;
}

static void pass_up(ascent *a, uint64_t node, double bound) {
  const shoal_space *space = &a->search->space;
  if (bound > a->bounds[node]) a->bounds[node] = bound;
  for (size_t q = 0; q < space->n; q++) {
    if (shoal_space_level(space, node, q) == space->top[q]) continue;
    double *above = &a->bounds[node + space->stride[q]];
    if (a->bounds[node] > *above) *above = a->bounds[node];
  }
}

typedef struct batch_work {
  const ascent *ascent;
  struct {
    shoal_node node;
    double cost;  /* if it satisfies */
    double bound; /* of the nodes above */
  } of[SHOAL_BATCH_NODES];
} batch_work;

static shoal_status evaluate_node(void *user, size_t i, shoal_node_evaluation *evaluation) {
  batch_work *w = user;
  const shoal_search *search = w->ascent->search;
  const shoal_objective *objective = w->ascent->objective;
  SHOAL_TRY(shoal_node_evaluation_roll_up(search, evaluation, false));
  uint8_t *violates = shoal_alloc(evaluation->classes.n_classes, 1);
  if (!violates) return shoal_fail_memory(&evaluation->error);
  shoal_judgement judged = shoal_search_judge(search, evaluation->levels, evaluation->grouper,
                                              &evaluation->classes, UINT64_MAX, violates);
  w->of[i].node = shoal_search_node(search, evaluation->node, &judged);
  shoal_cost_view view = {.search = search,
                          .levels = evaluation->levels,
                          .classes = &evaluation->classes,
                          .violates = violates,
                          .node = &w->of[i].node};
  if (w->of[i].node.satisfies) w->of[i].cost = objective->cost(&view);
  w->of[i].bound = objective->by_classes(&view);
  free(violates);
  return SHOAL_OK;
}

static shoal_status evaluate_batch(void *user, const uint64_t *nodes, size_t n, bool *done,
                                   shoal_error *error) {
  ascent *a = user;
  batch_work w = {.ascent = a};
  SHOAL_TRY(shoal_node_batch_evaluate(a->search, nodes, n, false, evaluate_node, &w, error));
  for (size_t i = 0; i < n; i++) {
    const shoal_node *node = &w.of[i].node;
    bool may_be_better = !is_no_better(a, a->bounds[node->number]);
    if (may_be_better && node->satisfies && (!a->found || w.of[i].cost < a->cost)) {
      a->best = *node;
      a->cost = w.of[i].cost;
      a->found = true;
    }
    pass_up(a, node->number, w.of[i].bound);
  }
  *done = a->unproven;
  return SHOAL_OK;
}

static shoal_status may_be_best(void *user, uint64_t node, bool *wanted, shoal_error *error) {
  ascent *a = user;
  if (shoal_search_is_over(a->search, a->limits)) a->unproven = true;
  *wanted = !a->unproven && !is_no_better(a, a->bounds[node]);
  if (!*wanted) pass_up(a, node, a->bounds[node]);
  return *wanted && a->search->tags ? shoal_search_decide_by_path(a->search, node, wanted, error)
                                    : SHOAL_OK;
}

shoal_status shoal_search_optimal_levelwise(shoal_search *search, const shoal_objective *objective,
                                            const shoal_search_limits *limits,
                                            shoal_solution *solution, shoal_error *error) {
  size_t n_nodes = (size_t)search->space.n_nodes;
  ascent a = {.search = search, .objective = objective, .limits = limits};
  shoal_level_walk walk = {
      .search = search, .user = &a, .wants = may_be_best, .evaluate = evaluate_batch};
  a.bounds = shoal_alloc(n_nodes, sizeof *a.bounds);
  if (!a.bounds) return shoal_fail_memory(error);
  for (size_t node = 0; node < n_nodes; node++) a.bounds[node] = -INFINITY;
  shoal_status status = shoal_level_walk_heights(&walk, 0, error);
  *solution =
      (shoal_solution){.found = a.found, .node = a.best, .cost = a.cost, .unproven = a.unproven};
  free(a.bounds);
  return status;
}
