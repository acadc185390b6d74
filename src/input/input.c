/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input/input: a policy meets a header: which columns are read, and as what. Row 1 of a file
 * without a header is data. So messages quote names that the policy lacks only if it knows at least
 * half of the row.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "hierarchy/hierarchy.h"
#include "input/cells.h"
#include "input/input.h"
#include "policy/policy.h"
#include "profile/profile.h"
#include "read/database.h"
#include "table/arrow.h"
#include "table/fold.h"
#include "table/load.h"

typedef struct planner {
  const shoal_policy *policy;
  shoal_purpose purpose;
  const shoal_attribute *person; /* a key that may differ in every row; NULL: codes are needed */
  bool lacks_columns;            /* some stay with the caller (input/outside.c) */
} planner;

/* Tuples of raw data lack columns until they are described, those of a release (`grouped`) may. */
static planner planner_for(const shoal_policy *policy, shoal_purpose purpose, bool grouped) {
  bool tuples = purpose == SHOAL_FOR_TUPLES;
  return (planner){.policy = policy,
                   .purpose = tuples ? SHOAL_FOR_RELEASE : purpose,
                   .lacks_columns = tuples || (grouped && purpose != SHOAL_FOR_RELEASE)};
}

/* Does the entry's name stand for at least one of the columns? */
static bool has_name(const char *const *names, size_t n, const char *entry) {
  bool pattern = shoal_name_is_pattern(entry);
  for (size_t i = 0; i < n; i++)
    if (strcmp(names[i], entry) == 0 || (pattern && shoal_name_fits(entry, names[i]))) return true;
  return false;
}

/* Is it a release, or read as one? */
static bool is_review(const planner *p) {
  return p->purpose == SHOAL_FOR_REVIEW || p->purpose == SHOAL_FOR_COMPARISON;
}

/* Are values that few rows have put under one label? Others may be parts of a release. */
static bool collects_rare(const planner *p) {
  return p->purpose == SHOAL_FOR_RELEASE || p->purpose == SHOAL_FOR_COMPARISON;
}

static size_t count_known(const planner *p, const char *const *names, size_t n) {
  size_t n_known = 0;
  for (size_t i = 0; i < n; i++) n_known += shoal_policy_knows_name(p->policy, names[i]);
  return n_known;
}

/* Are the names a header, not cells? Those of a database are. */
static bool is_header(const planner *p, const char *file, const char *const *names, size_t n) {
  return shoal_is_database(file) || shoal_policy_knows_header(count_known(p, names, n), n);
}

/* The column most like `name`, into *near, or NULL; false: no memory. */
static bool find_near(const char *name, const char *const *names, size_t n, const char **near) {
  const char **words = shoal_alloc(n + 1, sizeof *words);
  if (!words) return false;
  for (size_t i = 0; i < n; i++) words[i] = names[i];
  words[n] = NULL;
  *near = shoal_nearest_word(name, words);
  free(words);
  return true;
}

/* An attribute of the policy that the data lacks, with the nearest name as advice. */
static shoal_status fail_attribute(const planner *p, const shoal_attribute *attribute,
                                   const char *file, const char *const *names, size_t n,
                                   shoal_error *error) {
  if (!is_header(p, file, names, n))
    return shoal_policy_fail(p->policy, attribute->mark, error,
                             "%s has no column '%s', and its row 1 does not look like a header: "
                             "the policy knows %zu of its %zu cells. Add a header, or correct the "
                             "names in the policy; or is this the policy of another table?",
                             file, attribute->name, count_known(p, names, n), n);
  bool pattern = shoal_name_is_pattern(attribute->name);
  const char *near = NULL;
  if (!pattern && !find_near(attribute->name, names, n, &near)) return shoal_fail_memory(error);
  if (near && shoal_policy_knows_name(p->policy, near)) near = NULL; /* it has its own entry */
  return shoal_policy_fail(p->policy, attribute->mark, error, "%s has no column '%s'%s%s%s", file,
                           attribute->name, near ? "; did you mean '" : "",
                           near      ? near
                           : pattern ? ": correct the pattern or leave it out"
                                     : ": correct the name or leave it out",
                           near ? "'?" : "");
}

