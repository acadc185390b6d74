/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/tables: the verifier's own hash tables: byte strings to numbers, and counts of pairs of
 * such numbers. Both use open addressing with linear probing and are at most three quarters full.
 *
 * The tables are larger than the processor's caches. A caller that asks for the memory of many
 * lookups before it makes the first waits once, not each time; the functions that end in _of say
 * which memory. (They do not ask for it themselves: a compiler takes a function that only does
 * that for one without effect, and leaves it out.)
 */
#ifndef SHOAL_VERIFY_TABLES_H
#define SHOAL_VERIFY_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/memory.h"

/* ---------------------------------------------------------------- dictionaries */

typedef struct shoal_verify_entry {
  uint64_t n_rows; /* the caller's */
  size_t size_bytes;
  uint32_t id; /* 0, 1, 2, ... in order of first appearance */
  char bytes[];
} shoal_verify_entry;

typedef struct shoal_verify_slot {
  uint64_t hash;
  shoal_verify_entry *entry; /* NULL: empty */
} shoal_verify_slot;

/* Byte strings to entries. A hash that collides costs time only: all bytes are compared. */
typedef struct shoal_verify_dictionary {
  shoal_arena entries;
  shoal_verify_slot *slots;
  unsigned bits; /* 2^bits slots */
  uint32_t n_entries;
} shoal_verify_dictionary;

/* False: no memory. A zeroed dictionary may be reset, too. */
bool shoal_verify_dictionary_init(shoal_verify_dictionary *dictionary);
void shoal_verify_dictionary_reset(shoal_verify_dictionary *dictionary);

/*
 * The entry of these bytes, a new one with no rows if there is none. `hash` is one of
 * these bytes, by the same function for all of the dictionary. NULL: no memory.
 */
shoal_verify_entry *shoal_verify_intern(shoal_verify_dictionary *dictionary, uint64_t hash,
                                        const char *bytes, size_t size_bytes);

/* The entry of these bytes; NULL: there is none. */
shoal_verify_entry *shoal_verify_find(const shoal_verify_dictionary *dictionary, uint64_t hash,
                                      const char *bytes, size_t size_bytes);

/* Where the lookup of a hash will start: memory to ask for well before. */
static inline const void *shoal_verify_slot_of(const shoal_verify_dictionary *dictionary,
                                               uint64_t hash) {
  return &dictionary->slots[hash >> (64 - dictionary->bits)];
}

/* What it will most likely compare with, once that slot is there; may be NULL. */
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

/* Class and value side by side: different pairs never have the same key. */
static inline uint64_t shoal_verify_pair_key(uint32_t class_id, uint32_t value) {
  return (uint64_t)class_id << 32 | value;
}

/* Where the pair will most likely be counted: memory to ask for well before. */
static inline const void *shoal_verify_pair_of(const shoal_verify_pairs *pairs, uint64_t key) {
  return &pairs->slots[shoal_mix(key) >> (64 - pairs->bits)];
}

/* Adds rows to the pair. False: no memory. */
bool shoal_verify_count_pair(shoal_verify_pairs *pairs, uint64_t key, uint64_t n_rows);

#endif
