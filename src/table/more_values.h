/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/more_values: dictionaries with values that no row has. Noise rows may need them
 * (input/listed_values.c).
 */
#pragma once

#include "table/table.h"

/* A table that shares everything with `table` but the array of columns. It lives in the arena; do
 * not delete it. NULL: no memory. */
shoal_table *shoal_table_share(const shoal_table *table, shoal_arena *arena);

/*
 * Replaces the dictionary of a column that has codes by `values`: its own values in their order,
 * then others, none of them missing. What is new lives in the arena. False: no memory.
 */
bool shoal_column_add_values(shoal_column *column, uint64_t n_rows, const shoal_strings *values,
                             shoal_arena *arena);
