/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/measure: text of `measure`: utility and risk of a release. A figure that cannot be
 * computed is "-" in the text and null in the JSON (measure_json.c). docs/measures.md has the
 * formulas.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

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
  shoal_text_print(t, "%s", shoal_say_count(part).text);
  if (whole) shoal_text_print(t, " (%.2f%%)", 100.0 * (double)part / (double)whole);
}

/* "  name   value   what it means" */
static void add_measure(shoal_text *t, const char *name, double value, const char *meaning) {
  shoal_text line;
  shoal_text_init(&line);
  shoal_text_print(&line, "%s", shoal_say_number(value).text);
  shoal_text_add(t, "  ");
  shoal_text_add_padded(t, name, NAME_WIDTH);
  shoal_text_add_padded(t, line.failed ? "" : line.bytes, 12);
  shoal_text_print(t, "  %s\n", meaning);
  t->failed = t->failed || line.failed;
  shoal_text_reset(&line);
}

/* ------------------------------------------------------------ text: utility */

static void add_row_counts(shoal_text *t, const shoal_measures *m) {
  shoal_text_print(t, "  %s rows before, %s released; removed ",
                   shoal_say_count(m->original_rows).text, shoal_say_count(m->released_rows).text);
  add_share(t, m->removed, m->original_rows);
  shoal_text_add(t, ", blanked ");
  add_share(t, m->blanked, m->original_rows);
  shoal_text_add(t, ";\n  suppressed cells: ");
  add_share(t, m->cells_suppressed, m->cells);
  shoal_text_add(t, " of the quasi-identifiers\n");
  if (!m->noise) return;
  shoal_text_print(t, "  At least %s", shoal_say_count(m->noise).text);
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
  if (!isnan(m->height_accuracy))
    add_measure(t, "height accuracy", m->height_accuracy,
                "1 .. 0: 1 - height of the node / height of the top (Samarati)");
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
  shoal_text_print(t,
                   "\nQueries: %s random counts over %u quasi-identifier%s, %.3g%% of the rows "
                   "each on average (seed %llu)\n",
                   shoal_say_count(q->n_queries).text, q->dimensions, q->dimensions == 1 ? "" : "s",
                   100 * q->mean_selected, (unsigned long long)q->seed);
  add_measure(t, "mean error", q->spread.mean, "mean relative error of an answer from the release");
  add_measure(t, "median error", q->spread.median, "half of the answers have at most this error");
  add_measure(t, "worst error", q->spread.worst, "the largest error of an answer");
  add_measure(t, "mean overlap error", q->overlap.mean,
              "the same if every row counts whose labels overlap the query");
  add_measure(t, "worst overlap error", q->overlap.worst, "the largest of these");
  if (!q->n_skipped) return;
  shoal_text_print(t, "  %s queries select nothing in the original and are not counted.\n",
                   shoal_say_count(q->n_skipped).text);
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
      shoal_text_print(t,
                       a->days ? "  %s: intervals %.0f days wide on average\n"
                               : "  %s: intervals %.3g wide on average\n",
                       a->name, a->mean_width);
  }
  shoal_text_add(t, "  loss, ncp, entropy: 0 nothing lost .. 1 everything; variation and earth "
                    "mover: how far the\n  column's distribution moved, 0 .. 1, if each label is "
                    "spread evenly over its values.\n");
}

/* ------------------------------------------------------------ text: risk */

static void add_two(shoal_text *t, const char *name, double before, double after,
                    const char *meaning) {
  shoal_text line;
  shoal_text_init(&line);
  shoal_text_print(&line, "%s -> %s", shoal_say_number(before).text, shoal_say_number(after).text);
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
  shoal_text_print(t,
                   "  CMS small cells: %s classes of 1 to 10 rows (%s rows), %s labels of one "
                   "column on 1 to 10 rows; CMS allows none in published tables\n",
                   shoal_say_count(r->after.small_classes).text,
                   shoal_say_count(r->after.small_class_rows).text,
                   shoal_say_count(r->small_labels).text);
}

