/* SPDX-License-Identifier: Apache-2.0 */
/* read/csv: see csv.h. */
#include "read/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void shoal_cells_init(shoal_cells *cells) { memset(cells, 0, sizeof *cells); }

void shoal_cells_reset(shoal_cells *cells) {
  free(cells->begin);
  free(cells->end);
  free(cells->row_end);
  shoal_cells_init(cells);
}

static bool reserve_cells(shoal_cells *cells, size_t needed) {
  size_t capacity = cells->capacity;
  if (needed <= capacity) return true;
  if (!shoal_grow(&cells->begin, &capacity, needed, sizeof *cells->begin)) return false;
  uint32_t *end = shoal_resize(cells->end, capacity, sizeof *end);
  if (!end) return false;
  cells->end = end;
  cells->capacity = capacity;
  return true;
}

static bool end_row(shoal_cells *cells) {
  if (!shoal_grow(&cells->row_end, &cells->row_capacity, cells->n_rows + 1, sizeof(size_t)))
    return false;
  cells->row_end[cells->n_rows++] = cells->n_cells;
  return true;
}

static void drop_carriage_return(const char *block, shoal_cells *cells, size_t cell) {
  uint32_t end = cells->end[cell];
  if (end > cells->begin[cell] && block[end - 1] == '\r') cells->end[cell] = end - 1;
}

/*
 * Decodes the quoted cell whose opening quote is at `at`, in place, and returns the place behind
 * its closing quote; 0 if it is not closed.
 */
static size_t decode_quoted(char *block, size_t size_bytes, size_t at, uint32_t *end) {
  size_t from = at + 1, to = at + 1;
  for (;;) {
    char *quote = memchr(block + from, '"', size_bytes - from);
    if (!quote) return 0;
    size_t piece = (size_t)(quote - (block + from));
    if (to != from) memmove(block + to, block + from, piece);
    to += piece;
    from += piece + 1;
    if (from >= size_bytes || block[from] != '"') break;
    block[to++] = '"';
    from++;
  }
  *end = (uint32_t)to;
  return from;
}

/* ------------------------------------------------------------ blocks that are scanned */

/* A block larger than this, such as one of a single huge record, is read byte by byte. */
enum { MOST_SCANNED_BYTES = 4 << 20, SCAN_ROOM = 64 };

static inline bool ends_row(const char *block, size_t size_bytes, uint32_t end) {
  return end == size_bytes || block[end] == '\n';
}

/* The first row that does not have n_columns cells. */
static shoal_csv_problem find_ragged(const char *block, size_t size_bytes, size_t n_columns,
                                     const shoal_cells *cells) {
  size_t cell = 0, row = 0, found = 0;
  for (; cell < cells->n_cells; cell += found, row++) {
    found = 1;
    while (!ends_row(block, size_bytes, cells->end[cell + found - 1])) found++;
    if (found != n_columns) break;
  }
  return (shoal_csv_problem){SHOAL_CSV_RAGGED, row, found};
}

/* Every n-th cell ends a row, and as many rows end as there are: so no other cell ends one. */
static bool rows_are_even(const char *block, size_t size_bytes, size_t n_columns, size_t n_rows,
                          const shoal_cells *cells) {
  if (cells->n_cells % n_columns || cells->n_cells / n_columns != n_rows) return false;
  for (size_t cell = n_columns - 1; cell < cells->n_cells; cell += n_columns)
    if (!ends_row(block, size_bytes, cells->end[cell])) return false;
  return true;
}

/* Takes the quotes off a cell that has them; a doubled one inside becomes single. */
static void unquote(char *block, bool doubled, shoal_cells *cells, size_t cell) {
  uint32_t begin = cells->begin[cell], end = cells->end[cell];
  if (begin == end || block[begin] != '"') return;
  if (block[end - 1] == '\r') end--; /* behind the closing quote */
  cells->begin[cell] = begin + 1;
  cells->end[cell] = end - 1;
  if (doubled) (void)decode_quoted(block, end, begin, &cells->end[cell]);
}

