/* SPDX-License-Identifier: Apache-2.0 */
/* job/input: a policy meets a header: which columns are read, and as what. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hierarchy/hierarchy.h"
#include "job/job.h"
#include "policy/policy.h"
#include "profile/profile.h"
#include "table/load.h"

typedef struct planner {
  const shoal_policy *policy;
  shoal_purpose purpose;
} planner;

static bool has_name(const char *const *names, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

/* Attributes of the policy that the data lacks. */
static shoal_status check_attributes(const planner *p, const char *file, const char *const *names,
                                     size_t n, shoal_error *error) {
  for (size_t a = 0; a < p->policy->n_attributes; a++) {
    const shoal_attribute *attribute = &p->policy->attributes[a];
    if (has_name(names, n, attribute->name)) continue;
    if (p->purpose == SHOAL_FOR_REVIEW && attribute->role == SHOAL_ROLE_IDENTIFIER) continue;
    const char **words = shoal_alloc(n + 1, sizeof *words);
    if (!words) return shoal_fail_memory(error);
    for (size_t i = 0; i < n; i++) words[i] = names[i];
    words[n] = NULL;
    const char *near = shoal_nearest_word(attribute->name, words);
    shoal_status status =
        shoal_policy_fail(p->policy, attribute->mark, error, "%s has no column '%s'%s%s%s", file,
                          attribute->name, near ? "; did you mean '" : "",
                          near ? near : ": correct the name or leave it out", near ? "'?" : "");
    free(words);
    return status;
  }
  return SHOAL_OK;
}

/* Columns that the policy says nothing about, all of them in one message. */
static shoal_status check_unlisted(const planner *p, const char *file, const char *const *names,
                                   size_t n, shoal_error *error) {
  if (p->policy->unlisted != SHOAL_UNLISTED_REFUSE) return SHOAL_OK;
  shoal_text list;
  shoal_text_init(&list);
  size_t unlisted = 0;
  for (size_t i = 0; i < n; i++) {
    if (shoal_policy_attribute(p->policy, names[i])) continue;
    shoal_text_print(&list, "%s'%s'", unlisted++ ? ", " : "", names[i]);
  }
  shoal_status status = SHOAL_OK;
  if (unlisted)
    status = shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = p->policy->file},
                           "%zu column%s of %s %s not in the policy; give each a role, or add "
                           "'unlisted: drop' to remove %s: %s",
                           unlisted, unlisted == 1 ? "" : "s", file, unlisted == 1 ? "is" : "are",
                           unlisted == 1 ? "it" : "them", list.failed ? "" : list.bytes);
  shoal_text_reset(&list);
  return status;
}

/* Does a model ask for this column by name: a guard column? */
static bool named_by_model(const shoal_policy *policy, const char *name) {
  for (size_t i = 0; i < policy->n_models; i++) {
    const shoal_model_request *request = &policy->models[i];
    for (size_t j = 0; j < request->n_parameters; j++)
      if (strcmp(request->parameters[j].text, "column") == 0 &&
          strcmp(request->values[j].text, name) == 0)
        return true;
  }
  return false;
}

/* People from elsewhere: their table may be of any columns; names are not even read. */
static shoal_status plan_linking(const planner *p, const char *file, const char *const *names,
                                 size_t n, shoal_use *uses, shoal_error *error) {
  size_t n_quasi = 0;
  for (size_t i = 0; i < n; i++) {
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, names[i]);
    bool quasi = attribute && attribute->role == SHOAL_ROLE_QUASI;
    uses[i] = quasi ? SHOAL_USE_CODES : SHOAL_USE_NONE;
    n_quasi += quasi;
  }
  if (n_quasi) return SHOAL_OK;
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = file},
                       "has none of the policy's quasi-identifier columns; rename its columns");
}

/* Only the cells of a kept column that has a type or a hierarchy are examined before writing; of
 * others the values are sampled. */
static shoal_use use_of_kept(const shoal_attribute *attribute) {
  bool examined = attribute && (attribute->type == SHOAL_TYPE_NUMBER || attribute->has_hierarchy);
  return examined ? SHOAL_USE_KEEP : SHOAL_USE_COPY;
}

