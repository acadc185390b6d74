/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of SPSS, Stata and SAS files: files that libreadstat's writer makes here, with labels,
 * missing values and dates, are read as tables; clocks and numbers as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "read/stat_cell.h"
#include "read/stat_file.h"
#include "shoal/shoal.h"
#include "table/table.h"

#define UNUSED __attribute__((unused))

/* ---------------------------------------------------------------- cells */

static const char *time_text(shoal_stat_clock clock, double number) {
  static char text[64];
  shoal_text out;
  shoal_text_init(&out);
  if (clock.time == SHOAL_STAT_NUMBER) shoal_stat_add_number(&out, number);
  else shoal_stat_add_time(&out, clock, number);
  (void)snprintf(text, sizeof text, "%s", out.bytes);
  shoal_text_reset(&out);
  return text;
}

static void dates_count_from_their_epochs(void **state UNUSED) {
  /* seconds since 1582-10-14; days and milliseconds since 1960-01-01 */
  assert_string_equal(time_text(shoal_stat_clock_of_sav("DATE11"), 0), "1582-10-14");
  assert_string_equal(time_text(shoal_stat_clock_of_sav("ADATE10"), 12219379200), "1970-01-01");
  assert_string_equal(time_text(shoal_stat_clock_of_sav("DATETIME20"), 12219379200 + 3661),
                      "1970-01-01 01:01:01");
  assert_string_equal(time_text(shoal_stat_clock_of_sav("F8.2"), 12.5), "12.5");
  assert_string_equal(time_text(shoal_stat_clock_of_dta("%td"), 0), "1960-01-01");
  assert_string_equal(time_text(shoal_stat_clock_of_dta("%tdD_m_Y"), -1), "1959-12-31");
  assert_string_equal(time_text(shoal_stat_clock_of_dta("%-d"), 21975), "2020-03-01");
  assert_string_equal(time_text(shoal_stat_clock_of_dta("%tc"), 86400000.0 + 1000),
                      "1960-01-02 00:00:01");
  assert_string_equal(time_text(shoal_stat_clock_of_dta("%9.0g"), 60), "60");
  assert_string_equal(time_text(shoal_stat_clock_of_dta("%tm"), 60), "60");
  assert_string_equal(time_text(shoal_stat_clock_of_sas("YYMMDD10."), 22000), "2020-03-26");
  assert_string_equal(time_text(shoal_stat_clock_of_sas("date9"), 59), "1960-02-29");
  assert_string_equal(time_text(shoal_stat_clock_of_sas("DATETIME"), 59), "1960-01-01 00:00:59");
  assert_string_equal(time_text(shoal_stat_clock_of_sas("BEST12."), 59), "59");
  assert_string_equal(time_text(shoal_stat_clock_of_dta("%td"), 1e12), "1000000000000");
}

static void numbers_are_short(void **state UNUSED) {
  shoal_stat_clock none = shoal_stat_clock_of_dta("");
  assert_string_equal(time_text(none, 0.1), "0.1");
  assert_string_equal(time_text(none, 1.0 / 3), "0.3333333333333333");
  assert_string_equal(time_text(none, -7), "-7");
  shoal_text out;
  shoal_text_init(&out);
  shoal_stat_add_float(&out, 0.1F);
  assert_string_equal(out.bytes, "0.1");
  shoal_text_reset(&out);
}

#if SHOAL_READSTAT

#include <readstat.h>

/* ---------------------------------------------------------------- files */

static char path[] = "/tmp/shoal-stat-XXXXXX";
static FILE *file;
static shoal_error error;

static ssize_t put(const void *bytes, size_t size, void *user UNUSED) {
  return (ssize_t)fwrite(bytes, 1, size, file);
}

typedef readstat_error_t begin_fn(readstat_writer_t *, void *, long);

/*
 * Four variables (a label on 1 and 2 of `sex`, a date, text, a number of which 99 is missing in
 * SPSS) and four rows, the last all missing.
 */
