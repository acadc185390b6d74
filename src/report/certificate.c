/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/certificate: the page that may be published with a release. It looks like the internal
 * report (html.c) and uses its parts, but shows only what shoal_certificate_report has, the verdict
 * and the size of the release. No number of people from 1 to k - 1 is shown. What a recipient
 * cannot compute again is marked.
 */
#include "report/certificate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/html.h"
#include "report/render.h"

/* ------------------------------------------------------------ suppressed rows */

static const uint64_t MIN_UNIT = 10;

/* Rounded down to two significant digits. */
static uint64_t two_digits(uint64_t n) {
  uint64_t step = 1;
  while (n / step >= 100) step *= 10;
  return n / step * step;
}

shoal_left_out shoal_left_out_of(uint64_t n_rows, uint64_t k) {
  shoal_left_out left_out = {.kind = SHOAL_LEFT_OUT_NONE, .unit = k > MIN_UNIT ? k : MIN_UNIT};
  if (!n_rows) return left_out;
  left_out.kind = n_rows < left_out.unit ? SHOAL_LEFT_OUT_FEW : SHOAL_LEFT_OUT_ROUNDED;
  if (left_out.kind == SHOAL_LEFT_OUT_ROUNDED)
    left_out.rows = two_digits(n_rows / left_out.unit * left_out.unit);
  return left_out;
}

bool shoal_left_out_parse(const char *text, uint64_t k, shoal_left_out *left_out) {
  uint64_t n = 0;
  size_t digits = strspn(text, "0123456789");
  *left_out = shoal_left_out_of(strcmp(text, "few") == 0, k);
  if (strcmp(text, "few") == 0 || strcmp(text, "none") == 0) return true;
  if (!digits || text[digits] || digits > 18) return false;
  for (size_t i = 0; i < digits; i++) n = n * 10 + (uint64_t)(text[i] - '0');
  *left_out = shoal_left_out_of(n, k);
  return true;
}

void shoal_left_out_argument(const shoal_left_out *left_out, char out[SHOAL_LEFT_OUT_BYTES]) {
  uint64_t rows = left_out->rows, unit = left_out->unit;
  if (left_out->kind == SHOAL_LEFT_OUT_ROUNDED) {
    if (two_digits(rows / unit * unit) != rows) rows = (rows + unit - 1) / unit * unit;
    (void)snprintf(out, SHOAL_LEFT_OUT_BYTES, "%llu", (unsigned long long)rows);
  } else {
    (void)snprintf(out, SHOAL_LEFT_OUT_BYTES, "%s",
                   left_out->kind == SHOAL_LEFT_OUT_NONE ? "none" : "few");
  }
}

/* ------------------------------------------------------------ parts */

static void add_stated(shoal_text *text) {
  shoal_text_add(text, " <span class=\"tag\">stated by the publisher</span>");
}

static void add_small(const char *words, shoal_text *text) {
  shoal_text_print(text, "<br><span class=\"dim small\" style=\"font-weight:400\">%s</span>",
                   words);
}

static void begin_tile(shoal_text *text) { shoal_text_add(text, "<div class=\"tile\"><b>"); }

static void end_tile(const char *markup, shoal_text *text) {
  shoal_text_add(text, "</b><span>");
  shoal_text_add(text, markup);
  shoal_text_add(text, "</span></div>\n");
}

/* "1 in 5"; "more than 1 in 5" if the smallest class is below k; "at most 1 in 5", as stated, if k
 * counts people. */
static void add_highest_risk(const shoal_result *r, shoal_text *text) {
  uint64_t smallest = r->certificate->sizes.smallest;
  bool stated = r->certificate->people_stated;
  if (smallest < r->k) shoal_text_add(text, "more than ");
  else if (stated) shoal_text_add(text, "at most ");
  shoal_text_print(text, "1 in %s",
                   shoal_say_count(smallest < r->k || stated ? r->k : smallest).text);
}

/* ------------------------------------------------------------ verdict */

