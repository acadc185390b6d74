/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/measure: text and JSON of `measure`: utility and risk of a release. A figure that cannot
 * be computed is "-" in the text and null in the JSON. docs/measures.md has the formulas.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/measures.h"
#include "report/render.h"

/* ------------------------------------------------------------ figures of a page */

const shoal_utility_figure *shoal_utility_figures(void) {
  static const shoal_utility_figure figures[] = {
      {"release_loss", "Release loss",
       "0 nothing lost, 1 everything; a row that is left out loses all",
       offsetof(shoal_measures, release_loss)},
      {"loss", "Loss by values",
       "0 nothing lost, 1 everything; by the values under each label (ARX)",
       offsetof(shoal_measures, loss)},
      {"ncp", "Normalized certainty penalty", "0 to 1; by interval widths and values under labels",
       offsetof(shoal_measures, ncp)},
      {"precision", "Precision", "1 nothing lost, 0 everything; by steps of the hierarchies",
       offsetof(shoal_measures, precision)},
      {"nil", "Information loss a cell", "0 to 1; of the released rows",
       offsetof(shoal_measures, nil)},
      {"entropy_share", "Entropy lost", "0 to 1; of the detail that could be lost",
       offsetof(shoal_measures, entropy_share)},
      {"ambiguity", "Ambiguity", "value combinations that a row covers, on average",
       offsetof(shoal_measures, ambiguity)},
      {"avg", "Average class", "mean size of a class, in multiples of k; 1 is the minimum",
       offsetof(shoal_measures, avg)},
      {"dm", "Discernibility", "sum of squared class sizes; lower is finer",
       offsetof(shoal_measures, dm)},
      {"completeness", "Completeness", "share of the rows that are in the release",
       offsetof(shoal_measures, completeness)},
      {NULL, NULL, NULL, 0}};
  return figures;
}

double shoal_utility_value(const shoal_measures *measures, const shoal_utility_figure *figure) {
  double value;
  memcpy(&value, (const char *)measures + figure->offset, sizeof value);
  return value;
}

enum { NAME_WIDTH = 22 };

static void add_share(shoal_text *t, uint64_t part, uint64_t whole) {
  shoal_text_add_count(t, part);
  if (whole) shoal_text_print(t, " (%.2f%%)", 100.0 * (double)part / (double)whole);
}

/* "  name   value   what it means" */
static void add_measure(shoal_text *t, const char *name, double value, const char *meaning) {
  shoal_text line;
  shoal_text_init(&line);
  shoal_format_number(&line, value);
  shoal_text_add(t, "  ");
  shoal_text_add_padded(t, name, NAME_WIDTH);
  shoal_text_add_padded(t, line.failed ? "" : line.bytes, 12);
  shoal_text_print(t, "  %s\n", meaning);
  t->failed = t->failed || line.failed;
  shoal_text_reset(&line);
}

/* ------------------------------------------------------------ text: utility */

static void add_row_counts(shoal_text *t, const shoal_measures *m) {
  shoal_text_add(t, "  ");
  shoal_text_add_count(t, m->original_rows);
  shoal_text_add(t, " rows before, ");
  shoal_text_add_count(t, m->released_rows);
  shoal_text_add(t, " released; removed ");
  add_share(t, m->removed, m->original_rows);
  shoal_text_add(t, ", blanked ");
  add_share(t, m->blanked, m->original_rows);
  shoal_text_add(t, ";\n  suppressed cells: ");
  add_share(t, m->cells_suppressed, m->cells);
  shoal_text_add(t, " of the quasi-identifiers\n");
  if (!m->noise) return;
  shoal_text_add(t, "  At least ");
  shoal_text_add_count(t, m->noise);
  shoal_text_add(t, m->noise == 1 ? " row is NOISE: it describes no real person.\n"
                                  : " rows are NOISE: they describe no real person.\n");
}

