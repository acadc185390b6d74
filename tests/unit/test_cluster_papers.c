/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/cluster/{greedy,enhanced_pk}.c: random tables against
 * the algorithms word by word (cluster_slow.h), the examples of Truta, Campan & Meyer 2007 and the
 * counterexamples to it (docs/reading-the-papers.md R7, R12, R13, R14).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "cluster_slow.h"
#include "table/load.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { MAX_COLUMNS = 6, MAX_COUNTS = 4, CELL = 16 };

/* ---------------------------------------------------------------- tables */

/* The first n_quasi columns are quasi-identifiers, the others sensitive. "?" is missing. */
typedef struct sample {
  size_t n_rows, n_quasi, n_columns;
  char cells[MAX_ROWS][MAX_COLUMNS][CELL];
  const char *trees[MAX_COLUMNS]; /* NULL: a number */
  shoal_table *table;
  shoal_arena arena;
  shoal_hierarchy *hierarchies[MAX_COLUMNS];
  shoal_frequency_set *frequency;
  shoal_axes axes;
  shoal_distinct_requirement counts[MAX_COUNTS];
  shoal_cluster_requirements required;
  shoal_error error;
} sample;

static void succeeds(const sample *s, shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", s->error.message);
}

static void fill_table(sample *s) {
  static const char *const names[MAX_COLUMNS] = {"a", "b", "c", "d", "e", "f"};
  static const char *const missing[] = {"?"};
  shoal_text texts[MAX_COLUMNS] = {{0}};
  uint64_t offsets[MAX_COLUMNS][MAX_ROWS + 1] = {{0}};
  shoal_text_view views[MAX_COLUMNS];
  for (size_t c = 0; c < s->n_columns; c++) {
    for (size_t r = 0; r < s->n_rows; r++) {
      shoal_text_add(&texts[c], s->cells[r][c]);
      offsets[c][r + 1] = texts[c].size_bytes;
    }
    views[c] = (shoal_text_view){texts[c].bytes, offsets[c]};
  }
  succeeds(s, shoal_table_new(names, s->n_columns, &s->table, &s->error));
  succeeds(s, shoal_table_append(s->table, views, s->n_columns, s->n_rows, NULL, &s->error));
  const shoal_load_options options = {.missing = missing, .n_missing = 1};
  succeeds(s, shoal_table_finalize(s->table, &options, &s->error));
  for (size_t c = 0; c < s->n_columns; c++) shoal_text_reset(&texts[c]);
}

/* Cells and trees are there; makes all up to the axes. */
static void build(sample *s, uint64_t k) {
  const shoal_column *quasi[MAX_COLUMNS];
  shoal_arena_init(&s->arena);
  fill_table(s);
  for (size_t q = 0; q < s->n_quasi; q++) {
    shoal_hierarchy_spec spec;
    quasi[q] = &s->table->columns[q];
    const shoal_hierarchy_options options = {.attribute = quasi[q]->name};
    if (!s->trees[q]) continue;
    succeeds(s, shoal_policy_parse_hierarchy(s->trees[q], ".", &s->arena, &spec, &s->error));
    succeeds(s, shoal_hierarchy_compile(&spec, s->table, quasi[q], &options, &s->hierarchies[q],
                                        &s->error));
  }
  succeeds(s, shoal_frequency_set_build(s->table, quasi,
                                        (const shoal_hierarchy *const *)s->hierarchies, s->n_quasi,
                                        NULL, NULL, 0, NULL, &s->frequency, &s->error));
  succeeds(s, shoal_axes_init(&s->axes, s->frequency, NULL, NULL, SHOAL_LOSS_HEIGHT, &s->error));
  s->required = (shoal_cluster_requirements){
      .n_rows = s->n_rows, .k = k, .counts = s->counts, .monotone = true};
}

static void discard(sample *s) {
  for (size_t d = 0; d < s->required.n_counts; d++) free(s->counts[d].group_of);
  shoal_axes_reset(&s->axes);
  shoal_frequency_set_free(s->frequency);
  for (size_t q = 0; q < s->n_quasi; q++) shoal_hierarchy_free(s->hierarchies[q]);
  shoal_table_free(s->table);
  shoal_arena_reset(&s->arena);
}