static void write_file(begin_fn *begin, int version, bool sav, const char *text) {
  readstat_writer_t *w = readstat_writer_init();
  file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(readstat_set_data_writer(w, put), READSTAT_OK);
  if (version)
    assert_int_equal(readstat_writer_set_file_format_version(w, (uint8_t)version), READSTAT_OK);
  readstat_type_t type = sav ? READSTAT_TYPE_DOUBLE : READSTAT_TYPE_INT32;
  readstat_label_set_t *labels = readstat_add_label_set(w, type, "sexes");
  if (sav) {
    readstat_label_double_value(labels, 1, "male");
    readstat_label_double_value(labels, 2, "female");
  } else {
    readstat_label_int32_value(labels, 1, "male");
    readstat_label_int32_value(labels, 2, "female");
  }
  readstat_variable_t *sex = readstat_add_variable(w, "sex", type, 0);
  readstat_variable_set_label_set(sex, labels);
  readstat_variable_t *born = readstat_add_variable(w, "born", READSTAT_TYPE_DOUBLE, 0);
  readstat_variable_set_format(born, sav ? "EDATE10" : "%td");
  readstat_variable_t *town = readstat_add_variable(w, "town", READSTAT_TYPE_STRING, 20);
  readstat_variable_t *score = readstat_add_variable(w, "score", READSTAT_TYPE_DOUBLE, 0);
  if (sav) (void)readstat_variable_add_missing_double_value(score, 99);
  assert_int_equal(begin(w, NULL, 4), READSTAT_OK);
  for (int row = 0; row < 4; row++) {
    assert_int_equal(readstat_begin_row(w), READSTAT_OK);
    if (row == 3) {
      (void)readstat_insert_missing_value(w, sex);
      (void)readstat_insert_missing_value(w, born);
      (void)readstat_insert_string_value(w, town, "");
      (void)readstat_insert_missing_value(w, score);
    } else {
      if (sav) (void)readstat_insert_double_value(w, sex, row + 1);
      else (void)readstat_insert_int32_value(w, sex, row + 1);
      double days = 21975 + row; /* 2020-03-01 since 1960 */
      (void)readstat_insert_double_value(w, born, sav ? (days + 137775) * 86400 : days);
      (void)readstat_insert_string_value(w, town, row ? text : "Ulm");
      (void)readstat_insert_double_value(w, score, row == 2 ? 99 : row + 0.5);
    }
    assert_int_equal(readstat_end_row(w), READSTAT_OK);
  }
  assert_int_equal(readstat_end_writing(w), READSTAT_OK);
  readstat_writer_free(w);
  (void)fclose(file);
}

static shoal_table *read_with(const char *data) {
  char text[400];
  (void)snprintf(
      text, sizeof text,
      "shoal: 1\ndata: {%s}\nattributes: {sex: {role: quasi}, born: {role: quasi}, town: "
      "{role: quasi}, score: {role: quasi, type: number}}\n",
      data);
  shoal_policy *policy;
  shoal_table *table = NULL;
  assert_int_equal(shoal_policy_parse(text, strlen(text), "policy", ".", &policy, &error),
                   SHOAL_OK);
  if (shoal_table_read(path, policy, SHOAL_FOR_RELEASE, NULL, NULL, &table, &error) != SHOAL_OK)
    assert_null(table);
  shoal_policy_free(policy);
  return table;
}

static void cells_are(const shoal_table *table, size_t column, const char *const *cells) {
  assert_non_null(table);
  assert_int_equal(table->n_rows, 4);
  for (uint64_t row = 0; row < 4; row++) {
    size_t size;
    const char *value = shoal_column_value(&table->columns[column],
                                           shoal_column_code(&table->columns[column], row), &size);
    if (strlen(cells[row]) != size || memcmp(value, cells[row], size) != 0)
      fail_msg("row %d of column %zu is '%.*s'", (int)row + 1, column, (int)size, value);
  }
}

static void check_table(bool sav, const char *town, const char *missing) {
  char data[100];
  (void)snprintf(data, sizeof data, "missing: [\"%s\"]", missing);
  shoal_table *table = read_with(data);
  cells_are(table, 0, (const char *const[]){"1", "2", "3", missing});
  cells_are(table, 1, (const char *const[]){"2020-03-01", "2020-03-02", "2020-03-03", missing});
  cells_are(table, 2, (const char *const[]){"Ulm", town, town, ""});
  cells_are(table, 3, (const char *const[]){"0.5", "1.5", sav ? missing : "99", missing});
  shoal_table_free(table);
  table = read_with("labels: labels");
  cells_are(table, 0, (const char *const[]){"male", "female", "3", ""});
  shoal_table_free(table);
}

