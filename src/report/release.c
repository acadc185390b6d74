/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/release: text and JSON of `anonymize`. The text has protection, generalization, loss and
 * search, in this order. The JSON has the same figures and, where a page was requested, what the
 * page shows; it withholds the same small counts.
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
                       ? ": each class gets the smallest labels that cover it"
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

/* The loss as a number of cells. */
static void add_lost_cells(shoal_text *t, const shoal_result *r) {
  shoal_text_add(t, "                             ");
  if (r->release.loss.il < 1000) shoal_text_print(t, "%.1f", r->release.loss.il);
  else shoal_text_add_count(t, (uint64_t)(r->release.loss.il + 0.5));
  shoal_text_add(t, " of ");
  shoal_text_add_count(t, (r->release.output_rows - r->release.blanked) * r->n_quasi);
  shoal_text_add(t, " cells (IL)\n");
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
  shoal_text_print(t, "  lost in cells     %5.1f%%   of the released rows (IL per cell)\n",
                   100 * r->release.loss.nil);
  if (r->release.method == SHOAL_METHOD_CLUSTERS) add_lost_cells(t, r);
  else
    shoal_text_print(
        t, "  accuracy          %5.1f%%   share of detail kept (1 - mean of level / height)\n",
        100 * r->release.loss.accuracy);
  shoal_text_print(t, "  completeness      %5.1f%%   rows released\n",
                   100 * r->release.loss.completeness);
  shoal_text_print(t, "  average class     %5.1f    rows: %.2f times k (AVG; 1 is the minimum)\n",
                   r->release.loss.avg * (double)r->k, r->release.loss.avg);
  shoal_text_add(t, "  discernibility    ");
  shoal_format_number(t, r->release.loss.dm);
  shoal_text_add(t, "   sum of squared class sizes (DM; lower is better)\n");
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
    shoal_alternatives_text(&r->release.alternatives, t);
  }
  add_search(t, r);
  shoal_format_warnings(t, r);
}

/* ------------------------------------------------------------ JSON: the page */

/* A number of people, or null where it is above 0 and below k. */
static json_t *people(uint64_t n, uint64_t k) {
  return n && n < k ? json_null() : shoal_json_count(n);
}

static json_t *columns_array(const shoal_html_report *page, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < page->n_columns; i++) {
    const shoal_html_report_column *c = &page->columns[i];
    shoal_json_append(json, array,
                      json_pack("{s:s, s:s, s:s, s:s, s:b}", "column", c->name, "type", c->type,
                                "role", c->role, "done", c->done, "released", c->released));
  }
  return array;
}

static json_t *sample_object(const shoal_html_report *page, shoal_json *json) {
  json_t *names = json_array(), *rows = json_array();
  for (size_t c = 0; c < page->n_sample_columns; c++)
    shoal_json_append(json, names, json_string(page->sample_names[c]));
  for (size_t i = 0; i < page->n_sample; i++) {
    json_t *row = json_array();
    for (size_t c = 0; c < page->n_sample_columns; c++)
      shoal_json_append(json, row, json_string(page->sample[i * page->n_sample_columns + c]));
    shoal_json_append(json, rows, row);
  }
  return json_pack("{s:o, s:o}", "columns", names, "rows", rows);
}

static json_t *label_object(const shoal_html_report_attribute *a, const char *label,
                            uint64_t n_labels, uint64_t before, uint64_t after, shoal_json *json) {
  json_t *object =
      label ? json_pack("{s:s}", "label", label)
            : json_pack("{s:o, s:o}", "label", json_null(), "labels", shoal_json_count(n_labels));
  shoal_json_set(json, object, "before", a->before_hidden ? json_null() : shoal_json_count(before));
  shoal_json_set(json, object, "after", shoal_json_count(after));
  return object;
}

static json_t *attribute_object(const shoal_html_report_attribute *a, shoal_json *json) {
  json_t *object =
      json_pack("{s:s, s:s, s:s}", "attribute", a->name, "role", a->role, "done", a->done);
  json_t *labels = json_array();
  if (a->outcome) {
    shoal_json_set(json, object, "level", shoal_json_count(a->outcome->level));
    shoal_json_set(json, object, "height", shoal_json_count(a->outcome->height));
    shoal_json_set(json, object, "values_before", shoal_json_count(a->outcome->n_before));
    shoal_json_set(json, object, "labels_after", shoal_json_count(a->outcome->n_after));
    shoal_json_set(json, object, "loss", json_real(a->outcome->loss));
    if (!isnan(a->outcome->mean_width))
      shoal_json_set(json, object, "mean_width", json_real(a->outcome->mean_width));
    if (a->outcome->last_year)
      shoal_json_set(json, object, "two_digit_years",
                     json_pack("[i, i]", (int)a->outcome->first_year, (int)a->outcome->last_year));
  }
  if (a->widths) shoal_json_set(json, object, "widths", json_string(a->widths));
  if (a->outcome) shoal_json_set(json, object, "binned", json_boolean(a->binned));
  for (size_t i = 0; i < a->n_labels; i++)
    shoal_json_append(
        json, labels,
        label_object(a, a->labels[i].label, 1, a->labels[i].before, a->labels[i].after, json));
  if (a->n_others)
    shoal_json_append(json, labels,
                      label_object(a, NULL, a->n_others, a->others_before, a->others_after, json));
  shoal_json_set(json, object, "distribution", labels);
  return object;
}