static shoal_status plan(void *user, const char *file, const char *const *names, size_t n,
                         shoal_use *uses, shoal_error *error) {
  const planner *p = user;
  if (p->purpose == SHOAL_FOR_LINKING) return plan_linking(p, file, names, n, uses, error);
  SHOAL_TRY(check_attributes(p, file, names, n, error));
  SHOAL_TRY(check_unlisted(p, file, names, n, error));
  bool review = p->purpose == SHOAL_FOR_REVIEW;
  for (size_t i = 0; i < n; i++) {
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, names[i]);
    shoal_role role = attribute                                    ? attribute->role
                      : p->policy->unlisted == SHOAL_UNLISTED_KEEP ? SHOAL_ROLE_KEEP
                                                                   : SHOAL_ROLE_DROP;
    uses[i] = named_by_model(p->policy, names[i]) ? SHOAL_USE_CODES
              : role == SHOAL_ROLE_IDENTIFIER     ? SHOAL_USE_IDENTITY
              : role == SHOAL_ROLE_DROP           ? SHOAL_USE_NONE
              : role == SHOAL_ROLE_KEEP && review ? SHOAL_USE_SAMPLE
              : role == SHOAL_ROLE_KEEP           ? use_of_kept(attribute)
                                                  : SHOAL_USE_CODES;
  }
  return SHOAL_OK;
}

/* Numbers are numbers where the policy says so; in a release they may have become labels. */
static shoal_status check_numbers(const shoal_table *table, const planner *p, shoal_error *error) {
  for (size_t c = 0; p->policy && p->purpose == SHOAL_FOR_RELEASE && c < table->n_columns; c++) {
    const shoal_column *column = &table->columns[c];
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, column->name);
    if (!attribute || attribute->type != SHOAL_TYPE_NUMBER || !column->code_size) continue;
    int64_t *numbers;
    unsigned scale;
    SHOAL_TRY(shoal_column_numbers(table, column, &numbers, &scale, error));
    free(numbers);
  }
  return SHOAL_OK;
}

/* A release under this policy has apostrophes before what a spreadsheet would run. */
static bool unquotes(const planner *p) {
  return p->purpose == SHOAL_FOR_REVIEW && p->policy->quote_formulas;
}

static shoal_status parse_delimiter(const char *text, char *delimiter, shoal_error *error) {
  if (strlen(text) != 1 || *text == '"' || *text == '\n' || *text == '\r')
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "the delimiter must be one character, such as ',' ';' '|' or a tab");
  *delimiter = *text;
  return SHOAL_OK;
}

shoal_status shoal_input_read(const char *path, const shoal_policy *policy, shoal_purpose purpose,
                              const char *delimiter, const shoal_run *run, shoal_table **table,
                              shoal_error *error) {
  *table = NULL;
  planner user = {policy, purpose};
  shoal_load_options options = {0};
  shoal_traits_rule rule = {0};
  shoal_sampling sampling = {shoal_value_traits, &rule};
  if (policy) {
    rule = (shoal_traits_rule){policy->missing, policy->n_missing, unquotes(&user)};
    options.sampling = &sampling;
    options.delimiter = policy->delimiter;
    options.missing = policy->missing;
    options.n_missing = policy->n_missing;
    options.unquote = unquotes(&user);
    options.plan = plan;
    options.plan_user = &user;
  }
  if (delimiter) SHOAL_TRY(parse_delimiter(delimiter, &options.delimiter, error));
  SHOAL_TRY(shoal_table_load(path, &options, run, table, error));
  shoal_status status = check_numbers(*table, &user, error);
  if (status != SHOAL_OK) {
    shoal_table_delete(*table);
    *table = NULL;
  }
  return status;
}

static shoal_status plan_and_settle(shoal_table *table, planner *user, shoal_load_options *options,
                                    const char **names, shoal_use *uses, shoal_error *error) {
  for (size_t c = 0; c < table->n_columns; c++) names[c] = table->columns[c].name;
  SHOAL_TRY(plan(user, table->name, names, table->n_columns, uses, error));
  options->uses = uses;
  return shoal_table_finalize(table, options, error);
}

shoal_status shoal_input_finish(shoal_table *table, const shoal_policy *policy,
                                shoal_purpose purpose, shoal_error *error) {
  shoal_load_options options = {0};
  if (!policy) return shoal_table_finalize(table, &options, error);
  planner user = {policy, purpose};
  options.missing = policy->missing;
  options.n_missing = policy->n_missing;
  options.unquote = unquotes(&user);
  shoal_traits_rule rule = {policy->missing, policy->n_missing, options.unquote};
  shoal_sampling sampling = {shoal_value_traits, &rule};
  options.sampling = &sampling;
  if (policy->delimiter) table->delimiter = policy->delimiter;
  const char **names = shoal_alloc(table->n_columns, sizeof *names);
  shoal_use *uses = shoal_alloc(table->n_columns, sizeof *uses);
  shoal_status status = names && uses ? plan_and_settle(table, &user, &options, names, uses, error)
                                      : shoal_fail_memory(error);
  free(names);
  free(uses);
  return status == SHOAL_OK ? check_numbers(table, &user, error) : status;
}
