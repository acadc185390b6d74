/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/optimal: the node of minimum cost under an objective that is bounded by levels (height,
 * precision, il, loss, granularity, entropy). Branch and bound, best first. If a limit ends it, or
 * the lattice is too large for it, the local search of climb.c takes over.
 *
 * Nodes come from the frontier by the cost of their levels, about the smallest first. Once that
 * cost is not below the best cost found, no later node can be better. For a node that the bounds do
 * not exclude, the search bisects a path to the top for the highest node that excludes it (as
 * Kohlmayer et al. 2012, "Flash", find where a path begins to satisfy). A node above that exceeds
 * the limit excludes all nodes below it. One that suppresses many rows excludes all nodes below
 * that these rows make too expensive. High nodes have few classes and exclude most. The cost of
 * every node that satisfies on the way is computed.
 *
 * If not all requirements are monotone, a node above excludes by the rows that every node below it
 * must suppress: classes below are parts of its classes, and a requirement bounds the parts that
 * can satisfy it (shoal_min_suppressed). The nodes that are left are evaluated in batches.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lattice/climb.h"
#include "lattice/optimal_bounds.h"

/* Larger lattices are not searched exactly. */
static const uint64_t MAX_NODES = 20000000;

/* Nodes of the frontier, 24 bytes each: if there are more, the exact search ends. */
static const size_t MAX_FRONTIER = 2000000;

/* To visit a node of the frontier without an evaluation takes as long as to read these classes. */
enum { SCANNED_PER_VISIT = 32 };

/* For tables of many tuples: possible classes per tuple at a node that is worth a snapshot. */
enum { MANY_TUPLES = 60000, MAX_CLASSES_PER_TUPLE = 64 };

/* Far above the rounding error of a sum of costs, far below any difference that matters. */
static const double ROUNDING = 1e-12;

/* Probes are high on the path, where classes are few. */
static const shoal_path_fractions HIGH_UP = {.one = 7, .two = {5, 8}};

typedef struct optimal {
  shoal_search *search;
  const shoal_objective *objective;
  uint64_t limit; /* max_suppressed, or fewer so that a row is left if one must be */
  shoal_level_costs costs;
  shoal_cost_bound bound;
  shoal_frontier frontier;
  bool bounds_parts;              /* some requirement bounds the rows that nodes below release */
  shoal_suppression_bounds lower; /* of the rows suppressed at nodes at or below */
  shoal_suppression_bounds upper; /* of the bounds that nodes at or above would give */
  shoal_ids evaluated;
  uint64_t *path;
  uint32_t *levels; /* scratch */
  const shoal_search_limits *limits;
  uint64_t n_visited; /* nodes of the frontier */
  bool unproven;      /* a limit was reached */
  bool found;
  double cost;      /* of the best node found */
  double best_term; /* the cost of its levels, nothing suppressed */
  shoal_node best;
} optimal;

/*
 * Can a node with this bound on its cost not be the solution? Ties, rounding apart: the node whose
 * levels cost less, then the one with the smaller number.
 */
static bool is_worse(const optimal *o, double bound, double level_bound, uint64_t node) {
  if (!o->found) return false;
  double slack = fabs(o->cost) * ROUNDING;
  if (bound > o->cost + slack) return true;
  if (bound < o->cost - slack) return false;
  if (level_bound != o->best_term) return level_bound > o->best_term;
  return node >= o->best.number;
}

/* ------------------------------------------------------------ one node, on any thread */

/* The result of one evaluation. */
typedef struct finding {
  uint64_t suppressed;     /* UINT64_MAX: more than the limit */
  uint64_t min_suppressed; /* at nodes at or below; UINT64_MAX: more than the limit */
  bool fails_by_size;
  bool has_cost; /* it satisfies, and its cost was worth computing */
  shoal_node node;
  double cost;
} finding;

typedef struct batch_work {
  const optimal *o;
  finding findings[SHOAL_BATCH_NODES];
} batch_work;

static uint64_t rows_below_k(const shoal_classes *classes, uint64_t k) {
  uint64_t rows = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++)
    if (classes->n_rows[c] < k) rows += classes->n_rows[c];
  return rows;
}

