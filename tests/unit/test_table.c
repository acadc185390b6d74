/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/table: what a file of several blocks becomes, cell by cell, whatever the
 * threads; the same rows given in memory; counts, identifiers, missing values, headers, and in
 * which row a mistake is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/random.h"
#include "base/text.h"
#include "collide.h"
#include "table/dictionary.h"
#include "table/load.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

static const shoal_load_options plain = {0};
static shoal_error error;
static char path[64];   /* of the file of this test */
static shoal_text text; /* what a test puts into it, if it is much */

static int start(void **state UNUSED) {
  (void)snprintf(path, sizeof path, "/tmp/shoal-table-XXXXXX");
  int fd = mkstemp(path);
  return fd < 0 || close(fd);
}

static int end(void **state UNUSED) {
  shoal_text_reset(&text);
  return unlink(path);
}

static void write_file(const char *bytes, size_t size_bytes) {
  FILE *file = fopen(path, "wb");
  assert_true(file && fwrite(bytes, 1, size_bytes, file) == size_bytes && fclose(file) == 0);
}

static shoal_status load(const shoal_load_options *options, unsigned n_threads,
                         shoal_table **table) {
  shoal_run run = {.n_threads = n_threads};
  error = (shoal_error){0};
  return shoal_table_load(path, options, &run, table, &error);
}

static shoal_table *loaded(const shoal_load_options *options, unsigned n_threads) {
  shoal_table *table;
  if (load(options, n_threads, &table) != SHOAL_OK) fail_msg("%s", error.message);
  return table;
}

/* ---------------------------------------------------------------- a large table, by numbers */

enum { ROWS = 140000, COLUMNS = 7, CODED = 5 };

static const char *const names[COLUMNS] = {"few", "c256", "c257", "c65536", "c65537", "id", "skip"};
static const uint32_t n_distinct[CODED] = {3, 256, 257, 65536, 65537};

/* The number of each cell's value: new ones appear until the end of the table. */
static uint32_t values[COLUMNS][ROWS];

/* Values of 0 to 22 bytes, among them those of 8, 9, 16 and 17; some must be quoted. */
static size_t render(uint32_t value, bool in_csv, char *out) {
  switch (value % 8) {
  case 0: return (size_t)sprintf(out, "%.*u", value ? 1 : 0, value);
  case 1: return (size_t)sprintf(out, "%08u", value);
  case 2: return (size_t)sprintf(out, "%09u", value);
  case 3: return (size_t)sprintf(out, "%016u", value);
  case 4: return (size_t)sprintf(out, "%017u", value);
  case 5: return (size_t)sprintf(out, in_csv ? "\"%u, \"\"x\"\"\"" : "%u, \"x\"", value);
  case 6: return (size_t)sprintf(out, in_csv ? "\"two\nlines %u\"" : "two\nlines %u", value);
  default: return (size_t)sprintf(out, "%u\"", value); /* as it is: not at the front */
  }
}

static void choose_values(void) {
  shoal_random random;
  shoal_random_seed(&random, 31);
  for (uint32_t r = 0; r < ROWS; r++) {
    for (size_t c = 0; c < CODED; c++) {
      uint32_t newest = (uint32_t)((uint64_t)r * n_distinct[c] / ROWS);
      values[c][r] = r % 2 ? (uint32_t)shoal_random_below(&random, newest + 1) : newest;
    }
    for (size_t c = CODED; c < COLUMNS; c++)
      values[c][r] = (uint32_t)shoal_random_below(&random, 2 * ROWS);
  }
}

static void write_values(void) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  for (size_t c = 0; c < COLUMNS; c++)
    (void)fprintf(file, "%s%c", names[c], c + 1 < COLUMNS ? ',' : '\n');
  char cell[64];
  for (size_t r = 0; r < ROWS; r++) {
    for (size_t c = 0; c < COLUMNS; c++) {
      size_t size = render(values[c][r], true, cell);
      cell[size++] = c + 1 < COLUMNS ? ',' : '\n';
      assert_int_equal(fwrite(cell, 1, size, file), size);
    }
  }
  assert_true(ftell(file) > 5 << 20); /* several blocks */
  assert_int_equal(fclose(file), 0);
}

