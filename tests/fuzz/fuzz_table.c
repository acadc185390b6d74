/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a CSV file -> a table, by threads that take turns at tiny blocks (the build sets
 * SHOAL_BLOCK_BYTES), against the reference reader: the same cells, or both refuse. The first byte
 * chooses the delimiter, the threads, and whether rows are kept or, as without memory, counted.
 */
#include "base/text.h"
#include "read/csv.h"
#include "read/magic.h"
#include "reference.h"
#include "shoal/shoal.h"
#include "table/load.h"
#include "table/table.h"

static reference expected;
static const char *const delimiters[] = {",", ";", "\t", "|"};

/* Blank lines at the end of a table of several columns are no rows. */
static void drop_blank_end(reference *in, size_t n_columns) {
  while (n_columns > 1 && in->n_rows > 1) {
    size_t begin = reference_row_begin(in, in->n_rows - 1);
    if (in->n_cells - begin != 1 || in->begin[begin] != in->end[begin]) return;
    in->n_rows--;
    in->n_cells = begin;
  }
}

/* Each column has a name of its own. */
static bool has_good_names(const reference *in, size_t n_columns) {
  for (size_t a = 0; a < n_columns; a++) {
    size_t size = in->end[a] - in->begin[a];
    if (!size) return false;
    for (size_t b = 0; b < a; b++)
      if (reference_cell_is(in, b, in->bytes + in->begin[a], size)) return false;
  }
  return true;
}

static bool starts_with(const char *in, size_t size, const char *magic, size_t magic_size) {
  return size >= magic_size && memcmp(in, magic, magic_size) == 0;
}

/* What is not about cells: other encodings, compressed and binary files, lines that end in CR
 * alone. */
static bool is_other_matter(const char *in, size_t size) {
  if (starts_with(in, size, "\x1f\x8b", 2) || shoal_magic_advice(in, size)) return true;
  for (size_t at = 0, n; at < size; at += n)
    if (!(n = shoal_utf8_size(in + at, size - at))) return true;
  return memchr(in, '\r', size) && !memchr(in, '\n', size);
}

/* A quoted empty cell alone in its line is no blank line: leave what ends so to fuzz_csv. */
static bool ends_in_quotes(const char *in, size_t size) {
  while (size && (in[size - 1] == '\n' || in[size - 1] == '\r')) size--;
  return size && in[size - 1] == '"';
}

static void compare(const shoal_table *table, const reference *whole, size_t n_columns) {
  MUST(table->n_columns == n_columns && table->n_rows == whole->n_rows - 1);
  MUST(table->n_records == table->n_rows && !table->counts);
  for (size_t c = 0; c < n_columns; c++) {
    const shoal_column *column = &table->columns[c];
    MUST(reference_cell_is(whole, c, column->name, strlen(column->name)));
    uint32_t n_seen = 0;
    for (size_t row = 0; row < table->n_rows; row++) {
      uint32_t code = shoal_column_code(column, row);
      size_t size;
      MUST(code < column->n_values && code <= n_seen); /* codes by first appearance */
      if (code == n_seen) n_seen++;
      const char *value = shoal_column_value(column, code, &size);
      MUST(reference_cell_is(whole, (row + 1) * n_columns + c, value, size));
    }
    MUST(n_seen == column->n_values);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2 || size > MAX_BYTES) return 0;
  const char *delimiter = delimiters[data[0] % 4];
  shoal_run run = {.n_threads = 1 + data[0] / 4 % 3};
  data++;
  size--;
  const char *in = (const char *)data;
  if (is_other_matter(in, size) || ends_in_quotes(in, size)) return 0;
  size_t bom = starts_with(in, size, "\xef\xbb\xbf", 3) ? 3 : 0;
  bool good = reference_read(in + bom, size - bom, delimiter[0], &expected) && expected.n_rows;
  size_t n_columns = good ? expected.row_end[0] : 0;
  drop_blank_end(&expected, n_columns);
  good = good && expected.n_rows > 1 && has_good_names(&expected, n_columns) &&
         reference_is_even(&expected, n_columns);
  memory_file file = memory_file_new(in, size);
  shoal_table *table = NULL;
  shoal_error error = {0};
  shoal_status status =
      shoal_table_read(file.path, NULL, SHOAL_FOR_RELEASE, delimiter, &run, &table, &error);
  MUST(status == SHOAL_OK || (status == SHOAL_BAD_INPUT && error.message[0]));
  MUST((status == SHOAL_OK) == good);
  if (good) compare(table, &expected, n_columns);
  shoal_table_free(table);
  (void)close(file.fd);
  return 0;
}
