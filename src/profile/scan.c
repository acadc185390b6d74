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
  RARE = 20,            /* at most 1 row in 20 */
  MAX_BAD = 100         /* numbers: at most 1 value in 100, and 1 row in 100, is no number */
};

enum { DASH_MARK = sizeof shoal_missing_marks / sizeof *shoal_missing_marks - 2 };

/* The spelling's number in shoal_missing_marks, or -1. */
static int mark_of(const char *bytes, size_t size_bytes) {
  if (size_bytes > LONGEST_MARK) return -1;
  for (int m = 0; shoal_missing_marks[m]; m++)
    if (strlen(shoal_missing_marks[m]) == size_bytes &&
        (size_bytes == 0 || memcmp(shoal_missing_marks[m], bytes, size_bytes) == 0))
      return m;
  return -1;
}

bool shoal_looks_missing(const char *bytes, size_t size) { return mark_of(bytes, size) >= 0; }

/* ------------------------------------------------------------ what values look like */

/*
 * Date formats that hierarchies accept, by separator and by order. The first order that all values
 * have is used: where day and month cannot be told apart, that is the usual one of the separator.
 */
enum { N_SEPARATORS = 3, N_ORDERS = 5, N_DATE_BITS = N_SEPARATORS + N_ORDERS };
static const char separators[N_SEPARATORS + 1] = "-/.";
static const char *const date_formats[N_SEPARATORS][N_ORDERS] = {
    {"YYYY-MM-DD", "DD-MM-YYYY", "MM-DD-YYYY", "DD-MM-YY", "MM-DD-YY"},
    {"YYYY/MM/DD", "DD/MM/YYYY", "MM/DD/YYYY", "DD/MM/YY", "MM/DD/YY"},
    {"YYYY.MM.DD", "DD.MM.YYYY", "MM.DD.YYYY", "DD.MM.YY", "MM.DD.YY"}};
static const int usual_orders[N_SEPARATORS][N_ORDERS] = {
    {0, 1, 2, 3, 4}, {0, 2, 1, 4, 3}, {0, 1, 2, 3, 4}};
static const char digits_date[] = "YYYYMMDD";

/* "0123" is a code, not a number: as one it would equal "123". */
static bool has_leading_zero(const char *bytes, size_t size) {
  size_t at = size && (bytes[0] == '+' || bytes[0] == '-');
  return size > at + 1 && bytes[at] == '0' && shoal_is_digit(bytes[at + 1]);
}

static bool has_only_digits(const char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (!shoal_is_digit(bytes[i])) return false;
  return size > 0;
}

/* A date and a time of day, such as 2024-03-05T14:02:11Z or 9/30/1990 0:00. */
static bool has_time(const char *bytes, size_t size) {
  enum { SHORTEST = 13, LONGEST = 40 }; /* 9/30/90 14:02, without the smallest digits */
  size_t n_digits = 0, n_separators = 0, n_colons = 0;
  if (size < SHORTEST - 1 || size > LONGEST || !shoal_is_digit(bytes[0])) return false;
  for (size_t i = 0; i < size; i++) {
    if (shoal_is_digit(bytes[i])) n_digits++;
    else if (bytes[i] == ':') n_colons++;
    else if (strchr("-/.", bytes[i])) n_separators++;
    else if (!strchr(" ,TZ+AMPamp", bytes[i])) return false;
  }
  return n_digits >= 7 && n_separators >= 2 && n_colons >= 1;
}

/*
 * What one value looks like, in 32 bits:
 *
 *      0..7 size, at most 255   8..12 scale   13..17 mark + 1   18.. flags
 */
enum {
  MAX_SIZE = 255,
  SCALE_SHIFT = 8,
  MARK_SHIFT = 13,
  FIELD = 31, /* of a scale or a mark */
  IS_NUMBER = 1 << 18,
  IS_DIGITS = 1 << 19,
  IS_PLUS = 1 << 20,
  IS_MISSING = 1 << 21, /* the policy says so */
  IS_TIME = 1 << 22,
  DATE_SHIFT = 23,
  ALL_DATES = ((1 << N_DATE_BITS) - 1) << DATE_SHIFT,
  ALL_TYPES = IS_NUMBER | IS_DIGITS | IS_TIME | ALL_DATES
};

static int mark_in(uint32_t traits) { return (int)(traits >> MARK_SHIFT & FIELD) - 1; }

