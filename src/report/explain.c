/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/explain: text and JSON of `explain`. The verdict comes first, then the requirements and
 * quasi-identifiers that cause it, then the changes of the policy that would help.
 */
#include <string.h>

#include "report/explain.h"
#include "report/render.h"

/* Rows as hundredths of a percent, rounded up: as max-suppression of a policy it is enough. */
static uint64_t share_of_rows(uint64_t n, uint64_t n_rows) {
  return n_rows ? (n * 10000 + n_rows - 1) / n_rows : 0;
}

/* Steps of suppression shown in the text, unless they suppress most rows; the JSON has all. */
enum { MAX_STEPS = 6 };

static void add_share(shoal_text *t, const shoal_result *r, uint64_t n) {
  shoal_format_rows(t, n);
  if (n) shoal_text_print(t, " (%.2f%%)", (double)share_of_rows(n, r->input_rows) / 100);
}

/* "age 2, zip 3"; level 0 is not listed. */
static void add_levels(shoal_text *t, const shoal_result *r, const uint32_t *levels) {
  bool any = false;
  for (size_t q = 0; q < r->n_quasi; q++) {
    if (!levels[q]) continue;
    shoal_text_print(t, "%s%s %u", any ? ", " : "", r->quasi[q], levels[q]);
    any = true;
  }
  if (!any) shoal_text_add(t, "nothing generalized");
}

static void add_requirement_name(shoal_text *t, const shoal_explained_requirement *d) {
  shoal_text_add(t, d->model);
  shoal_format_subject(t, d->attribute, &d->over);
}

/* ------------------------------------------------------------ verdict */

static void add_node(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explain.explanation;
  shoal_text_print(t, "  height %u of %u: ", e->node.height, e->lattice_height);
  add_levels(t, r, e->node.levels);
  shoal_text_add(t, "\n  ");
  add_share(t, r, e->node.suppressed);
  shoal_text_print(t, " suppressed, %.0f%% of the detail lost in the others\n", 100 * e->loss);
  if (e->node_met && e->node.height > e->min_height)
    shoal_text_print(
        t, "  (chosen by the policy's preferences; the lowest satisfying node has height %u)\n",
        e->min_height);
}

static void add_reasons(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explain.explanation;
  shoal_text_add(t, "\nWhy\n");
  for (size_t i = 0; i < e->n_requirements; i++) {
    const shoal_explained_requirement *d = &e->requirements[i];
    if (d->holds) continue;
    shoal_text_add(t, "  ");
    add_requirement_name(t, d);
    if (d->why) {
      shoal_text_print(t, ": %s\n", d->why);
      continue;
    }
    shoal_text_add(t, d->at_most ? ": at most " : ": at least ");
    shoal_format_number(t, d->required);
    shoal_text_add(t, " is required; with all rows in one class it is ");
    shoal_format_number(t, d->reached);
    shoal_text_add(t, "\n");
  }
  if (e->monotone) {
    shoal_text_add(t,
                   "  Neither generalization nor suppression can help: even all rows in one class "
                   "violate the\n  policy. Relax it.\n");
    return;
  }
  if (e->has_node) {
    shoal_text_add(t, "  Every node has classes that violate the policy; at the best node ");
    add_share(t, r, e->node.suppressed);
    shoal_text_add(t, " are\n  in them, and ");
    shoal_format_rows(t, r->explain.max_suppression);
    shoal_text_add(t, " may be suppressed.\n");
    return;
  }
  shoal_text_add(t, e->every_node ? "  At every node every class violates the policy: "
                                    "nothing can be released.\n"
                                  : "  The lattice is too large to find the best node.\n");
}

/* Where there is no lattice. */
static void add_local_only(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explain.explanation;
  shoal_text_print(t, "\nLocal recoding (%s)\n  ", e->local);
  if (!e->local_met) {
    shoal_text_add(t, "found no release\n");
    return;
  }
  add_share(t, r, e->local_suppressed);
  shoal_text_print(t, " suppressed, release loss %.1f%%\n", 100 * e->local_loss);
}

