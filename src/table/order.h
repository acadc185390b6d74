/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/order: a table whose rows and codes do not depend on the order of the input, for local
 * recoding: its algorithms break ties by the numbers of rows and codes.
 *
 *   values   of the chosen columns are numbered by their keys (equality.h), bytewise
 *   rows     are sorted by the chosen columns, first column first; row i is then the sorted row
 *            i * s mod n, where s is the first number above 0.618 n that shares no divisor
 *            with n: rows of low numbers are spread over the table
 *
 * Which of several equal rows is which row of the original is random.
 */
#pragma once

#include "base/random.h"
#include "table/table.h"

typedef struct shoal_ordered_table {
  /* The chosen columns have codes and dictionaries of their own. The rest is borrowed: codes of
   * other columns are in the order of the original. */
  shoal_table table;
  const shoal_table *original;
  uint32_t *row_of;   /* by row: the row of the original */
  uint32_t **code_of; /* by column, by code: the code of the original; NULL: not chosen */
} shoal_ordered_table;

/*
 * Borrows `original`, which has 1 .. 2^32 - 1 rows, one record each. `chosen`: by column,
 * nonzero for columns to sort by; they have codes. Cost: a sort of each chosen dictionary, and one
 * pass over the rows for about every 16 bits of codes. The caller frees *ordered.
 */
shoal_status shoal_table_order(const shoal_table *original, const uint8_t *chosen,
                               shoal_random *random, shoal_ordered_table **ordered,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_ordered_table_free(shoal_ordered_table *ordered); /* NULL: nothing */