static shoal_status roll_up(const optimal *o, shoal_node_evaluation *evaluation, bool *fails) {
  uint64_t rows = 0;
  bool complete;
  if (o->search->monotone)
    SHOAL_TRY(shoal_search_min_over_sets(o->search, evaluation->levels, o->limit,
                                         evaluation->grouper, &rows, &complete,
                                         &evaluation->error));
  *fails = rows > o->limit;
  if (*fails) return SHOAL_OK;
  if (shoal_search_sizes_first(o->search)) {
    SHOAL_TRY(shoal_node_evaluation_roll_up(o->search, evaluation, true));
    *fails = rows_below_k(&evaluation->classes, o->search->requirements->whole_k) > o->limit;
    if (*fails) return SHOAL_OK;
    shoal_classes_reset(&evaluation->classes);
  }
  return shoal_node_evaluation_roll_up(o->search, evaluation, false);
}

static shoal_status map_tuples(const optimal *o, shoal_node_evaluation *evaluation,
                               uint32_t **class_of_tuple) {
  const shoal_frequency_set *frequency = o->search->frequency;
  *class_of_tuple = shoal_alloc(frequency->n_tuples, sizeof **class_of_tuple);
  if (!*class_of_tuple) return shoal_fail_memory(&evaluation->error);
  shoal_classes same;
  SHOAL_TRY(shoal_classes_roll_up(frequency, &frequency->base, evaluation->levels,
                                  evaluation->grouper, &same, *class_of_tuple, &evaluation->error));
  shoal_classes_reset(&same);
  return SHOAL_OK;
}

/* `violates`: by class; NULL if nothing is suppressed. */
static shoal_status compute_cost(const optimal *o, shoal_node_evaluation *evaluation,
                                 const uint8_t *violates, finding *found) {
  uint32_t *class_of_tuple = NULL;
  shoal_status status = SHOAL_OK;
  if (violates && o->objective->needs_tuples) status = map_tuples(o, evaluation, &class_of_tuple);
  shoal_cost_view view = {.search = o->search,
                          .levels_cost = &o->costs,
                          .levels = evaluation->levels,
                          .classes = &evaluation->classes,
                          .violates = violates,
                          .node = &found->node,
                          .class_of_tuple = class_of_tuple};
  if (status == SHOAL_OK) found->cost = o->objective->cost(&view);
  found->has_cost = status == SHOAL_OK;
  free(class_of_tuple);
  return status;
}

static shoal_status evaluate_node(void *user, size_t i, shoal_node_evaluation *evaluation) {
  batch_work *w = user;
  const optimal *o = w->o;
  const shoal_search *search = o->search;
  finding *found = &w->findings[i];
  bool fails;
  SHOAL_TRY(roll_up(o, evaluation, &fails));
  found->suppressed = found->min_suppressed = UINT64_MAX;
  if (fails) return SHOAL_OK;
  found->fails_by_size =
      search->monotone && shoal_search_fails_by_size(search, &evaluation->classes);
  if (found->fails_by_size) return SHOAL_OK;
  uint8_t *violates = shoal_alloc(evaluation->classes.n_classes, 1);
  if (!violates) return shoal_fail_memory(&evaluation->error);
  /* Rows suppressed, and the bound for nodes below. Fills `violates` if not all is monotone. */
  const shoal_classes *classes = &evaluation->classes;
  shoal_judgement judged =
      shoal_search_judge(search, evaluation->levels, evaluation->grouper, classes, o->limit,
                         search->monotone ? NULL : violates);
  uint64_t min_suppressed = judged.suppressed;
  if (min_suppressed && !search->monotone)
    min_suppressed =
        shoal_min_suppressed(search->requirements, search->frequency, classes, violates);
  if (min_suppressed <= o->limit) found->min_suppressed = min_suppressed;
  if (judged.suppressed <= o->limit) found->suppressed = judged.suppressed;
  double level_bound = shoal_cost_bound_at(&o->bound, evaluation->levels, 0);
  double bound = shoal_cost_bound_at(&o->bound, evaluation->levels, judged.suppressed);
  shoal_status status = SHOAL_OK;
  if (found->suppressed != UINT64_MAX && !is_worse(o, bound, level_bound, evaluation->node)) {
    found->node = shoal_search_node(search, evaluation->node, &judged);
    if (search->monotone && found->suppressed) /* so far judging may have stopped at the limit */
      (void)shoal_search_judge(search, evaluation->levels, evaluation->grouper,
                               &evaluation->classes, UINT64_MAX, violates);
    status = compute_cost(o, evaluation, found->suppressed ? violates : NULL, found);
  }
  free(violates);
  return status;
}

/* ------------------------------------------------------------ batches, and what they show */

