/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/html_attributes: of a page: each released column with its loss and its distribution before
 * and after, and how the generalization was chosen: levels, lattice or clusters.
 */
#include <stdio.h>
#include <string.h>

#include "report/html.h"

/* ------------------------------------------------------------ distributions */

bool shoal_html_has_attributes(const shoal_result *result) {
  return result->page && result->page->n_attributes;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void add_label_row(const shoal_page_attribute *a, uint64_t before, uint64_t after,
                          uint64_t most, shoal_text *text) {
  if (!a->before_hidden) {
    shoal_text_add(text, "<td class=\"num\">");
    shoal_text_add_count(text, before);
    shoal_text_add(text, "</td>");
  }
  shoal_text_add(text, "<td class=\"num\">");
  shoal_text_add_count(text, after);
  shoal_text_add(text, "</td><td>");
  shoal_chart_pair(before, after, !a->before_hidden, most, text);
  shoal_text_add(text, "</td></tr>\n");
}

static void add_labels(const shoal_page *page, const shoal_page_attribute *a, shoal_text *text) {
  uint64_t most = larger(a->others_before, a->others_after);
  for (size_t i = 0; i < a->n_labels; i++)
    most = larger(most, larger(a->labels[i].before, a->labels[i].after));
  shoal_text_print(text,
                   "<table class=\"labels\">\n<thead><tr><th scope=\"col\" class=\"c1\">%s</th>",
                   a->outcome ? "Released label" : "Value");
  if (!a->before_hidden) shoal_text_add(text, "<th scope=\"col\" class=\"num c2\">Before</th>");
  shoal_text_add(text, "<th scope=\"col\" class=\"num c2\">After</th><th scope=\"col\">");
  shoal_text_print(text, "<span class=\"roomy\">%s</span>",
                   a->before_hidden ? "after" : "before (hatched), after (solid)");
  shoal_text_add(text, "</th></tr></thead>\n<tbody>\n");
  for (size_t i = 0; i < a->n_labels; i++) {
    shoal_text_add(text, "<tr><th scope=\"row\">");
    shoal_html_add(text, a->labels[i].label);
    shoal_text_add(text, "</th>");
    add_label_row(a, a->labels[i].before, a->labels[i].after, most, text);
  }
  if (a->n_others) {
    shoal_text_add(text, "<tr class=\"others\"><th scope=\"row\">");
    shoal_html_counted(text, a->n_others, a->n_labels ? "other, not told by itself" : "value",
                       a->n_labels ? "others together" : "values together");
    shoal_text_add(text, "</th>");
    add_label_row(a, a->others_before, a->others_after, most, text);
  }
  shoal_text_add(text, "</tbody></table>\n");
  if (a->before_hidden)
    shoal_text_print(text,
                     "<p class=\"dim small\">Before is not told: fewer than %llu records were left "
                     "out, and the difference would tell of them.</p>\n",
                     (unsigned long long)page->k);
}

static void add_attribute(const shoal_page *page, const shoal_page_attribute *a, shoal_text *text) {
  shoal_text_add(text, "<h3>");
  shoal_html_add(text, a->name);
  shoal_text_print(text, " <span class=\"dim small\">%s</span></h3>\n<p class=\"done\">", a->role);
  shoal_html_add(text, a->done);
  shoal_text_add(text, ".");
  if (a->outcome) {
    shoal_text_add(text, " ");
    shoal_html_counted(text, a->outcome->n_before, "value", "values");
    shoal_text_add(text, " became ");
    shoal_html_counted(text, a->outcome->n_after, "label", "labels");
    shoal_text_print(text, "; <b>%.1f%%</b> of what it could tell was lost.",
                     100 * a->outcome->loss);
  }
  if (a->widths) {
    shoal_text_add(text, " Its intervals are ");
    shoal_html_add(text, a->widths);
    shoal_text_add(text, ".");
  }
  shoal_text_add(text, "</p>\n");
  add_labels(page, a, text);
}

void shoal_html_attributes(const shoal_result *result, shoal_text *text) {
  const shoal_page *page = result->page;
  shoal_text_add(text, "<p>Records by what the release says of them. Before counts the records of "
                       "the table by the label that was chosen for them, whether released or "
                       "not.");
  if (page->k > 1)
    shoal_text_print(text,
                     " Labels of 1 to %llu records, and those from which so few were left out, "
                     "are told together as others.",
                     (unsigned long long)(page->k - 1));
  shoal_text_add(text, " Hatched bars are before, solid ones after; all begin at zero.</p>\n");
  for (size_t i = 0; i < page->n_attributes; i++) add_attribute(page, &page->attributes[i], text);
}

/* ------------------------------------------------------------ the choice */

enum { MOST_CLUSTER_BARS = 20, CLUSTER_LABEL = 48 };

bool shoal_html_has_choice(const shoal_result *result) {
  return result->kind == SHOAL_RESULT_RELEASE || result->kind == SHOAL_RESULT_LATTICE;
}

static void draw_levels(const shoal_result *r, shoal_text *text) {
  shoal_text_add(text, "<h3>The level taken for each column</h3>\n<p>Level 0 is the value as it "
                       "was; each step to the right is coarser, the last one tells nothing.</p>\n"
                       "<table class=\"labels\">\n<tbody>\n");
  for (size_t q = 0; q < r->n_quasi; q++) {
    shoal_text_add(text, "<tr><th scope=\"row\" class=\"c1\">");
    shoal_html_add(text, r->attributes[q].name);
    shoal_text_add(text, "</th><td>");
    shoal_chart_levels(r->attributes[q].name, r->attributes[q].level, r->attributes[q].height,
                       text);
    shoal_text_add(text, "</td></tr>\n");
  }
  shoal_text_add(text, "</tbody></table>\n");
}

/* Sizes in equal steps, as many as fit. */
static void draw_clusters(const shoal_result *r, shoal_text *text) {
  const shoal_cluster_size *sizes = r->cluster_sizes;
  uint64_t low = sizes[0].size, high = sizes[r->n_cluster_sizes - 1].size;
  uint64_t step = (high - low) / MOST_CLUSTER_BARS + 1;
  shoal_chart_bar bars[MOST_CLUSTER_BARS] = {{0}};
  char labels[MOST_CLUSTER_BARS][CLUSTER_LABEL];
  size_t n = (size_t)((high - low) / step) + 1;
  for (size_t i = 0; i < n; i++) {
    unsigned long long first = low + i * step, last = first + step - 1;
    if (step == 1) (void)snprintf(labels[i], CLUSTER_LABEL, "%llu", first);
    else (void)snprintf(labels[i], CLUSTER_LABEL, "%llu to %llu", first, last);
    bars[i].label = labels[i];
  }
  for (size_t i = 0; i < r->n_cluster_sizes; i++)
    bars[(sizes[i].size - low) / step].values[0] += sizes[i].n;
  shoal_chart chart = {.title = "Clusters by their size",
                       .description = "How many clusters were made of so many records.",
                       .axis = "clusters",
                       .series = {"clusters"},
                       .totals = {r->clusters},
                       .n_series = 1,
                       .bars = bars,
                       .n_bars = n};
  shoal_text_add(text, "<h3>Clusters by the number of their records</h3>\n<div class=\"keep\">\n");
  shoal_chart_bars(&chart, text);
  shoal_text_add(text, "</div>\n");
}

static void draw_lattice(const shoal_result *lattice, shoal_text *text) {
  shoal_text_add(text, "<h3>The lattice of all choices</h3>\n<div class=\"picture\"><div "
                       "class=\"wide\">\n");
  shoal_draw_lattice(lattice, text);
  shoal_text_add(text, "</div></div>\n");
}

static void tell_search(const shoal_result *r, shoal_text *text) {
  shoal_text_add(text, "<p>Algorithm <b>");
  shoal_html_add(text, r->algorithm);
  shoal_text_add(text, "</b>: ");
  shoal_html_add(text, r->algorithm_reason);
  shoal_text_add(text, ".");
  if (r->objective) {
    shoal_text_add(text, " It made the objective <b>");
    shoal_html_add(text, r->objective);
    shoal_text_add(text, "</b> small.");
  }
  if (r->local) {
    shoal_text_add(text, " Records were put together in ");
    shoal_html_counted(text, r->clusters, "cluster", "clusters");
    shoal_text_add(text,
                   ", each made coarser by itself and only as far as it must be; clusters with "
                   "the same labels are one class.");
  } else if (r->lattice_nodes) {
    shoal_text_add(text, " Of ");
    shoal_html_counted(text, r->lattice_nodes, "possible choice", "possible choices");
    shoal_text_add(text, " of levels it looked at ");
    shoal_text_add_count(text, r->nodes_checked);
    shoal_text_add(text, ".");
  }
  shoal_text_add(text, "</p>\n");
  if (r->why) {
    shoal_text_add(text, "<p>");
    shoal_html_add(text, r->why);
    shoal_text_add(text, ".</p>\n");
  }
}

void shoal_html_choice(const shoal_result *r, shoal_text *text) {
  if (r->kind == SHOAL_RESULT_LATTICE) {
    draw_lattice(r, text);
    return;
  }
  tell_search(r, text);
  if (r->n_cluster_sizes) draw_clusters(r, text);
  if (!r->local && r->attributes) draw_levels(r, text);
  if (r->page && r->page->lattice) draw_lattice(r->page->lattice, text);
  else if (!r->local && r->lattice_nodes)
    shoal_text_add(text,
                   "<p class=\"dim small\">The whole lattice is too large to be judged node by "
                   "node for this page.</p>\n");
}
