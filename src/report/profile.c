/* SPDX-License-Identifier: Apache-2.0 */
/* report/profile: text and JSON of `profile` and of `hierarchy`. */
#include "report/render.h"

/* ------------------------------------------------------------ profile */

void shoal_profile_text(const shoal_result *r, shoal_text *t) {
  const shoal_profile_report *p = &r->profile;
  shoal_text_print(t, "%s: %s, %zu column%s\n\n", r->source, shoal_say_rows(r->input_rows).text,
                   p->n_columns, p->n_columns == 1 ? "" : "s");
  size_t width = 6;
  for (size_t i = 0; i < p->n_columns; i++)
    if (shoal_text_width(p->columns[i].name) > width) width = shoal_text_width(p->columns[i].name);
  shoal_text_add(t, "  ");
  shoal_text_add_padded(t, "column", width);
  shoal_text_add(t, "  type      distinct   missing    unique  suggested role\n");
  for (size_t i = 0; i < p->n_columns; i++) {
    const shoal_column_outcome *c = &p->columns[i];
    shoal_text_add(t, "  ");
    shoal_text_add_padded(t, c->name, width);
    shoal_text_print(t, "  %-6s %11llu %9llu %9llu  %-10s  %s\n", c->type,
                     (unsigned long long)c->distinct, (unsigned long long)c->missing,
                     (unsigned long long)c->unique, c->role, c->why);
    if (c->undecided)
      shoal_text_print(t, "%*sdecide: a person must confirm or change this role\n", (int)width + 43,
                       "");
    if (!c->hierarchy) continue;
    for (size_t n = 0; n < width + 43; n++) shoal_text_add(t, " ");
    shoal_text_print(t, "hierarchy: %s\n", c->hierarchy);
  }
  shoal_text_print(t,
                   "\nBy the suggested quasi-identifiers: %s; %s (%.1f%%) %s a combination that no "
                   "other row has.\nunique: rows whose value occurs only once. Suggestions are "
                   "guesses from names and counts.\nYou decide: review them in the policy.\n",
                   shoal_say_counted(p->n_distinct_rows, "combination", "combinations").text,
                   shoal_say_rows(p->n_unique_rows).text,
                   r->input_rows ? 100.0 * (double)p->n_unique_rows / (double)r->input_rows : 0.0,
                   p->n_unique_rows == 1 ? "has" : "have");
  shoal_format_warnings(t, r);
}

json_t *shoal_profile_json(const shoal_result *r, shoal_json *json) {
  const shoal_profile_report *p = &r->profile;
  json_t *columns = json_array();
  for (size_t i = 0; i < p->n_columns; i++) {
    const shoal_column_outcome *c = &p->columns[i];
    shoal_json_append(json, columns,
                      SHOAL_OBJECT(K("column", c->name), K("type", c->type),
                                   K("distinct", c->distinct), K("missing", c->missing),
                                   K("unique", c->unique), K("most_frequent", c->most_frequent),
                                   K("role", c->role), K("decide", c->undecided),
                                   K("hierarchy", c->hierarchy), K("why", c->why)));
  }
  return SHOAL_OBJECT(K("rows", r->input_rows), K("columns", columns),
                      K("distinct_rows", p->n_distinct_rows), K("unique_rows", p->n_unique_rows),
                      K("warnings", shoal_json_warnings(json, r)));
}

/* ------------------------------------------------------------ hierarchy */

void shoal_hierarchy_text(const shoal_result *r, shoal_text *t) {
  shoal_text_add(t, r->hierarchy.drawing);
}

json_t *shoal_hierarchy_json(const shoal_result *r, shoal_json *json) {
  const shoal_hierarchy_report *h = &r->hierarchy;
  json_t *labels = json_array();
  for (size_t l = 0; l < h->n_label_levels; l++)
    shoal_json_append(json, labels,
                      shoal_json_strings(json, h->labels[l].labels, h->labels[l].n_labels));
  return SHOAL_OBJECT(K("hierarchy", r->source), K("valid", json_true()), K("leaves", h->n_leaves),
                      K("levels", h->n_levels), K("labels", labels));
}
