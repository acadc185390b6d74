/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/html_risk: of a page: the protection that was asked for and reached, and how large the
 * classes are in which people hide, before and after.
 */
#include <stdio.h>
#include <string.h>

#include "report/html.h"
#include "report/measures.h"

/* ------------------------------------------------------------ protection */

bool shoal_html_has_protection(const shoal_result *result) { return result->n_models > 0; }

static void add_model(const shoal_result *r, const shoal_model_outcome *m, shoal_text *text) {
  shoal_text_add(text, "<tr><th scope=\"row\">");
  shoal_html_add(text, m->model);
  if (m->attribute) {
    shoal_text_add(text, " on ");
    shoal_html_add(text, m->attribute);
  }
  shoal_text_print(text, "<br><span class=\"dim small\" style=\"font-weight:400\">");
  shoal_html_add(text, m->summary);
  shoal_text_print(text, "</span></th><td class=\"num\">%s ", m->at_most ? "at most" : "at least");
  shoal_html_number(text, m->required);
  shoal_text_add(text, "</td><td class=\"num\">");
  shoal_html_number(text, m->reached);
  shoal_text_add(text, "</td><td>");
  shoal_html_verdict(text, m->holds, m->holds ? "holds" : "broken");
  if (!m->holds) {
    shoal_text_add(text, "<br><span class=\"small\">");
    shoal_html_people(text, m->breaking_rows, r->k);
    shoal_text_add(text, " records</span>");
  }
  shoal_text_add(text, "</td></tr>\n");
}

void shoal_html_protection(const shoal_result *r, shoal_text *text) {
  shoal_text_print(text,
                   "<p>A class is all records that are equal in every quasi-identifier. %s</p>\n",
                   r->kind == SHOAL_RESULT_RELEASE
                       ? "Reached is what the weakest class of the release has, verified on the "
                         "written file."
                       : "Reached is what the weakest class has.");
  shoal_text_add(text, "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Model</th>"
                       "<th scope=\"col\" class=\"num\">Asked for</th>"
                       "<th scope=\"col\" class=\"num\">Reached</th>"
                       "<th scope=\"col\">Verdict</th></tr></thead>\n<tbody>\n");
  for (size_t i = 0; i < r->n_models; i++) add_model(r, &r->models[i], text);
  shoal_text_add(text, "</tbody></table></div>\n");
}

/* ------------------------------------------------------------ risk */

enum { LABEL_BYTES = 48, RULE_BYTES = 64 };

bool shoal_html_has_risk(const shoal_result *result) { return result->sizes_before.n_classes > 0; }

/* "1 (unique)", "5 to 10", "20 and more" */
static void print_sizes(const shoal_size_row *row, char *out) {
  if (!row->high) (void)snprintf(out, LABEL_BYTES, "%llu and more", (unsigned long long)row->low);
  else if (row->low == row->high)
    (void)snprintf(out, LABEL_BYTES, "%llu%s", (unsigned long long)row->low,
                   row->low == 1 ? " (unique)" : "");
  else
    (void)snprintf(out, LABEL_BYTES, "%llu to %llu", (unsigned long long)row->low,
                   (unsigned long long)row->high);
}

static void draw_sizes(const shoal_result *r, const shoal_size_row *rows, size_t n, bool released,
                       shoal_text *text) {
  shoal_chart_bar bars[SHOAL_SIZE_BINS];
  char labels[SHOAL_SIZE_BINS][LABEL_BYTES], rules[SHOAL_SIZE_BINS][RULE_BYTES];
  for (size_t i = 0; i < n; i++) {
    print_sizes(&rows[i], labels[i]);
    bars[i] = (shoal_chart_bar){.label = labels[i], .values = {rows[i].before, rows[i].after}};
    for (const shoal_threshold *t = shoal_thresholds(); t->name; t++) {
      if (t->class_size != rows[i].low) continue;
      (void)snprintf(rules[i], RULE_BYTES, "\xe2\x86\x91 risk above %s", t->name);
      bars[i].rule = rules[i];
    }
  }
  shoal_chart chart = {.title = "Records by the size of their class",
                       .description = "The numbers stand beside the bars; each dashed line is a "
                                      "named limit of risk.",
                       .axis = "records",
                       .series = {released ? "before" : "records", "after"},
                       .totals = {r->sizes_before.n_records, r->sizes_after.n_records},
                       .n_series = released ? 2 : 1,
                       .bars = bars,
                       .n_bars = n};
  shoal_text_add(text, "<h3>Records by the size of their class</h3>\n<div class=\"keep\">\n");
  shoal_chart_bars(&chart, text);
  shoal_text_add(text, "</div>\n");
}

static void add_figures(const shoal_sizes *sizes, int what, shoal_text *text) {
  shoal_text_add(text, "<td class=\"num\">");
  double classes = (double)sizes->n_classes, records = (double)sizes->n_records;
  if (!sizes->n_classes) shoal_text_add(text, "\xe2\x80\x93");
  else if (what == 0) shoal_text_print(text, "%.3g", 1.0 / (double)sizes->smallest);
  else if (what == 1) shoal_text_print(text, "%.3g", classes / records);
  else shoal_text_add_count(text, sizes->n_classes);
  shoal_text_add(text, "</td>");
}

