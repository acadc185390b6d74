/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain: finds out why no node satisfies a policy or why it loses much, and the smallest changes
 * that help.
 *
 * In lattices of up to MAX_EVERY_NODE nodes, every node is evaluated once, and everything about
 * suppression and single quasi-identifiers is derived from these evaluations. Larger lattices are
 * searched as `anonymize` does, and only neighbours of the node found are evaluated.
 *
 * At the top of the lattice all rows are one class. A monotone policy that fails there fails in
 * every class of every node (docs/reading-the-papers.md R1): no generalization and no suppression
 * helps, and the explanation says so.
 *
 * Where no node satisfies, local recoding may: `auto` tries it then (local.c). Where a number has
 * no hierarchy there are no nodes, and local recoding alone is explained.
 */
#include "explain/explain.h"

#include <stdlib.h>
#include <string.h>

#include "input/input.h"

static const uint64_t MAX_EVERY_NODE = 20000;

/* ------------------------------------------------------------ what the parts share */

shoal_status shoal_explain_state_node(shoal_explain_state *state, uint64_t number, shoal_node *node,
                                      shoal_error *error) {
  if (!state->nodes.n_items) return shoal_search_evaluate(&state->search, number, node, error);
  *node = state->nodes.items[number];
  return SHOAL_OK;
}

/* All trials together report progress as one search of unknown length. */
typedef struct trial_progress {
  const shoal_run *run;
  uint64_t n_before;
} trial_progress;

static bool report_trial(void *user, const shoal_progress *progress) {
  const trial_progress *trial = user;
  shoal_progress whole = *progress;
  whole.done += trial->n_before;
  whole.total = 0;
  return trial->run->progress(trial->run->progress_user, &whole);
}

shoal_status shoal_explain_state_try(shoal_explain_state *state, const shoal_context *other,
                                     shoal_node *node, bool *found, shoal_error *error) {
  shoal_context trial = *other;
  trial_progress progress = {.run = other->run, .n_before = state->n_tried};
  shoal_run run = {.progress = report_trial, .progress_user = &progress};
  if (other->run && other->run->progress) {
    run.n_threads = other->run->n_threads;
    trial.run = &run;
  }
  shoal_search search;
  SHOAL_TRY(shoal_context_search(&trial, true, &search, error));
  shoal_solution solution;
  shoal_status status = shoal_search_samarati(&search, NULL, &solution, error);
  *node = solution.node;
  *found = solution.found;
  state->n_tried += search.n_evaluated;
  shoal_search_reset(&search);
  return status;
}

bool shoal_explain_state_affords_trials(const shoal_explain_state *state) {
  return state->context->requirements.monotone || state->nodes.n_items;
}

/* ------------------------------------------------------------ the demands */

/* The necessary condition of one requirement, and why it fails, if it does. */
static shoal_status add_bound(shoal_explain_state *state, const shoal_bound *bound,
                              shoal_explained_requirement *out, shoal_error *error) {
  out->bounded = true;
  out->max_groups = bound->max_classes;
  if (out->max_groups) return SHOAL_OK;
  char why[512];
  shoal_bound_explain(bound, shoal_context_attribute(state->context, bound->requirement), why,
                      sizeof why);
  return shoal_result_copy(state->result, why, &out->why, error);
}

static shoal_status explain_requirement(shoal_explain_state *state,
                                        const shoal_requirement *requirement,
                                        const shoal_classes *whole,
                                        shoal_explained_requirement *out, shoal_error *error) {
  const shoal_context *p = state->context;
  *out = (shoal_explained_requirement){.model = requirement->type->name,
                                       .required = requirement->type->required(requirement),
                                       .at_most = requirement->type->at_most};
  if (requirement->sensitive != SHOAL_NO_ATTRIBUTE)
    SHOAL_TRY(shoal_result_copy(state->result, shoal_context_attribute(p, requirement),
                                &out->attribute, error));
  SHOAL_TRY(shoal_result_over(state->result, p, requirement, &out->over, error));
  if (whole->n_classes)
    out->holds = shoal_requirement_holds(requirement, p->frequency, whole, 0, &out->reached);
  state->explanation->whole_holds = state->explanation->whole_holds && out->holds;
  return SHOAL_OK;
}

