/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the verifier: what it proves, what it refuses, and that its counts agree with a
 * naive check that compares every row with every other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/random.h"
#include "base/text.h"
#include "collide.h"
#include "verify/verify.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

/* ---------------------------------------------------------------- a claim to start from */

static const char *const columns[] = {"age", "zip", "illness"}; /* two quasi, one sensitive */
static const char *const missing[] = {"", "?"};

static shoal_verify_parameter k_of_model, p_of_model;
static shoal_verify_model models[2];
static shoal_verify_request request;
static shoal_verify_finding finding;
static shoal_error error;

static int start_request(void **state UNUSED) {
  k_of_model = (shoal_verify_parameter){"k", "2"};
  p_of_model = (shoal_verify_parameter){"p", "2"};
  models[0] =
      (shoal_verify_model){.name = "k-anonymity", .parameters = &k_of_model, .n_parameters = 1};
  models[1] =
      (shoal_verify_model){.name = "p-sensitive", .parameters = &p_of_model, .n_parameters = 1};
  request = (shoal_verify_request){.delimiter = ',',
                                   .columns = columns,
                                   .n_columns = 3,
                                   .quasi = columns,
                                   .n_quasi = 2,
                                   .sensitive = columns + 2,
                                   .n_sensitive = 1,
                                   .guards_fd = -1,
                                   .missing = missing,
                                   .n_missing = 2,
                                   .models = models,
                                   .n_models = 2};
  return 0;
}

static shoal_status verify_bytes(const void *bytes, size_t size_bytes, uint64_t n_rows,
                                 const shoal_run *run) {
  int fd = memfd_create("release", 0); /* stays at its end: the verifier must go to the front */
  assert_true(fd >= 0);
  assert_int_equal(write(fd, bytes, size_bytes), (ssize_t)size_bytes);
  request.n_rows = n_rows;
  finding = (shoal_verify_finding){0};
  error = (shoal_error){0};
  shoal_status status = shoal_verify(fd, &request, run, &finding, &error);
  assert_int_equal(close(fd), 0);
  return status;
}

static void holds(const char *release, uint64_t n_rows, uint64_t n_classes) {
  shoal_status status = verify_bytes(release, strlen(release), n_rows, NULL);
  assert_string_equal(error.message, "");
  assert_int_equal(status, SHOAL_OK);
  assert_int_equal(finding.n_rows, n_rows);
  assert_int_equal(finding.n_classes, n_classes);
}

static void failed_with(shoal_status status, const char *part) {
  assert_int_equal(status, SHOAL_FAILED);
  if (!strstr(error.message, part)) fail_msg("no '%s' in: %s", part, error.message);
}

static void fails(const char *release, uint64_t n_rows, const char *message_part) {
  failed_with(verify_bytes(release, strlen(release), n_rows, NULL), message_part);
}

#define HEADER "age,zip,illness\n"
static const char good[] = HEADER "20,410*,a\n30,410*,b\n20,410*,b\n30,410*,a\n20,410*,a\n";

/* ---------------------------------------------------------------- known values */

static void values_must_be_original_or_listed(void **state UNUSED) {
  shoal_verify_value values[] = {{.value = "a", .n_original = 3, .category = -1},
                                 {.value = "b", .category = 0},
                                 {.value = "c", .category = -1}};
  shoal_verify_knowledge known = {
      .values = values, .n_values = 3, .n_categories = 1, .invented = true};
  request.attributes = &known;
  request.values_known = true;
  holds(good, 5, 2);
  holds(HEADER "20,410*,a\n20,410*,b\n20,410*,?\n", 3, 1); /* a missing value */
  fails(HEADER "20,410*,a\n20,410*,c\n", 2, "'illness' of the release has a value that neither");
  fails(HEADER "20,410*,a\n20,410*,d\n", 2, "'illness' of the release has a value that neither");
  known.invented = false;
  fails(good, 5, "'illness' of the release has a value that neither");
  request.values_known = false;
  holds(good, 5, 2);
  request.attributes = NULL;
  request.values_known = true;
  fails(good, 5, "'illness' of the release has a value that neither");
}

/* ---------------------------------------------------------------- models */

static void a_release_that_holds_is_proven(void **state UNUSED) {
  holds(good, 5, 2);
  assert_int_equal(finding.smallest_class, 2);
  request.n_quasi = 0; /* then all rows are one class */
  holds(good, 5, 1);
  request.n_quasi = 2;
  request.n_sensitive = 0; /* sizes alone */
  request.n_models = 1;
  holds(HEADER "20,1,a\n20,1,a\n30,1,a\n30,1,a\n", 4, 2);
}

