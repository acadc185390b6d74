/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of verify/meaning and verify/trace: labels of every kind against values, rows of a
 * release against those of the original, and decisions that were changed after they were made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "job/release.h"
#include "shoal/shoal.h"
#include "verify/meaning.h"
#include "verify_request.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

/* ---------------------------------------------------------------- one label */

/* Values with their paths: a leaf for each, a level for each label above it. */
enum { MAX_STRINGS = 8 };

typedef struct strings {
  char bytes[512];
  uint64_t offsets[MAX_STRINGS + 1];
} strings;

static shoal_verify_strings strings_of(strings *s, const char *const *texts, uint32_t n) {
  s->offsets[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    memcpy(s->bytes + s->offsets[i], texts[i], strlen(texts[i]));
    s->offsets[i + 1] = s->offsets[i] + strlen(texts[i]);
  }
  return (shoal_verify_strings){s->bytes, s->offsets, n};
}

/* flu, hiv -> viral; lung -> cancer; all -> ill */
static const shoal_verify_paths *tree(void) {
  static strings s[3];
  static const char *const leaves[] = {"flu", "hiv", "lung"}, *const inner[] = {"viral", "cancer"},
                           *const top[] = {"ill"};
  static const uint32_t self[] = {0, 1, 2}, parent[] = {0, 0, 1}, root[] = {0, 0, 0};
  static shoal_verify_level levels[3];
  static const shoal_verify_paths paths = {levels, 3, 3};
  levels[0] = (shoal_verify_level){strings_of(&s[0], leaves, 3), self};
  levels[1] = (shoal_verify_level){strings_of(&s[1], inner, 2), parent};
  levels[2] = (shoal_verify_level){strings_of(&s[2], top, 1), root};
  return &paths;
}

static const shoal_verify_meaning
    plain = {.kind = SHOAL_VERIFY_PLAIN},
    ranges = {.kind = SHOAL_VERIFY_RANGES}, sets = {.kind = SHOAL_VERIFY_SETS},
    right = {.kind = SHOAL_VERIFY_MASK, .mask = '*'},
    left = {.kind = SHOAL_VERIFY_MASK, .mask = '#', .mask_left = true},
    codes = {.kind = SHOAL_VERIFY_MASK, .mask = '*', .mask_code = true},
    whole = {.kind = SHOAL_VERIFY_MASK, .mask = '*', .mask_numbers = true},
    days = {.kind = SHOAL_VERIFY_DATES, .date_format = "YYYY-MM-DD"},
    american = {.kind = SHOAL_VERIFY_DATES, .date_format = "MM/DD/YY", .pivot = 2024};

static bool covers(const shoal_verify_meaning *meaning, const shoal_verify_fold *fold,
                   const char *label, const char *value) {
  shoal_verify_checker checker;
  bool answer;
  assert_true(shoal_verify_checker_init(&checker, meaning, fold));
  assert_true(shoal_verify_covers(&checker, (shoal_verify_string){label, strlen(label)},
                                  (shoal_verify_string){value, strlen(value)}, &answer));
  shoal_verify_checker_reset(&checker);
  return answer;
}

typedef struct example {
  const shoal_verify_meaning *meaning;
  const char *value;
  const char *right[8], *wrong[8]; /* labels */
} example;

