/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/csv: cells of a block, and where records end. A block is scanned 64 bytes at a time
 * (scan.c); if its quotes are irregular, or it has an error, it is read byte by byte, with the same
 * result.
 */
#include "read/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "read/scan.h"

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
 * Decodes the quoted cell whose opening quote is at `at`, in place, and returns the position after
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
enum { MAX_SCANNED_BYTES = 4 << 20, SCAN_ROOM = 64 };

static inline bool ends_row(const char *block, size_t size_bytes, uint32_t end) {
  return end == size_bytes || block[end] == '\n';
}

/* Every n-th cell ends a row, and as many rows end as there are: so no other cell ends one. */
static bool rows_are_even(const char *block, size_t size_bytes, size_t n_columns, size_t n_rows,
                          const shoal_cells *cells) {
  if (cells->n_cells % n_columns || cells->n_cells / n_columns != n_rows) return false;
  for (size_t cell = n_columns - 1; cell < cells->n_cells; cell += n_columns)
    if (!ends_row(block, size_bytes, cells->end[cell])) return false;
  return true;
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
  if (n_columns && !rows_are_even(block, size_bytes, n_columns, n_rows, cells)) {
    /* The first row that does not have n_columns cells. */
    size_t cell = 0, row = 0, found = 0;
    for (; cell < cells->n_cells; cell += found, row++) {
      found = 1;
      while (!ends_row(block, size_bytes, cells->end[cell + found - 1])) found++;
      if (found != n_columns) break;
    }
    return (shoal_csv_problem){SHOAL_CSV_RAGGED, row, found};
  }
  for (size_t row = 0; n_columns && row < n_rows; row++)
    end_line(block, cells, (row + 1) * n_columns - 1);
  for (size_t cell = 0; scan->quotes && cell < cells->n_cells; cell++) {
    /* Takes the quotes off a cell that has them; a doubled one inside becomes single. */
    bool doubled = scan->doubled;
    uint32_t begin = cells->begin[cell], end = cells->end[cell];
    if (begin == end || block[begin] != '"') continue;
    if (block[end - 1] == '\r') end--; /* after the closing quote */
    cells->begin[cell] = begin + 1;
    cells->end[cell] = end - 1;
    if (doubled) (void)decode_quoted(block, end, begin, &cells->end[cell]);
  }
  cells->n_rows = n_rows;
  return (shoal_csv_problem){SHOAL_CSV_OK, 0, 0};
}

/* ------------------------------------------------------------ byte by byte */

/* The position of the delimiter or newline that ends the unquoted cell at `at`. */
static size_t end_of_plain(const char *block, size_t size_bytes, char delimiter, size_t at) {
  while (at < size_bytes && block[at] != delimiter && block[at] != '\n') at++;
  return at;
}

