/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/cluster/theta*.c: classes given by hand as in docs/reading-the-papers.md R18
 * and R19, the tables of Khan et al. 2020, and random tables. Variances are counted anew here.
 */
#include "lowmem_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "context/context.h"
#include "model/theta.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { MAX_ROWS = 400, LETTERS = 26 };

static shoal_error error;

static void succeeds(shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", error.message);
}

/* ---------------------------------------------------------------- classes by hand */

typedef struct fixture {
  shoal_policy *policy;
  shoal_table *table;
  shoal_context context;
  shoal_axes axes;
  shoal_cluster_requirements required;
  shoal_cluster_task task;
  shoal_partition partition;
  uint32_t n_rows;
  unsigned numbers[MAX_ROWS];               /* by row: q */
  char letters[MAX_ROWS], others[MAX_ROWS]; /* by row: s and s2 */
  double mu;
  unsigned k;
} fixture;

static void prepare(fixture *f, const char *models) {
  static const char *const names[] = {"q", "s", "s2"};
  shoal_text yaml = {0}, cells[3] = {{0}};
  uint64_t offsets[3][MAX_ROWS + 1] = {{0}};
  shoal_text_view views[3];
  shoal_text_print(&yaml,
                   "shoal: 1\nattributes:\n  q: {role: quasi, type: number}\n"
                   "  s: {role: sensitive}\n  s2: {role: sensitive}\n"
                   "privacy: {k: %u, models: [{theta-sensitive: {mu: %g, attribute: s}}%s]}\n",
                   f->k, f->mu, models);
  succeeds(shoal_policy_parse(yaml.bytes, yaml.size_bytes, "policy.yaml", ".", &f->policy, &error));
  for (uint32_t r = 0; r < f->n_rows; r++) {
    shoal_text_print(&cells[0], "%u", f->numbers[r]);
    shoal_text_print(&cells[1], "%c", f->letters[r]);
    shoal_text_print(&cells[2], "%c", f->others[r]);
    for (size_t c = 0; c < 3; c++) offsets[c][r + 1] = cells[c].size_bytes;
  }
  for (size_t c = 0; c < 3; c++) views[c] = (shoal_text_view){cells[c].bytes, offsets[c]};
  succeeds(shoal_table_new(names, 3, &f->table, &error));
  succeeds(shoal_table_append(f->table, views, 3, f->n_rows, NULL, &error));
  succeeds(shoal_table_finish(f->table, f->policy, SHOAL_FOR_RELEASE, &error));
  succeeds(shoal_context_init(&f->context, f->table, f->policy, SHOAL_CONTEXT_LOCAL, NULL, &error));
  succeeds(shoal_axes_init(&f->axes, f->context.frequency, NULL, NULL, SHOAL_LOSS_HEIGHT, &error));
  succeeds(shoal_cluster_requirements_init(&f->required, &f->context.requirements,
                                           &f->context.tracked, f->table, SHOAL_WEIGHTS_GIVEN,
                                           &error));
  f->task = (shoal_cluster_task){.axes = &f->axes, .required = &f->required};
  shoal_text_reset(&yaml);
  for (size_t c = 0; c < 3; c++) shoal_text_reset(&cells[c]);
}

/* "aabc|adef": rows with these values of s, in these classes; s2 varies as much as it can.
 * `positions`, as long, has a digit for each row's q; NULL: they are all different. */
static void setup_at(fixture *f, const char *classes, const char *positions, unsigned k,
                     double mu) {
  memset(f, 0, sizeof *f);
  f->k = k;
  f->mu = mu;
  f->partition.cluster_of_row = calloc(MAX_ROWS, sizeof *f->partition.cluster_of_row);
  assert_non_null(f->partition.cluster_of_row);
  f->partition.n_clusters = 1;
  for (size_t i = 0; classes[i]; i++) {
    if (classes[i] == '|') {
      f->partition.n_clusters++;
      continue;
    }
    f->numbers[f->n_rows] = positions ? (unsigned)(positions[i] - '0') : f->n_rows;
    f->partition.cluster_of_row[f->n_rows] = f->partition.n_clusters - 1;
    f->others[f->n_rows] = (char)('a' + f->n_rows % LETTERS);
    f->letters[f->n_rows++] = classes[i];
  }
  prepare(f, "");
}

