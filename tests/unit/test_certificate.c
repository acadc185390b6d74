/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of certificates: the rounding of suppressed rows against its definition, digit by
 * digit; and the public functions: both ways give the same page, and wrong calls are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <shoal/program.h>

#include "report/certificate.h"
#include "shoal/shoal.h"

/* ------------------------------------------------------------ rounding */

/* The definition, on the digits of the number. */
static void expect_rounded(uint64_t n, uint64_t k, char out[32]) {
  uint64_t unit = k > 10 ? k : 10;
  if (n == 0) (void)snprintf(out, 32, "none");
  else if (n < unit) (void)snprintf(out, 32, "few");
  else {
    (void)snprintf(out, 32, "%llu", (unsigned long long)(n - n % unit));
    for (size_t i = 2; out[i]; i++) out[i] = '0';
  }
}

static void show(const shoal_left_out *left_out, char out[32]) {
  static const char *const words[] = {"none", "few"};
  if (left_out->kind == SHOAL_LEFT_OUT_ROUNDED)
    (void)snprintf(out, 32, "%llu", (unsigned long long)left_out->rows);
  else (void)snprintf(out, 32, "%s", words[left_out->kind]);
}

static void rounding_is_as_defined_and_can_be_repeated(void **state) {
  (void)state;
  for (uint64_t k = 1; k <= 60; k++) {
    for (uint64_t n = 0; n < 3000; n++) {
      char expected[32], found[32], argument[SHOAL_LEFT_OUT_BYTES];
      shoal_left_out left_out = shoal_left_out_of(n, k), again;
      expect_rounded(n, k, expected);
      show(&left_out, found);
      assert_string_equal(found, expected);
      shoal_left_out_argument(&left_out, argument);
      assert_true(shoal_left_out_parse(argument, k, &again));
      assert_int_equal(again.kind, left_out.kind);
      assert_int_equal(again.rows, left_out.rows);
      assert_int_equal(again.unit, left_out.unit);
    }
  }
}

static void large_numbers_are_rounded(void **state) {
  (void)state;
  char found[32];
  shoal_left_out left_out = shoal_left_out_of(UINT64_MAX, 3);
  show(&left_out, found);
  assert_string_equal(found, "18000000000000000000");
  left_out = shoal_left_out_of(UINT64_MAX, UINT64_MAX);
  assert_int_equal(left_out.kind, SHOAL_LEFT_OUT_ROUNDED);
}

static void other_words_are_refused(void **state) {
  (void)state;
  static const char *const words[] = {
      "", "many", "-1", "1.5", "1e3", " 1", "1 ", "None", "9999999999999999999"};
  shoal_left_out left_out;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    assert_false(shoal_left_out_parse(words[i], 3, &left_out));
}

/* ------------------------------------------------------------ the public functions */

static const char POLICY[] =
    "shoal: 1\nattributes:\n  age: {role: quasi, type: number, hierarchy: {intervals: [10]}}\n"
    "  ill: {role: sensitive}\nprivacy: {k: 2, p: 2}\nmethod: {labels: uniform, "
    "max-suppression: 2, seed: 4711}\n";
static const char AGES[] = "2122232434353699", ILLS[] = "abcdefga";

static char directory[64], release[96], page[96];

static int make_directory(void **state) {
  (void)state;
  (void)snprintf(directory, sizeof directory, "/tmp/shoal-cert-XXXXXX");
  bool made = mkdtemp(directory) != NULL;
  (void)snprintf(release, sizeof release, "%s/release.csv", directory);
  (void)snprintf(page, sizeof page, "%s/page.html", directory);
  return !made;
}

static int remove_directory(void **state) {
  (void)state;
  (void)unlink(release);
  (void)unlink(page);
  return rmdir(directory);
}

static shoal_policy *parse(void) {
  shoal_policy *policy;
  assert_int_equal(shoal_policy_parse(POLICY, strlen(POLICY), NULL, NULL, &policy, NULL), SHOAL_OK);
  return policy;
}

