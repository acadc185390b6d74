/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regression tests through the library: refused chunks leave a table as it was, identifiers of a
 * table in memory, blank lines and mistakes wherever the blocks of a file end.
 * tests/cli/test_regressions.py has those of the program.
 */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "table/load.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

static const shoal_load_options plain = {0};
static shoal_error error;
static char path[64];   /* of the file of this test */
static shoal_text text; /* what a test puts into it */

static int start(void **state UNUSED) {
  (void)snprintf(path, sizeof path, "/tmp/shoal-regression-XXXXXX");
  int fd = mkstemp(path);
  return fd < 0 || close(fd);
}

static int end(void **state UNUSED) {
  shoal_text_reset(&text);
  return unlink(path);
}

/* ---------------------------------------------------------------- chunks that are refused */

enum { MAX_ROWS = 16 };

/* Cells of one byte: `first` of column id, `second` of column town, row by row. */
static shoal_status append(shoal_table *table, const char *first, const char *second,
                           const uint64_t *counts) {
  uint64_t offsets[MAX_ROWS + 1];
  for (uint64_t i = 0; i < COUNT(offsets); i++) offsets[i] = i;
  error = (shoal_error){0};
  const shoal_text_view views[] = {{first, offsets}, {second, offsets}};
  return shoal_table_append(table, views, 2, strlen(first), counts, &error);
}

/* Two rows, with whatever is wrong given by the caller. */
static shoal_status append_bytes(shoal_table *table, const char *bytes, const uint64_t *offsets,
                                 const uint64_t *counts) {
  error = (shoal_error){0};
  const shoal_text_view views[] = {{"ab", (uint64_t[]){0, 1, 2}}, {bytes, offsets}};
  return shoal_table_append(table, views, 2, 2, counts, &error);
}

static shoal_table *new_table(void) {
  static const char *const names[] = {"id", "town"};
  shoal_table *table;
  assert_int_equal(shoal_table_new(names, 2, &table, &error), SHOAL_OK);
  return table;
}

static void assert_bad(shoal_status status, const char *part) {
  assert_int_equal(status, SHOAL_BAD_INPUT);
  assert_int_equal(error.status, SHOAL_BAD_INPUT);
  if (!strstr(error.message, part)) fail_msg("no '%s' in: %s", part, error.message);
}

/* Every chunk that must be refused; `counts` tells whether the table is one with counts. */
static void append_what_is_refused(shoal_table *table, bool with_counts) {
  static const uint64_t ones[] = {1, 1}, rising[] = {0, 1, 2}, descending[] = {0, 2, 1};
  const uint64_t *counts = with_counts ? ones : NULL;
  assert_bad(append_bytes(table, "xy", rising, (uint64_t[]){0, 1}), "count");
  assert_bad(append_bytes(table, "xy", rising, (uint64_t[]){1, 0}), "count");
  assert_bad(append_bytes(table, "x\0", rising, counts), "NUL");
  assert_bad(append_bytes(table, "\0y", rising, counts), "NUL");
  assert_bad(append_bytes(table, "xyz", descending, counts), "offsets");
  assert_bad(append_bytes(table, "xyz", (uint64_t[]){2, 1, 1}, counts), "offsets");
}

static void check_cells(const shoal_column *column, const char *cells) {
  for (size_t r = 0; cells[r]; r++) {
    size_t size;
    const char *value = shoal_column_value(column, shoal_column_code(column, r), &size);
    assert_true(size == 1 && *value == cells[r]);
  }
}

