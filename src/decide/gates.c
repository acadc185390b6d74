/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/gates: lists columns that are shown as risks, by the heuristics of profile/, and refuses
 * what blocks or is open. Columns are measured on their codes or, where a column has none, on the
 * sample that was made while the file was read (table/sample.h).
 *
 * A kept column singles out rows together with the quasi-identifiers. Counting them exactly would
 * need the cells once more, after the classes are known. Instead a row counts as singled out if
 * fewer than one other row of its class is expected to have its value, were the values spread over
 * the rows at random: (n - 1) (f - 1) < N - 1, for a class of n rows and a value of f rows of all
 * N. This depends on the sizes of classes and the rows of values only, and on whole numbers.
 */
#include "decide/gates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hmac.h"
#include "base/sort.h"
#include "base/wide.h"
#include "hierarchy/set_label.h"
#include "policy/yaml.h"
#include "profile/profile.h"
#include "table/load.h"

/* ------------------------------------------------------------ kept columns as risks */

/* The name of a column that the policy does not list may be a cell of a file without a header. */
static const char *name_of(const shoal_context *p, size_t c, char out[SHOAL_COLUMN_LABEL_BYTES]) {
  const char *name = p->table->columns[c].name;
  if (p->knows_header || shoal_policy_knows_name(p->policy, name)) return name;
  (void)snprintf(out, SHOAL_COLUMN_LABEL_BYTES, "column %zu", c + 1);
  return out;
}

/* Is column c listed already? Results have names as valid UTF-8. */
static shoal_status is_listed(shoal_result *result, const shoal_context *p, size_t c, bool *listed,
                              shoal_error *error) {
  char label[SHOAL_COLUMN_LABEL_BYTES];
  const char *name = name_of(p, c, label);
  *listed = false;
  SHOAL_TRY(shoal_result_copy(result, name, &name, error));
  *listed = shoal_safety_lists(&result->safety, SHOAL_RISK_KEPT, NULL, name);
  return SHOAL_OK;
}

/* Lists column c as a risk; the policy accepts it by its real name. No policy accepts identifiers,
 * also where pseudonyms should be. */
static shoal_status add_column(shoal_result *result, const shoal_context *p, size_t c, bool blocks,
                               const char *why, shoal_error *error) {
  char label[SHOAL_COLUMN_LABEL_BYTES];
  bool accepted = !shoal_role_is_removed(p->roles[c]) && p->roles[c] != SHOAL_ROLE_PSEUDONYM &&
                  shoal_policy_accepts(p->policy, SHOAL_RISK_KEPT, p->table->columns[c].name);
  return shoal_risk_add_as(result, SHOAL_RISK_KEPT, name_of(p, c, label), NULL, blocks, accepted,
                           why, error);
}

/* ------------------------------------------------------------ columns that identify people */

static shoal_status find_stats(const shoal_table *table, const shoal_column *column,
                               shoal_column_stats *stats, shoal_error *error) {
  bool ok = column->code_size ? shoal_profile_column(table, column, stats)
                              : shoal_profile_sample(column->sample, table->n_records, stats);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* Why the column identifies people; NULL: it does not, or `sensitive` values repeat. */
static shoal_status find_reason(const shoal_table *table, const shoal_column *column,
                                bool sensitive, const char **why, shoal_error *error) {
  shoal_column_stats stats;
  const char *found;
  *why = NULL;
  if (!column->code_size && !column->sample) {
    *why = "its values could not be measured";
    return SHOAL_OK;
  }
  SHOAL_TRY(find_stats(table, column, &stats, error));
  if (sensitive && (stats.present < SHOAL_FEW_ROWS || stats.unique < stats.present))
    return SHOAL_OK;
  if (shoal_identifies_people(column->name, &stats, &found)) *why = found;
  return SHOAL_OK;
}

shoal_status shoal_gates_list(shoal_result *result, const shoal_context *p, shoal_error *error) {
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_column *column = &p->table->columns[c];
    bool sensitive = p->roles[c] == SHOAL_ROLE_SENSITIVE;
    const char *why;
    if (p->roles[c] != SHOAL_ROLE_KEEP && !sensitive) continue;
    SHOAL_TRY(find_reason(p->table, column, sensitive, &why, error));
    if (why) SHOAL_TRY(add_column(result, p, c, !sensitive, why, error));
  }
  return SHOAL_OK;
}

