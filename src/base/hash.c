/* SPDX-License-Identifier: Apache-2.0 */
/* base/hash: see hash.h. Open addressing with linear probing, at most half full. */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

uint64_t shoal_hash_bytes(const void *bytes, size_t size_bytes) {
  const unsigned char *s = bytes;
  uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) ^ size_bytes;
  while (size_bytes >= 8) {
    uint64_t word;
    memcpy(&word, s, 8);
    hash = shoal_mix(hash ^ word);
    s += 8;
    size_bytes -= 8;
  }
  uint64_t tail = 0;
  if (size_bytes) memcpy(&tail, s, size_bytes);
  return shoal_mix(hash ^ tail);
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
  return (size_t)(shoal_mix(key) >> (64 - ids->bits));
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
  return SHOAL_NO_ID;
}

uint32_t shoal_ids_insert(shoal_ids *ids, uint64_t key) {
  size_t mask = ((size_t)1 << ids->bits) - 1;
  size_t slot = first_slot(ids, key);
  for (; ids->slots[slot]; slot = (slot + 1) & mask)
    if (ids->keys[slot] == key) return ids->slots[slot] - 1;
  if (ids->n_ids >= UINT32_MAX - 1) return SHOAL_NO_ID;
  if (!shoal_grow(&ids->of_id, &ids->of_id_capacity, (size_t)ids->n_ids + 1, sizeof *ids->of_id))
    return SHOAL_NO_ID;
  if (((size_t)ids->n_ids + 1) * 2 > mask) {
    if (!grow(ids)) return SHOAL_NO_ID;
    mask = ((size_t)1 << ids->bits) - 1;
    slot = first_slot(ids, key);
    while (ids->slots[slot]) slot = (slot + 1) & mask;
  }
  ids->keys[slot] = key;
  ids->of_id[ids->n_ids] = key;
  ids->slots[slot] = ++ids->n_ids;
  return ids->n_ids - 1;
}
