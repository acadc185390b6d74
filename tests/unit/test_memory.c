/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of tables that are counted because their rows do not fit into the memory allowed: the
 * release is that of a table with all its rows, and a file that changes between the two passes is
 * noticed, with nothing left behind.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "shoal/shoal.h"

#define UNUSED __attribute__((unused))

enum { ROWS = 30000, ROW_BYTES = 23 };

static const char POLICY[] =
    "shoal: 1\n"
    "attributes:\n"
    "  age: {role: quasi, type: number, hierarchy: {intervals: [5, 10, 20]}}\n"
    "  town: {role: quasi, hierarchy: {top: true}}\n"
    "  illness: {role: sensitive}\n"
    "  note: {role: keep}\n"
    "accept: {kept: [note]}\n"
    "privacy: {k: 5, p: 2}\n"
    "method: {labels: uniform, max-suppression: 5%, seed: 3}\n";

static shoal_error error;
static char folder[64], data[96], out[96];
static shoal_policy *policy;
static shoal_text text;

/* Rows of equal size, so that one can be changed in place: "aa,tttt,iiii,nnnnnnnnn\n". */
static void add_row(shoal_random *random, unsigned i) {
  shoal_text_print(
      &text, "%02u,t%03u,ill%u,note%05u\n", 20 + (unsigned)shoal_random_below(random, 60),
      (unsigned)shoal_random_below(random, 4), (unsigned)shoal_random_below(random, 5), i);
}

static int start(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 9);
  (void)snprintf(folder, sizeof folder, "/tmp/shoal-memory-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  (void)snprintf(data, sizeof data, "%s/data.csv", folder);
  (void)snprintf(out, sizeof out, "%s/out.csv", folder);
  shoal_text_init(&text);
  shoal_text_add(&text, "age,town,illness,note\n");
  for (unsigned i = 0; i < ROWS; i++) add_row(&random, i);
  FILE *file = fopen(data, "wb");
  bool ok =
      file && fwrite(text.bytes, 1, text.size_bytes, file) == text.size_bytes && fclose(file) == 0;
  return ok && shoal_policy_parse(POLICY, sizeof POLICY - 1, "policy", folder, &policy, &error) ==
                     SHOAL_OK
             ? 0
             : -1;
}

static int end(void **state UNUSED) {
  shoal_text_reset(&text);
  shoal_policy_free(policy);
  (void)unlink(out);
  return unlink(data) || rmdir(folder);
}

static shoal_run run_with(uint64_t memory_bytes, unsigned n_threads) {
  return (shoal_run){.n_threads = n_threads, .memory_bytes = memory_bytes};
}

/* What happens to the file between the passes. */
typedef void (*meddle_fn)(void);

static shoal_status release(uint64_t memory_bytes, unsigned n_threads, bool keep_order,
                            meddle_fn meddle) {
  shoal_run run = run_with(memory_bytes, n_threads);
  shoal_table *table = NULL;
  shoal_release *made = NULL;
  shoal_status status =
      shoal_table_read(data, policy, SHOAL_FOR_RELEASE, NULL, &run, &table, &error);
  if (status == SHOAL_OK) status = shoal_anonymize(table, policy, &run, &made, &error);
  if (status == SHOAL_OK && meddle) meddle();
  shoal_write_options options = {.keep_order = keep_order};
  if (status == SHOAL_OK) status = shoal_release_write(made, out, &options, &run, &error);
  shoal_release_free(made);
  shoal_table_free(table);
  return status;
}

static char *contents(const char *path) {
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  char *bytes = calloc((size_t)info.st_size + 1, 1);
  FILE *file = fopen(path, "rb");
  assert_true(bytes && file && fread(bytes, 1, (size_t)info.st_size, file) == (size_t)info.st_size);
  (void)fclose(file);
  return bytes;
}

static void a_counted_table_is_released_like_one_of_rows(void **state UNUSED) {
  for (int keep_order = 0; keep_order < 2; keep_order++) {
    assert_int_equal(release(0, 1, keep_order, NULL), SHOAL_OK);
    char *expected = contents(out);
    for (unsigned n_threads = 1; n_threads <= 4; n_threads *= 2) {
      assert_int_equal(release(1 << 20, n_threads, keep_order, NULL), SHOAL_OK);
      char *bytes = contents(out);
      assert_string_equal(bytes, expected);
      free(bytes);
    }
    free(expected);
  }
}

/* Rows of a table that may have much memory are kept: its bytes tell. */
static void rows_that_fit_are_kept(void **state UNUSED) {
  uint64_t bytes[2];
  for (int small = 0; small < 2; small++) {
    shoal_run run = run_with(small ? 1 << 20 : UINT64_C(1) << 30, 2);
    shoal_table *table;
    assert_int_equal(shoal_table_read(data, policy, SHOAL_FOR_RELEASE, NULL, &run, &table, &error),
                     SHOAL_OK);
    assert_int_equal(shoal_table_rows(table), ROWS);
    bytes[small] = shoal_table_bytes(table);
    shoal_table_free(table);
  }
  assert_true(bytes[0] > ROWS * 4); /* the notes are all different */
  assert_true(bytes[1] < ROWS);
}

