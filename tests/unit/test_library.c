/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The promises of shoal.h to a program that embeds the library: how long arguments must live, which
 * tables fit which policy and job, and a status for every wrong argument.
 */
#include "library_fixture.h"

#include <limits.h>
#include <locale.h>

static shoal_error error;

static int start(void **state) {
  if (make_directory(state)) return 1;
  write_people("people.csv");
  return 0;
}

/* ---------------------------------------------------------------- lifetimes */

static bool count_call(void *user, const shoal_progress *progress UNUSED) {
  ++*(unsigned *)user;
  return false;
}

static bool must_not_be_called(void *user UNUSED, const shoal_progress *progress UNUSED) {
  fail_msg("a run was used after the call that it was given to");
  return true;
}

/* The run of shoal_anonymize ends with the call; writing uses its own. */
static void a_release_does_not_keep_the_run(void **state UNUSED) {
  static const char *const algorithms[] = {"optimal", "samarati", "datafly", "mondrian", "flock"};
  for (size_t a = 0; a < COUNT(algorithms); a++) {
    for (int with_run = 0; with_run < 2; with_run++) {
      unsigned n_calls = 0, n_later = 0;
      shoal_run run = {.n_threads = 2, .progress = count_call, .progress_user = &n_calls};
      shoal_run later = {.n_threads = 2, .progress = count_call, .progress_user = &n_later};
      shoal_policy *policy = parse(policy_text);
      assert_int_equal(shoal_policy_set(policy, "algorithm", algorithms[a], NULL), SHOAL_OK);
      shoal_table *table = read_people(policy, SHOAL_FOR_RELEASE);
      shoal_release *release;
      assert_int_equal(shoal_anonymize(table, policy, &run, &release, &error), SHOAL_OK);
      assert_true(n_calls > 0);
      run = (shoal_run){.n_threads = 2, .progress = must_not_be_called};
      char path[PATH_BYTES];
      path_of("out.csv", path);
      const shoal_write_options options = {.detail = SHOAL_DETAIL_HTML};
      if (shoal_release_write(release, path, &options, with_run ? &later : NULL, &error))
        fail_msg("%s", error.message);
      assert_true(with_run ? n_later > 0 : n_later == 0);
      later.progress = must_not_be_called;
      if (shoal_release_write(release, path, &options, NULL, &error)) fail_msg("%s", error.message);
      shoal_release_free(release);
      shoal_table_free(table);
      shoal_policy_free(policy);
    }
  }
}

typedef shoal_status study(const shoal_table *, const shoal_policy *, const shoal_run *,
                           shoal_result **, shoal_error *);

static study *const studies[] = {shoal_check, shoal_conditions, shoal_lattice, shoal_explain};

/* The sanitizers report a use of what was freed. */
static void a_result_borrows_nothing(void **state UNUSED) {
  for (size_t i = 0; i < COUNT(studies) + 3; i++) {
    shoal_policy *policy = parse(policy_text);
    shoal_table *table = read_people(policy, SHOAL_FOR_RELEASE);
    shoal_table *people = read_people(NULL, SHOAL_FOR_RELEASE);
    shoal_result *result;
    const shoal_attack_options options = {.original = table, .external = people};
    shoal_status status = i < COUNT(studies)    ? studies[i](table, policy, NULL, &result, NULL)
                          : i == COUNT(studies) ? shoal_profile(people, NULL, &result, NULL)
                          : i == COUNT(studies) + 1
                              ? shoal_measure(table, table, policy, NULL, NULL, &result, NULL)
                              : shoal_attack_release(table, policy, &options, NULL, &result, NULL);
    assert_int_equal(status, SHOAL_OK);
    shoal_table_free(table);
    shoal_table_free(people);
    shoal_policy_free(policy);
    static const shoal_format formats[] = {SHOAL_TEXT, SHOAL_JSON, SHOAL_HTML,
                                           SHOAL_CSV,  SHOAL_DOT,  SHOAL_SVG};
    for (size_t f = 0; f < COUNT(formats); f++) {
      char *text = NULL;
      status = shoal_result_render(result, formats[f], &text, &error);
      assert_true(status == SHOAL_OK ? text != NULL : status == SHOAL_BAD_INPUT && *error.message);
      free(text);
    }
    shoal_result_free(result);
  }
}

