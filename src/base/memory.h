/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/memory: allocation that checks its sizes, and arenas that free everything at once.
 * NULL always means: no memory (or a size that overflows). Zero elements give a valid pointer.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* No row, class, code, ... */
#define SHOAL_NONE UINT32_MAX

void *shoal_alloc(size_t n, size_t size);      /* uninitialized */
void *shoal_alloc_zero(size_t n, size_t size); /* zeroed */
/*
 * Zeroed and pre-faulted, for hash tables. A page that is read before it is written is mapped
 * twice, and the second mapping interrupts the processors of all other threads.
 */
void *shoal_alloc_table(size_t n, size_t size);
void *shoal_resize(void *memory, size_t n, size_t size); /* NULL: the old block is kept */

/*
 * Makes room for at least `needed` elements in *items, doubling. Returns false (and changes
 * nothing) without memory. `items` is the address of the array's pointer.
 */
int shoal_grow(void *items, size_t *capacity, size_t needed, size_t size);

/* Overwrites and frees: for raw values. Accepts NULL. */
void shoal_wipe_free(void *memory, size_t size_bytes);
/* As shoal_grow, for bytes; old copies are overwritten. */
int shoal_grow_wiping(char **bytes, size_t *capacity, size_t needed);

/* Memory of one lifetime: allocated in pieces, freed at once. */
typedef struct shoal_arena {
  struct shoal_arena_block *block;
  size_t size_bytes; /* of all blocks */
} shoal_arena;

void shoal_arena_init(shoal_arena *arena);
void *shoal_arena_alloc(shoal_arena *arena, size_t n, size_t size);
/* Sets `array` to n uninitialized elements; NULL, and false as a condition, without memory. */
#define SHOAL_ARENA_ARRAY(arena, array, n)                                                         \
  ((array) = shoal_arena_alloc((arena), (n), sizeof *(array)))
void *shoal_arena_alloc_zero(shoal_arena *arena, size_t n, size_t size);
#define SHOAL_ARENA_ZEROED(arena, array, n)                                                        \
  ((array) = shoal_arena_alloc_zero((arena), (n), sizeof *(array)))
/* A copy, followed by a NUL. */
char *shoal_arena_copy(shoal_arena *arena, const char *bytes, size_t size_bytes);
void shoal_arena_reset(shoal_arena *arena);