static void write_verdict(const shoal_result *r, shoal_text *text) {
  const shoal_certificate_report *c = r->certificate;
  shoal_verdict_html(r, "The verdict covers what the release and the policy show.", text);
  shoal_text_add(text, "<div class=\"tiles\">\n");
  begin_tile(text);
  shoal_text_print(text, "%s", shoal_say_count(r->input_rows).text);
  end_tile("rows released", text);
  begin_tile(text);
  /* "no", "1 to 9", "about 1,200": before "rows suppressed" */
  const shoal_left_out *left_out = &c->left_out;
  if (left_out->kind == SHOAL_LEFT_OUT_NONE) {
    shoal_text_add(text, "no");
  } else if (left_out->kind == SHOAL_LEFT_OUT_FEW) {
    shoal_text_print(text, "1 to %s", shoal_say_count(left_out->unit - 1).text);
  } else {
    shoal_text_print(text, "about %s", shoal_say_count(left_out->rows).text);
  }
  end_tile("rows suppressed <i>(stated by the publisher)</i>", text);
  begin_tile(text);
  shoal_text_print(text, "%s", shoal_say_hidden(c->sizes.smallest, r->k).text);
  end_tile("rows in the smallest class", text);
  begin_tile(text);
  add_highest_risk(r, text);
  end_tile(c->people_stated ? "highest risk of a person <i>(stated by the publisher)</i>"
                            : "highest risk of being found",
           text);
  shoal_text_print(text,
                   "</div>\n<p>This certificate is about the file with the SHA-256 hash <code "
                   "class=\"hash\">%s</code> (%s). It was computed from that file, the policy "
                   "below and the rounded number of suppressed rows, and from nothing else. It "
                   "contains nothing of the original table",
                   c->sha256, shoal_say_counted(c->size_bytes, "byte", "bytes").text);
  shoal_text_add(text, r->holds ? " and may be published with the release.</p>\n" : ".</p>\n");
}

/* ------------------------------------------------------------ protection */

static void add_model(const shoal_result *r, const shoal_model_outcome *m, shoal_text *text) {
  shoal_html_model(text, m->model, m->attribute, &m->over, m->summary);
  shoal_text_print(text, "<td class=\"num\">%s %s</td><td class=\"num\">",
                   m->is_rule   ? ""
                   : m->at_most ? "at most"
                                : "at least",
                   shoal_say_rounded(m->required).text);
  if (!m->is_rule) {
    /* A class size below the required one is a number of people below k. */
    bool hidden = m->is_size && !m->holds;
    if (hidden) shoal_text_add(text, "fewer than ");
    shoal_text_print(text, "%s", shoal_say_rounded(hidden ? m->required : m->reached).text);
  }
  shoal_text_add(text, "</td><td>");
  shoal_html_verdict(text, m->holds, m->holds ? "holds" : "violated");
  if (!m->holds)
    shoal_text_print(text, "<br><span class=\"small\">by %s rows</span>",
                     shoal_say_hidden(m->breaking_rows, r->k).text);
  shoal_text_add(text, "</td></tr>\n");
}

static void add_stated_model(const shoal_stated_model *m, shoal_text *text) {
  shoal_html_model(text, m->model, m->attribute, &m->over, m->summary);
  shoal_text_print(text,
                   "<td class=\"num\">%s</td><td class=\"num\">\xe2\x80\x93</td><td>held when the "
                   "release was made",
                   m->parameters);
  add_stated(text);
  shoal_text_add(text, "</td></tr>\n");
}

static void write_protection(const shoal_result *r, shoal_text *text) {
  const shoal_certificate_report *c = r->certificate;
  shoal_text_add(text, "<p>Rows that are equal in every quasi-identifier form a class. Someone who "
                       "knows these columns of a person cannot tell the rows of a class apart. "
                       "<b>Required</b> is what the policy asks of each class, <b>reached</b> is "
                       "the value of the weakest class of the release.</p>\n");
  SHOAL_HTML_TABLE(text, NULL, NULL, "Model", "#Required", "#Reached", "Verdict");
  for (size_t i = 0; i < c->models.n_items; i++) add_model(r, &c->models.items[i], text);
  for (size_t i = 0; i < c->n_stated; i++) add_stated_model(&c->stated[i], text);
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
}

