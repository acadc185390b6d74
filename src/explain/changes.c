/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain/changes: tries other policies. Finds the smallest change of k, of p or of max-suppression
 * that alone makes the policy satisfiable or, if it already is, lowers the minimum height; and
 * tries the policy without each of its requirements. Every answer was computed with the changed
 * policy: k and p by bisection (a class that satisfies a requirement also satisfies it with a
 * smaller k or p), suppression from the rows to suppress at each node.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explain.h"

/* Whether it helps: some node satisfies and none did, or one of lower height does. */
static bool helps(const shoal_explain_state *state, const shoal_node *node, bool found) {
  return found && (!state->met || node->height < state->explanation->min_height);
}

static shoal_status add_change(shoal_explain_state *state, const char *setting, uint64_t from,
                               uint64_t to, bool exact, const shoal_node *node,
                               shoal_error *error) {
  shoal_explained_change *change = &state->explanation->changes[state->explanation->n_changes];
  shoal_node_outcome outcome;
  SHOAL_TRY(shoal_result_add_node(state->result, &state->search.space, node, &outcome, error));
  *change = (shoal_explained_change){.setting = setting,
                                     .from = from,
                                     .to = to,
                                     .levels = outcome.levels,
                                     .height = outcome.height,
                                     .suppressed = outcome.suppressed,
                                     .exact = exact};
  state->explanation->n_changes++;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ smaller k and p */

/* The request with its own k or p at most `max`. */
static bool lower_request(shoal_lowered_policy *l, shoal_model_request *request, const char *name,
                          uint64_t max) {
  shoal_word *values = shoal_arena_alloc(&l->arena, request->n_parameters, sizeof *values);
  if (!values) return false;
  for (size_t i = 0; i < request->n_parameters; i++) {
    shoal_decimal number;
    values[i] = request->values[i];
    if (strcmp(request->parameters[i].text, name) != 0) continue;
    if (shoal_decimal_parse(values[i].text, strlen(values[i].text), &number) != SHOAL_NUMBER_OK ||
        number.mantissa < 0 || (uint64_t)number.mantissa <= max)
      continue;
    char text[32];
    int size = snprintf(text, sizeof text, "%llu", (unsigned long long)max);
    values[i].text = shoal_arena_copy(&l->arena, text, (size_t)size);
    if (!values[i].text) return false;
  }
  request->values = values;
  return true;
}

bool shoal_lowered_policy_make(shoal_lowered_policy *l, const shoal_policy *policy, uint64_t k,
                               uint64_t p) {
  shoal_arena_init(&l->arena);
  l->policy = *policy;
  if (policy->k > k) l->policy.k = k;
  if (policy->p > p) l->policy.p = p;
  shoal_model_request *models = shoal_arena_alloc(&l->arena, policy->n_models, sizeof *models);
  if (!models) return false;
  for (size_t i = 0; i < policy->n_models; i++) {
    const shoal_model_type *type = shoal_model_find(policy->models[i].name.text);
    models[i] = policy->models[i];
    if (!type || !(type->is_size || type->is_p)) continue;
    if (!lower_request(l, &models[i], type->parameters[0].name, type->is_size ? k : p))
      return false;
  }
  l->policy.models = models;
  return true;
}

/* Binding writes to `tracked`: it must not change that of the running search. */
static shoal_status bind_lowered(const shoal_context *p, const shoal_lowered_policy *l,
                                 shoal_context *trial, shoal_error *error) {
  size_t n = shoal_tracked_room(p->table);
  *trial = *p;
  trial->policy = &l->policy;
  trial->tracked.columns = shoal_alloc(n, sizeof *trial->tracked.columns);
  trial->tracked.track = shoal_alloc(n, sizeof *trial->tracked.track);
  shoal_status status = trial->tracked.columns && trial->tracked.track
                            ? shoal_requirements_bind(&l->policy, p->table, &trial->tracked,
                                                      &trial->requirements, error)
                            : shoal_fail_memory(error);
  free(trial->tracked.columns);
  free(trial->tracked.track);
  trial->tracked = p->tracked;
  return status;
}

static shoal_status try_lowered(shoal_explain_state *state, uint64_t k, uint64_t p,
                                shoal_node *node, bool *helpful, shoal_error *error) {
  shoal_lowered_policy l;
  bool found = false;
  shoal_context trial;
  shoal_status status = shoal_lowered_policy_make(&l, state->context->policy, k, p)
                            ? bind_lowered(state->context, &l, &trial, error)
                            : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    status = shoal_explain_state_try(state, &trial, node, &found, error);
    if (status == SHOAL_OK) status = shoal_requirements_status(&trial.requirements, error);
    shoal_requirements_reset(&trial.requirements);
  }
  shoal_arena_reset(&l.arena);
  *helpful = status == SHOAL_OK && helps(state, node, found);
  return status;
}

