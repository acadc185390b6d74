/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/node: a decision by full-domain generalization. An algorithm of lattice/ finds a node
 * that satisfies the policy; preferences choose among the minimal nodes (Samarati 2001, section 6);
 * `slack` moves above the choice. Groups are the tuples, labels those of the node's levels.
 */
#include <stdlib.h>
#include <string.h>

#include "decide/decision.h"
#include "lattice/datafly.h"
#include "lattice/distance_matrix.h"

/* Up to this many nodes, for each set of quasi-identifiers if rows may be suppressed, all minimal
 * nodes are searched for, also without a preference. */
static const uint64_t MAX_NODES_FOR_MINIMAL = 1000000;

static shoal_status refuse_unreached(shoal_search *search, const shoal_algorithm *algorithm,
                                     const shoal_solution *solution, shoal_error *error) {
  unsigned long long limit = search->max_suppressed, n = search->frequency->n_records;
  if (solution->unproven)
    return shoal_fail(error, SHOAL_REFUSED,
                      "found no combination of levels that satisfies the policy before the search "
                      "reached its limit; set a longer --time-limit, or use hierarchies with fewer "
                      "levels");
  const char *rows = limit == 1 ? "row" : "rows";
  if (!algorithm->min_height && algorithm->all_minimal)
    return shoal_fail(error, SHOAL_REFUSED,
                      "%s ends at its last node with more than %llu %s to suppress; it is greedy: "
                      "try samarati or optimal",
                      algorithm->name, limit, rows);
  if (!search->monotone)
    return shoal_fail(error, SHOAL_REFUSED,
                      "none of %llu combinations of levels satisfies the policy with at most "
                      "%llu %s suppressed; run 'shoal explain DATA -P POLICY'",
                      (unsigned long long)search->space.n_nodes, limit, rows);
  shoal_node top = solution->node;
  if (search->space.n_nodes != UINT64_MAX)
    SHOAL_TRY(shoal_search_evaluate(search, search->space.n_nodes - 1, &top, error));
  return shoal_fail(error, SHOAL_REFUSED,
                    "no combination of levels satisfies the policy with at most %llu %s "
                    "suppressed: %llu of %llu rows violate it even at the highest levels; run "
                    "'shoal explain DATA -P POLICY'",
                    limit, rows, (unsigned long long)top.suppressed, n);
}

/* Reports the minimal nodes and the chosen one. */
static shoal_status report_nodes(shoal_result *result, const shoal_search *search,
                                 const shoal_node_list *minimal, uint64_t chosen,
                                 shoal_error *error) {
  shoal_node_report *node = &result->release.node;
  node->nodes = shoal_arena_alloc(&result->arena, minimal->n_items, sizeof *node->nodes);
  if (!node->nodes) return shoal_fail_memory(error);
  for (size_t i = 0; i < minimal->n_items; i++) {
    SHOAL_TRY(
        shoal_result_add_node(result, &search->space, &minimal->items[i], &node->nodes[i], error));
    node->nodes[i].chosen = minimal->items[i].number == chosen;
    node->n_nodes = i + 1;
  }
  node->exhaustive = !search->monotone;
  node->lattice_nodes = search->space.n_nodes;
  node->nodes_checked = search->n_evaluated;
  node->nodes_bounded = search->n_bounded;
  node->classes_scanned = search->n_scanned;
  return SHOAL_OK;
}

static void report_cost(shoal_node_report *node, const shoal_algorithm *algorithm,
                        const shoal_objective *objective, const shoal_solution *solution) {
  if (algorithm->min_height || algorithm->all_minimal) return; /* no objective was used */
  if (node->slack) return; /* the node found is not the one chosen */
  node->objective = objective->name;
  node->cost = solution->cost;
  node->unproven = solution->unproven;
}

static bool has_node(const shoal_node_list *nodes, uint64_t number) {
  for (size_t i = 0; i < nodes->n_items; i++)
    if (nodes->items[i].number == number) return true;
  return false;
}

/* ------------------------------------------------------------ slack */

