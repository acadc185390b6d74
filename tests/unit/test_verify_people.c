/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the verifier alone: people and households who have several rows. Each release that
 * must be rejected would hold if rows were counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "verify/verify.h"
#include "verify_request.h"

#define UNUSED __attribute__((unused))

/* ---------------------------------------------------------------- a claim */

static const char *const columns[] = {"age", "illness"};
static const char *const missing[] = {"?"};
/* Pairs of a value and a person in the original table. */
static const shoal_verify_value values[] = {{.value = "u", .n_original = 4, .category = -1},
                                            {.value = "v", .n_original = 4, .category = -1}};

static shoal_verify_knowledge known;
static shoal_verify_parameter parameters[2];
static shoal_verify_model model;
static shoal_verify_request request;
static shoal_verify_finding finding;
static shoal_error error;
static const char *people; /* the content of the file; NULL: that of the classes */

static int start_request(void **state UNUSED) {
  known = (shoal_verify_knowledge){.values = values, .n_values = 2};
  request = request_on(columns, 2, &model);
  request.attributes = &known;
  request.missing = missing;
  request.n_missing = 1;
  request.n_person = 1;
  request.by_person = true;
  request.people_fd = -1;
  people = NULL;
  return 0;
}

static int file_of(const char *content) {
  int fd = memfd_create("test", 0);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
  return fd;
}

/* Classes such as "1:u 1:v | 2:u": the cells of the people's file, then the value. */
static shoal_status prove(const char *name, const char *with, const char *classes) {
  char *text = strdup(with), *words = strdup(classes), *parts = text;
  assert_true(text && words);
  model = (shoal_verify_model){.name = name, .parameters = parameters};
  for (char *word; (word = strsep(&parts, " "));) {
    parameters[model.n_parameters].name = strsep(&word, "=");
    parameters[model.n_parameters++].value = word;
  }
  shoal_text release = {0}, keys = {0};
  shoal_text_add(&release, "age,illness\n");
  shoal_text_add(&keys, "key\n");
  if (request.n_person + request.n_household == 2) {
    shoal_text_cut(&keys, 0);
    shoal_text_add(&keys, "key,key\n");
  }
  request.n_rows = 0;
  unsigned class_id = 0;
  for (char *rest = words, *word; (word = strsep(&rest, " "));) {
    class_id += !strcmp(word, "|");
    if (!strcmp(word, "|")) continue;
    shoal_text_print(&keys, "%s\n", strsep(&word, ":"));
    shoal_text_print(&release, "%u,%s\n", class_id, word);
    request.n_rows++;
  }
  int fd = file_of(release.bytes);
  request.people_fd = file_of(people ? people : keys.bytes);
  error = (shoal_error){0};
  shoal_status status = shoal_verify(fd, &request, NULL, &finding, &error);
  assert_int_equal(close(fd), 0);
  assert_int_equal(close(request.people_fd), 0);
  shoal_text_reset(&release);
  shoal_text_reset(&keys);
  free(text);
  free(words);
  return status;
}

static void holds(const char *name, const char *with, const char *classes) {
  shoal_status status = prove(name, with, classes);
  if (status != SHOAL_OK) fail_msg("%s (%s) on %s: %s", name, with, classes, error.message);
}

static void fails(const char *name, const char *with, const char *classes, const char *part) {
  assert_int_equal(prove(name, with, classes), SHOAL_FAILED);
  if (!strstr(error.message, part)) fail_msg("no '%s' in: %s", part, error.message);
}

static void violates(const char *name, const char *with, const char *classes) {
  fails(name, with, classes, "the release violates ");
}

/* ---------------------------------------------------------------- numbers of people */

static void k_counts_people(void **state UNUSED) {
  static const char classes[] = "1:u 1:v 2:u | 3:u 4:v 5:u 1:u";
  holds("k-anonymity", "k=2", classes);
  assert_int_equal(finding.fewest_people, 2);
  assert_int_equal(finding.smallest_class, 3);
  violates("k-anonymity", "k=3", classes);
  request.n_person = 0; /* rows */
  holds("k-anonymity", "k=3", classes);
}

/* Their cells together, not a text made of them. */
static void several_cells_are_one_key(void **state UNUSED) {
  request.n_person = 2;
  holds("k-anonymity", "k=2", "1,12:u 11,2:v");
  holds("k-anonymity", "k=2", "1,1:u 1,2:v");
  violates("k-anonymity", "k=2", "1,2:u 1,2:v");
}

