/* SPDX-License-Identifier: Apache-2.0 */
/* base/work: running a function on several threads, and telling how far a job is. */
#ifndef SHOAL_BASE_WORK_H
#define SHOAL_BASE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Threads to use for a run: what it asks for, or the machine's processors, at most 64. */
unsigned shoal_run_threads(const shoal_run *run);

/*
 * Runs work(user, i) for i in 0 .. n-1, each on a thread of its own (0 on the caller's). A thread
 * that cannot be started runs on the caller's afterwards: the result is the same, only later.
 */
void shoal_parallel(unsigned n, void (*work)(void *user, unsigned i), void *user);

/* Reports progress; SHOAL_CANCELLED (with the error set) if the callback asks to stop. */
shoal_status shoal_run_report(const shoal_run *run, const char *stage, uint64_t done,
                              uint64_t total, const char *unit, shoal_error *error);

/* Seconds on a clock that only goes forward. */
double shoal_seconds(void);

/* The most memory this process has had resident, in bytes. */
uint64_t shoal_peak_memory(void);

#endif
