/* SPDX-License-Identifier: Apache-2.0 */
/* report/json: results for programs, by jansson. The names are the interface: scripts use them. */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "report/attacks.h"
#include "report/explain.h"
#include "report/json_build.h"
#include "report/measures.h"
#include "report/page_json.h"
#include "report/result.h"

/* Of the render at work in this thread: something could not be added. */
static _Thread_local bool incomplete;

void shoal_json_set(json_t *object, const char *key, json_t *value) {
  if (json_object_set_new(object, key, value) != 0) incomplete = true;
}

void shoal_json_append(json_t *array, json_t *value) {
  if (json_array_append_new(array, value) != 0) incomplete = true;
}

/* A whole number where it is one: counts and levels are integers in JSON. */
static json_t *number(double x) {
  if (x == floor(x) && fabs(x) < 9e15) return json_integer((json_int_t)x);
  return json_real(x);
}

static json_t *count(uint64_t n) { return json_integer((json_int_t)n); }

static json_t *levels_object(const shoal_result *r, const uint32_t *levels) {
  json_t *object = json_object();
  for (size_t q = 0; q < r->n_quasi; q++) shoal_json_set(object, r->quasi[q], count(levels[q]));
  return object;
}

static json_t *worst_array(const shoal_result *r, const shoal_model_outcome *model) {
  json_t *array = json_array();
  for (size_t i = 0; i < model->n_worst; i++) {
    const shoal_class_example *example = &model->worst[i];
    json_t *object = json_pack("{s:o, s:o, s:o}", "rows", count(example->n_rows), "reached",
                               number(example->reached), "first_row", count(example->first_row));
    json_t *labels = json_object();
    for (size_t q = 0; q < r->n_quasi; q++)
      shoal_json_set(labels, r->quasi[q], json_string(example->labels[q]));
    shoal_json_set(object, "class", labels);
    shoal_json_append(array, object);
  }
  return array;
}

static json_t *models_array(const shoal_result *r) {
  json_t *array = json_array();
  for (size_t i = 0; i < r->n_models; i++) {
    const shoal_model_outcome *m = &r->models[i];
    json_t *object = json_object();
    shoal_json_set(object, "model", json_string(m->model));
    if (m->attribute) shoal_json_set(object, "attribute", json_string(m->attribute));
    shoal_json_set(object, "required", number(m->required));
    shoal_json_set(object, "reached", number(m->reached));
    shoal_json_set(object, "holds", json_boolean(m->holds));
    shoal_json_set(object, "breaking_rows", count(m->breaking_rows));
    shoal_json_set(object, "breaking_classes", count(m->breaking_classes));
    if (m->attribute) shoal_json_set(object, "distinct_values", count(m->least_distinct));
    if (r->kind == SHOAL_RESULT_CHECK && m->n_worst)
      shoal_json_set(object, "worst", worst_array(r, m));
    shoal_json_append(array, object);
  }
  return array;
}

static json_t *strings(const char *const *items, size_t n) {
  json_t *array = json_array();
  for (size_t i = 0; i < n; i++) shoal_json_append(array, json_string(items[i]));
  return array;
}

static json_t *conditions_object(const shoal_result *r) {
  return json_pack("{s:o, s:o}", "max_p", count(r->max_p), "max_groups", count(r->max_groups));
}

static json_t *render_conditions(const shoal_result *r) {
  json_t *attributes = json_array();
  for (size_t i = 0; i < r->n_conditions; i++)
    shoal_json_append(attributes,
                      json_pack("{s:s, s:o, s:o}", "attribute", r->conditions[i].attribute,
                                "distinct", count(r->conditions[i].distinct), "max_groups",
                                count(r->conditions[i].max_groups)));
  return json_pack("{s:o, s:o, s:o, s:o}", "rows", count(r->input_rows), "max_p", count(r->max_p),
                   "max_groups", count(r->max_groups), "attributes", attributes);
}

static json_t *render_check(const shoal_result *r) {
  json_t *root = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "holds", json_boolean(r->holds),
                           "rows", count(r->input_rows), "classes", count(r->classes),
                           "smallest_class", count(r->smallest_class), "models", models_array(r),
                           "warnings", strings(r->warnings, r->n_warnings));
  shoal_json_set(root, "class_sizes", shoal_page_json_sizes(r));
  return root;
}

