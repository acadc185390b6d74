/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile: makes the result from the statistics and suggestions of all columns. Then rows are
 * grouped by all suggested quasi-identifiers together, because their combinations are what an
 * attacker links on (Samarati 2001, section 2).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/classes.h"
#include "policy/yaml.h"
#include "profile/profile.h"
#include "report/result.h"

enum { MAX_NAMED = 5 }; /* columns that a warning names */

/* ------------------------------------------------------------ columns */

static const char *role_name(shoal_role role) {
  switch (role) {
  case SHOAL_ROLE_IDENTIFIER: return "identifier";
  case SHOAL_ROLE_QUASI: return "quasi";
  case SHOAL_ROLE_SENSITIVE: return "sensitive";
  case SHOAL_ROLE_PERSON: return "person";
  default: return "keep";
  }
}

static const char *type_name(shoal_value_type value_type) {
  switch (value_type) {
  case SHOAL_VALUE_NUMBER: return "number";
  case SHOAL_VALUE_DATE: return "date";
  default: return "text";
  }
}

/* Spellings as a YAML list in the result; NULL: no memory. */
static const char *marks_list(shoal_result *result, uint32_t marks) {
  shoal_text list;
  shoal_text_init(&list);
  shoal_text_add(&list, "[");
  for (int m = 0; shoal_missing_marks[m]; m++) {
    if (!(marks >> m & 1)) continue;
    if (list.size_bytes > 1) shoal_text_add(&list, ", ");
    shoal_yaml_add_quoted(&list, shoal_missing_marks[m]);
  }
  shoal_text_add(&list, "]");
  const char *copy =
      list.failed ? NULL : shoal_arena_copy(&result->arena, list.bytes, list.size_bytes);
  shoal_text_reset(&list);
  return copy;
}

static bool fill_column(shoal_result *result, const char *name, const shoal_column_stats *stats,
                        const shoal_suggestion *suggestion, shoal_column_outcome *column) {
  *column = (shoal_column_outcome){
      .name = shoal_result_string(result, name, strlen(name)),
      .type = type_name(stats->value_type),
      .distinct = stats->distinct,
      .missing = stats->missing,
      .unique = stats->unique,
      .most_frequent = stats->most_frequent,
      .role = role_name(suggestion->role),
      .undecided = suggestion->undecided,
      .as_number = suggestion->as_number,
      .bad_cells = stats->bad_cells > 0,
      .by_name = suggestion->by_name,
      .is_age = suggestion->meaning == SHOAL_MEANS_AGE,
      .is_postcode =
          suggestion->meaning == SHOAL_MEANS_POSTCODE || stats->shape == SHOAL_SHAPE_POSTCODE,
      .longest_bytes = stats->longest_bytes,
      .why = shoal_arena_copy(&result->arena, suggestion->why, strlen(suggestion->why)),
  };
  if (!column->name || !column->why) return false;
  if (suggestion->hierarchy[0] &&
      !(column->hierarchy =
            shoal_arena_copy(&result->arena, suggestion->hierarchy, strlen(suggestion->hierarchy))))
    return false;
  if (suggestion->date[0] && !(column->as_date = shoal_arena_copy(&result->arena, suggestion->date,
                                                                  strlen(suggestion->date))))
    return false;
  return !stats->marks || (column->missing_marks = marks_list(result, stats->marks)) != NULL;
}

/* "a number except in 3 cells (rows 4, 17, 200)" */
static shoal_status warn_of_bad_cells(shoal_result *result, const char *name,
                                      const shoal_column_stats *stats, shoal_error *error) {
  char rows[SHOAL_BAD_ROWS * 24] = "";
  size_t used = 0;
  for (size_t i = 0; i < SHOAL_BAD_ROWS && stats->bad_rows[i]; i++)
    used += (size_t)snprintf(rows + used, sizeof rows - used, "%s%llu", i ? ", " : "",
                             (unsigned long long)stats->bad_rows[i]);
  return shoal_result_warn(result, error,
                           "column '%.200s': a number except in %llu cell%s (data row%s %s%s): "
                           "correct them, or make them missing",
                           name, (unsigned long long)stats->bad_cells,
                           stats->bad_cells == 1 ? "" : "s", stats->bad_cells == 1 ? "" : "s", rows,
                           stats->bad_cells > SHOAL_BAD_ROWS ? ", ..." : "");
}