/* Codes by first appearance, each value with its text and its first row, in as few bytes as do. */
static void check_column(const shoal_column *column, const uint32_t *numbers, uint32_t n_values) {
  uint32_t *code_of = malloc(n_values * sizeof *code_of), next = 0;
  assert_non_null(code_of);
  for (uint32_t v = 0; v < n_values; v++) code_of[v] = UINT32_MAX;
  assert_int_equal(column->n_values, n_values);
  assert_int_equal(column->code_size, n_values <= 256 ? 1 : n_values <= 65536 ? 2 : 4);
  for (uint32_t r = 0; r < ROWS; r++) {
    uint32_t *code = &code_of[numbers[r]];
    if (*code == UINT32_MAX) {
      char cell[64];
      size_t size, expected = render(numbers[r], false, cell);
      *code = next++;
      const char *value = shoal_column_value(column, *code, &size);
      if (size != expected || memcmp(value, cell, size) != 0 || column->first_row[*code] != r)
        fail_msg("value %u of column '%s'", *code, column->name);
    }
    if (shoal_column_code(column, r) != *code) fail_msg("row %u of '%s'", r, column->name);
  }
  assert_int_equal(next, n_values);
  free(code_of);
}

static uint64_t naively_repeated(const uint32_t *numbers) {
  static uint32_t times[2 * ROWS];
  uint64_t repeated = 0;
  memset(times, 0, sizeof times);
  for (size_t r = 0; r < ROWS; r++) times[numbers[r]]++;
  for (size_t v = 0; v < COUNT(times); v++) repeated += times[v] > 1 ? times[v] : 0;
  return repeated;
}

/* As a policy would: an identifier and a column that is dropped. */
static shoal_status plan(void *user UNUSED, const char *file UNUSED, const char *const *columns,
                         size_t n_columns, shoal_use *uses, shoal_error *failure UNUSED) {
  for (size_t c = 0; c < n_columns; c++) {
    assert_string_equal(columns[c], names[c]);
    assert_int_equal(uses[c], SHOAL_USE_CODES);
    if (c >= CODED) uses[c] = c == CODED ? SHOAL_USE_IDENTITY : SHOAL_USE_NONE;
  }
  return SHOAL_OK;
}

static void a_file_gives_the_same_table_whatever_the_threads(void **state UNUSED) {
  choose_values();
  write_values();
  const shoal_load_options options = {.plan = plan};
  uint64_t repeated = naively_repeated(values[CODED]);
  assert_in_range(repeated, ROWS / 10, ROWS / 2);
  for (unsigned n_threads = 1; n_threads <= 4; n_threads++) {
    shoal_table *table = loaded(&options, n_threads);
    assert_true(table->finished && table->n_rows == ROWS && shoal_table_rows(table) == ROWS);
    assert_int_equal(shoal_table_columns(table), COLUMNS);
    for (size_t c = 0; c < CODED; c++) check_column(&table->columns[c], values[c], n_distinct[c]);
    for (size_t c = CODED; c < COLUMNS; c++) assert_int_equal(table->columns[c].code_size, 0);
    assert_true(table->columns[CODED].n_repeated == repeated);
    assert_ptr_equal(shoal_table_column(table, "c257"), &table->columns[2]);
    assert_null(shoal_table_column(table, "c25"));
    shoal_table_free(table);
  }
}

