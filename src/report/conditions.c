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
  shoal_text_print(t, ": %s = %s", m->parameter, shoal_say_number(m->required).text);
  if ((double)m->min_distinct != m->required)
    shoal_text_print(t, ", that is %s", shoal_say_counted(m->min_distinct, m->noun, m->nouns).text);
  shoal_text_print(t, "; the table has %s: at most %s\n",
                   shoal_say_counted(m->max_distinct, m->noun, m->nouns).text,
                   shoal_say_classes(m->max_groups).text);
  if (m->why) shoal_text_print(t, "         %s\n", m->why);
}

static void add_counts(shoal_text *t, const char *name, const uint64_t *counts, size_t n,
                       uint64_t n_all) {
  shoal_text_print(t, "    %s", name);
  for (size_t i = 0; i < n && i < SHOWN_FREQUENCIES; i++)
    shoal_text_print(t, " %s", shoal_say_count(counts[i]).text);
  if (n_all > SHOWN_FREQUENCIES) shoal_text_add(t, " ...");
  shoal_text_add(t, "\n");
}

static void add_sets(shoal_text *t, const shoal_conditions_report *c) {
  shoal_text_add(t, "\nFrequency sets: rows of each value, most frequent first (f), and their sums "
                    "(cf)\n");
  for (size_t i = 0; i < c->n_frequencies; i++) {
    const shoal_frequencies_outcome *f = &c->frequencies[i];
    shoal_text_print(t, "  %s, %s %s\n", f->attribute, shoal_say_count(f->n_distinct).text,
                     f->nouns);
    add_counts(t, "f ", f->descending, f->n_items, f->n_distinct);
    add_counts(t, "cf", f->cumulative, f->n_items, f->n_distinct);
  }
  if (c->p.n_items < 2) return;
  shoal_text_add(t, "  the largest cf of all columns\n");
  add_counts(t, "cf", c->cumulative, c->n_cumulative, c->n_cumulative);
}

void shoal_conditions_text(const shoal_result *r, shoal_text *t) {
  const shoal_conditions_report *c = &r->conditions;
  shoal_text_print(t, "%s: %s", r->source, shoal_say_rows(r->input_rows).text);
  shoal_text_add(t, r->holds ? ", every condition can be met\n\n"
                             : ", the policy requires more than is possible\n\n");
  for (size_t i = 0; i < c->n_models; i++) add_bound(t, &c->models[i]);
  if (c->max_classes <= r->input_rows)
    shoal_text_print(t, "\nNo release can have more than %s (a bound, not always reached).\n",
                     shoal_say_classes(c->max_classes).text);
  add_sets(t, c);
  shoal_format_warnings(t, r);
}

/* ------------------------------------------------------------ JSON */

static void add_bound_json(const shoal_bound_outcome *m, json_t *object, shoal_json *json) {
  SHOAL_PUT(json, object, K("parameter", m->parameter), N("required", m->required),
            K("counts", m->nouns), K("min_distinct", m->min_distinct), K("max_p", m->max_distinct),
            K("max_groups", m->max_groups), K("holds", m->holds), OPT("why", m->why));
}

static json_t *models_array(const shoal_conditions_report *c, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < c->n_models; i++) {
    const shoal_bound_outcome *m = &c->models[i];
    json_t *object = SHOAL_OBJECT(K("model", m->model), OPT("attribute", m->attribute));
    shoal_json_over(json, object, &m->over);
    shoal_json_set(json, object, "bounded", json_boolean(m->bounded));
    if (m->bounded) add_bound_json(m, object, json);
    shoal_json_append(json, array, object);
  }
  return array;
}

static json_t *counts_array(const uint64_t *counts, size_t n, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < n; i++) shoal_json_append(json, array, J(counts[i]));
  return array;
}

static json_t *sets_array(const shoal_conditions_report *c, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < c->n_frequencies; i++) {
    const shoal_frequencies_outcome *f = &c->frequencies[i];
    shoal_json_append(json, array,
                      SHOAL_OBJECT(K("attribute", f->attribute), K("counts", f->nouns),
                                   K("distinct", f->n_distinct),
                                   K("f", counts_array(f->descending, f->n_items, json)),
                                   K("cf", counts_array(f->cumulative, f->n_items, json))));
  }
  return array;
}

static json_t *attributes_array(const shoal_condition_outcomes *p, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < p->n_items; i++)
    shoal_json_append(json, array,
                      SHOAL_OBJECT(K("attribute", p->items[i].attribute),
                                   K("distinct", p->items[i].distinct),
                                   K("max_groups", p->items[i].max_groups)));
  return array;
}

json_t *shoal_conditions_json(const shoal_result *r, shoal_json *json) {
  const shoal_conditions_report *c = &r->conditions;
  json_t *root =
      SHOAL_OBJECT(K("holds", r->holds), K("rows", r->input_rows), K("max_p", c->p.max_p),
                   K("max_groups", c->p.max_groups), K("attributes", attributes_array(&c->p, json)),
                   K("models", models_array(c, json)),
                   K("max_classes",
                     c->max_classes == UINT64_MAX ? json_null() : shoal_json_count(c->max_classes)),
                   K("frequencies", sets_array(c, json)),
                   K("cumulative", counts_array(c->cumulative, c->n_cumulative, json)),
                   K("warnings", shoal_json_warnings(json, r)));
  return root;
}
