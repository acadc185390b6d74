/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group/grouper: equal tuples of small codes -> equal ids, in order of first appearance.
 *
 * A tuple is folded into one 64-bit key, attribute by attribute, in mixed radix:
 *
 *      key = (label0 x n_labels1 + label1) x n_labels2 + label2 ...       radix = n0 x n1 x n2 ...
 *
 * If the product of the domains does not fit into 64 bits, the key so far is replaced by its id and
 * folding continues, so any number of attributes works.
 *
 * Tuples whose codes are packed into one word are folded without a pass per attribute. Neighbouring
 * attributes form a chunk of up to 11 bits with one lookup table, whose entries are what these
 * codes add to the key (their labels times their factors):
 *
 *      word    | q4 | q3 |  q2  | q1 | q0 |
 *              \________/ \______________/
 *               chunk 1       chunk 0          key = lut0[bits of chunk 0] + lut1[bits of chunk 1]
 *
 * Ids come from a table of one of three kinds, all of 32-bit ids + 1, 0 meaning empty:
 *
 *      dense    radix <= 4 n + 1024    table[key] = id + 1
 *      narrow   radix <= 2^32          slots[hash] = | key (32 bits) | id + 1 (32 bits) |
 *      wide     else                   table[hash] = id + 1, and key_of_id[id] = key
 */
#pragma once

#include "base/hash.h"

/* Scratch memory, kept from call to call. One thread at a time. */
typedef struct shoal_grouper {
  uint64_t *keys;
  size_t keys_capacity;
  uint32_t *table; /* dense and wide */
  size_t table_capacity;
  uint64_t *slots; /* narrow */
  size_t slots_capacity;
  uint64_t *key_of_id;
  size_t key_of_id_capacity;
  uint64_t *luts; /* of all chunks */
  size_t luts_capacity;
  uint64_t radix; /* keys are below it */
} shoal_grouper;

void shoal_grouper_init(shoal_grouper *grouper);
void shoal_grouper_reset(shoal_grouper *grouper);

/* Sets the keys of n tuples to 0. False: no memory. */
bool shoal_grouper_start(shoal_grouper *grouper, size_t n);

/*
 * Folds an attribute into the keys: tuple i has label labels[item ? item[i] : i] < n_labels. `ids`
 * is scratch for n ids, used if keys must be shortened. False: no memory.
 */
bool shoal_grouper_fold(shoal_grouper *grouper, size_t n, const uint32_t *item,
                        const uint32_t *labels, uint64_t n_labels, uint32_t *ids);

/* The codes of one attribute: some bits of each tuple's word. */
typedef struct shoal_codes {
  const uint64_t *words;
  unsigned shift;
  uint32_t mask;
} shoal_codes;

static inline uint32_t shoal_code_at(shoal_codes codes, size_t i) {
  return (uint32_t)(codes.words[i] >> codes.shift) & codes.mask;
}

/* The same; tuple i has label lut[code of item ? item[i] : i]. */
bool shoal_grouper_fold_codes(shoal_grouper *grouper, size_t n, const uint32_t *item,
                              shoal_codes codes, const uint32_t *lut, uint64_t n_labels,
                              uint32_t *ids);

/* One attribute of packed tuples. */
typedef struct shoal_key_part {
  unsigned shift; /* the code has `bits` bits from here; the next part's follow */
  unsigned bits;
  const uint32_t *lut; /* code -> label */
  uint64_t n_codes;
  uint64_t n_labels;
} shoal_key_part;

/* The ids of the folded tuples, by first appearance; returns their number. SHOAL_NONE: no memory.
 */
uint32_t shoal_grouper_ids(shoal_grouper *grouper, size_t n, uint32_t *ids);

/*
 * The same for packed tuples, without folding before: tuple i is words[item[i]]. Keys are computed
 * in blocks. SHOAL_NONE also if the product of the labels exceeds 64 bits or a lookup table would
 * be too large: then fold attribute by attribute.
 */
uint32_t shoal_grouper_packed_ids(shoal_grouper *grouper, size_t n, const uint32_t *item,
                                  const uint64_t *words, const shoal_key_part *parts,
                                  size_t n_parts, uint32_t *ids);
