/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/release: text of `anonymize`: protection, generalization, loss and search, in this order.
 * The JSON is in release_json.c.
 */
#include <math.h>
#include <string.h>

#include "report/measures.h"
#include "report/page.h"
#include "report/render.h"

/* ------------------------------------------------------------ text */

static const double HIGH_LOSS = 0.5; /* a release that loses more gets a hint */

static void add_attribute_outcomes(shoal_text *t, const shoal_result *r) {
  size_t width = 0;
  for (size_t q = 0; q < r->n_quasi; q++)
    if (shoal_text_width(r->quasi[q]) > width) width = shoal_text_width(r->quasi[q]);
  shoal_text_print(t, "\nGeneralization%s\n",
                   r->release.method == SHOAL_METHOD_CLUSTERS
                       ? ": each class gets the smallest labels that cover it; labels may overlap"
                       : "");
  for (size_t q = 0; q < r->n_quasi; q++) {
    const shoal_attribute_outcome *a = &r->release.attributes[q];
    shoal_text_add(t, "  ");
    shoal_text_add_padded(t, a->name, width);
    if (r->release.method == SHOAL_METHOD_CLUSTERS) shoal_text_add(t, "  ");
    else if (a->level == 0 && r->release.method == SHOAL_METHOD_CELLS && a->loss > 0)
      shoal_text_add(t, "  some cells suppressed   ");
    else if (a->level == 0) shoal_text_add(t, "  unchanged               ");
    else
      shoal_text_print(t, "  level %2u of %2u%s", a->level, a->height,
                       a->level == a->height ? " (top)    " : "          ");
    shoal_text_print(t, "%5u value%s -> %5u label%s %3.0f%% lost", a->n_before,
                     a->n_before == 1 ? " " : "s", a->n_after, a->n_after == 1 ? ", " : "s,",
                     100 * a->loss);
    if (a->n_after == 1 && a->n_before > 1) shoal_text_add(t, "; one label everywhere");
    if (!isnan(a->mean_width))
      shoal_text_print(t, "; intervals %.3g wide on average", a->mean_width);
    shoal_text_add(t, "\n");
    if (a->last_year)
      shoal_text_print(t, "  %*s  years of two digits mean %u to %u\n", (int)width, "",
                       a->first_year, a->last_year);
  }
  if (r->release.suppressed) {
    shoal_text_add(t, "  ");
    shoal_format_rows(t, r->release.suppressed);
    shoal_text_print(t, " %s (%.2f%%; the policy allows ",
                     r->release.blanked ? "blanked: '*' in every quasi-identifier" : "removed",
                     100.0 * (double)r->release.suppressed / (double)r->input_rows);
    shoal_text_add_count(t, r->release.max_suppression);
    bool single = r->release.method == SHOAL_METHOD_CLUSTERS && r->release.clusters.single_rows;
    shoal_text_print(t, "), %s\n", single ? "one by one" : "in classes that violate the policy");
  } else {
    shoal_text_add(t, "  no row suppressed (the policy allows ");
    shoal_text_add_count(t, r->release.max_suppression);
    shoal_text_add(t, ")\n");
  }
}

/* If more than half is lost: where, and what would help. */
static void add_loss_hint(shoal_text *t, const shoal_result *r) {
  const shoal_release_loss *l = &r->release.loss;
  if (l->release_loss <= HIGH_LOSS || !r->n_quasi) return;
  const shoal_attribute_outcome *worst = r->release.attributes;
  for (size_t q = 1; q < r->n_quasi; q++)
    if (r->release.attributes[q].loss > worst->loss) worst = &r->release.attributes[q];
  if (1 - l->completeness > l->nil)
    shoal_text_add(t,
                   "  More than half is lost, most of it in suppressed rows. To keep more: remove "
                   "a column,\n");
  else
    shoal_text_print(t,
                     "  More than half is lost; '%s' loses most (%.0f%%). To keep more: remove "
                     "that column,\n",
                     worst->name, 100 * worst->loss);
  shoal_text_add(t, "  add levels to a hierarchy, or lower k or p; 'shoal explain' lists changes "
                    "that it tried\n");
}

