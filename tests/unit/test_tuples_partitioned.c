/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/group/tuples_partitioned.c: rows get the numbers and counts that sorting them
 * gives, on any number of threads; whether it pays; memory that runs out at each place; a run that
 * is cancelled in each pass; and a table that goes this way.
 */
#include "lowmem_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "group/classes.h"
#include "group/tuples_partitioned.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { MAX_ROWS = 800000, LOW_BITS = 12 };

static uint16_t low[MAX_ROWS];
static uint32_t high[MAX_ROWS];
static uint8_t single[MAX_ROWS]; /* a column of one value takes no bits */
static shoal_column columns[] = {{.n_values = 1 << LOW_BITS, .code_size = 2, .codes = low},
                                 {.n_values = 1, .code_size = 1, .codes = single},
                                 {.n_values = 1 << 29, .code_size = 4, .codes = high}};
static const shoal_column *const column_of[] = {columns, columns + 1, columns + 2};
static const unsigned wide[] = {LOW_BITS, 0, 29}, narrow[] = {LOW_BITS, 0, 20};
static uint32_t tuple_of_row[MAX_ROWS];
static shoal_error error;

static shoal_words words_of(const unsigned *bits, uint64_t n_rows) {
  return (shoal_words){column_of, bits, COUNT(columns), n_rows};
}

static void set_value(uint32_t row, uint32_t value) {
  low[row] = (uint16_t)(value % (1 << LOW_BITS));
  high[row] = value >> LOW_BITS;
}

/* ---------------------------------------------------------------- numbers by sorting */

typedef uint32_t (*value_fn)(uint32_t row);

static uint32_t all_differ(uint32_t row) { return row * 7919; }
static uint32_t all_equal(uint32_t row UNUSED) { return 5; }
static uint32_t few_differ(uint32_t row) { return row * row % 97; }
static uint32_t half_come_twice(uint32_t row) { return row % 3 ? row : row / 2; }
static uint32_t later_come_again(uint32_t row) { return row < 6000 ? row : row % 6000; }
static uint32_t most_are_one(uint32_t row) { return row % 9 ? 1 : row; } /* one bin has most */

static uint32_t values[MAX_ROWS];

