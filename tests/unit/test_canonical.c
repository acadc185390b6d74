/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/policy/canonical: every key of a policy is written, and the text reads as the
 * same policy; the seed and directories are not written; labels that are not public are left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/canonical.h"
#include "shoal/shoal.h"

#define WITH(attribute) "shoal: 1\nattributes:\n  a: {" attribute "}\n"
#define SPEC(spec) WITH("role: quasi, hierarchy: {" spec "}")
#define TOP(more) "shoal: 1\nattributes: {a: {role: quasi}, b: {role: sensitive}}\n" more "\n"

/* Every key with a value that is not its default, and what must be written of it. */
static const struct {
  const char *key, *policy, *written;
} examples[] = {
    {"shoal", TOP(""), "shoal: 1\n"},
    {"data", TOP("data: {delimiter: \";\"}"), "data:\n  delimiter: \";\"\n"},
    {"data.delimiter", TOP("data: {delimiter: tab}"), "  delimiter: tab\n"},
    {"data.missing", TOP("data: {missing: [\"?\", \"\"]}"), "  missing: [\"?\", \"\"]\n"},
    {"data.fold", TOP("data: {fold: [space, case]}"), "  fold: [case, space]\n"},
    {"data.decimal", TOP("data: {decimal: \",\"}"), "  decimal: \",\"\n"},
    {"data.thousands", TOP("data: {thousands: space}"), "  thousands: space\n"},
    {"data.encoding", TOP("data: {encoding: latin1}"), "  encoding: latin1\n"},
    {"data.labels", TOP("data: {labels: labels}"), "  labels: labels\n"},
    {"attributes", TOP(""), "attributes:\n  a: {role: quasi}\n  b: {role: sensitive}\n"},
    {"attributes.NAME.role", WITH("role: keep"), "{role: keep}"},
    {"attributes.NAME.decide", WITH("role: keep, decide: true"), "{role: keep, decide: true}"},
    {"attributes.NAME.type", WITH("type: number, role: quasi"), "{role: quasi, type: number}"},
    {"attributes.NAME.type", WITH("type: date, role: quasi"), "{role: quasi, type: date}"},
    {"attributes.NAME.format", WITH("role: quasi, type: date, format: DD.MM.YYYY"),
     "{role: quasi, type: date, format: DD.MM.YYYY}"},
    {"attributes.NAME.pivot", WITH("role: sensitive, type: date, format: MM/DD/YY, pivot: 30"),
     "{role: sensitive, type: date, format: \"MM/DD/YY\", pivot: 2030}"},
    {"attributes.NAME.otherwise", WITH("role: keep, type: number, otherwise: missing"),
     "{role: keep, type: number, otherwise: missing}"},
    {"attributes.NAME.hierarchy", SPEC("top: true"), "hierarchy: {top: true}"},
    {"attributes.NAME.hierarchy.file", SPEC("file: d/e/f.csv"), "hierarchy: {file: f.csv}"},
    {"attributes.NAME.hierarchy.tree", SPEC("tree: {X: [x, {V: [v, z]}], \"1\": [\"\"]}"),
     "hierarchy: {tree: [X: [x, V: [v, z]], \"1\": [\"\"]]}"},
    {"attributes.NAME.hierarchy.levels", SPEC("levels: [[x, X, '*'], [1, \"2\", '*']]"),
     "hierarchy: {levels: [[x, X, \"*\"], [\"1\", \"2\", \"*\"]]}"},
    {"attributes.NAME.hierarchy.intervals", SPEC("intervals: [5, 10.0]"), "{intervals: [5, 10]}"},
    {"attributes.NAME.hierarchy.intervals", SPEC("intervals: auto"), "{intervals: auto}"},
    {"attributes.NAME.hierarchy.round", SPEC("round: 100"), "{round: [100]}"},
    {"attributes.NAME.hierarchy.origin", SPEC("intervals: 5, origin: -2.50"),
     "{intervals: [5], origin: -2.5}"},
    {"attributes.NAME.hierarchy.cuts", SPEC("cuts: [[18, 40], [40]]"), "{cuts: [[18, 40], [40]]}"},
    {"attributes.NAME.hierarchy.mask", SPEC("mask: left"), "{mask: left}"},
    {"attributes.NAME.hierarchy.mask", SPEC("mask: code"), "{mask: code}"},
    {"attributes.NAME.hierarchy.char", SPEC("mask: right, char: \"#\""),
     "{mask: right, char: \"#\"}"},
    {"attributes.NAME.hierarchy.date", SPEC("date: [month, 5-years]"), "{date: [month, 5-years]}"},
    {"attributes.NAME.hierarchy.format", SPEC("date: year, format: DD.MM.YYYY"),
     "{date: [year], format: DD.MM.YYYY}"},
    {"attributes.NAME.hierarchy.pivot", SPEC("date: year, format: MM/DD/YY, pivot: 2026"),
     "{date: [year], format: \"MM/DD/YY\", pivot: 2026}"},
    {"attributes.NAME.hierarchy.sets", WITH("role: quasi, type: number, hierarchy: {sets: true}"),
     "{role: quasi, type: number, hierarchy: {sets: true}}"},
    {"attributes.NAME.hierarchy.top", SPEC("top: true"), "{top: true}"},
    {"attributes.NAME.hierarchy.top-code",
     WITH("role: quasi, type: number, hierarchy: {intervals: 5, top-code: 90.0}"),
     "hierarchy: {intervals: [5]}, top-code: 90}"},
    {"attributes.NAME.hierarchy.bottom-code",
     WITH("role: keep, type: number, hierarchy: {bottom-code: -5}"),
     "{role: keep, type: number, bottom-code: -5}"},
    {"attributes.NAME.top-code", WITH("role: keep, type: number, top-code: 90"), "top-code: 90"},
    {"attributes.NAME.bottom-code", WITH("role: keep, type: number, bottom-code: 0.50"),
     "bottom-code: 0.5"},
    {"attributes.NAME.rare", WITH("role: sensitive, rare: 20"), "rare: 20"},
    {"attributes.NAME.hierarchy.rare", WITH("role: quasi, hierarchy: {top: true, rare: 5}"),
     "hierarchy: {top: true}, rare: 5}"},
    {"attributes.NAME.min-level", WITH("role: quasi, hierarchy: {top: true}, min-level: 1"),
     "min-level: 1"},
    {"attributes.NAME.max-level", WITH("role: quasi, hierarchy: {top: true}, max-level: 0"),
     "max-level: 0"},
    {"attributes.NAME.protect", WITH("role: sensitive, protect: [x, \"y z\"]"),
     "protect: [x, \"y z\"]"},
    {"attributes.NAME.categories", WITH("role: sensitive, categories: [[x, v], [z]]"),
     "categories: [[x, v], [z]]"},
    {"attributes.NAME.key", WITH("role: pseudonym, key: {file: ../k, context: c}"),
     "{role: pseudonym}"},
    {"attributes.NAME.person", WITH("role: pseudonym, person: true, key: {env: K}"),
     "{role: pseudonym, person: true}"},
    {"attributes.NAME.key.file", WITH("role: pseudonym, key: {file: k}"), "{role: pseudonym}"},
    {"attributes.NAME.key.env", WITH("role: pseudonym, key: {env: K}"), "{role: pseudonym}"},
    {"attributes.NAME.key.context", WITH("role: pseudonym, key: {env: K, context: c}"),
     "{role: pseudonym}"},
    {"attributes.NAME.categories.file", WITH("role: sensitive, categories: {file: ../c.csv}"),
     "categories: {file: c.csv}"},
    {"attributes.NAME.snap", WITH("role: quasi, type: number, snap: 5"), "snap: 5"},
    {"attributes.NAME.recode",
     WITH("role: quasi, type: number, hierarchy: {intervals: 5}, recode: hierarchy"),
     "recode: hierarchy"},
    {"attributes.NAME.anonymity", WITH("role: quasi, anonymity: 0.5"), "anonymity: 0.5"},
    {"attributes.NAME.profile", WITH("role: quasi, profile: 0.25"), "profile: 0.25"},
    {"attributes.NAME.sensitivity", WITH("role: quasi, sensitivity: 0"), "sensitivity: 0"},
    {"unlisted", TOP("unlisted: drop"), "unlisted: drop\n"},
    {"accept", TOP("accept: {kept: [a]}"), "accept:\n  kept: [a]\n"},
    {"accept.unprotected", TOP("accept: {unprotected: [b, c]}"), "  unprotected: [b, c]\n"},
    {"accept.kept", TOP("accept: {kept: [a]}"), "  kept: [a]\n"},
    {"accept.repeats", TOP("accept: {repeats: [a]}"), "  repeats: [a]\n"},
    {"accept.attacks", TOP("accept: {attacks: [homogeneity]}"), "  attacks: [homogeneity]\n"},
    {"accept.single-rows", TOP("accept: {single-rows: true}"), "  single-rows: true\n"},
    {"privacy", TOP("privacy: {k: 3}"), "privacy:\n  k: 3\n"},
    {"privacy.k", TOP("privacy: {k: 1}"), "  k: 1\n"},
    {"privacy.p", TOP("privacy: {p: 2}"), "  p: 2\n"},
    {"privacy.households",
     "shoal: 1\nattributes: {a: {role: quasi}, h: {role: household}, i: {role: person}}\n"
     "privacy: {households: 2}\n",
     "  households: 2\n"},
    {"privacy.models",
     TOP("privacy: {models: [k-anonymity, t-closeness: {distance: equal, t: 0.20, attribute: b}]}"),
     "  models:\n    - k-anonymity\n    - t-closeness: {distance: equal, t: 0.20, attribute: "
     "b}\n"},
    {"privacy.models",
     TOP("privacy: {models: [k-anonymity: {over: [a], k: 3}, p-sensitive: {known: 1, attribute: b, "
         "p: 2}, k-anonymity: {over: a}]}"),
     "  models:\n    - k-anonymity: {k: 3, over: [a]}\n    - p-sensitive: {p: 2, attribute: b, "
     "known: "
     "1}\n    - k-anonymity: {over: [a]}\n"},
    {"method", TOP(""), "method:\n  algorithm: auto\n"},
    {"method.algorithm", TOP("method: {algorithm: flock}"), "  algorithm: flock\n"},
    {"method.labels", TOP("method: {labels: uniform}"), "  labels: uniform\n"},
    {"method.max-suppression", TOP("method: {max-suppression: 1.50%}"),
     "  max-suppression: 1.5%\n"},
    {"method.suppressed", TOP("method: {suppressed: blank}"), "  suppressed: blank\n"},
    {"method.prefer", TOP("method: {prefer: [min-suppression, a]}"),
     "  prefer: [min-suppression, a]\n"},
    {"method.objective", TOP("method: {objective: dm}"), "  objective: dm\n"},
    {"method.effort", TOP("method: {effort: 1}"), "  effort: 1\n"},
    {"method.cuts", TOP("method: {cuts: strict}"), "  cuts: strict\n"},
    {"method.start", TOP("method: {start: sorted}"), "  start: sorted\n"},
    {"method.mu-argus", TOP("method: {mu-argus: suppress}"), "  mu-argus: suppress\n"},
    {"method.satisfies", TOP("method: {satisfies: matrix}"), "  satisfies: matrix\n"},
    {"method.slack", TOP("method: {slack: 2}"), "  slack: 2\n"},
    {"method.noise", TOP("method: {noise: 10}"), "  noise: 10\n"},
    {"method.weights", TOP("method: {weights: {b: 0.50, a: 2}}"), "  weights: {a: 2, b: 0.5}\n"},
    {"method.formulas", TOP("method: {formulas: quote}"), "  formulas: quote\n"},
    {"method.seed", TOP("method: {seed: 9876}"), NULL}, /* never written */
};

