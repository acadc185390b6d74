/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/scan: computes the statistics of a column. Rows are only counted, by code. Everything
 * else comes from the dictionary, which has each distinct value once. Columns are independent and
 * run in parallel.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy/date.h"
#include "profile/profile.h"

/* "-" is a value in many tables: see dash_is_missing. */
#define DASH "-"

const char *const shoal_missing_marks[] = {"",     "?",   "NA",   "N/A",  "n/a",
                                           "NaN",  "nan", "null", "Null", "NULL",
                                           "#N/A", "\\N", ".",    DASH,   NULL};

enum {
  LONGEST_MARK = 4,
  MAX_SORTED = 1 << 16, /* with more distinct numbers the whole range is used */
  OUTERMOST = 100,      /* 1 row in 100 at each end does not decide the range */
  RARE = 20             /* at most 1 row in 20 */
};

/* The spelling's number in shoal_missing_marks, or -1. */
static int mark_of(const char *bytes, size_t size_bytes) {
  if (size_bytes > LONGEST_MARK) return -1;
  for (int m = 0; shoal_missing_marks[m]; m++)
    if (strlen(shoal_missing_marks[m]) == size_bytes &&
        (size_bytes == 0 || memcmp(shoal_missing_marks[m], bytes, size_bytes) == 0))
      return m;
  return -1;
}

