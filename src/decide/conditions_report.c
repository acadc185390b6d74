/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/conditions_report: the necessary conditions (model/bounds.h) as results have them. Each
 * model has its own bound: a p of distinct values says nothing about a p of strong ancestors.
 */
#include <stdio.h>
#include <string.h>

#include "decide/models_report.h"

/* Frequencies shown of an attribute: more would make a long report, and no p is as large. */
enum { MAX_FREQUENCIES = 1000 };

/* ------------------------------------------------------------ the policy's p */

static shoal_status report_p(shoal_result *result, const shoal_context *p,
                             const shoal_bounds *bounds, shoal_condition_outcomes *out,
                             shoal_error *error) {
  *out = (shoal_condition_outcomes){
      .max_p = UINT64_MAX,
      .max_groups = p->table->n_records,
      .items = shoal_arena_alloc(&result->arena, p->n_sensitive, sizeof *out->items),
      .n_items = p->n_sensitive};
  if (!out->items) return shoal_fail_memory(error);
  uint64_t max_free_p = UINT64_MAX; /* of attributes without a required p */
  for (size_t s = 0; s < p->n_sensitive; s++) {
    /*
     * The bound on attribute s that the policy's p is about: of a model whose p counts values; if
     * only models that count groups of values require a p, of one of these. Of several, the one
     * that allows the fewest classes. NULL: no model requires a p.
     */
    const shoal_bound *found = NULL;
    for (size_t i = 0; i < bounds->n_items; i++) {
      const shoal_bound *bound = &bounds->items[i];
      const shoal_model_type *type = bound->requirement->type;
      if (bound->requirement->sensitive != s || !type->is_p) continue;
      bool plain = !type->groups, found_plain = found && !found->requirement->type->groups;
      if (!found || plain > found_plain ||
          (plain == found_plain && bound->max_classes < found->max_classes))
        found = bound;
    }
    const shoal_bound *bound = found;
    shoal_condition_outcome *item = &out->items[s];
    SHOAL_TRY(shoal_result_copy(result, p->sensitive[s].column->name, &item->attribute, error));
    item->distinct = bound ? bound->frequencies->n_distinct : bounds->values[s].n_distinct;
    item->max_groups = bound ? bound->max_classes : p->table->n_records;
    uint64_t *max_p = bound ? &out->max_p : &max_free_p;
    if (item->distinct < *max_p) *max_p = item->distinct;
    if (item->max_groups < out->max_groups) out->max_groups = item->max_groups;
  }
  if (out->max_p == UINT64_MAX) out->max_p = p->n_sensitive ? max_free_p : 0;
  return SHOAL_OK;
}

shoal_status shoal_result_conditions(shoal_result *result, const shoal_context *p,
                                     shoal_condition_outcomes *conditions, shoal_error *error) {
  shoal_bounds bounds;
  SHOAL_TRY(shoal_bounds_init(&p->requirements, &p->tracked, p->table, &bounds, error));
  shoal_status status = report_p(result, p, &bounds, conditions, error);
  shoal_bounds_reset(&bounds);
  return status;
}

/* ------------------------------------------------------------ every model */

static double first_parameter(const shoal_requirement *requirement) {
  return requirement->type->parameters[0].kind == SHOAL_PARAMETER_NUMBER
             ? shoal_decimal_double(requirement->number[0])
             : (double)requirement->count[0];
}

static shoal_status report_bound(shoal_result *result, const shoal_context *p,
                                 const shoal_bound *bound, shoal_bound_outcome *out,
                                 shoal_error *error) {
  const shoal_requirement *requirement = bound->requirement;
  out->bounded = true;
  out->parameter = requirement->type->parameters[0].name;
  out->required = first_parameter(requirement);
  out->noun = shoal_bound_noun(bound, false);
  out->nouns = shoal_bound_noun(bound, true);
  out->min_distinct = bound->min_distinct;
  out->max_distinct = bound->frequencies ? bound->frequencies->n_distinct : bound->n_rows;
  out->max_groups = bound->max_classes;
  out->holds = bound->max_classes > 0 && !bound->p_above_k;
  if (out->holds) return SHOAL_OK;
  char why[512];
  if (bound->max_classes == 0)
    shoal_bound_explain(bound, shoal_context_attribute(p, requirement), why, sizeof why);
  else
    (void)snprintf(why, sizeof why,
                   "p is above k = %llu; set p to %llu or less, or k to %llu or more",
                   (unsigned long long)bound->k, (unsigned long long)bound->k,
                   (unsigned long long)requirement->count[0]);
  return shoal_result_copy(result, why, &out->why, error);
}

