/* SPDX-License-Identifier: Apache-2.0 */
/* report/html_release: of a page: what was released, of which columns, and what was left out. */
#include <string.h>

#include "report/html.h"

/* ------------------------------------------------------------ in short */

static void add_tile(shoal_text *text, uint64_t n, const char *words) {
  shoal_text_add(text, "<div class=\"tile\"><b>");
  shoal_text_add_count(text, n);
  shoal_text_print(text, "</b><span>%s</span></div>\n", words);
}

static void add_risk_tile(shoal_text *text, uint64_t size) {
  shoal_text_add(text, "<div class=\"tile\"><b>");
  if (size) shoal_text_print(text, "%.3g", 1.0 / (double)size);
  else shoal_text_add(text, "none");
  shoal_text_add(text,
                 "</b><span>highest risk to be picked out (1 / smallest class)</span></div>\n");
}

/* "sex, age and zip" */
static void add_names(const shoal_result *result, shoal_text *text) {
  for (size_t q = 0; q < result->n_quasi; q++) {
    if (q) shoal_text_add(text, q + 1 < result->n_quasi ? ", " : " and ");
    shoal_text_add(text, "<b>");
    shoal_html_add(text, result->quasi[q]);
    shoal_text_add(text, "</b>");
  }
}

static void add_banner(shoal_text *text, bool yes, const char *words) {
  shoal_text_print(text, "<p class=\"banner %s\">%s %s</p>\n", yes ? "yes" : "no",
                   yes ? "\xe2\x9c\x93" : "\xe2\x9c\x97", words);
}

static void add_policy(const shoal_result *result, shoal_text *text) {
  if (!result->page || !result->page->n_files) return;
  shoal_text_add(text, "under the policy ");
  shoal_html_code(text, result->page->files[0].name);
}

static void summarize_release(const shoal_result *r, shoal_text *text) {
  add_banner(text, r->holds,
             "The release satisfies every demand of the policy. It was read again and verified "
             "before it got its name.");
  shoal_text_add(text, "<div class=\"tiles\">\n");
  add_tile(text, r->output_rows, "records released");
  add_tile(text, r->suppressed, r->blanked ? "records blanked" : "records left out");
  add_tile(text, r->smallest_class, "records in the smallest class of equals");
  add_risk_tile(text, r->smallest_class);
  shoal_text_add(text, "</div>\n<p>From ");
  shoal_html_counted(text, r->input_rows, "record", "records");
  shoal_text_add(text, " with ");
  shoal_html_counted(text, r->input_columns, "column", "columns");
  shoal_text_add(text, " a masked copy was made ");
  add_policy(r, text);
  shoal_text_add(text, ". Columns that name a person are not in it. What an outsider may know of a "
                       "person (");
  add_names(r, text);
  shoal_text_add(text, ") was made coarser: whoever knows all of it about someone finds at least ");
  shoal_html_counted(text, r->smallest_class, "record", "records");
  shoal_text_add(text, " that look alike, in ");
  shoal_html_counted(text, r->classes, "class", "classes");
  shoal_text_add(text, " altogether.</p>\n");
  if (r->noise) {
    shoal_text_add(text, "<p>Among the released records ");
    shoal_html_counted(text, r->noise, "is invented", "are invented");
    shoal_text_add(text, ", as the policy allows.</p>\n");
  }
  shoal_text_print(text,
                   "<p>Of what the columns made coarser could tell, %.1f%% was lost (0%% nothing, "
                   "100%% everything); %.1f%% of the records are in the release.</p>\n",
                   100 * r->nil, 100 * r->completeness);
}

static void summarize_check(const shoal_result *r, shoal_text *text) {
  add_banner(text, r->holds,
             r->holds ? "The table, as it stands, satisfies every demand of the policy."
                      : "The table, as it stands, does not satisfy the policy.");
  shoal_text_add(text, "<div class=\"tiles\">\n");
  add_tile(text, r->input_rows, "records");
  add_tile(text, r->classes, "classes of equals");
  add_tile(text, r->smallest_class, "records in the smallest class");
  add_risk_tile(text, r->smallest_class);
  shoal_text_add(text, "</div>\n<p>The table was looked at as it stands, ");
  add_policy(r, text);
  shoal_text_add(text, ". Records that are equal in ");
  add_names(r, text);
  shoal_text_add(text, " form a class. Nothing was changed.</p>\n");
}

