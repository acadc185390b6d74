/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/expand: a table of counted rows as one of single records, for whoever must be able to part
 * records that are alike: local recoding may put them into different classes.
 */
#include <stdlib.h>
#include <string.h>

#include "table/table.h"

/* A copy of n items; *failed is set where there is no memory. NULL stays NULL. */
static void *copy_of(const void *items, size_t n, size_t size, bool *failed) {
  if (!items) return NULL;
  void *copy = shoal_alloc(n, size);
  if (copy) memcpy(copy, items, n * size);
  *failed = *failed || !copy;
  return copy;
}

static void *repeat_codes(const shoal_table *table, const shoal_column *column, bool *failed) {
  if (!column->codes) return NULL;
  size_t size = column->code_size;
  char *codes = shoal_alloc((size_t)table->n_records, size), *to = codes;
  *failed = *failed || !codes;
  for (uint64_t row = 0; codes && row < table->n_rows; row++)
    for (uint64_t times = table->counts[row]; times; times--, to += size)
      memcpy(to, (const char *)column->codes + row * size, size);
  return codes;
}

/* first_row goes on naming rows as they were given: messages are about these. */
static bool expand_column(const shoal_table *table, const shoal_column *from, shoal_column *to) {
  size_t n = from->n_values;
  bool failed = false;
  *to = (shoal_column){
      .name = copy_of(from->name, strlen(from->name) + 1, 1, &failed),
      .n_values = from->n_values,
      .code_size = from->code_size,
      .codes = repeat_codes(table, from, &failed),
      .bytes = copy_of(from->bytes, from->offsets ? (size_t)from->offsets[n] : 0, 1, &failed),
      .offsets = copy_of(from->offsets, n + 1, sizeof *from->offsets, &failed),
      .is_missing = copy_of(from->is_missing, n, sizeof *from->is_missing, &failed),
      .first_row = copy_of(from->first_row, n, sizeof *from->first_row, &failed),
      .n_repeated = from->n_repeated};
  return !failed;
}

static bool expand(const shoal_table *table, shoal_table *out) {
  bool failed = false;
  out->name = copy_of(table->name, strlen(table->name) + 1, 1, &failed);
  out->columns = shoal_alloc_zero(table->n_columns, sizeof *out->columns);
  if (failed || !out->columns) return false;
  out->delimiter = table->delimiter;
  out->n_rows = out->n_records = table->n_records;
  out->n_columns = table->n_columns;
  out->finished = table->finished;
  out->seconds_read = table->seconds_read;
  for (size_t c = 0; c < table->n_columns; c++)
    if (!expand_column(table, &table->columns[c], &out->columns[c])) return false;
  return true;
}

shoal_status shoal_table_expand(const shoal_table *table, shoal_table **out, shoal_error *error) {
  *out = NULL;
  shoal_table *made = shoal_alloc_zero(1, sizeof *made);
  if (made && expand(table, made)) {
    *out = made;
    return SHOAL_OK;
  }
  shoal_table_free(made);
  return shoal_fail_memory(error);
}
