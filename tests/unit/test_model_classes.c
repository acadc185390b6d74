/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models on classes that are made up: without a row, without a value, with entropies that are a tie
 * or too near to one, with products of more than 128 bits. What cannot be told does not hold.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/bounds.h"
#include "model/theta.h"
#include "model/types.h"
#include "model/value_groups.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { MAX_VALUES = 600 };
enum { L_DISTINCT, L_ENTROPY, L_RECURSIVE };

static uint32_t values[MAX_VALUES];
static uint64_t rows[MAX_VALUES];
static shoal_class_view view;
static shoal_requirement requirement;

static void ask(const char *name) {
  const shoal_model_type *const *type = shoal_model_types;
  while (*type && strcmp((*type)->name, name) != 0) type++;
  assert_non_null(*type);
  requirement = (shoal_requirement){.type = *type, .guard = SHOAL_NO_ATTRIBUTE, .k = 2};
}

/* l-diversity of a kind, with l = mantissa / 10^scale and c = 3. */
static void ask_diversity(size_t kind, int64_t mantissa, unsigned scale) {
  ask("l-diversity");
  requirement.number[0] = (shoal_decimal){mantissa, scale};
  requirement.word[1] = kind;
  requirement.number[2] = (shoal_decimal){3, 0};
}

/* A class with so many rows of each value. */
static void look_at(const uint64_t *of_value, size_t n) {
  view = (shoal_class_view){.n_distinct = (uint32_t)n};
  for (size_t v = 0; v < n; v++) {
    values[v] = (uint32_t)v;
    rows[v] = of_value[v];
    view.n_rows += rows[v];
  }
  view.values = (shoal_value_view){.values = values, .n_rows = rows, .n = n};
}

static bool holds(void) { return requirement.type->holds(&requirement, &view); }
static double reached(void) { return requirement.type->reached(&requirement, &view); }

/* ---------------------------------------------------------------- entropy */

static void an_entropy_that_is_a_tie_holds(void **state UNUSED) {
  uint64_t many[88] = {64, 32, 16, 8, 4, 4, 4, 4}; /* n / 29 is the mean by entropy, exactly */
  for (size_t v = 8; v < COUNT(many); v++) many[v] = v < 24 ? 2 : 1;
  look_at(many, COUNT(many));
  ask_diversity(L_ENTROPY, 29, 0);
  assert_true(holds());
  ask_diversity(L_ENTROPY, 2900, 2);
  assert_true(holds());
  ask_diversity(L_ENTROPY, 290000001, 7);
  assert_false(holds());
  assert_true(fabs(reached() - 29) < 1e-9);
}

/* l is e^entropy to 18 digits: no tie, but logarithms cannot tell on which side it is. */
static void an_entropy_too_near_does_not_hold(void **state UNUSED) {
  look_at((const uint64_t[]){52, 11}, 2);
  ask_diversity(L_ENTROPY, 158900904168067714, 17); /* it has a prime of 14 digits */
  assert_false(holds());
  ask_diversity(L_ENTROPY, 158900904168060000, 17);
  assert_true(holds());
  look_at((const uint64_t[]){43, 27}, 2);
  ask_diversity(L_ENTROPY, 194797891220964675, 17);
  assert_false(holds());
}

/* Rows of 530 values are the first 530 primes: more than are kept to look for a tie. */
static void more_primes_than_are_kept_do_not_hold(void **state UNUSED) {
  uint64_t primes[530];
  size_t n = 0;
  for (uint64_t candidate = 2; n < COUNT(primes); candidate++) {
    size_t i = 0;
    while (i < n && candidate % primes[i]) i++;
    if (i == n) primes[n++] = candidate;
  }
  look_at(primes, n);
  assert_int_equal(view.n_rows, 935507);
  ask_diversity(L_ENTROPY, 417564444254045126, 15);
  assert_false(holds());
  ask_diversity(L_ENTROPY, 4175644, 4);
  assert_true(holds());
  ask_diversity(L_ENTROPY, 4175645, 4);
  assert_false(holds());
}

