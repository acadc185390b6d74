/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/stat_cell: SPSS counts seconds since 1582-10-14, Stata and SAS days or (milli)seconds since
 * 1960-01-01. Calendar dates are computed in the proleptic Gregorian calendar.
 */
#include "read/stat_cell.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EPOCH_1582 = -141428, EPOCH_1960 = -3653, DAY_SECONDS = 86400 };

static const shoal_stat_clock no_clock = {SHOAL_STAT_NUMBER, 0, 0};

/* The letters of a format: "DATE" of "DATE11" and of "date9.". */
static void take_letters(const char *format, char *letters, size_t capacity) {
  size_t n = 0;
  while (n + 1 < capacity && isalpha((unsigned char)format[n])) {
    letters[n] = (char)toupper((unsigned char)format[n]);
    n++;
  }
  letters[n] = '\0';
}

static bool is_one_of(const char *word, const char *const *words) {
  while (*words && strcmp(*words, word) != 0) words++;
  return *words != NULL;
}

shoal_stat_clock shoal_stat_clock_of_sav(const char *format) {
  static const char *const dates[] = {"DATE", "ADATE", "EDATE", "SDATE", "JDATE", NULL};
  static const char *const times[] = {"DATETIME", "YMDHMS", NULL};
  char letters[16];
  take_letters(format, letters, sizeof letters);
  shoal_stat_clock clock = {SHOAL_STAT_NUMBER, EPOCH_1582, DAY_SECONDS};
  if (is_one_of(letters, dates)) clock.time = SHOAL_STAT_DATE;
  if (is_one_of(letters, times)) clock.time = SHOAL_STAT_DATETIME;
  return clock;
}

shoal_stat_clock shoal_stat_clock_of_dta(const char *format) {
  const char *at = format + (*format == '%');
  at += *at == '-'; /* left-justified */
  if (strncmp(at, "td", 2) == 0 || *at == 'd')
    return (shoal_stat_clock){SHOAL_STAT_DATE, EPOCH_1960, 1};
  if (strncmp(at, "tc", 2) == 0 || strncmp(at, "tC", 2) == 0)
    return (shoal_stat_clock){SHOAL_STAT_DATETIME, EPOCH_1960, DAY_SECONDS * 1000.0};
  return no_clock;
}

shoal_stat_clock shoal_stat_clock_of_sas(const char *format) {
  static const char *const dates[] = {
      "DATE",    "DDMMYY",  "MMDDYY",  "YYMMDD",  "YYMMDDN", "YYMMDDD",  "YYMMDDS",  "DDMMYYD",
      "DDMMYYP", "DDMMYYS", "MMDDYYD", "MMDDYYS", "EURDFDD", "WEEKDATE", "WORDDATE", NULL};
  char letters[16];
  take_letters(format, letters, sizeof letters);
  if (is_one_of(letters, dates) || strncmp(format, "E8601DA", 7) == 0 ||
      strncmp(format, "B8601DA", 7) == 0)
    return (shoal_stat_clock){SHOAL_STAT_DATE, EPOCH_1960, 1};
  if (strcmp(letters, "DATETIME") == 0 || strncmp(format, "E8601DT", 7) == 0)
    return (shoal_stat_clock){SHOAL_STAT_DATETIME, EPOCH_1960, DAY_SECONDS};
  return no_clock;
}

void shoal_stat_add_number(shoal_text *out, double number) {
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    (void)shoal_print_double(text, sizeof text, "%.*g", digits, number);
    if (shoal_parse_double(text, NULL) == number) break;
  }
  shoal_text_add(out, text);
}

void shoal_stat_add_float(shoal_text *out, float number) {
  char text[40];
  for (int digits = 6; digits <= 9; digits++) {
    (void)shoal_print_double(text, sizeof text, "%.*g", digits, (double)number);
    if ((float)shoal_parse_double(text, NULL) == number) break;
  }
  shoal_text_add(out, text);
}

/* Year, month and day of a number of days since 1970-01-01, by eras of 400 years from March 1. */
static void civil_date(int64_t days, int *year, int *month, int *day) {
  enum { ERA_DAYS = 146097, TO_MARCH_0000 = 719468 };
  int64_t shifted = days + TO_MARCH_0000;
  int64_t era = (shifted >= 0 ? shifted : shifted - (ERA_DAYS - 1)) / ERA_DAYS;
  int64_t of_era = shifted - era * ERA_DAYS;
  int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t march_month = (5 * of_year + 2) / 153;
  *day = (int)(of_year - (153 * march_month + 2) / 5 + 1);
  *month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
  *year = (int)(year_of_era + era * 400 + (*month <= 2));
}

void shoal_stat_add_time(shoal_text *out, shoal_stat_clock clock, double number) {
  enum { LAST_DAY = 4000000 }; /* more than 9999 years */
  double days = floor(number / clock.units_per_day);
  int year = 0, month = 0, day = 0;
  if (fabs(days) < LAST_DAY) civil_date((int64_t)days + clock.epoch_days, &year, &month, &day);
  if (year < 1 || year > 9999) {
    shoal_stat_add_number(out, number);
    return;
  }
  shoal_text_print(out, "%04d-%02d-%02d", year, month, day);
  if (clock.time != SHOAL_STAT_DATETIME) return;
  int seconds = (int)((number - days * clock.units_per_day) * (DAY_SECONDS / clock.units_per_day));
  shoal_text_print(out, " %02d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
}
