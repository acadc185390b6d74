/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of base/hash, and of every hash table under texts and words that were made to collide:
 * by cancelling a public mixing function, by a common beginning, by equal distances. The cost of a
 * table is read from its slots, so nothing is timed. Keys come from seeds: no run differs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/random.h"
#include "group/grouper.h"
#include "group/tuples.h"
#include "table/count.h"
#include "table/dictionary.h"
#include "verify/tables.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { SEEDS = 6 };

/* ---------------------------------------------------------------- the definition, slowly */

typedef struct slow {
  uint64_t high, low;
} slow;

static slow slow_add(slow a, slow b) {
  slow sum = {a.high + b.high, a.low + b.low};
  sum.high += sum.low < a.low;
  return sum;
}

/* Modulo 2^128, bit by bit. */
static slow slow_multiply(slow a, uint64_t b) {
  slow product = {0, 0};
  for (; b; b >>= 1, a = slow_add(a, a))
    if (b & 1) product = slow_add(product, a);
  return product;
}

/* Modulo 2^61 - 1, by subtraction. */
static uint64_t slow_residue(slow x) {
  const uint64_t prime = (UINT64_C(1) << 61) - 1;
  uint64_t rest = 0;
  for (int bit = 127; bit >= 0; bit--) {
    rest = 2 * rest + (bit >= 64 ? x.high >> (bit - 64) & 1 : x.low >> bit & 1);
    if (rest >= prime) rest -= prime;
  }
  return rest;
}

static slow slow_key(shoal_uint128 key) { return (slow){(uint64_t)(key >> 64), (uint64_t)key}; }

/* The word of 8 bytes from there on; bytes outside of the text are zeros. */
static uint64_t slow_word(const unsigned char *text, size_t size, size_t at) {
  uint64_t word = 0;
  for (size_t i = 0; i < 8 && at + i < size; i++) word |= (uint64_t)text[at + i] << 8 * i;
  return word;
}

/* NH of the pairs of words at 0, 16, ... of a block; the last pair ends where the block ends. */
static slow slow_sum(const unsigned char *text, size_t size, size_t from, size_t end) {
  slow sum = {0, 0};
  for (size_t i = 0; from + 16 * i < end; i++) {
    size_t at = from + 16 * (i + 1) <= end ? from + 16 * i : end - 16;
    uint64_t first = slow_word(text, size, at) + shoal_hash_key.text[2 * i];
    uint64_t second = slow_word(text, size, at + 8) + shoal_hash_key.text[2 * i + 1];
    sum = slow_add(sum, slow_multiply((slow){0, first}, second));
  }
  return sum;
}

/* A text of fewer than 16 bytes is the words of base/hash.c. */
static slow slow_short_sum(const unsigned char *text, size_t size) {
  uint64_t words[2] = {0, 0};
  if (size >= 8) {
    words[0] = slow_word(text, size, 0);
    words[1] = slow_word(text, size, size - 8);
  } else if (size >= 4) {
    words[0] = (slow_word(text, size, 0) & 0xffffffff) | slow_word(text, size, size - 4) << 32;
  } else if (size > 0) {
    words[0] = text[0] | (uint64_t)text[size / 2] << 8 | (uint64_t)text[size - 1] << 16;
  }
  return slow_multiply((slow){0, words[0] + shoal_hash_key.text[0]},
                       words[1] + shoal_hash_key.text[1]);
}

static uint64_t slow_spread(uint64_t hash) {
  return slow_multiply((slow){0, hash ^ hash >> 32}, UINT64_C(0xd6e8feb86659fd93)).low;
}

/* The hash if the polynomial's value is this residue, or the same plus 2^61 - 1. */
static bool slow_equal(uint64_t hash, slow sum, uint64_t value) {
  const uint64_t prime = (UINT64_C(1) << 61) - 1;
  for (int i = 0; i < 2; i++, value += prime) {
    slow all = slow_key(shoal_hash_key.offset);
    all = slow_add(all, slow_multiply(slow_key(shoal_hash_key.factor[0]), sum.low));
    all = slow_add(all, slow_multiply(slow_key(shoal_hash_key.factor[1]), sum.high));
    all = slow_add(all, slow_multiply(slow_key(shoal_hash_key.factor[2]), value));
    if (hash == slow_spread(all.high)) return true;
  }
  return false;
}

static bool is_hash(uint64_t hash, const unsigned char *text, size_t size) {
  uint64_t value = size;
  if (size < 16) return slow_equal(hash, slow_short_sum(text, size), value);
  size_t from = 0;
  for (; size - from > 128; from += 128) {
    slow sum = slow_sum(text, size, from, from + 128);
    uint64_t coefficients[2] = {sum.high, sum.low};
    for (int i = 0; i < 2; i++)
      value = slow_residue(slow_add(slow_multiply((slow){0, value}, shoal_hash_key.point),
                                    (slow){0, coefficients[i]}));
  }
  return slow_equal(hash, slow_sum(text, size, from, size), value);
}

