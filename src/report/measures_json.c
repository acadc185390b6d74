/* SPDX-License-Identifier: Apache-2.0 */
/* report/measures_json: utility and risk for programs. What cannot be told is null. */
#include <math.h>

#include "report/json_build.h"
#include "report/measures.h"

static json_t *number(double x) {
  if (isnan(x)) return json_null();
  if (x == floor(x) && fabs(x) < 9e15) return json_integer((json_int_t)x);
  return json_real(x);
}

static json_t *count(uint64_t n) { return json_integer((json_int_t)n); }

static json_t *word(const char *text) { return text ? json_string(text) : json_null(); }

static void put(json_t *object, const char *key, json_t *value) {
  shoal_json_set(object, key, value);
}

/* ------------------------------------------------------------ utility */

static json_t *bars_array(const shoal_attribute_measure *a) {
  json_t *array = json_array();
  for (size_t i = 0; i < a->n_bars; i++) {
    const shoal_bar *bar = &a->bars[i];
    shoal_json_append(array, json_pack("{s:o, s:o, s:o, s:o}", "label", word(bar->label), "labels",
                                       count(bar->n_labels), "before", number(bar->before), "after",
                                       count(bar->after)));
  }
  return array;
}

static void put_losses(json_t *object, const shoal_attribute_measure *a) {
  put(object, "kind", word(a->kind));
  put(object, "level", a->has_level ? count(a->level) : json_null());
  put(object, "height", count(a->height));
  put(object, "values", count(a->values_before));
  put(object, "labels", count(a->labels_after));
  put(object, "suppressed_cells", count(a->cells_suppressed));
  put(object, "generalized_cells", count(a->cells_generalized));
  put(object, "il", number(a->il));
  put(object, "precision", number(a->precision));
  put(object, "ncp", number(a->ncp));
  put(object, "entropy", number(a->entropy));
  put(object, "entropy_share", number(a->entropy_share));
  put(object, "loss", number(a->loss));
  put(object, "mean_width", number(a->mean_width));
}

static json_t *attributes_array(const shoal_measures *m) {
  json_t *array = json_array();
  for (size_t i = 0; i < m->n_attributes; i++) {
    const shoal_attribute_measure *a = &m->attributes[i];
    json_t *object =
        json_pack("{s:s, s:s}", "attribute", a->name, "role", a->quasi ? "quasi" : "sensitive");
    if (a->quasi) put_losses(object, a);
    put(object, "total_variation", number(a->variation));
    put(object, "earth_mover", number(a->earth_mover));
    put(object, "distance", word(a->distance));
    put(object, "distribution", bars_array(a));
    shoal_json_append(array, object);
  }
  return array;
}

static json_t *associations_array(const shoal_measures *m) {
  json_t *array = json_array();
  for (size_t i = 0; i < m->n_associations; i++) {
    const shoal_association *a = &m->associations[i];
    shoal_json_append(array, json_pack("{s:s, s:s, s:o, s:o}", "quasi", a->quasi, "sensitive",
                                       a->sensitive, "before", number(a->before), "after",
                                       number(a->after)));
  }
  return array;
}

static json_t *queries_object(const shoal_query_error *q) {
  json_t *object = json_object();
  put(object, "queries", count(q->n_queries));
  put(object, "skipped", count(q->n_skipped));
  put(object, "dimensions", count(q->dimensions));
  put(object, "selectivity", number(q->selectivity));
  put(object, "mean_selected", number(q->mean_selected));
  put(object, "mean", number(q->mean));
  put(object, "median", number(q->median));
  put(object, "worst", number(q->worst));
  put(object, "seed", count(q->seed));
  return object;
}

json_t *shoal_render_measures_json(const shoal_measures *m) {
  json_t *object = json_object();
  put(object, "dm", number(m->dm));
  put(object, "dm_suppressed", number(m->dm_suppressed));
  put(object, "avg", number(m->avg));
  put(object, "il", number(m->il));
  put(object, "nil", number(m->nil));
  put(object, "accuracy", number(m->accuracy));
  put(object, "height_accuracy", number(m->height_accuracy));
  put(object, "completeness", number(m->completeness));
  put(object, "absolute_distance", number(m->absolute_distance));
  put(object, "relative_distance", number(m->relative_distance));
  put(object, "disclosures", count(m->disclosures));
  put(object, "removed_rows", count(m->removed));
  put(object, "blanked_rows", count(m->blanked));
  put(object, "noise_rows", count(m->noise));
  put(object, "suppressed_cells", count(m->cells_suppressed));
  put(object, "cells", count(m->cells));
  put(object, "precision", number(m->precision));
  put(object, "ncp", number(m->ncp));
  put(object, "entropy", number(m->entropy));
  put(object, "entropy_share", number(m->entropy_share));
  put(object, "ambiguity", number(m->ambiguity));
  put(object, "loss", number(m->loss));
  put(object, "query_error", m->has_queries ? queries_object(&m->queries) : json_null());
  put(object, "attributes", attributes_array(m));
  put(object, "associations", associations_array(m));
  return object;
}

/* ------------------------------------------------------------ risk */

static json_t *at_risk_array(const shoal_at_risk *at_risk, uint64_t n_rows) {
  json_t *array = json_array();
  const shoal_threshold *t = shoal_thresholds();
  for (size_t i = 0; t[i].name; i++) {
    double share = n_rows ? (double)at_risk->n_rows[i] / (double)n_rows : NAN;
    shoal_json_append(array,
                      json_pack("{s:f, s:o, s:o, s:o, s:s}", "threshold", t[i].risk, "class_size",
                                count(t[i].class_size), "rows", count(at_risk->n_rows[i]), "share",
                                number(share), "source", t[i].source));
  }
  return array;
}

