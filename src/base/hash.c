/* SPDX-License-Identifier: Apache-2.0 */
/* base/hash: `shoal_ids` has open addressing with linear probing. */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/memory.h"
#include "base/random.h"

static const uint64_t PRIME = (UINT64_C(1) << 61) - 1;

shoal_hash_keys shoal_hash_key;

static void restrict_key(void) {
  shoal_hash_key.point &= PRIME;
  shoal_hash_key.odd |= 1;
}

void shoal_hash_key_seed(uint64_t seed) {
  uint64_t words[sizeof shoal_hash_key / sizeof(uint64_t)] = {0};
  shoal_random random;
  shoal_random_seed(&random, seed);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) words[i] = shoal_random_next(&random);
  memcpy(&shoal_hash_key, words, sizeof words);
  restrict_key();
}

/* Runs before main, so no table has to check whether the key is set. */
__attribute__((constructor)) static void choose_key(void) {
  /* Up to 256 bytes come whole, or not at all while the machine starts and has no entropy. */
  _Static_assert(sizeof shoal_hash_key <= 256, "getrandom gives all of it at once");
  if (getrandom(&shoal_hash_key, sizeof shoal_hash_key, GRND_NONBLOCK) ==
      (ssize_t)sizeof shoal_hash_key) {
    restrict_key();
    return;
  }
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  shoal_hash_key_seed(
      shoal_mix((uint64_t)now.tv_nsec + ((uint64_t)now.tv_sec << 30) + (uintptr_t)&now));
}

static inline uint64_t load(const char *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

static inline shoal_uint128 multiply(uint64_t a, uint64_t b) { return (shoal_uint128)a * b; }

/* The words of fewer than 16 bytes: the first and the last, which may overlap. */
static inline void load_short(const char *at, size_t size_bytes, uint64_t words[2]) {
  words[1] = 0;
  if (size_bytes >= 8) {
    words[0] = load(at);
    words[1] = load(at + size_bytes - 8);
  } else if (size_bytes >= 4) {
    uint32_t first, last;
    memcpy(&first, at, sizeof first);
    memcpy(&last, at + size_bytes - 4, sizeof last);
    words[0] = (uint64_t)last << 32 | first;
  } else {
    const unsigned char *byte = (const unsigned char *)at;
    words[0] = 0;
    if (size_bytes)
      words[0] =
          byte[0] | (uint64_t)byte[size_bytes / 2] << 8 | (uint64_t)byte[size_bytes - 1] << 16;
  }
}

/* NH of a block. Its last 16 bytes are a pair of words that may overlap the one before. */
static inline shoal_uint128 sum_block(const char *at, size_t size_bytes) {
  const uint64_t *key = shoal_hash_key.text;
  const char *last = at + size_bytes - 16;
  shoal_uint128 sum = 0;
  for (; at < last; at += 16, key += 2) sum += multiply(load(at) + key[0], load(at + 8) + key[1]);
  return sum + multiply(load(last) + key[0], load(last + 8) + key[1]);
}

/* The next value of the polynomial, less than 2^61 + 2: the residue, or 2^61 - 1 more. */
static inline uint64_t next_value(uint64_t value, uint64_t coefficient) {
  shoal_uint128 next = multiply(value, shoal_hash_key.point) + coefficient;
  uint64_t residue = ((uint64_t)next & PRIME) + (uint64_t)(next >> 61);
  return (residue & PRIME) + (residue >> 61);
}

uint64_t shoal_hash_bytes(const void *bytes, size_t size_bytes) {
  const shoal_hash_keys *key = &shoal_hash_key;
  const char *at = bytes;
  shoal_uint128 sum;
  uint64_t value = size_bytes; /* the polynomial's first coefficient */
  if (size_bytes < 16) {
    uint64_t words[2];
    load_short(at, size_bytes, words);
    sum = multiply(words[0] + key->text[0], words[1] + key->text[1]);
  } else {
    for (; size_bytes > SHOAL_HASH_BLOCK_BYTES; size_bytes -= SHOAL_HASH_BLOCK_BYTES) {
      sum = sum_block(at, SHOAL_HASH_BLOCK_BYTES);
      value = next_value(next_value(value, (uint64_t)(sum >> 64)), (uint64_t)sum);
      at += SHOAL_HASH_BLOCK_BYTES;
    }
    sum = sum_block(at, size_bytes);
  }
  shoal_uint128 hash = key->factor[0] * (uint64_t)sum + key->factor[1] * (uint64_t)(sum >> 64) +
                       key->factor[2] * value + key->offset;
  return shoal_hash_spread((uint64_t)(hash >> 64));
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
