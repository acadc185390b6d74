/* SPDX-License-Identifier: Apache-2.0 */
/* base/sort: see sort.h. */
#include "base/sort.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

void shoal_sort_keys(uint64_t *keys, size_t n) {
  if (n > 1) qsort(keys, n, sizeof *keys, ascending);
}
