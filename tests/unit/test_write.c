/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/write: files that are whole under their name or not there, with nothing left
 * beside them; which paths are the same file; compressed bytes that come back; rows as CSV, quoted,
 * blanked, repeated and shuffled, the same whatever the threads.
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

#include "comes_back.h"
#include "read/csv.h"
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
  succeeds(shoal_source_slurp_text(where, 1 << 20, &bytes, &size, &error));
  assert_string_equal(bytes, text);
  free(bytes);
}

static void open_with(shoal_atomic_file *atomic_file, const char *where, const char *text) {
  succeeds(shoal_atomic_file_open(atomic_file, where, &error));
  assert_int_equal(write(atomic_file->fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* ---------------------------------------------------------------- aside */

static void a_committed_file_stands_whole_under_its_name(void **state UNUSED) {
  shoal_atomic_file atomic_file;
  struct stat info;
  mode_t mask = umask(027);
  open_with(&atomic_file, path, "new\n");
  assert_true(fstat(atomic_file.fd, &info) == 0 &&
              (info.st_mode & 0777) == 0600); /* its owner's only */
  assert_int_equal(access(path, F_OK), -1);
  succeeds(shoal_atomic_file_commit(&atomic_file, &error));
  shoal_atomic_file_close(&atomic_file);
  shoal_atomic_file_close(&atomic_file); /* at any time */
  (void)umask(mask);
  holds(path, "new\n");
  assert_true(stat(path, &info) == 0 && (info.st_mode & 0777) == 0640);
  assert_int_equal(count_names(false), 1);
}

static void committing_replaces_what_was_there(void **state UNUSED) {
  shoal_atomic_file atomic_file;
  put(path, "old\n");
  assert_int_equal(chmod(path, 0600), 0);
  assert_int_equal(symlink("release.csv", other), 0);
  open_with(&atomic_file, other, "new\n");
  holds(path, "old\n"); /* until it is committed */
  succeeds(shoal_atomic_file_commit(&atomic_file, &error));
  shoal_atomic_file_close(&atomic_file);
  holds(path, "new\n");
  char target[16];
  assert_int_equal(readlink(other, target, sizeof target), 11); /* still a link */
  assert_int_equal(count_names(false), 2);
}

static void an_abandoned_file_leaves_nothing(void **state UNUSED) {
  shoal_atomic_file atomic_file;
  open_with(&atomic_file, path, "new\n");
  shoal_atomic_file_close(&atomic_file);
  assert_int_equal(count_names(false), 0);
  put(path, "old\n");
  open_with(&atomic_file, path, "new\n");
  shoal_atomic_file_close(&atomic_file);
  holds(path, "old\n");
  assert_int_equal(count_names(false), 1);
}

static void a_file_that_cannot_be_named_leaves_nothing(void **state UNUSED) {
  shoal_atomic_file atomic_file;
  open_with(&atomic_file, path, "new\n");
  assert_int_equal(mkdir(path, 0700), 0); /* meanwhile somebody takes the name */
  assert_int_equal(shoal_atomic_file_commit(&atomic_file, &error), SHOAL_BAD_INPUT);
  shoal_atomic_file_close(&atomic_file);
  assert_int_equal(count_names(false), 1);
  assert_int_equal(shoal_atomic_file_open(&atomic_file, path, &error),
                   SHOAL_BAD_INPUT); /* a directory */
  (void)snprintf(path, sizeof path, "%s/no/release.csv", directory);
  assert_int_equal(shoal_atomic_file_open(&atomic_file, path, &error), SHOAL_BAD_INPUT);
  assert_non_null(strstr(error.message, "its directory cannot be used"));
}

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

static void a_pipe_gets_the_bytes_when_they_are_committed(void **state UNUSED) {
  int ends[2];
  char bytes[16] = {0};
  assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
  shoal_atomic_file atomic_file;
  open_with(&atomic_file, path, "new\n");
  assert_int_equal(read(ends[0], bytes, sizeof bytes), -1);
  succeeds(shoal_atomic_file_commit(&atomic_file, &error));
  shoal_atomic_file_close(&atomic_file);
  assert_int_equal(read(ends[0], bytes, sizeof bytes), 4);
  assert_string_equal(bytes, "new\n");
  (void)close(ends[0]);
  (void)close(ends[1]);
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

static void check_sink(const char *name, const char *magic, size_t magic_size, size_t size) {
  static char bytes[3 << 20];
  shoal_random random;
  shoal_random_seed(&random, size);
  for (size_t i = 0; i < size; i++) /* half of it cannot be compressed */
    bytes[i] = (char)(i / 4096 % 2 ? 'a' : (int)shoal_random_below(&random, 256));
  int fd = memfd_create("release", 0);
  shoal_sink *sink;
  succeeds(shoal_sink_open(fd, name, &sink, &error));
  for (size_t at = 0, piece; at < size; at += piece) {
    piece = 1 + shoal_random_below(&random, 700000);
    if (piece > size - at) piece = size - at;
    succeeds(shoal_sink_write(sink, bytes + at, piece, &error));
  }
  succeeds(shoal_sink_finish(sink, &error));
  shoal_sink_free(sink);
  char front[4] = {0};
  assert_int_equal(pread(fd, front, magic_size, 0), (ssize_t)magic_size);
  assert_memory_equal(front, magic, magic_size);
  comes_back(fd, bytes, size);
  (void)close(fd);
}

static void compressed_bytes_come_back(void **state UNUSED) {
  static const size_t sizes[] = {0, 1, 300000, 3 << 20};
  for (size_t i = 0; i < COUNT(sizes); i++) {
    check_sink("release.csv", "", 0, sizes[i]);
    check_sink("release.csv.gz", "\x1f\x8b", 2, sizes[i]);
    check_sink("release.zst", "\x28\xb5\x2f\xfd", 4, sizes[i]);
  }
}

static void a_full_disk_is_told(void **state UNUSED) {
  int fd = open("/dev/full", O_WRONLY);
  for (int i = 0; i < 3; i++) {
    const char *name = i == 0 ? "full.csv" : i == 1 ? "full.csv.gz" : "full.csv.zst";
    shoal_sink *sink;
    succeeds(shoal_sink_open(fd, name, &sink, &error));
    shoal_status status = shoal_sink_write(sink, "a,b\n", 4, &error);
    if (status == SHOAL_OK) status = shoal_sink_finish(sink, &error);
    assert_true(status == SHOAL_FAILED && strstr(error.message, name));
    shoal_sink_free(sink);
  }
  (void)close(fd);
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
  succeeds(shoal_sink_open(fd, "release.csv", &sink, &error));
  succeeds(
      shoal_csv_write(&r->out, sink, random, &(shoal_run){.n_threads = n_threads}, n_rows, &error));
  shoal_sink_free(sink);
  off_t size = lseek(fd, 0, SEEK_END);
  char *bytes = calloc((size_t)size + 1, 1);
  assert_non_null(bytes);
  assert_int_equal(pread(fd, bytes, (size_t)size, 0), size);
  (void)close(fd);
  return bytes;
}

static void writes(const release *r, uint64_t n_expected, const char *expected) {
  uint64_t n_rows;
  char *bytes = written(r, NULL, 1, &n_rows);
  assert_string_equal(bytes, expected);
  assert_int_equal(n_rows, n_expected);
  free(bytes);
}

static void cells_are_quoted_where_they_must_be(void **state UNUSED) {
  static const char *const texts[] = {"",           "a,b",  "say \"x\"",
                                      "two\nlines", "cr\r", " plain; of more than 16 bytes "};
  static uint8_t codes[] = {0, 1, 2, 3, 4, 5};
  release r;
  start_release(&r, 6, 2, ',');
  set_column(&r, 0, "na\"me", codes, 1, texts, 6);
  set_column(&r, 1, "last", codes, 1, texts, 6);
  writes(&r, 6,
         "\"na\"\"me\",last\n,\n\"a,b\",\"a,b\"\n\"say \"\"x\"\"\",\"say \"\"x\"\"\"\n"
         "\"two\nlines\",\"two\nlines\"\n\"cr\r\",\"cr\r\"\n"
         " plain; of more than 16 bytes , plain; of more than 16 bytes \n");
  end_release(&r);
  start_release(&r, 3, 1, ';'); /* of one column, an empty cell would be a blank line */
  set_column(&r, 0, "a,b", codes, 1, texts, 6);
  writes(&r, 3, "a,b\n\"\"\na,b\n\"say \"\"x\"\"\"\n");
  end_release(&r);
  static const char *const odd[] = {"\x1f\x8b z", "\xef\xbb\xbf", "(\xb5/\xfd"};
  start_release(&r, 3, 1, ','); /* the file's first bytes: nothing that is not taken for text */
  set_column(&r, 0, "\x1f\x8b", codes, 1, odd, 3);
  writes(&r, 3, "\"\x1f\x8b\"\n\x1f\x8b z\n\xef\xbb\xbf\n(\xb5/\xfd\n");
  end_release(&r);
}

/* Any cells, written and split again, are the same cells. */
static void what_is_written_is_read_back(void **state UNUSED) {
  static char texts[200][8];
  const char *pointers[200];
  static uint16_t codes[2][4000];
  shoal_random random;
  shoal_random_seed(&random, 61);
  for (size_t v = 0; v < COUNT(texts); v++) {
    pointers[v] = texts[v];
    for (size_t i = 0, n = v % 8; i < n; i++)
      texts[v][i] = "ab,;\"\r\n "[shoal_random_below(&random, 8)];
  }
  for (size_t i = 0; i < 4000; i++)
    for (size_t c = 0; c < 2; c++) codes[c][i] = (uint16_t)shoal_random_below(&random, 200);
  release r;
  start_release(&r, 4000, 2, ';');
  for (size_t c = 0; c < 2; c++) set_column(&r, c, c ? "y" : "x", codes[c], 2, pointers, 200);
  uint64_t n_rows;
  char *bytes = written(&r, NULL, 2, &n_rows);
  shoal_cells cells;
  shoal_cells_init(&cells);
  assert_int_equal(shoal_csv_split(bytes, strlen(bytes), ';', 2, &cells).fault, SHOAL_CSV_OK);
  assert_int_equal(cells.n_rows, 4001);
  for (size_t i = 2; i < cells.n_cells; i++) {
    const char *expected = texts[codes[i % 2][i / 2 - 1]];
    assert_int_equal(cells.end[i] - cells.begin[i], strlen(expected));
    assert_memory_equal(cells.bytes + cells.begin[i], expected, strlen(expected));
  }
  shoal_cells_reset(&cells);
  free(bytes);
  end_release(&r);
}

static void rows_have_their_groups_fate_and_their_counts(void **state UNUSED) {
  static const char *const texts[] = {"a", "a label of more than 16 bytes", "c", "d"};
  static uint8_t codes[] = {0, 1, 2, 3, 1};
  static const uint32_t groups[] = {0, 1, 2, 1, 0};
  static const uint8_t actions[] = {SHOAL_ROW_KEEP, SHOAL_ROW_BLANK, SHOAL_ROW_REMOVE};
  release r;
  start_release(&r, 5, 3, ',');
  for (size_t c = 0; c < 3; c++) set_column(&r, c, c == 1 ? "kept" : "q", codes, 1, texts, 4);
  r.cells[0].generalized = r.cells[2].generalized = true;
  r.out.group_of_row = groups;
  r.out.action = actions;
  r.cells[2].suppressed_cells = (const uint8_t[]){1, 0, 0}; /* by group, too */
  writes(&r, 4,
         "q,kept,q\na,a,*\n*,a label of more than 16 bytes,*\n*,d,*\n"
         "a label of more than 16 bytes,a label of more than 16 bytes,*\n");
  r.table.counts = (uint64_t[]){2, 1, 7, 3};
  r.table.n_rows = 4;
  writes(&r, 6,
         "q,kept,q\na,a,*\na,a,*\n*,a label of more than 16 bytes,*\n"
         "*,d,*\n*,d,*\n*,d,*\n");
  end_release(&r);
}

/* Cells chosen by the row's group, in order and packed; codes of the column are not looked at. */
static void groups_choose_cells(void **state UNUSED) {
  static const char *const texts[] = {"a", "b", "c"}, *const labels[] = {"[1-2]", "*", "x,y"};
  static uint8_t codes[] = {0, 1, 2, 1, 0};
  static const uint32_t groups[] = {3, 1, 2, 1, 0}, cell_of_group[] = {1, 2, 0, 0};
  static const uint8_t actions[] = {SHOAL_ROW_BLANK, SHOAL_ROW_KEEP, SHOAL_ROW_REMOVE,
                                    SHOAL_ROW_KEEP};
  static const char expected[] = "kept,q,kept\na,[1-2],a\nb,\"x,y\",b\nb,\"x,y\",b\na,*,a\n";
  release r;
  start_release(&r, 5, 3, ',');
  for (size_t c = 0; c < 3; c += 2) set_column(&r, c, "kept", codes, 1, texts, 3);
  set_column(&r, 1, "q", NULL, 1, labels, 3);
  r.cells[1].cell_of_group = cell_of_group;
  r.cells[1].generalized = true;
  r.out.group_of_row = groups;
  r.out.action = actions;
  writes(&r, 4, expected);
  for (uint64_t seed = 0; seed < 20; seed++) {
    shoal_random random;
    uint64_t n_rows;
    shoal_random_seed(&random, seed);
    char *bytes = written(&r, &random, 1, &n_rows);
    assert_int_equal(n_rows, 4);
    assert_int_equal(strlen(bytes), sizeof expected - 1);
    assert_true(strstr(bytes, "\na,[1-2],a\n") && strstr(bytes, "\nb,\"x,y\",b\n") &&
                strstr(bytes, "\na,*,a\n"));
    free(bytes);
  }
  end_release(&r);
}

/* ---------------------------------------------------------------- many rows, in any order */

enum { MANY = 100000 }; /* several stretches */

/* Without a seed (0) in order; by a seed in an order of its own; the same with any threads. */
static void many_rows_are_in_order_or_shuffled_by_their_seed(void **state UNUSED) {
  static char texts[MANY][8], *by_seed[3];
  static const char *pointers[MANY];
  static uint32_t codes[MANY];
  release r;
  for (uint32_t v = 0; v < MANY; v++) {
    (void)snprintf(texts[v], sizeof texts[v], "%u", v);
    pointers[v] = texts[v];
    codes[v] = v;
  }
  start_release(&r, MANY, 1, ',');
  set_column(&r, 0, "id", codes, 4, pointers, MANY);
  for (uint64_t seed = 0; seed < 3; seed++) {
    for (unsigned n_threads = 1; n_threads <= 4; n_threads += 3) {
      shoal_random random;
      uint64_t n_rows;
      shoal_random_seed(&random, seed);
      char *bytes = written(&r, seed ? &random : NULL, n_threads, &n_rows);
      assert_int_equal(n_rows, MANY);
      if (n_threads > 1) assert_true(strcmp(bytes, by_seed[seed]) == 0);
      free(by_seed[seed]);
      by_seed[seed] = bytes;
    }
    uint8_t seen[MANY] = {0};
    uint32_t in_place = 0;
    char *at = by_seed[seed] + 3; /* behind the header */
    for (uint32_t i = 0; i < MANY; i++) {
      unsigned long id = strtoul(at, &at, 10);
      assert_true(id < MANY && !seen[id]++);
      in_place += id == i;
    }
    assert_in_range(in_place, seed ? 0 : MANY, seed ? 20 : MANY); /* of a shuffle, one or so */
  }
  assert_true(strcmp(by_seed[1], by_seed[2]) != 0);
  for (size_t i = 0; i < 3; i++) free(by_seed[i]);
  end_release(&r);
}

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
      TEST(a_committed_file_stands_whole_under_its_name),
      TEST(committing_replaces_what_was_there),
      TEST(an_abandoned_file_leaves_nothing),
      TEST(a_file_that_cannot_be_named_leaves_nothing),
      TEST(two_files_are_committed_together),
      TEST(neither_of_two_files_is_there_if_one_fails),
      TEST(a_pipe_gets_the_bytes_when_they_are_committed),
      TEST(the_same_file_is_known_by_any_name),
      TEST(compressed_bytes_come_back),
      TEST(a_full_disk_is_told),
      TEST(cells_are_quoted_where_they_must_be),
      TEST(what_is_written_is_read_back),
      TEST(rows_have_their_groups_fate_and_their_counts),
      TEST(groups_choose_cells),
      TEST(many_rows_are_in_order_or_shuffled_by_their_seed),
      TEST(every_order_is_equally_likely),
      TEST(rows_are_thrown_by_their_number_and_evenly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
