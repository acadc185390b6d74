/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the verifier's models: figures worked out by hand, ties, what is missing and what
 * is not known; then each model against its definition counted out naively on random classes.
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
#include "base/text.h"
#include "verify/verify.h"
#include "verify_request.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))
#define PATH(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---------------------------------------------------------------- what is known, and a claim */

/* Seven illnesses of seven rows each but hiv, which has eight; three categories. */
static const shoal_verify_value illnesses[] = {
    {"hiv", PATH("viral", "any"), 0, 8},         {"flu", PATH("viral", "any"), 2, 7},
    {"lung", PATH("cancer", "any"), 0, 7},       {"colon", PATH("cancer", "any"), 1, 7},
    {"burn", PATH("burn", "burn", "any"), 2, 7}, /* padded: right below the root */
    {"cancer", PATH("cancer", "any"), 1, 7},     /* a node with others below it is a value, too */
    {"ebola", PATH("viral", "any"), 0, 7},
};
static const char *const columns[] = {"age", "illness"};
static const char *const missing[] = {"", "?"};

static shoal_verify_knowledge known;
static shoal_verify_parameter parameters[4];
static shoal_verify_model model;
static shoal_verify_request request;
static shoal_error error;
static const char *guards; /* the content of the file; NULL: none */

static int start_request(void **state UNUSED) {
  known = (shoal_verify_knowledge){
      .values = illnesses, .n_values = COUNT(illnesses), .n_categories = 3};
  request = request_on(columns, 2, &model);
  request.attributes = &known;
  request.k = 4;
  request.missing = missing;
  request.n_missing = 2;
  guards = NULL;
  return 0;
}

static int file_of(const char *content) {
  int fd = memfd_create("test", 0);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
  return fd;
}

/* "p=2 alpha=0.2" into the model's parameters; `text` is cut into them. */
static void set_parameters(char *text) {
  model.parameters = parameters;
  model.n_parameters = 0;
  for (char *rest = text, *word; (word = strsep(&rest, " "));) {
    parameters[model.n_parameters].name = strsep(&word, "=");
    parameters[model.n_parameters++].value = word;
  }
}

/* A release of classes such as "flu flu hiv | lung ?" under one model. */
static shoal_status prove(const char *name, const char *with, const char *classes) {
  char *text = strdup(with), *words = strdup(classes);
  assert_true(text && words);
  set_parameters(text);
  model.name = name;
  shoal_text release = {0};
  shoal_text_add(&release, "age,illness\n");
  request.n_rows = 0;
  unsigned class_id = 0;
  for (char *rest = words, *word; (word = strsep(&rest, " "));) {
    class_id += !strcmp(word, "|");
    if (!strcmp(word, "|")) continue;
    shoal_text_print(&release, "%u,%s\n", class_id, word);
    request.n_rows++;
  }
  int fd = file_of(release.bytes);
  if (guards) request.guards_fd = file_of(guards);
  shoal_verify_finding finding;
  error = (shoal_error){0};
  shoal_status status = shoal_verify(fd, &request, NULL, &finding, &error);
  assert_int_equal(close(fd), 0);
  if (guards) assert_int_equal(close(request.guards_fd), 0);
  request.guards_fd = -1;
  shoal_text_reset(&release);
  free(text);
  free(words);
  return status;
}

static void holds(const char *name, const char *with, const char *classes) {
  shoal_status status = prove(name, with, classes);
  if (status != SHOAL_OK) fail_msg("%s (%s) on %s: %s", name, with, classes, error.message);
}

static void fails(const char *name, const char *with, const char *classes, const char *part) {
  shoal_status status = prove(name, with, classes);
  if (status != SHOAL_FAILED || !strstr(error.message, part))
    fail_msg("%s (%s) on %s: no '%s' in: %s", name, with, classes, part, error.message);
}

static void violates(const char *name, const char *with, const char *classes) {
  fails(name, with, classes, "the release violates ");
}

static void unprovable(const char *name, const char *with, const char *classes) {
  fails(name, with, classes, " cannot be proven: ");
}

/* ---------------------------------------------------------------- strong ancestors, categories */