static void households_are_counted(void **state UNUSED) {
  request.n_household = 1;
  holds("households", "households=2", "1,A:u 2,B:v 3,A:u");
  violates("households", "households=2", "1,A:u 2,B:v | 3,A:u 4,A:v 5,A:u");
  violates("k-anonymity", "k=2", "1,A:u 1,B:v"); /* not people */
}

/* Rows are counted only if their keys are seen to differ. */
static void one_row_each_is_checked(void **state UNUSED) {
  static const uint64_t ascending[] = {3, 5, UINT64_MAX}, equal[] = {3, 5, 5}, mixed[] = {5, 3, 7};
  static const char said[] = "several rows may be of one person";
  request.n_person = 0;
  request.by_person = false;
  request.asks_people = true;
  fails("k-anonymity", "k=2", "1:u 2:v", said);
  request.person_hashes = ascending;
  request.n_hashes = 3;
  holds("k-anonymity", "k=2", "1:u 2:v");
  holds("k-anonymity", "k=3", "1:u 2:v 3:u");
  fails("k-anonymity", "k=2", "1:u 2:v 3:u 4:v", said); /* more rows than keys */
  request.person_hashes = equal;
  fails("k-anonymity", "k=2", "1:u 2:v 3:u", said);
  request.person_hashes = mixed;
  fails("k-anonymity", "k=2", "1:u 2:v 3:u", said);
  request.n_person = 1;
  holds("k-anonymity", "k=2", "1:u 2:v 3:u");
  request.asks_households = true;
  fails("k-anonymity", "k=2", "1:u 2:v 3:u", "several rows may be of one household");
}

static void p_counts_values_of_anybody(void **state UNUSED) {
  holds("p-sensitive", "p=2", "1:u 1:v");
  violates("p-sensitive", "p=2", "1:u 2:u");
}

/* ---------------------------------------------------------------- proportions */

static void alpha_is_a_share_of_people(void **state UNUSED) {
  violates("alpha-k", "alpha=0.9", "1:u 1:v 2:u 3:u"); /* all three have u */
  holds("alpha-k", "alpha=0.5", "1:u 1:u 1:u 2:v");
  violates("alpha-k", "alpha=0.49", "1:u 1:u 1:u 2:v");
  holds("alpha-k", "alpha=0.5", "1:u 2:?"); /* a person without a value is one */
}

static void entropy_is_of_pairs(void **state UNUSED) {
  holds("l-diversity", "l=2 kind=entropy", "1:u 1:u 2:v");
  violates("l-diversity", "l=2 kind=entropy", "1:u 2:u 3:u 1:v 1:v 1:v");
}

/* 767 people with a value each nearly fill the table of pairs: not one may be left out. */
static void no_pair_is_left_out(void **state UNUSED) {
  shoal_text classes = {0};
  for (unsigned i = 0; i < 767; i++) shoal_text_print(&classes, "%s%u:w%u", i ? " " : "", i, i);
  assert_false(classes.failed);
  holds("l-diversity", "l=767 kind=entropy", classes.bytes);
  violates("l-diversity", "l=767.01 kind=entropy", classes.bytes);
  shoal_text_reset(&classes);
}

static void closeness_is_of_pairs(void **state UNUSED) {
  holds("t-closeness", "t=0 distance=equal", "1:u 1:u 1:u 2:v");
  violates("t-closeness", "t=0.1 distance=equal", "1:u 2:u 1:v 1:v");
  holds("t-closeness", "t=0.17 distance=equal", "1:u 2:u 1:v 1:v"); /* 2/3 - 1/2 */
}

static void people_must_be_counted_by_value(void **state UNUSED) {
  request.by_person = false;
  fails("alpha-k", "alpha=1", "1:u 2:v", "people were not counted");
  holds("k-anonymity", "k=2", "1:u 2:v");
}

/* ---------------------------------------------------------------- over some quasi-identifiers */

static const char *const two[] = {"age", "zip", "illness"};
static const char *const age[] = {"age"};
static const shoal_verify_set sets[] = {{age, 1}};