/* A release may lack columns that the policy removes. */
static bool may_be_accepted(const planner *p, const char *name, const char *const *names,
                            size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(names[i], name) == 0) return true;
  return (is_review(p) || p->lacks_columns) &&
         (shoal_policy_attribute(p->policy, name) || p->policy->unlisted == SHOAL_UNLISTED_DROP ||
          (p->lacks_columns && p->policy->unlisted == SHOAL_UNLISTED_KEEP));
}

/* A misspelled column under `accept` would accept nothing. */
static shoal_status check_accepted(const planner *p, const char *file, const char *const *names,
                                   size_t n, shoal_error *error) {
  static const shoal_risk_kind kinds[] = {SHOAL_RISK_UNPROTECTED, SHOAL_RISK_KEPT,
                                          SHOAL_RISK_REPEATS};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (size_t i = 0; i < p->policy->accept[kinds[k]].n_names; i++) {
      const shoal_word *word = &p->policy->accept[kinds[k]].names[i];
      const char *near = NULL;
      if (may_be_accepted(p, word->text, names, n)) continue;
      if (is_header(p, file, names, n) && !find_near(word->text, names, n, &near))
        return shoal_fail_memory(error);
      return shoal_policy_fail(p->policy, word->mark, error,
                               "accept.%s: %s has no column '%s'%s%s%s", shoal_risk_names[kinds[k]],
                               file, word->text,
                               near ? "; did you mean '" : ": correct the name or leave it out",
                               near ? near : "", near ? "'?" : "");
    }
  return SHOAL_OK;
}

/* Says who a row is about: removed from a release, or replaced. */
static bool is_identity(const shoal_attribute *attribute) {
  return attribute->role == SHOAL_ROLE_IDENTIFIER || attribute->role == SHOAL_ROLE_PSEUDONYM;
}

static shoal_status check_attributes(const planner *p, const char *file, const char *const *names,
                                     size_t n, shoal_error *error) {
  for (size_t a = 0; a < p->policy->n_attributes; a++) {
    const shoal_attribute *attribute = &p->policy->attributes[a];
    if (has_name(names, n, attribute->name)) continue;
    bool absent = is_identity(attribute) || shoal_role_is_removed(attribute->role);
    if (is_review(p) && absent) continue;
    if (p->lacks_columns && shoal_role_may_be_outside(attribute->role)) continue;
    return fail_attribute(p, attribute, file, names, n, error);
  }
  return SHOAL_OK;
}

/* "'ward', 'room'", or "2, 5" if the names may be data. */
static void list_unlisted(const planner *p, const char *const *names, size_t n, bool quoted,
                          shoal_text *list) {
  for (size_t i = 0; i < n; i++) {
    if (shoal_policy_attribute(p->policy, names[i])) continue;
    const char *comma = list->size_bytes ? ", " : "";
    if (quoted) shoal_text_print(list, "%s'%s'", comma, names[i]);
    else shoal_text_print(list, "%s%zu", comma, i + 1);
  }
}

/* Columns that the policy says nothing about, all of them in one message. */
static shoal_status check_unlisted(const planner *p, const char *file, const char *const *names,
                                   size_t n, shoal_error *error) {
  if (p->policy->unlisted != SHOAL_UNLISTED_REFUSE) return SHOAL_OK;
  size_t unlisted = 0;
  for (size_t i = 0; i < n; i++) unlisted += !shoal_policy_attribute(p->policy, names[i]);
  if (!unlisted) return SHOAL_OK;
  bool named = is_header(p, file, names, n);
  shoal_text list;
  shoal_text_init(&list);
  list_unlisted(p, names, n, named, &list);
  shoal_status status;
  if (list.failed) status = shoal_fail_memory(error);
  else if (!named)
    status = shoal_fail_at(
        error, SHOAL_BAD_INPUT, &(shoal_location){.file = file},
        "row 1 does not look like a header: the policy knows %zu of its %zu "
        "cells. Add a header, or is this the policy of another table? If it is one, give each "
        "column a role, or add 'unlisted: drop' to remove those not in the policy: column%s %s",
        count_known(p, names, n), n, unlisted == 1 ? "" : "s", list.bytes);
  else
    status = shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = p->policy->file},
                           "%zu column%s of %s %s not in the policy; give each a role, or add "
                           "'unlisted: drop' to remove %s: %s",
                           unlisted, unlisted == 1 ? "" : "s", file, unlisted == 1 ? "is" : "are",
                           unlisted == 1 ? "it" : "them", list.bytes);
  shoal_text_reset(&list);
  return status;
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

