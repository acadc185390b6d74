/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of values with several spellings: their keys in the engine and in the verifier, folded
 * tables, labels and masks of folded columns, and releases that spell a value in two ways.
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

#include "base/random.h"
#include "hierarchy/hierarchy.h"
#include "shoal/shoal.h"
#include "table/fold.h"
#include "verify/fold.h"
#include "verify_request.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { NUMBERS = SHOAL_EQUAL_NUMBERS, CASE = SHOAL_EQUAL_CASE, SPACE = SHOAL_EQUAL_SPACE };
enum { UNICODE = SHOAL_EQUAL_UNICODE, ALL = SHOAL_EQUAL_FOLDED };

static shoal_error error;

static shoal_label label_of(const char *text) { return (shoal_label){text, strlen(text)}; }

/* ---------------------------------------------------------------- keys */

static bool engine_equates(int equality, shoal_label a, shoal_label b) {
  shoal_values values;
  assert_true(shoal_values_init(&values, (shoal_equality)equality));
  uint32_t first = shoal_values_intern(&values, a), second = shoal_values_intern(&values, b);
  shoal_values_reset(&values);
  assert_int_equal(first, 0);
  return second == 0;
}

static shoal_verify_fold fold_of(int equality) {
  return (shoal_verify_fold){equality & NUMBERS, equality & CASE, equality & SPACE,
                             equality & UNICODE, 0};
}

static bool verifier_equates(int equality, shoal_label a, shoal_label b) {
  shoal_text x = {0}, y = {0};
  const shoal_verify_fold fold = fold_of(equality);
  assert_true(shoal_verify_fold_key(&fold, a.bytes, a.size_bytes, &x));
  assert_true(shoal_verify_fold_key(&fold, b.bytes, b.size_bytes, &y));
  bool equal = x.size_bytes == y.size_bytes && memcmp(x.bytes, y.bytes, x.size_bytes) == 0;
  shoal_text_reset(&x);
  shoal_text_reset(&y);
  return equal;
}

static void spellings_of_one_value_have_one_key(void **state UNUSED) {
  static const struct {
    int equality;
    const char *a, *b;
    bool equal;
  } cases[] = {
      {NUMBERS, "50000", "5e4", true},
      {NUMBERS, "50000.0", "+05.0E+04", true},
      {NUMBERS, "-0", "0.00e9", true},
      {NUMBERS, ".5", "0.50", true},
      {NUMBERS, "7.", "007", true},
      {NUMBERS, "1e-18", "0.000000000000000001", true},
      {NUMBERS, "-3", "3", false},
      {NUMBERS, "100", "1.00e2", true},
      {NUMBERS, "1.05", "105e-2", true},
      {NUMBERS, "-0.5", "-.50", true},
      {NUMBERS, "123456789012345678", "+123456789012345678.0", true},
      {NUMBERS, "-", "-0", false},
      {NUMBERS, "0", "-0.0", true},
      {NUMBERS, "10", "1", false},
      {NUMBERS, "0.1", "0.01", false},
      {NUMBERS, "1e2", "1e20", false},
      {NUMBERS, "[20-29]", "[20-29.0]", false}, /* labels are no numbers */
      {NUMBERS, "1e", "1", false},
      {NUMBERS, " 1", "1", false},
      {NUMBERS, "*", "**", false},
      {CASE, "Flu", "fLU", true},
      {CASE, "STRASSE", "straße", true},
      {CASE, "É", "é", true},
      {CASE, "É", "E\xcc\x81", false},
      {CASE, "flu", "flu ", false},
      {SPACE, " a  b\t", "a b", true},
      {SPACE, "a\xc2\xa0 b", "a b", true}, /* no-break space */
      {SPACE, "ab", "a b", false},
      {SPACE, "  ", "", true},
      {SPACE, "A", "a", false},
      {UNICODE, "\xc3\xa9", "e\xcc\x81", true},  /* NFC and NFD */
      {UNICODE, "fl\xe2\x80\x8bu", "flu", true}, /* zero-width space */
      {UNICODE,
       "\xef\xbb\xbf"
       "flu",
       "flu", true},
      {UNICODE, "\xe2\x84\xab", "\xc3\x85", true}, /* angstrom */
      {UNICODE, "e", "\xc3\xa9", false},
      {ALL, " \xc3\x89 COLE", "e\xcc\x81 \xe2\x80\x8b cole", true},
      {ALL, "", " ", true},
      {ALL,
       "\xff"
       "A",
       "\xff"
       "a",
       true}, /* not UTF-8 */
      {ALL, "\xff", "\xfe", false},
      {0, "a", "A", false},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    shoal_label a = label_of(cases[i].a), b = label_of(cases[i].b);
    if (engine_equates(cases[i].equality, a, b) != cases[i].equal)
      fail_msg("the engine: case %zu", i);
    if (verifier_equates(cases[i].equality, a, b) != cases[i].equal)
      fail_msg("the verifier: case %zu", i);
  }
}