static json_t *objective_object(const shoal_result *r) {
  json_t *object = json_pack("{s:s}", "name", r->objective);
  if (!r->local) shoal_json_set(object, "cost", json_real(r->cost));
  return object;
}

/* Local recoding has no nodes: its counts of them are 0. */
static json_t *search_object(const shoal_result *r) {
  json_t *minimal = json_array();
  json_t *node = NULL;
  uint32_t height = 0;
  for (size_t i = 0; i < r->n_nodes; i++) {
    if (r->nodes[i].minimal) shoal_json_append(minimal, levels_object(r, r->nodes[i].levels));
    if (!r->nodes[i].chosen) continue;
    node = levels_object(r, r->nodes[i].levels);
    incomplete = incomplete || !node;
    height = r->nodes[i].height;
  }
  json_t *search =
      json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "algorithm", r->algorithm,
                "reason", r->algorithm_reason, "lattice_nodes", count(r->lattice_nodes),
                "nodes_checked", count(r->nodes_checked), "refused_by_condition",
                count(r->nodes_bounded), "height", count(height), "node", node ? node : json_null(),
                "minimal", minimal, "minimal_complete", json_boolean(r->minimal_complete));
  shoal_json_set(search, "exhaustive", json_boolean(r->exhaustive));
  if (r->slack) shoal_json_set(search, "slack", count(r->slack));
  if (r->effort > 1) shoal_json_set(search, "effort", count(r->effort));
  if (r->why) shoal_json_set(search, "why", json_string(r->why));
  if (r->objective) shoal_json_set(search, "objective", objective_object(r));
  if (r->lattice_nodes) shoal_json_set(search, "classes_touched", count(r->classes_touched));
  if (r->objective && !r->local)
    shoal_json_set(search, "proven_optimal", json_boolean(!r->unproven));
  if (r->upper_bound)
    shoal_json_set(search, "bounds",
                   json_pack("{s:o, s:o, s:o}", "lower_height", count(r->lower_height),
                             "upper_height", count(r->upper_height), "upper",
                             levels_object(r, r->upper_bound)));
  return search;
}

static json_t *measures_object(const shoal_result *r) {
  json_t *measures =
      json_pack("{s:o, s:f, s:f, s:f, s:f, s:f}", "dm", number(r->dm), "avg", r->avg, "il", r->il,
                "nil", r->nil, "accuracy", r->accuracy, "completeness", r->completeness);
  if (r->local) {
    shoal_json_set(measures, "dm_clusters", number(r->dm_clusters));
    shoal_json_set(measures, "avg_clusters", json_real(r->avg_clusters));
  } else {
    shoal_json_set(measures, "height_accuracy", json_real(r->height_accuracy));
  }
  return measures;
}

static json_t *render_release(const shoal_result *r) {
  json_t *root = json_object();
  shoal_json_set(root, "shoal", json_string(SHOAL_VERSION));
  shoal_json_set(root, "command", json_string("anonymize"));
  shoal_json_set(
      root, "input",
      json_pack("{s:o, s:o}", "rows", count(r->input_rows), "columns", count(r->input_columns)));
  if (r->two_passes) shoal_json_set(json_object_get(root, "input"), "passes", json_integer(2));
  shoal_json_set(root, "output",
                 json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rows", count(r->output_rows),
                           "suppressed", count(r->suppressed), "blanked", count(r->blanked),
                           "noise", count(r->noise), "clusters", count(r->clusters), "classes",
                           count(r->classes), "smallest_class", count(r->smallest_class)));
  shoal_json_set(root, "models", models_array(r));
  shoal_json_set(root, "search", search_object(r));
  shoal_json_set(root, "conditions", conditions_object(r));
  shoal_json_set(root, "measures", measures_object(r));
  shoal_json_set(root, "class_sizes", shoal_page_json_sizes(r));
  shoal_json_set(root, "suppressed_by", shoal_page_json_causes(r));
  if (r->n_cluster_sizes) shoal_json_set(root, "cluster_sizes", shoal_page_json_clusters(r));
  if (r->page) shoal_page_json(r->page, root);
  if (r->measures) shoal_json_set(root, "utility", shoal_page_json_utility(r->measures));
  if (r->risk) shoal_json_set(root, "learning", shoal_page_json_learning(r));
  if (r->attacks) shoal_json_set(root, "attacks", shoal_render_attacks_array(r));
  shoal_json_set(root, "order", r->order ? json_string(r->order) : json_null());
  shoal_json_set(root, "seed", r->has_seed ? count(r->seed) : json_null());
  shoal_json_set(root, "warnings", strings(r->warnings, r->n_warnings));
  shoal_json_set(root, "seconds",
                 json_pack("{s:f, s:f, s:f, s:f, s:f}", "read", r->seconds_read, "search",
                           r->seconds_search, "write", r->seconds_write, "verify",
                           r->seconds_verify, "total", r->seconds_total));
  shoal_json_set(root, "peak_memory_bytes", count(r->peak_memory_bytes));
  return root;
}