static shoal_status refuse_slack(const shoal_context *p, const shoal_node *minimal, uint64_t above,
                                 shoal_error *error) {
  unsigned long long slack = p->policy->slack;
  if (slack > above)
    return shoal_fail(error, SHOAL_REFUSED,
                      "method.slack is %llu, but the top is only %llu step%s above the node found "
                      "(height %u): lower it",
                      slack, (unsigned long long)above, above == 1 ? "" : "s", minimal->height);
  return shoal_fail(error, SHOAL_REFUSED,
                    "no node %llu step%s above the node found (height %u) satisfies the policy, "
                    "because not every model is monotone: try another method.slack",
                    slack, slack == 1 ? "" : "s", minimal->height);
}

/*
 * Against attacks on minimality (Wong et al. 2007; Cohen 2022): of the nodes `slack` steps above
 * *chosen that satisfy, takes the best by the preferences, then the one with the smallest vector.
 */
static shoal_status step_above(const shoal_context *p, shoal_search *search,
                               const shoal_preference *preferences, size_t n_preferences,
                               shoal_node *chosen, shoal_error *error) {
  size_t n = search->space.n;
  uint32_t *levels = shoal_alloc(n, sizeof *levels), *steps = shoal_alloc(n, sizeof *steps);
  uint32_t *room = shoal_alloc(n, sizeof *room);
  shoal_space above = {.n = n, .top = room, .height = search->space.height - chosen->height};
  shoal_node_list nodes = {0};
  shoal_status status = levels && steps && room ? SHOAL_OK : shoal_fail_memory(error);
  bool more = false;
  if (status == SHOAL_OK) {
    shoal_space_levels(&search->space, chosen->number, levels);
    for (size_t q = 0; q < n; q++) room[q] = search->space.top[q] - levels[q];
    more = p->policy->slack <= above.height &&
           shoal_space_first(&above, (uint32_t)p->policy->slack, steps);
  }
  for (; more && status == SHOAL_OK; more = shoal_space_next(&above, steps)) {
    shoal_node node;
    for (size_t q = 0; q < n; q++) levels[q] += steps[q];
    status = shoal_search_evaluate(search, shoal_space_node(&search->space, levels), &node, error);
    for (size_t q = 0; q < n; q++) levels[q] -= steps[q];
    if (status == SHOAL_OK && node.satisfies && !shoal_node_list_add(&nodes, &node))
      status = shoal_fail_memory(error);
    if (nodes.n_items && !n_preferences) break; /* vectors ascend: it is the least */
  }
  if (status == SHOAL_OK && !nodes.n_items) status = refuse_slack(p, chosen, above.height, error);
  if (status == SHOAL_OK) *chosen = *shoal_prefer(search, preferences, n_preferences, &nodes);
  shoal_node_list_reset(&nodes);
  free(levels);
  free(steps);
  free(room);
  return status;
}

static bool may_list_minimal(const shoal_search *search) {
  uint64_t n_sets = search->max_suppressed ? search->requirements->n_sets : 1;
  return search->space.n_nodes <= MAX_NODES_FOR_MINIMAL / (n_sets ? n_sets : 1);
}

