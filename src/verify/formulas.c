/* SPDX-License-Identifier: Apache-2.0 */
/* verify/formulas: see formulas.h. */
#include "verify/formulas.h"

/* What has been seen of a number so far; BROKEN: it is none. */
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
  default: return digit ? POWER : BROKEN; /* behind the exponent's sign or a digit of it */
  }
}

/* A number behind a sign. */
static bool is_signed_number(const shoal_verify_cell *cell) {
  part at = SIGN;
  size_t n_digits = 0;
  for (size_t i = 1; i < cell->size_bytes && at != BROKEN; i++) {
    at = next_part(at, cell->bytes[i], &n_digits);
    if (at == EXPONENT && !n_digits) return false;
  }
  return n_digits && (at == WHOLE || at == FRACTION || at == POWER);
}

bool shoal_verify_is_formula(const shoal_verify_cell *cell) {
  if (!cell->size_bytes) return false;
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

void shoal_verify_note_formulas(const shoal_verify_cell *cells, size_t n_cells, uint8_t *marks) {
  for (size_t c = 0; c < n_cells; c++)
    if (shoal_verify_is_formula(&cells[c])) marks[c] = 1;
}