static int descending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x < y) - (x > y);
}

/* A class needs `least` of the groups v % n_groups of a column's values; at most those there are.
 */
static void requirement(sample *s, size_t column, uint32_t n_groups, uint32_t least,
                        uint32_t weight) {
  shoal_distinct_requirement *count = &s->counts[s->required.n_counts];
  const shoal_column *values = &s->table->columns[column];
  *count = (shoal_distinct_requirement){
      .column = values, .n_groups = n_groups ? n_groups : values->n_values, .weight = weight};
  count->group_of = calloc(values->n_values, sizeof *count->group_of);
  uint64_t rows_of[MAX_ROWS] = {0}; /* by group */
  assert_non_null(count->group_of);
  assert_true(count->n_groups <= MAX_ROWS);
  for (uint32_t v = 0; v < values->n_values; v++)
    count->group_of[v] = shoal_column_missing(values, v) ? SHOAL_NONE : v % count->n_groups;
  shoal_value_frequencies spread = {.n_rows = s->n_rows, .descending = rows_of};
  for (uint32_t row = 0; row < s->n_rows; row++)
    if (shoal_distinct_requirement_group(count, row) != SHOAL_NONE) {
      rows_of[shoal_distinct_requirement_group(count, row)]++;
      spread.n_valued++;
    }
  qsort(rows_of, MAX_ROWS, sizeof *rows_of, descending);
  while (spread.n_distinct < MAX_ROWS && rows_of[spread.n_distinct]) spread.n_distinct++;
  count->min_distinct = least < spread.n_distinct ? least : (uint32_t)spread.n_distinct;
  count->max_clusters = shoal_value_frequencies_max_groups(&spread, count->min_distinct);
  if (count->min_distinct) s->required.n_counts++;
  else free(count->group_of); /* every value is missing */
}

/* ---------------------------------------------------------------- checks */

typedef shoal_status (*algorithm)(const shoal_cluster_task *, shoal_partition *, shoal_error *);

static void run(sample *s, algorithm cluster, shoal_partition *partition) {
  const shoal_cluster_task task = {.axes = &s->axes, .required = &s->required};
  succeeds(s, cluster(&task, partition, &s->error));
}

/* A partition; if it has several clusters, each fits. Gives rows of the largest one. */
static uint32_t check_partition(sample *s, const shoal_partition *partition) {
  shoal_requirement_checker checker;
  uint32_t largest = 0;
  succeeds(s, shoal_requirement_checker_init(&checker, &s->required, &s->error));
  assert_true(partition->n_clusters >= 1 && partition->n_clusters <= s->n_rows);
  for (uint32_t c = 0; c < partition->n_clusters; c++) {
    rows cluster = {.n = 0};
    for (uint32_t row = 0; row < s->n_rows; row++) {
      assert_true(partition->cluster_of_row[row] < partition->n_clusters);
      if (partition->cluster_of_row[row] == c) rows_add(&cluster, row);
    }
    assert_true(cluster.n > 0);
    if (partition->n_clusters > 1)
      assert_true(shoal_requirement_checker_satisfies(&checker, cluster.items, cluster.n));
    if (cluster.n > largest) largest = cluster.n;
  }
  shoal_requirement_checker_reset(&checker);
  return largest;
}

/* Equal up to the clusters' numbers: the first row of each row's cluster is the same. */
static void check_same(const sample *s, const uint32_t *a, const uint32_t *b, const char *what) {
  for (size_t row = 0; row < s->n_rows; row++) {
    size_t x = 0, y = 0;
    while (a[x] != a[row]) x++;
    while (b[y] != b[row]) y++;
    if (x != y) fail_msg("%s: row %zu is with row %zu, not with row %zu", what, row, x, y);
  }
}

/* ---------------------------------------------------------------- random tables */

typedef struct domain {
  const char *tree; /* NULL: numbers */
  const char *values[8];
} domain;

