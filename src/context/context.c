/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context: roles, then requirements, then hierarchies, then the frequency set, as far as the scope
 * asks for.
 */
#include "context/context.h"
#include "read/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void shoal_context_reset(shoal_context *p) {
  shoal_frequency_set_free(p->frequency);
  shoal_requirements_reset(&p->requirements);
  for (size_t q = 0; p->hierarchies && q < p->n_quasi; q++) shoal_hierarchy_free(p->hierarchies[q]);
  for (size_t s = 0; p->sensitive_trees && s < p->n_sensitive; s++)
    shoal_hierarchy_free(p->sensitive_trees[s]);
  shoal_arena_reset(&p->arena);
  shoal_people_reset(&p->people);
  shoal_people_reset(&p->households);
  shoal_ordered_table_free(p->ordered);
  memset(p, 0, sizeof *p);
}

static bool allocate(shoal_context *p) {
  size_t n = p->table->n_columns, room = shoal_tracked_room(p->table);
  shoal_arena *arena = &p->arena;
  return SHOAL_ARENA_ARRAY(arena, p->roles, n) && SHOAL_ARENA_ARRAY(arena, p->attributes, n) &&
         SHOAL_ARENA_ARRAY(arena, p->quasi, n) &&
         SHOAL_ARENA_ARRAY(arena, p->quasi_attributes, n) &&
         SHOAL_ARENA_ZEROED(arena, p->hierarchies, n) && SHOAL_ARENA_ARRAY(arena, p->weights, n) &&
         SHOAL_ARENA_ZEROED(arena, p->sensitive, n) &&
         SHOAL_ARENA_ZEROED(arena, p->sensitive_trees, n) &&
         SHOAL_ARENA_ARRAY(arena, p->tracked.columns, room) &&
         SHOAL_ARENA_ARRAY(arena, p->tracked.track, room);
}

/* Changes the seed: the order of the written rows, which is visible, follows the seed itself. */
static const uint64_t TIES_STREAM = UINT64_C(0x7469657300000000); /* "ties" */

/*
 * Local algorithms break ties by the numbers of rows and codes. Sorting by value, over the columns
 * that they see, makes the release independent of the order of the input.
 * Rows may still differ in other columns: which of several equal ones is which is random.
 */
static shoal_status order_rows(shoal_context *p, shoal_error *error) {
  shoal_random random;
  if (p->policy->has_seed) shoal_random_seed(&random, p->policy->seed ^ TIES_STREAM);
  else if (!shoal_random_entropy(&random))
    return shoal_fail(error, SHOAL_FAILED,
                      "the system gives no randomness for equal rows: give a seed");
  uint8_t *chosen = shoal_alloc_zero(p->table->n_columns, 1);
  if (!chosen) return shoal_fail_memory(error);
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_column *column = &p->table->columns[c];
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, column->name);
    bool seen = attribute &&
                (attribute->role == SHOAL_ROLE_QUASI || attribute->role == SHOAL_ROLE_SENSITIVE);
    bool counted =
        attribute && ((shoal_attribute_is_key(attribute, SHOAL_ROLE_PERSON) && p->people.repeat) ||
                      (attribute->role == SHOAL_ROLE_HOUSEHOLD && p->households.repeat));
    chosen[c] =
        column->code_size && (seen || counted || shoal_policy_guards_by(p->policy, column->name));
  }
  shoal_status status = shoal_table_order(p->table, chosen, &random, &p->ordered, error);
  free(chosen);
  if (status == SHOAL_OK) p->table = &p->ordered->table;
  return status;
}

/* People and households; where each row has its own, rows are counted. */
static shoal_status find_people(shoal_context *p, shoal_error *error) {
  shoal_people_reset(&p->people);
  shoal_people_reset(&p->households);
  SHOAL_TRY(shoal_people_init(&p->people, p->table, p->policy, SHOAL_ROLE_PERSON, error));
  SHOAL_TRY(shoal_people_init(&p->households, p->table, p->policy, SHOAL_ROLE_HOUSEHOLD, error));
  shoal_tracked *tracked = &p->tracked;
  tracked->person = p->people.repeat ? p->people.column : NULL;
  tracked->household = p->households.repeat ? p->households.column : NULL;
  tracked->person_absent = p->people.absent;
  tracked->household_absent = p->households.absent;
  return SHOAL_OK;
}