enum { N_EXAMPLES = sizeof examples / sizeof *examples };

static shoal_policy *parse(const char *yaml) {
  shoal_policy *policy;
  shoal_error error;
  if (shoal_policy_load_text(yaml, strlen(yaml), "policy.yaml", "dir", &policy, &error) != SHOAL_OK)
    fail_msg("%s\n-> %s", yaml, error.message);
  return policy;
}

/* The canonical text of a policy; the caller frees it. */
static char *canonical(const char *yaml, const shoal_public_labels *labels) {
  shoal_policy *policy = parse(yaml);
  shoal_text text;
  shoal_text_init(&text);
  shoal_policy_write(policy, labels, &text);
  shoal_policy_delete(policy);
  char *written = shoal_text_take(&text);
  assert_non_null(written);
  return written;
}

static void every_key_has_an_example(void **state) {
  (void)state;
  for (const shoal_entry *key = shoal_policy_keys(); key->name; key++) {
    size_t i = 0;
    while (i < N_EXAMPLES && strcmp(examples[i].key, key->name) != 0) i++;
    if (i == N_EXAMPLES) fail_msg("add an example of the key %s to this test", key->name);
  }
}

static void every_key_is_written_and_read_again(void **state) {
  (void)state;
  for (size_t i = 0; i < N_EXAMPLES; i++) {
    char *text = canonical(examples[i].policy, NULL), *again = canonical(text, NULL);
    if (examples[i].written && !strstr(text, examples[i].written))
      fail_msg("%s is not written:\n%s", examples[i].key, text);
    assert_string_equal(text, again);
    free(text);
    free(again);
  }
}