/* Classes (age 1, zip 1), (age 1, zip 2) and (age 2, zip 1), and who their rows are about. */
static shoal_status prove_over(const char *name, const char *parameter, const char *value,
                               const char *keys) {
  static const size_t first = 0;
  parameters[0] = (shoal_verify_parameter){parameter, value};
  model = (shoal_verify_model){
      .name = name, .parameters = parameters, .n_parameters = 1, .over = &first, .n_over = 1};
  request.columns = two;
  request.n_columns = 3;
  request.quasi = two;
  request.n_quasi = 2;
  request.over = sets;
  request.n_over = 1;
  request.n_rows = 6;
  int fd = file_of("age,zip,illness\n1,1,u\n1,1,v\n1,2,u\n1,2,u\n2,1,u\n2,1,v\n");
  request.people_fd = file_of(keys);
  error = (shoal_error){0};
  shoal_status status = shoal_verify(fd, &request, NULL, &finding, &error);
  assert_int_equal(close(fd), 0);
  assert_int_equal(close(request.people_fd), 0);
  return status;
}

/* Whoever is in two classes that become one counts once. */
static void people_are_counted_over_a_set(void **state UNUSED) {
  assert_int_equal(prove_over("k-anonymity", "k", "3", "key\n1\n2\n1\n3\n4\n5\n"), SHOAL_FAILED);
  assert_int_equal(prove_over("k-anonymity", "k", "2", "key\n1\n1\n1\n3\n4\n5\n"), SHOAL_OK);
  assert_int_equal(prove_over("k-anonymity", "k", "2", "key\n1\n1\n1\n1\n4\n5\n"), SHOAL_FAILED);
  assert_non_null(strstr(error.message, "over 'age'"));
}

static void households_are_counted_over_a_set(void **state UNUSED) {
  request.n_person = 0;
  request.n_household = 1;
  assert_int_equal(prove_over("households", "households", "2", "key\nA\nA\nB\nB\nA\nB\n"),
                   SHOAL_OK);
  assert_int_equal(prove_over("households", "households", "2", "key\nA\nA\nA\nA\nA\nB\n"),
                   SHOAL_FAILED);
}

/* Of age 1, people 1 and 2 have u, twice; 2 has v. */
static void shares_of_people_are_counted_over_a_set(void **state UNUSED) {
  static const char keys[] = "key\n1\n2\n1\n2\n4\n5\n", others[] = "key\n1\n2\n1\n1\n4\n5\n";
  assert_int_equal(prove_over("alpha-k", "alpha", "0.9", keys), SHOAL_FAILED);
  assert_int_equal(prove_over("alpha-k", "alpha", "0.5", others), SHOAL_OK);
  assert_int_equal(prove_over("alpha-k", "alpha", "0.49", others), SHOAL_FAILED);
  assert_int_equal(prove_over("l-diversity", "l", "2", others), SHOAL_OK);
  request.by_person = false;
  assert_int_equal(prove_over("alpha-k", "alpha", "1", others), SHOAL_FAILED);
}

/* ---------------------------------------------------------------- the file */

static void the_people_must_be_those_of_the_release(void **state UNUSED) {
  people = "key\n1\n2\n3\n";
  holds("k-anonymity", "k=3", "1:u 2:v 3:u");
  people = "key\n1\n2\n";
  fails("k-anonymity", "k=2", "1:u 2:v 3:u", "fewer rows than the release");
  people = "key\n1\n2\n3\n4\n";
  fails("k-anonymity", "k=2", "1:u 2:v 3:u", "more rows than the release");
  people = "key\n";
  fails("k-anonymity", "k=2", "1:u 2:v 3:u", "fewer rows than the release");
  people = "";
  fails("k-anonymity", "k=2", "1:u 2:v 3:u", "is empty");
}

#define TEST(name) cmocka_unit_test_setup(name, start_request)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(k_counts_people),
      TEST(several_cells_are_one_key),
      TEST(households_are_counted),
      TEST(one_row_each_is_checked),
      TEST(p_counts_values_of_anybody),
      TEST(alpha_is_a_share_of_people),
      TEST(entropy_is_of_pairs),
      TEST(no_pair_is_left_out),
      TEST(closeness_is_of_pairs),
      TEST(people_must_be_counted_by_value),
      TEST(people_are_counted_over_a_set),
      TEST(households_are_counted_over_a_set),
      TEST(shares_of_people_are_counted_over_a_set),
      TEST(the_people_must_be_those_of_the_release),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