static void set_page(const shoal_html_report *page, json_t *root, shoal_json *json) {
  json_t *attributes = json_array(), *settings = json_array(), *files = json_array();
  for (size_t i = 0; i < page->n_attributes; i++)
    shoal_json_append(json, attributes, attribute_object(&page->attributes[i], json));
  for (size_t i = 0; i < page->n_settings; i++)
    shoal_json_append(json, settings,
                      json_pack("{s:s, s:s}", "setting", page->settings[i].name, "value",
                                page->settings[i].value));
  for (size_t i = 0; i < page->n_files; i++)
    shoal_json_append(json, files,
                      json_pack("{s:s, s:s, s:s}", "use", page->files[i].use, "name",
                                page->files[i].name, "sha256", page->files[i].sha256));
  shoal_json_set(json, root, "columns", columns_array(page, json));
  if (page->n_sample) shoal_json_set(json, root, "sample", sample_object(page, json));
  if (page->n_attributes) shoal_json_set(json, root, "attributes", attributes);
  else json_decref(attributes);
  shoal_json_set(json, root, "settings", settings);
  shoal_json_set(json, root, "files", files);
}

static json_t *causes_array(const shoal_result *r, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < r->release.n_causes; i++) {
    const shoal_cause *cause = &r->release.causes[i];
    bool hidden = cause->rows && cause->rows < r->k;
    shoal_json_append(json, array,
                      json_pack("{s:s, s:s?, s:o, s:o}", "model", cause->model, "attribute",
                                cause->attribute, "rows", people(cause->rows, r->k), "classes",
                                hidden ? json_null() : shoal_json_count(cause->classes)));
  }
  return array;
}

static json_t *cluster_sizes_array(const shoal_clusters_report *r, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < r->n_cluster_sizes; i++)
    shoal_json_append(json, array,
                      json_pack("{s:o, s:o}", "size", shoal_json_count(r->cluster_sizes[i].size),
                                "clusters", shoal_json_count(r->cluster_sizes[i].n)));
  return array;
}

static json_t *utility_object(const shoal_measures *m, shoal_json *json) {
  json_t *object = json_object();
  for (const shoal_utility_figure *f = shoal_utility_figures(); f->key; f++)
    shoal_json_set(json, object, f->key, shoal_json_real(shoal_utility_value(m, f)));
  json_t *columns = json_array(), *associations = json_array();
  for (size_t i = 0; i < m->n_attributes; i++) {
    const shoal_attribute_measure *a = &m->attributes[i];
    shoal_json_append(json, columns,
                      json_pack("{s:s, s:o, s:o, s:o, s:o}", "column", a->name, "loss",
                                shoal_json_real(a->quasi ? a->loss : NAN), "ncp",
                                shoal_json_real(a->quasi ? a->ncp : NAN), "total_variation",
                                shoal_json_real(a->variation), "earth_mover",
                                shoal_json_real(a->earth_mover)));
  }
  for (size_t i = 0; i < m->n_associations; i++)
    shoal_json_append(json, associations,
                      json_pack("{s:s, s:s, s:o, s:o}", "quasi", m->associations[i].quasi,
                                "sensitive", m->associations[i].sensitive, "before",
                                shoal_json_real(m->associations[i].before), "after",
                                shoal_json_real(m->associations[i].after)));
  shoal_json_set(json, object, "columns", columns);
  shoal_json_set(json, object, "associations", associations);
  if (m->has_queries)
    shoal_json_set(json, object, "queries",
                   json_pack("{s:o, s:o, s:o, s:o, s:o}", "asked",
                             shoal_json_count(m->queries.n_queries), "dimensions",
                             shoal_json_count(m->queries.dimensions), "mean_error",
                             shoal_json_real(m->queries.mean), "median_error",
                             shoal_json_real(m->queries.median), "worst_error",
                             shoal_json_real(m->queries.worst)));
  return object;
}

