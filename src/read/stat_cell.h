/* SPDX-License-Identifier: Apache-2.0 */
/* read/stat_cell: one value of a statistics file as text. Private to read/stat_file.c and tests. */
#pragma once

#include "base/text.h"

typedef enum shoal_stat_time {
  SHOAL_STAT_NUMBER,
  SHOAL_STAT_DATE,
  SHOAL_STAT_DATETIME
} shoal_stat_time;

/* How a variable counts time: from an epoch (days since 1970-01-01), in units. */
typedef struct shoal_stat_clock {
  shoal_stat_time time;
  int64_t epoch_days;
  double units_per_day; /* 1, 86400 or 86400000 */
} shoal_stat_clock;

/* The clock of a variable's format ("DATE11", "%td", "YYMMDD10."); NUMBER: it is no date. */
shoal_stat_clock shoal_stat_clock_of_sav(const char *format);
shoal_stat_clock shoal_stat_clock_of_dta(const char *format);
shoal_stat_clock shoal_stat_clock_of_sas(const char *format);

/* The shortest decimal text that reads back as the same number. */
void shoal_stat_add_number(shoal_text *out, double number);
void shoal_stat_add_float(shoal_text *out, float number);
/* A date or a time, or the number itself if it is outside the years 1 to 9999. */
void shoal_stat_add_time(shoal_text *out, shoal_stat_clock clock, double number);
