/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of facts: applied to the table by joins, as a database would, they give the rows of
 * the release; and what results say of models and risks.
 */
#include "library_fixture.h"

static shoal_error error;

/* The cells of people.csv, which has no quotes: cell c of data row `row`. */
static void cell_of(const char *text, size_t row, size_t c, char out[32]) {
  for (size_t line = 0; line <= row; line++) text = strchr(text, '\n') + 1;
  for (; c; c--) text += strcspn(text, ",") + 1;
  (void)snprintf(out, 32, "%.*s", (int)strcspn(text, ",\n"), text);
}

static shoal_release *released(const char *algorithm, shoal_policy **policy, shoal_table **table,
                               char **text) {
  char path[PATH_BYTES];
  shoal_release *release;
  shoal_write_options options = {sizeof options, .keep_order = true};
  write_people("people.csv");
  *policy = parse(policy_text);
  if (shoal_policy_set(*policy, "algorithm", algorithm, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  *table = read_people(*policy, SHOAL_FOR_RELEASE);
  if (shoal_anonymize(*table, *policy, NULL, &release, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  path_of("facts.csv", path);
  if (shoal_release_write(release, path, &options, NULL, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  *text = slurp(path);
  return release;
}

/* What the facts make of cell q of a row: the label of its value, or of its class. */
static void label_of(const shoal_facts *facts, const char *people, size_t row, size_t q,
                     char out[32]) {
  uint64_t n;
  const uint32_t *class_of_row = shoal_facts_class_of_rows(facts, &n);
  size_t size;
  const char *label = shoal_facts_label(facts, class_of_row[row], q, &size);
  (void)snprintf(out, 32, "%.*s", (int)size, label);
  char cell[32];
  cell_of(people, row, q + 1, cell);
  for (size_t v = 0; v < shoal_facts_values(facts); v++) {
    shoal_value_fact fact;
    assert_true(shoal_facts_value(facts, v, &fact));
    if (fact.quasi != q || fact.value_bytes != strlen(cell) || fact.is_star ||
        memcmp(fact.value, cell, fact.value_bytes) != 0)
      continue;
    assert_int_equal(fact.label_bytes, size);
    assert_memory_equal(fact.label, label, size);
    return;
  }
  assert_int_equal(shoal_facts_values(facts), 0); /* else every value has a label */
}

static void expect_rows(const char *algorithm) {
  shoal_policy *policy;
  shoal_table *table;
  char *text, *people, path[PATH_BYTES];
  shoal_release *release = released(algorithm, &policy, &table, &text);
  path_of("people.csv", path);
  people = slurp(path);
  shoal_facts *facts;
  assert_int_equal(shoal_facts_new(release, &facts, &error), SHOAL_OK);
  assert_int_equal(shoal_facts_quasi(facts), 2);
  assert_string_equal(shoal_facts_name(facts, 1), "town");
  uint64_t n, in_classes = 0;
  const uint32_t *class_of_row = shoal_facts_class_of_rows(facts, &n);
  assert_int_equal(n, N_PEOPLE);
  shoal_class_fact fact;
  for (size_t c = 0; shoal_facts_class(facts, c, &fact); c++) in_classes += fact.n_rows;
  assert_int_equal(in_classes, N_PEOPLE);
  size_t out = 0;
  for (size_t row = 0; row < N_PEOPLE; row++) {
    assert_true(shoal_facts_class(facts, class_of_row[row], &fact));
    if (fact.fate == SHOAL_REMOVED) continue;
    for (size_t q = 0; q < 2; q++) {
      char expected[32], label[32];
      cell_of(text, out, q, expected);
      label_of(facts, people, row, q, label);
      assert_string_equal(label, expected);
    }
    out++;
  }
  shoal_model_fact model;
  const shoal_result *result = shoal_release_result(release);
  assert_true(shoal_result_n_models(result) >= 2);
  for (size_t i = 0; shoal_result_model(result, i, &model); i++)
    assert_true(model.model && model.holds && model.is_judged && !model.violating_rows);
  shoal_facts_free(facts);
  shoal_release_free(release);
  shoal_table_free(table);
  shoal_policy_free(policy);
  free(text);
  free(people);
}

static void facts_give_the_release(void **state UNUSED) {
  static const char *const algorithms[] = {"samarati", "datafly", "mondrian", "flock"};
  for (size_t i = 0; i < COUNT(algorithms); i++) expect_rows(algorithms[i]);
}

static void results_tell_models_and_risks(void **state UNUSED) {
  write_people("people.csv");
  shoal_policy *policy = parse(policy_text);
  shoal_table *table = read_people(policy, SHOAL_FOR_RELEASE);
  shoal_result *check;
  assert_int_equal(shoal_check(table, policy, NULL, &check, &error), SHOAL_OK);
  shoal_model_fact model;
  assert_true(shoal_result_model(check, 0, &model));
  assert_string_equal(model.model, "k-anonymity");
  assert_true(model.required >= 3 && model.reached < 3 && !model.holds && model.violating_rows > 0);
  shoal_risk_fact risk = {0};
  for (size_t i = 0; i < shoal_result_n_risks(check); i++) {
    assert_true(shoal_result_risk(check, i, &risk));
    assert_true(risk.kind && risk.why);
  }
  assert_true(risk.kind != NULL); /* the identifier is still there */
  shoal_result_free(check);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void null_arguments(void **state UNUSED) {
  shoal_facts *facts = (shoal_facts *)-1;
  uint64_t n = 1;
  size_t size;
  assert_int_equal(shoal_facts_new(NULL, &facts, &error), SHOAL_BAD_INPUT);
  assert_null(facts);
  assert_false(shoal_facts_quasi(NULL) || shoal_facts_classes(NULL) || shoal_facts_values(NULL));
  assert_null(shoal_facts_name(NULL, 0));
  assert_null(shoal_facts_label(NULL, 0, 0, &size));
  assert_null(shoal_facts_class_of_rows(NULL, &n));
  assert_false(shoal_facts_class(NULL, 0, NULL) || shoal_facts_value(NULL, 0, NULL));
  assert_false(shoal_result_n_models(NULL) || shoal_result_n_risks(NULL));
  assert_false(shoal_result_model(NULL, 0, NULL) || shoal_result_risk(NULL, 0, NULL));
  shoal_facts_free(NULL);
  shoal_free(NULL);
  assert_int_equal(shoal_abi_version(), SHOAL_ABI_VERSION);
  assert_int_equal(shoal_version_number(), SHOAL_VERSION_NUMBER);
}

/* JSON is YAML: the same policy in both gives the same. */
static void policies_may_be_json(void **state UNUSED) {
  static const char json[] =
      "{\"shoal\": 1, \"attributes\": {\"name\": {\"role\": \"identifier\"},\n"
      "\"age\": {\"role\": \"quasi\", \"type\": \"number\", \"hierarchy\": {\"intervals\": [10, "
      "40],"
      " \"origin\": 20}},\n\"town\": {\"role\": \"quasi\", \"hierarchy\": {\"mask\": \"right\"}},\n"
      "\"illness\": {\"role\": \"sensitive\"}, \"ward\": {\"role\": \"keep\"}},\n"
      "\"unlisted\": \"drop\", \"privacy\": {\"k\": 3, \"p\": 2},\n"
      "\"method\": {\"max-suppression\": \"5%\", \"seed\": 7}}\n";
  static const char *const texts[] = {policy_text, json};
  char *lines[2];
  write_people("people.csv");
  for (size_t i = 0; i < 2; i++) {
    char path[PATH_BYTES];
    shoal_policy *policy = parse(texts[i]);
    shoal_table *table = read_people(policy, SHOAL_FOR_RELEASE);
    shoal_release *release;
    assert_int_equal(shoal_anonymize(table, policy, NULL, &release, &error), SHOAL_OK);
    path_of("json.csv", path);
    assert_int_equal(shoal_release_write(release, path, NULL, NULL, &error), SHOAL_OK);
    lines[i] = slurp(path);
    shoal_release_free(release);
    shoal_table_free(table);
    shoal_policy_free(policy);
  }
  assert_string_equal(lines[0], lines[1]);
  free(lines[0]);
  free(lines[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(facts_give_the_release),
      cmocka_unit_test(results_tell_models_and_risks),
      cmocka_unit_test(null_arguments),
      cmocka_unit_test(policies_may_be_json),
  };
  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
