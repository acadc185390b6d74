/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/release: text of `anonymize`: protection, generalization, loss and search, in this order.
 * The JSON is in release_json.c.
 */
#include <math.h>
#include <string.h>

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
      shoal_text_print(
          t, a->days ? "; intervals %.0f days wide on average" : "; intervals %.3g wide on average",
          a->mean_width);
    shoal_text_add(t, "\n");
    if (a->last_year)
      shoal_text_print(t, "  %*s  years of two digits mean %u to %u\n", (int)width, "",
                       a->first_year, a->last_year);
  }
  if (r->release.suppressed) {
    shoal_text_print(t, "  %s %s (%.2f%%; the policy allows %s",
                     shoal_say_rows(r->release.suppressed).text,
                     r->release.blanked ? "blanked: '*' in every quasi-identifier" : "removed",
                     100.0 * (double)r->release.suppressed / (double)r->input_rows,
                     shoal_say_count(r->release.max_suppression).text);
    bool single = r->release.method == SHOAL_METHOD_CLUSTERS && r->release.clusters.single_rows;
    shoal_text_print(t, "), %s\n", single ? "one by one" : "in classes that violate the policy");
  } else {
    shoal_text_print(t, "  no row suppressed (the policy allows %s)\n",
                     shoal_say_count(r->release.max_suppression).text);
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
  shoal_text_print(
      t, "tried %s%s%s combinations of levels (nodes); ", shoal_say_count(n->nodes_checked).text,
      n->lattice_nodes == UINT64_MAX ? " of more than " : " of ",
      shoal_say_count(n->lattice_nodes == UINT64_MAX ? INT64_MAX : n->lattice_nodes).text);
  if (n->minimal_complete)
    shoal_text_print(t, "%s, ", shoal_say_counted(minimal, "minimal node", "minimal nodes").text);
  shoal_text_add(t, "chosen: ");
  if (chosen) add_levels(t, r, chosen->levels);
  if (chosen)
    shoal_text_print(t, " (accuracy %.3f by levels, %.3f by height)", r->release.loss.accuracy,
                     r->release.loss.height_accuracy);
  if (n->slack) {
    shoal_text_print(t, ", %s above a minimal node (slack)",
                     shoal_say_counted(n->slack, "step", "steps").text);
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
  shoal_text_print(t, "%s", shoal_say_counted(c->clusters, "cluster", "clusters").text);
  if (c->clusters > r->classes) shoal_text_add(t, "; clusters with equal labels form one class");
  shoal_text_print(t, "\n  by clusters: AVG %.2f, DM %s", c->avg_clusters,
                   shoal_say_number(c->dm_clusters).text);
}

static void add_search(shoal_text *t, const shoal_result *result) {
  const shoal_release_report *r = &result->release;
  shoal_text_print(t, "\nMethod\n  %s (%s)\n  ", r->algorithm, r->algorithm_reason);
  switch (r->method) {
  case SHOAL_METHOD_NODE: add_node_search(t, result); break;
  case SHOAL_METHOD_CELLS:
    shoal_text_print(t, "%s combinations of attributes evaluated",
                     shoal_say_count(r->cells.combinations_checked).text);
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
  shoal_text_print(t,
                   "\n  %s in this file %s NOISE, added to vary sensitive values; %s no real "
                   "person (the policy allows %s)",
                   shoal_say_rows(r->noise).text, r->noise == 1 ? "is" : "are",
                   r->noise == 1 ? "it describes" : "they describe",
                   shoal_say_count(r->max_noise).text);
  if (!r->noise_listed) return;
  shoal_text_print(t, "; %s%s of the categories that no row of the table has",
                   shoal_say_count(r->noise_listed).text,
                   r->noise_listed == 1 ? " has a value" : " have values");
}

void shoal_release_text(const shoal_result *r, shoal_text *t) {
  shoal_text_print(t, "%s -> %s\n  %s%s in, %s", r->source,
                   r->release.output  ? r->release.output
                   : r->release.order ? "a table in memory"
                                      : "(not written)",
                   shoal_say_rows(r->input_rows).text, shoal_say_people(r->input_people).text,
                   shoal_say_rows(r->release.output_rows).text);
  if (r->input_people) shoal_text_print(t, "%s", shoal_say_people(r->release.output_people).text);
  shoal_text_print(t, " released in %s, the smallest with %s",
                   shoal_say_classes(r->release.classes).text,
                   shoal_say_rows(r->release.smallest_class).text);
  if (r->release.fewest_people)
    shoal_text_print(t, ", the fewest people of a class %s",
                     shoal_say_count(r->release.fewest_people).text);
  if (r->release.order) {
    /* The order of rows can link two releases: say whether it can be restored. */
    const char *what = strcmp(r->release.order, "kept") == 0 ? "in the order of the input"
                       : strcmp(r->release.order, "seeded") == 0
                           ? "shuffled by the seed: anyone who knows it can "
                             "restore the order"
                           : "shuffled at random";
    shoal_text_print(t, "\n  rows are %s", what);
  }
  if (r->release.method == SHOAL_METHOD_CLUSTERS && r->release.clusters.noise)
    add_noise(t, &r->release.clusters);
  shoal_text_add(t, "\n");
  shoal_verdict_text(r, t);
  shoal_text_print(t, "\nProtection, %s\n",
                   r->release.output  ? "verified on the written file"
                   : r->release.order ? "verified on the table that was handed out"
                                      : "not verified yet: nothing was written");
  shoal_models_text(&r->release.models, t);
  if (r->release.attributes) {
    add_attribute_outcomes(t, r);
    shoal_text_print(
        t,
        "\nUtility\n  release loss      %5.1f%%   0%% nothing lost, 100%% everything\n  "
        "completeness "
        "     %5.1f%%   rows released\n  average class     %5.1f    rows: %.2f times k (AVG; 1 is "
        "the minimum)\n  more in --json; docs/measures.md explains each measure\n",
        100 * r->release.loss.release_loss, 100 * r->release.loss.completeness,
        r->release.loss.avg * (double)r->k, r->release.loss.avg);
    add_loss_hint(t, r);
    shoal_alternatives_text(&r->release, t);
  }
  add_search(t, r);
  shoal_format_warnings(t, r);
}