static bool is_dash(const char *bytes, size_t size_bytes) {
  return size_bytes == 1 && bytes[0] == DASH[0];
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* ------------------------------------------------------------ what values look like */

/* Date formats that hierarchies accept; the first that matches all values is used. */
static const char *const date_formats[] = {"YYYY-MM-DD", "YYYY/MM/DD", "DD.MM.YYYY", "MM/DD/YYYY",
                                           "DD/MM/YYYY", "DD.MM.YY",   "MM/DD/YY",   "DD/MM/YY"};
enum { N_DATE_FORMATS = sizeof date_formats / sizeof *date_formats };

/* What all values so far have in common. */
typedef struct value_type {
  bool any; /* there was a value */
  bool number, date[N_DATE_FORMATS], digits;
  bool exact[N_DATE_FORMATS]; /* dates of that format have no time and all digits */
  unsigned pivot;             /* of years with two digits */
  unsigned scale;             /* NUMBER: the largest scale so far */
  int64_t low, high;
  size_t n_digits;
  size_t longest_bytes;
} value_type;

/* "0123" is a code, not a number: as one it would equal "123". */
static bool has_leading_zero(const char *bytes, size_t size) {
  size_t at = size && (bytes[0] == '+' || bytes[0] == '-');
  return size > at + 1 && bytes[at] == '0' && is_digit(bytes[at + 1]);
}

/* Keeps low and high at the largest scale so far; false: the numbers do not fit one scale. */
static bool take_number(value_type *l, const char *bytes, size_t size) {
  shoal_decimal number;
  int64_t mantissa;
  if (has_leading_zero(bytes, size) || shoal_decimal_parse(bytes, size, &number) != SHOAL_NUMBER_OK)
    return false;
  if (number.scale > l->scale) {
    if (!shoal_decimal_rescale((shoal_decimal){l->low, l->scale}, number.scale, &l->low) ||
        !shoal_decimal_rescale((shoal_decimal){l->high, l->scale}, number.scale, &l->high))
      return false;
    l->scale = number.scale;
  }
  if (!shoal_decimal_rescale(number, l->scale, &mantissa)) return false;
  if (!l->any || mantissa < l->low) l->low = mantissa;
  if (!l->any || mantissa > l->high) l->high = mantissa;
  return true;
}

static bool take_digits(value_type *l, const char *bytes, size_t size) {
  if (l->any && size != l->n_digits) return false;
  for (size_t i = 0; i < size; i++)
    if (!is_digit(bytes[i])) return false;
  l->n_digits = size;
  return true;
}

static void take_value(value_type *l, const char *bytes, size_t size) {
  if (l->number) l->number = take_number(l, bytes, size);
  if (l->digits) l->digits = take_digits(l, bytes, size);
  for (size_t f = 0; f < N_DATE_FORMATS; f++) {
    shoal_date date;
    if (!l->date[f]) continue;
    l->date[f] = shoal_date_read(date_formats[f], l->pivot, (shoal_label){bytes, size}, &date);
    l->exact[f] = l->date[f] && l->exact[f] && date.exact;
  }
  if (size > l->longest_bytes) l->longest_bytes = size;
  l->any = true;
}

/* Examines every value except missing ones and "-". */
static value_type look_at_values(const shoal_column *column) {
  value_type l = {.number = true, .digits = true, .pivot = shoal_date_pivot(0, 0)};
  for (size_t f = 0; f < N_DATE_FORMATS; f++) l.date[f] = l.exact[f] = true;
  for (uint32_t v = 0; v < column->n_values; v++) {
    size_t size;
    const char *bytes = shoal_column_value(column, v, &size);
    if (!shoal_column_missing(column, v) && mark_of(bytes, size) < 0) take_value(&l, bytes, size);
  }
  return l;
}

static void settle_value_type(const value_type *l, shoal_column_stats *stats) {
  stats->value_type = SHOAL_VALUE_TEXT;
  stats->longest_bytes = l->longest_bytes;
  if (!l->any) return;
  if (l->digits) stats->digits = l->n_digits;
  for (size_t f = N_DATE_FORMATS; f-- > 0;) {
    if (!l->date[f]) continue;
    stats->value_type = SHOAL_VALUE_DATE;
    stats->date_format = date_formats[f];
    stats->date_exact = l->exact[f];
    stats->pivot = l->pivot;
  }
  if (!l->number) return;
  stats->value_type = SHOAL_VALUE_NUMBER;
  stats->scale = l->scale;
  stats->low = l->low;
  stats->high = l->high;
}

/* ------------------------------------------------------------ how many rows */

#define COUNT_CODES(TYPE)                                                                          \
  do {                                                                                             \
    const TYPE *codes = column->codes;                                                             \
    if (counts)                                                                                    \
      for (uint64_t row = 0; row < n_rows; row++) rows_of[codes[row]] += counts[row];              \
    else                                                                                           \
      for (uint64_t row = 0; row < n_rows; row++) rows_of[codes[row]]++;                           \
  } while (0)

static void count_rows(const shoal_table *table, const shoal_column *column, uint64_t *rows_of) {
  const uint64_t *counts = table->counts, n_rows = table->n_rows;
  switch (column->code_size) {
  case 1: COUNT_CODES(uint8_t); break;
  case 2: COUNT_CODES(uint16_t); break;
  default: COUNT_CODES(uint32_t); break;
  }
}

/*
 * Whether "-" means missing. Among numbers, dates and codes of digits it does. Otherwise only if it
 * is rare: a frequent "-" is a finding, as is one beside "+".
 */
static bool dash_is_missing(const shoal_table *table, const shoal_column *column,
                            const uint64_t *rows_of, const shoal_column_stats *stats) {
  uint64_t dashes = 0;
  for (uint32_t v = 0; v < column->n_values; v++) {
    size_t size;
    const char *bytes = shoal_column_value(column, v, &size);
    if (size == 1 && bytes[0] == '+') return false;
    if (is_dash(bytes, size)) dashes = rows_of[v];
  }
  return stats->value_type != SHOAL_VALUE_TEXT || stats->digits ||
         dashes <= table->n_records / RARE;
}

static void tally(const shoal_column *column, const uint64_t *rows_of, bool dash_is_value,
                  shoal_column_stats *stats) {
  for (uint32_t v = 0; v < column->n_values; v++) {
    size_t size;
    const char *bytes = shoal_column_value(column, v, &size);
    int mark = dash_is_value && is_dash(bytes, size) ? -1 : mark_of(bytes, size);
    if (mark >= 0 || shoal_column_missing(column, v)) {
      stats->missing += rows_of[v];
      if (mark >= 0) stats->marks |= UINT32_C(1) << mark;
      continue;
    }
    stats->present += rows_of[v];
    stats->distinct++;
    stats->unique += rows_of[v] == 1;
    if (rows_of[v] > stats->most_frequent) stats->most_frequent = rows_of[v];
  }
}

/* ------------------------------------------------------------ the range of numbers */

typedef struct weighted_number {
  int64_t number;
  uint64_t n_rows;
} weighted_number;

static int compare_numbers(const void *left, const void *right) {
  const weighted_number *a = left, *b = right;
  return a->number < b->number ? -1 : a->number > b->number;
}

/*
 * The range without the lowest and highest rows: one 999 among ages must not decide the intervals.
 */
static bool narrow_range(const shoal_column *column, const uint64_t *rows_of,
                         shoal_column_stats *stats) {
  if (stats->value_type != SHOAL_VALUE_NUMBER || stats->distinct > MAX_SORTED) return true;
  weighted_number *numbers = shoal_alloc((size_t)stats->distinct, sizeof *numbers);
  if (!numbers) return false;
  size_t n = 0;
  for (uint32_t v = 0; v < column->n_values; v++) {
    size_t size;
    const char *bytes = shoal_column_value(column, v, &size);
    shoal_decimal number;
    int64_t mantissa;
    if (shoal_column_missing(column, v) ||
        shoal_decimal_parse(bytes, size, &number) != SHOAL_NUMBER_OK ||
        !shoal_decimal_rescale(number, stats->scale, &mantissa))
      continue;
    numbers[n++] = (weighted_number){mantissa, rows_of[v]};
  }
  qsort(numbers, n, sizeof *numbers, compare_numbers);
  uint64_t outside = stats->present / OUTERMOST, passed = 0;
  size_t first = 0, last = n - 1;
  while (first < last && (passed += numbers[first].n_rows) <= outside) first++;
  for (passed = 0; last > first && (passed += numbers[last].n_rows) <= outside;) last--;
  if (numbers[first].number < numbers[last].number) { /* otherwise nearly all rows are equal */
    stats->low = numbers[first].number;
    stats->high = numbers[last].number;
  }
  free(numbers);
  return true;
}

/* ------------------------------------------------------------ all columns */

static bool scan_column(const shoal_table *table, const shoal_column *column,
                        shoal_column_stats *stats) {
  uint64_t *rows_of = shoal_alloc_zero(column->n_values, sizeof *rows_of);
  if (!rows_of) return false;
  count_rows(table, column, rows_of);
  value_type l = look_at_values(column);
  settle_value_type(&l, stats);
  bool dash_is_value = !dash_is_missing(table, column, rows_of, stats);
  if (dash_is_value && stats->longest_bytes == 0) stats->longest_bytes = 1;
  tally(column, rows_of, dash_is_value, stats);
  bool ok = narrow_range(column, rows_of, stats);
  free(rows_of);
  return ok;
}

typedef struct scan {
  const shoal_table *table;
  const shoal_run *run;
  shoal_column_stats *stats;
  atomic_size_t next_column;
  atomic_bool stopped;
  shoal_status status; /* of the calling thread: whether the run was cancelled */
  shoal_error *error;
  atomic_bool no_memory;
} scan;

static void scan_columns(void *user, unsigned worker) {
  scan *s = user;
  size_t n_columns = s->table->n_columns, c;
  while (!atomic_load(&s->stopped) && (c = atomic_fetch_add(&s->next_column, 1)) < n_columns) {
    if (worker == 0) {
      s->status = shoal_run_report(s->run, "group", c, n_columns, "columns", s->error);
      if (s->status != SHOAL_OK) atomic_store(&s->stopped, true);
    }
    if (!scan_column(s->table, &s->table->columns[c], &s->stats[c])) {
      atomic_store(&s->no_memory, true);
      atomic_store(&s->stopped, true);
    }
  }
}

shoal_status shoal_profile_scan(const shoal_table *table, const shoal_run *run,
                                shoal_column_stats *stats, shoal_error *error) {
  scan s = {.table = table, .run = run, .stats = stats, .error = error};
  unsigned threads = shoal_run_threads(run);
  if (threads > table->n_columns) threads = (unsigned)table->n_columns;
  shoal_parallel(threads, scan_columns, &s);
  if (s.status != SHOAL_OK) return s.status;
  return atomic_load(&s.no_memory) ? shoal_fail_memory(error) : SHOAL_OK;
}
