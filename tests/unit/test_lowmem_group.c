/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grouping while memory runs out at each place in turn: it says so, or finds another way to the
 * same classes. And what tables of a test do not lead to: more quasi-identifiers than one pass
 * takes, no rows at all, tuples that come without rows, keys at the bounds of each way to count
 * them, a run that is cancelled.
 */
#include "lowmem_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "group/classes.h"
#include "group/frequency.h"
#include "group/tuples.h"
#include "model/model.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

/* ---------------------------------------------------------------- tables of codes */

enum { MAX_QUASI = 66, MANY_ROWS = 100000, MAX_VALUES = 1 << 12 };

static shoal_error error;
static shoal_table table;
static shoal_column quasi[MAX_QUASI], sensitive[2];
static const shoal_column *quasi_of[MAX_QUASI], *const sensitive_of[] = {sensitive, sensitive + 1};
static uint32_t same[MAX_VALUES], all_zero[MAX_VALUES];
static shoal_level levels_of[MAX_QUASI][2];
static shoal_hierarchy hierarchies[MAX_QUASI];
static const shoal_hierarchy *hierarchy_of[MAX_QUASI];
static uint32_t codes[MAX_QUASI][MANY_ROWS];
static uint8_t values[2][MANY_ROWS];
static size_t n_quasi;
static shoal_run run;

/* Row r has r x (q + 1) modulo so many values; sensitive values are r modulo 3 and 70. */
static void make(size_t n_columns, uint32_t n_values, uint64_t n_rows) {
  n_quasi = n_columns;
  table = (shoal_table){.n_rows = n_rows, .n_records = n_rows};
  for (size_t q = 0; q < n_columns; q++) {
    quasi[q] = (shoal_column){.name = "q", .n_values = n_values, .code_size = 4, .codes = codes[q]};
    for (uint64_t r = 0; r < n_rows; r++) codes[q][r] = (uint32_t)(r * (q + 1) % n_values);
    levels_of[q][0] = (shoal_level){.n_labels = n_values, .of_leaf = same};
    levels_of[q][1] = (shoal_level){.n_labels = 1, .of_leaf = all_zero};
    hierarchies[q] = (shoal_hierarchy){
        .n_values = n_values, .n_levels = 2, .max_level = 1, .levels = levels_of[q]};
    hierarchy_of[q] = &hierarchies[q];
    quasi_of[q] = &quasi[q];
  }
  for (uint32_t v = 0; v < MAX_VALUES; v++) same[v] = v;
  for (size_t s = 0; s < 2; s++) {
    uint32_t modulus = s ? 70 : 3;
    sensitive[s] = (shoal_column){.n_values = modulus, .code_size = 1, .codes = values[s]};
    for (uint64_t r = 0; r < n_rows; r++) values[s][r] = (uint8_t)(r % modulus);
  }
  run = (shoal_run){.n_threads = 1};
}

static shoal_status build(size_t n_sensitive, shoal_frequency_set **frequency) {
  static const shoal_track track[] = {SHOAL_TRACK_SET, SHOAL_TRACK_HISTOGRAM};
  return shoal_frequency_set_build(&table, quasi_of, hierarchy_of, n_quasi, sensitive_of, track,
                                   n_sensitive, &run, frequency, &error);
}

static uint64_t rows_of(const shoal_classes *classes) {
  uint64_t n_rows = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++) n_rows += classes->n_rows[c];
  return n_rows;
}

/* As many rows of values as there are rows, and in each class as many as it has. */
static void check_histogram(const shoal_classes *classes) {
  const shoal_histogram *histogram = &classes->histograms[1];
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    uint64_t n_rows = 0;
    for (size_t e = histogram->start[c]; e < histogram->start[c + 1]; e++)
      n_rows += histogram->n_rows[e];
    assert_int_equal(n_rows, classes->n_rows[c]);
  }
}

