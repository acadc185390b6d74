/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/node: a full-domain release: search of the lattice, choice among minimal nodes, and what
 * becomes of each row at the node chosen.
 */
#include <stdlib.h>
#include <string.h>

#include "job/release.h"
#include "lattice/datafly.h"
#include "lattice/matrix.h"
#include "write/csv.h"

/* Up to so many nodes the whole set of minimal nodes is searched for, wanted or not. */
static const uint64_t MAX_NODES_FOR_MINIMAL = 1000000;

static shoal_status refuse_unreached(shoal_search *search, const shoal_algorithm *algorithm,
                                     shoal_error *error) {
  unsigned long long limit = search->max_suppressed, n = search->frequency->n_records;
  if (search->unproven)
    return shoal_fail(
        error, SHOAL_REFUSED,
        "no node that satisfies the policy was found in the time given: give a longer "
        "--time-limit, or hierarchies with fewer levels");
  const char *rows = limit == 1 ? "row" : "rows";
  if (!algorithm->least_height && algorithm->all_minimal)
    return shoal_fail(error, SHOAL_REFUSED,
                      "%s ends at its last node with more than %llu %s to suppress; it is greedy: "
                      "try samarati or optimal",
                      algorithm->name, limit, rows);
  if (!search->demands->monotone)
    return shoal_fail(error, SHOAL_REFUSED,
                      "none of %llu nodes satisfies the policy with at most %llu %s suppressed: "
                      "'shoal explain' says what would help",
                      (unsigned long long)search->space.n_nodes, limit, rows);
  shoal_node top;
  SHOAL_TRY(shoal_search_measure(search, search->space.n_nodes - 1, &top, error));
  return shoal_fail(error, SHOAL_REFUSED,
                    "no generalization satisfies the policy with at most %llu %s suppressed: even "
                    "with every quasi-identifier at its top, %llu of %llu would have to go; "
                    "'shoal explain' says what would help",
                    limit, rows, (unsigned long long)top.suppressed, n);
}

/* The minimal nodes go into the report, and the chosen one. */
static shoal_status report_nodes(shoal_result *result, const shoal_search *search,
                                 const shoal_node_list *minimal, uint64_t chosen,
                                 shoal_error *error) {
  result->nodes = shoal_arena_alloc(&result->arena, minimal->n_items, sizeof *result->nodes);
  if (!result->nodes) return shoal_fail_memory(error);
  for (size_t i = 0; i < minimal->n_items; i++) {
    SHOAL_TRY(
        shoal_result_node(result, &search->space, &minimal->items[i], &result->nodes[i], error));
    result->nodes[i].chosen = minimal->items[i].number == chosen;
    result->n_nodes = i + 1;
  }
  result->lattice_nodes = search->space.n_nodes;
  result->nodes_checked = search->n_checked;
  result->nodes_bounded = search->n_bounded;
  result->classes_touched = search->n_touched;
  result->max_suppression = search->max_suppressed;
  return SHOAL_OK;
}

static void report_cost(shoal_result *result, const shoal_algorithm *algorithm,
                        const shoal_search *search) {
  if (algorithm->least_height || algorithm->all_minimal) return; /* no objective was used */
  if (result->slack) return; /* the node found is not the one chosen */
  result->objective = search->objective->name;
  result->cost = search->cost;
  result->unproven = search->unproven;
}

static bool has_node(const shoal_node_list *nodes, uint64_t number) {
  for (size_t i = 0; i < nodes->n_items; i++)
    if (nodes->items[i].number == number) return true;
  return false;
}

/* ------------------------------------------------------------ slack */

static shoal_status refuse_slack(const shoal_prepared *p, const shoal_node *minimal, uint64_t above,
                                 shoal_error *error) {
  unsigned long long slack = p->policy->slack;
  if (slack > above)
    return shoal_fail(error, SHOAL_REFUSED,
                      "method.slack is %llu, and only %llu step%s lead from the node found (height "
                      "%u) to the top: lower it",
                      slack, (unsigned long long)above, above == 1 ? "" : "s", minimal->height);
  return shoal_fail(error, SHOAL_REFUSED,
                    "no node %llu step%s above the node found (height %u) satisfies the policy: "
                    "not every model is monotone, so that more generalization can break it; try "
                    "another method.slack",
                    slack, slack == 1 ? "" : "s", minimal->height);
}

