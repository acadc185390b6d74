/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/write: two files that are renamed together or not at all, which paths are the
 * same file, and shuffling. The bytes of a release are compared by tests/property, what remains
 * after a failure by tests/fault.
 */
#include <dirent.h>
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

#include <cmocka.h>

#include "read/source.h"
#include "write/atomic_file.h"
#include "write/csv.h"
#include "write/shuffle.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

static shoal_error error;

static void succeeds(shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", error.message);
}

/* ---------------------------------------------------------------- a directory of its own */

static char directory[64], path[128], other[128];

static int make_directory(void **state UNUSED) {
  (void)snprintf(directory, sizeof directory, "/tmp/shoal-write-XXXXXX");
  bool made = mkdtemp(directory) != NULL;
  (void)snprintf(path, sizeof path, "%s/release.csv", directory);
  (void)snprintf(other, sizeof other, "%s/other.csv", directory);
  return !made;
}

/* How many names the directory has; where `and_remove`, it has none afterwards. */
static unsigned count_names(bool and_remove) {
  unsigned n = 0;
  DIR *names = opendir(directory);
  for (struct dirent *name; (name = readdir(names));) {
    if (!strcmp(name->d_name, ".") || !strcmp(name->d_name, "..")) continue;
    n++;
    if (and_remove && unlinkat(dirfd(names), name->d_name, 0))
      (void)unlinkat(dirfd(names), name->d_name, AT_REMOVEDIR);
  }
  (void)closedir(names);
  return n;
}

static int remove_directory(void **state UNUSED) {
  return (void)count_names(true), rmdir(directory);
}