typedef uint32_t four __attribute__((vector_size(16)));

/* Cells of a scanned block: ends are known, and nothing of the block is changed yet. */
static void begin_cells(size_t size_bytes, const char *block, const shoal_scan *scan,
                        shoal_cells *cells) {
  uint32_t *begin = cells->begin, *end = cells->end;
  size_t n = scan->n_ends;
  begin[0] = 0;
  if (size_bytes && block[size_bytes - 1] != '\n') end[n++] = (uint32_t)size_bytes;
  size_t i = 1;
  for (; i + 4 <= n; i += 4) {
    four ends;
    memcpy(&ends, end + i - 1, sizeof ends);
    ends += 1;
    memcpy(begin + i, &ends, sizeof ends);
  }
  for (; i < n; i++) begin[i] = end[i - 1] + 1;
  cells->n_cells = n;
}

/* The last cell of a row; its carriage return goes, unless quotes will be taken off it. */
static void end_line(const char *block, shoal_cells *cells, size_t cell) {
  if (cells->begin[cell] < cells->end[cell] && block[cells->begin[cell]] != '"')
    drop_carriage_return(block, cells, cell);
}

/* Rows of any number of cells. */
static bool ragged_rows(const char *block, size_t size_bytes, shoal_cells *cells) {
  size_t n_cells = cells->n_cells;
  for (size_t cell = 0; cell < n_cells; cell++) {
    if (!ends_row(block, size_bytes, cells->end[cell])) continue;
    end_line(block, cells, cell);
    cells->n_cells = cell + 1;
    if (!end_row(cells)) return false;
  }
  return true;
}

static shoal_csv_problem scanned_rows(char *block, size_t size_bytes, size_t n_columns,
                                      const shoal_scan *scan, shoal_cells *cells) {
  size_t n_rows = scan->n_newlines + (size_bytes && block[size_bytes - 1] != '\n');
  begin_cells(size_bytes, block, scan, cells);
  if (!n_columns && !ragged_rows(block, size_bytes, cells))
    return (shoal_csv_problem){SHOAL_CSV_MEMORY, 0, 0};
  if (n_columns && !rows_are_even(block, size_bytes, n_columns, n_rows, cells))
    return find_ragged(block, size_bytes, n_columns, cells);
  for (size_t row = 0; n_columns && row < n_rows; row++)
    end_line(block, cells, (row + 1) * n_columns - 1);
  for (size_t cell = 0; scan->quotes && cell < cells->n_cells; cell++)
    unquote(block, scan->doubled, cells, cell);
  cells->n_rows = n_rows;
  return (shoal_csv_problem){SHOAL_CSV_OK, 0, 0};
}

/* ------------------------------------------------------------ byte by byte */

/* The place of the delimiter or newline that ends the unquoted cell at `at`. */
static size_t end_of_plain(const char *block, size_t size_bytes, char delimiter, size_t at) {
  while (at < size_bytes && block[at] != delimiter && block[at] != '\n') at++;
  return at;
}

/* Reads one cell; returns the place of what ends it, sets the fault where there is one. */
static size_t quoted_cell(char *block, size_t size_bytes, char delimiter, size_t at,
                          shoal_cells *cells, shoal_csv_fault *fault) {
  size_t n = cells->n_cells;
  if (!reserve_cells(cells, n + 1)) {
    *fault = SHOAL_CSV_MEMORY;
    return size_bytes;
  }
  cells->n_cells = n + 1;
  if (at >= size_bytes || block[at] != '"') {
    size_t stop = end_of_plain(block, size_bytes, delimiter, at);
    cells->begin[n] = (uint32_t)at;
    cells->end[n] = (uint32_t)stop;
    if (stop == size_bytes || block[stop] == '\n') drop_carriage_return(block, cells, n);
    return stop;
  }
  cells->begin[n] = (uint32_t)at + 1;
  size_t stop = decode_quoted(block, size_bytes, at, &cells->end[n]);
  if (!stop) {
    *fault = SHOAL_CSV_UNCLOSED;
    return size_bytes;
  }
  if (stop < size_bytes && block[stop] == '\r' &&
      (stop + 1 == size_bytes || block[stop + 1] == '\n'))
    stop++;
  if (stop < size_bytes && block[stop] != delimiter && block[stop] != '\n')
    *fault = SHOAL_CSV_STRAY;
  return stop;
}