static const domain domains[] = {
    {NULL, {NULL}},
    {"{tree: {A: [a1, a2], B: [b1, b2, b3]}}", {"a1", "a2", "b1", "b2", "b3"}},
    {"{tree: [x, y, z]}", {"x", "y", "z"}},
    {"{tree: {A: {AA: [a, b], AB: [c]}, B: {BA: [d, e], BB: [f]}}}",
     {"a", "b", "c", "d", "e", "f"}},
};

static uint32_t below(shoal_random *random, uint32_t bound) {
  return (uint32_t)shoal_random_below(random, bound);
}

static void draw_quasi(sample *s, size_t c, shoal_random *random) {
  const domain *from = &domains[below(random, COUNT(domains))];
  static const uint32_t bounds[] = {2, 12, 40, 1000000000}; /* the last: losses are rounded */
  uint32_t n = bounds[below(random, COUNT(bounds))], missing = below(random, 2) ? 8 : 1000;
  s->trees[c] = from->tree;
  if (from->tree)
    for (n = 0; from->values[n];) n++;
  for (size_t r = 0; r < s->n_rows; r++) {
    char *cell = s->cells[r][c];
    uint32_t v = below(random, n);
    if (!below(random, missing)) (void)snprintf(cell, CELL, "?");
    else if (from->tree) (void)snprintf(cell, CELL, "%s", from->values[v]);
    else
      (void)snprintf(cell, CELL, below(random, 2) ? "%u" : "%u.0", v); /* one number, two texts */
  }
}

/* Skewed towards the first values, so that p is hard at times. */
static void draw_sensitive(sample *s, size_t c, shoal_random *random) {
  uint32_t n = 2 + below(random, 8), skewed = below(random, 2);
  uint32_t missing = below(random, 3) ? 1000 : 6;
  for (size_t r = 0; r < s->n_rows; r++) {
    uint32_t v = below(random, n);
    if (skewed && v) v = below(random, v + 1);
    if (!below(random, missing)) (void)snprintf(s->cells[r][c], CELL, "?");
    else (void)snprintf(s->cells[r][c], CELL, "s%u", v);
  }
}

static void draw(sample *s, shoal_random *random) {
  memset(s, 0, sizeof *s);
  s->n_rows = 1 + below(random, 40);
  s->n_quasi = 1 + below(random, 3);
  s->n_columns = s->n_quasi + 1 + below(random, 3);
  for (size_t c = 0; c < s->n_quasi; c++) draw_quasi(s, c, random);
  for (size_t c = s->n_quasi; c < s->n_columns; c++) draw_sensitive(s, c, random);
  uint32_t max_k = s->n_rows < 6 ? (uint32_t)s->n_rows : 6, n_counts = below(random, 5);
  build(s, 1 + below(random, max_k));
  uint32_t n_sensitive = (uint32_t)(s->n_columns - s->n_quasi), same_p = below(random, 2) * 2;
  for (uint32_t d = 0; d < n_counts && d < MAX_COUNTS; d++) {
    size_t column = s->n_quasi + (d < n_sensitive ? d : below(random, n_sensitive));
    uint32_t n_groups = below(random, 3) ? 0 : 1 + below(random, 9);
    requirement(s, column, n_groups, same_p ? same_p : 1 + below(random, 5),
                below(random, 2) ? 1 : 1 + below(random, 3));
  }
}

static const struct {
  const char *name;
  algorithm fast;
  void (*slow)(slow *, uint32_t *);
} pairs[] = {
    {"greedy-pk", shoal_cluster_greedy_pk, slow_greedy_pk},
    {"enhanced-pk", shoal_cluster_enhanced_pk, slow_enhanced_pk},
    {"k-member", shoal_cluster_k_member, slow_k_member}, /* the last: without counts */
};