/* Random cells of few different parts, so that many are equal. */
static shoal_label random_cell(shoal_random *random, bool numbers, char *out) {
  static const char *const words[] = {
      "a",        "A",        " ",        "\t", "\xc3\xa9", "e", "\xcc\x81", "\xe2\x80\x8b",
      "\xc3\x89", "\xc2\xa0", "\xc3\x9f", "s",  "S"};
  static const char *const parts[] = {"0", "1", "5", "00", ".", "e", "e1", "e-2", "-", "+", "E+0"};
  size_t n = 0, n_parts = shoal_random_below(random, 6);
  for (size_t i = 0; i < n_parts; i++) {
    const char *part = numbers ? parts[shoal_random_below(random, COUNT(parts))]
                               : words[shoal_random_below(random, COUNT(words))];
    memcpy(out + n, part, strlen(part));
    n += strlen(part);
  }
  return (shoal_label){out, n};
}

static void engine_and_verifier_agree(void **state UNUSED) {
  shoal_random random;
  char a[64], b[64];
  size_t n_equal = 0;
  shoal_random_seed(&random, 20);
  for (size_t i = 0; i < 200000; i++) {
    int equality = (int)shoal_random_below(&random, 8) * 2;
    if (!equality) equality = NUMBERS;
    shoal_label x = random_cell(&random, equality == NUMBERS, a);
    shoal_label y = random_cell(&random, equality == NUMBERS, b);
    bool equal = engine_equates(equality, x, y);
    n_equal += equal && !shoal_label_equal(x, y);
    if (equal != verifier_equates(equality, x, y))
      fail_msg("%d: '%.*s' and '%.*s'", equality, (int)x.size_bytes, x.bytes, (int)y.size_bytes,
               y.bytes);
  }
  assert_true(n_equal > 1000);
}

/* ---------------------------------------------------------------- tables */

static const char yaml[] = "shoal: 1\n"
                           "data: {fold: [case, space, unicode], missing: [NA]}\n"
                           "attributes:\n"
                           "  n: {role: quasi, type: number, hierarchy: {top: true}}\n"
                           "  w: {role: sensitive}\n"
                           "  k: {role: keep}\n"
                           "privacy: {k: 1}\n";

/* A table of the columns n, w and k; `counts` may be NULL. */
static shoal_table *table_of(const char *policy_text, const char *const *cells, size_t n_rows,
                             const uint64_t *counts) {
  static const char *const names[] = {"n", "w", "k"};
  shoal_text texts[3] = {{0}};
  uint64_t offsets[3][32] = {{0}};
  shoal_text_view views[3];
  shoal_table *table;
  shoal_policy *policy;
  for (size_t c = 0; c < 3; c++) {
    shoal_text_add(&texts[c], "");
    for (size_t r = 0; r < n_rows; r++) {
      shoal_text_add(&texts[c], cells[r * 3 + c]);
      offsets[c][r + 1] = texts[c].size_bytes;
    }
    views[c] = (shoal_text_view){texts[c].bytes, offsets[c]};
  }
  assert_int_equal(
      shoal_policy_parse(policy_text, strlen(policy_text), "policy.yaml", ".", &policy, &error),
      SHOAL_OK);
  assert_int_equal(shoal_table_new(names, 3, &table, &error), SHOAL_OK);
  assert_int_equal(shoal_table_append(table, views, 3, n_rows, counts, &error), SHOAL_OK);
  if (shoal_table_finish(table, policy, SHOAL_FOR_RELEASE, &error) != SHOAL_OK)
    fail_msg("%s", error.message);
  shoal_policy_free(policy);
  for (size_t c = 0; c < 3; c++) shoal_text_reset(&texts[c]);
  return table;
}

