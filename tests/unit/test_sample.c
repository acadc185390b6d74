/* SPDX-License-Identifier: Apache-2.0 */
/* table/sample: exact up to 10,000 values; beyond that a sample that depends on the values only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "table/sample.h"

static uint32_t size_of_value(const void *user, const char *bytes, size_t size_bytes) {
  (void)bytes;
  return (uint32_t)size_bytes + *(const uint32_t *)user;
}

static const uint32_t zero = 0;
static const shoal_sampling sampling = {size_of_value, &zero};

/* Value v as a cell: short ones, and ones of more than eight bytes. */
static size_t print_value(unsigned v, char *out) {
  return (size_t)snprintf(out, 64, v % 3 ? "%u" : "a longer value %u", v);
}

/* Adds values first, first + step, .. below `end`, each v % 4 + 1 times, as cells of one column. */
static void add_cells(shoal_value_sample *sample, unsigned first, unsigned end, unsigned step) {
  enum { CELLS = 1000 };
  static char bytes[CELLS * 64 + 64];
  static uint32_t begin[CELLS], ends[CELLS];
  size_t n = 0, at = 0;
  for (unsigned v = first; v < end; v += step) {
    for (unsigned times = v % 4 + 1; times; times--) {
      begin[n] = (uint32_t)at;
      at += print_value(v, bytes + at);
      ends[n++] = (uint32_t)at;
    }
    if (n + 4 < CELLS && v + step < end) continue;
    assert_true(shoal_value_sample_add(sample, &sampling, bytes, begin, ends, 1, n));
    n = at = 0;
  }
}

static uint64_t sum_of_rows(const shoal_value_sample *sample) {
  uint64_t sum = 0;
  uint32_t n = 0;
  for (size_t i = 0; i < (size_t)1 << sample->bits; i++) {
    sum += shoal_value_sample_rows(sample, i);
    n += sample->slots[i] != 0;
  }
  assert_int_equal(n, sample->n_values);
  return sum;
}

typedef struct counted_key {
  uint64_t key;
  uint32_t n_rows, traits;
} counted_key;

static int compare_keys(const void *left, const void *right) {
  const counted_key *a = left, *b = right;
  return a->key < b->key ? -1 : a->key > b->key;
}

/* The sample's values by key; the caller frees them. */
static counted_key *sorted(const shoal_value_sample *sample) {
  counted_key *keys = shoal_alloc(sample->n_values, sizeof *keys);
  size_t n = 0;
  assert_non_null(keys);
  for (size_t i = 0; i < (size_t)1 << sample->bits; i++)
    if (sample->slots[i])
      keys[n++] =
          (counted_key){sample->keys[i], shoal_value_sample_rows(sample, i), sample->traits[i]};
  qsort(keys, n, sizeof *keys, compare_keys);
  return keys;
}

static void assert_same(const shoal_value_sample *a, const shoal_value_sample *b) {
  assert_int_equal(a->level, b->level);
  assert_int_equal(a->n_values, b->n_values);
  counted_key *left = sorted(a), *right = sorted(b);
  for (uint32_t i = 0; i < a->n_values; i++) {
    assert_true(left[i].key == right[i].key);
    assert_int_equal(left[i].n_rows, right[i].n_rows);
    assert_int_equal(left[i].traits, right[i].traits);
  }
  free(left);
  free(right);
}

static void exact_up_to_10000_values(void **state) {
  (void)state;
  shoal_value_sample sample = {0};
  add_cells(&sample, 0, SHOAL_SAMPLE_EXACT, 1);
  assert_int_equal(sample.level, 0);
  assert_int_equal(sample.n_values, SHOAL_SAMPLE_EXACT);
  assert_int_equal(sum_of_rows(&sample), SHOAL_SAMPLE_EXACT / 4 * (1 + 2 + 3 + 4));
  uint32_t rows[5] = {0};
  for (size_t i = 0; i < (size_t)1 << sample.bits; i++)
    if (sample.slots[i]) rows[shoal_value_sample_rows(&sample, i)]++;
  for (int n = 1; n <= 4; n++) assert_int_equal(rows[n], SHOAL_SAMPLE_EXACT / 4);
  add_cells(&sample, SHOAL_SAMPLE_EXACT, SHOAL_SAMPLE_EXACT + 1, 1); /* one more */
  assert_true(sample.level >= 3);
  assert_true(sample.n_values <= SHOAL_SAMPLE_VALUES);
  shoal_value_sample_reset(&sample);
}

