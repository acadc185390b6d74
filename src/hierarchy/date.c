/* SPDX-License-Identifier: Apache-2.0 */
/* hierarchy/date: the kind "date": days by month, year, five years, decade. */
#include "hierarchy/date.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/day.h"
#include "hierarchy/builder.h"
#include "table/bad_cells.h"

typedef struct date_state {
  shoal_date *dates;        /* by value */
  shoal_date_unit units[8]; /* of the levels 1, 2, ... */
} date_state;

typedef enum date_part { YEAR_4, YEAR_2, MONTH, DAY, LITERAL } date_part;

static date_part next_part(const char *format, size_t *size) {
  *size = 2;
  if (strncmp(format, "YYYY", 4) == 0) {
    *size = 4;
    return YEAR_4;
  }
  if (strncmp(format, "YY", 2) == 0) return YEAR_2;
  if (strncmp(format, "MM", 2) == 0) return MONTH;
  if (strncmp(format, "DD", 2) == 0) return DAY;
  *size = 1;
  return LITERAL;
}

bool shoal_date_format_is_short(const char *format) {
  size_t size;
  for (; *format; format += size)
    if (next_part(format, &size) == YEAR_2) return true;
  return false;
}

unsigned shoal_date_pivot(unsigned pivot, unsigned current_year) {
  struct tm now;
  time_t seconds = time(NULL);
  if (pivot) return pivot;
  if (current_year) return current_year;
  return gmtime_r(&seconds, &now) ? (unsigned)(now.tm_year + 1900) : 1970;
}

/* ------------------------------------------------------------ reading */

/* What is left of a value. */
typedef struct cursor {
  const char *at, *end;
} cursor;

/* Reads min .. max digits. */
static bool read_digits(cursor *c, size_t min, size_t max, unsigned *number) {
  size_t n = 0;
  *number = 0;
  while (n < max && c->at < c->end && shoal_is_digit(*c->at)) {
    *number = *number * 10 + (unsigned)(*c->at++ - '0');
    n++;
  }
  return n >= min;
}

static bool skip(cursor *c, char byte) {
  if (c->at == c->end || *c->at != byte) return false;
  c->at++;
  return true;
}

/* "AM" or " pm" after hours from 1 to 12; otherwise hours go from 0 to 23. */
static bool read_half_day(cursor *c, unsigned hour) {
  cursor start = *c;
  (void)skip(c, ' ');
  bool half = skip(c, 'A') || skip(c, 'a') || skip(c, 'P') || skip(c, 'p');
  if (half && (skip(c, 'M') || skip(c, 'm'))) return hour >= 1 && hour <= 12;
  *c = start;
  return hour <= 23;
}

/* Z, +hh, +hhmm or +hh:mm; or nothing. */
static bool read_zone(cursor *c) {
  unsigned hours, minutes = 0;
  if (skip(c, 'Z') || c->at == c->end) return true;
  if (!skip(c, '+') && !skip(c, '-')) return false;
  if (!read_digits(c, 2, 2, &hours)) return false;
  bool more = skip(c, ':') || c->at < c->end;
  return (!more || read_digits(c, 2, 2, &minutes)) && hours <= 14 && minutes <= 59;
}

/* A time after the date: h:mm, h:mm:ss or h:mm:ss.f, after a space or T. */
static bool read_time(cursor *c) {
  unsigned hour, minute, second = 0, fraction;
  if (!skip(c, ' ') && !skip(c, 'T')) return false;
  if (!read_digits(c, 1, 2, &hour) || !skip(c, ':') || !read_digits(c, 2, 2, &minute)) return false;
  if (skip(c, ':')) {
    if (!read_digits(c, 2, 2, &second)) return false;
    if (skip(c, '.') && !read_digits(c, 1, 9, &fraction)) return false;
  }
  return minute <= 59 && second <= 60 && read_half_day(c, hour) && read_zone(c);
}

/* Is a part of the format beside this one, or a literal digit? Then its digits are counted. */
static bool is_close(const char *begin, const char *part, size_t size) {
  size_t unused;
  if (part[size] && (next_part(part + size, &unused) != LITERAL || shoal_is_digit(part[size])))
    return true;
  return part > begin && (strchr("YMD", part[-1]) || shoal_is_digit(part[-1]));
}

/* The latest year with these last two digits that is not after the pivot. */
static unsigned full_year(unsigned digits, unsigned pivot) {
  unsigned year = pivot / 100 * 100 + digits;
  return year > pivot && year >= 100 ? year - 100 : year;
}

/* Reads one part of the format. */
static bool read_part(const char *format, const char *part, unsigned pivot, cursor *c,
                      unsigned parts[LITERAL]) {
  size_t size;
  date_part kind = next_part(part, &size);
  if (kind == LITERAL) return skip(c, *part);
  bool short_form = (kind == MONTH || kind == DAY) && !is_close(format, part, size);
  if (!read_digits(c, short_form ? 1 : size, size, &parts[kind])) return false;
  if (kind == YEAR_2) parts[YEAR_4] = full_year(parts[YEAR_2], pivot);
  return true;
}

