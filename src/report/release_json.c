/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/release_json: JSON of `anonymize`: the figures of the text (release.c) and, where a page
 * was requested, what the page shows. It withholds the same small counts.
 */
#include <math.h>

#include "report/measures.h"
#include "report/page.h"
#include "report/render.h"

/* ------------------------------------------------------------ JSON: the page */

/* A number of people, or null where it is above 0 and below k. */
static json_t *people(uint64_t n, uint64_t k) {
  return n && n < k ? json_null() : shoal_json_count(n);
}

static json_t *columns_array(const shoal_html_report *page, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < page->n_columns; i++) {
    const shoal_html_report_column *c = &page->columns[i];
    shoal_json_append(json, array,
                      json_pack("{s:s, s:s, s:s, s:s, s:b}", "column", c->name, "type", c->type,
                                "role", c->role, "done", c->done, "released", c->released));
  }
  return array;
}

static json_t *sample_object(const shoal_html_report *page, shoal_json *json) {
  json_t *names = json_array(), *rows = json_array();
  for (size_t c = 0; c < page->n_sample_columns; c++)
    shoal_json_append(json, names, json_string(page->sample_names[c]));
  for (size_t i = 0; i < page->n_sample; i++) {
    json_t *row = json_array();
    for (size_t c = 0; c < page->n_sample_columns; c++)
      shoal_json_append(json, row, json_string(page->sample[i * page->n_sample_columns + c]));
    shoal_json_append(json, rows, row);
  }
  return json_pack("{s:o, s:o}", "columns", names, "rows", rows);
}

static json_t *label_object(const shoal_html_report_attribute *a, const char *label,
                            uint64_t n_labels, uint64_t before, uint64_t after, shoal_json *json) {
  json_t *object =
      label ? json_pack("{s:s}", "label", label)
            : json_pack("{s:o, s:o}", "label", json_null(), "labels", shoal_json_count(n_labels));
  shoal_json_set(json, object, "before", a->before_hidden ? json_null() : shoal_json_count(before));
  shoal_json_set(json, object, "after", shoal_json_count(after));
  return object;
}

static json_t *attribute_object(const shoal_html_report_attribute *a, shoal_json *json) {
  json_t *object =
      json_pack("{s:s, s:s, s:s}", "attribute", a->name, "role", a->role, "done", a->done);
  json_t *labels = json_array();
  if (a->outcome) {
    shoal_json_set(json, object, "level", shoal_json_count(a->outcome->level));
    shoal_json_set(json, object, "height", shoal_json_count(a->outcome->height));
    shoal_json_set(json, object, "values_before", shoal_json_count(a->outcome->n_before));
    shoal_json_set(json, object, "labels_after", shoal_json_count(a->outcome->n_after));
    shoal_json_set(json, object, "loss", json_real(a->outcome->loss));
    if (!isnan(a->outcome->mean_width))
      shoal_json_set(json, object, "mean_width", json_real(a->outcome->mean_width));
    if (a->outcome->last_year)
      shoal_json_set(json, object, "two_digit_years",
                     json_pack("[i, i]", (int)a->outcome->first_year, (int)a->outcome->last_year));
  }
  if (a->widths) shoal_json_set(json, object, "widths", json_string(a->widths));
  if (a->outcome) shoal_json_set(json, object, "binned", json_boolean(a->binned));
  for (size_t i = 0; i < a->n_labels; i++)
    shoal_json_append(
        json, labels,
        label_object(a, a->labels[i].label, 1, a->labels[i].before, a->labels[i].after, json));
  if (a->n_others)
    shoal_json_append(json, labels,
                      label_object(a, NULL, a->n_others, a->others_before, a->others_after, json));
  shoal_json_set(json, object, "distribution", labels);
  return object;
}

