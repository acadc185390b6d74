/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts on counts that no file of a test can have: where a product of counts does not fit into
 * 128 bits, or a tie cannot be told, nothing is proven. The models see made-up counts of one class;
 * entropy is asked directly, also without memory. And two small things that only direct calls
 * reach: bytes whose hashes collide, and cells that are too large.
 */
#include "lowmem_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "verify/exact.h"
#include "verify/models.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

/* ---------------------------------------------------------------- one class of made-up counts */

enum { MAX_VALUES = 64, MANY_LABELS = 1000 };

static shoal_error error;
static shoal_verify_count counts[MAX_VALUES], guards[1] = {{1, 0}};
static size_t starts[2], guard_starts[2] = {0, 1};
static uint64_t class_rows[1];
static shoal_verify_value values[MAX_VALUES];
static shoal_verify_knowledge known;
static shoal_verify_attribute attribute;
static shoal_verify_tally tally;
static shoal_verify_parameter parameters[8];
static shoal_verify_model model;
static shoal_verify_request request;

static void count(const uint64_t *rows, size_t n_values) {
  class_rows[0] = 0;
  for (size_t v = 0; v < n_values; v++) {
    counts[v] = (shoal_verify_count){rows[v], (uint32_t)v};
    class_rows[0] += rows[v];
    values[v] = (shoal_verify_value){.value = "1", .n_original = rows[v]};
  }
  starts[1] = n_values;
  known = (shoal_verify_knowledge){.values = values, .n_values = n_values, .n_categories = 2};
  attribute = (shoal_verify_attribute){.name = "ill",
                                       .known = &known,
                                       .starts = starts,
                                       .counts = counts,
                                       .n_values = (uint32_t)n_values};
  tally = (shoal_verify_tally){.n_rows = class_rows[0],
                               .n_classes = 1,
                               .class_rows = class_rows,
                               .attributes = &attribute,
                               .n_attributes = 1};
}

static void ask(const char *name, const char *first, const char *value, const char *second,
                const char *other) {
  parameters[0] = (shoal_verify_parameter){first, value};
  parameters[1] = (shoal_verify_parameter){second, other};
  model = (shoal_verify_model){.name = name, .parameters = parameters, .n_parameters = 1};
  if (second) model.n_parameters = 2;
  request = (shoal_verify_request){.models = &model, .n_models = 1, .k = 2, .guards_fd = -1};
}

static shoal_status prove(void) {
  error = (shoal_error){0};
  return shoal_verify_models(&request, &tally, SHOAL_VERIFY_WHOLE, &error);
}

static void is_too_large(void) {
  assert_int_equal(prove(), SHOAL_FAILED);
  if (!strstr(error.message, "too large for an exact comparison, of 'ill'"))
    fail_msg("%s: %s", model.name, error.message);
}

static void violates(void) {
  assert_int_equal(prove(), SHOAL_FAILED);
  if (!strstr(error.message, "the release violates")) fail_msg("%s: %s", model.name, error.message);
}

/* ---------------------------------------------------------------- theta, recursive, t */

#define HUGE_ROWS UINT64_C(5561956446871842560) /* 10 f^2 fits into 128 bits, 12 f^2 does not */

static void a_variance_that_does_not_fit_is_not_proven(void **state UNUSED) {
  static const struct {
    uint64_t rows[2], k;
    const char *mu;
  } large[] = {
      {{UINT64_C(1) << 63, UINT64_C(1) << 62}, 2, "0.5"}, /* n x sum of squares */
      {{HUGE_ROWS, HUGE_ROWS}, 2, "0.5"},                 /* 12 times the variance */
      {{4, 4}, UINT64_C(1) << 63, "0.5"},                 /* theta x n */
      {{4, 4}, UINT64_C(1) << 62, "0.5"},                 /* theta x n x n */
  };
  for (size_t i = 0; i < COUNT(large); i++) {
    count(large[i].rows, 2);
    ask("theta-sensitive", "mu", large[i].mu, NULL, NULL);
    request.k = large[i].k;
    is_too_large();
  }
  count((const uint64_t[]){4, 4}, 2); /* of variance 1/4, as 2 rows of 2 values */
  ask("theta-sensitive", "mu", "1", NULL, NULL);
  assert_int_equal(prove(), SHOAL_OK);
  request.k = UINT64_C(1) << 60; /* all that is needed still fits */
  violates();
  parameters[0].value = "0.999999999999999999"; /* times mu it does not: that is compared too */
  violates();
}

