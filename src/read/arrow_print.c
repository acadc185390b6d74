/* SPDX-License-Identifier: Apache-2.0 */
/* read/arrow_print: values of Arrow columns as text. The calendar is the proleptic Gregorian one.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/text.h"
#include "read/arrow.h"

/* ------------------------------------------------------------ integers */

/* At least `min` digits. */
static size_t print_digits(uint64_t number, size_t min, char *out) {
  char digits[20];
  size_t n = 0;
  do digits[n++] = (char)('0' + number % 10);
  while ((number /= 10) || n < min);
  for (size_t i = 0; i < n; i++) out[i] = digits[n - 1 - i];
  return n;
}

static size_t print_signed(int64_t number, char *out) {
  if (number >= 0) return print_digits((uint64_t)number, 1, out);
  *out = '-';
  return 1 + print_digits(0 - (uint64_t)number, 1, out + 1);
}

/* ------------------------------------------------------------ floats */

static double half_value(uint64_t bits) {
  int exponent = (int)(bits >> 10 & 31);
  double fraction = (double)(bits & 1023);
  double size = exponent == 31 ? (fraction > 0 ? NAN : INFINITY)
                : exponent     ? ldexp(1024 + fraction, exponent - 25)
                               : ldexp(fraction, -24);
  return bits >> 15 & 1 ? -size : size;
}

/* Is it nearer to the half than to its neighbours? That below a power of two is nearer. */
static bool is_half(double number, double read) {
  int exponent;
  bool power = fabs(frexp(number, &exponent)) <= 0.5;
  if (exponent < -13) exponent = -13;
  return fabs(read - number) < ldexp(1, exponent - 12 - power);
}

static bool reads_back(const char *text, double number, unsigned width) {
  double read = shoal_parse_double(text, NULL);
  if (width == 8) return read == number;
  return width == 4 ? (float)read == (float)number : is_half(number, read);
}

/*
 * Is the double n / 10^k for an n < 10^15? Then it is also n / 10^k for the largest k: the product
 * of both is nearer than 1/2 to that n.
 */
static bool has_short(double size) {
  static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  unsigned k = 15;
  while (k && size >= powers[15 - k]) k--;
  return nearbyint(size * powers[k]) / powers[k] == size;
}

/*
 * A decimal with at most 15 digits has a double of its own. So the smallest k for which the number
 * is n / 10^k gives its shortest form. `narrow`: it is a float. Returns 0: it has no such form.
 */
static size_t print_short(double number, bool narrow, char *out) {
  double size = fabs(number);
  if (size >= 1e15 || (size < 1e-4 && size > 0)) return 0;
  if (!narrow && !has_short(size)) return 0;
  for (unsigned k = 0; k <= 15; k++) {
    double power = (double)shoal_power_of_ten(k), scaled = nearbyint(size * power);
    if (scaled >= 1e15) return 0;
    double read = scaled / power;
    if (narrow ? (float)read != (float)size : read != size) continue;
    uint64_t digits = (uint64_t)scaled, unit = shoal_power_of_ten(k);
    size_t at = 0;
    if (signbit(number)) out[at++] = '-';
    at += print_digits(digits / unit, 1, out + at);
    out[at++] = '.';
    return at + print_digits(digits % unit, k, out + at);
  }
  return 0;
}

