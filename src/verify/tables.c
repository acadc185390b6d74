/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/tables: the slot of a hash is its upper bits. So a table that doubles is copied in order:
 * the old and the new slots are both accessed from front to back.
 */
#include "verify/tables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
  FIRST_BITS = 10,
  MAX_BITS = 40 /* more slots than any memory holds; keeps the shifts in range */
};

static size_t n_slots(unsigned bits) { return (size_t)1 << bits; }

static bool too_full(size_t n_used, unsigned bits) { return n_used >= n_slots(bits) / 4 * 3; }

/* ---------------------------------------------------------------- dictionaries */

bool shoal_verify_dictionary_init(shoal_verify_dictionary *dictionary) {
  shoal_arena_init(&dictionary->entries);
  dictionary->n_entries = 0;
  dictionary->bits = FIRST_BITS;
  dictionary->slots = shoal_alloc_table(n_slots(FIRST_BITS), sizeof *dictionary->slots);
  return dictionary->slots != NULL;
}

void shoal_verify_dictionary_reset(shoal_verify_dictionary *dictionary) {
  free(dictionary->slots);
  shoal_arena_reset(&dictionary->entries);
}

static bool dictionary_grow(shoal_verify_dictionary *dictionary) {
  if (dictionary->bits >= MAX_BITS) return false; /* GCOVR_EXCL_BR_LINE */
  unsigned bits = dictionary->bits + 1;
  shoal_verify_slot *slots = shoal_alloc_table(n_slots(bits), sizeof *slots);
  if (!slots) return false;
  size_t mask = n_slots(bits) - 1;
  for (size_t i = 0; i < n_slots(dictionary->bits); i++) {
    if (!dictionary->slots[i].entry) continue;
    size_t at = (size_t)(dictionary->slots[i].hash >> (64 - bits));
    while (slots[at].entry) at = (at + 1) & mask;
    slots[at] = dictionary->slots[i];
  }
  free(dictionary->slots);
  dictionary->slots = slots;
  dictionary->bits = bits;
  return true;
}

static shoal_verify_entry *new_entry(shoal_verify_dictionary *dictionary, const char *bytes,
                                     size_t size_bytes) {
  shoal_verify_entry *made;
  /* 2^32 entries take more than 100 GB: running out of ids is reported as out of memory. */
  if (dictionary->n_entries == UINT32_MAX || /* GCOVR_EXCL_BR_LINE */
      size_bytes > SIZE_MAX - sizeof *made)
    return NULL;
  made = shoal_arena_alloc(&dictionary->entries, sizeof *made + size_bytes, 1);
  if (!made) return NULL;
  made->n_rows = made->hash = 0;
  made->size_bytes = size_bytes;
  made->id = dictionary->n_entries;
  if (size_bytes) memcpy(made->bytes, bytes, size_bytes);
  return made;
}

/* The slot of these bytes, or the empty slot for them. */
static inline shoal_verify_slot *slot_of(const shoal_verify_dictionary *dictionary, uint64_t hash,
                                         const char *bytes, size_t size_bytes) {
  size_t mask = n_slots(dictionary->bits) - 1;
  size_t at = (size_t)(hash >> (64 - dictionary->bits));
  for (; dictionary->slots[at].entry; at = (at + 1) & mask) {
    const shoal_verify_entry *known = dictionary->slots[at].entry;
    if (dictionary->slots[at].hash == hash && known->size_bytes == size_bytes &&
        !memcmp(known->bytes, bytes, size_bytes))
      break;
  }
  return &dictionary->slots[at];
}

shoal_verify_entry *shoal_verify_find(const shoal_verify_dictionary *dictionary, uint64_t hash,
                                      const char *bytes, size_t size_bytes) {
  return slot_of(dictionary, hash, bytes, size_bytes)->entry;
}

shoal_verify_entry *shoal_verify_intern(shoal_verify_dictionary *dictionary, uint64_t hash,
                                        const char *bytes, size_t size_bytes) {
  if (too_full(dictionary->n_entries, dictionary->bits) && !dictionary_grow(dictionary))
    return NULL;
  shoal_verify_slot *slot = slot_of(dictionary, hash, bytes, size_bytes);
  if (slot->entry) return slot->entry;
  shoal_verify_entry *made = new_entry(dictionary, bytes, size_bytes);
  if (!made) return NULL;
  *slot = (shoal_verify_slot){.hash = hash, .entry = made};
  dictionary->n_entries++;
  return made;
}

/* ---------------------------------------------------------------- pairs */

bool shoal_verify_pairs_init(shoal_verify_pairs *pairs) {
  pairs->n_used = 0;
  pairs->bits = FIRST_BITS;
  pairs->slots = shoal_alloc_table(n_slots(FIRST_BITS), sizeof *pairs->slots);
  return pairs->slots != NULL;
}

void shoal_verify_pairs_reset(shoal_verify_pairs *pairs) {
  free(pairs->slots);
  *pairs = (shoal_verify_pairs){0};
}

/* The slot of the key, or the empty slot for it. */
static shoal_verify_pair *find_slot(shoal_verify_pair *slots, unsigned bits, uint64_t key) {
  size_t mask = n_slots(bits) - 1;
  size_t at = (size_t)(shoal_hash_word(key) >> (64 - bits));
  while (slots[at].n_rows && slots[at].key != key) at = (at + 1) & mask;
  return &slots[at];
}

static bool pairs_grow(shoal_verify_pairs *pairs) {
  if (pairs->bits >= MAX_BITS) return false; /* GCOVR_EXCL_BR_LINE */
  unsigned bits = pairs->bits + 1;
  shoal_verify_pair *slots = shoal_alloc_table(n_slots(bits), sizeof *slots);
  if (!slots) return false;
  for (size_t i = 0; i < n_slots(pairs->bits); i++)
    if (pairs->slots[i].n_rows) *find_slot(slots, bits, pairs->slots[i].key) = pairs->slots[i];
  free(pairs->slots);
  pairs->slots = slots;
  pairs->bits = bits;
  return true;
}

bool shoal_verify_count_pair(shoal_verify_pairs *pairs, uint64_t key, uint64_t n_rows) {
  assert(n_rows > 0); /* 0 marks an empty slot */
  if (too_full(pairs->n_used, pairs->bits) && !pairs_grow(pairs)) return false;
  shoal_verify_pair *slot = find_slot(pairs->slots, pairs->bits, key);
  if (!slot->n_rows) pairs->n_used++;
  slot->key = key;
  slot->n_rows += n_rows;
  return true;
}
