/* SPDX-License-Identifier: Apache-2.0 */
/* report/measure_json: JSON of `measure`; the text is in measure.c. */
#include <math.h>

#include "report/measures.h"
#include "report/render.h"

/* ------------------------------------------------------------ JSON: utility */

static json_t *bars_array(const shoal_attribute_measure *a, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < a->n_bars; i++) {
    const shoal_bar *bar = &a->bars[i];
    shoal_json_append(json, array,
                      json_pack("{s:o, s:o, s:o, s:o}", "label", shoal_json_string(bar->label),
                                "labels", shoal_json_count(bar->n_labels), "before",
                                shoal_json_number(bar->before), "after",
                                shoal_json_count(bar->after)));
  }
  return array;
}

static void set_losses(json_t *object, const shoal_attribute_measure *a, shoal_json *json) {
  shoal_json_set(json, object, "kind", shoal_json_string(a->kind));
  shoal_json_set(json, object, "level", a->has_level ? shoal_json_count(a->level) : json_null());
  shoal_json_set(json, object, "height", shoal_json_count(a->height));
  shoal_json_set(json, object, "values", shoal_json_count(a->values_before));
  shoal_json_set(json, object, "labels", shoal_json_count(a->labels_after));
  shoal_json_set(json, object, "suppressed_cells", shoal_json_count(a->cells_suppressed));
  shoal_json_set(json, object, "generalized_cells", shoal_json_count(a->cells_generalized));
  shoal_json_set(json, object, "il", shoal_json_number(a->il));
  shoal_json_set(json, object, "precision", shoal_json_number(a->precision));
  shoal_json_set(json, object, "ncp", shoal_json_number(a->ncp));
  shoal_json_set(json, object, "entropy", shoal_json_number(a->entropy));
  shoal_json_set(json, object, "entropy_share", shoal_json_number(a->entropy_share));
  shoal_json_set(json, object, "loss", shoal_json_number(a->loss));
  shoal_json_set(json, object, "mean_width", shoal_json_number(a->mean_width));
}

static json_t *attributes_array(const shoal_measures *m, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < m->n_attributes; i++) {
    const shoal_attribute_measure *a = &m->attributes[i];
    json_t *object =
        json_pack("{s:s, s:s}", "attribute", a->name, "role", a->quasi ? "quasi" : "sensitive");
    if (a->quasi) set_losses(object, a, json);
    shoal_json_set(json, object, "total_variation", shoal_json_number(a->variation));
    shoal_json_set(json, object, "earth_mover", shoal_json_number(a->earth_mover));
    shoal_json_set(json, object, "distance", shoal_json_string(a->distance));
    shoal_json_set(json, object, "distribution", bars_array(a, json));
    shoal_json_append(json, array, object);
  }
  return array;
}

static json_t *associations_array(const shoal_measures *m, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < m->n_associations; i++) {
    const shoal_association *a = &m->associations[i];
    shoal_json_append(json, array,
                      json_pack("{s:s, s:s, s:o, s:o}", "quasi", a->quasi, "sensitive",
                                a->sensitive, "before", shoal_json_number(a->before), "after",
                                shoal_json_number(a->after)));
  }
  return array;
}

static json_t *queries_object(const shoal_query_error *q, shoal_json *json) {
  json_t *object = json_object();
  shoal_json_set(json, object, "queries", shoal_json_count(q->n_queries));
  shoal_json_set(json, object, "skipped", shoal_json_count(q->n_skipped));
  shoal_json_set(json, object, "dimensions", shoal_json_count(q->dimensions));
  shoal_json_set(json, object, "selectivity", shoal_json_number(q->selectivity));
  shoal_json_set(json, object, "mean_selected", shoal_json_number(q->mean_selected));
  shoal_json_set(json, object, "mean", shoal_json_number(q->mean));
  shoal_json_set(json, object, "median", shoal_json_number(q->median));
  shoal_json_set(json, object, "worst", shoal_json_number(q->worst));
  shoal_json_set(json, object, "seed", shoal_json_count(q->seed));
  return object;
}