static void extended_p_sensitive_counts_strong_ancestors(void **state UNUSED) {
  const char *name = "extended-p-sensitive";
  holds(name, "p=3", "hiv flu lung"); /* nothing is protected but the leaves */
  known.protect = (const char *const[]){"viral", "burn"};
  known.n_protect = 2;
  violates(name, "p=2", "hiv flu ebola flu");
  holds(name, "p=2", "hiv flu lung");
  holds(name, "p=3", "hiv lung colon");
  holds(name, "p=2", "hiv burn | lung colon");
  fails(name, "p=2", "hiv flu | burn burn ? | lung flu", "(p = 2) on 'illness': 2 classes, 5 rows");
  known.protect = (const char *const[]){"lung", "cancer"}; /* the node above decides */
  violates(name, "p=2", "lung colon cancer");
  known.protect = (const char *const[]){"any", "viral"};
  violates(name, "p=2", "hiv flu lung burn");
  unprovable(name, "p=1", "hiv typhus");
}

static void a_label_is_a_node_only_with_all_above_it(void **state UNUSED) {
  const shoal_verify_value values[] = {{"a", PATH("other", "left", "any"), 0, 1},
                                       {"b", PATH("other", "right", "any"), 0, 1},
                                       {"c", PATH("other", "right", "any"), 0, 2}};
  known = (shoal_verify_knowledge){
      .values = values, .n_values = 3, .n_protect = 1, .protect = (const char *const[]){"other"}};
  holds("extended-p-sensitive", "p=2", "a b");
  violates("extended-p-sensitive", "p=2", "b c");
  /* Heights 3, 2, 1: b lacks nothing, a gives its 1/4 over the root; then c 1/4 to b from 1/3. */
  holds("t-closeness", "t=0.25 distance=hierarchical", "b b c c");
  violates("t-closeness", "t=0.249 distance=hierarchical", "b b c c");
  holds("t-closeness", "t=0.34 distance=hierarchical", "b b b c"); /* 1/4 + 1/4 x 1/3 */
  violates("t-closeness", "t=0.33 distance=hierarchical", "b b b c");
}

static void p_plus_counts_categories(void **state UNUSED) {
  const char *name = "p-plus-sensitive";
  violates(name, "p=2", "hiv lung ebola");
  holds(name, "p=2", "hiv colon");
  holds(name, "p=3", "hiv colon flu ?");
  violates(name, "p=1", "? ?");
  unprovable(name, "p=1", "hiv typhus");
  known.n_categories = 2; /* then that of flu is unknown */
  unprovable(name, "p=1", "hiv colon");
}

static void p_alpha_adds_weights_of_distinct_values(void **state UNUSED) {
  const char *name = "p-alpha-sensitive"; /* weights: hiv 0, lung 0, colon 0.5, flu 1, burn 1 */
  holds(name, "p=2 alpha=0.5", "hiv colon");
  violates(name, "p=2 alpha=0.51", "hiv colon");
  violates(name, "p=2 alpha=0.51", "hiv colon colon colon");
  holds(name, "p=2 alpha=2.5", "colon flu burn");
  violates(name, "p=2 alpha=2.500000000000001", "colon flu burn");
  violates(name, "p=4 alpha=2.5", "colon flu burn ?");
  holds(name, "p=2 alpha=0", "hiv lung");
  unprovable(name, "p=2 alpha=-1", "hiv colon");
  unprovable(name, "p=2", "hiv colon");
  const shoal_verify_value alone[] = {{"hiv", NULL, 0, 1}, {"flu", NULL, 0, 1}};
  known = (shoal_verify_knowledge){.values = alone, .n_values = 2, .n_categories = 1};
  holds(name, "p=2 alpha=0", "hiv flu");
  violates(name, "p=2 alpha=0.1", "hiv flu"); /* one category weighs 0 */
}

static void balance_is_about_the_categories_present(void **state UNUSED) {
  holds("balanced-p-plus", "p=2", "hiv lung colon");
  violates("balanced-p-plus", "p=2", "hiv lung ebola colon");
  holds("balanced-p-plus", "p=1", "hiv lung ebola hiv ? ?"); /* one category is in balance */
  violates("balanced-p-plus", "p=2", "hiv hiv");
  holds("balanced-p-plus", "p=3", "hiv lung colon flu burn");
  violates("balanced-p-plus", "p=3", "hiv lung colon flu burn burn");
  holds("balanced-p-alpha", "p=2 alpha=0.5", "hiv lung colon");
  violates("balanced-p-alpha", "p=2 alpha=0.6", "hiv lung colon");
  violates("balanced-p-alpha", "p=2 alpha=0.5", "hiv hiv hiv colon");
}