static void setup(fixture *f, const char *classes, unsigned k, double mu) {
  setup_at(f, classes, NULL, k, mu);
}

static void release(fixture *f) {
  shoal_partition_reset(&f->partition);
  shoal_cluster_requirements_reset(&f->required);
  shoal_axes_reset(&f->axes);
  shoal_context_reset(&f->context);
  shoal_table_free(f->table);
  shoal_policy_free(f->policy);
}

/* ---------------------------------------------------------------- counted anew */

static int descending(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

/* 12 n^2 (variance - theta), which decides by its sign; mu in hundredths. */
static long long excess(int *count, unsigned k, double mu) {
  long long n = 0, sum = 0, squares = 0, hundredths = (long long)(mu * 100 + 0.5);
  qsort(count, LETTERS, sizeof *count, descending);
  for (long long i = 0; i < LETTERS; i++) {
    n += count[i];
    sum += (i + 1) * count[i];
    squares += (i + 1) * (i + 1) * count[i];
  }
  return 1200 * (n * squares - sum * sum) - n * n * hundredths * ((long long)k * k - 1);
}

static int letter(const fixture *f, const char *column, uint32_t code) {
  size_t size;
  return *shoal_column_value(shoal_table_column(f->table, column), code, &size) - 'a';
}

/* Does a class pass, its invented rows with it? Each of these has a value of s that was absent, or,
 * where s2 is asked for too, one of s2. */
static bool passes(const fixture *f, uint32_t c) {
  int count[LETTERS] = {0}, others[LETTERS] = {0};
  const shoal_noise *noise = &f->partition.noise;
  unsigned size = 0;
  for (uint32_t r = 0; r < f->n_rows; r++)
    if (f->partition.cluster_of_row[r] == c) {
      count[f->letters[r] - 'a']++;
      others[f->others[r] - 'a']++;
      size++;
    }
  for (uint32_t i = 0; i < noise->n; i++)
    if (noise->cluster[i] == c) {
      int at = letter(f, "s", noise->values[i * noise->n_columns]);
      int other = letter(f, "s2", noise->values[i * noise->n_columns + 1]);
      assert_true(noise->like[i] < f->n_rows);
      assert_int_equal(f->partition.cluster_of_row[noise->like[i]], c);
      assert_true(count[at] == 0 || (f->required.n_others > 1 && others[other] == 0));
      count[at]++;
      others[other]++;
    }
  assert_true(size >= f->k); /* of true rows */
  return excess(count, f->k, f->mu) >= 0;
}

static uint32_t n_failing(const fixture *f) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < f->partition.n_clusters; c++) n += !passes(f, c);
  return n;
}

static void repair(fixture *f) { succeeds(shoal_theta_repair(&f->task, &f->partition, &error)); }

/* Mended by swaps alone: as many classes as before, all of them pass. */
static void swaps_repair(const char *classes, unsigned k, double mu) {
  fixture f;
  setup(&f, classes, k, mu);
  uint32_t before = f.partition.n_clusters;
  repair(&f);
  assert_int_equal(f.partition.n_clusters, before);
  assert_int_equal(n_failing(&f), 0);
  assert_int_equal(f.partition.noise.n, 0);
  assert_int_equal(f.partition.n_abandoned, 0);
  release(&f);
}

/* ---------------------------------------------------------------- R18 and R19 */

static void donors_keep_theta(void **state UNUSED) { swaps_repair("aabc|adef|bdgh", 4, 0.6); }

