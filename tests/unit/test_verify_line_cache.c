/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verifier counts a line that it has read before without reading it again. It must count the
 * same as if it did: beside lines that only look alike, with any line end, in one part or in
 * several.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "verify/counter.h"
#include "verify_request.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

static const char *const columns[] = {"age", "ill"};
static const char *const missing[] = {"?"};
static shoal_verify_parameter p_of_model = {"p", "2"};
static shoal_verify_model model = {
    .name = "p-sensitive", .parameters = &p_of_model, .n_parameters = 1};
static shoal_verify_request request;
static shoal_verify_finding finding;
static shoal_error error;

static int start(void **state UNUSED) {
  request = request_on(columns, 2, &model);
  request.k = 2;
  request.missing = missing;
  request.n_missing = 1;
  p_of_model.value = "2";
  return 0;
}

static int file_of(const char *bytes, size_t size) {
  int fd = memfd_create("release", 0);
  assert_true(fd >= 0);
  for (size_t at = 0; at < size;) {
    ssize_t n = write(fd, bytes + at, size - at);
    assert_true(n > 0);
    at += (size_t)n;
  }
  return fd;
}

static shoal_status verify(const shoal_text *release, uint64_t n_rows, unsigned n_threads) {
  assert_false(release->failed);
  int fd = file_of(release->bytes, release->size_bytes);
  request.n_rows = n_rows;
  error = (shoal_error){0};
  finding = (shoal_verify_finding){0};
  shoal_run run = {.n_threads = n_threads};
  shoal_status status = shoal_verify(fd, &request, &run, &finding, &error);
  (void)close(fd);
  return status;
}

static void holds(const shoal_text *release, uint64_t n_rows, uint64_t n_classes, uint64_t least) {
  for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
    if (verify(release, n_rows, n_threads) != SHOAL_OK) fail_msg("%s", error.message);
    assert_int_equal(finding.n_rows, n_rows);
    assert_int_equal(finding.n_classes, n_classes);
    assert_int_equal(finding.smallest_class, least);
  }
}

/* The spelling does not matter, the content does: three classes, each line often. */
static void lines_in_any_spelling_are_counted(void **state UNUSED) {
  static const char *const lines[] = {
      "a,x\n",        "\"a\",x\r\n",    "a,\"x\"\n",         "a,y\n",
      "a,?\n",        "\"b\"\"\",x\n",  "\"b\"\"\",\"y\"\n", "\"b\"\"\",?\n",
      "\"c\nc\",x\n", "\"c\nc\",y\r\n", "\"c\nc\",x\r\n"};
  shoal_text release;
  for (unsigned end = 0; end < 2; end++) { /* the last line may lack its end */
    shoal_text_init(&release);
    shoal_text_add(&release, "age,ill\n");
    for (unsigned i = 0; i < 7; i++)
      for (size_t l = 0; l < COUNT(lines); l++) shoal_text_add(&release, lines[l]);
    shoal_text_add(&release, end ? "a,x\n" : "a,x");
    holds(&release, 7 * COUNT(lines) + 1, 3, 7 * 3);
    for (int more = -1; more <= 1; more += 2) { /* known or not, there are so many */
      assert_int_equal(SHOAL_FAILED,
                       verify(&release, (uint64_t)((int)(7 * COUNT(lines) + 1) + more), 1));
      assert_non_null(strstr(error.message, more < 0 ? "more rows than" : "rows, expected"));
    }
    shoal_text_reset(&release);
  }
}

/* However many lines are looked up at once: not one row more than there must be. */
static void known_lines_are_counted_no_further_than_the_claim(void **state UNUSED) {
  shoal_text release;
  shoal_text_init(&release);
  shoal_text_add(&release, "age,ill\n");
  for (unsigned i = 0; i < 500; i++) shoal_text_add(&release, "a,x\na,y\n");
  holds(&release, 1000, 1, 1000);
  for (uint64_t n_rows = 960; n_rows < 1000; n_rows++) {
    assert_int_equal(SHOAL_FAILED, verify(&release, n_rows, 1));
    assert_non_null(strstr(error.message, "more rows than"));
  }
  shoal_text_reset(&release);
}

