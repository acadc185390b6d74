/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells that a spreadsheet would run: base/text, which the writer asks, and the verifier's own
 * reading, which must find what the writer missed. The two must agree on every cell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "verify/counter.h"
#include "verify/verify.h"
#include "verify_request.h"

#define UNUSED __attribute__((unused))

static bool formula(const char *cell) { return shoal_is_formula(cell, strlen(cell)); }
static bool quoted(const char *cell) { return shoal_is_quoted_formula(cell, strlen(cell)); }

static void formulas_are_told_from_numbers(void **state UNUSED) {
  static const char *const run[] = {"=",
                                    "=1",
                                    "+",
                                    "-",
                                    "@",
                                    "\t",
                                    "\r",
                                    "-x",
                                    "--",
                                    "-5+1",
                                    "-1e",
                                    "-1e+",
                                    "-1.2.3",
                                    "-.",
                                    "-e5",
                                    "+ 5",
                                    "'=1",
                                    "'-5",
                                    "''@",
                                    "\xef\xbc\x9d",
                                    "\xef\xbc\x8b"
                                    "5",
                                    "\xef\xbc\x8d\xef\xbc\x95",
                                    "\xef\xbc\xa0x",
                                    "'\xef\xbc\x9d"};
  static const char *const stay[] = {"",
                                     "5",
                                     "-5",
                                     "+5",
                                     "-5.",
                                     "-.5",
                                     "-,5",
                                     "-1e5",
                                     "+1E-5",
                                     "a=b",
                                     "'",
                                     "''",
                                     "'a",
                                     "[-5--1]",
                                     "*",
                                     "\xef\xbc",
                                     "\xef\xbc\x91",
                                     "\xef\xbc\xa1",
                                     "\xef\xbd\x9d",
                                     "a\xef\xbc\x9d"};
  for (size_t i = 0; i < sizeof run / sizeof *run; i++) assert_true(formula(run[i]));
  for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) assert_false(formula(stay[i]));
  assert_true(quoted("'=1") && quoted("''-5") && quoted("'-x"));
  assert_false(quoted("'-5") || quoted("=1") || quoted("'") || quoted("'a") || quoted(""));
}

/* Every cell of up to five bytes from those that matter, of full-width forms too. */
static void both_readings_agree(void **state UNUSED) {
  static const char letters[] = "=+-@5.,eE x\xef\xbc\x8b\x8d\x9d\xa0\x9c";
  enum { N = sizeof letters - 1, MOST = 5 };
  size_t n_formulas = 0;
  for (size_t size = 1, n = N; size <= MOST; size++, n *= N)
    for (size_t number = 0; number < n; number++) {
      char bytes[MOST];
      size_t rest = number;
      for (size_t i = 0; i < size; i++, rest /= N) bytes[i] = letters[rest % N];
      shoal_verify_cell cell = {.bytes = bytes, .size_bytes = size};
      bool runs = shoal_is_formula(bytes, size);
      if (runs != shoal_verify_is_formula(&cell)) fail_msg("'%.*s'", (int)size, bytes);
      n_formulas += runs;
    }
  assert_true(n_formulas > 1000);
}

/* ---------------------------------------------------------------- the verifier */

static uint8_t marks[3];
static shoal_error error;

static shoal_status verify(const char *release, uint64_t n_rows, bool quoted_requested) {
  static const char *const columns[] = {"age", "ill", "note"};
  static const shoal_verify_parameter k = {"k", "2"};
  static const shoal_verify_model model = {
      .name = "k-anonymity", .parameters = &k, .n_parameters = 1};
  shoal_verify_request request = request_on(columns, 3, &model);
  request.n_rows = n_rows;
  request.formulas_quoted = quoted_requested;
  request.formulas = marks;
  shoal_verify_finding finding;
  int fd = memfd_create("release", 0);
  size_t size = strlen(release);
  assert_int_equal(write(fd, release, size), (ssize_t)size);
  memset(marks, 9, sizeof marks);
  error = (shoal_error){0};
  shoal_status status = shoal_verify(fd, &request, NULL, &finding, &error);
  assert_int_equal(close(fd), 0);
  return status;
}

static const char bare[] = "age,ill,note\n20,a,-5\n20,\"=1,2\",x\n";

static void columns_with_formulas_are_told(void **state UNUSED) {
  assert_int_equal(verify(bare, 2, false), SHOAL_OK);
  assert_memory_equal(marks, ((uint8_t[]){0, 1, 0}), 3);
}

static void a_formula_that_was_not_quoted_fails(void **state UNUSED) {
  assert_int_equal(verify(bare, 2, true), SHOAL_FAILED);
  assert_non_null(strstr(error.message, "'ill'"));
  assert_null(strstr(error.message, "=1"));
  assert_int_equal(verify("age,ill,note\n20,a,-5\n20,'=1,x\n", 2, true), SHOAL_OK);
  assert_memory_equal(marks, ((uint8_t[]){0, 0, 0}), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formulas_are_told_from_numbers),
      cmocka_unit_test(both_readings_agree),
      cmocka_unit_test(columns_with_formulas_are_told),
      cmocka_unit_test(a_formula_that_was_not_quoted_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