static const example examples[] = {
    {&plain, "a", {"a", "*"}, {"b", "A", "", "a*", "{a|b}", "[0-9]"}},
    {&ranges,
     "37",
     {"37", "[37-40]", "[30-37]", "[35.5-37.5)",
      "[40\xc2\xb1"
      "5]",
      ">=37", "<38", "37.0"},
     {"38", "[38-40]", "[30-37)",
      "[42\xc2\xb1"
      "5)",
      ">=38", "<37", "<=36", "[40-30]"}},
    {&ranges, "-3", {"-3", "[-5 to -2]", "[-3-4]", "<=-3"}, {"3", "[-2 to 5]", "[3-5]", ">=-2"}},
    {&ranges,
     "35",
     {"[40\xc2\xb1"
      "5]",
      "3.5e1"},
     {"[30\xc2\xb1"
      "5]",
      "[40\xc2\xb1"
      "4]",
      "(35]"}},
    {&ranges, ">=90", {">=90", ">=80", "*"}, {"[80-99]", ">=91", "90", "<100"}},
    {&ranges, "<=5", {"<=5", "<6", "<=9"}, {"<5", "[0-9]", "5", "<=4"}},
    {&ranges, "?", {"?", "*"}, {"[0-9]", "0", "", ">=0"}},
    {&ranges,
     "-999999999999999999",
     {"[-1000000000000000000 to 0]"},
     {"[-999999999999999998 to 0]"}},
    {&sets, "a", {"a", "{a|b}", "*"}, {"{b|c}", "{b|a}", "b", "{a}"}},
    {&right,
     "12345",
     {"12345", "123**", "*****", "*"},
     {"124**", "123*", "12***5", "**345", "12346"}},
    {&right,
     "\xc3\xa9t\xc3\xa9",
     {"\xc3\xa9t*", "\xc3\xa9**", "***"},
     {"\xc3\xa8t*", "\xc3\xa9t**"}},
    {&left, "12345", {"##345", "#####", "12345"}, {"##346", "#345", "12###", "###345"}},
    {&codes, "E11.9", {"E11.9", "E11.*", "E1*", "***"}, {"E12.*", "E1.*", "E2*", "E11*", "E11.8"}},
    {&codes, "E11", {"E11.*", "E1*"}, {"E10.*", "E0*"}},
    {&whole, "12.0", {"1*", "**"}, {"12.*", "2*"}},
    {&days,
     "2019-05-30",
     {"2019-05-30", "2019-05", "2019", "[2015-2019]", "[2010-2019]"},
     {"2019-05-31", "2019-06", "2018", "[2020-2024]", "2019-5", "19", "[2019-05]"}},
    {&days,
     "2019-05-30",
     {"[2019-05-30 to 2019-06-01]", "[2018-12-31 to 2019-05-30]", "[2019-05-01 to 2019-05-31]"},
     {"[2019-05-31 to 2019-06-01]", "[2018-01-01 to 2019-05-29]", "[2019-05-01-2019-05-31]",
      "[2019-06-01 to 2019-05-01]", "[2019-05-30 to 2019-05-30]", "[2019-05-01 to 2019-06]",
      "[2019-05-01 to 2019-05-31", "[2019-05-01 to 2019-13-01]"}},
    {&days, "2019-05-30 10:15:00", {"2019-05-30", "2019-05"}, {"2019-05-29"}},
    {&american, "09/27/64", {"1964-09-27", "1964", "[1960-1969]"}, {"2064-09", "1964-10", "2064"}},
    {&american, "9/7/24", {"2024-09-07", "2024-09"}, {"1924-09", "2024-07"}},
};

static void labels_of_each_kind(void **state UNUSED) {
  const shoal_verify_fold none = {0};
  for (size_t e = 0; e < COUNT(examples); e++) {
    const example *x = &examples[e];
    for (size_t i = 0; i < 8 && x->right[i]; i++)
      if (!covers(x->meaning, &none, x->right[i], x->value))
        fail_msg("%s should cover %s", x->right[i], x->value);
    for (size_t i = 0; i < 8 && x->wrong[i]; i++)
      if (covers(x->meaning, &none, x->wrong[i], x->value))
        fail_msg("%s should not cover %s", x->wrong[i], x->value);
  }
}

