/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/html_sections: page sections: utility, attacks, how to repeat the run, and the sign-off
 * form. No number of people from 1 to k - 1 is shown.
 */
#include <math.h>
#include <stdio.h>

#include "report/html.h"
#include "report/render.h"

/* ------------------------------------------------------------ utility */

static void add_value(shoal_text *text, double x) {
  shoal_text_add(text, "<td class=\"num\">");
  if (isnan(x)) shoal_text_add(text, "\xe2\x80\x93");
  else shoal_text_print(text, "%s", shoal_say_rounded(x).text);
  shoal_text_add(text, "</td>");
}

static void add_figures(const shoal_measures *m, shoal_text *text) {
  SHOAL_HTML_TABLE(text, NULL, NULL, "Measure", "#Value");
  for (const shoal_utility_figure *f = shoal_utility_figures(); f->key; f++) {
    shoal_html_row(text, f->title, f->meaning);
    add_value(text, shoal_utility_value(m, f));
    shoal_text_add(text, "</tr>\n");
  }
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
}

static void add_queries(const shoal_query_error *q, shoal_text *text) {
  shoal_text_print(
      text,
      "<h3>Count queries</h3>\n<p>%s (\xe2\x80\x9chow many rows have these values?\xe2\x80\x9d) "
      "were run on both tables, over %u quasi-identifiers each and %.3g%% of the rows on average. "
      "Half of the answers from the release have an error of at most <b>%.1f%%</b>; the mean error "
      "is <b>%.1f%%</b>, the largest %.0f%%.</p>\n",
      shoal_say_counted(q->n_queries, "random query", "random queries").text, q->dimensions,
      100 * q->mean_selected, 100 * q->spread.median, 100 * q->spread.mean, 100 * q->spread.worst);
}

static void add_columns(const shoal_measures *m, shoal_text *text) {
  shoal_text_add(text, "<h3>Column by column</h3>\n");
  SHOAL_HTML_TABLE(text, NULL,
                   "Loss: 0 nothing, 1 everything. Moved: distance of the distribution from that "
                   "of the original (total variation, earth mover), 0 to 1, with each label spread "
                   "evenly over its values.",
                   "Column", "#Loss", "#NCP", "#Moved (TV)", "#Moved (EM)");
  for (size_t i = 0; i < m->n_attributes; i++) {
    const shoal_attribute_measure *a = &m->attributes[i];
    shoal_text_print(text, "<tr><th scope=\"row\">%s</th>", a->name);
    add_value(text, a->quasi ? a->loss : NAN);
    add_value(text, a->quasi ? a->ncp : NAN);
    add_value(text, a->variation);
    add_value(text, a->earth_mover);
    shoal_text_add(text, "</tr>\n");
  }
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
}

static void add_associations(const shoal_measures *m, shoal_text *text) {
  if (!m->n_associations) return;
  shoal_text_add(text, "<h3>Associations</h3>\n");
  SHOAL_HTML_TABLE(text, NULL, "Cramer\xe2\x80\x99s V: 0 no association, 1 complete.", "Columns",
                   "#Before", "#After");
  for (size_t i = 0; i < m->n_associations; i++) {
    shoal_text_print(text, "<tr><th scope=\"row\">%s and %s</th>", m->associations[i].quasi,
                     m->associations[i].sensitive);
    add_value(text, m->associations[i].before);
    add_value(text, m->associations[i].after);
    shoal_text_add(text, "</tr>\n");
  }
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
}

void shoal_html_utility(const shoal_result *result, shoal_text *text) {
  const shoal_measures *m = shoal_result_measured(result).utility;
  shoal_text_add(text, "<p>Measured on the written file against the original table.</p>\n");
  add_figures(m, text);
  if (m->has_queries && m->queries.n_queries > m->queries.n_skipped) add_queries(&m->queries, text);
  add_columns(m, text);
  add_associations(m, text);
}

/* ------------------------------------------------------------ attacks */

