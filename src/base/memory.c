/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/memory: allocation, growing arrays, wiping, and arenas of blocks that are linked and freed
 * together.
 */
#include "base/memory.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ARENA_BLOCK_BYTES = 64 * 1024, SMALL_PAGE_BYTES = 4096, LARGE_PAGE_BYTES = 2 << 20 };

/* Large blocks use large pages: a few page faults instead of thousands. */
static void *paged(void *memory, size_t bytes) {
  if (!memory || bytes < 2 * LARGE_PAGE_BYTES) return memory;
  uintptr_t mask = LARGE_PAGE_BYTES - 1;
  uintptr_t first = ((uintptr_t)memory + mask) & ~mask, end = ((uintptr_t)memory + bytes) & ~mask;
  /* a hint: failure is harmless */
  (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
  return memory;
}

void *shoal_alloc(size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX) return NULL;
  return paged(malloc(bytes ? bytes : 1), bytes);
}

void *shoal_alloc_zero(size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX) return NULL;
  return paged(calloc(1, bytes ? bytes : 1), bytes);
}

void *shoal_alloc_table(size_t n, size_t size) {
  volatile char *bytes = shoal_alloc_zero(n, size);
  if (!bytes) return NULL;
#ifdef MADV_POPULATE_WRITE /* all pages in one call; on failure, one by one */
  uintptr_t mask = SMALL_PAGE_BYTES - 1;
  uintptr_t first = ((uintptr_t)bytes + mask) & ~mask, end = ((uintptr_t)bytes + n * size) & ~mask;
  if (end > first) (void)madvise((void *)first, end - first, MADV_POPULATE_WRITE);
#endif
  for (size_t at = 0; at < n * size; at += SMALL_PAGE_BYTES) bytes[at] = 0;
  return (void *)(uintptr_t)bytes;
}

void *shoal_resize(void *memory, size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX) return NULL;
  return paged(realloc(memory, bytes ? bytes : 1), bytes);
}

/* Doubled until it is enough; 0: overflow. */
static size_t doubled(size_t capacity, size_t needed) {
  size_t wanted = capacity < 8 ? 8 : capacity;
  while (wanted < needed) {
    if (wanted > SIZE_MAX / 2) return 0;
    wanted *= 2;
  }
  return wanted;
}

int shoal_grow(void *items, size_t *capacity, size_t needed, size_t size) {
  if (needed <= *capacity) return 1;
  size_t wanted = doubled(*capacity, needed);
  if (!wanted) return 0;
  void *old;
  memcpy(&old, items, sizeof old);
  void *grown = shoal_resize(old, wanted, size);
  if (!grown) return 0;
  memcpy(items, &grown, sizeof grown);
  *capacity = wanted;
  return 1;
}

void shoal_wipe_free(void *memory, size_t size_bytes) {
  if (memory) explicit_bzero(memory, size_bytes);
  free(memory);
}

/* No realloc: it may move the bytes without overwriting the old ones. */
int shoal_grow_wiping(char **bytes, size_t *capacity, size_t needed) {
  if (needed <= *capacity) return 1;
  size_t wanted = doubled(*capacity, needed);
  char *grown = wanted ? shoal_alloc(wanted, 1) : NULL;
  if (!grown) return 0;
  if (*bytes) memcpy(grown, *bytes, *capacity);
  shoal_wipe_free(*bytes, *capacity);
  *bytes = grown;
  *capacity = wanted;
  return 1;
}

struct shoal_arena_block {
  struct shoal_arena_block *next;
  size_t used;
  size_t capacity;
  alignas(max_align_t) unsigned char bytes[];
};

void shoal_arena_init(shoal_arena *arena) {
  arena->block = NULL;
  arena->size_bytes = 0;
}

static void *arena_take(shoal_arena *arena, size_t bytes) {
  struct shoal_arena_block *block = arena->block;
  if (!block || block->capacity - block->used < bytes) {
    size_t capacity = bytes > ARENA_BLOCK_BYTES ? bytes : ARENA_BLOCK_BYTES;
    block = malloc(sizeof *block + capacity);
    if (!block) return NULL;
    block->next = arena->block;
    block->used = 0;
    block->capacity = capacity;
    arena->block = block;
    arena->size_bytes += sizeof *block + capacity;
  }
  void *taken = block->bytes + block->used;
  block->used += bytes;
  return taken;
}

void *shoal_arena_alloc(shoal_arena *arena, size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX / 2) return NULL;
  size_t align = alignof(max_align_t);
  return arena_take(arena, (bytes + align - 1) / align * align);
}

void *shoal_arena_alloc_zero(shoal_arena *arena, size_t n, size_t size) {
  void *memory = shoal_arena_alloc(arena, n, size);
  return memory ? memset(memory, 0, n * size) : NULL;
}

char *shoal_arena_copy(shoal_arena *arena, const char *bytes, size_t size_bytes) {
  char *copy = shoal_arena_alloc(arena, size_bytes + 1, 1);
  if (!copy) return NULL;
  if (size_bytes) memcpy(copy, bytes, size_bytes);
  copy[size_bytes] = '\0';
  return copy;
}

void shoal_arena_reset(shoal_arena *arena) {
  while (arena->block) {
    struct shoal_arena_block *next = arena->block->next;
    free(arena->block);
    arena->block = next;
  }
  arena->size_bytes = 0;
}