/* ---------------------------------------------------------------- tables and policies */

/* Each uses the columns in another way. */
static const char *const policies[] = {
    policy_text,
    /* a role each moved on */
    "shoal: 1\nattributes:\n"
    "  name: {role: keep}\n  age: {role: identifier}\n" TOWN
    "  illness: {role: quasi, hierarchy: {top: true}}\n"
    "  ward: {role: sensitive}\nunlisted: drop\n"
    "privacy: {k: 2, p: 2}\nmethod: {max-suppression: 5%, seed: 7}\n",
    /* few columns are read */
    "shoal: 1\nattributes:\n  ward: {role: quasi, hierarchy: {top: true}}\nunlisted: drop\n"
    "privacy: {k: 2}\nmethod: {seed: 7}\n",
    /* other columns are read, and other cells are missing */
    "shoal: 1\ndata: {missing: [a1]}\nattributes:\n" TOWN AGE "unlisted: keep\n"
    "privacy: {k: 2}\nmethod: {max-suppression: 5%, seed: 7}\n",
    /* a column that is not there */
    "shoal: 1\nattributes:\n" TOWN "  height: {role: quasi, hierarchy: {top: true}}\n"
    "unlisted: drop\nprivacy: {k: 2}\n",
    /* columns are not listed */
    "shoal: 1\nattributes:\n" TOWN "privacy: {k: 2}\n",
    /* text is declared a number */
    "shoal: 1\nattributes:\n  ward: {role: quasi, type: number, hierarchy: {top: true}}\n"
    "unlisted: drop\nprivacy: {k: 2}\n",
    /* a guard column */
    "shoal: 1\nattributes:\n" TOWN "  illness: {role: sensitive, hierarchy: {tree: {lungs: [flu, "
    "cold, asthma], joints: [gout]}}}\n"
    "  wish: {role: identifier}\n"
    "unlisted: drop\nprivacy:\n  k: 2\n  models:\n"
    "    - personalized: {breach: 0.9, column: wish}\nmethod: {seed: 7}\n"};

/* The table as the caller may have made it: reader n_policies has no policy. */
static shoal_table *table_of(const shoal_policy *policy, shoal_purpose purpose, bool counted) {
  char path[PATH_BYTES];
  path_of("people.csv", path);
  const shoal_run run = {.memory_bytes = counted ? 1 : 0, .n_threads = 1};
  shoal_table *table;
  return shoal_table_read(path, policy, purpose, NULL, &run, &table, NULL) ? NULL : table;
}

/* The release, its bytes after the text output; NULL: a status. */
static char *release_of(const shoal_table *table, const shoal_policy *policy) {
  shoal_release *release;
  if (shoal_anonymize(table, policy, NULL, &release, &error)) return NULL;
  char path[PATH_BYTES], *text = NULL;
  path_of("out.csv", path);
  if (shoal_release_write(release, path, NULL, NULL, &error) == SHOAL_OK) text = slurp(path);
  shoal_release_free(release);
  return text;
}

static char *study_of(size_t i, const shoal_table *table, const shoal_policy *policy) {
  shoal_result *result;
  char *text = NULL;
  if (i == COUNT(studies)) return release_of(table, policy);
  if (studies[i](table, policy, NULL, &result, &error)) return NULL;
  assert_int_equal(shoal_result_render(result, SHOAL_JSON, &text, &error), SHOAL_OK);
  shoal_result_free(result);
  return text;
}

/* Job i on the table read with policy and purpose as given, or with `other` in place of it. */
static char *answer(size_t i, const shoal_policy *policy, const shoal_policy *other,
                    shoal_purpose purpose, bool counted) {
  shoal_table *table = table_of(other, purpose, counted);
  char *text = table ? study_of(i, table, policy) : NULL;
  shoal_table_free(table);
  return text;
}

