/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/bounds: one bound per requirement, from what its row of the table declares; and the
 * sentence that says why it cannot be met.
 */
#include "model/bounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/types.h"

/* Has the requirement a bound at all? */
static bool is_bounded(const shoal_requirement *requirement) {
  return requirement->type->is_size || requirement->type->min_distinct ||
         requirement->type == &shoal_model_households;
}

shoal_bound shoal_bound_of(const shoal_requirement *requirement,
                           const shoal_value_frequencies *values) {
  const shoal_model_type *type = requirement->type;
  shoal_bound bound = {.requirement = requirement, .n_rows = values->n_rows};
  if (!type->min_distinct && !requirement->counts_people) {
    bound.min_distinct = requirement->count[0];
    bound.max_classes = values->n_rows / requirement->count[0];
    return bound;
  }
  bound.frequencies = type->groups ? type->groups(requirement) : values;
  bound.min_distinct = type->min_distinct ? type->min_distinct(requirement) : requirement->count[0];
  bound.max_classes = shoal_value_frequencies_max_groups(bound.frequencies, bound.min_distinct);
  return bound;
}

static shoal_status count_values(shoal_bounds *bounds, const shoal_tracked *tracked,
                                 const shoal_table *table, shoal_error *error) {
  bounds->values = shoal_alloc_zero(tracked->n_sensitive, sizeof *bounds->values);
  if (!bounds->values) return shoal_fail_memory(error);
  for (size_t s = 0; s < tracked->n_sensitive; s++) {
    SHOAL_TRY(shoal_value_frequencies_count(table, tracked->sensitive[s].column, &bounds->values[s],
                                            error));
    bounds->n_sensitive = s + 1;
  }
  if (tracked->person)
    SHOAL_TRY(shoal_value_frequencies_count(table, tracked->person, &bounds->people, error));
  if (tracked->household)
    SHOAL_TRY(shoal_value_frequencies_count(table, tracked->household, &bounds->households, error));
  return SHOAL_OK;
}

/* The frequencies of what the requirement counts. */
static const shoal_value_frequencies *counted_by(const shoal_bounds *bounds,
                                                 const shoal_requirement *requirement,
                                                 const shoal_value_frequencies *rows) {
  if (requirement->sensitive != SHOAL_NO_ATTRIBUTE) return &bounds->values[requirement->sensitive];
  if (!requirement->counts_people) return rows;
  return requirement->type->is_size ? &bounds->people : &bounds->households;
}

static shoal_status bound_all(shoal_bounds *bounds, const shoal_requirements *requirements,
                              const shoal_tracked *tracked, const shoal_table *table,
                              shoal_error *error) {
  SHOAL_TRY(count_values(bounds, tracked, table, error));
  bounds->items = shoal_alloc(requirements->n_items, sizeof *bounds->items);
  if (!bounds->items) return shoal_fail_memory(error);
  const shoal_value_frequencies rows = {.n_rows = table->n_records};
  for (size_t i = 0; i < requirements->n_items; i++) {
    const shoal_requirement *requirement = &requirements->items[i];
    if (!is_bounded(requirement)) continue;
    shoal_bound *bound = &bounds->items[bounds->n_items++];
    *bound = shoal_bound_of(requirement, counted_by(bounds, requirement, &rows));
    bound->k = shoal_requirement_k_beside(requirements, requirement);
    bound->p_above_k = shoal_requirement_p_above_k(requirements, requirement);
    if (shoal_requirement_is_whole(requirement) && bound->max_classes < bounds->max_classes)
      bounds->max_classes = bound->max_classes;
  }
  return SHOAL_OK;
}

shoal_status shoal_bounds_init(const shoal_requirements *requirements, const shoal_tracked *tracked,
                               const shoal_table *table, shoal_bounds *bounds, shoal_error *error) {
  *bounds = (shoal_bounds){.max_classes = UINT64_MAX};
  shoal_status status = bound_all(bounds, requirements, tracked, table, error);
  if (status != SHOAL_OK) shoal_bounds_reset(bounds);
  return status;
}

void shoal_bounds_reset(shoal_bounds *bounds) {
  for (size_t s = 0; s < bounds->n_sensitive; s++) free(bounds->values[s].descending);
  free(bounds->values);
  free(bounds->people.descending);
  free(bounds->households.descending);
  free(bounds->items);
  memset(bounds, 0, sizeof *bounds);
}

/* ------------------------------------------------------------ words */

const char *shoal_bound_noun(const shoal_bound *bound, bool plural) {
  const shoal_model_type *type = bound->requirement->type;
  if (!bound->frequencies) return plural ? "rows" : "row";
  if (type == &shoal_model_households) return plural ? "households" : "household";
  if (type->is_size) return plural ? "people" : "person";
  if (type->groups) return plural ? type->group_nouns : type->group_noun;
  return plural ? "distinct values" : "distinct value";
}

/* The first parameter as the policy has it: "3", "2.5" */
static void print_parameter(const shoal_requirement *requirement, char *out, size_t capacity) {
  if (requirement->type->parameters[0].kind == SHOAL_PARAMETER_NUMBER)
    (void)snprintf(out, capacity, "%s", requirement->text[0]);
  else (void)snprintf(out, capacity, "%llu", (unsigned long long)requirement->count[0]);
}

void shoal_bound_explain(const shoal_bound *bound, const char *attribute, char *out,
                         size_t capacity) {
  const shoal_requirement *requirement = bound->requirement;
  const char *name = requirement->type->parameters[0].name;
  unsigned long long has = bound->frequencies ? bound->frequencies->n_distinct : bound->n_rows;
  const char *noun = shoal_bound_noun(bound, has != 1);
  char value[64];
  print_parameter(requirement, value, sizeof value);
  if (requirement->type->explain)
    requirement->type->explain(requirement, bound->frequencies, attribute, out, capacity);
  else if (requirement->sensitive == SHOAL_NO_ATTRIBUTE)
    (void)snprintf(out, capacity,
                   "%s is %s, but the table has only %llu %s; set %s to %llu or less%s", name,
                   value, has, noun, name, has,
                   requirement->type->is_size ? " (near that number, all detail is lost)" : "");
  else if (has == 0) (void)snprintf(out, capacity, "every value of '%s' is missing", attribute);
  else
    (void)snprintf(out, capacity,
                   "%s is %s, but '%s' has only %llu %s in the whole table; set %s to %llu or less",
                   name, value, attribute, has, noun, name, has);
}