static void summarize_attack(const shoal_result *r, shoal_text *text) {
  add_banner(text, r->holds,
             r->holds ? "No attack gets further than the policy allows."
                      : "Some attack gets further than the policy allows.");
  shoal_text_add(text, "<div class=\"tiles\">\n");
  add_tile(text, r->input_rows, "records in the release");
  add_tile(text, r->classes, "classes of equals");
  add_tile(text, r->smallest_class, "records in the smallest class");
  add_risk_tile(text, r->smallest_class);
  shoal_text_add(text, "</div>\n<p>The release was attacked ");
  add_policy(r, text);
  shoal_text_add(text, ". Records that are equal in ");
  add_names(r, text);
  shoal_text_add(text, " form a class.</p>\n");
}

static void summarize_measure(const shoal_result *r, shoal_text *text) {
  shoal_text_add(text, "<div class=\"tiles\">\n");
  add_tile(text, r->input_rows, "records before");
  add_tile(text, r->output_rows, "records in the release");
  add_tile(text, r->sizes_after.smallest, "records in the smallest class");
  add_risk_tile(text, r->sizes_after.smallest);
  shoal_text_add(text, "</div>\n<p>Utility and risk of a release, whoever made it, measured ");
  add_policy(r, text);
  shoal_text_add(text, ". Records that are equal in ");
  add_names(r, text);
  shoal_text_add(text, " form a class. Whether the release satisfies the policy is not judged "
                       "here.</p>\n");
}

static void summarize_lattice(const shoal_result *r, shoal_text *text) {
  uint64_t satisfying = 0, minimal = 0;
  for (size_t i = 0; i < r->n_nodes; i++) {
    satisfying += r->nodes[i].satisfies;
    minimal += r->nodes[i].minimal;
  }
  add_banner(text, r->holds,
             r->holds ? "The policy can be met by making whole columns coarser."
                      : "No way to make whole columns coarser satisfies the policy.");
  shoal_text_add(text, "<div class=\"tiles\">\n");
  add_tile(text, r->input_rows, "records");
  add_tile(text, r->n_nodes, "ways to generalize (nodes)");
  add_tile(text, satisfying, "of them satisfy the policy");
  add_tile(text, minimal, "of these are minimal: none finer does");
  shoal_text_add(text, "</div>\n<p>A node is one choice of a level for each of ");
  add_names(r, text);
  shoal_text_add(text, ". All of them were judged ");
  add_policy(r, text);
  shoal_text_add(text, "; nothing was released.</p>\n");
}

void shoal_html_summary(const shoal_result *result, shoal_text *text) {
  if (result->kind == SHOAL_RESULT_RELEASE) summarize_release(result, text);
  else if (result->kind == SHOAL_RESULT_CHECK) summarize_check(result, text);
  else if (result->kind == SHOAL_RESULT_ATTACK) summarize_attack(result, text);
  else if (result->kind == SHOAL_RESULT_MEASURE) summarize_measure(result, text);
  else summarize_lattice(result, text);
}

/* ------------------------------------------------------------ columns and rows */

bool shoal_html_has_columns(const shoal_result *result) { return result->page != NULL; }

void shoal_html_columns(const shoal_result *result, shoal_text *text) {
  const shoal_page *page = result->page;
  bool release = result->kind == SHOAL_RESULT_RELEASE;
  shoal_text_add(text, "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Column</th>"
                       "<th scope=\"col\">Type</th><th scope=\"col\">Role in the policy</th>");
  if (release) shoal_text_add(text, "<th scope=\"col\">What was done</th>");
  shoal_text_add(text, "</tr></thead>\n<tbody>\n");
  for (size_t c = 0; c < page->n_columns; c++) {
    const shoal_page_column *column = &page->columns[c];
    shoal_text_add(text, "<tr><th scope=\"row\">");
    shoal_html_add(text, column->name);
    shoal_text_print(text, "</th><td>%s</td><td>%s</td>", column->type, column->role);
    if (release) {
      shoal_text_add(text, "<td>");
      shoal_html_add(text, column->done);
      shoal_text_add(text, "</td>");
    }
    shoal_text_add(text, "</tr>\n");
  }
  shoal_text_add(text, "</tbody></table></div>\n");
}

enum { SHORT_CELL = 20 }; /* bytes: "[40-44]" is not to be broken at its hyphen */

bool shoal_html_has_sample(const shoal_result *result) {
  return result->page && result->page->n_sample;
}