/*
 * A table read in any way, used with any policy: a clear status, or the answer that the table gives
 * when it is read with that policy for that job.
 */
static void a_table_fits_or_gives_a_status(void **state UNUSED) {
  enum { PURPOSES = 3, STUDIES = COUNT(studies), READERS = COUNT(policies) + 1 };
  size_t n_refused = 0, n_answered = 0;
  shoal_policy *all[READERS] = {NULL}; /* the last reader has none */
  for (size_t i = 0; i < COUNT(policies); i++) all[i] = parse(policies[i]);
  for (size_t n = 0; n < COUNT(policies) * (STUDIES + 1) * 2; n++) {
    const shoal_policy *policy = all[n % COUNT(policies)];
    size_t i = n / COUNT(policies) % (STUDIES + 1);
    bool counted = n / COUNT(policies) / (STUDIES + 1);
    shoal_purpose purpose = i == STUDIES ? SHOAL_FOR_RELEASE : SHOAL_FOR_REVIEW;
    char *expected = answer(i, policy, policy, purpose, counted);
    for (size_t read = 0; read < READERS * PURPOSES; read++) {
      error = (shoal_error){.message = "not read"};
      char *found =
          answer(i, policy, all[read / PURPOSES], (shoal_purpose)(read % PURPOSES), counted);
      if (found && (!expected || strcmp(found, expected) != 0))
        fail_msg("%zu, read as %zu:\n%s\n%s", n, read, found, expected ? expected : "(refused)");
      assert_true(found || *error.message);
      n_refused += !found;
      n_answered += found != NULL;
      free(found);
    }
    free(expected);
  }
  for (size_t i = 0; i < COUNT(policies); i++) shoal_policy_free(all[i]);
  assert_true(n_refused > 100 && n_answered > 100);
}

/* ---------------------------------------------------------------- arguments */

