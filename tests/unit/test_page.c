/* SPDX-License-Identifier: Apache-2.0 */
/* What a page is made of: a hash, sizes of classes, labels that may be told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "describe/page.h"
#include "report/html.h"

/* ------------------------------------------------------------ SHA-256 */

static void assert_hash(const char *message, size_t size, size_t step, const char *expected) {
  static void (*const ways[])(shoal_sha256 *) = {shoal_sha256_init, shoal_sha256_init_plain};
  for (size_t way = 0; way < 2; way++) {
    char text[SHOAL_SHA256_TEXT];
    shoal_sha256 hash;
    ways[way](&hash);
    for (size_t at = 0; at < size; at += step)
      shoal_sha256_add(&hash, message + at, size - at < step ? size - at : step);
    shoal_sha256_finish(&hash, text);
    assert_string_equal(expected, text);
  }
}

/* The examples of FIPS 180-2, appendix B, and the hash of nothing. */
static void hashes_are_those_of_the_standard(void **state) {
  (void)state;
  static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  assert_hash("", 0, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert_hash("abc", 3, 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  for (size_t step = 1; step <= 56; step++)
    assert_hash(two_blocks, 56, step,
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  char *million = malloc(1000000);
  assert_non_null(million);
  memset(million, 'a', 1000000);
  static const size_t steps[] = {1000000, 63, 64, 65, 4096};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    assert_hash(million, 1000000, steps[i],
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  free(million);
}

/* ------------------------------------------------------------ sizes */

static void sizes_fall_between_the_named_limits(void **state) {
  (void)state;
  static const uint64_t sizes[] = {1, 1, 2, 3, 4, 5, 10, 11, 19, 20, 1000};
  static const uint64_t expected[SHOAL_SIZE_BINS] = {2, 2, 7, 15, 30, 1020};
  shoal_class_sizes all = {.n_records = 0};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) shoal_class_sizes_add(&all, sizes[i]);
  assert_memory_equal(expected, all.records, sizeof expected);
  assert_int_equal(1076, all.n_records);
  assert_int_equal(11, all.n_classes);
  assert_int_equal(1, all.smallest);
}

/* No row shows 1 to k - 1 records, whatever the sizes; nothing gets lost. */
static void rows_of_sizes_are_never_small(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (int round = 0; round < 2000; round++) {
    shoal_class_sizes before = {.n_records = 0}, after = {.n_records = 0};
    uint64_t k = 2 + (uint64_t)round % 9, sums[2] = {0, 0};
    for (size_t i = 0; i < SHOAL_SIZE_BINS; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      before.n_records += before.records[i] = seed >> 60;
      after.n_records += after.records[i] = (seed >> 50 & 1) ? 0 : k + (seed >> 40 & 7);
    }
    shoal_size_row rows[SHOAL_SIZE_BINS];
    size_t n = shoal_class_sizes_rows(&before, &after, k, rows);
    assert_int_equal(1, rows[0].low);
    assert_int_equal(0, rows[n - 1].high);
    for (size_t i = 0; i < n; i++) {
      if (n > 1) assert_false(rows[i].before > 0 && rows[i].before < k);
      if (i) assert_int_equal(rows[i - 1].high + 1, rows[i].low);
      sums[0] += rows[i].before;
      sums[1] += rows[i].after;
    }
    assert_int_equal(before.n_records, sums[0]);
    assert_int_equal(after.n_records, sums[1]);
  }
}

static void what_lies_within_a_joined_row_is_not_told(void **state) {
  (void)state;
  shoal_class_sizes before = {.records = {1, 6, 9, 0, 0, 40}, .n_records = 56};
  shoal_class_sizes after = {.records = {0, 0, 0, 0, 0, 50}, .n_records = 50};
  shoal_size_row rows[SHOAL_SIZE_BINS];
  uint64_t below[2];
  size_t n = shoal_class_sizes_rows(&before, &after, 3, rows);
  assert_int_equal(5, n); /* the one unique record is counted with those of size 2 */
  assert_false(shoal_class_sizes_below(rows, n, 2, &below[0], &below[1]));
  assert_true(shoal_class_sizes_below(rows, n, 3, &below[0], &below[1]));
  assert_int_equal(7, below[0]);
  assert_int_equal(0, below[1]);
}

/* ------------------------------------------------------------ labels */

static shoal_label_count tally(const char *label, uint64_t before, uint64_t after) {
  return (shoal_label_count){{label, strlen(label)}, before, after};
}

static shoal_html_report_attribute choose(shoal_result *result, const shoal_label_count *tallies,
                                          size_t n, uint64_t k, bool numeric) {
  shoal_html_report_attribute attribute = {.name = "x"};
  assert_int_equal(SHOAL_OK,
                   shoal_distribution_redact(result, tallies, n, k, numeric, &attribute, NULL));
  return attribute;
}

static void rare_labels_are_told_together(void **state) {
  (void)state;
  shoal_result *result = shoal_result_new(SHOAL_RESULT_RELEASE);
  const shoal_label_count tallies[] = {tally("often", 40, 40), tally("rare", 2, 2),
                                       tally("few", 4, 4), tally("some", 10, 10),
                                       tally("gone", 5, 0)};
  shoal_html_report_attribute a = choose(result, tallies, 5, 5, false);
  assert_int_equal(2, a.n_labels);
  assert_string_equal("often", a.labels[0].label);
  assert_string_equal("some", a.labels[1].label);
  assert_int_equal(3, a.n_others);
  assert_int_equal(11, a.others_before);
  assert_int_equal(6, a.others_after);
  assert_false(a.before_hidden);
  shoal_result_free(result);
}

/* One rare label alone would follow from the total: another one goes with it. */
static void what_is_left_is_not_small_either(void **state) {
  (void)state;
  shoal_result *result = shoal_result_new(SHOAL_RESULT_RELEASE);
  const shoal_label_count tallies[] = {tally("a", 40, 40), tally("b", 30, 30), tally("c", 1, 1)};
  shoal_html_report_attribute a = choose(result, tallies, 3, 5, false);
  assert_int_equal(1, a.n_labels);
  assert_int_equal(2, a.n_others);
  assert_int_equal(31, a.others_after);
  shoal_result_free(result);
}

/* Counts after of bins are estimates: they differ by chance, and a bin may lose all. */
static void bins_show_what_was_before(void **state) {
  (void)state;
  shoal_result *result = shoal_result_new(SHOAL_RESULT_RELEASE);
  const shoal_label_count tallies[] = {tally("[0-9]", 20, 22), tally("[10-19]", 9, 0),
                                       tally("[20-29]", 31, 38), tally("[30-39]", 0, 0)};
  shoal_html_report_attribute a = {.name = "x", .binned = true};
  assert_int_equal(SHOAL_OK, shoal_distribution_redact(result, tallies, 4, 5, true, &a, NULL));
  assert_int_equal(3, a.n_labels);
  assert_int_equal(9, a.labels[1].before);
  assert_int_equal(0, a.n_others);
  assert_false(a.before_hidden);
  result->release.suppressed = 2; /* removed: the sums would tell */
  assert_int_equal(SHOAL_OK, shoal_distribution_redact(result, tallies, 4, 5, true, &a, NULL));
  assert_true(a.before_hidden);
  assert_int_equal(0, a.labels[0].before);
  result->release.blanked = 2; /* they are among the rows after */
  assert_int_equal(SHOAL_OK, shoal_distribution_redact(result, tallies, 4, 5, true, &a, NULL));
  assert_false(a.before_hidden);
  shoal_result_free(result);
}

/* Fewer than k rows were left out: no label says from which of them. */
static void a_small_difference_hides_what_was_before(void **state) {
  (void)state;
  shoal_result *result = shoal_result_new(SHOAL_RESULT_RELEASE);
  const shoal_label_count tallies[] = {tally("a", 40, 40), tally("b", 30, 28)};
  shoal_html_report_attribute a = choose(result, tallies, 2, 5, false);
  assert_true(a.before_hidden);
  assert_int_equal(2, a.n_labels);
  assert_int_equal(0, a.labels[0].before);
  assert_int_equal(28, a.labels[1].after);
  shoal_result_free(result);
}

/* On random tallies: no small count is shown or follows from what is shown. */
static void nothing_small_can_be_worked_out(void **state) {
  (void)state;
  uint64_t seed = 7;
  for (int round = 0; round < 3000; round++) {
    shoal_label_count tallies[40];
    char names[40][8];
    uint64_t k = 2 + (uint64_t)round % 7, before = 0, after = 0;
    size_t n = 1 + (size_t)round % 40;
    for (size_t i = 0; i < n; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      uint64_t kept = seed >> 59, lost = (seed >> 40 & 7) < 5 ? 0 : seed >> 45 & 7;
      (void)snprintf(names[i], sizeof names[i], "v%zu", i);
      tallies[i] = tally(names[i], kept + lost, kept);
      before += kept + lost;
      after += kept;
    }
    shoal_result *result = shoal_result_new(SHOAL_RESULT_RELEASE);
    shoal_html_report_attribute a = choose(result, tallies, n, k, false);
    uint64_t told[2] = {a.others_before, a.others_after};
    bool alone = a.n_labels == 0;
    for (size_t i = 0; i <= a.n_labels; i++) {
      uint64_t b = i < a.n_labels ? a.labels[i].before : a.others_before;
      uint64_t c = i < a.n_labels ? a.labels[i].after : a.others_after;
      if (i < a.n_labels) told[0] += b, told[1] += c;
      if (alone) break; /* totals of the table, which stand elsewhere too */
      assert_false(c > 0 && c < k);
      if (a.before_hidden) continue;
      assert_false(b > 0 && b < k);
      assert_false(b > c && b - c < k);
    }
    assert_int_equal(after, told[1]);
    assert_int_equal(a.before_hidden ? 0 : before, told[0]);
    shoal_result_free(result);
  }
}

/* ------------------------------------------------------------ charts and markup */

static void few_people_are_not_counted_out(void **state) {
  (void)state;
  static const struct {
    uint64_t n, k;
    const char *words;
  } cases[] = {
      {0, 5, "0"}, {1, 5, "fewer than 5"}, {4, 5, "fewer than 5"}, {5, 5, "5"}, {1, 1, "1"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(cases[i].words, shoal_say_hidden(cases[i].n, cases[i].k).text);
}

static void the_first_words_say_that_the_page_is_internal(void **state) {
  (void)state;
  static const char first[] =
      "<body>\n<p class=\"internal\" role=\"note\">Internal report: not for "
      "publication. It contains statistics of the original table.</p>\n";
  static const shoal_result_kind kinds[] = {SHOAL_RESULT_CHECK, SHOAL_RESULT_LATTICE};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const shoal_result result = {.kind = kinds[i]};
    shoal_text text;
    shoal_text_init(&text);
    shoal_render_html(&result, &text);
    assert_non_null(strstr(text.bytes, first));
    shoal_text_reset(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hashes_are_those_of_the_standard),
      cmocka_unit_test(sizes_fall_between_the_named_limits),
      cmocka_unit_test(rows_of_sizes_are_never_small),
      cmocka_unit_test(what_lies_within_a_joined_row_is_not_told),
      cmocka_unit_test(rare_labels_are_told_together),
      cmocka_unit_test(what_is_left_is_not_small_either),
      cmocka_unit_test(bins_show_what_was_before),
      cmocka_unit_test(a_small_difference_hides_what_was_before),
      cmocka_unit_test(nothing_small_can_be_worked_out),
      cmocka_unit_test(few_people_are_not_counted_out),
      cmocka_unit_test(the_first_words_say_that_the_page_is_internal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