static void add_verdict(const shoal_attack_outcome *a, shoal_text *text) {
  if (a->not_run) {
    shoal_text_add(text, "<span class=\"dim\">not run</span>");
  } else if (a->risk) {
    shoal_text_print(text, "<span class=\"note\">risk: %s</span>", a->risk);
  } else if (a->untested) {
    shoal_text_add(text, "<span class=\"note\">! untested</span>");
  } else if (!a->succeeds) {
    shoal_html_verdict(text, true, "withstood");
  } else if (a->counts) {
    shoal_html_verdict(text, false, "succeeds");
  } else {
    shoal_text_add(text, "<span class=\"note\">! succeeds; no protection promised</span>");
  }
}

/* "12 rows learned with certainty"; nothing where it is 0. */
static void add_line(const shoal_attack_outcome *a, uint64_t n, uint64_t k, const char *what,
                     shoal_text *text) {
  if (!n) return;
  shoal_text_print(text, "<li>%s %s %s</li>\n", shoal_say_hidden(n, k).text,
                   a->by_people ? "people" : "rows", what);
}

static void add_example(const shoal_result *r, const shoal_attack_sight *e, shoal_text *text) {
  shoal_text_add(text, "<li>for example ");
  bool any = false;
  for (size_t q = 0; q < r->n_quasi; q++) {
    if (!e->labels[q]) continue;
    if (any) shoal_text_add(text, ", ");
    shoal_text_print(text, "%s <code>%s</code>", r->quasi[q], e->labels[q]);
    any = true;
  }
  if (!any) shoal_text_add(text, "a class with labels that may be raw");
  shoal_text_print(text, ": %s", shoal_say_rows(e->n_rows).text);
  if (e->probability > 0)
    shoal_text_print(text, ", the best guess has probability %.3g", e->probability);
  shoal_text_add(text, "</li>\n");
}

static void add_findings(const shoal_result *r, const shoal_attack_outcome *a, shoal_text *text) {
  char guessed[80], below[80];
  (void)shoal_print_double(guessed, sizeof guessed, "guessed with a probability above %.4g",
                           a->bound);
  (void)snprintf(below, sizeof below, "narrowed to fewer than %llu rows", (unsigned long long)r->k);
  shoal_text_add(text, "<ul class=\"plain small\">\n");
  if (a->by_people)
    shoal_text_print(text, "<li>%s of %s people match the release</li>\n",
                     shoal_say_hidden(a->n_matched, r->k).text,
                     shoal_say_hidden(a->n_tried, r->k).text);
  if (!a->reidentified && !a->certain && !a->untested)
    shoal_text_add(text, "<li>no one re-identified, nothing learned with certainty</li>\n");
  add_line(a, a->reidentified, r->k, "re-identified", text);
  add_line(a, a->certain, r->k, "learned with certainty", text);
  add_line(a, a->guessed, r->k, guessed, text);
  add_line(a, a->below_k, r->k, below, text);
  add_line(a, a->below_p, r->k, "narrowed to fewer distinct values than p", text);
  if (!(!a->measure || (a->by_people && !a->n_matched))) {
    shoal_text_print(text, "<li>%s: %s", a->measure, shoal_say_rounded(a->reached).text);
    if (a->required > 0)
      shoal_text_print(text, " at worst; the attack succeeds below %s",
                       shoal_say_rounded(a->required).text);
    shoal_text_add(text, "</li>\n");
  }
  if (a->n_examples && a->examples[0].n_rows >= r->k) add_example(r, &a->examples[0], text);
  shoal_text_add(text, "</ul>\n");
}

static void add_attack(const shoal_result *r, const shoal_attack_outcome *a, shoal_text *text) {
  shoal_text_print(text, "<tr><th scope=\"row\">%s", a->name);
  if (a->attribute) shoal_text_print(text, " on %s", a->attribute);
  if (a->ruled_out)
    shoal_text_print(text, ", %u value%s ruled out", a->ruled_out, a->ruled_out == 1 ? "" : "s");
  if (a->previous) shoal_text_print(text, " with <code>%s</code>", a->previous);
  shoal_text_add(text, "</th><td>");
  add_verdict(a, text);
  shoal_text_print(text, "</td><td><span class=\"dim small\">%s</span>\n",
                   a->not_run ? a->not_run : a->knowledge);
  if (a->note && !a->not_run) shoal_text_print(text, "<p class=\"small\">%s</p>\n", a->note);
  if (a->untested) shoal_text_print(text, "<p class=\"small\">%s</p>\n", a->untested);
  if (!a->not_run && !a->risk) add_findings(r, a, text);
  shoal_text_add(text, "</td></tr>\n");
}

