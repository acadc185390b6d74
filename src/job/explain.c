/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/explain: why a policy cannot be met or costs much, and the smallest changes that would help.
 *
 * Up to MAX_EVERY_NODE nodes the rows to suppress are counted at every node, once, and all that
 * concerns suppression and single quasi-identifiers is read off these figures. Larger lattices are
 * searched as `anonymize` does, and only neighbours of the node found are measured.
 *
 * At the top of the lattice all rows are one class. A monotone policy that fails there fails in
 * every class of every node (docs/reading-the-papers.md R1): then no generalization and no
 * suppression helps, and the explanation says so.
 */
#include "job/explain.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t MAX_EVERY_NODE = 20000;

/* ------------------------------------------------------------ what the parts share */

shoal_status shoal_study_node(shoal_study *study, uint64_t number, shoal_node *node,
                              shoal_error *error) {
  if (!study->nodes.n_items) return shoal_search_measure(&study->search, number, node, error);
  *node = study->nodes.items[number];
  return SHOAL_OK;
}

/* Trials report as one search whose end is not known. */
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

shoal_status shoal_study_try(shoal_study *study, const shoal_prepared *other, shoal_node *node,
                             bool *found, shoal_error *error) {
  shoal_prepared trial = *other;
  trial_progress progress = {.run = other->run, .n_before = study->n_tried};
  shoal_run run = {.progress = report_trial, .progress_user = &progress};
  if (other->run && other->run->progress) {
    run.n_threads = other->run->n_threads;
    trial.run = &run;
  }
  shoal_search search;
  SHOAL_TRY(shoal_prepared_search(&trial, true, &search, error));
  shoal_status status = shoal_search_samarati(&search, node, found, error);
  study->n_tried += search.n_checked;
  shoal_search_reset(&search);
  return status;
}

bool shoal_study_affords_trials(const shoal_study *study) {
  return study->prepared->demands.monotone || study->nodes.n_items;
}

/* ------------------------------------------------------------ the demands */

static shoal_status name_of(shoal_study *study, size_t sensitive, const char **name,
                            shoal_error *error) {
  const char *text = study->prepared->sensitive[sensitive].column->name;
  *name = shoal_result_string(study->result, text, strlen(text));
  return *name ? SHOAL_OK : shoal_fail_memory(error);
}

/* The necessary condition of one demand, and why it fails where it does. */
static shoal_status bound_demand(shoal_study *study, const shoal_demand *demand,
                                 const shoal_spread *spread, shoal_explained_demand *out,
                                 shoal_error *error) {
  if (!demand->type->most_classes) return SHOAL_OK;
  out->bounded = true;
  out->max_groups = demand->type->most_classes(demand, spread);
  if (out->max_groups) return SHOAL_OK;
  char why[512];
  const char *attribute = "";
  if (demand->sensitive != SHOAL_NO_ATTRIBUTE)
    attribute = study->prepared->sensitive[demand->sensitive].column->name;
  demand->type->explain(demand, spread, attribute, why, sizeof why);
  out->why = shoal_result_string(study->result, why, strlen(why));
  return out->why ? SHOAL_OK : shoal_fail_memory(error);
}

/* An attribute is as hard as the hardest p-like demand on it. */
static void note_hardness(shoal_explanation *e, const shoal_demand *demand,
                          const shoal_spread *spread, const shoal_explained_demand *out) {
  if (!demand->type->is_p || !out->attribute || !out->bounded) return;
  size_t at = 0;
  while (at < e->n_hardest && strcmp(e->hardest[at].attribute, out->attribute) != 0) at++;
  shoal_hardness *hardness = &e->hardest[at];
  if (at == e->n_hardest) {
    *hardness = (shoal_hardness){
        .attribute = out->attribute, .distinct = spread->n_distinct, .max_groups = out->max_groups};
    e->n_hardest++;
  }
  if (demand->count[0] > hardness->p) hardness->p = demand->count[0];
  if (out->max_groups < hardness->max_groups) hardness->max_groups = out->max_groups;
}