/* The column's cells, row by row, with blanks between. */
static void has_cells(const shoal_table *table, size_t c, const char *expected) {
  shoal_text cells = {0};
  for (uint64_t row = 0; row < table->n_rows; row++) {
    size_t size;
    const shoal_column *column = &table->columns[c];
    const char *value = shoal_column_value(column, shoal_column_code(column, row), &size);
    if (row) shoal_text_add(&cells, "|");
    shoal_text_add_bytes(&cells, value, size);
  }
  assert_string_equal(cells.bytes, expected);
  shoal_text_reset(&cells);
}

static void a_folded_table_has_one_spelling(void **state UNUSED) {
  static const char *const cells[] = {"5.0",  "Flu", "X",   "5",  "flu", "x",  "50e-1", "flu",
                                      "X",    "5",   "FLU", "x",  "7",   "na", "X",     "+7",
                                      "Cold", "x",   "7e0", "NA", "X",   "6",  "cold ", "x"};
  shoal_table *table = table_of(yaml, cells, 8, NULL);
  has_cells(table, 0, "5|5|5|5|7|7|7|6");                 /* the most frequent, then the shortest */
  has_cells(table, 1, "flu|flu|flu|flu|NA|Cold|NA|Cold"); /* then the least by bytes */
  has_cells(table, 2, "X|x|X|x|X|x|X|x");                 /* kept text stays */
  const shoal_column *numbers = &table->columns[0], *words = &table->columns[1];
  assert_int_equal(numbers->n_values, 3);
  assert_int_equal(words->n_values, 3);
  assert_int_equal(numbers->first_row[1], 4); /* by first appearance */
  assert_int_equal(numbers->first_row[2], 7);
  assert_false(shoal_column_missing(words, 0));
  assert_true(shoal_column_missing(words, 1)); /* "na" and "NA" */
  assert_false(shoal_column_missing(words, 2));
  shoal_table_free(table);
}

static void counts_weigh_spellings(void **state UNUSED) {
  static const char *const cells[] = {"1", "a", "", "1.0", "A", "", "1.00", "A", ""};
  static const uint64_t counts[] = {3, 2, 5};
  shoal_table *table = table_of(yaml, cells, 3, counts);
  has_cells(table, 0, "1.00|1.00|1.00");
  has_cells(table, 1, "A|A|A");
  shoal_table_free(table);
}

static void only_other_spellings_are_variants(void **state UNUSED) {
  static const char plain[] = "shoal: 1\nattributes:\n  n: {role: quasi, hierarchy: {top: true}}\n"
                              "  w: {role: sensitive}\n  k: {role: keep}\nprivacy: {k: 1}\n";
  static const char *const cells[] = {"a", "a", "", "A",  "b", "", "a ", "c", "",
                                      "b", "",  "", "A ", " ", "", "A",  "",  ""};
  shoal_table *table = table_of(plain, cells, 6, NULL);
  shoal_variants found;
  assert_true(shoal_column_variants(table, &table->columns[0], &found));
  assert_int_equal(found.n_values, 4);
  assert_int_equal(found.n_rows, 5);
  assert_int_equal(found.n_case, 4);  /* a, A; "a ", "A " */
  assert_int_equal(found.n_space, 4); /* a, "a "; A, "A " */
  assert_int_equal(found.n_unicode, 0);
  assert_true(shoal_column_variants(table, &table->columns[1], &found)); /* "" is missing */
  assert_int_equal(found.n_values, 0);
  shoal_table_free(table);
}

/* ---------------------------------------------------------------- hierarchies */

static void compile(const shoal_hierarchy_spec *spec, const shoal_table *table, size_t c,
                    int equality, shoal_hierarchy **hierarchy, shoal_status expected) {
  const shoal_hierarchy_options options = {.equality = (shoal_equality)equality};
  shoal_status status =
      shoal_hierarchy_compile(spec, table, &table->columns[c], &options, hierarchy, &error);
  if (status != expected) fail_msg("%d: %s", (int)status, error.message);
}