static shoal_csv_problem split_quoted(char *block, size_t size_bytes, char delimiter,
                                      size_t n_columns, shoal_cells *cells) {
  size_t at = 0, row = 0;
  while (at < size_bytes) {
    size_t first = cells->n_cells;
    for (;;) {
      shoal_csv_fault fault = SHOAL_CSV_OK;
      size_t stop = quoted_cell(block, size_bytes, delimiter, at, cells, &fault);
      if (fault != SHOAL_CSV_OK) return (shoal_csv_problem){fault, row, 0};
      at = stop + 1;
      if (stop >= size_bytes || block[stop] == '\n') break;
    }
    size_t found = cells->n_cells - first;
    if (n_columns && found != n_columns) return (shoal_csv_problem){SHOAL_CSV_RAGGED, row, found};
    if (!n_columns && !end_row(cells)) return (shoal_csv_problem){SHOAL_CSV_MEMORY, row, 0};
    row++;
  }
  cells->n_rows = row;
  return (shoal_csv_problem){SHOAL_CSV_OK, 0, 0};
}

/* The row of a byte, counted on a block that is not decoded yet. */
static size_t row_of_byte(const char *block, size_t place, char delimiter) {
  size_t row = 0;
  bool quoted = false, cell_start = true;
  for (size_t at = 0; at < place; at++) {
    char c = block[at];
    if (quoted) {
      if (c == '"') quoted = false; /* a doubled quote opens again at once, as a cell start would */
      cell_start = c == '"';
      continue;
    }
    if (c == '"' && cell_start) quoted = true;
    cell_start = c == delimiter || c == '\n';
    row += c == '\n';
  }
  return row;
}

/* ------------------------------------------------------------ the interface */

/* A NUL is a fault of its row; one of an earlier row is told first. */
static shoal_csv_problem split_before_nul(char *block, const char *nul, char delimiter,
                                          size_t n_columns, shoal_cells *cells) {
  size_t place = (size_t)(nul - block);
  size_t row = row_of_byte(block, place, delimiter);
  shoal_csv_problem problem = split_quoted(block, place, delimiter, n_columns, cells);
  if (problem.fault != SHOAL_CSV_OK && problem.row < row) return problem;
  return (shoal_csv_problem){SHOAL_CSV_NUL, row, 0};
}

shoal_csv_problem shoal_csv_split_by(shoal_scan_way way, char *block, size_t size_bytes,
                                     char delimiter, size_t n_columns, shoal_cells *cells) {
  cells->bytes = block;
  cells->n_cells = 0;
  cells->n_rows = 0;
  if (size_bytes >= UINT32_MAX - 64) return (shoal_csv_problem){SHOAL_CSV_MEMORY, 0, 0};
  if (size_bytes <= MOST_SCANNED_BYTES) {
    if (!reserve_cells(cells, size_bytes + SCAN_ROOM))
      return (shoal_csv_problem){SHOAL_CSV_MEMORY, 0, 0};
    shoal_scan scan = shoal_scan_block(way, block, size_bytes, delimiter, cells->end);
    if (!scan.nul && !scan.irregular && !scan.unclosed)
      return scanned_rows(block, size_bytes, n_columns, &scan, cells);
  }
  const char *nul = size_bytes ? memchr(block, '\0', size_bytes) : NULL;
  if (nul) return split_before_nul(block, nul, delimiter, n_columns, cells);
  return split_quoted(block, size_bytes, delimiter, n_columns, cells);
}

shoal_csv_problem shoal_csv_split(char *block, size_t size_bytes, char delimiter, size_t n_columns,
                                  shoal_cells *cells) {
  return shoal_csv_split_by(shoal_scan_best(), block, size_bytes, delimiter, n_columns, cells);
}
