/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/risks: risks of a release that its classes show. An attack on classes succeeds where a
 * class has too few distinct groups of sensitive values: one value (homogeneity), one protected
 * subtree (similarity), or one or two categories (categorical similarity). The groups of a class
 * come from its set or histogram. A column without a model has neither; then one pass over its
 * codes keeps the first two groups of each class.
 */
#include "decide/risks.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attack/attack.h"
#include "profile/profile.h"

/* ------------------------------------------------------------ the list */

static shoal_status copy_name(shoal_result *result, const char *name, const char **copy,
                              shoal_error *error) {
  *copy = name ? shoal_result_string(result, name, strlen(name)) : NULL;
  return *copy || !name ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_risk_add(shoal_result *result, const shoal_policy *policy, shoal_risk_kind kind,
                            const char *attribute, const char *attack, bool blocks, const char *why,
                            shoal_error *error) {
  bool accepted = shoal_policy_accepts(policy, kind, attack ? attack : attribute);
  return shoal_risk_add_as(result, kind, attribute, attack, blocks, accepted, why, error);
}

shoal_status shoal_risk_add_as(shoal_result *result, shoal_risk_kind kind, const char *attribute,
                               const char *attack, bool blocks, bool accepted, const char *why,
                               shoal_error *error) {
  shoal_safety *safety = &result->safety;
  size_t n = safety->n_risks;
  shoal_risk_outcome *grown = shoal_arena_alloc(&result->arena, n + 1, sizeof *grown);
  if (!grown) return shoal_fail_memory(error);
  if (n) memcpy(grown, safety->risks, n * sizeof *grown);
  while (n && grown[n - 1].kind > kind) {
    grown[n] = grown[n - 1];
    n--;
  }
  grown[n] = (shoal_risk_outcome){.kind = kind, .blocks = blocks, .accepted = accepted};
  SHOAL_TRY(copy_name(result, attribute, &grown[n].attribute, error));
  SHOAL_TRY(copy_name(result, attack, &grown[n].attack, error));
  SHOAL_TRY(copy_name(result, why, &grown[n].why, error));
  safety->risks = grown;
  safety->n_risks++;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ groups of a class */

enum { MAX_GROUPS = 3 }; /* no attack here asks for more */

/* Groups of one class, up to MAX_GROUPS. */
typedef struct few_groups {
  uint32_t groups[MAX_GROUPS - 1];
  uint32_t n;
} few_groups;

static inline void add_group(few_groups *few, uint32_t group) {
  for (uint32_t i = 0; i < few->n && i < MAX_GROUPS - 1; i++)
    if (few->groups[i] == group) return;
  if (few->n < MAX_GROUPS - 1) few->groups[few->n] = group;
  if (few->n < MAX_GROUPS) few->n++;
}

/* The groups of all classes. `group_of` NULL: each value is one. */
static void from_classes(const shoal_context *p, const shoal_classes *classes, size_t s,
                         const uint32_t *group_of, few_groups *few) {
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    shoal_value_view view = shoal_classes_values(p->frequency, classes, c, s);
    size_t at = 0;
    uint32_t value;
    uint64_t n_rows;
    while (few[c].n < MAX_GROUPS && shoal_view_next(&view, &at, &value, &n_rows))
      add_group(&few[c], group_of ? group_of[value] : value);
  }
}

/* Noise rows copy values of their class here: no group is theirs alone. */
static void from_rows(const shoal_context *p, const shoal_risk_classes *released, size_t s,
                      const uint32_t *group_of, few_groups *few) {
  const shoal_column *column = p->sensitive[s].column;
  for (uint64_t row = 0; row < p->table->n_rows; row++) {
    uint32_t value = shoal_column_code(column, row);
    if (shoal_column_missing(column, value)) continue;
    uint32_t group = released->group_of_row[p->ordered ? p->ordered->row_of[row] : row];
    uint32_t c = released->class_of_group ? released->class_of_group[group] : group;
    add_group(&few[c], group_of ? group_of[value] : value);
  }
}

/* ------------------------------------------------------------ attacks on classes */

/* One attack on one sensitive attribute. */
typedef struct class_risk {
  const shoal_attack *attack;
  size_t sensitive;
  const uint32_t *group_of;
  uint32_t n_groups;
  uint32_t min_groups; /* it succeeds on a class with fewer */
  const char *what;    /* such a class has */
} class_risk;

static shoal_status judge(shoal_result *result, const shoal_context *p,
                          const shoal_risk_classes *released, const class_risk *risk,
                          shoal_error *error) {
  const shoal_classes *classes = released->classes;
  uint64_t n_classes = 0, n_broken = 0;
  assert(risk->min_groups <= MAX_GROUPS);
  few_groups *few = shoal_alloc_zero(classes->n_classes, sizeof *few);
  if (!few) return shoal_fail_memory(error);
  if (p->frequency->track[risk->sensitive] != SHOAL_TRACK_NONE)
    from_classes(p, classes, risk->sensitive, risk->group_of, few);
  else from_rows(p, released, risk->sensitive, risk->group_of, few);
  uint8_t *shared = shoal_alloc_zero(classes->n_classes, 1);
  shoal_status status = shared ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK && p->people.repeat)
    status = shoal_mark_shared_values(p, released, risk->sensitive, risk->group_of, risk->n_groups,
                                      shared, error);
  for (uint32_t c = 0; status == SHOAL_OK && c < classes->n_classes; c++) {
    if (released->left_out && released->left_out[c]) continue;
    n_classes++;
    n_broken += shared[c] || (few[c].n > 0 && few[c].n < risk->min_groups);
  }
  free(few);
  free(shared);
  if (status != SHOAL_OK || !n_broken) return status;
  char why[200];
  (void)snprintf(why, sizeof why, "%llu of %llu class%s %s %s%s", (unsigned long long)n_broken,
                 (unsigned long long)n_classes, n_classes == 1 ? "" : "es",
                 n_broken == 1 ? "has" : "have", risk->what,
                 p->requirements.n_sets > 1 ? ", for someone who knows all quasi-identifiers" : "");
  return shoal_risk_add(result, p->policy, SHOAL_RISK_ATTACKS,
                        p->sensitive[risk->sensitive].column->name, risk->attack->name, false, why,
                        error);
}