/* The separator's bit, and those of the orders in which the value is a date; 0: it is none. */
static uint32_t dates_of(const char *bytes, size_t size) {
  enum { SHORTEST = 6, FIRST_PART = 5 }; /* 9/30/90; the year is first, or a day or a month */
  if (size < SHORTEST || !shoal_is_digit(bytes[0])) return 0;
  size_t at = 1;
  while (at < FIRST_PART && shoal_is_digit(bytes[at])) at++;
  const char *separator = bytes[at] ? memchr(separators, bytes[at], N_SEPARATORS) : NULL;
  if (!separator) return 0;
  size_t s = (size_t)(separator - separators);
  uint32_t dates = 0;
  unsigned pivot = shoal_date_pivot(0, 0);
  for (unsigned o = 0; o < N_ORDERS; o++) {
    shoal_date date;
    if (!shoal_date_read(date_formats[s][o], pivot, (shoal_label){bytes, size}, &date)) continue;
    dates |= UINT32_C(1) << (DATE_SHIFT + N_SEPARATORS + o);
  }
  return dates ? dates | UINT32_C(1) << (DATE_SHIFT + s) : 0;
}

/* `wanted`: the types that are still possible for the column. */
static uint32_t traits_of(const char *bytes, size_t size, uint32_t wanted) {
  uint32_t traits = (uint32_t)(size < MAX_SIZE ? size : MAX_SIZE);
  traits |= (uint32_t)(mark_of(bytes, size) + 1) << MARK_SHIFT;
  if (size == 1 && bytes[0] == '+') traits |= IS_PLUS;
  if (wanted & IS_DIGITS && has_only_digits(bytes, size)) traits |= IS_DIGITS;
  if (wanted & IS_TIME && has_time(bytes, size)) traits |= IS_TIME;
  if (wanted & ALL_DATES) traits |= dates_of(bytes, size);
  shoal_decimal number;
  if (wanted & IS_NUMBER && !has_leading_zero(bytes, size) &&
      shoal_decimal_parse(bytes, size, &number) == SHOAL_NUMBER_OK)
    traits |= IS_NUMBER | number.scale << SCALE_SHIFT;
  return traits;
}

uint32_t shoal_value_traits(const void *user, const char *bytes, size_t size) {
  const shoal_traits_rule *rule = user;
  if (rule->unquote && shoal_is_quoted_formula(bytes, size)) {
    bytes++;
    size--;
  }
  uint32_t traits = traits_of(bytes, size, ALL_TYPES);
  for (size_t m = 0; m < rule->n_missing; m++)
    if (strlen(rule->missing[m]) == size && memcmp(rule->missing[m], bytes, size) == 0)
      traits |= IS_MISSING;
  return traits;
}

/* What all values so far have in common. */
typedef struct value_type {
  bool any;       /* there was a value */
  uint32_t types; /* of ALL_TYPES: those that every value has */
  unsigned scale; /* NUMBER: the largest scale so far */
  size_t n_digits;
  size_t longest_bytes;
  size_t n_values, n_bad; /* values, and those that are no numbers */
  uint64_t n_rows, bad_rows;
} value_type;

/* Missing values and "-" do not decide the type. */
static void take_value(value_type *l, uint32_t traits, uint64_t n_rows) {
  if (traits & IS_MISSING || mark_in(traits) >= 0) return;
  bool bad = !(traits & IS_NUMBER);
  l->n_values++;
  l->n_rows += n_rows;
  l->n_bad += bad;
  l->bad_rows += bad ? n_rows : 0;
  size_t size = traits & MAX_SIZE;
  unsigned scale = traits >> SCALE_SHIFT & FIELD;
  l->types &= traits;
  if (l->any && size != l->n_digits) l->types &= ~(uint32_t)IS_DIGITS;
  if (!l->any) l->n_digits = size;
  if (scale > l->scale) l->scale = scale;
  if (size > l->longest_bytes) l->longest_bytes = size;
  l->any = true;
}

static void settle_value_type(const value_type *l, shoal_column_stats *stats) {
  stats->value_type = SHOAL_VALUE_TEXT;
  stats->longest_bytes = l->longest_bytes;
  if (!l->any) return;
  if (l->types & IS_DIGITS) stats->digits = l->n_digits;
  stats->has_times = l->types & IS_TIME;
  for (size_t s = 0; s < N_SEPARATORS; s++) {
    if (!(l->types >> (DATE_SHIFT + s) & 1)) continue;
    for (size_t i = N_ORDERS; i-- > 0;) {
      int order = usual_orders[s][i];
      if (!(l->types >> (DATE_SHIFT + N_SEPARATORS + order) & 1)) continue;
      stats->value_type = SHOAL_VALUE_DATE;
      stats->date_format = date_formats[s][order];
      stats->pivot = shoal_date_pivot(0, 0);
    }
  }
  bool few_bad = l->n_bad <= l->n_values / MAX_BAD + (l->n_values >= RARE) &&
                 l->bad_rows <= l->n_rows / MAX_BAD + (l->n_values >= RARE);
  if (!(l->types & IS_NUMBER) && (!few_bad || stats->value_type == SHOAL_VALUE_DATE)) return;
  stats->bad_cells = l->bad_rows;
  stats->value_type = SHOAL_VALUE_NUMBER;
  stats->scale = l->scale;
}

