/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table: tables filled from memory, and tables of counted rows expanded to single records. Tables
 * read from a file are made by load.c.
 */
#include "table/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/count.h"
#include "table/fold.h"
#include "table/load.h"
#include "table/whole.h"

enum { CHUNK_BYTES = 1 << 20 };

/* While rows are added: one part takes them all, with codes for every column. */
struct shoal_loader {
  shoal_load_part part;
  shoal_use *uses;
  shoal_piece *pieces;
  size_t n_pieces, pieces_capacity;
  size_t counts_capacity;
  char *bytes; /* one chunk's cells, with slack */
  size_t bytes_capacity;
  uint32_t *begin, *end;
  size_t cells_capacity, end_capacity;
};

static void loader_free(struct shoal_loader *loader, size_t n_columns) {
  if (!loader) return;
  if (loader->part.dictionaries) shoal_load_part_reset(&loader->part, n_columns);
  free(loader->uses);
  free(loader->pieces);
  shoal_wipe_free(loader->bytes, loader->bytes_capacity);
  free(loader->begin);
  free(loader->end);
  free(loader);
}

static size_t values_bytes(const shoal_column *column) {
  return (size_t)column->offsets[column->n_values];
}

shoal_status shoal_table_note(shoal_table *table, shoal_error *error, const char *format, ...) {
  char **notes = shoal_resize(table->notes, table->n_notes + 1, sizeof *notes);
  if (!notes) return shoal_fail_memory(error);
  table->notes = notes;
  va_list arguments;
  va_start(arguments, format);
  int size = vasprintf(&notes[table->n_notes], format, arguments);
  va_end(arguments);
  if (size < 0) return shoal_fail_memory(error);
  table->n_notes++;
  return SHOAL_OK;
}

void shoal_table_delete(shoal_table *table) {
  if (!table) return;
  loader_free(table->loader, table->n_columns);
  for (size_t c = 0; c < table->n_columns; c++) {
    shoal_column *column = &table->columns[c];
    free((char *)(uintptr_t)column->name);
    free(column->codes);
    shoal_wipe_free(column->bytes, column->offsets ? values_bytes(column) : 0);
    free(column->offsets);
    free(column->is_missing);
    free(column->first_row);
    free(column->hashes);
    shoal_spellings_free(column->spellings);
    shoal_folded_free(column->folded);
    if (column->sample) shoal_value_sample_reset(column->sample);
    free(column->sample);
  }
  free(table->columns);
  free(table->counts);
  free(table->first_row);
  shoal_spelled_rows_free(table->spelled);
  shoal_table_source_free(table->source);
  if (table->columns_in_database) shoal_database_columns_reset(table->columns_in_database);
  free(table->columns_in_database);
  for (size_t i = 0; i < table->n_notes; i++) free(table->notes[i]);
  free(table->notes);
  if (!table->borrows_whole) shoal_whole_free(table->whole);
  free(table->name);
  free(table);
}

const shoal_column *shoal_table_column(const shoal_table *table, const char *name) {
  for (size_t c = 0; c < table->n_columns; c++)
    if (strcmp(table->columns[c].name, name) == 0) return &table->columns[c];
  return NULL;
}

uint64_t shoal_table_memory(const shoal_table *table) {
  uint64_t bytes = table->counts ? table->n_rows * sizeof *table->counts : 0;
  for (size_t c = 0; c < table->n_columns; c++) {
    const shoal_column *column = &table->columns[c];
    bytes += table->n_rows * column->code_size;
    if (column->offsets)
      bytes += column->offsets[column->n_values] +
               (uint64_t)column->n_values * 2 * sizeof *column->offsets;
  }
  return bytes;
}

/* ------------------------------------------------------------ from memory */