void shoal_html_attacks(const shoal_result *r, shoal_text *text) {
  const shoal_attack_outcomes *attacks = shoal_result_attacks(r);
  if (!attacks) {
    shoal_text_add(text,
                   "<p>The attacks could not be simulated: the release lacks a column that they "
                   "read.</p>\n");
    return;
  }
  shoal_text_add(
      text, "<p>Each attack was simulated on the written file with the knowledge that is stated. "
            "Attacks against which the policy promises no protection are listed too.</p>\n");
  SHOAL_HTML_TABLE(text, "attacks", NULL, "Attack", "Verdict", "Knowledge and findings");
  for (size_t i = 0; i < attacks->n_items; i++) add_attack(r, &attacks->items[i], text);
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
}

/* ------------------------------------------------------------ to repeat the run, to sign */

void shoal_html_repeat(const shoal_result *result, shoal_text *text) {
  const shoal_html_report *page = result->page;
  shoal_text_add(text,
                 "<p>The same data, policy, settings, seed and version give the same files, byte "
                 "for byte. <code>sha256sum FILE</code> verifies that a file "
                 "is the one named here.</p>\n<div class=\"scroll\"><table>\n<tbody>\n"
                 "<tr><th scope=\"row\">shoal</th><td>version " SHOAL_VERSION "</td></tr>\n");
  for (size_t i = 0; i < page->n_settings; i++)
    shoal_text_print(text, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n",
                     page->settings[i].name,
                     page->settings[i].secret
                         ? "given, not shown here: anyone who has it can restore the input's "
                           "order of rows"
                         : page->settings[i].value);
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
  SHOAL_HTML_TABLE(text, NULL, NULL, "File", "SHA-256");
  for (size_t i = 0; i < page->n_files; i++)
    shoal_text_print(text,
                     "<tr><th scope=\"row\">%s<br><span class=\"dim small\" "
                     "style=\"font-weight:400\"><code>%s</code></span></th><td><code "
                     "class=\"hash\">%s</code></td></tr>\n",
                     page->files[i].use, page->files[i].name, page->files[i].sha256);
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
}

static const char ONE_ROW[] = "Every person has one row: the models count rows, not people.";
static const char ONE_KEY[] =
    "The columns with role person tell people apart: every person has one "
    "key, and no two people share it.";

/* NULL: about people and rows. */
static const char *const questions[] = {
    "Every column that identifies a person on its own is an identifier.",
    "Every column that an outsider may know about a person is a quasi-identifier.",
    "No kept column helps to identify a person or reveals sensitive information.",
    NULL,
    "Earlier releases about the same people were considered: two together reveal more.",
    "The protection is adequate for the recipients of the release.",
};

void shoal_html_sign(const shoal_result *result, shoal_text *text) {
  bool release = result->kind == SHOAL_RESULT_RELEASE;
  shoal_text_add(text, "<p>To be confirmed by a person:</p>\n<ul class=\"todo\">\n");
  for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
    shoal_text_print(text, "<li>%s</li>\n",
                     questions[i]         ? questions[i]
                     : result->has_people ? ONE_KEY
                                          : ONE_ROW);
  shoal_text_add(text, "</ul>\n<p><b>Decision</b></p>\n<ul class=\"todo\">\n");
  shoal_text_add(text, release ? "<li>Approved for release.</li>\n"
                                 "<li>Not approved.</li>\n"
                               : "<li>Accepted.</li>\n<li>To be repeated, see remarks.</li>\n");
  shoal_text_add(text, "</ul>\n<div class=\"fields\">\n<div class=\"field\">Name and office</div>\n"
                       "<div class=\"field\">Recipient of the data</div>\n"
                       "<div class=\"field\">Place and date</div>\n"
                       "<div class=\"field\">Signature</div>\n"
                       "<div class=\"field remarks\">Remarks</div>\n</div>\n");
}
