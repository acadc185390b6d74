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
  free(g->slots);
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

/* ------------------------------------------------------------ packed tuples */

enum { AT_ONCE = 4 }; /* parts folded in one pass */

/* Parts that do not tell tuples apart fill a pass up: mask 0, one label 0. */
typedef struct pass {
  unsigned shift[AT_ONCE];
  uint64_t mask[AT_ONCE];
  const uint32_t *lut[AT_ONCE];
  uint64_t factor[AT_ONCE];
} pass;

static void fold_pass(const pass *p, size_t n, const uint32_t *item, const uint64_t *words,
                      uint64_t *keys) {
  const pass a = *p;
  for (size_t i = 0; i < n; i++) {
    uint64_t word = words[item[i]];
    keys[i] += a.lut[0][word >> a.shift[0] & a.mask[0]] * a.factor[0] +
               a.lut[1][word >> a.shift[1] & a.mask[1]] * a.factor[1] +
               a.lut[2][word >> a.shift[2] & a.mask[2]] * a.factor[2] +
               a.lut[3][word >> a.shift[3] & a.mask[3]] * a.factor[3];
  }
}

bool shoal_grouper_pack(shoal_grouper *g, size_t n, const uint32_t *item, const uint64_t *words,
                        const shoal_key_part *parts, size_t n_parts) {
  static const uint32_t nothing[1] = {0};
  if (!shoal_grouper_start(g, n)) return false;
  size_t filled = 0;
  pass p;
  for (size_t q = 0; q <= n_parts; q++) {
    if (q < n_parts && parts[q].n_labels > 1) {
      p.shift[filled] = parts[q].shift;
      p.mask[filled] = parts[q].mask;
      p.lut[filled] = parts[q].lut;
      p.factor[filled++] = g->radix;
      if (__builtin_mul_overflow(g->radix, parts[q].n_labels, &g->radix)) return false;
    }
    if (filled < AT_ONCE && q < n_parts) continue;
    if (!filled) break;
    for (; filled < AT_ONCE; filled++) {
      p.shift[filled] = 0;
      p.mask[filled] = 0;
      p.lut[filled] = nothing;
      p.factor[filled] = 0;
    }
    fold_pass(&p, n, item, words, g->keys);
    filled = 0;
  }
  return true;
}

/* ------------------------------------------------------------ ids */

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

/* Far ahead of the key at work, so that its slot has come by then. */
enum { AHEAD = 16, FAR_BITS = 17 };

static inline size_t slot_of(uint64_t key, unsigned bits) {
  return (size_t)((key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

/* Keys below 2^32. */
static uint32_t narrow_ids(shoal_grouper *g, size_t n, unsigned bits, uint32_t *ids) {
  size_t mask = ((size_t)1 << bits) - 1;
  uint64_t *slots = g->slots;
  const uint64_t *keys = g->keys;
  memset(slots, 0, (mask + 1) * sizeof *slots);
  uint32_t n_ids = 0;
  bool far = bits >= FAR_BITS;
  for (size_t i = 0; i < n; i++) {
    if (far && i + AHEAD < n) __builtin_prefetch(&slots[slot_of(keys[i + AHEAD], bits)], 1);
    uint64_t key = keys[i], slot;
    size_t at = slot_of(key, bits);
    while ((slot = slots[at]) && slot >> 32 != key) at = (at + 1) & mask;
    if (!slot) slots[at] = slot = key << 32 | ++n_ids;
    ids[i] = (uint32_t)slot - 1;
  }
  return n_ids;
}

static uint32_t wide_ids(shoal_grouper *g, size_t n, unsigned bits, uint32_t *ids) {
  size_t mask = ((size_t)1 << bits) - 1;
  memset(g->table, 0, (mask + 1) * sizeof *g->table);
  uint32_t n_ids = 0;
  bool far = bits >= FAR_BITS;
  for (size_t i = 0; i < n; i++) {
    if (far && i + AHEAD < n)
      __builtin_prefetch(&g->table[shoal_mix(g->keys[i + AHEAD]) >> (64 - bits)], 1);
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
  if (g->radix <= UINT64_C(1) << 32) {
    if (!shoal_grow(&g->slots, &g->slots_capacity, (size_t)1 << bits, sizeof *g->slots))
      return SHOAL_NO_ID;
    return narrow_ids(g, n, bits, ids);
  }
  if (!shoal_grow(&g->table, &g->table_capacity, (size_t)1 << bits, sizeof *g->table) ||
      !shoal_grow(&g->key_of_id, &g->key_of_id_capacity, n, sizeof *g->key_of_id))
    return SHOAL_NO_ID;
  return wide_ids(g, n, bits, ids);
}