static void set_page(const shoal_html_report *page, json_t *root, shoal_json *json) {
  json_t *attributes = json_array(), *settings = json_array(), *files = json_array();
  for (size_t i = 0; i < page->n_attributes; i++)
    shoal_json_append(json, attributes, attribute_object(&page->attributes[i], json));
  for (size_t i = 0; i < page->n_settings; i++)
    shoal_json_append(json, settings,
                      json_pack("{s:s, s:s}", "setting", page->settings[i].name, "value",
                                page->settings[i].value));
  for (size_t i = 0; i < page->n_files; i++)
    shoal_json_append(json, files,
                      json_pack("{s:s, s:s, s:s}", "use", page->files[i].use, "name",
                                page->files[i].name, "sha256", page->files[i].sha256));
  shoal_json_set(json, root, "columns", columns_array(page, json));
  if (page->n_sample) shoal_json_set(json, root, "sample", sample_object(page, json));
  if (page->n_attributes) shoal_json_set(json, root, "attributes", attributes);
  else json_decref(attributes);
  shoal_json_set(json, root, "settings", settings);
  shoal_json_set(json, root, "files", files);
}

static json_t *causes_array(const shoal_result *r, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < r->release.n_causes; i++) {
    const shoal_cause *cause = &r->release.causes[i];
    bool hidden = cause->rows && cause->rows < r->k;
    json_t *object = json_pack("{s:s, s:s?, s:o, s:o}", "model", cause->model, "attribute",
                               cause->attribute, "rows", people(cause->rows, r->k), "classes",
                               hidden ? json_null() : shoal_json_count(cause->classes));
    shoal_json_over(json, object, &cause->over);
    shoal_json_append(json, array, object);
  }
  return array;
}

static json_t *cluster_sizes_array(const shoal_clusters_report *r, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < r->n_cluster_sizes; i++)
    shoal_json_append(json, array,
                      json_pack("{s:o, s:o}", "size", shoal_json_count(r->cluster_sizes[i].size),
                                "clusters", shoal_json_count(r->cluster_sizes[i].n)));
  return array;
}

static json_t *utility_object(const shoal_measures *m, shoal_json *json) {
  json_t *object = json_object();
  for (const shoal_utility_figure *f = shoal_utility_figures(); f->key; f++)
    shoal_json_set(json, object, f->key, shoal_json_real(shoal_utility_value(m, f)));
  json_t *columns = json_array(), *associations = json_array();
  for (size_t i = 0; i < m->n_attributes; i++) {
    const shoal_attribute_measure *a = &m->attributes[i];
    shoal_json_append(json, columns,
                      json_pack("{s:s, s:o, s:o, s:o, s:o}", "column", a->name, "loss",
                                shoal_json_real(a->quasi ? a->loss : NAN), "ncp",
                                shoal_json_real(a->quasi ? a->ncp : NAN), "total_variation",
                                shoal_json_real(a->variation), "earth_mover",
                                shoal_json_real(a->earth_mover)));
  }
  for (size_t i = 0; i < m->n_associations; i++)
    shoal_json_append(json, associations,
                      json_pack("{s:s, s:s, s:o, s:o}", "quasi", m->associations[i].quasi,
                                "sensitive", m->associations[i].sensitive, "before",
                                shoal_json_real(m->associations[i].before), "after",
                                shoal_json_real(m->associations[i].after)));
  shoal_json_set(json, object, "columns", columns);
  shoal_json_set(json, object, "associations", associations);
  if (m->has_queries)
    shoal_json_set(json, object, "queries",
                   json_pack("{s:o, s:o, s:o, s:o, s:o}", "asked",
                             shoal_json_count(m->queries.n_queries), "dimensions",
                             shoal_json_count(m->queries.dimensions), "mean_error",
                             shoal_json_real(m->queries.mean), "median_error",
                             shoal_json_real(m->queries.median), "worst_error",
                             shoal_json_real(m->queries.worst)));
  return object;
}

static json_t *side_object(const shoal_attribute_risk_side *side, uint64_t k) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "rows_with_one_value", people(side->n_rows[0], k),
                   "fewest_values", shoal_json_count(side->min_distinct), "largest_share",
                   shoal_json_real(side->largest_share), "mean_share",
                   shoal_json_real(side->mean_share), "largest_distance",
                   shoal_json_real(side->largest_distance));
}

static json_t *learning_array(const shoal_result *r, shoal_json *json) {
  const shoal_risk *risk = r->release.measured.risk;
  json_t *array = json_array();
  for (size_t i = 0; i < risk->n_attributes; i++) {
    const shoal_attribute_risk *a = &risk->attributes[i];
    shoal_json_append(json, array,
                      json_pack("{s:s, s:o, s:o}", "attribute", a->name, "before",
                                side_object(&a->before, r->k), "after",
                                side_object(&a->after, r->k)));
  }
  return array;
}

