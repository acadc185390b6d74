/* SPDX-License-Identifier: Apache-2.0 */
/* report/page_json: see page_json.h. */
#include "report/page_json.h"
#include "report/json_build.h"

#include <math.h>

#include "report/utility.h"

static json_t *count(uint64_t n) { return json_integer((json_int_t)n); }

/* A number of people, or null where it is above 0 and below k. */
static json_t *people(uint64_t n, uint64_t k) { return n && n < k ? json_null() : count(n); }

/* null where it cannot be told */
static json_t *real(double x) { return isnan(x) ? json_null() : json_real(x); }

static json_t *columns_array(const shoal_page *page) {
  json_t *array = json_array();
  for (size_t i = 0; i < page->n_columns; i++) {
    const shoal_page_column *c = &page->columns[i];
    shoal_json_append(array,
                      json_pack("{s:s, s:s, s:s, s:s, s:b}", "column", c->name, "type", c->type,
                                "role", c->role, "done", c->done, "released", c->released));
  }
  return array;
}

static json_t *sample_object(const shoal_page *page) {
  json_t *names = json_array(), *rows = json_array();
  for (size_t c = 0; c < page->n_sample_columns; c++)
    shoal_json_append(names, json_string(page->sample_names[c]));
  for (size_t i = 0; i < page->n_sample; i++) {
    json_t *row = json_array();
    for (size_t c = 0; c < page->n_sample_columns; c++)
      shoal_json_append(row, json_string(page->sample[i * page->n_sample_columns + c]));
    shoal_json_append(rows, row);
  }
  return json_pack("{s:o, s:o}", "columns", names, "rows", rows);
}

static json_t *label_object(const shoal_page_attribute *a, const char *label, uint64_t n_labels,
                            uint64_t before, uint64_t after) {
  json_t *object = label ? json_pack("{s:s}", "label", label)
                         : json_pack("{s:o, s:o}", "label", json_null(), "labels", count(n_labels));
  shoal_json_set(object, "before", a->before_hidden ? json_null() : count(before));
  shoal_json_set(object, "after", count(after));
  return object;
}

static json_t *attribute_object(const shoal_page_attribute *a) {
  json_t *object =
      json_pack("{s:s, s:s, s:s}", "attribute", a->name, "role", a->role, "done", a->done);
  json_t *labels = json_array();
  if (a->outcome) {
    shoal_json_set(object, "level", count(a->outcome->level));
    shoal_json_set(object, "height", count(a->outcome->height));
    shoal_json_set(object, "values_before", count(a->outcome->n_before));
    shoal_json_set(object, "labels_after", count(a->outcome->n_after));
    shoal_json_set(object, "loss", json_real(a->outcome->loss));
  }
  if (a->widths) shoal_json_set(object, "widths", json_string(a->widths));
  for (size_t i = 0; i < a->n_labels; i++)
    shoal_json_append(
        labels, label_object(a, a->labels[i].label, 1, a->labels[i].before, a->labels[i].after));
  if (a->n_others)
    shoal_json_append(labels,
                      label_object(a, NULL, a->n_others, a->others_before, a->others_after));
  shoal_json_set(object, "distribution", labels);
  return object;
}

void shoal_page_json(const shoal_page *page, json_t *root) {
  json_t *attributes = json_array(), *settings = json_array(), *files = json_array();
  for (size_t i = 0; i < page->n_attributes; i++)
    shoal_json_append(attributes, attribute_object(&page->attributes[i]));
  for (size_t i = 0; i < page->n_settings; i++)
    shoal_json_append(settings, json_pack("{s:s, s:s}", "setting", page->settings[i].name, "value",
                                          page->settings[i].value));
  for (size_t i = 0; i < page->n_files; i++)
    shoal_json_append(files, json_pack("{s:s, s:s, s:s}", "use", page->files[i].use, "name",
                                       page->files[i].name, "sha256", page->files[i].sha256));
  shoal_json_set(root, "columns", columns_array(page));
  if (page->n_sample) shoal_json_set(root, "sample", sample_object(page));
  if (page->n_attributes) shoal_json_set(root, "attributes", attributes);
  else json_decref(attributes);
  shoal_json_set(root, "settings", settings);
  shoal_json_set(root, "files", files);
}