/* Each allocation of the work fails in turn, until there are none left; how often it failed. */
static long fail_each_allocation(shoal_status (*work)(void)) {
  long n_failed = 0;
  fails_once = true;
  for (long n = 0, ended = 0; !ended; n++) {
    allocations_left = n;
    error = (shoal_error){0};
    shoal_status status = work();
    ended = allocations_left >= 0;
    allocations_left = -1;
    if (ended) assert_int_equal(status, SHOAL_OK);
    assert_true(status == SHOAL_OK || (status == SHOAL_FAILED && error.message[0]));
    n_failed += status == SHOAL_FAILED;
  }
  return n_failed;
}

/* ---------------------------------------------------------------- classes */

/* All that is done with classes, checked where it is done. */
static shoal_status roll_up_all(const shoal_frequency_set *f, const uint32_t *levels,
                                shoal_grouper *grouper) {
  shoal_classes classes = {0}, sizes = {0}, joined = {0}, of_rows = {0};
  uint32_t *one = calloc(table.n_rows + 1, sizeof *one);
  uint32_t added[] = {0, 0, 0}, added_values[] = {0, 5, 1, 6, 2, 5};
  assert_non_null(one);
  shoal_status status = shoal_classes_roll_up(f, &f->base, levels, grouper, &classes, NULL, &error);
  if (status == SHOAL_OK)
    status = shoal_classes_roll_up_sizes(f, &f->base, levels, grouper, &sizes, &error);
  if (status == SHOAL_OK) status = shoal_classes_regroup(&classes, one, 1, &joined, &error);
  if (status == SHOAL_OK)
    status = shoal_classes_of_rows(f, f->tuple_of_row, f->n_tuples, &of_rows, &error);
  if (status == SHOAL_OK && table.n_rows)
    status = shoal_classes_add_rows(f, 3, added, added_values, &of_rows, &error);
  if (status == SHOAL_OK) {
    assert_int_equal(rows_of(&classes), table.n_records);
    assert_int_equal(classes.n_classes, sizes.n_classes);
    assert_int_equal(joined.n_rows[0], table.n_records);
    assert_int_equal(rows_of(&of_rows), table.n_records + (table.n_rows ? 3 : 0));
    check_histogram(&classes);
    check_histogram(&of_rows);
  }
  shoal_classes_reset(&classes);
  shoal_classes_reset(&sizes);
  shoal_classes_reset(&joined);
  shoal_classes_reset(&of_rows);
  free(one);
  return status;
}

static shoal_status group_and_roll_up(void) {
  static uint32_t bottom[MAX_QUASI], most[MAX_QUASI], top[MAX_QUASI];
  for (size_t q = 0; q < n_quasi; q++) {
    most[q] = q == 1;
    top[q] = 1;
  }
  shoal_frequency_set *f = NULL;
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  shoal_status status = build(2, &f);
  if (status == SHOAL_OK) status = roll_up_all(f, bottom, &grouper);
  if (status == SHOAL_OK) status = roll_up_all(f, most, &grouper);
  if (status == SHOAL_OK) status = roll_up_all(f, top, &grouper);
  shoal_grouper_reset(&grouper);
  shoal_frequency_set_free(f);
  return status;
}

static void groups_are_made_or_memory_is_lacking(void **state UNUSED) {
  static const struct {
    size_t n_quasi;
    uint32_t n_values;
    uint64_t n_rows;
  } shapes[] = {{2, 5, 40},       {3, 40, 90},       {3, 1 << 10, 90}, {6, 1 << 10, 90},
                {9, 1 << 10, 90}, {2, 1 << 12, 300}, {14, 30, 90}};
  for (size_t i = 0; i < COUNT(shapes); i++) {
    make(shapes[i].n_quasi, shapes[i].n_values, shapes[i].n_rows);
    assert_true(fail_each_allocation(group_and_roll_up) > 40);
  }
  static uint64_t counts[90]; /* rows that stand for several */
  for (size_t r = 0; r < COUNT(counts); r++) counts[r] = 1 + r % 3;
  make(3, 40, 90);
  table.counts = counts;
  table.n_records = 180;
  assert_true(fail_each_allocation(group_and_roll_up) > 40);
}