static void a_table_in_memory_equals_that_of_a_file(void **state UNUSED) {
  choose_values();
  shoal_text texts[CODED] = {{0}};
  uint64_t *offsets[CODED];
  shoal_text_view views[CODED];
  for (size_t c = 0; c < CODED; c++) {
    offsets[c] = calloc(ROWS + 1, sizeof *offsets[c]);
    assert_non_null(offsets[c]);
    for (size_t r = 0; r < ROWS; r++) {
      char cell[64];
      shoal_text_add_bytes(&texts[c], cell, render(values[c][r], false, cell));
      offsets[c][r + 1] = texts[c].size_bytes;
    }
  }
  static const size_t ends[] = {0, 1, 1, 60000, 139999, ROWS}; /* an empty chunk is none */
  shoal_table *table;
  assert_int_equal(shoal_table_new(names, CODED, &table, &error), SHOAL_OK);
  for (size_t i = 0; i + 1 < COUNT(ends); i++) {
    for (size_t c = 0; c < CODED; c++)
      views[c] = (shoal_text_view){texts[c].bytes, offsets[c] + ends[i]};
    assert_int_equal(shoal_table_append(table, views, CODED, ends[i + 1] - ends[i], NULL, &error),
                     SHOAL_OK);
  }
  assert_int_equal(shoal_table_finalize(table, &plain, &error), SHOAL_OK);
  assert_int_equal(shoal_table_rows(table), ROWS);
  for (size_t c = 0; c < CODED; c++) {
    check_column(&table->columns[c], values[c], n_distinct[c]);
    shoal_text_reset(&texts[c]);
    free(offsets[c]);
  }
  shoal_table_free(table);
}

/* Also short cells, which are their own key, of different sizes. */
static void cells_of_the_same_hash_stay_apart(void **state UNUSED) {
  char first[48] = {0}, second[48] = {0};
  collide(first, second);
  assert_true(shoal_hash_bytes(first, 16) == shoal_hash_bytes(second, 16));
  shoal_dictionary d;
  assert_true(shoal_dictionary_init(&d));
  assert_int_equal(shoal_dictionary_code(&d, first, 16, 0), 0);
  assert_int_equal(shoal_dictionary_code(&d, second, 16, 1), 1);
  for (uint32_t i = 8; i < 2048; i++) /* a byte, and more and more zeros behind it */
    assert_int_equal(
        shoal_dictionary_code(&d, (char[SHOAL_DICTIONARY_SLACK]){(char)(i / 8)}, 1 + i % 8, 2),
        i - 6);
  assert_int_equal(shoal_dictionary_find(&d, first, 16), 0); /* now among many */
  assert_int_equal(shoal_dictionary_find(&d, second, 16), 1);
  shoal_dictionary_reset(&d);
}

static bool marks(uint64_t position) { return position < 4 || position == 30 || position == 66; }

/* Cells of every size up to 70 bytes, few values and many: found with AVX2, without, and again. */
static void cells_are_found_in_every_way(void **state UNUSED) {
  enum { CELLS = 6000 };
  static char bytes[CELLS * 80];
  static uint32_t begin[CELLS], end[CELLS], fast[CELLS], slow[CELLS], again[CELLS];
  shoal_random random;
  shoal_random_seed(&random, 77);
  for (uint32_t round = 0; round < 6; round++) {
    uint64_t kinds = (uint64_t[]){3, 40, 1000, 1100, 5000, 100000}[round];
    uint32_t at = 0;
    for (uint32_t i = 0; i < CELLS; i++) { /* a value is its number, and from it all else */
      uint64_t value = shoal_random_below(&random, kinds), size = value * 7 % 71;
      begin[i] = at;
      for (uint64_t b = 0; b < size; b++)
        bytes[at++] = "abcdefghijklmnopx"[marks(b) ? value >> (b % 4 * 4) & 15 : 16];
      end[i] = at;
    }
    shoal_dictionary with, without;
    assert_true(shoal_dictionary_init(&with) && shoal_dictionary_init(&without));
    without.avx2 = false;
    assert_true(shoal_dictionary_encode(&with, bytes, begin, end, 1, CELLS, 0, fast));
    assert_true(shoal_dictionary_encode(&without, bytes, begin, end, 1, CELLS, 0, slow));
    assert_memory_equal(fast, slow, sizeof fast);
    assert_true(shoal_dictionary_look_up(&without, bytes, begin, end, 1, CELLS, again));
    assert_memory_equal(fast, again, sizeof fast);
    uint32_t next = 0;
    for (uint32_t i = 0; i < CELLS; i++) { /* by first appearance, and what the code names is it */
      assert_true(fast[i] <= next);
      next += fast[i] == next;
      uint64_t from = with.offsets[fast[i]], size = with.offsets[fast[i] + 1] - from;
      assert_int_equal(size, end[i] - begin[i]);
      assert_memory_equal(with.bytes + from, bytes + begin[i], size);
    }
    for (uint32_t v = 0; v < with.n_values; v++) /* no value has two codes */
      assert_int_equal(shoal_dictionary_find(&with, with.bytes + with.offsets[v],
                                             (uint32_t)(with.offsets[v + 1] - with.offsets[v])),
                       v);
    assert_int_equal(shoal_dictionary_find(&with, (char[40]){"nowhere"}, 7), SHOAL_NONE);
    assert_false(shoal_dictionary_look_up(&with, (char[40]){"nowhere"}, (uint32_t[]){0},
                                          (uint32_t[]){7}, 1, 1, again));
    shoal_dictionary_reset(&with);
    shoal_dictionary_reset(&without);
  }
}