/* Cells of the first column, with codes 5 and 90. */
static void codes_are_proven(void **state UNUSED) {
  shoal_verify_code codes[3] = {{.top = "90", .bottom = "5"}};
  static const char *const good_cells[] = {"6",
                                           "89.5",
                                           "[6-89]",
                                           "[80-90)",
                                           ">=90",
                                           ">=6",
                                           "<=5",
                                           "<6",
                                           "<=89",
                                           "<90",
                                           "*",
                                           "",
                                           "[20\xc2\xb1"
                                           "10]",
                                           "[6 to 9]"};
  static const char *const bad_cells[] = {"5",
                                          "90",
                                          "1e2",
                                          "[6-90]",
                                          "[5-9]",
                                          "[80-90.5)",
                                          ">=91",
                                          ">=5",
                                          "<=4",
                                          "<5",
                                          "<=90",
                                          "<90.1",
                                          "-3",
                                          "old",
                                          ">=x",
                                          "[6-",
                                          "[-9 to 9]",
                                          ">6",
                                          "[6\xc2\xb1"
                                          "2]",
                                          "[88\xc2\xb1"
                                          "2.5]"};
  char release[200];
  request.codes = codes;
  request.n_sensitive = 0;
  request.n_models = 1;
  for (size_t i = 0; i < COUNT(good_cells); i++) {
    (void)snprintf(release, sizeof release, HEADER "%s,1,a\n%s,1,b\n", good_cells[i],
                   good_cells[i]);
    holds(release, 2, 1);
  }
  for (size_t i = 0; i < COUNT(bad_cells); i++) {
    (void)snprintf(release, sizeof release, HEADER "20,1,a\n20,1,b\n%s,1,a\n%s,1,b\n", bad_cells[i],
                   bad_cells[i]);
    fails(release, 4, "top-code");
  }
  codes[0].words = true;
  holds(HEADER "old,1,a\nold,1,b\n", 2, 1);
  fails(HEADER "90,1,a\n90,1,b\n", 2, "top-code");
}

/* Cells of the first column, in which b has too few rows. */
static void rare_values_are_proven(void **state UNUSED) {
  static const shoal_verify_value values[] = {{.value = "a", .n_original = 5},
                                              {.value = "b", .n_original = 4},
                                              {.value = "c|", .n_original = 9}};
  shoal_verify_code codes[3] = {
      {.rare = 5, .labels = true, .sets = true, .values = values, .n_values = 3}};
  static const char *const good_cells[] = {"a", "(rare)", "", "*", "{a|\"\"c|\"\"}", "{(rare)|a}"};
  static const char *const bad_cells[] = {"b", "{a|b}", "d", "{a|d}", "{a", "{b|\"\"c|\"\"}"};
  char release[200];
  request.codes = codes;
  request.n_sensitive = 0;
  request.n_models = 1;
  for (size_t i = 0; i < COUNT(good_cells); i++) {
    (void)snprintf(release, sizeof release, HEADER "\"%s\",1,x\n\"%s\",1,y\n", good_cells[i],
                   good_cells[i]);
    holds(release, 2, 1);
  }
  for (size_t i = 0; i < COUNT(bad_cells); i++) {
    (void)snprintf(release, sizeof release, HEADER "a,1,x\na,1,y\n\"%s\",1,x\n\"%s\",1,y\n",
                   bad_cells[i], bad_cells[i]);
    fails(release, 4, "'rare'");
  }
  codes[0].words = true; /* labels of a tree: only the listed value is known to be wrong */
  holds(HEADER "d,1,x\nd,1,y\n", 2, 1);
  fails(HEADER "b,1,x\nb,1,y\n", 2, "'rare'");
}

static void a_class_below_k_is_found(void **state UNUSED) {
  k_of_model.value = "3";
  fails(good, 5, "violates k-anonymity (k = 3): 1 class, 2 rows; nothing was written");
  assert_null(strstr(error.message, "410"));
  assert_int_equal(finding.n_rows, 0);
}

static void a_class_below_p_is_found(void **state UNUSED) {
  fails(HEADER "20,1,HIV\n20,1,HIV\n30,1,HIV\n30,1,Flu\n40,1,Flu\n40,1,Flu\n40,1,Flu\n", 7,
        "violates p-sensitive (p = 2) on 'illness': 2 classes, 5 rows; nothing was written");
  assert_null(strstr(error.message, "HIV"));
}

