/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/repeated: how many rows share their identifier with another row. k counts rows, while the
 * papers assume one row a person (Samarati 2001, section 2): a steward must know if that fails.
 * Hashes are spread over buckets by their top bits, each small enough to be counted in the cache.
 */
#include <stdlib.h>
#include <string.h>

#include "table/load.h"

enum { BUCKET_ITEMS = 1024, TABLE_SLOTS = 8192 };

typedef struct counted {
  uint64_t hash;
  uint64_t n;
} counted;

/* Counts within one bucket; `table` has at least twice as many slots as items, all zero. */
static uint64_t count_bucket(const uint64_t *items, size_t n, counted *table, size_t slots) {
  uint64_t repeated = 0;
  for (size_t i = 0; i < n; i++) {
    size_t at = (size_t)items[i] & (slots - 1);
    while (table[at].n && table[at].hash != items[i]) at = (at + 1) & (slots - 1);
    table[at].hash = items[i];
    uint64_t seen = table[at].n++;
    repeated += seen == 0 ? 0 : seen == 1 ? 2 : 1;
  }
  memset(table, 0, slots * sizeof *table);
  return repeated;
}

static uint64_t count_buckets(const uint64_t *spread, const size_t *start, size_t n_buckets) {
  size_t slots = TABLE_SLOTS;
  counted *table = shoal_alloc_zero(slots, sizeof *table);
  uint64_t repeated = 0;
  for (size_t b = 0; table && b < n_buckets; b++) {
    size_t n = start[b + 1] - start[b];
    if (n * 2 > slots) {
      while (n * 2 > slots) slots *= 2;
      free(table);
      table = shoal_alloc_zero(slots, sizeof *table);
      if (!table) break;
    }
    repeated += count_bucket(spread + start[b], n, table, slots);
  }
  if (!table) repeated = UINT64_MAX;
  free(table);
  return repeated;
}

uint64_t shoal_count_repeated(const uint64_t *hashes, size_t n) {
  unsigned bits = 1;
  while (bits < 24 && ((size_t)BUCKET_ITEMS << bits) < n) bits++;
  size_t n_buckets = (size_t)1 << bits;
  size_t *start = shoal_alloc_zero(n_buckets + 1, sizeof *start);
  size_t *fill = shoal_alloc(n_buckets, sizeof *fill);
  uint64_t *spread = shoal_alloc(n, sizeof *spread);
  uint64_t repeated = UINT64_MAX;
  if (start && fill && spread) {
    for (size_t i = 0; i < n; i++) start[(hashes[i] >> (64 - bits)) + 1]++;
    for (size_t b = 0; b < n_buckets; b++) start[b + 1] += start[b];
    memcpy(fill, start, n_buckets * sizeof *fill);
    for (size_t i = 0; i < n; i++) spread[fill[hashes[i] >> (64 - bits)]++] = hashes[i];
    repeated = count_buckets(spread, start, n_buckets);
  }
  free(start);
  free(fill);
  free(spread);
  return repeated;
}