/* ---------------------------------------------------------------- frequencies */

static void theta_sensitive_asks_for_variance(void **state UNUSED) {
  static const char *const diverse[] = {"a b", "a b c", "a b c d", "a b c d e"};
  for (uint64_t k = 2; k <= 5; k++) { /* 0.25, 2/3, 1.25, 2: mu = 1 is a tie */
    request.k = k;
    holds("theta-sensitive", "mu=1", diverse[k - 2]);
    request.k = k + 1;
    violates("theta-sensitive", "mu=1", diverse[k - 2]);
  }
  request.k = 4;
  holds("theta-sensitive", "mu=0.55", "u v v w | u u v w"); /* 0.6875 = 0.55 x 1.25 */
  violates("theta-sensitive", "mu=0.550000000000001", "u v v w");
  violates("theta-sensitive", "mu=0.5", "u v v w u u v w"); /* together 0.609 */
  holds("theta-sensitive", "mu=1", "a b c d ? ?");
  violates("theta-sensitive", "mu=0.01", "? ?");
  holds("theta-sensitive", "mu=0", "? ?");
  unprovable("theta-sensitive", "mu=1.1", "a b c d");
  request.k = 1;
  holds("theta-sensitive", "mu=1", "a a | ?");
  request.k = 0;
  unprovable("theta-sensitive", "mu=1", "a b c d");
  request.k = UINT64_MAX; /* 128 bits cannot hold it: not proven, whatever it is */
  unprovable("theta-sensitive", "mu=0.000000000000000001", "a b c d");
}

static void l_diversity_has_three_kinds(void **state UNUSED) {
  const char *name = "l-diversity";
  holds(name, "l=2", "a a b ?");
  violates(name, "l=3", "a a b ?");
  holds(name, "kind=distinct l=2", "a a b");
  unprovable(name, "kind=distinct l=2.5", "a b c");
  unprovable(name, "kind=other l=2", "a b c");
  holds(name, "kind=recursive l=2 c=2", "a a a b c");
  violates(name, "kind=recursive l=2 c=1.5", "a a a b c"); /* 3 < 3 is false */
  holds(name, "kind=recursive l=2 c=1.500000000000001", "a a a b c");
  violates(name, "kind=recursive l=4 c=100", "a a a b c");
  violates(name, "kind=recursive l=1 c=1", "a a");
  holds(name, "kind=recursive l=1 c=1.1", "a a");
  violates(name, "kind=recursive l=1 c=9", "? ?");
  unprovable(name, "kind=recursive l=2", "a b c");
  unprovable(name, "kind=recursive l=2 c=0", "a b c");
}

static void entropy_is_exact_at_ties(void **state UNUSED) {
  const char *name = "l-diversity";
  holds(name, "kind=entropy l=3", "a b c | a a b b c c ?");
  violates(name, "kind=entropy l=3.0000000000000001", "a b c");
  violates(name, "kind=entropy l=3", "a b c c");
  holds(name, "kind=entropy l=4", "a a a a b c d e"); /* 8^8 = 4^8 x 4^4 */
  violates(name, "kind=entropy l=4.00000000000001", "a a a a b c d e");
  holds(name, "kind=entropy l=3.99999999999999", "a a a a b c d e");
  holds(name, "kind=entropy l=1", "a a a");
  violates(name, "kind=entropy l=1.00000000000000001", "a a a");
  violates(name, "kind=entropy l=1", "? ?");
  holds(name, "kind=entropy l=2.5", "a b c d e a b c d e");
  unprovable(name, "kind=entropy l=0.9", "a a");
  shoal_text many = {0}; /* 40000 rows, halves: a tie; one row more of one of them: none */
  shoal_text_add(&many, "a b");
  for (int i = 0; i < 19999; i++) shoal_text_add(&many, " a b");
  holds(name, "kind=entropy l=2", many.bytes);
  shoal_text_add(&many, " a");
  violates(name, "kind=entropy l=2", many.bytes);
  holds(name, "kind=entropy l=1.999999999", many.bytes);
  shoal_text_reset(&many);
}

