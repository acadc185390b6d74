/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/heap: a binary heap in an array, the first item on top. SHOAL_HEAP_DEFINE(prefix, type,
 * precedes) defines two functions for arrays of `type`, ordered by
 * `bool precedes(const type *, const type *)`:
 *
 *   prefix_sink(heap, n, at)   restores the order below an item that was replaced; O(log n)
 *   prefix_make(heap, n)       makes an array a heap; O(n)
 */
#pragma once

#include <stddef.h>

#define SHOAL_HEAP_DEFINE(prefix, type, precedes)                                                  \
  static void prefix##_sink(type *heap, size_t n, size_t at) {                                     \
    type moved = heap[at];                                                                         \
    for (size_t child; (child = 2 * at + 1) < n; at = child) {                                     \
      if (child + 1 < n && precedes(&heap[child + 1], &heap[child])) child++;                      \
      if (!precedes(&heap[child], &moved)) break;                                                  \
      heap[at] = heap[child];                                                                      \
    }                                                                                              \
    heap[at] = moved;                                                                              \
  }                                                                                                \
  static void prefix##_make(type *heap, size_t n) {                                                \
    for (size_t at = n / 2; at-- > 0;) prefix##_sink(heap, n, at);                                 \
  }
