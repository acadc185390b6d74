/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second pass over a file whose rows were counted, called directly: what it writes, and every
 * way in which the file can be another than it was, also those that its size and time do not tell.
 * Then the pass fails and says so; it never writes rows that were not counted.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "table/count.h"
#include "write/second_pass.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

static const char POLICY[] =
    "shoal: 1\nattributes:\n  age: {role: quasi, hierarchy: {top: true}}\n  note: {role: keep}\n"
    "  ill: {role: sensitive}\nprivacy: {k: 2}\n";
static const char DATA[] = "age,note,ill\n1,n1,x\n2,n2,y\n1,\"n,3\",x\n2,n4,x\n2,n5,y\n";

enum { N_COLUMNS = 3, N_TUPLES = 3, N_RECORDS = 5 };

static shoal_error error;
static char folder[64], data[96], packed[96];
static shoal_policy *policy;
static shoal_table *table;
static shoal_csv_column cells[N_COLUMNS];
static shoal_csv_plan out;
static const uint32_t groups[N_TUPLES] = {0, 1, 2};
static uint8_t actions[N_TUPLES];

static void succeeds(shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", error.message);
}

static void put(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_true(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void fill_cells(size_t c) {
  const shoal_column *column = &table->columns[c];
  cells[c] = (shoal_csv_column){.column = column};
  cells[c].offsets = calloc(column->n_values + 1, sizeof *cells[c].offsets);
  assert_non_null(cells[c].offsets);
  for (uint32_t v = 0; column->code_size && v < column->n_values; v++) {
    size_t size;
    const char *bytes = shoal_column_value(column, v, &size);
    assert_true(shoal_csv_column_add(&cells[c], &out, bytes, size));
  }
}

static int start(void **state UNUSED) {
  (void)snprintf(folder, sizeof folder, "/tmp/shoal-again-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  (void)snprintf(data, sizeof data, "%s/data.csv", folder);
  (void)snprintf(packed, sizeof packed, "%s/data.csv.gz", folder);
  put(data, DATA, sizeof DATA - 1);
  succeeds(shoal_policy_parse(POLICY, sizeof POLICY - 1, "policy", folder, &policy, &error));
  succeeds(shoal_table_read(data, policy, SHOAL_FOR_RELEASE, NULL, &(shoal_run){.memory_bytes = 1},
                            &table, &error));
  assert_true(table->source && table->n_rows == N_TUPLES && table->n_records == N_RECORDS);
  assert_int_equal(table->source->n_pieces, 1);
  out = (shoal_csv_plan){.table = table,
                         .delimiter = ',',
                         .columns = cells,
                         .n_columns = N_COLUMNS,
                         .group_of_row = groups,
                         .action = actions};
  memset(actions, SHOAL_ROW_KEEP, sizeof actions);
  for (size_t c = 0; c < N_COLUMNS; c++) fill_cells(c);
  return 0;
}

static int end(void **state UNUSED) {
  for (size_t c = 0; c < N_COLUMNS; c++) shoal_csv_column_reset(&cells[c]);
  shoal_table_free(table);
  shoal_policy_free(policy);
  (void)unlink(packed);
  return unlink(data) || rmdir(folder);
}

/* What the second pass writes, in order; "" where it fails. */
static shoal_status write_with(const shoal_run *run, shoal_error *to, char bytes[256]) {
  int fd = memfd_create("release", 0);
  shoal_sink *sink;
  uint64_t n_rows = 0;
  error = (shoal_error){0};
  succeeds(shoal_sink_open(fd, "release.csv", &sink, &error));
  shoal_status status = shoal_csv_write_second_pass(&out, sink, -1, NULL, run, &n_rows, to);
  shoal_sink_free(sink);
  ssize_t n = status == SHOAL_OK ? pread(fd, bytes, 255, 0) : 0;
  bytes[n] = '\0';
  (void)close(fd);
  return status;
}

static void writes(const char *expected) {
  char bytes[256];
  for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
    succeeds(write_with(&(shoal_run){.n_threads = n_threads}, &error, bytes));
    assert_string_equal(bytes, expected);
  }
}

static void has_changed(void) {
  char bytes[256];
  for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
    assert_int_equal(write_with(&(shoal_run){.n_threads = n_threads}, &error, bytes), SHOAL_FAILED);
    if (!strstr(error.message, "changed while")) fail_msg("%s", error.message);
  }
}

/* The table takes a file for its own, whatever stands in it. */
static void trust(const char *path) {
  shoal_source *source;
  free(table->source->path);
  table->source->path = strdup(path);
  assert_non_null(table->source->path);
  succeeds(shoal_source_open(path, &source, &error));
  (void)shoal_source_stamp(source, &table->source->stamp);
  shoal_source_close(source);
}

static void trust_data(const char *bytes) {
  put(data, bytes, strlen(bytes));
  trust(data);
}

/* ---------------------------------------------------------------- what is written */

static void rows_are_written_as_they_are_met(void **state UNUSED) {
  writes(DATA);
  actions[1] = SHOAL_ROW_REMOVE; /* 2 with y */
  writes("age,note,ill\n1,n1,x\n1,\"n,3\",x\n2,n4,x\n");
  actions[1] = SHOAL_ROW_BLANK;
  cells[0].generalized = true;
  writes("age,note,ill\n1,n1,x\n*,n2,y\n1,\"n,3\",x\n2,n4,x\n*,n5,y\n");
  cells[2].suppressed_cells = (const uint8_t[]){0, 0, 1}; /* 2 with x */
  writes("age,note,ill\n1,n1,x\n*,n2,y\n1,\"n,3\",x\n2,n4,*\n*,n5,y\n");
}

/* ---------------------------------------------------------------- another file */

static void another_file_is_noticed(void **state UNUSED) {
  trust("/dev/null"); /* no regular file */
  has_changed();
  trust_data("age,note,ill,more\n1,n1,x,\n2,n2,y,\n1,n3,x,\n2,n4,x,\n2,n5,y,\n");
  has_changed();
  trust_data("age,note,illness\n1,n1,x\n2,n2,y\n1,n3,x\n2,n4,x\n2,n5,y\n");
  has_changed();
  trust_data("age,note,ill\n1,n1,x\n2,n2,y\n1,n3,x\n2,n4,x\n1,n5,y\n"); /* 1 with y: a new pair */
  has_changed();
  trust_data("age,note,ill\n1,n1,x\n2,n2,y\n1,n3,x\n2,n4,x\n3,n5,y\n"); /* a new value */
  has_changed();
  trust_data("age,note,ill\n1,n1,x\n2,n2,y\n1,n3,x\n2,n4,x\n"); /* a row less */
  has_changed();
  trust_data("age,note,ill\n1,n1,x\n2,n2,y\n1,n3,x\n2,n4,x\n2,n5\n"); /* a cell less */
  has_changed();
  trust_data("age,note,ill\n1,n1,x\n2,n2,y\n1,n3,x\n2,n4,x\n1,n5,x\n"); /* other counts */
  has_changed();
  trust_data(DATA);
  writes(DATA);
}

static void another_number_of_blocks_is_noticed(void **state UNUSED) {
  shoal_table_source *source = table->source;
  uint64_t *own_starts = realloc(source->piece_start, 3 * sizeof(uint64_t));
  assert_non_null(own_starts);
  source->piece_start = own_starts;
  own_starts[2] = N_RECORDS;
  source->n_pieces = 2; /* another block was there */
  has_changed();
  source->n_pieces = 0; /* this one was not */
  has_changed();
  source->n_pieces = 1;
  writes(DATA);
}

static bool touch(void *user, const shoal_progress *progress) {
  static const struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
  (void)progress;
  return utimensat(AT_FDCWD, user, times, 0) != 0;
}

static void a_file_that_changes_while_it_is_read_is_noticed(void **state UNUSED) {
  char bytes[256];
  const shoal_run run = {.n_threads = 1, .progress = touch, .progress_user = data};
  assert_int_equal(write_with(&run, &error, bytes), SHOAL_FAILED);
  assert_non_null(strstr(error.message, "changed while"));
}

/* ---------------------------------------------------------------- files that cannot be read */

static void a_file_that_is_not_compressed_is_told(void **state UNUSED) {
  char bytes[256];
  put(packed, DATA, sizeof DATA - 1);
  trust(packed);
  for (unsigned n_threads = 1; n_threads <= 2; n_threads++)
    assert_int_equal(write_with(&(shoal_run){.n_threads = n_threads}, &error, bytes),
                     SHOAL_BAD_INPUT);
}

/* Its end is missing: told with or without a place for the reason. */
static void a_file_that_breaks_off_is_told(void **state UNUSED) {
  char bytes[256];
  gzFile file = gzopen(packed, "wb");
  assert_true(file && gzwrite(file, DATA, sizeof DATA - 1) == (int)sizeof DATA - 1);
  assert_int_equal(gzclose(file), Z_OK);
  trust(packed);
  writes(DATA);
  struct stat info;
  assert_int_equal(stat(packed, &info), 0);
  assert_int_equal(truncate(packed, info.st_size - 4), 0);
  trust(packed);
  const shoal_run one = {.n_threads = 1};
  assert_int_equal(write_with(&one, &error, bytes), SHOAL_BAD_INPUT);
  assert_non_null(strstr(error.message, "ends too early"));
  assert_int_equal(write_with(&one, NULL, bytes), SHOAL_BAD_INPUT);
}

/* ------------------------------------------------------------ columns left in the file */

enum { LEFT_ROWS = 60 * 1000, LEFT_COLUMNS = 10 };

/* A table whose columns 1 .. 9 are only copied; one cell of row `odd` is changed. */
static void put_wide(const char *path, int odd) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  for (int c = 0; c < LEFT_COLUMNS; c++) (void)fprintf(file, c ? ",c%d" : "q%d", c);
  for (int row = 0; row < LEFT_ROWS; row++) {
    (void)fprintf(file, "\n%d", row % 10);
    for (int c = 1; c < LEFT_COLUMNS; c++) (void)fprintf(file, ",%d", (row == odd) + (row + c) % 8);
    (void)fputs("00", file);
  }
  assert_int_equal(fclose(file), 0);
}