static void add_measures(shoal_text *t, const shoal_result *r) {
  shoal_text_add(t, "\nUtility\n");
  shoal_text_print(t, "  release loss      %5.1f%%   0%% nothing lost, 100%% everything\n",
                   100 * r->release.loss.release_loss);
  shoal_text_print(t, "  completeness      %5.1f%%   rows released\n",
                   100 * r->release.loss.completeness);
  shoal_text_print(t, "  average class     %5.1f    rows: %.2f times k (AVG; 1 is the minimum)\n",
                   r->release.loss.avg * (double)r->k, r->release.loss.avg);
  shoal_text_add(t, "  more in --json; docs/measures.md explains each measure\n");
  add_loss_hint(t, r);
}

/* "age 2, zip 0" */
static void add_levels(shoal_text *t, const shoal_result *r, const uint32_t *levels) {
  for (size_t q = 0; q < r->n_quasi; q++)
    shoal_text_print(t, "%s%s %u", q ? ", " : "", r->quasi[q], levels[q]);
}

static void add_node_search(shoal_text *t, const shoal_result *r) {
  const shoal_node_report *n = &r->release.node;
  if (n->objective) shoal_text_print(t, "objective: %s = %.6g\n  ", n->objective, n->cost);
  if (n->unproven)
    shoal_text_add(t, "NOT proven optimal: this is the best node that a local search found\n  ");
  else if (n->objective) shoal_text_add(t, "proven optimal: no node is better\n  ");
  if (n->upper_bound) {
    shoal_text_print(t, "distance vectors: solutions at height %u or above, minimal ones below ",
                     n->lower_height);
    shoal_format_node(t, r, n->upper_bound);
    shoal_text_print(t, " (height %u)\n  ", n->upper_height);
  }
  if (n->exhaustive)
    shoal_text_add(
        t, "a model of the policy needs a slower search: nodes were evaluated one by one\n  ");
  uint64_t minimal = 0;
  const shoal_node_outcome *chosen = NULL;
  for (size_t i = 0; i < n->n_nodes; i++) {
    minimal += n->nodes[i].minimal;
    if (n->nodes[i].chosen) chosen = &n->nodes[i];
  }
  shoal_text_add(t, "tried ");
  shoal_text_add_count(t, n->nodes_checked);
  shoal_text_add(t, n->lattice_nodes == UINT64_MAX ? " of more than " : " of ");
  shoal_text_add_count(t, n->lattice_nodes == UINT64_MAX ? INT64_MAX : n->lattice_nodes);
  shoal_text_add(t, " combinations of levels (nodes); ");
  if (n->minimal_complete) {
    shoal_format_counted(t, minimal, "minimal node", "minimal nodes");
    shoal_text_add(t, ", ");
  }
  shoal_text_add(t, "chosen: ");
  if (chosen) add_levels(t, r, chosen->levels);
  if (n->slack) {
    shoal_text_add(t, ", ");
    shoal_format_counted(t, n->slack, "step", "steps");
    shoal_text_add(t, " above a minimal node (slack)");
  } else if (chosen && n->minimal_complete && !chosen->minimal) {
    shoal_text_add(t, ", which is NOT minimal; these are:");
    for (size_t i = 0; i < n->n_nodes && i < 5; i++) {
      if (!n->nodes[i].minimal) continue;
      shoal_text_add(t, " ");
      shoal_format_node(t, r, n->nodes[i].levels);
    }
  }
}

static void add_clusters(shoal_text *t, const shoal_release_report *r) {
  const shoal_clusters_report *c = &r->clusters;
  if (c->why) shoal_text_print(t, "%s\n  ", c->why);
  if (c->objective) shoal_text_print(t, "objective: %s; ", c->objective);
  shoal_format_counted(t, c->clusters, "cluster", "clusters");
  if (c->clusters > r->classes) shoal_text_add(t, "; clusters with equal labels form one class");
}

