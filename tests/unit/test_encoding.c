/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of src/read/encoding and src/table/number_style: bytes in pieces of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "read/encoding.h"
#include "table/number_style.h"

#define UNUSED __attribute__((unused))

static shoal_error error;

/* Bytes that come in pieces of `step`. */
typedef struct pieces {
  const char *bytes;
  size_t size, at, step;
} pieces;

static shoal_status give(void *user, char *bytes, size_t capacity, size_t *got,
                         shoal_error *unused UNUSED) {
  pieces *p = user;
  size_t left = p->size - p->at;
  *got = left < p->step ? left : p->step;
  if (*got > capacity) *got = capacity;
  memcpy(bytes, p->bytes + p->at, *got);
  p->at += *got;
  return SHOAL_OK;
}

static shoal_status decode(const char *encoding, bool or_utf8, pieces p, size_t room, char *out,
                           size_t *size, const char **detected) {
  shoal_decoder *decoder = shoal_decoder_new(encoding, or_utf8, "data.csv");
  assert_non_null(decoder);
  shoal_status status = SHOAL_OK;
  size_t got = 1;
  *size = 0;
  while (status == SHOAL_OK && got) {
    status = shoal_decoder_read(decoder, give, &p, out + *size, room, &got, &error);
    *size += got;
  }
  *detected = shoal_decoder_detected(decoder);
  shoal_decoder_free(decoder);
  return status;
}

static void becomes(const char *encoding, bool or_utf8, const char *bytes, size_t size,
                    const char *expected, const char *name) {
  for (size_t step = 1; step < 9; step++)
    for (size_t room = 1; room < 24; room += 3) {
      char out[200];
      size_t n;
      const char *detected;
      pieces p = {bytes, size, 0, step};
      assert_int_equal(decode(encoding, or_utf8, p, room, out, &n, &detected), SHOAL_OK);
      assert_int_equal(n, strlen(expected));
      assert_memory_equal(out, expected, n);
      if (name) assert_string_equal(detected, name);
      else assert_null(detected);
    }
}

static void encodings_are_detected(void **state UNUSED) {
  becomes(NULL, false, "", 0, "", NULL);
  becomes(NULL, false, "a", 1, "a", NULL);
  becomes(NULL, false, "plain,text\n", 11, "plain,text\n", NULL);
  becomes(NULL, false, "K\u00f6ln \u20ac", 9, "K\u00f6ln \u20ac", NULL);
  becomes(NULL, false, "K\u00f6ln \xff", 7, "K\u00f6ln \xff", NULL); /* the first one decides */
  becomes(NULL, false, "K\xf6ln \x80", 6, "K\u00f6ln \u20ac", "Windows-1252");
  becomes(NULL, false, "caf\xe9", 4, "caf\u00e9", "Windows-1252"); /* at the end */
  becomes(NULL, false, "\x81\x8d\x8f\x90\x9d", 5, "\xc2\x81\xc2\x8d\xc2\x8f\xc2\x90\xc2\x9d",
          "Windows-1252");
  becomes(NULL, false,
          "\xff\xfe"
          "a\0\xf6\0",
          6, "a\u00f6", "UTF-16");
  becomes(NULL, false, "\xfe\xff\0a\0\xf6", 6, "a\u00f6", "UTF-16");
  becomes(NULL, false, "a\0,\0b\0\xac\x20", 8, "a,b\u20ac", "UTF-16LE");
  becomes(NULL, false, "\0a\0,\0b\x20\xac", 8, "a,b\u20ac", "UTF-16BE");
}

static void a_given_encoding_is_used(void **state UNUSED) {
  becomes("latin1", false, "K\xc3\xb6", 3, "K\u00c3\u00b6", NULL);
  becomes("latin1", true, "K\xc3\xb6", 3, "K\u00f6", NULL); /* it may be UTF-8 */
  becomes("iso-8859-5", true, "K\xf6", 2, "K\u0456", NULL);
  becomes("utf-16le", false, "a\0", 2, "a", NULL);
  becomes("utf-8", false, "K\xf6", 2, "K\xf6", NULL);
  assert_true(shoal_encoding_exists("windows-1252"));
  assert_false(shoal_encoding_exists("klingon"));
}

static void bytes_that_an_encoding_lacks_are_refused(void **state UNUSED) {
  char out[20];
  size_t n;
  const char *detected;
  pieces ascii = {"a\xff", 2, 0, 1}, half = {"a\0b", 3, 0, 3};
  assert_int_equal(decode("ascii", false, ascii, 8, out, &n, &detected), SHOAL_BAD_INPUT);
  assert_int_equal(decode("utf-16le", false, half, 8, out, &n, &detected), SHOAL_BAD_INPUT);
}

static void numbers_have_styles(void **state UNUSED) {
  static const struct {
    shoal_number_style style;
    const char *cell, *number; /* NULL: it is none */
  } cases[] = {
      {{',', NULL}, "3,5", "3.5"},        {{',', NULL}, "3.5", NULL},
      {{',', NULL}, "-3,50", "-3.50"},    {{',', NULL}, ",5", "0.5"},
      {{',', NULL}, "5,", "5"},           {{',', NULL}, ",", NULL},
      {{',', NULL}, "1,2,3", NULL},       {{',', NULL}, "1,5e3", "1.5e3"},
      {{',', NULL}, "1,5e", NULL},        {{',', NULL}, "", NULL},
      {{',', NULL}, "+7", "7"},           {{',', NULL}, "7 ", NULL},
      {{',', "."}, "1.234,5", "1234.5"},  {{',', "."}, "1.234.567", "1234567"},
      {{',', "."}, "1234.567", NULL},     {{',', "."}, "1.23", NULL},
      {{',', "."}, ".123", NULL},         {{',', "."}, "1.2345", NULL},
      {{'.', ","}, "1,234.5", "1234.5"},  {{'.', ","}, "1,23", NULL},
      {{'.', " "}, "1 234", "1234"},      {{'.', " "}, "1\u00a0234", "1234"},
      {{'.', " "}, "1\u202f234", "1234"}, {{'.', "'"}, "1'234'567.8", "1234567.8"},
      {{'.', NULL}, "1,5", NULL},         {{'.', NULL}, "0x1p3", NULL},
  };
  shoal_text out;
  shoal_text_init(&out);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *cell = cases[i].cell;
    bool is = shoal_number_restyle(cases[i].style, cell, strlen(cell), &out);
    if (is != (cases[i].number != NULL)) fail_msg("'%s' of case %zu", cell, i);
    if (is) assert_string_equal(out.bytes, cases[i].number);
  }
  shoal_text_reset(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(encodings_are_detected),
      cmocka_unit_test(a_given_encoding_is_used),
      cmocka_unit_test(bytes_that_an_encoding_lacks_are_refused),
      cmocka_unit_test(numbers_have_styles),
  };
  return cmocka_run_group_tests_name("encoding", tests, NULL, NULL);
}