static void random_tables_give_what_the_papers_say(void **state UNUSED) {
  static sample s;
  static slow slowly;
  shoal_random random;
  shoal_random_seed(&random, 2007);
  uint32_t n_several[COUNT(pairs)] = {0}, n_tables = 4000;
  for (uint32_t i = 0; i < n_tables; i++) {
    draw(&s, &random);
    size_t n_counts = s.required.n_counts;
    for (size_t a = 0; a < COUNT(pairs); a++) {
      shoal_partition partition;
      uint32_t expected[MAX_ROWS];
      if (a + 1 == COUNT(pairs)) s.required.n_counts = 0;
      run(&s, pairs[a].fast, &partition);
      check_partition(&s, &partition);
      slow_start(&slowly, &s.axes, &s.required);
      pairs[a].slow(&slowly, expected);
      char what[64];
      (void)snprintf(what, sizeof what, "%s, table %u", pairs[a].name, i);
      check_same(&s, partition.cluster_of_row, expected, what);
      n_several[a] += partition.n_clusters > 1;
      shoal_partition_reset(&partition);
    }
    s.required.n_counts = n_counts;
    discard(&s);
  }
  for (size_t a = 0; a < COUNT(pairs); a++) assert_true(n_several[a] > n_tables / 2);
}

static void hybrid_is_one_of_the_two(void **state UNUSED) {
  static sample s;
  shoal_random random;
  shoal_random_seed(&random, 11);
  uint32_t n_easy = 0, n_hard = 0;
  for (uint32_t i = 0; i < 300; i++) {
    draw(&s, &random);
    uint64_t most = UINT64_MAX, by_k = s.n_rows / s.required.k;
    for (size_t d = 0; d < s.required.n_counts; d++)
      if (s.counts[d].max_clusters < most) most = s.counts[d].max_clusters;
    bool easy = !s.required.n_counts || most >= 2 * by_k;
    shoal_partition partition, expected;
    run(&s, shoal_cluster_hybrid_pk, &partition);
    run(&s, easy ? shoal_cluster_greedy_pk : shoal_cluster_enhanced_pk, &expected);
    check_same(&s, partition.cluster_of_row, expected.cluster_of_row, "hybrid-pk");
    assert_non_null(strstr(partition.why, easy ? ": greedy-pk" : ": enhanced-pk"));
    n_easy += easy;
    n_hard += !easy;
    shoal_partition_reset(&partition);
    shoal_partition_reset(&expected);
    discard(&s);
  }
  assert_true(n_easy > 30 && n_hard > 30);
}

/* ---------------------------------------------------------------- the papers' tables */

/* One quasi-identifier, a number; then sensitive columns: cells of a row separated by blanks. */
static void type_in(sample *s, const char *const *lines, size_t n_rows, uint64_t k, uint32_t p) {
  memset(s, 0, sizeof *s);
  s->n_rows = n_rows;
  s->n_quasi = 1;
  for (size_t r = 0; r < n_rows; r++) {
    const char *at = lines[r];
    size_t c = 0;
    for (; *at; c++) {
      size_t size = strcspn(at, " ");
      (void)snprintf(s->cells[r][c], CELL, "%.*s", (int)size, at);
      at += size + (at[size] == ' ');
    }
    s->n_columns = c;
  }
  build(s, k);
  for (size_t c = 1; c < s->n_columns; c++) requirement(s, c, 0, p, 1);
}

/* All algorithms on the table; enhanced-pk makes so many clusters, the largest of so many rows. */
static void check_table(const char *const *lines, size_t n_rows, uint64_t k, uint32_t p,
                        uint32_t n_clusters, uint32_t largest) {
  static const algorithm all[] = {shoal_cluster_enhanced_pk, shoal_cluster_greedy_pk,
                                  shoal_cluster_hybrid_pk};
  static sample s;
  type_in(&s, lines, n_rows, k, p);
  for (size_t a = 0; a < COUNT(all); a++) {
    shoal_partition partition;
    run(&s, all[a], &partition);
    uint32_t rows_of_largest = check_partition(&s, &partition);
    if (all[a] == shoal_cluster_enhanced_pk) {
      assert_int_equal(partition.n_clusters, n_clusters);
      assert_int_equal(rows_of_largest, largest);
    }
    shoal_partition_reset(&partition);
  }
  discard(&s);
}

static void figure_1_has_one_cluster(void **state UNUSED) {
  static const char *const lines[] = {"1 1 a x", "2 1 b y", "3 2 a y", "4 2 b x"};
  static sample s;
  type_in(&s, lines, COUNT(lines), 2, 2);
  for (size_t d = 0; d < 3; d++)
    assert_int_equal(s.counts[d].max_clusters, 2); /* the bound says two */
  discard(&s);
  check_table(lines, COUNT(lines), 2, 2, 1, 4);
}

