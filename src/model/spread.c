/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/spread: how sensitive values spread over the table, and the necessary conditions of Truta
 * & Vinay 2006 (section 3): p at most the distinct values; at most max groups classes.
 */
#include <stdlib.h>
#include <string.h>

#include "model/types.h"

/* Codes of one byte, in four counts side by side: no count waits for the one before it. */
static void count_bytes(const uint8_t *codes, uint64_t n_rows, uint32_t n_values, uint64_t *rows) {
  uint64_t counts[4][UINT8_MAX + 1] = {{0}};
  for (uint64_t row = 0; row + 4 <= n_rows; row += 4)
    for (unsigned i = 0; i < 4; i++) counts[i][codes[row + i]]++;
  for (uint64_t row = n_rows / 4 * 4; row < n_rows; row++) counts[0][codes[row]]++;
  for (uint32_t v = 0; v < n_values; v++)
    rows[v] = counts[0][v] + counts[1][v] + counts[2][v] + counts[3][v];
}

uint64_t *shoal_count_values(const shoal_table *table, const shoal_column *column) {
  uint64_t *rows = shoal_alloc_zero(column->n_values, sizeof *rows);
  if (rows && column->code_size == 1 && !table->counts) {
    count_bytes(column->codes, table->n_rows, column->n_values, rows);
    return rows;
  }
  for (uint64_t row = 0; rows && row < table->n_rows; row++)
    rows[shoal_column_code(column, row)] += shoal_table_count(table, row);
  return rows;
}

void shoal_spread_sort(shoal_spread *spread, size_t n_groups) {
  uint64_t *rows = spread->descending;
  for (size_t g = 0; g < n_groups; g++) {
    if (!rows[g]) continue;
    spread->n_valued += rows[g];
    rows[spread->n_distinct++] = rows[g];
  }
  shoal_sort_descending(rows, spread->n_distinct);
}

shoal_status shoal_spread_count(const shoal_table *table, const shoal_column *column,
                                shoal_spread *spread, shoal_error *error) {
  memset(spread, 0, sizeof *spread);
  spread->n_rows = table->n_records;
  uint64_t *rows = shoal_count_values(table, column);
  if (!rows) return shoal_fail_memory(error);
  for (uint32_t v = 0; v < column->n_values; v++)
    if (shoal_column_missing(column, v)) rows[v] = 0;
  spread->descending = rows;
  shoal_spread_sort(spread, column->n_values);
  return SHOAL_OK;
}

shoal_status shoal_spread_groups(const shoal_table *table, const shoal_column *column,
                                 const uint32_t *group_of, uint32_t n_groups, shoal_spread *spread,
                                 shoal_error *error) {
  memset(spread, 0, sizeof *spread);
  spread->n_rows = table->n_records;
  uint64_t *rows = shoal_count_values(table, column);
  uint64_t *group_rows = shoal_alloc_zero(n_groups, sizeof *group_rows);
  if (!rows || !group_rows) {
    free(rows);
    free(group_rows);
    return shoal_fail_memory(error);
  }
  for (uint32_t v = 0; v < column->n_values; v++)
    if (!shoal_column_missing(column, v)) group_rows[group_of[v]] += rows[v];
  free(rows);
  spread->descending = group_rows;
  shoal_spread_sort(spread, n_groups);
  return SHOAL_OK;
}

/*
 * Each group needs, for every i, at least i rows that are not of the p - i most frequent values:
 * there are n - cf(p - i) of these. i = p, with cf(0) = 0, says that a group needs p rows.
 */
uint64_t shoal_spread_max_groups(const shoal_spread *spread, uint64_t p) {
  if (p > spread->n_distinct) return 0;
  uint64_t most = UINT64_MAX, frequent = 0;
  for (uint64_t i = p; i >= 1; i--) { /* `frequent` is cf(p - i) */
    uint64_t groups = (spread->n_valued - frequent) / i;
    if (groups < most) most = groups;
    frequent += spread->descending[p - i];
  }
  return most;
}
