/* SPDX-License-Identifier: Apache-2.0 */
/* read/records: where records end, what delimiter a file has, what a fault means; see csv.h. */
#include <stdio.h>
#include <string.h>

#include "read/csv.h"
#include "read/scan.h"

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