/* ---------------------------------------------------------------- nothing to look at */

static void a_class_without_values_reaches_nothing(void **state UNUSED) {
  look_at(NULL, 0);
  for (size_t kind = L_DISTINCT; kind <= L_RECURSIVE; kind++) {
    ask_diversity(kind, 1, 0);
    assert_false(holds());
    assert_true(reached() == 0);
  }
  ask("theta-sensitive");
  requirement.number[0] = (shoal_decimal){1, 0};
  assert_false(holds());
  assert_true(reached() == 0);
  ask("alpha-k");
  requirement.number[0] = (shoal_decimal){1, 1};
  assert_true(holds() && reached() == 0); /* no value has more than a tenth of no rows */
  shoal_value_groups map = {.n_groups = 2};
  ask("balanced-p-plus");
  requirement.own = &map;
  assert_true(holds() && reached() == 0); /* of 0 categories */
  requirement.count[0] = 1;
  assert_false(holds());
}

/* A single category weighs nothing: it reaches an alpha of 0 only. */
static void one_category_has_no_weight(void **state UNUSED) {
  uint32_t category_of[] = {0, 0};
  shoal_value_groups map = {.group_of = category_of, .n_groups = 1};
  look_at((const uint64_t[]){2, 2}, 2);
  ask("p-alpha-sensitive");
  requirement.own = &map;
  requirement.count[0] = 2;
  assert_true(holds() && reached() == 0);
  requirement.number[1] = (shoal_decimal){1, 18};
  assert_true(!holds() && reached() == 0);
}

/* Two categories, two rows and one: balanced; three and one: not. */
static void balanced_categories_differ_by_one_row(void **state UNUSED) {
  uint32_t category_of[] = {0, 1};
  shoal_value_groups map = {.group_of = category_of, .n_groups = 2};
  static const char *const names[] = {"balanced-p-alpha", "balanced-p-plus"};
  for (size_t i = 0; i < COUNT(names); i++) {
    ask(names[i]);
    requirement.own = &map;
    requirement.count[0] = 2;
    requirement.number[1] = (shoal_decimal){1, 0};
    look_at((const uint64_t[]){2, 1}, 2);
    assert_true(holds());
    look_at((const uint64_t[]){3, 1}, 2);
    assert_false(holds());
  }
}

static void recursive_diversity_reaches_the_largest_l(void **state UNUSED) {
  look_at((const uint64_t[]){9, 4, 2, 1}, 4);
  ask_diversity(L_RECURSIVE, 2, 0);
  assert_true(holds() && reached() == 2); /* 9 < 3 (4 + 2 + 1), but not < 3 (2 + 1) */
  look_at((const uint64_t[]){9, 1}, 2);
  assert_true(!holds() && reached() == 1);
}

/* The last of 64 values is a bit like the others. */
static void a_set_has_up_to_64_values(void **state UNUSED) {
  shoal_value_view set = {.is_set = true, .set = UINT64_C(1) << 63 | 1, .n = 64};
  size_t at = 0;
  uint32_t value;
  uint64_t n_rows;
  assert_true(shoal_view_next(&set, &at, &value, &n_rows) && value == 0);
  assert_true(shoal_view_next(&set, &at, &value, &n_rows) && value == 63);
  assert_false(shoal_view_next(&set, &at, &value, &n_rows));
}

/* ---------------------------------------------------------------- numbers */

static void products_are_compared_exactly(void **state UNUSED) {
  shoal_uint128 large = (shoal_uint128)1 << 127;
  assert_true(shoal_compare_products(large, 4, large, 3) > 0);
  assert_true(shoal_compare_products(large, 3, large, 4) < 0);
  assert_true(shoal_compare_products(large, 4, large - 1, 4) > 0);
  assert_true(shoal_compare_products(large, 2, 4, large / 2) == 0);
  assert_true(shoal_compare_products(3, 5, 4, 4) < 0 && shoal_compare_products(4, 4, 3, 5) > 0);
}