shoal_status shoal_gates_check_stars(const shoal_context *p, shoal_error *error) {
  for (size_t q = 0; q < p->n_quasi; q++) {
    const shoal_attribute *attribute = p->quasi_attributes[q];
    const shoal_column *column = p->quasi[q];
    if (!attribute->has_hierarchy || attribute->hierarchy.kind != SHOAL_HIERARCHY_TOP) continue;
    for (uint32_t v = 0; v < column->n_values; v++) {
      size_t size_bytes;
      const char *bytes = shoal_column_value(column, v, &size_bytes);
      if (size_bytes != 1 || bytes[0] != '*' || shoal_column_missing(column, v)) continue;
      shoal_location location = {.file = p->table->name,
                                 .row = column->first_row ? column->first_row[v] + 1 : 0,
                                 .column = column->name};
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                           "the cell is a star, which '{top: true}' writes for any value; list "
                           "\"*\" under data.missing, or replace it");
    }
  }
  return SHOAL_OK;
}

/* A set shows its values, an interval two of them, unless the policy widens it. */
static bool shows_values(const shoal_attribute *attribute, bool *ends) {
  *ends = attribute->type == SHOAL_TYPE_NUMBER && !attribute->recode_hierarchy &&
          attribute->snap.mantissa == 0;
  return *ends || shoal_attribute_has_sets(attribute);
}

/* Adds the elements of a released set, and its rows, divided evenly. Other labels are themselves.
 */
static shoal_status add_elements(shoal_table *shown, shoal_label label, uint64_t n_rows,
                                 shoal_error *error) {
  bool is_set = shoal_is_set_label(label);
  char *scratch = shoal_alloc(label.size_bytes, 1);
  if (!scratch) return shoal_fail_memory(error);
  shoal_label element = label;
  uint64_t n = !is_set;
  for (size_t at = 0; is_set && shoal_set_label_next(label, &at, scratch, &element);) n++;
  shoal_status status = SHOAL_OK;
  size_t at = 0;
  for (uint64_t i = 0; status == SHOAL_OK && i < n; i++) {
    if (is_set) (void)shoal_set_label_next(label, &at, scratch, &element);
    uint64_t count = n_rows / n + (i < n_rows % n);
    const uint64_t offsets[] = {0, element.size_bytes};
    shoal_text_view cell = {element.bytes, offsets};
    if (count) status = shoal_table_add_rows(shown, &cell, 1, 1, &count, error);
  }
  free(scratch);
  return status;
}

/* The statistics of the values that the sets of a released column show. */
static shoal_status find_shown(const shoal_table *table, const shoal_column *column,
                               shoal_column_stats *stats, shoal_error *error) {
  shoal_table *shown = NULL;
  uint64_t *rows = shoal_count_values(table, column);
  shoal_status status =
      rows ? shoal_table_create(&column->name, 1, &shown, error) : shoal_fail_memory(error);
  for (uint32_t v = 0; status == SHOAL_OK && v < column->n_values; v++) {
    shoal_label label;
    label.bytes = shoal_column_value(column, v, &label.size_bytes);
    bool star = label.size_bytes == 1 && label.bytes[0] == '*';
    if (!star && !shoal_column_missing(column, v))
      status = add_elements(shown, label, rows[v], error);
  }
  if (status == SHOAL_OK) status = shoal_table_finalize(shown, &(shoal_load_options){0}, error);
  if (status == SHOAL_OK && !shoal_profile_column(shown, &shown->columns[0], stats))
    status = shoal_fail_memory(error);
  shoal_table_delete(shown);
  free(rows);
  return status;
}

static bool has_set_labels(const shoal_column *column) {
  for (uint32_t v = 0; v < column->n_values; v++) {
    shoal_label label;
    label.bytes = shoal_column_value(column, v, &label.size_bytes);
    if (shoal_is_set_label(label)) return true;
  }
  return false;
}

