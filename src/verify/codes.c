/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/codes: a cell of a column with codes is a star, a missing value, or it stands for the
 * numbers between two ends. An end may be absent. Ends that are there must not be among the numbers
 * under a code. A set of values must do so with each of them.
 */
#include "verify/codes.h"

#include <string.h>

#include "base/decimal.h"

/* An end of the numbers that a cell stands for; `in`: it is one of them. */
typedef struct end {
  bool given, in;
  shoal_decimal at;
} end;

typedef struct ends {
  end low, high;
} ends;

static bool read_end(const char *bytes, size_t size, bool in, end *to) {
  *to = (end){.given = true, .in = in};
  return shoal_decimal_parse(bytes, size, &to->at) == SHOAL_NUMBER_OK;
}

static bool starts(const char *bytes, size_t size, const char *with) {
  return size >= strlen(with) && memcmp(bytes, with, strlen(with)) == 0;
}

/* The two numbers on both sides of a separator. */
static bool read_pair(const char *bytes, size_t size, const char *separator, end *first,
                      end *second) {
  size_t n = strlen(separator);
  for (size_t i = 1; i + n < size; i++)
    if (starts(bytes + i, size - i, separator) && read_end(bytes, i, true, first) &&
        read_end(bytes + i + n, size - i - n, true, second))
      return true;
  return false;
}

/* Centre and distance become two ends, the upper one open. False: they have too many digits. */
static bool spread(ends *e) {
  unsigned scale = e->low.at.scale > e->high.at.scale ? e->low.at.scale : e->high.at.scale;
  int64_t centre, distance, low, high;
  if (!shoal_decimal_rescale(e->low.at, scale, &centre) ||
      !shoal_decimal_rescale(e->high.at, scale, &distance) ||
      __builtin_sub_overflow(centre, distance, &low) ||
      __builtin_add_overflow(centre, distance, &high))
    return false;
  e->low.at = (shoal_decimal){low, scale};
  e->high = (end){.given = true, .at = {high, scale}};
  return true;
}

/* "[20-29]", "[-5 to -2]", "[2.5-5)", "[1200±50]" */
static bool read_interval(const char *bytes, size_t size, ends *e) {
  if (size < 5 || bytes[0] != '[' || (bytes[size - 1] != ']' && bytes[size - 1] != ')'))
    return false;
  bool closed = bytes[size - 1] == ']';
  if (read_pair(bytes + 1, size - 2, "\xc2\xb1", &e->low, &e->high)) return closed && spread(e);
  if (!read_pair(bytes + 1, size - 2, " to ", &e->low, &e->high) &&
      !read_pair(bytes + 1, size - 2, "-", &e->low, &e->high))
    return false;
  e->high.in = closed;
  return true;
}

static bool read_ends(const char *bytes, size_t size, ends *e) {
  *e = (ends){0};
  if (starts(bytes, size, ">=")) return read_end(bytes + 2, size - 2, true, &e->low);
  if (starts(bytes, size, "<=")) return read_end(bytes + 2, size - 2, true, &e->high);
  if (starts(bytes, size, "<")) return read_end(bytes + 1, size - 1, false, &e->high);
  if (!read_end(bytes, size, true, &e->low)) return read_interval(bytes, size, e);
  e->high = e->low;
  return true;
}

/* The outer end may not be under the code, the inner one may be its border. */
static bool is_clear(const end *inner, const end *outer, const char *code, int sign) {
  shoal_decimal border;
  if (!code) return true;
  if (shoal_decimal_parse(code, strlen(code), &border) != SHOAL_NUMBER_OK) return false;
  int to_inner = sign * shoal_decimal_compare(inner->at, border);
  int to_outer = sign * shoal_decimal_compare(outer->at, border);
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
  shoal_decimal number, other;
  bool is_number =
      shoal_decimal_parse(pointed.bytes, pointed.size_bytes, &number) == SHOAL_NUMBER_OK;
  for (size_t i = 0; i < request->n_missing; i++) {
    const char *missing = request->missing[i];
    size_t size = strlen(missing);
    if (size == cell.size_bytes && (!size || memcmp(missing, cell.bytes, size) == 0)) return true;
    if (is_number && shoal_decimal_parse(missing, size, &other) == SHOAL_NUMBER_OK &&
        shoal_decimal_compare(number, other) == 0)
      return true;
  }
  return false;
}

static bool is_piece_allowed(const shoal_verify_request *request, size_t c, piece cell) {
  const shoal_verify_code *code = &request->codes[c];
  char copy[MAX_CELL];
  bool commas = request->folds && request->folds[c].decimal == ',';
  piece pointed = commas ? with_points(cell, copy) : cell;
  ends e;
  if (is_missing(request, cell, pointed)) return true;
  if (!read_ends(pointed.bytes, pointed.size_bytes, &e)) return code->words;
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
