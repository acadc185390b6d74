/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out where a test wants it to. */
#ifndef SHOAL_TESTS_LOWMEM_MEMORY_H
#define SHOAL_TESTS_LOWMEM_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>

static _Atomic long allocations_left = -1; /* below 0: there is no end */
static bool fails_once;                    /* the next one after it is given again */

static void (*allocation_is_made)(void); /* told of each, before it is given or not */

static bool is_given(void) {
  if (allocation_is_made) allocation_is_made();
  if (allocations_left < 0) return true;
  if (allocations_left-- > 0) return true;
  if (!fails_once) allocations_left = 0;
  return false;
}

static void *lowmem_malloc(size_t n) { return is_given() ? malloc(n) : NULL; }
static void *lowmem_calloc(size_t n, size_t size) { return is_given() ? calloc(n, size) : NULL; }
static void *lowmem_realloc(void *old, size_t n) { return is_given() ? realloc(old, n) : NULL; }

/*
 * In place of the library's: all of its memory comes from here. With SCARCE_ARENAS each piece of an
 * arena counts as an allocation, not just its blocks.
 */
#ifdef SCARCE_ARENAS
#define shoal_arena_alloc plenty_arena_alloc
#define shoal_arena_copy plenty_arena_copy
#endif
#define malloc lowmem_malloc
#define calloc lowmem_calloc
#define realloc lowmem_realloc
#include "base/memory.c"
#undef malloc
#undef calloc
#undef realloc

#ifdef SCARCE_ARENAS
#undef shoal_arena_alloc
#undef shoal_arena_copy
void *shoal_arena_alloc(shoal_arena *arena, size_t n, size_t size);
char *shoal_arena_copy(shoal_arena *arena, const char *bytes, size_t size_bytes);

void *shoal_arena_alloc(shoal_arena *arena, size_t n, size_t size) {
  return is_given() ? plenty_arena_alloc(arena, n, size) : NULL;
}

char *shoal_arena_copy(shoal_arena *arena, const char *bytes, size_t size_bytes) {
  return is_given() ? plenty_arena_copy(arena, bytes, size_bytes) : NULL;
}
#endif

#endif
