/* SPDX-License-Identifier: Apache-2.0 */
/* read/csv: see csv.h. */
#include "read/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

/* ------------------------------------------------------------ blocks without quotes */

#if defined(__SSE2__)
/* One bit for each of 64 bytes that is `a` or `b`; *zeros: whether one of them is NUL. */
static uint64_t match64(const char *s, char a, char b, uint64_t *zeros) {
  const __m128i va = _mm_set1_epi8(a), vb = _mm_set1_epi8(b), v0 = _mm_setzero_si128();
  uint64_t found = 0, nul = 0;
  for (int i = 0; i < 4; i++) {
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(s + 16 * i));
    __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(x, va), _mm_cmpeq_epi8(x, vb));
    found |= (uint64_t)(uint32_t)_mm_movemask_epi8(hit) << (16 * i);
    nul |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, v0)) << (16 * i);
  }
  *zeros = nul;
  return found;
}
#else
static uint64_t match64(const char *s, char a, char b, uint64_t *zeros) {
  uint64_t found = 0, nul = 0;
  for (unsigned i = 0; i < 64; i++) {
    found |= (uint64_t)(s[i] == a || s[i] == b) << i;
    nul |= (uint64_t)(s[i] == '\0') << i;
  }
  *zeros = nul;
  return found;
}
#endif

static void drop_carriage_return(const char *block, shoal_cells *cells, size_t cell) {
  uint32_t end = cells->end[cell];
  if (end > cells->begin[cell] && block[end - 1] == '\r') cells->end[cell] = end - 1;
}

/* Places of all cells, whatever their rows; stops at a NUL. */
static shoal_csv_fault place_cells(const char *block, size_t size_bytes, char delimiter,
                                   shoal_cells *cells) {
  uint32_t start = 0;
  size_t n = 0;
  for (size_t at = 0; at < size_bytes; at += 64) {
    uint64_t zeros;
    uint64_t found = match64(block + at, delimiter, '\n', &zeros);
    if (size_bytes - at < 64) {
      uint64_t inside = (UINT64_C(1) << (size_bytes - at)) - 1;
      found &= inside;
      zeros &= inside;
    }
    if (n + 65 > cells->capacity && !reserve_cells(cells, n + 65)) return SHOAL_CSV_MEMORY;
    uint32_t *begin = cells->begin, *end = cells->end;
    cells->n_cells = n;
    if (zeros) return SHOAL_CSV_NUL;
    while (found) {
      uint32_t place = (uint32_t)at + (uint32_t)__builtin_ctzll(found);
      found &= found - 1;
      begin[n] = start;
      end[n++] = place;
      start = place + 1;
    }
  }
  if (size_bytes && block[size_bytes - 1] != '\n') { /* the last record lacks its newline */
    if (!reserve_cells(cells, n + 1)) return SHOAL_CSV_MEMORY;
    cells->begin[n] = start;
    cells->end[n++] = (uint32_t)size_bytes;
  }
  cells->n_cells = n;
  return SHOAL_CSV_OK;
}

static bool ends_row(const char *block, size_t size_bytes, uint32_t end) {
  return end == size_bytes || block[end] == '\n';
}

/* Groups placed cells into rows of n_columns. */
static shoal_csv_problem fixed_rows(const char *block, size_t size_bytes, size_t n_columns,
                                    shoal_cells *cells) {
  shoal_csv_problem problem = {SHOAL_CSV_OK, 0, 0};
  size_t cell = 0, row = 0;
  for (; cell < cells->n_cells; row++) {
    size_t found = 0;
    while (cell + found < cells->n_cells && !ends_row(block, size_bytes, cells->end[cell + found]))
      found++;
    found++;
    if (found != n_columns) {
      problem = (shoal_csv_problem){SHOAL_CSV_RAGGED, row, found};
      break;
    }
    drop_carriage_return(block, cells, cell + found - 1);
    cell += found;
  }
  cells->n_rows = row;
  return problem;
}