static shoal_status judge_attribute(shoal_result *result, const shoal_context *p,
                                    const shoal_risk_classes *released, size_t s,
                                    shoal_error *error) {
  const shoal_sensitive *sensitive = &p->sensitive[s];
  const shoal_attribute *attribute = sensitive->attribute;
  class_risk risk = {.attack = &shoal_attack_homogeneity,
                     .sensitive = s,
                     .min_groups = 2,
                     .what = p->people.repeat ? "a value that every person of it has"
                                              : "a single value"};
  SHOAL_TRY(judge(result, p, released, &risk, error));
  shoal_error found = {0}; /* what no model needs may be wrong: then there is no attack */
  uint32_t *group_of = NULL, n_groups = 0;
  if (sensitive->hierarchy && attribute->n_protect)
    SHOAL_TRY(shoal_unless_bad_input(
        shoal_strong_ancestors(p->policy, sensitive, &group_of, &n_groups, &found), &found, error));
  risk = (class_risk){.attack = &shoal_attack_similarity,
                      .sensitive = s,
                      .group_of = group_of,
                      .n_groups = n_groups,
                      .min_groups = 2,
                      .what = p->people.repeat
                                  ? "a protected subtree of which every person has a value"
                                  : "values of a single protected subtree"};
  shoal_status status = group_of ? judge(result, p, released, &risk, error) : SHOAL_OK;
  free(group_of);
  SHOAL_TRY(status);
  group_of = NULL;
  if (attribute->categories.file || attribute->categories.n_lists)
    SHOAL_TRY(shoal_unless_bad_input(
        shoal_value_categories(p->policy, p->table, sensitive, &group_of, &n_groups, &found),
        &found, error));
  risk = (class_risk){.attack = &shoal_attack_categorical,
                      .sensitive = s,
                      .group_of = group_of,
                      .n_groups = n_groups,
                      .min_groups = 3,
                      .what = p->people.repeat ? "values of fewer than 3 categories, or a category "
                                                 "that every person has"
                                               : "values of fewer than 3 categories"};
  status = group_of ? judge(result, p, released, &risk, error) : SHOAL_OK;
  free(group_of);
  return status;
}

/* ------------------------------------------------------------ pseudonyms */

static const uint32_t SEVERAL = SHOAL_NONE - 1; /* classes */

/* The class of a row that is released, or SHOAL_NONE. */
static uint32_t released_class(const shoal_risk_classes *released, uint64_t row) {
  uint32_t group = released->group_of_row[row];
  uint32_t c = released->class_of_group ? released->class_of_group[group] : group;
  return released->left_out && released->left_out[c] ? SHOAL_NONE : c;
}

/* What a pseudonym shows. */
typedef struct links {
  uint32_t *class_of; /* by value: the class of its rows; SHOAL_NONE: none yet; or SEVERAL */
  uint64_t *people;   /* by class; a row without pseudonym is one */
  uint64_t n_linked;  /* rows whose pseudonym is in several classes */
  uint64_t n_small;   /* classes with fewer than k people */
} links;