static bool apply(optimal *o, const shoal_node_evaluation *evaluation, const finding *found) {
  o->search->n_bounded += found->fails_by_size;
  if (!shoal_suppression_bounds_add(&o->lower, evaluation->levels, found->min_suppressed) ||
      (found->min_suppressed != UINT64_MAX &&
       !shoal_suppression_bounds_add(&o->upper, evaluation->levels, found->min_suppressed)) ||
      shoal_ids_insert(&o->evaluated, evaluation->node) == SHOAL_NONE)
    return false;
  if (!found->has_cost) return true;
  double level_bound = shoal_cost_bound_at(&o->bound, evaluation->levels, 0);
  if (is_worse(o, found->cost, level_bound, evaluation->node)) return true;
  o->found = true;
  o->cost = found->cost;
  o->best_term = level_bound;
  o->best = found->node;
  return true;
}

/* Evaluates n <= SHOAL_BATCH_NODES nodes in parallel and applies the results in order. */
static shoal_status evaluate(optimal *o, const uint64_t *nodes, size_t n, shoal_error *error) {
  batch_work w = {.o = o};
  SHOAL_TRY(shoal_node_batch_evaluate(o->search, nodes, n, false, evaluate_node, &w, error));
  for (size_t i = 0; i < n; i++)
    if (!apply(o, &o->search->batch->evaluations[i], &w.findings[i]))
      return shoal_fail_memory(error);
  return SHOAL_OK;
}

static bool is_evaluated(const optimal *o, uint64_t node) {
  return shoal_ids_find(&o->evaluated, node) != SHOAL_NONE;
}

/* ------------------------------------------------------------ what the bounds exclude */

/* Is a node that suppresses at least this many rows excluded? */
static bool excludes(const optimal *o, const shoal_frontier_node *node, const uint32_t *levels,
                     uint64_t suppressed) {
  if (suppressed > o->limit) return true;
  if (!o->found) return false;
  double bound = suppressed ? shoal_cost_bound_at(&o->bound, levels, suppressed) : node->bound;
  return is_worse(o, bound, node->bound, node->node);
}

static bool is_excluded(const optimal *o, const shoal_frontier_node *node, const uint32_t *levels) {
  return excludes(o, node, levels, shoal_suppression_bounds_at(&o->lower, levels, 0));
}

/* A node whose path to the top is bisected. */
typedef struct climb_state {
  optimal *o;
  const shoal_frontier_node *node;
} climb_state;

typedef enum exclusion { EXCLUDES, EXCLUDES_NOT, UNKNOWN } exclusion;

/* Does the node at a position of the path exclude the one that the path begins at? */
static exclusion known_at(const climb_state *c, size_t position) {
  optimal *o = c->o;
  const uint32_t *levels = o->frontier.levels;
  shoal_space_levels(&o->search->space, o->path[position], o->levels);
  if (excludes(o, c->node, levels, shoal_suppression_bounds_at(&o->lower, o->levels, 0)))
    return EXCLUDES;
  uint64_t upper = shoal_suppression_bounds_at(&o->upper, o->levels, UINT64_MAX);
  return upper != UINT64_MAX && !excludes(o, c->node, levels, upper) ? EXCLUDES_NOT : UNKNOWN;
}