/* A release whose sets show people is published already, or about to be: an open risk. */
static shoal_status list_shown(shoal_result *result, const shoal_context *p, shoal_error *error) {
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_column *column = &p->table->columns[c];
    shoal_column_stats stats;
    const char *found;
    char why[240];
    if (p->roles[c] != SHOAL_ROLE_QUASI || !column->code_size || !has_set_labels(column)) continue;
    SHOAL_TRY(find_shown(p->table, column, &stats, error));
    if (stats.present < SHOAL_FEW_ROWS || !shoal_identifies_people(column->name, &stats, &found))
      continue;
    (void)snprintf(why, sizeof why, "labels are sets of values: %s; a hierarchy would hide them",
                   found);
    SHOAL_TRY(add_column(result, p, c, false, why, error));
  }
  return SHOAL_OK;
}

shoal_status shoal_gates_list_labels(shoal_result *result, const shoal_context *p,
                                     shoal_error *error) {
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_column *column = &p->table->columns[c];
    shoal_column_stats stats;
    bool ends;
    const char *found;
    char why[240];
    if (p->roles[c] != SHOAL_ROLE_QUASI || !shows_values(&p->attributes[c], &ends)) continue;
    SHOAL_TRY(find_stats(p->table, column, &stats, error));
    if (stats.present < SHOAL_FEW_ROWS || !shoal_identifies_people(column->name, &stats, &found))
      continue;
    const shoal_name_hint *hint = shoal_name_hint_find(column->name, &stats);
    if (ends && !(hint && hint->role == SHOAL_ROLE_IDENTIFIER)) continue; /* amounts differ too */
    (void)snprintf(why, sizeof why, "%s: %s; %s",
                   ends ? "intervals would end at real values" : "labels would be sets of values",
                   found, ends ? "'snap' widens them" : "a hierarchy would hide them");
    SHOAL_TRY(add_column(result, p, c, true, why, error));
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ columns that single out rows */

/* Sizes of classes, ascending, and the rows of all classes up to each. */
typedef struct class_rows {
  uint64_t *sizes, *sums;
  size_t n;
} class_rows;

static bool class_rows_init(class_rows *rows, const shoal_classes *classes,
                            const uint8_t *left_out) {
  *rows = (class_rows){.sizes = shoal_alloc(classes->n_classes, sizeof *rows->sizes),
                       .sums = shoal_alloc(classes->n_classes, sizeof *rows->sums)};
  if (!rows->sizes || !rows->sums) return false;
  for (uint32_t c = 0; c < classes->n_classes; c++)
    if (!left_out || !left_out[c]) rows->sizes[rows->n++] = classes->n_rows[c];
  shoal_sort_u64(rows->sizes, rows->n);
  uint64_t sum = 0;
  for (size_t i = 0; i < rows->n; i++) rows->sums[i] = sum += rows->sizes[i];
  return true;
}

static void class_rows_reset(class_rows *rows) {
  free(rows->sizes);
  free(rows->sums);
}

/* Rows in classes of n rows with (n - 1) (f - 1) < n_records - 1. */
static uint64_t rows_singled_out(const class_rows *rows, uint64_t f, uint64_t n_records) {
  if (n_records < 2 || !rows->n) return 0;
  uint64_t max_size = f > 1 ? (n_records - 2) / (f - 1) + 1 : UINT64_MAX;
  size_t low = 0, high = rows->n; /* sizes before `low` are small enough, from `high` on not */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (rows->sizes[middle] <= max_size) low = middle + 1;
    else high = middle;
  }
  return low ? rows->sums[low - 1] : 0;
}

/* The rows of each value, in *n_rows, which the caller frees; NULL: no memory. */
static uint64_t *rows_of_values(const shoal_table *table, const shoal_column *column, size_t *n,
                                unsigned *level) {
  *level = 0;
  *n = column->n_values;
  if (column->code_size) return shoal_count_values(table, column);
  const shoal_value_sample *sample = column->sample;
  uint64_t *rows = shoal_alloc(sample->n_values, sizeof *rows);
  *level = sample->level;
  *n = 0;
  for (size_t i = 0; rows && sample->bits && i < (size_t)1 << sample->bits; i++)
    if (sample->slots[i]) rows[(*n)++] = shoal_value_sample_rows(sample, i);
  return rows;
}