static void has_path(const shoal_hierarchy *hierarchy, uint32_t leaf, const char *expected) {
  shoal_text path = {0};
  for (uint32_t l = 0; l < hierarchy->n_levels; l++) {
    size_t size;
    const shoal_level *level = &hierarchy->levels[l];
    const char *label = shoal_level_label(level, level->of_leaf[leaf], &size);
    if (l) shoal_text_add(&path, ";");
    shoal_text_add_bytes(&path, label, size);
  }
  assert_string_equal(path.bytes, expected);
  shoal_text_reset(&path);
}

static void labels_match_in_any_spelling(void **state UNUSED) {
  static const char *const cells[] = {"1.0", "Flu", "", "2", "cold", "", "1.0", "Flu", ""};
  static const shoal_tree_node viral[] = {{.label = "FLU"}, {.label = "flu "}};
  static const shoal_tree_node other[] = {{.label = "Cold"}, {.label = "COLD"}};
  static const shoal_tree_node kinds[] = {{"Flu", viral, 2}, {"other", other, 2}};
  shoal_table *table = table_of(yaml, cells, 3, NULL);
  shoal_hierarchy_spec spec = {.kind = SHOAL_HIERARCHY_TREE, .tree = {"*", kinds, 2}};
  shoal_hierarchy *hierarchy;
  compile(&spec, table, 1, ALL, &hierarchy, SHOAL_OK);
  has_path(hierarchy, 0, "Flu;Flu;*"); /* the label is the value: padding */
  has_path(hierarchy, 1, "cold;other;*");
  assert_int_equal(hierarchy->n_leaves, 2);
  assert_int_equal(hierarchy->levels[1].node_height[hierarchy->levels[1].of_leaf[0]], 0);
  shoal_hierarchy_free(hierarchy);
  compile(&spec, table, 1, 0, &hierarchy, SHOAL_BAD_INPUT); /* by bytes the tree lacks values */
  static const shoal_decimal widths[] = {{1, 0}, {10, 0}};
  spec = (shoal_hierarchy_spec){.kind = SHOAL_HIERARCHY_INTERVALS, .widths = widths, .n_widths = 2};
  compile(&spec, table, 0, NUMBERS, &hierarchy, SHOAL_OK);
  has_path(hierarchy, 0, "1.0;1.0;[0-9];*"); /* not a second spelling of 1 */
  shoal_hierarchy_free(hierarchy);
  shoal_table_free(table);
}

static void masks_are_cut_from_folded_text(void **state UNUSED) {
  static const char *const cells[] = {"1", "AB c", "", "2", "ab d", "", "3", "AB c", ""};
  shoal_table *table = table_of(yaml, cells, 3, NULL);
  const shoal_hierarchy_spec spec = {.kind = SHOAL_HIERARCHY_MASK, .mask_char = '*'};
  shoal_hierarchy *hierarchy;
  compile(&spec, table, 1, ALL, &hierarchy, SHOAL_OK);
  has_path(hierarchy, 0, "AB c;ab *;ab**;a***;*");
  has_path(hierarchy, 1, "ab d;ab *;ab**;a***;*");
  shoal_hierarchy_free(hierarchy);
  shoal_table_free(table);
}

static void a_table_of_another_policy_is_refused(void **state UNUSED) {
  static const char plain[] = "shoal: 1\nattributes:\n  n: {role: quasi, hierarchy: {top: true}}\n"
                              "  w: {role: sensitive}\n  k: {role: keep}\nprivacy: {k: 1}\n";
  static const char *const cells[] = {"1", "a", "", "1.0", "b", ""};
  shoal_table *table = table_of(plain, cells, 2, NULL);
  const shoal_hierarchy_spec spec = {.kind = SHOAL_HIERARCHY_TOP};
  shoal_hierarchy *hierarchy;
  compile(&spec, table, 0, NUMBERS, &hierarchy, SHOAL_BAD_INPUT);
  assert_non_null(strstr(error.message, "another policy"));
  shoal_table_free(table);
}

/* ---------------------------------------------------------------- the verifier */

static const char *const columns[] = {"age", "wage"};