/* ---------------------------------------------------------------- counts */

static shoal_status append(shoal_table *table, const char *cells, const uint64_t *counts) {
  uint64_t offsets[16]; /* one-byte cells of one column */
  for (uint64_t i = 0; i < COUNT(offsets); i++) offsets[i] = i;
  error = (shoal_error){0};
  return shoal_table_append(table, &(shoal_text_view){cells, offsets}, 1, strlen(cells), counts,
                            &error);
}

static shoal_table *new_table(void) {
  shoal_table *table;
  assert_int_equal(shoal_table_new(names, 1, &table, &error), SHOAL_OK);
  return table;
}

static void counts_make_rows_stand_for_records(void **state UNUSED) {
  shoal_table *table = new_table();
  assert_int_equal(append(table, "ab", (uint64_t[]){3, 1}), SHOAL_OK);
  assert_int_equal(append(table, "a", NULL), SHOAL_BAD_INPUT); /* not mixed */
  assert_int_equal(append(table, "a", (uint64_t[]){5}), SHOAL_OK);
  assert_int_equal(shoal_table_finalize(table, &plain, &error), SHOAL_OK);
  assert_true(table->n_rows == 3 && shoal_table_rows(table) == 9);
  assert_true(shoal_table_count(table, 0) == 3 && shoal_table_count(table, 2) == 5);
  assert_int_equal(shoal_column_code(table->columns, 2), 0);
  assert_int_equal(append(table, "a", (uint64_t[]){5}), SHOAL_BAD_INPUT); /* finished */
  assert_int_equal(shoal_table_finalize(table, &plain, &error), SHOAL_BAD_INPUT);
  shoal_table_free(table);
}

static void counts_that_cannot_be_are_refused(void **state UNUSED) {
  shoal_table *table = new_table();
  assert_int_equal(append(table, "ab", (uint64_t[]){1, 0}), SHOAL_BAD_INPUT);
  assert_non_null(strstr(error.message, "row 2 has the count 0"));
  assert_int_equal(append(table, "a", (uint64_t[]){UINT64_MAX}), SHOAL_BAD_INPUT);
  assert_int_equal(append(table, "ab", (uint64_t[]){INT64_MAX, 1}), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_table_append(table, NULL, 2, 1, NULL, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_table_finalize(table, &plain, &error), SHOAL_BAD_INPUT); /* no rows */
  shoal_table_free(table);
}

/* ---------------------------------------------------------------- small files */

static void load_small(const char *csv, const char *const *missing, size_t n_missing,
                       const char *expected) {
  write_file(csv, strlen(csv));
  for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
    shoal_load_options options = {.missing = missing, .n_missing = n_missing};
    shoal_table *table = loaded(&options, n_threads);
    shoal_text seen = {0}; /* name then cells, column by column; ~ stands for a missing value */
    for (size_t c = 0; c < table->n_columns; c++) {
      const shoal_column *column = &table->columns[c];
      shoal_text_print(&seen, "%s:", column->name);
      for (uint64_t r = 0; r < table->n_rows; r++) {
        size_t size;
        const char *value = shoal_column_value(column, shoal_column_code(column, r), &size);
        bool is_missing = shoal_column_missing(column, shoal_column_code(column, r));
        shoal_text_print(&seen, "%.*s%s ", (int)size, value, is_missing ? "~" : "");
      }
    }
    assert_string_equal(seen.bytes, expected);
    shoal_text_reset(&seen);
    shoal_table_free(table);
  }
}