/* Models over age alone, over zip alone, and over each of both. */
static void classes_over_a_set_below_their_bounds_are_found(void **state UNUSED) {
  static const shoal_verify_set sets[] = {{columns, 1}, {columns + 1, 1}};
  static const size_t by_age[] = {0}, by_zip[] = {1}, by_each[] = {0, 1}, none[] = {2};
  request.over = sets;
  request.n_over = 2;
  models[0].over = by_age;
  models[1].over = by_zip;
  models[0].n_over = models[1].n_over = 1;
  /* Over all quasi-identifiers each class has one row. */
  holds(HEADER "20,410*,a\n20,411*,a\n30,410*,b\n30,411*,b\n", 4, 4);
  fails(HEADER "20,410*,a\n20,411*,a\n30,410*,b\n40,411*,b\n", 4, "k = 2) over 'age': 2 classes");
  fails(HEADER "20,410*,a\n20,411*,a\n30,410*,b\n30,411*,a\n", 4,
        "p-sensitive (p = 2) on 'illness' over 'zip': 1 class, 2 rows");
  models[0].over = models[1].over = by_each;
  models[0].n_over = models[1].n_over = 2;
  holds(HEADER "20,410*,a\n20,411*,b\n30,410*,b\n30,411*,a\n", 4, 4);
  fails(HEADER "20,410*,a\n20,411*,a\n30,410*,b\n30,411*,b\n", 4, "over 'age'");
  fails(HEADER "20,410*,a\n20,410*,b\n20,411*,a\n", 3, "over 'zip': 1 class, 1 row");
  models[1].over = none;
  models[1].n_over = 1;
  fails(good, 5, "'p-sensitive' is about quasi-identifiers that the request lacks");
  models[1].n_over = 0;
  fails(HEADER "20,410*,a\n20,410*,a\n", 2, "violates p-sensitive (p = 2) on 'illness': 1 class");
  request.over = (const shoal_verify_set[]){{columns, 1}, {columns + 2, 1}};
  fails(good, 5, "over 'illness', which is no quasi-identifier");
}

/* Cells of any length, and classes that differ in other columns only. */
static void cells_of_a_set_are_compared_whole(void **state UNUSED) {
  static const shoal_verify_set sets[] = {{columns + 1, 1}};
  static const size_t over[] = {0};
  char text[2000], cell[300];
  memset(cell, 'x', sizeof cell);
  request.over = sets;
  request.n_over = 1;
  models[0].over = models[1].over = over;
  models[0].n_over = models[1].n_over = 1;
  (void)snprintf(text, sizeof text, HEADER "%.200s,%.150s,a\n%.3s,%.150s,b\n", cell, cell, cell,
                 cell);
  holds(text, 2, 2);
  (void)snprintf(text, sizeof text, HEADER "%.200s,%.150s,a\n%.3s,%.149s,b\n", cell, cell, cell,
                 cell);
  fails(text, 2, "over 'zip': 2 classes");
}

static void missing_values_are_rows_but_no_values(void **state UNUSED) {
  const char *release = HEADER "20,1,HIV\n20,1,\n20,1,?\n20,1,\"\"\n";
  fails(release, 4, "on 'illness': 1 class, 4 rows");
  p_of_model.value = "1";
  holds(release, 4, 1);
  fails(HEADER "1,1,?\n1,1,?\n1,1,\n1,1,?\n", 4, "(p = 1) on 'illness': 1 class, 4 rows");
  request.n_missing = 0;
  p_of_model.value = "3";
  holds(release, 4, 1);
}

static void each_sensitive_attribute_must_hold_unless_one_is_named(void **state UNUSED) {
  request.n_quasi = 1;
  request.sensitive = columns + 1;
  request.n_sensitive = 2;
  const char *release = HEADER "20,a,Flu\n20,b,Flu\n";
  fails(release, 2, "violates p-sensitive (p = 2) on 'illness'");
  models[1].attribute = "zip";
  holds(release, 2, 1);
}

