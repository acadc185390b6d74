/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of each of flock's ways for small tables: it can be stopped, and memory may end.
 */
#ifndef SHOAL_TESTS_FLOCK_WAYS_H
#define SHOAL_TESTS_FLOCK_WAYS_H

#include "flock_fixture.h"
#include "scarce_memory.h"

typedef shoal_status (*flock_way)(const shoal_cluster_task *task, shoal_partition *partition,
                                  bool *done, shoal_error *error);

/* Stopped at any of its reports, it ends at once and hands over nothing. */
static void check_that_it_stops(flock_way way, const shape *of, uint64_t seed,
                                unsigned least_reports) {
  fixture f;
  setup(&f, of, seed);
  watch w = {.stop_at = 0};
  shoal_run run = {.n_threads = 1, .progress = look, .progress_user = &w};
  const shoal_cluster_task task = {.axes = &f.axes, .fit = &f.fit, .run = &run};
  shoal_partition p = {0};
  bool done = false;
  succeeds(&f, way(&task, &p, &done, &f.error));
  assert_true(done && w.n_reports >= least_reports);
  shoal_partition_reset(&p);
  unsigned n = w.n_reports;
  for (unsigned at = 1; at <= n; at++) {
    w = (watch){.stop_at = at};
    assert_int_equal(way(&task, &p, &done, &f.error), SHOAL_CANCELLED);
    assert_int_equal(w.n_reports, at);
    assert_null(p.cluster_of_row);
  }
  teardown(&f);
}

/* Without memory from any allocation on, it fails and hands over nothing. */
static void check_that_memory_may_end(flock_way way, const shape *of, uint64_t seed,
                                      long least_failures) {
  fixture f;
  setup(&f, of, seed);
  const shoal_run run = {.n_threads = 1};
  const shoal_cluster_task task = {.axes = &f.axes, .fit = &f.fit, .run = &run};
  bool failed = true;
  long n_failures = 0;
  for (long n = 0; failed; n++) {
    shoal_partition p = {0};
    bool done = false;
    allocations_left = n;
    shoal_status status = way(&task, &p, &done, &f.error);
    failed = allocations_left < 1; /* or it was the last one */
    allocations_left = -1;
    if (status != SHOAL_OK) assert_int_equal(status, SHOAL_FAILED);
    assert_int_equal(done, status == SHOAL_OK);
    assert_int_equal(p.cluster_of_row != NULL, done);
    n_failures += !done;
    shoal_partition_reset(&p);
  }
  assert_true(n_failures >= least_failures);
  teardown(&f);
}

#endif