static json_t *render_lattice(const shoal_result *r) {
  json_t *nodes = json_array(), *preferred = json_object();
  for (size_t i = 0; i < r->n_nodes; i++) {
    const shoal_node_outcome *n = &r->nodes[i];
    shoal_json_append(
        nodes, json_pack("{s:o, s:o, s:o, s:o, s:b, s:b}", "node", levels_object(r, n->levels),
                         "height", count(n->height), "suppressed", count(n->suppressed), "classes",
                         count(n->classes), "satisfies", n->satisfies, "minimal", n->minimal));
  }
  for (size_t p = 0; p < r->n_preferred; p++) {
    json_t *list = json_array();
    for (size_t i = 0; i < r->preferred[p].n_nodes; i++)
      shoal_json_append(list, levels_object(r, r->nodes[r->preferred[p].nodes[i]].levels));
    shoal_json_set(preferred, r->preferred[p].policy, list);
  }
  return json_pack("{s:o, s:o}", "nodes", nodes, "preferred", preferred);
}

static json_t *render_profile(const shoal_result *r) {
  json_t *columns = json_array();
  for (size_t i = 0; i < r->n_columns; i++) {
    const shoal_column_outcome *c = &r->columns[i];
    shoal_json_append(columns, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:s?, s:s}", "column",
                                         c->name, "type", c->type, "distinct", count(c->distinct),
                                         "missing", count(c->missing), "unique", count(c->unique),
                                         "most_frequent", count(c->most_frequent), "role", c->role,
                                         "hierarchy", c->hierarchy, "why", c->why));
  }
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "rows", count(r->input_rows), "columns", columns,
                   "distinct_rows", count(r->n_distinct_rows), "unique_rows",
                   count(r->n_unique_rows), "warnings", strings(r->warnings, r->n_warnings));
}

static json_t *render_hierarchy(const shoal_result *r) {
  json_t *labels = json_array();
  for (size_t l = 0; l < r->n_label_levels; l++)
    shoal_json_append(labels, strings(r->labels[l].labels, r->labels[l].n_labels));
  return json_pack("{s:s, s:b, s:o, s:o, s:o}", "hierarchy", r->source, "valid", 1, "leaves",
                   count(r->n_leaves), "levels", count(r->n_levels), "labels", labels);
}

static int take_bytes(const char *bytes, size_t size, void *user) {
  shoal_text *out = user;
  shoal_text_add_bytes(out, bytes, size);
  return out->failed ? -1 : 0;
}

shoal_status shoal_render_json(const shoal_result *result, char **text, shoal_error *error) {
  static json_t *(*const renderers[])(const shoal_result *) = {
      [SHOAL_RESULT_PROFILE] = render_profile,
      [SHOAL_RESULT_CHECK] = render_check,
      [SHOAL_RESULT_CONDITIONS] = render_conditions,
      [SHOAL_RESULT_LATTICE] = render_lattice,
      [SHOAL_RESULT_EXPLAIN] = shoal_render_explain_json,
      [SHOAL_RESULT_RELEASE] = render_release,
      [SHOAL_RESULT_HIERARCHY] = render_hierarchy,
      [SHOAL_RESULT_ATTACK] = shoal_render_attacks_json,
      [SHOAL_RESULT_MEASURE] = shoal_render_measure_json,
  };
  incomplete = false;
  json_t *root = renderers[result->kind](result);
  shoal_text out; /* jansson's own buffer forgets what it had no memory for */
  shoal_text_init(&out);
  bool whole =
      root && !incomplete &&
      json_dump_callback(root, take_bytes, &out, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) == 0;
  *text = whole ? shoal_text_take(&out) : NULL;
  shoal_text_reset(&out);
  json_decref(root);
  return *text ? SHOAL_OK : shoal_fail_memory(error);
}
