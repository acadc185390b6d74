/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/again: a release of a table that has only counted rows, from the file it was counted from,
 * read a second time. Each row finds its counted row, and with that its group and its labels; what
 * is released as it is comes from the file itself. The bytes are those that shoal_csv_write gives
 * for a table with all its rows.
 */
#ifndef SHOAL_WRITE_AGAIN_H
#define SHOAL_WRITE_AGAIN_H

#include "write/csv.h"

/*
 * As shoal_csv_write; out->table has an origin that can be read again. Shuffled rows are put aside
 * in the file behind `spool_fd`, which stays the caller's. SHOAL_FAILED, with nothing that could
 * be released, if the file is not what it was: another size or time of change, another number of
 * rows in a block, or other rows. Memory: the distinct rows, and a 1,024th of the release (or less)
 * a thread.
 */
shoal_status shoal_csv_write_again(const shoal_csv_out *out, shoal_sink *sink, int spool_fd,
                                   shoal_random *random, const shoal_run *run, uint64_t *n_rows,
                                   shoal_error *error) SHOAL_MUST_CHECK;

#endif
