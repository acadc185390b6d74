/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/stat_file: a first pass over the CSV file finds each column's type and width, a second one
 * writes rows. The CSV file is the engine's own: it has no faults.
 */
#include "write/stat_file.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "read/blocks.h"
#include "read/stat_cell.h"
#include "write/sink.h"

#if SHOAL_READSTAT

#include <readstat.h>

enum { MAX_SAV_BYTES = 32767, MAX_DTA_BYTES = 2045, BUFFER_BYTES = 1 << 16 };

/* 1980-01-01, noon: the same release gives the same bytes. */
static const time_t created = 315576000;

typedef struct column {
  char *name;
  bool is_text, has_value;
  size_t widest;
  readstat_variable_t *variable;
} column;

typedef struct writer {
  const shoal_stat_plan *plan;
  column *columns;
  int fd;
  char *buffer; /* BUFFER_BYTES */
  size_t buffered;
  readstat_writer_t *out;
  shoal_status status; /* of the callback that writes bytes */
  shoal_error *error;
} writer;

/* ------------------------------------------------------------ cells */

/* Does a row of cells something? */
typedef shoal_status row_fn(writer *w, const char *bytes, const uint32_t *begin,
                            const uint32_t *end);

static bool is_missing(const writer *w, const char *bytes, size_t size) {
  return strlen(w->plan->missing) == size && memcmp(bytes, w->plan->missing, size) == 0;
}

/* Is the cell what a reader would make of the number? */
static bool parse_number(const char *bytes, size_t size, double *number) {
  char text[40], *end;
  if (size == 0 || size >= sizeof text || !strchr("-0123456789", bytes[0])) return false;
  memcpy(text, bytes, size);
  text[size] = '\0';
  if (text[strspn(text, "+-.0123456789e")]) return false; /* no hexadecimal, no words */
  *number = shoal_parse_double(text, &end);
  if (*end) return false;
  shoal_text again;
  shoal_text_init(&again);
  shoal_stat_add_number(&again, *number);
  bool same = !again.failed && again.size_bytes == size && memcmp(again.bytes, bytes, size) == 0;
  shoal_wipe_free(again.bytes, again.capacity);
  return same;
}

static shoal_status fail_column(const writer *w, size_t c, const char *what) {
  shoal_location location = {.file = w->plan->file, .column = w->columns[c].name};
  return shoal_fail_at(w->error, SHOAL_BAD_INPUT, &location, "%s: write CSV instead", what);
}

static shoal_status measure_row(writer *w, const char *bytes, const uint32_t *begin,
                                const uint32_t *end) {
  bool sav = w->plan->kind == SHOAL_STAT_SAV;
  for (size_t c = 0; c < w->plan->n_columns; c++) {
    column *of = &w->columns[c];
    const char *cell = bytes + begin[c];
    size_t size = end[c] - begin[c];
    double number;
    if (size > of->widest) of->widest = size;
    if (size > (sav ? MAX_SAV_BYTES : MAX_DTA_BYTES))
      return fail_column(w, c, "has cells that are too long for such a file");
    if (size && cell[size - 1] == ' ')
      return fail_column(w, c, "has cells that end in a space, which SPSS and Stata files lose");
    if (is_missing(w, cell, size)) continue;
    of->has_value = true;
    of->is_text = of->is_text || !parse_number(cell, size, &number);
  }
  return SHOAL_OK;
}

static shoal_status fail_library(const writer *w, readstat_error_t code) {
  if (w->status != SHOAL_OK) return w->status;
  if (code == READSTAT_ERROR_MALLOC) return shoal_fail_memory(w->error);
  return shoal_fail_at(w->error, SHOAL_FAILED, &(shoal_location){.file = w->plan->file},
                       "cannot be written: %s", readstat_error_message(code));
}

static readstat_error_t insert_cell(const writer *w, const column *of, const char *cell,
                                    size_t size) {
  char text[MAX_SAV_BYTES + 1];
  double number = NAN; /* each cell of such a column is a number or missing */
  if (!of->is_text) {
    if (is_missing(w, cell, size)) return readstat_insert_missing_value(w->out, of->variable);
    (void)parse_number(cell, size, &number);
    return readstat_insert_double_value(w->out, of->variable, number);
  }
  memcpy(text, cell, size);
  text[size] = '\0';
  return readstat_insert_string_value(w->out, of->variable, text);
}

static shoal_status write_row(writer *w, const char *bytes, const uint32_t *begin,
                              const uint32_t *end) {
  readstat_error_t code = readstat_begin_row(w->out);
  for (size_t c = 0; c < w->plan->n_columns && code == READSTAT_OK; c++)
    code = insert_cell(w, &w->columns[c], bytes + begin[c], end[c] - begin[c]);
  if (code == READSTAT_OK) code = readstat_end_row(w->out);
  return code == READSTAT_OK ? SHOAL_OK : fail_library(w, code);
}

/* ------------------------------------------------------------ the CSV file */