/* Warnings about one column. */
static shoal_status warn_of_column(shoal_result *result, const shoal_column_outcome *column,
                                   const char *name, const shoal_column_stats *stats,
                                   const shoal_suggestion *suggestion, shoal_error *error) {
  if (strcmp(column->name, name) != 0)
    SHOAL_TRY(shoal_result_warn(result, error,
                                "column '%.200s': the name is not UTF-8, and no policy can name "
                                "it: save the table as UTF-8",
                                column->name));
  if (stats->bad_cells) SHOAL_TRY(warn_of_bad_cells(result, column->name, stats, error));
  uint64_t shared = stats->present - stats->unique;
  if (!suggestion->is_person_key || shared == 0 || suggestion->role == SHOAL_ROLE_PERSON)
    return SHOAL_OK;
  return shoal_result_warn(result, error,
                           "column '%.200s': %llu rows share their value with another row; if it "
                           "numbers people, give it 'role: person', and k counts people",
                           column->name, (unsigned long long)shared);
}

static shoal_status fill_columns(shoal_result *result, const shoal_table *table,
                                 const shoal_column_stats *stats,
                                 const shoal_suggestion *suggestions, shoal_error *error) {
  shoal_arena *arena = &result->arena;
  uint32_t marks = 1; /* the empty cell is missing by default */
  result->profile.columns =
      shoal_arena_alloc(arena, table->n_columns, sizeof *result->profile.columns);
  result->quasi = shoal_arena_alloc(arena, table->n_columns, sizeof *result->quasi);
  if (!result->profile.columns || !result->quasi) return shoal_fail_memory(error);
  for (size_t c = 0; c < table->n_columns; c++) {
    const char *name = table->columns[c].name;
    shoal_column_outcome *column = &result->profile.columns[c];
    const shoal_suggestion *suggestion = &suggestions[c];
    if (!fill_column(result, name, &stats[c], suggestion, column)) return shoal_fail_memory(error);
    result->profile.n_columns = c + 1;
    if (suggestion->role == SHOAL_ROLE_QUASI) result->quasi[result->n_quasi++] = column->name;
    marks |= stats[c].marks;
    SHOAL_TRY(warn_of_column(result, column, name, &stats[c], suggestion, error));
    bool compared =
        suggestion->role == SHOAL_ROLE_QUASI || suggestion->role == SHOAL_ROLE_SENSITIVE;
    if (compared && stats[c].value_type == SHOAL_VALUE_TEXT)
      SHOAL_TRY(shoal_warn_of_variants(result, table, &table->columns[c], column->name,
                                       SHOAL_EQUAL_BYTES, error));
  }
  result->profile.missing_marks = marks_list(result, marks);
  return result->profile.missing_marks ? SHOAL_OK : shoal_fail_memory(error);
}

/* ------------------------------------------------------------ the table as a whole */

/* Counts the combinations of the quasi-identifiers, and rows that are alone with theirs. */
static shoal_status count_combinations(shoal_result *result, const shoal_table *table,
                                       const shoal_run *run, shoal_error *error) {
  if (result->n_quasi == 0) return SHOAL_OK;
  const shoal_column **quasi = shoal_alloc(result->n_quasi, sizeof *quasi);
  if (!quasi) return shoal_fail_memory(error);
  size_t n_quasi = 0;
  for (size_t c = 0; c < table->n_columns; c++)
    if (strcmp(result->profile.columns[c].role, "quasi") == 0)
      quasi[n_quasi++] = &table->columns[c];
  shoal_frequency_set *frequency;
  shoal_status status =
      shoal_frequency_set_build(table, quasi, NULL, n_quasi, NULL, NULL, 0, run, &frequency, error);
  free(quasi);
  SHOAL_TRY(status);
  result->profile.n_distinct_rows = frequency->n_tuples;
  for (uint32_t t = 0; t < frequency->n_tuples; t++)
    result->profile.n_unique_rows += frequency->base.n_rows[t] == 1;
  shoal_frequency_set_free(frequency);
  return SHOAL_OK;
}