static void labels_of_folded_values(void **state UNUSED) {
  const shoal_verify_fold letters = {.letter_case = true},
                          forms = {.letter_case = true, .space = true, .unicode = true},
                          numbers = {.numbers = true, .decimal = '.'};
  assert_true(covers(&plain, &letters, "ab", "AB"));
  assert_true(covers(&right, &letters, "ab*", "ABC"));
  assert_false(covers(&right, &letters, "ac*", "ABC"));
  assert_true(covers(&left, &letters, "#bc", "ABC"));
  assert_false(covers(&left, &letters, "#bd", "ABC"));
  assert_true(covers(&codes, &letters, "e11.*", "E11.9"));
  assert_true(covers(&codes, &letters, "e1*", "E11.9"));
  assert_false(covers(&codes, &letters, "e12.*", "E11.9"));
  assert_true(covers(&right, &forms, "\xc3\xa9 a *", "E\xcc\x81 A  b"));
  assert_true(covers(&sets, &numbers, "{5|7}", "5.0"));
  assert_true(covers(&plain, &numbers, "5", "5.00"));
}

static void labels_of_trees(void **state UNUSED) {
  const shoal_verify_fold none = {0};
  shoal_verify_meaning m = {.kind = SHOAL_VERIFY_TREE, .tree = tree()};
  assert_true(covers(&m, &none, "viral", "flu") && covers(&m, &none, "ill", "flu"));
  assert_true(covers(&m, &none, "flu", "flu") && covers(&m, &none, "*", "flu"));
  assert_false(covers(&m, &none, "cancer", "flu") || covers(&m, &none, "hiv", "flu"));
  assert_false(covers(&m, &none, "viral", "gout")); /* a value that the tree lacks */
  m.limited = true;
  m.min_level = m.max_level = 1;
  assert_true(covers(&m, &none, "viral", "flu"));
  assert_false(covers(&m, &none, "flu", "flu") || covers(&m, &none, "ill", "flu"));
  assert_false(covers(&m, &none, "*", "flu"));
}

/* ---------------------------------------------------------------- all rows */

/* Six rows: two groups, a removed and a blanked one; town is labelled, note is kept. */
static const char *const names[] = {"town", "ill", "note"};
static const char *const towns[] = {"a", "b", "c"}, *const ills[] = {"flu", "hiv"},
                         *const notes[] = {"x", "=y"};
static const char *town_labels[] = {"{a|b}", "{b|c}"};
static uint8_t town_of[] = {0, 1, 1, 2, 0, 2}, ill_of[] = {0, 1, 0, 1, 1, 0};
static uint16_t note_of[] = {0, 1, 0, 0, 1, 0};
static uint32_t group_of[] = {0, 0, 1, 1, 2, 3}, label_of[] = {0, 1, 0, 0};
static uint8_t action_of[] = {SHOAL_VERIFY_KEPT, SHOAL_VERIFY_KEPT, SHOAL_VERIFY_REMOVED,
                              SHOAL_VERIFY_BLANKED};

static strings town_texts, town_label_texts, ill_texts, note_texts;
static shoal_verify_source sources[3];
static shoal_verify_trace trace;

static void start_trace(void) {
  sources[0] = (shoal_verify_source){.codes = town_of,
                                     .code_size = 1,
                                     .values = strings_of(&town_texts, towns, 3),
                                     .meaning = &sets,
                                     .labels = strings_of(&town_label_texts, town_labels, 2),
                                     .label_of_group = label_of};
  sources[1] = (shoal_verify_source){
      .codes = ill_of, .code_size = 1, .values = strings_of(&ill_texts, ills, 2)};
  sources[2] = (shoal_verify_source){
      .codes = note_of, .code_size = 2, .values = strings_of(&note_texts, notes, 2)};
  trace = (shoal_verify_trace){.n_rows = 6,
                               .group_of_row = group_of,
                               .action_of_group = action_of,
                               .n_groups = 4,
                               .sources = sources};
}

static shoal_error error;

/* NULL: the release holds; otherwise the message. */
static const char *refusal(const char *release, uint64_t n_rows, bool quoted) {
  static const shoal_verify_parameter k = {"k", "1"};
  static const shoal_verify_model model = {
      .name = "k-anonymity", .parameters = &k, .n_parameters = 1};
  shoal_verify_request request = request_on(names, 3, &model);
  shoal_verify_finding finding;
  int fd = memfd_create("release", 0);
  assert_true(fd >= 0 && write(fd, release, strlen(release)) == (ssize_t)strlen(release));
  request.n_rows = n_rows;
  request.trace = &trace;
  request.formulas_quoted = quoted;
  error.message[0] = '\0';
  shoal_status status = shoal_verify(fd, &request, NULL, &finding, &error);
  assert_int_equal(close(fd), 0);
  assert_true(status == SHOAL_OK || status == SHOAL_FAILED);
  return status == SHOAL_OK ? NULL : error.message;
}

