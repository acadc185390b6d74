/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/hash: mixing functions, and `shoal_ids`, the map from 64-bit keys to small whole numbers
 * in order of first appearance: the one way this code groups things.
 */
#ifndef SHOAL_BASE_HASH_H
#define SHOAL_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A well-spread 64-bit value of a 64-bit value. */
static inline uint64_t shoal_mix(uint64_t x) {
  x ^= x >> 32;
  x *= UINT64_C(0xd6e8feb86659fd93);
  x ^= x >> 32;
  return x * UINT64_C(0xd6e8feb86659fd93);
}

/* A 64-bit hash of bytes. */
uint64_t shoal_hash_bytes(const void *bytes, size_t size_bytes);

/* Keys to ids 0, 1, 2, ... in order of first insertion. At most 2^32 - 2 keys. */
typedef struct shoal_ids {
  uint64_t *keys;  /* by slot */
  uint32_t *slots; /* id + 1, 0: empty */
  uint64_t *of_id; /* key of each id */
  size_t of_id_capacity;
  uint32_t n_ids;
  unsigned bits; /* 2^bits slots */
} shoal_ids;

/* `expected` keys fit without growing; it is only a hint. False without memory. */
bool shoal_ids_init(shoal_ids *ids, size_t expected);
void shoal_ids_reset(shoal_ids *ids);

#define SHOAL_NO_ID UINT32_MAX

/* The id of the key, a new one if it has none. SHOAL_NO_ID: no memory. */
uint32_t shoal_ids_insert(shoal_ids *ids, uint64_t key);
/* The id of the key, or SHOAL_NO_ID. */
uint32_t shoal_ids_find(const shoal_ids *ids, uint64_t key);

#endif