static shoal_status warn_of_table(shoal_result *result, shoal_error *error) {
  shoal_text names;
  shoal_text_init(&names);
  size_t n_undecided = 0;
  for (size_t c = 0; c < result->profile.n_columns; c++) {
    if (!result->profile.columns[c].undecided || n_undecided++ >= MAX_NAMED) continue;
    shoal_text_print(&names, "%s'%.60s'", n_undecided > 1 ? ", " : "",
                     result->profile.columns[c].name);
  }
  if (n_undecided > MAX_NAMED) shoal_text_print(&names, " and %zu more", n_undecided - MAX_NAMED);
  shoal_status status = SHOAL_OK;
  if (names.failed) status = shoal_fail_memory(error);
  else if (n_undecided)
    status = shoal_result_warn(
        result, error,
        "decide on %s: nothing tells what %s; 'identifier' would not release "
        "%s",
        names.bytes, n_undecided == 1 ? "it is" : "they are", n_undecided == 1 ? "it" : "them");
  shoal_text_reset(&names);
  SHOAL_TRY(status);
  if (result->n_quasi) return SHOAL_OK;
  return shoal_result_warn(result, error,
                           "no column looks like a quasi-identifier: give that role to what "
                           "others may know of a person");
}

/* ------------------------------------------------------------ the job */

static bool has_value(const shoal_column *column, const char *value) {
  size_t size = strlen(value);
  for (uint32_t v = 0; v < column->n_values; v++) {
    size_t other_size;
    const char *other = shoal_column_value(column, v, &other_size);
    if (other_size == size && memcmp(other, value, size) == 0) return true;
  }
  return false;
}

/*
 * Without a policy, names cannot be recognized. But in a file without a header, most cells of row 1
 * occur again below. They are data and not quoted.
 */
static shoal_status check_header(const shoal_table *table, shoal_error *error) {
  size_t n_repeated = 0;
  if (!table->from_file) return SHOAL_OK;
  for (size_t c = 0; c < table->n_columns; c++)
    n_repeated += has_value(&table->columns[c], table->columns[c].name);
  if (n_repeated <= table->n_columns - n_repeated) return SHOAL_OK;
  return shoal_fail_at(
      error, SHOAL_BAD_INPUT, &(shoal_location){.file = table->name},
      "row 1 does not look like a header: in %zu of %zu columns its cell is also a "
      "value below. Add a row with the names of the columns",
      n_repeated, table->n_columns);
}

static const char *thousands_as_yaml(char thousands) {
  switch (thousands) {
  case ',': return "\",\"";
  case '.': return "\".\"";
  case '\'': return "\"'\"";
  default: return "space";
  }
}

static shoal_status fill_result(shoal_result *result, const shoal_table *table,
                                const shoal_column_stats *stats, const shoal_run *run,
                                shoal_error *error) {
  result->holds = true;
  result->input_rows = table->n_records;
  result->input_columns = table->n_columns;
  result->source = shoal_result_string(result, table->name, strlen(table->name));
  if (!result->source) return shoal_fail_memory(error);
  if (table->decimal == ',') result->profile.decimal = "\",\"";
  if (table->thousands) result->profile.thousands = thousands_as_yaml(*table->thousands);
  result->profile.encoding = table->detected_encoding;
  shoal_suggestion *suggestions = shoal_alloc(table->n_columns, sizeof *suggestions);
  if (!suggestions) return shoal_fail_memory(error);
  shoal_suggest_table(table, stats, suggestions);
  shoal_status status = fill_columns(result, table, stats, suggestions, error);
  free(suggestions);
  SHOAL_TRY(status);
  SHOAL_TRY(warn_of_table(result, error));
  return count_combinations(result, table, run, error);
}

shoal_status shoal_profile_table(shoal_result *result, const shoal_table *table,
                                 const shoal_run *run, shoal_error *error) {
  if (!table->finished)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the table is not finished: it can be profiled then");
  for (size_t c = 0; c < table->n_columns; c++)
    if (table->columns[c].code_size == 0)
      return shoal_fail_at(
          error, SHOAL_BAD_INPUT,
          &(shoal_location){.file = table->name, .column = table->columns[c].name},
          "its cells were not kept: read the table without a policy to profile it");
  SHOAL_TRY(check_header(table, error));
  shoal_column_stats *stats = shoal_alloc_zero(table->n_columns, sizeof *stats);
  if (!stats) return shoal_fail_memory(error);
  shoal_status status = shoal_profile_scan(table, run, stats, error);
  if (status == SHOAL_OK) status = fill_result(result, table, stats, run, error);
  free(stats);
  return status;
}