/* ------------------------------------------------------------ how many rows */

/* A distinct value, and the records that have it. */
typedef struct value_rows {
  uint32_t traits;
  uint64_t n_rows;
} value_rows;

#define COUNT_CODES(TYPE)                                                                          \
  do {                                                                                             \
    const TYPE *codes = column->codes;                                                             \
    if (counts)                                                                                    \
      for (uint64_t row = 0; row < n_rows; row++) values[codes[row]].n_rows += counts[row];        \
    else                                                                                           \
      for (uint64_t row = 0; row < n_rows; row++) values[codes[row]].n_rows++;                     \
  } while (0)

/*
 * Whether "-" means missing. Among numbers, dates and codes of digits it does. Otherwise only if it
 * is rare: a frequent "-" is a finding, as is one beside "+".
 */
static bool dash_is_missing(const value_rows *values, size_t n, uint64_t n_records,
                            const shoal_column_stats *stats) {
  uint64_t dashes = 0;
  for (size_t v = 0; v < n; v++) {
    if (values[v].traits & IS_PLUS) return false;
    if (mark_in(values[v].traits) == DASH_MARK) dashes = values[v].n_rows;
  }
  return stats->value_type != SHOAL_VALUE_TEXT || stats->digits || dashes <= n_records / RARE;
}

static void find_type(const value_rows *values, size_t n, shoal_column_stats *stats) {
  value_type l = {.types = ALL_TYPES};
  for (size_t v = 0; v < n; v++) take_value(&l, values[v].traits, values[v].n_rows);
  settle_value_type(&l, stats);
}

