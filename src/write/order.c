/* SPDX-License-Identifier: Apache-2.0 */
/* write/order: buckets are filled in table order, then each is shuffled (shuffle.h). */
#include "write/order.h"

#include <stdlib.h>

#include "write/shuffle.h"

enum { BATCH = 1024 };

static bool is_released(const shoal_csv_plan *out, uint64_t row) {
  return out->action[out->group_of_row[row]] != SHOAL_ROW_REMOVE;
}

uint64_t shoal_order_count(const shoal_csv_plan *out) {
  uint64_t n = 0;
  for (uint64_t row = 0; row < out->table->n_rows; row++)
    if (is_released(out, row)) n += shoal_table_count(out->table, row);
  return n;
}

/* Records of the table, some at a time, with their buckets. */
typedef struct records {
  const shoal_table *table;
  const shoal_shuffle *order;
  uint64_t row, times, record; /* what comes next */
  uint64_t rows[BATCH];
  uint16_t buckets[BATCH];
  size_t n;
} records;

static bool next_records(records *r) {
  r->n = 0;
  while (r->n < BATCH && r->row < r->table->n_rows) {
    r->rows[r->n++] = r->row;
    if (++r->times < shoal_table_count(r->table, r->row)) continue;
    r->row++;
    r->times = 0;
  }
  shoal_shuffle_assign(r->order, r->record, r->n, r->buckets);
  r->record += r->n;
  return r->n > 0;
}

/* Puts the released rows into their buckets; bucket b begins at start[b]. */
static void fill_buckets(const shoal_csv_plan *out, const shoal_shuffle *order, uint64_t *start,
                         uint64_t *rows) {
  uint32_t n = shoal_shuffle_buckets(order);
  records counted = {.table = out->table, .order = order}, placed = counted;
  while (next_records(&counted))
    for (size_t i = 0; i < counted.n; i++)
      if (is_released(out, counted.rows[i])) start[counted.buckets[i] + 2]++;
  for (uint32_t b = 0; b < n; b++) start[b + 2] += start[b + 1];
  while (next_records(&placed)) /* start[b + 1] moves from the begin of bucket b to its end */
    for (size_t i = 0; i < placed.n; i++)
      if (is_released(out, placed.rows[i])) rows[start[placed.buckets[i] + 1]++] = placed.rows[i];
}

static bool shuffle_bucket(const shoal_shuffle *order, uint32_t bucket, uint64_t n,
                           uint64_t *rows) {
  uint32_t *positions = shoal_alloc((size_t)n, sizeof *positions);
  uint64_t *copy = shoal_alloc((size_t)n, sizeof *copy);
  bool ok = positions && copy && n < UINT32_MAX;
  if (ok) {
    shoal_shuffle_permute(order, bucket, (uint32_t)n, positions);
    if (n) memcpy(copy, rows, (size_t)n * sizeof *rows);
    for (uint64_t i = 0; i < n; i++) rows[i] = copy[positions[i]];
  }
  free(positions);
  free(copy);
  return ok;
}

bool shoal_order_make(const shoal_csv_plan *out, shoal_random *random, uint64_t *rows) {
  if (!random) {
    uint64_t n = 0;
    for (uint64_t at = 0; at < out->table->n_rows; at++) {
      uint64_t row = out->order ? out->order[at] : at;
      if (!is_released(out, row)) continue;
      for (uint64_t times = shoal_table_count(out->table, row); times; times--) rows[n++] = row;
    }
    return true;
  }
  shoal_shuffle order;
  shoal_shuffle_init(&order, random, out->table->n_records);
  uint32_t n = shoal_shuffle_buckets(&order);
  uint64_t *start = shoal_alloc_zero((size_t)n + 2, sizeof *start);
  if (!start) return false;
  fill_buckets(out, &order, start, rows);
  bool ok = true;
  for (uint32_t b = 0; ok && b < n; b++)
    ok = shuffle_bucket(&order, b, start[b + 1] - start[b], rows + start[b]);
  free(start);
  return ok;
}
