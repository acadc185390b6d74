/* SPDX-License-Identifier: Apache-2.0 */
/* report/html_release: page sections: summary, columns, sample rows, suppression, warnings. */
#include <string.h>

#include "report/html.h"

/* ------------------------------------------------------------ summary */

static void add_tile(shoal_text *text, uint64_t n, const char *words) {
  shoal_text_print(text, "<div class=\"tile\"><b>%s</b><span>%s</span></div>\n",
                   shoal_say_count(n).text, words);
}

static void add_risk_tile(shoal_text *text, uint64_t size) {
  shoal_text_add(text, "<div class=\"tile\"><b>");
  if (size) shoal_text_print(text, "%.3g", 1.0 / (double)size);
  else shoal_text_add(text, "none");
  shoal_text_add(text,
                 "</b><span>highest re-identification risk (1 / smallest class)</span></div>\n");
}

/* "sex, age and zip" */
static void add_names(const shoal_result *result, shoal_text *text) {
  for (size_t q = 0; q < result->n_quasi; q++) {
    if (q) shoal_text_add(text, q + 1 < result->n_quasi ? ", " : " and ");
    shoal_text_print(text, "<b>%s</b>", result->quasi[q]);
  }
}

static void add_policy(const shoal_result *result, shoal_text *text) {
  if (!result->page || !result->page->n_files) return;
  shoal_text_print(text, "under the policy <code>%s</code>", result->page->files[0].name);
}

static void summarize_release(const shoal_result *r, shoal_text *text) {
  shoal_verdict_html(r, "The written file was read again and verified.", text);
  shoal_text_add(text, "<div class=\"tiles\">\n");
  add_tile(text, r->release.output_rows, "records released");
  add_tile(text, r->release.suppressed, r->release.blanked ? "records blanked" : "records removed");
  bool people = r->release.fewest_people > 0;
  if (people) add_tile(text, r->release.fewest_people, "people in the class with fewest");
  else add_tile(text, r->release.smallest_class, "records in the smallest class");
  add_risk_tile(text, people ? r->release.fewest_people : r->release.smallest_class);
  shoal_text_print(text, "</div>\n<p>From %s with %s a release was made ",
                   shoal_say_counted(r->input_rows, "record", "records").text,
                   shoal_say_counted(r->input_columns, "column", "columns").text);
  add_policy(r, text);
  shoal_text_add(text, ". It has no identifiers. The quasi-identifiers (");
  add_names(r, text);
  shoal_text_print(
      text, ") were generalized: anyone who knows all of them about a person finds at least %s",
      shoal_say_counted(r->release.smallest_class, "record", "records").text);
  if (people)
    shoal_text_print(text, ", of at least %s",
                     shoal_say_counted(r->release.fewest_people, "person,", "people,").text);
  shoal_text_print(text, " that are equal in them, in %s in total.</p>\n",
                   shoal_say_classes(r->release.classes).text);
  if (r->release.method == SHOAL_METHOD_CLUSTERS && r->release.clusters.noise)
    shoal_text_print(text,
                     "<p>Among the released records %s, as the policy allows: they describe no "
                     "real person.</p>\n",
                     shoal_say_counted(r->release.clusters.noise, "is noise", "are noise").text);
  shoal_text_print(
      text,
      "<p>Release loss: <b>%.1f%%</b> (0%% nothing, 100%% everything). The generalized columns "
      "lost "
      "%.1f%% of their information, and %.1f%% of the records are in the release.</p>\n",
      100 * r->release.loss.release_loss, 100 * r->release.loss.nil,
      100 * r->release.loss.completeness);
}

/* Tiles, policy and quasi-identifiers of a table that was judged as it is. */
static void summarize_classes(const shoal_result *r, const shoal_class_sizes *sizes,
                              const char *rows, const char *done, shoal_text *text) {
  shoal_text_add(text, "<div class=\"tiles\">\n");
  add_tile(text, r->input_rows, rows);
  add_tile(text, sizes->n_classes, "classes");
  add_tile(text, sizes->smallest, "records in the smallest class");
  add_risk_tile(text, sizes->smallest);
  shoal_text_print(text, "</div>\n<p>%s ", done);
  add_policy(r, text);
  shoal_text_add(text, ". Records that are equal in ");
  add_names(r, text);
  shoal_text_add(text, " form a class.");
}