static void what_cannot_be_proven_fails(void **state UNUSED) {
  models[0].name = "k-anonymous";
  fails(good, 5, "does not know the model 'k-anonymous'");
  models[0].name = "k-anonymity";
  models[0].attribute = "age";
  fails(good, 5, "has no sensitive attribute 'age'");
  models[0].attribute = NULL;
  models[1].n_parameters = 0;
  fails(good, 5, "no parameter 'p'");
  models[1].n_parameters = 1;
  p_of_model.name = "k";
  fails(good, 5, "no parameter 'p'");
  p_of_model.name = "p";
  request.n_sensitive = 0;
  fails(good, 5, "no sensitive attribute");
}

static void a_bound_that_is_not_one_whole_number_fails(void **state UNUSED) {
  static const char *const wrong[] = {"", "0", "-1", "2.5", "two", "2 ", "18446744073709551616"};
  for (size_t i = 0; i < COUNT(wrong); i++) {
    p_of_model.value = wrong[i];
    fails(good, 5, "not a whole number of at least 1: parameter 'p'");
  }
  p_of_model.value = "18446744073709551615";
  fails(good, 5, "violates p-sensitive (p = 18446744073709551615)");
  const shoal_verify_parameter twice[] = {{"p", "2"}, {"p", "3"}};
  models[1] = (shoal_verify_model){.name = "p-sensitive", .parameters = twice, .n_parameters = 2};
  fails(good, 5, "more than one parameter 'p'");
}

/* ---------------------------------------------------------------- the claim and the file */

static void roles_must_name_one_column_each(void **state UNUSED) {
  static const char *const other[] = {"age", "height"}, *const twice[] = {"age", "age", "illness"};
  request.quasi = other;
  fails(good, 5, "'height' is no column");
  request.quasi = columns;
  request.sensitive = other + 1;
  fails(good, 5, "'height' is no column");
  request.sensitive = columns + 2;
  request.columns = twice;
  fails("age,age,illness\n1,1,a\n1,1,b\n", 2, "'age' is more than one column");
}

static void another_header_fails(void **state UNUSED) {
  fails("age,illness,zip\n1,1,a\n1,1,b\n", 2, "the wrong header");
  fails("age,zip,illness \n1,1,a\n1,1,b\n", 2, "the wrong header");
  fails("age,zip\n1,1\n1,1\n", 2, "header: fewer cells");
  fails("age,zip,illness,ward\n1,1,a,b\n", 1, "header: more cells");
  holds("\"age\",zip,\"illness\"\n1,1,a\n1,1,b\n", 2, 1);
}

static void another_number_of_rows_fails(void **state UNUSED) {
  fails(good, 6, "has 5 rows, expected 6");
  fails(good, 4, "more rows than the expected 4");
  fails(good, 0, "more rows than the expected 0");
  fails(HEADER, 0, "has 0 rows, expected more than 0");
  fails("", 0, "is empty");
}

static void a_ragged_row_fails(void **state UNUSED) {
  fails(HEADER "1,1,a\n1,b\n", 2, "row 2: fewer cells");
  assert_int_equal(error.row, 2);
  fails(HEADER "1,1,a,\n", 1, "row 1: more cells");
  fails(HEADER "1,1,a\n\n1,1,b\n", 2, "row 2: fewer cells");
}

static void broken_quotes_and_control_bytes_fail(void **state UNUSED) {
  fails(HEADER "1,1,a\n1,1,\"b\n", 2, "row 2: a quoted cell is not closed");
  fails(HEADER "1,1,\"", 1, "row 1: a quoted cell is not closed");
  fails(HEADER "1,1,\"a\"\"\n", 1, "row 1: a quoted cell is not closed");
  fails(HEADER "1,1,a\"b\n", 1, "row 1: a quote inside");
  fails(HEADER "1,1,\"a\"b\n", 1, "row 1: a quote inside");
  fails(HEADER "1,1,a\rb\n", 1, "row 1: a carriage return");
  fails(HEADER "1,1,a\r", 1, "row 1: a carriage return");
  static const char nul[] = HEADER "1,1,a\0b\n", quoted_nul[] = HEADER "1,1,\"a\0b\"\n";
  failed_with(verify_bytes(nul, sizeof nul - 1, 1, NULL), "row 1: a cell has a NUL");
  failed_with(verify_bytes(quoted_nul, sizeof quoted_nul - 1, 1, NULL), "has a NUL");
}

static void unreadable_files_fail(void **state UNUSED) {
  request.n_rows = 5;
  failed_with(shoal_verify(-1, &request, NULL, &finding, &error), "cannot be read back");
  assert_int_equal(shoal_verify(-1, &request, NULL, &finding, NULL), SHOAL_FAILED);
  request.delimiter = '"';
  fails(good, 5, "with this delimiter");
}