static void alpha_k_counts_missing_rows_too(void **state UNUSED) {
  holds("alpha-k", "alpha=0.5", "a a b c");
  violates("alpha-k", "alpha=0.5", "a a b");
  holds("alpha-k", "alpha=0.5", "a a b ?");
  violates("alpha-k", "alpha=0.333333333333333333", "a b c");
  holds("alpha-k", "alpha=0.2", "a b c d e | ? ? ?");
  fails("alpha-k", "alpha=0.2", "a b c d e | a a b c d e", "alpha = 0.2) on 'illness': 1 class, 6");
  unprovable("alpha-k", "alpha=1.5", "a b");
  unprovable("alpha-k", "alpha=half", "a b");
}

/* ---------------------------------------------------------------- closeness */

static void closeness_of_equal_values(void **state UNUSED) {
  const shoal_verify_value values[] = {{"u", NULL, -1, 3}, {"v", NULL, -1, 2}};
  known = (shoal_verify_knowledge){.values = values, .n_values = 2};
  holds("t-closeness", "t=0.1", "u v");
  violates("t-closeness", "t=0.0999999", "u v");
  violates("t-closeness", "t=0.59 distance=equal", "v ?"); /* 0.6 */
  holds("t-closeness", "t=0.6 distance=equal", "v ?");
  holds("t-closeness", "t=0", "u u u v v ?");
  violates("t-closeness", "t=1", "? ?");
  unprovable("t-closeness", "t=1", "u w");
  unprovable("t-closeness", "t=1 distance=far", "u v");
  const shoal_verify_value uncounted[] = {{"u", NULL, -1, 3}, {"v", NULL, -1, 0}};
  known.values = uncounted;
  unprovable("t-closeness", "t=1", "u v");
  holds("t-closeness", "t=0", "u u");
}

static void closeness_of_ordered_values(void **state UNUSED) {
  const shoal_verify_value salaries[] = {
      {"11000", NULL, -1, 1}, {"3000", NULL, -1, 1}, {"4000", NULL, -1, 1},
      {"5000", NULL, -1, 1},  {"10e3", NULL, -1, 1}, {"7000", NULL, -1, 1},
      {"8000", NULL, -1, 1},  {"9000", NULL, -1, 1}, {"6000.0", NULL, -1, 1}};
  known = (shoal_verify_knowledge){.values = salaries, .n_values = 9};
  holds("t-closeness", "t=0.375 distance=ordered", "3000 4000 5000");
  violates("t-closeness", "t=0.374999999999 distance=ordered", "3000 4000 5000");
  holds("t-closeness", "t=0.16666666666666667 distance=ordered", "6000.0 8000 11000");
  violates("t-closeness", "t=0.16666666666666666 distance=ordered", "6000.0 8000 11000");
  holds("t-closeness", "t=0.5 distance=ordered", "3000 | 11000 ?"); /* the ends: 36/9 / 8 */
  violates("t-closeness", "t=0.49 distance=ordered", "3000");
  holds("t-closeness", "t=0 distance=ordered", "3000 4000 5000 6000.0 7000 8000 9000 10e3 11000");
  violates("t-closeness", "t=1 distance=ordered", "3000 | ?");
  const shoal_verify_value twins[] = {
      {"1.0", NULL, -1, 1}, {"1", NULL, -1, 1}, {"-2", NULL, -1, 2}};
  known = (shoal_verify_knowledge){.values = twins, .n_values = 3}; /* two numbers: -2 and 1 */
  holds("t-closeness", "t=0.5 distance=ordered", "1.0");
  violates("t-closeness", "t=0.49 distance=ordered", "1.0");
  holds("t-closeness", "t=0.5 distance=ordered", "1");
  violates("t-closeness", "t=0.49 distance=ordered", "1");
  holds("t-closeness", "t=0 distance=ordered", "1 -2");
  known.n_values = 1;
  holds("t-closeness", "t=0 distance=ordered", "1.0 1.0");
  known = (shoal_verify_knowledge){.values = illnesses, .n_values = COUNT(illnesses)};
  unprovable("t-closeness", "t=1 distance=ordered", "hiv");
}