static json_t *side_object(const shoal_attribute_risk_side *side, uint64_t k) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "rows_with_one_value", people(side->n_rows[0], k),
                   "fewest_values", shoal_json_count(side->min_distinct), "largest_share",
                   shoal_json_real(side->largest_share), "mean_share",
                   shoal_json_real(side->mean_share), "largest_distance",
                   shoal_json_real(side->largest_distance));
}

static json_t *learning_array(const shoal_result *r, shoal_json *json) {
  const shoal_risk *risk = r->release.measured.risk;
  json_t *array = json_array();
  for (size_t i = 0; i < risk->n_attributes; i++) {
    const shoal_attribute_risk *a = &risk->attributes[i];
    shoal_json_append(json, array,
                      json_pack("{s:s, s:o, s:o}", "attribute", a->name, "before",
                                side_object(&a->before, r->k), "after",
                                side_object(&a->after, r->k)));
  }
  return array;
}

/* ------------------------------------------------------------ JSON: the release */

/* What only a search of the lattice reports. */
static void set_node_search(json_t *search, const shoal_result *r, shoal_json *json) {
  const shoal_node_report *n = &r->release.node;
  if (n->slack) shoal_json_set(json, search, "slack", shoal_json_count(n->slack));
  if (n->objective)
    shoal_json_set(json, search, "objective",
                   json_pack("{s:s, s:f}", "name", n->objective, "cost", n->cost));
  if (n->lattice_nodes)
    shoal_json_set(json, search, "classes_touched", shoal_json_count(n->classes_scanned));
  if (n->objective) shoal_json_set(json, search, "proven_optimal", json_boolean(!n->unproven));
  if (n->upper_bound)
    shoal_json_set(json, search, "bounds",
                   json_pack("{s:o, s:o, s:o}", "lower_height", shoal_json_count(n->lower_height),
                             "upper_height", shoal_json_count(n->upper_height), "upper",
                             shoal_json_levels(json, r, n->upper_bound)));
}

static void set_clusters(json_t *search, const shoal_clusters_report *c, shoal_json *json) {
  if (c->effort > 1) shoal_json_set(json, search, "effort", shoal_json_count(c->effort));
  if (c->why) shoal_json_set(json, search, "why", json_string(c->why));
  if (c->objective)
    shoal_json_set(json, search, "objective", json_pack("{s:s}", "name", c->objective));
}

/* Keys about nodes are there for every method: 0, null or empty where it has no nodes. */
static json_t *search_object(const shoal_result *r, shoal_json *json) {
  static const shoal_node_report no_nodes = {0};
  bool by_node = r->release.method == SHOAL_METHOD_NODE;
  const shoal_node_report *n = by_node ? &r->release.node : &no_nodes;
  json_t *minimal = json_array();
  json_t *node = NULL;
  uint32_t height = 0;
  for (size_t i = 0; i < n->n_nodes; i++) {
    if (n->nodes[i].minimal)
      shoal_json_append(json, minimal, shoal_json_levels(json, r, n->nodes[i].levels));
    if (!n->nodes[i].chosen) continue;
    node = shoal_json_levels(json, r, n->nodes[i].levels);
    json->failed |= !node;
    height = n->nodes[i].height;
  }
  uint64_t checked = r->release.method == SHOAL_METHOD_CELLS ? r->release.cells.combinations_checked
                                                             : n->nodes_checked;
  json_t *search =
      json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "algorithm", r->release.algorithm,
                "reason", r->release.algorithm_reason, "lattice_nodes",
                n->lattice_nodes == UINT64_MAX ? json_null() : shoal_json_count(n->lattice_nodes),
                "nodes_checked", shoal_json_count(checked), "refused_by_condition",
                shoal_json_count(n->nodes_bounded), "height", shoal_json_count(height), "node",
                node ? node : json_null(), "minimal", minimal, "minimal_complete",
                json_boolean(n->minimal_complete));
  shoal_json_set(json, search, "exhaustive", json_boolean(n->exhaustive));
  if (r->release.n_tried)
    shoal_json_set(json, search, "tried", shoal_tried_json(&r->release, json));
  if (by_node) set_node_search(search, r, json);
  if (r->release.method == SHOAL_METHOD_CLUSTERS) set_clusters(search, &r->release.clusters, json);
  return search;
}