static void add_threshold(const shoal_result *r, const shoal_threshold *t,
                          const shoal_size_row *rows, size_t n, bool released, shoal_text *text) {
  uint64_t below[2];
  bool known = shoal_sizes_below(rows, n, t->class_size, &below[0], &below[1]);
  const uint64_t totals[2] = {r->sizes_before.n_records, r->sizes_after.n_records};
  shoal_text_print(text,
                   "<tr><th scope=\"row\">Records at a risk above %s<br><span class=\"dim small\" "
                   "style=\"font-weight:400\">%s</span></th>",
                   t->name, t->source);
  for (size_t s = 0; s < (released ? 2 : 1); s++) {
    shoal_text_add(text, "<td class=\"num\">");
    if (known) {
      shoal_html_people(text, below[s], r->k);
      if (below[s] >= r->k && totals[s])
        shoal_text_print(text, "<br><span class=\"dim small\">%.1f%%</span>",
                         100.0 * (double)below[s] / (double)totals[s]);
    } else {
      shoal_text_add(text, "not told");
    }
    shoal_text_add(text, "</td>");
  }
  shoal_text_add(text, "</tr>\n");
}

/* ------------------------------------------------------------ what classes tell */

static void add_pair(const char *name, const char *meaning, double before, double after,
                     shoal_text *text) {
  shoal_text_print(text,
                   "<tr><th scope=\"row\">%s<br><span class=\"dim small\" "
                   "style=\"font-weight:400\">%s</span></th><td class=\"num\">%.4g</td>"
                   "<td class=\"num\">%.4g</td></tr>\n",
                   name, meaning, before, after);
}

static void add_learning(const shoal_result *r, const shoal_attribute_risk *a, shoal_text *text) {
  const shoal_attribute_risk_side *before = &a->before, *after = &a->after;
  shoal_text_add(text, "<h3>Risk of learning ");
  shoal_html_add(text, a->name);
  shoal_text_add(text, "</h3>\n<p>Who knows in which class a person is learns what the class "
                       "tells.</p>\n<div class=\"scroll\"><table>\n<thead><tr>"
                       "<th scope=\"col\">In the classes</th>"
                       "<th scope=\"col\" class=\"num\">Before</th>"
                       "<th scope=\"col\" class=\"num\">After</th></tr></thead>\n<tbody>\n"
                       "<tr><th scope=\"row\">Records in classes with a single value<br>"
                       "<span class=\"dim small\" style=\"font-weight:400\">it is known of all in "
                       "them</span></th><td class=\"num\">");
  shoal_html_people(text, before->n_rows[0], r->k);
  shoal_text_add(text, "</td><td class=\"num\">");
  shoal_html_people(text, after->n_rows[0], r->k);
  shoal_text_add(text, "</td></tr>\n");
  add_pair("Fewest different values", "in any class", (double)before->least_distinct,
           (double)after->least_distinct, text);
  add_pair("Largest share of one value", "how sure a guess can be in the worst class",
           before->largest_share, after->largest_share, text);
  add_pair("Mean share of the most frequent value", "the same over all records", before->mean_share,
           after->mean_share, text);
  add_pair("Largest distance from the whole table", "0 to 1: what a class tells beyond the table",
           before->largest_distance, after->largest_distance, text);
  shoal_text_add(text, "</tbody></table></div>\n");
}

static void add_population(const shoal_result *r, shoal_text *text) {
  const shoal_population_risk *p = &r->risk->population;
  shoal_text_add(text, "<h3>Against a population of ");
  shoal_text_add_count(text, p->population_rows);
  shoal_text_print(text,
                   "</h3>\n<p>An intruder who does not know who is in the data (journalist) is "
                   "right about the worst record with the chance %.3g, on average %.3g; of all "
                   "records, %.3g are expected to be matched right (marketer). ",
                   p->highest, p->average, p->marketer);
  shoal_html_people(text, p->population_unique_rows, r->k);
  shoal_text_add(text, " released records fit one person only.</p>\n");
}

void shoal_html_risk(const shoal_result *r, shoal_text *text) {
  static const char *const figures[] = {
      "Highest risk<br><span class=\"dim small\" style=\"font-weight:400\">1 / smallest "
      "class</span>",
      "Average risk<br><span class=\"dim small\" style=\"font-weight:400\">classes / "
      "records</span>",
      "Classes"};
  bool released = r->sizes_after.n_classes > 0;
  shoal_size_row rows[SHOAL_SIZE_BINS];
  size_t n = shoal_sizes_rows(&r->sizes_before, &r->sizes_after, r->k, rows);
  shoal_text_add(text, "<p>Someone who knows all quasi-identifiers of a person in the table and "
                       "looks for the row picks the right one with the chance 1 / size of the "
                       "class (prosecutor risk).");
  if (released)
    shoal_text_add(text, " Before is the table as it was, without the columns that name a "
                         "person.");
  shoal_text_add(text,
                 "</p>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Risk</th>");
  shoal_text_add(text, released ? "<th scope=\"col\" class=\"num\">Before</th>"
                                  "<th scope=\"col\" class=\"num\">After</th>"
                                : "<th scope=\"col\" class=\"num\">Table</th>");
  shoal_text_add(text, "</tr></thead>\n<tbody>\n");
  for (int what = 0; what < 3; what++) {
    shoal_text_print(text, "<tr><th scope=\"row\">%s</th>", figures[what]);
    add_figures(&r->sizes_before, what, text);
    if (released) add_figures(&r->sizes_after, what, text);
    shoal_text_add(text, "</tr>\n");
  }
  for (size_t t = SHOAL_N_THRESHOLDS; t-- > 0;)
    add_threshold(r, &shoal_thresholds()[t], rows, n, released, text);
  shoal_text_add(text, "</tbody></table></div>\n");
  draw_sizes(r, rows, n, released, text);
  if (r->k > 1)
    shoal_text_print(text,
                     "<p class=\"dim small\">Numbers of 1 to %llu people are not told: sizes are "
                     "joined where there would be so few.</p>\n",
                     (unsigned long long)(r->k - 1));
  for (size_t i = 0; r->risk && i < r->risk->n_attributes; i++)
    add_learning(r, &r->risk->attributes[i], text);
  if (r->risk && r->risk->has_population) add_population(r, text);
}