/* Same size, same time of change, one other byte: the hash of its block is another. */
static void other_bytes_of_left_columns_are_noticed(void **state UNUSED) {
  static const char text[] = "shoal: 1\nunlisted: keep\nattributes:\n"
                             "  q0: {role: quasi, hierarchy: {top: true}}\nprivacy: {k: 2}\n";
  char path[96], to[96];
  shoal_policy *own;
  shoal_table *wide;
  shoal_release *release;
  struct stat before;
  (void)snprintf(path, sizeof path, "%s/wide.csv", folder);
  (void)snprintf(to, sizeof to, "%s/out.csv", folder);
  succeeds(shoal_policy_parse(text, sizeof text - 1, "policy", folder, &own, &error));
  for (int detail = SHOAL_DETAIL_FIGURES; detail <= SHOAL_DETAIL_HTML; detail++) {
    put_wide(path, -1);
    assert_int_equal(stat(path, &before), 0);
    succeeds(shoal_table_read(path, own, SHOAL_FOR_RELEASE, NULL, NULL, &wide, &error));
    assert_true(shoal_table_leaves_columns(wide));
    assert_int_equal(wide->columns[LEFT_COLUMNS - 1].code_size, 0);
    succeeds(shoal_anonymize(wide, own, NULL, &release, &error));
    shoal_write_options options = {.detail = (shoal_detail)detail};
    put_wide(path, LEFT_ROWS / 2);
    const struct timespec times[] = {before.st_atim, before.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(shoal_release_write(release, to, &options, NULL, &error), SHOAL_FAILED);
    if (!strstr(error.message, "changed while")) fail_msg("%s", error.message);
    assert_int_equal(access(to, F_OK), -1);
    put_wide(path, -1);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    succeeds(shoal_release_write(release, to, &options, NULL, &error));
    assert_int_equal(unlink(to), 0);
    shoal_release_free(release);
    shoal_table_free(wide);
  }
  shoal_policy_free(own);
  assert_int_equal(unlink(path), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(other_bytes_of_left_columns_are_noticed),
      TEST(rows_are_written_as_they_are_met),
      TEST(another_file_is_noticed),
      TEST(another_number_of_blocks_is_noticed),
      TEST(a_file_that_changes_while_it_is_read_is_noticed),
      TEST(a_file_that_is_not_compressed_is_told),
      TEST(a_file_that_breaks_off_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