static void earlier_and_later_classes_give(void **state UNUSED) {
  swaps_repair("aabc|bbde|defg|hijk", 4, 0.6);
  swaps_repair("hijk|defg|bbde|aabc", 4, 0.6);
  swaps_repair("bcdg|abcd|aaef", 4, 0.6); /* the last one needs help from beyond its neighbour */
}

/* No swap helps: whatever one gets, the other falls below theta; no value is absent, so that none
 * can be invented. Together they pass: 3.18 against 3.15. */
static void nothing_new_to_give_does_not_loop(void **state UNUSED) {
  static const char *const both[] = {"aabbcdef|aaabcdef", "aaabcdef|aabbcdef"};
  for (int i = 0; i < 4; i++) {
    fixture f;
    setup(&f, both[i % 2], 8, 0.6);
    assert_int_equal(n_failing(&f), 1);
    f.task.max_noise = i < 2 ? 0 : 100;
    repair(&f);
    assert_int_equal(f.partition.n_clusters, 1);
    assert_int_equal(n_failing(&f), 0);
    assert_int_equal(f.partition.noise.n, 0);
    assert_int_equal(f.partition.n_abandoned, 0);
    assert_string_equal(f.partition.why,
                        "0 swaps of rows between classes, 1 class merged into others");
    release(&f);
  }
}

/* A third class that has other values: then swaps do, and all three stay. */
static void something_new_to_give_does(void **state UNUSED) {
  swaps_repair("aabbcdef|aaabcdef|ghijklmn", 8, 0.6);
}

static void three_values_do_not_do_for_k_4(void **state UNUSED) {
  static const char *const tables[] = {"aabc", "aaab|aabc", "aabb|ccab", "aaaa|bbcc"};
  for (size_t i = 0; i < COUNT(tables); i++) {
    fixture f;
    setup(&f, tables[i], 4, 0.6);
    assert_int_equal(shoal_theta_min_distinct(f.required.others[0]), 4);
    f.task.max_noise = 100;
    repair(&f);
    assert_int_equal(f.partition.noise.n, 0); /* it would not help */
    assert_int_equal(f.partition.n_abandoned, f.n_rows);
    release(&f);
  }
}

static void one_class_only(void **state UNUSED) {
  fixture f;
  setup(&f, "aabbcd", 4, 0.6);
  assert_int_equal(n_failing(&f), 0);
  repair(&f);
  assert_int_equal(f.partition.n_clusters, 1);
  release(&f);
  setup(&f, "aabb", 4, 0.6);
  repair(&f);
  assert_int_equal(f.partition.n_clusters, 1);
  assert_int_equal(f.partition.n_abandoned, 4);
  release(&f);
}

static void min_distinct_values(void **state UNUSED) {
  static const struct {
    unsigned k, distinct;
  } cases[] = {{2, 2}, {4, 4}, {10, 8}, {18, 13}, {20, 14}, {21, 15}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    fixture f;
    setup(&f, "abcdefghijklmnopqrstuvwxyz", cases[i].k, 0.6);
    assert_int_equal(shoal_theta_min_distinct(f.required.others[0]), cases[i].distinct);
    release(&f);
  }
}

/* ---------------------------------------------------------------- the paper's tables */

/* HIV h, Cancer c, Hepatitis p, Phthisis t, Asthma a, Obesity o, Flu f, Indigestion i */

static void table_4b_needs_no_noise(void **state UNUSED) { swaps_repair("hhcf|ptao|cffi", 4, 0.6); }