/* ---------------------------------------------------------------- many blocks, wide codes */

static const char WIDE_POLICY[] = "shoal: 1\n"
                                  "attributes:\n"
                                  "  place: {role: quasi, hierarchy: {top: true}}\n"
                                  "  town: {role: quasi, hierarchy: {top: true}}\n"
                                  "  illness: {role: sensitive}\n"
                                  "  note: {role: keep}\n"
                                  "accept: {kept: [note]}\n"
                                  "privacy: {k: 4, p: 2}\n"
                                  "method: {labels: uniform, seed: 3}\n";

/* Several blocks; codes of one, two and four bytes, the wide ones only after the first block. */
static void write_wide_file(void) {
  enum { WIDE_ROWS = 110000, N_POSITIONS = 70000, N_ILLNESSES = 300, NARROW_ROWS = 30000 };
  FILE *file = fopen(data, "wb");
  assert_non_null(file);
  (void)fprintf(file, "place,town,illness,note\n");
  for (unsigned i = 0; i < WIDE_ROWS; i++)
    (void)fprintf(file, "%u,t%u,ill%u,note%u\n", i < NARROW_ROWS ? i % 200 : i % N_POSITIONS, i % 9,
                  i < NARROW_ROWS ? i % 7 : i * 7 % N_ILLNESSES, i % 1000);
  assert_int_equal(fclose(file), 0);
}

static void larger_files_are_counted_block_by_block(void **state UNUSED) {
  write_wide_file();
  shoal_policy_free(policy);
  assert_int_equal(
      shoal_policy_parse(WIDE_POLICY, sizeof WIDE_POLICY - 1, "policy", folder, &policy, &error),
      SHOAL_OK);
  assert_int_equal(release(0, 1, true, NULL), SHOAL_OK);
  char *expected = contents(out);
  for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
    assert_int_equal(release(1 << 20, n_threads, true, NULL), SHOAL_OK);
    char *bytes = contents(out);
    assert_string_equal(bytes, expected);
    free(bytes);
  }
  free(expected);
}

/* ---------------------------------------------------------------- a file that changes */

/* Writes bytes at a place of the file and gives it back its times. */
static void overwrite(off_t position, const char *bytes) {
  struct stat info;
  int fd = open(data, O_WRONLY);
  assert_true(fd >= 0 && fstat(fd, &info) == 0);
  assert_int_equal(pwrite(fd, bytes, strlen(bytes), position), strlen(bytes));
  assert_int_equal(futimens(fd, (struct timespec[]){info.st_atim, info.st_mtim}), 0);
  (void)close(fd);
}

static off_t row_position(unsigned row) {
  return (off_t)strlen("age,town,illness,note\n") + (off_t)row * ROW_BYTES;
}

static void append_row(void) {
  FILE *file = fopen(data, "ab");
  assert_true(file && fputs("33,t001,ill2,note99999\n", file) >= 0 && fclose(file) == 0);
}

static void touch_file(void) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000000}};
  assert_int_equal(utimensat(AT_FDCWD, data, times, 0), 0);
}

static void replace_file(void) { /* by an equal one: it is another all the same */
  assert_int_equal(unlink(data), 0);
  FILE *file = fopen(data, "wb");
  assert_true(file && fwrite(text.bytes, 1, text.size_bytes, file) == text.size_bytes &&
              fclose(file) == 0);
}

static void write_new_value(void) { overwrite(row_position(20000), "99,t009,ill9"); }

/* Both tuples are known, but one stands there once less and the other once more. */
static void write_known_values(void) {
  const char *first = text.bytes + row_position(0);
  for (unsigned row = 1; row < ROWS; row++) {
    if (memcmp(text.bytes + row_position(row), first, 12) == 0) continue;
    char tuple[13] = {0};
    memcpy(tuple, first, 12);
    overwrite(row_position(row), tuple);
    return;
  }
}

static void join_rows(void) { overwrite(row_position(100) - 1, "x"); }
static void open_quote(void) { overwrite(row_position(29000), "\"a"); }

static void a_file_that_changes_is_noticed(void **state UNUSED) {
  static const meddle_fn ways[] = {append_row,         touch_file, replace_file, write_new_value,
                                   write_known_values, join_rows,  open_quote};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    for (int keep_order = 0; keep_order < 2; keep_order++) {
      shoal_status status = release(1 << 20, 2, keep_order, ways[i]);
      if (status != SHOAL_FAILED || !strstr(error.message, "changed while"))
        fail_msg("way %zu: status %d, %s", i, status, error.message);
      assert_int_equal(access(out, F_OK), -1);
      replace_file();
    }
  }
  assert_int_equal(release(1 << 20, 2, false, NULL), SHOAL_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_counted_table_is_released_like_one_of_rows),
      TEST(rows_that_fit_are_kept),
      TEST(larger_files_are_counted_block_by_block),
      TEST(a_file_that_changes_is_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