static void add_local(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explain.explanation;
  if (!e->local_met) {
    shoal_text_print(t, "  Local recoding (%s) found no release either.\n", e->local);
    return;
  }
  shoal_text_print(t, "  Local recoding (%s) satisfies it: ", e->local);
  add_share(t, r, e->local_suppressed);
  shoal_text_add(t, " suppressed. What follows is about nodes of the lattice.\n");
}

static void add_verdict(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explain.explanation;
  shoal_text_print(t, "%s: the policy %s be satisfied\n  ", r->source, r->holds ? "can" : "CANNOT");
  shoal_format_rows(t, r->input_rows);
  shoal_text_add(t, ", ");
  shoal_text_add_count(t, r->explain.max_suppression);
  shoal_text_add(t, " may be suppressed");
  if (e->no_lattice) {
    shoal_text_print(t, "; local recoding only: '%s' has no hierarchy with levels\n",
                     e->no_lattice);
    if (e->sample_rows) {
      shoal_text_add(t, "  computed on a sample of ");
      shoal_format_rows(t, e->sample_rows);
      shoal_text_add(t, "; all rows usually lose less\n");
    }
    add_local_only(t, r);
    return;
  }
  shoal_text_add(t, "; ");
  shoal_format_counted(t, r->explain.lattice_nodes, "lattice node", "lattice nodes");
  shoal_text_add(t, e->every_node ? ", all evaluated\n" : "\n");
  if (!e->node_met) add_reasons(t, r);
  if (e->local) add_local(t, r);
  if (!e->has_node) return;
  shoal_text_add(t, !e->node_met ? "\nThe node with the fewest rows to suppress\n"
                    : e->node.height > e->min_height ? "\nThe preferred node\n"
                                                     : "\nThe lowest node\n");
  add_node(t, r);
}

/* ------------------------------------------------------------ requirements */

static void add_requirement(shoal_text *t, const shoal_result *r,
                            const shoal_explained_requirement *d) {
  const shoal_explanation *e = r->explain.explanation;
  shoal_text_add(t, "  ");
  add_requirement_name(t, d);
  shoal_text_add(t, d->at_most ? ": at most " : ": at least ");
  shoal_format_number(t, d->required);
  shoal_text_add(t, " required, the whole table has ");
  shoal_format_number(t, d->reached);
  if (d->bounded) {
    shoal_text_add(t, "; at most ");
    shoal_format_counted(t, d->max_groups, "class", "classes");
  }
  if (d->tried && !e->node_met)
    shoal_text_add(t, d->met_without ? "; without it the policy could be satisfied"
                                     : "; without it the policy could not be satisfied either");
  else if (d->tried && d->met_without && d->height_without < e->min_height)
    shoal_text_print(t, "; without it height %u is enough", d->height_without);
  else if (d->tried) shoal_text_add(t, "; adds no cost to the others");
  shoal_text_add(t, "\n");
}

static void add_requirements(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explain.explanation;
  shoal_text_add(t, "\nRequirements\n");
  for (size_t i = 0; i < e->n_requirements; i++) add_requirement(t, r, &e->requirements[i]);
  if (!e->n_hardest) return;
  shoal_text_add(t, "\nSensitive columns, hardest first (by the number of classes with p)\n");
  for (size_t i = 0; i < e->n_hardest; i++) {
    const shoal_hardness *h = &e->hardest[i];
    shoal_text_print(t, "  %s, %s: ", h->attribute, h->model);
    shoal_format_counted(t, h->distinct, h->noun, h->nouns);
    shoal_text_print(t, ", p = %llu: at most ", (unsigned long long)h->p);
    shoal_format_counted(t, h->max_groups, "class", "classes");
    shoal_text_add(t, "\n");
  }
}

/* ------------------------------------------------------------ quasi-identifiers */