static void hashes_follow_their_definition(void **state UNUSED) {
  unsigned char text[700];
  shoal_random random;
  shoal_random_seed(&random, 1);
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    shoal_hash_key_seed(seed);
    if (seed == SEEDS) shoal_hash_key.point = (UINT64_C(1) << 61) - 2;
    for (size_t size = 0; size <= sizeof text; size++) {
      for (size_t i = 0; i < size; i++) text[i] = (unsigned char)shoal_random_next(&random);
      if (!is_hash(shoal_hash_bytes(text, size), text, size)) fail_msg("%zu bytes", size);
      uint64_t word = shoal_random_next(&random) >> size % 64;
      uint64_t factor = shoal_hash_key.narrow_factor, offset = shoal_hash_key.narrow_offset;
      uint64_t hash = slow_multiply((slow){0, factor}, (uint32_t)word).low + offset;
      uint32_t upper = (uint32_t)(hash >> 32);
      assert_int_equal(shoal_hash_narrow((uint32_t)word) >> 32,
                       (uint32_t)((upper ^ upper >> 16) * 0x6659fd93U));
      slow product = slow_multiply(slow_key(shoal_hash_key.factor[0]), word);
      assert_true(shoal_hash_word(word) ==
                  slow_spread(slow_add(product, slow_key(shoal_hash_key.offset)).high));
    }
  }
}

static void keys_of_seeds_are_valid(void **state UNUSED) {
  for (uint64_t seed = 0; seed < 100; seed++) {
    shoal_hash_key_seed(seed);
    assert_true(shoal_hash_key.odd & 1);
    assert_true(shoal_hash_key.point >> 61 == 0);
  }
}

/* A byte or the key changes about half of the bits; nothing lies behind the end. */
static void each_byte_and_the_key_matter(void **state UNUSED) {
  enum { MAX_SIZE = 300 };
  unsigned char text[MAX_SIZE + 1];
  for (size_t i = 0; i <= MAX_SIZE; i++) text[i] = (unsigned char)(i * 31);
  for (size_t size = 1; size <= MAX_SIZE; size++) {
    shoal_hash_key_seed(1);
    uint64_t hash = shoal_hash_bytes(text, size);
    text[size] ^= 1;
    assert_true(shoal_hash_bytes(text, size) == hash);
    for (size_t i = 0; i < size; i++) {
      text[i] ^= 1;
      int changed = __builtin_popcountll(hash ^ shoal_hash_bytes(text, size));
      text[i] ^= 1;
      assert_in_range(changed, 8, 56);
    }
    assert_in_range(__builtin_popcountll(hash ^ shoal_hash_bytes(text, size - 1)), 8, 56);
    shoal_hash_key_seed(2);
    assert_in_range(__builtin_popcountll(hash ^ shoal_hash_bytes(text, size)), 8, 56);
  }
}

/* ---------------------------------------------------------------- texts and words that collide */

enum { N_KEYS = 20000, MAX_TEXT = 48 };

/* The inverse of x -> x * factor, for an odd factor (Newton). */
static uint64_t inverse(uint64_t factor) {
  uint64_t x = factor;
  for (int i = 0; i < 6; i++) x *= 2 - factor * x;
  return x;
}

/* The word that the public shoal_mix turns into this. */
static uint64_t unmix(uint64_t mixed) {
  uint64_t back = inverse(UINT64_C(0xd6e8feb86659fd93));
  mixed *= back;
  mixed ^= mixed >> 32;
  mixed *= back;
  return mixed ^ mixed >> 32;
}

/* Words by kind: what hashes without a key, or with a factor only, put side by side. */
enum { WORD_KINDS = 12 };
static uint64_t word_of(unsigned kind, uint64_t i) {
  switch (kind) {
  case 0: return i;
  case 1: return unmix(i);
  case 2: return i * inverse(UINT64_C(0xd6e8feb86659fd93));
  case 3: return i % 141 << 56 | i / 141 << 24; /* only upper halves of words differ */
  default: return i << 4 * kind;                /* 2^16 to 2^44 */
  }
}