static bool is_one(shoal_decimal number) { return number.mantissa == 1 && number.scale == 0; }

static shoal_status assign_roles(shoal_context *p, shoal_error *error) {
  size_t n_known = 0;
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_column *column = &p->table->columns[c];
    const shoal_attribute *entry = shoal_policy_attribute(p->policy, column->name);
    shoal_attribute *attribute = &p->attributes[c];
    n_known += shoal_policy_knows_name(p->policy, column->name);
    *attribute = entry ? *entry : (shoal_attribute){0};
    attribute->name = column->name;
    p->roles[c] = entry                                        ? entry->role
                  : p->policy->unlisted == SHOAL_UNLISTED_KEEP ? SHOAL_ROLE_KEEP
                                                               : SHOAL_ROLE_DROP;
    if (p->roles[c] == SHOAL_ROLE_QUASI) {
      p->quasi_attributes[p->n_quasi] = attribute;
      p->weights[p->n_quasi] = attribute->weight;
      p->weighted = p->weighted || !is_one(attribute->weight);
      p->quasi[p->n_quasi++] = column;
    }
    if (p->roles[c] == SHOAL_ROLE_SENSITIVE)
      p->sensitive[p->n_sensitive++] = (shoal_sensitive){.column = column, .attribute = attribute};
  }
  p->knows_header =
      shoal_is_database(p->table->name) || shoal_policy_knows_header(n_known, p->table->n_columns);
  if (p->n_quasi) return SHOAL_OK;
  return shoal_fail_at(
      error, SHOAL_BAD_INPUT, &(shoal_location){.file = p->policy->file},
      "no column has 'role: quasi'; give it to every column that an outsider may know");
}

static shoal_status compile_hierarchies(shoal_context *p, bool local, shoal_error *error) {
  for (size_t q = 0; q < p->n_quasi; q++) {
    const shoal_attribute *attribute = p->quasi_attributes[q];
    bool number = attribute->type == SHOAL_TYPE_NUMBER;
    if (!attribute->has_hierarchy && local) continue;
    if (!attribute->has_hierarchy) /* text has sets */
      return shoal_policy_fail(p->policy, attribute->mark, error,
                               "quasi-identifier '%s' has no hierarchy; give it one, such as "
                               "'hierarchy: {intervals: auto}' ('anonymize --algorithm flock' "
                               "needs none for numbers)",
                               attribute->name);
    shoal_hierarchy_options options = {.policy = p->policy->file,
                                       .attribute = attribute->name,
                                       .number = number,
                                       .equality = shoal_policy_equality(p->policy, attribute),
                                       .min_level = attribute->min_level,
                                       .has_max_level = attribute->has_max_level,
                                       .max_level = attribute->max_level,
                                       .ragged = local};
    SHOAL_TRY(shoal_policy_find_file(p->policy, attribute, attribute->hierarchy.file, error));
    SHOAL_TRY(shoal_hierarchy_compile(&attribute->hierarchy, p->table, p->quasi[q], &options,
                                      &p->hierarchies[q], error));
  }
  return SHOAL_OK;
}

/* Models use the trees of sensitive attributes; these may be ragged. */
static shoal_status compile_sensitive(shoal_context *p, shoal_error *error) {
  for (size_t s = 0; s < p->n_sensitive; s++) {
    const shoal_attribute *attribute = p->sensitive[s].attribute;
    if (!attribute->has_hierarchy) continue;
    shoal_hierarchy_options options = {.policy = p->policy->file,
                                       .attribute = attribute->name,
                                       .number = attribute->type == SHOAL_TYPE_NUMBER,
                                       .equality = shoal_policy_equality(p->policy, attribute),
                                       .ragged = true};
    SHOAL_TRY(shoal_policy_find_file(p->policy, attribute, attribute->hierarchy.file, error));
    SHOAL_TRY(shoal_hierarchy_compile(&attribute->hierarchy, p->table, p->sensitive[s].column,
                                      &options, &p->sensitive_trees[s], error));
    p->sensitive[s].hierarchy = p->sensitive_trees[s];
  }
  return SHOAL_OK;
}

