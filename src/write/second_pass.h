/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/second_pass: writes the release of a table whose rows are not all in memory, from its file,
 * which is read a second time (docs/large-files.md). Two kinds of tables need it:
 *
 *   counted   the rows do not fit into memory, and distinct ones were counted (table/count.h). A
 *             row of the file finds its counted row by its codes, and with that its group.
 *   left      columns that are released unchanged were left in the file (SHOAL_USE_COPY). Row r of
 *             the file is row r of the table.
 *
 * Generalized and sensitive cells are rendered from codes, all others are copied from the file. The
 * bytes are those that shoal_csv_write gives for a table with all its columns and rows.
 */
#pragma once

#include "write/csv.h"

/* Must the rows of this plan come from the table's file? */
bool shoal_csv_needs_second_pass(const shoal_csv_plan *plan);

/*
 * As shoal_csv_write, for a plan that needs it. Shuffled rows wait in memory, or in the file
 * `spill_fd` (the caller's) if they are many. SHOAL_FAILED, before the last byte is written, if the
 * file is not what it was: another size or time of change, or other bytes in a block (left) or
 * other rows (counted). Memory: the distinct rows (counted), 8 MiB or 32 KiB a bucket of waiting
 * rows, and for each thread a bucket, which is at most 32,768 rows or a 1,024th of the release.
 */
shoal_status shoal_csv_write_second_pass(const shoal_csv_plan *plan, shoal_sink *sink, int spill_fd,
                                         shoal_random *random, const shoal_run *run,
                                         uint64_t *n_rows, shoal_error *error) SHOAL_MUST_CHECK;
