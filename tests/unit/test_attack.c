/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/attack: the index of classes against a look at every one, and tables of
 * counted tuples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attack/match.h"
#include "attack/setup.h"
#include "report/result.h"

#define UNUSED __attribute__((unused))

enum { MAX_COLUMNS = 8, MAX_ROWS = 512 };

static const char POLICY[] =
    "shoal: 1\n"
    "attributes:\n"
    "  name: {role: identifier}\n"
    "  age: {role: quasi, type: number, hierarchy: {intervals: [5, 10]}}\n"
    "  zip: {role: quasi, hierarchy: {mask: right}}\n"
    "  ill: {role: sensitive, categories: [[a], [b], [c], [d]], protect: [X],\n"
    "        hierarchy: {tree: {X: [a, b], Y: [c, d]}}}\n"
    "privacy: {k: 3, p: 2}\n";

static void check(shoal_status status, const shoal_error *error) {
  if (status != SHOAL_OK) fail_msg("%s", error->message);
}

static shoal_policy *parse(const char *text) {
  shoal_policy *policy;
  shoal_error error = {0};
  check(shoal_policy_parse(text, strlen(text), "policy", ".", &policy, &error), &error);
  return policy;
}

/* "a,b|1,2|3,4": a header and rows; cells have no comma. */
static shoal_table *make(const char *text, const shoal_policy *policy, shoal_purpose purpose,
                         const uint64_t *counts) {
  static char bytes[MAX_COLUMNS][8192];
  static uint64_t offsets[MAX_COLUMNS][MAX_ROWS + 1];
  static char copy[16384];
  const char *names[MAX_COLUMNS];
  shoal_text_view views[MAX_COLUMNS];
  size_t n_columns = 0, n_rows = 0, used[MAX_COLUMNS] = {0};
  (void)snprintf(copy, sizeof copy, "%s", text);
  char *rest = copy, *line = strsep(&rest, "|");
  for (char *cell; (cell = strsep(&line, ","));) names[n_columns++] = cell;
  while ((line = strsep(&rest, "|"))) {
    for (size_t c = 0; c < n_columns; c++) {
      char *cell = strsep(&line, ",");
      offsets[c][n_rows] = used[c];
      memcpy(bytes[c] + used[c], cell, strlen(cell));
      used[c] += strlen(cell);
    }
    n_rows++;
  }
  for (size_t c = 0; c < n_columns; c++) {
    offsets[c][n_rows] = used[c];
    views[c] = (shoal_text_view){bytes[c], offsets[c]};
  }
  shoal_table *table;
  shoal_error error = {0};
  check(shoal_table_new(names, n_columns, &table, &error), &error);
  check(shoal_table_append(table, views, n_columns, n_rows, counts, &error), &error);
  check(shoal_table_finish(table, policy, purpose, &error), &error);
  return table;
}

static const shoal_attack_outcome *outcome(const shoal_result *result, const char *name) {
  for (size_t i = 0; i < result->attack.attacks->n_items; i++)
    if (strcmp(result->attack.attacks->items[i].name, name) == 0)
      return &result->attack.attacks->items[i];
  fail_msg("no attack %s", name);
  return NULL;
}

/* ---------------------------------------------------------------- the index */

/* Labels in other spellings, overlapping intervals, prefixes: every place against every class. */
static void the_index_finds_what_a_look_at_all_finds(void **state UNUSED) {
  static const shoal_run run = {.n_threads = 1};
  char masked[8192] = "age,zip,ill", people[8192] = "age,zip";
  unsigned seed = 7;
  for (int i = 0; i < 200; i++) {
    unsigned low = (unsigned)rand_r(&seed) % 50, wide = (unsigned)rand_r(&seed) % 20;
    size_t at = strlen(masked);
    unsigned kind = (unsigned)rand_r(&seed) % 6, digit = (unsigned)rand_r(&seed) % 10;
    if (kind == 0) (void)snprintf(masked + at, sizeof masked - at, "|>= %u,%u*,a", low, digit);
    else if (kind == 1) (void)snprintf(masked + at, sizeof masked - at, "|*,%u%u,a", digit, digit);
    else
      (void)snprintf(masked + at, sizeof masked - at, "|%u-%u,%s,a", low, low + wide,
                     kind == 2   ? "**"
                     : kind == 3 ? "1*"
                                 : "22");
    at = strlen(people);
    (void)snprintf(people + at, sizeof people - at, "|%u,%u%u", (unsigned)rand_r(&seed) % 70, digit,
                   (unsigned)rand_r(&seed) % 10);
  }
  shoal_policy *policy = parse(POLICY);
  shoal_table *released = make(masked, policy, SHOAL_FOR_REVIEW, NULL);
  shoal_table *others = make(people, policy, SHOAL_FOR_LINKING, NULL);
  shoal_attack_options options = {.external = others};
  shoal_attack_setup setup;
  shoal_error error = {0};
  check(shoal_attack_setup_init(&setup, released, policy, &options, &run, &error), &error);
  const shoal_frequency_set *f = setup.context.frequency;
  shoal_match_index index;
  check(shoal_match_index_build(&index, setup.domains, 2, 0, f, NULL, &error), &error);
  shoal_matches matches = {0};
  size_t n_found = 0;
  for (uint32_t t = 0; t < setup.external.n_tuples; t++) {
    shoal_match_key keys[2];
    shoal_linked_people_keys(&setup.external, t, keys);
    shoal_match_find(&index, keys, &matches);
    size_t expected = 0;
    for (uint32_t c = 0; c < f->base.n_classes; c++) {
      bool fits = true;
      for (size_t q = 0; q < 2; q++)
        fits = fits && shoal_domain_holds(
                           &setup.domains[q],
                           shoal_domain_span(&setup.domains[q], 0, shoal_code_at(f->codes[q], c)),
                           keys[q].position);
      bool found = false;
      for (size_t i = 0; i < matches.n; i++) found = found || matches.classes[i] == c;
      assert_int_equal(found, fits);
      expected += fits;
    }
    assert_int_equal(matches.n, expected);
    n_found += expected;
  }
  assert_true(n_found > 200);
  free(matches.classes);
  shoal_match_index_reset(&index);
  shoal_attack_setup_reset(&setup);
  shoal_table_free(released);
  shoal_table_free(others);
  shoal_policy_free(policy);
}

/* ---------------------------------------------------------------- counted tuples */

static void counted_tuples_are_so_many_rows(void **state UNUSED) {
  static const uint64_t counts[] = {2, 1, 3, 2};
  shoal_policy *policy = parse(POLICY);
  shoal_table *table = make("age,zip,ill|[20-24],4*,a|[20-24],4*,b|[20-29],**,c|*,5*,d", policy,
                            SHOAL_FOR_REVIEW, counts);
  shoal_result *result;
  shoal_error error = {0};
  check(shoal_attack_release(table, policy, NULL, NULL, &result, &error), &error);
  const shoal_attack_outcome *homogeneity = outcome(result, "homogeneity");
  assert_int_equal(homogeneity->n_tried, 8);
  assert_int_equal(homogeneity->certain, 5);
  assert_int_equal(homogeneity->n_classes, 2);
  assert_int_equal(homogeneity->guessed, 7);
  assert_false(shoal_result_holds(result));
  shoal_result_free(result);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_index_finds_what_a_look_at_all_finds),
      cmocka_unit_test(counted_tuples_are_so_many_rows),
  };
  return cmocka_run_group_tests_name("attack", tests, NULL, NULL);
}