/*
 * Only the cells of a kept column that has a type or a hierarchy are examined before writing; of
 * others the values are sampled. Equal numbers are released in one spelling, also where rows are
 * counted: they need codes there too.
 */
static shoal_use use_of_kept(const shoal_attribute *attribute) {
  if (attribute && (attribute->type == SHOAL_TYPE_NUMBER || attribute->otherwise_missing))
    return SHOAL_USE_CODES;
  return attribute && attribute->has_hierarchy ? SHOAL_USE_KEEP : SHOAL_USE_COPY;
}

/* Every cell of a column with codes is examined. */
static bool is_coded(const shoal_attribute *attribute) {
  return attribute && shoal_coding_given(&attribute->coding);
}

static shoal_status plan(void *user, const char *file, const char *const *names, size_t n,
                         shoal_use *uses, shoal_error *error) {
  const planner *p = user;
  if (p->purpose == SHOAL_FOR_LINKING) return plan_linking(p, file, names, n, uses, error);
  SHOAL_TRY(check_attributes(p, file, names, n, error));
  SHOAL_TRY(check_unlisted(p, file, names, n, error));
  SHOAL_TRY(check_accepted(p, file, names, n, error));
  bool review = is_review(p);
  for (size_t i = 0; i < n; i++) {
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, names[i]);
    shoal_role role = attribute                                    ? attribute->role
                      : p->policy->unlisted == SHOAL_UNLISTED_KEEP ? SHOAL_ROLE_KEEP
                                                                   : SHOAL_ROLE_DROP;
    uses[i] = shoal_policy_guards_by(p->policy, names[i]) ? SHOAL_USE_CODES
              : role == SHOAL_ROLE_IDENTIFIER             ? SHOAL_USE_IDENTITY
              : role == SHOAL_ROLE_PSEUDONYM              ? SHOAL_USE_KEEP
              : role == SHOAL_ROLE_DROP                   ? SHOAL_USE_NONE
              : attribute && attribute == p->person       ? SHOAL_USE_IDENTITY
              : shoal_role_counts_people(role)            ? SHOAL_USE_CODES
              : is_coded(attribute)                       ? SHOAL_USE_CODES
              : role == SHOAL_ROLE_KEEP && review         ? SHOAL_USE_SAMPLE
              : role == SHOAL_ROLE_KEEP                   ? use_of_kept(attribute)
                                                          : SHOAL_USE_CODES;
  }
  return SHOAL_OK;
}

/* Numbers are numbers where the policy says so; in a release they may have become labels. */
static shoal_status check_number(const shoal_table *table, const shoal_column *column,
                                 const planner *p, bool *is_number, shoal_error *error) {
  const shoal_attribute *attribute = shoal_policy_attribute(p->policy, column->name);
  *is_number = column->is_number;
  if (!attribute || attribute->type != SHOAL_TYPE_NUMBER || !column->code_size || *is_number)
    return SHOAL_OK;
  int64_t *numbers;
  unsigned scale;
  SHOAL_TRY(shoal_column_numbers(table, column, &numbers, &scale, error));
  free(numbers);
  *is_number = true;
  return SHOAL_OK;
}

static shoal_status check_numbers(shoal_table *table, const planner *p, shoal_error *error) {
  for (size_t c = 0; p->policy && p->purpose == SHOAL_FOR_RELEASE && c < table->n_columns; c++) {
    shoal_column *column = &table->columns[c];
    SHOAL_TRY(check_number(table, column, p, &column->is_number, error));
  }
  return SHOAL_OK;
}

/* Cells of identifiers and of kept text are not compared. */
static shoal_equality equality_of(const shoal_policy *policy, const char *column) {
  const shoal_attribute *attribute = shoal_policy_attribute(policy, column);
  if (!attribute || is_identity(attribute)) return SHOAL_EQUAL_BYTES;
  if (attribute->role == SHOAL_ROLE_KEEP && attribute->type != SHOAL_TYPE_NUMBER)
    return SHOAL_EQUAL_BYTES;
  return shoal_policy_equality(policy, attribute);
}

static shoal_status fold(shoal_table *table, const planner *p, shoal_error *error) {
  shoal_equality *equality = shoal_alloc(table->n_columns, sizeof *equality);
  if (!equality) return shoal_fail_memory(error);
  for (size_t c = 0; c < table->n_columns; c++)
    equality[c] = equality_of(p->policy, table->columns[c].name);
  shoal_status status =
      shoal_table_fold(table, equality, p->policy->missing, p->policy->n_missing, error);
  free(equality);
  return status;
}