/*
 * The answer to attacks on minimality (Wong et al. 2007; Cohen 2022): of the nodes `slack` steps
 * above the one found, the best by the preferences, then the least vector, that satisfies.
 */
static shoal_status step_above(const shoal_prepared *p, shoal_search *search,
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
    status = shoal_search_measure(search, shoal_space_node(&search->space, levels), &node, error);
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

/* Runs the algorithm, finds the minimal nodes and chooses; all preferences choose among them. */
static shoal_status choose(shoal_release *release, const shoal_algorithm *algorithm,
                           shoal_search *search, const shoal_preference *preferences,
                           size_t n_preferences, shoal_node *chosen, shoal_error *error) {
  shoal_result *result = release->result;
  bool found;
  SHOAL_TRY(algorithm->run(search, chosen, &found, error));
  if (!found) return refuse_unreached(search, algorithm, error);
  if (!chosen->satisfies)
    return shoal_fail(error, SHOAL_REFUSED,
                      "%s stops at a node where %llu rows break the policy: with a recipient's "
                      "profile below 1 it does not look at all quasi-identifiers together",
                      algorithm->name, (unsigned long long)chosen->suppressed);
  shoal_node_list minimal = {0};
  shoal_status status = SHOAL_OK;
  bool prefers = n_preferences > 0 && algorithm->least_height;
  result->minimal_complete =
      prefers || (algorithm->all_minimal && search->space.n_nodes <= MAX_NODES_FOR_MINIMAL);
  if (result->minimal_complete)
    status =
        shoal_search_minimal(search, algorithm->least_height ? chosen->height : 0, &minimal, error);
  if (status == SHOAL_OK && prefers)
    *chosen = *shoal_prefer(search, preferences, n_preferences, &minimal);
  if (status == SHOAL_OK && release->prepared.policy->slack)
    status = step_above(&release->prepared, search, preferences, n_preferences, chosen, error);
  if (status == SHOAL_OK && !has_node(&minimal, chosen->number) &&
      !shoal_node_list_add(&minimal, chosen))
    status = shoal_fail_memory(error);
  if (status == SHOAL_OK) status = report_nodes(result, search, &minimal, chosen->number, error);
  report_cost(result, algorithm, search);
  shoal_node_list_reset(&minimal);
  return status;
}

/* ------------------------------------------------------------ the report */

static uint32_t labels_in_use(const shoal_prepared *p, size_t q, uint32_t level,
                              const shoal_classes *classes, const uint8_t *breaks, uint8_t *seen) {
  const shoal_level *labels = &p->hierarchies[q]->levels[level];
  uint32_t used = 0;
  memset(seen, 0, labels->n_labels);
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    uint32_t label = labels->of_leaf[shoal_code_at(p->frequency->codes[q], classes->tuple[c])];
    if (!breaks[c] && !seen[label]) used += seen[label] = 1;
  }
  return used;
}

static shoal_status report_attributes(shoal_release *release, const shoal_classes *classes,
                                      const uint8_t *breaks, const double *loss,
                                      shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_result *result = release->result;
  uint32_t most = 0;
  for (size_t q = 0; q < p->n_quasi; q++) {
    uint32_t n = p->hierarchies[q]->levels[release->levels[q]].n_labels;
    if (n > most) most = n;
  }
  uint8_t *seen = shoal_alloc(most, 1);
  result->attributes = shoal_arena_alloc(&result->arena, p->n_quasi, sizeof *result->attributes);
  if (!seen || !result->attributes) {
    free(seen);
    return shoal_fail_memory(error);
  }
  for (size_t q = 0; q < p->n_quasi; q++)
    result->attributes[q] = (shoal_attribute_outcome){
        .name = result->quasi[q],
        .level = release->levels[q],
        .height = result->heights[q],
        .n_before = p->quasi[q]->n_values,
        .n_after = labels_in_use(p, q, release->levels[q], classes, breaks, seen),
        .loss = loss[q]};
  free(seen);
  return SHOAL_OK;
}

