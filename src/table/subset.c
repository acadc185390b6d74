/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/subset: a sample of rows by keys of their contents (bottom-k sampling). Equal rows get
 * different keys, because the number of equal rows before a row enters its key: which of them is
 * taken does not matter.
 */
#include "table/subset.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"

/* Rows are selected by the upper bits of their keys first. */
enum { BUCKET_BITS = 16, N_BUCKETS = 1 << BUCKET_BITS };

typedef struct keyed_row {
  uint64_t key;
  uint64_t row;
} keyed_row;

static uint64_t value_key(const shoal_column *column, uint32_t value) {
  size_t size;
  const char *bytes = shoal_column_value(column, value, &size);
  uint64_t key = size + 1;
  for (size_t i = 0; i < size; i++) key = shoal_mix(key ^ (uint64_t)(unsigned char)bytes[i] << 56);
  return key;
}

static bool add_column(const shoal_table *table, const shoal_column *column, uint64_t *keys) {
  uint64_t *of_value = shoal_alloc(column->n_values, sizeof *of_value);
  if (!of_value) return false;
  for (uint32_t v = 0; v < column->n_values; v++) of_value[v] = value_key(column, v);
  for (uint64_t row = 0; row < table->n_rows; row++)
    keys[row] = shoal_mix(keys[row] ^ of_value[shoal_column_code(column, row)]);
  free(of_value);
  return true;
}

/* Adds the number of equal rows before each row to its key. False: no memory. */
static bool separate_equal(uint64_t *keys, uint64_t n_rows) {
  shoal_ids ids;
  uint32_t *n_equal = shoal_alloc_zero((size_t)n_rows, sizeof *n_equal);
  bool ok = shoal_ids_init(&ids, 1024);
  for (uint64_t row = 0; ok && n_equal && row < n_rows; row++) {
    uint32_t id = shoal_ids_insert(&ids, keys[row]);
    ok = id != SHOAL_NONE;
    if (ok) keys[row] = shoal_mix(keys[row] + n_equal[id]++);
  }
  ok = ok && n_equal;
  shoal_ids_reset(&ids);
  free(n_equal);
  return ok;
}

static int compare_rows(const void *a, const void *b) {
  const keyed_row *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

/* The rows with the smallest keys, ascending: at least n of them. NULL: no memory. */
static keyed_row *select_rows(const uint64_t *keys, uint64_t n_rows, uint32_t n) {
  uint32_t *n_in_bucket = shoal_alloc_zero(N_BUCKETS, sizeof *n_in_bucket);
  if (!n_in_bucket) return NULL;
  for (uint64_t row = 0; row < n_rows; row++) n_in_bucket[keys[row] >> (64 - BUCKET_BITS)]++;
  uint64_t last = 0, total = n_in_bucket[0];
  while (total < n) total += n_in_bucket[++last];
  free(n_in_bucket);
  keyed_row *rows = shoal_alloc((size_t)total, sizeof *rows);
  size_t at = 0;
  for (uint64_t row = 0; rows && row < n_rows; row++)
    if (keys[row] >> (64 - BUCKET_BITS) <= last) rows[at++] = (keyed_row){keys[row], row};
  if (rows) qsort(rows, at, sizeof *rows, compare_rows);
  return rows;
}

/* NULL: no memory. */
static keyed_row *draw(const shoal_table *table, const shoal_column *const *columns,
                       size_t n_columns, uint32_t n) {
  uint64_t *keys = shoal_alloc_zero((size_t)table->n_rows, sizeof *keys);
  bool ok = keys;
  for (size_t c = 0; ok && c < n_columns; c++) ok = add_column(table, columns[c], keys);
  keyed_row *rows = NULL;
  if (ok && separate_equal(keys, table->n_rows)) rows = select_rows(keys, table->n_rows, n);
  free(keys);
  return rows;
}

static bool gather(const shoal_column *from, const keyed_row *rows, uint32_t n, shoal_column *to) {
  *to = *from;
  to->hashes = NULL;
  to->codes = NULL;
  if (!from->codes) return true;
  to->codes = shoal_alloc(n, from->code_size);
  if (!to->codes) return false;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t code = shoal_column_code(from, rows[i].row);
    switch (from->code_size) {
    case 1: ((uint8_t *)to->codes)[i] = (uint8_t)code; break;
    case 2: ((uint16_t *)to->codes)[i] = (uint16_t)code; break;
    default: ((uint32_t *)to->codes)[i] = code;
    }
  }
  return true;
}

void shoal_table_subset_free(shoal_table *subset) {
  if (!subset) return;
  for (size_t c = 0; subset->columns && c < subset->n_columns; c++) free(subset->columns[c].codes);
  free(subset->columns);
  free(subset);
}

shoal_status shoal_table_subset(const shoal_table *table, const shoal_column *const *columns,
                                size_t n_columns, uint32_t n, shoal_table **out,
                                shoal_error *error) {
  assert(!table->counts && n < table->n_rows);
  *out = NULL;
  keyed_row *rows = draw(table, columns, n_columns, n);
  shoal_table *subset = shoal_alloc_zero(1, sizeof *subset);
  bool ok = rows && subset;
  if (ok) {
    *subset = *table;
    subset->source = NULL;
    subset->n_rows = subset->n_records = n;
    subset->first_row = NULL;
    subset->columns = shoal_alloc_zero(table->n_columns, sizeof *subset->columns);
    ok = subset->columns;
  }
  for (size_t c = 0; ok && c < table->n_columns; c++)
    ok = gather(&table->columns[c], rows, n, &subset->columns[c]);
  free(rows);
  if (!ok) {
    shoal_table_subset_free(subset);
    return shoal_fail_memory(error);
  }
  *out = subset;
  return SHOAL_OK;
}
