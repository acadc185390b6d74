/* SPDX-License-Identifier: Apache-2.0 */
/* report/html_utility: of a page: what the release is still good for. */
#include <math.h>

#include "report/html.h"
#include "report/utility.h"

bool shoal_html_has_utility(const shoal_result *result) { return result->measures != NULL; }

static void add_value(shoal_text *text, double x) {
  shoal_text_add(text, "<td class=\"num\">");
  if (isnan(x)) shoal_text_add(text, "\xe2\x80\x93");
  else shoal_html_number(text, x);
  shoal_text_add(text, "</td>");
}

static void add_figures(const shoal_measures *m, shoal_text *text) {
  shoal_text_add(text, "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Measure</th>"
                       "<th scope=\"col\" class=\"num\">Value</th></tr></thead>\n<tbody>\n");
  for (const shoal_utility_figure *f = shoal_utility_figures(); f->key; f++) {
    shoal_text_print(text,
                     "<tr><th scope=\"row\">%s<br><span class=\"dim small\" "
                     "style=\"font-weight:400\">%s</span></th>",
                     f->title, f->meaning);
    add_value(text, shoal_utility_value(m, f));
    shoal_text_add(text, "</tr>\n");
  }
  shoal_text_add(text, "</tbody></table></div>\n");
}

static void add_queries(const shoal_query_error *q, shoal_text *text) {
  shoal_text_add(text, "<h3>Counting with it</h3>\n<p>");
  shoal_html_counted(text, q->n_queries, "random question", "random questions");
  shoal_text_print(
      text,
      " of the kind \xe2\x80\x9chow many people have these values?\xe2\x80\x9d were asked of both "
      "tables, over %u quasi-identifiers each and %.3g%% of the rows on average. Half "
      "of the answers from the release are at most <b>%.1f%%</b> off, on average "
      "<b>%.1f%%</b>, at worst %.0f%%.</p>\n",
      q->dimensions, 100 * q->mean_selected, 100 * q->median, 100 * q->mean, 100 * q->worst);
}

static void add_columns(const shoal_measures *m, shoal_text *text) {
  shoal_text_add(text, "<h3>Column by column</h3>\n<div class=\"scroll\"><table>\n<caption>Loss: 0 "
                       "nothing, 1 everything. Moved: how far the distribution is from that of "
                       "the original (total variation, earth mover), 0 to 1, with each label "
                       "spread evenly over its values.</caption>\n<thead><tr>"
                       "<th scope=\"col\">Column</th><th scope=\"col\" class=\"num\">Loss</th>"
                       "<th scope=\"col\" class=\"num\">NCP</th>"
                       "<th scope=\"col\" class=\"num\">Moved (TV)</th>"
                       "<th scope=\"col\" class=\"num\">Moved (EM)</th></tr></thead>\n<tbody>\n");
  for (size_t i = 0; i < m->n_attributes; i++) {
    const shoal_attribute_measure *a = &m->attributes[i];
    shoal_text_add(text, "<tr><th scope=\"row\">");
    shoal_html_add(text, a->name);
    shoal_text_add(text, "</th>");
    add_value(text, a->quasi ? a->loss : NAN);
    add_value(text, a->quasi ? a->ncp : NAN);
    add_value(text, a->variation);
    add_value(text, a->earth_mover);
    shoal_text_add(text, "</tr>\n");
  }
  shoal_text_add(text, "</tbody></table></div>\n");
}

static void add_associations(const shoal_measures *m, shoal_text *text) {
  if (!m->n_associations) return;
  shoal_text_add(text, "<h3>What belongs together</h3>\n<div class=\"scroll\"><table>\n"
                       "<caption>Cramer\xe2\x80\x99s V: 0 no association, 1 complete.</caption>\n"
                       "<thead><tr><th scope=\"col\">Columns</th>"
                       "<th scope=\"col\" class=\"num\">Before</th>"
                       "<th scope=\"col\" class=\"num\">After</th></tr></thead>\n<tbody>\n");
  for (size_t i = 0; i < m->n_associations; i++) {
    shoal_text_add(text, "<tr><th scope=\"row\">");
    shoal_html_add(text, m->associations[i].quasi);
    shoal_text_add(text, " and ");
    shoal_html_add(text, m->associations[i].sensitive);
    shoal_text_add(text, "</th>");
    add_value(text, m->associations[i].before);
    add_value(text, m->associations[i].after);
    shoal_text_add(text, "</tr>\n");
  }
  shoal_text_add(text, "</tbody></table></div>\n");
}

void shoal_html_utility(const shoal_result *result, shoal_text *text) {
  const shoal_measures *m = result->measures;
  shoal_text_add(text, "<p>Measured on the written file against the table that it was made "
                       "from.</p>\n");
  add_figures(m, text);
  if (m->has_queries && m->queries.n_queries > m->queries.n_skipped) add_queries(&m->queries, text);
  add_columns(m, text);
  add_associations(m, text);
}