static void quoted_cells_are_grouped_by_their_content(void **state UNUSED) {
  holds(HEADER "\"a,b\",\"x\ny\",Flu\n\"a,b\",\"x\ny\",HIV\n"
               "\"say \"\"a\"\"\",\"\"\"\",Flu\n\"say \"\"a\"\"\",\"\"\"\",HIV\n"
               "20,\"\",\"Flu\"\n\"20\",,HIV\n\"2\t0\",\"\r\n\",a\n2\t0,\"\r\n\",b\n",
        8, 4);
  p_of_model.value = "3";
  fails(HEADER "1,1,\"a\"\"\"\n1,1,\"a\"\n1,1,a\n", 3, "1 class, 3 rows");
}

static void line_ends_and_delimiters_may_differ(void **state UNUSED) {
  holds("age,zip,illness\r\n1,1,a\r\n1,1,\"b\"\r\n", 2, 1);
  holds(HEADER "1,1,a\n1,1,b", 2, 1);
  holds(HEADER "1,1,a\n1,1,\"b\"", 2, 1);
  holds(HEADER "1,1,a\n1,1,b\n1,1,", 3, 1);
  request.delimiter = ';';
  holds("age;zip;illness\n1,;1;a\n1,;1;b\n", 2, 1);
  request.delimiter = '\t';
  holds("age\tzip\tillness\n1,\t1\ta\n1,\t1\tb\n", 2, 1);
  request.delimiter = '\xff'; /* a byte that is negative where char is signed */
  holds("age\xffzip\xffillness\n1\xff"
        "1\xff"
        "a\n1\xff"
        "1\xff"
        "b\n",
        2, 1);
  request.columns = columns + 2; /* an empty line is a row of a single column */
  request.n_columns = 1;
  request.n_quasi = 0;
  holds("illness\na\n\nb\n", 3, 1);
}

static void tuples_with_the_same_text_stay_apart(void **state UNUSED) {
  fails(HEADER "a,bc,Flu\nab,c,HIV\n", 2, "violates k-anonymity (k = 2): 2 classes, 2 rows");
  fails(HEADER ",abc,Flu\nabc,,HIV\n", 2, "2 classes, 2 rows");
  fails(HEADER "\x01"
               "a,,Flu\n,\x01"
               "a,HIV\n",
        2, "2 classes, 2 rows");
  for (int length = 1; length < 300; length++) { /* also where only the last byte differs */
    char release[1024];
    (void)snprintf(release, sizeof release, HEADER "%*d,1,a\n%*d,1,b\n", length, 1, length, 2);
    fails(release, 2, "2 classes, 2 rows");
  }
}

static void values_of_the_same_hash_are_told_apart(void **state UNUSED) {
  char release[128], first[17], second[17];
  collide(first, second);
  assert_true(shoal_hash_bytes(first, 16) == shoal_hash_bytes(second, 16));
  (void)snprintf(release, sizeof release, HEADER "1,1,%s\n1,1,%s\n", first, second);
  holds(release, 2, 1);
}

/* ---------------------------------------------------------------- size, compression, progress */

static void cells_larger_than_the_buffer_are_read(void **state UNUSED) {
  shoal_text release = {0};
  shoal_text_add(&release, HEADER);
  for (int row = 0; row < 4; row++) {
    shoal_text_print(&release, "%d,\"", row / 2);
    for (int i = 0; i < 200000; i++) shoal_text_add(&release, "it \"\"is\"\",\nlong ");
    shoal_text_print(&release, "\",%d\n", row);
  }
  holds(release.bytes, 4, 2);
  shoal_text_reset(&release);
}

/* Each shift puts the buffer's ends at other bytes of the rows: inside quotes, CRLF, doubles. */
static void the_buffer_may_end_anywhere_in_a_row(void **state UNUSED) {
  static const char rows[] = "\"a\"\"b\",7,\"Flu\"\r\n\"a\"\"b\",7,HIV\r\n";
  for (int shift = 0; shift < (int)sizeof rows; shift++) {
    uint64_t n_rows = 1;
    shoal_text release = {0};
    shoal_text_print(&release, HEADER "\"a\"\"b\",7,\"%*s\"\n", shift, "");
    for (; release.size_bytes < 5u << 19; n_rows += 2) shoal_text_add(&release, rows);
    holds(release.bytes, n_rows, 1);
    shoal_text_reset(&release);
  }
}