/* Texts by kind; returns the size. */
enum { TEXT_KINDS = 6 };
static uint32_t text_of(unsigned kind, uint32_t i, char text[MAX_TEXT]) {
  uint64_t words[4] = {0, 0, 0, 0};
  switch (kind) {
  case 0: /* up to 8 bytes: a word */ return (uint32_t)snprintf(text, MAX_TEXT, "%u", i);
  case 1: words[0] = unmix(i); break;
  case 2: /* the last 8 bytes cancel what an unkeyed mix makes of the first */
    words[0] = i;
    words[1] = unmix(i * UINT64_C(0x9e3779b97f4a7c15));
    memcpy(text, words, 16);
    return 16;
  case 3: /* equal first 32 bytes */
    return (uint32_t)snprintf(text, MAX_TEXT, "https://example.org/a/long/path/%08u", i);
  case 4: /* equal last 32 bytes */
    return (uint32_t)snprintf(text, MAX_TEXT, "%08u/a/long/path/https://example.org/", i);
  default: /* the same words, in other places */
    for (unsigned at = 0; at < 4; at++) words[at] = word_of(3, i >> 4 * at & 15);
    words[3] = i;
    memcpy(text, words, sizeof words);
    return sizeof words;
  }
  memcpy(text, words, 8);
  return 8;
}

/* ---------------------------------------------------------------- what finding a key costs */

static bool full[1 << 18];
static size_t n_full; /* of the last table */

/*
 * Finding a key takes at most as many comparisons as its run of full slots is long; this is the
 * mean over all keys if each run were a list. For random slots, up to 61% of them full as in these
 * tests, it is at most 5; for keys that all collide, half their number.
 */
static double cost(size_t n_slots) {
  double sum = 0, n = 0, run = 0;
  assert_true(n_slots <= COUNT(full));
  for (size_t i = 0; i <= n_slots; i++) {
    if (i < n_slots && full[i]) {
      run++;
      continue;
    }
    sum += run * (run + 1) / 2;
    n += run;
    run = 0;
  }
  assert_true(n > 0);
  n_full = (size_t)n;
  return sum / n;
}

enum { MAX_COST = 8 };

#define assert_cheap(N_SLOTS, FULL)                                                                \
  do {                                                                                             \
    for (size_t slot = 0; slot < (N_SLOTS); slot++) full[slot] = (FULL);                           \
    if (cost(N_SLOTS) > MAX_COST)                                                                  \
      fail_msg("kind %u, seed %u: cost %g", kind, seed, cost(N_SLOTS));                            \
  } while (0)

#define each_kind(N)                                                                               \
  for (unsigned kind = 0; kind < (N); kind++)                                                      \
    for (unsigned seed = 1; seed <= SEEDS && (shoal_hash_key_seed(seed), true); seed++)

static void dictionaries_are_not_flooded(void **state UNUSED) {
  static const uint32_t sizes[] = {1000, N_KEYS}; /* both kinds of slots */
  char text[MAX_TEXT + SHOAL_DICTIONARY_SLACK] = {0};
  each_kind(TEXT_KINDS) for (size_t s = 0; s < COUNT(sizes); s++) {
    shoal_dictionary d;
    assert_true(shoal_dictionary_init(&d));
    for (uint32_t i = 0; i < sizes[s]; i++) {
      uint32_t size = text_of(kind, i, text);
      assert_int_equal(shoal_dictionary_code(&d, text, size, i), i);
    }
    assert_true((d.near != NULL) == (s == 0));
    if (d.near) assert_cheap((size_t)1 << d.bits, d.near[slot].code_plus_1 != 0);
    else assert_cheap((size_t)1 << d.bits, d.slots[slot].code_plus_1 != 0);
    assert_int_equal(n_full, sizes[s]); /* each value once, however often slots were moved */
    shoal_dictionary_reset(&d);
  }
}

static void interned_strings_are_not_flooded(void **state UNUSED) {
  char text[MAX_TEXT];
  each_kind(TEXT_KINDS) {
    shoal_strings strings;
    assert_true(shoal_strings_init(&strings));
    for (uint32_t i = 0; i < N_KEYS; i++) {
      uint32_t size = text_of(kind, i, text);
      assert_int_equal(shoal_strings_intern(&strings, (shoal_label){text, size}), i);
    }
    assert_cheap((size_t)1 << strings.bits, strings.slots[slot] != 0);
    shoal_strings_reset(&strings);
  }
}

static void the_verifier_is_not_flooded_by_texts(void **state UNUSED) {
  char text[MAX_TEXT];
  each_kind(TEXT_KINDS) {
    shoal_verify_dictionary d;
    assert_true(shoal_verify_dictionary_init(&d));
    for (uint32_t i = 0; i < N_KEYS; i++) {
      uint32_t size = text_of(kind, i, text);
      assert_int_equal(shoal_verify_intern(&d, shoal_hash_bytes(text, size), text, size)->id, i);
    }
    assert_cheap((size_t)1 << d.bits, d.slots[slot].entry != NULL);
    shoal_verify_dictionary_reset(&d);
  }
}

