/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of tables from Arrow streams: the text of every type; the same table as from text,
 * whatever the layout; roles; and damaged streams, which must be refused and released.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "arrow_fixture.h"
#include "table/sample.h"
#include "table/table.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

static shoal_error error;

static shoal_policy *policy_of(const char *text) {
  shoal_policy *policy;
  if (shoal_policy_parse(text, strlen(text), NULL, NULL, &policy, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  return policy;
}

/* Reads a table of one column and one chunk; all must be released. */
static shoal_status read_column(struct ArrowSchema type, struct ArrowArray cells,
                                shoal_table **table) {
  arrow_source source = {.schema = make_schema("+s", ""), .n_chunks = 1};
  schema_add(&source.schema, type);
  source.chunks[0] = make_array(cells.length);
  array_add_buffer(&source.chunks[0], NULL, 0);
  array_add(&source.chunks[0], cells);
  struct ArrowArrayStream stream = make_stream(&source);
  error = (shoal_error){0};
  shoal_status status =
      shoal_table_from_arrow(&stream, NULL, SHOAL_FOR_RELEASE, NULL, table, &error);
  assert_null(stream.release);
  assert_int_equal(n_unreleased, 0);
  return status;
}

static void expect_cell(const shoal_table *table, size_t c, uint64_t row, const char *expected) {
  const shoal_column *column = &table->columns[c];
  size_t size;
  const char *value = shoal_column_value(column, shoal_column_code(column, row), &size);
  if (size != strlen(expected) || memcmp(value, expected, size) != 0)
    fail_msg("column %zu, row %llu: '%.*s' instead of '%s'", c, (unsigned long long)row, (int)size,
             value, expected);
}

/* ------------------------------------------------------------ text */

static void expect_texts(const char *format, const void *values, size_t width, size_t n,
                         const char *const *expected) {
  shoal_table *table;
  struct ArrowArray cells = make_values(values, width, n, NULL);
  if (read_column(make_schema(format, "c"), cells, &table) != SHOAL_OK)
    fail_msg("%s: %s", format, error.message);
  for (size_t i = 0; i < n; i++) expect_cell(table, 0, i, expected[i]);
  shoal_table_free(table);
}

#define TEXTS(FORMAT, TYPE, VALUES, ...)                                                           \
  do {                                                                                             \
    static const TYPE values_[] = VALUES;                                                          \
    static const char *const texts_[] = {__VA_ARGS__};                                             \
    assert_int_equal(COUNT(values_), COUNT(texts_));                                               \
    expect_texts(FORMAT, values_, sizeof *values_, COUNT(values_), texts_);                        \
  } while (0)
#define LIST(...)                                                                                  \
  { __VA_ARGS__ }

static void test_integers(void **state UNUSED) {
  TEXTS("c", int8_t, LIST(-128, 0, 127), "-128", "0", "127");
  TEXTS("C", uint8_t, LIST(0, 255), "0", "255");
  TEXTS("s", int16_t, LIST(-32768, 32767), "-32768", "32767");
  TEXTS("S", uint16_t, LIST(65535), "65535");
  TEXTS("i", int32_t, LIST(INT32_MIN, 7, INT32_MAX), "-2147483648", "7", "2147483647");
  TEXTS("I", uint32_t, LIST(UINT32_MAX), "4294967295");
  TEXTS("l", int64_t, LIST(INT64_MIN, INT64_MAX), "-9223372036854775808", "9223372036854775807");
  TEXTS("L", uint64_t, LIST(UINT64_MAX), "18446744073709551615");
}

static void test_floats(void **state UNUSED) {
  TEXTS("g", double,
        LIST(0, -0.0, 1, 0.1, -12.5, 1234567.89, 1e15, 1e16, 1.5e300, 1e-4, 1e-5, 5e-324, 0.3,
             0.1 + 0.2, 1.0 / 3, 123456789012345680.0, INFINITY, -INFINITY, NAN, 2.5e-7, 1e22,
             9007199254740993.0, 123456789012345.6),
        "0.0", "-0.0", "1.0", "0.1", "-12.5", "1234567.89", "1000000000000000.0", "1e+16",
        "1.5e+300", "0.0001", "1e-05", "5e-324", "0.3", "0.30000000000000004", "0.3333333333333333",
        "1.2345678901234568e+17", "inf", "-inf", "", "2.5e-07", "1e+22", "9007199254740992.0",
        "123456789012345.6");
  TEXTS("f", float, LIST(0.1F, 16777216.0F, 3.4028235e38F, 1e-45F, 2.5F, 100), "0.1", "16777216.0",
        "3.4028235e+38", "1e-45", "2.5", "100.0");
  TEXTS("e", uint16_t, LIST(0x3c00, 0x2e66, 0x7bff, 0x0001, 0xc000, 0x7c00, 0x7e00, 0), "1.0",
        "0.1", "65500.0", "6e-08", "-2.0", "inf", "", "0.0");
}

static void test_dates(void **state UNUSED) {
  TEXTS("tdD", int32_t, LIST(0, -1, 11016, 19782, -719468, -719529, 2932896), "1970-01-01",
        "1969-12-31", "2000-02-29", "2024-02-29", "0000-03-01", "-0001-12-31", "9999-12-31");
  TEXTS("tdm", int64_t, LIST(86400000, -86400000), "1970-01-02", "1969-12-31");
  TEXTS("tss:", int64_t, LIST(0, 1, -1, INT64_MAX), "1970-01-01", "1970-01-01 00:00:01",
        "1969-12-31 23:59:59", "292277026596-12-04 15:30:07");
  TEXTS("tsm:", int64_t, LIST(1500, -1), "1970-01-01 00:00:01.5", "1969-12-31 23:59:59.999");
  TEXTS("tsu:UTC", int64_t, LIST(0, 1), "1970-01-01 00:00:00+00:00",
        "1970-01-01 00:00:00.000001+00:00");
  TEXTS("tsn:", int64_t, LIST(INT64_MAX, INT64_MIN), "2262-04-11 23:47:16.854775807",
        "1677-09-21 00:12:43.145224192");
  TEXTS("tts", int32_t, LIST(86399), "23:59:59");
  TEXTS("ttn", int64_t, LIST(1), "00:00:00.000000001");
}

static void test_decimals(void **state UNUSED) {
  static const uint64_t values[][2] = {{1250, 0}, {~UINT64_C(0) - 4, ~UINT64_C(0)}, {0, 0}, {0, 1}};
  static const char *const two[] = {"12.50", "-0.05", "0.00", "184467440737095516.16"};
  static const char *const none[] = {"1250", "-5", "0", "18446744073709551616"};
  static const char *const fewer[] = {"125000", "-500", "0", "1844674407370955161600"};
  expect_texts("d:38,2", values, 16, 4, two);
  expect_texts("d:38,0", values, 16, 4, none);
  expect_texts("d:38,-2", values, 16, 4, fewer);
  TEXTS("d:9,2,32", int32_t, LIST(-1, 100), "-0.01", "1.00");
  TEXTS("d:18,2,64", int64_t, LIST(-1, 100), "-0.01", "1.00");
  static const uint64_t wide[1][4] = {{0, 0, 0, UINT64_C(1) << 62}};
  static const char *const largest[] = {
      "28948022309329048855892746252171976963317496166410141009864396001978282409984"};
  expect_texts("d:76,0,256", wide, 32, 1, largest);
}

static void test_booleans_and_nulls(void **state UNUSED) {
  shoal_table *table;
  uint8_t bits = 0x5, valid = 0x7;
  struct ArrowArray cells = make_values(&bits, 1, 1, &valid);
  cells.length = 4;
  cells.null_count = 1;
  assert_int_equal(read_column(make_schema("b", "c"), cells, &table), SHOAL_OK);
  expect_cell(table, 0, 0, "true");
  expect_cell(table, 0, 1, "false");
  expect_cell(table, 0, 3, "");
  shoal_table_free(table);
  assert_int_equal(read_column(make_schema("n", "c"), make_array(2), &table), SHOAL_OK);
  expect_cell(table, 0, 1, "");
  shoal_table_free(table);
}

/* ------------------------------------------------------------ layouts */

static const char *const words[] = {"a", "",  "a longer text than the others", NULL, "b", "a",
                                    "ä", "b", "a longer text than the others", "c",  "",  NULL};
enum { N_WORDS = COUNT(words) };

/* As "dictionary of int16", with values in another order and one that no row has. */
static struct ArrowArray make_dictionary(const char *const *cells, size_t n, bool reverse) {
  static const char *const values[] = {"unused", "c", "b", "a longer text than the others",
                                       "ä",      "",  "a", NULL};
  const char *used[COUNT(values)];
  int16_t indices[64];
  uint8_t valid[8] = {0};
  for (size_t v = 0; v < COUNT(values); v++) used[v] = values[reverse ? COUNT(values) - 1 - v : v];
  for (size_t i = 0; i < n; i++) {
    indices[i] = 0;
    for (size_t v = 0; v < COUNT(values); v++)
      if (cells[i] ? used[v] && strcmp(used[v], cells[i]) == 0 : !used[v]) indices[i] = (int16_t)v;
    if (cells[i] || reverse) valid[i / 8] |= (uint8_t)(1 << i % 8);
  }
  struct ArrowArray array = make_values(indices, sizeof *indices, n, valid);
  struct ArrowArray dictionary = make_texts(used, COUNT(values), false);
  array.dictionary = arrow_block(&dictionary, sizeof dictionary);
  return array;
}

static struct ArrowSchema dictionary_schema(const char *name) {
  struct ArrowSchema schema = make_schema("s", name), values = make_schema("u", "");
  schema.dictionary = arrow_block(&values, sizeof values);
  return schema;
}

static struct ArrowArray layout(unsigned which, const char *const *cells, size_t n, bool second) {
  return which == 0   ? make_texts(cells, n, false)
         : which == 1 ? make_texts(cells, n, true)
         : which == 2 ? make_views(cells, n)
                      : make_dictionary(cells, n, second);
}

/* Rows [from, to) as one chunk: a slice of a struct whose columns are slices again. */
static struct ArrowArray sliced_chunk(size_t from, size_t to, bool second) {
  struct ArrowArray chunk = make_array((int64_t)(to - from));
  array_add_buffer(&chunk, NULL, 0);
  chunk.offset = 1;
  for (unsigned which = 0; which < 4; which++) {
    struct ArrowArray column = layout(which, words, N_WORDS, second);
    column.offset = (int64_t)from - 1;
    column.length -= column.offset;
    column.null_count = -1;
    array_add(&chunk, column);
  }
  return chunk;
}

static void test_layouts_are_the_same_table(void **state UNUSED) {
  static const char *const names[] = {"u", "U", "vu", "d"};
  arrow_source source = {.schema = make_schema("+s", ""), .n_chunks = 4};
  for (unsigned which = 0; which < 3; which++)
    schema_add(&source.schema, make_schema(names[which], names[which]));
  schema_add(&source.schema, dictionary_schema("d"));
  source.chunks[0] = sliced_chunk(1, 5, false);
  source.chunks[1] = make_array(0); /* empty, and so are its columns */
  for (unsigned which = 0; which < 4; which++)
    array_add(&source.chunks[1], layout(which, words, 0, false));
  source.chunks[2] = sliced_chunk(5, 6, true);
  source.chunks[3] = sliced_chunk(6, N_WORDS, true);
  struct ArrowArrayStream stream = make_stream(&source);
  shoal_table *table;
  if (shoal_table_from_arrow(&stream, NULL, SHOAL_FOR_RELEASE, NULL, &table, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  assert_int_equal(n_unreleased, 0);
  assert_int_equal(shoal_table_rows(table), N_WORDS - 1);
  for (size_t c = 0; c < 4; c++) {
    const shoal_column *column = &table->columns[c];
    assert_int_equal(column->n_values, 6); /* by first appearance: "", long, b, a, ä, c */
    for (size_t row = 0; row < N_WORDS - 1; row++) {
      expect_cell(table, c, row, words[row + 1] ? words[row + 1] : "");
      assert_int_equal(shoal_column_code(column, row), shoal_column_code(&table->columns[0], row));
    }
    assert_int_equal(shoal_column_code(column, 0), 0);
    assert_int_equal(column->first_row[5], 8);
  }
  shoal_table_free(table);
}

/* More rows than a slice, and more values than any cache holds. */
static void test_many_rows(void **state UNUSED) {
  enum { N = 600 * 1000 };
  int32_t *numbers = malloc(N * sizeof *numbers);
  for (int32_t i = 0; i < N; i++) numbers[i] = i % 70000 - 35000;
  shoal_table *table;
  assert_int_equal(read_column(make_schema("i", "c"), make_values(numbers, 4, N, NULL), &table),
                   SHOAL_OK);
  assert_int_equal(table->columns[0].n_values, 70000);
  for (int32_t i = 0; i < N; i += 977) {
    char text[16];
    (void)snprintf(text, sizeof text, "%d", numbers[i]);
    expect_cell(table, 0, (uint64_t)i, text);
  }
  free(numbers);
  shoal_table_free(table);
}

/* ------------------------------------------------------------ roles */

static struct ArrowArray make_list(size_t n) {
  int32_t offsets[64] = {0};
  struct ArrowArray list = make_array((int64_t)n);
  array_add_buffer(&list, NULL, 0);
  array_add_buffer(&list, offsets, (n + 1) * sizeof *offsets);
  array_add(&list, make_values(offsets, 4, 0, NULL));
  return list;
}

static struct ArrowArrayStream people(arrow_source *source) {
  static const char *const names[] = {"ann", "bob", "ann", "dan", "eve", "fay", NULL, NULL};
  static const char *const illness[] = {"flu", "flu", "gout", "cold", "flu", "cold", "flu", "gout"};
  static const uint8_t ages[] = {30, 31, 30, 31, 40, 41, 40, 41};
  static const uint8_t wards[] = {1, 1, 1, 1, 2, 2, 2, 2};
  *source = (arrow_source){.schema = make_schema("+s", ""), .n_chunks = 1};
  schema_add(&source->schema, make_schema("u", "name"));
  schema_add(&source->schema, make_schema("C", "age"));
  schema_add(&source->schema, make_schema("vu", "illness"));
  schema_add(&source->schema, make_schema("C", "ward"));
  schema_add(&source->schema, make_schema("+l", "visits"));
  schema_add(&source->schema.children[4][0], make_schema("i", "item"));
  source->chunks[0] = make_array(8);
  array_add_buffer(&source->chunks[0], NULL, 0);
  array_add(&source->chunks[0], make_texts(names, 8, false));
  array_add(&source->chunks[0], make_values(ages, 1, 8, NULL));
  array_add(&source->chunks[0], make_views(illness, 8));
  array_add(&source->chunks[0], make_values(wards, 1, 8, NULL));
  array_add(&source->chunks[0], make_list(8));
  return make_stream(source);
}

#define ROLES                                                                                      \
  "shoal: 1\nattributes:\n  name: {role: identifier}\n"                                            \
  "  age: {role: quasi, type: number, hierarchy: {intervals: [10]}}\n"                             \
  "  illness: {role: sensitive}\n  ward: {role: keep}\n"

static void test_roles(void **state UNUSED) {
  arrow_source source;
  struct ArrowArrayStream stream = people(&source);
  shoal_policy *policy = policy_of(ROLES "  visits: {role: keep}\naccept: {kept: [visits, ward]}\n"
                                         "privacy: {k: 2, p: 2}\n");
  shoal_table *table;
  shoal_release *release;
  if (shoal_table_from_arrow(&stream, policy, SHOAL_FOR_RELEASE, NULL, &table, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  assert_int_equal(n_unreleased, 0);
  assert_true(table->columns[0].is_identity && !table->columns[0].codes);
  assert_int_equal(table->columns[0].n_repeated, 4); /* two of ann, two of nobody */
  assert_true(table->columns[3].is_outside && !table->columns[3].codes);
  assert_int_equal(table->columns[3].sample->n_values, 2);
  assert_true(table->columns[4].is_outside && !table->columns[4].sample);
  if (shoal_anonymize(table, policy, NULL, &release, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  assert_int_equal(shoal_release_write(release, "/tmp/shoal-unwritten.csv", NULL, NULL, &error),
                   SHOAL_BAD_INPUT);
  assert_non_null(strstr(error.message, "row numbers"));
  shoal_release_free(release);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void expect_refused(const char *text, const char *message) {
  arrow_source source;
  struct ArrowArrayStream stream = people(&source);
  shoal_policy *policy = policy_of(text);
  shoal_table *table;
  shoal_release *release = NULL;
  shoal_status status =
      shoal_table_from_arrow(&stream, policy, SHOAL_FOR_RELEASE, NULL, &table, &error);
  assert_int_equal(n_unreleased, 0);
  if (status == SHOAL_OK) status = shoal_anonymize(table, policy, NULL, &release, &error);
  assert_int_equal(status, SHOAL_BAD_INPUT);
  assert_null(release);
  if (!strstr(error.message, message)) fail_msg("'%s' lacks '%s'", error.message, message);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void test_refused_columns(void **state UNUSED) {
  expect_refused(ROLES "privacy: {k: 2}\n", "not in the policy");
  expect_refused(ROLES "  visits: {role: keep}\nprivacy: {k: 2}\n", "could not be measured");
  expect_refused(ROLES "  visits: {role: sensitive}\nprivacy: {k: 2}\n", "cast it to text");
  expect_refused(ROLES "  visits: {role: identifier}\nprivacy: {k: 2}\n", "or remove it");
}

/* ------------------------------------------------------------ damage */

static void expect_damage(struct ArrowSchema type, struct ArrowArray cells, const char *message) {
  shoal_table *table;
  assert_int_equal(read_column(type, cells, &table), SHOAL_BAD_INPUT);
  assert_null(table);
  if (!strstr(error.message, message)) fail_msg("'%s' lacks '%s'", error.message, message);
}

static struct ArrowArray damaged_texts(int32_t first, int32_t middle, int32_t last) {
  int32_t offsets[] = {first, middle, last};
  struct ArrowArray cells = make_array(2);
  array_add_buffer(&cells, NULL, 0);
  array_add_buffer(&cells, offsets, sizeof offsets);
  array_add_buffer(&cells, "abcd", 4);
  return cells;
}

static void test_damaged_arrays(void **state UNUSED) {
  static const char *const good[] = {"a", "b"};
  int32_t numbers[] = {1, 2};
  struct ArrowArray cells = make_texts(good, 2, false);
  cells.length = -1;
  expect_damage(make_schema("u", "c"), cells, "does not fit its schema");
  cells = make_texts(good, 2, false);
  cells.offset = INT64_MAX - 1;
  expect_damage(make_schema("u", "c"), cells, "too large");
  cells = make_texts(good, 2, false);
  cells.null_count = 3;
  expect_damage(make_schema("u", "c"), cells, "nulls is impossible");
  cells = make_texts(good, 2, false);
  cells.null_count = 1;
  expect_damage(make_schema("u", "c"), cells, "no validity bitmap");
  expect_damage(make_schema("u", "c"), make_values(numbers, 4, 2, NULL), "number of buffers");
  expect_damage(make_schema("i", "c"), make_texts(good, 2, false), "number of buffers");
  expect_damage(make_schema("i", "c"), make_values(NULL, 4, 2, NULL), "values are NULL");
  expect_damage(make_schema("u", "c"), damaged_texts(0, 3, 1), "row 1, column 'c': has offsets");
  expect_damage(make_schema("u", "c"), damaged_texts(-4, 0, 1), "row 1, column 'c': has offsets");
  expect_damage(make_schema("u", "c"), damaged_texts(0, 1, -2), "row 1, column 'c': has offsets");
  cells = damaged_texts(0, 1, 2);
  free((void *)(uintptr_t)cells.buffers[2]);
  cells.buffers[2] = NULL;
  expect_damage(make_schema("u", "c"), cells, "data buffer is NULL");
  expect_damage(make_schema("+l", "c"), make_list(2), "nested");
  expect_damage(make_schema("z", "c"), make_texts(good, 2, false), "no text");
  expect_damage(make_schema("u", ""), make_texts(good, 2, false), "no name");
}

static void test_damaged_values(void **state UNUSED) {
  static const char *const bytes[] = {"good", "caf\xe9"};
  static const char *const longer[] = {"a text of more than twelve bytes"};
  expect_damage(make_schema("u", "c"), make_texts(bytes, 2, false),
                "row 2, column 'c': is not UTF-8");
  struct ArrowArray cells = damaged_texts(0, 1, 4);
  memcpy((char *)(uintptr_t)cells.buffers[2], "ab\0c", 4);
  expect_damage(make_schema("u", "c"), cells, "row 2, column 'c': has a NUL byte");
  cells = make_views(longer, 1);
  ((int32_t *)(uintptr_t)cells.buffers[1])[2] = 7;
  expect_damage(make_schema("vu", "c"), cells, "outside of its data buffer");
  cells = make_views(longer, 1);
  ((int32_t *)(uintptr_t)cells.buffers[1])[3] = 1;
  expect_damage(make_schema("vu", "c"), cells, "outside of its data buffer");
  cells = make_views(longer, 1);
  ((int32_t *)(uintptr_t)cells.buffers[1])[0] = -1;
  expect_damage(make_schema("vu", "c"), cells, "negative size");
  cells = make_dictionary(words, 2, false);
  ((int16_t *)(uintptr_t)cells.buffers[1])[1] = 8;
  expect_damage(dictionary_schema("c"), cells, "row 2, column 'c': has an index");
  cells = make_dictionary(words, 2, false);
  ((int16_t *)(uintptr_t)cells.buffers[1])[0] = -1;
  expect_damage(dictionary_schema("c"), cells, "row 1, column 'c': has an index");
  cells = make_texts(bytes, 1, false); /* of a dictionary, it says */
  expect_damage(dictionary_schema("c"), cells, "dictionary is missing");
}

static void test_damaged_streams(void **state UNUSED) {
  shoal_table *table;
  arrow_source source = {.schema_error = EIO};
  struct ArrowArrayStream stream = make_stream(&source);
  assert_int_equal(shoal_table_from_arrow(&stream, NULL, SHOAL_FOR_RELEASE, NULL, &table, &error),
                   SHOAL_FAILED);
  assert_null(strstr(error.message, "secret"));
  shoal_policy *policy = policy_of(ROLES "  visits: {role: keep}\nprivacy: {k: 2}\n");
  stream = people(&source);
  source.chunk_error = ENOMEM;
  assert_int_equal(shoal_table_from_arrow(&stream, policy, SHOAL_FOR_RELEASE, NULL, &table, &error),
                   SHOAL_NO_MEMORY);
  assert_non_null(strstr(error.message, "memory"));
  source = (arrow_source){.schema = make_schema("i", "no table")};
  stream = make_stream(&source);
  assert_int_equal(shoal_table_from_arrow(&stream, NULL, SHOAL_FOR_RELEASE, NULL, &table, &error),
                   SHOAL_BAD_INPUT);
  source = (arrow_source){.schema = make_schema("+s", "")};
  schema_add(&source.schema, make_schema("i", "c"));
  stream = make_stream(&source); /* no chunk */
  assert_int_equal(shoal_table_from_arrow(&stream, NULL, SHOAL_FOR_RELEASE, NULL, &table, &error),
                   SHOAL_BAD_INPUT);
  assert_non_null(strstr(error.message, "no rows"));
  stream = people(&source);
  assert_int_equal(shoal_table_from_arrow(&stream, NULL, SHOAL_FOR_RELEASE, NULL, NULL, &error),
                   SHOAL_BAD_INPUT);
  assert_int_equal(shoal_table_from_arrow(NULL, NULL, SHOAL_FOR_RELEASE, NULL, &table, &error),
                   SHOAL_BAD_INPUT);
  assert_int_equal(n_unreleased, 0);
  shoal_policy_free(policy);
}

static bool cancel(void *user UNUSED, const shoal_progress *progress UNUSED) { return true; }

static void test_cancelled(void **state UNUSED) {
  arrow_source source;
  struct ArrowArrayStream stream = people(&source);
  shoal_policy *policy = policy_of(ROLES "unlisted: drop\nprivacy: {k: 2}\n");
  shoal_run run = {.progress = cancel};
  shoal_table *table;
  assert_int_equal(shoal_table_from_arrow(&stream, policy, SHOAL_FOR_RELEASE, &run, &table, &error),
                   SHOAL_CANCELLED);
  assert_int_equal(n_unreleased, 0);
  shoal_policy_free(policy);
}

/* ------------------------------------------------------------ releases */

/* One line of text a row: the cells of a release as Arrow has them. Free it. */
static char *arrow_lines(struct ArrowArrayStream *stream) {
  struct ArrowSchema schema;
  struct ArrowArray chunk, end;
  assert_int_equal(stream->get_schema(stream, &schema), 0);
  assert_int_equal(stream->get_next(stream, &chunk), 0);
  assert_int_equal(stream->get_next(stream, &end), 0);
  assert_null(end.release);
  stream->release(stream);
  assert_int_equal(schema.n_children, chunk.n_children);
  char *text = calloc(1, 1 << 16);
  for (int64_t c = 0; c < schema.n_children; c++) {
    if (c) (void)strcat(text, ",");
    (void)strcat(text, schema.children[c]->name);
  }
  for (int64_t row = 0; row < chunk.length; row++)
    for (int64_t c = 0; c < chunk.n_children; c++) {
      const struct ArrowArray *column = chunk.children[c];
      const uint8_t *valid = column->buffers[0];
      const int32_t *offsets = column->dictionary->buffers[1];
      assert_string_equal(schema.children[c]->format, "c");
      assert_string_equal(schema.children[c]->dictionary->format, "u");
      (void)strcat(text, c ? "," : "\n");
      if (valid && !(valid[row / 8] >> row % 8 & 1)) continue;
      int8_t index = ((const int8_t *)column->buffers[1])[row];
      assert_in_range(index, 0, column->dictionary->length - 1);
      (void)strncat(text, (const char *)column->dictionary->buffers[2] + offsets[index],
                    (size_t)(offsets[index + 1] - offsets[index]));
    }
  (void)strcat(text, "\n");
  schema.release(&schema);
  chunk.release(&chunk);
  return text;
}

static bool collect(void *user, const void *bytes, size_t size_bytes) {
  (void)strncat(user, bytes, size_bytes);
  return true;
}

static bool refuse(void *user UNUSED, const void *bytes UNUSED, size_t size_bytes UNUSED) {
  return false;
}

static const char *const columns[] = {"name", "age", "town", "illness", "ward"};

/* 60 people; cell c of row i. */
static const char *cell_of(size_t c, unsigned i, char out[16]) {
  static const char *const towns[] = {"a1", "a1", "a2", "b1", "b2", "b2", ""};
  static const char *const illnesses[] = {"flu", "cold", "asthma", "flu", "gout"};
  (void)snprintf(out, 16,
                 c == 0   ? "n%u"
                 : c == 1 ? "%u"
                          : "w%u",
                 c == 1   ? 20 + i * 7 % 40
                 : c == 0 ? i
                          : i % 4);
  return c == 2 ? towns[i * i % 7] : c == 3 ? illnesses[i * 3 % 5] : out;
}
enum { N_PEOPLE = 60 };

static shoal_table *text_table(const shoal_policy *policy) {
  shoal_table *table;
  shoal_text_view views[COUNT(columns)];
  char bytes[COUNT(columns)][N_PEOPLE * 16], cell[16];
  uint64_t offsets[COUNT(columns)][N_PEOPLE + 1];
  assert_int_equal(shoal_table_new(columns, COUNT(columns), &table, &error), SHOAL_OK);
  for (size_t c = 0; c < COUNT(columns); c++) {
    offsets[c][0] = 0;
    for (unsigned i = 0; i < N_PEOPLE; i++) {
      const char *text = cell_of(c, i, cell);
      memcpy(bytes[c] + offsets[c][i], text, strlen(text));
      offsets[c][i + 1] = offsets[c][i] + strlen(text);
    }
    views[c] = (shoal_text_view){bytes[c], offsets[c]};
  }
  assert_int_equal(shoal_table_append(table, views, COUNT(columns), N_PEOPLE, NULL, &error),
                   SHOAL_OK);
  assert_int_equal(shoal_table_finish(table, policy, SHOAL_FOR_RELEASE, &error), SHOAL_OK);
  return table;
}

static shoal_table *arrow_table(const shoal_policy *policy) {
  arrow_source source = {.schema = make_schema("+s", ""), .n_chunks = 1};
  source.chunks[0] = make_array(N_PEOPLE);
  array_add_buffer(&source.chunks[0], NULL, 0);
  for (size_t c = 0; c < COUNT(columns); c++) {
    char cells[N_PEOPLE][16];
    const char *texts[N_PEOPLE];
    int32_t ages[N_PEOPLE];
    for (unsigned i = 0; i < N_PEOPLE; i++) {
      texts[i] = cell_of(c, i, cells[i]);
      if (!*texts[i]) texts[i] = NULL;
      ages[i] = texts[i] ? atoi(texts[i]) : 0;
    }
    schema_add(&source.schema, make_schema(c == 1 ? "i" : "u", columns[c]));
    array_add(&source.chunks[0],
              c == 1 ? make_values(ages, 4, N_PEOPLE, NULL) : make_texts(texts, N_PEOPLE, false));
  }
  struct ArrowArrayStream stream = make_stream(&source);
  shoal_table *table;
  if (shoal_table_from_arrow(&stream, policy, SHOAL_FOR_RELEASE, NULL, &table, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  return table;
}

static char *exported(shoal_release *release, bool keep_order, bool kept) {
  shoal_arrow_options options = {sizeof options, .keep_order = keep_order, .kept = kept};
  struct ArrowArrayStream stream;
  if (shoal_release_to_arrow(release, &options, NULL, &stream, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  return arrow_lines(&stream);
}

static char *written(shoal_release *release, bool keep_order) {
  shoal_write_options options = {.keep_order = keep_order};
  char *text = calloc(1, 1 << 16);
  if (shoal_release_write_to(release, collect, text, &options, NULL, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  return text;
}

static shoal_release *anonymized(const shoal_table *table, const shoal_policy *policy) {
  shoal_release *release;
  if (shoal_anonymize(table, policy, NULL, &release, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  return release;
}

#define PEOPLE(MORE)                                                                               \
  "shoal: 1\nattributes:\n  name: {role: identifier}\n"                                            \
  "  age: {role: quasi, type: number, hierarchy: {intervals: [10, 40], origin: 20}}\n"             \
  "  town: {role: quasi, hierarchy: {mask: right}}\n  illness: {role: sensitive}\n" MORE           \
  "privacy: {k: 3, p: 2}\n"

/* A release as CSV, through Arrow, and of a table from Arrow: the same rows. */
static void expect_same_releases(const char *text, bool keep_order) {
  shoal_policy *policy = policy_of(text);
  shoal_table *tables[] = {text_table(policy), arrow_table(policy)};
  char *lines[4];
  for (size_t t = 0; t < 2; t++) {
    shoal_release *release = anonymized(tables[t], policy);
    lines[2 * t] = exported(release, keep_order, false);
    const uint64_t *rows;
    uint64_t n, seen[N_PEOPLE] = {0};
    assert_int_equal(shoal_release_row_numbers(release, &rows, &n, &error), SHOAL_OK);
    for (uint64_t i = 0; i < n; i++) {
      assert_true(rows[i] < N_PEOPLE && !seen[rows[i]]++);
      if (keep_order && i) assert_true(rows[i] > rows[i - 1]);
    }
    lines[2 * t + 1] = written(release, keep_order);
    shoal_release_free(release);
    shoal_table_free(tables[t]);
  }
  for (size_t i = 1; i < 4; i++) assert_string_equal(lines[0], lines[i]);
  for (size_t i = 0; i < 4; i++) free(lines[i]);
  shoal_policy_free(policy);
}

static void test_releases_are_the_same(void **state UNUSED) {
  static const char *const algorithms[] = {"samarati", "mondrian", "datafly", "mu-argus", "flock"};
  for (size_t i = 0; i < COUNT(algorithms); i++)
    for (unsigned keep_order = 0; keep_order < 2; keep_order++) {
      char text[1024];
      (void)snprintf(text, sizeof text,
                     "%smethod: {max-suppression: 10%%, seed: 7, algorithm: %s}\nunlisted: drop\n",
                     PEOPLE(""), algorithms[i]);
      expect_same_releases(text, keep_order);
    }
}

/* Kept cells by row number are those of the file; others are the table's, if it has them. */
static void test_kept_columns(void **state UNUSED) {
  shoal_policy *policy =
      policy_of(PEOPLE("  ward: {role: keep}\n") "method: {max-suppression: 10%, seed: 7}\n");
  shoal_table *texts = text_table(policy), *arrow = arrow_table(policy);
  shoal_release *release = anonymized(texts, policy);
  char *file = written(release, false), *all = exported(release, false, true);
  assert_string_equal(file, all);
  shoal_release_free(release);
  release = anonymized(arrow, policy);
  char *some = exported(release, false, false), *line = file, *end;
  const uint64_t *rows;
  uint64_t n;
  assert_int_equal(shoal_release_row_numbers(release, &rows, &n, &error), SHOAL_OK);
  for (uint64_t i = 0; (line = strchr(line, '\n')) && *++line; i++) {
    char ward[16];
    assert_true(i < n);
    end = strchr(line, '\n');
    (void)cell_of(4, (unsigned)rows[i], ward);
    assert_memory_equal(end - strlen(ward), ward, strlen(ward));
  }
  struct ArrowArrayStream stream;
  shoal_arrow_options options = {.kept = true};
  assert_int_equal(shoal_release_to_arrow(release, &options, NULL, &stream, &error),
                   SHOAL_BAD_INPUT);
  assert_null(stream.release);
  assert_non_null(strstr(error.message, "row numbers"));
  shoal_release_free(release);
  shoal_table_free(texts);
  shoal_table_free(arrow);
  shoal_policy_free(policy);
  free(file);
  free(all);
  free(some);
}

/* Values of suppressed rows are in no dictionary: no row has them. */
static void test_labels_of_rows_only(void **state UNUSED) {
  shoal_policy *policy = policy_of(
      "shoal: 1\nattributes:\n  town: {role: quasi, hierarchy: {mask: right}, max-level: 0}\n"
      "  illness: {role: sensitive}\n"
      "privacy: {k: 20}\nmethod: {max-suppression: 60%}\nunlisted: drop\n");
  shoal_table *table = text_table(policy);
  shoal_release *release = anonymized(table, policy);
  struct ArrowArrayStream stream;
  struct ArrowArray chunk;
  assert_int_equal(shoal_release_to_arrow(release, NULL, NULL, &stream, &error), SHOAL_OK);
  assert_int_equal(stream.get_next(&stream, &chunk), 0);
  assert_true(chunk.length < N_PEOPLE);
  const struct ArrowArray *town = chunk.children[0];
  for (int64_t v = 0; v < town->dictionary->length; v++) {
    bool used = false;
    for (int64_t row = 0; row < chunk.length; row++)
      used = used || ((const int8_t *)town->buffers[1])[row] == v;
    assert_true(used);
  }
  assert_true(town->dictionary->length < 4);
  struct ArrowArray moved = *chunk.children[1]; /* a consumer may take a column */
  chunk.children[1]->release = NULL;
  chunk.release(&chunk);
  stream.release(&stream);
  shoal_release_free(release); /* what was handed out does not need it */
  assert_true(moved.length > 0 && ((const int8_t *)moved.buffers[1])[0] == 0);
  moved.release(&moved);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void test_release_errors(void **state UNUSED) {
  shoal_policy *policy = policy_of(PEOPLE("  ward: {role: keep}\n"));
  shoal_table *table = text_table(policy);
  shoal_release *release = anonymized(table, policy);
  struct ArrowArrayStream stream;
  const uint64_t *rows;
  uint64_t n;
  assert_int_equal(shoal_release_row_numbers(release, &rows, &n, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_release_write_to(release, refuse, NULL, NULL, NULL, &error), SHOAL_FAILED);
  assert_int_equal(shoal_release_write_to(release, NULL, NULL, NULL, NULL, &error),
                   SHOAL_BAD_INPUT);
  assert_int_equal(shoal_release_to_arrow(release, NULL, NULL, NULL, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_release_to_arrow(NULL, NULL, NULL, &stream, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_release_row_numbers(release, NULL, &n, &error), SHOAL_BAD_INPUT);
  shoal_run run = {.progress = cancel};
  assert_int_equal(shoal_release_to_arrow(release, NULL, &run, &stream, &error), SHOAL_CANCELLED);
  assert_null(stream.release);
  shoal_release_free(release);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_floats),
      cmocka_unit_test(test_dates),
      cmocka_unit_test(test_decimals),
      cmocka_unit_test(test_booleans_and_nulls),
      cmocka_unit_test(test_layouts_are_the_same_table),
      cmocka_unit_test(test_many_rows),
      cmocka_unit_test(test_roles),
      cmocka_unit_test(test_refused_columns),
      cmocka_unit_test(test_damaged_arrays),
      cmocka_unit_test(test_damaged_values),
      cmocka_unit_test(test_damaged_streams),
      cmocka_unit_test(test_cancelled),
      cmocka_unit_test(test_releases_are_the_same),
      cmocka_unit_test(test_kept_columns),
      cmocka_unit_test(test_labels_of_rows_only),
      cmocka_unit_test(test_release_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