/* A variance of 1/4 against mu / 4, both times 10^18, which 128 bits do not hold. */
static void a_long_mu_is_compared_exactly(void **state UNUSED) {
  const uint64_t half = UINT64_C(1) << 60;
  count((const uint64_t[]){half, half}, 2);
  ask("theta-sensitive", "mu", "1.00000000000000000", NULL, NULL);
  assert_int_equal(prove(), SHOAL_OK);
  count((const uint64_t[]){half + 1, half - 1}, 2); /* less by 2^-120 */
  violates();
  parameters[0].value = "0.999999999999999999";
  assert_int_equal(prove(), SHOAL_OK);
  const uint64_t part = half / 1000000000; /* of half, so that 1 - 10^-18 is just reached */
  count((const uint64_t[]){half + part, half - part}, 2);
  assert_int_equal(prove(), SHOAL_OK);
  count((const uint64_t[]){half + part + 1, half - part - 1}, 2);
  violates();
}

static void a_long_tail_is_compared_exactly(void **state UNUSED) {
  uint64_t rows[MAX_VALUES];
  for (size_t v = 0; v < MAX_VALUES; v++) rows[v] = UINT64_MAX;
  count(rows, MAX_VALUES);
  ask("l-diversity", "l", "2", "kind", "recursive");
  parameters[2] = (shoal_verify_parameter){"c", "999999999999999999"};
  model.n_parameters = 3;
  assert_int_equal(prove(), SHOAL_OK);
  parameters[2].value = "0.015873015873015873"; /* 1/63, rounded down */
  violates();
  parameters[2].value = "0.015873015873015874";
  assert_int_equal(prove(), SHOAL_OK);
}

static void a_distance_that_does_not_fit_is_not_proven(void **state UNUSED) {
  const uint64_t half = UINT64_C(1) << 62, small = UINT64_C(1) << 40;
  count((const uint64_t[]){half, half}, 2); /* n N (unit + 2) */
  ask("t-closeness", "t", "0.5", NULL, NULL);
  is_too_large();
  values[0].n_original = UINT64_MAX; /* N itself */
  is_too_large();
  count((const uint64_t[]){1, small}, 2); /* times 10^18 it is compared all the same */
  values[0].n_original = half;
  ask("t-closeness", "t", "0.500000000000000001", NULL, NULL);
  violates();
  parameters[0].value = "1";
  assert_int_equal(prove(), SHOAL_OK);
  count((const uint64_t[]){3 * small, small}, 2); /* 3/4 against 1/2: 1/4 */
  values[0].n_original = values[1].n_original = small << 20;
  parameters[0].value = "0.249999999999999999";
  violates();
  parameters[0].value = "0.25";
  assert_int_equal(prove(), SHOAL_OK);
}

/* A value that the table does not have is in no rank; spellings of one number share theirs. */
static void values_without_rows_have_no_rank(void **state UNUSED) {
  static const char *const spellings[] = {"3", "1", "7", "1.0", "2", "01", "3.00"};
  uint64_t rows[COUNT(spellings)] = {2, 2, 0, 2, 2, 2, 2};
  count(rows, COUNT(rows));
  for (size_t v = 0; v < COUNT(rows); v++) values[v].value = spellings[v];
  starts[1] = 2; /* 3 and 1 */
  class_rows[0] = 4;
  ask("t-closeness", "t", "0.0833", "distance", "ordered");
  violates(); /* of 1, 2, 3: 1/2 against 6/12 up to 1, 1/2 against 8/12 up to 2: 1/6 over 2 steps */
  parameters[0].value = "0.0834";
  assert_int_equal(prove(), SHOAL_OK);
}

