/* SPDX-License-Identifier: Apache-2.0 */
/* base/thread: runs a function on several threads, and reports progress. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Threads of a run: as requested, or one per processor; at most 64. */
unsigned shoal_run_threads(const shoal_run *run);

/*
 * Runs work(user, i) for i in 0 .. n-1, each on a thread of its own (0 on the caller's). If a
 * thread cannot be started, its work runs on the caller's thread afterwards.
 */
void shoal_parallel(unsigned n, void (*work)(void *user, unsigned i), void *user);

/* Reports progress; SHOAL_CANCELLED (with the error set) if the callback asks to stop. */
shoal_status shoal_run_report(const shoal_run *run, const char *stage, uint64_t done,
                              uint64_t total, const char *unit, shoal_error *error);

/* Seconds on a monotonic clock. */
double shoal_seconds(void);

/* Peak resident memory of this process, in bytes. */
uint64_t shoal_peak_memory(void);
