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
#include "write/again.h"

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
static shoal_cells_out cells[N_COLUMNS];
static shoal_csv_out out;
static const uint32_t groups[N_TUPLES] = {0, 1, 2};
static uint8_t fates[N_TUPLES];

static void succeeds(shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", error.message);
}

static void put(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_true(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void fill_cells(size_t c) {
  const shoal_column *column = &table->columns[c];
  cells[c] = (shoal_cells_out){.column = column};
  cells[c].offsets = calloc(column->n_values + 1, sizeof *cells[c].offsets);
  assert_non_null(cells[c].offsets);
  for (uint32_t v = 0; column->code_size && v < column->n_values; v++) {
    size_t size;
    const char *bytes = shoal_column_value(column, v, &size);
    assert_true(shoal_cells_out_add(&cells[c], &out, bytes, size));
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
  assert_true(table->origin && table->n_rows == N_TUPLES && table->n_records == N_RECORDS);
  assert_int_equal(table->origin->n_pieces, 1);
  out = (shoal_csv_out){.table = table,
                        .delimiter = ',',
                        .columns = cells,
                        .n_columns = N_COLUMNS,
                        .group_of_row = groups,
                        .fate = fates};
  memset(fates, SHOAL_FATE_KEEP, sizeof fates);
  for (size_t c = 0; c < N_COLUMNS; c++) fill_cells(c);
  return 0;
}

static int end(void **state UNUSED) {
  for (size_t c = 0; c < N_COLUMNS; c++) shoal_cells_out_reset(&cells[c]);
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
  shoal_status status = shoal_csv_write_again(&out, sink, -1, NULL, run, &n_rows, to);
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
    if (!strstr(error.message, "was changed")) fail_msg("%s", error.message);
  }
}

/* The table takes a file for its own, whatever stands in it. */
static void trust(const char *path) {
  shoal_source *source;
  free(table->origin->path);
  table->origin->path = strdup(path);
  assert_non_null(table->origin->path);
  succeeds(shoal_source_open(path, &source, &error));
  (void)shoal_source_stamp(source, &table->origin->stamp);
  shoal_source_close(source);
}

static void trust_data(const char *bytes) {
  put(data, bytes, strlen(bytes));
  trust(data);
}

/* ---------------------------------------------------------------- what is written */

static void rows_are_written_as_they_are_met(void **state UNUSED) {
  writes(DATA);
  fates[1] = SHOAL_FATE_REMOVE; /* 2 with y */
  writes("age,note,ill\n1,n1,x\n1,\"n,3\",x\n2,n4,x\n");
  fates[1] = SHOAL_FATE_BLANK;
  cells[0].generalized = true;
  writes("age,note,ill\n1,n1,x\n*,n2,y\n1,\"n,3\",x\n2,n4,x\n*,n5,y\n");
  cells[2].hidden = (const uint8_t[]){0, 0, 1}; /* 2 with x */
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
  shoal_origin *origin = table->origin;
  uint64_t *own_starts = realloc(origin->piece_start, 3 * sizeof(uint64_t));
  assert_non_null(own_starts);
  origin->piece_start = own_starts;
  own_starts[2] = N_RECORDS;
  origin->n_pieces = 2; /* another block was there */
  has_changed();
  origin->n_pieces = 0; /* this one was not */
  has_changed();
  origin->n_pieces = 1;
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
  assert_non_null(strstr(error.message, "was changed"));
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(rows_are_written_as_they_are_met),
      TEST(another_file_is_noticed),
      TEST(another_number_of_blocks_is_noticed),
      TEST(a_file_that_changes_while_it_is_read_is_noticed),
      TEST(a_file_that_is_not_compressed_is_told),
      TEST(a_file_that_breaks_off_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