/*
 * The share of the pairs of a released row and a value, weighted by the rows of the value, that
 * count as singled out; in percent, rounded down. *too_many: it is above 1 / SHOAL_KEPT_SHARE.
 */
static shoal_status find_share(const shoal_table *table, const shoal_column *column,
                               const class_rows *rows, unsigned *percent, bool *too_many,
                               shoal_error *error) {
  size_t n;
  unsigned level;
  uint64_t *n_rows = rows_of_values(table, column, &n, &level);
  if (!n_rows) return shoal_fail_memory(error);
  uint64_t n_released = rows->n ? rows->sums[rows->n - 1] : 0, last = 0, singled_out = 0;
  shoal_uint128 sum = 0, all = (shoal_uint128)table->n_records * n_released;
  for (size_t v = 0; v < n; v++) {
    if (n_rows[v] != last) singled_out = rows_singled_out(rows, n_rows[v], table->n_records);
    last = n_rows[v];
    sum += (shoal_uint128)singled_out * n_rows[v];
  }
  free(n_rows);
  all >>= level; /* 2^level values stand behind each one of the sample */
  if (sum > all) sum = all;
  *too_many = sum > all / SHOAL_KEPT_SHARE;
  *percent = all >= 100 ? (unsigned)(sum / (all / 100)) : 100;
  if (*percent > 100) *percent = 100;
  return SHOAL_OK;
}

/* Sensitive values count as unknown to others, unless they are of a kind that is often known. */
static shoal_status may_be_known(const shoal_context *p, size_t c, bool *known,
                                 shoal_error *error) {
  const shoal_column *column = &p->table->columns[c];
  shoal_column_stats stats;
  *known = true;
  if (p->roles[c] != SHOAL_ROLE_SENSITIVE) return SHOAL_OK;
  SHOAL_TRY(find_stats(p->table, column, &stats, error));
  *known = shoal_others_may_know(column->name, &stats);
  return SHOAL_OK;
}

static shoal_status list_kept(shoal_result *result, const shoal_context *p, const class_rows *rows,
                              shoal_error *error) {
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_column *column = &p->table->columns[c];
    unsigned percent = 0;
    bool too_many = false, known = false;
    char why[160];
    bool listed, sensitive = p->roles[c] == SHOAL_ROLE_SENSITIVE;
    if (p->roles[c] != SHOAL_ROLE_KEEP && !sensitive) continue;
    if (!column->code_size && !column->sample) continue; /* shoal_gates_list names it */
    SHOAL_TRY(is_listed(result, p, c, &listed, error));
    if (listed) continue;
    SHOAL_TRY(find_share(p->table, column, rows, &percent, &too_many, error));
    if (too_many) SHOAL_TRY(may_be_known(p, c, &known, error));
    if (!known) continue;
    (void)snprintf(why, sizeof why,
                   "%swith the quasi-identifiers it singles out about %u%% of the rows",
                   sensitive ? "others often know years, dates and ages: " : "", percent);
    SHOAL_TRY(add_column(result, p, c, false, why, error));
  }
  return SHOAL_OK;
}

shoal_status shoal_gates_list_kept(shoal_result *result, const shoal_context *p,
                                   const shoal_classes *classes, const uint8_t *left_out,
                                   shoal_error *error) {
  class_rows rows;
  shoal_status status = class_rows_init(&rows, classes, left_out)
                            ? list_kept(result, p, &rows, error)
                            : shoal_fail_memory(error);
  class_rows_reset(&rows);
  return status;
}

/* ------------------------------------------------------------ refusing */

enum { MAX_NAMED = 20 }; /* columns that a message names with reasons */