/* However values are divided among parts, and in whatever order they come. */
static void same_for_any_parts(void **state) {
  (void)state;
  static const unsigned sizes[] = {50, 9000, 10001, 12000, 60000};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    unsigned n = sizes[s];
    shoal_value_sample whole = {0}, parts[3] = {{0}}, empty = {0};
    add_cells(&whole, 0, n, 1);
    for (unsigned p = 0; p < 3; p++) add_cells(&parts[p], p, n, 3);
    assert_true(shoal_value_sample_merge(&parts[2], &parts[0]));
    assert_true(shoal_value_sample_merge(&parts[2], &empty));
    assert_true(shoal_value_sample_merge(&parts[2], &parts[1]));
    assert_same(&whole, &parts[2]);
    /* a large part into a small one, and the reverse */
    shoal_value_sample few = {0}, most = {0}, again = {0}, rest = {0};
    add_cells(&few, 0, n / 10, 1);
    add_cells(&most, n / 10, n, 1);
    add_cells(&rest, 0, n / 10, 1);
    add_cells(&again, n / 10, n, 1);
    assert_true(shoal_value_sample_merge(&few, &most));
    assert_true(shoal_value_sample_merge(&again, &rest));
    assert_same(&whole, &few);
    assert_same(&whole, &again);
    shoal_value_sample *all[] = {&whole, &parts[0], &parts[1], &parts[2],
                                 &few,   &most,     &again,    &rest};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) shoal_value_sample_reset(all[i]);
  }
}

static void a_sample_stands_for_all_values(void **state) {
  (void)state;
  enum { VALUES = 200000 };
  shoal_value_sample sample = {0};
  add_cells(&sample, 0, VALUES, 1);
  assert_true(sample.n_values > SHOAL_SAMPLE_VALUES / 4 && sample.n_values <= SHOAL_SAMPLE_VALUES);
  double values = (double)sample.n_values * (double)(UINT64_C(1) << sample.level);
  assert_true(values > 0.8 * VALUES && values < 1.2 * VALUES);
  uint64_t sum = sum_of_rows(&sample); /* 2.5 rows a value on average */
  assert_true((double)sum > 2.2 * sample.n_values && (double)sum < 2.8 * sample.n_values);
  shoal_value_sample_reset(&sample);
}

static void single_values(void **state) {
  (void)state;
  static const char *const values[] = {"",
                                       "0",
                                       "00",
                                       "a",
                                       "aaaaaaa",
                                       "aaaaaaaa",
                                       "aaaaaaaaa",
                                       "aaaaaaaaaaaaaaaa",
                                       "aaaaaaaaaaaaaaaaa",
                                       "b"};
  enum { N = sizeof values / sizeof *values };
  shoal_value_sample sample = {0};
  char cell[64] = {0};
  for (int round = 0; round < 2; round++)
    for (size_t i = 0; i < N; i++) {
      memset(cell, round ? 'x' : 'y', sizeof cell); /* what follows a cell does not count */
      memcpy(cell, values[i], strlen(values[i]));
      assert_true(shoal_value_sample_add_value(&sample, &sampling, cell, strlen(values[i]), i + 1));
    }
  assert_int_equal(sample.n_values, N);
  assert_int_equal(sum_of_rows(&sample), 2 * (N * (N + 1) / 2));
  shoal_value_sample_reset(&sample);
  for (int i = 0; i < 3; i++) /* rows beyond 32 bits */
    assert_true(shoal_value_sample_add_value(&sample, &sampling, cell, 1, UINT64_C(1) << 31));
  assert_int_equal(sum_of_rows(&sample), UINT32_MAX);
  assert_true(shoal_value_sample_add_value(&sample, &sampling, cell, 1, UINT64_MAX));
  assert_int_equal(sum_of_rows(&sample), UINT32_MAX);
  shoal_value_sample_reset(&sample);
}

/* The last eight bytes cancel what shoal_mix makes of the first: a chain has one key for all. */
static void texts_that_cancel_a_mix_differ(void **state) {
  (void)state;
  enum { VALUES = 1000 };
  shoal_value_sample sample = {0};
  for (uint64_t i = 0; i < VALUES; i++) {
    uint64_t words[2] = {i, shoal_mix(sizeof words ^ i) ^ 1};
    char cell[sizeof words + 8] = {0};
    memcpy(cell, words, sizeof words);
    assert_true(shoal_value_sample_add_value(&sample, &sampling, cell, sizeof words, 1));
  }
  assert_int_equal(sample.n_values, VALUES);
  assert_int_equal(sum_of_rows(&sample), VALUES);
  shoal_value_sample_reset(&sample);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_up_to_10000_values),       cmocka_unit_test(same_for_any_parts),
      cmocka_unit_test(a_sample_stands_for_all_values), cmocka_unit_test(single_values),
      cmocka_unit_test(texts_that_cancel_a_mix_differ),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