static json_t *sizes_array(const shoal_identity_risk *r) {
  json_t *array = json_array();
  for (size_t i = 0; i < SHOAL_N_SIZES; i++) {
    const shoal_size_bin *bin = &r->sizes[i];
    shoal_json_append(array, json_pack("{s:o, s:o, s:o, s:o}", "least", count(bin->least), "most",
                                       bin->most ? count(bin->most) : json_null(), "classes",
                                       count(bin->n_classes), "rows", count(bin->n_rows)));
  }
  return array;
}

static json_t *identity_object(const shoal_identity_risk *r) {
  json_t *object = json_object();
  put(object, "rows", count(r->n_rows));
  put(object, "classes", count(r->n_classes));
  put(object, "smallest_class", count(r->smallest_class));
  put(object, "prosecutor",
      json_pack("{s:o, s:o}", "highest", number(r->highest), "average", number(r->average)));
  put(object, "marketer", number(r->average));
  put(object, "unique_rows", count(r->unique_rows));
  put(object, "at_risk", at_risk_array(&r->at_risk, r->n_rows));
  put(object, "small_cells",
      json_pack("{s:o, s:o}", "classes", count(r->small_classes), "rows",
                count(r->small_class_rows)));
  put(object, "class_sizes", sizes_array(r));
  return object;
}

static json_t *population_object(const shoal_population_risk *p, uint64_t n_rows) {
  json_t *object = json_object();
  put(object, "rows", count(p->population_rows));
  put(object, "unmatched_rows", count(p->unmatched_rows));
  put(object, "journalist",
      json_pack("{s:o, s:o}", "highest", number(p->highest), "average", number(p->average)));
  put(object, "marketer", number(p->marketer));
  put(object, "unique_rows", count(p->population_unique_rows));
  put(object, "at_risk", at_risk_array(&p->at_risk, n_rows));
  return object;
}

static json_t *side_object(const shoal_attribute_risk_side *s) {
  static const int least[SHOAL_N_DISTINCT] = {1, 2, 3, 4, 5, 10};
  json_t *object = json_object(), *distinct = json_array();
  for (size_t i = 0; i < SHOAL_N_DISTINCT; i++)
    shoal_json_append(
        distinct, json_pack("{s:i, s:o, s:o, s:o}", "least", least[i], "most",
                            i + 1 < SHOAL_N_DISTINCT ? json_integer(least[i + 1] - 1) : json_null(),
                            "classes", count(s->n_classes[i]), "rows", count(s->n_rows[i])));
  put(object, "distinct_values", distinct);
  put(object, "least_distinct", count(s->least_distinct));
  put(object, "classes_below_p", count(s->classes_below_p));
  put(object, "rows_below_p", count(s->rows_below_p));
  put(object, "largest_share", number(s->largest_share));
  put(object, "mean_share", number(s->mean_share));
  put(object, "least_entropy", number(s->least_entropy));
  put(object, "mean_entropy", number(s->mean_entropy));
  put(object, "largest_distance", number(s->largest_distance));
  put(object, "mean_distance", number(s->mean_distance));
  return object;
}

json_t *shoal_render_risk_json(const shoal_risk *r) {
  json_t *object = json_object(), *attributes = json_array();
  put(object, "before", identity_object(&r->before));
  put(object, "after", identity_object(&r->after));
  put(object, "small_labels",
      json_pack("{s:o, s:o}", "labels", count(r->small_labels), "rows",
                count(r->small_label_rows)));
  put(object, "population",
      r->has_population ? population_object(&r->population, r->after.n_rows) : json_null());
  for (size_t i = 0; i < r->n_attributes; i++) {
    const shoal_attribute_risk *a = &r->attributes[i];
    shoal_json_append(
        attributes, json_pack("{s:s, s:s, s:o, s:o}", "attribute", a->name, "distance", a->distance,
                              "before", side_object(&a->before), "after", side_object(&a->after)));
  }
  put(object, "attributes", attributes);
  return object;
}

/* ------------------------------------------------------------ the command */

json_t *shoal_render_measure_json(const shoal_result *r) {
  json_t *root = json_object(), *warnings = json_array();
  for (size_t i = 0; i < r->n_warnings; i++)
    shoal_json_append(warnings, json_string(r->warnings[i]));
  put(root, "shoal", json_string(SHOAL_VERSION));
  put(root, "command", json_string("measure"));
  put(root, "input",
      json_pack("{s:o, s:o}", "rows", count(r->input_rows), "columns", count(r->input_columns)));
  put(root, "output",
      json_pack("{s:o, s:o, s:o, s:o, s:o}", "rows", count(r->output_rows), "suppressed",
                count(r->measures->removed + r->measures->blanked), "noise",
                count(r->measures->noise), "classes", count(r->risk->after.n_classes),
                "smallest_class", count(r->risk->after.smallest_class)));
  put(root, "measures", shoal_render_measures_json(r->measures));
  put(root, "risk", shoal_render_risk_json(r->risk));
  put(root, "warnings", warnings);
  put(root, "seconds", json_pack("{s:f, s:f}", "read", r->seconds_read, "total", r->seconds_total));
  put(root, "peak_memory_bytes", count(r->peak_memory_bytes));
  return root;
}
