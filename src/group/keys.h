/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group/keys: equal tuples of small codes -> equal ids, in order of first appearance.
 *
 * A tuple is folded into one 64-bit key, attribute by attribute, in mixed radix. Where the product
 * of the domains does not fit into 64 bits, the part folded so far is replaced by its id and the
 * folding goes on: any number of attributes works. Tuples whose codes fit side by side into one
 * word are folded at once: neighbouring attributes share a lookup table. Small products are looked
 * up in a dense table, others in a hash table; keys of 32 bits stand in its slots themselves.
 */
#ifndef SHOAL_GROUP_KEYS_H
#define SHOAL_GROUP_KEYS_H

#include "base/hash.h"

/* Scratch memory of grouping, kept from call to call. One thread at a time. */
typedef struct shoal_grouper {
  uint64_t *keys;
  size_t keys_capacity;
  uint32_t *table; /* dense: id of a key; hashed: id + 1 of a slot */
  size_t table_capacity;
  uint64_t *slots; /* hashed, keys of 32 bits: the key, and below it id + 1 */
  size_t slots_capacity;
  uint64_t *key_of_id;
  size_t key_of_id_capacity;
  uint64_t *luts; /* of neighbouring attributes together */
  size_t luts_capacity;
  uint64_t radix; /* keys are below it; 0: 2^64 */
} shoal_grouper;

void shoal_grouper_init(shoal_grouper *grouper);
void shoal_grouper_reset(shoal_grouper *grouper);

/* Starts n tuples: all keys 0. False: no memory. */
bool shoal_grouper_start(shoal_grouper *grouper, size_t n);

/*
 * Folds an attribute into the keys: tuple i has label labels[item ? item[i] : i], one of n_labels.
 * `ids` is room for n ids, used where the keys must be shortened.
 */
bool shoal_grouper_fold(shoal_grouper *grouper, size_t n, const uint32_t *item,
                        const uint32_t *labels, uint64_t n_labels, uint32_t *ids);

/* The codes of one attribute of tuples: some bits of each tuple's word. */
typedef struct shoal_codes {
  const uint64_t *words;
  unsigned shift;
  uint32_t mask;
} shoal_codes;

static inline uint32_t shoal_code_at(shoal_codes codes, size_t i) {
  return (uint32_t)(codes.words[i] >> codes.shift) & codes.mask;
}

/* The same where tuple i has label lut[code of item ? item[i] : i]. */
bool shoal_grouper_fold_codes(shoal_grouper *grouper, size_t n, const uint32_t *item,
                              shoal_codes codes, const uint32_t *lut, uint64_t n_labels,
                              uint32_t *ids);

/* One attribute of tuples packed into words: its code, and what becomes of it. */
typedef struct shoal_key_part {
  unsigned shift; /* the code is its `bits` bits from here on; the next part's follow */
  unsigned bits;
  const uint32_t *lut; /* code -> label */
  uint64_t n_codes;
  uint64_t n_labels;
} shoal_key_part;

/* The ids of the folded tuples; returns how many there are, SHOAL_NO_ID without memory. */
uint32_t shoal_grouper_ids(shoal_grouper *grouper, size_t n, uint32_t *ids);

/*
 * The same of n tuples whose parts were not folded before: tuple i is words[item[i]]. Keys are made
 * block by block, where they are needed. SHOAL_NO_ID also where the product of the labels does not
 * fit into 64 bits: then parts are to be folded one by one.
 */
uint32_t shoal_grouper_packed_ids(shoal_grouper *grouper, size_t n, const uint32_t *item,
                                  const uint64_t *words, const shoal_key_part *parts,
                                  size_t n_parts, uint32_t *ids);

#endif
