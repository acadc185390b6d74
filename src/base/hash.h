/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/hash: keyed hash functions, and `shoal_ids`, the map from 64-bit keys to small whole numbers
 * in order of first appearance.
 *
 * All hash tables use these functions. Their secret is a key of random words, drawn once per
 * process. A file is made before the key is drawn, and no output shows a hash. So what counts is
 * how often texts that were chosen without the key collide, and this has a proven bound, for any
 * texts (SipHash would have none, and made reading long cells a third slower):
 *
 *      shoal_hash_word     a word times a random factor of 128 bits plus a random offset, the upper
 *                          half: the hashes of any two words are independent and uniform
 *                          (Dietzfelbinger 1996; Thorup 2015, section 3)
 *      shoal_hash_narrow   the same for words and hashes of 32 bits
 *      shoal_hash_bytes    NH over blocks of 128 bytes (Black, Halevi, Krawczyk, Krovetz, Rogaway
 *                          1999); a polynomial modulo 2^61 - 1 of the size and the sums of blocks,
 *                          as in VHASH (Krovetz and Dai 2007); its value and the last sum are
 *                          hashed like words. Two texts of up to 128 bytes collide with a
 *                          probability of 2^-63, longer ones of n bytes with 2^-55 + n / 2^66;
 *                          if not, their hashes are independent and uniform
 *
 * These bounds are for pairs. Multiples of a number would still be at equal distances, which linear
 * probing does not like; a last step, a permutation without a key, breaks such patterns and leaves
 * the bounds as they are.
 *
 * Hashes differ from run to run: nothing that users see may depend on them, such as the order in
 * which slots of a table are visited.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wide.h"

enum { SHOAL_HASH_BLOCK_BYTES = 128 };

typedef struct shoal_hash_keys {
  uint64_t text[SHOAL_HASH_BLOCK_BYTES / 8]; /* added to the words of a block */
  uint64_t point;                            /* of the polynomial; below 2^61 - 1 */
  uint64_t odd;                              /* a factor for a few slots (table/dictionary.c) */
  uint64_t narrow_factor, narrow_offset;     /* of words below 2^32 */
  shoal_uint128 factor[3], offset;           /* of words; texts need three */
} shoal_hash_keys;

/* Set before main. */
extern shoal_hash_keys shoal_hash_key;

/* The key of a seed, for tests, while no table exists. */
void shoal_hash_key_seed(uint64_t seed);

/* A permutation without a key whose upper bits depend on all bits. */
static inline uint64_t shoal_hash_spread(uint64_t hash) {
  return (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

/* A hash of a word; its upper bits choose a slot. */
static inline uint64_t shoal_hash_word(uint64_t word) {
  return shoal_hash_spread(
      (uint64_t)((shoal_hash_key.factor[0] * word + shoal_hash_key.offset) >> 64));
}

/* The same of a word below 2^32, faster: the upper 32 bits are the hash. */
static inline uint64_t shoal_hash_narrow(uint64_t word) {
  uint64_t hash = word * shoal_hash_key.narrow_factor + shoal_hash_key.narrow_offset;
  return (hash >> 32 ^ hash >> 48) * UINT64_C(0x6659fd9300000000);
}

/* A hash of bytes; its upper bits choose a slot. Two multiplications every 16 bytes. */
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
