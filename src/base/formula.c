/* SPDX-License-Identifier: Apache-2.0 */
/* base/formula: see formula.h. */
#include "base/formula.h"

#include <string.h>

static size_t skip_digits(const char *bytes, size_t size, size_t at) {
  while (at < size && bytes[at] >= '0' && bytes[at] <= '9') at++;
  return at;
}

static size_t skip_sign(const char *bytes, size_t size, size_t at) {
  return at < size && (bytes[at] == '-' || bytes[at] == '+') ? at + 1 : at;
}

/* "-5", "+0.5", "-,5", "1e-3": what every program shows as it is. */
static bool is_number(const char *bytes, size_t size) {
  size_t first = skip_sign(bytes, size, 0);
  size_t at = skip_digits(bytes, size, first), n_digits = at - first;
  if (at < size && (bytes[at] == '.' || bytes[at] == ',')) {
    size_t end = skip_digits(bytes, size, at + 1);
    n_digits += end - at - 1;
    at = end;
  }
  if (!n_digits) return false;
  if (at < size && (bytes[at] == 'e' || bytes[at] == 'E')) {
    size_t exponent = skip_sign(bytes, size, at + 1);
    at = skip_digits(bytes, size, exponent);
    if (at == exponent) return false;
  }
  return at == size;
}

bool shoal_is_formula(const char *bytes, size_t size_bytes) {
  size_t at = 0;
  while (at < size_bytes && bytes[at] == '\'') at++;
  if (at == size_bytes || bytes[at] == '\0' || !strchr("=+-@\t\r", bytes[at])) return false;
  return at > 0 || !is_number(bytes, size_bytes);
}

bool shoal_is_quoted_formula(const char *bytes, size_t size_bytes) {
  return size_bytes > 1 && bytes[0] == '\'' && shoal_is_formula(bytes + 1, size_bytes - 1);
}