static bool wide_is(shoal_wide a, shoal_uint128 high, shoal_uint128 low) {
  return a.high == high && a.low == low;
}

/* All ones are where every carry happens. */
static void wide_numbers_carry(void **state UNUSED) {
  const shoal_uint128 ones = ~(shoal_uint128)0, top = (shoal_uint128)1 << 64;
  assert_true(wide_is(shoal_wide_product(ones, ones), ones - 1, 1));
  assert_true(wide_is(shoal_wide_product(ones, 2), 1, ones - 1));
  assert_true(wide_is(shoal_wide_product(top, top), 1, 0));
  assert_true(wide_is(shoal_wide_product(top - 1, top + 1), 0, ones));
  const shoal_wide most = {ones, ones}, low = {0, ones}, one = {0, 1}, next = {1, 0};
  assert_true(wide_is(shoal_wide_add(low, one), 1, 0));
  assert_true(wide_is(shoal_wide_add(low, low), 1, ones - 1));
  assert_true(wide_is(shoal_wide_subtract(next, one), 0, ones));
  assert_true(wide_is(shoal_wide_subtract(most, low), ones, 0));
  assert_true(wide_is(shoal_wide_subtract(low, one), 0, ones - 1));
  assert_true(wide_is(shoal_wide_times(low, 3), 2, ones - 2));
  assert_true(wide_is(shoal_wide_times(next, 3), 3, 0));
  assert_true(wide_is(shoal_wide_times((shoal_wide){5, ones}, UINT64_MAX),
                      (shoal_uint128)6 * UINT64_MAX - 1, ones - UINT64_MAX + 1));
  assert_true(shoal_wide_compare(next, low) > 0 && shoal_wide_compare(low, next) < 0);
  assert_true(shoal_wide_compare(low, one) > 0 && shoal_wide_compare(one, low) < 0);
  assert_int_equal(shoal_wide_compare(most, most), 0);
  assert_true(shoal_wide_double((shoal_wide){3, 0}) == 0x3p128);
  assert_true(shoal_wide_double((shoal_wide){0, 3}) == 3);
}

/* Of n = 8 f rows of 8 values, 63/12 n^2: it does not fit into 128 bits. */
static void a_wide_variance_is_exact(void **state UNUSED) {
  const uint64_t f = (UINT64_C(1) << 60) - 1;
  look_at((const uint64_t[]){f, f, f, f, f, f, f, f}, 8);
  ask("theta-sensitive");
  requirement.k = 8;
  requirement.number[0] = (shoal_decimal){1, 0};
  assert_true(holds() && reached() == 5.25);
  requirement.k = 9;
  assert_false(holds());
  requirement.number[0] = (shoal_decimal){787500000000000000, 18}; /* 63 / 80 */
  assert_true(holds());
  requirement.number[0].mantissa++;
  assert_false(holds());
  requirement.k = 999999999999999999; /* mu (k^2 - 1) does not fit */
  assert_false(holds());
}

static void variances_of_any_rows_are_compared(void **state UNUSED) {
  const shoal_variance none = {0, 0}, zero = {0, 5}, quarter = {1, 2}, same = {4, 4}, more = {9, 4};
  const shoal_variance *const ascending[] = {&zero, &quarter, &more};
  for (size_t i = 0; i < COUNT(ascending); i++)
    for (size_t j = 0; j < COUNT(ascending); j++)
      assert_int_equal(shoal_variance_compare(*ascending[i], *ascending[j]), (i > j) - (i < j));
  assert_int_equal(shoal_variance_compare(quarter, same), 0);
  assert_int_equal(shoal_variance_compare(more, same), 1);
  assert_int_equal(shoal_variance_compare(none, none), 0);
  assert_int_equal(shoal_variance_compare(none, zero), 0); /* of no rows: no variance */
  assert_int_equal(shoal_variance_compare(none, quarter), -1);
  assert_int_equal(shoal_variance_compare(quarter, none), 1);
  assert_int_equal(shoal_variance_compare(zero, none), 0);
}