static void spss_files_are_read(void **state UNUSED) {
  write_file(readstat_begin_writing_sav, 2, true, "K\u00f6ln");
  check_table(true, "K\u00f6ln", "");
  check_table(true, "K\u00f6ln", "?");
  write_file(readstat_begin_writing_sav, 3, true, "K\u00f6ln"); /* compressed: .zsav */
  check_table(true, "K\u00f6ln", "");
}

static void stata_files_are_read(void **state UNUSED) {
  static const int versions[] = {118, 119, 117, 115, 114, 110, 108};
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
    bool utf8 = versions[i] >= 118;
    write_file(readstat_begin_writing_dta, versions[i], false, utf8 ? "K\u00f6ln" : "K\xf6ln");
    check_table(false, "K\u00f6ln", "");
    shoal_table *table = read_with("");
    assert_int_equal(table->n_notes, utf8 ? 0 : 1); /* that it was taken for Windows-1252 */
    shoal_table_free(table);
    /* an encoding is used if the file does not say that it is UTF-8 */
    table = read_with("encoding: iso-8859-5");
    cells_are(table, 2,
              utf8 ? (const char *const[]){"Ulm", "K\u00f6ln", "K\u00f6ln", ""}
                   : (const char *const[]){"Ulm", "K\u0456ln", "K\u0456ln", ""});
    assert_int_equal(table->n_notes, 0);
    shoal_table_free(table);
  }
}

static void text_that_is_not_utf8_is_refused(void **state UNUSED) {
  write_file(readstat_begin_writing_dta, 118, false, "K\xf6ln");
  assert_null(read_with(""));
  assert_non_null(strstr(error.message, "row 2, column 'town': the text is not UTF-8"));
}

/* libreadstat 1.1 cannot write all that its reader knows: text and numbers only. */
static void sas_files_are_read(void **state UNUSED) {
  write_file(readstat_begin_writing_sas7bdat, 0, false, "Ulm");
  assert_int_equal(shoal_stat_kind_of(path), SHOAL_STAT_SAS);
  shoal_table *table = read_with("labels: labels");
  cells_are(table, 0, (const char *const[]){"1", "2", "3", ""}); /* it has no labels */
  cells_are(table, 2, (const char *const[]){"Ulm", "Ulm", "Ulm", ""});
  cells_are(table, 3, (const char *const[]){"0.5", "1.5", "99", ""});
  shoal_table_free(table);
}

/* Cut at any byte, a file is refused, or read without a fault of memory. */
static void damaged_files_are_refused(void **state UNUSED) {
  static const struct {
    begin_fn *begin;
    bool sav;
  } kinds[] = {{readstat_begin_writing_sav, true}, {readstat_begin_writing_dta, false}};
  for (size_t i = 0; i < 2; i++) {
    write_file(kinds[i].begin, 0, kinds[i].sav, "Ulm");
    file = fopen(path, "rb");
    (void)fseek(file, 0, SEEK_END);
    long size = ftell(file);
    (void)fclose(file);
    for (long cut = size - 1; cut > 16; cut -= 61) {
      assert_int_equal(truncate(path, cut), 0);
      shoal_table_free(read_with(""));
    }
  }
}

static int start(void **state UNUSED) {
  int fd = mkstemp(path);
  return fd < 0 || close(fd);
}

static int end(void **state UNUSED) { return unlink(path); }

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(dates_count_from_their_epochs),
    cmocka_unit_test(numbers_are_short),
#if SHOAL_READSTAT
    cmocka_unit_test(spss_files_are_read),
    cmocka_unit_test(stata_files_are_read),
    cmocka_unit_test(text_that_is_not_utf8_is_refused),
    cmocka_unit_test(sas_files_are_read),
    cmocka_unit_test(damaged_files_are_refused),
  };
  return cmocka_run_group_tests_name("stat_file", tests, start, end);
#else
  };
  return cmocka_run_group_tests_name("stat_file", tests, NULL, NULL);
#endif
}
