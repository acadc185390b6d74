/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/html_attributes: page sections: each released column with its loss and its distribution
 * before and after, and how the generalization was chosen: levels, lattice or clusters.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/html.h"

/* ------------------------------------------------------------ distributions */

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void add_label_row(const shoal_html_report_attribute *a, uint64_t before, uint64_t after,
                          uint64_t most, shoal_text *text) {
  if (!a->before_hidden)
    shoal_text_print(text, "<td class=\"num\">%s</td>", shoal_say_count(before).text);
  shoal_text_print(text, "<td class=\"num\">%s</td><td>", shoal_say_count(after).text);
  shoal_chart_pair(before, after, !a->before_hidden, most, text);
  shoal_text_add(text, "</td></tr>\n");
}

static void add_labels(const shoal_html_report *page, const shoal_html_report_attribute *a,
                       shoal_text *text) {
  uint64_t most = larger(a->others_before, a->others_after);
  for (size_t i = 0; i < a->n_labels; i++)
    most = larger(most, larger(a->labels[i].before, a->labels[i].after));
  shoal_text_print(text,
                   "<table class=\"labels\">\n<thead><tr><th scope=\"col\" class=\"c1\">%s</th>",
                   a->binned    ? "Values"
                   : a->outcome ? "Released label"
                                : "Value");
  if (!a->before_hidden) shoal_text_add(text, "<th scope=\"col\" class=\"num c2\">Before</th>");
  shoal_text_print(text,
                   "<th scope=\"col\" class=\"num c2\">After</th><th scope=\"col\"><span "
                   "class=\"roomy\">%s</span></th></tr></thead>\n<tbody>\n",
                   a->before_hidden ? "after" : "before (hatched), after (solid)");
  for (size_t i = 0; i < a->n_labels; i++) {
    shoal_text_print(text, "<tr><th scope=\"row\">%s</th>", a->labels[i].label);
    add_label_row(a, a->labels[i].before, a->labels[i].after, most, text);
  }
  if (a->n_others) {
    shoal_text_print(text, "<tr class=\"others\"><th scope=\"row\">%s</th>",
                     shoal_say_counted(a->n_others,
                                       a->n_labels ? "other, not shown alone" : "value",
                                       a->n_labels ? "others together" : "values together")
                         .text);
    add_label_row(a, a->others_before, a->others_after, most, text);
  }
  shoal_text_add(text, "</tbody></table>\n");
  if (a->before_hidden)
    shoal_text_print(
        text,
        "<p class=\"dim small\">The numbers before are withheld: fewer than %llu records "
        "were suppressed, and the difference would reveal them.</p>\n",
        (unsigned long long)page->k);
}

static void add_attribute(const shoal_html_report *page, const shoal_html_report_attribute *a,
                          shoal_text *text) {
  shoal_text_print(text, "<h3>%s <span class=\"dim small\">%s</span></h3>\n<p class=\"done\">%s.",
                   a->name, a->role, a->done);
  if (a->outcome) {
    shoal_text_print(text, " %s became %s; <b>%.1f%%</b> of the information was lost.",
                     shoal_say_counted(a->outcome->n_before, "value", "values").text,
                     shoal_say_counted(a->outcome->n_after, "label", "labels").text,
                     100 * a->outcome->loss);
    if (!isnan(a->outcome->mean_width))
      shoal_text_print(text,
                       a->outcome->days ? " Intervals are %.0f days wide on average."
                                        : " Intervals are %.3g wide on average.",
                       a->outcome->mean_width);
    if (a->outcome->last_year)
      shoal_text_print(text, " Years of two digits mean %u to %u.", a->outcome->first_year,
                       a->outcome->last_year);
  }
  if (a->widths) shoal_text_print(text, " Its intervals are %s.", a->widths);
  shoal_text_add(text, "</p>\n");
  if (a->binned)
    shoal_text_add(text,
                   "<p class=\"dim small\">Classes have labels of their own, which may "
                   "overlap, so values are compared: before counts the original values. After "
                   "divides each record evenly over the values that its label "
                   "covers.</p>\n");
  add_labels(page, a, text);
}

void shoal_html_attributes(const shoal_result *result, shoal_text *text) {
  const shoal_html_report *page = result->page;
  shoal_text_add(text, "<p>Records by released label, or by value. Before counts all records of "
                       "the original table.");
  if (page->k > 1)
    shoal_text_print(text,
                     " Labels of 1 to %llu records, and labels that lost so few records to "
                     "suppression, are counted together as others.",
                     (unsigned long long)(page->k - 1));
  shoal_text_add(text, " Hatched bars are before, solid bars after; all begin at zero.</p>\n");
  for (size_t i = 0; i < page->n_attributes; i++) add_attribute(page, &page->attributes[i], text);
}

