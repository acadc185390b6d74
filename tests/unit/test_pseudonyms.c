/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of pseudonyms: HMAC-SHA-256 and base32 against the standards' examples, collisions,
 * and what the verifier proves about a column of pseudonyms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hmac.h"
#include "job/pseudonyms.h"
#include "verify/verify.h"

#define UNUSED __attribute__((unused))

/* ---------------------------------------------------------------- HMAC and base32 */

static void assert_hmac(const void *key, size_t key_bytes, const char *message, size_t size,
                        const char *expected) {
  for (size_t step = 1; step <= size; step++) {
    unsigned char digest[SHOAL_SHA256_BYTES];
    char text[2 * SHOAL_SHA256_BYTES + 1];
    shoal_hmac keyed, hmac, zero;
    memset(&zero, 0, sizeof zero);
    shoal_hmac_init(&keyed, key, key_bytes);
    hmac = keyed;
    for (size_t at = 0; at < size; at += step)
      shoal_hmac_add(&hmac, message + at, size - at < step ? size - at : step);
    shoal_hmac_finish(&hmac, digest);
    for (size_t i = 0; i < sizeof digest; i++)
      (void)snprintf(text + 2 * i, 3, "%02x", (unsigned)digest[i]);
    assert_memory_equal(expected, text, strlen(expected));
    assert_memory_equal(&zero, &hmac, sizeof hmac); /* wiped */
  }
}

