/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The release writer piece by piece, where whole releases do not lead: leftovers of other runs,
 * locks that are held, names that are taken, standard output, zlib and zstd that fail, rows that
 * are written very often, orders of many rows. What cannot be written is reported, and nothing
 * stays.
 */
#include "lowmem_memory.h"
#include "lowmem_packing.h"
#include "lowmem_system.h"

#include <setjmp.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/random.h"
#include "comes_back.h"
#include "write/atomic_file.h"
#include "write/csv.h"
#include "write/shuffle.h"
#include "write/spill.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

/* ---------------------------------------------------------------- a system that fails otherwise */

static bool fstat_fails;
static unsigned flock_refusals; /* so many locks are refused, with failing_code */
static uid_t other_user;        /* added to our own number */

int fstat(int fd, struct stat *info) {
  if (!fstat_fails) return (int)syscall(SYS_fstat, fd, info);
  errno = EIO;
  return -1;
}

int flock(int fd, int operation) {
  if (!flock_refusals) return (int)syscall(SYS_flock, fd, operation);
  flock_refusals--;
  errno = failing_code;
  return -1;
}

uid_t geteuid(void) { return (uid_t)syscall(SYS_geteuid) + other_user; }

static shoal_error error;
static char folder[64], path[96];

static int start(void **state UNUSED) {
  (void)snprintf(folder, sizeof folder, "/tmp/shoal-scarce-write-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  (void)snprintf(path, sizeof path, "%s/out.csv", folder);
  return chdir(folder);
}

static int end(void **state UNUSED) { return chdir("/") || rmdir(folder); }

static void succeeds(shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", error.message);
}

/* Calls of that name, all from the n-th on, fail with a code until nothing_fails. */
static void let_fail(const char *call, long n, int code) {
  n_calls = 0;
  call_that_fails = n;
  only_call = call;
  failing_code = code;
  fails_ever_after = true;
  counts_calls = true;
}

static void nothing_fails(void) {
  counts_calls = fails_ever_after = lacks_unnamed = fstat_fails = false;
  only_call = NULL;
  call_that_fails = 0;
  flock_refusals = 0;
  other_user = 0;
}

/* ---------------------------------------------------------------- leftovers */

static const char LEFT[] = ".shoal-0123456789abcdef.part";

static int make(const char *name) {
  int fd = open(name, O_RDWR | O_CREAT, 0600);
  assert_true(fd >= 0);
  return fd;
}

/* Sweeps, and tells whether the name is still there; it is not afterwards. */
static bool stays(const char *name) {
  shoal_stale_files_sweep(folder);
  return unlink(name) == 0;
}

static void only_what_nobody_holds_is_swept(void **state UNUSED) {
  static const char *const others[] = {".shoal-0123456789abcde.part", ".shoal-0123456789abcdefg",
                                       ".shoal-0123456789ABCDEF.part",
                                       ".shoal-0123456789abcdef.csv", "release.csv"};
  int fd = make(LEFT);
  assert_true(stays("release.csv") == false && access(LEFT, F_OK) == -1); /* nobody's */
  (void)close(fd);
  for (size_t i = 0; i < COUNT(others); i++) { /* not our names */
    (void)close(make(others[i]));
    assert_true(stays(others[i]));
  }
  fd = make(LEFT);
  assert_true(shoal_stale_files_hold(fd)); /* a run that goes on */
  assert_true(stays(LEFT));
  (void)close(fd);
  (void)close(make(LEFT));
  other_user = 1;
  assert_true(stays(LEFT)); /* another user's */
  (void)close(make(LEFT));
  nothing_fails();
  fstat_fails = true;
  assert_true(stays(LEFT)); /* nobody can tell whose */
  nothing_fails();
  assert_int_equal(symlink("/dev/null", LEFT), 0);
  assert_true(stays(LEFT));
  assert_int_equal(mkfifo(LEFT, 0600), 0);
  assert_true(stays(LEFT));
  shoal_stale_files_sweep("/nonexistent");
}

static void a_lock_tells_whose_a_file_is(void **state UNUSED) {
  int fd = make(LEFT), second = make(LEFT);
  assert_true(shoal_stale_files_hold(fd));
  assert_false(shoal_stale_files_hold(second)); /* another holds it */
  flock_refusals = 1;
  failing_code = ENOLCK;
  assert_true(shoal_stale_files_hold(second)); /* no locks: nothing is swept either */
  fstat_fails = true;
  assert_true(shoal_stale_files_hold(fd));
  nothing_fails();
  assert_int_equal(unlink(LEFT), 0);
  assert_false(shoal_stale_files_hold(fd)); /* swept before it was locked */
  (void)close(fd);
  (void)close(second);
}

/* ---------------------------------------------------------------- names */

static shoal_status write_file(const char *to) {
  shoal_atomic_file atomic_file;
  shoal_status status = shoal_atomic_file_open(&atomic_file, to, &error);
  if (status != SHOAL_OK) return status;
  succeeds(shoal_write_all(atomic_file.fd, to, "new\n", 4, &error));
  status = shoal_atomic_file_commit(&atomic_file, &error);
  shoal_atomic_file_close(&atomic_file);
  return status;
}

static void is_written(const char *to) {
  char *bytes;
  size_t size;
  succeeds(shoal_source_slurp_text(to, 100, &bytes, &size, &error));
  assert_string_equal(bytes, "new\n");
  free(bytes);
  assert_int_equal(unlink(to), 0);
}

static void a_name_may_lie_in_any_directory(void **state UNUSED) {
  shoal_atomic_file atomic_file;
  succeeds(write_file("out.csv"));
  is_written(path);
  succeeds(write_file("./out.csv"));
  is_written(path);
  if (shoal_atomic_file_open(&atomic_file, "/shoal-scarce-write.csv", &error) != SHOAL_OK) return;
  assert_string_equal(atomic_file.directory, "/"); /* where we may write there at all */
  shoal_atomic_file_close(&atomic_file);
  assert_int_equal(access("/shoal-scarce-write.csv", F_OK), -1);
}

static void names_that_are_taken_are_given_up(void **state UNUSED) {
  lacks_unnamed = true;
  let_fail("open", 1, EEXIST); /* the file's own */
  assert_int_equal(write_file(path), SHOAL_FAILED);
  assert_int_equal(n_calls, 16);
  nothing_fails();
  let_fail("linkat", 1, EEXIST); /* and the one it is linked to */
  assert_int_equal(write_file(path), SHOAL_FAILED);
  assert_int_equal(n_calls, 16);
  nothing_fails();
  counts_calls = lacks_unnamed = true; /* a sweep of another run comes in between */
  flock_refusals = 2;
  failing_code = EWOULDBLOCK;
  succeeds(write_file(path));
  is_written(path);
  counts_calls = lacks_unnamed = true;
  flock_refusals = 1000;
  assert_int_equal(write_file(path), SHOAL_FAILED);
  nothing_fails();
  assert_int_equal(access(path, F_OK), -1);
}

/* ---------------------------------------------------------------- streams */

static void standard_output_gets_the_bytes(void **state UNUSED) {
  shoal_atomic_file atomic_file;
  char bytes[8] = {0};
  int fd = memfd_create("standard output", 0), kept = dup(STDOUT_FILENO);
  assert_true(fd >= 0 && kept >= 0);
  succeeds(shoal_atomic_file_open(&atomic_file, "-", &error));
  succeeds(shoal_write_all(atomic_file.fd, "-", "new\n", 4, &error));
  (void)fflush(stdout);
  assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
  shoal_status status = shoal_atomic_file_commit(&atomic_file, &error);
  assert_int_equal(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
  succeeds(status);
  assert_int_equal(pread(fd, bytes, 7, 0), 4);
  assert_string_equal(bytes, "new\n");
  shoal_atomic_file_close(&atomic_file);
  (void)close(kept);
  (void)close(fd);
}

static void a_stream_that_fails_is_told(void **state UNUSED) {
  shoal_atomic_file atomic_file;
  succeeds(shoal_atomic_file_open(&atomic_file, "/dev/null", &error));
  succeeds(shoal_write_all(atomic_file.fd, "/dev/null", "new\n", 4, &error));
  fails_once = true;
  allocations_left = 0;
  assert_int_equal(shoal_atomic_file_commit(&atomic_file, &error), SHOAL_FAILED);
  allocations_left = -1;
  for (long n = 1; n <= 4;
       n++) { /* to open it, read back, write and close it: the first is reported */
    let_fail(NULL, n, n == 3 ? ENOSPC : EIO);
    assert_int_equal(shoal_atomic_file_commit(&atomic_file, &error), SHOAL_FAILED);
    assert_int_equal(strstr(error.message, strerror(ENOSPC)) != NULL, n == 3);
    nothing_fails();
  }
  succeeds(shoal_atomic_file_commit(&atomic_file, &error));
  shoal_atomic_file_close(&atomic_file);
}

/* ---------------------------------------------------------------- sinks */

static char noise[600000];

static void make_noise(void) {
  uint32_t word = 1;
  for (size_t i = 0; i < sizeof noise; i++) {
    word = word * 1664525u + 1013904223u;
    noise[i] = (char)(word >> 24);
  }
}

static shoal_status sink_noise(int fd, const char *name) {
  shoal_sink *sink;
  shoal_status status = shoal_sink_open(fd, name, &sink, &error);
  if (status == SHOAL_OK) status = shoal_sink_write(sink, noise, sizeof noise, &error);
  if (status == SHOAL_OK) status = shoal_sink_write(sink, "", 0, &error); /* no bytes at all */
  if (status == SHOAL_OK) status = shoal_sink_finish(sink, &error);
  shoal_sink_free(sink); /* NULL where it was not opened */
  return status;
}

static void packing_that_fails_is_told(void **state UNUSED) {
  static const char *const names[] = {"a.csv", "a.gz", "a.zst"};
  make_noise();
  for (size_t i = 0; i < COUNT(names); i++) {
    for (enum packing_fault fault = PACKING_SOUND; fault <= PACKING_BY_BYTES; fault++) {
      int fd = memfd_create("sink", 0);
      bool fails = (i == 1 && fault == PACKING_NO_INIT) ||
                   (i == 2 && fault > PACKING_SOUND && fault < PACKING_LATE_END);
      packing_fault = fault;
      shoal_status status = sink_noise(fd, names[i]);
      packing_fault = PACKING_SOUND;
      assert_int_equal(status, fails ? SHOAL_FAILED : SHOAL_OK);
      if (!fails) comes_back(fd, noise, sizeof noise);
      (void)close(fd);
    }
    int fd = memfd_create("sink", 0);
    fails_once = true;
    for (long n = 0, ended = 0; !ended; n++) {
      allocations_left = n;
      shoal_status status = sink_noise(fd, names[i]);
      ended = allocations_left >= 0;
      allocations_left = -1;
      assert_int_equal(status, ended ? SHOAL_OK : SHOAL_FAILED);
    }
    let_fail(i ? "write" : "pwrite", 2, 0); /* no error, and yet no byte */
    if (!i) call_that_fails = 1;
    assert_int_equal(sink_noise(fd, names[i]), SHOAL_FAILED);
    nothing_fails();
    (void)close(fd);
  }
}

static void bytes_to_a_pipe_come_in_order(void **state UNUSED) {
  int ends[2];
  char bytes[16] = {0};
  shoal_sink *sink;
  uint64_t offset;
  assert_int_equal(pipe(ends), 0);
  succeeds(shoal_sink_open(ends[1], "pipe", &sink, &error));
  assert_false(shoal_sink_reserve(sink, 3, &offset));
  succeeds(shoal_sink_write(sink, "abc", 3, &error));
  succeeds(shoal_sink_write(sink, "de", 2, &error));
  succeeds(shoal_sink_finish(sink, &error));
  shoal_sink_free(sink);
  assert_int_equal(read(ends[0], bytes, sizeof bytes), 5);
  assert_string_equal(bytes, "abcde");
  (void)close(ends[0]);
  (void)close(ends[1]);
}

/* A row that does not fit into a bucket's buffer, alone; and buckets without rows. */
static void a_long_row_is_spooled_by_itself(void **state UNUSED) {
  int fd = memfd_create("spool", 0);
  shoal_spill *spill;
  shoal_bytes rows = {0};
  uint32_t n_rows, size;
  make_noise();
  succeeds(shoal_spill_new(fd, 2, &spill, &error));
  succeeds(shoal_spill_add(spill, 1, noise, 100000, &error));
  succeeds(shoal_spill_load(spill, 1, &rows, &n_rows, &error));
  assert_int_equal(n_rows, 1);
  memcpy(&size, rows.bytes, sizeof size);
  assert_int_equal(size, 100000);
  assert_int_equal(rows.size, sizeof size + 100000);
  assert_memory_equal(rows.bytes + sizeof size, noise, 100000);
  succeeds(shoal_spill_load(spill, 0, &rows, &n_rows, &error));
  assert_true(n_rows == 0 && rows.size == 0);
  shoal_spill_free(spill);
  free(rows.bytes);
  (void)close(fd);
}

/* ---------------------------------------------------------------- orders */

/* 32 bits of a bucket's stream, one word after the other. */
typedef struct stream {
  shoal_random random;
  uint32_t words[SHOAL_RANDOM_WORDS];
  unsigned used;
} stream;

/* Uniform below `bound`: of 2^32 words, the last ones that make no whole round are passed over. */
static uint32_t slowly_below(stream *s, uint32_t bound, uint32_t *n_passed) {
  for (;; ++*n_passed) {
    if (s->used % SHOAL_RANDOM_WORDS == 0) shoal_random_blocks(&s->random, s->words);
    uint64_t product = (uint64_t)s->words[s->used++ % SHOAL_RANDOM_WORDS] * bound;
    if (product % (UINT64_C(1) << 32) >= (UINT64_C(1) << 32) % bound)
      return (uint32_t)(product >> 32);
  }
}

static void large_buckets_are_shuffled_evenly(void **state UNUSED) {
  enum { ROWS = 400000 };
  uint32_t *positions = malloc(ROWS * sizeof *positions), *slow = malloc(ROWS * sizeof *slow);
  uint32_t n_passed = 0;
  shoal_random random;
  shoal_shuffle order;
  assert_true(positions && slow);
  shoal_random_seed(&random, 7);
  shoal_shuffle_init(&order, &random, UINT64_C(1) << 40);
  assert_int_equal(shoal_shuffle_buckets(&order), 1024); /* no more, however many rows */
  shoal_shuffle_permute(&order, 3, ROWS, positions);
  stream s = {.used = 0};
  shoal_random_stream(&s.random, order.key, 4, 0);
  for (uint32_t i = 0; i < ROWS; i++) {
    uint32_t j = slowly_below(&s, i + 1, &n_passed);
    slow[i] = i;
    slow[i] = slow[j];
    slow[j] = i;
  }
  assert_memory_equal(positions, slow, ROWS * sizeof *positions);
  assert_true(n_passed > 0);
  free(positions);
  free(slow);
}

/* ---------------------------------------------------------------- rows */

static uint8_t codes[] = {0, 1, 1, 0, 1};
static uint32_t groups[5];
static const uint8_t keep[] = {SHOAL_ROW_KEEP};
static shoal_column column;
static shoal_csv_column cells;
static shoal_table table;
static shoal_csv_plan out;

static void make_release(uint64_t n_rows, uint64_t *counts) {
  column = (shoal_column){.name = "c", .n_values = 2, .code_size = 1, .codes = codes};
  cells = (shoal_csv_column){.column = &column};
  table = (shoal_table){.n_rows = n_rows, .n_records = n_rows, .counts = counts};
  for (uint64_t r = 0; counts && r < n_rows; r++) table.n_records += counts[r] - 1;
  out = (shoal_csv_plan){.table = &table,
                         .delimiter = ',',
                         .columns = &cells,
                         .n_columns = 1,
                         .group_of_row = groups,
                         .action = keep};
  cells.offsets = calloc(3, sizeof *cells.offsets);
  assert_non_null(cells.offsets);
  assert_true(shoal_csv_column_add(&cells, &out, "aaaaaaaaa", 9));
  assert_true(shoal_csv_column_add(&cells, &out, "bbbbbbbbb", 9));
}

/* What is written, "" where that fails. */
static shoal_status release(uint64_t seed, const shoal_run *run, char *bytes, size_t room) {
  int fd = memfd_create("release", 0);
  shoal_sink *sink;
  shoal_random random;
  uint64_t n_rows = 0;
  shoal_random_seed(&random, seed);
  shoal_status status = shoal_sink_open(fd, "release.csv", &sink, &error);
  if (status == SHOAL_OK) {
    status = shoal_csv_write(&out, sink, seed ? &random : NULL, run, &n_rows, &error);
    shoal_sink_free(sink);
  }
  ssize_t n = status == SHOAL_OK ? pread(fd, bytes, room - 1, 0) : 0;
  bytes[n] = '\0';
  (void)close(fd);
  if (status == SHOAL_OK) assert_int_equal(n_rows, table.n_records);
  return status;
}

static size_t count_of(const char *bytes, char first) {
  size_t n = 0;
  for (const char *at = strchr(bytes, '\n'); at; at = strchr(at + 1, '\n')) n += at[1] == first;
  return n;
}

static bool cancel(void *user, const shoal_progress *progress) {
  (void)progress;
  return ++*(unsigned *)user > 0;
}

static void rows_that_stand_for_many_are_written_as_often(void **state UNUSED) {
  enum { ROOM = 4 << 20 };
  uint64_t counts[] = {3, 200000, 1, 2, 1};
  unsigned n_reports = 0;
  const shoal_run one = {.n_threads = 1};
  const shoal_run stopped = {.n_threads = 1, .progress = cancel, .progress_user = &n_reports};
  char *bytes = malloc(ROOM);
  assert_non_null(bytes);
  make_release(5, counts);
  for (uint64_t seed = 0; seed < 2; seed++) {
    succeeds(release(seed, &one, bytes, ROOM));
    assert_int_equal(count_of(bytes, 'a'), 5);
    assert_int_equal(count_of(bytes, 'b'), 200002);
    assert_int_equal(strlen(bytes), 2 + 10 * 200007);
    assert_int_equal(release(seed, &stopped, bytes, ROOM), SHOAL_CANCELLED);
  }
  let_fail("pwrite", 2, ENOSPC); /* behind the header */
  assert_int_equal(release(0, &one, bytes, ROOM), SHOAL_FAILED);
  nothing_fails();
  free(bytes);
  shoal_csv_column_reset(&cells);
}

/* An apostrophe goes before what a spreadsheet would run, inside quotes where there are some. */
static void formulas_are_quoted_where_that_is_asked(void **state UNUSED) {
  static const char *const texts[] = {"=1+1", "=a,b", "-1",
                                      "a cell of more than thirty-two bytes, "
                                      "quoted"};
  static uint8_t all_codes[] = {0, 1, 2, 3};
  static const uint8_t suppressed_cells[] = {0};
  const shoal_run one = {.n_threads = 1};
  char bytes[256];
  make_release(4, NULL);
  shoal_csv_column_reset(&cells);
  column.n_values = 4;
  column.codes = all_codes;
  cells =
      (shoal_csv_column){.column = &column, .suppressed_cells = suppressed_cells}; /* in no group */
  cells.offsets = calloc(COUNT(texts) + 1, sizeof *cells.offsets);
  assert_non_null(cells.offsets);
  out.quote_formulas = true;
  for (size_t v = 0; v < COUNT(texts); v++)
    assert_true(shoal_csv_column_add(&cells, &out, texts[v], strlen(texts[v])));
  succeeds(release(0, &one, bytes, sizeof bytes));
  assert_string_equal(
      bytes, "c\n'=1+1\n\"'=a,b\"\n-1\n\"a cell of more than thirty-two bytes, quoted\"\n");
  shoal_csv_column_reset(&cells);
}

static void no_rows_are_a_header(void **state UNUSED) {
  char bytes[64];
  unsigned n_reports = 0;
  const shoal_run two = {.n_threads = 2};
  const shoal_run stopped = {.n_threads = 1, .progress = cancel, .progress_user = &n_reports};
  make_release(0, NULL);
  succeeds(release(0, &two, bytes, sizeof bytes));
  assert_string_equal(bytes, "c\n");
  succeeds(release(1, &two, bytes, sizeof bytes));
  assert_string_equal(bytes, "c\n");
  (void)release(0, &stopped, bytes, sizeof bytes);
  shoal_csv_column_reset(&cells);
}

static void rows_without_memory_are_not_written(void **state UNUSED) {
  static const uint32_t backwards[] = {4, 3, 2, 1, 0};
  uint64_t counts[] = {1, 1, 1, 1, 1};
  const shoal_run one = {.n_threads = 1};
  char bytes[128];
  fails_once = true;
  for (unsigned way = 0; way < 4; way++) { /* in order, of counts, shuffled, in a given order */
    make_release(5, way == 1 ? counts : NULL);
    if (way == 3) out.order = backwards;
    for (long n = 0, ended = 0; !ended; n++) {
      allocations_left = n;
      shoal_status status = release(way == 2, &one, bytes, sizeof bytes);
      ended = allocations_left >= 0;
      allocations_left = -1;
      assert_int_equal(status, ended ? SHOAL_OK : SHOAL_FAILED);
    }
    assert_int_equal(count_of(bytes, 'a'), 2);
    assert_int_equal(count_of(bytes, 'b'), 3);
    if (way == 3) assert_int_equal(bytes[2], 'b');
    shoal_csv_column_reset(&cells);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(only_what_nobody_holds_is_swept),
      TEST(a_lock_tells_whose_a_file_is),
      TEST(a_name_may_lie_in_any_directory),
      TEST(names_that_are_taken_are_given_up),
      TEST(standard_output_gets_the_bytes),
      TEST(a_stream_that_fails_is_told),
      TEST(packing_that_fails_is_told),
      TEST(bytes_to_a_pipe_come_in_order),
      TEST(a_long_row_is_spooled_by_itself),
      TEST(large_buckets_are_shuffled_evenly),
      TEST(rows_that_stand_for_many_are_written_as_often),
      TEST(formulas_are_quoted_where_that_is_asked),
      TEST(no_rows_are_a_header),
      TEST(rows_without_memory_are_not_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