static shoal_status probe(void *user, const size_t *positions, size_t n, bool *after,
                          shoal_error *error) {
  const climb_state *c = user;
  optimal *o = c->o;
  uint64_t unknown[SHOAL_BATCH_NODES];
  size_t n_unknown = 0;
  for (size_t i = 0; i < n; i++) {
    exclusion known = known_at(c, positions[i]);
    after[i] = known != EXCLUDES;
    if (known == UNKNOWN) unknown[n_unknown++] = o->path[positions[i]];
  }
  if (!n_unknown) return SHOAL_OK;
  SHOAL_TRY(evaluate(o, unknown, n_unknown, error));
  for (size_t i = 0; i < n; i++) after[i] = known_at(c, positions[i]) != EXCLUDES;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ the search */

/* Nodes that wait for their evaluation; more than one only if not all is monotone. */
typedef struct pending {
  shoal_frontier_node nodes[SHOAL_BATCH_NODES];
  size_t n, max;
} pending;

static shoal_status flush(optimal *o, pending *p, shoal_error *error) {
  uint64_t nodes[SHOAL_BATCH_NODES];
  size_t n = 0;
  for (size_t i = 0; i < p->n; i++) {
    shoal_space_levels(&o->search->space, p->nodes[i].node, o->levels);
    if (!is_excluded(o, &p->nodes[i], o->levels)) nodes[n++] = p->nodes[i].node;
  }
  p->n = 0;
  return n ? evaluate(o, nodes, n, error) : SHOAL_OK;
}

static shoal_status visit(optimal *o, const shoal_frontier_node *node, pending *p,
                          shoal_error *error) {
  const uint32_t *levels = o->frontier.levels;
  if (is_evaluated(o, node->node) || is_excluded(o, node, levels)) return SHOAL_OK;
  if (o->bounds_parts) {
    /* Finds the highest node on a path from this one that excludes it; evaluates what it must. */
    climb_state c = {.o = o, .node = node};
    memcpy(o->levels, o->frontier.levels, o->search->space.n * sizeof *o->levels);
    size_t length = shoal_cost_bound_path(&o->bound, node->node, o->levels, o->path);
    assert(length <= (size_t)o->search->space.height + 1);
    SHOAL_TRY(shoal_path_bisect(o->search, length, &HIGH_UP, probe, &c, error));
  }
  if (is_evaluated(o, node->node) || is_excluded(o, node, levels)) return SHOAL_OK;
  p->nodes[p->n++] = *node;
  return p->n == p->max ? flush(o, p, error) : SHOAL_OK;
}

static bool is_over(optimal *o) {
  if (shoal_search_is_over(o->search, o->limits) || o->frontier.n_entries > MAX_FRONTIER ||
      o->n_visited > o->limits->max_scanned / SCANNED_PER_VISIT)
    o->unproven = true;
  return o->unproven;
}

/*
 * Possible classes, all combinations of labels, per tuple. If that is high, most tuples are classes
 * of their own.
 */
static double classes_per_tuple(const shoal_search *search, const uint32_t *levels) {
  const shoal_frequency_set *f = search->frequency;
  double classes = 1;
  for (size_t q = 0; q < f->n_quasi; q++) classes *= f->hierarchies[q]->levels[levels[q]].n_labels;
  return classes / f->n_tuples;
}

/*
 * Descends from the top while a node one step below is better. This gives a good node early, and a
 * cost to compare bounds with: needed with a time limit, and where bounds are weak.
 */
static shoal_status descend(optimal *o, shoal_error *error) {
  const shoal_space *space = &o->search->space;
  uint64_t from = space->n_nodes - 1;
  SHOAL_TRY(evaluate(o, &from, 1, error));
  while (o->found) {
    from = o->best.number;
    for (size_t q = 0; q < space->n && !is_over(o); q++) {
      if (shoal_space_level(space, from, q) == shoal_space_bottom(space, q)) continue;
      uint64_t below = from - space->stride[q];
      if (!is_evaluated(o, below)) SHOAL_TRY(evaluate(o, &below, 1, error));
    }
    if (o->best.number == from) break;
  }
  return SHOAL_OK;
}

static shoal_status branch_and_bound(optimal *o, shoal_error *error) {
  pending p = {.max = o->search->monotone ? 1 : shoal_node_batch_size(o->search)};
  if (o->limits->deadline > 0 || !o->search->monotone) {
    SHOAL_TRY(descend(o, error));
    if (o->search->monotone && !o->found) return SHOAL_OK; /* no node satisfies */
  }
  /*
   * Evaluates a few nodes for their snapshots. All paths raise attributes in about the same order,
   * so nodes low on the path from the bottom are below most nodes that will be evaluated, and have
   * few classes already. For tables of many tuples, nodes are skipped that are too low for that.
   */
  bool many = o->search->frequency->n_tuples >= MANY_TUPLES;
  shoal_space_levels(&o->search->space, 0, o->levels);
  size_t length = shoal_cost_bound_path(&o->bound, 0, o->levels, o->path);
  for (size_t tenth = 2; o->bounds_parts && tenth <= 5; tenth++) {
    uint64_t node = o->path[length * tenth / 10];
    shoal_space_levels(&o->search->space, node, o->levels);
    if (many && classes_per_tuple(o->search, o->levels) > MAX_CLASSES_PER_TUPLE) continue;
    SHOAL_TRY(evaluate(o, &node, 1, error));
  }
  shoal_frontier_node node;
  bool more;
  for (;;) {
    SHOAL_TRY(shoal_frontier_next(&o->frontier, &node, &more, error));
    double min_bound = shoal_frontier_min(&o->frontier);
    if (!more || is_worse(o, min_bound, min_bound, node.node)) break;
    o->n_visited++;
    if (is_over(o)) return SHOAL_OK;
    if (!is_worse(o, node.bound, node.bound, node.node)) SHOAL_TRY(visit(o, &node, &p, error));
  }
  return flush(o, &p, error);
}

/* ------------------------------------------------------------ set up */

static bool bounds_parts(const shoal_requirements *requirements) {
  for (size_t i = 0; i < requirements->n_items; i++) {
    const shoal_requirement *requirement = &requirements->items[i];
    bool bounds = requirements->n_sets <= 1 && shoal_requirement_bounds_parts(requirement);
    if (bounds || shoal_requirement_is_monotone(requirement)) return true;
  }
  return false;
}

static shoal_status prepare(optimal *o, shoal_error *error) {
  shoal_search *search = o->search;
  size_t n = search->space.n;
  shoal_suppression_bounds_init(&o->lower, n, true);
  shoal_suppression_bounds_init(&o->upper, n, false);
  bool ok = shoal_ids_init(&o->evaluated, 1024);
  o->path = shoal_alloc((size_t)search->space.height + 1, sizeof *o->path);
  o->levels = shoal_alloc(n, sizeof *o->levels);
  if (!ok || !o->path || !o->levels) return shoal_fail_memory(error);
  o->bounds_parts = bounds_parts(search->requirements);
  SHOAL_TRY(shoal_level_costs_init(&o->costs, search->frequency, error));
  SHOAL_TRY(shoal_cost_bound_init(&o->bound, search, o->objective, &o->costs, error));
  return shoal_frontier_init(&o->frontier, &search->space, &o->bound, error);
}

static void reset(optimal *o) {
  shoal_suppression_bounds_reset(&o->lower);
  shoal_suppression_bounds_reset(&o->upper);
  shoal_ids_reset(&o->evaluated);
  free(o->path);
  free(o->levels);
  shoal_frontier_reset(&o->frontier);
  shoal_cost_bound_reset(&o->bound);
  shoal_level_costs_reset(&o->costs);
}

/* Branch and bound; solution->unproven if it reached a limit. */
static shoal_status search_exactly(shoal_search *search, const shoal_objective *objective,
                                   const shoal_search_limits *limits, shoal_solution *solution,
                                   shoal_error *error) {
  uint64_t n_records = search->frequency->n_records;
  optimal o = {
      .search = search, .objective = objective, .limits = limits, .limit = search->max_suppressed};
  if (search->needs_rows && o.limit >= n_records) o.limit = n_records - 1;
  shoal_status status = prepare(&o, error);
  if (status == SHOAL_OK) status = branch_and_bound(&o, error);
  *solution = (shoal_solution){.found = o.found,
                               .node = o.best,
                               .cost = o.cost,
                               .visits = o.n_visited * SCANNED_PER_VISIT,
                               .unproven = o.unproven};
  reset(&o);
  return status;
}

shoal_status shoal_search_optimal(shoal_search *search, const shoal_algorithm_options *options,
                                  shoal_solution *solution, shoal_error *error) {
  const shoal_objective *objective = options->objective;
  uint64_t max_scanned = options->max_scanned ? options->max_scanned : SHOAL_OPTIMAL_MAX_SCANNED;
  double seconds = search->run ? search->run->time_limit_seconds : 0, now = shoal_seconds();
  *solution = (shoal_solution){.unproven = true};
  if (search->needs_rows && search->frequency->n_records == 0) {
    solution->unproven = false;
    return SHOAL_OK;
  }
  if (seconds > 0) max_scanned = UINT64_MAX / 2; /* the limit is the time */
  shoal_search_limits half = {.max_scanned = search->n_scanned + max_scanned / 2,
                              .deadline = seconds > 0 ? now + seconds / 2 : 0};
  shoal_search_limits whole = {.max_scanned = search->n_scanned + max_scanned,
                               .deadline = seconds > 0 ? now + seconds : 0};
  bool exact = search->space.n_nodes <= MAX_NODES;
  if (exact && objective->level_cost)
    SHOAL_TRY(search_exactly(search, objective, &half, solution, error));
  else if (exact)
    SHOAL_TRY(shoal_search_optimal_levelwise(search, objective, &half, solution, error));
  return solution->unproven ? shoal_search_climb(search, objective, &whole, solution, error)
                            : SHOAL_OK;
}