static shoal_status report_release(shoal_release *release, const shoal_search *search,
                                   const shoal_node *chosen, const shoal_classes *classes,
                                   const uint8_t *breaks, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_result *result = release->result;
  double *loss = shoal_alloc(p->n_quasi, sizeof *loss);
  if (!loss) return shoal_fail_memory(error);
  shoal_utility u = shoal_utility_measure(p->frequency, &search->space, release->levels, classes,
                                          breaks, p->demands.k, loss);
  shoal_release_measures(result, &u);
  shoal_status status = report_attributes(release, classes, breaks, loss, error);
  free(loss);
  SHOAL_TRY(status);
  shoal_verdict verdict = {chosen->suppressed, chosen->n_classes, chosen->smallest_class};
  return shoal_result_released(result, p, classes, breaks, &verdict, error);
}

/* ------------------------------------------------------------ what becomes of rows */

static bool label_is_star(const shoal_prepared *p, size_t q, uint32_t level, uint32_t tuple) {
  const shoal_level *labels = &p->hierarchies[q]->levels[level];
  size_t size;
  const char *label = shoal_level_label(
      labels, labels->of_leaf[shoal_code_at(p->frequency->codes[q], tuple)], &size);
  return size == 1 && *label == '*';
}

static bool all_stars(const shoal_release *release, uint32_t tuple) {
  const shoal_prepared *p = &release->prepared;
  for (size_t q = 0; q < p->n_quasi; q++)
    if (!label_is_star(p, q, release->levels[q], tuple)) return false;
  return true;
}

static shoal_status decide_fates(shoal_release *release, const shoal_classes *classes,
                                 const uint8_t *breaks, const uint32_t *class_of_tuple,
                                 shoal_error *error) {
  uint8_t *stars = shoal_alloc(classes->n_classes, 1), suppressed_fate;
  if (!stars) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < classes->n_classes; c++)
    stars[c] = all_stars(release, classes->tuple[c]);
  shoal_status status =
      shoal_release_suppress(release, classes, breaks, stars, &suppressed_fate, error);
  free(stars);
  SHOAL_TRY(status);
  const shoal_frequency *f = release->prepared.frequency;
  release->group_of_row = f->tuple_of_row;
  release->fate_of_group = shoal_alloc(f->n_tuples, 1);
  if (!release->fate_of_group) return shoal_fail_memory(error);
  for (uint32_t t = 0; t < f->n_tuples; t++)
    release->fate_of_group[t] = breaks[class_of_tuple[t]] ? suppressed_fate : SHOAL_FATE_KEEP;
  return SHOAL_OK;
}

static shoal_status settle(shoal_release *release, shoal_search *search, const shoal_node *chosen,
                           shoal_error *error) {
  shoal_classes classes;
  uint8_t *breaks;
  uint32_t *class_of_tuple;
  SHOAL_TRY(
      shoal_search_classes(search, chosen->number, &classes, &breaks, &class_of_tuple, error));
  release->levels = shoal_alloc(search->space.n, sizeof *release->levels);
  shoal_status status = release->levels ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    shoal_space_levels(&search->space, chosen->number, release->levels);
    status = report_release(release, search, chosen, &classes, breaks, error);
  }
  if (status == SHOAL_OK) status = decide_fates(release, &classes, breaks, class_of_tuple, error);
  shoal_classes_reset(&classes);
  free(breaks);
  free(class_of_tuple);
  return status;
}

/* ------------------------------------------------------------ searching */

/* What the algorithms are told beyond the search itself. */
typedef struct tuning {
  shoal_datafly_options datafly;
  shoal_decimal *anonymity, *profile; /* by quasi-identifier */
} tuning;