static void follow_links(const shoal_table *table, const shoal_column *column,
                         const shoal_risk_classes *released, uint64_t k, links *l) {
  memset(l->class_of, 0xff, column->n_values * sizeof *l->class_of); /* SHOAL_NONE */
  for (uint64_t row = 0; row < table->n_rows; row++) {
    uint32_t c = released_class(released, row), value = shoal_column_code(column, row);
    if (c == SHOAL_NONE) continue;
    if (shoal_column_missing(column, value)) {
      l->people[c] += shoal_table_count(table, row);
    } else if (l->class_of[value] != c) {
      l->class_of[value] = l->class_of[value] == SHOAL_NONE ? c : SEVERAL;
      l->people[c]++;
    }
  }
  for (uint64_t row = 0; row < table->n_rows; row++)
    if (l->class_of[shoal_column_code(column, row)] == SEVERAL &&
        released_class(released, row) != SHOAL_NONE)
      l->n_linked += shoal_table_count(table, row);
  for (uint32_t c = 0; c < released->classes->n_classes; c++)
    if (!released->left_out || !released->left_out[c]) l->n_small += l->people[c] < k;
}

static bool find_links(const shoal_context *p, const shoal_column *column,
                       const shoal_risk_classes *released, links *l) {
  *l = (links){.class_of = shoal_alloc(column->n_values, sizeof *l->class_of),
               .people = shoal_alloc_zero(released->classes->n_classes, sizeof *l->people)};
  bool ok = l->class_of && l->people;
  if (ok) follow_links(shoal_context_original(p), column, released, p->requirements.k, l);
  free(l->class_of);
  free(l->people);
  return ok;
}

/*
 * A pseudonym links the rows of a person. Their classes together are a fingerprint. If each person
 * is in one class, k rows may still be fewer than k people.
 */
