/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables made by hand, their profiles, and the policies made of these: what the unit tests of the
 * job `profile` share.
 */
#ifndef SHOAL_TESTS_PROFILE_FIXTURE_H
#define SHOAL_TESTS_PROFILE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hierarchy/hierarchy.h"
#include "policy/policy.h"
#include "profile/profile.h"
#include "report/result.h"
#include "table/load.h"

/* ------------------------------------------------------------ helpers */

#define ROWS(...)                                                                                  \
  ((const char *const[]){__VA_ARGS__}), sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static inline void check(shoal_status status, const shoal_error *error) {
  if (status != SHOAL_OK) fail_msg("%s", error->message);
}

/* Appends one chunk of cells, row by row. */
static inline void append(shoal_table *table, size_t n_columns, const char *const *cells,
                          size_t n_cells, const uint64_t *counts) {
  enum { MAX_COLUMNS = 16 };
  size_t n_rows = n_cells / n_columns;
  shoal_text bytes[MAX_COLUMNS];
  uint64_t *offsets[MAX_COLUMNS];
  shoal_text_view views[MAX_COLUMNS];
  assert_true(n_columns <= MAX_COLUMNS);
  for (size_t c = 0; c < n_columns; c++) {
    shoal_text_init(&bytes[c]);
    shoal_text_add(&bytes[c], "");
    offsets[c] = calloc(n_rows + 1, sizeof **offsets);
    for (size_t r = 0; r < n_rows; r++) {
      shoal_text_add(&bytes[c], cells[r * n_columns + c]);
      offsets[c][r + 1] = bytes[c].size_bytes;
    }
    views[c] = (shoal_text_view){bytes[c].bytes, offsets[c]};
  }
  shoal_error error;
  check(shoal_table_append(table, views, n_columns, n_rows, counts, &error), &error);
  for (size_t c = 0; c < n_columns; c++) {
    shoal_text_reset(&bytes[c]);
    free(offsets[c]);
  }
}

static inline shoal_table *make_table(const char *const *names, size_t n_columns,
                                      const char *const *cells, size_t n_cells,
                                      const uint64_t *counts, const shoal_load_options *options) {
  shoal_table *table;
  shoal_error error;
  check(shoal_table_new(names, n_columns, &table, &error), &error);
  append(table, n_columns, cells, n_cells, counts);
  check(shoal_table_finalize(table, options, &error), &error);
  return table;
}

/* A profile of the table, which is freed. */
static inline shoal_result *profile_of(shoal_table *table) {
  shoal_result *profile;
  shoal_error error;
  check(shoal_profile(table, NULL, &profile, &error), &error);
  shoal_table_free(table);
  return profile;
}

static inline shoal_result *profile_cells(const char *const *names, size_t n_columns,
                                          const char *const *cells, size_t n_cells) {
  return profile_of(make_table(names, n_columns, cells, n_cells, NULL, &(shoal_load_options){0}));
}

static inline shoal_result *profile_column(const char *name, const char *const *cells,
                                           size_t n_cells) {
  return profile_cells(&name, 1, cells, n_cells);
}

/*
 * A profile of one column of n_rows cells: `before`, then first, first + step, ... of which there
 * are n_values, in hundredths where `before` is "%".
 */
static inline shoal_result *profile_series(const char *name, const char *before, unsigned first,
                                           unsigned step, unsigned n_values, unsigned n_rows) {
  shoal_table *table;
  shoal_error error;
  char cell[64];
  const char *cells[] = {cell};
  bool hundredths = strchr(before, '%') != NULL;
  check(shoal_table_new(&name, 1, &table, &error), &error);
  for (unsigned r = 0; r < n_rows; r++) {
    unsigned number = first + r % n_values * step;
    if (hundredths) (void)snprintf(cell, sizeof cell, "%u.%02u", number / 100, number % 100);
    else (void)snprintf(cell, sizeof cell, "%s%u", before, number);
    append(table, 1, cells, 1, NULL);
  }
  check(shoal_table_finalize(table, &(shoal_load_options){0}, &error), &error);
  return profile_of(table);
}

/* The hierarchy of categories. */
#define CATEGORY NULL /* the hierarchy of a category */

#define WHOLE ""
#define TEXT "abc "
#define DECIMAL "%"

/* `labels`: its hierarchy, or its type and format if it is a
 * date; NULL: neither. */
static inline void assert_suggested(shoal_result *profile, const char *role, const char *labels) {
  const shoal_column_outcome *column = &profile->profile.columns[0];
  const char *found = column->hierarchy ? column->hierarchy : column->as_date;
  if (strcmp(column->role, role) != 0)
    fail_msg("'%s' is '%s', wanted '%s'", column->name, column->role, role);
  if (!labels) assert_null(found);
  else if (!found || strcmp(found, labels) != 0)
    fail_msg("'%s' has %s, wanted %s", column->name, found, labels);
  assert_true(strlen(column->why) > 10);
  shoal_result_free(profile);
}

static inline void assert_type(const char *type, const char *const *cells, size_t n_cells) {
  shoal_result *profile = profile_column("x", cells, n_cells);
  assert_string_equal(profile->profile.columns[0].type, type);
  shoal_result_free(profile);
}

static inline char *policy_text(const shoal_result *profile) {
  char *yaml;
  shoal_error error;
  check(shoal_profile_policy(profile, &yaml, &error), &error);
  return yaml;
}

static inline shoal_policy *parse_policy(const char *yaml) {
  shoal_policy *policy;
  shoal_error error;
  if (shoal_policy_parse(yaml, strlen(yaml), "start.yaml", ".", &policy, &error) != SHOAL_OK)
    fail_msg("%s\n%s", error.message, yaml);
  return policy;
}

/* The policy of the profile, as the struct that jobs use. */
static inline shoal_policy *policy_of(const shoal_result *profile) {
  char *yaml = policy_text(profile);
  shoal_policy *policy = parse_policy(yaml);
  free(yaml);
  return policy;
}

/* A small table of all that there is. */
static const char *const wide_names[] = {"name", "age", "zip", "born", "sex", "illness", "income"};
static const char *const wide_cells[] = {"Ann", "30", "41074", "01.02.1990", "f", "flu",  "1200.50",
                                         "Bob", "?",  "41076", "?",          "m", "gout", "900",
                                         "Cy",  "32", "41099", "31.12.1988", "m", "flu",  "2000",
                                         "Dee", "77", "41099", "09.09.1944", "f", "?",    "?",
                                         "Eve", "45", "41075", "11.11.1970", "f", "gout", "10"};

#endif