#define HEADER "town,ill,note\n"
#define RELEASE HEADER "{a|b},flu,x\n{a|b},hiv,=y\n{b|c},flu,x\n{b|c},hiv,x\n*,flu,x\n"

static void rows_of_the_original(void **state UNUSED) {
  start_trace();
  assert_null(refusal(RELEASE, 5, false));
  assert_null(
      refusal(HEADER "*,flu,x\n{b|c},hiv,x\n{b|c},flu,x\n{a|b},hiv,=y\n{a|b},flu,x\n", 5, false));
  static const char *const wrong[] = {
      /* cells of two rows exchanged: of labels, values, kept cells; one row for another */
      HEADER "{b|c},flu,x\n{a|b},hiv,=y\n{b|c},flu,x\n{a|b},hiv,x\n*,flu,x\n",
      HEADER "{a|b},hiv,x\n{a|b},flu,=y\n{b|c},flu,x\n{b|c},hiv,x\n*,flu,x\n",
      HEADER "{a|b},flu,=y\n{a|b},hiv,x\n{b|c},flu,x\n{b|c},hiv,x\n*,flu,x\n",
      HEADER "{a|b},flu,x\n{a|b},flu,x\n{b|c},flu,x\n{b|c},hiv,x\n*,flu,x\n",
      HEADER "{a|b},flu,x\n{a|b},hiv,=y\n*,flu,x\n{b|c},hiv,x\n*,flu,x\n"};
  for (size_t i = 0; i < COUNT(wrong); i++)
    assert_non_null(strstr(refusal(wrong[i], 5, false), "not those of the original"));
}

static void labels_that_miss_a_value(void **state UNUSED) {
  start_trace();
  label_of[0] = 1; /* row 0 is in a */
  assert_non_null(strstr(
      refusal(HEADER "{b|c},flu,x\n{b|c},hiv,=y\n{b|c},flu,x\n{b|c},hiv,x\n*,flu,x\n", 5, false),
      "'town'"));
  label_of[0] = 0;
  group_of[1] = 1; /* it is in b: both labels are true */
  assert_null(
      refusal(HEADER "{a|b},flu,x\n{b|c},hiv,=y\n{b|c},flu,x\n{b|c},hiv,x\n*,flu,x\n", 5, false));
  group_of[1] = 0;
  group_of[3] = 0; /* it is in c */
  assert_non_null(
      refusal(HEADER "{a|b},flu,x\n{a|b},hiv,=y\n{b|c},flu,x\n{a|b},hiv,x\n*,flu,x\n", 5, false));
  group_of[3] = 1;
  label_of[2] = 1; /* removed and blanked rows have no labels */
  label_of[3] = 0;
  assert_null(refusal(RELEASE, 5, false));
  label_of[2] = 0;
}

