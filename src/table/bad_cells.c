/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/bad_cells: a pass over the codes. A column without codes has only the first row of each
 * value.
 */
#include "table/bad_cells.h"

#include <stdio.h>
#include <string.h>

/* The first rows, ascending. */
typedef struct row_list {
  uint64_t rows[SHOAL_BAD_ROWS_SHOWN];
  size_t n;
} row_list;

static void add_row(row_list *list, uint64_t row) {
  size_t at = list->n;
  while (at > 0 && list->rows[at - 1] > row) at--;
  if (at == SHOAL_BAD_ROWS_SHOWN) return;
  size_t kept = list->n < SHOAL_BAD_ROWS_SHOWN ? list->n : SHOAL_BAD_ROWS_SHOWN - 1;
  memmove(list->rows + at + 1, list->rows + at, (kept - at) * sizeof *list->rows);
  list->rows[at] = row;
  list->n = kept + 1;
}

/* Rows of a file are counted from 1. Of counted rows, the first with these values is known. */
static void scan_rows(shoal_bad_cells *found, row_list *list, const shoal_table *table,
                      const shoal_column *column, const uint8_t *bad) {
  for (uint64_t row = 0; row < table->n_rows; row++) {
    if (!bad[shoal_column_code(column, row)]) continue;
    found->n += shoal_table_count(table, row);
    add_row(list, shoal_table_file_row(table, row) + 1);
  }
}

static void scan_values(shoal_bad_cells *found, row_list *list, const shoal_column *column,
                        const uint8_t *bad) {
  for (uint32_t v = 0; v < column->n_values; v++) {
    if (!bad[v]) continue;
    found->n++;
    if (column->first_row) add_row(list, column->first_row[v] + 1);
  }
}

static void print_rows(shoal_bad_cells *found, const row_list *list) {
  size_t at = 0, cap = sizeof found->rows;
  uint64_t more = found->n - list->n;
  for (size_t i = 0; i < list->n; i++) {
    bool last = i + 1 == list->n && !more;
    const char *before = i == 0 ? (found->n == 1 ? "row " : "rows ") : last ? " and " : ", ";
    at += (size_t)snprintf(found->rows + at, cap - at, "%s%llu", before,
                           (unsigned long long)list->rows[i]);
  }
  if (list->n && more)
    (void)snprintf(found->rows + at, cap - at, " and %llu more", (unsigned long long)more);
}

void shoal_bad_cells_find(shoal_bad_cells *found, const shoal_table *table,
                          const shoal_column *column, const uint8_t *bad) {
  row_list list = {.n = 0};
  memset(found, 0, sizeof *found);
  if (table && column->codes) scan_rows(found, &list, table, column, bad);
  if (!found->n) scan_values(found, &list, column, bad);
  if (list.n) found->first_row = list.rows[0];
  print_rows(found, &list);
}

shoal_status shoal_bad_cells_fail(const shoal_table *table, const shoal_column *column,
                                  const uint8_t *bad, const shoal_cell_fault *fault,
                                  shoal_error *error) {
  shoal_bad_cells found;
  shoal_bad_cells_find(&found, table, column, bad);
  const shoal_location location = {
      .file = table ? table->name : NULL, .row = found.first_row, .column = column->name};
  if (found.n == 1)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "the cell %s; %s", fault->is,
                         fault->advice_for_one);
  bool known = *found.rows, all = fault->advice_for_all;
  for (uint32_t v = 0; all && v < column->n_values; v++)
    all = bad[v] || shoal_column_missing(column, v);
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "%llu cells %s%s%s%s; %s",
                       (unsigned long long)found.n, fault->are, known ? " (" : "", found.rows,
                       known ? ")" : "", all ? fault->advice_for_all : fault->advice);
}