/* Codes of 1 and 2 bytes give the tuples of codes of 4, in words of 30 bits and of 40. */
static void codes_of_any_size_are_the_same_tuples(void **state UNUSED) {
  static uint8_t bytes[90];
  static uint16_t halves[90];
  for (size_t n_columns = 3; n_columns <= 4; n_columns++) {
    shoal_frequency_set *wide, *narrow;
    make(n_columns, 1 << 10, 90);
    for (size_t r = 0; r < 90; r++) {
      codes[0][r] = bytes[r] = (uint8_t)(r * 7 % 50);
      codes[1][r] = halves[r] = (uint16_t)(r * 31 % 900);
    }
    assert_int_equal(build(0, &wide), SHOAL_OK);
    quasi[0].code_size = 1;
    quasi[0].codes = bytes;
    quasi[1].code_size = 2;
    quasi[1].codes = halves;
    assert_int_equal(build(0, &narrow), SHOAL_OK);
    assert_int_equal(narrow->n_tuples, wide->n_tuples);
    assert_memory_equal(narrow->tuple_of_row, wide->tuple_of_row, 90 * sizeof(uint32_t));
    assert_memory_equal(narrow->words[0], wide->words[0], wide->n_tuples * sizeof(uint64_t));
    shoal_frequency_set_free(wide);
    shoal_frequency_set_free(narrow);
  }
}

static void a_table_without_rows_has_no_classes(void **state UNUSED) {
  make(2, 5, 0);
  quasi[0].n_values = quasi[1].n_values = sensitive[0].n_values = sensitive[1].n_values = 0;
  assert_int_equal(group_and_roll_up(), SHOAL_OK);
  make(9, 1 << 10, 0); /* more than 64 bits */
  assert_int_equal(group_and_roll_up(), SHOAL_OK);
}

/* 66 columns of which most have one value: a word holds them, one pass does not. */
static void more_columns_than_one_pass_takes(void **state UNUSED) {
  make(66, 2, 90);
  for (size_t q = 2; q < 64; q++) {
    quasi[q].n_values = levels_of[q][0].n_labels = 1;
    memset(codes[q], 0, 90 * sizeof **codes);
  }
  assert_true(fail_each_allocation(group_and_roll_up) > 40);
}

/* 64 bits are taken when a column of one value comes, whose label is one of many. */
static void a_full_word_has_room_for_a_single_value(void **state UNUSED) {
  static const uint32_t most[8] = {1, 1, 1, 1, 1, 1, 0, 0};
  make(8, 1 << 10, 90);
  quasi[6].n_values = 16;
  quasi[7].n_values = 1;
  for (size_t r = 0; r < 90; r++) {
    codes[6][r] = (uint32_t)(r % 16);
    codes[7][r] = 0;
  }
  shoal_frequency_set *f;
  shoal_classes classes;
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  assert_int_equal(build(0, &f), SHOAL_OK);
  assert_int_equal(f->n_words, 1);
  for (size_t r = 0; r < 90; r++)
    for (size_t q = 0; q < 8; q++)
      assert_int_equal(shoal_code_at(f->codes[q], f->tuple_of_row[r]), codes[q][r]);
  assert_int_equal(shoal_classes_roll_up(f, &f->base, most, &grouper, &classes, NULL, &error),
                   SHOAL_OK);
  assert_int_equal(classes.n_classes, 16);
  shoal_classes_reset(&classes);
  shoal_grouper_reset(&grouper);
  shoal_frequency_set_free(f);
}

/* ---------------------------------------------------------------- parts, and cancelling */