static shoal_status judge_pseudonyms(shoal_result *result, const shoal_context *p,
                                     const shoal_risk_classes *released, shoal_error *error) {
  const shoal_table *table = shoal_context_original(p);
  for (size_t c = 0; c < table->n_columns; c++) {
    const shoal_column *column = &table->columns[c];
    char why[240] = "repeated values were not counted: the rows do not fit into the memory allowed";
    if (p->roles[c] != SHOAL_ROLE_PSEUDONYM) continue;
    if (column->code_size) {
      links l;
      if (!find_links(p, column, released, &l)) return shoal_fail_memory(error);
      if (l.n_linked)
        (void)snprintf(
            why, sizeof why,
            "%llu rows share their pseudonym with a row of another class: the classes "
            "of a person together can identify them; use 'role: identifier' unless recipients "
            "need the link",
            (unsigned long long)l.n_linked);
      else if (l.n_small)
        (void)snprintf(why, sizeof why,
                       "%llu class%s fewer than k people, and k counts rows; add 'person: true'",
                       (unsigned long long)l.n_small, l.n_small == 1 ? " has" : "es have");
      else continue;
    }
    SHOAL_TRY(shoal_risk_add(result, p->policy, SHOAL_RISK_REPEATS, column->name, NULL, false, why,
                             error));
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ all of it */

shoal_risk_classes shoal_risk_classes_of(const shoal_context *p) {
  return (shoal_risk_classes){.classes = &p->frequency->base,
                              .group_of_row = p->frequency->tuple_of_row};
}

/* Does some value violate the requirement if it is the only one of a class? */
static bool forbids_one_value(const shoal_requirement *requirement, const shoal_column *column) {
  const uint64_t n_rows = 1;
  for (uint32_t v = 0; v < column->n_values; v++) {
    shoal_class_view view = {
        .n_rows = n_rows, .n_distinct = 1, .values = {.values = &v, .n_rows = &n_rows, .n = 1}};
    if (!shoal_column_missing(column, v) && !requirement->type->holds(requirement, &view))
      return true;
  }
  return false;
}

/*
 * Does the requirement ask for anything but rows? p = 1 or l = 1 do not, nor do a share or a
 * distance of at most 1, nor mu = 0.
 */
static bool protects(const shoal_requirement *requirement, const shoal_column *column) {
  shoal_distinct distinct;
  if (requirement->type->distinct && requirement->type->distinct(requirement, &distinct))
    return distinct.min > 1;
  if (requirement->type->at_most) return requirement->type->required(requirement) < 1;
  return forbids_one_value(requirement, column);
}

static bool is_protected(const shoal_context *p, size_t s) {
  for (size_t i = 0; i < p->requirements.n_items; i++)
    if (p->requirements.items[i].sensitive == s &&
        protects(&p->requirements.items[i], p->sensitive[s].column))
      return true;
  return false;
}

shoal_status shoal_risks_of_classes(shoal_result *result, const shoal_context *p,
                                    const shoal_risk_classes *released, shoal_error *error) {
  bool asks = p->requirements.k > 1; /* any two different values of a class need two rows too */
  result->safety.is_judged = true;
  result->safety.models_hold = result->holds;
  result->safety.people_unseen = p->people.absent;
  const shoal_policy *policy = p->policy;
  shoal_safety *safety = &result->safety;
  safety->undecided =
      shoal_arena_alloc(&result->arena, policy->n_attributes, sizeof *safety->undecided);
  if (!safety->undecided) return shoal_fail_memory(error);
  for (size_t a = 0; a < policy->n_attributes; a++) {
    if (!policy->attributes[a].undecided) continue;
    SHOAL_TRY(copy_name(result, policy->attributes[a].name, &safety->undecided[safety->n_undecided],
                        error));
    safety->n_undecided++;
  }
  for (size_t s = 0; s < p->n_sensitive; s++) {
    bool is_safe = is_protected(p, s);
    SHOAL_TRY(shoal_requirements_status(&p->requirements, error));
    asks = asks || is_safe;
    if (!is_safe)
      SHOAL_TRY(shoal_risk_add(result, p->policy, SHOAL_RISK_UNPROTECTED,
                               p->sensitive[s].column->name, NULL, false, "no model protects it",
                               error));
    SHOAL_TRY(judge_attribute(result, p, released, s, error));
  }
  SHOAL_TRY(judge_pseudonyms(result, p, released, error));
  if (asks) return SHOAL_OK;
  return shoal_risk_add(result, p->policy, SHOAL_RISK_ATTACKS, NULL, shoal_attack_linking.name,
                        false, "the policy asks for nothing: a class may have a single row", error);
}

/* Has each row a code of its own that is not missing? */
static bool differs_in_every_row(const shoal_table *table, const shoal_column *column) {
  bool differs = column->code_size && column->n_values == table->n_records;
  for (uint32_t v = 0; differs && v < column->n_values; v++)
    differs = !shoal_column_missing(column, v);
  return differs;
}

bool shoal_risks_has_row_per_person(const shoal_context *p) {
  const shoal_table *table = shoal_context_original(p);
  if (shoal_table_is_counted(table)) return false;
  for (size_t c = 0; c < table->n_columns; c++) {
    const shoal_column *column = &table->columns[c];
    if (!shoal_name_is_of_people(column->name)) continue;
    if (p->roles[c] == SHOAL_ROLE_IDENTIFIER && column->is_identity && !column->n_repeated)
      return true;
    if (p->roles[c] == SHOAL_ROLE_PSEUDONYM && differs_in_every_row(table, column)) return true;
  }
  return false;
}

shoal_status shoal_risks_of_repeats(shoal_result *result, const shoal_context *p,
                                    shoal_error *error) {
  if (p->people.asked || shoal_risks_has_row_per_person(p)) return SHOAL_OK;
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_column *column = &p->table->columns[c];
    bool is_counted = shoal_table_is_counted(p->table);
    if (p->roles[c] != SHOAL_ROLE_IDENTIFIER || (!column->n_repeated && !is_counted)) continue;
    char why[200] = "repeated values were not counted: the rows do not fit into the memory allowed";
    if (!is_counted)
      (void)snprintf(
          why, sizeof why,
          "%llu rows share their value with another row, and k counts rows; if it numbers "
          "people, give it 'role: person'; if different people share it, accept the risk",
          (unsigned long long)column->n_repeated);
    SHOAL_TRY(shoal_risk_add(result, p->policy, SHOAL_RISK_REPEATS, column->name, NULL, false, why,
                             error));
  }
  return SHOAL_OK;
}

shoal_status shoal_risks_of_attacks(shoal_result *result, const shoal_policy *policy,
                                    const shoal_attack_outcomes *attacks, shoal_error *error) {
  for (size_t i = 0; i < attacks->n_items; i++) {
    const shoal_attack_outcome *a = &attacks->items[i];
    if (!a->succeeds || !a->counts ||
        shoal_safety_lists(&result->safety, SHOAL_RISK_ATTACKS, a->name, a->attribute))
      continue;
    SHOAL_TRY(shoal_risk_add(result, policy, SHOAL_RISK_ATTACKS, a->attribute, a->name, false,
                             "the attack succeeds", error));
  }
  return SHOAL_OK;
}
