/* SPDX-License-Identifier: Apache-2.0 */
/* verify/same: do two CSV files have the same rows, in any order? */
#pragma once

#include "base/thread.h"

/*
 * Compares the rows of a verified file, which has a header, with those that a database returned,
 * without one. `counted`: a returned row begins with the number of rows that it stands for.
 * SHOAL_FAILED if they differ. Rows are compared by sums of two keyed hashes of 64 bits. Cost: a
 * pass over both files.
 */
shoal_status shoal_verify_same_rows(int verified_fd, int returned_fd, char delimiter,
                                    size_t n_columns, bool counted, const shoal_run *run,
                                    shoal_error *error) SHOAL_MUST_CHECK;