static void headers_rows_and_line_ends_are_found(void **state UNUSED) {
  load_small("a,b\n1,2\n", NULL, 0, "a:1 b:2 ");
  load_small("\357\273\277a;b\r\n1,5;2\r\n3;4", NULL, 0, "a:1,5 3 b:2 4 ");
  load_small("\"a\n\"\"x\"\"\",b\n1,\"2\n3\"", NULL, 0, "a\n\"x\":1 b:2\n3 ");
  load_small("a,b\n1,2\n\n\r\n\n", NULL, 0, "a:1 b:2 "); /* blank lines at the end */
  load_small("a\n1\n\n", NULL, 0, "a:1  ");              /* of one column they are rows */
}

static void missing_values_are_marked(void **state UNUSED) {
  static const char *const missing[] = {"", "?", "longer than eight"};
  load_small("a,b,c\n1,?,\n,2,longer than eight\n ,??,longer than eigh\n", missing, 3,
             "a:1 ~   b:?~ 2 ?? c:~ longer than eight~ longer than eigh ");
  shoal_table *table = loaded(&(shoal_load_options){.missing = missing + 1, .n_missing = 1}, 2);
  assert_null(table->columns[0].is_missing); /* where none is, there is no mark */
  assert_non_null(table->columns[1].is_missing);
  shoal_table_free(table);
}

static void refuses(const char *bytes, size_t size, uint64_t row, const char *part) {
  write_file(bytes, size);
  for (unsigned n_threads = 1; n_threads <= 4; n_threads++) {
    shoal_table *table;
    assert_int_equal(load(&plain, n_threads, &table), SHOAL_BAD_INPUT);
    assert_null(table);
    if (!strstr(error.message, part)) fail_msg("no '%s' in: %s", part, error.message);
    assert_int_equal(error.row, row);
  }
}

static void a_column_without_a_name_has_row_names(void **state UNUSED) {
  static const char *const files[] = {",a,b\n1,2,3\n", "\"\",a,b\n1,2,3\n", "a,,b\n1,2,3\n"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    shoal_table *table;
    write_file(files[i], strlen(files[i]));
    assert_int_equal(load(&plain, 1, &table), SHOAL_OK);
    assert_string_equal(table->columns[i == 2].name, "row_names");
    shoal_table_free(table);
  }
}

static void files_that_are_no_tables_are_refused(void **state UNUSED) {
  refuses("", 0, 0, "is empty");
  refuses("\xef\xbb\xbf", 3, 0, "is empty");
  refuses("a,b\n", 4, 0, "no rows");
  refuses("a,b\n\n\n", 6, 0, "no rows");
  refuses("a,,\n1,2,3\n", 10, 0, "column 2 of the header has no name");
  refuses("\n1\n", 3, 0, "column 1 of the header has no name");
  refuses("a,,row_names\n1,2,3\n", 19, 0, "column 2 of the header has no name, and another");
  refuses("a,b,a\n1,2,3\n", 12, 0, "columns 1 and 3 of the header have the same name");
  refuses("a,b\r1,2\r3,4\r", 12, 0, "CR alone");
  refuses("\"a,b\n1,2\n", 9, 0, "the header");
}

/* ---------------------------------------------------------------- mistakes deep in a file */

enum { DEEP_ROWS = 120000 };