static shoal_status tune(const shoal_prepared *p, tuning *t, shoal_error *error) {
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

/* Whether the policy asks for it; it knows k-anonymity only. */
static shoal_status wants_matrix(const shoal_prepared *p, bool *wanted, shoal_error *error) {
  const shoal_word *word = &p->policy->satisfies;
  *wanted = word->text && strcmp(word->text, "matrix") == 0;
  if (!word->text || strcmp(word->text, "classes") == 0) return SHOAL_OK;
  if (!*wanted)
    return shoal_policy_fail(p->policy, word->mark, error,
                             "method.satisfies cannot be '%.60s': use classes or matrix",
                             word->text);
  for (size_t i = 0; i < p->demands.n_items; i++)
    if (!p->demands.items[i].type->is_size)
      return shoal_policy_fail(p->policy, word->mark, error,
                               "the matrix knows k-anonymity only, and the policy asks for %s "
                               "too: use 'satisfies: classes'",
                               p->demands.items[i].type->name);
  return SHOAL_OK;
}

/* Bounds for solutions (Samarati 2001, section 5), for the report. */
static shoal_status report_bounds(shoal_result *result, const shoal_search *search,
                                  shoal_error *error) {
  const shoal_matrix *matrix = search->matrix;
  uint32_t *upper = shoal_arena_alloc(&result->arena, search->space.n, sizeof *upper);
  if (!upper) return shoal_fail_memory(error);
  result->upper_height = shoal_matrix_upper(matrix, upper);
  result->upper_bound = upper;
  for (uint32_t x = 0; x < matrix->n_outliers; x++) {
    uint64_t n_rows = search->frequency->base.n_rows[matrix->outliers[x]];
    if (n_rows <= search->max_suppressed) continue; /* it may be suppressed */
    shoal_matrix_bounds bounds;
    SHOAL_TRY(shoal_matrix_lower(matrix, x, &bounds, error));
    if (bounds.least_height > result->lower_height) result->lower_height = bounds.least_height;
    shoal_matrix_bounds_reset(&bounds);
  }
  return SHOAL_OK;
}

static shoal_status use_matrix(shoal_release *release, shoal_search *search, shoal_matrix *matrix,
                               shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  bool wanted;
  SHOAL_TRY(wants_matrix(p, &wanted, error));
  if (!wanted) return SHOAL_OK;
  SHOAL_TRY(shoal_matrix_build(matrix, p->frequency, p->demands.k, p->run, error));
  search->matrix = matrix;
  return report_bounds(release->result, search, error);
}

/* A node of the lattice, and what becomes of each row there. */
static shoal_status release_node(shoal_release *release, const shoal_method *method,
                                 const tuning *t, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_search search;
  SHOAL_TRY(shoal_prepared_search(p, true, &search, error));
  search.objective = method->node_objective;
  if (p->weighted) search.weights = p->weights;
  search.datafly = &t->datafly;
  shoal_matrix matrix = {0};
  shoal_preference *preferences = NULL;
  size_t n_preferences;
  shoal_node chosen;
  shoal_status status =
      shoal_preferences_bind(p->policy, p->frequency, p->weighted ? p->weights : NULL, &preferences,
                             &n_preferences, error);
  if (status == SHOAL_OK) status = use_matrix(release, &search, &matrix, error);
  if (status == SHOAL_OK)
    status = choose(release, method->node, &search, preferences, n_preferences, &chosen, error);
  if (status == SHOAL_OK) status = settle(release, &search, &chosen, error);
  free(preferences);
  shoal_matrix_reset(&matrix);
  shoal_search_reset(&search);
  return status;
}

shoal_status shoal_release_by_node(shoal_release *release, const shoal_method *method,
                                   shoal_error *error) {
  tuning t = {0};
  release->result->exhaustive = !release->prepared.demands.monotone;
  shoal_status status = tune(&release->prepared, &t, error);
  if (status == SHOAL_OK) status = release_node(release, method, &t, error);
  free(t.anonymity);
  free(t.profile);
  return status;
}