static void formulas_commas_stars_counts_and_noise(void **state UNUSED) {
  start_trace();
  assert_null(
      refusal(HEADER "{a|b},flu,x\n{a|b},hiv,'=y\n{b|c},flu,x\n{b|c},hiv,x\n*,flu,x\n", 5, true));
  assert_non_null(refusal(RELEASE, 5, true));
  static const uint8_t stars[] = {1, 0, 0, 0};
  sources[0].stars = stars;
  label_of[0] = 1; /* not written */
  assert_null(refusal(HEADER "*,flu,x\n*,hiv,=y\n{b|c},flu,x\n{b|c},hiv,x\n*,flu,x\n", 5, false));
  label_of[0] = 0;
  sources[0].stars = NULL;
  static const uint64_t counts[] = {2, 1, 1, 1, 1, 1};
  trace.counts = counts;
  assert_null(refusal(RELEASE "{a|b},flu,x\n", 6, false));
  assert_non_null(refusal(RELEASE "{a|b},hiv,=y\n", 6, false));
  trace.counts = NULL;
  trace.n_rows = 5; /* the last row is noise, of group 1: a town outside its label is no fault */
  trace.n_noise = trace.max_noise = 1;
  group_of[5] = 1;
  town_of[5] = 0;
  assert_null(refusal(HEADER "{a|b},flu,x\n{a|b},hiv,=y\n{b|c},flu,x\n{b|c},hiv,x\n{b|c},flu,x\n",
                      5, false));
  trace.max_noise = 0;
  assert_non_null(strstr(refusal(RELEASE, 5, false), "noise"));
  group_of[5] = 3;
  town_of[5] = 2;
}

static void labels_by_code(void **state UNUSED) {
  static const char *const labels[] = {"[0-9]", "[10-19]"}, *const ages[] = {"7", "12,5", "12.5"};
  static const uint32_t of_code[] = {0, 0, 1};
  static const uint32_t groups[] = {0, 0, 0, 0, 0, 0};
  static strings label_texts, age_texts;
  start_trace();
  action_of[0] = SHOAL_VERIFY_KEPT;
  sources[0].labels = strings_of(&label_texts, labels, 2);
  sources[0].values = strings_of(&age_texts, ages, 3);
  sources[0].label_of_group = NULL;
  sources[0].label_of_code = of_code;
  sources[0].meaning = &ranges;
  trace.group_of_row = groups;
  assert_non_null(
      strstr(refusal(RELEASE "*,flu,x\n", 6, false), "'town'")); /* 12,5 is no number here */
  static const uint32_t right_codes[] = {0, 1, 1};
  static const char *const numbers[] = {"7", "19", "12.5"};
  sources[0].values = strings_of(&age_texts, numbers, 3);
  sources[0].label_of_code = right_codes;
  sources[0].commas = true;
  assert_null(refusal(HEADER "[0-9],flu,x\n[10-19],hiv,=y\n[10-19],flu,x\n[10-19],hiv,x\n"
                             "[0-9],hiv,=y\n[10-19],flu,x\n",
                      6, false));
}

/* ---------------------------------------------------------------- decisions */

#define ATTRIBUTES                                                                                 \
  "shoal: 1\nattributes:\n"                                                                        \
  "  age: {role: quasi, type: number, hierarchy: {intervals: [10, 20]}}\n"                         \
  "  town: {role: quasi, hierarchy: {tree: {x: [a, b], y: [c, d]}}}\n"                             \
  "  zip: {role: quasi, hierarchy: {mask: right}}\n"                                               \
  "  born: {role: quasi, hierarchy: {date: [month, year, decade]}}\n"                              \
  "  job: {role: quasi}\n  ill: {role: sensitive}\nprivacy: {k: 2}\n"

static shoal_table *people(const shoal_policy *policy) {
  enum { N = 64 };
  static const char *const column_names[] = {"age", "town", "zip", "born", "job", "ill"};
  shoal_table *table;
  assert_int_equal(shoal_table_new(column_names, 6, &table, &error), SHOAL_OK);
  for (unsigned i = 0; i < N; i++) {
    unsigned x = i / 2 * 7 % 16; /* two rows of each, twice */
    char text[6][20];
    uint64_t offsets[6][2];
    shoal_text_view row[6];
    (void)snprintf(text[0], sizeof text[0], "%u", 20 + x * 3);
    (void)snprintf(text[1], sizeof text[1], "%c", "abcd"[x / 4]);
    (void)snprintf(text[2], sizeof text[2], "%u", 1000 + x * 111);
    (void)snprintf(text[3], sizeof text[3], "19%u-05-30", 40 + x * 3);
    (void)snprintf(text[4], sizeof text[4], "job%u", x);
    (void)snprintf(text[5], sizeof text[5], "ill%u", i % 3);
    for (size_t c = 0; c < 6; c++) {
      offsets[c][0] = 0;
      offsets[c][1] = strlen(text[c]);
      row[c] = (shoal_text_view){text[c], offsets[c]};
    }
    assert_int_equal(shoal_table_append(table, row, 6, 1, NULL, &error), SHOAL_OK);
  }
  assert_int_equal(shoal_table_finish(table, policy, SHOAL_FOR_RELEASE, &error), SHOAL_OK);
  return table;
}

