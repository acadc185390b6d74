/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/bad_cells: cells that the policy does not allow, reported together: how many, and the first
 * rows. A message never has their content.
 */
#pragma once

#include "table/table.h"

enum { SHOAL_BAD_ROWS_SHOWN = 10 };

typedef struct shoal_bad_cells {
  uint64_t n;         /* cells; values if the column has no rows */
  uint64_t first_row; /* from 1; 0: not known */
  char rows[300];     /* "row 3", "rows 3, 7 and 9", "rows 1, 2, .. and 15 more"; "": not known */
} shoal_bad_cells;

/* `bad`: by value of the column, 0 or 1. The table may be NULL. Cost: a pass over the rows. */
void shoal_bad_cells_find(shoal_bad_cells *found, const shoal_table *table,
                          const shoal_column *column, const uint8_t *bad);

/* What is wrong with a cell, and what to do about one or several. */
typedef struct shoal_cell_fault {
  const char *is, *are; /* "is not a number", "are not numbers" */
  const char *advice_for_one, *advice;
  const char *advice_for_all; /* no value of the column is good; NULL: `advice` */
} shoal_cell_fault;

/*
 * Fails with SHOAL_BAD_INPUT: "data.csv: row 3, column 'age': 2 cells are not numbers (rows 3 and
 * 7); correct them". At least one value is bad.
 */
shoal_status shoal_bad_cells_fail(const shoal_table *table, const shoal_column *column,
                                  const uint8_t *bad, const shoal_cell_fault *fault,
                                  shoal_error *error) SHOAL_MUST_CHECK;
