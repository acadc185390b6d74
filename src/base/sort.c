/* SPDX-License-Identifier: Apache-2.0 */
/* base/sort: see sort.h. */
#include "base/sort.h"

#include <stdlib.h>

static int by_u32(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static int by_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

void shoal_sort_keys(uint64_t *keys, size_t n) {
  if (n > 1) qsort(keys, n, sizeof *keys, by_u64);
}

void shoal_sort_u32(uint32_t *values, size_t n) {
  if (n > 1) qsort(values, n, sizeof *values, by_u32);
}
