/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/html_risk: page sections: protection required and reached, and risk: class sizes before
 * and after, thresholds, disclosure of sensitive attributes.
 */
#include <stdio.h>
#include <string.h>

#include "report/html.h"
#include "report/redact.h"

/* ------------------------------------------------------------ protection */

static void add_model(const shoal_result *r, const shoal_model_outcome *m, shoal_text *text) {
  bool unknown = shoal_model_unknown(m);
  shoal_html_model(text, m->model, m->attribute, &m->over, m->summary);
  shoal_text_print(text, "<td class=\"num\">%s %s",
                   m->is_rule   ? ""
                   : m->at_most ? "at most"
                                : "at least",
                   shoal_say_rounded(m->required).text);
  if (m->units) shoal_text_print(text, " %s", m->units);
  shoal_text_add(text, "</td><td class=\"num\">");
  if (!m->is_rule && !unknown) shoal_text_print(text, "%s", shoal_say_rounded(m->reached).text);
  shoal_text_add(text, "</td><td>");
  if (unknown) {
    shoal_text_add(text, "<span class=\"note\">? people cannot be counted here</span></td></tr>\n");
    return;
  }
  shoal_html_verdict(text, m->holds, m->holds ? "holds" : "violated");
  if (!m->holds)
    shoal_text_print(text, "<br><span class=\"small\">%s records</span>",
                     shoal_say_hidden(m->breaking_rows, r->k).text);
  shoal_text_add(text, "</td></tr>\n");
}

void shoal_html_protection(const shoal_result *r, shoal_text *text) {
  shoal_text_print(text,
                   "<p>A class is all records that are equal in every quasi-identifier. %s</p>\n",
                   r->kind == SHOAL_RESULT_RELEASE
                       ? "Reached is the value of the weakest class, verified on the written "
                         "file."
                       : "Reached is the value of the weakest class.");
  SHOAL_HTML_TABLE(text, NULL, NULL, "Model", "#Required", "#Reached", "Verdict");
  const shoal_model_outcomes *models = shoal_result_models_of(r);
  for (size_t i = 0; i < models->n_items; i++) add_model(r, &models->items[i], text);
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
}

/* ------------------------------------------------------------ risk */

enum { LABEL_BYTES = 48, RULE_BYTES = 64 };

static void draw_sizes(const shoal_size_change *sizes, const shoal_size_row *rows, size_t n,
                       bool released, shoal_text *text) {
  shoal_chart_bar bars[SHOAL_SIZE_BINS];
  char labels[SHOAL_SIZE_BINS][LABEL_BYTES], rules[SHOAL_SIZE_BINS][RULE_BYTES];
  for (size_t i = 0; i < n; i++) {
    /* "1 (unique)", "5 to 10", "20 and more" */
    const shoal_size_row *row = &rows[i];
    char *out = labels[i];
    if (!row->high) (void)snprintf(out, LABEL_BYTES, "%llu and more", (unsigned long long)row->low);
    else if (row->low == row->high)
      (void)snprintf(out, LABEL_BYTES, "%llu%s", (unsigned long long)row->low,
                     row->low == 1 ? " (unique)" : "");
    else
      (void)snprintf(out, LABEL_BYTES, "%llu to %llu", (unsigned long long)row->low,
                     (unsigned long long)row->high);
    bars[i] = (shoal_chart_bar){.label = labels[i], .values = {rows[i].before, rows[i].after}};
    for (const shoal_threshold *t = shoal_thresholds(); t->name; t++) {
      if (t->class_size != rows[i].low) continue;
      (void)snprintf(rules[i], RULE_BYTES, "\xe2\x86\x91 risk above %s", t->name);
      bars[i].rule = rules[i];
    }
  }
  shoal_chart chart = {.title = "Records by the size of their class",
                       .description = "Numbers are beside the bars; each dashed line is a named "
                                      "threshold of risk.",
                       .axis = "records",
                       .series = {released ? "before" : "records", "after"},
                       .totals = {sizes->before.n_records, sizes->after.n_records},
                       .n_series = released ? 2 : 1,
                       .bars = bars,
                       .n_bars = n};
  shoal_text_add(text, "<h3>Records by the size of their class</h3>\n<div class=\"keep\">\n");
  shoal_chart_bars(&chart, text);
  shoal_text_add(text, "</div>\n");
}

void shoal_html_sizes(const shoal_class_sizes *sizes, uint64_t k, shoal_text *text) {
  const shoal_size_change change = {.before = *sizes};
  shoal_size_row rows[SHOAL_SIZE_BINS];
  size_t n = shoal_class_sizes_rows(&change.before, &change.after, k, rows);
  draw_sizes(&change, rows, n, false, text);
}

static void add_figures(const shoal_class_sizes *sizes, int what, shoal_text *text) {
  shoal_text_add(text, "<td class=\"num\">");
  double classes = (double)sizes->n_classes, records = (double)sizes->n_records;
  if (!sizes->n_classes) shoal_text_add(text, "\xe2\x80\x93");
  else if (what == 0) shoal_text_print(text, "%.3g", 1.0 / (double)sizes->smallest);
  else if (what == 1) shoal_text_print(text, "%.3g", classes / records);
  else shoal_text_print(text, "%s", shoal_say_count(sizes->n_classes).text);
  shoal_text_add(text, "</td>");
}

