/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/date: the kind "date": days by month, year, five years, decade. Dates are read by a
 * format of YYYY or YY, MM, DD and literal bytes, and must exist in the Gregorian calendar.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy/builder.h"
#include "table/bad_cells.h"

/* The parts of a date that labels show. */
typedef struct month_of_year {
  uint16_t year;
  uint8_t month;
} month_of_year;

typedef struct date_state {
  month_of_year *dates;     /* by value */
  shoal_date_unit units[8]; /* of the levels 1, 2, ...; without DAY */
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

static bool read_digits(const char *bytes, size_t n, unsigned *number) {
  *number = 0;
  for (size_t i = 0; i < n; i++) {
    if (bytes[i] < '0' || bytes[i] > '9') return false;
    *number = *number * 10 + (unsigned)(bytes[i] - '0');
  }
  return true;
}

static bool exists(unsigned year, unsigned month, unsigned day) {
  static const unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1) return false;
  bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day <= days[month - 1] + (month == 2 && leap);
}

/* Reads a date that matches the format exactly; parts that the format lacks are 1. */
static bool read_date(const char *format, shoal_label value, month_of_year *out) {
  unsigned year = 1, month = 1, day = 1;
  size_t at = 0;
  while (*format) {
    size_t size;
    date_part part = next_part(format, &size);
    if (value.size_bytes - at < size) return false;
    const char *bytes = value.bytes + at;
    unsigned number = 0;
    if (part == LITERAL ? *bytes != *format : !read_digits(bytes, size, &number)) return false;
    if (part == YEAR_4) year = number;
    if (part == YEAR_2) year = number + (number >= 69 ? 1900 : 2000);
    if (part == MONTH) month = number;
    if (part == DAY) day = number;
    format += size;
    at += size;
  }
  if (at != value.size_bytes || !exists(year, month, day)) return false;
  *out = (month_of_year){(uint16_t)year, (uint8_t)month};
  return true;
}

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
  month_of_year date = state->dates[leaf];
  unsigned span = 0;
  int size = 0;
  switch (state->units[level - 1]) {
  case SHOAL_DATE_DAY: break; /* level 0: not a label */
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

static shoal_status read_dates(const shoal_builder *builder, month_of_year *dates,
                               shoal_error *error) {
  const shoal_column *column = builder->column;
  uint8_t *bad = shoal_alloc_zero(column->n_values, sizeof *bad);
  if (!bad) return shoal_fail_memory(error);
  bool ok = true;
  for (uint32_t v = 0; v < column->n_values; v++) {
    dates[v] = (month_of_year){0, 0};
    if (shoal_column_missing(column, v)) continue;
    bad[v] =
        !read_date(builder->spec->date_format, shoal_strings_get(&builder->leaves, v), &dates[v]);
    ok = ok && !bad[v];
  }
  char is[300], are[300];
  (void)snprintf(is, sizeof is, "is not a date %s", builder->spec->date_format);
  (void)snprintf(are, sizeof are, "are not dates %s", builder->spec->date_format);
  shoal_cell_fault fault = {is, are, "correct it, or set 'format' in the policy",
                            "correct them, or set 'format' in the policy"};
  shoal_status status =
      ok ? SHOAL_OK : shoal_bad_cells_fail(builder->table, column, bad, &fault, error);
  free(bad);
  return status;
}

shoal_status shoal_date_start(shoal_builder *builder, shoal_error *error) {
  const shoal_hierarchy_spec *spec = builder->spec;
  date_state *state = shoal_arena_alloc(&builder->arena, 1, sizeof *state);
  if (!state) return shoal_fail_memory(error);
  state->dates =
      shoal_arena_alloc(&builder->arena, builder->column->n_values, sizeof *state->dates);
  if (!state->dates) return shoal_fail_memory(error);
  uint32_t n_units = 0;
  bool needs_month = false;
  for (size_t i = 0; i < spec->n_units; i++) {
    if (spec->units[i] == SHOAL_DATE_DAY) continue;
    if (n_units == sizeof state->units / sizeof state->units[0])
      return shoal_builder_fail(builder, error, "give each unit of the date once");
    needs_month = needs_month || spec->units[i] == SHOAL_DATE_MONTH;
    state->units[n_units++] = spec->units[i];
  }
  SHOAL_TRY(check_format(builder, needs_month, error));
  SHOAL_TRY(read_dates(builder, state->dates, error));
  builder->height = n_units + 1;
  builder->state = state;
  builder->label = date_label;
  return SHOAL_OK;
}
