/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/release_json: JSON of `anonymize`: the figures of the text (release.c) and, where a page
 * was requested, what the page shows. It withholds the same small counts.
 */
#include <math.h>

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
                      SHOAL_OBJECT(K("column", c->name), K("type", c->type), K("role", c->role),
                                   K("done", c->done), K("released", c->released)));
  }
  return array;
}

static json_t *sample_object(const shoal_html_report *page, shoal_json *json) {
  json_t *names = json_array(), *rows = json_array();
  for (size_t c = 0; c < page->n_sample_columns; c++)
    shoal_json_append(json, names, J(page->sample_names[c]));
  for (size_t i = 0; i < page->n_sample; i++) {
    json_t *row = json_array();
    for (size_t c = 0; c < page->n_sample_columns; c++)
      shoal_json_append(json, row, J(page->sample[i * page->n_sample_columns + c]));
    shoal_json_append(json, rows, row);
  }
  return SHOAL_OBJECT(K("columns", names), K("rows", rows));
}

static json_t *label_object(const shoal_html_report_attribute *a, const char *label,
                            uint64_t n_labels, uint64_t before, uint64_t after, shoal_json *json) {
  json_t *object = SHOAL_OBJECT(K("label", label));
  SHOAL_PUT(json, object, KIF(!label, "labels", n_labels),
            K("before", a->before_hidden ? json_null() : shoal_json_count(before)),
            K("after", after));
  return object;
}

static json_t *attribute_object(const shoal_html_report_attribute *a, shoal_json *json) {
  json_t *object = SHOAL_OBJECT(K("attribute", a->name), K("role", a->role), K("done", a->done));
  json_t *labels = json_array();
  if (a->outcome) {
    SHOAL_PUT(json, object, K("level", a->outcome->level), K("height", a->outcome->height),
              K("values_before", a->outcome->n_before), K("labels_after", a->outcome->n_after),
              K("loss", a->outcome->loss),
              KIF(!isnan(a->outcome->mean_width), "mean_width", a->outcome->mean_width));
    if (a->outcome->last_year)
      shoal_json_set(json, object, "two_digit_years",
                     json_pack("[i, i]", (int)a->outcome->first_year, (int)a->outcome->last_year));
  }
  if (a->widths) shoal_json_set(json, object, "widths", J(a->widths));
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
    shoal_json_append(
        json, settings,
        SHOAL_OBJECT(K("setting", page->settings[i].name), K("value", page->settings[i].value)));
  for (size_t i = 0; i < page->n_files; i++)
    shoal_json_append(json, files,
                      SHOAL_OBJECT(K("use", page->files[i].use), K("name", page->files[i].name),
                                   K("sha256", page->files[i].sha256)));
  shoal_json_set(json, root, "columns", columns_array(page, json));
  if (page->n_sample) shoal_json_set(json, root, "sample", sample_object(page, json));
  if (page->n_attributes) shoal_json_set(json, root, "attributes", attributes);
  else json_decref(attributes);
  SHOAL_PUT(json, root, K("settings", settings), K("files", files));
}

static json_t *causes_array(const shoal_result *r, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < r->release.n_causes; i++) {
    const shoal_cause *cause = &r->release.causes[i];
    bool hidden = cause->rows && cause->rows < r->k;
    json_t *object = SHOAL_OBJECT(K("model", cause->model), K("attribute", cause->attribute),
                                  K("rows", people(cause->rows, r->k)),
                                  K("classes", shoal_json_count_if(!hidden, cause->classes)));
    shoal_json_over(json, object, &cause->over);
    shoal_json_append(json, array, object);
  }
  return array;
}

static json_t *cluster_sizes_array(const shoal_clusters_report *r, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < r->n_cluster_sizes; i++)
    shoal_json_append(
        json, array,
        SHOAL_OBJECT(K("size", r->cluster_sizes[i].size), K("clusters", r->cluster_sizes[i].n)));
  return array;
}