static json_t *measures_object(const shoal_measures *m, shoal_json *json) {
  json_t *object = json_object();
  shoal_json_set(json, object, "release_loss", shoal_json_number(m->release_loss));
  shoal_json_set(json, object, "dm", shoal_json_number(m->dm));
  shoal_json_set(json, object, "dm_suppressed", shoal_json_number(m->dm_suppressed));
  shoal_json_set(json, object, "avg", shoal_json_number(m->avg));
  shoal_json_set(json, object, "il", shoal_json_number(m->il));
  shoal_json_set(json, object, "nil", shoal_json_number(m->nil));
  shoal_json_set(json, object, "accuracy", shoal_json_number(m->accuracy));
  shoal_json_set(json, object, "height_accuracy", shoal_json_number(m->height_accuracy));
  shoal_json_set(json, object, "completeness", shoal_json_number(m->completeness));
  shoal_json_set(json, object, "absolute_distance", shoal_json_number(m->absolute_distance));
  shoal_json_set(json, object, "relative_distance", shoal_json_number(m->relative_distance));
  shoal_json_set(json, object, "disclosures", shoal_json_count(m->disclosures));
  shoal_json_set(json, object, "removed_rows", shoal_json_count(m->removed));
  shoal_json_set(json, object, "blanked_rows", shoal_json_count(m->blanked));
  shoal_json_set(json, object, "noise_rows", shoal_json_count(m->noise));
  shoal_json_set(json, object, "suppressed_cells", shoal_json_count(m->cells_suppressed));
  shoal_json_set(json, object, "cells", shoal_json_count(m->cells));
  shoal_json_set(json, object, "precision", shoal_json_number(m->precision));
  shoal_json_set(json, object, "ncp", shoal_json_number(m->ncp));
  shoal_json_set(json, object, "entropy", shoal_json_number(m->entropy));
  shoal_json_set(json, object, "entropy_share", shoal_json_number(m->entropy_share));
  shoal_json_set(json, object, "ambiguity", shoal_json_number(m->ambiguity));
  shoal_json_set(json, object, "loss", shoal_json_number(m->loss));
  shoal_json_set(json, object, "query_error",
                 m->has_queries ? queries_object(&m->queries, json) : json_null());
  shoal_json_set(json, object, "attributes", attributes_array(m, json));
  shoal_json_set(json, object, "associations", associations_array(m, json));
  return object;
}

/* ------------------------------------------------------------ JSON: risk */

static json_t *at_risk_array(const shoal_at_risk *at_risk, uint64_t n_rows, shoal_json *json) {
  json_t *array = json_array();
  const shoal_threshold *t = shoal_thresholds();
  for (size_t i = 0; t[i].name; i++) {
    double share = n_rows ? (double)at_risk->n_rows[i] / (double)n_rows : NAN;
    shoal_json_append(json, array,
                      json_pack("{s:f, s:o, s:o, s:o, s:s}", "threshold", t[i].risk, "class_size",
                                shoal_json_count(t[i].class_size), "rows",
                                shoal_json_count(at_risk->n_rows[i]), "share",
                                shoal_json_number(share), "source", t[i].source));
  }
  return array;
}

static json_t *sizes_array(const shoal_identity_risk *r, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < SHOAL_N_SIZES; i++) {
    const shoal_size_bin *bin = &r->sizes[i];
    shoal_json_append(json, array,
                      json_pack("{s:o, s:o, s:o, s:o}", "least", shoal_json_count(bin->least),
                                "most", bin->most ? shoal_json_count(bin->most) : json_null(),
                                "classes", shoal_json_count(bin->n_classes), "rows",
                                shoal_json_count(bin->n_rows)));
  }
  return array;
}

static json_t *identity_object(const shoal_identity_risk *r, shoal_json *json) {
  json_t *object = json_object();
  shoal_json_set(json, object, "rows", shoal_json_count(r->n_rows));
  shoal_json_set(json, object, "classes", shoal_json_count(r->n_classes));
  shoal_json_set(json, object, "smallest_class", shoal_json_count(r->smallest_class));
  shoal_json_set(json, object, "prosecutor",
                 json_pack("{s:o, s:o}", "highest", shoal_json_number(r->highest), "average",
                           shoal_json_number(r->average)));
  shoal_json_set(json, object, "marketer", shoal_json_number(r->average));
  shoal_json_set(json, object, "unique_rows", shoal_json_count(r->unique_rows));
  shoal_json_set(json, object, "at_risk", at_risk_array(&r->at_risk, r->n_rows, json));
  shoal_json_set(json, object, "small_cells",
                 json_pack("{s:o, s:o}", "classes", shoal_json_count(r->small_classes), "rows",
                           shoal_json_count(r->small_class_rows)));
  shoal_json_set(json, object, "class_sizes", sizes_array(r, json));
  return object;
}

static json_t *population_object(const shoal_population_risk *p, uint64_t n_rows,
                                 shoal_json *json) {
  json_t *object = json_object();
  shoal_json_set(json, object, "rows", shoal_json_count(p->population_rows));
  shoal_json_set(json, object, "unmatched_rows", shoal_json_count(p->unmatched_rows));
  shoal_json_set(json, object, "journalist",
                 json_pack("{s:o, s:o}", "highest", shoal_json_number(p->highest), "average",
                           shoal_json_number(p->average)));
  shoal_json_set(json, object, "marketer", shoal_json_number(p->marketer));
  shoal_json_set(json, object, "unique_rows", shoal_json_count(p->population_unique_rows));
  shoal_json_set(json, object, "at_risk", at_risk_array(&p->at_risk, n_rows, json));
  return object;
}

