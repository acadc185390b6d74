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
  shoal_text_print(t, "%s", shoal_say_rows(n).text);
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
    shoal_text_print(t, "%s%s is required; with all rows in one class it is %s\n",
                     d->at_most ? ": at most " : ": at least ", shoal_say_number(d->required).text,
                     shoal_say_number(d->reached).text);
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
    shoal_text_print(t, " are\n  in them, and %s may be suppressed.\n",
                     shoal_say_rows(r->explain.max_suppression).text);
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
  shoal_text_print(t, "%s: the policy %s be satisfied\n  %s, %s may be suppressed", r->source,
                   r->holds ? "can" : "CANNOT", shoal_say_rows(r->input_rows).text,
                   shoal_say_count(r->explain.max_suppression).text);
  if (e->no_lattice) {
    shoal_text_print(t, "; local recoding only: '%s' has no hierarchy with levels\n",
                     e->no_lattice);
    if (e->sample_rows)
      shoal_text_print(t, "  computed on a sample of %s; all rows usually lose less\n",
                       shoal_say_rows(e->sample_rows).text);
    add_local_only(t, r);
    return;
  }
  shoal_text_print(
      t, "; %s", shoal_say_counted(r->explain.lattice_nodes, "lattice node", "lattice nodes").text);
  shoal_text_add(t, e->every_node ? ", all evaluated\n" : "\n");
  if (!e->node_met) add_reasons(t, r);
  if (e->local) add_local(t, r);
  if (!e->has_node) return;
  shoal_text_add(t, !e->node_met ? "\nThe node with the fewest rows to suppress\n"
                    : e->node.height > e->min_height ? "\nThe preferred node\n"
                                                     : "\nThe lowest node\n");
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

/* ------------------------------------------------------------ requirements */

static void add_requirement(shoal_text *t, const shoal_result *r,
                            const shoal_explained_requirement *d) {
  const shoal_explanation *e = r->explain.explanation;
  shoal_text_add(t, "  ");
  add_requirement_name(t, d);
  shoal_text_print(t, "%s%s required, the whole table has %s",
                   d->at_most ? ": at most " : ": at least ", shoal_say_number(d->required).text,
                   shoal_say_number(d->reached).text);
  if (d->bounded) shoal_text_print(t, "; at most %s", shoal_say_classes(d->max_groups).text);
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
    shoal_text_print(t, "  %s, %s: %s, p = %llu: at most %s\n", h->attribute, h->model,
                     shoal_say_counted(h->distinct, h->noun, h->nouns).text,
                     (unsigned long long)h->p, shoal_say_classes(h->max_groups).text);
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
  shoal_text_print(t, ", %s suppressed", shoal_say_rows(c->suppressed_without).text);
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
  shoal_text_print(t, "  %s", shoal_say_rows(o->n_rows).text);
  if (o->n_classes > 1) shoal_text_print(t, " in %s", shoal_say_classes(o->n_classes).text);
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
  shoal_text_print(t, "\nOutliers: %s",
                   e->outliers_at == SHOAL_OUTLIERS_CHOSEN ? "suppressed at this node are "
                   : e->outliers_at == SHOAL_OUTLIERS_BEST ? "the policy is violated there by "
                                                           : "one step lower (");
  if (e->outliers_at == SHOAL_OUTLIERS_BELOW) {
    add_levels(t, r, node->levels);
    shoal_text_add(t, ") the policy is violated by ");
  }
  shoal_text_print(t, "%s in %s\n", shoal_say_rows(node->suppressed).text,
                   shoal_say_classes(e->outlier_classes).text);
  for (size_t i = 0; i < e->n_outliers; i++) add_outlier(t, r, &e->outliers[i]);
  if (e->n_outliers_unlisted)
    shoal_text_print(t, "  and %s more with fewer rows\n",
                     shoal_say_count(e->n_outliers_unlisted).text);
}

/* ------------------------------------------------------------ changes */

static void add_change(shoal_text *t, const shoal_result *r, const shoal_explained_change *c) {
  bool rows = strcmp(c->setting, "max-suppression") == 0;
  shoal_text_print(t, "  %s ", c->setting);
  if (rows) add_share(t, r, c->to);
  else shoal_text_print(t, "%s", shoal_say_count(c->to).text);
  shoal_text_print(t, " instead of %s", shoal_say_count(c->from).text);
  if (!rows && c->to == 1) shoal_text_add(t, " (no requirement)");
  if (c->algorithm) {
    shoal_text_print(t, ": local recoding (%s), release loss %.1f%%", c->algorithm,
                     100 * c->release_loss);
  } else {
    shoal_text_print(t, ": height %u (", c->height);
    add_levels(t, r, c->levels);
    shoal_text_add(t, ")");
  }
  if (!rows && c->suppressed)
    shoal_text_print(t, ", %s suppressed", shoal_say_rows(c->suppressed).text);
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
    /* Where there is no lattice. */
    const shoal_explanation *e = r->explain.explanation;
    shoal_text_print(t, "\nChanges that would %s (each was tried)\n",
                     e->local_met ? "lose less" : "make it possible");
    for (size_t i = 0; i < e->n_changes; i++) add_change(t, r, &e->changes[i]);
    if (!e->n_changes)
      shoal_text_add(t, e->local_met
                            ? "  neither half of k, a smaller p nor 5% more suppressed rows\n"
                            : "  no k, p or max-suppression alone\n");
    shoal_text_add(t, "Only you can decide to weaken the protection.\n");
    shoal_format_warnings(t, r);
    return;
  }
  if (r->explain.explanation->costs) add_costs(t, r);
  add_outliers(t, r);
  add_changes(t, r);
  shoal_format_warnings(t, r);
}

/* ------------------------------------------------------------ JSON */