bool shoal_date_read(const char *format, unsigned pivot, shoal_label value, shoal_date *date) {
  unsigned parts[LITERAL] = {[YEAR_4] = 1, [MONTH] = 1, [DAY] = 1};
  cursor c = {value.bytes, value.bytes + value.size_bytes};
  for (const char *part = format; *part;) {
    size_t size;
    (void)next_part(part, &size);
    if (!read_part(format, part, pivot, &c, parts)) return false;
    part += size;
  }
  if (c.at < c.end && (!read_time(&c) || c.at < c.end)) return false;
  if (!shoal_day_exists(parts[YEAR_4], parts[MONTH], parts[DAY])) return false;
  *date = (shoal_date){.year = (uint16_t)parts[YEAR_4],
                       .month = (uint8_t)parts[MONTH],
                       .day = (uint8_t)parts[DAY],
                       .exact = value.size_bytes == strlen(format)};
  return true;
}

/* ------------------------------------------------------------ the hierarchy */

/* The format must have the year once, and the month if a level shows it. */
static shoal_status check_format(const shoal_builder *builder, bool needs_month,
                                 shoal_error *error) {
  unsigned seen[LITERAL + 1] = {0};
  size_t size;
  for (const char *f = builder->spec->date_format; *f; f += size) seen[next_part(f, &size)]++;
  if (seen[YEAR_4] + seen[YEAR_2] != 1 || seen[MONTH] > 1 || seen[DAY] > 1)
    return shoal_builder_fail(builder, error,
                              "the date format needs YYYY or YY once, and MM and DD at most once");
  if (needs_month && !seen[MONTH])
    return shoal_builder_fail(builder, error,
                              "the date format has no MM: add it, or remove the level month");
  return SHOAL_OK;
}

static shoal_label date_label(const shoal_builder *builder, uint32_t leaf, uint32_t level,
                              char *scratch) {
  const date_state *state = builder->state;
  shoal_date date = state->dates[leaf];
  unsigned span = 0;
  int size = 0;
  switch (state->units[level - 1]) {
  case SHOAL_DATE_DAY:
    size =
        snprintf(scratch, SHOAL_LABEL_SCRATCH, "%04u-%02u-%02u", date.year, date.month, date.day);
    break;
  case SHOAL_DATE_MONTH:
    size = snprintf(scratch, SHOAL_LABEL_SCRATCH, "%04u-%02u", date.year, date.month);
    break;
  case SHOAL_DATE_YEAR: size = snprintf(scratch, SHOAL_LABEL_SCRATCH, "%04u", date.year); break;
  case SHOAL_DATE_5_YEARS: span = 5; break;
  case SHOAL_DATE_DECADE: span = 10; break;
  }
  if (span) {
    unsigned first = date.year / span * span;
    size = snprintf(scratch, SHOAL_LABEL_SCRATCH, "[%04u-%04u]", first, first + span - 1);
  }
  return (shoal_label){scratch, (size_t)size};
}

/* *exact: every date has one spelling. */
static shoal_status read_dates(const shoal_builder *builder, shoal_date *dates, bool *exact,
                               shoal_error *error) {
  const shoal_column *column = builder->column;
  uint8_t *bad = shoal_alloc_zero(column->n_values, sizeof *bad);
  if (!bad) return shoal_fail_memory(error);
  bool ok = true;
  const char *format = builder->spec->date_format;
  unsigned pivot = shoal_date_pivot(builder->spec->pivot, builder->options->current_year);
  *exact = true;
  for (uint32_t v = 0; v < column->n_values; v++) {
    dates[v] = (shoal_date){0};
    if (shoal_column_is_bare(column, v)) continue;
    bad[v] = !shoal_date_read(format, pivot, shoal_strings_get(&builder->leaves, v), &dates[v]);
    ok = ok && !bad[v];
    *exact = *exact && dates[v].exact;
  }
  char is[300], are[300];
  (void)snprintf(is, sizeof is, "is not a date %s", format);
  (void)snprintf(are, sizeof are, "are not dates %s", format);
  shoal_cell_fault fault = {
      is, are, "correct it, or set 'format' in the policy",
      "correct them, or set 'format' in the policy",
      "the hierarchy 'date' is for columns of dates, and this one has none of "
      "this form: set 'format', or choose another hierarchy"};
  shoal_status status =
      ok ? SHOAL_OK : shoal_bad_cells_fail(builder->table, column, bad, &fault, error);
  free(bad);
  return status;
}

/* Days are the values themselves, unless some have a time or several spellings. */
shoal_status shoal_date_start(shoal_builder *builder, shoal_error *error) {
  const shoal_hierarchy_spec *spec = builder->spec;
  date_state *state = shoal_arena_alloc(&builder->arena, 1, sizeof *state);
  if (!state) return shoal_fail_memory(error);
  state->dates =
      shoal_arena_alloc(&builder->arena, builder->column->n_values, sizeof *state->dates);
  if (!state->dates) return shoal_fail_memory(error);
  uint32_t n_units = 0;
  bool needs_month = false, exact;
  for (size_t i = 0; i < spec->n_units; i++)
    needs_month = needs_month || spec->units[i] == SHOAL_DATE_MONTH;
  SHOAL_TRY(check_format(builder, needs_month, error));
  SHOAL_TRY(read_dates(builder, state->dates, &exact, error));
  for (size_t i = 0; i < spec->n_units; i++) {
    if (spec->units[i] == SHOAL_DATE_DAY && exact) continue;
    if (n_units == sizeof state->units / sizeof state->units[0])
      return shoal_builder_fail(builder, error, "give each unit of the date once");
    state->units[n_units++] = spec->units[i];
  }
  builder->height = n_units + 1;
  builder->state = state;
  builder->label = date_label;
  return SHOAL_OK;
}