/* Numbers and dates as the engine spells them. */
static shoal_status read_cells(shoal_table *table, const planner *p, shoal_error *error) {
  for (size_t c = 0; c < table->n_columns; c++) {
    shoal_column *column = &table->columns[c];
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, column->name);
    if (attribute && !is_identity(attribute))
      SHOAL_TRY(shoal_cells_read(table, column, p->policy, attribute, p->purpose, error));
  }
  return SHOAL_OK;
}

/* Checks, folds and codes a table that was read; without a policy its style of numbers is detected.
 */
static shoal_status prepare(shoal_table *table, const planner *p, shoal_error *error) {
  if (!p->policy) return shoal_cells_detect(table, error);
  for (size_t c = 0; c < table->n_columns; c++) {
    const shoal_attribute *attribute = shoal_policy_attribute(p->policy, table->columns[c].name);
    if (!attribute) continue;
    table->columns[c].coding = attribute->coding;
    table->columns[c].collects_rare = collects_rare(p);
  }
  SHOAL_TRY(read_cells(table, p, error));
  SHOAL_TRY(check_numbers(table, p, error));
  SHOAL_TRY(fold(table, p, error));
  SHOAL_TRY(shoal_table_code(table, error));
  for (size_t c = 0; !is_review(p) && c < table->n_columns; c++)
    table->columns[c].n_top_coded = table->columns[c].n_bottom_coded = 0; /* not released so */
  return SHOAL_OK;
}

/* The same of a table that was read with this status; without success there is no table. */
static shoal_status prepare_or_delete(shoal_status status, shoal_table **table, const planner *p,
                                      shoal_error *error) {
  if (status == SHOAL_OK) status = prepare(*table, p, error);
  if (status == SHOAL_OK) return SHOAL_OK;
  shoal_table_delete(*table);
  *table = NULL;
  return status;
}

/* A release under this policy has apostrophes before what a spreadsheet would run. */
static bool unquotes(const planner *p) { return is_review(p) && p->policy->quote_formulas; }

static shoal_status parse_delimiter(const char *text, char *delimiter, shoal_error *error) {
  if (strlen(text) != 1 || *text == '"' || *text == '\n' || *text == '\r')
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "the delimiter must be one character, such as ',' ';' '|' or a tab");
  *delimiter = *text;
  return SHOAL_OK;
}

/*
 * The only attribute of role person, if its cells are compared bytewise and the file can be read
 * twice. Where it differs in every row, nothing of it but that is needed, and codes of that many
 * values are expensive.
 */
