/* SPDX-License-Identifier: Apache-2.0 */
/* job/release_order: the row of the caller's table that each released row was made of. */
#include <stdlib.h>

#include "job/release.h"
#include "job/writing.h"
#include "write/order.h"

/* Records of a counted table become its rows: the first counts[0] are row 0, and so on. */
static bool unexpand(const shoal_table *given, uint64_t *rows, uint64_t n) {
  uint64_t *row_of = shoal_alloc((size_t)given->n_records, sizeof *row_of), record = 0;
  if (!row_of) return false;
  for (uint64_t row = 0; row < given->n_rows; row++)
    for (uint64_t times = given->counts[row]; times; times--) row_of[record++] = row;
  for (uint64_t i = 0; i < n; i++)
    if (rows[i] < record) rows[i] = row_of[rows[i]];
  free(row_of);
  return true;
}

shoal_status shoal_release_number_rows(shoal_release *release, const shoal_writing *writing,
                                       uint64_t **out, uint64_t *n_out, shoal_error *error) {
  shoal_random copy = writing->order;
  uint64_t n = shoal_order_count(&writing->plan);
  uint64_t *rows = shoal_alloc((size_t)n, sizeof *rows),
           *numbers = shoal_alloc((size_t)n, sizeof *rows);
  bool ok =
      rows && numbers && shoal_order_make(&writing->plan, writing->keep_order ? NULL : &copy, rows);
  uint64_t n_table = release->context.table->n_rows;
  const uint32_t *like = release->decision.like_of_noise;
  for (uint64_t i = 0; ok && i < n; i++)
    numbers[i] = rows[i] < n_table ? rows[i] : like[rows[i] - n_table];
  if (ok && release->expanded) ok = unexpand(release->given, numbers, n);
  free(release->row_numbers);
  release->row_numbers = NULL;
  if (!ok) {
    free(rows);
    free(numbers);
    return shoal_fail_memory(error);
  }
  release->row_numbers = numbers;
  release->n_row_numbers = n;
  *n_out = n;
  if (out) *out = rows;
  else free(rows);
  return SHOAL_OK;
}

shoal_status shoal_job_row_numbers(shoal_release *release, const uint64_t **rows, uint64_t *n,
                                   shoal_error *error) {
  if (!release->order.known)
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "the release has no order yet: write it, or export it to Arrow first");
  if (shoal_table_is_counted(release->given))
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "the rows of the table were counted and not kept: raise memory_bytes");
  if (!release->row_numbers) {
    shoal_writing w;
    shoal_status status =
        shoal_writing_init(&w, release, "-", release->order.kept, false, NULL, error);
    w.order = release->order.random;
    if (status == SHOAL_OK) status = shoal_release_number_rows(release, &w, NULL, n, error);
    shoal_writing_reset(&w);
    SHOAL_TRY(status);
  }
  *rows = release->row_numbers;
  *n = release->n_row_numbers;
  return SHOAL_OK;
}