static json_t *requirement_name(const shoal_explained_requirement *d, shoal_json *json) {
  json_t *object = SHOAL_OBJECT(K("model", d->model), OPT("attribute", d->attribute));
  shoal_json_over(json, object, &d->over);
  return object;
}

static json_t *requirements_array(const shoal_explanation *e, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < e->n_requirements; i++) {
    const shoal_explained_requirement *d = &e->requirements[i];
    json_t *object = requirement_name(d, json);
    SHOAL_PUT(
        json, object, N("required", d->required), N("reached", d->reached), K("holds", d->holds),
        K("max_groups", shoal_json_count_if(d->bounded, d->max_groups)), K("why", d->why),
        K("without", d->tried ? SHOAL_OBJECT(K("met", d->met_without),
                                             K("height", shoal_json_count_if(d->met_without,
                                                                             d->height_without)))
                              : json_null()));
    shoal_json_append(json, array, object);
  }
  return array;
}

static json_t *hardest_array(const shoal_explanation *e, shoal_json *json) {
  json_t *array = json_array();
  for (size_t i = 0; i < e->n_hardest; i++) {
    const shoal_hardness *h = &e->hardest[i];
    shoal_json_append(json, array,
                      SHOAL_OBJECT(K("model", h->model), K("attribute", h->attribute), K("p", h->p),
                                   K("distinct", h->distinct), K("max_groups", h->max_groups)));
  }
  return array;
}

/* Without a lattice: nothing about levels. */
static json_t *local_cost_object(const shoal_quasi_cost *c) {
  json_t *without = json_null();
  if (c->tried) {
    json_t *others = c->met_without ? json_real(c->others_without) : json_null();
    without =
        SHOAL_OBJECT(K("met", c->met_without),
                     K("suppressed", shoal_json_count_if(c->met_without, c->suppressed_without)),
                     K("others_loss_now", c->others_now), K("others_loss", others));
  }
  return SHOAL_OBJECT(K("attribute", c->name), K("loss", c->loss), K("without", without));
}

static json_t *without_object(const shoal_quasi_cost *c) {
  if (!c->tried) return json_null();
  return SHOAL_OBJECT(K("met", c->met_without),
                      K("height", shoal_json_count_if(c->met_without, c->height_without)),
                      K("height_now", c->height_now),
                      K("suppressed", shoal_json_count_if(c->met_without, c->suppressed_without)));
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
        SHOAL_OBJECT(K("attribute", c->name), K("level", c->level), K("height", c->height),
                     K("loss", c->loss), K("labels", c->labels),
                     K("labels_below", shoal_json_count_if(c->level > 0, c->labels_below)),
                     K("suppressed_below", shoal_json_count_if(c->level > 0, c->suppressed_below)),
                     K("without", without_object(c)));
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
  return SHOAL_OBJECT(K("labels", shoal_json_labels(json, r, o->labels)), K("rows", o->n_rows),
                      K("classes", o->n_classes), K("breaks", models));
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
  return SHOAL_OBJECT(K("at", nodes[e->outliers_at]),
                      K("node", shoal_json_levels(json, r, e->outliers_node.levels)),
                      K("height", e->outliers_node.height), K("rows", e->outliers_node.suppressed),
                      K("classes", e->outlier_classes), K("list", array),
                      K("unlisted", e->n_outliers_unlisted));
}

static json_t *changes_array(const shoal_result *r, shoal_json *json) {
  const shoal_explanation *e = r->explain.explanation;
  json_t *array = json_array();
  for (size_t i = 0; i < e->n_changes; i++) {
    const shoal_explained_change *c = &e->changes[i];
    json_t *object =
        SHOAL_OBJECT(K("change", c->setting), K("from", c->from), K("to", c->to),
                     K("suppressed", c->suppressed), K("algorithm", c->algorithm),
                     K("exact", c->exact), KIF(c->algorithm, "release_loss", c->release_loss));
    if (!c->algorithm) {
      SHOAL_PUT(json, object, K("height", c->height),
                K("node", shoal_json_levels(json, r, c->levels)));
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
  json_t *root = SHOAL_OBJECT(
      K("shoal", SHOAL_VERSION), K("command", "explain"), K("rows", r->input_rows),
      K("met", json_boolean(e->no_lattice ? e->local_met : e->node_met)),
      K("monotone", e->monotone), K("whole_table_holds", e->whole_holds),
      K("max_suppression", r->explain.max_suppression),
      K("lattice_nodes", r->explain.lattice_nodes), K("every_node", e->every_node),
      K("least_height", shoal_json_count_if(e->node_met, e->min_height)),
      K("node", known ? shoal_json_levels(json, r, e->node.levels) : json_null()),
      K("height", shoal_json_count_if(known, e->node.height)),
      K("suppressed", shoal_json_count_if(known, e->node.suppressed)),
      K("loss", known ? json_real(e->loss) : json_null()), K("models", requirements_array(e, json)),
      K("hardest", hardest_array(e, json)), K("quasi_identifiers", costs_array(r, json)),
      K("outliers", outliers_object(r, json)));
  if (e->local)
    shoal_json_set(
        json, root, "local",
        SHOAL_OBJECT(K("algorithm", e->local), K("met", e->local_met),
                     K("suppressed", shoal_json_count_if(e->local_met, e->local_suppressed)),
                     K("release_loss", e->local_met ? json_real(e->local_loss) : json_null())));
  if (e->no_lattice)
    shoal_json_set(json, root, "sample_rows",
                   e->sample_rows ? shoal_json_count(e->sample_rows) : json_null());
  SHOAL_PUT(json, root, K("changes", changes_array(r, json)),
            K("warnings", shoal_json_warnings(json, r)));
  return root;
}
