/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The promises of shoal.h to a program that embeds the library: how long arguments must live, which
 * tables fit which policy and job, and a status for every wrong argument.
 */
#include "library_fixture.h"

#include <limits.h>
#include <sys/stat.h>

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
      shoal_error error = {0};
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
      shoal_error error = {0};
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
static char *release_of(const shoal_table *table, const shoal_policy *policy, shoal_error *error) {
  shoal_release *release;
  if (shoal_anonymize(table, policy, NULL, &release, error)) return NULL;
  char path[PATH_BYTES], *text = NULL;
  path_of("out.csv", path);
  if (shoal_release_write(release, path, NULL, NULL, error) == SHOAL_OK) text = slurp(path);
  shoal_release_free(release);
  return text;
}

static char *study_of(size_t i, const shoal_table *table, const shoal_policy *policy,
                      shoal_error *error) {
  shoal_result *result;
  char *text = NULL;
  if (i == COUNT(studies)) return release_of(table, policy, error);
  if (studies[i](table, policy, NULL, &result, error)) return NULL;
  assert_int_equal(shoal_result_render(result, SHOAL_JSON, &text, error), SHOAL_OK);
  shoal_result_free(result);
  return text;
}

/* Job i on the table read with policy and purpose as given, or with `other` in place of it. */
static char *answer(size_t i, const shoal_policy *policy, const shoal_policy *other,
                    shoal_purpose purpose, bool counted, shoal_error *error) {
  shoal_table *table = table_of(other, purpose, counted);
  char *text = table ? study_of(i, table, policy, error) : NULL;
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
    shoal_error error;
    shoal_purpose purpose = i == STUDIES ? SHOAL_FOR_RELEASE : SHOAL_FOR_REVIEW;
    char *expected = answer(i, policy, policy, purpose, counted, &error);
    for (size_t read = 0; read < READERS * PURPOSES; read++) {
      error = (shoal_error){.message = "not read"};
      char *found = answer(i, policy, all[read / PURPOSES], (shoal_purpose)(read % PURPOSES),
                           counted, &error);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_release_does_not_keep_the_run),
      cmocka_unit_test(a_result_borrows_nothing),
      cmocka_unit_test(a_table_fits_or_gives_a_status),
  };
  return cmocka_run_group_tests(tests, start, remove_directory);
}
