/* SPDX-License-Identifier: Apache-2.0 */
/* table/header: row 1 of a CSV file: the delimiter and the names of the columns. */
#include <stdlib.h>
#include <string.h>

#include "read/blocks.h"
#include "table/dictionary.h"
#include "table/load.h"

/* With slack: the dictionary reads whole words. */
static char *copy_name(const char *bytes, size_t size) {
  char *name = shoal_alloc_zero(size + 1 + SHOAL_DICTIONARY_SLACK, 1);
  if (name) memcpy(name, bytes, size);
  return name;
}

/* R and pandas write row names as a first column without a name. */
static shoal_status name_the_unnamed(shoal_table *table, shoal_error *error) {
  shoal_location location = {.file = table->name};
  size_t n_unnamed = 0, unnamed = 0;
  for (size_t c = table->n_columns; c-- > 0;) {
    if (table->columns[c].name[0]) continue;
    n_unnamed++;
    unnamed = c;
  }
  if (!n_unnamed) return SHOAL_OK;
  if (n_unnamed > 1 || table->n_columns == 1)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "column %zu of the header has no name: give each column one", unnamed + 1);
  if (shoal_table_column(table, SHOAL_ROW_NAMES))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "column %zu of the header has no name, and another column is '%s', as "
                         "which it would be read: give it a name",
                         unnamed + 1, SHOAL_ROW_NAMES);
  char *name = copy_name(SHOAL_ROW_NAMES, strlen(SHOAL_ROW_NAMES));
  if (!name) return shoal_fail_memory(error);
  free((void *)(uintptr_t)table->columns[unnamed].name);
  table->columns[unnamed].name = name;
  return SHOAL_OK;
}

static shoal_status check_names(shoal_table *table, shoal_error *error) {
  shoal_location location = {.file = table->name};
  SHOAL_TRY(name_the_unnamed(table, error));
  shoal_dictionary seen;
  if (!shoal_dictionary_init(&seen)) return shoal_fail_memory(error);
  shoal_status status = SHOAL_OK;
  for (size_t c = 0; c < table->n_columns && status == SHOAL_OK; c++) {
    const char *name = table->columns[c].name; /* has slack after it */
    uint32_t code = shoal_dictionary_code(&seen, name, (uint32_t)strlen(name), c);
    if (code == SHOAL_NONE) status = shoal_fail_memory(error);
    else if (code != c)
      status = shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                             "columns %u and %zu of the header have the same name; rename one",
                             code + 1, c + 1); /* the name is not quoted: row 1 may be data */
  }
  shoal_dictionary_reset(&seen);
  return status;
}

static shoal_status parse_header(shoal_table *table, char *bytes, size_t size, char delimiter,
                                 shoal_error *error) {
  shoal_cells cells;
  shoal_cells_init(&cells);
  shoal_location location = {.file = table->name};
  shoal_csv_problem problem = shoal_csv_split(bytes, size, delimiter, 0, &cells);
  shoal_status status = SHOAL_OK;
  if (problem.fault == SHOAL_CSV_MEMORY) {
    status = shoal_fail_memory(error);
  } else if (problem.fault != SHOAL_CSV_OK) {
    char why[256];
    shoal_csv_explain(problem, 0, why, sizeof why);
    status = shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "the header: %s", why);
  } else {
    table->columns = shoal_alloc_zero(cells.n_cells, sizeof *table->columns);
    if (!table->columns) status = shoal_fail_memory(error);
  }
  for (size_t c = 0; status == SHOAL_OK && c < cells.n_cells; c++) {
    table->columns[c].name = copy_name(bytes + cells.begin[c], cells.end[c] - cells.begin[c]);
    if (!table->columns[c].name) status = shoal_fail_memory(error);
    table->n_columns = c + 1;
  }
  shoal_cells_reset(&cells);
  SHOAL_TRY(status);
  if (memchr(bytes, '\r', size ? size - 1 : 0) && !memchr(bytes, '\n', size))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "its lines end in CR alone: save it with LF or CRLF line ends");
  return check_names(table, error);
}

/* Parses the header at the start of the first block and puts the rest back. */
static shoal_status take_header(shoal_blocks *blocks, shoal_table *table, char delimiter,
                                shoal_block *b, shoal_error *error) {
  size_t start = b->size_bytes >= 3 && memcmp(b->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  const char *file = table->name;
  shoal_location location = {.file = file};
  if (b->size_bytes == start)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "is empty; it needs a header and at least one row");
  memmove(b->bytes, b->bytes + start, b->size_bytes - start);
  b->size_bytes -= start;
  memset(b->bytes + b->size_bytes, 0, SHOAL_CSV_SLACK);
  if (!delimiter) blocks->delimiter = shoal_csv_guess_delimiter(b->bytes, b->size_bytes);
  table->delimiter = blocks->delimiter;
  table->from_file = true;
  size_t header = shoal_csv_first_record(b->bytes, b->size_bytes, blocks->delimiter);
  if (!header) header = b->size_bytes;
  if (!shoal_blocks_put_back(blocks, b->bytes + header, b->size_bytes - header))
    return shoal_fail_memory(error);
  SHOAL_TRY(parse_header(table, b->bytes, header, blocks->delimiter, error));
  blocks->n_columns = table->n_columns;
  return SHOAL_OK;
}

shoal_status shoal_table_take_header(shoal_blocks *blocks, shoal_table *table, char delimiter,
                                     shoal_error *error) {
  shoal_block b;
  shoal_block_init(&b);
  blocks->delimiter = delimiter ? delimiter : ',';
  shoal_status status = SHOAL_OK;
  if (!shoal_blocks_next(blocks, &b) && blocks->status != SHOAL_OK) {
    status = blocks->status;
    if (error) *error = blocks->error;
  }
  if (status == SHOAL_OK && !b.bytes) status = shoal_fail_memory(error);
  if (status == SHOAL_OK) status = take_header(blocks, table, delimiter, &b, error);
  shoal_block_reset(&b);
  return status;
}