static int by_value_then_row(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (values[x] != values[y]) return values[x] < values[y] ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* first[r] is the first row with the value of row r; n_rows[r], if r is one, how many have it. */
static void sort_rows(uint32_t n, uint32_t *first, uint64_t *n_rows) {
  uint32_t *order = calloc(n + 1, sizeof *order);
  assert_non_null(order);
  for (uint32_t r = 0; r < n; r++) order[r] = r;
  qsort(order, n, sizeof *order, by_value_then_row);
  for (uint32_t i = 0, start = 0; i < n; i++) {
    if (values[order[i]] != values[order[start]]) start = i;
    first[order[i]] = order[start];
    n_rows[order[start]]++;
  }
  free(order);
}

static void check(value_fn value, uint32_t n, const unsigned *bits, unsigned n_threads) {
  uint32_t *first = calloc(n + 1, sizeof *first), *id = calloc(n + 1, sizeof *id), n_ids = 0;
  uint64_t *n_rows = calloc(n + 1, sizeof *n_rows);
  assert_true(first && id && n_rows);
  for (uint32_t r = 0; r < n; r++) set_value(r, values[r] = value(r));
  sort_rows(n, first, n_rows);
  shoal_words words = words_of(bits, n);
  shoal_tuples tuples;
  assert_int_equal(shoal_tuple_partitions_group(&words, &(shoal_run){.n_threads = n_threads},
                                                tuple_of_row, &tuples, &error),
                   SHOAL_OK);
  for (uint32_t r = 0; r < n; r++) {
    if (first[r] == r) {
      id[r] = n_ids++;
      assert_int_equal(tuples.words[id[r]], values[r]);
      assert_int_equal(tuples.n_rows[id[r]], n_rows[r]);
    }
    assert_int_equal(tuple_of_row[r], id[first[r]]);
  }
  assert_int_equal(tuples.n_ids, n_ids);
  uint32_t *ids = shoal_tuples_take_ids(&tuples);
  for (uint32_t i = 0; i < n_ids; i++) assert_int_equal(ids[i], i);
  free(ids);
  shoal_tuples_reset(&tuples);
  free(first);
  free(id);
  free(n_rows);
}

static void rows_are_numbered_as_they_come(void **state UNUSED) {
  static const value_fn kinds[] = {all_differ,      all_equal,        few_differ,
                                   half_come_twice, later_come_again, most_are_one};
  static const uint32_t sizes[] = {0, 1, 63, 64, 65, 4096, 4097, 20000, 140000};
  for (size_t kind = 0; kind < COUNT(kinds); kind++)
    for (size_t i = 0; i < COUNT(sizes); i++)
      for (unsigned n_threads = 1; n_threads <= 4; n_threads++)
        check(kinds[kind], sizes[i], n_threads % 2 ? wide : narrow, n_threads);
}

static void many_rows_fill_many_bins(void **state UNUSED) {
  check(half_come_twice, MAX_ROWS, wide, 3);
}

/* ---------------------------------------------------------------- whether it pays */

static void it_pays_for_many_rows_that_differ(void **state UNUSED) {
  for (uint32_t r = 0; r < MAX_ROWS; r++) set_value(r, all_differ(r));
  shoal_words many = words_of(wide, MAX_ROWS), fewer = words_of(wide, 749999);
  shoal_words least = words_of(wide, 750000), short_words = words_of(narrow, MAX_ROWS);
  shoal_words too_many = words_of(wide, SHOAL_NONE);
  assert_true(shoal_tuple_partitions_pay(&many));
  assert_true(shoal_tuple_partitions_pay(&least));
  assert_false(shoal_tuple_partitions_pay(&fewer));
  assert_false(shoal_tuple_partitions_pay(&short_words)); /* half the slots' bytes */
  assert_false(shoal_tuple_partitions_pay(&too_many));
  allocations_left = 0;
  assert_false(shoal_tuple_partitions_pay(&many));
  allocations_left = -1;
}

/* About a fourth of the rows must differ; drawn rows of an eighth meet twice as often. */
static void it_does_not_pay_where_rows_repeat(void **state UNUSED) {
  static const struct {
    uint32_t differ;
    bool pays;
  } cases[] = {{MAX_ROWS / 2, true}, {MAX_ROWS / 8, false}, {1000, false}, {1, false}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    uint64_t state_of = 88172645463325252u;
    for (uint32_t r = 0; r < MAX_ROWS; r++) { /* xorshift: drawn with repetition */
      state_of ^= state_of << 13;
      state_of ^= state_of >> 7;
      state_of ^= state_of << 17;
      set_value(r, (uint32_t)(state_of >> 20) % cases[i].differ);
    }
    shoal_words words = words_of(wide, MAX_ROWS);
    assert_int_equal(shoal_tuple_partitions_pay(&words), cases[i].pays);
  }
}

/* Few rows differ, but no two at the same distance are alike: sorted, or in waves. */
static void it_does_not_pay_where_rows_are_sorted(void **state UNUSED) {
  shoal_words words = words_of(wide, MAX_ROWS);
  for (uint32_t r = 0; r < MAX_ROWS; r++) set_value(r, r / 8);
  assert_false(shoal_tuple_partitions_pay(&words));
  for (uint32_t r = 0; r < MAX_ROWS; r++) set_value(r, r % 40001);
  assert_false(shoal_tuple_partitions_pay(&words));
  for (uint32_t r = 0; r < MAX_ROWS; r++) set_value(r, r % 48 ? 7 : r);
  assert_false(shoal_tuple_partitions_pay(&words));
}

/* ---------------------------------------------------------------- memory, and cancelling */

static void it_works_or_memory_is_lacking(void **state UNUSED) {
  enum { NEEDED = 6 + 2 * 2 + 2 + 1 }; /* whole, parts, slots, tuples; then counts are shortened */
  for (uint32_t r = 0; r < 20000; r++) set_value(r, half_come_twice(r));
  shoal_words words = words_of(wide, 20000);
  fails_once = true;
  for (long n = 0; n <= NEEDED + 1; n++) {
    shoal_tuples tuples;
    allocations_left = n;
    shoal_status status = shoal_tuple_partitions_group(
        &words, &(shoal_run){.n_threads = 2}, tuple_of_row, &tuples, n % 2 ? &error : NULL);
    assert_int_equal(allocations_left, n <= NEEDED ? -1 : 0);
    allocations_left = -1;
    assert_int_equal(status, n < NEEDED ? SHOAL_FAILED : SHOAL_OK);
    assert_int_equal(tuples.words != NULL, n >= NEEDED);
    if (n >= NEEDED) assert_int_equal(tuples.n_rows[1], 2); /* rows 1 and 3 */
    shoal_tuples_reset(&tuples);
  }
}

typedef struct reports {
  unsigned n, cancelled_at;
  uint64_t done;
} reports;

static bool cancel(void *user, const shoal_progress *progress) {
  reports *r = user;
  assert_string_equal(progress->stage, "group");
  assert_true(progress->done >= r->done && progress->done <= progress->total);
  r->done = progress->done;
  return ++r->n == r->cancelled_at;
}

/* Five blocks and three passes are 15 reports; the first part of two has two of the blocks. */
static void a_cancelled_run_groups_nothing(void **state UNUSED) {
  shoal_words words = words_of(wide, 20000);
  for (unsigned n_threads = 1; n_threads <= 2; n_threads++)
    for (unsigned at = 1; at <= (n_threads == 1 ? 16 : 7); at++) {
      reports told = {.cancelled_at = at};
      shoal_run run = {.n_threads = n_threads, .progress = cancel, .progress_user = &told};
      shoal_tuples tuples;
      bool ends = told.cancelled_at > (n_threads == 1 ? 15 : 6);
      shoal_status status =
          shoal_tuple_partitions_group(&words, &run, tuple_of_row, &tuples, at % 2 ? &error : NULL);
      assert_int_equal(status, ends ? SHOAL_OK : SHOAL_CANCELLED);
      assert_int_equal(told.n, ends ? at - 1 : at);
      shoal_tuples_reset(&tuples);
    }
}

/* ---------------------------------------------------------------- a table */

static shoal_status build(shoal_frequency_set **f) {
  static shoal_table table = {.n_rows = MAX_ROWS, .n_records = MAX_ROWS};
  static const shoal_hierarchy *const none[COUNT(columns)];
  return shoal_frequency_set_build(&table, column_of, none, COUNT(columns), NULL, NULL, 0,
                                   &(shoal_run){.n_threads = 2}, f, &error);
}

static void a_table_goes_through_bins(void **state UNUSED) {
  columns[0].n_values = 1 << LOW_BITS;
  for (uint32_t r = 0; r < MAX_ROWS; r++) set_value(r, r < 9 ? 1u << 30 : r * 3);
  shoal_frequency_set *f = NULL;
  long n = 0;
  fails_once = false; /* nothing is left: no way around it */
  for (; !f && n < 200; n++) {
    allocations_left = n;
    shoal_status status = build(&f);
    assert_int_equal(status, f ? SHOAL_OK : SHOAL_FAILED);
  }
  allocations_left = -1;
  assert_in_range(n, 20, 100);
  assert_int_equal(f->n_tuples, MAX_ROWS - 8);
  assert_int_equal(f->base.n_rows[0], 9);
  for (uint32_t r = 9; r < MAX_ROWS; r++) {
    uint32_t tuple = f->tuple_of_row[r];
    if (tuple != r - 8 || f->base.tuple[tuple] != tuple || f->base.n_rows[tuple] != 1 ||
        shoal_code_at(f->codes[0], tuple) != low[r] || shoal_code_at(f->codes[2], tuple) != high[r])
      fail_msg("row %u", r);
  }
  shoal_frequency_set_free(f);
}

/* More than 64 bits: tuples of the first columns are a column of the next word, which has bins too.
 */
static void a_table_of_long_tuples_goes_through_bins(void **state UNUSED) {
  static shoal_table table = {.n_rows = MAX_ROWS, .n_records = MAX_ROWS};
  static uint32_t more[MAX_ROWS];
  shoal_column last = {.n_values = 1 << 29, .code_size = 4, .codes = more};
  const shoal_column *const four[] = {columns, columns + 1, columns + 2, &last};
  static const shoal_hierarchy *const none[4];
  for (uint32_t r = 0; r < MAX_ROWS; r++) { /* each second row differs in the last column alone */
    set_value(r, r / 2);
    more[r] = r % 2 ? 1 << 28 : r % 8;
  }
  more[MAX_ROWS - 1] = more[MAX_ROWS - 2]; /* but the last, which comes again */
  for (unsigned n_threads = 1; n_threads <= 3; n_threads += 2) {
    shoal_frequency_set *f;
    assert_int_equal(shoal_frequency_set_build(&table, four, none, 4, NULL, NULL, 0,
                                               &(shoal_run){.n_threads = n_threads}, &f, &error),
                     SHOAL_OK);
    assert_int_equal(f->n_words, 2);
    assert_int_equal(f->n_tuples, MAX_ROWS - 1);
    assert_int_equal(f->base.n_rows[MAX_ROWS - 2], 2);
    for (uint32_t r = 0; r < MAX_ROWS; r++) {
      uint32_t tuple = f->tuple_of_row[r];
      if (tuple != (r == MAX_ROWS - 1 ? r - 1 : r) ||
          shoal_code_at(f->codes[2], tuple) != high[r] ||
          shoal_code_at(f->codes[3], tuple) != more[r])
        fail_msg("row %u", r);
    }
    shoal_frequency_set_free(f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_numbered_as_they_come),
      cmocka_unit_test(many_rows_fill_many_bins),
      cmocka_unit_test(it_pays_for_many_rows_that_differ),
      cmocka_unit_test(it_does_not_pay_where_rows_repeat),
      cmocka_unit_test(it_does_not_pay_where_rows_are_sorted),
      cmocka_unit_test(it_works_or_memory_is_lacking),
      cmocka_unit_test(a_cancelled_run_groups_nothing),
      cmocka_unit_test(a_table_goes_through_bins),
      cmocka_unit_test(a_table_of_long_tuples_goes_through_bins),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