/* The largest value from `min` to below `given` that helps. */
static shoal_status lower_setting(shoal_explain_state *state, const char *setting, uint64_t min,
                                  uint64_t given, shoal_error *error) {
  bool is_k = strcmp(setting, "k") == 0, helpful;
  shoal_node node, best;
  uint64_t low = min, high = given; /* low helps; high does not */
  if (min >= given) return SHOAL_OK;
  SHOAL_TRY(
      try_lowered(state, is_k ? min : UINT64_MAX, is_k ? UINT64_MAX : min, &best, &helpful, error));
  if (!helpful) return SHOAL_OK;
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    SHOAL_TRY(try_lowered(state, is_k ? middle : UINT64_MAX, is_k ? UINT64_MAX : middle, &node,
                          &helpful, error));
    if (helpful) {
      low = middle;
      best = node;
    } else {
      high = middle;
    }
  }
  return add_change(state, setting, given, low, true, &best, error);
}

/* ------------------------------------------------------------ more suppression */

/* Heights from the nearest down, without those that a lower one beats. */
static shoal_status add_ladder(shoal_explain_state *state, const shoal_node **best, uint32_t n,
                               shoal_error *error) {
  for (uint32_t height = n; height-- > 0;) {
    bool beaten = !best[height];
    for (uint32_t lower = 0; !beaten && lower < height; lower++)
      beaten = best[lower] && best[lower]->suppressed <= best[height]->suppressed;
    if (!beaten)
      SHOAL_TRY(add_change(state, "max-suppression", state->search.max_suppressed,
                           best[height]->suppressed, true, best[height], error));
  }
  return SHOAL_OK;
}

/*
 * If the lattice is too large to evaluate every node: the best node directly below the chosen one.
 */
static shoal_status add_neighbour(shoal_explain_state *state, shoal_error *error) {
  shoal_node best = {0};
  bool found = false;
  for (size_t q = 0; q < state->search.space.n; q++) {
    shoal_node node;
    if (state->explanation->node.levels[q] == state->search.space.bottom[q]) continue;
    SHOAL_TRY(shoal_explain_state_node(state, state->base.number - state->search.space.stride[q],
                                       &node, error));
    if (!node.n_classes || (found && node.suppressed >= best.suppressed)) continue;
    best = node;
    found = true;
  }
  if (!helps(state, &best, found)) return SHOAL_OK;
  return add_change(state, "max-suppression", state->search.max_suppressed, best.suppressed, false,
                    &best, error);
}

shoal_status shoal_explain_changes(shoal_explain_state *state, shoal_error *error) {
  shoal_explanation *e = state->explanation;
  const shoal_requirements *requirements = &state->context->requirements;
  e->changes =
      shoal_arena_alloc(&state->result->arena, (size_t)e->lattice_height + 6, sizeof *e->changes);
  if (!e->changes) return shoal_fail_memory(error);
  if (state->met && e->min_height == 0) return SHOAL_OK;
  e->changes_tried = shoal_explain_state_affords_trials(state);
  if (e->changes_tried && e->has_k) /* k < p means the same as k = p */
    SHOAL_TRY(lower_setting(state, "k", requirements->p, requirements->k, error));
  if (e->changes_tried && e->has_p) SHOAL_TRY(lower_setting(state, "p", 1, requirements->p, error));
  if (!state->met && state->has_base)
    return add_change(state, "max-suppression", state->search.max_suppressed,
                      state->base.suppressed, true, &state->base, error);
  if (!state->met) return SHOAL_OK;
  if (!state->nodes.n_items) return add_neighbour(state, error);
  uint32_t n = state->explanation->min_height;
  const shoal_node **best = shoal_alloc_zero(n, sizeof *best);
  if (!best) return shoal_fail_memory(error);
  /* For each height below the minimum, the node with the fewest rows to suppress, or NULL. */
  for (size_t i = 0; i < state->nodes.n_items; i++) {
    const shoal_node *node = &state->nodes.items[i];
    if (node->height >= n || !node->n_classes) continue;
    if (!best[node->height] || node->suppressed < best[node->height]->suppressed)
      best[node->height] = node;
  }
  shoal_status status = add_ladder(state, best, n, error);
  free(best);
  return status;
}

/* ------------------------------------------------------------ without a demand */

static shoal_status leave_out(shoal_explain_state *state, size_t left_out,
                              shoal_requirement *others, shoal_error *error) {
  const shoal_requirements *all = &state->context->requirements;
  shoal_explained_requirement *out = &state->explanation->requirements[left_out];
  shoal_context trial = *state->context;
  trial.requirements = *all;
  trial.requirements.items = others;
  trial.requirements.n_items = 0;
  for (size_t i = 0; i < all->n_items; i++) {
    if (i == left_out) continue;
    others[trial.requirements.n_items++] = all->items[i];
  }
  shoal_requirements_summarize(&trial.requirements);
  shoal_node node;
  bool found;
  SHOAL_TRY(shoal_explain_state_try(state, &trial, &node, &found, error));
  out->tried = true;
  out->met_without = found;
  out->height_without = found ? node.height : 0;
  return SHOAL_OK;
}

shoal_status shoal_explain_left_out(shoal_explain_state *state, shoal_error *error) {
  size_t n = state->context->requirements.n_items;
  if (n < 2 || !shoal_explain_state_affords_trials(state)) return SHOAL_OK;
  shoal_requirement *others = shoal_alloc(n, sizeof *others);
  if (!others) return shoal_fail_memory(error);
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; status == SHOAL_OK && i < n; i++) status = leave_out(state, i, others, error);
  free(others);
  return status;
}