#define bad(call)                                                                                  \
  do {                                                                                             \
    error = (shoal_error){0};                                                                      \
    shoal_status given = (call);                                                                   \
    if ((given != SHOAL_BAD_INPUT && given != SHOAL_BAD_POLICY) || !*error.message)                \
      fail_msg("%s: status %d '%s'", #call, (int)given, error.message);                            \
  } while (0)

static void null_policies_and_tables_give_a_status(void **state UNUSED) {
  shoal_policy *policy = parse(policy_text), *made = (shoal_policy *)-1;
  shoal_table *table = (shoal_table *)-1;
  bad(shoal_policy_read(NULL, &made, &error));
  bad(shoal_policy_read("x", NULL, &error));
  bad(shoal_policy_read("", &made, &error));
  assert_null(made);
  bad(shoal_policy_parse(NULL, 1, NULL, NULL, &made, &error));
  bad(shoal_policy_parse(NULL, 0, NULL, NULL, &made, &error));
  bad(shoal_policy_parse("x", 1, NULL, NULL, NULL, &error));
  bad(shoal_policy_set(NULL, "k", "2", &error));
  bad(shoal_policy_set(policy, NULL, "2", &error));
  bad(shoal_policy_set(policy, "k", NULL, &error));
  assert_null(shoal_policy_role(NULL, "age"));
  assert_null(shoal_policy_role(policy, NULL));
  assert_string_equal(shoal_policy_role(policy, "no such column"), "drop"); /* unlisted */
  assert_null(shoal_policy_missing(NULL));
  assert_null(shoal_policy_algorithm(NULL));
  assert_false(shoal_policy_names_file(NULL, "x") || shoal_policy_names_file(policy, NULL));
  bad(shoal_table_read(NULL, policy, SHOAL_FOR_RELEASE, NULL, NULL, &table, &error));
  bad(shoal_table_read("x", policy, SHOAL_FOR_RELEASE, NULL, NULL, NULL, &error));
  bad(shoal_table_read("x", policy, (shoal_purpose)3, NULL, NULL, &table, &error));
  assert_null(table);
  assert_true(shoal_table_rows(NULL) == 0 && shoal_table_columns(NULL) == 0 &&
              shoal_table_bytes(NULL) == 0);
  bad(shoal_table_finish(NULL, policy, SHOAL_FOR_RELEASE, &error));
  shoal_policy_free(policy);
  shoal_policy_free(NULL);
  shoal_table_free(NULL);
}

static void null_cells_give_a_status(void **state UNUSED) {
  static const uint64_t offsets[] = {0, 0, 1};
  shoal_table *table = (shoal_table *)-1;
  bad(shoal_table_new(NULL, 1, &table, &error));
  bad(shoal_table_new((const char *const[]){NULL}, 1, &table, &error));
  bad(shoal_table_new((const char *const[]){"a"}, 0, &table, &error));
  assert_null(table);
  bad(shoal_table_new((const char *const[]){"a"}, 1, NULL, &error));
  assert_int_equal(shoal_table_new((const char *const[]){"a"}, 1, &table, &error), SHOAL_OK);
  const shoal_text_view nothing = {NULL, NULL}, no_bytes = {NULL, offsets}, view = {"x", offsets};
  bad(shoal_table_append(NULL, &view, 1, 1, NULL, &error));
  bad(shoal_table_append(table, NULL, 1, 1, NULL, &error));
  bad(shoal_table_append(table, &nothing, 1, 1, NULL, &error));
  bad(shoal_table_append(table, &no_bytes, 1, 2, NULL, &error));
  assert_int_equal(shoal_table_append(table, &no_bytes, 1, 1, NULL, &error), SHOAL_OK);
  assert_int_equal(shoal_table_append(table, &view, 1, 2, NULL, &error), SHOAL_OK);
  assert_int_equal(shoal_table_rows(table), 3);
  bad(shoal_table_finish(table, NULL, (shoal_purpose)-1, &error));
  shoal_result *result = (shoal_result *)-1;
  bad(shoal_profile(table, NULL, &result, &error)); /* not finished */
  assert_null(result);
  char *csv = (char *)-1;
  bad(shoal_hierarchy_build("{top: true}", table, "a", &csv, &error));
  assert_null(csv);
  shoal_table_free(table);
}

static void null_arguments_of_jobs_give_a_status(void **state UNUSED) {
  assert_int_equal(shoal_result_verdict(NULL), SHOAL_NOT_JUDGED);
  assert_int_equal(shoal_result_open_risks(NULL), 0);
  shoal_policy *policy = parse(policy_text);
  shoal_table *table = read_people(policy, SHOAL_FOR_RELEASE);
  shoal_result *result = (shoal_result *)-1;
  for (size_t i = 0; i < COUNT(studies); i++) {
    bad(studies[i](NULL, policy, NULL, &result, &error));
    bad(studies[i](table, NULL, NULL, &result, &error));
    bad(studies[i](table, policy, NULL, NULL, &error));
  }
  bad(shoal_profile(NULL, NULL, &result, &error));
  bad(shoal_profile(table, NULL, NULL, &error));
  bad(shoal_profile(table, NULL, &result, &error)); /* read with a policy */
  bad(shoal_measure(NULL, table, policy, NULL, NULL, &result, &error));
  bad(shoal_measure(table, NULL, policy, NULL, NULL, &result, &error));
  bad(shoal_measure(table, table, NULL, NULL, NULL, &result, &error));
  bad(shoal_measure(table, table, policy, NULL, NULL, NULL, &error));
  bad(shoal_attack_release(NULL, policy, NULL, NULL, &result, &error));
  bad(shoal_attack_release(table, NULL, NULL, NULL, &result, &error));
  bad(shoal_attack_release(table, policy, NULL, NULL, NULL, &error));
  bad(shoal_hierarchy_describe(NULL, NULL, NULL, &result, &error));
  bad(shoal_hierarchy_describe(NULL, policy, NULL, NULL, &error));
  bad(shoal_hierarchy_describe("age", policy, NULL, &result, &error)); /* needs the data */
  assert_null(result);
  char *text = NULL;
  bad(shoal_hierarchy_build(NULL, table, "age", &text, &error));
  bad(shoal_hierarchy_build("{top: true}", NULL, "age", &text, &error));
  bad(shoal_hierarchy_build("{top: true}", table, NULL, &text, &error));
  bad(shoal_hierarchy_build("{top: true}", table, "age", NULL, &error));
  bad(shoal_hierarchy_build("{top: true}", table, "name", &text, &error)); /* was not kept */
  bad(shoal_profile_policy(NULL, &text, &error));
  bad(shoal_result_render(NULL, SHOAL_TEXT, &text, &error));
  assert_int_equal(shoal_check(table, policy, NULL, &result, &error), SHOAL_OK);
  bad(shoal_profile_policy(result, &text, &error));
  bad(shoal_result_render(result, SHOAL_TEXT, NULL, &error));
  bad(shoal_result_render(result, (shoal_format)6, &text, &error));
  bad(shoal_result_render(result, (shoal_format)-1, &text, &error));
  assert_null(text);
  assert_false(shoal_result_holds(NULL));
  shoal_result_free(result);
  shoal_result_free(NULL);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void null_arguments_of_releases_give_a_status(void **state UNUSED) {
  shoal_policy *policy = parse(policy_text);
  shoal_table *table = read_people(policy, SHOAL_FOR_RELEASE);
  shoal_release *release = (shoal_release *)-1;
  bad(shoal_anonymize(NULL, policy, NULL, &release, &error));
  bad(shoal_anonymize(table, NULL, NULL, &release, &error));
  assert_null(release);
  bad(shoal_anonymize(table, policy, NULL, NULL, &error));
  assert_null(shoal_release_result(NULL));
  assert_int_equal(shoal_anonymize(table, policy, NULL, &release, &error), SHOAL_OK);
  char path[PATH_BYTES];
  path_of("null.csv", path);
  bad(shoal_release_write(NULL, path, NULL, NULL, &error));
  bad(shoal_release_write(release, NULL, NULL, NULL, &error));
  bad(shoal_release_write(release, "", NULL, NULL, &error));
  bad(shoal_release_write_beside(release, path, &(shoal_avoided){.n = 1}, NULL, NULL, &error));
  bad(shoal_release_write(release, path, &(shoal_write_options){.struct_size = 1}, NULL, &error));
  bad(shoal_release_write(release, path, NULL, &(shoal_run){.struct_size = 1}, &error));
  bad(shoal_release_write(release, path, &(shoal_write_options){.detail = (shoal_detail)3}, NULL,
                          &error));
  const shoal_table *const none[] = {table, NULL};
  bad(shoal_release_compare(NULL, table, none, 1, NULL, &error));
  bad(shoal_release_compare(release, NULL, none, 1, NULL, &error));
  bad(shoal_release_compare(release, table, NULL, 1, NULL, &error));
  bad(shoal_release_compare(release, table, none, 2, NULL, &error));
  assert_int_equal(access(path, F_OK), -1);
  shoal_release_free(release);
  shoal_release_free(NULL);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

/* ---------------------------------------------------------------- exploring */

/* The same cells as in the file, and counts that add up to its rows. */
static void a_table_without_a_policy_shows_its_values(void **state UNUSED) {
  shoal_table *table = read_people(NULL, SHOAL_FOR_RELEASE);
  size_t size;
  const char *name = shoal_table_name(table, 1, &size);
  assert_true(size == 3 && !memcmp(name, "age", 3));
  size_t value = shoal_table_cell(table, 1, 2);
  const char *cell = shoal_table_value(table, 1, value, &size);
  assert_true(size == 2 && !memcmp(cell, "34", 2)); /* 20 + 2 x 7 */
  uint64_t counts[N_PEOPLE] = {0}, sum = 0;
  size_t n = shoal_table_values(table, 1);
  assert_int_equal(n, 40);
  assert_int_equal(shoal_table_count_values(table, 1, counts, &error), SHOAL_OK);
  for (size_t v = 0; v < n; v++) sum += counts[v];
  assert_int_equal(sum, N_PEOPLE);
  assert_int_equal(counts[value], 3);
  assert_null(shoal_table_name(table, 6, &size));
  assert_null(shoal_table_name(NULL, 0, &size));
  assert_null(shoal_table_value(table, 1, 40, &size));
  assert_int_equal(shoal_table_cell(table, 1, N_PEOPLE), SIZE_MAX);
  assert_int_equal(shoal_table_cell(NULL, 0, 0), SIZE_MAX);
  assert_int_equal(shoal_table_values(table, 6), 0);
  assert_int_equal(shoal_table_count_values(table, 6, counts, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_table_count_values(table, 1, NULL, &error), SHOAL_BAD_INPUT);
  shoal_table_free(table);
}

typedef struct visited {
  uint64_t rows, violating_rows;
  size_t n_classes, n_labelled;
} visited;

static void visit(void *context, const shoal_explored_class *seen) {
  visited *sum = context;
  sum->rows += seen->rows;
  sum->violating_rows += seen->violates ? seen->rows : 0;
  sum->n_classes++;
  sum->n_labelled += seen->label_bytes[1] == 1 && seen->labels[1][0] == '*';
  assert_int_equal(seen->fewest_values, UINT32_MAX); /* the policy has no sensitive column */
}

static void an_explorer_judges_single_nodes(void **state UNUSED) {
  static const char text[] = "shoal: 1\nunlisted: drop\nattributes:\n"
                             "  age: {role: quasi, type: number, hierarchy: {intervals: [10]}}\n"
                             "  town: {role: quasi, hierarchy: {top: true}}\n"
                             "privacy: {k: 3}\n";
  shoal_policy *policy = parse(text);
  shoal_table *table = read_people(policy, SHOAL_FOR_RELEASE);
  shoal_explorer *explorer;
  shoal_explored_node node;
  assert_int_equal(shoal_explorer_new(table, policy, NULL, &explorer, &error), SHOAL_OK);
  assert_int_equal(shoal_explorer_quasi(explorer), 2);
  assert_string_equal(shoal_explorer_name(explorer, 0), "age");
  assert_int_equal(shoal_explorer_top(explorer, 0), 2);
  assert_null(shoal_explorer_name(explorer, 2));
  const unsigned top[] = {2, 1}, bottom[] = {0, 0}, wrong[] = {3, 0};
  assert_int_equal(shoal_explorer_node(explorer, top, &node, &error), SHOAL_OK);
  assert_true(node.satisfies && node.classes == 1 && node.rows == N_PEOPLE && !node.suppressed);
  assert_true(node.smallest_class == N_PEOPLE && node.loss == 1 && node.height == 3);
  assert_int_equal(shoal_explorer_node(explorer, bottom, &node, &error), SHOAL_OK);
  assert_true(!node.satisfies && node.suppressed == N_PEOPLE - node.rows && node.loss == 0);
  const unsigned towns[] = {0, 1};
  visited sum = {0};
  assert_int_equal(shoal_explorer_node(explorer, towns, &node, &error), SHOAL_OK);
  assert_int_equal(shoal_explorer_classes(explorer, towns, visit, &sum, &error), SHOAL_OK);
  assert_true(sum.rows == N_PEOPLE && sum.violating_rows == node.suppressed);
  assert_true(sum.n_classes >= node.classes && sum.n_labelled == sum.n_classes);
  assert_int_equal(shoal_explorer_classes(explorer, wrong, visit, &sum, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_explorer_classes(explorer, towns, NULL, &sum, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_explorer_node(explorer, wrong, &node, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_explorer_node(explorer, NULL, &node, &error), SHOAL_BAD_INPUT);
  assert_int_equal(shoal_explorer_node(NULL, top, &node, &error), SHOAL_BAD_INPUT);
  shoal_explorer_free(explorer);
  assert_int_equal(shoal_explorer_new(NULL, policy, NULL, &explorer, &error), SHOAL_BAD_INPUT);
  assert_null(explorer);
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void options_out_of_range_give_a_status(void **state UNUSED) {
  shoal_policy *policy = parse(policy_text);
  shoal_table *table = read_people(policy, SHOAL_FOR_REVIEW);
  shoal_result *result;
  const shoal_table *const none[] = {NULL};
  const shoal_attack_options attacks[] = {{.rule_out = UINT_MAX},
                                          {.rule_out = SHOAL_MAX_RULE_OUT + 1},
                                          {.bound = "2"},
                                          {.bound = ""},
                                          {.mu = "nan"},
                                          {.n_previous = 1},
                                          {.n_previous = 1, .previous = none}};
  for (size_t i = 0; i < COUNT(attacks); i++)
    bad(shoal_attack_release(table, policy, &attacks[i], NULL, &result, &error));
  const shoal_attack_options most = {.rule_out = SHOAL_MAX_RULE_OUT, .min_categories = UINT_MAX};
  assert_int_equal(shoal_attack_release(table, policy, &most, NULL, &result, &error), SHOAL_OK);
  shoal_result_free(result);
  const shoal_measure_options measures[] = {{.selectivity = -1},
                                            {.selectivity = 1.1},
                                            {.selectivity = 0.0 / 0.0},
                                            {.dimensions = UINT_MAX},
                                            {.has_queries = true, .n_queries = UINT64_MAX}};
  for (size_t i = 0; i < COUNT(measures); i++)
    bad(shoal_measure(table, table, policy, &measures[i], NULL, &result, &error));
  shoal_table_free(table);
  shoal_policy_free(policy);
}

static void a_file_is_committed_once(void **state UNUSED) {
  char path[PATH_BYTES], *text;
  path_of("text", path);
  shoal_file *file = (shoal_file *)-1;
  bad(shoal_file_begin(NULL, &file, &error));
  bad(shoal_file_begin(path, NULL, &error));
  bad(shoal_file_begin("", &file, &error));
  assert_null(file);
  assert_int_equal(shoal_file_begin(path, &file, &error), SHOAL_OK);
  bad(shoal_file_commit(NULL, "x", &error));
  bad(shoal_file_commit(file, NULL, &error));
  assert_int_equal(shoal_file_commit(file, "once", &error), SHOAL_OK);
  bad(shoal_file_commit(file, "twice", &error));
  shoal_file_free(file);
  shoal_file_free(NULL);
  text = slurp(path);
  assert_string_equal(text, "once\n");
  free(text);
}

/* ---------------------------------------------------------------- locale */

static char locale_directory[] = "/tmp/shoal-locale-XXXXXX";

/* A locale with a decimal comma, made for the test: systems have different ones installed. */
static bool enter_german(void) {
  char command[160];
  if (!mkdtemp(locale_directory)) return false;
  (void)snprintf(command, sizeof command, "localedef -c -i de_DE -f UTF-8 %s/de_DE.UTF-8 >&2",
                 locale_directory);
  return system(command) != -1 && setenv("LOCPATH", locale_directory, 1) == 0 &&
         setlocale(LC_ALL, "de_DE.UTF-8");
}

static int leave_german(void **state UNUSED) {
  char command[64];
  (void)setlocale(LC_ALL, "C");
  (void)snprintf(command, sizeof command, "rm -rf %s", locale_directory);
  return system(command);
}

static void add_rendering(char **all, const shoal_result *result, shoal_format format) {
  char *text, *longer;
  assert_int_equal(shoal_result_render(result, format, &text, &error), SHOAL_OK);
  assert_true(asprintf(&longer, "%s\n%s", *all ? *all : "", text) > 0);
  free(*all);
  free(text);
  *all = longer;
}

/* Everything that the library prints about the table, but for times. */
static char *print_all(void) {
  static const char fractions[] =
      "shoal: 1\nattributes:\n  name: {role: identifier}\n"
      "  age: {role: quasi, type: number, hierarchy: {intervals: [2.5, 10]}}\n" TOWN
      "  illness: {role: sensitive}\n  ward: {role: keep}\nunlisted: drop\n"
      "privacy:\n  k: 3\n  models:\n    - t-closeness: {t: 0.65}\n"
      "    - l-diversity: {l: 1.5, kind: entropy}\n"
      "method: {max-suppression: 7.5%, seed: 7}\n";
  shoal_policy *policy = parse(fractions);
  shoal_table *table = read_people(policy, SHOAL_FOR_RELEASE);
  shoal_table *whole = read_people(NULL, SHOAL_FOR_RELEASE);
  shoal_result *result;
  char *all = NULL, path[PATH_BYTES];
  for (size_t i = 0; i < COUNT(studies) + 3; i++) {
    const shoal_attack_options options = {.original = table, .bound = "0.4"};
    shoal_status status =
        i < COUNT(studies)    ? studies[i](table, policy, NULL, &result, &error)
        : i == COUNT(studies) ? shoal_profile(whole, NULL, &result, &error)
        : i == COUNT(studies) + 1
            ? shoal_hierarchy_describe("age", policy, table, &result, &error)
            : shoal_attack_release(table, policy, &options, NULL, &result, &error);
    if (status) fail_msg("%zu: %s", i, error.message);
    add_rendering(&all, result, SHOAL_TEXT);
    add_rendering(&all, result, SHOAL_JSON);
    if (i == 2) add_rendering(&all, result, SHOAL_SVG);
    shoal_result_free(result);
  }
  shoal_release *release;
  const shoal_write_options options = {.detail = SHOAL_DETAIL_HTML};
  path_of("german.csv", path);
  if (shoal_anonymize(table, policy, NULL, &release, &error) ||
      shoal_release_write(release, path, &options, NULL, &error))
    fail_msg("%s", error.message);
  add_rendering(&all, shoal_release_result(release), SHOAL_HTML);
  add_rendering(&all, shoal_release_result(release), SHOAL_TEXT);
  char *times = strstr(all, "\n  read 0");
  assert_non_null(times);
  *times = '\0'; /* the last line */
  shoal_release_free(release);
  shoal_table_free(whole);
  shoal_table_free(table);
  shoal_policy_free(policy);
  return all;
}

/* A program with a graphical interface sets its user's locale for all threads. */
static void numbers_do_not_depend_on_the_locale(void **state UNUSED) {
  char *expected = print_all(), number[8];
  if (!enter_german()) {
    free(expected);
    skip();
  }
  (void)snprintf(number, sizeof number, "%.1f", 0.5);
  assert_string_equal(number, "0,5"); /* the locale is there */
  char *found = print_all();
  assert_string_equal(found, expected);
  (void)snprintf(number, sizeof number, "%.1f", 0.5);
  assert_string_equal(number, "0,5"); /* and still the program's */
  free(expected);
  free(found);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_release_does_not_keep_the_run),
      cmocka_unit_test(a_result_borrows_nothing),
      cmocka_unit_test(a_table_fits_or_gives_a_status),
      cmocka_unit_test(null_policies_and_tables_give_a_status),
      cmocka_unit_test(null_cells_give_a_status),
      cmocka_unit_test(null_arguments_of_jobs_give_a_status),
      cmocka_unit_test(null_arguments_of_releases_give_a_status),
      cmocka_unit_test(a_table_without_a_policy_shows_its_values),
      cmocka_unit_test(an_explorer_judges_single_nodes),
      cmocka_unit_test(options_out_of_range_give_a_status),
      cmocka_unit_test(a_file_is_committed_once),
      cmocka_unit_test_teardown(numbers_do_not_depend_on_the_locale, leave_german),
  };
  return cmocka_run_group_tests(tests, start, remove_directory);
}