static void theta_asks_for_nothing_where_mu_or_k_do_not(void **state UNUSED) {
  uint64_t descending[] = {3, 2};
  const shoal_value_frequencies spread = {
      .n_rows = 6, .n_valued = 5, .descending = descending, .n_distinct = 2};
  look_at((const uint64_t[]){3}, 1);
  ask("theta-sensitive");
  requirement.number[0] = (shoal_decimal){0, 0};
  assert_true(holds());
  assert_int_equal(shoal_theta_min_distinct(&requirement), 1);
  assert_int_equal(shoal_bound_of(&requirement, &spread).max_classes, 6);
  requirement.number[0] = (shoal_decimal){1, 0};
  assert_false(holds());
  assert_int_equal(shoal_theta_min_distinct(&requirement), 2);
  assert_int_equal(shoal_bound_of(&requirement, &spread).max_classes, 2);
  requirement.k = 100;
  assert_int_equal(shoal_bound_of(&requirement, &spread).max_classes, 0);
  requirement.k = 1;
  assert_true(holds());
  assert_int_equal(shoal_theta_min_distinct(&requirement), 1);
  assert_int_equal(shoal_bound_of(&requirement, &spread).max_classes, 6);
}

/* ---------------------------------------------------------------- words */

static const char *explained(const shoal_value_frequencies *spread) {
  static char text[256];
  shoal_bound bound = shoal_bound_of(&requirement, spread);
  shoal_bound_explain(&bound, "ill", text, sizeof text);
  return text;
}

static void one_and_many_are_told_apart(void **state UNUSED) {
  shoal_value_frequencies spread = {.n_distinct = 0};
  ask("p-sensitive");
  requirement.count[0] = 3;
  assert_non_null(strstr(explained(&spread), "every value of 'ill' is missing"));
  spread.n_distinct = 1;
  assert_non_null(strstr(explained(&spread), "only 1 distinct value in"));
  spread.n_distinct = 2;
  assert_non_null(strstr(explained(&spread), "only 2 distinct values in"));
  ask_diversity(L_DISTINCT, 3, 0);
  requirement.text[0] = "3";
  assert_non_null(strstr(explained(&spread), "only 2 distinct values in"));
  spread.n_distinct = 1;
  assert_non_null(strstr(explained(&spread), "only 1 distinct value in"));
  shoal_value_groups map = {.n_groups = 2, .frequencies = {.n_distinct = 1}};
  ask("p-plus-sensitive");
  requirement.own = &map;
  assert_non_null(strstr(explained(&spread), "only 1 category in"));
  map.frequencies.n_distinct = 2;
  assert_non_null(strstr(explained(&spread), "only 2 categories in"));
}

static void every_model_is_listed(void **state UNUSED) {
  const shoal_entry *entries = shoal_models();
  size_t n = 0;
  for (; shoal_model_types[n]; n++)
    assert_string_equal(entries[n].name, shoal_model_types[n]->name);
  assert_true(n == 12 && !entries[n].name);
}

/* Demands that were never bound have no place to remember what failed. */
static void what_fails_is_remembered(void **state UNUSED) {
  atomic_bool no_memory = false;
  shoal_error error = {0};
  shoal_requirements requirements = {0};
  requirement = (shoal_requirement){0};
  assert_true(shoal_requirement_failed(&requirement, true));
  assert_false(shoal_requirement_failed(&requirement, false));
  assert_int_equal(shoal_requirements_status(&requirements, &error), SHOAL_OK);
  requirement.no_memory = requirements.no_memory = &no_memory;
  assert_false(shoal_requirement_failed(&requirement, false));
  assert_int_equal(shoal_requirements_status(&requirements, &error), SHOAL_OK);
  assert_true(shoal_requirement_failed(&requirement, true));
  assert_int_equal(shoal_requirements_status(&requirements, &error), SHOAL_FAILED);
}

