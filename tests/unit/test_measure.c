/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of counted tuples must measure like its rows. What the figures are is compared with slow
 * definitions by tests/property/test_measure.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/render.h"

#define UNUSED __attribute__((unused))

static const char policy_text[] =
    "shoal: 1\n"
    "attributes:\n"
    "  age:  {role: quasi, type: number}\n"
    "  town: {role: quasi, hierarchy: {tree: {North: [a, b], South: [c]}}}\n"
    "  ill:  {role: sensitive, hierarchy: {tree: {Lung: [flu, cough], Other: [gout]}}}\n"
    "privacy: {k: 2}\n"
    "method: {algorithm: samarati, suppressed: blank, max-suppression: 20%}\n";

static const char *const original_cells[] = {
    "20", "a", "flu", "25", "b", "gout", "30", "c", "cough", "30", "c", "flu", "41", "a", "gout",
};
static const char *const masked_cells[] = {
    "[20-25]", "North", "flu", "[20-25]", "North", "gout", ">=30", "*",
    "cough",   ">= 30", "**",  "flu",     "*",     "*",    "gout",
};

enum { COLUMNS = 3, ROWS = 5 };

static shoal_table *make_table(const shoal_policy *policy, const char *const *cells,
                               const uint64_t *counts, size_t n_rows, shoal_purpose purpose) {
  static const char *const names[COLUMNS] = {"age", "town", "ill"};
  shoal_error error;
  shoal_table *table;
  shoal_text bytes[COLUMNS];
  uint64_t offsets[COLUMNS][2 * ROWS + 1] = {{0}};
  shoal_text_view views[COLUMNS];
  assert_int_equal(shoal_table_new(names, COLUMNS, &table, &error), SHOAL_OK);
  for (size_t c = 0; c < COLUMNS; c++) {
    shoal_text_init(&bytes[c]);
    for (size_t r = 0; r < n_rows; r++) {
      shoal_text_add(&bytes[c], cells[r * COLUMNS + c]);
      offsets[c][r + 1] = bytes[c].size_bytes;
    }
    views[c] = (shoal_text_view){bytes[c].bytes, offsets[c]};
  }
  assert_int_equal(shoal_table_append(table, views, COLUMNS, n_rows, counts, &error), SHOAL_OK);
  assert_int_equal(shoal_table_finish(table, policy, purpose, &error), SHOAL_OK);
  for (size_t c = 0; c < COLUMNS; c++) shoal_text_reset(&bytes[c]);
  return table;
}

static shoal_policy *make_policy(void) {
  shoal_error error;
  shoal_policy *policy;
  if (shoal_policy_parse(policy_text, strlen(policy_text), "test", ".", &policy, &error) !=
      SHOAL_OK)
    fail_msg("%s", error.message);
  return policy;
}

static shoal_result *measured(const shoal_policy *policy, const uint64_t *counts,
                              const char *const *before, const char *const *after, size_t n_rows) {
  shoal_table *original = make_table(policy, before, counts, n_rows, SHOAL_FOR_RELEASE);
  shoal_table *masked = make_table(policy, after, counts, n_rows, SHOAL_FOR_REVIEW);
  shoal_result *result;
  shoal_error error;
  if (shoal_measure(original, masked, policy, NULL, NULL, &result, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  shoal_table_free(original);
  shoal_table_free(masked);
  return result;
}

/* The second half of the rows is the first again. */
static void counted_tuples_measure_like_rows(void **state UNUSED) {
  static const uint64_t twice[ROWS] = {2, 2, 2, 2, 2};
  const char *before[2 * ROWS * COLUMNS], *after[2 * ROWS * COLUMNS];
  for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
    before[i] = before[i + (size_t)ROWS * COLUMNS] = original_cells[i];
    after[i] = after[i + (size_t)ROWS * COLUMNS] = masked_cells[i];
  }
  shoal_policy *policy = make_policy();
  shoal_result *rows = measured(policy, NULL, before, after, (size_t)2 * ROWS);
  shoal_result *counted = measured(policy, twice, original_cells, masked_cells, ROWS);
  const shoal_measures *a = rows->measure.measured.utility, *b = counted->measure.measured.utility;
  assert_int_equal(a->released_rows, 10);
  assert_int_equal(b->released_rows, 10);
  assert_int_equal(a->blanked, 2);
  assert_int_equal(b->blanked, 2);
  assert_float_equal(a->dm, 16 + 16, 0);
  assert_float_equal(a->dm, b->dm, 0);
  assert_float_equal(a->il, b->il, 1e-12);
  assert_float_equal(a->loss, b->loss, 1e-12);
  assert_float_equal(a->queries.spread.mean, b->queries.spread.mean, 1e-12);
  assert_float_equal(a->queries.overlap.mean, b->queries.overlap.mean, 1e-12);
  assert_float_equal(a->associations[0].after, b->associations[0].after, 1e-12);
  assert_int_equal(rows->measure.measured.risk->after.n_classes,
                   counted->measure.measured.risk->after.n_classes);
  assert_float_equal(rows->measure.measured.risk->attributes[0].after.largest_distance,
                     counted->measure.measured.risk->attributes[0].after.largest_distance, 1e-12);
  shoal_result_free(rows);
  shoal_result_free(counted);
  shoal_policy_free(policy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counted_tuples_measure_like_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