/* Runs the algorithm, finds the minimal nodes, and chooses one by the preferences and slack. */
static shoal_status choose(const shoal_context *p, shoal_result *result,
                           const shoal_algorithm *algorithm, const shoal_algorithm_options *options,
                           shoal_search *search, const shoal_preference *preferences,
                           size_t n_preferences, shoal_node *chosen, shoal_error *error) {
  shoal_node_report *node = &result->release.node;
  shoal_solution solution;
  SHOAL_TRY(algorithm->run(search, options, &solution, error));
  if (!solution.found) return refuse_unreached(search, algorithm, &solution, error);
  *chosen = solution.node;
  if (!chosen->satisfies)
    return shoal_fail(error, SHOAL_REFUSED,
                      "%s stops at a node where %llu rows violate the policy: with a recipient's "
                      "profile below 1 it does not consider all quasi-identifiers together",
                      algorithm->name, (unsigned long long)chosen->suppressed);
  shoal_node_list minimal = {0};
  shoal_status status = SHOAL_OK;
  bool prefers = n_preferences > 0 && algorithm->min_height;
  node->minimal_complete = prefers || (algorithm->all_minimal && may_list_minimal(search));
  if (node->minimal_complete)
    status =
        shoal_search_minimal(search, algorithm->min_height ? chosen->height : 0, &minimal, error);
  if (status == SHOAL_OK && prefers)
    *chosen = *shoal_prefer(search, preferences, n_preferences, &minimal);
  if (status == SHOAL_OK && p->policy->slack) status = shoal_search_check_countable(search, error);
  if (status == SHOAL_OK && p->policy->slack)
    status = step_above(p, search, preferences, n_preferences, chosen, error);
  if (status == SHOAL_OK && !has_node(&minimal, chosen->number) &&
      !shoal_node_list_add(&minimal, chosen))
    status = shoal_fail_memory(error);
  if (status == SHOAL_OK) status = report_nodes(result, search, &minimal, chosen->number, error);
  node->work = search->n_scanned + solution.visits;
  report_cost(node, algorithm, options->objective, &solution);
  shoal_node_list_reset(&minimal);
  return status;
}

/* ------------------------------------------------------------ the decision */

static shoal_status decide(const shoal_context *p, shoal_search *search, const shoal_node *chosen,
                           shoal_decision *d, shoal_error *error) {
  shoal_space_levels(&search->space, chosen->number, search->levels);
  SHOAL_TRY(shoal_decision_init(d, SHOAL_METHOD_NODE, p, search->levels, error));
  d->class_of_group = shoal_alloc(d->n_groups, sizeof *d->class_of_group);
  if (!d->class_of_group) return shoal_fail_memory(error);
  SHOAL_TRY(shoal_classes_roll_up(p->frequency, &p->frequency->base, d->levels, &search->grouper,
                                  &d->classes, d->class_of_group, error));
  return shoal_decision_judge(d, p, error);
}

/* ------------------------------------------------------------ searching */

/* Options of the algorithms. */
typedef struct tuning {
  shoal_datafly_options datafly;
  shoal_decimal *anonymity, *profile; /* by quasi-identifier */
} tuning;

static shoal_status tune(const shoal_context *p, tuning *t, shoal_error *error) {
  t->anonymity = shoal_alloc(p->n_quasi, sizeof *t->anonymity);
  t->profile = shoal_alloc(p->n_quasi, sizeof *t->profile);
  if (!t->anonymity || !t->profile) return shoal_fail_memory(error);
  for (size_t q = 0; q < p->n_quasi; q++) {
    t->anonymity[q] = p->quasi_attributes[q]->anonymity;
    t->profile[q] = p->quasi_attributes[q]->profile;
  }
  t->datafly = (shoal_datafly_options){.anonymity = t->anonymity, .profile = t->profile};
  return SHOAL_OK;
}

/* ------------------------------------------------------------ the distance-vector matrix */

/* *wanted: the policy asks for it. It decides k-anonymity only. */
static shoal_status check_matrix(const shoal_context *p, bool *wanted, shoal_error *error) {
  const shoal_word *word = &p->policy->satisfies;
  *wanted = word->text && strcmp(word->text, "matrix") == 0;
  if (!word->text || strcmp(word->text, "classes") == 0) return SHOAL_OK;
  if (!*wanted)
    return shoal_policy_fail(p->policy, word->mark, error,
                             "method.satisfies cannot be '%.60s': use classes or matrix",
                             word->text);
  for (size_t i = 0; i < p->requirements.n_items; i++)
    if (!p->requirements.items[i].type->is_size || p->requirements.items[i].counts_people)
      return shoal_policy_fail(p->policy, word->mark, error,
                               "the matrix decides k-anonymity only, but the policy has %s: use "
                               "'satisfies: classes'",
                               p->requirements.items[i].type->name);
  if (p->requirements.n_sets > 1)
    return shoal_policy_fail(p->policy, word->mark, error,
                             "the matrix is about all quasi-identifiers, but a model has 'over' or "
                             "'known': use 'satisfies: classes'");
  return SHOAL_OK;
}

