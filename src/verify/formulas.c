/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/formulas: does a spreadsheet take a cell for a formula? write/ has its own rule; this one
 * is independent of it.
 */
#include "verify/counter.h"

/* The part of a number that was read last; BROKEN: it is not a number. */
typedef enum part { SIGN, WHOLE, FRACTION, EXPONENT, EXPONENT_SIGN, POWER, BROKEN } part;

static part next_part(part at, char c, size_t *n_digits) {
  bool digit = c >= '0' && c <= '9';
  if (digit && at <= FRACTION) (*n_digits)++;
  switch (at) {
  case SIGN:
  case WHOLE:
    return digit                  ? WHOLE
           : c == '.' || c == ',' ? FRACTION
           : c == 'e' || c == 'E' ? EXPONENT
                                  : BROKEN;
  case FRACTION: return digit ? FRACTION : c == 'e' || c == 'E' ? EXPONENT : BROKEN;
  case EXPONENT: return digit ? POWER : c == '+' || c == '-' ? EXPONENT_SIGN : BROKEN;
  default: return digit ? POWER : BROKEN; /* after the exponent's sign or one of its digits */
  }
}

/* Is the rest of the cell, after its sign, a number? */
static bool is_signed_number(const shoal_verify_cell *cell) {
  part at = SIGN;
  size_t n_digits = 0;
  for (size_t i = 1; i < cell->size_bytes && at != BROKEN; i++) {
    at = next_part(at, cell->bytes[i], &n_digits);
    if (at == EXPONENT && !n_digits) return false;
  }
  return n_digits && (at == WHOLE || at == FRACTION || at == POWER);
}

/* U+FF0B, U+FF0D, U+FF1D and U+FF20 in UTF-8: the full-width +, -, = and @. */
static bool is_full_width(const shoal_verify_cell *cell) {
  if (cell->size_bytes < 3) return false;
  const unsigned char *s = (const unsigned char *)cell->bytes;
  unsigned code = (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
  bool three_bytes = s[0] >> 4 == 0xe && s[1] >> 6 == 2 && s[2] >> 6 == 2;
  return three_bytes && (code == 0xff0b || code == 0xff0d || code == 0xff1d || code == 0xff20);
}

bool shoal_verify_is_formula(const shoal_verify_cell *cell) {
  if (!cell->size_bytes) return false;
  if (is_full_width(cell)) return true;
  switch (cell->bytes[0]) {
  case '=':
  case '@':
  case '\t':
  case '\r': return true;
  case '+':
  case '-': return !is_signed_number(cell);
  default: return false;
  }
}