static shoal_status group_in_parts(void) {
  shoal_frequency_set *f = NULL;
  shoal_status status = build(0, &f);
  if (status == SHOAL_OK) {
    assert_int_equal(f->n_tuples, 21000);
    for (uint64_t r = 0; r < table.n_rows; r++)
      if (f->tuple_of_row[r] != (r < 60000 ? r % 1000 : 1000 + r % 20000)) fail_msg("row %lu", r);
  }
  shoal_frequency_set_free(f);
  return status;
}

/* The second part brings tuples that the first has not, more than there were places for. */
static void parts_are_joined_or_memory_is_lacking(void **state UNUSED) {
  make(3, 1 << 12, MANY_ROWS);
  for (uint32_t r = 0; r < MANY_ROWS; r++) {
    uint32_t tuple = r < 60000 ? r % 1000 : 1000 + r % 20000;
    codes[0][r] = tuple % 4096;
    codes[1][r] = tuple / 4096;
    codes[2][r] = 0;
  }
  run.n_threads = 2;
  assert_true(fail_each_allocation(group_in_parts) > 8);
  quasi[2].n_values = 2; /* 25 bits: a word of 32 is enough; and more threads than parts */
  run.n_threads = 3;
  assert_true(fail_each_allocation(group_in_parts) > 8);
}

static shoal_status group_different_rows(void) {
  shoal_frequency_set *f = NULL;
  shoal_status status = build(0, &f);
  if (status == SHOAL_OK) {
    assert_int_equal(f->n_tuples, table.n_rows);
    for (uint64_t r = 0; r < table.n_rows; r++) assert_int_equal(f->tuple_of_row[r], r);
  }
  shoal_frequency_set_free(f);
  return status;
}

/* After the first rows it is known that there will be many tuples, and room is made for all. */
static void rows_that_all_differ_are_foreseen(void **state UNUSED) {
  make(3, 1 << 12, 20000);
  for (uint32_t r = 0; r < 20000; r++) {
    codes[0][r] = r % 4096;
    codes[1][r] = r / 4096;
    codes[2][r] = 0;
  }
  assert_in_range(fail_each_allocation(group_different_rows), 16, 21); /* else it grows thrice */
}

static bool cancel(void *user, const shoal_progress *progress) {
  assert_string_equal(progress->stage, "group");
  return ++*(unsigned *)user == 3;
}

static void a_cancelled_run_groups_nothing(void **state UNUSED) {
  make(2, 5, MANY_ROWS);
  for (unsigned n_threads = 1; n_threads <= 2; n_threads++)
    for (int told = 0; told < 2; told++) {
      unsigned n_reports = 0;
      shoal_frequency_set *f;
      run = (shoal_run){.n_threads = n_threads, .progress = cancel, .progress_user = &n_reports};
      error = (shoal_error){0};
      assert_int_equal(shoal_frequency_set_build(&table, quasi_of, hierarchy_of, n_quasi, NULL,
                                                 NULL, 0, &run, &f, told ? &error : NULL),
                       SHOAL_CANCELLED);
      assert_null(f);
      assert_int_equal(n_reports, 3);
      assert_int_equal(error.status, told ? SHOAL_CANCELLED : SHOAL_OK);
    }
}

/* ---------------------------------------------------------------- tuples */

/* So many tuples come one by one, without rows of a table; each is known again. */
static bool add_tuples(unsigned bits, uint64_t n_expected, uint64_t rows_seen, uint32_t n) {
  shoal_tuples tuples;
  bool ok = shoal_tuples_init(&tuples, bits, n_expected);
  tuples.rows_seen = rows_seen;
  for (uint32_t i = 0; ok && i < 2 * n; i++) {
    uint64_t word = i % n * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits);
    if (bits < 20) word = i % n;
    uint32_t id = shoal_tuples_add(&tuples, word, i + 1);
    ok = id != SHOAL_NONE;
    if (ok) assert_int_equal(id, i % n);
  }
  for (uint32_t i = 0; ok && i < n; i++) assert_int_equal(tuples.n_rows[i], 2 * i + 2 + n);
  shoal_tuples_reset(&tuples);
  return ok;
}