static void table_1a_needs_at_most_one_noise_row(void **state UNUSED) {
  static const uint32_t sorted[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
  fixture f;
  setup(&f, "cchi|ffhp|ofat", 4, 0.6); /* sorted by age */
  assert_memory_equal(f.partition.cluster_of_row, sorted, sizeof sorted);
  f.task.max_noise = 12;
  repair(&f);
  assert_int_equal(n_failing(&f), 0);
  assert_true(f.partition.noise.n <= 1);
  release(&f);
}

/* ---------------------------------------------------------------- noise, merging, giving up */

static void noise_has_absent_values_and_a_limit(void **state UNUSED) {
  for (uint64_t most = 0; most <= 4; most++) {
    fixture f;
    setup(&f, "aabc|aabd|aabd", 4, 0.6);
    f.task.max_noise = most;
    repair(&f);
    assert_true(f.partition.noise.n <= most);
    if (most == 4) assert_int_equal(n_failing(&f), 0);
    release(&f);
  }
}

static void the_same_seed_invents_the_same_rows(void **state UNUSED) {
  uint32_t like[2][8];
  for (int i = 0; i < 2; i++) {
    fixture f;
    setup(&f, "aabc|aabd|aabd", 4, 0.6);
    f.task.max_noise = 8;
    f.task.seed = 7;
    repair(&f);
    assert_true(f.partition.noise.n > 0 && f.partition.noise.n <= 8);
    memset(like[i], 0, sizeof like[i]);
    memcpy(like[i], f.partition.noise.like, f.partition.noise.n * sizeof **like);
    release(&f);
  }
  assert_memory_equal(like[0], like[1], sizeof *like);
}

static void what_swaps_cannot_mend_is_merged(void **state UNUSED) {
  fixture f;
  setup(&f, "aaaa|bcde|aaaa", 4, 0.5);
  repair(&f);
  assert_true(f.partition.n_clusters < 3);
  release(&f);
}

/* Only c and d lie outside of a and b, so that one class at most can have four values, and it
 * fails: without invented rows nothing passes. With them, each class needs the two that it lacks.
 */
static void noise_where_nothing_else_helps(void **state UNUSED) {
  for (uint64_t most = 0; most <= 8; most++) {
    fixture f;
    setup(&f, "aabb|aabb|aabb|aacd", 4, 0.6);
    f.task.max_noise = most;
    repair(&f);
    assert_true(f.partition.noise.n <= most);
    assert_true((f.partition.n_abandoned > 0) == (most < 6));
    assert_true(f.partition.noise_short == (most > 0 && most < 6));
    if (most >= 6) assert_int_equal(f.partition.noise.n + n_failing(&f), 6);
    release(&f);
  }
}

/* ---------------------------------------------------------------- equal labels */

/* Classes that cover the same numbers, as one: does each of these pass? */
static bool united_pass(const fixture *f) {
  unsigned lo[MAX_ROWS], hi[MAX_ROWS];
  for (uint32_t c = 0; c < f->partition.n_clusters; c++) {
    lo[c] = UINT32_MAX;
    hi[c] = 0;
    for (uint32_t r = 0; r < f->n_rows; r++) {
      if (f->partition.cluster_of_row[r] != c) continue;
      if (f->numbers[r] < lo[c]) lo[c] = f->numbers[r];
      if (f->numbers[r] > hi[c]) hi[c] = f->numbers[r];
    }
  }
  for (uint32_t c = 0; c < f->partition.n_clusters; c++) {
    int count[LETTERS] = {0};
    for (uint32_t r = 0; r < f->n_rows; r++) {
      uint32_t other = f->partition.cluster_of_row[r];
      if (lo[other] == lo[c] && hi[other] == hi[c]) count[f->letters[r] - 'a']++;
    }
    if (excess(count, f->k, f->mu) < 0) return false;
  }
  return true;
}

/* R2: each passes, with 0.6875 against 0.625, and both together have 0.609. */
static void classes_of_equal_labels_are_mended_as_one(void **state UNUSED) {
  static const char classes[] = "uvvw|uuvw|abcd", positions[] = "0099|0099|5678";
  fixture f;
  setup_at(&f, classes, positions, 4, 0.5);
  assert_int_equal(n_failing(&f), 0);
  assert_false(united_pass(&f));
  repair(&f);
  assert_true(united_pass(&f));
  assert_int_equal(f.partition.n_clusters, 2);
  assert_string_equal(f.partition.why, "1 swap of rows between classes, 1 class united with one of "
                                       "equal labels");
  release(&f);
  setup_at(&f, "uvvw|uvxw", "0099|0099", 4, 0.5); /* pass together, too: they may stay apart */
  repair(&f);
  assert_int_equal(f.partition.n_clusters, 2);
  release(&f);
}

/* The class that lacks values has a twin that lacks them too: both get what one would. */
static void noise_is_absent_from_all_of_equal_labels(void **state UNUSED) {
  fixture f;
  setup_at(&f, "aabb|aabb|aacd", "0099|0099|5678", 4, 0.6);
  f.task.max_noise = 100;
  repair(&f);
  assert_int_equal(f.partition.n_clusters, 2);
  assert_int_equal(n_failing(&f), 0); /* which looks at the values, too */
  assert_true(f.partition.noise.n >= 2);
  release(&f);
}

/* ---------------------------------------------------------------- sorted */

static void sorted_start_is_runs_of_k(void **state UNUSED) {
  fixture f;
  setup(&f, "abcdefghijk", 4, 0.6);
  shoal_partition_reset(&f.partition);
  f.task.start = SHOAL_START_SORTED;
  succeeds(shoal_cluster_theta(&f.task, &f.partition, &error));
  assert_int_equal(f.partition.n_clusters, 2); /* the remainder is with the last */
  for (uint32_t r = 0; r < f.n_rows; r++)
    assert_int_equal(f.partition.cluster_of_row[r] == f.partition.cluster_of_row[0], r < 4);
  release(&f);
}

/* ---------------------------------------------------------------- random tables */

static void draw(fixture *f, shoal_random *random, const char *models) {
  static const unsigned hundredths[] = {30, 50, 60, 90};
  memset(f, 0, sizeof *f);
  f->k = 2 + (unsigned)shoal_random_below(random, 6);
  f->mu = hundredths[shoal_random_below(random, 4)] / 100.0;
  f->n_rows = f->k + (uint32_t)shoal_random_below(random, 60);
  unsigned n_letters = f->k + (unsigned)shoal_random_below(random, 6);
  unsigned wide = shoal_random_below(random, 2) ? 1000 : 6;
  for (uint32_t r = 0; r < f->n_rows; r++) {
    f->numbers[r] = (unsigned)shoal_random_below(random, wide);
    uint64_t a = shoal_random_below(random, n_letters), b = shoal_random_below(random, n_letters);
    f->letters[r] = (char)('a' + (a < b ? a : b));
    f->others[r] = (char)('a' + shoal_random_below(random, n_letters));
  }
  prepare(f, models);
  if (shoal_random_below(random, 2)) f->task.start = SHOAL_START_SORTED;
  if (shoal_random_below(random, 2)) f->task.max_noise = shoal_random_below(random, 20);
  if (shoal_random_below(random, 4) == 0) f->task.max_suppressed = shoal_random_below(random, 8);
}

/* Every class passes but those that are given up; a partition; noise within its limit. */
static void is_repaired(const fixture *f, shoal_requirement_checker *checker) {
  const shoal_partition *p = &f->partition;
  uint64_t breaking = 0;
  assert_true(p->noise.n <= f->task.max_noise);
  for (uint32_t c = 0; c < p->n_clusters; c++) {
    uint32_t rows[MAX_ROWS], n = 0, values[2 * MAX_ROWS], n_noise = 0;
    for (uint32_t r = 0; r < f->n_rows; r++)
      if (p->cluster_of_row[r] == c) rows[n++] = r;
    for (uint32_t i = 0; i < p->noise.n; i++)
      if (p->noise.cluster[i] == c)
        memcpy(values + 2 * n_noise++, p->noise.values + i * 2, 2 * sizeof *values);
    assert_true(n > 0);
    bool fits = shoal_requirement_checker_satisfies_with(checker, rows, n,
                                                         (shoal_added){values, n_noise, 2});
    if (fits) assert_true(passes(f, c));
    else assert_int_equal(n_noise, 0);
    if (!fits) breaking += n;
  }
  assert_int_equal(breaking, p->n_abandoned);
}

static void random_tables(void **state UNUSED) {
  static const char *const models[] = {"",
                                       "",
                                       ", {p-sensitive: {p: 2}}",
                                       ", {theta-sensitive: {mu: 0.4, attribute: s2}}",
                                       ", {alpha-k: {alpha: 0.6}}",
                                       ", {l-diversity: {kind: entropy, l: 2}}"};
  shoal_random random;
  shoal_random_seed(&random, 3);
  unsigned reached = 0;
  for (size_t i = 0; i < 600; i++) {
    fixture f;
    draw(&f, &random, models[i % COUNT(models)]);
    shoal_requirement_checker checker;
    succeeds(shoal_requirement_checker_init(&checker, &f.required, &error));
    succeeds(shoal_cluster_theta(&f.task, &f.partition, &error));
    is_repaired(&f, &checker);
    reached += f.partition.n_abandoned == 0;
    shoal_requirement_checker_reset(&checker);
    release(&f);
  }
  assert_true(reached > 300);
}

/* ---------------------------------------------------------------- memory */

static void memory_may_run_out_anywhere(void **state UNUSED) {
  static const char *const models[] = {"", ", {p-sensitive: {p: 2}}",
                                       ", {theta-sensitive: {mu: 0.4, attribute: s2}}"};
  shoal_random random;
  shoal_random_seed(&random, 11);
  unsigned invented = 0;
  for (size_t i = 0; i < 6; i++) {
    fixture f;
    draw(&f, &random, models[i % COUNT(models)]);
    f.task.max_noise = 100;
    f.task.run = &(shoal_run){.n_threads = 1}; /* allocations are counted without a lock */
    succeeds(shoal_cluster_theta(&f.task, &f.partition, &error));
    uint32_t n_clusters = f.partition.n_clusters, n_noise = f.partition.noise.n, n_failed = 0;
    fails_once = i / 3 % 2;
    for (long n = 0, left = 0; left < 1; n++) {
      shoal_partition_reset(&f.partition);
      allocations_left = n;
      shoal_status status = shoal_cluster_theta(&f.task, &f.partition, &error);
      left = allocations_left;
      allocations_left = -1;
      assert_int_equal(status, f.partition.cluster_of_row ? SHOAL_OK : SHOAL_FAILED);
      n_failed += status != SHOAL_OK;
      if (status != SHOAL_OK) continue;
      assert_int_equal(f.partition.n_clusters, n_clusters);
      assert_int_equal(f.partition.noise.n, n_noise);
    }
    assert_true(n_failed > 30);
    invented += n_noise;
    release(&f);
  }
  assert_true(invented > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(donors_keep_theta),
      cmocka_unit_test(earlier_and_later_classes_give),
      cmocka_unit_test(nothing_new_to_give_does_not_loop),
      cmocka_unit_test(something_new_to_give_does),
      cmocka_unit_test(three_values_do_not_do_for_k_4),
      cmocka_unit_test(one_class_only),
      cmocka_unit_test(min_distinct_values),
      cmocka_unit_test(table_4b_needs_no_noise),
      cmocka_unit_test(table_1a_needs_at_most_one_noise_row),
      cmocka_unit_test(noise_has_absent_values_and_a_limit),
      cmocka_unit_test(the_same_seed_invents_the_same_rows),
      cmocka_unit_test(what_swaps_cannot_mend_is_merged),
      cmocka_unit_test(noise_where_nothing_else_helps),
      cmocka_unit_test(classes_of_equal_labels_are_mended_as_one),
      cmocka_unit_test(noise_is_absent_from_all_of_equal_labels),
      cmocka_unit_test(sorted_start_is_runs_of_k),
      cmocka_unit_test(random_tables),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