/* ------------------------------------------------------------ the choice */

enum { MAX_CLUSTER_BARS = 20, CLUSTER_LABEL = 48 };

/* Sizes in equal steps, at most MAX_CLUSTER_BARS of them. */
static void draw_clusters(const shoal_clusters_report *r, shoal_text *text) {
  const shoal_cluster_size *sizes = r->cluster_sizes;
  uint64_t low = sizes[0].size, high = sizes[r->n_cluster_sizes - 1].size;
  uint64_t step = (high - low) / MAX_CLUSTER_BARS + 1;
  shoal_chart_bar bars[MAX_CLUSTER_BARS] = {{0}};
  char labels[MAX_CLUSTER_BARS][CLUSTER_LABEL];
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
                       .description = "The number of clusters of each size.",
                       .axis = "clusters",
                       .series = {"clusters"},
                       .totals = {r->clusters},
                       .n_series = 1,
                       .bars = bars,
                       .n_bars = n};
  shoal_text_add(text, "<h3>Clusters by size</h3>\n<div class=\"keep\">\n");
  shoal_chart_bars(&chart, text);
  shoal_text_add(text, "</div>\n");
}

static void draw_lattice(const shoal_result *r, const shoal_lattice_report *lattice,
                         shoal_text *text) {
  shoal_text_add(text, "<h3>The generalization lattice</h3>\n<div class=\"picture\"><div "
                       "class=\"wide\">\n");
  shoal_draw_lattice(r, lattice, text);
  shoal_text_add(text, "</div></div>\n");
}

static void describe_search(const shoal_release_report *r, shoal_text *text) {
  bool local = r->method == SHOAL_METHOD_CLUSTERS;
  const shoal_node_report *node = r->method == SHOAL_METHOD_NODE ? &r->node : NULL;
  const char *objective = local ? r->clusters.objective : node ? node->objective : NULL;
  shoal_text_print(text, "<p>Algorithm <b>%s</b>: %s.", r->algorithm, r->algorithm_reason);
  if (objective) shoal_text_print(text, " It minimized the objective <b>%s</b>.", objective);
  if (local) {
    shoal_text_print(text,
                     " Records were grouped into %s, each with the smallest labels that cover it; "
                     "clusters with equal labels form one class.",
                     shoal_say_counted(r->clusters.clusters, "cluster", "clusters").text);
  } else if (node) {
    bool counted = node->lattice_nodes != UINT64_MAX;
    shoal_text_print(
        text, "%s%s of the lattice it evaluated %s.", counted ? " Of " : " Of more than ",
        shoal_say_counted(counted ? node->lattice_nodes : INT64_MAX, "node", "nodes").text,
        shoal_say_count(node->nodes_checked).text);
  }
  shoal_text_add(text, "</p>\n");
  if (local && r->clusters.why) shoal_text_print(text, "<p>%s.</p>\n", r->clusters.why);
}

void shoal_html_choice(const shoal_result *r, shoal_text *text) {
  if (r->kind == SHOAL_RESULT_LATTICE) {
    draw_lattice(r, &r->lattice, text);
    return;
  }
  describe_search(&r->release, text);
  if (r->release.method == SHOAL_METHOD_CLUSTERS) {
    if (r->release.clusters.n_cluster_sizes) draw_clusters(&r->release.clusters, text);
    return;
  }
  if (r->release.attributes) {
    shoal_text_add(text, "<h3>Level of each column</h3>\n<p>Level 0 is the original value; each "
                         "step to the right is more general, up to full suppression.</p>\n"
                         "<table class=\"labels\">\n<tbody>\n");
    for (size_t q = 0; q < r->n_quasi; q++) {
      shoal_text_print(text, "<tr><th scope=\"row\" class=\"c1\">%s</th><td>",
                       r->release.attributes[q].name);
      shoal_chart_levels(r->release.attributes[q].name, r->release.attributes[q].level,
                         r->release.attributes[q].height, text);
      shoal_text_add(text, "</td></tr>\n");
    }
    shoal_text_add(text, "</tbody></table>\n");
  }
  if (r->page && r->page->lattice) draw_lattice(r, r->page->lattice, text);
  else if (r->release.method == SHOAL_METHOD_NODE)
    shoal_text_add(text, "<p class=\"dim small\">The lattice is too large to be drawn here.</p>\n");
}