static unsigned adding_bits;
static uint64_t adding_expected, adding_seen;
static shoal_status add_some(void) {
  if (add_tuples(adding_bits, adding_expected, adding_seen, 3000)) return SHOAL_OK;
  return shoal_fail_memory(&error);
}

static void tuples_are_known_again_or_memory_is_lacking(void **state UNUSED) {
  static const unsigned bits[] = {12, 30, 32, 33, 60};
  static const uint64_t expected[] = {0, 100, 3001, 4000}, seen[] = {0, 3000, 500000};
  for (size_t b = 0; b < COUNT(bits); b++)
    for (size_t e = 0; e < COUNT(expected); e++)
      for (size_t s = 0; s < COUNT(seen); s++) {
        adding_bits = bits[b];
        adding_expected = expected[e];
        adding_seen = seen[s];
        assert_true(fail_each_allocation(add_some) > 2);
      }
  assert_true(add_tuples(60, 10, 0, 40000)); /* slots that lie far apart */
  assert_true(add_tuples(30, 10, 0, 40000));
}

/* ---------------------------------------------------------------- keys */

enum { FAR_TUPLES = 40000 };
static uint32_t ids[FAR_TUPLES];
static uint64_t label_bound;

/* Pairs (i mod 200, i / 200), each of them once, folded as labels below a bound. */
static shoal_status fold_pairs(void) {
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  static uint32_t low[FAR_TUPLES], high[FAR_TUPLES];
  for (uint32_t i = 0; i < FAR_TUPLES; i++) {
    low[i] = i % 200;
    high[i] = i / 200;
  }
  bool ok = shoal_grouper_start(&grouper, FAR_TUPLES) &&
            shoal_grouper_fold(&grouper, FAR_TUPLES, NULL, low, label_bound, ids) &&
            shoal_grouper_fold(&grouper, FAR_TUPLES, NULL, high, label_bound, ids) &&
            shoal_grouper_fold(&grouper, FAR_TUPLES, NULL, low, label_bound, ids);
  uint32_t n_ids = ok ? shoal_grouper_ids(&grouper, FAR_TUPLES, ids) : SHOAL_NONE;
  ok = n_ids != SHOAL_NONE;
  if (ok) assert_int_equal(n_ids, FAR_TUPLES);
  for (uint32_t i = 0; ok && i < FAR_TUPLES; i++) assert_int_equal(ids[i], i);
  shoal_grouper_reset(&grouper);
  return ok ? SHOAL_OK : shoal_fail_memory(&error);
}

static void keys_of_any_length_are_told_apart(void **state UNUSED) {
  static const uint64_t bounds[] = {200, 1000, 100000, UINT64_C(1) << 30};
  for (size_t i = 0; i < COUNT(bounds); i++) { /* narrow, narrow, wide, and shortened on the way */
    label_bound = bounds[i];
    assert_true(fail_each_allocation(fold_pairs) >= 2);
  }
}

/* Half of the keys twice; slots that would be twice as many stay fewer. */
static void many_keys_have_fewer_slots(void **state UNUSED) {
  enum { MANY_KEYS = 600000 };
  static uint32_t labels[MANY_KEYS], found[MANY_KEYS];
  static const uint64_t label_bounds[] = {UINT64_C(1) << 31, UINT64_C(1) << 33};
  for (uint32_t i = 0; i < MANY_KEYS; i++) labels[i] = i % (MANY_KEYS / 2) * 7;
  for (size_t b = 0; b < COUNT(label_bounds); b++) { /* narrow, wide */
    shoal_grouper grouper;
    shoal_grouper_init(&grouper);
    assert_true(shoal_grouper_start(&grouper, MANY_KEYS));
    assert_true(shoal_grouper_fold(&grouper, MANY_KEYS, NULL, labels, label_bounds[b], found));
    assert_int_equal(shoal_grouper_ids(&grouper, MANY_KEYS, found), MANY_KEYS / 2);
    for (uint32_t i = 0; i < MANY_KEYS; i++) assert_int_equal(found[i], i % (MANY_KEYS / 2));
    assert_int_equal(b ? grouper.table_capacity : grouper.slots_capacity, 1 << 20);
    shoal_grouper_reset(&grouper);
  }
}

