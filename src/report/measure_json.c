/* SPDX-License-Identifier: Apache-2.0 */
/* report/measure_json: JSON of `measure`; the text is in measure.c. */
#include <math.h>

#include "report/render.h"

/* ------------------------------------------------------------ JSON: utility */

static json_t *bars_array(const shoal_attribute_measure *a, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < a->n_bars; i++) {
    const shoal_bar *bar = &a->bars[i];
    shoal_json_append(json, array,
                      SHOAL_OBJECT(K("label", bar->label), K("labels", bar->n_labels),
                                   N("before", bar->before), K("after", bar->after)));
  }
  return array;
}

static json_t *attributes_array(const shoal_measures *m, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < m->n_attributes; i++) {
    const shoal_attribute_measure *a = &m->attributes[i];
    json_t *object =
        SHOAL_OBJECT(K("attribute", a->name), K("role", a->quasi ? "quasi" : "sensitive"));
    if (a->quasi) {
      SHOAL_PUT(
          json, object, K("kind", a->kind), K("level", shoal_json_count_if(a->has_level, a->level)),
          K("height", a->height), K("values", a->values_before), K("labels", a->labels_after),
          K("suppressed_cells", a->cells_suppressed), K("generalized_cells", a->cells_generalized),
          N("il", a->il), N("precision", a->precision), N("ncp", a->ncp), N("entropy", a->entropy),
          N("entropy_share", a->entropy_share), N("loss", a->loss), N("mean_width", a->mean_width));
    }
    SHOAL_PUT(json, object, N("total_variation", a->variation), N("earth_mover", a->earth_mover),
              K("distance", a->distance), K("distribution", bars_array(a, json)));
    shoal_json_append(json, array, object);
  }
  return array;
}

static json_t *associations_array(const shoal_measures *m, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < m->n_associations; i++) {
    const shoal_association *a = &m->associations[i];
    shoal_json_append(json, array,
                      SHOAL_OBJECT(K("quasi", a->quasi), K("sensitive", a->sensitive),
                                   N("before", a->before), N("after", a->after)));
  }
  return array;
}

static json_t *queries_object(const shoal_query_error *q) {
  return SHOAL_OBJECT(
      K("queries", q->n_queries), K("skipped", q->n_skipped), K("dimensions", q->dimensions),
      N("selectivity", q->selectivity), N("mean_selected", q->mean_selected),
      N("mean", q->spread.mean), N("median", q->spread.median), N("worst", q->spread.worst),
      K("overlap", SHOAL_OBJECT(N("mean", q->overlap.mean), N("median", q->overlap.median),
                                N("worst", q->overlap.worst))),
      K("seed", q->seed));
}

static json_t *measures_object(const shoal_measures *m, shoal_json *json) {
  return SHOAL_OBJECT(
      N("release_loss", m->release_loss), N("dm", m->dm), N("dm_suppressed", m->dm_suppressed),
      N("avg", m->avg), N("il", m->il), N("nil", m->nil), N("accuracy", m->accuracy),
      N("height_accuracy", m->height_accuracy), N("completeness", m->completeness),
      N("absolute_distance", m->absolute_distance), N("relative_distance", m->relative_distance),
      K("disclosures", m->disclosures), K("removed_rows", m->removed),
      K("blanked_rows", m->blanked), K("noise_rows", m->noise),
      K("suppressed_cells", m->cells_suppressed), K("cells", m->cells),
      N("precision", m->precision), N("ncp", m->ncp), N("entropy", m->entropy),
      N("entropy_share", m->entropy_share), N("ambiguity", m->ambiguity), N("loss", m->loss),
      K("query_error", m->has_queries ? queries_object(&m->queries) : json_null()),
      K("attributes", attributes_array(m, json)), K("associations", associations_array(m, json)));
}

/* ------------------------------------------------------------ JSON: risk */

static json_t *at_risk_array(const shoal_at_risk *at_risk, uint64_t n_rows, shoal_json *json) {
  json_t *array = json_array();
  const shoal_threshold *t = shoal_thresholds();
  for (size_t i = 0; t[i].name; i++) {
    double share = n_rows ? (double)at_risk->n_rows[i] / (double)n_rows : NAN;
    shoal_json_append(json, array,
                      SHOAL_OBJECT(K("threshold", t[i].risk), K("class_size", t[i].class_size),
                                   K("rows", at_risk->n_rows[i]), N("share", share),
                                   K("source", t[i].source)));
  }
  return array;
}

static json_t *sizes_array(const shoal_identity_risk *r, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < SHOAL_N_SIZES; i++) {
    const shoal_size_bin *bin = &r->sizes[i];
    shoal_json_append(json, array,
                      SHOAL_OBJECT(K("least", bin->least),
                                   K("most", shoal_json_count_if(bin->most, bin->most)),
                                   K("classes", bin->n_classes), K("rows", bin->n_rows)));
  }
  return array;
}