static void put(const char *where, const char *text) {
  FILE *file = fopen(where, "w");
  assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void holds(const char *where, const char *text) {
  char *bytes;
  size_t size;
  succeeds(shoal_source_slurp(where, 1 << 20, &bytes, &size, &error));
  assert_string_equal(bytes, text);
  free(bytes);
}

static void open_with(shoal_atomic_file *atomic_file, const char *where, const char *text) {
  succeeds(shoal_atomic_file_open(atomic_file, where, &error));
  assert_int_equal(write(atomic_file->fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* ---------------------------------------------------------------- aside */

static void two_files_are_committed_together(void **state UNUSED) {
  shoal_atomic_file first, second;
  put(path, "an older one");
  open_with(&first, path, "first");
  open_with(&second, other, "second");
  succeeds(shoal_atomic_file_commit_all((shoal_atomic_file *[]){&first, &second}, 2, &error));
  shoal_atomic_file_close(&first);
  shoal_atomic_file_close(&second);
  holds(path, "first");
  holds(other, "second");
  assert_int_equal(count_names(false), 2);
}

/* The second cannot get its name: a directory has it. */
static void neither_of_two_files_is_there_if_one_fails(void **state UNUSED) {
  for (int older = 0; older < 2; older++) {
    shoal_atomic_file first, second;
    if (older) put(path, "an older one");
    open_with(&first, path, "first");
    open_with(&second, other, "second");
    assert_int_equal(mkdir(other, 0700), 0);
    assert_int_not_equal(
        shoal_atomic_file_commit_all((shoal_atomic_file *[]){&first, &second}, 2, &error),
        SHOAL_OK);
    shoal_atomic_file_close(&first);
    shoal_atomic_file_close(&second);
    if (older) holds(path, "an older one");
    else assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(rmdir(other), 0);
    assert_int_equal(count_names(false), (unsigned)older);
  }
}

static void the_same_file_is_known_by_any_name(void **state UNUSED) {
  char hard[128], soft[128];
  put(path, "x");
  put(other, "x");
  (void)snprintf(hard, sizeof hard, "%s/hard", directory);
  (void)snprintf(soft, sizeof soft, "%s/soft", directory);
  assert_int_equal(link(path, hard), 0);
  assert_int_equal(symlink(path, soft), 0);
  const char *const same[] = {path, hard, soft};
  for (size_t i = 0; i < COUNT(same); i++) {
    const char *const others[] = {NULL, "-", other, "/dev/null", same[i]};
    assert_int_equal(shoal_same_file(path, others, 5), 4);
    assert_int_equal(shoal_same_file(same[i], (const char *const[]){path}, 1), 0);
    assert_int_equal(shoal_same_file(path, others, 4), 4);
  }
  assert_int_equal(shoal_same_file("-", (const char *const[]){"-", path}, 2), 2);
  assert_int_equal(unlink(path), 0); /* not there any more: only its name can be the same */
  assert_int_equal(shoal_same_file(path, (const char *const[]){"-", path}, 2), 1);
  assert_int_equal(shoal_same_file(path, (const char *const[]){other, hard}, 2), 2);
}

/* ---------------------------------------------------------------- sink */

/* What is in a file, decompressed. */
static char *contents(int fd, size_t *size) {
  char name[64], *bytes;
  (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  succeeds(shoal_source_slurp(name, 1 << 30, &bytes, size, &error));
  return bytes;
}

/* ---------------------------------------------------------------- rows */

/* Columns of a table made by hand, and what is to be written of it. */
typedef struct release {
  shoal_table table;
  shoal_column columns[3];
  shoal_csv_column cells[3];
  shoal_csv_plan out;
} release;

/* Codes of 1, 2 or 4 bytes into n_values texts. */
static void set_column(release *r, size_t c, const char *name, void *codes, unsigned code_size,
                       const char *const *texts, uint32_t n_values) {
  r->columns[c] =
      (shoal_column){.name = name, .n_values = n_values, .code_size = code_size, .codes = codes};
  r->cells[c] = (shoal_csv_column){.column = &r->columns[c]};
  r->cells[c].offsets = calloc(n_values + 1, sizeof *r->cells[c].offsets);
  assert_non_null(r->cells[c].offsets);
  for (uint32_t v = 0; v < n_values; v++)
    assert_true(shoal_csv_column_add(&r->cells[c], &r->out, texts[v], strlen(texts[v])));
}

static void start_release(release *r, uint64_t n_rows, size_t n_columns, char delimiter) {
  static uint32_t one_group[1 << 17];
  static const uint8_t keep[] = {SHOAL_ROW_KEEP};
  *r = (release){.table = {.n_rows = n_rows, .n_records = n_rows},
                 .out = {.table = &r->table,
                         .delimiter = delimiter,
                         .columns = r->cells,
                         .n_columns = n_columns,
                         .group_of_row = one_group,
                         .action = keep}};
}

static void end_release(release *r) {
  for (size_t c = 0; c < r->out.n_columns; c++) shoal_csv_column_reset(&r->cells[c]);
}

/* What is written, as a string. */
static char *written(const release *r, shoal_random *random, unsigned n_threads, uint64_t *n_rows) {
  int fd = memfd_create("release", 0);
  shoal_sink *sink;
  size_t size;
  succeeds(shoal_sink_open(fd, "release.csv", &sink, &error));
  succeeds(
      shoal_csv_write(&r->out, sink, random, &(shoal_run){.n_threads = n_threads}, n_rows, &error));
  shoal_sink_free(sink);
  char *bytes = contents(fd, &size);
  (void)close(fd);
  return bytes;
}

/* ---------------------------------------------------------------- many rows, in any order */

enum { MANY = 100000 }; /* several stretches */

static void every_order_is_equally_likely(void **state UNUSED) {
  static uint8_t codes[] = {0, 1, 2};
  release r;
  start_release(&r, 3, 1, ',');
  set_column(&r, 0, "id", codes, 1, (const char *const[]){"0", "1", "2"}, 3);
  shoal_random random;
  shoal_random_seed(&random, 3);
  unsigned seen[3][3] = {{0}};
  uint64_t n_rows;
  for (int i = 0; i < 6000; i++) {
    char *bytes = written(&r, &random, 1, &n_rows); /* "id\n0\n1\n2\n" */
    seen[bytes[3] - '0'][bytes[5] - '0']++;
    free(bytes);
  }
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) assert_in_range(seen[a][b], a == b ? 0 : 850, a == b ? 0 : 1150);
  end_release(&r);
}

/* Rows are thrown the same whoever throws them, evenly, and each bucket has every order. */
static void rows_are_thrown_by_their_number_and_evenly(void **state UNUSED) {
  enum { ROWS = 200000 };
  static uint16_t all[ROWS], some[ROWS];
  static uint32_t positions[1000];
  shoal_random random;
  shoal_shuffle order, second;
  shoal_random_seed(&random, 5);
  shoal_shuffle_init(&order, &random, ROWS);
  shoal_shuffle_init(&second, &random, ROWS);
  assert_int_equal(shoal_shuffle_buckets(&order), 8);
  shoal_shuffle_assign(&order, 0, ROWS, all);
  for (uint64_t first = 0; first < ROWS;) {
    uint64_t n = 1 + shoal_random_below(&random, 5000);
    if (n > ROWS - first) n = ROWS - first;
    shoal_shuffle_assign(&order, first, n, some + first);
    first += n;
  }
  assert_memory_equal(all, some, sizeof all);
  uint32_t rows[8] = {0}, pairs[8][8] = {{0}}, same = 0;
  shoal_shuffle_assign(&second, 0, ROWS, some);
  for (size_t i = 0; i < ROWS; i++) {
    rows[all[i]]++;
    same += all[i] == some[i];
    if (i) pairs[all[i - 1]][all[i]]++;
  }
  assert_in_range(same, ROWS / 8 - 1000, ROWS / 8 + 1000); /* another key, another throw */
  for (size_t b = 0; b < 8; b++) {
    assert_in_range(rows[b], ROWS / 8 - 1000, ROWS / 8 + 1000);
    for (size_t c = 0; c < 8; c++) assert_in_range(pairs[b][c], ROWS / 64 - 350, ROWS / 64 + 350);
  }
  uint32_t first_position[10] = {0};
  for (uint32_t bucket = 0; bucket < 5000; bucket++) {
    shoal_shuffle_permute(&order, bucket, 10, positions);
    uint32_t seen = 0;
    for (size_t i = 0; i < 10; i++) seen |= 1u << positions[i];
    assert_int_equal(seen, (1u << 10) - 1);
    first_position[positions[0]]++;
  }
  for (size_t i = 0; i < 10; i++) assert_in_range(first_position[i], 400, 600);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(two_files_are_committed_together),
      TEST(neither_of_two_files_is_there_if_one_fails),
      TEST(the_same_file_is_known_by_any_name),
      TEST(every_order_is_equally_likely),
      TEST(rows_are_thrown_by_their_number_and_evenly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