static shoal_table *fill(const shoal_policy *policy) {
  static const char *const names[] = {"age", "ill"};
  static const uint64_t twos[] = {0, 2, 4, 6, 8, 10, 12, 14, 16},
                        ones[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const shoal_text_view columns[] = {{AGES, twos}, {ILLS, ones}};
  shoal_table *table;
  assert_int_equal(shoal_table_new(names, 2, &table, NULL), SHOAL_OK);
  assert_int_equal(shoal_table_append(table, columns, 2, 8, NULL, NULL), SHOAL_OK);
  assert_int_equal(shoal_table_finish(table, policy, SHOAL_FOR_RELEASE, NULL), SHOAL_OK);
  return table;
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *bytes = calloc(1, 1 << 18);
  assert_non_null(bytes);
  assert_true(fread(bytes, 1, (1 << 18) - 1, file) > 0);
  (void)fclose(file);
  return bytes;
}

static void the_library_makes_the_same_page_in_both_ways(void **state) {
  (void)state;
  shoal_policy *policy = parse();
  shoal_table *table = fill(policy);
  shoal_release *made;
  shoal_result *result;
  char *text;
  assert_int_equal(shoal_anonymize(table, policy, NULL, &made, NULL), SHOAL_OK);
  const shoal_write_options options = {.certificate = page};
  assert_int_equal(shoal_release_write(made, release, &options, NULL, NULL), SHOAL_OK);
  assert_int_equal(shoal_certificate(release, policy, "1", NULL, &result, NULL), SHOAL_OK);
  assert_true(shoal_result_holds(result));
  assert_int_equal(shoal_result_verdict(result), SHOAL_HOLDS);
  assert_int_equal(shoal_result_render(result, SHOAL_HTML, &text, NULL), SHOAL_OK);
  char *written = read_file(page);
  assert_string_equal(written, text);
  assert_null(strstr(text, "4711"));
  free(written);
  free(text);
  shoal_result_free(result);
  shoal_release_free(made);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void a_certificate_is_not_written_over_a_file_to_avoid(void **state) {
  (void)state;
  shoal_policy *policy = parse();
  shoal_table *table = fill(policy);
  shoal_release *made;
  const char *avoid[] = {page};
  FILE *file = fopen(page, "w");
  assert_non_null(file);
  (void)fclose(file);
  assert_int_equal(shoal_anonymize(table, policy, NULL, &made, NULL), SHOAL_OK);
  const shoal_write_options options = {.certificate = page};
  const shoal_avoided avoided = {avoid, 1};
  assert_int_equal(shoal_release_write_beside(made, release, &avoided, &options, NULL, NULL),
                   SHOAL_BAD_INPUT);
  const shoal_write_options same = {.certificate = release}, stream = {.certificate = "-"};
  assert_int_equal(shoal_release_write(made, release, &same, NULL, NULL), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_release_write(made, release, &stream, NULL, NULL), SHOAL_BAD_INPUT);
  assert_int_equal(access(release, F_OK), -1);
  shoal_release_free(made);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void wrong_arguments_are_refused(void **state) {
  (void)state;
  shoal_policy *policy = parse();
  shoal_result *result = NULL;
  shoal_error error;
  assert_int_equal(shoal_certificate(NULL, policy, "none", NULL, &result, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_certificate(page, NULL, "none", NULL, &result, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_certificate(page, policy, NULL, NULL, &result, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_certificate(page, policy, "none", NULL, NULL, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_certificate(page, policy, "none", NULL, &result, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_certificate(directory, policy, "none", NULL, &result, &error),
                   SHOAL_BAD_INPUT);
  assert_null(result);
  shoal_policy_free(policy);
}

#define IN_DIRECTORY(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounding_is_as_defined_and_can_be_repeated),
      cmocka_unit_test(large_numbers_are_rounded),
      cmocka_unit_test(other_words_are_refused),
      IN_DIRECTORY(the_library_makes_the_same_page_in_both_ways),
      IN_DIRECTORY(a_certificate_is_not_written_over_a_file_to_avoid),
      IN_DIRECTORY(wrong_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