static void defaults_are_not_written(void **state) {
  (void)state;
  char *text = canonical(
      WITH(
          "role: quasi, type: text, profile: 1.0, anonymity: 0") "data: {missing: [\"\"]}\naccept: "
                                                                 "{kept: []}\nprivacy: {k: 2, "
                                                                 "models: []}\n"
                                                                 "method: {max-suppression: 0, "
                                                                 "suppressed: remove, noise: "
                                                                 "refuse, slack: 0, weights: {a: "
                                                                 "1}, "
                                                                 "formulas: keep}\n",
      NULL);
  assert_string_equal(text, "shoal: 1\nattributes:\n  a: {role: quasi}\nprivacy:\n  k: 2\nmethod:\n"
                            "  algorithm: auto\n");
  free(text);
}

static void the_seed_comments_and_directories_are_not_written(void **state) {
  (void)state;
  char *text =
      canonical("# SECRET\n" SPEC("file: SECRET/dir/f.csv") "method: {seed: 9876}\n", NULL);
  assert_null(strstr(text, "SECRET"));
  assert_null(strstr(text, "seed"));
  assert_null(strstr(text, "9876"));
  free(text);
}

static void overrides_are_written(void **state) {
  (void)state;
  static const struct {
    const char *key, *value, *written;
  } overrides[] = {{"k", "7", "  k: 7\n"},
                   {"p", "3", "  p: 3\n"},
                   {"algorithm", "mondrian", "  algorithm: mondrian\n"},
                   {"max-suppression", "2%", "  max-suppression: 2%\n"},
                   {"effort", "4", "  effort: 4\n"},
                   {"suppressed", "blank", "  suppressed: blank\n"},
                   {"formulas", "quote", "  formulas: quote\n"},
                   {"delimiter", ";", "  delimiter: \";\"\n"}};
  for (size_t i = 0; i < sizeof overrides / sizeof *overrides; i++) {
    shoal_policy *policy = parse(TOP(""));
    shoal_text text;
    shoal_text_init(&text);
    assert_int_equal(shoal_policy_override(policy, overrides[i].key, overrides[i].value, NULL),
                     SHOAL_OK);
    shoal_policy_write(policy, NULL, &text);
    assert_non_null(strstr(text.bytes, overrides[i].written));
    shoal_text_reset(&text);
    shoal_policy_delete(policy);
  }
}

