/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/codes: a cell of a column with codes is a star, a missing value, or it stands for the
 * numbers between two ends. An end may be absent. Ends that are there must not be among the numbers
 * under a code.
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

/* By its bytes, or as the same number. */
static bool is_missing(const shoal_verify_request *request, const shoal_verify_cell *cell) {
  shoal_decimal number, other;
  bool is_number = shoal_decimal_parse(cell->bytes, cell->size_bytes, &number) == SHOAL_NUMBER_OK;
  for (size_t i = 0; i < request->n_missing; i++) {
    const char *missing = request->missing[i];
    size_t size = strlen(missing);
    if (size == cell->size_bytes && (!size || memcmp(missing, cell->bytes, size) == 0)) return true;
    if (is_number && shoal_decimal_parse(missing, size, &other) == SHOAL_NUMBER_OK &&
        shoal_decimal_compare(number, other) == 0)
      return true;
  }
  return false;
}

static bool is_allowed(const shoal_verify_request *request, const shoal_verify_code *code,
                       const shoal_verify_cell *cell) {
  ends e;
  if (cell->size_bytes == 1 && cell->bytes[0] == '*') return true;
  if (is_missing(request, cell)) return true;
  if (!read_ends(cell->bytes, cell->size_bytes, &e)) return code->words;
  return is_clear(&e.low, &e.high, code->top, 1) && is_clear(&e.high, &e.low, code->bottom, -1);
}

shoal_status shoal_verify_check_codes(const shoal_verify_request *request,
                                      const shoal_verify_cell *cells, shoal_error *error) {
  for (size_t c = 0; request->codes && c < request->n_columns; c++) {
    const shoal_verify_code *code = &request->codes[c];
    if ((!code->top && !code->bottom) || is_allowed(request, code, &cells[c])) continue;
    return shoal_fail(error, SHOAL_FAILED,
                      "column '%.200s' of the release has a cell that shows more than its "
                      "top-code or bottom-code allows; %s",
                      request->columns[c], SHOAL_VERIFY_FAULT);
  }
  return SHOAL_OK;
}
