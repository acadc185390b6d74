/* SPDX-License-Identifier: Apache-2.0 */
/* base/day: days of the Gregorian calendar as numbers, and their spelling YYYY-MM-DD. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is there such a day? Months and days count from 1. */
bool shoal_day_exists(unsigned year, unsigned month, unsigned day);

/* Days since 0000-03-01, of a day that exists in the years 0 to 9999. */
int64_t shoal_day_number(unsigned year, unsigned month, unsigned day);

/* Reads YYYY-MM-DD and nothing else. False: it is no day. */
bool shoal_day_read(const char *bytes, size_t size_bytes, int64_t *number);

/* Writes YYYY-MM-DD and a zero; the day is one of the years 0 to 9999. */
#define SHOAL_DAY_BYTES 11
void shoal_day_print(int64_t number, char out[SHOAL_DAY_BYTES]);