/* ------------------------------------------------------------ JSON: the release */

/* What only a search of the lattice reports. */
static void set_node_search(json_t *search, const shoal_result *r, shoal_json *json) {
  const shoal_node_report *n = &r->release.node;
  if (n->slack) shoal_json_set(json, search, "slack", shoal_json_count(n->slack));
  if (n->objective)
    shoal_json_set(json, search, "objective",
                   json_pack("{s:s, s:f}", "name", n->objective, "cost", n->cost));
  if (n->lattice_nodes)
    shoal_json_set(json, search, "classes_touched", shoal_json_count(n->classes_scanned));
  if (n->objective) shoal_json_set(json, search, "proven_optimal", json_boolean(!n->unproven));
  if (n->upper_bound)
    shoal_json_set(json, search, "bounds",
                   json_pack("{s:o, s:o, s:o}", "lower_height", shoal_json_count(n->lower_height),
                             "upper_height", shoal_json_count(n->upper_height), "upper",
                             shoal_json_levels(json, r, n->upper_bound)));
}

static void set_clusters(json_t *search, const shoal_clusters_report *c, shoal_json *json) {
  if (c->effort > 1) shoal_json_set(json, search, "effort", shoal_json_count(c->effort));
  if (c->why) shoal_json_set(json, search, "why", json_string(c->why));
  if (c->objective)
    shoal_json_set(json, search, "objective", json_pack("{s:s}", "name", c->objective));
}

/* Keys about nodes are there for every method: 0, null or empty where it has no nodes. */
static json_t *search_object(const shoal_result *r, shoal_json *json) {
  static const shoal_node_report no_nodes = {0};
  bool by_node = r->release.method == SHOAL_METHOD_NODE;
  const shoal_node_report *n = by_node ? &r->release.node : &no_nodes;
  json_t *minimal = json_array();
  json_t *node = NULL;
  uint32_t height = 0;
  for (size_t i = 0; i < n->n_nodes; i++) {
    if (n->nodes[i].minimal)
      shoal_json_append(json, minimal, shoal_json_levels(json, r, n->nodes[i].levels));
    if (!n->nodes[i].chosen) continue;
    node = shoal_json_levels(json, r, n->nodes[i].levels);
    json->failed |= !node;
    height = n->nodes[i].height;
  }
  uint64_t checked = r->release.method == SHOAL_METHOD_CELLS ? r->release.cells.combinations_checked
                                                             : n->nodes_checked;
  json_t *search =
      json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "algorithm", r->release.algorithm,
                "reason", r->release.algorithm_reason, "lattice_nodes",
                n->lattice_nodes == UINT64_MAX ? json_null() : shoal_json_count(n->lattice_nodes),
                "nodes_checked", shoal_json_count(checked), "refused_by_condition",
                shoal_json_count(n->nodes_bounded), "height", shoal_json_count(height), "node",
                node ? node : json_null(), "minimal", minimal, "minimal_complete",
                json_boolean(n->minimal_complete));
  shoal_json_set(json, search, "exhaustive", json_boolean(n->exhaustive));
  if (r->release.n_tried)
    shoal_json_set(json, search, "tried", shoal_tried_json(&r->release, json));
  if (by_node) set_node_search(search, r, json);
  if (r->release.method == SHOAL_METHOD_CLUSTERS) set_clusters(search, &r->release.clusters, json);
  return search;
}

static json_t *measures_object(const shoal_release_report *r, size_t n_quasi, shoal_json *json) {
  const shoal_release_loss *l = &r->loss;
  json_t *measures =
      json_pack("{s:f, s:o, s:f, s:f, s:f, s:f, s:f}", "release_loss", l->release_loss, "dm",
                shoal_json_number(l->dm), "avg", l->avg, "il", l->il, "nil", l->nil, "accuracy",
                l->accuracy, "completeness", l->completeness);
  json_t *widths = json_object();
  for (size_t q = 0; r->attributes && q < n_quasi; q++)
    if (!isnan(r->attributes[q].mean_width))
      shoal_json_set(json, widths, r->attributes[q].name, json_real(r->attributes[q].mean_width));
  shoal_json_set(json, measures, "mean_widths", widths);
  if (r->method == SHOAL_METHOD_CLUSTERS) {
    shoal_json_set(json, measures, "dm_clusters", shoal_json_number(r->clusters.dm_clusters));
    shoal_json_set(json, measures, "avg_clusters", json_real(r->clusters.avg_clusters));
  } else {
    shoal_json_set(json, measures, "height_accuracy", json_real(l->height_accuracy));
  }
  return measures;
}

