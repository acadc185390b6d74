/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows written as whole lines that were rendered beforehand, and as cells one by one: the same
 * bytes, for any table, order and number of threads. Rows in buckets.
 */
#include "lowmem_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "write/atomic_file.h"
#include "write/render.h"
#include "write/shuffle.h"

#define UNUSED __attribute__((unused))

static shoal_error error;

/* ---------------------------------------------------------------- a release made by hand */

enum { ROWS = 70000, GROUPS = 60, COLUMNS = 5, VALUES = 6 };

/*
 * Two columns that the group chooses, by its code and by a cell of its own, and three that it does
 * not, with codes of one, two and four bytes.
 */
typedef struct release {
  shoal_table table;
  shoal_column columns[COLUMNS];
  shoal_csv_column cells[COLUMNS];
  shoal_csv_plan out;
  uint32_t group_of_row[ROWS], cell_of_group[GROUPS], long_codes[ROWS];
  uint64_t word_of_group[GROUPS];
  shoal_codes code_of_group;
  uint64_t rows_of_group[GROUPS], counts[ROWS];
  uint16_t short_codes[ROWS];
  uint8_t byte_codes[ROWS], own_codes[ROWS], action[GROUPS], suppressed_cells[GROUPS];
} release;

static void set_column(release *r, size_t c, const char *name, void *codes, unsigned code_size,
                       unsigned text_bytes) {
  shoal_csv_column *cells = &r->cells[c];
  r->columns[c] =
      (shoal_column){.name = name, .n_values = VALUES, .code_size = code_size, .codes = codes};
  *cells = (shoal_csv_column){.column = &r->columns[c]};
  cells->offsets = calloc(VALUES + 1, sizeof *cells->offsets);
  assert_non_null(cells->offsets);
  for (uint32_t v = 0; v < VALUES; v++) {
    char text[300];
    int size = snprintf(text, sizeof text, "%0*u", (int)text_bytes, c ? v : v / 2);
    assert_true(shoal_csv_column_add(cells, &r->out, text, (size_t)size));
  }
}

/* `text_bytes` of each cell. Fates: some groups are removed, some blanked, some have a star. */
static release *new_release(unsigned text_bytes, uint64_t seed) {
  release *r = calloc(1, sizeof *r);
  shoal_random random;
  shoal_random_seed(&random, seed);
  assert_non_null(r);
  r->code_of_group = (shoal_codes){r->word_of_group, 7, 63};
  for (uint32_t g = 0; g < GROUPS; g++) {
    r->word_of_group[g] = 5 | shoal_random_below(&random, VALUES) << 7;
    r->cell_of_group[g] = (uint32_t)shoal_random_below(&random, VALUES);
    r->action[g] = (uint8_t)(shoal_random_below(&random, 10) < 7 ? SHOAL_ROW_KEEP : 1 + g % 2);
    r->suppressed_cells[g] = g % 5 == 0;
  }
  for (size_t row = 0; row < ROWS; row++) {
    uint32_t g = r->group_of_row[row] = (uint32_t)shoal_random_below(&random, GROUPS);
    r->rows_of_group[g]++;
    r->long_codes[row] = (uint32_t)shoal_random_below(&random, VALUES);
    r->short_codes[row] = (uint16_t)shoal_random_below(&random, VALUES);
    r->own_codes[row] = (uint8_t)shoal_random_below(&random, VALUES);
    r->byte_codes[row] = (uint8_t)shoal_code_at(r->code_of_group, g);
    r->counts[row] = 1 + row % 3;
  }
  r->table = (shoal_table){.n_rows = ROWS, .n_records = ROWS};
  r->out = (shoal_csv_plan){.table = &r->table,
                            .delimiter = ',',
                            .columns = r->cells,
                            .n_columns = COLUMNS,
                            .group_of_row = r->group_of_row,
                            .action = r->action,
                            .n_groups = GROUPS,
                            .rows_of_group = r->rows_of_group};
  set_column(r, 0, "code", r->byte_codes, 1, text_bytes);
  set_column(r, 1, "short", r->short_codes, 2, text_bytes);
  set_column(r, 2, "cell", r->byte_codes, 1, text_bytes);
  set_column(r, 3, "long", r->long_codes, 4, text_bytes);
  set_column(r, 4, "byte", r->own_codes, 1, text_bytes);
  r->cells[0].generalized = r->cells[2].generalized = true;
  r->cells[0].code_of_group = r->code_of_group;
  r->cells[2].cell_of_group = r->cell_of_group;
  r->cells[0].suppressed_cells = r->suppressed_cells;
  return r;
}

static void free_release(release *r) {
  for (size_t c = 0; c < COLUMNS; c++) shoal_csv_column_reset(&r->cells[c]);
  free(r);
}

/* Each row stands for one to three records. */
static void make_counted(release *r) {
  r->table.counts = r->counts;
  r->table.n_records = 0;
  memset(r->rows_of_group, 0, sizeof r->rows_of_group);
  for (size_t row = 0; row < ROWS; row++) {
    r->table.n_records += r->counts[row];
    r->rows_of_group[r->group_of_row[row]] += r->counts[row];
  }
}

/* ---------------------------------------------------------------- what is written */