static shoal_status report_models(shoal_result *result, const shoal_context *p,
                                  const shoal_bounds *bounds, shoal_conditions_report *report,
                                  shoal_error *error) {
  size_t n = p->requirements.n_items;
  report->models = shoal_arena_alloc(&result->arena, n, sizeof *report->models);
  if (!report->models) return shoal_fail_memory(error);
  for (size_t i = 0, b = 0; i < n; i++) {
    const shoal_requirement *requirement = &p->requirements.items[i];
    shoal_bound_outcome *out = &report->models[i];
    *out = (shoal_bound_outcome){.model = requirement->type->name, .holds = true};
    if (requirement->sensitive != SHOAL_NO_ATTRIBUTE)
      SHOAL_TRY(shoal_result_copy(result, shoal_context_attribute(p, requirement), &out->attribute,
                                  error));
    SHOAL_TRY(shoal_result_over(result, p, requirement, &out->over, error));
    if (b < bounds->n_items && bounds->items[b].requirement == requirement)
      SHOAL_TRY(report_bound(result, p, &bounds->items[b++], out, error));
    result->holds = result->holds && out->holds;
    report->n_models = i + 1;
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ frequency sets */

static shoal_status report_frequencies(shoal_result *result, const char *attribute,
                                       const char *nouns, const shoal_value_frequencies *f,
                                       shoal_frequencies_outcome *out, shoal_error *error) {
  size_t n = f->n_distinct < MAX_FREQUENCIES ? f->n_distinct : MAX_FREQUENCIES;
  *out = (shoal_frequencies_outcome){
      .nouns = nouns,
      .n_distinct = f->n_distinct,
      .descending = shoal_arena_alloc(&result->arena, n, sizeof *out->descending),
      .cumulative = shoal_arena_alloc(&result->arena, n, sizeof *out->cumulative),
      .n_items = n};
  if (!out->descending || !out->cumulative) return shoal_fail_memory(error);
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    out->descending[i] = f->descending[i];
    out->cumulative[i] = sum += f->descending[i];
  }
  return shoal_result_copy(result, attribute, &out->attribute, error);
}

static bool has_set(const shoal_frequencies_outcome *sets, size_t n, const char *nouns) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(sets[i].nouns, nouns) == 0) return true;
  return false;
}

/* Of values; then of groups of them that models count, each kind once per attribute. */
static shoal_status report_sets(shoal_result *result, const shoal_context *p,
                                const shoal_bounds *bounds, shoal_conditions_report *report,
                                shoal_error *error) {
  report->frequencies = shoal_arena_alloc(&result->arena, p->n_sensitive + bounds->n_items,
                                          sizeof *report->frequencies);
  if (!report->frequencies) return shoal_fail_memory(error);
  size_t n = 0;
  for (size_t s = 0; s < p->n_sensitive; s++) {
    const char *attribute = p->sensitive[s].column->name;
    size_t first = n;
    SHOAL_TRY(report_frequencies(result, attribute, "distinct values", &bounds->values[s],
                                 &report->frequencies[n++], error));
    for (size_t i = 0; i < bounds->n_items; i++) {
      const shoal_bound *bound = &bounds->items[i];
      const char *nouns = bound->requirement->type->group_nouns;
      if (bound->requirement->sensitive != s || !nouns ||
          has_set(report->frequencies + first, n - first, nouns))
        continue;
      SHOAL_TRY(report_frequencies(result, attribute, nouns, bound->frequencies,
                                   &report->frequencies[n++], error));
    }
  }
  report->n_frequencies = n;
  return SHOAL_OK;
}

static shoal_status report_all(shoal_result *result, const shoal_context *p,
                               const shoal_bounds *bounds, shoal_conditions_report *report,
                               shoal_error *error) {
  result->holds = true;
  report->max_classes = bounds->max_classes;
  SHOAL_TRY(report_p(result, p, bounds, &report->p, error));
  SHOAL_TRY(report_models(result, p, bounds, report, error));
  SHOAL_TRY(report_sets(result, p, bounds, report, error));
  /* cf(i) of all attributes, for each i up to the fewest distinct values (Table 6, last row). */
  size_t n = bounds->n_sensitive ? MAX_FREQUENCIES : 0;
  for (size_t s = 0; s < bounds->n_sensitive; s++)
    if (bounds->values[s].n_distinct < n) n = bounds->values[s].n_distinct;
  report->cumulative = shoal_arena_alloc(&result->arena, n, sizeof *report->cumulative);
  if (!report->cumulative) return shoal_fail_memory(error);
  memset(report->cumulative, 0, n * sizeof *report->cumulative);
  for (size_t s = 0; s < bounds->n_sensitive; s++) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
      sum += bounds->values[s].descending[i];
      if (sum > report->cumulative[i]) report->cumulative[i] = sum;
    }
  }
  report->n_cumulative = n;
  return SHOAL_OK;
}

shoal_status shoal_result_bounds(shoal_result *result, const shoal_context *p,
                                 shoal_conditions_report *report, shoal_error *error) {
  shoal_bounds bounds;
  SHOAL_TRY(shoal_bounds_init(&p->requirements, &p->tracked, p->table, &bounds, error));
  shoal_status status = report_all(result, p, &bounds, report, error);
  shoal_bounds_reset(&bounds);
  return status;
}
