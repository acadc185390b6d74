/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/explain_changes: other policies, tried. The smallest change of k, of p or of max-suppression
 * that, alone, makes the policy reachable or, where it is, lowers the least height; and the policy
 * without each of its demands. Every answer was computed with the changed policy: k and p by
 * bisection (a class that satisfies a demand satisfies it with a smaller k or p too), suppression
 * from the rows to suppress at each node.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/explain.h"

/* Would it help? Reachable where nothing was, or lower than anything was. */
static bool helps(const shoal_study *study, const shoal_node *node, bool found) {
  return found && (!study->met || node->height < study->explanation->least_height);
}

static shoal_status add_change(shoal_study *study, const char *setting, uint64_t from, uint64_t to,
                               bool exact, const shoal_node *node, shoal_error *error) {
  shoal_explained_change *change = &study->explanation->changes[study->explanation->n_changes];
  shoal_node_outcome outcome;
  SHOAL_TRY(shoal_result_node(study->result, &study->search.space, node, &outcome, error));
  *change = (shoal_explained_change){.setting = setting,
                                     .from = from,
                                     .to = to,
                                     .levels = outcome.levels,
                                     .height = outcome.height,
                                     .suppressed = outcome.suppressed,
                                     .exact = exact};
  study->explanation->n_changes++;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ smaller k and p */

typedef struct lowered {
  shoal_policy policy; /* shares everything with the original but what was lowered */
  shoal_arena arena;
} lowered;

static const shoal_model_type *type_of(const char *name) {
  for (size_t i = 0; shoal_model_types[i]; i++)
    if (strcmp(shoal_model_types[i]->name, name) == 0) return shoal_model_types[i];
  return NULL;
}

/* The request with its own k or p at most `most`. */
static bool lower_request(lowered *l, shoal_model_request *request, const char *name,
                          uint64_t most) {
  shoal_word *values = shoal_arena_alloc(&l->arena, request->n_parameters, sizeof *values);
  if (!values) return false;
  for (size_t i = 0; i < request->n_parameters; i++) {
    shoal_decimal number;
    values[i] = request->values[i];
    if (strcmp(request->parameters[i].text, name) != 0) continue;
    if (shoal_decimal_parse(values[i].text, strlen(values[i].text), &number) != SHOAL_NUMBER_OK ||
        number.mantissa < 0 || (uint64_t)number.mantissa <= most)
      continue;
    char text[32];
    int size = snprintf(text, sizeof text, "%llu", (unsigned long long)most);
    values[i].text = shoal_arena_copy(&l->arena, text, (size_t)size);
    if (!values[i].text) return false;
  }
  request->values = values;
  return true;
}

/* The policy with every k at most `k` and every p at most `p`. */
static bool lower_policy(lowered *l, const shoal_policy *policy, uint64_t k, uint64_t p) {
  shoal_arena_init(&l->arena);
  l->policy = *policy;
  if (policy->k > k) l->policy.k = k;
  if (policy->p > p) l->policy.p = p;
  shoal_model_request *models = shoal_arena_alloc(&l->arena, policy->n_models, sizeof *models);
  if (!models) return false;
  for (size_t i = 0; i < policy->n_models; i++) {
    const shoal_model_type *type = type_of(policy->models[i].name.text);
    models[i] = policy->models[i];
    if (!type || !(type->is_size || type->is_p)) continue;
    if (!lower_request(l, &models[i], type->parameters[0].name, type->is_size ? k : p))
      return false;
  }
  l->policy.models = models;
  return true;
}

/* Binding notes what must travel with the classes: here it may not touch what is at work. */
static shoal_status bind_lowered(const shoal_prepared *p, const lowered *l, shoal_prepared *trial,
                                 shoal_error *error) {
  size_t n = p->table->n_columns;
  *trial = *p;
  trial->policy = &l->policy;
  trial->tracked.columns = shoal_alloc(n, sizeof *trial->tracked.columns);
  trial->tracked.track = shoal_alloc(n, sizeof *trial->tracked.track);
  shoal_status status =
      trial->tracked.columns && trial->tracked.track
          ? shoal_demands_bind(&l->policy, p->table, &trial->tracked, &trial->demands, error)
          : shoal_fail_memory(error);
  free(trial->tracked.columns);
  free(trial->tracked.track);
  trial->tracked = p->tracked;
  return status;
}

static shoal_status try_lowered(shoal_study *study, uint64_t k, uint64_t p, shoal_node *node,
                                bool *helpful, shoal_error *error) {
  lowered l;
  bool found = false;
  shoal_prepared trial;
  shoal_status status = lower_policy(&l, study->prepared->policy, k, p)
                            ? bind_lowered(study->prepared, &l, &trial, error)
                            : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    status = shoal_study_try(study, &trial, node, &found, error);
    if (status == SHOAL_OK) status = shoal_demands_trust(&trial.demands, error);
    shoal_demands_reset(&trial.demands);
  }
  shoal_arena_reset(&l.arena);
  *helpful = status == SHOAL_OK && helps(study, node, found);
  return status;
}

/* The largest value from `least` to below `asked` that helps. */
static shoal_status lower_setting(shoal_study *study, const char *setting, uint64_t least,
                                  uint64_t asked, shoal_error *error) {
  bool is_k = strcmp(setting, "k") == 0, helpful;
  shoal_node node, best;
  uint64_t low = least, high = asked; /* low helps; high does not */
  if (least >= asked) return SHOAL_OK;
  SHOAL_TRY(try_lowered(study, is_k ? least : UINT64_MAX, is_k ? UINT64_MAX : least, &best,
                        &helpful, error));
  if (!helpful) return SHOAL_OK;
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    SHOAL_TRY(try_lowered(study, is_k ? middle : UINT64_MAX, is_k ? UINT64_MAX : middle, &node,
                          &helpful, error));
    if (helpful) {
      low = middle;
      best = node;
    } else {
      high = middle;
    }
  }
  return add_change(study, setting, asked, low, true, &best, error);
}