/* The digits of "%.*e" as a plain decimal, as long as that is not much longer. */
static size_t lay_out(const char *printed, char *out) {
  const char *mark = strchr(printed, 'e'), *first = printed + (*printed == '-');
  char digits[24];
  size_t n = 0, at = 0;
  for (const char *c = first; c < mark; c++)
    if (*c != '.') digits[n++] = *c;
  assert(n > 0);
  int exponent = (int)strtol(mark + 1, NULL, 10);
  if (*printed == '-') out[at++] = '-';
  if (exponent < -4 || exponent >= 16) {
    out[at++] = digits[0];
    if (n > 1) out[at++] = '.';
    memcpy(out + at, digits + 1, n - 1);
    at += n - 1;
    return at + (size_t)snprintf(out + at, 8, "e%c%02d", exponent < 0 ? '-' : '+',
                                 exponent < 0 ? -exponent : exponent);
  }
  if (exponent < 0) {
    memcpy(out + at, "0.000", 5);
    at += 1 + (size_t)-exponent;
    memcpy(out + at, digits, n);
    return at + n;
  }
  for (size_t i = 0; i < n || i < (size_t)exponent + 2; i++) {
    if (i == (size_t)exponent + 1) out[at++] = '.';
    out[at++] = i < n ? digits[i] : '0';
  }
  return at;
}

static size_t print_float(double number, unsigned width, char *out) {
  if (isnan(number)) return 0;
  if (isinf(number)) {
    memcpy(out, number < 0 ? "-inf" : "inf", 4);
    return number < 0 ? 4 : 3;
  }
  size_t size = width > 2 ? print_short(number, width == 4, out) : 0;
  if (size) return size;
  char printed[40];
  int most = width == 8 ? 17 : width == 4 ? 9 : 5, digits = 1;
  if (width == 8) { /* most doubles that have no short form need 16 or 17 digits */
    (void)shoal_print_double(printed, sizeof printed, "%.*e", 14, number);
    if (!reads_back(printed, number, width)) digits = 16;
  }
  for (; digits <= most; digits++) {
    (void)shoal_print_double(printed, sizeof printed, "%.*e", digits - 1, number);
    if (digits == most || reads_back(printed, number, width)) break;
  }
  return lay_out(printed, out);
}

/* ------------------------------------------------------------ dates and times */

static uint64_t floor_rest(int64_t number, int64_t by) {
  int64_t rest = number % by;
  return (uint64_t)(rest < 0 ? rest + by : rest);
}

static int64_t floor_divide(int64_t number, int64_t by) { return number / by - (number % by < 0); }

/* Days since 1970-01-01 as a date: years of 400 begin in March, and have 146,097 days. */
static size_t print_days(int64_t days, char *out) {
  days += 719468;
  int64_t era = floor_divide(days, 146097);
  uint64_t day = floor_rest(days, 146097);
  uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
  uint64_t rest = day - (365 * year + year / 4 - year / 100), month = (5 * rest + 2) / 153;
  uint64_t of_month = rest - (153 * month + 2) / 5 + 1;
  month = month < 10 ? month + 3 : month - 9;
  int64_t full = (int64_t)year + era * 400 + (month <= 2);
  size_t at = 0;
  if (full < 0) out[at++] = '-';
  at += print_digits(full < 0 ? (uint64_t)-full : (uint64_t)full, 4, out + at);
  out[at++] = '-';
  at += print_digits(month, 2, out + at);
  out[at++] = '-';
  return at + print_digits(of_month, 2, out + at);
}

/* HH:MM:SS, and a fraction without zeros at its end. */
static size_t print_time(uint64_t seconds, uint64_t fraction, uint64_t per_second, char *out) {
  size_t at = print_digits(seconds / 3600, 2, out), digits = 0;
  out[at++] = ':';
  at += print_digits(seconds / 60 % 60, 2, out + at);
  out[at++] = ':';
  at += print_digits(seconds % 60, 2, out + at);
  if (!fraction) return at;
  for (uint64_t unit = per_second; unit > 1; unit /= 10) digits++;
  out[at++] = '.';
  at += print_digits(fraction, digits, out + at);
  while (out[at - 1] == '0') at--;
  return at;
}

static size_t print_timestamp(const shoal_arrow_type *type, int64_t value, char *out) {
  int64_t unit = (int64_t)type->per_second, seconds = floor_divide(value, unit);
  uint64_t fraction = floor_rest(value, unit);
  int64_t days = floor_divide(seconds, 86400);
  uint64_t of_day = floor_rest(seconds, 86400);
  size_t at = print_days(days, out);
  if (!of_day && !fraction && !type->has_zone) return at;
  out[at++] = ' ';
  at += print_time(of_day, fraction, type->per_second, out + at);
  if (!type->has_zone) return at;
  memcpy(out + at, "+00:00", 6);
  return at + 6;
}