/* Codes of any size; rows that stand for several. */
static void rows_of_values_are_counted(void **state UNUSED) {
  uint8_t bytes[] = {0, 1, 1, 2, 1, 0};
  uint16_t halves[] = {0, 1, 1, 2, 1, 0};
  uint64_t counts[] = {1, 2, 3, 4, 5, 6};
  static const uint64_t expected[2][3] = {{2, 3, 1}, {7, 10, 4}};
  for (int way = 0; way < 4; way++) {
    const shoal_column column = {.n_values = 3,
                                 .code_size = way % 2 ? 2 : 1,
                                 .codes = way % 2 ? (void *)halves : (void *)bytes};
    const shoal_table table = {.n_rows = 6, .counts = way / 2 ? counts : NULL};
    uint64_t *counted = shoal_count_values(&table, &column);
    assert_memory_equal(counted, expected[way / 2], sizeof expected[0]);
    free(counted);
  }
}

/* ---------------------------------------------------------------- bounds of suppression */

/* Two classes of one and two values; p = 2 is monotone, so no part of the first satisfies it. */
static void what_violates_is_suppressed_below_too(void **state UNUSED) {
  static uint64_t n_rows[] = {4, 6}, sets_of_class[] = {1, 3};
  static uint32_t tuples[] = {0, 1};
  static const uint8_t covers[] = {1, 1}, violates[] = {1, 0};
  uint64_t *sets[] = {sets_of_class};
  shoal_histogram none = {0};
  shoal_column column = {.n_values = 2};
  const shoal_column *tracked[] = {&column};
  shoal_frequency_set frequency = {.tracked = tracked, .n_tracked = 1};
  shoal_classes classes = {.n_classes = 2,
                           .tuple = tuples,
                           .n_rows = n_rows,
                           .sets = sets,
                           .histograms = &none,
                           .n_tracked = 1};
  ask("p-sensitive");
  requirement.sensitive = 0;
  requirement.count[0] = 2;
  requirement.covers = covers;
  shoal_requirements all = {.items = &requirement, .n_items = 1, .n_sets = 1, .monotone = true};
  assert_int_equal(shoal_min_suppressed(&all, &frequency, &classes, violates), 4);
  all.n_sets = 2; /* over sets, only monotone requirements bound anything */
  assert_int_equal(shoal_min_suppressed(&all, &frequency, &classes, violates), 4);
  all.monotone = false;
  assert_int_equal(shoal_min_suppressed(&all, &frequency, &classes, violates), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_entropy_that_is_a_tie_holds),
      cmocka_unit_test(an_entropy_too_near_does_not_hold),
      cmocka_unit_test(more_primes_than_are_kept_do_not_hold),
      cmocka_unit_test(a_class_without_values_reaches_nothing),
      cmocka_unit_test(one_category_has_no_weight),
      cmocka_unit_test(balanced_categories_differ_by_one_row),
      cmocka_unit_test(recursive_diversity_reaches_the_largest_l),
      cmocka_unit_test(a_set_has_up_to_64_values),
      cmocka_unit_test(products_are_compared_exactly),
      cmocka_unit_test(wide_numbers_carry),
      cmocka_unit_test(a_wide_variance_is_exact),
      cmocka_unit_test(variances_of_any_rows_are_compared),
      cmocka_unit_test(theta_asks_for_nothing_where_mu_or_k_do_not),
      cmocka_unit_test(one_and_many_are_told_apart),
      cmocka_unit_test(every_model_is_listed),
      cmocka_unit_test(what_fails_is_remembered),
      cmocka_unit_test(rows_of_values_are_counted),
      cmocka_unit_test(what_violates_is_suppressed_below_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
