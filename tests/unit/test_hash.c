/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of base/hash against its definition. Keys come from seeds: no run differs.
 * tests/limits/test_flooding.py has files that were made to collide.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/random.h"

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

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(hashes_follow_their_definition),
      cmocka_unit_test(keys_of_seeds_are_valid),
      cmocka_unit_test(each_byte_and_the_key_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
