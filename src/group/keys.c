/* SPDX-License-Identifier: Apache-2.0 */
/* group/keys: see keys.h. */
#include "group/keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void shoal_grouper_init(shoal_grouper *g) { memset(g, 0, sizeof *g); }

void shoal_grouper_reset(shoal_grouper *g) {
  free(g->keys);
  free(g->table);
  free(g->key_of_id);
  shoal_grouper_init(g);
}

bool shoal_grouper_start(shoal_grouper *g, size_t n) {
  if (!shoal_grow(&g->keys, &g->keys_capacity, n ? n : 1, sizeof *g->keys)) return false;
  memset(g->keys, 0, n * sizeof *g->keys);
  g->radix = 1;
  return true;
}

bool shoal_grouper_fold(shoal_grouper *g, size_t n, const uint32_t *item, const uint32_t *codes,
                        const uint32_t *lut, uint64_t n_labels, uint32_t *ids) {
  if (n_labels <= 1) return true;
  uint64_t radix;
  if (__builtin_mul_overflow(g->radix, n_labels, &radix)) {
    uint32_t n_ids = shoal_grouper_ids(g, n, ids);
    if (n_ids == SHOAL_NO_ID) return false;
    for (size_t i = 0; i < n; i++) g->keys[i] = ids[i];
    radix = (uint64_t)n_ids * n_labels; /* both below 2^32 */
  }
  g->radix = radix;
  uint64_t *keys = g->keys;
  if (item) {
    for (size_t i = 0; i < n; i++) keys[i] = keys[i] * n_labels + lut[codes[item[i]]];
  } else {
    for (size_t i = 0; i < n; i++) keys[i] = keys[i] * n_labels + lut[codes[i]];
  }
  return true;
}

static uint32_t dense_ids(shoal_grouper *g, size_t n, uint32_t *ids) {
  memset(g->table, 0, (size_t)g->radix * sizeof *g->table);
  uint32_t n_ids = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t *entry = &g->table[g->keys[i]];
    if (!*entry) *entry = ++n_ids;
    ids[i] = *entry - 1;
  }
  return n_ids;
}

static uint32_t hashed_ids(shoal_grouper *g, size_t n, unsigned bits, uint32_t *ids) {
  size_t mask = ((size_t)1 << bits) - 1;
  memset(g->table, 0, (mask + 1) * sizeof *g->table);
  uint32_t n_ids = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t key = g->keys[i];
    size_t at = (size_t)(shoal_mix(key) >> (64 - bits));
    while (g->table[at] && g->key_of_id[g->table[at] - 1] != key) at = (at + 1) & mask;
    if (!g->table[at]) {
      g->key_of_id[n_ids] = key;
      g->table[at] = ++n_ids;
    }
    ids[i] = g->table[at] - 1;
  }
  return n_ids;
}

uint32_t shoal_grouper_ids(shoal_grouper *g, size_t n, uint32_t *ids) {
  if (n >= SHOAL_NO_ID) return SHOAL_NO_ID;
  if (g->radix <= 4 * (uint64_t)n + 1024) {
    if (!shoal_grow(&g->table, &g->table_capacity, (size_t)g->radix, sizeof *g->table))
      return SHOAL_NO_ID;
    return dense_ids(g, n, ids);
  }
  unsigned bits = 6;
  while (((size_t)1 << bits) < 2 * n) bits++;
  if (!shoal_grow(&g->table, &g->table_capacity, (size_t)1 << bits, sizeof *g->table) ||
      !shoal_grow(&g->key_of_id, &g->key_of_id_capacity, n, sizeof *g->key_of_id))
    return SHOAL_NO_ID;
  return hashed_ids(g, n, bits, ids);
}