/* Rows of three cells, now and then of several lines; some rows are replaced by mistakes. */
static void write_deep(const uint32_t *rows, const char *const *mistakes, const size_t *sizes) {
  text.size_bytes = 0;
  shoal_text_add(&text, "a,b,c\n");
  for (uint32_t r = 1; r <= DEEP_ROWS; r++) {
    if (rows[0] == r || rows[1] == r)
      shoal_text_add_bytes(&text, mistakes[rows[0] != r], sizes[rows[0] != r]);
    else shoal_text_print(&text, r % 100 ? "row %u,x,and a longer cell\n" : "\"%u\n\n\",x,y\n", r);
  }
  assert_true(text.size_bytes > 3 << 20);
}

static void a_mistake_is_reported_in_its_row(void **state UNUSED) {
  static const struct {
    uint32_t row;
    const char *mistake, *part;
  } cases[] = {{1, "1,2\n", "has 2 cells"},
               {40001, "1,2,3,4\n", "has 4 cells"},
               {119999, "\n", "has 1 cell,"},
               {80000, "\"1\"x,2,3\n", "between a closing"},
               {DEEP_ROWS, "1,\"2,3\n", "not closed"},
               {DEEP_ROWS, "1,2\n", "has 2 cells"}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    write_deep((uint32_t[]){cases[i].row, 0}, &cases[i].mistake,
               (size_t[]){strlen(cases[i].mistake)});
    refuses(text.bytes, text.size_bytes, cases[i].row, cases[i].part);
  }
}

static void check_two_mistakes(uint32_t first, uint32_t second, const char *mistake, size_t size) {
  write_deep((uint32_t[]){first, second}, (const char *const[]){"1,2\n", mistake},
             (size_t[]){4, size});
  refuses(text.bytes, text.size_bytes, first, "has 2 cells, the header has 3");
}

static void the_first_of_two_mistakes_is_reported(void **state UNUSED) {
  check_two_mistakes(60000, 60001, "1\n", 2); /* the next row, a later block, the end */
  check_two_mistakes(60000, DEEP_ROWS, "1,2,\"3\n", 7);
  check_two_mistakes(60000, 110000, "1,2,\0\n", 6);
  for (int i = 0; i < 3; i++) check_two_mistakes(20000, 99999, "\"1\"x,2,3\n", 9);
}

static void the_first_of_two_mistakes_is_reported_where_the_second_is_a_nul(void **state UNUSED) {
  check_two_mistakes(60000, 60002, "1,2,\0\n", 6);
}

/* The rows before the place where compressed data breaks off come first. */
static void a_mistake_is_reported_before_what_cannot_be_read(void **state UNUSED) {
  static unsigned char packed[4 << 20];
  write_deep((uint32_t[]){60000, 0}, (const char *const[]){"1,2\n"}, (size_t[]){4});
  z_stream stream = {.next_in = (Bytef *)text.bytes,
                     .avail_in = (uInt)text.size_bytes,
                     .next_out = packed,
                     .avail_out = sizeof packed};
  assert_int_equal(deflateInit2(&stream, 0, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
  assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
  assert_int_equal(deflateEnd(&stream), Z_OK);
  size_t size = sizeof packed - stream.avail_out;
  for (int i = 0; i < 3; i++) refuses((const char *)packed, size * 3 / 4, 60000, "has 2 cells");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_file_gives_the_same_table_whatever_the_threads),
      TEST(a_table_in_memory_equals_that_of_a_file),
      TEST(cells_of_the_same_hash_stay_apart),
      TEST(cells_are_found_in_every_way),
      TEST(counts_make_rows_stand_for_records),
      TEST(counts_that_cannot_be_are_refused),
      TEST(headers_rows_and_line_ends_are_found),
      TEST(missing_values_are_marked),
      TEST(files_that_are_no_tables_are_refused),
      TEST(a_column_without_a_name_has_row_names),
      TEST(a_mistake_is_reported_in_its_row),
      TEST(the_first_of_two_mistakes_is_reported),
      TEST(the_first_of_two_mistakes_is_reported_where_the_second_is_a_nul),
      TEST(a_mistake_is_reported_before_what_cannot_be_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
