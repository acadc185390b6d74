/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/line: work that comes in order and goes out in order, made on several threads between: a
 * file read block by block, rows rendered and written one stretch after the other. What goes out
 * does not depend on the number of threads, nor does the error that is told: that of the first
 * item that has one.
 */
#ifndef SHOAL_BASE_LINE_H
#define SHOAL_BASE_LINE_H

#include "base/work.h"

typedef struct shoal_line {
  void *user;
  /* The next item for this worker, one at a time and in order; *more false: there is none. */
  shoal_status (*take)(void *user, unsigned worker, uint64_t item, bool *more, shoal_error *error);
  /* The work itself, on any thread. NULL: nothing to do. */
  shoal_status (*make)(void *user, unsigned worker, uint64_t item, shoal_error *error);
  /* What came of it, one at a time and in order. NULL: nothing to do. */
  shoal_status (*hand_over)(void *user, unsigned worker, uint64_t item, shoal_error *error);
  /* What is left to do after that, on any thread, such as a write at a known place. May be NULL. */
  shoal_status (*finish)(void *user, unsigned worker, uint64_t item, shoal_error *error);
  /* How far the work is; called now and then by the caller's thread. May be NULL. */
  shoal_status (*report)(void *user, uint64_t n_done, shoal_error *error);
} shoal_line;

/* Runs the line to its end or to its first failure. Workers are 0 .. n_workers - 1, at most 64. */
shoal_status shoal_line_run(const shoal_line *line, unsigned n_workers,
                            shoal_error *error) SHOAL_MUST_CHECK;

#endif