static void add_population(shoal_text *t, const shoal_population_risk *p) {
  shoal_text_print(t,
                   "\nAgainst a population of %s (the intruder does not know who is in the data)\n",
                   shoal_say_count(p->population_rows).text);
  add_measure(t, "journalist, highest", p->highest, "probability for the record at highest risk");
  add_measure(t, "journalist, average", p->average,
              "the same, mean over records that match someone");
  add_measure(t, "marketer", p->marketer, "expected share of records matched correctly");
  add_measure(t, "unique", (double)p->population_unique_rows, "records that match one person only");
  const shoal_threshold *thresholds = shoal_thresholds();
  for (size_t i = 0; thresholds[i].name; i++)
    shoal_text_print(t, "  above %-5s %s rows\n", thresholds[i].name,
                     shoal_say_count(p->at_risk.n_rows[i]).text);
  if (!p->unmatched_rows) return;
  shoal_text_print(t, "  %s released rows match no one in it: is it the right population?\n",
                   shoal_say_count(p->unmatched_rows).text);
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

static void add_people(shoal_text *t, const shoal_measure_report *m) {
  const shoal_person_risk *before = &m->people_before, *after = &m->people_after;
  const shoal_threshold *thresholds = shoal_thresholds();
  shoal_text_add(t, "\nRisk of finding a person who has several records, before -> after\n");
  add_two(t, "people", (double)before->n_people, (double)after->n_people, "with a record");
  add_two(t, "fewest people", (double)before->fewest, (double)after->fewest,
          "who can have the same record");
  add_two(t, "highest", before->highest, after->highest,
          "probability for the person at highest risk, by one known record");
  add_two(t, "average", before->average, after->average, "the same, mean over people");
  for (size_t i = 0; thresholds[i].name; i++) {
    shoal_text_print(t, "  above %-5s ", thresholds[i].name);
    add_share(t, before->at_risk[i], before->n_people);
    shoal_text_add(t, " -> ");
    add_share(t, after->at_risk[i], after->n_people);
    shoal_text_add(t, " people\n");
  }
}

static void add_disclosure(shoal_text *t, const shoal_attribute_risk *a, uint64_t p) {
  shoal_text_print(t, "\nRisk of learning %s, before -> after\n", a->name);
  char name[64];
  (void)snprintf(name, sizeof name, "below %llu values", (unsigned long long)p);
  add_two(t, "one value", (double)a->before.n_rows[0], (double)a->after.n_rows[0],
          "rows of classes with a single value, which is disclosed");
  add_two(t, name, (double)a->before.rows_below_p, (double)a->after.rows_below_p,
          "rows of classes with fewer distinct values than required");
  add_two(t, "homogeneity", (double)a->before.homogeneity, (double)a->after.homogeneity,
          "distinct values that classes lack of those required (Hom, summed)");
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
  if (m->n_associations) {
    shoal_text_add(t, "\nAssociation with sensitive columns (Cramer's V: 0 none .. 1 complete)\n");
    for (size_t i = 0; i < m->n_associations; i++) {
      const shoal_association *a = &m->associations[i];
      shoal_text_print(t, "  %s and %s: %s before, %s after\n", a->quasi, a->sensitive,
                       shoal_say_number(a->before).text, shoal_say_number(a->after).text);
    }
  }
  add_identity(t, risk);
  if (r->measure.knows_people) add_people(t, &r->measure);
  for (size_t i = 0; i < risk->n_attributes; i++) add_disclosure(t, &risk->attributes[i], m->p);
  if (m->disclosures)
    shoal_text_print(
        t, "\nAttribute disclosures: %s pairs of a class and a sensitive column with one value.\n",
        shoal_say_count(m->disclosures).text);
  shoal_format_warnings(t, r);
  shoal_text_add(t, "\nFormulas and an example: docs/measures.md. To test the release against the "
                    "policy: shoal check\n");
}