/* "3, now 5": the height without this quasi-identifier, and with it */
static void add_without(shoal_text *t, const shoal_quasi_cost *c) {
  if (!c->tried) {
    shoal_text_add(t, "not tried");
    return;
  }
  if (!c->met_without) {
    shoal_text_add(t, "impossible");
    return;
  }
  if (c->height_without == c->height_now) shoal_text_print(t, "%u, unchanged", c->height_now);
  else shoal_text_print(t, "%u, now %u", c->height_without, c->height_now);
  if (!c->suppressed_without) return;
  shoal_text_add(t, ", ");
  shoal_format_rows(t, c->suppressed_without);
  shoal_text_add(t, " suppressed");
}

static size_t name_width(const shoal_result *r) {
  const shoal_quasi_cost *costs = r->explain.explanation->costs;
  size_t width = 0;
  for (size_t q = 0; q < r->n_quasi; q++)
    if (shoal_text_width(costs[q].name) > width) width = shoal_text_width(costs[q].name);
  return width;
}

/* Where there is no lattice. */
static void add_local_costs(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explain.explanation;
  size_t width = name_width(r);
  shoal_text_add(t, "\nCost of each quasi-identifier: the detail it loses, and what the other "
                    "columns lose now and would\nlose if it were removed from the release\n  ");
  shoal_text_add_padded(t, "", width);
  shoal_text_add(t, "   lost  others now  others without it\n");
  for (size_t q = 0; q < r->n_quasi; q++) {
    const shoal_quasi_cost *c = &e->costs[q];
    shoal_text_add(t, "  ");
    shoal_text_add_padded(t, c->name, width);
    shoal_text_print(t, "  %4.0f%%", 100 * c->loss);
    if (!c->tried) shoal_text_add(t, "           -  it is the only one\n");
    else if (c->met_without)
      shoal_text_print(t, "  %9.0f%%  %16.0f%%\n", 100 * c->others_now, 100 * c->others_without);
    else shoal_text_print(t, "  %9.0f%%  no release found\n", 100 * c->others_now);
  }
}

static void add_costs(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explain.explanation;
  size_t width = name_width(r);
  shoal_text_add(t, "\nCost of each quasi-identifier at this node: its level, the detail lost, the "
                    "rows to suppress if\nthe column had one level less, and the height of the "
                    "others if the column were removed\n  ");
  shoal_text_add_padded(t, "", width);
  shoal_text_add(t, "   level   lost  rows if lower  others without it\n");
  for (size_t q = 0; q < r->n_quasi; q++) {
    const shoal_quasi_cost *c = &e->costs[q];
    shoal_text_add(t, "  ");
    shoal_text_add_padded(t, c->name, width);
    shoal_text_print(t, " %2u of %2u  %4.0f%%  ", c->level, c->height, 100 * c->loss);
    if (c->level) shoal_text_print(t, "%13llu  ", (unsigned long long)c->suppressed_below);
    else shoal_text_add(t, "            -  ");
    add_without(t, c);
    shoal_text_add(t, "\n");
  }
}

/* A step that merges many labels at once: a new level in between cannot be tried here. */
static void add_hierarchy_hint(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explain.explanation;
  const shoal_quasi_cost *widest = NULL;
  double max_ratio = 4; /* a smaller step leaves little room for a level in between */
  for (size_t q = 0; q < r->n_quasi; q++) {
    const shoal_quasi_cost *c = &e->costs[q];
    double ratio = c->level ? (double)c->labels_below / c->labels : 0;
    if (ratio < max_ratio || (widest && ratio == max_ratio)) continue;
    widest = c;
    max_ratio = ratio;
  }
  if (!widest) return;
  shoal_text_print(t,
                   "  An additional level could keep more detail: '%s' goes from %u labels at "
                   "level %u\n  to %u at level %u. You can add a level "
                   "yourself (not tried).\n",
                   widest->name, widest->labels_below, widest->level - 1, widest->labels,
                   widest->level);
}

