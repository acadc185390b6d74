/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out where a test wants it to. */
#ifndef SHOAL_TESTS_SCARCE_MEMORY_H
#define SHOAL_TESTS_SCARCE_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>

static _Atomic long allocations_left = -1; /* below 0: there is no end */
static bool fails_once;                    /* the next one after it is given again */

static bool is_given(void) {
  if (allocations_left < 0) return true;
  if (allocations_left-- > 0) return true;
  if (!fails_once) allocations_left = 0;
  return false;
}

static void *scarce_malloc(size_t n) { return is_given() ? malloc(n) : NULL; }
static void *scarce_calloc(size_t n, size_t size) { return is_given() ? calloc(n, size) : NULL; }
static void *scarce_realloc(void *old, size_t n) { return is_given() ? realloc(old, n) : NULL; }

/* In place of the library's: all of its memory comes from here. */
#define malloc scarce_malloc
#define calloc scarce_calloc
#define realloc scarce_realloc
#include "base/memory.c"
#undef malloc
#undef calloc
#undef realloc

#endif