static shoal_status new_table(const char *const *names, size_t n_columns, shoal_table *table,
                              shoal_error *error) {
  table->name = strdup("the table");
  table->delimiter = ',';
  table->columns = shoal_alloc_zero(n_columns, sizeof *table->columns);
  table->loader = shoal_alloc_zero(1, sizeof *table->loader);
  if (!table->name || !table->columns || !table->loader) return shoal_fail_memory(error);
  for (size_t c = 0; c < n_columns; c++) {
    if (!names[c] || !names[c][0])
      return shoal_fail(error, SHOAL_BAD_INPUT, "column %zu has no name", c + 1);
    if (shoal_table_column(table, names[c]))
      return shoal_fail(error, SHOAL_BAD_INPUT, "column '%s' occurs twice", names[c]);
    table->columns[c].name = strdup(names[c]);
    if (!table->columns[c].name) return shoal_fail_memory(error);
    table->n_columns = c + 1;
  }
  table->loader->uses = shoal_alloc(n_columns, sizeof *table->loader->uses);
  for (size_t c = 0; table->loader->uses && c < n_columns; c++)
    table->loader->uses[c] = SHOAL_USE_CODES;
  if (!table->loader->uses ||
      !shoal_load_part_init(&table->loader->part, table->loader->uses, n_columns))
    return shoal_fail_memory(error);
  return SHOAL_OK;
}

shoal_status shoal_table_create(const char *const *names, size_t n_columns, shoal_table **out,
                                shoal_error *error) {
  if (n_columns == 0) return shoal_fail(error, SHOAL_BAD_INPUT, "a table needs a column");
  shoal_table *table = shoal_alloc_zero(1, sizeof *table);
  if (!table) return shoal_fail_memory(error);
  shoal_status status = new_table(names, n_columns, table, error);
  if (status != SHOAL_OK) {
    shoal_table_delete(table);
    return status;
  }
  *out = table;
  return SHOAL_OK;
}

/* Rows from `row` on whose cells fit into one chunk; at least one. */
static size_t rows_of_chunk(const shoal_text_view *columns, size_t n_columns, size_t row,
                            size_t n_rows, uint64_t *bytes) {
  size_t end = row;
  *bytes = 0;
  while (end < n_rows) {
    uint64_t more = 0;
    for (size_t c = 0; c < n_columns; c++)
      more += columns[c].offsets[end + 1] - columns[c].offsets[end];
    if (end > row && *bytes + more > CHUNK_BYTES) break;
    *bytes += more;
    end++;
  }
  return end - row;
}

static shoal_status append_chunk(shoal_table *table, const shoal_text_view *columns, size_t row,
                                 size_t n_rows, uint64_t bytes, shoal_error *error) {
  struct shoal_loader *loader = table->loader;
  size_t n_cells = n_rows * table->n_columns, at = 0;
  if (bytes > UINT32_MAX / 2)
    return shoal_fail(error, SHOAL_BAD_INPUT, "row %zu is larger than 2 GiB", row + 1);
  if (!shoal_grow_wiping(&loader->bytes, &loader->bytes_capacity, (size_t)bytes + 64) ||
      !shoal_grow(&loader->begin, &loader->cells_capacity, n_cells, sizeof *loader->begin) ||
      !shoal_grow(&loader->end, &loader->end_capacity, n_cells, sizeof *loader->end) ||
      !shoal_grow(&loader->pieces, &loader->pieces_capacity, loader->n_pieces + 1,
                  sizeof *loader->pieces))
    return shoal_fail_memory(error);
  for (size_t r = 0; r < n_rows; r++) {
    for (size_t c = 0; c < table->n_columns; c++) {
      uint64_t from = columns[c].offsets[row + r];
      size_t size = (size_t)(columns[c].offsets[row + r + 1] - from);
      size_t cell = r * table->n_columns + c;
      if (size) memcpy(loader->bytes + at, columns[c].bytes + from, size);
      loader->begin[cell] = (uint32_t)at;
      loader->end[cell] = (uint32_t)(at += size);
    }
  }
  memset(loader->bytes + at, 0, 64);
  shoal_piece piece = {.first_row = loader->part.n_rows, .n_rows = n_rows};
  if (!shoal_load_part_add(&loader->part, loader->uses, table->n_columns, loader->bytes,
                           loader->begin, loader->end, n_rows, loader->n_pieces))
    return shoal_fail_memory(error);
  loader->pieces[loader->n_pieces++] = piece;
  return SHOAL_OK;
}

