/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input/outside: counted tuples, and columns whose cells stay with the caller. Gates and risks
 * judge such a column by the rows of its values, as they judge the sample of a column that a file
 * has (table/sample.h): each value gets an invented name, and the traits of its type.
 */
#include <stdlib.h>
#include <string.h>

#include "input/input.h"
#include "profile/profile.h"

bool shoal_role_may_be_outside(shoal_role role) {
  return role == SHOAL_ROLE_IDENTIFIER || role == SHOAL_ROLE_KEEP || role == SHOAL_ROLE_DROP;
}

/* ------------------------------------------------------------ counts */

/* Cells that were sampled or hashed were taken for one record each. */
static shoal_status check_columns(const shoal_table *table, shoal_error *error) {
  for (size_t c = 0; c < table->n_columns; c++) {
    const shoal_column *column = &table->columns[c];
    if (!column->is_outside && !column->is_identity && !column->sample) continue;
    return shoal_fail_at(error, SHOAL_BAD_INPUT,
                         &(shoal_location){.file = table->name, .column = column->name},
                         "is kept or an identifier: leave it out of counted tuples, and describe "
                         "it with shoal_table_outside");
  }
  return SHOAL_OK;
}

shoal_status shoal_input_set_counts(shoal_table *table, const shoal_counts *counts,
                                    shoal_error *error) {
  SHOAL_TRY(check_columns(table, error));
  if (counts->n != table->n_rows)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the table has %llu rows, and %zu counts are given",
                      (unsigned long long)table->n_rows, counts->n);
  uint64_t sum = 0;
  for (size_t row = 0; row < counts->n; row++) {
    shoal_location location = {.row = row + 1};
    if (counts->items[row] == 0)
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "has the count 0: leave it out");
    if (counts->items[row] > INT64_MAX - sum)
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                           "the counts add up to more than 2^63");
    sum += counts->items[row];
  }
  table->counts = shoal_alloc(counts->n, sizeof *table->counts);
  if (!table->counts) return shoal_fail_memory(error);
  memcpy(table->counts, counts->items, counts->n * sizeof *table->counts);
  table->n_records = sum;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ columns outside */

static uint32_t same_traits(const void *user, const char *bytes, size_t size_bytes) {
  (void)bytes, (void)size_bytes;
  return *(const uint32_t *)user;
}

/* What a typical value of the kind looks like. */
static uint32_t traits_of(shoal_cell_kind cells) {
  static const char *const examples[] = {[SHOAL_CELLS_TEXT] = "words",
                                         [SHOAL_CELLS_WHOLE] = "1",
                                         [SHOAL_CELLS_DECIMAL] = "0.5",
                                         [SHOAL_CELLS_DATE] = "2024-02-29",
                                         [SHOAL_CELLS_TIME] = "2024-02-29 12:00:00"};
  const shoal_traits_rule rule = {0};
  return shoal_value_traits(&rule, examples[cells], strlen(examples[cells]));
}

static uint32_t traits_of_missing(void) {
  static const char *const missing[] = {""};
  const shoal_traits_rule rule = {.missing = missing, .n_missing = 1};
  return shoal_value_traits(&rule, "", 0);
}

/* Adds n values of n_rows rows each; *next is the next name. */
static bool add_values(shoal_value_sample *sample, const shoal_sampling *sampling, uint64_t n,
                       uint64_t n_rows, uint64_t *next) {
  for (; n; n--, (*next)++) {
    char name[2 * sizeof *next] = {0}; /* 8 bytes behind it are read */
    memcpy(name, next, sizeof *next);
    if (!shoal_value_sample_add_value(sample, sampling, name, sizeof *next, n_rows)) return false;
  }
  return true;
}

static shoal_status check_figures(const shoal_table *table, const char *name,
                                  const shoal_column_figures *f, shoal_error *error) {
  uint64_t left = table->n_records;
  for (size_t i = 0; i < f->n; i++) {
    bool fits = f->n_rows[i] && f->n_values[i] && f->n_values[i] <= left / f->n_rows[i];
    if (!fits)
      return shoal_fail_at(error, SHOAL_BAD_INPUT,
                           &(shoal_location){.file = table->name, .column = name},
                           "its values have 0 or more records than the table: give figures of the "
                           "rows that were counted");
    left -= f->n_values[i] * f->n_rows[i];
  }
  return SHOAL_OK;
}

static bool fill_figures(const shoal_table *table, shoal_column *column,
                         const shoal_column_figures *f) {
  uint32_t traits = traits_of(f->cells);
  uint32_t traits_missing = traits_of_missing();
  const shoal_sampling sampling = {same_traits, &traits};
  const shoal_sampling sampling_missing = {same_traits, &traits_missing};
  uint64_t next = 0, missing = table->n_records;
  column->sample = shoal_alloc_zero(1, sizeof *column->sample);
  bool ok = column->sample != NULL;
  for (size_t i = 0; ok && i < f->n; i++) {
    ok = add_values(column->sample, &sampling, f->n_values[i], f->n_rows[i], &next);
    if (f->n_rows[i] > 1) column->n_repeated += f->n_values[i] * f->n_rows[i];
    missing -= f->n_values[i] * f->n_rows[i];
  }
  if (missing > 1) column->n_repeated += missing;
  if (missing) ok = ok && add_values(column->sample, &sampling_missing, 1, missing, &next);
  column->is_identity = true;
  return ok;
}

shoal_status shoal_input_outside(shoal_table *table, const char *name,
                                 const shoal_column_figures *figures, shoal_error *error) {
  if (!table->finished || table->source)
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "columns can stay outside of tables from memory only, once these are "
                      "finished");
  if (shoal_table_column(table, name))
    return shoal_fail(error, SHOAL_BAD_INPUT, "column '%s' occurs twice", name);
  if (figures) SHOAL_TRY(check_figures(table, name, figures, error));
  shoal_column *columns = shoal_resize(table->columns, table->n_columns + 1, sizeof *columns);
  if (!columns) return shoal_fail_memory(error);
  table->columns = columns;
  shoal_column *column = &columns[table->n_columns];
  *column = (shoal_column){.name = strdup(name), .is_outside = true};
  if (!column->name) return shoal_fail_memory(error);
  table->n_columns++; /* from here on the table frees it */
  return !figures || fill_figures(table, column, figures) ? SHOAL_OK : shoal_fail_memory(error);
}
