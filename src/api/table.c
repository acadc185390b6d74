/* SPDX-License-Identifier: Apache-2.0 */
/* api/table: the public functions of shoal_table. */
#include "table/table.h"

#include "api/arguments.h"
#include "input/input.h"

shoal_status shoal_table_read(const char *path, const shoal_policy *policy, shoal_purpose purpose,
                              const char *delimiter, const shoal_run *run, shoal_table **table,
                              shoal_error *error) {
  if (table) *table = NULL;
  SHOAL_NEED(path && table, error);
  SHOAL_NEED_VALUE(purpose <= SHOAL_FOR_COMPARISON, error);
  return shoal_input_read(path, policy, purpose, delimiter, run, table, error);
}

shoal_status shoal_table_from_arrow(struct ArrowArrayStream *stream, const shoal_policy *policy,
                                    shoal_purpose purpose, const shoal_run *run,
                                    shoal_table **table, shoal_error *error) {
  if (table) *table = NULL;
  SHOAL_NEED(stream && stream->release, error);
  bool valid = table && stream->get_schema && stream->get_next && purpose <= SHOAL_FOR_COMPARISON;
  shoal_status status = valid ? shoal_input_read_arrow(stream, policy, purpose, run, table, error)
                              : shoal_fail(error, SHOAL_BAD_INPUT,
                                           "%s: an argument is NULL or out of range", __func__);
  stream->release(stream);
  return status;
}

shoal_status shoal_table_new(const char *const *names, size_t n_columns, shoal_table **table,
                             shoal_error *error) {
  if (table) *table = NULL;
  SHOAL_NEED((names || !n_columns) && table, error);
  return shoal_table_create(names, n_columns, table, error);
}

shoal_status shoal_table_append(shoal_table *table, const shoal_text_view *columns,
                                size_t n_columns, size_t n_rows, const uint64_t *counts,
                                shoal_error *error) {
  SHOAL_NEED(table && columns, error);
  return shoal_table_add_rows(table, columns, n_columns, n_rows, counts, error);
}

shoal_status shoal_table_finish(shoal_table *table, const shoal_policy *policy,
                                shoal_purpose purpose, shoal_error *error) {
  SHOAL_NEED(table, error);
  SHOAL_NEED_VALUE(purpose <= SHOAL_FOR_COMPARISON, error);
  return shoal_input_finish(table, policy, purpose, error);
}

uint64_t shoal_table_rows(const shoal_table *table) { return table ? table->n_records : 0; }

size_t shoal_table_columns(const shoal_table *table) { return table ? table->n_columns : 0; }

uint64_t shoal_table_bytes(const shoal_table *table) {
  return table ? shoal_table_memory(table) : 0;
}

void shoal_table_free(shoal_table *table) { shoal_table_delete(table); }