static shoal_status try_writing(const release *r, bool shuffled, unsigned n_threads, char **bytes,
                                uint64_t *n_rows) {
  int fd = memfd_create("release", 0);
  shoal_sink *sink = NULL;
  shoal_random random;
  shoal_random_seed(&random, 5);
  shoal_run run = {.n_threads = n_threads};
  *bytes = NULL;
  shoal_status status = shoal_sink_open(fd, "release.csv", &sink, &error);
  if (status == SHOAL_OK)
    status = shoal_csv_write(&r->out, sink, shuffled ? &random : NULL, &run, n_rows, &error);
  shoal_sink_free(sink);
  struct stat about;
  assert_int_equal(fstat(fd, &about), 0);
  size_t size = (size_t)about.st_size;
  if (status == SHOAL_OK) {
    *bytes = calloc(size + 1, 1);
    assert_non_null(*bytes);
    assert_int_equal(pread(fd, *bytes, size, 0), (ssize_t)size);
  }
  (void)close(fd);
  return status;
}

static char *written(const release *r, bool shuffled, unsigned n_threads, uint64_t *n_rows) {
  char *bytes;
  assert_int_equal(SHOAL_OK, try_writing(r, shuffled, n_threads, &bytes, n_rows));
  return bytes;
}

static bool has_lines(const release *r, uint64_t n_rows) {
  shoal_row_renderer rows;
  assert_true(shoal_row_renderer_init(&rows, &r->out, GROUPS));
  assert_true(shoal_rows_make_lines(&rows, GROUPS, n_rows));
  bool has = rows.lines.texts != NULL;
  if (has) assert_int_equal(rows.packed_bytes, 4);
  shoal_row_renderer_reset(&rows);
  return has;
}

/* Written as lines, and once more without what makes lines possible. */
static void writes_the_same(release *r, bool lines) {
  assert_int_equal(has_lines(r, ROWS), lines);
  for (unsigned shuffled = 0; shuffled < 2; shuffled++) {
    uint64_t n_first, n_rows;
    r->cells[0].code_of_group.words = NULL;
    r->out.n_groups = 0; /* they are counted then */
    assert_false(has_lines(r, ROWS));
    char *first = written(r, shuffled, 1, &n_first);
    r->cells[0].code_of_group = r->code_of_group;
    r->out.n_groups = GROUPS;
    for (unsigned n_threads = 1; n_threads <= 4; n_threads++) {
      char *bytes = written(r, shuffled, n_threads, &n_rows);
      assert_string_equal(bytes, first);
      assert_int_equal(n_rows, n_first);
      free(bytes);
    }
    size_t n_lines = 0;
    for (const char *at = first; (at = strchr(at, '\n')); at++) n_lines++;
    assert_int_equal(n_lines, n_first + 1);
    free(first);
  }
}

static void lines_are_what_cells_are(void **state UNUSED) {
  for (unsigned bytes = 1; bytes < 60; bytes += 7) { /* lines of one step, to four, and longer */
    release *r = new_release(bytes, bytes);
    writes_the_same(r, 5 * (bytes + 1) <= 256);
    free_release(r);
  }
}

/* What a group chooses need not be a quasi-identifier. */
static void cells_of_groups_need_not_be_generalized(void **state UNUSED) {
  release *r = new_release(7, 78);
  r->cells[0].generalized = r->cells[2].generalized = false;
  r->cells[0].suppressed_cells = NULL;
  uint64_t n_rows;
  char *lines = written(r, true, 2, &n_rows);
  assert_true(has_lines(r, ROWS));
  r->cells[0].code_of_group.words =
      NULL; /* the same codes, row by row: another column of its own */
  char *cells = written(r, true, 2, &n_rows);
  assert_string_equal(lines, cells);
  free(lines);
  free(cells);
  free_release(r);
}

static void counted_rows_are_written_as_often(void **state UNUSED) {
  release *r = new_release(9, 77);
  make_counted(r);
  writes_the_same(r, true);
  free_release(r);
}

/* ---------------------------------------------------------------- buckets */

static void rows_come_out_of_buckets_in_their_order(void **state UNUSED) {
  enum { N = 5000, N_BUCKETS = 8, WORDS = 3 };
  static uint32_t given[N_BUCKETS][N], back[N][WORDS];
  uint32_t n_given[N_BUCKETS] = {0};
  shoal_buckets b;
  shoal_random random;
  shoal_random_seed(&random, 8);
  assert_true(shoal_buckets_init(&b, N_BUCKETS, N, sizeof *back));
  for (uint32_t i = 0; i < N; i++) { /* one bucket gets none, one exactly a piece */
    uint32_t bucket = i < SHOAL_PIECE_ROWS ? 1 : 2 + (uint32_t)shoal_random_below(&random, 6);
    uint32_t row[WORDS] = {i, ~i, 7 * i};
    given[bucket][n_given[bucket]++] = i;
    shoal_buckets_add(&b, bucket, (const uint8_t *)row);
  }
  for (uint32_t bucket = 0; bucket < N_BUCKETS; bucket++) {
    assert_int_equal(b.buckets[bucket].n_rows, n_given[bucket]);
    const uint8_t *end = shoal_buckets_copy(&b, bucket, (uint8_t *)back);
    assert_ptr_equal(end, (const uint8_t *)back + n_given[bucket] * sizeof *back);
    for (uint32_t i = 0; i < n_given[bucket]; i++) {
      uint32_t row = given[bucket][i];
      assert_true(back[i][0] == row && back[i][1] == ~row && back[i][2] == 7 * row);
    }
  }
  assert_int_equal(n_given[0], 0);
  shoal_buckets_reset(&b);
  for (long n = 0; n < 3; n++) { /* each of its blocks may not be there */
    fails_once = true;
    allocations_left = n;
    assert_false(shoal_buckets_init(&b, N_BUCKETS, N, sizeof *back));
    allocations_left = -1;
    shoal_buckets_reset(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_what_cells_are),
      cmocka_unit_test(cells_of_groups_need_not_be_generalized),
      cmocka_unit_test(counted_rows_are_written_as_often),
      cmocka_unit_test(rows_come_out_of_buckets_in_their_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
