/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/date: reads dates by a format of YYYY or YY, MM, DD and literal bytes. A time may
 * follow the date: 9/30/1990 0:00:00 has the format MM/DD/YYYY. A month or day between other bytes
 * than digits may have one digit. Dates must exist in the Gregorian calendar.
 */
#pragma once

#include "base/intern.h"

typedef struct shoal_date {
  uint16_t year;
  uint8_t month, day; /* 1 where the format lacks them */
  bool exact;         /* it has no time and all digits: one spelling for each day */
} shoal_date;

/*
 * Reads a date that matches the format. The last two digits of a year mean the latest year that is
 * not after `pivot`. False: it is no such date.
 */
bool shoal_date_read(const char *format, unsigned pivot, shoal_label value, shoal_date *date);

/* Has the format years of two digits? */
bool shoal_date_format_is_short(const char *format);

/* The pivot of a policy, or if that is 0 the current year. `current_year` 0: by the clock (UTC). */
unsigned shoal_date_pivot(unsigned pivot, unsigned current_year);