static void add_utility(shoal_text *t, const shoal_measures *m) {
  shoal_text_add(t, "\nUtility of the release\n");
  add_row_counts(t, m);
  add_measure(t, "release loss", m->release_loss,
              "0 nothing lost .. 1 everything: 1 - completeness x (1 - nil)");
  add_measure(t, "loss", m->loss,
              "0 nothing lost .. 1 everything, by values under each label (ARX)");
  add_measure(t, "ncp", m->ncp, "0 .. 1, by interval widths and values under each label");
  add_measure(t, "precision", m->precision, "1 nothing lost .. 0 everything, by hierarchy steps");
  add_measure(t, "nil", m->nil, "0 .. 1, information loss a released cell (il over all cells)");
  add_measure(t, "il", m->il, "total information loss of the released rows");
  add_measure(t, "entropy", m->entropy, "bits of detail lost over all cells");
  add_measure(t, "entropy share", m->entropy_share, "0 .. 1, of the bits that could be lost");
  add_measure(t, "ambiguity", m->ambiguity, "value combinations that a row covers, mean");
  add_measure(t, "dm", m->dm, "sum of squared class sizes: lower is finer");
  add_measure(t, "avg", m->avg, "mean class size / k: 1 is the minimum");
  add_measure(t, "accuracy", m->accuracy, "1 .. 0: 1 - mean of level / height");
  if (isnan(m->absolute_distance))
    shoal_text_add(t, "  Labels are of several levels (local recoding): there is no node, and no "
                      "distance from the\n  bottom of the lattice.\n");
  else {
    add_measure(t, "absolute distance", m->absolute_distance, "sum of the levels");
    add_measure(t, "relative distance", m->relative_distance, "sum of level / height");
  }
  add_measure(t, "completeness", m->completeness, "share of the rows that are in the release");
}

static void add_queries(shoal_text *t, const shoal_query_error *q) {
  shoal_text_add(t, "\nQueries: ");
  shoal_text_add_count(t, q->n_queries);
  shoal_text_print(t,
                   " random counts over %u quasi-identifier%s, %.3g%% of the rows each on average "
                   "(seed %llu)\n",
                   q->dimensions, q->dimensions == 1 ? "" : "s", 100 * q->mean_selected,
                   (unsigned long long)q->seed);
  add_measure(t, "mean error", q->mean, "mean relative error of an answer from the release");
  add_measure(t, "median error", q->median, "half of the answers have at most this error");
  add_measure(t, "worst error", q->worst, "the largest error of an answer");
  if (!q->n_skipped) return;
  shoal_text_add(t, "  ");
  shoal_text_add_count(t, q->n_skipped);
  shoal_text_add(t, " queries select nothing in the original and are not counted.\n");
}

static size_t widest_name(const shoal_measures *m) {
  size_t widest = 9;
  for (size_t i = 0; i < m->n_attributes; i++)
    if (shoal_text_width(m->attributes[i].name) > widest)
      widest = shoal_text_width(m->attributes[i].name);
  return widest;
}

static void add_columns(shoal_text *t, const shoal_measures *m) {
  size_t width = widest_name(m);
  shoal_text_add(t, "\nColumn by column\n  ");
  shoal_text_add_padded(t, "attribute", width);
  shoal_text_add(t, "   level  values  labels   loss    ncp  entropy  variation  earth mover\n");
  for (size_t i = 0; i < m->n_attributes; i++) {
    const shoal_attribute_measure *a = &m->attributes[i];
    shoal_text_add(t, "  ");
    shoal_text_add_padded(t, a->name, width);
    if (a->quasi) {
      char level[32] = "mixed";
      if (a->has_level) (void)snprintf(level, sizeof level, "%u of %u", a->level, a->height);
      shoal_text_print(t, "  %6s %7llu %7llu %6.3f %6.3f   %6.3f", level,
                       (unsigned long long)a->values_before, (unsigned long long)a->labels_after,
                       a->loss, a->ncp, a->entropy_share);
    } else {
      shoal_text_print(t, "  %6s %7s %7s %6s %6s   %6s", "-", "-", "-", "-", "-", "-");
    }
    shoal_text_print(t, "     %6.3f       %6.3f (%s)\n", a->variation, a->earth_mover, a->distance);
  }
  for (size_t i = 0; i < m->n_attributes; i++) {
    const shoal_attribute_measure *a = &m->attributes[i];
    if (a->quasi && !isnan(a->mean_width))
      shoal_text_print(t, "  %s: intervals %.3g wide on average\n", a->name, a->mean_width);
  }
  shoal_text_add(t, "  loss, ncp, entropy: 0 nothing lost .. 1 everything; variation and earth "
                    "mover: how far the\n  column's distribution moved, 0 .. 1, if each label is "
                    "spread evenly over its values.\n");
}