static void add_search(shoal_text *t, const shoal_result *result) {
  const shoal_release_report *r = &result->release;
  shoal_text_print(t, "\nMethod\n  %s (%s)\n  ", r->algorithm, r->algorithm_reason);
  switch (r->method) {
  case SHOAL_METHOD_NODE: add_node_search(t, result); break;
  case SHOAL_METHOD_CELLS:
    shoal_text_add_count(t, r->cells.combinations_checked);
    shoal_text_add(t, " combinations of attributes evaluated");
    break;
  case SHOAL_METHOD_CLUSTERS: add_clusters(t, r); break;
  }
  shoal_text_print(t, "\n  read %.2f s, search %.2f s, ", r->seconds_read, r->seconds_search);
  if (r->alternatives.n_items)
    shoal_text_print(t, "alternatives %.2f s, ", r->seconds_alternatives);
  shoal_text_print(t, "write %.2f s, verify %.2f s, %.0f MB\n", r->seconds_write, r->seconds_verify,
                   (double)r->peak_memory_bytes / 1e6);
}

/* Noise rows must not be taken for people. */
static void add_noise(shoal_text *t, const shoal_clusters_report *r) {
  shoal_text_add(t, "\n  ");
  shoal_format_rows(t, r->noise);
  shoal_text_print(t,
                   " in this file %s NOISE, added to vary sensitive values; %s no real person (the "
                   "policy allows ",
                   r->noise == 1 ? "is" : "are", r->noise == 1 ? "it describes" : "they describe");
  shoal_text_add_count(t, r->max_noise);
  shoal_text_add(t, ")");
  if (!r->noise_listed) return;
  shoal_text_add(t, "; ");
  shoal_text_add_count(t, r->noise_listed);
  shoal_text_add(t, r->noise_listed == 1 ? " has a value" : " have values");
  shoal_text_add(t, " of the categories that no row of the table has");
}

/* The order of rows can link two releases: say whether it can be restored. */
static void add_order(shoal_text *t, const shoal_result *r) {
  const char *what = strcmp(r->release.order, "kept") == 0 ? "in the order of the input"
                     : strcmp(r->release.order, "seeded") == 0
                         ? "shuffled by the seed: anyone who knows it can "
                           "restore the order"
                         : "shuffled at random";
  shoal_text_print(t, "\n  rows are %s", what);
}

void shoal_release_text(const shoal_result *r, shoal_text *t) {
  shoal_text_print(t, "%s -> %s\n  ", r->source,
                   r->release.output ? r->release.output : "(not written)");
  shoal_format_rows(t, r->input_rows);
  shoal_format_people(t, r->input_people);
  shoal_text_add(t, " in, ");
  shoal_format_rows(t, r->release.output_rows);
  if (r->input_people) shoal_format_people(t, r->release.output_people);
  shoal_text_add(t, " released in ");
  shoal_format_counted(t, r->release.classes, "class", "classes");
  shoal_text_add(t, ", the smallest with ");
  shoal_format_rows(t, r->release.smallest_class);
  if (r->release.fewest_people) {
    shoal_text_add(t, ", the fewest people of a class ");
    shoal_text_add_count(t, r->release.fewest_people);
  }
  if (r->release.order) add_order(t, r);
  if (r->release.method == SHOAL_METHOD_CLUSTERS && r->release.clusters.noise)
    add_noise(t, &r->release.clusters);
  shoal_text_add(t, "\n");
  shoal_verdict_text(r, t);
  shoal_text_add(t, "\nProtection, verified on the written file\n");
  shoal_models_text(&r->release.models, t);
  if (r->release.attributes) {
    add_attribute_outcomes(t, r);
    add_measures(t, r);
    shoal_alternatives_text(&r->release, t);
  }
  add_search(t, r);
  shoal_format_warnings(t, r);
}
