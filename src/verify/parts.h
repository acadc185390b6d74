/* SPDX-License-Identifier: Apache-2.0 */
/* verify/parts: a release counted in parts, on several threads. */
#ifndef SHOAL_VERIFY_PARTS_H
#define SHOAL_VERIFY_PARTS_H

#include "verify/counter.h"

/*
 * Counts all rows of the file behind `fd` into an empty counter. *counted is false, and the counter
 * still empty, where one reader has to do it: the file is small or compressed, there is one thread,
 * or something is wrong with the file, which one reader can tell better.
 */
shoal_status shoal_verify_count_parts(shoal_verify_counter *count, int fd, const char *name,
                                      const shoal_run *run, bool *counted,
                                      shoal_error *error) SHOAL_MUST_CHECK;

#endif