static shoal_status refuse_undecided(const shoal_policy *policy, shoal_error *error) {
  const shoal_attribute *first = NULL;
  shoal_text list;
  shoal_text_init(&list);
  size_t n = 0;
  for (size_t a = 0; a < policy->n_attributes; a++) {
    if (!policy->attributes[a].undecided) continue;
    if (!first) first = &policy->attributes[a];
    if (n++ < MAX_NAMED)
      shoal_text_print(&list, "%s'%.60s'", n > 1 ? ", " : "", policy->attributes[a].name);
  }
  if (n > MAX_NAMED) shoal_text_print(&list, " and %zu more", n - MAX_NAMED);
  shoal_status status = SHOAL_OK;
  if (n)
    status =
        list.failed
            ? shoal_fail_memory(error)
            : shoal_policy_fail(policy, first->mark, error,
                                "%zu column%s undecided: %s. Give %s a role (identifier: not "
                                "released; quasi: others may know it; sensitive; keep), then "
                                "remove 'decide: true'",
                                n, n == 1 ? " is" : "s are", list.bytes, n == 1 ? "it" : "each");
  shoal_text_reset(&list);
  return status;
}

shoal_status shoal_gates_check(const shoal_result *result, const shoal_context *p,
                               shoal_error *error) {
  SHOAL_TRY(refuse_undecided(p->policy, error));
  shoal_text list;
  shoal_text_init(&list);
  size_t n = 0;
  for (size_t i = 0; i < result->safety.n_risks; i++) {
    const shoal_risk_outcome *risk = &result->safety.risks[i];
    if (!risk->blocks || risk->accepted || n++ >= MAX_NAMED) continue;
    shoal_text_print(&list, "%s'%.60s' (%s)", n > 1 ? ", " : "", risk->attribute, risk->why);
  }
  if (n > MAX_NAMED) shoal_text_print(&list, " and %zu more", n - MAX_NAMED);
  shoal_status status = SHOAL_OK;
  if (n)
    status = list.failed
                 ? shoal_fail_memory(error)
                 : shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = p->policy->file},
                                 "%zu column%s people, so nothing was written: %s. Give %s "
                                 "'role: identifier', or accept %s by name: 'accept: {kept: "
                                 "[NAME, ...]}'",
                                 n, n == 1 ? " may identify" : "s may identify", list.bytes,
                                 n == 1 ? "it" : "them", n == 1 ? "it" : "each");
  shoal_text_reset(&list);
  return status;
}

static const char *const remedies[SHOAL_N_RISKS] = {
    [SHOAL_RISK_UNPROTECTED] = "add 'p: 2' under 'privacy', or another model",
    [SHOAL_RISK_KEPT] = "give it 'role: quasi', or do not release it",
    [SHOAL_RISK_REPEATS] = NULL, /* its reason says it: risks.c */
    [SHOAL_RISK_ATTACKS] = "use a stronger model",
    [SHOAL_RISK_SINGLE_ROWS] = "use a weaker model, or 'max-suppression: 0'",
};

/* What `accept` calls it; NULL: a risk before it is accepted by the same name. */
static const char *accept_name(const shoal_safety *safety, size_t i) {
  const shoal_risk_outcome *risk = &safety->risks[i];
  const char *name = risk->attack ? risk->attack : risk->attribute;
  for (size_t j = 0; name && j < i; j++) {
    const shoal_risk_outcome *other = &safety->risks[j];
    const char *earlier = other->attack ? other->attack : other->attribute;
    if (other->kind == risk->kind && earlier && strcmp(earlier, name) == 0) return NULL;
  }
  return name ? name : "";
}

/* The line of the policy that accepts every risk: "accept: {kept: [ward], repeats: [pid]}". */
static void add_accept_line(const shoal_safety *safety, shoal_text *line) {
  const char *before = "accept: {";
  for (size_t kind = 0; kind < SHOAL_N_RISKS; kind++) {
    bool single = kind == SHOAL_RISK_SINGLE_ROWS, any = false;
    for (size_t i = 0; i < safety->n_risks; i++) {
      const char *name = safety->risks[i].kind == kind ? accept_name(safety, i) : NULL;
      if (!name || (single && any)) continue;
      if (any) shoal_text_add(line, ", ");
      else
        shoal_text_print(line, "%s%s: %s", before, shoal_risk_names[kind], single ? "true" : "[");
      if (!single) shoal_yaml_add_scalar(line, name);
      before = ", ";
      any = true;
    }
    if (any && !single) shoal_text_add(line, "]");
  }
  shoal_text_add(line, "}");
}