/* Checks a chunk before any of it is added. */
static shoal_status check_chunk(const shoal_table *table, const shoal_text_view *columns,
                                size_t n_columns, size_t n_rows, const uint64_t *counts,
                                shoal_error *error) {
  size_t before = table->loader->part.n_rows;
  if (before && (counts != NULL) != (table->counts != NULL))
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "chunks with counts and chunks without cannot be mixed in one table");
  uint64_t sum = table->n_records;
  for (size_t r = 0; counts && r < n_rows; r++) {
    if (counts[r] == 0)
      return shoal_fail(error, SHOAL_BAD_INPUT, "row %zu has the count 0: leave it out",
                        before + r + 1);
    if (counts[r] > INT64_MAX - sum)
      return shoal_fail(error, SHOAL_BAD_INPUT, "the counts add up to more than 2^63");
    sum += counts[r];
  }
  for (size_t c = 0; c < n_columns; c++) {
    const uint64_t *offsets = columns[c].offsets;
    bool none = !offsets;
    for (size_t r = 0; !none && !columns[c].bytes && r < n_rows; r++)
      none = offsets[r + 1] != offsets[r];
    if (none)
      return shoal_fail(error, SHOAL_BAD_INPUT, "the cells of column '%s' are NULL",
                        table->columns[c].name);
    for (size_t r = 0; r < n_rows; r++) {
      shoal_location location = {.row = before + r + 1, .column = table->columns[c].name};
      if (offsets[r + 1] < offsets[r])
        return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "its offsets descend");
      size_t size = (size_t)(offsets[r + 1] - offsets[r]);
      assert(!size || columns[c].bytes);
      if (size && memchr(columns[c].bytes + offsets[r], '\0', size))
        return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "has a NUL byte: give text");
    }
  }
  return SHOAL_OK;
}

/* Counts are stored with their rows; memory for them is reserved first. */
static shoal_status reserve_counts(shoal_table *table, const uint64_t *counts, size_t n_rows,
                                   shoal_error *error) {
  size_t before = table->loader->part.n_rows;
  if (counts && !shoal_grow(&table->counts, &table->loader->counts_capacity, before + n_rows,
                            sizeof *table->counts))
    return shoal_fail_memory(error);
  return SHOAL_OK;
}

shoal_status shoal_table_add_rows(shoal_table *table, const shoal_text_view *columns,
                                  size_t n_columns, size_t n_rows, const uint64_t *counts,
                                  shoal_error *error) {
  if (table->finished || !table->loader)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the table is finished: no rows can be added");
  if (n_columns != table->n_columns)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the chunk has %zu columns, the table %zu", n_columns,
                      table->n_columns);
  if (n_rows == 0) return SHOAL_OK;
  SHOAL_TRY(check_chunk(table, columns, n_columns, n_rows, counts, error));
  SHOAL_TRY(reserve_counts(table, counts, n_rows, error));
  for (size_t row = 0; row < n_rows;) {
    uint64_t bytes;
    size_t n = rows_of_chunk(columns, n_columns, row, n_rows, &bytes);
    size_t first = table->loader->part.n_rows;
    SHOAL_TRY(append_chunk(table, columns, row, n, bytes, error));
    for (size_t r = 0; r < n; r++) {
      if (counts) table->counts[first + r] = counts[row + r];
      table->n_records += counts ? counts[row + r] : 1;
    }
    row += n;
  }
  return SHOAL_OK;
}