static void add_threshold(const shoal_size_change *sizes, uint64_t k, const shoal_threshold *t,
                          const shoal_size_row *rows, size_t n, bool released, shoal_text *text) {
  uint64_t below[2];
  bool known = shoal_class_sizes_below(rows, n, t->class_size, &below[0], &below[1]);
  const uint64_t totals[2] = {sizes->before.n_records, sizes->after.n_records};
  char title[64];
  (void)snprintf(title, sizeof title, "Records at a risk above %s", t->name);
  shoal_html_row(text, title, t->source);
  for (size_t s = 0; s < (released ? 2 : 1); s++) {
    shoal_text_add(text, "<td class=\"num\">");
    if (known) {
      shoal_text_print(text, "%s", shoal_say_hidden(below[s], k).text);
      if (below[s] >= k && totals[s])
        shoal_text_print(text, "<br><span class=\"dim small\">%.1f%%</span>",
                         100.0 * (double)below[s] / (double)totals[s]);
    } else {
      shoal_text_add(text, "withheld");
    }
    shoal_text_add(text, "</td>");
  }
  shoal_text_add(text, "</tr>\n");
}

/* ------------------------------------------------------------ disclosure */

static void add_pair(const char *name, const char *meaning, double before, double after,
                     shoal_text *text) {
  shoal_html_row(text, name, meaning);
  shoal_text_print(text, "<td class=\"num\">%.4g</td><td class=\"num\">%.4g</td></tr>\n", before,
                   after);
}

static void add_learning(const shoal_result *r, const shoal_attribute_risk *a, shoal_text *text) {
  const shoal_attribute_risk_side *before = &a->before, *after = &a->after;
  shoal_text_print(text,
                   "<h3>Risk of learning %s</h3>\n<p>Anyone who knows the class of a person learns "
                   "the distribution of its values.</p>\n",
                   a->name);
  SHOAL_HTML_TABLE(text, NULL, NULL, "In the classes", "#Before", "#After");
  shoal_html_row(text, "Records in classes with a single value",
                 "the value is disclosed for all of them");
  shoal_text_print(text, "<td class=\"num\">%s</td><td class=\"num\">%s</td></tr>\n",
                   shoal_say_hidden(before->n_rows[0], r->k).text,
                   shoal_say_hidden(after->n_rows[0], r->k).text);
  add_pair("Fewest distinct values", "in any class", (double)before->min_distinct,
           (double)after->min_distinct, text);
  add_pair("Largest share of one value", "probability of the best guess in the worst class",
           before->largest_share, after->largest_share, text);
  add_pair("Mean share of the most frequent value", "the same, mean over all records",
           before->mean_share, after->mean_share, text);
  add_pair("Largest distance from the whole table",
           "0 to 1: distance of a class from the distribution of the table",
           before->largest_distance, after->largest_distance, text);
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
}

static void add_population(const shoal_result *r, shoal_text *text) {
  const shoal_population_risk *p = &shoal_result_measured(r).risk->population;
  shoal_text_print(text,
                   "<h3>Against a population of %s</h3>\n<p>An intruder who does not know who is "
                   "in the data (journalist) is right about the record at highest risk with "
                   "probability %.3g, on average %.3g; the expected share of records matched "
                   "correctly is %.3g (marketer). %s released records match one person only.</p>\n",
                   shoal_say_count(p->population_rows).text, p->highest, p->average, p->marketer,
                   shoal_say_hidden(p->population_unique_rows, r->k).text);
}

void shoal_html_risk(const shoal_result *r, shoal_text *text) {
  static const char *const figures[][2] = {{"Highest risk", "1 / smallest class"},
                                           {"Average risk", "classes / records"},
                                           {"Classes", NULL}};
  const shoal_size_change sizes = shoal_result_size_change(r);
  const shoal_risk *risk = shoal_result_measured(r).risk;
  bool released = sizes.after.n_classes > 0;
  shoal_size_row rows[SHOAL_SIZE_BINS];
  size_t n = shoal_class_sizes_rows(&sizes.before, &sizes.after, r->k, rows);
  shoal_text_add(text, "<p>Anyone who knows all quasi-identifiers of a person in the table "
                       "finds the right row with probability 1 / class size (prosecutor "
                       "risk).");
  if (released) shoal_text_add(text, " Before is the original table without identifiers.");
  shoal_text_add(text, "</p>\n");
  SHOAL_HTML_TABLE(text, NULL, NULL, "Risk", released ? "#Before" : "#Table",
                   released ? "#After" : NULL);
  for (int what = 0; what < 3; what++) {
    shoal_html_row(text, figures[what][0], figures[what][1]);
    add_figures(&sizes.before, what, text);
    if (released) add_figures(&sizes.after, what, text);
    shoal_text_add(text, "</tr>\n");
  }
  for (size_t t = SHOAL_N_THRESHOLDS; t-- > 0;)
    add_threshold(&sizes, r->k, &shoal_thresholds()[t], rows, n, released, text);
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
  draw_sizes(&sizes, rows, n, released, text);
  if (r->k > 1)
    shoal_text_print(text,
                     "<p class=\"dim small\">Numbers from 1 to %llu are withheld: class sizes "
                     "with such a number are joined.</p>\n",
                     (unsigned long long)(r->k - 1));
  for (size_t i = 0; risk && i < risk->n_attributes; i++)
    add_learning(r, &risk->attributes[i], text);
  if (risk && risk->has_population) add_population(r, text);
}