static json_t *utility_object(const shoal_measures *m, shoal_json *json) {
  json_t *object = json_object();
  for (const shoal_utility_figure *f = shoal_utility_figures(); f->key; f++)
    shoal_json_set(json, object, f->key, J(shoal_utility_value(m, f)));
  json_t *columns = json_array(), *associations = json_array();
  for (size_t i = 0; i < m->n_attributes; i++) {
    const shoal_attribute_measure *a = &m->attributes[i];
    shoal_json_append(json, columns,
                      SHOAL_OBJECT(K("column", a->name), K("loss", a->quasi ? a->loss : NAN),
                                   K("ncp", a->quasi ? a->ncp : NAN),
                                   K("total_variation", a->variation),
                                   K("earth_mover", a->earth_mover)));
  }
  for (size_t i = 0; i < m->n_associations; i++)
    shoal_json_append(json, associations,
                      SHOAL_OBJECT(K("quasi", m->associations[i].quasi),
                                   K("sensitive", m->associations[i].sensitive),
                                   K("before", m->associations[i].before),
                                   K("after", m->associations[i].after)));
  SHOAL_PUT(json, object, K("columns", columns), K("associations", associations));
  if (m->has_queries)
    shoal_json_set(json, object, "queries",
                   SHOAL_OBJECT(K("asked", m->queries.n_queries),
                                K("dimensions", m->queries.dimensions),
                                K("mean_error", m->queries.spread.mean),
                                K("median_error", m->queries.spread.median),
                                K("worst_error", m->queries.spread.worst)));
  return object;
}

static json_t *side_object(const shoal_attribute_risk_side *side, uint64_t k) {
  return SHOAL_OBJECT(K("rows_with_one_value", people(side->n_rows[0], k)),
                      K("fewest_values", side->min_distinct),
                      K("largest_share", side->largest_share), K("mean_share", side->mean_share),
                      K("largest_distance", side->largest_distance));
}

static json_t *learning_array(const shoal_result *r, shoal_json *json) {
  const shoal_risk *risk = r->release.measured.risk;
  json_t *array = json_array();
  for (size_t i = 0; i < risk->n_attributes; i++) {
    const shoal_attribute_risk *a = &risk->attributes[i];
    shoal_json_append(json, array,
                      SHOAL_OBJECT(K("attribute", a->name),
                                   K("before", side_object(&a->before, r->k)),
                                   K("after", side_object(&a->after, r->k))));
  }
  return array;
}

/* ------------------------------------------------------------ JSON: the release */

/* What only a search of the lattice reports. */
static void set_node_search(json_t *search, const shoal_result *r, shoal_json *json) {
  const shoal_node_report *n = &r->release.node;
  if (n->slack) shoal_json_set(json, search, "slack", J(n->slack));
  if (n->objective)
    shoal_json_set(json, search, "objective",
                   SHOAL_OBJECT(K("name", n->objective), K("cost", n->cost)));
  if (n->lattice_nodes) shoal_json_set(json, search, "classes_touched", J(n->classes_scanned));
  if (n->objective) shoal_json_set(json, search, "proven_optimal", json_boolean(!n->unproven));
  if (n->upper_bound)
    shoal_json_set(json, search, "bounds",
                   SHOAL_OBJECT(K("lower_height", n->lower_height),
                                K("upper_height", n->upper_height),
                                K("upper", shoal_json_levels(json, r, n->upper_bound))));
}

static void set_clusters(json_t *search, const shoal_clusters_report *c, shoal_json *json) {
  SHOAL_PUT(json, search, KIF(c->effort > 1, "effort", c->effort), OPT("why", c->why));
  if (c->objective)
    shoal_json_set(json, search, "objective", SHOAL_OBJECT(K("name", c->objective)));
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
  json_t *search = SHOAL_OBJECT(
      K("algorithm", r->release.algorithm), K("reason", r->release.algorithm_reason),
      K("lattice_nodes",
        n->lattice_nodes == UINT64_MAX ? json_null() : shoal_json_count(n->lattice_nodes)),
      K("nodes_checked", checked), K("refused_by_condition", n->nodes_bounded), K("height", height),
      K("node", node ? node : json_null()), K("minimal", minimal),
      K("minimal_complete", n->minimal_complete), K("exhaustive", n->exhaustive));
  if (r->release.n_tried)
    shoal_json_set(json, search, "tried", shoal_tried_json(&r->release, json));
  if (by_node) set_node_search(search, r, json);
  if (r->release.method == SHOAL_METHOD_CLUSTERS) set_clusters(search, &r->release.clusters, json);
  return search;
}