/* 3000 classes of 4 rows, each row with another value: all tables grow several times. */
static void add_many_classes(shoal_text *release) {
  shoal_text_add(release, HEADER);
  for (int i = 0; i < 12000; i++)
    shoal_text_print(release, "%d,41%d,value %d\n", i % 3000, i % 3000 / 7, i * 7 % 12000);
}

static void many_classes_and_values_are_counted(void **state UNUSED) {
  shoal_text release = {0};
  add_many_classes(&release);
  k_of_model.value = p_of_model.value = "4";
  holds(release.bytes, 12000, 3000);
  assert_int_equal(finding.smallest_class, 4);
  p_of_model.value = "5";
  fails(release.bytes, 12000, "on 'illness': 3000 classes, 12000 rows");
  shoal_text_reset(&release);
}

static size_t gzip_bytes(const char *bytes, size_t size_bytes, unsigned char *out, size_t room) {
  z_stream stream = {.next_out = out, .avail_out = (uInt)room, .avail_in = (uInt)size_bytes};
  memcpy(&stream.next_in, &bytes, sizeof bytes); /* zlib's pointer is not const */
  assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
  assert_int_equal(deflateEnd(&stream), Z_OK);
  return room - stream.avail_out;
}

static size_t zstd_bytes(const char *bytes, size_t size_bytes, unsigned char *out, size_t room) {
  return ZSTD_compress(out, room, bytes, size_bytes, 3);
}

/* Whole, cut at the end, with something behind it, and in two members or frames. */
static void check_packed(size_t (*pack)(const char *, size_t, unsigned char *, size_t)) {
  shoal_text release = {0};
  add_many_classes(&release);
  static unsigned char packed[1 << 20];
  size_t room = sizeof packed, half = release.size_bytes / 2;
  size_t size = pack(release.bytes, release.size_bytes, packed, room);
  assert_int_equal(verify_bytes(packed, size, 12000, NULL), SHOAL_OK);
  assert_int_equal(finding.n_classes, 3000);
  for (size_t cut = 1; cut < 12; cut++)
    failed_with(verify_bytes(packed, size - cut, 12000, NULL), "cannot be decompressed");
  packed[size] = 'x'; /* neither a member nor a frame */
  failed_with(verify_bytes(packed, size + 1, 12000, NULL), "cannot be decompressed");
  size = pack(release.bytes, half, packed, room);
  size += pack(release.bytes + half, release.size_bytes - half, packed + size, room - size);
  assert_int_equal(verify_bytes(packed, size, 12000, NULL), SHOAL_OK);
  assert_int_equal(finding.n_classes, 3000);
  shoal_text_reset(&release);
}

static void a_gzip_release_is_unpacked(void **state UNUSED) { check_packed(gzip_bytes); }
static void a_zstd_release_is_unpacked(void **state UNUSED) { check_packed(zstd_bytes); }

typedef struct watcher {
  unsigned calls, stop_at; /* 0: never */
  shoal_progress last;
} watcher;

static bool watch(void *user, const shoal_progress *progress) {
  watcher *seen = user;
  assert_string_equal(progress->stage, "verify");
  assert_true(progress->done >= seen->last.done);
  seen->last = *progress;
  return ++seen->calls == seen->stop_at;
}

static void progress_is_told_and_can_stop_the_work(void **state UNUSED) {
  shoal_text release = {0};
  shoal_text_add(&release, HEADER);
  for (int i = 0; i < 600000; i++) shoal_text_print(&release, "20,410*,value %d\n", i % 5);
  watcher seen = {0};
  shoal_run run = {.progress = watch, .progress_user = &seen};
  assert_int_equal(verify_bytes(release.bytes, release.size_bytes, 600000, &run), SHOAL_OK);
  assert_int_equal(seen.last.done, release.size_bytes);
  assert_int_equal(seen.last.total, release.size_bytes);
  seen = (watcher){.stop_at = 2};
  assert_int_equal(verify_bytes(release.bytes, release.size_bytes, 600000, &run), SHOAL_CANCELLED);
  assert_int_equal(seen.calls, 2);
  shoal_text_reset(&release);
}

/* ---------------------------------------------------------------- against a naive check */

enum { MAX_ROWS = 24, N_COLUMNS = 5 }; /* three quasi-identifiers, two sensitive attributes */
typedef const char *random_row[N_COLUMNS];
static const char *const random_columns[] = {"q1", "q\"2", "q,3", "s1", "s2"};
static const char *const random_cells[] = {"", "a", "aa", "?", "\"", "a\"", ",", "a,", "\n", "1"};