/* R12: from the maximum over attributes, iValue would be 1, and a class have one row for two. */
static void i_value_is_the_hardest_attributes(void **state UNUSED) {
  static const char *const lines[] = {"1 a x", "2 b x", "3 c y", "4 d y"};
  check_table(lines, COUNT(lines), 2, 2, 2, 2);
}

/* R12: two rows of the most frequent value for three clusters. */
static void a_class_may_run_dry(void **state UNUSED) {
  static const char *const lines[] = {"1 a", "1 a", "2 b", "2 b", "3 c",
                                      "3 c", "4 d", "4 d", "5 e"};
  static sample s;
  type_in(&s, lines, COUNT(lines), 3, 3);
  assert_int_equal(s.counts[0].max_clusters, 3);
  discard(&s);
  check_table(lines, COUNT(lines), 3, 3, 3, 3);
}

/* R13: five clusters of one row, k = 3: as printed two clusters would need six rows of five. */
static void step_4_counts_the_large_clusters(void **state UNUSED) {
  static const char *const lines[] = {"1 a", "2 b", "3 c", "4 d", "5 e"};
  check_table(lines, COUNT(lines), 3, 1, 1, 5);
}

/*
 * R14: rows of T that add nothing are not to be swallowed before another cluster is taken apart. As
 * printed, the second table ends with 7 of its 11 rows in one cluster.
 */
static void step_3_takes_apart_in_time(void **state UNUSED) {
  static const char *const example[] = {"1 a x m", "1 b y n", "2 a x m", "2 b x n", "3 a x m",
                                        "3 b y m", "4 a x m", "5 a x m", "6 a x m", "7 a x m"};
  static const char *const swallowed[] = {"2 a y n", "3 a x m", "3 b y m", "3 a y n",
                                          "4 a x m", "3 b x m", "1 b x n", "2 b x m",
                                          "1 a y n", "2 a x m", "2 a x m"};
  check_table(example, COUNT(example), 2, 2, 2, 8);
  check_table(swallowed, COUNT(swallowed), 2, 2, 3, 4);
}

/* Nobody has a second value beside the first: whatever is tried, all rows form one class. */
static void nothing_is_lost_where_no_cluster_is_left(void **state UNUSED) {
  static const char *const lines[] = {"1 a x", "2 a x", "3 a x", "4 b x", "5 a y"};
  check_table(lines, COUNT(lines), 2, 2, 1, 5);
}

static bool stop(void *user, const shoal_progress *progress) {
  assert_string_equal(progress->stage, "cluster");
  assert_true(progress->done <= progress->total);
  return ++*(unsigned *)user == 1;
}

static void a_run_can_be_stopped(void **state UNUSED) {
  static const algorithm all[] = {shoal_cluster_k_member, shoal_cluster_greedy_pk};
  static const char *const lines[] = {"1 a", "2 b", "3 a", "4 b", "5 a", "6 b"};
  static sample s;
  type_in(&s, lines, COUNT(lines), 2, 2);
  for (size_t a = 0; a < COUNT(all); a++) {
    unsigned n_reports = 0;
    shoal_run run_it = {.progress = stop, .progress_user = &n_reports};
    shoal_partition partition;
    const shoal_cluster_task task = {.axes = &s.axes, .required = &s.required, .run = &run_it};
    assert_int_equal(all[a](&task, &partition, &s.error), SHOAL_CANCELLED);
    assert_int_equal(n_reports, 1);
  }
  discard(&s);
}

#define TEST(name) cmocka_unit_test(name)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(random_tables_give_what_the_papers_say),
      TEST(hybrid_is_one_of_the_two),
      TEST(figure_1_has_one_cluster),
      TEST(i_value_is_the_hardest_attributes),
      TEST(a_class_may_run_dry),
      TEST(step_4_counts_the_large_clusters),
      TEST(step_3_takes_apart_in_time),
      TEST(nothing_is_lost_where_no_cluster_is_left),
      TEST(a_run_can_be_stopped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