json_t *shoal_release_json(const shoal_result *result, shoal_json *json) {
  static const shoal_clusters_report no_clusters = {0};
  const shoal_release_report *r = &result->release;
  const shoal_clusters_report *clusters =
      r->method == SHOAL_METHOD_CLUSTERS ? &r->clusters : &no_clusters;
  json_t *root = json_object();
  shoal_json_set(json, root, "shoal", json_string(SHOAL_VERSION));
  shoal_json_set(json, root, "command", json_string("anonymize"));
  shoal_json_set(json, root, "input",
                 json_pack("{s:o, s:o}", "rows", shoal_json_count(result->input_rows), "columns",
                           shoal_json_count(result->input_columns)));
  if (result->input_people)
    shoal_json_set(json, json_object_get(root, "input"), "people",
                   shoal_json_count(result->input_people));
  if (result->two_passes)
    shoal_json_set(json, json_object_get(root, "input"), "passes", json_integer(2));
  shoal_json_set(json, root, "output",
                 json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rows",
                           shoal_json_count(r->output_rows), "suppressed",
                           shoal_json_count(r->suppressed), "blanked", shoal_json_count(r->blanked),
                           "noise", shoal_json_count(clusters->noise), "clusters",
                           shoal_json_count(clusters->clusters), "classes",
                           shoal_json_count(r->classes), "smallest_class",
                           shoal_json_count(r->smallest_class)));
  if (result->input_people)
    shoal_json_set(json, json_object_get(root, "output"), "people",
                   shoal_json_count(r->output_people));
  if (r->fewest_people)
    shoal_json_set(json, json_object_get(root, "output"), "fewest_people",
                   shoal_json_count(r->fewest_people));
  shoal_json_set(json, json_object_get(root, "output"), "noise_listed",
                 shoal_json_count(clusters->noise_listed));
  shoal_verdict_json(result, root, json);
  shoal_json_set(json, root, "models", shoal_models_json(result, json));
  shoal_json_set(json, root, "search", search_object(result, json));
  shoal_json_set(json, root, "conditions",
                 json_pack("{s:o, s:o}", "max_p", shoal_json_count(r->conditions.max_p),
                           "max_groups", shoal_json_count(r->conditions.max_groups)));
  shoal_json_set(json, root, "measures", measures_object(r, result->n_quasi, json));
  if (r->alternatives.n_items)
    shoal_json_set(json, root, "alternatives", shoal_alternatives_json(&r->alternatives, json));
  shoal_json_set(json, root, "class_sizes", shoal_class_sizes_json(result, json));
  shoal_json_set(json, root, "suppressed_by", causes_array(result, json));
  if (clusters->n_cluster_sizes)
    shoal_json_set(json, root, "cluster_sizes", cluster_sizes_array(clusters, json));
  if (result->page) set_page(result->page, root, json);
  if (r->measured.utility)
    shoal_json_set(json, root, "utility", utility_object(r->measured.utility, json));
  if (r->measured.risk) shoal_json_set(json, root, "learning", learning_array(result, json));
  if (r->attacks) shoal_json_set(json, root, "attacks", shoal_attacks_array(result, json));
  shoal_json_set(json, root, "order", shoal_json_string(r->order));
  shoal_json_set(json, root, "seed", r->has_seed ? shoal_json_count(r->seed) : json_null());
  shoal_json_set(json, root, "warnings", shoal_json_warnings(json, result));
  shoal_json_set(json, root, "seconds",
                 json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "read", r->seconds_read, "search",
                           r->seconds_search, "alternatives", r->seconds_alternatives, "write",
                           r->seconds_write, "verify", r->seconds_verify, "total",
                           r->seconds_total));
  shoal_json_set(json, root, "peak_memory_bytes", shoal_json_count(r->peak_memory_bytes));
  return root;
}