static shoal_csv_problem ragged_rows(const char *block, size_t size_bytes, shoal_cells *cells) {
  size_t n_cells = cells->n_cells;
  for (size_t cell = 0; cell < n_cells; cell++) {
    if (!ends_row(block, size_bytes, cells->end[cell])) continue;
    drop_carriage_return(block, cells, cell);
    cells->n_cells = cell + 1;
    if (!end_row(cells)) return (shoal_csv_problem){SHOAL_CSV_MEMORY, 0, 0};
  }
  cells->n_cells = n_cells;
  return (shoal_csv_problem){SHOAL_CSV_OK, 0, 0};
}

/* ------------------------------------------------------------ blocks with quotes */

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

shoal_csv_problem shoal_csv_split(char *block, size_t size_bytes, char delimiter, size_t n_columns,
                                  shoal_cells *cells) {
  cells->bytes = block;
  cells->n_cells = 0;
  cells->n_rows = 0;
  if (size_bytes >= UINT32_MAX - 64) return (shoal_csv_problem){SHOAL_CSV_MEMORY, 0, 0};
  bool quotes = size_bytes && memchr(block, '"', size_bytes);
  shoal_csv_fault fault = quotes ? SHOAL_CSV_OK : place_cells(block, size_bytes, delimiter, cells);
  const char *nul = NULL;
  if (quotes || fault == SHOAL_CSV_NUL) nul = memchr(block, '\0', size_bytes);
  if (nul) {
    cells->n_cells = 0;
    return split_before_nul(block, nul, delimiter, n_columns, cells);
  }
  if (quotes) return split_quoted(block, size_bytes, delimiter, n_columns, cells);
  if (fault != SHOAL_CSV_OK) return (shoal_csv_problem){fault, 0, 0};
  return n_columns ? fixed_rows(block, size_bytes, n_columns, cells)
                   : ragged_rows(block, size_bytes, cells);
}

/* The place behind the closing quote of the cell that opens before `at`; 0 if it is not closed. */
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

size_t shoal_csv_whole_records(const char *block, size_t size_bytes, char delimiter) {
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

char shoal_csv_guess_delimiter(const char *block, size_t size_bytes) {
  static const char candidates[] = {',', ';', '\t', '|'};
  size_t counts[sizeof candidates] = {0};
  bool quoted = false, cell_start = true;
  for (size_t i = 0; i < size_bytes; i++) {
    if (quoted) { /* a doubled quote closes and opens again */
      quoted = block[i] != '"';
      cell_start = !quoted;
      continue;
    }
    if (block[i] == '\n') break;
    quoted = block[i] == '"' && cell_start;
    const char *found = memchr(candidates, block[i], sizeof candidates);
    if (found) counts[found - candidates]++;
    cell_start = found != NULL;
  }
  size_t best = 0;
  for (size_t c = 1; c < sizeof candidates; c++)
    if (counts[c] > counts[best]) best = c;
  return candidates[best];
}

static bool is_side_delimiter(char c) { return c == ';' || c == ',' || c == '\t'; }

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
    cell_start = is_side_delimiter(c);
  }
  return comma ? ',' : '\t';
}

void shoal_csv_explain(shoal_csv_problem problem, size_t n_columns, char *out, size_t capacity) {
  switch (problem.fault) {
  case SHOAL_CSV_RAGGED:
    (void)snprintf(out, capacity,
                   "has %zu cell%s where the header has %zu: check its delimiters and quotes",
                   problem.n_found, problem.n_found == 1 ? "" : "s", n_columns);
    break;
  case SHOAL_CSV_UNCLOSED:
    (void)snprintf(out, capacity, "a quote opens here and is never closed: close it");
    break;
  case SHOAL_CSV_STRAY:
    (void)snprintf(out, capacity,
                   "something stands between a closing quote and the delimiter: "
                   "double the quotes inside the cell");
    break;
  case SHOAL_CSV_NUL:
    (void)snprintf(out, capacity,
                   "has a NUL byte: this is no text file, or not UTF-8; save it as UTF-8 text");
    break;
  default: (void)snprintf(out, capacity, "is too large for the memory there is"); break;
  }
}