/* Only labels that start with a lower-case letter. */
static bool is_lower(void *user, const char *attribute, const char *label) {
  (void)user;
  assert_string_equal(attribute, "a");
  return label[0] >= 'a' && label[0] <= 'z';
}

static void labels_that_are_not_public_are_left_out(void **state) {
  (void)state;
  static const struct {
    const char *policy, *written;
  } cases[] = {
      {SPEC("tree: {X: [x, v], z: [Z, {W: [w]}]}"), "tree: [x, v, z: [w]]}} # labels"},
      {SPEC("tree: {x: [X, V]}"), "tree: [x]}} # labels"},
      {SPEC("tree: {X: [Y]}"), "tree: []}} # labels"},
      {SPEC("tree: {x: [v]}"), "tree: [x: [v]]}}\n"},
      {WITH("role: sensitive, protect: [x, X]"), "protect: [x]} # labels"},
      {WITH("role: sensitive, categories: [[X], [x, Y]]"), "categories: [[], [x]]} # labels"},
  };
  const shoal_public_labels labels = {is_lower, NULL};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = canonical(cases[i].policy, &labels);
    if (!strstr(text, cases[i].written)) fail_msg("%s\n-> %s", cases[i].policy, text);
    free(text);
  }
}

static void odd_names_are_read_again(void **state) {
  (void)state;
  static const char *const names[] = {"a: b", "#", "- x",     "\\\"'", "{",    "yes",
                                      "1",    " ", "\\u202E", "\\n",   "\\x85"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char yaml[300];
    (void)snprintf(yaml, sizeof yaml,
                   "shoal: 1\nattributes: {\"%s\": {role: quasi, hierarchy: {tree: {\"%s\": "
                   "[\"%s\"]}}}}\n",
                   names[i], names[i], names[i]);
    char *text = canonical(yaml, NULL), *again = canonical(text, NULL);
    assert_string_equal(text, again);
    assert_null(strstr(text, "\xe2\x80\xae"));
    free(text);
    free(again);
  }
  char longest[5000], yaml[6000];
  memset(longest, 'x', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  (void)snprintf(yaml, sizeof yaml, "shoal: 1\nattributes:\n  ? %s\n  : {role: quasi}\n", longest);
  char *text = canonical(yaml, NULL), *again = canonical(text, NULL);
  assert_string_equal(text, again);
  free(text);
  free(again);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_key_has_an_example),
      cmocka_unit_test(every_key_is_written_and_read_again),
      cmocka_unit_test(defaults_are_not_written),
      cmocka_unit_test(the_seed_comments_and_directories_are_not_written),
      cmocka_unit_test(overrides_are_written),
      cmocka_unit_test(labels_that_are_not_public_are_left_out),
      cmocka_unit_test(odd_names_are_read_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