/* A row whose doubled quotes were made single in place is not the line that it looks like then. */
static void what_only_looks_like_a_known_line_is_read(void **state UNUSED) {
  static const char *const last[] = {"\"a\"bb\",x\n", "\"a\"b\"\",x\n", "\"a\"b\",x\",x\n",
                                     "\"a\"b\",xx\n", "\"c\n",          "d\",x,y\n",
                                     "a,x,\n"};
  shoal_text release;
  for (size_t l = 0; l < COUNT(last); l++) {
    shoal_text_init(&release);
    shoal_text_add(&release, "age,ill\n");
    for (unsigned i = 0; i < 5; i++)
      shoal_text_add(&release, "\"a\"\"b\",x\n\"a\"\"b\",y\n\"c\nd\",x\n\"c\nd\",y\na,x\na,y\n");
    shoal_text_add(&release, last[l]);
    assert_int_equal(SHOAL_FAILED, verify(&release, 31, 1));
    if (!strstr(error.message, "row 31")) fail_msg("%s", error.message); /* the row that is wrong */
    shoal_text_reset(&release);
  }
}

/* Guarding nodes are no part of a line: equal lines are of different rows. */
static void with_guards_every_row_is_read(void **state UNUSED) {
  static const char release[] = "age,ill\na,x\na,x\na,y\na,y\n", guards[] = "guard\nu\nv\nu\nv\n";
  shoal_verify_counter count = {.request = &request};
  shoal_verify_reader *reader = NULL, *second = NULL;
  int fd = file_of(release, sizeof release - 1), guards_fd = file_of(guards, sizeof guards - 1);
  request.guards_fd = guards_fd;
  request.n_rows = 4;
  assert_int_equal(SHOAL_OK, shoal_verify_counter_init(&count, &error));
  assert_int_equal(SHOAL_OK, shoal_verify_reader_open(fd, "release", ',', NULL, &reader, &error));
  assert_int_equal(SHOAL_OK,
                   shoal_verify_reader_open(guards_fd, "guards", ',', NULL, &second, &error));
  assert_int_equal(SHOAL_OK, shoal_verify_check_header(&count, reader, &error));
  assert_int_equal(SHOAL_OK, shoal_verify_guard_header(&count, second, &error));
  assert_int_equal(SHOAL_OK, shoal_verify_count_rows(&count, reader, second, NULL, &error));
  assert_int_equal(count.n_rows, 4);
  assert_int_equal(count.lines.n_again, 0);
  assert_int_equal(count.counted[1].pairs.n_used, 2); /* the class with u, and with v */
  shoal_verify_reader_close(reader);
  shoal_verify_reader_close(second);
  shoal_verify_counter_reset(&count);
  (void)close(fd);
  (void)close(guards_fd);
}

/* ---------------------------------------------------------------- against counting by hand */

enum { MAX_KINDS = 3000, N_AGES = 200 };

/* Lines of a random release, each kind with one class and one value. */
static void add_random_line(shoal_text *release, unsigned kind, unsigned age) {
  bool quoted = kind % 3 == 0;
  shoal_text_print(release, "%s%u%s%s,%s%u%s\n", quoted ? "\"" : "", age,
                   kind % 7 == 0 ? " of a class with a name of some length" : "",
                   quoted ? "\"" : "", kind % 5 ? "" : "value ", kind, "");
}

static void random_lines_are_counted_as_by_hand(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 21);
  for (unsigned n_kinds = 2; n_kinds <= MAX_KINDS; n_kinds = n_kinds * 3 + 1) {
    uint64_t rows_of[7][N_AGES] = {{0}}, least = UINT64_MAX, n_classes = 0;
    unsigned n_rows = 400 * n_kinds / (n_kinds > 100 ? 20 : 1);
    shoal_text release;
    shoal_text_init(&release);
    shoal_text_add(&release, "age,ill\n");
    for (unsigned i = 0; i < n_rows; i++) {
      unsigned kind = (unsigned)shoal_random_below(&random, n_kinds);
      add_random_line(&release, kind, kind % N_AGES);
      rows_of[kind % 7 == 0][kind % N_AGES]++;
    }
    for (size_t i = 0; i < 2 * N_AGES; i++) {
      uint64_t n = rows_of[i / N_AGES][i % N_AGES];
      n_classes += n > 0;
      if (n && n < least) least = n;
    }
    request.k = (uint32_t)least;
    p_of_model.value = "1";
    holds(&release, n_rows, n_classes, least);
    shoal_text_reset(&release);
  }
}

/* ---------------------------------------------------------------- parts */

