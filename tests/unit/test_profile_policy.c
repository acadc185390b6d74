/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the job `profile`: that the policy it makes is one. It is parsed by src/policy, and
 * its hierarchies are compiled for the data.
 */
#include "profile_fixture.h"

/* Every quasi-identifier's hierarchy must compile for the data, read as the policy says. */
static void policy_works_on_the_data(void **state) {
  (void)state;
  size_t n_cells = sizeof wide_cells / sizeof *wide_cells;
  shoal_result *profile = profile_cells(wide_names, 7, wide_cells, n_cells);
  shoal_policy *policy = policy_of(profile);
  shoal_result_free(profile);
  assert_int_equal(policy->n_attributes, 7);
  assert_int_equal(policy->k, 5);
  assert_int_equal(policy->p, 2);
  assert_true(policy->max_suppression.percent);
  assert_int_equal(policy->max_suppression.number.mantissa, 1);
  shoal_table *table =
      make_table(wide_names, 7, wide_cells, n_cells, NULL,
                 &(shoal_load_options){.missing = policy->missing, .n_missing = policy->n_missing});
  assert_false(shoal_policy_attribute(policy, "age")->has_hierarchy);
  const shoal_attribute *attribute = shoal_policy_attribute(policy, wide_names[2]);
  assert_int_equal(attribute->role, SHOAL_ROLE_QUASI);
  assert_int_equal(attribute->type, SHOAL_TYPE_TEXT);
  assert_int_equal(attribute->hierarchy.kind, SHOAL_HIERARCHY_MASK);
  shoal_hierarchy *hierarchy;
  shoal_error error;
  shoal_hierarchy_options options = {.policy = "start.yaml", .attribute = attribute->name};
  check(shoal_hierarchy_compile(&attribute->hierarchy, table, &table->columns[2], &options,
                                &hierarchy, &error),
        &error);
  shoal_hierarchy_free(hierarchy);
  attribute = shoal_policy_attribute(policy, wide_names[3]);
  assert_int_equal(attribute->role, SHOAL_ROLE_QUASI);
  assert_true(attribute->coding.dates);
  assert_false(attribute->has_hierarchy);
  assert_int_equal(shoal_policy_attribute(policy, "income")->role, SHOAL_ROLE_SENSITIVE);
  assert_int_equal(shoal_policy_attribute(policy, "income")->type, SHOAL_TYPE_NUMBER);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void odd_names(void **state) {
  (void)state;
  static char long_name[1500];
  memset(long_name, 'x', sizeof long_name - 1);
  const char *const names[] = {
      "yes", "No", "a: b", "# c", "1", "it's \"so\"", "back\\slash", "tab\tnew\nline\r",
      "- x", "~",  "{a}",  "[b",  "*", "&d",          long_name,     " space "};
  const char *const more[] = {"null",
                              "%e",
                              "@f",
                              "`g",
                              "!h",
                              "|",
                              ">",
                              "?",
                              "? q",
                              "---",
                              "gr\xc3\xb6\xc3\x9f"
                              "e",
                              "\xe5\x90\x8d\xe5\x89\x8d",
                              "\x01\x7f",
                              "\xc2\x85\xe2\x80\xa8\xef\xbb\xbf\xef\xbf\xbf",
                              "a,b",
                              "0x1F"};
  const char *cells[] = {"u", "v", "w", "u", "v", "w", "u", "v",
                         "w", "u", "v", "w", "u", "v", "w", "u"};
  for (size_t set = 0; set < 2; set++) {
    const char *const *tried = set ? more : names;
    shoal_result *profile = profile_cells(tried, 16, cells, 16);
    shoal_policy *policy = policy_of(profile);
    assert_int_equal(policy->n_attributes, 16);
    for (size_t c = 0; c < 16; c++) assert_string_equal(policy->attributes[c].name, tried[c]);
    shoal_policy_free(policy);
    shoal_result_free(profile);
  }
}

static void names_that_no_policy_can_hold(void **state) {
  (void)state;
  shoal_result *profile = profile_column("gr\xf6\xdf"
                                         "e",
                                         ROWS("a", "b", "a", "b"));
  assert_int_equal(profile->n_warnings, 1);
  assert_non_null(strstr(profile->warnings[0], "not UTF-8"));
  shoal_policy_free(policy_of(profile));
  shoal_result_free(profile);
}

static void small_and_poor_tables(void **state) {
  (void)state;
  const char *const names[] = {"age", "disease"};
  static const struct {
    const char *cells[6];
    size_t n_cells;
    uint64_t k, p;
  } cases[] = {{{"1", "a", "2", "b", "1", "a"}, 6, 3, 2},
               {{"1", "a", "2", "a", "1", "?"}, 6, 3, 0}, /* one illness: p cannot be 2 */
               {{"1", "a"}, 2, 1, 0}};
  for (size_t i = 0; i < 3; i++) {
    shoal_result *profile = profile_cells(names, 2, cases[i].cells, cases[i].n_cells);
    shoal_policy *policy = policy_of(profile);
    assert_int_equal(policy->k, cases[i].k);
    assert_int_equal(policy->p, cases[i].p);
    shoal_policy_free(policy);
    shoal_result_free(profile);
  }
}

static void comments_say_why(void **state) {
  (void)state;
  const char *const names[] = {"age", "sex"};
  shoal_result *profile = profile_cells(names, 2, ROWS("30", "f", "31", "m", "30", "f"));
  char *yaml = policy_text(profile);
  const char *const phrases[] = {
      "# 2 columns, 3 rows; 2 quasi-identifiers with 2 combinations of values;\n"
      "# 1 row is alone with its.\n",
      "  # number: 2 values, the most frequent in 2 rows; 1 row alone with its\n"
      "  # its name suggests an age: others may know it or can find it out\n",
      "\n  sex: {role: quasi", "missing: [\"\"]"};
  for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
    if (!strstr(yaml, phrases[i])) fail_msg("no \"%s\" in\n%s", phrases[i], yaml);
  free(yaml);
  shoal_result_free(profile);
}

/* Random names and roles: the entries of the policy give each column its role, and are fewer. */
static void patterns_give_every_column_its_role(void **state) {
  (void)state;
  enum { N = 300, ROUNDS = 40 };
  static const char *const roles[] = {"keep", "quasi", "sensitive", "identifier"};
  static char names[N][16];
  static shoal_column_outcome columns[N];
  static shoal_profile_entry entries[N];
  uint32_t draw = 1;
  for (unsigned round = 0; round < ROUNDS; round++) {
    unsigned n_letters = 1 + round % 4, n_roles = 1 + round % 4;
    for (unsigned c = 0; c < N; c++) {
      char *name = names[c];
      for (unsigned l = 0; l < n_letters; l++) {
        draw = draw * 1664525 + 1013904223;
        *name++ = "ab\xc3z"[draw >> 30];
        if (name[-1] == '\xc3') *name++ = draw >> 20 & 1 ? '\xa4' : '\xb6';
      }
      (void)snprintf(name, 6, "%u", c);
      draw = draw * 1664525 + 1013904223;
      columns[c] = (shoal_column_outcome){
          .name = names[c],
          .type = "text",
          .role = roles[draw >> 16 & 1 ? (unsigned char)names[c][0] % n_roles : 0],
          .why = "why"};
    }
    shoal_profile_report profile = {.columns = columns, .n_columns = N};
    shoal_result result = {.kind = SHOAL_RESULT_PROFILE, .input_rows = 9, .input_columns = N};
    result.profile = profile;
    result.profile.missing_marks = "[]";
    size_t n_entries;
    assert_true(shoal_profile_merge(&profile, true, entries, &n_entries));
    if (n_roles == 1) assert_true(n_entries < N / 10);
    shoal_policy *policy = policy_of(&result);
    assert_int_equal(policy->n_attributes, n_entries);
    for (unsigned c = 0; c < N; c++) {
      const shoal_attribute *attribute = shoal_policy_attribute(policy, names[c]);
      static const char *const by_role[] = {"identifier", "quasi", "sensitive", "keep"};
      assert_non_null(attribute);
      assert_string_equal(by_role[attribute->role], columns[c].role);
    }
    shoal_policy_free(policy);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(patterns_give_every_column_its_role),
      cmocka_unit_test(policy_works_on_the_data),
      cmocka_unit_test(odd_names),
      cmocka_unit_test(names_that_no_policy_can_hold),
      cmocka_unit_test(small_and_poor_tables),
      cmocka_unit_test(comments_say_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
