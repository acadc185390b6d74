/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/conditions: text and JSON of `conditions`: what each model requires, the bounds that the
 * table sets, and the frequency sets of Truta & Vinay 2006, Tables 5 and 6. Counts, no values.
 */
#include "report/render.h"

/* Frequencies of a set in the text; the rest is in the JSON. */
enum { SHOWN_FREQUENCIES = 12 };

/* ------------------------------------------------------------ text */

static void add_bound(shoal_text *t, const shoal_bound_outcome *m) {
  shoal_text_print(t, "  %s %s", !m->bounded ? "-     " : m->holds ? "ok    " : "FAILED", m->model);
  shoal_format_subject(t, m->attribute, &m->over);
  if (!m->bounded) {
    shoal_text_add(t, ": no bound is known\n");
    return;
  }
  shoal_text_print(t, ": %s = ", m->parameter);
  shoal_format_number(t, m->required);
  if ((double)m->min_distinct != m->required) {
    shoal_text_add(t, ", that is ");
    shoal_format_counted(t, m->min_distinct, m->noun, m->nouns);
  }
  shoal_text_add(t, "; the table has ");
  shoal_format_counted(t, m->max_distinct, m->noun, m->nouns);
  shoal_text_add(t, ": at most ");
  shoal_format_counted(t, m->max_groups, "class", "classes");
  shoal_text_add(t, "\n");
  if (m->why) shoal_text_print(t, "         %s\n", m->why);
}

static void add_counts(shoal_text *t, const char *name, const uint64_t *counts, size_t n,
                       uint64_t n_all) {
  shoal_text_print(t, "    %s", name);
  for (size_t i = 0; i < n && i < SHOWN_FREQUENCIES; i++) {
    shoal_text_add(t, " ");
    shoal_text_add_count(t, counts[i]);
  }
  if (n_all > SHOWN_FREQUENCIES) shoal_text_add(t, " ...");
  shoal_text_add(t, "\n");
}

static void add_sets(shoal_text *t, const shoal_conditions_report *c) {
  shoal_text_add(t, "\nFrequency sets: rows of each value, most frequent first (f), and their sums "
                    "(cf)\n");
  for (size_t i = 0; i < c->n_frequencies; i++) {
    const shoal_frequencies_outcome *f = &c->frequencies[i];
    shoal_text_print(t, "  %s, ", f->attribute);
    shoal_text_add_count(t, f->n_distinct);
    shoal_text_print(t, " %s\n", f->nouns);
    add_counts(t, "f ", f->descending, f->n_items, f->n_distinct);
    add_counts(t, "cf", f->cumulative, f->n_items, f->n_distinct);
  }
  if (c->p.n_items < 2) return;
  shoal_text_add(t, "  the largest cf of all columns\n");
  add_counts(t, "cf", c->cumulative, c->n_cumulative, c->n_cumulative);
}

void shoal_conditions_text(const shoal_result *r, shoal_text *t) {
  const shoal_conditions_report *c = &r->conditions;
  shoal_text_print(t, "%s: ", r->source);
  shoal_format_rows(t, r->input_rows);
  shoal_text_add(t, r->holds ? ", every condition can be met\n\n"
                             : ", the policy requires more than is possible\n\n");
  for (size_t i = 0; i < c->n_models; i++) add_bound(t, &c->models[i]);
  if (c->max_classes <= r->input_rows) {
    shoal_text_add(t, "\nNo release can have more than ");
    shoal_format_counted(t, c->max_classes, "class", "classes");
    shoal_text_add(t, " (a bound, not always reached).\n");
  }
  add_sets(t, c);
  shoal_format_warnings(t, r);
}

/* ------------------------------------------------------------ JSON */

static void add_bound_json(const shoal_bound_outcome *m, json_t *object, shoal_json *json) {
  shoal_json_set(json, object, "parameter", json_string(m->parameter));
  shoal_json_set(json, object, "required", shoal_json_number(m->required));
  shoal_json_set(json, object, "counts", json_string(m->nouns));
  shoal_json_set(json, object, "min_distinct", shoal_json_count(m->min_distinct));
  shoal_json_set(json, object, "max_p", shoal_json_count(m->max_distinct));
  shoal_json_set(json, object, "max_groups", shoal_json_count(m->max_groups));
  shoal_json_set(json, object, "holds", json_boolean(m->holds));
  if (m->why) shoal_json_set(json, object, "why", json_string(m->why));
}

static json_t *models_array(const shoal_conditions_report *c, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < c->n_models; i++) {
    const shoal_bound_outcome *m = &c->models[i];
    json_t *object = json_object();
    shoal_json_set(json, object, "model", json_string(m->model));
    if (m->attribute) shoal_json_set(json, object, "attribute", json_string(m->attribute));
    shoal_json_over(json, object, &m->over);
    shoal_json_set(json, object, "bounded", json_boolean(m->bounded));
    if (m->bounded) add_bound_json(m, object, json);
    shoal_json_append(json, array, object);
  }
  return array;
}

static json_t *counts_array(const uint64_t *counts, size_t n, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < n; i++) shoal_json_append(json, array, shoal_json_count(counts[i]));
  return array;
}

static json_t *sets_array(const shoal_conditions_report *c, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < c->n_frequencies; i++) {
    const shoal_frequencies_outcome *f = &c->frequencies[i];
    shoal_json_append(json, array,
                      json_pack("{s:s, s:s, s:o, s:o, s:o}", "attribute", f->attribute, "counts",
                                f->nouns, "distinct", shoal_json_count(f->n_distinct), "f",
                                counts_array(f->descending, f->n_items, json), "cf",
                                counts_array(f->cumulative, f->n_items, json)));
  }
  return array;
}

static json_t *attributes_array(const shoal_condition_outcomes *p, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < p->n_items; i++)
    shoal_json_append(json, array,
                      json_pack("{s:s, s:o, s:o}", "attribute", p->items[i].attribute, "distinct",
                                shoal_json_count(p->items[i].distinct), "max_groups",
                                shoal_json_count(p->items[i].max_groups)));
  return array;
}

json_t *shoal_conditions_json(const shoal_result *r, shoal_json *json) {
  const shoal_conditions_report *c = &r->conditions;
  json_t *root = json_object();
  shoal_json_set(json, root, "holds", json_boolean(r->holds));
  shoal_json_set(json, root, "rows", shoal_json_count(r->input_rows));
  shoal_json_set(json, root, "max_p", shoal_json_count(c->p.max_p));
  shoal_json_set(json, root, "max_groups", shoal_json_count(c->p.max_groups));
  shoal_json_set(json, root, "attributes", attributes_array(&c->p, json));
  shoal_json_set(json, root, "models", models_array(c, json));
  shoal_json_set(json, root, "max_classes",
                 c->max_classes == UINT64_MAX ? json_null() : shoal_json_count(c->max_classes));
  shoal_json_set(json, root, "frequencies", sets_array(c, json));
  shoal_json_set(json, root, "cumulative", counts_array(c->cumulative, c->n_cumulative, json));
  shoal_json_set(json, root, "warnings", shoal_json_warnings(json, r));
  return root;
}