static void summarize_lattice(const shoal_result *r, shoal_text *text) {
  uint64_t satisfying = 0, minimal = 0;
  for (size_t i = 0; i < r->lattice.n_nodes; i++) {
    satisfying += r->lattice.nodes[i].satisfies;
    minimal += r->lattice.nodes[i].minimal;
  }
  bool yes = r->holds;
  const char *words = r->holds ? "Full-domain generalization can satisfy the policy."
                               : "No full-domain generalization satisfies the policy.";
  shoal_text_print(text, "<p class=\"banner %s\">%s %s</p>\n", yes ? "yes" : "no",
                   yes ? "\xe2\x9c\x93" : "\xe2\x9c\x97", words);
  shoal_text_add(text, "<div class=\"tiles\">\n");
  add_tile(text, r->input_rows, "records");
  add_tile(text, r->lattice.n_nodes, "nodes");
  add_tile(text, satisfying, "of them satisfy the policy");
  add_tile(text, minimal, "of these are minimal: no node below them does");
  shoal_text_add(text, "</div>\n<p>A node is one choice of a level for each of ");
  add_names(r, text);
  shoal_text_add(text, ". All nodes were evaluated ");
  add_policy(r, text);
  shoal_text_add(text, "; nothing was released.</p>\n");
}

void shoal_html_summary(const shoal_result *result, shoal_text *text) {
  if (result->kind == SHOAL_RESULT_RELEASE) summarize_release(result, text);
  else if (result->kind == SHOAL_RESULT_CHECK) {
    shoal_verdict_html(result,
                       result->holds ? "The table satisfies every model of the policy as it is."
                                     : "The table does not satisfy the policy as it is.",
                       text);
    summarize_classes(result, &result->check.sizes, "records", "The table was checked as it is,",
                      text);
    shoal_text_add(text, " Nothing was changed.</p>\n");
  } else if (result->kind == SHOAL_RESULT_ATTACK) {
    shoal_verdict_html(result,
                       result->holds ? "No attack exceeds what the policy allows."
                                     : "At least one attack exceeds what the policy allows.",
                       text);
    summarize_classes(result, &result->attack.sizes, "records in the release",
                      "The release was attacked", text);
    shoal_text_add(text, "</p>\n");
  } else if (result->kind == SHOAL_RESULT_MEASURE) {
    shoal_verdict_html(result, "The release was judged as it is.", text);
    shoal_text_add(text, "<div class=\"tiles\">\n");
    add_tile(text, result->input_rows, "records before");
    add_tile(text, result->measure.output_rows, "records in the release");
    add_tile(text, result->measure.sizes.after.smallest, "records in the smallest class");
    add_risk_tile(text, result->measure.sizes.after.smallest);
    shoal_text_add(text, "</div>\n<p>Utility and risk of a release, measured ");
    add_policy(result, text);
    shoal_text_add(text, ". Records that are equal in ");
    add_names(result, text);
    shoal_text_add(text, " form a class.</p>\n");
  } else summarize_lattice(result, text);
}

/* ------------------------------------------------------------ columns and rows */

void shoal_html_columns(const shoal_result *result, shoal_text *text) {
  const shoal_html_report *page = result->page;
  bool release = result->kind == SHOAL_RESULT_RELEASE;
  SHOAL_HTML_TABLE(text, NULL, NULL, "Column", "Type", "Role in the policy",
                   release ? "Action" : NULL);
  for (size_t c = 0; c < page->n_columns; c++) {
    const shoal_html_report_column *column = &page->columns[c];
    shoal_text_print(text, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td>", column->name,
                     column->type, column->role);
    if (release) shoal_text_print(text, "<td>%s</td>", column->done);
    shoal_text_add(text, "</tr>\n");
  }
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
}

enum { SHORT_CELL = 20 }; /* bytes: no line break at the hyphen of "[40-44]" */