static json_t *person_object(const shoal_person_risk *r, shoal_json *json) {
  json_t *object = json_object(), *array = json_array();
  const shoal_threshold *t = shoal_thresholds();
  shoal_json_set(json, object, "people", shoal_json_count(r->n_people));
  shoal_json_set(json, object, "fewest_people", shoal_json_count(r->fewest));
  shoal_json_set(json, object, "highest", shoal_json_number(r->highest));
  shoal_json_set(json, object, "average", shoal_json_number(r->average));
  for (size_t i = 0; t[i].name; i++)
    shoal_json_append(
        json, array,
        json_pack("{s:f, s:o}", "threshold", t[i].risk, "people", shoal_json_count(r->at_risk[i])));
  shoal_json_set(json, object, "at_risk", array);
  return object;
}

static json_t *side_object(const shoal_attribute_risk_side *s, shoal_json *json) {
  static const int least[SHOAL_N_DISTINCT] = {1, 2, 3, 4, 5, 10};
  json_t *object = json_object(), *distinct = json_array();
  for (size_t i = 0; i < SHOAL_N_DISTINCT; i++)
    shoal_json_append(
        json, distinct,
        json_pack("{s:i, s:o, s:o, s:o}", "least", least[i], "most",
                  i + 1 < SHOAL_N_DISTINCT ? json_integer(least[i + 1] - 1) : json_null(),
                  "classes", shoal_json_count(s->n_classes[i]), "rows",
                  shoal_json_count(s->n_rows[i])));
  shoal_json_set(json, object, "distinct_values", distinct);
  shoal_json_set(json, object, "least_distinct", shoal_json_count(s->min_distinct));
  shoal_json_set(json, object, "classes_below_p", shoal_json_count(s->classes_below_p));
  shoal_json_set(json, object, "rows_below_p", shoal_json_count(s->rows_below_p));
  shoal_json_set(json, object, "largest_share", shoal_json_number(s->largest_share));
  shoal_json_set(json, object, "mean_share", shoal_json_number(s->mean_share));
  shoal_json_set(json, object, "least_entropy", shoal_json_number(s->min_entropy));
  shoal_json_set(json, object, "mean_entropy", shoal_json_number(s->mean_entropy));
  shoal_json_set(json, object, "largest_distance", shoal_json_number(s->largest_distance));
  shoal_json_set(json, object, "mean_distance", shoal_json_number(s->mean_distance));
  return object;
}

static json_t *risk_object(const shoal_measure_report *m, shoal_json *json) {
  const shoal_risk *r = m->measured.risk;
  json_t *object = json_object(), *attributes = json_array(), *people = json_null();
  if (m->knows_people)
    people = json_pack("{s:o, s:o}", "before", person_object(&m->people_before, json), "after",
                       person_object(&m->people_after, json));
  shoal_json_set(json, object, "people", people);
  shoal_json_set(json, object, "before", identity_object(&r->before, json));
  shoal_json_set(json, object, "after", identity_object(&r->after, json));
  shoal_json_set(json, object, "small_labels",
                 json_pack("{s:o, s:o}", "labels", shoal_json_count(r->small_labels), "rows",
                           shoal_json_count(r->small_label_rows)));
  shoal_json_set(json, object, "population",
                 r->has_population ? population_object(&r->population, r->after.n_rows, json)
                                   : json_null());
  for (size_t i = 0; i < r->n_attributes; i++) {
    const shoal_attribute_risk *a = &r->attributes[i];
    shoal_json_append(json, attributes,
                      json_pack("{s:s, s:s, s:o, s:o}", "attribute", a->name, "distance",
                                a->distance, "before", side_object(&a->before, json), "after",
                                side_object(&a->after, json)));
  }
  shoal_json_set(json, object, "attributes", attributes);
  return object;
}

json_t *shoal_measure_json(const shoal_result *r, shoal_json *json) {
  const shoal_measure_report *m = &r->measure;
  json_t *root = json_object();
  shoal_json_set(json, root, "shoal", json_string(SHOAL_VERSION));
  shoal_json_set(json, root, "command", json_string("measure"));
  shoal_json_set(json, root, "input",
                 json_pack("{s:o, s:o}", "rows", shoal_json_count(r->input_rows), "columns",
                           shoal_json_count(r->input_columns)));
  shoal_json_set(
      json, root, "output",
      json_pack("{s:o, s:o, s:o, s:o, s:o}", "rows", shoal_json_count(m->output_rows), "suppressed",
                shoal_json_count(m->measured.utility->removed + m->measured.utility->blanked),
                "noise", shoal_json_count(m->measured.utility->noise), "classes",
                shoal_json_count(m->measured.risk->after.n_classes), "smallest_class",
                shoal_json_count(m->measured.risk->after.smallest_class)));
  shoal_verdict_json(r, root, json);
  shoal_json_set(json, root, "measures", measures_object(m->measured.utility, json));
  shoal_json_set(json, root, "risk", risk_object(m, json));
  shoal_json_set(json, root, "warnings", shoal_json_warnings(json, r));
  shoal_json_set(json, root, "seconds",
                 json_pack("{s:f, s:f}", "read", m->seconds_read, "total", m->seconds_total));
  shoal_json_set(json, root, "peak_memory_bytes", shoal_json_count(m->peak_memory_bytes));
  return root;
}