static bool same_class(const random_row *rows, size_t a, size_t b) {
  for (size_t q = 0; q < request.n_quasi; q++)
    if (strcmp(rows[a][q], rows[b][q])) return false;
  return true;
}

/* Is row b the first row of a's class with its value, and that value not a missing one? */
static bool is_new_value(const random_row *rows, size_t a, size_t b, size_t column) {
  if (!same_class(rows, a, b)) return false;
  if (!strcmp(rows[b][column], "") || !strcmp(rows[b][column], "?")) return false;
  for (size_t c = 0; c < b; c++)
    if (same_class(rows, a, c) && !strcmp(rows[c][column], rows[b][column])) return false;
  return true;
}

static bool naively_holds(const random_row *rows, size_t n_rows, size_t k, size_t p,
                          size_t *n_classes) {
  bool all_hold = true;
  for (size_t a = 0; a < n_rows; a++) {
    size_t size = 0, before = 0;
    for (size_t b = 0; b < n_rows; b++) size += same_class(rows, a, b);
    for (size_t b = 0; b < a; b++) before += same_class(rows, a, b);
    *n_classes += before == 0;
    all_hold = all_hold && size >= k;
    for (size_t s = 0; s < request.n_sensitive; s++) {
      size_t distinct = 0;
      for (size_t b = 0; b < n_rows; b++) distinct += is_new_value(rows, a, b, 3 + s);
      all_hold = all_hold && distinct >= p;
    }
  }
  return all_hold;
}

/* Quoted where it must be, and now and then where it need not. */
static void add_cell(shoal_text *out, const char *cell, bool quote, size_t column) {
  quote = quote || strpbrk(cell, "\",\n");
  if (quote) shoal_text_add(out, "\"");
  for (; *cell; cell++) {
    if (*cell == '"') shoal_text_add(out, "\"");
    shoal_text_add_bytes(out, cell, 1);
  }
  if (quote) shoal_text_add(out, "\"");
  shoal_text_add(out, column + 1 < N_COLUMNS ? "," : "\n");
}

static void check_random_release(shoal_random *random, size_t k, size_t p, unsigned *n_held) {
  random_row rows[MAX_ROWS];
  size_t n_rows = 1 + shoal_random_below(random, MAX_ROWS);
  size_t first_cell = shoal_random_below(random, COUNT(random_cells));
  uint64_t variety[2] = {1 + shoal_random_below(random, 3), 2 + shoal_random_below(random, 9)};
  shoal_text release = {0};
  for (size_t c = 0; c < N_COLUMNS; c++) add_cell(&release, random_columns[c], false, c);
  for (size_t r = 0; r < n_rows; r++) {
    for (size_t c = 0; c < N_COLUMNS; c++) {
      size_t cell = first_cell + shoal_random_below(random, variety[c >= 3]);
      rows[r][c] = random_cells[cell % COUNT(random_cells)];
      add_cell(&release, rows[r][c], shoal_random_below(random, 4) == 0, c);
    }
  }
  size_t n_classes = 0;
  bool expected = naively_holds((const random_row *)rows, n_rows, k, p, &n_classes);
  shoal_status status = verify_bytes(release.bytes, release.size_bytes, n_rows, NULL);
  assert_int_equal(status, expected ? SHOAL_OK : SHOAL_FAILED);
  assert_int_equal(!expected, !strncmp(error.message, "the release violates ", 21));
  if (expected) assert_int_equal(finding.n_classes, n_classes);
  *n_held += expected;
  shoal_text_reset(&release);
}

static void random_releases_agree_with_a_naive_check(void **state UNUSED) {
  static const char *const digits[] = {"0", "1", "2", "3", "4"};
  shoal_random random;
  shoal_random_seed(&random, 7);
  request.columns = request.quasi = random_columns;
  request.n_columns = N_COLUMNS;
  request.sensitive = random_columns + 3;
  unsigned n_held = 0, n_all = 20000;
  for (unsigned i = 0; i < n_all; i++) {
    size_t k = 1 + shoal_random_below(&random, 4), p = 1 + shoal_random_below(&random, 3);
    k_of_model.value = digits[k];
    p_of_model.value = digits[p];
    request.n_quasi = shoal_random_below(&random, 4);
    request.n_sensitive = 1 + shoal_random_below(&random, 2);
    check_random_release(&random, k, p, &n_held);
  }
  assert_in_range(n_held, n_all / 10, n_all / 10 * 9); /* both verdicts were put to the test */
}

