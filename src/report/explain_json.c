/* SPDX-License-Identifier: Apache-2.0 */
/* report/explain_json: the explanation for programs. The names are the interface. */
#include <math.h>
#include <string.h>

#include "report/explain.h"
#include "report/json_build.h"

static json_t *number(double x) {
  if (x == floor(x) && fabs(x) < 9e15) return json_integer((json_int_t)x);
  return json_real(x);
}

static json_t *count(uint64_t n) { return json_integer((json_int_t)n); }

static json_t *count_if(bool known, uint64_t n) { return known ? count(n) : json_null(); }

static json_t *levels_object(const shoal_result *r, const uint32_t *levels) {
  json_t *object = json_object();
  for (size_t q = 0; q < r->n_quasi; q++) shoal_json_set(object, r->quasi[q], count(levels[q]));
  return object;
}

static json_t *demand_name(const shoal_explained_demand *d) {
  json_t *object = json_object();
  shoal_json_set(object, "model", json_string(d->model));
  if (d->attribute) shoal_json_set(object, "attribute", json_string(d->attribute));
  return object;
}

static json_t *demands_array(const shoal_explanation *e) {
  json_t *array = json_array();
  for (size_t i = 0; i < e->n_demands; i++) {
    const shoal_explained_demand *d = &e->demands[i];
    json_t *object = demand_name(d);
    shoal_json_set(object, "required", number(d->required));
    shoal_json_set(object, "reached", number(d->reached));
    shoal_json_set(object, "holds", json_boolean(d->holds));
    shoal_json_set(object, "max_groups", count_if(d->bounded, d->max_groups));
    shoal_json_set(object, "why", d->why ? json_string(d->why) : json_null());
    shoal_json_set(object, "without",
                   d->tried ? json_pack("{s:b, s:o}", "met", d->met_without, "height",
                                        count_if(d->met_without, d->height_without))
                            : json_null());
    shoal_json_append(array, object);
  }
  return array;
}

static json_t *hardest_array(const shoal_explanation *e) {
  json_t *array = json_array();
  for (size_t i = 0; i < e->n_hardest; i++) {
    const shoal_hardness *h = &e->hardest[i];
    shoal_json_append(array, json_pack("{s:s, s:o, s:o, s:o}", "attribute", h->attribute, "p",
                                       count(h->p), "distinct", count(h->distinct), "max_groups",
                                       count(h->max_groups)));
  }
  return array;
}

static json_t *without_object(const shoal_quasi_cost *c) {
  if (!c->tried) return json_null();
  return json_pack("{s:b, s:o, s:o, s:o}", "met", c->met_without, "height",
                   count_if(c->met_without, c->height_without), "height_now", count(c->height_now),
                   "suppressed", count_if(c->met_without, c->suppressed_without));
}

static json_t *costs_array(const shoal_result *r) {
  const shoal_explanation *e = r->explanation;
  json_t *array = json_array();
  for (size_t q = 0; e->costs && q < r->n_quasi; q++) {
    const shoal_quasi_cost *c = &e->costs[q];
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:f, s:o, s:o, s:o, s:o}", "attribute", c->name, "level", count(c->level),
        "height", count(c->height), "loss", c->loss, "labels", count(c->labels), "labels_below",
        count_if(c->level > 0, c->labels_below), "suppressed_below",
        count_if(c->level > 0, c->suppressed_below), "without", without_object(c));
    shoal_json_append(array, object);
  }
  return array;
}

static json_t *outlier_object(const shoal_result *r, const shoal_outlier *o) {
  json_t *labels = json_object(), *models = json_array();
  for (size_t q = 0; q < r->n_quasi; q++)
    shoal_json_set(labels, r->quasi[q], o->labels[q] ? json_string(o->labels[q]) : json_null());
  for (size_t i = 0; i < o->n_demands; i++)
    shoal_json_append(models, demand_name(&r->explanation->demands[o->demands[i]]));
  return json_pack("{s:o, s:o, s:o, s:o}", "labels", labels, "rows", count(o->n_rows), "classes",
                   count(o->n_classes), "breaks", models);
}

static json_t *outliers_object(const shoal_result *r) {
  static const char *const places[] = {[SHOAL_OUTLIERS_NONE] = NULL,
                                       [SHOAL_OUTLIERS_CHOSEN] = "chosen",
                                       [SHOAL_OUTLIERS_BELOW] = "below",
                                       [SHOAL_OUTLIERS_BEST] = "best"};
  const shoal_explanation *e = r->explanation;
  if (e->outliers_at == SHOAL_OUTLIERS_NONE) return json_null();
  json_t *array = json_array();
  for (size_t i = 0; i < e->n_outliers; i++)
    shoal_json_append(array, outlier_object(r, &e->outliers[i]));
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "at", places[e->outliers_at], "node",
                   levels_object(r, e->outliers_node.levels), "height",
                   count(e->outliers_node.height), "rows", count(e->outliers_node.suppressed),
                   "classes", count(e->outlier_classes), "list", array, "unlisted",
                   count(e->n_outliers_unlisted));
}

static json_t *changes_array(const shoal_result *r) {
  const shoal_explanation *e = r->explanation;
  json_t *array = json_array();
  for (size_t i = 0; i < e->n_changes; i++) {
    const shoal_explained_change *c = &e->changes[i];
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b}", "change", c->setting, "from",
                  count(c->from), "to", count(c->to), "height", count(c->height), "suppressed",
                  count(c->suppressed), "node", levels_object(r, c->levels), "exact", c->exact);
    if (strcmp(c->setting, "max-suppression") == 0)
      shoal_json_set(object, "percent",
                     number((double)shoal_share_of_rows(c->to, r->input_rows) / 100));
    shoal_json_append(array, object);
  }
  return array;
}

json_t *shoal_render_explain_json(const shoal_result *r) {
  const shoal_explanation *e = r->explanation;
  bool known = e->has_node;
  json_t *root = json_object();
  shoal_json_set(root, "shoal", json_string(SHOAL_VERSION));
  shoal_json_set(root, "command", json_string("explain"));
  shoal_json_set(root, "rows", count(r->input_rows));
  shoal_json_set(root, "met", json_boolean(r->holds));
  shoal_json_set(root, "monotone", json_boolean(e->monotone));
  shoal_json_set(root, "whole_table_holds", json_boolean(e->whole_holds));
  shoal_json_set(root, "max_suppression", count(r->max_suppression));
  shoal_json_set(root, "lattice_nodes", count(r->lattice_nodes));
  shoal_json_set(root, "every_node", json_boolean(e->every_node));
  shoal_json_set(root, "least_height", count_if(r->holds, e->least_height));
  shoal_json_set(root, "node", known ? levels_object(r, e->node.levels) : json_null());
  shoal_json_set(root, "height", count_if(known, e->node.height));
  shoal_json_set(root, "suppressed", count_if(known, e->node.suppressed));
  shoal_json_set(root, "loss", known ? json_real(e->loss) : json_null());
  shoal_json_set(root, "models", demands_array(e));
  shoal_json_set(root, "hardest", hardest_array(e));
  shoal_json_set(root, "quasi_identifiers", costs_array(r));
  shoal_json_set(root, "outliers", outliers_object(r));
  shoal_json_set(root, "changes", changes_array(r));
  json_t *warnings = json_array();
  for (size_t i = 0; i < r->n_warnings; i++)
    shoal_json_append(warnings, json_string(r->warnings[i]));
  shoal_json_set(root, "warnings", warnings);
  return root;
}