/* Fifty rows; the tree has height 2. */
static void closeness_in_the_tree(void **state UNUSED) {
  const char *name = "t-closeness";
  /* hiv is 42/50 ahead: flu and ebola give 14/50 from half the height, the rest from its top. */
  holds(name, "t=0.7 distance=hierarchical", "hiv hiv ?");
  violates(name, "t=0.699999 distance=hierarchical", "hiv hiv ?");
  /* burn is 43/50 ahead, and all comes over the root. */
  holds(name, "t=0.86 distance=hierarchical", "burn");
  violates(name, "t=0.859 distance=hierarchical", "burn");
  /* cancer is 43/50 ahead: lung and colon, 14/50, are its own children. */
  holds(name, "t=0.72 distance=hierarchical", "cancer");
  violates(name, "t=0.7199 distance=hierarchical", "cancer");
  violates(name, "t=1 distance=hierarchical", "?");
  unprovable(name, "t=1 distance=hierarchical", "typhus");
  known.n_values = 1; /* one way down, nothing to move */
  holds(name, "t=0 distance=hierarchical", "hiv");
  const shoal_verify_value roots[] = {{"a", PATH("left"), 0, 1}, {"b", PATH("right"), 0, 1}};
  known = (shoal_verify_knowledge){.values = roots, .n_values = 2};
  unprovable(name, "t=1 distance=hierarchical", "a b");
  const shoal_verify_value no_path[] = {{"a", NULL, 0, 1}, {"b", PATH("any"), 0, 1}};
  known.values = no_path;
  unprovable(name, "t=1 distance=hierarchical", "b");
}

/* ---------------------------------------------------------------- guarding nodes */

static void personalized_keeps_rows_below_guards_few(void **state UNUSED) {
  const char *name = "personalized", *rows = "hiv flu lung burn";
  guards = "guard\nviral\n\n?\n\"burn\"\n";
  holds(name, "column=guard breach=0.5", rows);
  fails(name, "column=guard breach=0.49", rows, "breach = 0.49) on 'illness': 1 class, 4 rows");
  guards = "guard\n?\n\n\n\n"; /* nothing is guarded */
  holds(name, "column=guard breach=0", rows);
  guards = "guard\n\n\n\nany\n";
  violates(name, "column=guard breach=0.99", rows);
  holds(name, "column=guard breach=1", rows);
  guards = "guard\nviral\n\n\n\n"; /* the class of the guarded row alone */
  holds(name, "column=guard breach=0.5", "hiv ? | hiv flu");
  guards = "guard\n\n\nviral\n\n";
  violates(name, "column=guard breach=0.5", "hiv ? | hiv flu");
  guards = "guard\n\n\nviral\n\n"; /* what stood in the class before is forgotten */
  holds(name, "column=guard breach=0.25", "hiv hiv | lung burn");
  guards = "guard\nhiv\ncancer\nplague\n\n"; /* a value, a value that is a node, and neither */
  holds(name, "column=guard breach=0.5", "hiv lung cancer burn");
  violates(name, "column=guard breach=0.49", "hiv lung cancer burn");
  holds(name, "column=guard breach=0.25", "hiv lung ? burn");
}

static void a_label_that_stands_twice_guards_both(void **state UNUSED) {
  const shoal_verify_value values[] = {{"a", PATH("other", "left", "other"), 0, 1},
                                       {"b", PATH("other", "right", "other"), 0, 1},
                                       {"c", PATH("right", "other"), 0, 2}};
  known = (shoal_verify_knowledge){.values = values, .n_values = 3};
  guards = "g\nother\n\n";
  holds("personalized", "column=g breach=1", "a b"); /* each row counts once */
  violates("personalized", "column=g breach=0.99", "a b");
  guards = "g\nright\n\n";
  holds("personalized", "column=g breach=0.5", "a c");
}

static void the_guards_must_be_those_of_the_release(void **state UNUSED) {
  const char *name = "personalized", *with = "column=guard breach=1", *rows = "hiv flu";
  fails(name, with, rows, "no guarding nodes of the column 'guard'");
  guards = "guard\nany\n";
  fails(name, with, rows, "guarding nodes has fewer rows");
  guards = "guard\nany\nany\nany\n";
  fails(name, with, rows, "guarding nodes has more rows");
  guards = "";
  fails(name, with, rows, "guarding nodes is empty");
  guards = "guard\nany,any\nany\n";
  fails(name, with, rows, "guarding nodes: row 1: more cells");
  guards = "other\nany\nany\n";
  fails(name, with, rows, "not those of the column 'guard'");
  unprovable(name, "column=other", rows);
  unprovable(name, "column=other breach=2", rows);
  unprovable(name, "column=other breach=1", "hiv typhus");
  holds(name, "column=other breach=1", rows);
  request.attributes = NULL;
  unprovable(name, "column=other breach=1", rows);
}

/* ---------------------------------------------------------------- knowledge */