/* ------------------------------------------------------------ columns */

static void add_column(const shoal_certificate_column *column, shoal_text *text) {
  shoal_text_print(text, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s", column->name,
                   column->role, column->done);
  if (column->example) shoal_text_print(text, ", for example <code>%s</code>", column->example);
  if (column->stated) add_stated(text);
  shoal_text_add(text, "</td><td class=\"num\">");
  if (!column->quasi || isnan(column->loss)) shoal_text_add(text, "\xe2\x80\x93");
  else shoal_text_print(text, "%.1f%%", 100 * column->loss);
  shoal_text_add(text, "</td></tr>\n");
}

static void write_columns(const shoal_result *r, shoal_text *text) {
  const shoal_certificate_report *c = r->certificate;
  shoal_text_add(text, "<p>Levels and intervals are read from the labels in the release. Loss is "
                       "the share of detail that the labels no longer show (0% nothing, 100% "
                       "everything); numbers are compared with the range in the release.</p>\n");
  SHOAL_HTML_TABLE(text, NULL, NULL, "Column", "Role", "In the release", "#Loss");
  for (size_t i = 0; i < c->n_columns; i++) add_column(&c->columns[i], text);
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
  if (!isnan(c->loss))
    shoal_text_print(text, "<p>Mean loss of the quasi-identifiers: <b>%.1f%%</b>.</p>\n",
                     100 * c->loss);
}

/* ------------------------------------------------------------ risk */

static void write_risk(const shoal_result *r, shoal_text *text) {
  const shoal_class_sizes *sizes = &r->certificate->sizes;
  shoal_text_add(text,
                 "<p>Someone who knows all quasi-identifiers of a person, and that the person "
                 "is in the release, picks the right row with probability 1 / class size "
                 "(prosecutor risk).</p>\n");
  if (r->certificate->people_stated)
    shoal_text_add(text, "<p>A person may have several rows. The highest risk follows from the "
                         "number of people that the policy requires of each class; the other "
                         "figures count rows.</p>\n");
  shoal_text_add(text, "<div class=\"scroll\"><table>\n<tbody>\n"
                       "<tr><th scope=\"row\">Highest risk");
  add_small(r->certificate->people_stated ? "of a person" : "of a row in the smallest class", text);
  shoal_text_add(text, "</th><td class=\"num\">");
  add_highest_risk(r, text);
  shoal_text_add(text, "</td></tr>\n<tr><th scope=\"row\">Average risk");
  add_small("classes / rows", text);
  shoal_text_print(text,
                   "</th><td class=\"num\">%.2g%%</td></tr>\n<tr><th scope=\"row\">Classes</th><td "
                   "class=\"num\">%s</td></tr>\n</tbody></table></div>\n",
                   sizes->n_records ? 100 * (double)sizes->n_classes / (double)sizes->n_records
                                    : 0.0,
                   shoal_say_count(sizes->n_classes).text);
  shoal_html_sizes(sizes, r->k, text);
}

/* ------------------------------------------------------------ attacks */

static void write_attacks(const shoal_result *r, shoal_text *text) {
  if (!r->certificate->attacks.n_items) {
    shoal_text_add(text, "<p>The policy names no sensitive column, so there is nothing that these "
                         "attacks could learn.</p>\n");
    return;
  }
  if (r->has_people && !r->input_people)
    shoal_text_add(text, "<p>A person may have several rows, and the release does not say which: "
                         "these attacks count rows.</p>\n");
  shoal_html_attacks(r, text);
}

/* ------------------------------------------------------------ limits, policy, verification */

static void write_limits(const shoal_result *r, shoal_text *text) {
  const shoal_certificate_report *c = r->certificate;
  shoal_text_add(text,
                 "<p>The verdict covers only what the release and the policy show. Not judged "
                 "here:</p>\n<ul>\n");
  for (size_t i = 0; i < c->n_notes; i++) {
    shoal_text_print(text, "<li>%s", c->notes[i].words);
    if (c->notes[i].stated) add_stated(text);
    shoal_text_add(text, "</li>\n");
  }
  shoal_text_add(text, "</ul>\n");
}