void shoal_html_sample(const shoal_result *result, shoal_text *text) {
  const shoal_page *page = result->page;
  shoal_text_print(text,
                   "<p>%zu of the released rows, drawn at random and sorted, as they stand in the "
                   "file. Look for anything in them that should not leave the house.%s</p>\n"
                   "<div class=\"scroll\"><table class=\"sample\">\n<thead><tr>",
                   page->n_sample,
                   result->two_passes ? " Columns that are kept as they are are not shown: they "
                                        "did not fit into the memory allowed."
                                      : "");
  for (size_t c = 0; c < page->n_sample_columns; c++) {
    shoal_text_add(text, "<th scope=\"col\">");
    shoal_html_add(text, page->sample_names[c]);
    shoal_text_add(text, "</th>");
  }
  shoal_text_add(text, "</tr></thead>\n<tbody>\n");
  for (size_t row = 0; row < page->n_sample; row++) {
    shoal_text_add(text, "<tr>");
    for (size_t c = 0; c < page->n_sample_columns; c++) {
      const char *cell = page->sample[row * page->n_sample_columns + c];
      shoal_text_add(text, strlen(cell) <= SHORT_CELL ? "<td class=\"short\">" : "<td>");
      shoal_html_add(text, cell);
      shoal_text_add(text, "</td>");
    }
    shoal_text_add(text, "</tr>\n");
  }
  shoal_text_add(text, "</tbody></table></div>\n");
}

/* ------------------------------------------------------------ what was left out */

bool shoal_html_has_suppressed(const shoal_result *result) {
  return result->kind == SHOAL_RESULT_RELEASE;
}

static void add_causes(const shoal_result *r, shoal_text *text) {
  shoal_text_add(text,
                 "<div class=\"scroll\"><table>\n<caption>The demands that their classes broke. A "
                 "class may break several.</caption>\n<thead><tr><th scope=\"col\">Demand</th>"
                 "<th scope=\"col\" class=\"num\">Records</th>"
                 "<th scope=\"col\" class=\"num\">Classes</th></tr></thead>\n<tbody>\n");
  for (size_t i = 0; i < r->n_causes; i++) {
    const shoal_cause *cause = &r->causes[i];
    shoal_text_add(text, "<tr><th scope=\"row\">");
    shoal_html_add(text, cause->model);
    if (cause->attribute) {
      shoal_text_add(text, " on ");
      shoal_html_add(text, cause->attribute);
    }
    shoal_text_add(text, "</th><td class=\"num\">");
    shoal_html_people(text, cause->rows, r->k);
    shoal_text_add(text, "</td><td class=\"num\">");
    if (cause->rows && cause->rows < r->k) shoal_text_add(text, "\xe2\x80\x93");
    else shoal_text_add_count(text, cause->classes);
    shoal_text_add(text, "</td></tr>\n");
  }
  shoal_text_add(text, "</tbody></table></div>\n");
}

void shoal_html_suppressed(const shoal_result *r, shoal_text *text) {
  if (!r->suppressed) {
    shoal_text_add(text, "<p>No record was left out.</p>\n");
  } else {
    shoal_text_add(text, "<p>");
    shoal_html_counted(text, r->suppressed, "record was ", "records were ");
    shoal_text_print(text, "%s (%.2f%% of all; the policy allows ",
                     r->blanked ? "blanked: each quasi-identifier became * in them" : "left out",
                     100.0 * (double)r->suppressed / (double)r->input_rows);
    shoal_text_add_count(text, r->max_suppression);
    shoal_text_add(text, "), because at the chosen level they would still have stood in classes "
                         "that break the policy.</p>\n");
    if (r->n_causes) add_causes(r, text);
    shoal_text_add(text, "<p class=\"dim small\">People who stand out are more often among the "
                         "records left out: counts and rates of small groups come out too low."
                         "</p>\n");
  }
  size_t n_left = 0;
  for (size_t c = 0; r->page && c < r->page->n_columns; c++)
    n_left += !r->page->columns[c].released;
  if (!n_left) return;
  shoal_text_add(text, "<p>Columns left out: ");
  for (size_t c = 0, told = 0; c < r->page->n_columns; c++) {
    if (r->page->columns[c].released) continue;
    if (told++) shoal_text_add(text, ", ");
    shoal_html_add(text, r->page->columns[c].name);
    shoal_text_print(text, " (%s)", r->page->columns[c].role);
  }
  shoal_text_add(text, ".</p>\n");
}

bool shoal_html_has_warnings(const shoal_result *result) { return result->n_warnings > 0; }

void shoal_html_warnings(const shoal_result *result, shoal_text *text) {
  shoal_text_add(text, "<ul>\n");
  for (size_t i = 0; i < result->n_warnings; i++) {
    shoal_text_add(text, "<li>");
    shoal_html_add(text, result->warnings[i]);
    shoal_text_add(text, ".</li>\n");
  }
  shoal_text_add(text, "</ul>\n");
}