/* In an empty table and in one with rows; the chunks after it are of all sizes. */
static void refused_chunks_leave_a_table_as_it_was(void **state UNUSED) {
  for (int with_counts = 0; with_counts < 2; with_counts++) {
    static const uint64_t counts[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
    const uint64_t *more = with_counts ? counts : NULL;
    shoal_table *table = new_table();
    append_what_is_refused(table, with_counts);
    assert_int_equal(shoal_table_rows(table), 0);
    assert_int_equal(append(table, "abcdefghijkl", "xyxyxyxyxyxy", more), SHOAL_OK);
    uint64_t n_records = shoal_table_rows(table);
    assert_int_equal(n_records, with_counts ? 52 : 12);
    append_what_is_refused(table, with_counts);
    assert_int_equal(shoal_table_rows(table), n_records);
    assert_int_equal(append(table, "mnop", "zzzz", more), SHOAL_OK);
    append_what_is_refused(table, with_counts);
    assert_int_equal(shoal_table_finalize(table, &plain, &error), SHOAL_OK);

    assert_int_equal(table->n_rows, 16);
    assert_int_equal(shoal_table_rows(table), with_counts ? 52 + 9 : 16);
    check_cells(&table->columns[0], "abcdefghijklmnop");
    check_cells(&table->columns[1], "xyxyxyxyxyxyzzzz");
    assert_int_equal(table->columns[0].n_values, 16);
    assert_int_equal(table->columns[1].n_values, 3);
    for (size_t r = 0; r < 16; r++)
      assert_int_equal(shoal_table_count(table, r), with_counts ? counts[r < 12 ? r : r - 12] : 1);
    shoal_table_free(table);
  }
}

/* The refused chunk had counts, the first good one has not: no counts must be left behind. */
static void a_refused_chunk_does_not_decide_on_counts(void **state UNUSED) {
  shoal_table *table = new_table();
  assert_bad(append(table, "a", "x", (uint64_t[]){0}), "count");
  assert_int_equal(append(table, "abcdefghijklmnop", "xyxyxyxyxyxyxyxy", NULL), SHOAL_OK);
  assert_int_equal(shoal_table_finalize(table, &plain, &error), SHOAL_OK);
  assert_null(table->counts);
  assert_int_equal(shoal_table_rows(table), 16);
  shoal_table_free(table);
}

static void chunks_with_and_without_counts_are_not_mixed(void **state UNUSED) {
  for (int counted_first = 0; counted_first < 2; counted_first++) {
    static const uint64_t counts[] = {2, 3};
    const uint64_t *first = counted_first ? counts : NULL, *second = counted_first ? NULL : counts;
    shoal_table *table = new_table();
    assert_int_equal(append(table, "ab", "xy", first), SHOAL_OK);
    assert_bad(append(table, "cd", "xy", second), "mixed");
    assert_int_equal(append(table, "ef", "yx", first), SHOAL_OK);
    assert_bad(append(table, "cd", "xy", second), "mixed");
    assert_int_equal(shoal_table_finalize(table, &plain, &error), SHOAL_OK);
    assert_int_equal(table->n_rows, 4);
    assert_int_equal(shoal_table_rows(table), counted_first ? 10 : 4);
    check_cells(&table->columns[0], "abef");
    shoal_table_free(table);
  }
}

/* ---------------------------------------------------------------- identifiers in memory */

static shoal_policy *town_policy(void) {
  static const char yaml[] = "shoal: 1\n"
                             "attributes:\n"
                             "  id: {role: identifier}\n"
                             "  town: {role: quasi, hierarchy: {top: true}}\n"
                             "privacy: {k: 2}\n";
  shoal_policy *policy;
  assert_int_equal(shoal_policy_parse(yaml, strlen(yaml), "policy", ".", &policy, &error),
                   SHOAL_OK);
  return policy;
}

static json_t *rendered(const shoal_result *result) {
  char *json_text;
  assert_int_equal(shoal_result_render(result, SHOAL_JSON, &json_text, &error), SHOAL_OK);
  json_t *json = json_loads(json_text, 0, NULL);
  assert_non_null(json);
  free(json_text);
  return json;
}

/* Does a warning of the release name the column? */
static bool warns_of(const shoal_release *release, const char *column) {
  json_t *json = rendered(shoal_release_result(release));
  const json_t *warnings = json_object_get(json, "warnings");
  bool found = false;
  for (size_t i = 0; i < json_array_size(warnings); i++) {
    const char *warning = json_string_value(json_array_get(warnings, i));
    assert_non_null(warning);
    if (strstr(warning, column) && strstr(warning, "repeat")) found = true;
  }
  json_decref(json);
  return found;
}

static void assert_file(const char *expected) {
  char bytes[256] = "";
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  bytes[fread(bytes, 1, sizeof bytes - 1, file)] = '\0';
  assert_int_equal(fclose(file), 0);
  assert_string_equal(bytes, expected);
}

static void check_identifiers(const char *ids, const uint64_t *counts, bool repeat,
                              const char *expected) {
  shoal_policy *policy = town_policy();
  shoal_table *table = new_table();
  shoal_release *release;
  assert_bad(append(table, "a", "x", (uint64_t[]){0}), "count");
  assert_int_equal(append(table, ids, "xxyy", counts), SHOAL_OK);
  assert_int_equal(shoal_table_finish(table, policy, SHOAL_FOR_RELEASE, &error), SHOAL_OK);
  assert_int_equal(table->columns[0].code_size, 0); /* its cells are not kept */
  assert_null(table->columns[0].codes);
  assert_int_equal(shoal_anonymize(table, policy, &(shoal_run){0}, &release, &error), SHOAL_OK);
  assert_int_equal(warns_of(release, "id"), repeat);
  assert_int_equal(shoal_release_write(release, path, &(shoal_write_options){.keep_order = true},
                                       &(shoal_run){0}, &error),
                   SHOAL_OK);
  assert_file(expected);
  shoal_release_free(release);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void repeated_identifiers_in_memory_are_warned_of(void **state UNUSED) {
  check_identifiers("abca", NULL, true, "town\nx\nx\ny\ny\n");
  check_identifiers("abcd", (uint64_t[]){1, 2, 1, 1}, true, "town\nx\nx\nx\ny\ny\n");
}

static void distinct_identifiers_in_memory_are_not(void **state UNUSED) {
  check_identifiers("abcd", NULL, false, "town\nx\nx\ny\ny\n");
  check_identifiers("abcd", (uint64_t[]){1, 1, 1, 1}, false, "town\nx\nx\ny\ny\n");
}

/* ---------------------------------------------------------------- where blocks end */

/*
 * A worker's first block holds ROOM_BYTES and its later ones twice as many, but for 64 bytes of
 * slack; the first one of all begins behind the header and is of the larger kind. A block gives the
 * row that it cuts to the next one. Were this to change, the tests would still be right, but
 * weaker.
 */
enum { ROOM_BYTES = 1 << 20, SLACK_BYTES = 64, ROW_BYTES = 500, N_BOUNDARIES = 5 };

static const char *const line_ends[] = {"\n", "\r\n"};

static size_t boundary(size_t i, size_t header_bytes) {
  const size_t room = 2 * ROOM_BYTES - SLACK_BYTES, rows = room / ROW_BYTES * ROW_BYTES;
  switch (i) {
  case 0: return ROOM_BYTES - SLACK_BYTES; /* of what is read to find the header */
  case 1: return header_bytes + room;
  case 2: return header_bytes + rows + ROOM_BYTES - SLACK_BYTES; /* another worker's first */
  case 3: return header_bytes + rows + room;
  default: return ROOM_BYTES / 2;
  }
}

static void write_text(void) {
  FILE *file = fopen(path, "wb");
  assert_true(file && fwrite(text.bytes, 1, text.size_bytes, file) == text.size_bytes &&
              fclose(file) == 0);
}

static shoal_status load(unsigned n_threads, shoal_table **table) {
  error = (shoal_error){0};
  return shoal_table_load(path, &plain, &(shoal_run){.n_threads = n_threads}, table, &error);
}

static void put_row(size_t size_bytes, const char *eol) {
  static char wide[2 * ROW_BYTES];
  memset(wide, 'w', sizeof wide);
  shoal_text_add(&text, "1,");
  shoal_text_add_bytes(&text, wide, size_bytes - 2 - strlen(eol));
  shoal_text_add(&text, eol);
}

/* A header and rows that end `shift` bytes from a boundary; the last row takes what is left. */
static uint64_t put_rows(size_t at_boundary, int shift, const char *eol) {
  text.size_bytes = 0;
  shoal_text_print(&text, "a,b%s", eol);
  size_t size_bytes = boundary(at_boundary, text.size_bytes) + (size_t)shift;
  uint64_t n_rows = 1;
  for (; text.size_bytes + 2 * (size_t)ROW_BYTES <= size_bytes; n_rows++) put_row(ROW_BYTES, eol);
  put_row(size_bytes - text.size_bytes, eol);
  assert_int_equal(text.size_bytes, size_bytes);
  return n_rows;
}

static void put_blank(size_t n, const char *eol) {
  for (size_t i = 0; i < n; i++) shoal_text_add(&text, eol);
}

/* `n_blank` lines behind rows that end at each boundary or a few bytes from it. */
static void check_blank_end(size_t n_blank, int reach, unsigned n_threads) {
  for (size_t e = 0; e < COUNT(line_ends); e++) {
    for (size_t i = 0; i < N_BOUNDARIES; i++) {
      for (int shift = -reach; shift <= reach; shift++) {
        uint64_t n_rows = put_rows(i, shift, line_ends[e]);
        put_blank(n_blank, line_ends[e]);
        write_text();
        shoal_table *table;
        if (load(n_threads, &table) != SHOAL_OK)
          fail_msg("%d bytes from boundary %zu, %zu blank lines, %u threads: %s", shift, i, n_blank,
                   n_threads, error.message);
        assert_int_equal(shoal_table_rows(table), n_rows);
        shoal_table_free(table);
      }
    }
  }
}

static void blank_lines_at_the_end_are_no_rows_wherever_they_begin(void **state UNUSED) {
  check_blank_end(1, 3, 1);
  check_blank_end(2, 3, 2);
  check_blank_end(3, 7, 1);
  check_blank_end(3, 1, 4);
}

static void long_blank_ends_are_no_rows_wherever_they_begin(void **state UNUSED) {
  check_blank_end(ROOM_BYTES - 1, 0, 1);
  check_blank_end(2 * ROOM_BYTES, 0, 2);
}

/* Blank lines, then a row: the first of them is a row of one cell, and has its number. */
static void check_blank_middle(size_t n_blank, int reach) {
  for (size_t e = 0; e < COUNT(line_ends); e++) {
    for (size_t i = 0; i < N_BOUNDARIES; i++) {
      for (int shift = -reach; shift <= reach; shift++) {
        uint64_t n_rows = put_rows(i, shift, line_ends[e]);
        put_blank(n_blank, line_ends[e]);
        shoal_text_print(&text, "1,2%s", line_ends[e]);
        put_blank(n_blank, line_ends[e]);
        write_text();
        for (unsigned n_threads = 1; n_threads <= 4; n_threads *= 2) {
          shoal_table *table;
          assert_bad(load(n_threads, &table), "has 1 cell, the header has 2");
          assert_int_equal(error.row, n_rows + 1);
        }
      }
    }
  }
}

static void a_blank_line_in_the_middle_has_its_number(void **state UNUSED) {
  check_blank_middle(1, 2);
  check_blank_middle(2, 1);
  check_blank_middle(ROOM_BYTES + 1, 0);
}

/* A short row, and a NUL some rows behind it, near a boundary. */
static void a_short_row_before_a_nul_is_the_one_reported(void **state UNUSED) {
  for (size_t i = 0; i < N_BOUNDARIES; i++) {
    for (int shift = -20; shift <= 4; shift += 4) {
      uint64_t n_rows = put_rows(i, shift, "\n");
      shoal_text_add(&text, "1\n");
      for (int j = 0; j < shift + 20; j += 8) shoal_text_add(&text, "1,2\n");
      shoal_text_add_bytes(&text, "1,\0\n1,2\n", 8);
      write_text();
      for (unsigned n_threads = 1; n_threads <= 4; n_threads *= 2) {
        shoal_table *table;
        assert_bad(load(n_threads, &table), "has 1 cell, the header has 2");
        assert_int_equal(error.row, n_rows + 1);
      }
    }
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(refused_chunks_leave_a_table_as_it_was),
      TEST(a_refused_chunk_does_not_decide_on_counts),
      TEST(chunks_with_and_without_counts_are_not_mixed),
      TEST(repeated_identifiers_in_memory_are_warned_of),
      TEST(distinct_identifiers_in_memory_are_not),
      TEST(blank_lines_at_the_end_are_no_rows_wherever_they_begin),
      TEST(long_blank_ends_are_no_rows_wherever_they_begin),
      TEST(a_blank_line_in_the_middle_has_its_number),
      TEST(a_short_row_before_a_nul_is_the_one_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
