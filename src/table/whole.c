/* SPDX-License-Identifier: Apache-2.0 */
/* table/whole: rows of the whole table by value, found by their text: sorting changes codes. */
#include "table/whole.h"

#include <stdlib.h>
#include <string.h>

#include "table/dictionary.h"

typedef struct shoal_whole {
  struct shoal_whole *next;
  char *name; /* of the column */
  shoal_strings values;
  uint64_t *rows; /* by value */
} shoal_whole;

void shoal_whole_free(shoal_whole *whole) {
  while (whole) {
    shoal_whole *next = whole->next;
    shoal_strings_reset(&whole->values);
    free(whole->name);
    free(whole->rows);
    free(whole);
    whole = next;
  }
}

static const shoal_whole *find(const shoal_table *table, const char *name) {
  const shoal_whole *whole = table->whole;
  while (whole && strcmp(whole->name, name) != 0) whole = whole->next;
  return whole;
}

bool shoal_whole_has(const shoal_table *table, const shoal_column *column) {
  return find(table, column->name) != NULL;
}

uint64_t *shoal_whole_rows(const shoal_table *table, const shoal_column *column) {
  const shoal_whole *whole = find(table, column->name);
  uint64_t *rows = shoal_alloc_zero(column->n_values, sizeof *rows);
  for (uint32_t v = 0; rows && v < column->n_values; v++) {
    shoal_label value;
    value.bytes = shoal_column_value(column, v, &value.size_bytes);
    uint32_t i = shoal_strings_find(&whole->values, value);
    if (i != SHOAL_NONE) rows[v] = whole->rows[i];
  }
  return rows;
}

/* ------------------------------------------------------------ setting it */

/* The column's values, then others, in the spelling of the column; rows by number. */
static bool number_values(const shoal_column *column, const shoal_label *values,
                          const uint64_t *rows, size_t n, shoal_whole *whole) {
  shoal_values known;
  bool ok = shoal_values_init(&known, column->equality);
  whole->rows = shoal_alloc_zero(column->n_values + n, sizeof *whole->rows);
  ok = ok && whole->rows;
  for (uint32_t v = 0; ok && v < column->n_values; v++) {
    shoal_label value;
    value.bytes = shoal_column_value(column, v, &value.size_bytes);
    ok = shoal_values_intern(&known, value) == v;
  }
  for (size_t i = 0; ok && i < n; i++) {
    uint32_t v = shoal_values_intern(&known, values[i]);
    ok = v != SHOAL_NONE;
    if (ok) whole->rows[v] += rows[i];
  }
  for (uint32_t v = 0; ok && v < known.spellings.n_strings; v++)
    ok = shoal_strings_intern(&whole->values, shoal_strings_get(&known.spellings, v)) == v;
  shoal_values_reset(&known);
  return ok;
}

static shoal_status check_rows(const shoal_table *table, const shoal_column *column,
                               const shoal_whole *whole, shoal_error *error) {
  uint64_t *own = shoal_alloc_zero(column->n_values, sizeof *own);
  if (!own) return shoal_fail_memory(error);
  for (uint64_t row = 0; row < table->n_rows; row++)
    own[shoal_column_code(column, row)] += shoal_table_count(table, row);
  bool fits = true;
  for (uint32_t v = 0; fits && v < column->n_values; v++)
    fits = shoal_column_missing(column, v) || own[v] <= whole->rows[v];
  free(own);
  if (fits) return SHOAL_OK;
  return shoal_fail_at(error, SHOAL_BAD_INPUT,
                       &(shoal_location){.file = table->name, .column = column->name},
                       "has more records of a value than the whole table");
}

static void *widen(const shoal_column *from, uint64_t n_rows, unsigned size) {
  uint8_t *codes = shoal_alloc((size_t)n_rows, size);
  for (uint64_t row = 0; codes && row < n_rows; row++) {
    uint32_t code = shoal_column_code(from, row);
    if (size == 2) ((uint16_t *)(void *)codes)[row] = (uint16_t)code;
    else ((uint32_t *)(void *)codes)[row] = code;
  }
  return codes;
}

/* Gives the column the dictionary of `values`. False: no memory, and nothing has changed. */
static bool grow(shoal_column *column, uint64_t n_rows, const shoal_strings *values) {
  uint32_t n = values->n_strings, known = column->n_values;
  unsigned size = n <= UINT8_MAX + 1 ? 1 : n <= UINT16_MAX + 1 ? 2 : 4;
  size_t size_bytes = (size_t)values->offsets[n];
  char *bytes = shoal_alloc_zero(size_bytes + SHOAL_DICTIONARY_SLACK, 1);
  uint64_t *offsets = shoal_alloc((size_t)n + 1, sizeof *offsets);
  uint64_t *first_row = column->first_row ? shoal_alloc_zero(n, sizeof *first_row) : NULL;
  uint8_t *is_missing = column->is_missing ? shoal_alloc_zero(n, 1) : NULL;
  void *codes = size > column->code_size ? widen(column, n_rows, size) : column->codes;
  if (!bytes || !offsets || !codes || (column->first_row && !first_row) ||
      (column->is_missing && !is_missing)) {
    free(bytes);
    free(offsets);
    free(first_row);
    free(is_missing);
    if (codes != column->codes) free(codes);
    return false;
  }
  memcpy(bytes, values->bytes, size_bytes);
  memcpy(offsets, values->offsets, ((size_t)n + 1) * sizeof *offsets);
  if (first_row) memcpy(first_row, column->first_row, known * sizeof *first_row);
  if (is_missing) memcpy(is_missing, column->is_missing, known);
  shoal_wipe_free(column->bytes, (size_t)column->offsets[known]);
  free(column->offsets);
  free(column->first_row);
  free(column->is_missing);
  if (codes != column->codes) {
    free(column->codes);
    column->code_size = size;
  }
  column->codes = codes;
  column->bytes = bytes;
  column->offsets = offsets;
  column->first_row = first_row;
  column->is_missing = is_missing;
  column->n_values = n;
  return true;
}

shoal_status shoal_whole_set(shoal_table *table, size_t c, const shoal_label *values,
                             const uint64_t *rows, size_t n, shoal_error *error) {
  shoal_column *column = &table->columns[c];
  shoal_location location = {.file = table->name, .column = column->name};
  if (shoal_whole_has(table, column))
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "has values of the whole table already");
  if (column->coding.rare)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "has 'rare': collect rare values before the table is divided");
  shoal_whole *whole = shoal_alloc_zero(1, sizeof *whole);
  shoal_status status =
      whole && shoal_strings_init(&whole->values) ? SHOAL_OK : shoal_fail_memory(error);
  if (status != SHOAL_OK) {
    free(whole);
    return status;
  }
  whole->name = strdup(column->name);
  if (!whole->name || !number_values(column, values, rows, n, whole))
    status = shoal_fail_memory(error);
  if (status == SHOAL_OK) status = check_rows(table, column, whole, error);
  if (status == SHOAL_OK && whole->values.n_strings > column->n_values &&
      !grow(column, table->n_rows, &whole->values))
    status = shoal_fail_memory(error);
  if (status != SHOAL_OK) {
    shoal_whole_free(whole);
    return status;
  }
  whole->next = table->whole;
  table->whole = whole;
  return SHOAL_OK;
}