static size_t print_clock(const shoal_arrow_type *type, int64_t value, char *out) {
  if (value < 0) return print_signed(value, out); /* not a time of a day */
  uint64_t number = (uint64_t)value;
  return print_time(number / type->per_second, number % type->per_second, type->per_second, out);
}

size_t shoal_arrow_print_word(const shoal_arrow_type *type, uint64_t word, char *out) {
  double number;
  float narrow;
  uint32_t low = (uint32_t)word;
  switch (type->kind) {
  case SHOAL_ARROW_BOOL: memcpy(out, word ? "true" : "false", word ? 4 : 5); return word ? 4 : 5;
  case SHOAL_ARROW_UINT: return print_digits(word, 1, out);
  case SHOAL_ARROW_FLOAT:
    memcpy(&number, &word, sizeof number);
    memcpy(&narrow, &low, sizeof narrow);
    if (type->width == 4) number = (double)narrow;
    if (type->width == 2) number = half_value(word);
    if (type->is_rough && type->width == 8 && isfinite(number)) {
      size_t size = print_short(number, false, out);
      if (size) return size;
      memcpy(out, "0.", 2); /* 19 digits or so: no short form has as many */
      return 2 + print_digits(word, 1, out + 2);
    }
    return print_float(number, type->width, out);
  case SHOAL_ARROW_DATE:
    return print_days(type->per_second ? floor_divide((int64_t)word, 86400000) : (int64_t)word,
                      out);
  case SHOAL_ARROW_TIME: return print_clock(type, (int64_t)word, out);
  case SHOAL_ARROW_TIMESTAMP: return print_timestamp(type, (int64_t)word, out);
  default: return print_signed((int64_t)word, out);
  }
}

/* ------------------------------------------------------------ decimals */

/* Divides a number of eight 32-bit digits by 10^9; returns the rest. */
static uint32_t divide(uint32_t *digits, unsigned n) {
  uint64_t rest = 0;
  for (unsigned i = n; i-- > 0;) {
    rest = rest << 32 | digits[i];
    digits[i] = (uint32_t)(rest / 1000000000);
    rest %= 1000000000;
  }
  return (uint32_t)rest;
}

size_t shoal_arrow_print_decimal(const shoal_arrow_type *type, const void *value, char *out) {
  uint32_t digits[8];
  unsigned n = type->width / 4;
  memcpy(digits, value, type->width);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  for (unsigned i = 0; i < n / 2; i++) {
    uint32_t swapped = digits[i];
    digits[i] = digits[n - 1 - i];
    digits[n - 1 - i] = swapped;
  }
#endif
  bool negative = digits[n - 1] >> 31;
  for (unsigned i = 0, carry = 1; negative && i < n; i++) {
    digits[i] = ~digits[i] + carry;
    carry = carry && digits[i] == 0;
  }
  char reversed[90];
  size_t size = 0, at = 0, scale = type->scale > 0 ? (size_t)type->scale : 0;
  for (unsigned group = 0; group < 9; group++) {
    uint32_t rest = divide(digits, n);
    for (unsigned i = 0; i < 9; i++, rest /= 10) reversed[size++] = (char)('0' + rest % 10);
  }
  while (size > 1 && reversed[size - 1] == '0') size--;
  bool zero = size == 1 && reversed[0] == '0';
  if (negative) out[at++] = '-';
  for (size_t i = size > scale ? size : scale + 1; i-- > 0;) {
    out[at++] = i < size ? reversed[i] : '0';
    if (i == scale && scale) out[at++] = '.';
  }
  for (int i = type->scale; i < 0 && !zero; i++) out[at++] = '0';
  return at;
}