static void what_needs_knowledge_fails_without(void **state UNUSED) {
  request.attributes = NULL;
  unprovable("extended-p-sensitive", "p=1", "hiv");
  unprovable("p-plus-sensitive", "p=1", "hiv");
  unprovable("p-alpha-sensitive", "p=1 alpha=0", "hiv");
  unprovable("balanced-p-plus", "p=1", "hiv");
  unprovable("balanced-p-alpha", "p=1 alpha=0", "hiv");
  unprovable("t-closeness", "t=1", "hiv");
  holds("p-sensitive", "p=1", "hiv");
  holds("l-diversity", "l=1", "hiv");
  holds("alpha-k", "alpha=1", "hiv");
  holds("k-anonymity", "k=1", "hiv");
  request.attributes = &known;
  holds("p-sensitive", "p=2", "hiv typhus");
  known.values = (const shoal_verify_value[]){{"hiv", NULL, 0, 1}, {"hiv", NULL, 0, 1}};
  known.n_values = 2;
  fails("p-sensitive", "p=1", "hiv", "occurs twice");
}

/* ---------------------------------------------------------------- against the definitions */

enum { VALUES = 6, TABLE_ROWS = 15, HEIGHT = 3 };
static const shoal_verify_value numbers[VALUES] = {/* in numeric order */
                                                   {"-4", PATH("-4", "-4", "*"), 2, 3},
                                                   {"1", PATH("A", "A", "*"), 0, 3},
                                                   {"1.0", PATH("A", "*"), 1, 2},
                                                   {"2", PATH("B1", "B", "*"), 2, 4},
                                                   {"3.5", PATH("B1", "B", "*"), 0, 1},
                                                   {"10", PATH("10", "B", "*"), 1, 2}};
static const unsigned strong[VALUES] = {0, 1, 1, 2, 2, 3}; /* with A and B1 protected */
static const int64_t apart[VALUES][VALUES] = {/* height of the lowest common ancestor */
                                              {0, 3, 3, 3, 3, 3}, {3, 0, 1, 3, 3, 3},
                                              {3, 1, 0, 3, 3, 3}, {3, 3, 3, 0, 1, 2},
                                              {3, 3, 3, 1, 0, 2}, {3, 3, 3, 2, 2, 0}};
static const char *const guard_names[] = {"", "A", "B", "B1", "10", "*", "nothing"};
static const char *const below_guard[] = {"", "12", "345", "34", "5", "012345", ""};

typedef struct drawn_class {
  int64_t rows[VALUES], extra[VALUES]; /* extra: times n x TABLE_ROWS */
  int64_t sorted[VALUES];
  int64_t n, n_all, distinct;
} drawn_class;

static void describe_class(drawn_class *drawn) {
  for (int v = 0; v < VALUES; v++) {
    drawn->n += drawn->rows[v];
    drawn->distinct += drawn->rows[v] > 0;
    int64_t at = 0;
    for (int w = 0; w < VALUES; w++)
      at += drawn->rows[w] > drawn->rows[v] || (drawn->rows[w] == drawn->rows[v] && w < v);
    drawn->sorted[at] = drawn->rows[v];
  }
  for (int v = 0; v < VALUES; v++)
    drawn->extra[v] = drawn->rows[v] * TABLE_ROWS - (int64_t)numbers[v].n_original * drawn->n;
}

/* Groups present, and whether their rows differ by at most one. */
static int64_t count_groups(const drawn_class *drawn, bool by_category, bool *balanced) {
  int64_t rows[VALUES] = {0}, least = INT64_MAX, most = 0, present = 0;
  for (int v = 0; v < VALUES; v++)
    rows[by_category ? (size_t)numbers[v].category : strong[v]] += drawn->rows[v];
  for (int g = 0; g < VALUES; g++) {
    if (!rows[g]) continue;
    present++;
    if (rows[g] < least) least = rows[g];
    if (rows[g] > most) most = rows[g];
  }
  *balanced = most - least <= 1;
  return present;
}

/* Moves what is too much to where it lacks, the nearest first: in a tree that is the best way. */
static int64_t move_extras(drawn_class drawn) {
  int64_t cost = 0;
  for (int64_t steps = 1; steps <= HEIGHT; steps++)
    for (int v = 0; v < VALUES; v++)
      for (int w = 0; w < VALUES; w++)
        while (apart[v][w] == steps && drawn.extra[v] > 0 && drawn.extra[w] < 0) {
          drawn.extra[v]--;
          drawn.extra[w]++;
          cost += steps;
        }
  return cost;
}