static shoal_status explain_demand(shoal_study *study, const shoal_demand *demand,
                                   const shoal_classes *whole, shoal_explained_demand *out,
                                   shoal_error *error) {
  const shoal_prepared *p = study->prepared;
  *out = (shoal_explained_demand){.model = demand->type->name,
                                  .required = demand->type->required(demand),
                                  .at_most = demand->type->at_most};
  shoal_spread spread = {.n_rows = p->table->n_records};
  if (demand->sensitive != SHOAL_NO_ATTRIBUTE) {
    SHOAL_TRY(name_of(study, demand->sensitive, &out->attribute, error));
    SHOAL_TRY(shoal_spread_count(p->table, p->sensitive[demand->sensitive].column, &spread, error));
  }
  if (whole->n_classes)
    out->holds = shoal_demand_holds(demand, p->frequency, whole, 0, &out->reached);
  study->explanation->whole_holds = study->explanation->whole_holds && out->holds;
  shoal_status status = bound_demand(study, demand, &spread, out, error);
  note_hardness(study->explanation, demand, &spread, out);
  free(spread.descending);
  return status;
}

/* Truta, Campan & Meyer 2007, Definition 13: fewer groups are harder; ties as in the table. */
static void sort_hardest(shoal_explanation *e) {
  for (size_t i = 1; i < e->n_hardest; i++) {
    shoal_hardness moved = e->hardest[i];
    size_t at = i;
    for (; at > 0 && e->hardest[at - 1].max_groups > moved.max_groups; at--)
      e->hardest[at] = e->hardest[at - 1];
    e->hardest[at] = moved;
  }
}

static shoal_status explain_demands(shoal_study *study, shoal_error *error) {
  const shoal_demands *demands = &study->prepared->demands;
  shoal_explanation *e = study->explanation;
  shoal_arena *arena = &study->result->arena;
  e->demands = shoal_arena_alloc(arena, demands->n_items, sizeof *e->demands);
  e->hardest = shoal_arena_alloc(arena, demands->n_items, sizeof *e->hardest);
  if (!e->demands || !e->hardest) return shoal_fail_memory(error);
  shoal_classes whole;
  uint8_t *breaks;
  uint32_t *class_of_tuple;
  SHOAL_TRY(shoal_search_classes(&study->search, study->search.space.n_nodes - 1, &whole, &breaks,
                                 &class_of_tuple, error));
  e->whole_holds = true;
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; status == SHOAL_OK && i < demands->n_items; i++) {
    status = explain_demand(study, &demands->items[i], &whole, &e->demands[i], error);
    e->has_k = e->has_k || demands->items[i].type->is_size;
    e->has_p = e->has_p || demands->items[i].type->is_p;
    e->n_demands = i + 1;
  }
  sort_hardest(e);
  shoal_classes_reset(&whole);
  free(breaks);
  free(class_of_tuple);
  return status;
}

/* ------------------------------------------------------------ the node to explain */

/* Fewest rows to suppress, then least height, then number; nodes that release nothing are none. */
static void find_best(shoal_study *study) {
  for (size_t i = 0; i < study->nodes.n_items; i++) {
    const shoal_node *node = &study->nodes.items[i], *best = &study->base;
    if (!node->n_classes) continue;
    if (study->has_base && (node->suppressed > best->suppressed ||
                            (node->suppressed == best->suppressed && node->height >= best->height)))
      continue;
    study->base = *node;
    study->has_base = true;
  }
}

static shoal_status collect_minimal(shoal_study *study, shoal_node_list *minimal,
                                    shoal_error *error) {
  if (!study->nodes.n_items)
    return shoal_search_minimal(&study->search, study->explanation->least_height, minimal, error);
  for (size_t i = 0; i < study->nodes.n_items; i++)
    if (study->nodes.items[i].minimal && !shoal_node_list_add(minimal, &study->nodes.items[i]))
      return shoal_fail_memory(error);
  return SHOAL_OK;
}