/* A fault that keeps k: every row of a quasi-identifier gets the label of another group or code. */
static bool rotate(shoal_column_labels *labels, uint32_t n_groups, uint32_t n_values) {
  uint32_t n = labels->label_of_group ? n_groups : n_values;
  const uint32_t *of = labels->label_of_group ? labels->label_of_group : labels->label_of_code;
  uint32_t *rotated = malloc(n * sizeof *rotated);
  assert_non_null(rotated);
  bool changed = false;
  for (uint32_t i = 0; i < n; i++) {
    rotated[i] = of[(i + 1) % n];
    changed = changed || rotated[i] != of[i];
  }
  if (labels->label_of_group) labels->label_of_group = rotated;
  else labels->label_of_code = rotated;
  return changed;
}

/* Makes a release, changes quasi-identifier q (5: none), and writes it. */
static shoal_status write_changed(const char *method, size_t q, bool *changed) {
  char text[1024];
  shoal_policy *policy;
  shoal_release *release;
  const uint32_t *rotated;
  (void)snprintf(text, sizeof text, "%s%s", ATTRIBUTES, method);
  assert_int_equal(shoal_policy_parse(text, strlen(text), "policy", ".", &policy, &error),
                   SHOAL_OK);
  shoal_table *table = people(policy);
  assert_int_equal(shoal_anonymize(table, policy, NULL, &release, &error), SHOAL_OK);
  shoal_decision *d = &release->decision;
  *changed = q < 5 && rotate(&d->columns[q], d->n_groups, table->columns[q].n_values);
  rotated = q == 5                         ? NULL
            : d->columns[q].label_of_group ? d->columns[q].label_of_group
                                           : d->columns[q].label_of_code;
  char path[] = "/tmp/shoal-trace-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0 && close(fd) == 0);
  shoal_status status = shoal_release_write(release, path, NULL, NULL, &error);
  assert_int_equal(unlink(path), 0);
  free((void *)(uintptr_t)rotated);
  shoal_release_free(release);
  shoal_table_free(table);
  shoal_policy_free(policy);
  return status;
}

static void changed_decisions_are_rejected(void **state UNUSED) {
  static const char *const methods[] = {
      "method: {algorithm: samarati, max-suppression: 50%}\n",
      "method: {algorithm: mu-argus, max-suppression: 50%}\n",
      "method: {algorithm: auto, max-suppression: 50%, labels: uniform}\n",
      "method: {algorithm: mondrian}\n",
      "method: {algorithm: flock}\n",
      "method: {algorithm: top-down}\n"};
  unsigned n_changed = 0;
  for (size_t m = 0; m < COUNT(methods); m++)
    for (size_t q = 0; q <= 5; q++) {
      bool changed;
      shoal_status status = write_changed(methods[m], q, &changed);
      n_changed += changed;
      if (changed) {
        assert_int_equal(status, SHOAL_NOT_VERIFIED);
        assert_non_null(strstr(error.message, "does not cover the value"));
      } else {
        assert_int_equal(status, SHOAL_OK);
      }
    }
  assert_true(n_changed >= 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(labels_of_each_kind),
                                     cmocka_unit_test(labels_of_folded_values),
                                     cmocka_unit_test(labels_of_trees),
                                     cmocka_unit_test(rows_of_the_original),
                                     cmocka_unit_test(labels_that_miss_a_value),
                                     cmocka_unit_test(formulas_commas_stars_counts_and_noise),
                                     cmocka_unit_test(labels_by_code),
                                     cmocka_unit_test(changed_decisions_are_rejected)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
