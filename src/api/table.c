/* SPDX-License-Identifier: Apache-2.0 */
/* api/table: the public functions of shoal_table. */
#include "table/table.h"

#include <string.h>

#include "api/arguments.h"
#include "input/input.h"
#include "read/database.h"
#include "shoal/program.h"

shoal_status shoal_table_read(const char *path, const shoal_policy *policy, shoal_purpose purpose,
                              const char *delimiter, const shoal_run *run, shoal_table **table,
                              shoal_error *error) {
  SHOAL_BEGIN(error);
  if (table) *table = NULL;
  SHOAL_NEED(path && table, error);
  SHOAL_NEED_VALUE(purpose <= SHOAL_FOR_COMPARISON, error);
  SHOAL_NEED_SIZE(run, error);
  return shoal_answer(shoal_input_read(path, policy, purpose, delimiter, run, table, error), error);
}

bool shoal_path_is_database(const char *path) { return path && shoal_is_database(path); }

bool shoal_path_has_table(const char *address) {
  return address && shoal_address_has_table(address);
}

const char *shoal_path_file(const char *path, char *buffer, size_t size) {
  return path && buffer ? shoal_file_of_path(path, buffer, size) : path;
}

/* The stream is released also if another argument is wrong. */
static shoal_status read_arrow(struct ArrowArrayStream *stream, const shoal_counts *counts,
                               const shoal_policy *policy, shoal_purpose purpose,
                               const shoal_run *run, shoal_table **table, shoal_error *error) {
  SHOAL_NEED(table && stream->get_schema && stream->get_next, error);
  SHOAL_NEED(!counts || counts->items, error);
  SHOAL_NEED_VALUE(purpose <= SHOAL_FOR_TUPLES, error);
  SHOAL_NEED_SIZE(run, error);
  return shoal_input_read_arrow(stream, counts, policy, purpose, run, table, error);
}

shoal_status shoal_table_from_arrow(struct ArrowArrayStream *stream, const shoal_policy *policy,
                                    shoal_purpose purpose, const shoal_run *run,
                                    shoal_table **table, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (table) *table = NULL;
  SHOAL_NEED(stream && stream->release, error);
  shoal_status status = read_arrow(stream, NULL, policy, purpose, run, table, error);
  stream->release(stream);
  return shoal_answer(status, error);
}

shoal_status shoal_table_from_tuples(struct ArrowArrayStream *stream, const uint64_t *counts,
                                     size_t n_counts, const shoal_policy *policy,
                                     shoal_purpose purpose, const shoal_run *run,
                                     shoal_table **table, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (table) *table = NULL;
  SHOAL_NEED(stream && stream->release, error);
  const shoal_counts given = {counts, n_counts};
  shoal_status status = read_arrow(stream, &given, policy, purpose, run, table, error);
  stream->release(stream);
  return shoal_answer(status, error);
}

shoal_status shoal_table_new(const char *const *names, size_t n_columns, shoal_table **table,
                             shoal_error *error) {
  SHOAL_BEGIN(error);
  if (table) *table = NULL;
  SHOAL_NEED((names || !n_columns) && table, error);
  return shoal_answer(shoal_table_create(names, n_columns, table, error), error);
}

shoal_status shoal_table_append(shoal_table *table, const shoal_text_view *columns,
                                size_t n_columns, size_t n_rows, const uint64_t *counts,
                                shoal_error *error) {
  SHOAL_BEGIN(error);
  SHOAL_NEED(table && columns, error);
  return shoal_answer(shoal_table_add_rows(table, columns, n_columns, n_rows, counts, error),
                      error);
}

shoal_status shoal_table_finish(shoal_table *table, const shoal_policy *policy,
                                shoal_purpose purpose, shoal_error *error) {
  SHOAL_BEGIN(error);
  SHOAL_NEED(table, error);
  SHOAL_NEED_VALUE(purpose <= SHOAL_FOR_TUPLES, error);
  return shoal_answer(shoal_input_finish(table, policy, purpose, error), error);
}

shoal_status shoal_table_outside(shoal_table *table, const char *name,
                                 const shoal_column_figures *figures, shoal_error *error) {
  SHOAL_BEGIN(error);
  SHOAL_NEED(table && name && *name, error);
  SHOAL_NEED_SIZE(figures, error);
  SHOAL_NEED(!figures || !figures->n || (figures->n_rows && figures->n_values), error);
  SHOAL_NEED_VALUE(!figures || figures->cells <= SHOAL_CELLS_TIME, error);
  return shoal_answer(shoal_input_outside(table, name, figures, error), error);
}

shoal_status shoal_table_whole(shoal_table *table, const shoal_policy *policy, const char *column,
                               const shoal_text_view *values, const uint64_t *counts, size_t n,
                               shoal_error *error) {
  SHOAL_BEGIN(error);
  SHOAL_NEED(table && policy && column && values && counts, error);
  SHOAL_NEED(values->offsets && (values->bytes || values->offsets[n] == values->offsets[0]), error);
  return shoal_answer(shoal_input_whole(table, policy, column, values, counts, n, error), error);
}

uint64_t shoal_table_rows(const shoal_table *table) { return table ? table->n_records : 0; }

size_t shoal_table_columns(const shoal_table *table) { return table ? table->n_columns : 0; }

uint64_t shoal_table_bytes(const shoal_table *table) {
  return table ? shoal_table_memory(table) : 0;
}

void shoal_table_free(shoal_table *table) { shoal_table_delete(table); }

/* A column with cells; NULL: there is none. */
static const shoal_column *kept_column(const shoal_table *table, size_t column) {
  if (!table || !table->finished || column >= table->n_columns) return NULL;
  return table->columns[column].code_size ? &table->columns[column] : NULL;
}

const char *shoal_table_name(const shoal_table *table, size_t column, size_t *size_bytes) {
  if (!table || column >= table->n_columns || !size_bytes) return NULL;
  *size_bytes = strlen(table->columns[column].name);
  return table->columns[column].name;
}

size_t shoal_table_values(const shoal_table *table, size_t column) {
  const shoal_column *kept = kept_column(table, column);
  return kept ? kept->n_values : 0;
}

const char *shoal_table_value(const shoal_table *table, size_t column, size_t value,
                              size_t *size_bytes) {
  const shoal_column *kept = kept_column(table, column);
  if (!kept || value >= kept->n_values || !size_bytes) return NULL;
  return shoal_column_value(kept, (uint32_t)value, size_bytes);
}

size_t shoal_table_cell(const shoal_table *table, size_t column, uint64_t row) {
  const shoal_column *kept = kept_column(table, column);
  return kept && row < table->n_rows ? shoal_column_code(kept, row) : SIZE_MAX;
}

shoal_status shoal_table_count_values(const shoal_table *table, size_t column, uint64_t *counts,
                                      shoal_error *error) {
  const shoal_column *kept = kept_column(table, column);
  SHOAL_NEED(table && counts, error);
  SHOAL_NEED_VALUE(kept != NULL, error);
  memset(counts, 0, kept->n_values * sizeof *counts);
  for (uint64_t row = 0; row < table->n_rows; row++)
    counts[shoal_column_code(kept, row)] += shoal_table_count(table, row);
  return SHOAL_OK;
}