/* ------------------------------------------------------------ outliers */

static void add_outlier(shoal_text *t, const shoal_result *r, const shoal_outlier *o) {
  const shoal_explanation *e = r->explain.explanation;
  shoal_text_add(t, "  ");
  shoal_format_rows(t, o->n_rows);
  if (o->n_classes > 1) {
    shoal_text_add(t, " in ");
    shoal_format_counted(t, o->n_classes, "class", "classes");
  }
  bool any = false;
  for (size_t q = 0; q < r->n_quasi; q++) {
    if (e->outliers_node.levels[q] == r->heights[q] && r->heights[q]) continue;
    shoal_text_print(t, "%s%s %s", any ? ", " : ": ", r->quasi[q],
                     o->labels[q] ? o->labels[q] : "(as it is)");
    any = true;
  }
  shoal_text_add(t, any ? "\n    " : ": all suppressed\n    ");
  shoal_text_add(t, o->n_classes == 1 ? "violates " : "violate ");
  for (size_t i = 0; i < o->n_requirements; i++) {
    if (i) shoal_text_add(t, ", ");
    add_requirement_name(t, &e->requirements[o->requirements[i]]);
  }
  shoal_text_add(t, "\n");
}

static void add_outliers(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explain.explanation;
  const shoal_node_outcome *node = &e->outliers_node;
  if (e->outliers_at == SHOAL_OUTLIERS_NONE) return;
  shoal_text_add(t, "\nOutliers: ");
  shoal_text_add(t, e->outliers_at == SHOAL_OUTLIERS_CHOSEN ? "suppressed at this node are "
                    : e->outliers_at == SHOAL_OUTLIERS_BEST ? "the policy is violated there by "
                                                            : "one step lower (");
  if (e->outliers_at == SHOAL_OUTLIERS_BELOW) {
    add_levels(t, r, node->levels);
    shoal_text_add(t, ") the policy is violated by ");
  }
  shoal_format_rows(t, node->suppressed);
  shoal_text_add(t, " in ");
  shoal_format_counted(t, e->outlier_classes, "class", "classes");
  shoal_text_add(t, "\n");
  for (size_t i = 0; i < e->n_outliers; i++) add_outlier(t, r, &e->outliers[i]);
  if (e->n_outliers_unlisted) {
    shoal_text_add(t, "  and ");
    shoal_text_add_count(t, e->n_outliers_unlisted);
    shoal_text_add(t, " more with fewer rows\n");
  }
}

/* ------------------------------------------------------------ changes */

static void add_change(shoal_text *t, const shoal_result *r, const shoal_explained_change *c) {
  bool rows = strcmp(c->setting, "max-suppression") == 0;
  shoal_text_print(t, "  %s ", c->setting);
  if (rows) add_share(t, r, c->to);
  else shoal_text_add_count(t, c->to);
  shoal_text_add(t, " instead of ");
  shoal_text_add_count(t, c->from);
  if (!rows && c->to == 1) shoal_text_add(t, " (no requirement)");
  if (c->algorithm) {
    shoal_text_print(t, ": local recoding (%s), release loss %.1f%%", c->algorithm,
                     100 * c->release_loss);
  } else {
    shoal_text_print(t, ": height %u (", c->height);
    add_levels(t, r, c->levels);
    shoal_text_add(t, ")");
  }
  if (!rows && c->suppressed) {
    shoal_text_add(t, ", ");
    shoal_format_rows(t, c->suppressed);
    shoal_text_add(t, " suppressed");
  }
  bool given = r->explain.explanation->no_lattice && r->explain.explanation->local_met;
  shoal_text_add(t, c->exact || given ? "\n"
                    : c->algorithm    ? "; a smaller change may be enough\n"
                                   : "; fewer rows may be enough: not every node was evaluated\n");
}