/* A cell over the cut of two parts, so large that its quotes are far: one reader reads all. */
static void a_guess_that_is_wrong_is_noticed(void **state UNUSED) {
  enum { ROWS = 1 << 20, LINES = 1 << 18 };
  shoal_text release;
  shoal_text_init(&release);
  shoal_text_add(&release, "age,ill\n");
  for (unsigned i = 0; i < ROWS; i++) shoal_text_add(&release, i % 2 ? "aa,x\n" : "aa,y\n");
  shoal_text_add(&release, "\"");
  for (unsigned i = 0; i < LINES; i++) shoal_text_add(&release, "b,x\n");
  shoal_text_add(&release, "\",x\n");
  for (unsigned i = 0; i < ROWS; i++) shoal_text_add(&release, i % 2 ? "aa,x\n" : "aa,y\n");
  request.k = 1;
  p_of_model.value = "1";
  assert_int_equal(SHOAL_OK, verify(&release, 2 * ROWS + 1, 2));
  assert_int_equal(finding.n_classes, 2);
  shoal_text_reset(&release);
}

/* ---------------------------------------------------------------- too many lines */

static void start_text(shoal_text *text) {
  shoal_text_init(text);
  shoal_text_add(text, "age,ill\n");
}

/* Reads all rows of a file as a counter does; returns those that were known. */
static uint64_t known_rows(const shoal_text *text, shoal_verify_line_cache *lines,
                           uint64_t *n_rows) {
  int fd = file_of(text->bytes, text->size_bytes);
  shoal_verify_reader *reader;
  shoal_verify_cell cells[2];
  assert_int_equal(SHOAL_OK, shoal_verify_reader_open(fd, "lines", ',', NULL, &reader, &error));
  *lines = (shoal_verify_line_cache){0};
  assert_true(shoal_verify_line_cache_init(lines, 2));
  uint64_t n_read = 0;
  bool header;
  assert_int_equal(SHOAL_OK, shoal_verify_reader_next(reader, cells, 2, &header, &error));
  for (bool found = header; found;) {
    int32_t line;
    bool known = !lines->off;
    if (known) shoal_verify_line_cache_skip(lines, reader, UINT64_MAX);
    assert_int_equal(SHOAL_OK, shoal_verify_reader_next(reader, cells, 2, &found, &error));
    n_read += found;
    if (found && known) assert_true(shoal_verify_line_cache_keep(lines, reader, cells, 2, &line));
  }
  *n_rows = n_read + lines->n_again;
  shoal_verify_reader_close(reader);
  (void)close(fd);
  return lines->n_again;
}

/* Rows that are not one line, or whose bytes were changed to read them, are read each time. */
static void lines_that_are_no_rows_are_not_kept(void **state UNUSED) {
  shoal_text text;
  shoal_verify_line_cache lines;
  uint64_t n_rows;
  start_text(&text);
  for (unsigned i = 0; i < 5; i++) shoal_text_add(&text, "\"a\"\"b\",x\n\"c\nd\",x\n");
  assert_int_equal(known_rows(&text, &lines, &n_rows), 0);
  assert_int_equal(n_rows, 10);
  assert_int_equal(lines.known.n_entries, 0);
  shoal_verify_line_cache_reset(&lines);
  shoal_text_reset(&text);
}

/* Short lines have a hash of another kind; none may be taken for another. */
static void lines_of_every_length_are_told_apart(void **state UNUSED) {
  shoal_text text;
  shoal_verify_line_cache lines;
  uint64_t n_rows;
  start_text(&text);
  for (unsigned round = 0; round < 3; round++)
    for (int size = 1; size < 100; size++)
      for (unsigned last = 0; last < 3; last++) shoal_text_print(&text, "%0*u,%u\n", size, 1, last);
  assert_int_equal(known_rows(&text, &lines, &n_rows), 2 * 99 * 3);
  assert_int_equal(n_rows, 3 * 99 * 3);
  assert_int_equal(lines.known.n_entries, 99 * 3);
  shoal_verify_line_cache_reset(&lines);
  shoal_text_reset(&text);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(lines_in_any_spelling_are_counted),
      TEST(known_lines_are_counted_no_further_than_the_claim),
      TEST(what_only_looks_like_a_known_line_is_read),
      TEST(with_guards_every_row_is_read),
      TEST(random_lines_are_counted_as_by_hand),
      TEST(a_guess_that_is_wrong_is_noticed),
      TEST(lines_that_are_no_rows_are_not_kept),
      TEST(lines_of_every_length_are_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
