/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/check: text and JSON of `check` (models on the table as it is), and the models and class
 * sizes that the report of a release shares with it.
 */
#include "report/redact.h"
#include "report/render.h"

/* ------------------------------------------------------------ models and class sizes */

static void add_model(shoal_text *t, const shoal_model_outcome *m) {
  bool unknown = shoal_model_unknown(m);
  shoal_text_print(t, "  %s %s", m->holds ? "ok    " : unknown ? "?     " : "FAILED", m->model);
  shoal_format_subject(t, m->attribute, &m->over);
  if (m->is_rule) {
    shoal_text_print(t, ": %s", shoal_say_number(m->required).text);
    if (!m->holds) shoal_text_print(t, "; violated by %s", shoal_say_rows(m->breaking_rows).text);
    shoal_text_add(t, "\n");
    return;
  }
  if (unknown) {
    shoal_text_add(t, ": cannot be judged: the table does not say who its rows are about\n");
    return;
  }
  shoal_text_print(t, ": required: %s", shoal_say_number(m->required).text);
  if (m->units) shoal_text_print(t, " %s", m->units);
  shoal_text_print(t, "%s%s", m->at_most ? " or less; worst class: " : " or more; worst class: ",
                   shoal_say_number(m->reached).text);
  if (!m->holds) {
    shoal_text_print(t, "; violated by %s with %s", shoal_say_classes(m->breaking_classes).text,
                     shoal_say_rows(m->breaking_rows).text);
    if (m->n_sets)
      shoal_text_print(t, ", over %llu of %llu sets, most over %s",
                       (unsigned long long)m->n_failing, (unsigned long long)m->n_sets,
                       m->worst_set.text);
  }
  if (m->tells_distinct)
    shoal_text_print(t, "; fewest distinct values in a class: %s",
                     shoal_say_count(m->min_distinct).text);
  shoal_text_add(t, "\n");
}

void shoal_models_text(const shoal_model_outcomes *models, shoal_text *t) {
  for (size_t i = 0; i < models->n_items; i++) add_model(t, &models->items[i]);
}

static json_t *worst_array(const shoal_result *r, const shoal_model_outcome *model,
                           shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < model->n_worst; i++) {
    const shoal_class_example *e = &model->worst[i];
    shoal_json_append(json, array,
                      SHOAL_OBJECT(K("rows", e->n_rows), N("reached", e->reached),
                                   K("first_row", e->first_row),
                                   K("class", shoal_json_labels(json, r, e->labels))));
  }
  return array;
}

static json_t *values_array(const shoal_model_outcome *model, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < model->n_values; i++)
    shoal_json_append(json, array,
                      SHOAL_OBJECT(N("variance", model->values[i].reached),
                                   K("classes", model->values[i].classes),
                                   K("rows", model->values[i].rows)));
  return array;
}

json_t *shoal_models_json(const shoal_result *r, shoal_json *json) {
  const shoal_model_outcomes *models = shoal_result_models_of(r);
  json_t *array = json_array();
  for (size_t i = 0; i < models->n_items; i++) {
    const shoal_model_outcome *m = &models->items[i];
    json_t *object = SHOAL_OBJECT(K("model", m->model), OPT("attribute", m->attribute));
    shoal_json_over(json, object, &m->over);
    if (m->n_sets) {
      SHOAL_PUT(json, object, K("sets", m->n_sets), K("failing_sets", m->n_failing),
                K("worst_set", shoal_json_strings(json, m->worst_set.names, m->worst_set.n_names)));
    }
    shoal_json_set(json, object, "required", shoal_json_number(m->required));
    if (!m->is_rule) shoal_json_set(json, object, "reached", shoal_json_number(m->reached));
    SHOAL_PUT(json, object, K("holds", m->holds), KIF(m->by_people, "by_people", json_true()),
              KIF(m->unjudged, "judged", json_false()), K("breaking_rows", m->breaking_rows),
              KIF(!m->is_rule, "breaking_classes", m->breaking_classes),
              KIF(m->attribute && !m->is_rule, "distinct_values", m->min_distinct));
    if (m->n_worst) shoal_json_set(json, object, "worst", worst_array(r, m, json));
    if (m->n_values) shoal_json_set(json, object, "variances", values_array(m, json));
    shoal_json_append(json, array, object);
  }
  return array;
}

