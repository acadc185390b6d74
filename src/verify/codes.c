/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/codes: a cell of a column with codes is a star, a missing value, or it stands for the
 * numbers between two ends. An end may be absent. Ends that are there must not be among the numbers
 * under a code. A set of values must do so with each of them.
 */
#include "verify/codes.h"

#include <string.h>

#include "verify/range.h"

static int compare(shoal_verify_number a, shoal_verify_number b) { return (a > b) - (a < b); }

/* The outer end may not be under the code, the inner one may be its border. */
static bool is_clear(const shoal_verify_end *inner, const shoal_verify_end *outer, const char *code,
                     int sign) {
  shoal_verify_number border;
  if (!code) return true;
  if (!shoal_verify_number_read(code, strlen(code), &border)) return false;
  int to_inner = sign * compare(inner->at, border), to_outer = sign * compare(outer->at, border);
  if (outer->given && (to_outer > 0 || (to_outer == 0 && outer->in))) return false;
  return !inner->given || to_inner < 0 || (to_inner == 0 && inner->in);
}

/* A cell, or a value of a set. */
typedef struct piece {
  const char *bytes;
  size_t size_bytes;
} piece;

enum { MAX_CELL = 128 }; /* of a cell with decimal commas: two numbers that fit have less */

/* The piece with decimal points; a point in it is none: it then reads as no number. */
static piece with_points(piece cell, char copy[MAX_CELL]) {
  if (cell.size_bytes >= MAX_CELL) return cell;
  for (size_t i = 0; i < cell.size_bytes; i++)
    copy[i] = cell.bytes[i] == ',' ? '.' : cell.bytes[i] == '.' ? ',' : cell.bytes[i];
  return (piece){copy, cell.size_bytes};
}

/* By its bytes, or as the same number. */
static bool is_missing(const shoal_verify_request *request, piece cell, piece pointed) {
  shoal_verify_number number, other;
  bool is_number = shoal_verify_number_read(pointed.bytes, pointed.size_bytes, &number);
  for (size_t i = 0; i < request->n_missing; i++) {
    const char *missing = request->missing[i];
    size_t size = strlen(missing);
    if (size == cell.size_bytes && (!size || memcmp(missing, cell.bytes, size) == 0)) return true;
    if (is_number && shoal_verify_number_read(missing, size, &other) && number == other)
      return true;
  }
  return false;
}

static bool is_piece_allowed(const shoal_verify_request *request, size_t c, piece cell) {
  const shoal_verify_code *code = &request->codes[c];
  char copy[MAX_CELL];
  bool commas = request->folds && request->folds[c].decimal == ',';
  piece pointed = commas ? with_points(cell, copy) : cell;
  shoal_verify_range e;
  if (is_missing(request, cell, pointed)) return true;
  if (!shoal_verify_range_read(pointed.bytes, pointed.size_bytes, &e)) return code->words;
  return is_clear(&e.low, &e.high, code->top, 1) && is_clear(&e.high, &e.low, code->bottom, -1);
}

/* The size of the first value of a set's rest: up to the next bar outside of double quotes. */
static size_t first_value(piece rest) {
  bool quoted = false;
  size_t i = 0;
  for (; i < rest.size_bytes && (quoted || rest.bytes[i] != '|'); i++)
    quoted = quoted != (rest.bytes[i] == '"');
  return i;
}

/* "{1|2|>=5}": every value of it. Quotes around a value are not part of it. */
static bool is_set_allowed(const shoal_verify_request *request, size_t c, piece set) {
  piece rest = {set.bytes + 1, set.size_bytes - 2};
  for (;;) {
    size_t size = first_value(rest);
    piece value = {rest.bytes, size};
    if (size >= 2 && value.bytes[0] == '"' && value.bytes[size - 1] == '"')
      value = (piece){rest.bytes + 1, size - 2};
    if (!is_piece_allowed(request, c, value)) return false;
    if (size == rest.size_bytes) return true;
    rest = (piece){rest.bytes + size + 1, rest.size_bytes - size - 1};
  }
}

static bool is_allowed(const shoal_verify_request *request, size_t c,
                       const shoal_verify_cell *cell) {
  piece whole = {cell->bytes, cell->size_bytes};
  if (whole.size_bytes == 1 && whole.bytes[0] == '*') return true;
  if (whole.size_bytes > 2 && whole.bytes[0] == '{' && whole.bytes[whole.size_bytes - 1] == '}')
    return is_set_allowed(request, c, whole);
  return is_piece_allowed(request, c, whole);
}

shoal_status shoal_verify_check_codes(const shoal_verify_request *request,
                                      const shoal_verify_cell *cells, shoal_error *error) {
  for (size_t c = 0; request->codes && c < request->n_columns; c++) {
    const shoal_verify_code *code = &request->codes[c];
    if ((!code->top && !code->bottom) || is_allowed(request, c, &cells[c])) continue;
    return shoal_fail(error, SHOAL_FAILED,
                      "column '%.200s' of the release has a cell that shows more than its "
                      "top-code or bottom-code allows; %s",
                      request->columns[c], SHOAL_VERIFY_FAULT);
  }
  return SHOAL_OK;
}