/* The policy's preferences choose among the minimal nodes; without any, the lowest stands. */
static shoal_status prefer(shoal_study *study, shoal_error *error) {
  const shoal_prepared *p = study->prepared;
  shoal_preference *preferences;
  size_t n_preferences;
  SHOAL_TRY(shoal_preferences_bind(p->policy, p->frequency, p->weighted ? p->weights : NULL,
                                   &preferences, &n_preferences, error));
  shoal_node_list minimal = {0};
  shoal_status status = SHOAL_OK;
  if (n_preferences) status = collect_minimal(study, &minimal, error);
  if (status == SHOAL_OK && minimal.n_items)
    study->base = *shoal_prefer(&study->search, preferences, n_preferences, &minimal);
  shoal_node_list_reset(&minimal);
  free(preferences);
  return status;
}

static shoal_status find_lowest(shoal_study *study, shoal_error *error) {
  if (!study->nodes.n_items)
    return shoal_search_samarati(&study->search, &study->base, &study->met, error);
  for (size_t i = 0; i < study->nodes.n_items; i++) {
    const shoal_node *node = &study->nodes.items[i];
    if (!node->satisfies || (study->met && node->height >= study->base.height)) continue;
    study->base = *node;
    study->met = true;
  }
  return SHOAL_OK;
}

static shoal_status find_base(shoal_study *study, shoal_error *error) {
  if (study->search.space.n_nodes <= MAX_EVERY_NODE)
    SHOAL_TRY(shoal_search_all(&study->search, &study->nodes, error));
  study->explanation->every_node = study->nodes.n_items > 0;
  SHOAL_TRY(find_lowest(study, error));
  study->has_base = study->met;
  study->limit = study->search.max_suppressed;
  if (study->met) {
    study->explanation->least_height = study->base.height;
    return prefer(study, error);
  }
  find_best(study);
  if (study->has_base) study->limit = study->base.suppressed;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ the job */

static shoal_status explain(shoal_study *study, shoal_error *error) {
  shoal_result *result = study->result;
  shoal_explanation *e = study->explanation;
  SHOAL_TRY(explain_demands(study, error));
  SHOAL_TRY(find_base(study, error));
  result->holds = study->met;
  result->lattice_nodes = study->search.space.n_nodes;
  result->max_suppression = study->search.max_suppressed;
  e->monotone = study->prepared->demands.monotone;
  e->lattice_height = study->search.space.height;
  e->has_node = study->has_base;
  if (study->has_base) {
    SHOAL_TRY(shoal_result_node(result, &study->search.space, &study->base, &e->node, error));
    SHOAL_TRY(shoal_explain_costs(study, error));
    SHOAL_TRY(shoal_explain_outliers(study, error));
  }
  SHOAL_TRY(shoal_explain_left_out(study, error));
  return shoal_explain_changes(study, error);
}

shoal_status shoal_explain(const shoal_table *table, const shoal_policy *policy,
                           const shoal_run *run, shoal_result **out, shoal_error *error) {
  *out = NULL;
  shoal_prepared prepared;
  SHOAL_TRY(shoal_prepare(&prepared, table, policy, SHOAL_PREPARE_LATTICE, run, error));
  shoal_study study = {.prepared = &prepared, .result = shoal_result_new(SHOAL_RESULT_EXPLAIN)};
  shoal_status status = study.result ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    study.explanation = shoal_arena_alloc(&study.result->arena, 1, sizeof *study.explanation);
    status = study.explanation ? shoal_result_input(study.result, &prepared, error)
                               : shoal_fail_memory(error);
  }
  if (status == SHOAL_OK) {
    memset(study.explanation, 0, sizeof *study.explanation);
    study.result->explanation = study.explanation;
    status = shoal_prepared_search(&prepared, true, &study.search, error);
  }
  if (status == SHOAL_OK) {
    status = explain(&study, error);
    shoal_search_reset(&study.search);
  }
  if (status == SHOAL_OK) status = shoal_demands_trust(&prepared.demands, error);
  shoal_node_list_reset(&study.nodes);
  shoal_prepared_reset(&prepared);
  if (status != SHOAL_OK) {
    shoal_result_free(study.result);
    return status;
  }
  *out = study.result;
  return SHOAL_OK;
}
