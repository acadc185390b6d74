/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/top_down: top-down specialization with local recoding (Wong, Li, Fu & Wang 2006 for
 * (alpha,k); Sun et al. for p+-sensitive and (p,alpha)-sensitive k-anonymity, as told in Khan et
 * al. 2020). All rows start as one class with the most general labels. A class is specialized on
 * one attribute: rows whose labels become one child of the class's label, and satisfy every demand
 * together, are a class of their own; the others stay behind (top_down_mend.c makes them satisfy
 * the demands too). The attribute is the one on which the loss falls most, of equal ones the first.
 *
 * Wong et al. are done with rows left behind; here they are a class like any other, which may be
 * specialized on another attribute. Any model serves as a condition, monotone or not.
 *
 * Rows lie in one array that is divided in place; a class is a stretch of it. Cost: about
 * O(n log n) for n rows, and 25 bytes a row.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/work.h"
#include "cluster/top_down.h"

enum { REPORTS = 100 };

typedef struct stretch {
  uint32_t start, n;
} stretch;

typedef struct descent {
  const shoal_cluster_task *task;
  uint32_t n_rows;
  uint32_t *rows;
  uint8_t *starts;  /* by position: a class starts here */
  stretch *waiting; /* classes that may be specialized yet; each of 2 k rows or more */
  size_t n_waiting;
  uint64_t n_done, n_reported; /* rows whose class is final */
  shoal_specializer specializer;
} descent;

static shoal_status count_done(descent *d, uint32_t n, shoal_error *error) {
  d->n_done += n;
  if (d->n_done - d->n_reported < d->n_rows / REPORTS + 1) return SHOAL_OK;
  d->n_reported = d->n_done;
  return shoal_run_report(d->task->run, "cluster", d->n_done, d->n_rows, "rows", error);
}

static shoal_status specialize(descent *d, stretch at, shoal_error *error) {
  uint32_t n_parts = shoal_specializer_divide(&d->specializer, d->rows + at.start, at.n);
  if (!n_parts) return count_done(d, at.n, error);
  for (uint32_t i = 0, start = at.start; i < n_parts; i++) {
    uint32_t n = d->specializer.sizes[i];
    d->starts[start] = 1;
    if (n / 2 >= d->task->fit->k) d->waiting[d->n_waiting++] = (stretch){start, n};
    else SHOAL_TRY(count_done(d, n, error));
    start += n;
  }
  return SHOAL_OK;
}

static shoal_status descend(descent *d, shoal_error *error) {
  d->waiting[d->n_waiting++] = (stretch){0, d->n_rows};
  while (d->n_waiting) SHOAL_TRY(specialize(d, d->waiting[--d->n_waiting], error));
  return d->specializer.judging.failed ? shoal_fail_memory(error) : SHOAL_OK;
}

static shoal_status prepare(descent *d, shoal_error *error) {
  d->rows = shoal_alloc(d->n_rows, sizeof *d->rows);
  d->starts = shoal_alloc_zero(d->n_rows, sizeof *d->starts);
  d->waiting = shoal_alloc((size_t)(d->n_rows / 2 / d->task->fit->k) + 1, sizeof *d->waiting);
  if (!d->rows || !d->starts || !d->waiting) return shoal_fail_memory(error);
  for (uint32_t i = 0; i < d->n_rows; i++) d->rows[i] = i;
  d->starts[0] = 1;
  return shoal_specializer_init(&d->specializer, d->task, error);
}

static shoal_status run(descent *d, shoal_partition *partition, shoal_error *error) {
  SHOAL_TRY(prepare(d, error));
  if (shoal_judging_fits(&d->specializer.judging, d->rows, d->n_rows)) SHOAL_TRY(descend(d, error));
  else if (d->specializer.judging.failed) return shoal_fail_memory(error);
  const shoal_ranges ranges = {d->n_rows, d->rows, d->starts};
  return shoal_ranges_partition(&ranges, partition, error);
}

shoal_status shoal_cluster_top_down(const shoal_cluster_task *task, shoal_partition *partition,
                                    shoal_error *error) {
  uint64_t n_rows = task->axes->n_rows;
  if (n_rows < 2) return shoal_partition_whole(partition, n_rows, error);
  if (n_rows > UINT32_MAX)
    return shoal_fail(error, SHOAL_BAD_INPUT, "local recoding takes at most %" PRIu32 " rows",
                      UINT32_MAX);
  descent d = {.task = task, .n_rows = (uint32_t)n_rows};
  shoal_status status = run(&d, partition, error);
  shoal_specializer_reset(&d.specializer);
  free(d.rows);
  free(d.starts);
  free(d.waiting);
  return status;
}
