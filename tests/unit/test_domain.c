/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/measure/label_syntax.c and src/measure/domain.c: spellings of labels as other
 * tools and the papers write them, and what labels stand for where random tables do not lead
 * (tests/property/test_measure.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "measure/domain.h"
#include "table/load.h"

#define UNUSED __attribute__((unused))

/* ---------------------------------------------------------------- spellings */

/* "word", "all", "prefix 4", or "[low,high]" with ( ) for open ends and nothing for no end. */
static const char *spelled(const char *label) {
  static char out[128];
  shoal_spelling s = shoal_label_parse(label, strlen(label));
  char low[32] = "", high[32] = "";
  switch (s.form) {
  case SHOAL_FORM_WORD: return "word";
  case SHOAL_FORM_EVERYTHING: return "all";
  case SHOAL_FORM_PREFIX: (void)snprintf(out, sizeof out, "prefix %zu", s.prefix_bytes); return out;
  case SHOAL_FORM_NUMBER:
  case SHOAL_FORM_INTERVAL: break;
  }
  if (s.range.has_low) shoal_decimal_print(s.range.low.mantissa, s.range.low.scale, low);
  if (s.range.has_high) shoal_decimal_print(s.range.high.mantissa, s.range.high.scale, high);
  (void)snprintf(out, sizeof out, "%s%c%s,%s%c", s.form == SHOAL_FORM_NUMBER ? "number " : "",
                 s.range.low_open ? '(' : '[', low, high, s.range.high_open ? ')' : ']');
  return out;
}

static void spellings_are_read(void **state UNUSED) {
  static const char *const cases[][2] = {
      {"*", "all"},
      {"**", "all"},
      {"****", "all"},
      {"40", "number [40,40]"},
      {"-1.5", "number [-1.5,-1.5]"},
      {"[20-30]", "[20,30]"},
      {"[20-29]", "[20,29]"},
      {"20-30", "[20,30]"},
      {"20 - 30", "[20,30]"},
      {"34\xe2\x80\x93"
       "40",
       "[34,40]"},
      {"[34\xe2\x80\x93"
       "40]",
       "[34,40]"},
      {"20..30", "[20,30]"},
      {"[-5-10]", "[-5,10]"},
      {"-5-10", "[-5,10]"},
      {"[-10--5]", "[-10,-5]"},
      {"[-10 to -5]", "[-10,-5]"},
      {"[-0.5 to 2)", "[-0.5,2)"},
      {"-5 to 2", "[-5,2]"},
      {"[1200\xc2\xb1"
       "50]",
       "[1150,1250)"},
      {"[-5\xc2\xb1"
       "2.5]",
       "[-7.5,-2.5)"},
      {"[1.5-2.5]", "[1.5,2.5]"},
      {"[20, 30[", "[20,30)"},
      {"[20,30)", "[20,30)"},
      {"]20;30]", "(20,30]"},
      {"(20-30)", "(20,30)"},
      {">=40", "[40,]"},
      {">= 40", "[40,]"},
      {"=>40", "[40,]"},
      {"\xe2\x89\xa5 40", "[40,]"},
      {"=< 40", "[,40]"},
      {"<=40", "[,40]"},
      {"<40", "[,40)"},
      {">40", "(40,]"},
      {"> -40", "(-40,]"},
      {"40+", "[40,]"},
      {"4310*", "prefix 4"},
      {"4310**", "prefix 4"},
      {" 4310*", "prefix 5"},
      {"1e-5-2", "[0.00001,2]"},
      /* what is none of these */
      {"", "word"},
      {"America", "word"},
      {"30-20", "word"},
      {"[20-30", "word"},
      {"20-30]", "word"},
      {"[20,20)", "word"},
      {"1,5", "word"},
      {"1-2-3", "word"},
      {">=", "word"},
      {"+", "word"},
      {"43*10*", "word"},
      {"*4310", "word"},
      {"1999-05", "word"},
      {"[-]", "word"},
      {"[5\xc2\xb1"
       "0]",
       "word"},
      {"[5\xc2\xb1"
       "2)",
       "word"},
      {"5\xc2\xb1"
       "2",
       "word"},
      {"[5\xc2\xb1]", "word"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    if (strcmp(spelled(cases[i][0]), cases[i][1]) != 0)
      fail_msg("'%s' read as %s, not %s", cases[i][0], spelled(cases[i][0]), cases[i][1]);
}

/* Whatever the bytes, and none behind them is read. */
static void any_bytes_are_read(void **state UNUSED) {
  static const char alphabet[] = "0123456789-.,;[]()<>=+* e\xe2\x80\x93\x89\xa5";
  shoal_random random;
  shoal_random_seed(&random, 7);
  for (int i = 0; i < 20000; i++) {
    size_t size = (size_t)shoal_random_below(&random, 12);
    char *bytes = malloc(size ? size : 1); /* the sanitizer sees a byte too many */
    for (size_t b = 0; b < size; b++)
      bytes[b] = alphabet[shoal_random_below(&random, sizeof alphabet - 1)];
    shoal_spelling s = shoal_label_parse(bytes, size);
    if (s.form == SHOAL_FORM_PREFIX) assert_true(s.prefix_bytes > 0 && s.prefix_bytes < size);
    if (s.form == SHOAL_FORM_INTERVAL) assert_true(s.range.has_low || s.range.has_high);
    if (s.form == SHOAL_FORM_INTERVAL) assert_true(shoal_range_overlaps(&s.range, &s.range));
    free(bytes);
  }
}

/* ---------------------------------------------------------------- domains */

enum { MAX_COLUMNS = 3 };

typedef struct fixture {
  shoal_policy *policy;
  shoal_table *tables[2 * MAX_COLUMNS];
  size_t n_tables;
  shoal_source_column released[MAX_COLUMNS], raw[MAX_COLUMNS];
  shoal_domain_request request;
  shoal_domain domain;
  shoal_error error;
} fixture;

static const shoal_source_column *add_column(fixture *f, shoal_source_column *to,
                                             const char *const *cells) {
  const char *names[] = {"x"};
  shoal_text bytes;
  uint64_t offsets[64] = {0};
  size_t n = 0;
  shoal_text_init(&bytes);
  shoal_text_add(&bytes, "");
  for (; cells[n]; n++) {
    shoal_text_add(&bytes, cells[n]);
    offsets[n + 1] = bytes.size_bytes;
  }
  shoal_table *table;
  assert_int_equal(shoal_table_new(names, 1, &table, &f->error), SHOAL_OK);
  shoal_text_view view = {bytes.bytes, offsets};
  assert_int_equal(shoal_table_append(table, &view, 1, n, NULL, &f->error), SHOAL_OK);
  shoal_load_options options = {.missing = f->policy->missing, .n_missing = f->policy->n_missing};
  assert_int_equal(shoal_table_finalize(table, &options, &f->error), SHOAL_OK);
  shoal_text_reset(&bytes);
  f->tables[f->n_tables++] = table;
  *to = (shoal_source_column){table, &table->columns[0]};
  return to;
}

static void start(fixture *f, const char *attribute) {
  memset(f, 0, sizeof *f);
  char yaml[512];
  (void)snprintf(yaml, sizeof yaml, "shoal: 1\ndata: {missing: ['?']}\nattributes:\n  x: %s\n",
                 attribute);
  if (shoal_policy_parse(yaml, strlen(yaml), "test", ".", &f->policy, &f->error) != SHOAL_OK)
    fail_msg("%s", f->error.message);
  f->request = (shoal_domain_request){.policy = f->policy,
                                      .attribute = &f->policy->attributes[0],
                                      .released = f->released,
                                      .raw = f->raw};
}

#define CELLS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void release(fixture *f, const char *const *cells) {
  (void)add_column(f, &f->released[f->request.n_released], cells);
  f->request.n_released++;
}

static void original(fixture *f, const char *const *cells) {
  (void)add_column(f, &f->raw[f->request.n_raw], cells);
  f->request.n_raw++;
  f->request.complete = true;
}

static void make(fixture *f) {
  if (shoal_domain_init(&f->domain, &f->request, &f->error) != SHOAL_OK)
    fail_msg("%s", f->error.message);
}

static void stop(fixture *f) {
  shoal_domain_reset(&f->domain);
  for (size_t i = 0; i < f->n_tables; i++) shoal_table_free(f->tables[i]);
  shoal_policy_free(f->policy);
}

static const shoal_label_span *span(const fixture *f, size_t released, uint32_t code) {
  return shoal_domain_span(&f->domain, released, code);
}

/* The raw values (by code, as letters a, b, ...) that a label can stand for. */
static const char *held(const fixture *f, uint32_t code) {
  static char out[64];
  size_t n = 0;
  for (uint32_t v = 0; v < f->raw[0].column->n_values; v++)
    if (shoal_domain_holds(&f->domain, span(f, 0, code), shoal_domain_position(&f->domain, 0, v)))
      out[n++] = (char)('a' + v);
  out[n] = '\0';
  return out;
}

/* "Other" is a value and a label above others: the level of the column tells which is meant. */
static void a_word_of_two_meanings(void **state UNUSED) {
  static const char *const tree =
      "{role: quasi, hierarchy: {tree: {Other: [black, asian], Rest: [Other, white]}}}";
  fixture f;
  start(&f, tree);
  original(&f, CELLS("black", "asian", "Other", "white"));
  release(&f, CELLS("Other", "white"));
  make(&f);
  assert_int_equal(f.domain.released[0].level, 0);
  assert_string_equal(held(&f, 0), "c");
  stop(&f);
  start(&f, tree);
  original(&f, CELLS("black", "asian", "Other", "white"));
  release(&f, CELLS("Other", "Rest"));
  make(&f);
  assert_int_equal(f.domain.released[0].level, 1);
  assert_string_equal(held(&f, 0), "ab");
  stop(&f);
}

/* An interval that is no label of the tree, across one whose order is not that of numbers. */
static void intervals_across_a_tree(void **state UNUSED) {
  fixture f;
  start(&f, "{role: quasi, type: number, hierarchy: {tree: {odd: ['1', '3', '5'], even: ['2', "
            "'4']}}}");
  original(&f, CELLS("1", "2", "3", "4", "5"));
  release(&f, CELLS("[2-3]", "odd", "[1-3]", "[4-5]"));
  make(&f);
  assert_int_equal(f.domain.released[0].level, SHOAL_NONE);
  assert_false(f.domain.ascending);
  assert_string_equal(held(&f, 0), "bc");
  assert_string_equal(held(&f, 1), "ace");
  assert_string_equal(held(&f, 2), "abc");
  assert_int_equal(span(&f, 0, 2)->n_positions, 3);
  assert_float_equal(span(&f, 0, 2)->height_loss, 0.5, 0);
  stop(&f);
}

static void releases_alone(void **state UNUSED) {
  static const struct {
    const char *attribute, *a, *b;
    bool overlap;
  } cases[] = {
      {"{role: quasi, type: number}", "[20-30]", "[25-35]", true},
      {"{role: quasi, type: number}", "[20-30)", "[30-35]", false},
      {"{role: quasi, type: number}", "<40", ">=40", false},
      {"{role: quasi, type: number}", "(1,2)", "(1.5,3)", true},
      {"{role: quasi, type: number, hierarchy: {intervals: [5, 10]}}", "[20-24]", "[20-29]", true},
      {"{role: quasi, type: number, hierarchy: {cuts: [[18, 65], [18]]}}", "<18", ">=18", false},
      {"{role: quasi, type: number, hierarchy: {cuts: [[18, 65], [18]]}}", "[18-64]", ">=18", true},
      {"{role: quasi, hierarchy: {mask: right}}", "4310*", "431**", true},
      {"{role: quasi, hierarchy: {mask: right}}", "4310*", "432**", false},
      {"{role: quasi, hierarchy: {mask: left}}", "**310", "*4310", true},
      {"{role: quasi, hierarchy: {date: [month, year, decade]}}", "1999-05", "1999", true},
      {"{role: quasi, hierarchy: {date: [month, year, decade]}}", "1999-05", "[1990-1999]", true},
      {"{role: quasi, hierarchy: {date: [month, year, decade]}}", "1999-05-04", "1999-06", false},
      {"{role: quasi, type: date}", "[1999-05-04 to 1999-07-01]", "[1999-07-01 to 2000-01-01]",
       true},
      {"{role: quasi, type: date}", "[1999-05-04 to 1999-06-30]", "1999-07-01", false},
      {"{role: quasi, type: date, hierarchy: {date: [month, year]}}", "[1999-05-04 to 2000-06-30]",
       "1999", true},
      {"{role: quasi, hierarchy: {top: true}}", "a", "b", false},
      {"{role: quasi, hierarchy: {top: true}}", "a", "*", true},
      {"{role: quasi}", "a", "a", true},
      {"{role: quasi, hierarchy: {tree: {X: [a, b], Y: [c]}}}", "X", "b", true},
      {"{role: quasi, hierarchy: {tree: {X: [a, b], Y: [c]}}}", "X", "Y", false},
      {"{role: quasi}", "?", "a", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fixture f;
    start(&f, cases[i].attribute);
    release(&f, CELLS(cases[i].a));
    release(&f, CELLS(cases[i].b));
    make(&f);
    bool overlap = shoal_domain_overlap(&f.domain, span(&f, 0, 0), span(&f, 1, 0));
    if (overlap != cases[i].overlap) fail_msg("%s and %s", cases[i].a, cases[i].b);
    stop(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spellings_are_read),     cmocka_unit_test(any_bytes_are_read),
      cmocka_unit_test(a_word_of_two_meanings), cmocka_unit_test(intervals_across_a_tree),
      cmocka_unit_test(releases_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
