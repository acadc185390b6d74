/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/whole: what a part of a table knows of the whole. Its columns have the values of the whole
 * in their dictionaries, so that ranges, trees and sets are those of the whole, and the rows of
 * each value there are kept for models that compare with the whole table.
 */
#pragma once

#include "base/intern.h"
#include "table/table.h"

/*
 * Gives a column the values of the whole table: at least its own, none of them missing. values[i]
 * has rows[i] records there. SHOAL_BAD_INPUT if the part has a value, or more records of one, that
 * the whole lacks.
 */
shoal_status shoal_whole_set(shoal_table *table, size_t column, const shoal_label *values,
                             const uint64_t *rows, size_t n, shoal_error *error) SHOAL_MUST_CHECK;
/* Has it been given the whole's values? */
bool shoal_whole_has(const shoal_table *table, const shoal_column *column);
/* Rows of the whole by code of the column, to be freed; NULL: no memory. Only if it has them. */
uint64_t *shoal_whole_rows(const shoal_table *table, const shoal_column *column);
void shoal_whole_free(struct shoal_whole *whole);
