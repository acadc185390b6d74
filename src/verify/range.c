/* SPDX-License-Identifier: Apache-2.0 */
/* verify/range: exact numbers, and the ranges that labels write. */
#include "verify/range.h"

#include <stdint.h>
#include <string.h>

#include "base/decimal.h"

typedef shoal_verify_number number;
typedef shoal_verify_end end;
typedef shoal_verify_range range;

enum { SCALE = 18, MAX_EXPONENT = 99 };

/* Of a number of 37 digits the mantissa fits into 127 bits. */
static const number MAX_MANTISSA = (number)INT64_MAX * 1000000000000000000;

/* Adds the digits, of which `*n_after` follow the point; false: too many. */
static bool read_digits(const char *bytes, size_t size, size_t *at, number *mantissa, int *n_after,
                        bool *any) {
  bool point = false;
  *mantissa = 0;
  *n_after = 0;
  *any = false;
  for (; *at < size && (shoal_is_digit(bytes[*at]) || (bytes[*at] == '.' && !point)); ++*at) {
    if (bytes[*at] == '.') {
      point = true;
      continue;
    }
    if (*mantissa > MAX_MANTISSA) return false;
    *any = true;
    *mantissa = *mantissa * 10 + (bytes[*at] - '0');
    *n_after += point;
  }
  return true;
}

static bool read_exponent(const char *bytes, size_t size, size_t *at, int *exponent) {
  *exponent = 0;
  if (*at == size) return true;
  if (bytes[*at] != 'e' && bytes[*at] != 'E') return false;
  ++*at;
  bool negative = *at < size && bytes[*at] == '-';
  if (*at < size && (bytes[*at] == '-' || bytes[*at] == '+')) ++*at;
  if (*at == size) return false;
  for (; *at < size && shoal_is_digit(bytes[*at]); ++*at) {
    *exponent = *exponent * 10 + (bytes[*at] - '0');
    if (*exponent > MAX_EXPONENT) return false;
  }
  if (negative) *exponent = -*exponent;
  return *at == size;
}

bool shoal_verify_number_read(const char *bytes, size_t size, number *out) {
  size_t at = 0;
  int n_after, exponent;
  bool any, negative = size && bytes[0] == '-';
  if (size && (bytes[0] == '-' || bytes[0] == '+')) at++;
  if (!read_digits(bytes, size, &at, out, &n_after, &any) || !any ||
      !read_exponent(bytes, size, &at, &exponent))
    return false;
  int shift = SCALE - n_after + exponent;
  for (; shift > 0 && *out; shift--)
    if (__builtin_mul_overflow(*out, 10, out)) return false;
  for (; shift < 0 && *out; shift++) {
    if (*out % 10) return false; /* more than 18 digits after the point */
    *out /= 10;
  }
  if (negative) *out = -*out;
  return true;
}

/* ---------------------------------------------------------------- ranges */

static bool read_end(const char *bytes, size_t size, bool in, end *to) {
  *to = (end){.given = true, .in = in};
  return shoal_verify_number_read(bytes, size, &to->at);
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

/* Centre and distance become two ends, the upper one open. False: they do not fit. */
static bool spread(range *r) {
  number centre = r->low.at, distance = r->high.at;
  r->high = (end){.given = true};
  return distance > 0 && !__builtin_sub_overflow(centre, distance, &r->low.at) &&
         !__builtin_add_overflow(centre, distance, &r->high.at);
}

bool shoal_verify_range_read(const char *bytes, size_t size, range *r) {
  *r = (range){0};
  if (starts(bytes, size, ">=")) return read_end(bytes + 2, size - 2, true, &r->low);
  if (starts(bytes, size, "<=")) return read_end(bytes + 2, size - 2, true, &r->high);
  if (starts(bytes, size, "<")) return read_end(bytes + 1, size - 1, false, &r->high);
  if (!read_end(bytes, size, true, &r->low)) {
    if (size < 5 || bytes[0] != '[' || (bytes[size - 1] != ']' && bytes[size - 1] != ')'))
      return false;
    bool closed = bytes[size - 1] == ']';
    if (read_pair(bytes + 1, size - 2, "\xc2\xb1", &r->low, &r->high)) return closed && spread(r);
    if (!read_pair(bytes + 1, size - 2, " to ", &r->low, &r->high) &&
        !read_pair(bytes + 1, size - 2, "-", &r->low, &r->high))
      return false;
    r->high.in = closed;
    return r->low.at < r->high.at || (closed && r->low.at == r->high.at);
  }
  r->high = r->low;
  return true;
}

/* Does the outer end, seen in direction `sign`, lie at or beyond the inner one? */
static bool reaches(const end *outer, const end *inner, int sign) {
  if (!outer->given) return true;
  if (!inner->given) return false;
  if (outer->at == inner->at) return outer->in || !inner->in;
  return sign > 0 ? outer->at > inner->at : outer->at < inner->at;
}

bool shoal_verify_range_covers(const range *outer, const range *inner) {
  return reaches(&outer->low, &inner->low, -1) && reaches(&outer->high, &inner->high, 1);
}