static void add_associations(shoal_text *t, const shoal_measures *m) {
  if (!m->n_associations) return;
  shoal_text_add(t, "\nAssociation with sensitive columns (Cramer's V: 0 none .. 1 complete)\n");
  for (size_t i = 0; i < m->n_associations; i++) {
    const shoal_association *a = &m->associations[i];
    shoal_text_print(t, "  %s and %s: ", a->quasi, a->sensitive);
    shoal_format_number(t, a->before);
    shoal_text_add(t, " before, ");
    shoal_format_number(t, a->after);
    shoal_text_add(t, " after\n");
  }
}

/* ------------------------------------------------------------ text: risk */

static void add_two(shoal_text *t, const char *name, double before, double after,
                    const char *meaning) {
  shoal_text line;
  shoal_text_init(&line);
  shoal_format_number(&line, before);
  shoal_text_add(&line, " -> ");
  shoal_format_number(&line, after);
  shoal_text_add(t, "  ");
  shoal_text_add_padded(t, name, NAME_WIDTH);
  shoal_text_add_padded(t, line.failed ? "" : line.bytes, 22);
  shoal_text_print(t, "  %s\n", meaning);
  t->failed = t->failed || line.failed;
  shoal_text_reset(&line);
}

static void add_thresholds(shoal_text *t, const shoal_risk *r) {
  const shoal_threshold *thresholds = shoal_thresholds();
  for (size_t i = 0; thresholds[i].name; i++) {
    shoal_text_print(t, "  above %-5s ", thresholds[i].name);
    add_share(t, r->before.at_risk.n_rows[i], r->before.n_rows);
    shoal_text_add(t, " -> ");
    add_share(t, r->after.at_risk.n_rows[i], r->after.n_rows);
    shoal_text_print(t, " rows; %s\n", thresholds[i].source);
  }
  shoal_text_add(t, "  CMS small cells: ");
  shoal_text_add_count(t, r->after.small_classes);
  shoal_text_add(t, " classes of 1 to 10 rows (");
  shoal_text_add_count(t, r->after.small_class_rows);
  shoal_text_add(t, " rows), ");
  shoal_text_add_count(t, r->small_labels);
  shoal_text_add(t, " labels of one column on 1 to 10 rows; CMS allows none in published tables\n");
}

static void add_population(shoal_text *t, const shoal_population_risk *p) {
  shoal_text_add(t, "\nAgainst a population of ");
  shoal_text_add_count(t, p->population_rows);
  shoal_text_add(t, " (the intruder does not know who is in the data)\n");
  add_measure(t, "journalist, highest", p->highest, "probability for the record at highest risk");
  add_measure(t, "journalist, average", p->average,
              "the same, mean over records that match someone");
  add_measure(t, "marketer", p->marketer, "expected share of records matched correctly");
  add_measure(t, "unique", (double)p->population_unique_rows, "records that match one person only");
  const shoal_threshold *thresholds = shoal_thresholds();
  for (size_t i = 0; thresholds[i].name; i++) {
    shoal_text_print(t, "  above %-5s ", thresholds[i].name);
    shoal_text_add_count(t, p->at_risk.n_rows[i]);
    shoal_text_add(t, " rows\n");
  }
  if (!p->unmatched_rows) return;
  shoal_text_add(t, "  ");
  shoal_text_add_count(t, p->unmatched_rows);
  shoal_text_add(t, " released rows match no one in it: is it the right population?\n");
}