static void the_verifier_is_not_flooded_by_pairs(void **state UNUSED) {
  each_kind(WORD_KINDS) {
    shoal_verify_pairs pairs;
    assert_true(shoal_verify_pairs_init(&pairs));
    for (uint64_t i = 0; i < N_KEYS; i++)
      assert_true(shoal_verify_count_pair(&pairs, word_of(kind, i), 1));
    assert_int_equal(pairs.n_used, N_KEYS);
    assert_cheap((size_t)1 << pairs.bits, pairs.slots[slot].n_rows != 0);
    shoal_verify_pairs_reset(&pairs);
  }
}

static void ids_are_not_flooded(void **state UNUSED) {
  each_kind(WORD_KINDS) {
    shoal_ids ids;
    assert_true(shoal_ids_init(&ids, 0));
    for (uint32_t i = 0; i < N_KEYS; i++)
      assert_int_equal(shoal_ids_insert(&ids, word_of(kind, i)), i);
    assert_cheap((size_t)1 << ids.bits, ids.slots[slot] != 0);
    shoal_ids_reset(&ids);
  }
}

static void tuples_are_not_flooded(void **state UNUSED) {
  each_kind(WORD_KINDS) {
    shoal_tuples wide, narrow;
    assert_true(shoal_tuples_init(&wide, 64, N_KEYS));
    assert_true(shoal_tuples_init(&narrow, 32, N_KEYS));
    for (uint64_t i = 0; i < N_KEYS; i++) {
      uint64_t word = word_of(kind, i);
      assert_int_equal(shoal_tuples_add(&wide, word, 1), i);
      word =
          kind % 2 ? i << kind : i * inverse(0x6659fd93); /* multiples of 2^1 to 2^11, and more */
      (void)shoal_tuples_add(&narrow, word & UINT32_MAX, 1);
    }
    assert_cheap((size_t)1 << wide.slot_bits, wide.wide[slot].id != 0);
    assert_cheap((size_t)1 << narrow.slot_bits, narrow.narrow[slot] != 0);
    shoal_tuples_reset(&wide);
    shoal_tuples_reset(&narrow);
  }
}

static void counted_rows_are_not_flooded(void **state UNUSED) {
  each_kind(WORD_KINDS) {
    shoal_row_counts *rows = shoal_row_counts_new(3);
    assert_non_null(rows);
    for (uint64_t i = 0; i < N_KEYS; i++) {
      uint64_t word = word_of(kind, i);
      uint32_t codes[3] = {(uint32_t)word, (uint32_t)(word >> 32), kind % 2 ? (uint32_t)i : 0};
      assert_true(shoal_row_counts_add(rows, codes, 1, i));
    }
    assert_int_equal(rows->n, N_KEYS);
    assert_cheap((size_t)1 << rows->bits, rows->slots[slot] != 0);
    shoal_row_counts_free(rows);
  }
}

/* Keys of a grouper: wide ones, and narrow ones that are more than a dense table takes. */
static void groups_are_not_flooded(void **state UNUSED) {
  static uint32_t labels[N_KEYS], zeros[N_KEYS], ids[N_KEYS];
  each_kind(WORD_KINDS) {
    shoal_grouper g;
    shoal_grouper_init(&g);
    bool narrow = kind % 2;
    for (uint32_t i = 0; i < N_KEYS; i++) labels[i] = narrow ? i * 89 * (kind + 1) : i;
    assert_true(shoal_grouper_start(&g, N_KEYS));
    assert_true(shoal_grouper_fold(&g, N_KEYS, NULL, labels, UINT64_C(1) << 31, ids));
    if (!narrow)
      assert_true(shoal_grouper_fold(&g, N_KEYS, NULL, zeros, UINT64_C(1) << (kind + 2), ids));
    assert_int_equal(shoal_grouper_ids(&g, N_KEYS, ids), N_KEYS);
    if (narrow) assert_cheap(1 << 16, g.slots[slot] != 0);
    else assert_cheap(1 << 16, g.table[slot] != 0);
    shoal_grouper_reset(&g);
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(hashes_follow_their_definition),
      cmocka_unit_test(keys_of_seeds_are_valid),
      cmocka_unit_test(each_byte_and_the_key_matter),
      cmocka_unit_test(dictionaries_are_not_flooded),
      cmocka_unit_test(interned_strings_are_not_flooded),
      cmocka_unit_test(the_verifier_is_not_flooded_by_texts),
      cmocka_unit_test(the_verifier_is_not_flooded_by_pairs),
      cmocka_unit_test(ids_are_not_flooded),
      cmocka_unit_test(tuples_are_not_flooded),
      cmocka_unit_test(counted_rows_are_not_flooded),
      cmocka_unit_test(groups_are_not_flooded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