json_t *shoal_page_json_sizes(const shoal_result *r) {
  bool released = r->sizes_after.n_classes > 0;
  shoal_size_row rows[SHOAL_SIZE_BINS];
  size_t n = shoal_sizes_rows(&r->sizes_before, &r->sizes_after, r->k, rows);
  json_t *array = json_array();
  for (size_t i = 0; i < n; i++) {
    json_t *row = json_pack("{s:o, s:o}", "from", count(rows[i].low), "to",
                            rows[i].high ? count(rows[i].high) : json_null());
    shoal_json_set(row, released ? "before" : "records", count(rows[i].before));
    if (released) shoal_json_set(row, "after", count(rows[i].after));
    shoal_json_append(array, row);
  }
  return array;
}

json_t *shoal_page_json_causes(const shoal_result *r) {
  json_t *array = json_array();
  for (size_t i = 0; i < r->n_causes; i++) {
    const shoal_cause *cause = &r->causes[i];
    bool hidden = cause->rows && cause->rows < r->k;
    shoal_json_append(array, json_pack("{s:s, s:s?, s:o, s:o}", "model", cause->model, "attribute",
                                       cause->attribute, "rows", people(cause->rows, r->k),
                                       "classes", hidden ? json_null() : count(cause->classes)));
  }
  return array;
}

json_t *shoal_page_json_clusters(const shoal_result *r) {
  json_t *array = json_array();
  for (size_t i = 0; i < r->n_cluster_sizes; i++)
    shoal_json_append(array, json_pack("{s:o, s:o}", "size", count(r->cluster_sizes[i].size),
                                       "clusters", count(r->cluster_sizes[i].n)));
  return array;
}

json_t *shoal_page_json_utility(const shoal_measures *m) {
  json_t *object = json_object();
  for (const shoal_utility_figure *f = shoal_utility_figures(); f->key; f++)
    shoal_json_set(object, f->key, real(shoal_utility_value(m, f)));
  json_t *columns = json_array(), *associations = json_array();
  for (size_t i = 0; i < m->n_attributes; i++) {
    const shoal_attribute_measure *a = &m->attributes[i];
    shoal_json_append(columns, json_pack("{s:s, s:o, s:o, s:o, s:o}", "column", a->name, "loss",
                                         real(a->quasi ? a->loss : NAN), "ncp",
                                         real(a->quasi ? a->ncp : NAN), "total_variation",
                                         real(a->variation), "earth_mover", real(a->earth_mover)));
  }
  for (size_t i = 0; i < m->n_associations; i++)
    shoal_json_append(associations,
                      json_pack("{s:s, s:s, s:o, s:o}", "quasi", m->associations[i].quasi,
                                "sensitive", m->associations[i].sensitive, "before",
                                real(m->associations[i].before), "after",
                                real(m->associations[i].after)));
  shoal_json_set(object, "columns", columns);
  shoal_json_set(object, "associations", associations);
  if (m->has_queries)
    shoal_json_set(object, "queries",
                   json_pack("{s:o, s:o, s:o, s:o, s:o}", "asked", count(m->queries.n_queries),
                             "dimensions", count(m->queries.dimensions), "mean_error",
                             real(m->queries.mean), "median_error", real(m->queries.median),
                             "worst_error", real(m->queries.worst)));
  return object;
}

static json_t *side_object(const shoal_attribute_risk_side *side, uint64_t k) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "rows_with_one_value", people(side->n_rows[0], k),
                   "fewest_values", count(side->least_distinct), "largest_share",
                   real(side->largest_share), "mean_share", real(side->mean_share),
                   "largest_distance", real(side->largest_distance));
}

json_t *shoal_page_json_learning(const shoal_result *r) {
  json_t *array = json_array();
  for (size_t i = 0; i < r->risk->n_attributes; i++) {
    const shoal_attribute_risk *a = &r->risk->attributes[i];
    shoal_json_append(array, json_pack("{s:s, s:o, s:o}", "attribute", a->name, "before",
                                       side_object(&a->before, r->k), "after",
                                       side_object(&a->after, r->k)));
  }
  return array;
}
