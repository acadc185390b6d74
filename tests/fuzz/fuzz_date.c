/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a cell as a date, with or without a time. What is read must exist and be the same
 * when it is printed in the format again, also with a time behind it; a year of two digits lies in
 * the hundred years up to the pivot.
 */
#include "fuzz.h"
#include "hierarchy/date.h"

static const char *const formats[] = {"YYYY-MM-DD", "MM/DD/YYYY", "DD.MM.YYYY", "MM/DD/YY",
                                      "YYMMDD",     "YYYYMMDD",   "DD1MM1YY"};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static size_t print(const char *format, const shoal_date *date, char *out, size_t room) {
  size_t at = 0;
  while (*format) {
    const char *shown = NULL;
    char digits[8];
    size_t took = 2;
    if (strncmp(format, "YYYY", 4) == 0) {
      (void)snprintf(digits, sizeof digits, "%04u", date->year % 10000u);
      took = 4;
    } else if (*format == 'Y') (void)snprintf(digits, sizeof digits, "%02u", date->year % 100u);
    else if (*format == 'M') (void)snprintf(digits, sizeof digits, "%02u", date->month % 100u);
    else if (*format == 'D') (void)snprintf(digits, sizeof digits, "%02u", date->day % 100u);
    else shown = format, took = 1;
    MUST(at + took < room);
    memcpy(out + at, shown ? shown : digits, took);
    at += took;
    format += took;
  }
  return at;
}

static bool same(const shoal_date *a, const shoal_date *b) {
  return a->year == b->year && a->month == b->month && a->day == b->day;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2 || size > 128) return 0;
  const char *format = formats[data[0] % N_FORMATS];
  unsigned pivot = 1950 + data[1] % 150;
  char *cell = copy_exactly(data + 2, size - 2, 0), text[64];
  shoal_date date, again;
  if (shoal_date_read(format, pivot, (shoal_label){cell, size - 2}, &date)) {
    MUST(date.month >= 1 && date.month <= 12 && date.day >= 1 && date.day <= 31);
    MUST(date.year <= 9999);
    if (shoal_date_format_is_short(format)) MUST(date.year <= pivot && date.year + 100u > pivot);
    size_t n = print(format, &date, text, sizeof text);
    MUST(shoal_date_read(format, pivot, (shoal_label){text, n}, &again) && again.exact);
    MUST(same(&date, &again));
    if (date.exact) MUST(n == size - 2 && memcmp(text, cell, n) == 0);
    memcpy(text + n, " 23:59:59", 9);
    MUST(shoal_date_read(format, pivot, (shoal_label){text, n + 9}, &again) && !again.exact);
    MUST(same(&date, &again));
    text[n] = 'x';
    MUST(!shoal_date_read(format, pivot, (shoal_label){text, n + 9}, &again));
  }
  free(cell);
  return 0;
}