/* RFC 4231, section 4: test cases 1 to 7. The fifth is truncated there. */
static void hmac_is_that_of_rfc_4231(void **state UNUSED) {
  unsigned char key[131], message[50];
  memset(key, 0x0b, 20);
  assert_hmac(key, 20, "Hi There", 8,
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  assert_hmac("Jefe", 4, "what do ya want for nothing?", 28,
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  memset(key, 0xaa, sizeof key);
  memset(message, 0xdd, sizeof message);
  assert_hmac(key, 20, (const char *)message, sizeof message,
              "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  for (size_t i = 0; i < 25; i++) key[i] = (unsigned char)(i + 1);
  memset(message, 0xcd, sizeof message);
  assert_hmac(key, 25, (const char *)message, sizeof message,
              "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  memset(key, 0x0c, 20);
  assert_hmac(key, 20, "Test With Truncation", 20, "a3b6167473100ee06e0c796c2955552b");
  memset(key, 0xaa, sizeof key);
  assert_hmac(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  static const char longer[] = "This is a test using a larger than block-size key and a larger "
                               "than block-size data. The key needs to be hashed before being "
                               "used by the HMAC algorithm.";
  assert_hmac(key, sizeof key, longer, sizeof longer - 1,
              "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

/* RFC 4648, section 10, without padding. */
static void base32_is_that_of_rfc_4648(void **state UNUSED) {
  static const char *const expected[] = {"",        "MY",       "MZXQ",      "MZXW6",
                                         "MZXW6YQ", "MZXW6YTB", "MZXW6YTBOI"};
  for (size_t size = 0; size <= 6; size++) {
    size_t n = strlen(expected[size]);
    char out[16] = "";
    shoal_base32((const unsigned char *)"foobar", size, out, n);
    assert_string_equal(expected[size], out);
  }
}

static void the_form_of_a_pseudonym(void **state UNUSED) {
  assert_true(shoal_is_pseudonym("ABCDEFGHIJKLMNOPQRST", 20));
  assert_true(shoal_is_pseudonym("UVWXYZ234567AAAAAAAA", 20));
  static const char *const wrong[] = {"",
                                      "ABCDEFGHIJKLMNOPQRS",
                                      "ABCDEFGHIJKLMNOPQRSTU",
                                      "aBCDEFGHIJKLMNOPQRST",
                                      "1BCDEFGHIJKLMNOPQRST",
                                      "8BCDEFGHIJKLMNOPQRST",
                                      "ABCDEFGHIJ=LMNOPQRST"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_false(shoal_is_pseudonym(wrong[i], strlen(wrong[i])));
  assert_false(shoal_is_pseudonym("ABCDEFGHIJKLMNOPQRS", 20)); /* with its NUL */
}

/* ---------------------------------------------------------------- making them */

static shoal_column column_of(char *bytes, uint64_t *offsets, uint32_t n) {
  return (shoal_column){.name = "id", .n_values = n, .bytes = bytes, .offsets = offsets};
}

/* A dictionary with a value twice stands for a collision, which cannot be had otherwise. */
static void equal_pseudonyms_are_an_error(void **state UNUSED) {
  char bytes[] = "abca";
  uint64_t offsets[] = {0, 1, 2, 3, 4};
  shoal_policy policy = {.file = "policy.yaml"};
  shoal_attribute attribute = {.name = "id", .key = {.env = "SHOAL_TEST_KEY"}};
  assert_int_equal(0, setenv("SHOAL_TEST_KEY", "0123456789abcdef", 1));
  for (int given = 0; given < 2; given++) {
    shoal_error error = {0};
    shoal_strings made;
    shoal_column column = column_of(bytes, offsets, 4);
    attribute.key.context = given ? "c" : NULL;
    assert_int_equal(SHOAL_FAILED,
                     shoal_pseudonyms_make(&policy, &attribute, &column, &made, &error));
    assert_non_null(strstr(error.message, given ? "key.context" : "run again"));
    shoal_strings_reset(&made);
    column.n_values = 3;
    assert_int_equal(SHOAL_OK, shoal_pseudonyms_make(&policy, &attribute, &column, &made, &error));
    assert_int_equal(3, made.n_strings);
    shoal_strings_reset(&made);
  }
}

/* Open risks of a table of records with counts: two rows without identifier are two people. */
static size_t risks_of_counts(const char *ids, const uint64_t *id_offsets, const char *ages,
                              const uint64_t *counts) {
  static const char text[] = "{shoal: 1, attributes: {id: {role: pseudonym, key: {env: "
                             "SHOAL_TEST_KEY}}, age: {role: quasi, hierarchy: {top: true}}}, "
                             "privacy: {k: 2}, method: {algorithm: samarati}}";
  static const char *const names[] = {"id", "age"};
  static const uint64_t age_offsets[] = {0, 1, 2};
  const shoal_text_view columns[] = {{ids, id_offsets}, {ages, age_offsets}};
  shoal_error error = {0};
  shoal_policy *policy;
  shoal_table *table;
  shoal_release *release;
  assert_int_equal(0, setenv("SHOAL_TEST_KEY", "0123456789abcdef", 1));
  assert_int_equal(SHOAL_OK,
                   shoal_policy_parse(text, sizeof text - 1, "policy", NULL, &policy, &error));
  assert_int_equal(SHOAL_OK, shoal_table_new(names, 2, &table, &error));
  assert_int_equal(SHOAL_OK, shoal_table_append(table, columns, 2, 2, counts, &error));
  assert_int_equal(SHOAL_OK, shoal_table_finish(table, policy, SHOAL_FOR_RELEASE, &error));
  assert_int_equal(SHOAL_OK, shoal_anonymize(table, policy, NULL, &release, &error));
  size_t n = shoal_result_open_risks(shoal_release_result(release));
  shoal_release_free(release);
  shoal_table_free(table);
  shoal_policy_free(policy);
  return n;
}

static void records_with_counts(void **state UNUSED) {
  static const uint64_t same[] = {0, 0, 0}, other[] = {0, 0, 1}, people[] = {0, 1, 2};
  assert_int_equal(0, risks_of_counts("", same, "77", (const uint64_t[]){1, 1}));
  assert_int_equal(0, risks_of_counts("a", other, "77", (const uint64_t[]){1, 5}));
  assert_int_equal(0, risks_of_counts("ab", people, "77", (const uint64_t[]){3, 5}));
  assert_int_equal(1, risks_of_counts("aa", people, "77", (const uint64_t[]){3, 5}));
  assert_int_equal(0, risks_of_counts("", same, "78", (const uint64_t[]){2, 3}));
  assert_int_equal(1, risks_of_counts("ab", people, "78", (const uint64_t[]){2, 3}));
}

/* ---------------------------------------------------------------- the verifier */

#define ANNA "ANNAANNAANNAANNAANNA"
#define BEN "BENBENBENBENBENBENBE"
#define CARL "CARLCARLCARLCARLCARL"
#define DORA "DORADORADORADORADORA"

static uint8_t linked[2];

static shoal_status verify(const char *text, size_t n_pseudonyms, uint64_t n_rows) {
  static const char *const columns[] = {"age", "zip", "id", "doctor"};
  static const char *const missing[] = {"", "?"};
  static const shoal_verify_parameter k = {"k", "2"};
  static const shoal_verify_model model = {
      .name = "k-anonymity", .parameters = &k, .n_parameters = 1};
  shoal_verify_request request = {.delimiter = ',',
                                  .columns = columns,
                                  .n_columns = 2 + n_pseudonyms,
                                  .quasi = columns,
                                  .n_quasi = 2,
                                  .k = 2,
                                  .guards_fd = -1,
                                  .missing = missing,
                                  .n_missing = 2,
                                  .pseudonyms = columns + 2,
                                  .n_pseudonyms = n_pseudonyms,
                                  .pseudonym_links = linked,
                                  .models = &model,
                                  .n_models = 1,
                                  .n_rows = n_rows};
  shoal_verify_finding finding;
  shoal_error error = {0};
  int fd = memfd_create("release", 0);
  assert_int_equal((ssize_t)strlen(text), write(fd, text, strlen(text)));
  memset(linked, 7, sizeof linked);
  shoal_status status = shoal_verify(fd, &request, NULL, &finding, &error);
  if (status != SHOAL_OK) assert_null(strstr(error.message, "Anna")); /* no cell */
  (void)close(fd);
  return status;
}

static void links_are_found(void **state UNUSED) {
  static const struct {
    const char *text;
    uint64_t n_rows;
    uint8_t linked;
  } cases[] = {
      {"age,zip,id\n1,2," ANNA "\n1,2," BEN "\n", 2, 0},
      {"age,zip,id\n1,2," ANNA "\n1,2," BEN "\n1,2," ANNA "\n", 3, 0},
      {"age,zip,id\n1,2,\n1,2,?\n", 2, 0},
      {"age,zip,id\n1,2," ANNA "\n1,2," ANNA "\n", 2, 1}, /* one person */
      {"age,zip,id\n1,2," ANNA "\n1,2,\n1,2," ANNA "\n", 3, 0},
      {"age,zip,id\n1,2," ANNA "\n1,2," BEN "\n1,3," CARL "\n1,3," ANNA "\n", 4, 1},
      {"age,zip,id\n12,3," ANNA "\n12,3," BEN "\n1,23," CARL "\n1,23," ANNA "\n", 4, 1},
      {"age,zip,id\n1,2," ANNA "\n1,2," BEN "\n1,3," CARL "\n1,3," DORA "\n1,3," ANNA "\n", 5, 1},
      {"age,zip,id\n1,2," ANNA "\n1,2,?\n1,3,?\n1,3," BEN "\n", 4, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(SHOAL_OK, verify(cases[i].text, 1, cases[i].n_rows));
    assert_int_equal(cases[i].linked, linked[0]);
  }
}

static void each_column_is_judged_alone(void **state UNUSED) {
  assert_int_equal(SHOAL_OK, verify("age,zip,id,doctor\n1,2," ANNA "," CARL "\n1,2," BEN "," ANNA
                                    "\n1,3,," CARL "\n1,3,,\n",
                                    2, 4));
  assert_int_equal(0, linked[0]);
  assert_int_equal(1, linked[1]);
  assert_int_equal(SHOAL_OK, verify("age,zip,id,doctor\n1,2," ANNA "," CARL "\n1,2," BEN "," CARL
                                    "\n1,3,,\n1,3,,\n",
                                    2, 4));
  assert_int_equal(0, linked[0]);
  assert_int_equal(1, linked[1]); /* one doctor for a class of two patients */
}

static void what_is_no_pseudonym_is_refused(void **state UNUSED) {
  static const char *const cells[] = {
      "Anna", "annaannaannaannaanna", ANNA "A", "ANNAANNAANNAANNAANN", "ANNAANNAANNAANNAANN1",
      "??"};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
    char text[200];
    (void)snprintf(text, sizeof text, "age,zip,id\n1,2," BEN "\n1,2,%s\n", cells[i]);
    assert_int_equal(SHOAL_FAILED, verify(text, 1, 2));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hmac_is_that_of_rfc_4231),
      cmocka_unit_test(base32_is_that_of_rfc_4648),
      cmocka_unit_test(the_form_of_a_pseudonym),
      cmocka_unit_test(equal_pseudonyms_are_an_error),
      cmocka_unit_test(records_with_counts),
      cmocka_unit_test(links_are_found),
      cmocka_unit_test(each_column_is_judged_alone),
      cmocka_unit_test(what_is_no_pseudonym_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