/* ------------------------------------------------------------ more suppression */

/* Of each height below the least, the node with the fewest rows to suppress, or NULL. */
static void best_of_heights(const shoal_study *study, const shoal_node **best, uint32_t n) {
  for (size_t i = 0; i < study->nodes.n_items; i++) {
    const shoal_node *node = &study->nodes.items[i];
    if (node->height >= n || !node->n_classes) continue;
    if (!best[node->height] || node->suppressed < best[node->height]->suppressed)
      best[node->height] = node;
  }
}

/* Heights from the nearest down, without those that a lower one beats. */
static shoal_status add_ladder(shoal_study *study, const shoal_node **best, uint32_t n,
                               shoal_error *error) {
  for (uint32_t height = n; height-- > 0;) {
    bool beaten = !best[height];
    for (uint32_t lower = 0; !beaten && lower < height; lower++)
      beaten = best[lower] && best[lower]->suppressed <= best[height]->suppressed;
    if (!beaten)
      SHOAL_TRY(add_change(study, "max-suppression", study->search.max_suppressed,
                           best[height]->suppressed, true, best[height], error));
  }
  return SHOAL_OK;
}

/* In a lattice too large to know every node: the best of the nodes right below the chosen one. */
static shoal_status add_neighbour(shoal_study *study, shoal_error *error) {
  shoal_node best = {0};
  bool found = false;
  for (size_t q = 0; q < study->search.space.n; q++) {
    shoal_node node;
    if (!study->explanation->node.levels[q]) continue;
    SHOAL_TRY(
        shoal_study_node(study, study->base.number - study->search.space.stride[q], &node, error));
    if (!node.n_classes || (found && node.suppressed >= best.suppressed)) continue;
    best = node;
    found = true;
  }
  if (!helps(study, &best, found)) return SHOAL_OK;
  return add_change(study, "max-suppression", study->search.max_suppressed, best.suppressed, false,
                    &best, error);
}

static shoal_status more_suppression(shoal_study *study, shoal_error *error) {
  if (!study->met && study->has_base)
    return add_change(study, "max-suppression", study->search.max_suppressed,
                      study->base.suppressed, true, &study->base, error);
  if (!study->met) return SHOAL_OK;
  if (!study->nodes.n_items) return add_neighbour(study, error);
  uint32_t n = study->explanation->least_height;
  const shoal_node **best = shoal_alloc_zero(n, sizeof *best);
  if (!best) return shoal_fail_memory(error);
  best_of_heights(study, best, n);
  shoal_status status = add_ladder(study, best, n, error);
  free(best);
  return status;
}

shoal_status shoal_explain_changes(shoal_study *study, shoal_error *error) {
  shoal_explanation *e = study->explanation;
  const shoal_demands *demands = &study->prepared->demands;
  e->changes =
      shoal_arena_alloc(&study->result->arena, (size_t)e->lattice_height + 3, sizeof *e->changes);
  if (!e->changes) return shoal_fail_memory(error);
  if (study->met && e->least_height == 0) return SHOAL_OK;
  e->changes_tried = shoal_study_affords_trials(study);
  if (e->changes_tried && e->has_k) /* a k below p means no more than k = p */
    SHOAL_TRY(lower_setting(study, "k", demands->p, demands->k, error));
  if (e->changes_tried && e->has_p) SHOAL_TRY(lower_setting(study, "p", 1, demands->p, error));
  return more_suppression(study, error);
}

/* ------------------------------------------------------------ without a demand */

static shoal_status leave_out(shoal_study *study, size_t left_out, shoal_demand *others,
                              shoal_error *error) {
  const shoal_demands *all = &study->prepared->demands;
  shoal_explained_demand *out = &study->explanation->demands[left_out];
  shoal_prepared trial = *study->prepared;
  trial.demands = (shoal_demands){.items = others, .monotone = true, .k = 1, .p = 1};
  for (size_t i = 0; i < all->n_items; i++) {
    const shoal_demand *demand = &all->items[i];
    if (i == left_out) continue;
    others[trial.demands.n_items++] = *demand;
    trial.demands.monotone = trial.demands.monotone && demand->type->monotone(demand);
    if (demand->type->is_size && demand->count[0] > trial.demands.k)
      trial.demands.k = demand->count[0];
    if (demand->type->is_p && demand->count[0] > trial.demands.p)
      trial.demands.p = demand->count[0];
  }
  shoal_node node;
  bool found;
  SHOAL_TRY(shoal_study_try(study, &trial, &node, &found, error));
  out->tried = true;
  out->met_without = found;
  out->height_without = found ? node.height : 0;
  return SHOAL_OK;
}

shoal_status shoal_explain_left_out(shoal_study *study, shoal_error *error) {
  size_t n = study->prepared->demands.n_items;
  if (n < 2 || !shoal_study_affords_trials(study)) return SHOAL_OK;
  shoal_demand *others = shoal_alloc(n, sizeof *others);
  if (!others) return shoal_fail_memory(error);
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; status == SHOAL_OK && i < n; i++) status = leave_out(study, i, others, error);
  free(others);
  return status;
}
