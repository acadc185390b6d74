/* SPDX-License-Identifier: Apache-2.0 */
/* table/subset: a table of some rows of another one. */
#pragma once

#include "table/table.h"

/*
 * A sample of n < table->n_rows rows. It depends on the values of the n_columns `columns` of the
 * rows alone, neither on their order nor on the run: each row has a key made of its values and of
 * the number of equal rows before it, and the n smallest keys are taken, in this order. The subset
 * has codes of its own and shares dictionaries with the table, which has no counts and outlives it.
 * Cost: a pass over the rows and columns.
 */
shoal_status shoal_table_subset(const shoal_table *table, const shoal_column *const *columns,
                                size_t n_columns, uint32_t n, shoal_table **subset,
                                shoal_error *error) SHOAL_MUST_CHECK;
void shoal_table_subset_free(shoal_table *subset); /* NULL: nothing */