/* ---------------------------------------------------------------- parts of a large file */

/* More than two parts of 4 MiB; many cells have several lines, so that cuts fall into quotes. */
static void fill_large(shoal_text *release, unsigned n_rows) {
  shoal_text_add(release, HEADER);
  for (unsigned i = 0; i < n_rows; i++)
    shoal_text_print(release, "\"a\n\"\"%u\"\"\n\",%u,\"\nillness %u,\n\n\n\n\"\n", i % 100, i % 7,
                     i % 11);
  assert_true(!release->failed && release->size_bytes > 9u << 20);
}

static void a_large_release_is_proven_in_parts(void **state UNUSED) {
  enum { ROWS = 300000 };
  shoal_text release;
  shoal_text_init(&release);
  fill_large(&release, ROWS);
  char first[sizeof error.message];
  for (unsigned n_threads = 1; n_threads <= 4; n_threads++) {
    shoal_run run = {.n_threads = n_threads};
    assert_int_equal(verify_bytes(release.bytes, release.size_bytes, ROWS, &run), SHOAL_OK);
    assert_int_equal(finding.n_rows, ROWS);
    assert_int_equal(finding.n_classes, 700);
    assert_int_equal(finding.smallest_class, ROWS / 700);
    failed_with(verify_bytes(release.bytes, release.size_bytes, ROWS - 1, &run), "more rows than");
    failed_with(verify_bytes(release.bytes, release.size_bytes, ROWS + 1, &run), "300000 rows");
    p_of_model.value = "12"; /* each class has eleven */
    failed_with(verify_bytes(release.bytes, release.size_bytes, ROWS, &run), "p-sensitive");
    p_of_model.value = "2";
  }
  for (unsigned part = 1; part < 8; part++) { /* a quote or a newline too many, anywhere */
    char *at = release.bytes + release.size_bytes / 8 * part;
    while (*at != 'l') at++;
    for (unsigned fault = 0; fault < 3; fault++) {
      *at = "\"\0\r"[fault];
      bool harmless = fault == 2; /* inside quotes */
      for (unsigned n_threads = 1; n_threads <= 4; n_threads += 3) {
        shoal_run run = {.n_threads = n_threads};
        shoal_status status = verify_bytes(release.bytes, release.size_bytes, ROWS, &run);
        assert_int_equal(status, harmless ? SHOAL_OK : SHOAL_FAILED);
        if (n_threads == 1) memcpy(first, error.message, sizeof first);
        assert_string_equal(error.message, first);
      }
    }
    *at = 'l';
  }
  shoal_text_reset(&release);
}

#define TEST(name) cmocka_unit_test_setup(name, start_request)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_release_that_holds_is_proven),
      TEST(values_must_be_original_or_listed),
      TEST(a_class_below_k_is_found),
      TEST(codes_are_proven),
      TEST(rare_values_are_proven),
      TEST(a_class_below_p_is_found),
      TEST(classes_over_a_set_below_their_bounds_are_found),
      TEST(cells_of_a_set_are_compared_whole),
      TEST(missing_values_are_rows_but_no_values),
      TEST(each_sensitive_attribute_must_hold_unless_one_is_named),
      TEST(what_cannot_be_proven_fails),
      TEST(a_bound_that_is_not_one_whole_number_fails),
      TEST(roles_must_name_one_column_each),
      TEST(another_header_fails),
      TEST(another_number_of_rows_fails),
      TEST(a_ragged_row_fails),
      TEST(broken_quotes_and_control_bytes_fail),
      TEST(unreadable_files_fail),
      TEST(quoted_cells_are_grouped_by_their_content),
      TEST(line_ends_and_delimiters_may_differ),
      TEST(tuples_with_the_same_text_stay_apart),
      TEST(values_of_the_same_hash_are_told_apart),
      TEST(cells_larger_than_the_buffer_are_read),
      TEST(the_buffer_may_end_anywhere_in_a_row),
      TEST(many_classes_and_values_are_counted),
      TEST(a_gzip_release_is_unpacked),
      TEST(a_zstd_release_is_unpacked),
      TEST(progress_is_told_and_can_stop_the_work),
      TEST(random_releases_agree_with_a_naive_check),
      TEST(a_large_release_is_proven_in_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
