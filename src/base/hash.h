/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/hash: hash functions with a secret key, and `shoal_ids`, the map from 64-bit keys to small
 * whole numbers in order of first appearance.
 *
 * The key is random and chosen once per process, so that no file can be made whose cells collide.
 * Hashes therefore differ from run to run: nothing that users see may depend on them, such as the
 * order in which slots of a table are visited.
 */
#ifndef SHOAL_BASE_HASH_H
#define SHOAL_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The key: random words, all of them odd. Set before main. */
extern uint64_t shoal_hash_key[4];

/* A hash of a word whose upper bits choose a slot. */
static inline uint64_t shoal_hash_word(uint64_t word) {
  word = (word ^ shoal_hash_key[0]) * shoal_hash_key[1];
  return (word ^ word >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

/* The same of a word of at most 32 bits: one multiplication. */
static inline uint64_t shoal_hash_narrow(uint64_t word) {
  return (word ^ word >> 15) * shoal_hash_key[1];
}

/* A hash of bytes: 16 of them a multiplication. */
uint64_t shoal_hash_bytes(const void *bytes, size_t size_bytes);

/* A well-spread 64-bit value of a 64-bit value, without the key: the same in every run. */
static inline uint64_t shoal_mix(uint64_t x) {
  x ^= x >> 32;
  x *= UINT64_C(0xd6e8feb86659fd93);
  x ^= x >> 32;
  return x * UINT64_C(0xd6e8feb86659fd93);
}

/* Keys to ids 0, 1, 2, ... in order of first insertion. At most 2^32 - 2 keys. */
typedef struct shoal_ids {
  uint64_t *keys;  /* by slot */
  uint32_t *slots; /* id + 1, 0: empty */
  uint64_t *of_id; /* key of each id */
  size_t of_id_capacity;
  uint32_t n_ids;
  unsigned bits; /* 2^bits slots, at most half of them full */
} shoal_ids;

/* Room for `expected` keys; more make it grow. False: no memory, and nothing needs a reset. */
bool shoal_ids_init(shoal_ids *ids, size_t expected);
void shoal_ids_reset(shoal_ids *ids);

/* The id of the key, a new one if it has none. SHOAL_NONE: no memory. */
uint32_t shoal_ids_insert(shoal_ids *ids, uint64_t key);
/* The id of the key, or SHOAL_NONE. */
uint32_t shoal_ids_find(const shoal_ids *ids, uint64_t key);

#endif