static void write_policy(const shoal_result *r, shoal_text *text) {
  shoal_text_add(text, "<p>The settings that the release was made with, in a fixed order. Settings "
                       "with their default value, comments and the seed are left out. Files are "
                       "named without their directories. Of trees and lists only labels that occur "
                       "in the release are shown. That the release was made with this policy is");
  add_stated(text);
  shoal_text_add(text, ".</p>\n<pre class=\"policy\"><code>");
  for (const char *line = r->certificate->policy; *line;) {
    size_t size = strcspn(line, "\n"); /* every line ends with one */
    shoal_text_print(text, "%.*s\n", (int)size, line);
    line += size + 1;
  }
  shoal_text_add(text, "</code></pre>\n");
}

static void write_verify(const shoal_result *r, shoal_text *text) {
  char argument[SHOAL_LEFT_OUT_BYTES];
  shoal_left_out_argument(&r->certificate->left_out, argument);
  shoal_text_print(
      text,
      "<ol>\n<li><code>sha256sum RELEASE</code> must print the hash above.</li>\n"
      "<li>With the policy and its files, shoal " SHOAL_VERSION " makes this page again, byte for "
      "byte: <code>shoal certificate RELEASE -P POLICY --left-out %s -o again.html</code>. The "
      "policy above has all settings that were used. If POLICY has others, give them as options, "
      "for example <code>-k</code>.</li>\n</ol>\n",
      argument);
}

static void write_sign(const shoal_result *r, shoal_text *text) {
  (void)r;
  shoal_text_add(text, "<p>Everything that is marked");
  add_stated(text);
  shoal_text_add(text, " is stated by:</p>\n<div class=\"fields\">\n"
                       "<div class=\"field\">Name and office</div>\n"
                       "<div class=\"field\">Place, date and signature</div>\n</div>\n");
}

static const struct {
  const char *id, *title;
  void (*write)(const shoal_result *result, shoal_text *text);
} sections[] = {
    {"verdict", "Verdict", write_verdict},
    {"protection", "Protection required and reached", write_protection},
    {"columns", "The columns", write_columns},
    {"risk", "Re-identification risk", write_risk},
    {"attacks", "Attacks", write_attacks},
    {"limits", "What the release does not show", write_limits},
    {"policy", "The policy", write_policy},
    {"verify", "How to verify this certificate", write_verify},
    {"sign", "The publisher", write_sign},
};

void shoal_render_certificate(const shoal_result *result, shoal_text *text) {
  shoal_html_head("Release certificate", NULL, text);
  shoal_chart_patterns(text);
  shoal_text_add(text, "<header>\n<h1>Release certificate</h1>\n<p class=\"dim\">What was done to "
                       "protect the people in this release, and what can be checked.</p>\n"
                       "</header>\n<main>\n");
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
    shoal_html_section(sections[i].id, sections[i].title, sections[i].write, result, text);
  shoal_html_foot(text);
}

/* ------------------------------------------------------------ text and JSON */

void shoal_certificate_text(const shoal_result *r, shoal_text *text) {
  shoal_verdict_text(r, text);
  for (size_t i = 0; i < r->certificate->models.n_items; i++) {
    const shoal_model_outcome *m = &r->certificate->models.items[i];
    if (!m->holds)
      shoal_text_print(text, "  %s%s%s does not hold\n", m->model, m->attribute ? " on " : "",
                       m->attribute ? m->attribute : "");
  }
}

json_t *shoal_certificate_json(const shoal_result *r, shoal_json *json) {
  json_t *root = json_object();
  char argument[SHOAL_LEFT_OUT_BYTES];
  shoal_left_out_argument(&r->certificate->left_out, argument);
  SHOAL_PUT(json, root, K("shoal", SHOAL_VERSION), K("command", "certificate"));
  shoal_verdict_json(r, root, json);
  SHOAL_PUT(json, root, K("rows", r->input_rows), K("left_out", argument),
            K("sha256", r->certificate->sha256));
  return root;
}