/* The distance times n x TABLE_ROWS x unit. */
static int64_t distance(const drawn_class *drawn, const char *kind, int64_t *unit) {
  int64_t sum = 0, up_to = 0;
  *unit = *kind == 'e' ? 2 : *kind == 'o' ? VALUES - 2 : HEIGHT; /* 1 and 1.0 are one number */
  if (*kind == 'h') return move_extras(*drawn);
  for (int v = 0; v < VALUES; v++) {
    up_to = (*kind == 'e' ? 0 : up_to) + drawn->extra[v];
    if (*kind == 'o' && v == 1) continue; /* what is up to 1 is up to 1.0 too */
    sum += llabs(up_to);
  }
  return sum;
}

static bool has_entropy(const drawn_class *drawn, int64_t tenths) {
  __extension__ unsigned __int128 over = 1, under = 1; /* with 12 rows below 10^31 */
  for (int64_t i = 0; i < drawn->n; i++) {
    over *= (unsigned)(drawn->n * 10);
    under *= (unsigned)tenths;
  }
  for (int v = 0; v < VALUES; v++)
    for (int64_t i = 0; i < drawn->rows[v]; i++) under *= (unsigned)drawn->rows[v];
  return drawn->n > 0 && over >= under;
}

typedef struct drawn_bounds {
  int64_t whole, tenths, k; /* 1 .. 4; 0 .. 10; 1 .. 4 */
  size_t guard;
} drawn_bounds;

static int64_t tail_of(const drawn_class *drawn, int64_t l) {
  int64_t tail = 0;
  for (int64_t i = l - 1; i < VALUES; i++) tail += drawn->sorted[i];
  return tail;
}

static bool naively_holds(size_t which, const drawn_class *drawn, drawn_bounds with) {
  static const char *const kinds[] = {"equal", "ordered", "hierarchical"};
  bool balanced, any;
  int64_t categories = count_groups(drawn, true, &balanced), halves = 0, unit, below = 0;
  int64_t mean = 0, squares = 0, n = drawn->n;
  for (int64_t i = 0; i < VALUES; i++) {
    halves += drawn->rows[i] ? numbers[i].category : 0;
    mean += drawn->sorted[i] * (i + 1);
    squares += drawn->sorted[i] * (i + 1) * (i + 1);
  }
  bool p_alpha = drawn->distinct >= with.whole && halves * 5 >= with.tenths;
  for (const char *v = below_guard[with.guard]; *v; v++) below += drawn->rows[*v - '0'];
  switch (which) {
  case 0: return count_groups(drawn, false, &any) >= with.whole;
  case 1: return categories >= with.whole;
  case 2: return p_alpha;
  case 3: return categories >= with.whole && balanced;
  case 4: return p_alpha && balanced;
  case 5:
    return 120 * (n * squares - mean * mean) >=
           with.tenths * (with.k * with.k - 1) * (n ? n * n : 1);
  case 6: return drawn->distinct >= with.whole;
  case 7: return has_entropy(drawn, 10 + 2 * with.tenths);
  case 8: return drawn->sorted[0] * 10 < (with.tenths + 1) * tail_of(drawn, with.whole);
  case 9: return drawn->sorted[0] * 10 <= with.tenths * drawn->n_all;
  case 10: return below * 10 <= with.tenths * drawn->n_all;
  default:
    return n &&
           distance(drawn, kinds[which - 11], &unit) * 10 <= with.tenths * unit * n * TABLE_ROWS;
  }
}

static const struct {
  const char *name, *with; /* W: a whole number, T: tenths, C: tenths above 0, E: from 1 to 3 */
} drawn_models[] = {
    {"extended-p-sensitive", "p=W"},
    {"p-plus-sensitive", "p=W"},
    {"p-alpha-sensitive", "p=W alpha=T"},
    {"balanced-p-plus", "p=W"},
    {"balanced-p-alpha", "p=W alpha=T"},
    {"theta-sensitive", "mu=T"},
    {"l-diversity", "l=W"},
    {"l-diversity", "kind=entropy l=E"},
    {"l-diversity", "kind=recursive l=W c=C"},
    {"alpha-k", "alpha=T"},
    {"personalized", "column=g breach=T"},
    {"t-closeness", "distance=equal t=T"},
    {"t-closeness", "distance=ordered t=T"},
    {"t-closeness", "distance=hierarchical t=T"},
};