/* A setting of which no smaller value helps, if that was tried. */
static void add_useless(shoal_text *t, const shoal_result *r, const char *setting, bool asked) {
  const shoal_explanation *e = r->explain.explanation;
  if (!asked || !e->changes_tried) return;
  for (size_t i = 0; i < e->n_changes; i++)
    if (strcmp(e->changes[i].setting, setting) == 0) return;
  shoal_text_print(t, "  no smaller %s helps alone\n", setting);
}

/* Where there is no lattice. */
static void add_local_changes(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explain.explanation;
  shoal_text_print(t, "\nChanges that would %s (each was tried)\n",
                   e->local_met ? "lose less" : "make it possible");
  for (size_t i = 0; i < e->n_changes; i++) add_change(t, r, &e->changes[i]);
  if (!e->n_changes)
    shoal_text_add(t, e->local_met
                          ? "  neither half of k, a smaller p nor 5% more suppressed rows\n"
                          : "  no k, p or max-suppression alone\n");
  shoal_text_add(t, "Only you can decide to weaken the protection.\n");
}

static void add_changes(shoal_text *t, const shoal_result *r) {
  const shoal_explanation *e = r->explain.explanation;
  if (e->node_met && e->min_height == 0) {
    shoal_text_add(t, "\nNothing has to be generalized.\n");
    return;
  }
  shoal_text_print(t, "\nSmallest single changes that would %s (each was tried)\n",
                   e->node_met ? "allow a lower node" : "make it possible");
  add_useless(t, r, "k", e->has_k);
  add_useless(t, r, "p", e->has_p);
  size_t steps = 0;
  for (size_t i = 0; i < e->n_changes; i++) {
    const shoal_explained_change *c = &e->changes[i];
    bool rows = strcmp(c->setting, "max-suppression") == 0;
    if (rows && steps++ && (steps > MAX_STEPS || c->to > r->input_rows / 2)) continue;
    add_change(t, r, c);
  }
  if (!e->node_met && !e->has_node && e->every_node)
    shoal_text_add(t, "  no max-suppression helps: no row could be released\n");
  if (!e->changes_tried)
    shoal_text_add(t, "  other values of k and p were not tried: a model of the policy is not "
                      "monotone, and the\n  lattice has too many nodes\n");
  if (e->node_met) add_hierarchy_hint(t, r);
  shoal_text_add(t, "Only you can decide to weaken the protection.\n");
}

void shoal_explain_text(const shoal_result *r, shoal_text *t) {
  add_verdict(t, r);
  add_requirements(t, r);
  if (r->explain.explanation->no_lattice) {
    if (r->explain.explanation->local_met) add_local_costs(t, r);
    add_local_changes(t, r);
    shoal_format_warnings(t, r);
    return;
  }
  if (r->explain.explanation->costs) add_costs(t, r);
  add_outliers(t, r);
  add_changes(t, r);
  shoal_format_warnings(t, r);
}

/* ------------------------------------------------------------ JSON */

static json_t *count_if(bool known, uint64_t n) {
  return known ? shoal_json_count(n) : json_null();
}

static json_t *requirement_name(const shoal_explained_requirement *d, shoal_json *json) {
  json_t *object = json_object();
  shoal_json_set(json, object, "model", json_string(d->model));
  if (d->attribute) shoal_json_set(json, object, "attribute", json_string(d->attribute));
  shoal_json_over(json, object, &d->over);
  return object;
}

static json_t *requirements_array(const shoal_explanation *e, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < e->n_requirements; i++) {
    const shoal_explained_requirement *d = &e->requirements[i];
    json_t *object = requirement_name(d, json);
    shoal_json_set(json, object, "required", shoal_json_number(d->required));
    shoal_json_set(json, object, "reached", shoal_json_number(d->reached));
    shoal_json_set(json, object, "holds", json_boolean(d->holds));
    shoal_json_set(json, object, "max_groups", count_if(d->bounded, d->max_groups));
    shoal_json_set(json, object, "why", shoal_json_string(d->why));
    shoal_json_set(json, object, "without",
                   d->tried ? json_pack("{s:b, s:o}", "met", d->met_without, "height",
                                        count_if(d->met_without, d->height_without))
                            : json_null());
    shoal_json_append(json, array, object);
  }
  return array;
}