static void count_values(const value_rows *values, size_t n, uint64_t n_records,
                         shoal_column_stats *stats) {
  bool dash_is_value = !dash_is_missing(values, n, n_records, stats);
  if (dash_is_value && stats->longest_bytes == 0) stats->longest_bytes = 1;
  for (size_t v = 0; v < n; v++) {
    int mark = mark_in(values[v].traits);
    if (!values[v].n_rows) continue; /* of the whole table, of which this one is a part */
    if (dash_is_value && mark == DASH_MARK) mark = -1;
    if (mark >= 0 || values[v].traits & IS_MISSING) {
      stats->missing += values[v].n_rows;
      if (mark >= 0) stats->marks |= UINT32_C(1) << mark;
      continue;
    }
    stats->present += values[v].n_rows;
    stats->distinct++;
    stats->unique += values[v].n_rows == 1;
    stats->rare += values[v].n_rows < SHOAL_PROFILE_K ? values[v].n_rows : 0;
    if (values[v].n_rows > stats->most_frequent) stats->most_frequent = values[v].n_rows;
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

/* The whole range of a column of numbers. If they do not fit one scale, they are text. */
static void find_range(const shoal_column *column, const value_rows *values,
                       shoal_column_stats *stats) {
  bool first = true;
  int64_t before = 0;
  stats->ascending = true;
  for (uint32_t v = 0; v < column->n_values; v++) {
    size_t size;
    const char *bytes = shoal_column_value(column, v, &size);
    shoal_decimal number;
    int64_t mantissa;
    if (!values[v].n_rows || !(values[v].traits & IS_NUMBER) || values[v].traits & IS_MISSING ||
        shoal_decimal_parse(bytes, size, &number) != SHOAL_NUMBER_OK)
      continue;
    if (!shoal_decimal_rescale(number, stats->scale, &mantissa)) {
      stats->value_type = SHOAL_VALUE_TEXT;
      stats->scale = 0;
      stats->low = stats->high = 0;
      stats->bad_cells = 0;
      stats->ascending = false;
      return;
    }
    if (!first && mantissa <= before) stats->ascending = false;
    before = mantissa;
    if (first || mantissa < stats->low) stats->low = mantissa;
    if (first || mantissa > stats->high) stats->high = mantissa;
    first = false;
  }
  stats->least = stats->low;
  stats->greatest = stats->high;
}

/*
 * The range without the lowest and highest rows: one 999 among ages must not decide the intervals.
 */
static bool narrow_range(const shoal_column *column, const value_rows *values,
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
    if (!values[v].n_rows || shoal_column_missing(column, v) ||
        shoal_decimal_parse(bytes, size, &number) != SHOAL_NUMBER_OK ||
        !shoal_decimal_rescale(number, stats->scale, &mantissa))
      continue;
    numbers[n++] = (weighted_number){mantissa, values[v].n_rows};
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

/* Numbers such as 20240305 are dates if all of them are, from 1800 to 2199. */
static void find_digit_dates(const shoal_column *column, const value_rows *values,
                             shoal_column_stats *stats) {
  enum { DIGITS = sizeof digits_date - 1, FIRST = 1800, AFTER = 2200 };
  if (stats->digits != DIGITS || stats->bad_cells || stats->distinct < 2) return;
  for (uint32_t v = 0; v < column->n_values; v++) {
    shoal_label value;
    shoal_date date;
    value.bytes = shoal_column_value(column, v, &value.size_bytes);
    if (values[v].traits & IS_MISSING || mark_in(values[v].traits) >= 0) continue;
    if (!shoal_date_read(digits_date, 0, value, &date)) return;
    if (date.year < FIRST || date.year >= AFTER) return;
  }
  stats->value_type = SHOAL_VALUE_DATE;
  stats->date_format = digits_date;
}

bool shoal_profile_column(const shoal_table *table, const shoal_column *column,
                          shoal_column_stats *stats) {
  value_rows *values = shoal_alloc_zero(column->n_values, sizeof *values);
  if (!values) return false;
  *stats = (shoal_column_stats){0};
  const uint64_t *counts = table->counts, n_rows = table->n_rows;
  switch (column->code_size) {
  case 1: COUNT_CODES(uint8_t); break;
  case 2: COUNT_CODES(uint16_t); break;
  default: COUNT_CODES(uint32_t); break;
  }
  /* Only types that are still possible are looked for. */
  uint32_t wanted = ALL_TYPES, n_bad = 0;
  for (uint32_t v = 0; v < column->n_values; v++) {
    size_t size;
    const char *bytes = shoal_column_value(column, v, &size);
    values[v].traits = traits_of(bytes, size, wanted);
    if (shoal_column_missing(column, v)) values[v].traits |= IS_MISSING;
    if (values[v].traits & IS_MISSING || mark_in(values[v].traits) >= 0) continue;
    n_bad += wanted & IS_NUMBER && !(values[v].traits & IS_NUMBER);
    bool may_be_number = n_bad <= column->n_values / MAX_BAD + 1;
    wanted &= values[v].traits | (may_be_number ? wanted & IS_NUMBER : 0);
  }
  find_type(values, column->n_values, stats);
  if (stats->value_type == SHOAL_VALUE_NUMBER) find_range(column, values, stats);
  count_values(values, column->n_values, table->n_records, stats);
  find_digit_dates(column, values, stats);
  if (stats->value_type == SHOAL_VALUE_TEXT) stats->shape = shoal_column_shape(column);
  if (stats->bad_cells) {
    /* The first rows whose cell should be a number and is not. */
    size_t n = 0;
    for (uint64_t row = 0; row < table->n_rows && n < SHOAL_BAD_ROWS; row++) {
      uint32_t traits = values[shoal_column_code(column, row)].traits;
      if (traits & (IS_NUMBER | IS_MISSING) || mark_in(traits) >= 0) continue;
      stats->bad_rows[n++] = row + 1;
    }
  }
  bool ok = narrow_range(column, values, stats);
  free(values);
  return ok;
}

bool shoal_profile_sample(const shoal_value_sample *sample, uint64_t n_records,
                          shoal_column_stats *stats) {
  value_rows *values = shoal_alloc(sample->n_values, sizeof *values);
  size_t n = 0;
  if (!values) return false;
  for (size_t i = 0; sample->bits && i < (size_t)1 << sample->bits; i++)
    if (sample->slots[i])
      values[n++] = (value_rows){sample->traits[i], shoal_value_sample_rows(sample, i)};
  *stats = (shoal_column_stats){0};
  find_type(values, n, stats);
  count_values(values, n, n_records, stats);
  free(values);
  return true;
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
    if (!shoal_profile_column(s->table, &s->table->columns[c], &s->stats[c])) {
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