/* One pass over packed words, where that can be. */
static void parts_that_do_not_fit_are_left_to_folding(void **state UNUSED) {
  static const uint64_t words[] = {0, 1, 4095, 4096, 8191};
  static uint32_t item[2000];
  shoal_key_part parts[65];
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  for (uint32_t i = 0; i < COUNT(item); i++) item[i] = i % 5;
  for (size_t q = 0; q < COUNT(parts); q++)
    parts[q] = (shoal_key_part){.shift = 0, .bits = 0, .lut = same, .n_codes = 1, .n_labels = 1};
  /* nothing tells them apart */
  assert_int_equal(shoal_grouper_packed_ids(&grouper, 5, item, words, parts, 0, ids), 1);
  assert_int_equal(shoal_grouper_packed_ids(&grouper, 5, item, words, parts, 65, ids), SHOAL_NONE);
  assert_int_equal(shoal_grouper_packed_ids(&grouper, 5, item, words, parts, 64, ids), 1);
  assert_int_equal(shoal_grouper_packed_ids(&grouper, 0, item, words, parts, 1, ids), 0);
  make(1, 1 << 12, 0);
  parts[0] = (shoal_key_part){.bits = 12, .lut = same, .n_codes = 1 << 12, .n_labels = 1 << 12};
  parts[1] = (shoal_key_part){.shift = 12, .bits = 1, .lut = same, .n_codes = 2, .n_labels = 2};
  /* a table for 5 tuples */
  assert_int_equal(shoal_grouper_packed_ids(&grouper, 5, item, words, parts, 2, ids), SHOAL_NONE);
  assert_int_equal(shoal_grouper_packed_ids(&grouper, 2000, item, words, parts, 2, ids), 5);
  for (uint32_t i = 0; i < COUNT(item); i++) assert_int_equal(ids[i], i % 5);
  parts[0].n_labels = parts[1].n_labels = UINT64_C(1) << 33; /* 66 bits */
  assert_int_equal(shoal_grouper_packed_ids(&grouper, 2000, item, words, parts, 2, ids),
                   SHOAL_NONE);
  shoal_grouper_reset(&grouper);
}

/* 16 parts of 4 bits, of which 3 count: more tables than one pass uses, however large they are. */
static void parts_for_several_passes_are_packed(void **state UNUSED) {
  enum { N = 5000, PARTS = 16 };
  static uint64_t words[N];
  static uint32_t item[N], found[N], eight[16];
  shoal_key_part parts[PARTS];
  shoal_grouper grouper;
  shoal_random random;
  shoal_random_seed(&random, 47);
  shoal_grouper_init(&grouper);
  for (uint32_t code = 0; code < 16; code++) eight[code] = code % 8;
  for (unsigned q = 0; q < PARTS; q++)
    parts[q] = (shoal_key_part){
        .shift = 4 * q, .bits = 4, .lut = eight, .n_codes = 16, .n_labels = q == 5 ? 1 : 8};
  for (uint32_t i = 0; i < N;
       i++) { /* a few words, and copies that differ in what does not count */
    item[i] = i;
    words[i] = i < 50 ? shoal_random_below(&random, UINT64_MAX) & UINT64_C(0x7777777777077777)
                      : words[i % 50] | UINT64_C(0x8) << 4 * (i % PARTS);
  }
  assert_int_equal(shoal_grouper_packed_ids(&grouper, N, item, words, parts, PARTS, found), 50);
  for (uint32_t i = 0; i < N; i++) assert_int_equal(found[i], i % 50);
  shoal_grouper_reset(&grouper);
}

/* ---------------------------------------------------------------- people */

