/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/arrow: a table of labels -> an Arrow stream with one chunk. Each column is a dictionary
 * array: the codes are its indices, the values its dictionary.
 */
#pragma once

#include "table/table.h"

/*
 * Makes *stream of the table, and takes its codes, names and values; what is left of it is freed by
 * the caller. `null_code`: by column, the code that is null, which must be that of the last value;
 * SHOAL_NONE: none is. On failure *stream is not changed, and the table is empty all the same.
 */
shoal_status shoal_arrow_export(shoal_table *table, const uint32_t *null_code,
                                struct ArrowArrayStream *stream,
                                shoal_error *error) SHOAL_MUST_CHECK;