/* ---------------------------------------------------------------- categories, parameters */

static void too_many_categories_are_not_proven(void **state UNUSED) {
  count((const uint64_t[]){2, 2}, 2);
  ask("p-plus-sensitive", "p", "1", NULL, NULL);
  assert_int_equal(prove(), SHOAL_OK);
  known.n_categories = (size_t)UINT32_MAX + 1;
  is_too_large();
}

static void many_parameters_are_cut_in_the_message(void **state UNUSED) {
  static const char forty[] = "1234567890123456789012345678901234567890";
  count((const uint64_t[]){2, 2}, 2);
  ask("k-anonymity", "k", "5", NULL, NULL);
  model.n_parameters = COUNT(parameters);
  for (size_t i = 1; i < COUNT(parameters); i++)
    parameters[i] = (shoal_verify_parameter){forty, forty};
  violates();
  assert_non_null(strstr(error.message, "k-anonymity (k = 5, 1234567890"));
  assert_non_null(strstr(error.message, "1 class, 4 rows"));
}

/* ---------------------------------------------------------------- labels without memory */

static void labels_without_memory_prove_nothing(void **state UNUSED) {
  static char names[MANY_LABELS][8];
  static const char *labels[MANY_LABELS], *const path[] = {"top", NULL};
  static const shoal_verify_entry *texts[MANY_LABELS];
  static struct {
    shoal_verify_entry entry;
    char room[16];
  } entries[MANY_LABELS];
  count((const uint64_t[]){2, 2}, 2);
  values[0] = (shoal_verify_value){.value = "a", .path = path};
  values[1] = (shoal_verify_value){.value = "b", .path = path};
  for (unsigned i = 0; i < MANY_LABELS; i++) {
    (void)snprintf(names[i], sizeof names[i], "x%u", i);
    labels[i] = names[i];
    entries[i].entry.size_bytes = strlen(names[i]);
    memcpy(entries[i].entry.bytes, names[i], entries[i].entry.size_bytes);
    texts[i] = &entries[i].entry;
  }
  known.protect = labels;
  known.n_protect = MANY_LABELS;
  tally.guards = (shoal_verify_attribute){
      .name = "guard", .starts = guard_starts, .counts = guards, .n_values = MANY_LABELS};
  tally.guard_texts = texts;
  fails_once = true;
  for (int personal = 0; personal < 2; personal++) {
    if (personal) ask("personalized", "column", "guard", "breach", "0.5");
    else ask("extended-p-sensitive", "p", "2", NULL, NULL);
    for (long n = 0, ended = 0; !ended; n++) {
      allocations_left = n;
      shoal_status status = prove();
      ended = allocations_left >= 0;
      allocations_left = -1;
      assert_int_equal(status, ended ? SHOAL_OK : SHOAL_FAILED);
      if (ended) assert_true(n > 6);
    }
  }
}

/* ---------------------------------------------------------------- entropy */

static void entropy_of_counts_too_large_is_undecided(void **state UNUSED) {
  static const shoal_verify_fraction two = {2, 1};
  assert_int_equal(shoal_verify_entropy((const uint64_t[]){UINT64_MAX, 1}, 2, two),
                   SHOAL_VERIFY_UNDECIDED);
  assert_int_equal(
      shoal_verify_entropy((const uint64_t[]){UINT64_C(1) << 51, UINT64_C(1) << 51}, 2, two),
      SHOAL_VERIFY_UNDECIDED);
  assert_int_equal(
      shoal_verify_entropy((const uint64_t[]){UINT64_C(1) << 50, UINT64_C(1) << 50}, 2, two),
      SHOAL_VERIFY_HOLDS);
}