/* A release of these lines, p-sensitive with p = 2. */
static shoal_status verify(const char *lines, uint64_t n_rows, int quasi, int sensitive,
                           const shoal_verify_knowledge *known) {
  static const char *const missing[] = {"NA", "na "};
  const shoal_verify_parameter p = {"p", "2"};
  const shoal_verify_model model = {.name = "p-sensitive", .parameters = &p, .n_parameters = 1};
  const shoal_verify_fold folds[] = {fold_of(quasi), fold_of(sensitive)};
  shoal_verify_request request = request_on(columns, 2, &model);
  request.folds = folds;
  request.attributes = known;
  request.missing = missing;
  request.n_missing = COUNT(missing);
  request.n_rows = n_rows;
  int fd = memfd_create("test", 0);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, lines, strlen(lines)), (ssize_t)strlen(lines));
  shoal_verify_finding finding;
  error = (shoal_error){0};
  shoal_status status = shoal_verify(fd, &request, NULL, &finding, &error);
  assert_int_equal(close(fd), 0);
  return status;
}

static void rejects(const char *lines, uint64_t n_rows, int quasi, int sensitive,
                    const shoal_verify_knowledge *known, const char *part) {
  assert_int_equal(verify(lines, n_rows, quasi, sensitive, known), SHOAL_FAILED);
  if (!strstr(error.message, part)) fail_msg("'%s' is not in: %s", part, error.message);
}

static void the_verifier_rejects_two_spellings(void **state UNUSED) {
  static const char release[] = "age,wage\n30,5e4\n30,50000\n";
  assert_int_equal(verify(release, 2, 0, 0, NULL), SHOAL_OK);
  rejects(release, 2, 0, NUMBERS, NULL,
          "column 'wage' of the release spells one value in two ways");
  static const char ages[] = "age,wage\n30,1\n30,2\n30.0,1\n30.0,2\n";
  assert_int_equal(verify(ages, 4, 0, 0, NULL), SHOAL_OK);
  rejects(ages, 4, NUMBERS, 0, NULL, "column 'age' of the release spells one value in two ways");
  static const char words[] = "age,wage\nx,a\nx,b\nX,a\nX,b\n";
  assert_int_equal(verify(words, 4, SPACE, CASE, NULL), SHOAL_OK);
  rejects(words, 4, CASE, 0, NULL, "column 'age'");
  static const char labels[] = "age,wage\n[20-29],1\n[20-29],2\n*,1\n*,2\n";
  assert_int_equal(verify(labels, 4, NUMBERS, NUMBERS, NULL), SHOAL_OK);
}

static void the_verifier_knows_missing_values_in_any_spelling(void **state UNUSED) {
  static const char release[] = "age,wage\n30,nA\n30,a\n30,b\n";
  static const char poor[] = "age,wage\n30,nA\n30,a\n30,a\n";
  assert_int_equal(verify(poor, 3, 0, 0, NULL), SHOAL_OK); /* nA is a second value */
  rejects(poor, 3, 0, CASE, NULL, "p-sensitive");
  assert_int_equal(verify(release, 3, 0, CASE, NULL), SHOAL_OK);
  /* what the request knows is compared, too: nA needs no entry */
  static const shoal_verify_value values[] = {{.value = "a"}, {.value = "b"}};
  static const shoal_verify_value twice[] = {{.value = "a"}, {.value = "B"}};
  shoal_verify_knowledge known = {.values = values, .n_values = 2};
  assert_int_equal(verify(release, 3, 0, CASE, &known), SHOAL_OK);
  known.values = twice;
  rejects(release, 3, 0, CASE, &known, "spells one value in two ways");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spellings_of_one_value_have_one_key),
      cmocka_unit_test(engine_and_verifier_agree),
      cmocka_unit_test(a_folded_table_has_one_spelling),
      cmocka_unit_test(counts_weigh_spellings),
      cmocka_unit_test(only_other_spellings_are_variants),
      cmocka_unit_test(labels_match_in_any_spelling),
      cmocka_unit_test(masks_are_cut_from_folded_text),
      cmocka_unit_test(a_table_of_another_policy_is_refused),
      cmocka_unit_test(the_verifier_rejects_two_spellings),
      cmocka_unit_test(the_verifier_knows_missing_values_in_any_spelling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
