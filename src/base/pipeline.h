/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/pipeline: ordered parallel pipeline. Items are read in order, processed on any thread, and
 * written in order. Output does not depend on the number of threads. On failure, the error of the
 * first failing item is returned.
 */
#pragma once

#include "base/thread.h"

typedef struct shoal_pipeline {
  void *user;
  /* The next item for this worker, one at a time and in order; *more false: there is none. */
  shoal_status (*read)(void *user, unsigned worker, uint64_t item, bool *more, shoal_error *error);
  /* The work itself, on any thread. NULL: nothing to do. */
  shoal_status (*process)(void *user, unsigned worker, uint64_t item, shoal_error *error);
  /* Writes the result, one item at a time and in order. NULL: nothing to do. */
  shoal_status (*write)(void *user, unsigned worker, uint64_t item, shoal_error *error);
  /* The rest, on any thread, such as a write at a known offset. May be NULL. */
  shoal_status (*complete)(void *user, unsigned worker, uint64_t item, shoal_error *error);
  /* Reports progress; called by the caller's thread after items of its own. May be NULL. */
  shoal_status (*report)(void *user, uint64_t n_done, shoal_error *error);
} shoal_pipeline;

/* Runs the pipeline to its end or to its first failure. Workers are 0 .. n_workers - 1, at most 64.
 */
shoal_status shoal_pipeline_run(const shoal_pipeline *line, unsigned n_workers,
                                shoal_error *error) SHOAL_MUST_CHECK;