static shoal_status prepare(shoal_context *p, shoal_context_scope scope, shoal_error *error) {
  if (!p->table->finished)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the table is not finished: finish it first");
  if (!allocate(p)) return shoal_fail_memory(error);
  SHOAL_TRY(find_people(p, error));
  if (scope == SHOAL_CONTEXT_SORTED) SHOAL_TRY(order_rows(p, error));
  if (scope == SHOAL_CONTEXT_SORTED && (p->people.repeat || p->households.repeat))
    SHOAL_TRY(find_people(p, error)); /* with the codes of the sorted rows */
  SHOAL_TRY(assign_roles(p, error));
  SHOAL_TRY(compile_sensitive(p, error));
  p->tracked.sensitive = p->sensitive;
  p->tracked.n_sensitive = p->n_sensitive;
  p->tracked.quasi = p->quasi;
  p->tracked.n_quasi = p->n_quasi;
  SHOAL_TRY(shoal_requirements_bind(p->policy, p->table, &p->tracked, &p->requirements, error));
  if (scope == SHOAL_CONTEXT_REQUIREMENTS) return SHOAL_OK;
  SHOAL_TRY(shoal_requirements_check(&p->requirements, p->policy, error));
  for (size_t s = 0; scope == SHOAL_CONTEXT_COUNTS && s < p->n_sensitive; s++)
    p->tracked.track[s] = SHOAL_TRACK_HISTOGRAM;
  if (scope >= SHOAL_CONTEXT_LOCAL) {
    SHOAL_TRY(shoal_requirements_check_p(&p->requirements, p->policy, error));
    SHOAL_TRY(compile_hierarchies(p, scope != SHOAL_CONTEXT_LATTICE, error));
  }
  return shoal_frequency_set_build(
      p->table, p->quasi, (const shoal_hierarchy *const *)p->hierarchies, p->n_quasi,
      p->tracked.columns, p->tracked.track, p->tracked.n_columns, p->run, &p->frequency, error);
}

shoal_status shoal_context_init(shoal_context *p, const shoal_table *table,
                                const shoal_policy *policy, shoal_context_scope scope,
                                const shoal_run *run, shoal_error *error) {
  memset(p, 0, sizeof *p);
  p->table = table;
  p->policy = policy;
  p->run = run;
  shoal_status status = prepare(p, scope, error);
  if (status != SHOAL_OK) shoal_context_reset(p);
  return status;
}

const shoal_table *shoal_context_original(const shoal_context *p) {
  return p->ordered ? p->ordered->original : p->table;
}

const char *shoal_context_attribute(const shoal_context *p, const shoal_requirement *requirement) {
  return requirement->sensitive == SHOAL_NO_ATTRIBUTE
             ? ""
             : p->sensitive[requirement->sensitive].column->name;
}

const char *shoal_context_column_label(const shoal_context *p, size_t c,
                                       char out[SHOAL_COLUMN_LABEL_BYTES]) {
  const char *name = p->table->columns[c].name;
  if (p->knows_header || p->roles[c] != SHOAL_ROLE_DROP) return name;
  (void)snprintf(out, SHOAL_COLUMN_LABEL_BYTES, "column %zu", c + 1);
  return out;
}

bool shoal_context_has_lattice(const shoal_context *p) {
  for (size_t q = 0; q < p->n_quasi; q++)
    if (!p->hierarchies[q] || p->hierarchies[q]->ragged) return false;
  return true;
}

shoal_status shoal_context_search_any(const shoal_context *p, bool needs_rows, shoal_search *search,
                                      shoal_error *error) {
  shoal_bounds bounds;
  SHOAL_TRY(shoal_bounds_init(&p->requirements, &p->tracked, p->table, &bounds, error));
  uint64_t max_classes = bounds.max_classes;
  shoal_bounds_reset(&bounds);
  uint64_t limit = shoal_amount_rows(p->policy->max_suppression, p->table->n_records);
  return shoal_search_init(search, p->frequency, &p->requirements, limit, max_classes, needs_rows,
                           p->run, error);
}

shoal_status shoal_context_search(const shoal_context *p, bool needs_rows, shoal_search *search,
                                  shoal_error *error) {
  SHOAL_TRY(shoal_context_search_any(p, needs_rows, search, error));
  shoal_status status = shoal_search_check_countable(search, error);
  if (status != SHOAL_OK) shoal_search_reset(search);
  return status;
}