/* Samples the values of a column whose codes are dropped; `rows`: of each. */
static bool sample_column(shoal_column *column, const uint64_t *rows,
                          const shoal_sampling *sampling) {
  column->sample = shoal_alloc_zero(1, sizeof *column->sample);
  bool ok = column->sample != NULL;
  for (uint32_t v = 0; ok && v < column->n_values; v++) {
    size_t size;
    const char *value = shoal_column_value(column, v, &size);
    ok = shoal_value_sample_add_value(column->sample, sampling, value, size, rows[v]);
  }
  return ok;
}

/* Counts repeated identifiers, then drops columns that are not used as codes. */
static bool drop_unwanted(shoal_table *table, const shoal_use *uses,
                          const shoal_sampling *sampling) {
  for (size_t c = 0; uses && c < table->n_columns; c++) {
    shoal_column *column = &table->columns[c];
    if (shoal_use_has_codes(uses[c]) || uses[c] == SHOAL_USE_COPY) continue;
    uint64_t *rows = shoal_alloc_zero(column->n_values, sizeof *rows);
    if (!rows) return false;
    for (uint64_t row = 0; row < table->n_rows; row++)
      rows[shoal_column_code(column, row)] += shoal_table_count(table, row);
    for (uint32_t v = 0; uses[c] == SHOAL_USE_IDENTITY && v < column->n_values; v++)
      if (rows[v] > 1) column->n_repeated += rows[v];
    column->is_identity = uses[c] == SHOAL_USE_IDENTITY;
    bool ok = uses[c] != SHOAL_USE_SAMPLE || !sampling || sample_column(column, rows, sampling);
    free(rows);
    if (!ok) return false;
    free(column->codes);
    column->codes = NULL;
    column->code_size = 0;
  }
  return true;
}

shoal_status shoal_table_finalize(shoal_table *table, const shoal_load_options *options,
                                  shoal_error *error) {
  struct shoal_loader *loader = table->loader;
  if (table->finished || !loader)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the table is finished already");
  if (loader->part.n_rows == 0)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the table has no rows: there is nothing to work on");
  shoal_merge_plan plan = {.parts = &loader->part,
                           .n_parts = 1,
                           .pieces = loader->pieces,
                           .n_pieces = loader->n_pieces,
                           .uses = loader->uses,
                           .missing = options->missing,
                           .n_missing = options->n_missing,
                           .unquote = options->unquote,
                           .n_threads = 1};
  SHOAL_TRY(shoal_table_merge(table, &plan, error));
  loader_free(loader, table->n_columns);
  table->loader = NULL;
  if (!drop_unwanted(table, options->uses, options->sampling)) return shoal_fail_memory(error);
  table->finished = true;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ records of counted rows */

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

/* first_row still names rows as they were added: messages refer to these. */
static bool expand_column(const shoal_table *table, const shoal_column *from, shoal_column *to) {
  size_t n = from->n_values;
  bool failed = false;
  *to = *from;
  to->spellings = NULL;
  to->sample = NULL;
  to->hashes = NULL;
  to->name = copy_of(from->name, strlen(from->name) + 1, 1, &failed);
  to->codes = repeat_codes(table, from, &failed);
  to->bytes = copy_of(from->bytes, from->offsets ? (size_t)from->offsets[n] : 0, 1, &failed);
  to->offsets = copy_of(from->offsets, n + 1, sizeof *from->offsets, &failed);
  to->is_missing = copy_of(from->is_missing, n, sizeof *from->is_missing, &failed);
  to->first_row = copy_of(from->first_row, n, sizeof *from->first_row, &failed);
  if (from->sample) {
    to->sample = shoal_alloc_zero(1, sizeof *to->sample);
    failed = failed || !to->sample || !shoal_value_sample_merge(to->sample, from->sample);
  }
  if (from->folded) {
    to->folded = shoal_folded_expand(table, from->folded);
    failed = failed || !to->folded;
  }
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
  out->whole = table->whole;
  out->borrows_whole = true;
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
  shoal_table_delete(made);
  return shoal_fail_memory(error);
}