/* Bounds for solutions (Samarati 2001, section 5), for the report. */
static shoal_status report_bounds(shoal_result *result, const shoal_search *search,
                                  shoal_error *error) {
  const shoal_distance_matrix *matrix = search->matrix;
  shoal_node_report *node = &result->release.node;
  uint32_t *upper = shoal_arena_alloc(&result->arena, search->space.n, sizeof *upper);
  if (!upper) return shoal_fail_memory(error);
  node->upper_height = shoal_distance_matrix_upper(matrix, upper);
  node->upper_bound = upper;
  for (uint32_t x = 0; x < matrix->n_outliers; x++) {
    uint64_t n_rows = search->frequency->base.n_rows[matrix->outliers[x]];
    if (n_rows <= search->max_suppressed) continue; /* it may be suppressed */
    shoal_distance_matrix_bounds bounds;
    SHOAL_TRY(shoal_distance_matrix_lower(matrix, x, &bounds, error));
    if (bounds.min_height > node->lower_height) node->lower_height = bounds.min_height;
    shoal_distance_matrix_bounds_reset(&bounds);
  }
  return SHOAL_OK;
}

static shoal_status use_matrix(const shoal_context *p, shoal_result *result, shoal_search *search,
                               shoal_distance_matrix *matrix, shoal_error *error) {
  bool wanted;
  SHOAL_TRY(check_matrix(p, &wanted, error));
  if (!wanted) return SHOAL_OK;
  SHOAL_TRY(shoal_distance_matrix_build(matrix, p->frequency, p->requirements.k, p->run, error));
  search->matrix = matrix;
  return report_bounds(result, search, error);
}

/* The classes that the search may read; 0: the limit of `optimal`. */
static uint64_t max_scanned(const shoal_context *p, const shoal_method *method) {
  if (!method->bounded) return 0;
  uint64_t limit = (uint64_t)p->frequency->n_tuples * SHOAL_AUTO_TIMES;
  if (limit < SHOAL_AUTO_CLASSES) limit = SHOAL_AUTO_CLASSES;
  return method->max_work && method->max_work < limit ? method->max_work : limit;
}

static shoal_status search_node(const shoal_context *p, const shoal_method *method, const tuning *t,
                                shoal_decision *d, shoal_result *result, shoal_error *error) {
  shoal_search search;
  if (method->node->any_size) SHOAL_TRY(shoal_context_search_any(p, true, &search, error));
  else SHOAL_TRY(shoal_context_search(p, true, &search, error));
  shoal_algorithm_options options = {.objective = method->node_objective, .datafly = &t->datafly};
  options.max_scanned = max_scanned(p, method);
  if (p->weighted) search.weights = p->weights;
  shoal_distance_matrix matrix = {0};
  shoal_preference *preferences = NULL;
  size_t n_preferences;
  shoal_node chosen;
  shoal_status status =
      shoal_preferences_bind(p->policy, p->frequency, p->weighted ? p->weights : NULL, &preferences,
                             &n_preferences, error);
  if (status == SHOAL_OK) status = use_matrix(p, result, &search, &matrix, error);
  if (status == SHOAL_OK)
    status = choose(p, result, method->node, &options, &search, preferences, n_preferences, &chosen,
                    error);
  if (status == SHOAL_OK) status = decide(p, &search, &chosen, d, error);
  free(preferences);
  shoal_distance_matrix_reset(&matrix);
  shoal_search_reset(&search);
  return status;
}

shoal_status shoal_decide_node(const shoal_context *p, const shoal_method *method,
                               shoal_decision *d, shoal_result *result, shoal_error *error) {
  tuning t = {0};
  result->release.node.slack = p->policy->slack;
  shoal_status status = tune(p, &t, error);
  if (status == SHOAL_OK) status = search_node(p, method, &t, d, result, error);
  free(t.anonymity);
  free(t.profile);
  return status;
}