/* The items of `bounds` are in the order of the requirements. */
static shoal_status explain_bounds(shoal_explain_state *state, shoal_error *error) {
  const shoal_context *p = state->context;
  shoal_explanation *e = state->explanation;
  shoal_bounds bounds;
  SHOAL_TRY(shoal_bounds_init(&p->requirements, &p->tracked, p->table, &bounds, error));
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; status == SHOAL_OK && i < bounds.n_items; i++) {
    const shoal_bound *bound = &bounds.items[i];
    shoal_explained_requirement *out = &e->requirements[bound->requirement - p->requirements.items];
    status = add_bound(state, bound, out, error);
    if (!bound->requirement->type->is_p) continue;
    e->hardest[e->n_hardest++] = (shoal_hardness){.model = out->model,
                                                  .attribute = out->attribute,
                                                  .noun = shoal_bound_noun(bound, false),
                                                  .nouns = shoal_bound_noun(bound, true),
                                                  .p = bound->min_distinct,
                                                  .distinct = bound->frequencies->n_distinct,
                                                  .max_groups = bound->max_classes};
  }
  shoal_bounds_reset(&bounds);
  return status;
}

/* All rows as one class. */
static shoal_status unite_rows(const shoal_context *p, shoal_classes *whole, shoal_error *error) {
  const shoal_classes *base = &p->frequency->base;
  uint32_t *ids = shoal_alloc_zero(base->n_classes, sizeof *ids);
  if (!ids) return shoal_fail_memory(error);
  shoal_status status = shoal_classes_regroup(base, ids, base->n_classes ? 1 : 0, whole, error);
  free(ids);
  return status;
}

static shoal_status explain_requirements(shoal_explain_state *state, shoal_error *error) {
  const shoal_requirements *requirements = &state->context->requirements;
  shoal_explanation *e = state->explanation;
  shoal_arena *arena = &state->result->arena;
  e->requirements = shoal_arena_alloc(arena, requirements->n_items, sizeof *e->requirements);
  e->hardest = shoal_arena_alloc(arena, requirements->n_items, sizeof *e->hardest);
  if (!e->requirements || !e->hardest) return shoal_fail_memory(error);
  shoal_classes whole = {0};
  SHOAL_TRY(unite_rows(state->context, &whole, error));
  e->whole_holds = true;
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; status == SHOAL_OK && i < requirements->n_items; i++) {
    status =
        explain_requirement(state, &requirements->items[i], &whole, &e->requirements[i], error);
    e->has_k = e->has_k || requirements->items[i].type->is_size;
    e->has_p = e->has_p || requirements->items[i].type->is_p;
    e->n_requirements = i + 1;
  }
  if (status == SHOAL_OK) status = explain_bounds(state, error);
  /* Truta, Campan & Meyer 2007, Definition 13: fewer groups are harder; ties as in the table. */
  for (size_t i = 1; i < e->n_hardest; i++) {
    shoal_hardness moved = e->hardest[i];
    size_t at = i;
    for (; at > 0 && e->hardest[at - 1].max_groups > moved.max_groups; at--)
      e->hardest[at] = e->hardest[at - 1];
    e->hardest[at] = moved;
  }
  shoal_classes_reset(&whole);
  return status;
}

/* ------------------------------------------------------------ the node to explain */

static shoal_status collect_minimal(shoal_explain_state *state, shoal_node_list *minimal,
                                    shoal_error *error) {
  if (!state->nodes.n_items)
    return shoal_search_minimal(&state->search, state->explanation->min_height, minimal, error);
  for (size_t i = 0; i < state->nodes.n_items; i++)
    if (state->nodes.items[i].minimal && !shoal_node_list_add(minimal, &state->nodes.items[i]))
      return shoal_fail_memory(error);
  return SHOAL_OK;
}

static shoal_status find_lowest(shoal_explain_state *state, shoal_error *error) {
  if (!state->nodes.n_items) {
    shoal_solution solution;
    SHOAL_TRY(shoal_search_samarati(&state->search, NULL, &solution, error));
    state->base = solution.node;
    state->met = solution.found;
    return SHOAL_OK;
  }
  for (size_t i = 0; i < state->nodes.n_items; i++) {
    const shoal_node *node = &state->nodes.items[i];
    if (!node->satisfies || (state->met && node->height >= state->base.height)) continue;
    state->base = *node;
    state->met = true;
  }
  return SHOAL_OK;
}