void shoal_html_sample(const shoal_result *result, shoal_text *text) {
  const shoal_html_report *page = result->page;
  shoal_text_print(
      text,
      "<p>%zu released rows, drawn at random and sorted, as they are in the file. Check "
      "them for anything that must not be published.%s</p>\n"
      "<div class=\"scroll\"><table class=\"sample\">\n<thead><tr>",
      page->n_sample,
      result->two_passes ? " Columns that are released unchanged are not shown: "
                           "they did not fit into the memory limit."
                         : "");
  for (size_t c = 0; c < page->n_sample_columns; c++)
    shoal_text_print(text, "<th scope=\"col\">%s</th>", page->sample_names[c]);
  shoal_text_add(text, "</tr></thead>\n<tbody>\n");
  for (size_t row = 0; row < page->n_sample; row++) {
    shoal_text_add(text, "<tr>");
    for (size_t c = 0; c < page->n_sample_columns; c++) {
      const char *cell = page->sample[row * page->n_sample_columns + c];
      shoal_text_add(text, strlen(cell) <= SHORT_CELL ? "<td class=\"short\">" : "<td>");
      shoal_text_print(text, "%s</td>", cell);
    }
    shoal_text_add(text, "</tr>\n");
  }
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
}

/* ------------------------------------------------------------ suppression */

static void add_causes(const shoal_result *r, shoal_text *text) {
  SHOAL_HTML_TABLE(text, NULL,
                   "Requirements that their classes violate. A class may violate several.",
                   "Requirement", "#Records", "#Classes");
  for (size_t i = 0; i < r->release.n_causes; i++) {
    const shoal_cause *cause = &r->release.causes[i];
    shoal_text_print(text, "<tr><th scope=\"row\">%s", cause->model);
    shoal_format_subject(text, cause->attribute, &cause->over);
    shoal_text_print(text, "</th><td class=\"num\">%s</td><td class=\"num\">",
                     shoal_say_hidden(cause->rows, r->k).text);
    if (cause->rows && cause->rows < r->k) shoal_text_add(text, "\xe2\x80\x93");
    else shoal_text_print(text, "%s", shoal_say_count(cause->classes).text);
    shoal_text_add(text, "</td></tr>\n");
  }
  shoal_text_add(text, SHOAL_HTML_TABLE_END);
}

void shoal_html_suppressed(const shoal_result *r, shoal_text *text) {
  if (!r->release.suppressed) {
    shoal_text_add(text, "<p>No record was suppressed.</p>\n");
  } else {
    shoal_text_print(text,
                     "<p>%s%s (%.2f%% of all; the policy allows %s), because their classes violate "
                     "the policy.</p>\n",
                     shoal_say_counted(r->release.suppressed, "record was ", "records were ").text,
                     r->release.blanked ? "blanked: every quasi-identifier is * in them"
                                        : "removed",
                     100.0 * (double)r->release.suppressed / (double)r->input_rows,
                     shoal_say_count(r->release.max_suppression).text);
    if (r->release.n_causes) add_causes(r, text);
    shoal_text_add(text, "<p class=\"dim small\">Rare combinations are suppressed more often: "
                         "counts and rates of small groups are too low.</p>\n");
  }
  size_t n_left = 0;
  for (size_t c = 0; r->page && c < r->page->n_columns; c++)
    n_left += !r->page->columns[c].released;
  if (!n_left) return;
  shoal_text_add(text, "<p>Columns not released: ");
  for (size_t c = 0, n_named = 0; c < r->page->n_columns; c++) {
    if (r->page->columns[c].released) continue;
    if (n_named++) shoal_text_add(text, ", ");
    shoal_text_print(text, "%s (%s)", r->page->columns[c].name, r->page->columns[c].role);
  }
  shoal_text_add(text, ".</p>\n");
}

void shoal_html_warnings(const shoal_result *result, shoal_text *text) {
  shoal_text_add(text, "<ul>\n");
  for (size_t i = 0; i < result->n_warnings; i++)
    shoal_text_print(text, "<li>%s.</li>\n", result->warnings[i]);
  shoal_text_add(text, "</ul>\n");
}
