/* SPDX-License-Identifier: Apache-2.0 */
/* table: the columns themselves, and tables filled from memory; see table.h and shoal.h. */
#include "table/table.h"

#include <stdlib.h>
#include <string.h>

#include "table/count.h"
#include "table/load.h"

enum { CHUNK_BYTES = 1 << 20 };

/* While rows are added: one share takes them all, codes for every column. */
struct shoal_loader {
  shoal_share share;
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
  if (loader->share.dictionaries) shoal_share_reset(&loader->share, n_columns);
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

void shoal_table_free(shoal_table *table) {
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
  }
  free(table->columns);
  free(table->counts);
  free(table->first_row);
  shoal_origin_free(table->origin);
  free(table->name);
  free(table);
}

const shoal_column *shoal_table_column(const shoal_table *table, const char *name) {
  for (size_t c = 0; c < table->n_columns; c++)
    if (strcmp(table->columns[c].name, name) == 0) return &table->columns[c];
  return NULL;
}

uint64_t shoal_table_rows(const shoal_table *table) { return table->n_records; }

size_t shoal_table_columns(const shoal_table *table) { return table->n_columns; }

uint64_t shoal_table_bytes(const shoal_table *table) {
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
      return shoal_fail(error, SHOAL_BAD_INPUT, "column '%s' stands twice", names[c]);
    table->columns[c].name = strdup(names[c]);
    if (!table->columns[c].name) return shoal_fail_memory(error);
    table->n_columns = c + 1;
  }
  table->loader->uses = shoal_alloc(n_columns, sizeof *table->loader->uses);
  for (size_t c = 0; table->loader->uses && c < n_columns; c++)
    table->loader->uses[c] = SHOAL_USE_CODES;
  if (!table->loader->uses ||
      !shoal_share_init(&table->loader->share, table->loader->uses, n_columns))
    return shoal_fail_memory(error);
  return SHOAL_OK;
}

shoal_status shoal_table_new(const char *const *names, size_t n_columns, shoal_table **out,
                             shoal_error *error) {
  *out = NULL;
  if (n_columns == 0) return shoal_fail(error, SHOAL_BAD_INPUT, "a table needs a column");
  shoal_table *table = shoal_alloc_zero(1, sizeof *table);
  if (!table) return shoal_fail_memory(error);
  shoal_status status = new_table(names, n_columns, table, error);
  if (status != SHOAL_OK) {
    shoal_table_free(table);
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
  shoal_piece piece = {.first_row = loader->share.n_rows, .n_rows = n_rows};
  if (!shoal_share_add(&loader->share, loader->uses, table->n_columns, loader->bytes, loader->begin,
                       loader->end, n_rows, loader->n_pieces))
    return shoal_fail_memory(error);
  loader->pieces[loader->n_pieces++] = piece;
  return SHOAL_OK;
}

/* Everything that can be wrong with a chunk, before any of it is taken. */
static shoal_status check_chunk(const shoal_table *table, const shoal_text_view *columns,
                                size_t n_columns, size_t n_rows, const uint64_t *counts,
                                shoal_error *error) {
  size_t before = table->loader->share.n_rows;
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
    for (size_t r = 0; r < n_rows; r++) {
      shoal_place place = {.row = before + r + 1, .column = table->columns[c].name};
      if (offsets[r + 1] < offsets[r])
        return shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "its offsets descend");
      size_t size = (size_t)(offsets[r + 1] - offsets[r]);
      if (size && memchr(columns[c].bytes + offsets[r], '\0', size))
        return shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "has a NUL byte: give text");
    }
  }
  return SHOAL_OK;
}

/* Room for the counts is made first and they are taken last, with their rows. */
static shoal_status reserve_counts(shoal_table *table, const uint64_t *counts, size_t n_rows,
                                   shoal_error *error) {
  size_t before = table->loader->share.n_rows;
  if (counts && !shoal_grow(&table->counts, &table->loader->counts_capacity, before + n_rows,
                            sizeof *table->counts))
    return shoal_fail_memory(error);
  return SHOAL_OK;
}

shoal_status shoal_table_append(shoal_table *table, const shoal_text_view *columns,
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
    size_t first = table->loader->share.n_rows;
    SHOAL_TRY(append_chunk(table, columns, row, n, bytes, error));
    for (size_t r = 0; r < n; r++) {
      if (counts) table->counts[first + r] = counts[row + r];
      table->n_records += counts ? counts[row + r] : 1;
    }
    row += n;
  }
  return SHOAL_OK;
}

/* Cells of columns that are not wanted as codes go, once repeated ones are counted. */
static bool drop_unwanted(shoal_table *table, const shoal_use *uses) {
  for (size_t c = 0; uses && c < table->n_columns; c++) {
    shoal_column *column = &table->columns[c];
    if (shoal_use_has_codes(uses[c])) continue;
    uint64_t *rows = shoal_alloc_zero(column->n_values, sizeof *rows);
    if (!rows) return false;
    for (uint64_t row = 0; row < table->n_rows; row++)
      rows[shoal_column_code(column, row)] += shoal_table_count(table, row);
    for (uint32_t v = 0; uses[c] == SHOAL_USE_IDENTITY && v < column->n_values; v++)
      if (rows[v] > 1) column->n_repeated += rows[v];
    free(rows);
    free(column->codes);
    column->codes = NULL;
    column->code_size = 0;
  }
  return true;
}

shoal_status shoal_table_settle(shoal_table *table, const shoal_load_options *options,
                                shoal_error *error) {
  struct shoal_loader *loader = table->loader;
  if (table->finished || !loader)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the table is finished already");
  if (loader->share.n_rows == 0)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the table has no rows: there is nothing to work on");
  shoal_merge_plan plan = {.shares = &loader->share,
                           .n_shares = 1,
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
  if (!drop_unwanted(table, options->uses)) return shoal_fail_memory(error);
  table->finished = true;
  return SHOAL_OK;
}
