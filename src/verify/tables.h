/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/tables: the verifier's own hash tables: byte strings to numbers, and counts of pairs of
 * such numbers. Both use open addressing with linear probing and are at most three quarters full.
 *
 * The tables are larger than the processor's caches. Callers prefetch the memory of many lookups
 * before the first one; the functions that end in _of return the address. (They do not prefetch:
 * a compiler may remove a call of a function that only prefetches.)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/memory.h"

/* ---------------------------------------------------------------- dictionaries */

typedef struct shoal_verify_entry {
  uint64_t n_rows; /* set by the caller, */
  uint64_t hash;   /* as this: 0 at first */
  size_t size_bytes;
  uint32_t id; /* 0, 1, 2, ... in order of first appearance */
  char bytes[];
} shoal_verify_entry;

typedef struct shoal_verify_slot {
  uint64_t hash;
  shoal_verify_entry *entry; /* NULL: empty */
} shoal_verify_slot;

/* Byte strings to entries. Colliding hashes only cost time: all bytes are compared. */
typedef struct shoal_verify_dictionary {
  shoal_arena entries;
  shoal_verify_slot *slots;
  unsigned bits; /* 2^bits slots */
  uint32_t n_entries;
} shoal_verify_dictionary;

/* False: no memory. A zeroed dictionary may be reset. */
bool shoal_verify_dictionary_init(shoal_verify_dictionary *dictionary);
void shoal_verify_dictionary_reset(shoal_verify_dictionary *dictionary);

/*
 * The entry of these bytes; a new one with 0 rows if there is none. `hash` is a hash of the bytes,
 * by the same function in all calls. NULL: no memory.
 */
shoal_verify_entry *shoal_verify_intern(shoal_verify_dictionary *dictionary, uint64_t hash,
                                        const char *bytes, size_t size_bytes);

/* The entry of these bytes; NULL: there is none. */
shoal_verify_entry *shoal_verify_find(const shoal_verify_dictionary *dictionary, uint64_t hash,
                                      const char *bytes, size_t size_bytes);

/* Where the lookup of a hash starts, to prefetch. */
static inline const void *shoal_verify_slot_of(const shoal_verify_dictionary *dictionary,
                                               uint64_t hash) {
  return &dictionary->slots[hash >> (64 - dictionary->bits)];
}

/* The entry that it most likely compares with, to prefetch; may be NULL. Reads the slot. */
static inline const void *shoal_verify_entry_of(const shoal_verify_dictionary *dictionary,
                                                uint64_t hash) {
  return dictionary->slots[hash >> (64 - dictionary->bits)].entry;
}

/* ---------------------------------------------------------------- pairs */

typedef struct shoal_verify_pair {
  uint64_t key;    /* of shoal_verify_pair_key */
  uint64_t n_rows; /* 0: the slot is empty */
} shoal_verify_pair;

/* Rows of each pair of a class and a value. */
typedef struct shoal_verify_pairs {
  shoal_verify_pair *slots;
  unsigned bits; /* 2^bits slots */
  size_t n_used;
} shoal_verify_pairs;

bool shoal_verify_pairs_init(shoal_verify_pairs *pairs);
void shoal_verify_pairs_reset(shoal_verify_pairs *pairs);

/* Class in the upper 32 bits, value in the lower: different pairs have different keys. */
static inline uint64_t shoal_verify_pair_key(uint32_t class_id, uint32_t value) {
  return (uint64_t)class_id << 32 | value;
}

/* Where the pair is most likely counted, to prefetch. */
static inline const void *shoal_verify_pair_of(const shoal_verify_pairs *pairs, uint64_t key) {
  return &pairs->slots[shoal_hash_word(key) >> (64 - pairs->bits)];
}

/* Adds rows to the pair. False: no memory. */
bool shoal_verify_count_pair(shoal_verify_pairs *pairs, uint64_t key, uint64_t n_rows);