json_t *shoal_class_sizes_json(const shoal_result *r, shoal_json *json) {
  const shoal_size_change sizes = shoal_result_size_change(r);
  bool released = sizes.after.n_classes > 0;
  shoal_size_row rows[SHOAL_SIZE_BINS];
  size_t n = shoal_class_sizes_rows(&sizes.before, &sizes.after, r->k, rows);
  json_t *array = json_array();
  for (size_t i = 0; i < n; i++) {
    json_t *row = SHOAL_OBJECT(
        K("from", rows[i].low), K("to", shoal_json_count_if(rows[i].high, rows[i].high)),
        K(released ? "before" : "records", rows[i].before), KIF(released, "after", rows[i].after));
    shoal_json_append(json, array, row);
  }
  return array;
}

/* ------------------------------------------------------------ check */

/* "Variance of the classes: 0.6875: 1 class with 4 rows, 1.25: 2 classes with 8 rows" */
static void add_values(shoal_text *t, const shoal_model_outcome *m) {
  enum { MOST = 12 };
  if (!m->n_values) return;
  shoal_text_print(t, "\nVariance of the classes (%s, %s), smallest first:\n", m->model,
                   m->attribute);
  for (size_t i = 0; i < m->n_values && i < MOST; i++)
    shoal_text_print(t, "  %-10s %s with %s\n", shoal_say_number(m->values[i].reached).text,
                     shoal_say_classes(m->values[i].classes).text,
                     shoal_say_rows(m->values[i].rows).text);
  if (m->n_values > MOST)
    shoal_text_print(t, "  and %s larger values, the largest %s (all: --json)\n",
                     shoal_say_count(m->n_values - MOST).text,
                     shoal_say_number(m->values[m->n_values - 1].reached).text);
}

static void add_worst(shoal_text *t, const shoal_result *r, const shoal_model_outcome *m) {
  if (!m->n_worst) return;
  shoal_text_print(t, "\nWorst classes for %s", m->model);
  shoal_format_subject(t, m->attribute, m->n_sets ? &m->worst_set : &m->over);
  shoal_text_add(t, ":\n");
  for (size_t i = 0; i < m->n_worst; i++) {
    const shoal_class_example *e = &m->worst[i];
    shoal_text_add(t, "  ");
    const char *before = "";
    for (size_t q = 0; e->n_shown && q < r->n_quasi; q++) {
      if (!e->labels[q]) continue; /* the model is not about it */
      shoal_text_print(t, "%s%s=%s", before, r->quasi[q], e->labels[q]);
      before = ", ";
    }
    if (!e->n_shown) shoal_text_print(t, "the class of row %llu", (unsigned long long)e->first_row);
    else shoal_text_print(t, " (row %llu)", (unsigned long long)e->first_row);
    shoal_text_print(t, ": %s, reaches %s\n", shoal_say_rows(e->n_rows).text,
                     shoal_say_number(e->reached).text);
  }
}

void shoal_check_text(const shoal_result *r, shoal_text *t) {
  const shoal_model_outcomes *models = &r->check.models;
  shoal_publication verdict = shoal_safety_verdict(&r->safety);
  shoal_text_print(
      t, "%s: the policy %s\n  %s%s in %s of equal quasi-identifiers, the smallest with %s\n",
      r->source,
      r->safety.models_unjudged           ? "cannot be judged: people cannot be counted"
      : !r->holds                         ? "does NOT hold"
      : verdict == SHOAL_DO_NOT_PUBLISH   ? "holds, but do NOT publish the table"
      : verdict == SHOAL_HOLDS_WITH_RISKS ? "holds, with the risks below"
                                          : "holds",
      shoal_say_rows(r->input_rows).text, shoal_say_people(r->input_people).text,
      shoal_say_classes(r->check.sizes.n_classes).text,
      shoal_say_rows(r->check.sizes.smallest).text);
  shoal_verdict_text(r, t);
  shoal_text_add(t, "\n");
  shoal_models_text(models, t);
  for (size_t i = 0; i < models->n_items; i++) {
    add_worst(t, r, &models->items[i]);
    add_values(t, &models->items[i]);
  }
  if (!r->holds && !r->safety.models_unjudged)
    shoal_text_add(t,
                   "\nRow 1 is the first row after the header. Original values are not shown.\n"
                   "To make a release that satisfies the policy: shoal anonymize DATA -P POLICY -o "
                   "OUT\n");
  shoal_format_warnings(t, r);
}

json_t *shoal_check_json(const shoal_result *r, shoal_json *json) {
  json_t *root = SHOAL_OBJECT(
      K("holds", r->holds), K("rows", r->input_rows), K("classes", r->check.sizes.n_classes),
      K("smallest_class", r->check.sizes.smallest), K("models", shoal_models_json(r, json)),
      K("warnings", shoal_json_warnings(json, r)),
      K("class_sizes", shoal_class_sizes_json(r, json)));
  if (root && r->input_people) shoal_json_set(json, root, "people", J(r->input_people));
  if (root) shoal_verdict_json(r, root, json);
  return root;
}
