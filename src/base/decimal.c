/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/decimal: digits become a 64-bit integer and an exponent. A number that does not fit exactly
 * is too long; it is never rounded.
 */
#include "base/decimal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/wide.h"

enum { MAX_SCALE = SHOAL_MAX_SCALE, MAX_EXPONENT = 9999 };

uint64_t shoal_power_of_ten(unsigned exponent) {
  uint64_t power = 1;
  while (exponent--) power *= 10;
  return power;
}

/* Appends a digit to `value`; false if it then has more than 18. */
static bool push_digit(uint64_t *value, unsigned digit) {
  bool fits = *value <= (UINT64_C(999999999999999999) - digit) / 10;
  *value = *value * 10 + digit;
  return fits;
}

static size_t count_zeros(const char *s, size_t size) {
  size_t n = 0;
  while (n < size && s[n] == '0') n++;
  return n;
}

/*
 * Digits and an optional fraction; returns the bytes read, 0 if there is no digit. Zeros at the
 * end of a fraction are read and cost no digits.
 */
static size_t parse_digits(const char *s, size_t size, uint64_t *value, int *exponent, bool *fits) {
  size_t at = 0, digits = 0;
  bool point = false;
  *value = 0;
  *exponent = 0;
  *fits = true;
  while (at < size) {
    if (s[at] == '.' && !point) {
      point = true;
      at++;
      continue;
    }
    if (!shoal_is_digit(s[at])) break;
    size_t zeros = point ? count_zeros(s + at, size - at) : 0;
    size_t run = zeros ? zeros : 1;
    bool trailing = zeros && (at + zeros == size || !shoal_is_digit(s[at + zeros]));
    unsigned digit = (unsigned)(s[at] - '0');
    for (size_t i = 0; !trailing && *fits && i < run; i++) {
      *fits = push_digit(value, digit) && *exponent > -MAX_EXPONENT;
      if (point) (*exponent)--;
    }
    digits += run;
    at += run;
  }
  return digits ? at : 0;
}

static bool parse_exponent(const char *s, size_t size, int *exponent) {
  size_t at = 0;
  bool negative = false;
  if (at < size && (s[at] == '+' || s[at] == '-')) negative = s[at++] == '-';
  if (at == size) return false;
  while (at + 1 < size && s[at] == '0') at++; /* 1e002 */
  if (size - at > 4) return false;
  int value = 0;
  for (; at < size; at++) {
    if (!shoal_is_digit(s[at])) return false;
    value = value * 10 + (s[at] - '0');
  }
  *exponent += negative ? -value : value;
  return true;
}

/* Most numbers are whole: up to 18 digits and nothing else. */
static bool parse_whole(const char *s, size_t size, uint64_t *value) {
  if (!size || size > MAX_SCALE) return false;
  *value = 0;
  for (size_t i = 0; i < size; i++) {
    if (!shoal_is_digit(s[i])) return false;
    *value = *value * 10 + (uint64_t)(s[i] - '0');
  }
  return true;
}

shoal_number shoal_decimal_parse(const char *bytes, size_t size_bytes, shoal_decimal *out) {
  size_t at = 0;
  bool negative = false, fits;
  if (size_bytes && (bytes[0] == '+' || bytes[0] == '-')) negative = bytes[at++] == '-';
  uint64_t value;
  if (parse_whole(bytes + at, size_bytes - at, &value)) {
    *out = (shoal_decimal){negative ? -(int64_t)value : (int64_t)value, 0};
    return SHOAL_NUMBER_OK;
  }
  int exponent;
  size_t read = parse_digits(bytes + at, size_bytes - at, &value, &exponent, &fits);
  if (!read) return SHOAL_NUMBER_NOT;
  at += read;
  if (at < size_bytes) {
    if (bytes[at] != 'e' && bytes[at] != 'E') return SHOAL_NUMBER_NOT;
    if (!parse_exponent(bytes + at + 1, size_bytes - at - 1, &exponent)) return SHOAL_NUMBER_NOT;
  }
  if (!fits) return SHOAL_NUMBER_TOO_LONG;
  if (value == 0) exponent = 0;
  while (exponent < 0 && value % 10 == 0) {
    value /= 10;
    exponent++;
  }
  while (exponent > 0) {
    if (value > UINT64_C(99999999999999999)) return SHOAL_NUMBER_TOO_LONG;
    value *= 10;
    exponent--;
  }
  if (exponent < -MAX_SCALE) return SHOAL_NUMBER_TOO_LONG;
  out->mantissa = negative ? -(int64_t)value : (int64_t)value;
  out->scale = (unsigned)-exponent;
  return SHOAL_NUMBER_OK;
}

bool shoal_decimal_rescale(shoal_decimal number, unsigned scale, int64_t *mantissa) {
  if (scale < number.scale || scale > MAX_SCALE) return false;
  uint64_t factor = shoal_power_of_ten(scale - number.scale);
  return !__builtin_mul_overflow(number.mantissa, (int64_t)factor, mantissa);
}

int shoal_decimal_compare(shoal_decimal a, shoal_decimal b) {
  shoal_int128 x = (shoal_int128)a.mantissa * (shoal_int128)shoal_power_of_ten(MAX_SCALE - a.scale);
  shoal_int128 y = (shoal_int128)b.mantissa * (shoal_int128)shoal_power_of_ten(MAX_SCALE - b.scale);
  return (x > y) - (x < y);
}

void shoal_decimal_print(int64_t mantissa, unsigned scale, char *out) {
  while (scale && mantissa % 10 == 0) {
    mantissa /= 10;
    scale--;
  }
  uint64_t magnitude = mantissa < 0 ? 0 - (uint64_t)mantissa : (uint64_t)mantissa;
  const char *sign = mantissa < 0 ? "-" : "";
  uint64_t unit = shoal_power_of_ten(scale);
  if (scale == 0) (void)snprintf(out, 32, "%s%llu", sign, (unsigned long long)magnitude);
  else
    (void)snprintf(out, 32, "%s%llu.%0*llu", sign, (unsigned long long)(magnitude / unit),
                   (int)scale, (unsigned long long)(magnitude % unit));
}

double shoal_decimal_double(shoal_decimal number) {
  return (double)number.mantissa / pow(10.0, number.scale);
}

uint64_t shoal_decimal_percent(shoal_decimal number, uint64_t whole) {
  if (number.mantissa <= 0) return 0;
  shoal_uint128 product = (shoal_uint128)whole * (uint64_t)number.mantissa;
  shoal_uint128 quotient = product / ((shoal_uint128)100 * shoal_power_of_ten(number.scale));
  return quotient > UINT64_MAX ? UINT64_MAX : (uint64_t)quotient;
}