static json_t *hardest_array(const shoal_explanation *e, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < e->n_hardest; i++) {
    const shoal_hardness *h = &e->hardest[i];
    shoal_json_append(json, array,
                      json_pack("{s:s, s:s, s:o, s:o, s:o}", "model", h->model, "attribute",
                                h->attribute, "p", shoal_json_count(h->p), "distinct",
                                shoal_json_count(h->distinct), "max_groups",
                                shoal_json_count(h->max_groups)));
  }
  return array;
}

/* Without a lattice: nothing about levels. */
static json_t *local_cost_object(const shoal_quasi_cost *c) {
  json_t *without = c->tried
                        ? json_pack("{s:b, s:o, s:f, s:o}", "met", c->met_without, "suppressed",
                                    count_if(c->met_without, c->suppressed_without),
                                    "others_loss_now", c->others_now, "others_loss",
                                    c->met_without ? json_real(c->others_without) : json_null())
                        : json_null();
  return json_pack("{s:s, s:f, s:o}", "attribute", c->name, "loss", c->loss, "without", without);
}

static json_t *without_object(const shoal_quasi_cost *c) {
  if (!c->tried) return json_null();
  return json_pack("{s:b, s:o, s:o, s:o}", "met", c->met_without, "height",
                   count_if(c->met_without, c->height_without), "height_now",
                   shoal_json_count(c->height_now), "suppressed",
                   count_if(c->met_without, c->suppressed_without));
}

static json_t *costs_array(const shoal_result *r, shoal_json *json) {
  const shoal_explanation *e = r->explain.explanation;
  json_t *array = json_array();
  for (size_t q = 0; e->costs && q < r->n_quasi; q++) {
    const shoal_quasi_cost *c = &e->costs[q];
    if (e->no_lattice) {
      if (e->local_met) shoal_json_append(json, array, local_cost_object(c));
      continue;
    }
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:f, s:o, s:o, s:o, s:o}", "attribute", c->name, "level",
                  shoal_json_count(c->level), "height", shoal_json_count(c->height), "loss",
                  c->loss, "labels", shoal_json_count(c->labels), "labels_below",
                  count_if(c->level > 0, c->labels_below), "suppressed_below",
                  count_if(c->level > 0, c->suppressed_below), "without", without_object(c));
    shoal_json_append(json, array, object);
  }
  return array;
}

static json_t *outlier_object(const shoal_result *r, const shoal_outlier *o, shoal_json *json) {
  json_t *models = json_array();
  for (size_t i = 0; i < o->n_requirements; i++)
    shoal_json_append(
        json, models,
        requirement_name(&r->explain.explanation->requirements[o->requirements[i]], json));
  return json_pack("{s:o, s:o, s:o, s:o}", "labels", shoal_json_labels(json, r, o->labels), "rows",
                   shoal_json_count(o->n_rows), "classes", shoal_json_count(o->n_classes), "breaks",
                   models);
}

static json_t *outliers_object(const shoal_result *r, shoal_json *json) {
  static const char *const nodes[] = {[SHOAL_OUTLIERS_NONE] = NULL,
                                      [SHOAL_OUTLIERS_CHOSEN] = "chosen",
                                      [SHOAL_OUTLIERS_BELOW] = "below",
                                      [SHOAL_OUTLIERS_BEST] = "best"};
  const shoal_explanation *e = r->explain.explanation;
  if (e->outliers_at == SHOAL_OUTLIERS_NONE) return json_null();
  json_t *array = json_array();
  for (size_t i = 0; i < e->n_outliers; i++)
    shoal_json_append(json, array, outlier_object(r, &e->outliers[i], json));
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "at", nodes[e->outliers_at], "node",
                   shoal_json_levels(json, r, e->outliers_node.levels), "height",
                   shoal_json_count(e->outliers_node.height), "rows",
                   shoal_json_count(e->outliers_node.suppressed), "classes",
                   shoal_json_count(e->outlier_classes), "list", array, "unlisted",
                   shoal_json_count(e->n_outliers_unlisted));
}

