/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/sort: insertion sort for a few integers, radix sort for many. The radix sort goes over the
 * keys once per byte, lowest first, and skips bytes that all keys share: packed keys rarely use
 * all eight.
 */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 32, BYTE_VALUES = 256 };

static int by_u32(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static int by_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* `other` has room for n keys. */
static void radix_sort(uint64_t *keys, uint64_t *other, size_t n) {
  uint64_t *from = keys, *to = other, differing = 0;
  for (size_t i = 1; i < n; i++) differing |= keys[i] ^ keys[0];
  for (unsigned shift = 0; shift < 64; shift += 8) {
    if (!(differing >> shift & 0xff)) continue;
    /* Moves the keys from one array to the other, ascending by one byte; equal ones keep their
     * order. */
    size_t next[BYTE_VALUES] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++) next[from[i] >> shift & 0xff]++;
    for (size_t v = 0; v < BYTE_VALUES; v++) {
      size_t count = next[v];
      next[v] = sum;
      sum += count;
    }
    for (size_t i = 0; i < n; i++) to[next[from[i] >> shift & 0xff]++] = from[i];
    uint64_t *sorted = to;
    to = from;
    from = sorted;
  }
  if (from != keys) memcpy(keys, from, n * sizeof *keys);
}

void shoal_sort_u64(uint64_t *keys, size_t n) {
  if (n <= FEW) {
    for (size_t i = 1; i < n; i++) {
      uint64_t key = keys[i];
      size_t at = i;
      for (; at && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
      keys[at] = key;
    }
    return;
  }
  uint64_t *other = malloc(n * sizeof *other);
  if (other) radix_sort(keys, other, n);
  else qsort(keys, n, sizeof *keys, by_u64); /* slower, but needs little memory */
  free(other);
}

void shoal_sort_u32(uint32_t *values, size_t n) {
  if (n > 1) qsort(values, n, sizeof *values, by_u32);
}