/* "repeats: pid (why; how to remove it)" for each open risk; returns their number. */
static size_t list_open(const shoal_safety *safety, shoal_text *list) {
  size_t n = 0;
  for (size_t i = 0; i < safety->n_risks; i++) {
    const shoal_risk_outcome *risk = &safety->risks[i];
    const char *remedy = remedies[risk->kind];
    if (risk->accepted || n++ >= MAX_NAMED) continue;
    shoal_text_print(
        list, "%s%s%s%s%s%.60s (%s%s%s)", n > 1 ? ", " : "", shoal_risk_names[risk->kind],
        risk->attack || risk->attribute ? ": " : "", risk->attack ? risk->attack : "",
        risk->attack && risk->attribute ? " on " : "", risk->attribute ? risk->attribute : "",
        risk->why, remedy ? "; " : "", remedy ? remedy : "");
  }
  if (n > MAX_NAMED) shoal_text_print(list, " and %zu more", n - MAX_NAMED);
  return n;
}

shoal_status shoal_gates_refuse_open(const shoal_result *result, shoal_error *error) {
  shoal_text list, line;
  shoal_text_init(&list);
  shoal_text_init(&line);
  size_t n = list_open(&result->safety, &list);
  add_accept_line(&result->safety, &line);
  shoal_status status = SHOAL_OK;
  if (n)
    status = list.failed || line.failed
                 ? shoal_fail_memory(error)
                 : shoal_fail(error, SHOAL_REFUSED,
                              "%zu risk%s open, and --strict refuses %s; nothing was written: %s. "
                              "To accept %s instead, write this line into the policy: %s",
                              n, n == 1 ? " is" : "s are", n == 1 ? "it" : "them", list.bytes,
                              n == 1 ? "it" : "them", line.bytes);
  shoal_text_reset(&list);
  shoal_text_reset(&line);
  return status;
}

/* ------------------------------------------------------------ a table as it is */

/* Have all cells the form of pseudonyms? Other cells may be the identifiers themselves. */
static bool are_pseudonyms(const shoal_column *column) {
  for (uint32_t v = 0; v < column->n_values; v++) {
    size_t size;
    const char *value = shoal_column_value(column, v, &size);
    if (!shoal_column_missing(column, v) && !shoal_is_pseudonym(value, size)) return false;
  }
  return true;
}

shoal_status shoal_gates_judge(shoal_result *result, const shoal_context *p, shoal_error *error) {
  shoal_risk_classes released = shoal_risk_classes_of(p);
  SHOAL_TRY(shoal_risks_of_classes(result, p, &released, error));
  /* An identifier that the table still has is released like a kept column. */
  for (size_t c = 0; c < p->table->n_columns; c++)
    if (p->roles[c] == SHOAL_ROLE_IDENTIFIER || shoal_role_counts_people(p->roles[c]))
      SHOAL_TRY(add_column(result, p, c, true,
                           p->roles[c] == SHOAL_ROLE_IDENTIFIER
                               ? "the policy calls it an identifier: remove the column"
                               : "the policy removes it: it says who a row is about",
                           error));
  for (size_t c = 0; c < p->table->n_columns; c++) {
    const shoal_column *column = &shoal_context_original(p)->columns[c];
    if (p->roles[c] != SHOAL_ROLE_PSEUDONYM) continue;
    const char *why = !column->code_size ? "its cells were not examined: the rows do not fit into "
                                           "the memory allowed"
                      : !are_pseudonyms(column)
                          ? "the policy calls it a pseudonym, and its cells are none: anonymize "
                            "the table"
                          : NULL;
    if (why) SHOAL_TRY(add_column(result, p, c, true, why, error));
  }
  SHOAL_TRY(shoal_gates_list(result, p, error));
  SHOAL_TRY(list_shown(result, p, error));
  return shoal_gates_list_kept(result, p, released.classes, NULL, error);
}