/* Reads one cell; returns the position of the byte that ends it. Sets `fault` on error. */
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
static size_t row_of_byte(const char *block, size_t position, char delimiter) {
  size_t row = 0;
  bool quoted = false, cell_start = true;
  for (size_t at = 0; at < position; at++) {
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

shoal_csv_problem shoal_csv_split_by(shoal_scan_way way, char *block, size_t size_bytes,
                                     char delimiter, size_t n_columns, shoal_cells *cells) {
  cells->bytes = block;
  cells->n_cells = 0;
  cells->n_rows = 0;
  if (size_bytes >= UINT32_MAX - 64) return (shoal_csv_problem){SHOAL_CSV_MEMORY, 0, 0};
  if (size_bytes <= MAX_SCANNED_BYTES) {
    if (!reserve_cells(cells, size_bytes + SCAN_ROOM))
      return (shoal_csv_problem){SHOAL_CSV_MEMORY, 0, 0};
    shoal_scan scan = shoal_scan_block(way, block, size_bytes, delimiter, cells->end);
    if (!scan.nul && !scan.irregular && !scan.unclosed)
      return scanned_rows(block, size_bytes, n_columns, &scan, cells);
  }
  const char *nul = size_bytes ? memchr(block, '\0', size_bytes) : NULL;
  if (nul) {
    /* A NUL is an error of its row; an error of an earlier row is reported instead. */
    size_t position = (size_t)(nul - block);
    size_t row = row_of_byte(block, position, delimiter);
    shoal_csv_problem problem = split_quoted(block, position, delimiter, n_columns, cells);
    if (problem.fault != SHOAL_CSV_OK && problem.row < row) return problem;
    return (shoal_csv_problem){SHOAL_CSV_NUL, row, 0};
  }
  return split_quoted(block, size_bytes, delimiter, n_columns, cells);
}

shoal_csv_problem shoal_csv_split(char *block, size_t size_bytes, char delimiter, size_t n_columns,
                                  shoal_cells *cells) {
  return shoal_csv_split_by(shoal_scan_best(), block, size_bytes, delimiter, n_columns, cells);
}

/* ------------------------------------------------------------ records and delimiters */

/* The position after the closing quote of the cell that opens before `at`; 0 if it is not closed.
 */
static size_t after_quoted(const char *block, size_t size_bytes, size_t at) {
  for (;;) {
    const char *quote = memchr(block + at, '"', size_bytes - at);
    if (!quote) return 0;
    at = (size_t)(quote - block) + 1;
    if (at == size_bytes || block[at] != '"') return at;
    at++;
  }
}

static bool opens_cell(const char *block, size_t quote, char delimiter) {
  char before = quote ? block[quote - 1] : '\n';
  return before == delimiter || before == '\n';
}

size_t shoal_csv_first_record(const char *block, size_t size_bytes, char delimiter) {
  for (size_t at = 0; at < size_bytes;) {
    if (block[at] == '\n') return at + 1;
    if (block[at] == '"' && opens_cell(block, at, delimiter)) {
      at = after_quoted(block, size_bytes, at + 1);
      if (!at) return 0;
    } else {
      at++;
    }
  }
  return 0;
}

/* Quote by quote, for blocks that the scan cannot follow. */
static size_t whole_records_slowly(const char *block, size_t size_bytes, char delimiter) {
  size_t whole = 0, at = 0;
  while (at < size_bytes) {
    const char *quote = memchr(block + at, '"', size_bytes - at);
    size_t plain_end = quote ? (size_t)(quote - block) : size_bytes;
    const char *newline = memrchr(block + at, '\n', plain_end - at);
    if (newline) whole = (size_t)(newline - block) + 1;
    if (!quote) break;
    at = plain_end + 1;
    if (!opens_cell(block, plain_end, delimiter)) continue; /* inside an unquoted cell */
    at = after_quoted(block, size_bytes, at);
    if (!at) break;
  }
  return whole;
}

size_t shoal_csv_whole_records(const char *block, size_t size_bytes, char delimiter) {
  if (!size_bytes) return 0;
  if (!memchr(block, '"', size_bytes)) {
    const char *newline = memrchr(block, '\n', size_bytes);
    return newline ? (size_t)(newline - block) + 1 : 0;
  }
  shoal_scan scan = shoal_scan_block(shoal_scan_best(), block, size_bytes, delimiter, NULL);
  return scan.irregular ? whole_records_slowly(block, size_bytes, delimiter) : scan.after_last;
}

enum { N_CANDIDATES = 4 };
static const char candidates[N_CANDIDATES] = {',', ';', '\t', '|'};

/*
 * Counts each candidate outside quotes in the record at `at`; returns where the next one starts.
 * With `skip_decimals` no commas between digits.
 */
static size_t count_candidates(const char *block, size_t size_bytes, size_t at, bool skip_decimals,
                               size_t *counts) {
  bool quoted = false, cell_start = true;
  for (size_t i = at; i < size_bytes; i++) {
    if (quoted) { /* a doubled quote closes and opens again */
      quoted = block[i] != '"';
      cell_start = !quoted;
      continue;
    }
    if (block[i] == '\n') return i + 1;
    quoted = block[i] == '"' && cell_start;
    const char *found = memchr(candidates, block[i], sizeof candidates);
    bool decimal = block[i] == ',' && i > at && i + 1 < size_bytes &&
                   shoal_is_digit(block[i - 1]) && shoal_is_digit(block[i + 1]);
    if (found && !(decimal && skip_decimals)) counts[found - candidates]++;
    cell_start = found != NULL;
  }
  return size_bytes;
}

/* The most frequent one of the header; one that row 1 has as often is preferred. */
char shoal_csv_guess_delimiter(const char *block, size_t size_bytes) {
  size_t header[N_CANDIDATES] = {0}, row[N_CANDIDATES] = {0}, best = 0;
  size_t next = count_candidates(block, size_bytes, 0, false, header);
  (void)count_candidates(block, size_bytes, next, true, row);
  for (size_t c = 1; c < N_CANDIDATES; c++) {
    bool agrees = header[c] && header[c] == row[c];
    bool best_agrees = header[best] && header[best] == row[best];
    if (agrees != best_agrees ? agrees : header[c] > header[best]) best = c;
  }
  return candidates[best];
}

/* `;` if the first row that is not blank has one outside quotes, else `,` if it has, else tab. */
char shoal_csv_side_delimiter(const char *bytes, size_t size_bytes) {
  bool quoted = false, cell_start = true, comma = false;
  size_t i = 0;
  while (i < size_bytes && (bytes[i] == '\n' || bytes[i] == '\r')) i++;
  for (; i < size_bytes; i++) {
    char c = bytes[i];
    if (c == '"' && (quoted || cell_start)) {
      quoted = !quoted;
      cell_start = !quoted; /* a doubled quote opens again at once */
      continue;
    }
    if (quoted) continue;
    if (c == ';') return ';';
    if (c == '\n') break;
    comma = comma || c == ',';
    cell_start = c == ';' || c == ',' || c == '\t';
  }
  return comma ? ',' : '\t';
}

void shoal_csv_explain(shoal_csv_problem problem, size_t n_columns, char *out, size_t capacity) {
  switch (problem.fault) {
  case SHOAL_CSV_RAGGED:
    (void)snprintf(out, capacity,
                   "has %zu cell%s, the header has %zu; check delimiters and quotes in this row",
                   problem.n_found, problem.n_found == 1 ? "" : "s", n_columns);
    break;
  case SHOAL_CSV_UNCLOSED:
    (void)snprintf(out, capacity, "the quote is not closed; add or remove a quote");
    break;
  case SHOAL_CSV_STRAY:
    (void)snprintf(out, capacity,
                   "has text between a closing quote and the delimiter: "
                   "double the quotes inside the cell");
    break;
  case SHOAL_CSV_NUL:
    (void)snprintf(out, capacity, "has a NUL byte: save the file as UTF-8 text");
    break;
  default: (void)snprintf(out, capacity, "does not fit into memory"); break;
  }
}