static const shoal_attribute *find_person(const shoal_policy *policy, const char *path) {
  const shoal_attribute *found = NULL;
  struct stat info;
  if (!policy || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return NULL;
  for (size_t a = 0; a < policy->n_attributes; a++) {
    const shoal_attribute *attribute = &policy->attributes[a];
    if (attribute->role != SHOAL_ROLE_PERSON) continue;
    bool plain = shoal_policy_equality(policy, attribute) == SHOAL_EQUAL_BYTES &&
                 !shoal_name_is_pattern(attribute->name);
    if (found || !plain || shoal_policy_guards_by(policy, attribute->name)) return NULL;
    found = attribute;
  }
  return found;
}

/* Only the verifier needs hashes, those of people. */
static void drop_hashes(shoal_table *table, const shoal_column *person) {
  for (size_t c = 0; c < table->n_columns; c++) {
    if (&table->columns[c] == person) continue;
    free(table->columns[c].hashes);
    table->columns[c].hashes = NULL;
  }
}

/* Loads the table; a second time, with codes of the people, if somebody has several rows. */
static shoal_status load(const char *path, const shoal_load_options *options, planner *user,
                         const shoal_run *run, shoal_table **table, shoal_error *error) {
  SHOAL_TRY(shoal_table_load(path, options, run, table, error));
  const shoal_column *column = user->person ? shoal_table_column(*table, user->person->name) : NULL;
  drop_hashes(*table, column);
  if (!column || (column->is_identity && !column->n_repeated && !shoal_table_is_counted(*table)))
    return SHOAL_OK;
  user->person = NULL;
  shoal_table_delete(*table);
  *table = NULL;
  SHOAL_TRY(shoal_table_load(path, options, run, table, error));
  drop_hashes(*table, NULL);
  return SHOAL_OK;
}

typedef struct sampling_rule {
  shoal_traits_rule traits;
  shoal_sampling sampling;
} sampling_rule;

/* How a table is read by a policy. The options borrow `user` and `rule`. */
static void plan_by_policy(planner *user, sampling_rule *rule, shoal_load_options *options) {
  const shoal_policy *policy = user->policy;
  bool unquote = unquotes(user);
  rule->traits = (shoal_traits_rule){policy->missing, policy->n_missing, unquote};
  rule->sampling = (shoal_sampling){shoal_value_traits, &rule->traits};
  *options = (shoal_load_options){.delimiter = policy->delimiter,
                                  .encoding = policy->encoding,
                                  .or_utf8 = user->purpose != SHOAL_FOR_RELEASE,
                                  .missing = policy->missing,
                                  .n_missing = policy->n_missing,
                                  .unquote = unquote,
                                  .plan = plan,
                                  .plan_user = user,
                                  .sampling = &rule->sampling};
}

/* Databases have one encoding and one delimiter, whatever the policy says of files. */
static void plan_database(const shoal_policy *policy, shoal_load_options *options) {
  if (!options->delimiter) options->delimiter = ',';
  options->encoding = NULL;
  options->null_cell = shoal_input_missing(policy);
}

shoal_status shoal_input_read(const char *path, const shoal_policy *policy, shoal_purpose purpose,
                              const char *delimiter, const shoal_run *run, shoal_table **table,
                              shoal_error *error) {
  *table = NULL;
  shoal_stat_kind kind = shoal_stat_kind_of(path);
  if (kind != SHOAL_STAT_NONE)
    return shoal_input_read_stat(path, kind, policy, purpose, run, table, error);
  planner user = planner_for(policy, purpose, false);
  user.person = find_person(policy, path);
  shoal_load_options options = {0};
  sampling_rule rule;
  if (policy) plan_by_policy(&user, &rule, &options);
  if (delimiter) SHOAL_TRY(parse_delimiter(delimiter, &options.delimiter, error));
  if (shoal_is_database(path)) plan_database(policy, &options);
  SHOAL_TRY(load(path, &options, &user, run, table, error));
  shoal_status status = SHOAL_OK;
  if ((*table)->detected_encoding)
    status = shoal_table_note(*table, error, "the file was read as %s; releases are UTF-8",
                              (*table)->detected_encoding);
  return prepare_or_delete(status, table, &user, error);
}

shoal_status shoal_input_read_arrow(struct ArrowArrayStream *stream, const shoal_counts *counts,
                                    const shoal_policy *policy, shoal_purpose purpose,
                                    const shoal_run *run, shoal_table **table, shoal_error *error) {
  planner user = planner_for(policy, purpose, counts != NULL);
  shoal_load_options options = {0};
  sampling_rule rule;
  if (policy) plan_by_policy(&user, &rule, &options);
  shoal_status status =
      shoal_table_load_arrow(stream, shoal_input_missing(policy), &options, run, table, error);
  if (status == SHOAL_OK && counts) status = shoal_input_set_counts(*table, counts, error);
  return prepare_or_delete(status, table, &user, error);
}

/* ------------------------------------------------------------ a table and another policy */

/* Are the missing values of the column those that the policy calls missing? False: no memory. */
static bool same_missing(const shoal_column *column, const shoal_policy *policy, bool *same) {
  shoal_values missing;
  bool failed = false;
  *same = true;
  if (!shoal_values_init(&missing, column->equality)) return false;
  for (size_t m = 0; m < policy->n_missing && !failed; m++) {
    shoal_label spelling = {policy->missing[m], strlen(policy->missing[m])};
    failed = shoal_values_intern(&missing, spelling) == SHOAL_NONE;
  }
  for (uint32_t v = 0; v < column->n_values && *same && !failed; v++) {
    shoal_label value;
    value.bytes = shoal_column_value(column, v, &value.size_bytes);
    bool found = shoal_values_find(&missing, value, &failed) != SHOAL_NONE;
    *same = found == shoal_column_missing(column, v);
  }
  shoal_values_reset(&missing);
  return !failed;
}

static bool same_coding(const shoal_column *column, const shoal_policy *policy) {
  const shoal_attribute *attribute = shoal_policy_attribute(policy, column->name);
  return shoal_coding_equal(&column->coding, attribute ? &attribute->coding : &(shoal_coding){0});
}

static bool is_coded_name(const shoal_policy *policy, const char *name) {
  return is_coded(shoal_policy_attribute(policy, name));
}

static bool is_person(const shoal_policy *policy, const shoal_column *column) {
  const shoal_attribute *attribute = shoal_policy_attribute(policy, column->name);
  return attribute && attribute->role == SHOAL_ROLE_PERSON;
}

/* What the column lacks for this use; *what is NULL: nothing. False: no memory. */
static bool find_lack(const shoal_table *table, const shoal_column *column, shoal_use use,
                      const planner *p, const char **what) {
  bool elsewhere = column->is_left || column->is_outside || shoal_table_is_counted(table),
       same = true;
  *what = NULL;
  bool one_row_each = column->is_identity && !column->n_repeated && is_person(p->policy, column);
  bool left_out = column->is_outside && table->counts && !is_coded_name(p->policy, column->name);
  if (use == SHOAL_USE_CODES && !one_row_each && !left_out) {
    if (!column->code_size) *what = "its cells were not kept";
    else if (p->purpose != SHOAL_FOR_LINKING &&
             column->equality != equality_of(p->policy, column->name))
      *what = "other spellings were read as one value";
    else if (!same_coding(column, p->policy))
      *what = "other values were read as extreme, rare or dates";
    else if (column->coding.rare && collects_rare(p) && !column->collects_rare)
      *what = "its rare values were not collected";
    else if (!same_missing(column, p->policy, &same)) return false;
    else if (!same) *what = "other cells were read as missing";
  } else if (use == SHOAL_USE_KEEP || use == SHOAL_USE_COPY) {
    if (!column->code_size && !elsewhere) *what = "its cells were not kept";
  } else if (use == SHOAL_USE_SAMPLE) {
    if (!column->code_size && !column->sample && !column->is_outside) /* nested: gates.c */
      *what = "its values were not sampled";
  } else if (use == SHOAL_USE_IDENTITY && !column->is_identity && !elsewhere) {
    *what = "it was not read as an identifier";
  }
  return true;
}

static shoal_status check_uses(const shoal_table *table, planner *user, const char **names,
                               shoal_use *uses, shoal_error *error) {
  for (size_t c = 0; c < table->n_columns; c++) names[c] = table->columns[c].name;
  SHOAL_TRY(plan(user, table->name, names, table->n_columns, uses, error));
  for (size_t c = 0; c < table->n_columns; c++) {
    const char *what;
    if (!find_lack(table, &table->columns[c], uses[c], user, &what))
      return shoal_fail_memory(error);
    if (what)
      return shoal_fail_at(error, SHOAL_BAD_INPUT,
                           &(shoal_location){.file = table->name, .column = names[c]},
                           "%s: read the table with this policy and for this purpose", what);
    bool is_number;
    if (user->purpose == SHOAL_FOR_RELEASE)
      SHOAL_TRY(check_number(table, &table->columns[c], user, &is_number, error));
  }
  return SHOAL_OK;
}

shoal_status shoal_input_check(const shoal_table *table, const shoal_policy *policy,
                               shoal_purpose purpose, shoal_error *error) {
  if (!table->finished)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the table is not finished: finish it first");
  planner user = planner_for(policy, purpose, table->counts != NULL);
  const char **names = shoal_alloc(table->n_columns, sizeof *names);
  shoal_use *uses = shoal_alloc(table->n_columns, sizeof *uses);
  shoal_status status =
      names && uses ? check_uses(table, &user, names, uses, error) : shoal_fail_memory(error);
  free(names);
  free(uses);
  return status;
}

/* ------------------------------------------------------------ tables from memory */

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
  planner user = planner_for(policy, purpose, table->counts != NULL);
  sampling_rule rule;
  plan_by_policy(&user, &rule, &options);
  if (policy->delimiter) table->delimiter = policy->delimiter;
  const char **names = shoal_alloc(table->n_columns, sizeof *names);
  shoal_use *uses = shoal_alloc(table->n_columns, sizeof *uses);
  shoal_status status = names && uses ? plan_and_settle(table, &user, &options, names, uses, error)
                                      : shoal_fail_memory(error);
  free(names);
  free(uses);
  return status == SHOAL_OK ? prepare(table, &user, error) : status;
}