static shoal_status find_base(shoal_explain_state *state, shoal_error *error) {
  if (state->search.space.n_nodes <= MAX_EVERY_NODE)
    SHOAL_TRY(shoal_search_all(&state->search, &state->nodes, error));
  state->explanation->every_node = state->nodes.n_items > 0;
  SHOAL_TRY(find_lowest(state, error));
  state->has_base = state->met;
  state->limit = state->search.max_suppressed;
  if (state->met) {
    state->explanation->min_height = state->base.height;
    /* The policy's preferences choose among the minimal nodes; without any, the lowest node is
     * used. */
    const shoal_context *p = state->context;
    shoal_preference *preferences;
    size_t n_preferences;
    SHOAL_TRY(shoal_preferences_bind(p->policy, p->frequency, p->weighted ? p->weights : NULL,
                                     &preferences, &n_preferences, error));
    shoal_node_list minimal = {0};
    shoal_status status = SHOAL_OK;
    if (n_preferences) status = collect_minimal(state, &minimal, error);
    if (status == SHOAL_OK && minimal.n_items)
      state->base = *shoal_prefer(&state->search, preferences, n_preferences, &minimal);
    shoal_node_list_reset(&minimal);
    free(preferences);
    return status;
  }
  /*
   * The node with the fewest rows to suppress, then the lowest, then the first. Nodes that release
   * no rows do not count.
   */
  for (size_t i = 0; i < state->nodes.n_items; i++) {
    const shoal_node *node = &state->nodes.items[i], *best = &state->base;
    if (!node->n_classes) continue;
    if (state->has_base && (node->suppressed > best->suppressed ||
                            (node->suppressed == best->suppressed && node->height >= best->height)))
      continue;
    state->base = *node;
    state->has_base = true;
  }
  if (state->has_base) state->limit = state->base.suppressed;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ the job */

static shoal_status explain_nodes(shoal_explain_state *state, shoal_error *error) {
  shoal_result *result = state->result;
  shoal_explanation *e = state->explanation;
  SHOAL_TRY(find_base(state, error));
  result->holds = e->node_met = state->met;
  result->explain.lattice_nodes = state->search.space.n_nodes;
  e->lattice_height = state->search.space.height;
  e->has_node = state->has_base;
  if (state->has_base) {
    SHOAL_TRY(shoal_result_add_node(result, &state->search.space, &state->base, &e->node, error));
    SHOAL_TRY(shoal_explain_costs(state, error));
    SHOAL_TRY(shoal_explain_outliers(state, error));
  }
  SHOAL_TRY(shoal_explain_left_out(state, error));
  SHOAL_TRY(shoal_explain_changes(state, error));
  return shoal_explain_local(state, error);
}

static shoal_status explain(shoal_explain_state *state, shoal_error *error) {
  const shoal_context *p = state->context;
  shoal_result *result = state->result;
  shoal_explanation *e = state->explanation =
      shoal_arena_alloc(&result->arena, 1, sizeof *state->explanation);
  if (!e) return shoal_fail_memory(error);
  memset(e, 0, sizeof *e);
  result->explain.explanation = e;
  result->explain.max_suppression =
      shoal_amount_rows(p->policy->max_suppression, p->table->n_records);
  e->monotone = p->requirements.monotone;
  SHOAL_TRY(shoal_result_input(result, p, error));
  SHOAL_TRY(explain_requirements(state, error));
  if (!shoal_context_has_lattice(p)) return shoal_explain_local_only(state, error);
  SHOAL_TRY(shoal_context_search(p, true, &state->search, error));
  shoal_status status = explain_nodes(state, error);
  shoal_search_reset(&state->search);
  return status;
}

shoal_status shoal_explain_policy(shoal_result *result, const shoal_table *table,
                                  const shoal_policy *policy, const shoal_run *run,
                                  shoal_error *error) {
  shoal_context context;
  shoal_method method;
  bool local = shoal_explain_find_local(policy, &method);
  SHOAL_TRY(shoal_input_check(table, policy, SHOAL_FOR_REVIEW, error));
  SHOAL_TRY(shoal_context_init(&context, table, policy,
                               local ? SHOAL_CONTEXT_LOCAL : SHOAL_CONTEXT_LATTICE, run, error));
  shoal_explain_state state = {.context = &context, .result = result};
  shoal_status status = explain(&state, error);
  if (status == SHOAL_OK) status = shoal_requirements_status(&context.requirements, error);
  shoal_node_list_reset(&state.nodes);
  shoal_context_reset(&context);
  return status;
}
