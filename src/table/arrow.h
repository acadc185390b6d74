/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/arrow: a stream of Arrow arrays -> codes. Columns are independent, and encoded on several
 * threads. Codes are assigned by first appearance, so that the table is the one that a CSV file
 * with the same rows gives. Dictionaries are taken over: the text of each of their values is looked
 * up once a chunk, and only if a row has it.
 */
#pragma once

#include "table/load.h"

/*
 * Reads the stream into a new table; does not release it. options->plan and what follows it are
 * used, and nulls get the cell `null_text`. Columns of SHOAL_USE_COPY stay with the caller
 * (is_outside); nested ones are not even sampled.
 */
shoal_status shoal_table_load_arrow(struct ArrowArrayStream *stream, const char *null_text,
                                    const shoal_load_options *options, const shoal_run *run,
                                    shoal_table **table, shoal_error *error) SHOAL_MUST_CHECK;