/* 5,000 pairs: the table of them grows while rows are numbered. */
static void pairs_are_numbered_or_memory_is_lacking(void **state UNUSED) {
  make(1, MAX_VALUES, 5000);
  shoal_pairs *pairs = NULL;
  long n = 0;
  for (; !pairs; n++) {
    allocations_left = n;
    pairs = shoal_pairs_new(&table, &sensitive[1], &quasi[0]);
    allocations_left = -1;
    assert_true(n < 1000);
  }
  assert_true(n > 6);
  assert_int_equal(pairs->column.n_values, 5000);
  for (uint64_t row = 0; row < 5000; row++) {
    uint32_t pair = shoal_column_code(&pairs->column, row);
    assert_int_equal(pairs->value_of[pair], shoal_column_code(&sensitive[1], row));
    assert_true(!pair || pairs->value_of[pair - 1] <= pairs->value_of[pair]);
  }
  shoal_pairs_free(pairs);
}

/* Values come in any order, and again; each class keeps the least four. */
static void capped_lists_keep_the_least_values(void **state UNUSED) {
  static const uint64_t most[] = {9, 2, 9}, start[] = {0, 4, 6, 10};
  static const uint32_t least[] = {0, 1, 2, 3, 0, 1, 0, 1, 2, 3};
  shoal_capped_lists lists;
  shoal_histogram made;
  assert_true(shoal_capped_lists_init(&lists, 3, 4, most));
  for (uint32_t i = 0; i < 40; i++)
    for (uint32_t c = 0; c < 3; c++)
      shoal_capped_lists_add(&lists, c, c == 1 ? i % 2 : (i * (c ? 7 : 5) + 8) % 9);
  shoal_capped_lists_take(&lists, 9, &made);
  for (size_t i = 0; i < COUNT(start); i++) assert_int_equal(made.start[i], start[i]);
  assert_memory_equal(made.value, least, sizeof least);
  free(made.start);
  free(made.value);
}

static void capped_lists_are_made_or_memory_is_lacking(void **state UNUSED) {
  static const uint64_t most[] = {3, 1};
  shoal_capped_lists lists;
  for (long n = 0; n < 3; n++)
    for (int once = 0; once < 2; once++) {
      fails_once = once;
      allocations_left = n;
      assert_false(shoal_capped_lists_init(&lists, 2, 2, most));
      allocations_left = -1;
    }
  fails_once = false;
  assert_true(shoal_capped_lists_init(&lists, 2, 2, most));
  shoal_histogram made;
  for (uint32_t value = 5; value > 2; value--) shoal_capped_lists_add(&lists, 0, value);
  shoal_capped_lists_take(&lists, 6, &made);
  assert_int_equal(made.start[1], 2);
  assert_int_equal(made.value[0], 3);
  assert_int_equal(made.value[1], 4);
  free(made.start);
  free(made.value);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_are_made_or_memory_is_lacking),
      cmocka_unit_test(codes_of_any_size_are_the_same_tuples),
      cmocka_unit_test(a_table_without_rows_has_no_classes),
      cmocka_unit_test(more_columns_than_one_pass_takes),
      cmocka_unit_test(a_full_word_has_room_for_a_single_value),
      cmocka_unit_test(parts_are_joined_or_memory_is_lacking),
      cmocka_unit_test(rows_that_all_differ_are_foreseen),
      cmocka_unit_test(a_cancelled_run_groups_nothing),
      cmocka_unit_test(tuples_are_known_again_or_memory_is_lacking),
      cmocka_unit_test(keys_of_any_length_are_told_apart),
      cmocka_unit_test(many_keys_have_fewer_slots),
      cmocka_unit_test(parts_that_do_not_fit_are_left_to_folding),
      cmocka_unit_test(parts_for_several_passes_are_packed),
      cmocka_unit_test(pairs_are_numbered_or_memory_is_lacking),
      cmocka_unit_test(capped_lists_are_made_or_memory_is_lacking),
      cmocka_unit_test(capped_lists_keep_the_least_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