static shoal_status each_row(writer *w, shoal_blocks *blocks, shoal_block *b, row_fn *visit) {
  size_t n = w->plan->n_columns;
  blocks->delimiter = w->plan->delimiter;
  bool header = true;
  while (shoal_blocks_next(blocks, b)) {
    shoal_csv_problem problem =
        shoal_csv_split(b->bytes, b->size_bytes, w->plan->delimiter, n, &b->cells);
    if (problem.fault == SHOAL_CSV_MEMORY) return shoal_fail_memory(w->error);
    assert(problem.fault == SHOAL_CSV_OK);
    for (size_t c = 0; header && c < n && !w->columns[c].name; c++) {
      size_t size = b->cells.end[c] - b->cells.begin[c];
      w->columns[c].name = strndup(b->bytes + b->cells.begin[c], size);
      if (!w->columns[c].name) return shoal_fail_memory(w->error);
    }
    for (size_t row = header ? 1 : 0; row < b->cells.n_rows; row++)
      SHOAL_TRY(visit(w, b->bytes, b->cells.begin + row * n, b->cells.end + row * n));
    header = false;
  }
  if (blocks->status != SHOAL_OK && w->error) *w->error = blocks->error;
  return blocks->status;
}

static shoal_status read_csv(writer *w, int csv_fd, row_fn *visit) {
  char path[40];
  shoal_blocks blocks;
  shoal_block b;
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", csv_fd);
  SHOAL_TRY(shoal_blocks_open(&blocks, path, w->plan->file, "utf-8", false, w->error));
  shoal_block_init(&b);
  shoal_status status = each_row(w, &blocks, &b, visit);
  shoal_block_reset(&b);
  shoal_blocks_close(&blocks);
  return status;
}

/* ------------------------------------------------------------ the file */

static shoal_status flush(writer *w) {
  shoal_status status = shoal_write_all(w->fd, w->plan->file, w->buffer, w->buffered, w->error);
  w->buffered = 0;
  return status;
}

static ssize_t write_bytes(const void *bytes, size_t size, void *user) {
  writer *w = user;
  if (w->status == SHOAL_OK && w->buffered + size > BUFFER_BYTES) w->status = flush(w);
  if (w->status != SHOAL_OK) return -1;
  if (size > BUFFER_BYTES) {
    w->status = shoal_write_all(w->fd, w->plan->file, bytes, size, w->error);
    return w->status == SHOAL_OK ? (ssize_t)size : -1;
  }
  memcpy(w->buffer + w->buffered, bytes, size);
  w->buffered += size;
  return (ssize_t)size;
}

static shoal_status begin(writer *w) {
  const shoal_stat_plan *plan = w->plan;
  (void)readstat_set_data_writer(w->out, write_bytes);
  (void)readstat_writer_set_file_timestamp(w->out, created);
  for (size_t c = 0; c < w->plan->n_columns; c++) {
    column *of = &w->columns[c];
    if (!of->has_value && *w->plan->missing) of->is_text = true;
    of->variable = readstat_add_variable(w->out, of->name,
                                         of->is_text ? READSTAT_TYPE_STRING : READSTAT_TYPE_DOUBLE,
                                         of->is_text ? (of->widest ? of->widest : 1) : 0);
    if (!of->variable) return shoal_fail_memory(w->error);
  }
  long n_rows = (long)plan->n_rows;
  readstat_error_t code = plan->kind == SHOAL_STAT_SAV
                              ? readstat_begin_writing_sav(w->out, w, n_rows)
                              : readstat_begin_writing_dta(w->out, w, n_rows);
  for (size_t c = 0; code == READSTAT_OK && c < plan->n_columns; c++)
    if (readstat_validate_variable(w->out, w->columns[c].variable) != READSTAT_OK)
      return fail_column(w, c, "the column's name is not one that such files can have");
  return code == READSTAT_OK ? SHOAL_OK : fail_library(w, code);
}

static shoal_status write_file(writer *w, int csv_fd) {
  SHOAL_TRY(read_csv(w, csv_fd, measure_row));
  SHOAL_TRY(begin(w));
  SHOAL_TRY(read_csv(w, csv_fd, write_row));
  readstat_error_t code = readstat_end_writing(w->out);
  return code == READSTAT_OK ? flush(w) : fail_library(w, code);
}

shoal_status shoal_stat_write(const shoal_stat_plan *plan, int csv_fd, int fd, shoal_error *error) {
  writer w = {.plan = plan, .fd = fd, .error = error};
  w.columns = shoal_alloc_zero(plan->n_columns, sizeof *w.columns);
  w.buffer = shoal_alloc(BUFFER_BYTES, 1);
  w.out = readstat_writer_init();
  shoal_status status = SHOAL_OK;
  if (!w.columns || !w.buffer || !w.out) status = shoal_fail_memory(error);
  if (status == SHOAL_OK) status = write_file(&w, csv_fd);
  if (w.out) readstat_writer_free(w.out);
  for (size_t c = 0; w.columns && c < plan->n_columns; c++) free(w.columns[c].name);
  free(w.columns);
  shoal_wipe_free(w.buffer, BUFFER_BYTES);
  return status;
}

#else

shoal_status shoal_stat_write(const shoal_stat_plan *plan, int csv_fd, int fd, shoal_error *error) {
  (void)csv_fd;
  (void)fd;
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = plan->file},
                       "this shoal was built without libreadstat: write CSV instead");
}

#endif