/* l is e^entropy to 18 digits, and no tie: neither logarithms nor whole numbers can tell. */
static void an_entropy_too_near_is_undecided(void **state UNUSED) {
  static const uint64_t rows[] = {43, 27};
  shoal_verify_fraction l = {194797891220964675, 100000000000000000};
  assert_int_equal(shoal_verify_entropy(rows, 2, l), SHOAL_VERIFY_UNDECIDED);
  l.numerator += 1000;
  assert_int_equal(shoal_verify_entropy(rows, 2, l), SHOAL_VERIFY_VIOLATES);
  l.numerator -= 2000;
  assert_int_equal(shoal_verify_entropy(rows, 2, l), SHOAL_VERIFY_HOLDS);
  count(rows, 2);
  ask("l-diversity", "l", "1.94797891220964675", "kind", "entropy");
  is_too_large();
}

/*
 * Ties of 1, 7 and 88 values, so that each place where powers are kept lacks memory once. The last:
 * 64, 32 and 16 rows of a value weigh up 64, 16 and 4 values of 1, 2 and 4 rows around one of 8,
 * and n / l is 8.
 */
static void entropy_without_memory_is_not_proven(void **state UNUSED) {
  static const uint64_t one[] = {1}, seven[] = {30, 30, 30, 30, 30, 30, 30}, near[] = {43, 27};
  uint64_t many[88] = {8, 64, 32, 16, 4, 4, 4, 4};
  for (size_t v = 8; v < COUNT(many); v++) many[v] = v < 24 ? 2 : 1;
  const struct {
    const uint64_t *rows;
    size_t n_values;
    shoal_verify_fraction l;
    shoal_verify_verdict verdict;
  } ties[] = {
      {one, 1, {100, 100}, SHOAL_VERIFY_HOLDS},
      {seven, 7, {70, 10}, SHOAL_VERIFY_HOLDS},
      {near, 2, {194797891220964675, 100000000000000000}, SHOAL_VERIFY_UNDECIDED},
      {many + 1, 87, {28, 1}, SHOAL_VERIFY_HOLDS},
      {many, 88, {290, 10}, SHOAL_VERIFY_HOLDS},
  };
  fails_once = true;
  for (size_t i = 0; i < COUNT(ties); i++)
    for (long n = 0, ended = 0; !ended; n++) {
      allocations_left = n;
      shoal_verify_verdict verdict =
          shoal_verify_entropy(ties[i].rows, ties[i].n_values, ties[i].l);
      ended = allocations_left >= 0;
      allocations_left = -1;
      assert_int_equal(verdict, ended ? ties[i].verdict : SHOAL_VERIFY_NO_MEMORY);
      if (ended) assert_true(n > 0);
    }
}

/* ---------------------------------------------------------------- tables */

static void colliding_hashes_are_told_apart(void **state UNUSED) {
  shoal_verify_dictionary dictionary;
  assert_true(shoal_verify_dictionary_init(&dictionary));
  static const char *const texts[] = {"aa", "ab", "a", "aab", ""};
  for (int again = 0; again < 2; again++)
    for (size_t i = 0; i < COUNT(texts); i++) {
      const shoal_verify_entry *entry =
          shoal_verify_intern(&dictionary, 7, texts[i], strlen(texts[i]));
      assert_non_null(entry);
      assert_int_equal(entry->id, i);
    }
  assert_null(shoal_verify_intern(&dictionary, 8, "", SIZE_MAX)); /* its entry has no size */
  assert_int_equal(dictionary.n_entries, COUNT(texts));
  shoal_verify_dictionary_reset(&dictionary);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_variance_that_does_not_fit_is_not_proven),
      cmocka_unit_test(a_long_mu_is_compared_exactly),
      cmocka_unit_test(a_long_tail_is_compared_exactly),
      cmocka_unit_test(a_distance_that_does_not_fit_is_not_proven),
      cmocka_unit_test(values_without_rows_have_no_rank),
      cmocka_unit_test(too_many_categories_are_not_proven),
      cmocka_unit_test(many_parameters_are_cut_in_the_message),
      cmocka_unit_test(labels_without_memory_prove_nothing),
      cmocka_unit_test(entropy_of_counts_too_large_is_undecided),
      cmocka_unit_test(an_entropy_too_near_is_undecided),
      cmocka_unit_test(entropy_without_memory_is_not_proven),
      cmocka_unit_test(colliding_hashes_are_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