static json_t *measures_object(const shoal_release_report *r, size_t n_quasi, shoal_json *json) {
  const shoal_release_loss *l = &r->loss;
  json_t *measures =
      json_pack("{s:f, s:o, s:f, s:f, s:f, s:f, s:f}", "release_loss", l->release_loss, "dm",
                shoal_json_number(l->dm), "avg", l->avg, "il", l->il, "nil", l->nil, "accuracy",
                l->accuracy, "completeness", l->completeness);
  json_t *widths = json_object();
  for (size_t q = 0; r->attributes && q < n_quasi; q++)
    if (!isnan(r->attributes[q].mean_width))
      shoal_json_set(json, widths, r->attributes[q].name, json_real(r->attributes[q].mean_width));
  shoal_json_set(json, measures, "mean_widths", widths);
  if (r->method == SHOAL_METHOD_CLUSTERS) {
    shoal_json_set(json, measures, "dm_clusters", shoal_json_number(r->clusters.dm_clusters));
    shoal_json_set(json, measures, "avg_clusters", json_real(r->clusters.avg_clusters));
  } else {
    shoal_json_set(json, measures, "height_accuracy", json_real(l->height_accuracy));
  }
  return measures;
}

json_t *shoal_release_json(const shoal_result *result, shoal_json *json) {
  static const shoal_clusters_report no_clusters = {0};
  const shoal_release_report *r = &result->release;
  const shoal_clusters_report *clusters =
      r->method == SHOAL_METHOD_CLUSTERS ? &r->clusters : &no_clusters;
  json_t *root = json_object();
  shoal_json_set(json, root, "shoal", json_string(SHOAL_VERSION));
  shoal_json_set(json, root, "command", json_string("anonymize"));
  shoal_json_set(json, root, "input",
                 json_pack("{s:o, s:o}", "rows", shoal_json_count(result->input_rows), "columns",
                           shoal_json_count(result->input_columns)));
  if (result->input_people)
    shoal_json_set(json, json_object_get(root, "input"), "people",
                   shoal_json_count(result->input_people));
  if (result->two_passes)
    shoal_json_set(json, json_object_get(root, "input"), "passes", json_integer(2));
  shoal_json_set(json, root, "output",
                 json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rows",
                           shoal_json_count(r->output_rows), "suppressed",
                           shoal_json_count(r->suppressed), "blanked", shoal_json_count(r->blanked),
                           "noise", shoal_json_count(clusters->noise), "clusters",
                           shoal_json_count(clusters->clusters), "classes",
                           shoal_json_count(r->classes), "smallest_class",
                           shoal_json_count(r->smallest_class)));
  if (result->input_people)
    shoal_json_set(json, json_object_get(root, "output"), "people",
                   shoal_json_count(r->output_people));
  if (r->fewest_people)
    shoal_json_set(json, json_object_get(root, "output"), "fewest_people",
                   shoal_json_count(r->fewest_people));
  shoal_json_set(json, json_object_get(root, "output"), "noise_listed",
                 shoal_json_count(clusters->noise_listed));
  shoal_verdict_json(result, root, json);
  shoal_json_set(json, root, "models", shoal_models_json(result, json));
  shoal_json_set(json, root, "search", search_object(result, json));
  shoal_json_set(json, root, "conditions",
                 json_pack("{s:o, s:o}", "max_p", shoal_json_count(r->conditions.max_p),
                           "max_groups", shoal_json_count(r->conditions.max_groups)));
  shoal_json_set(json, root, "measures", measures_object(r, result->n_quasi, json));
  if (r->alternatives.n_items)
    shoal_json_set(json, root, "alternatives", shoal_alternatives_json(&r->alternatives, json));
  shoal_json_set(json, root, "class_sizes", shoal_class_sizes_json(result, json));
  shoal_json_set(json, root, "suppressed_by", causes_array(result, json));
  if (clusters->n_cluster_sizes)
    shoal_json_set(json, root, "cluster_sizes", cluster_sizes_array(clusters, json));
  if (result->page) set_page(result->page, root, json);
  if (r->measured.utility)
    shoal_json_set(json, root, "utility", utility_object(r->measured.utility, json));
  if (r->measured.risk) shoal_json_set(json, root, "learning", learning_array(result, json));
  if (r->attacks) shoal_json_set(json, root, "attacks", shoal_attacks_array(result, json));
  shoal_json_set(json, root, "order", shoal_json_string(r->order));
  shoal_json_set(json, root, "seed", r->has_seed ? shoal_json_count(r->seed) : json_null());
  shoal_json_set(json, root, "warnings", shoal_json_warnings(json, result));
  shoal_json_set(json, root, "seconds",
                 json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "read", r->seconds_read, "search",
                           r->seconds_search, "alternatives", r->seconds_alternatives, "write",
                           r->seconds_write, "verify", r->seconds_verify, "total",
                           r->seconds_total));
  shoal_json_set(json, root, "peak_memory_bytes", shoal_json_count(r->peak_memory_bytes));
  return root;
}