static json_t *changes_array(const shoal_result *r, shoal_json *json) {
  const shoal_explanation *e = r->explain.explanation;
  json_t *array = json_array();
  for (size_t i = 0; i < e->n_changes; i++) {
    const shoal_explained_change *c = &e->changes[i];
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:o, s:s?, s:b}", "change", c->setting, "from",
                  shoal_json_count(c->from), "to", shoal_json_count(c->to), "suppressed",
                  shoal_json_count(c->suppressed), "algorithm", c->algorithm, "exact", c->exact);
    if (c->algorithm) shoal_json_set(json, object, "release_loss", json_real(c->release_loss));
    if (!c->algorithm) {
      shoal_json_set(json, object, "height", shoal_json_count(c->height));
      shoal_json_set(json, object, "node", shoal_json_levels(json, r, c->levels));
    }
    if (strcmp(c->setting, "max-suppression") == 0)
      shoal_json_set(json, object, "percent",
                     shoal_json_number((double)share_of_rows(c->to, r->input_rows) / 100));
    shoal_json_append(json, array, object);
  }
  return array;
}

json_t *shoal_explain_json(const shoal_result *r, shoal_json *json) {
  const shoal_explanation *e = r->explain.explanation;
  bool known = e->has_node;
  json_t *root = json_object();
  shoal_json_set(json, root, "shoal", json_string(SHOAL_VERSION));
  shoal_json_set(json, root, "command", json_string("explain"));
  shoal_json_set(json, root, "rows", shoal_json_count(r->input_rows));
  shoal_json_set(json, root, "met", json_boolean(e->no_lattice ? e->local_met : e->node_met));
  shoal_json_set(json, root, "monotone", json_boolean(e->monotone));
  shoal_json_set(json, root, "whole_table_holds", json_boolean(e->whole_holds));
  shoal_json_set(json, root, "max_suppression", shoal_json_count(r->explain.max_suppression));
  shoal_json_set(json, root, "lattice_nodes", shoal_json_count(r->explain.lattice_nodes));
  shoal_json_set(json, root, "every_node", json_boolean(e->every_node));
  shoal_json_set(json, root, "least_height", count_if(e->node_met, e->min_height));
  shoal_json_set(json, root, "node",
                 known ? shoal_json_levels(json, r, e->node.levels) : json_null());
  shoal_json_set(json, root, "height", count_if(known, e->node.height));
  shoal_json_set(json, root, "suppressed", count_if(known, e->node.suppressed));
  shoal_json_set(json, root, "loss", known ? json_real(e->loss) : json_null());
  shoal_json_set(json, root, "models", requirements_array(e, json));
  shoal_json_set(json, root, "hardest", hardest_array(e, json));
  shoal_json_set(json, root, "quasi_identifiers", costs_array(r, json));
  shoal_json_set(json, root, "outliers", outliers_object(r, json));
  if (e->local)
    shoal_json_set(json, root, "local",
                   json_pack("{s:s, s:b, s:o, s:o}", "algorithm", e->local, "met", e->local_met,
                             "suppressed", count_if(e->local_met, e->local_suppressed),
                             "release_loss",
                             e->local_met ? json_real(e->local_loss) : json_null()));
  if (e->no_lattice)
    shoal_json_set(json, root, "sample_rows",
                   e->sample_rows ? shoal_json_count(e->sample_rows) : json_null());
  shoal_json_set(json, root, "changes", changes_array(r, json));
  shoal_json_set(json, root, "warnings", shoal_json_warnings(json, r));
  return root;
}
