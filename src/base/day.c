/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/day: years begin in March here, so that February, the only month of varying length, is the
 * last one: the days before month m (0: March) are (153 m + 2) / 5.
 */
#include "base/day.h"

#include "base/decimal.h"

enum { YEAR = 365, MONTHS = 12, MARCH = 3, BYTES = SHOAL_DAY_BYTES - 1 };

bool shoal_day_exists(unsigned year, unsigned month, unsigned day) {
  static const unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > MONTHS || day < 1) return false;
  bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day <= days[month - 1] + (month == 2 && leap);
}

/* Days before the year that begins in March; years before it may be -1. */
static int64_t before_year(int64_t year) {
  int64_t y = year + 400; /* a multiple of the calendar's period, to divide no negative number */
  return y * YEAR + y / 4 - y / 100 + y / 400 - 146097;
}

static int64_t before_month(unsigned month) { return (153 * (int64_t)month + 2) / 5; }

int64_t shoal_day_number(unsigned year, unsigned month, unsigned day) {
  unsigned m = (month + MONTHS - MARCH) % MONTHS;
  return before_year((int64_t)year - (month < MARCH)) + before_month(m) + (int64_t)day - 1;
}

static bool read_digits(const char *bytes, size_t n, unsigned *number) {
  *number = 0;
  for (size_t i = 0; i < n; i++) {
    if (!shoal_is_digit(bytes[i])) return false;
    *number = *number * 10 + (unsigned)(bytes[i] - '0');
  }
  return true;
}

bool shoal_day_read(const char *bytes, size_t size_bytes, int64_t *number) {
  unsigned year, month, day;
  if (size_bytes != BYTES || bytes[4] != '-' || bytes[7] != '-') return false;
  if (!read_digits(bytes, 4, &year) || !read_digits(bytes + 5, 2, &month) ||
      !read_digits(bytes + 8, 2, &day) || !shoal_day_exists(year, month, day))
    return false;
  *number = shoal_day_number(year, month, day);
  return true;
}

static void put_digits(char *out, size_t n, unsigned number) {
  for (size_t i = n; i-- > 0; number /= 10) out[i] = (char)('0' + number % 10);
}

void shoal_day_print(int64_t number, char out[SHOAL_DAY_BYTES]) {
  int64_t year = number / YEAR; /* leap days make this too late by up to seven years */
  unsigned month = MONTHS - 1;
  while (before_year(year) > number) year--;
  int64_t rest = number - before_year(year);
  while (before_month(month) > rest) month--;
  put_digits(out, 4, (unsigned)(year + (month >= MONTHS - 2)));
  put_digits(out + 5, 2, (month + MARCH - 1) % MONTHS + 1);
  put_digits(out + 8, 2, (unsigned)(rest - before_month(month)) + 1);
  out[4] = out[7] = '-';
  out[BYTES] = '\0';
}