static json_t *identity_object(const shoal_identity_risk *r, shoal_json *json) {
  return SHOAL_OBJECT(
      K("rows", r->n_rows), K("classes", r->n_classes), K("smallest_class", r->smallest_class),
      K("prosecutor", SHOAL_OBJECT(N("highest", r->highest), N("average", r->average))),
      N("marketer", r->average), K("unique_rows", r->unique_rows),
      K("at_risk", at_risk_array(&r->at_risk, r->n_rows, json)),
      K("small_cells",
        SHOAL_OBJECT(K("classes", r->small_classes), K("rows", r->small_class_rows))),
      K("class_sizes", sizes_array(r, json)));
}

static json_t *population_object(const shoal_population_risk *p, uint64_t n_rows,
                                 shoal_json *json) {
  return SHOAL_OBJECT(
      K("rows", p->population_rows), K("unmatched_rows", p->unmatched_rows),
      K("journalist", SHOAL_OBJECT(N("highest", p->highest), N("average", p->average))),
      N("marketer", p->marketer), K("unique_rows", p->population_unique_rows),
      K("at_risk", at_risk_array(&p->at_risk, n_rows, json)));
}

static json_t *person_object(const shoal_person_risk *r, shoal_json *json) {
  json_t *object = json_object(), *array = json_array();
  const shoal_threshold *t = shoal_thresholds();
  SHOAL_PUT(json, object, K("people", r->n_people), K("fewest_people", r->fewest),
            N("highest", r->highest), N("average", r->average));
  for (size_t i = 0; t[i].name; i++)
    shoal_json_append(json, array,
                      SHOAL_OBJECT(K("threshold", t[i].risk), K("people", r->at_risk[i])));
  shoal_json_set(json, object, "at_risk", array);
  return object;
}

static json_t *side_object(const shoal_attribute_risk_side *s, shoal_json *json) {
  static const int least[SHOAL_N_DISTINCT] = {1, 2, 3, 4, 5, 10};
  json_t *object = json_object(), *distinct = json_array();
  for (size_t i = 0; i < SHOAL_N_DISTINCT; i++)
    shoal_json_append(
        json, distinct,
        SHOAL_OBJECT(
            K("least", json_integer(least[i])),
            K("most", i + 1 < SHOAL_N_DISTINCT ? json_integer(least[i + 1] - 1) : json_null()),
            K("classes", s->n_classes[i]), K("rows", s->n_rows[i])));
  SHOAL_PUT(json, object, K("distinct_values", distinct), K("least_distinct", s->min_distinct),
            K("classes_below_p", s->classes_below_p), K("rows_below_p", s->rows_below_p),
            K("hom", s->homogeneity), N("largest_share", s->largest_share),
            N("mean_share", s->mean_share), N("least_entropy", s->min_entropy),
            N("mean_entropy", s->mean_entropy), N("largest_distance", s->largest_distance),
            N("mean_distance", s->mean_distance));
  return object;
}

static json_t *risk_object(const shoal_measure_report *m, shoal_json *json) {
  const shoal_risk *r = m->measured.risk;
  json_t *object = json_object(), *attributes = json_array(), *people = json_null();
  if (m->knows_people)
    people = SHOAL_OBJECT(K("before", person_object(&m->people_before, json)),
                          K("after", person_object(&m->people_after, json)));
  SHOAL_PUT(
      json, object, K("people", people), K("before", identity_object(&r->before, json)),
      K("after", identity_object(&r->after, json)),
      K("small_labels", SHOAL_OBJECT(K("labels", r->small_labels), K("rows", r->small_label_rows))),
      K("population", r->has_population ? population_object(&r->population, r->after.n_rows, json)
                                        : json_null()));
  for (size_t i = 0; i < r->n_attributes; i++) {
    const shoal_attribute_risk *a = &r->attributes[i];
    shoal_json_append(json, attributes,
                      SHOAL_OBJECT(K("attribute", a->name), K("distance", a->distance),
                                   K("before", side_object(&a->before, json)),
                                   K("after", side_object(&a->after, json))));
  }
  shoal_json_set(json, object, "attributes", attributes);
  return object;
}

json_t *shoal_measure_json(const shoal_result *r, shoal_json *json) {
  const shoal_measure_report *m = &r->measure;
  json_t *root = SHOAL_OBJECT(
      K("shoal", SHOAL_VERSION), K("command", "measure"),
      K("input", SHOAL_OBJECT(K("rows", r->input_rows), K("columns", r->input_columns))));
  shoal_json_set(
      json, root, "output",
      SHOAL_OBJECT(K("rows", m->output_rows),
                   K("suppressed", m->measured.utility->removed + m->measured.utility->blanked),
                   K("noise", m->measured.utility->noise),
                   K("classes", m->measured.risk->after.n_classes),
                   K("smallest_class", m->measured.risk->after.smallest_class)));
  shoal_verdict_json(r, root, json);
  SHOAL_PUT(json, root, K("measures", measures_object(m->measured.utility, json)),
            K("risk", risk_object(m, json)), K("warnings", shoal_json_warnings(json, r)),
            K("seconds", SHOAL_OBJECT(K("read", m->seconds_read), K("total", m->seconds_total))),
            K("peak_memory_bytes", m->peak_memory_bytes));
  return root;
}