static void add_tenths(shoal_text *out, int64_t tenths) {
  shoal_text_print(out, "%d.%d", (int)tenths / 10, (int)tenths % 10);
}

static void add_parameters(shoal_text *out, const char *pattern, drawn_bounds with) {
  for (; *pattern; pattern++) {
    switch (*pattern) {
    case 'W': shoal_text_print(out, "%d", (int)with.whole); break;
    case 'T': add_tenths(out, with.tenths); break;
    case 'C': add_tenths(out, with.tenths + 1); break;
    case 'E': add_tenths(out, 10 + 2 * with.tenths); break;
    default: shoal_text_add_bytes(out, pattern, 1);
    }
  }
}

/* A class of up to 12 rows, and the guarding node of its first row. */
static void draw_class(shoal_random *random, drawn_class *drawn, shoal_text *rows,
                       shoal_text *guarding, size_t guard) {
  *drawn = (drawn_class){.n_all = 1 + (int64_t)shoal_random_below(random, 12)};
  uint64_t variety = 1 + shoal_random_below(random, VALUES + 1);
  shoal_text_add(guarding, "g\n");
  for (int64_t i = 0; i < drawn->n_all; i++) {
    uint64_t value = (shoal_random_below(random, variety) + (uint64_t)drawn->n_all) % (VALUES + 1);
    if (value < VALUES) drawn->rows[value]++;
    shoal_text_print(rows, "%s%s", i ? " " : "", value < VALUES ? numbers[value].value : "?");
    shoal_text_print(guarding, "%s\n", i ? "" : guard_names[guard]);
  }
  describe_class(drawn);
}

static void random_classes_agree_with_the_definitions(void **state UNUSED) {
  known = (shoal_verify_knowledge){.values = numbers,
                                   .n_values = VALUES,
                                   .n_categories = 3,
                                   .protect = (const char *const[]){"A", "B1"},
                                   .n_protect = 2};
  shoal_random random;
  shoal_random_seed(&random, 11);
  unsigned n_held[COUNT(drawn_models)] = {0}, n_drawn = 2000;
  for (unsigned i = 0; i < n_drawn * COUNT(drawn_models); i++) {
    size_t which = i % COUNT(drawn_models);
    drawn_bounds with = {.whole = 1 + (int64_t)shoal_random_below(&random, 4),
                         .tenths = (int64_t)shoal_random_below(&random, 11),
                         .k = 1 + (int64_t)shoal_random_below(&random, 4),
                         .guard = shoal_random_below(&random, COUNT(guard_names))};
    shoal_text rows = {0}, guarding = {0}, text = {0};
    drawn_class drawn;
    draw_class(&random, &drawn, &rows, &guarding, with.guard);
    add_parameters(&text, drawn_models[which].with, with);
    request.k = (uint64_t)with.k;
    guards = guarding.bytes;
    bool expected = naively_holds(which, &drawn, with);
    if (expected) holds(drawn_models[which].name, text.bytes, rows.bytes);
    else violates(drawn_models[which].name, text.bytes, rows.bytes);
    n_held[which] += expected;
    shoal_text_reset(&rows);
    shoal_text_reset(&guarding);
    shoal_text_reset(&text);
  }
  for (size_t m = 0; m < COUNT(drawn_models); m++) /* both verdicts were put to the test */
    assert_in_range(n_held[m], n_drawn / 10, n_drawn / 10 * 9);
}

#define TEST(name) cmocka_unit_test_setup(name, start_request)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(extended_p_sensitive_counts_strong_ancestors),
      TEST(a_label_is_a_node_only_with_all_above_it),
      TEST(p_plus_counts_categories),
      TEST(p_alpha_adds_weights_of_distinct_values),
      TEST(balance_is_about_the_categories_present),
      TEST(theta_sensitive_asks_for_variance),
      TEST(l_diversity_has_three_kinds),
      TEST(entropy_is_exact_at_ties),
      TEST(alpha_k_counts_missing_rows_too),
      TEST(closeness_of_equal_values),
      TEST(closeness_of_ordered_values),
      TEST(closeness_in_the_tree),
      TEST(personalized_keeps_rows_below_guards_few),
      TEST(a_label_that_stands_twice_guards_both),
      TEST(the_guards_must_be_those_of_the_release),
      TEST(what_needs_knowledge_fails_without),
      TEST(random_classes_agree_with_the_definitions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