static void add_identity(shoal_text *t, const shoal_risk *r) {
  shoal_text_add(t, "\nRisk of finding a person's record, before -> after\n");
  add_two(t, "smallest class", (double)r->before.smallest_class, (double)r->after.smallest_class,
          "rows that cannot be distinguished");
  add_two(t, "prosecutor, highest", r->before.highest, r->after.highest,
          "probability for the record at highest risk");
  add_two(t, "prosecutor, average", r->before.average, r->after.average,
          "the same, mean over records");
  add_two(t, "marketer", r->before.average, r->after.average,
          "expected share of records matched correctly");
  add_two(t, "unique rows", (double)r->before.unique_rows, (double)r->after.unique_rows,
          "rows whose quasi-identifiers nobody shares");
  add_thresholds(t, r);
  if (r->has_population) add_population(t, &r->population);
}

static void add_disclosure(shoal_text *t, const shoal_attribute_risk *a, uint64_t p) {
  shoal_text_print(t, "\nRisk of learning %s, before -> after\n", a->name);
  char name[64];
  (void)snprintf(name, sizeof name, "below %llu values", (unsigned long long)p);
  add_two(t, "one value", (double)a->before.n_rows[0], (double)a->after.n_rows[0],
          "rows of classes with a single value, which is disclosed");
  add_two(t, name, (double)a->before.rows_below_p, (double)a->after.rows_below_p,
          "rows of classes with fewer distinct values than required");
  add_two(t, "fewest values", (double)a->before.min_distinct, (double)a->after.min_distinct,
          "in a class");
  add_two(t, "largest share", a->before.largest_share, a->after.largest_share,
          "of one value in a class: probability of the best guess");
  add_two(t, "mean share", a->before.mean_share, a->after.mean_share, "the same, mean over rows");
  add_two(t, "least entropy", a->before.min_entropy, a->after.min_entropy,
          "bits of uncertainty in a class");
  add_two(t, "largest distance", a->before.largest_distance, a->after.largest_distance,
          "of a class from the whole table, 0 .. 1");
  add_two(t, "mean distance", a->before.mean_distance, a->after.mean_distance,
          "the same, mean over rows");
}

void shoal_measure_text(const shoal_result *r, shoal_text *t) {
  const shoal_measures *m = r->measure.measured.utility;
  const shoal_risk *risk = r->measure.measured.risk;
  shoal_text_print(t, "%s -> %s\n", r->source, r->measure.output);
  shoal_verdict_text(r, t);
  add_utility(t, m);
  if (m->has_queries) add_queries(t, &m->queries);
  add_columns(t, m);
  add_associations(t, m);
  add_identity(t, risk);
  for (size_t i = 0; i < risk->n_attributes; i++) add_disclosure(t, &risk->attributes[i], m->p);
  if (m->disclosures) {
    shoal_text_add(t, "\nAttribute disclosures: ");
    shoal_text_add_count(t, m->disclosures);
    shoal_text_add(t, " pairs of a class and a sensitive column with one value.\n");
  }
  shoal_format_warnings(t, r);
  shoal_text_add(t, "\nFormulas and an example: docs/measures.md. To test the release against the "
                    "policy: shoal check\n");
}

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

static json_t *risk_object(const shoal_risk *r, shoal_json *json) {
  json_t *object = json_object(), *attributes = json_array();
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
  shoal_json_set(json, root, "risk", risk_object(m->measured.risk, json));
  shoal_json_set(json, root, "warnings", shoal_json_warnings(json, r));
  shoal_json_set(json, root, "seconds",
                 json_pack("{s:f, s:f}", "read", m->seconds_read, "total", m->seconds_total));
  shoal_json_set(json, root, "peak_memory_bytes", shoal_json_count(m->peak_memory_bytes));
  return root;
}