static json_t *measures_object(const shoal_release_report *r, size_t n_quasi, shoal_json *json) {
  const shoal_release_loss *l = &r->loss;
  json_t *measures = SHOAL_OBJECT(K("release_loss", l->release_loss), N("dm", l->dm),
                                  K("avg", l->avg), K("il", l->il), K("nil", l->nil),
                                  K("accuracy", l->accuracy), K("completeness", l->completeness));
  json_t *widths = json_object();
  for (size_t q = 0; r->attributes && q < n_quasi; q++)
    if (!isnan(r->attributes[q].mean_width))
      shoal_json_set(json, widths, r->attributes[q].name, J(r->attributes[q].mean_width));
  shoal_json_set(json, measures, "mean_widths", widths);
  if (r->method == SHOAL_METHOD_CLUSTERS) {
    SHOAL_PUT(json, measures, N("dm_clusters", r->clusters.dm_clusters),
              K("avg_clusters", r->clusters.avg_clusters));
  } else {
    shoal_json_set(json, measures, "height_accuracy", J(l->height_accuracy));
  }
  return measures;
}

json_t *shoal_release_json(const shoal_result *result, shoal_json *json) {
  static const shoal_clusters_report no_clusters = {0};
  const shoal_release_report *r = &result->release;
  const shoal_clusters_report *clusters =
      r->method == SHOAL_METHOD_CLUSTERS ? &r->clusters : &no_clusters;
  json_t *root = SHOAL_OBJECT(
      K("shoal", SHOAL_VERSION), K("command", "anonymize"),
      K("input", SHOAL_OBJECT(K("rows", result->input_rows), K("columns", result->input_columns))));
  if (result->input_people)
    shoal_json_set(json, json_object_get(root, "input"), "people", J(result->input_people));
  if (result->two_passes)
    shoal_json_set(json, json_object_get(root, "input"), "passes", json_integer(2));
  shoal_json_set(json, root, "output",
                 SHOAL_OBJECT(K("rows", r->output_rows), K("suppressed", r->suppressed),
                              K("blanked", r->blanked), K("noise", clusters->noise),
                              K("clusters", clusters->clusters), K("classes", r->classes),
                              K("smallest_class", r->smallest_class)));
  SHOAL_PUT(json, json_object_get(root, "output"),
            KIF(result->input_people, "people", r->output_people),
            OPT("fewest_people", r->fewest_people), K("noise_listed", clusters->noise_listed));
  shoal_verdict_json(result, root, json);
  SHOAL_PUT(json, root, K("models", shoal_models_json(result, json)),
            K("search", search_object(result, json)),
            K("conditions", SHOAL_OBJECT(K("max_p", r->conditions.max_p),
                                         K("max_groups", r->conditions.max_groups))),
            K("measures", measures_object(r, result->n_quasi, json)));
  if (r->alternatives.n_items)
    shoal_json_set(json, root, "alternatives", shoal_alternatives_json(&r->alternatives, json));
  SHOAL_PUT(json, root, K("class_sizes", shoal_class_sizes_json(result, json)),
            K("suppressed_by", causes_array(result, json)));
  if (clusters->n_cluster_sizes)
    shoal_json_set(json, root, "cluster_sizes", cluster_sizes_array(clusters, json));
  if (result->page) set_page(result->page, root, json);
  if (r->measured.utility)
    shoal_json_set(json, root, "utility", utility_object(r->measured.utility, json));
  if (r->measured.risk) shoal_json_set(json, root, "learning", learning_array(result, json));
  if (r->attacks) shoal_json_set(json, root, "attacks", shoal_attacks_array(result, json));
  SHOAL_PUT(json, root, K("order", r->order), K("seed", shoal_json_count_if(r->has_seed, r->seed)),
            K("warnings", shoal_json_warnings(json, result)),
            K("seconds",
              SHOAL_OBJECT(K("read", r->seconds_read), K("search", r->seconds_search),
                           K("alternatives", r->seconds_alternatives), K("write", r->seconds_write),
                           K("verify", r->seconds_verify), K("total", r->seconds_total))),
            K("peak_memory_bytes", r->peak_memory_bytes));
  return root;
}
