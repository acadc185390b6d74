/* SPDX-License-Identifier: Apache-2.0 */
/* base/hash: `shoal_ids` has open addressing with linear probing. */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/memory.h"

uint64_t shoal_hash_key[4];

/* Runs before main, so no table has to check whether the key is set. */
__attribute__((constructor)) static void choose_key(void) {
  if (getrandom(shoal_hash_key, sizeof shoal_hash_key, GRND_NONBLOCK) !=
      (ssize_t)sizeof shoal_hash_key) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    for (unsigned i = 0; i < 4; i++)
      shoal_hash_key[i] =
          shoal_mix((uint64_t)now.tv_nsec + (uint64_t)now.tv_sec * (i + 1) + (uintptr_t)&now);
  }
  for (unsigned i = 0; i < 4; i++) shoal_hash_key[i] |= 1;
}

static inline uint64_t load(const char *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

/* Both halves of a product, folded. */
static inline uint64_t fold(uint64_t a, uint64_t b) {
  __extension__ unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * A sum of folded products, as in NMH and wyhash: no multiplication waits for another. Each pair of
 * words has a key of its own, so that pairs cannot change places. The last pair ends with the bytes
 * and may overlap the one before.
 */
uint64_t shoal_hash_bytes(const void *bytes, size_t size_bytes) {
  const uint64_t *key = shoal_hash_key;
  const char *at = bytes;
  uint64_t hash = size_bytes;
  if (size_bytes < 8) {
    uint64_t word = 0;
    if (size_bytes) memcpy(&word, at, size_bytes);
    return shoal_hash_word(word + size_bytes * key[2]);
  }
  if (size_bytes < 16) {
    hash += fold(load(at) ^ key[2], load(at + size_bytes - 8) ^ key[3]);
    return shoal_hash_word(hash);
  }
  uint64_t position = key[2];
  const char *last = at + size_bytes - 16;
  for (; at < last; at += 16, position += key[3])
    hash += fold(load(at) ^ position, load(at + 8) ^ key[3]);
  hash += fold(load(last) ^ position, load(last + 8) ^ key[3]);
  return shoal_hash_word(hash);
}

static bool allocate_slots(shoal_ids *ids, unsigned bits) {
  size_t n = (size_t)1 << bits;
  uint64_t *keys = shoal_alloc(n, sizeof *keys);
  uint32_t *slots = shoal_alloc_table(n, sizeof *slots);
  if (!keys || !slots) {
    free(keys);
    free(slots);
    return false;
  }
  ids->keys = keys;
  ids->slots = slots;
  ids->bits = bits;
  return true;
}

bool shoal_ids_init(shoal_ids *ids, size_t expected) {
  memset(ids, 0, sizeof *ids);
  unsigned bits = 6;
  while (bits < 33 && ((size_t)1 << bits) / 2 < expected) bits++;
  return allocate_slots(ids, bits);
}

void shoal_ids_reset(shoal_ids *ids) {
  free(ids->keys);
  free(ids->slots);
  free(ids->of_id);
  memset(ids, 0, sizeof *ids);
}

static size_t first_slot(const shoal_ids *ids, uint64_t key) {
  return (size_t)(shoal_hash_word(key) >> (64 - ids->bits));
}

static bool grow(shoal_ids *ids) {
  uint64_t *old_keys = ids->keys;
  uint32_t *old_slots = ids->slots;
  size_t n = (size_t)1 << ids->bits;
  if (!allocate_slots(ids, ids->bits + 1)) return false;
  size_t mask = ((size_t)1 << ids->bits) - 1;
  for (size_t i = 0; i < n; i++) {
    if (!old_slots[i]) continue;
    size_t slot = first_slot(ids, old_keys[i]);
    while (ids->slots[slot]) slot = (slot + 1) & mask;
    ids->slots[slot] = old_slots[i];
    ids->keys[slot] = old_keys[i];
  }
  free(old_keys);
  free(old_slots);
  return true;
}

uint32_t shoal_ids_find(const shoal_ids *ids, uint64_t key) {
  size_t mask = ((size_t)1 << ids->bits) - 1;
  for (size_t slot = first_slot(ids, key); ids->slots[slot]; slot = (slot + 1) & mask)
    if (ids->keys[slot] == key) return ids->slots[slot] - 1;
  return SHOAL_NONE;
}

uint32_t shoal_ids_insert(shoal_ids *ids, uint64_t key) {
  size_t mask = ((size_t)1 << ids->bits) - 1;
  size_t slot = first_slot(ids, key);
  for (; ids->slots[slot]; slot = (slot + 1) & mask)
    if (ids->keys[slot] == key) return ids->slots[slot] - 1;
  if (ids->n_ids >= UINT32_MAX - 1) return SHOAL_NONE;
  if (!shoal_grow(&ids->of_id, &ids->of_id_capacity, (size_t)ids->n_ids + 1, sizeof *ids->of_id))
    return SHOAL_NONE;
  if (((size_t)ids->n_ids + 1) * 2 > mask) {
    if (!grow(ids)) return SHOAL_NONE;
    mask = ((size_t)1 << ids->bits) - 1;
    slot = first_slot(ids, key);
    while (ids->slots[slot]) slot = (slot + 1) & mask;
  }
  ids->keys[slot] = key;
  ids->of_id[ids->n_ids] = key;
  ids->slots[slot] = ++ids->n_ids;
  return ids->n_ids - 1;
}
