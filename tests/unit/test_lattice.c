/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/lattice: the numbering of nodes against all vectors; every search on random
 * tables against figures counted naively at each node; preferences, with their ties, against exact
 * fractions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "lattice/lattice.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

static shoal_error error;

static void succeeds(shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", error.message);
}

/* ---------------------------------------------------------------- the shape */

enum { MAX_ATTRIBUTES = 4 };

/* A space needs only the heights of the hierarchies. */
static void make_space(shoal_space *space, const uint32_t *tops, size_t n) {
  static shoal_hierarchy hierarchies[MAX_ATTRIBUTES];
  const shoal_hierarchy *pointers[MAX_ATTRIBUTES];
  for (size_t q = 0; q < n; q++) {
    hierarchies[q].n_levels = tops[q] + 1;
    hierarchies[q].max_level = tops[q];
    pointers[q] = &hierarchies[q];
  }
  succeeds(shoal_space_init(space, &(shoal_frequency_set){.n_quasi = n, .hierarchies = pointers},
                            &error));
}

/* The next vector of all, ascending; false after the last. */
static bool step(const uint32_t *tops, size_t n, uint32_t *levels) {
  for (size_t q = n; q-- > 0; levels[q] = 0)
    if (levels[q]++ < tops[q]) return true;
  return false;
}

static uint32_t sum(const uint32_t *levels, size_t n) {
  uint32_t total = 0;
  for (size_t q = 0; q < n; q++) total += levels[q];
  return total;
}

static bool below(const uint32_t *a, const uint32_t *b, size_t n) {
  while (n && a[n - 1] <= b[n - 1]) n--;
  return n == 0;
}

/* All vectors by ascending order are the nodes by ascending number. */
static void check_space(const shoal_space *space, const uint32_t *tops, size_t n) {
  static uint32_t vectors[1024][MAX_ATTRIBUTES];
  uint32_t walked[MAX_ATTRIBUTES] = {0};
  size_t n_nodes = 0;
  do {
    uint32_t *levels = vectors[n_nodes];
    memcpy(levels, walked, sizeof walked);
    assert_int_equal(shoal_space_node(space, levels), n_nodes);
    shoal_space_levels(space, n_nodes, levels);
    assert_memory_equal(levels, walked, n * sizeof *levels);
    assert_int_equal(shoal_space_height(space, n_nodes), sum(levels, n));
    for (size_t other = 0; other < n_nodes; other++) {
      assert_int_equal(shoal_space_below(space, other, n_nodes), below(vectors[other], levels, n));
      assert_false(shoal_space_below(space, n_nodes, other));
    }
    n_nodes++;
  } while (step(tops, n, walked));
  assert_true(space->n_nodes == n_nodes && space->height == sum(tops, n));
  for (uint32_t height = 0; height <= space->height + 2; height++) {
    bool more = shoal_space_first(space, height, walked);
    for (size_t node = 0; node < n_nodes; node++) {
      if (sum(vectors[node], n) != height) continue;
      assert_true(more);
      assert_memory_equal(walked, vectors[node], n * sizeof *walked);
      more = shoal_space_next(space, walked);
    }
    assert_false(more);
  }
}

static void nodes_are_numbered_by_ascending_vectors(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 51);
  for (unsigned i = 0; i < 100; i++) {
    uint32_t tops[MAX_ATTRIBUTES];
    shoal_space space;
    size_t n = 1 + shoal_random_below(&random, MAX_ATTRIBUTES);
    for (size_t q = 0; q < n; q++) tops[q] = 1 + (uint32_t)shoal_random_below(&random, 4);
    make_space(&space, tops, n);
    check_space(&space, tops, n);
    shoal_space_reset(&space);
  }
}

/* ---------------------------------------------------------------- random tables and demands */

enum { MAX_ROWS = 40, MAX_QUASI = 4, MAX_NODES = 256 };
static const uint32_t powers[] = {1, 3, 9, 27};

/* Quasi-identifiers are below 3, 9 or 27, and in threes on every level; then one sensitive. */
typedef struct sample {
  size_t n_rows, n_quasi;
  uint32_t tops[MAX_QUASI];
  uint8_t values[MAX_QUASI + 1][MAX_ROWS]; /* codes at the same time */
  uint64_t counts[MAX_ROWS];
  shoal_table table;
  shoal_column columns[MAX_QUASI + 1];
  const shoal_column *pointers[MAX_QUASI + 1];
  shoal_level levels[MAX_QUASI][COUNT(powers)];
  shoal_hierarchy hierarchies[MAX_QUASI];
  const shoal_hierarchy *hierarchy_pointers[MAX_QUASI];
  shoal_frequency_set *frequency;
} sample;

static void draw_column(sample *s, size_t c, uint32_t n_values, shoal_random *random) {
  uint32_t bound = shoal_random_below(random, 2) ? 3 : n_values; /* so that tuples repeat */
  uint8_t *values = s->values[c];
  for (size_t r = 0; r < s->n_rows; r++) values[r] = (uint8_t)shoal_random_below(random, bound);
  s->columns[c] = (shoal_column){.n_values = n_values, .code_size = 1, .codes = values};
  s->pointers[c] = &s->columns[c];
}

static void draw(sample *s, shoal_random *random) {
  static uint32_t of_leaf[COUNT(powers)][27];
  memset(s, 0, sizeof *s);
  s->n_rows = s->table.n_rows = 1 + shoal_random_below(random, MAX_ROWS);
  s->n_quasi = 1 + shoal_random_below(random, MAX_QUASI);
  s->table.counts = s->counts;
  for (size_t r = 0; r < s->n_rows; r++)
    s->table.n_records += s->counts[r] = 1 + shoal_random_below(random, 5) / 4;
  for (size_t q = 0; q < s->n_quasi; q++) {
    uint32_t top = s->tops[q] = 1 + (uint32_t)shoal_random_below(random, 3);
    draw_column(s, q, powers[top], random);
    for (uint32_t l = 0; l <= top; l++) {
      for (uint32_t v = 0; v < 27; v++) of_leaf[l][v] = v / powers[l];
      s->levels[q][l] = (shoal_level){.n_labels = powers[top - l], .of_leaf = of_leaf[l]};
    }
    s->hierarchies[q] =
        (shoal_hierarchy){.n_levels = top + 1, .max_level = top, .levels = s->levels[q]};
    s->hierarchy_pointers[q] = &s->hierarchies[q];
  }
  draw_column(s, s->n_quasi, 6, random);
  succeeds(shoal_frequency_set_build(&s->table, s->pointers, s->hierarchy_pointers, s->n_quasi,
                                     s->pointers + s->n_quasi, (shoal_track[]){SHOAL_TRACK_SET}, 1,
                                     NULL, &s->frequency, &error));
}

/* Enough rows; enough values; or, not monotone, not that remainder of rows. */
static bool holds(const shoal_requirement *requirement, const shoal_class_view *view) {
  uint64_t n = requirement->count[0], kind = requirement->count[1];
  return kind == 0 ? view->n_rows >= n : kind == 1 ? view->n_distinct >= n : view->n_rows % n != 1;
}

static const shoal_model_type model = {.name = "test", .holds = holds};

/* What is asked of a release. */
typedef struct task {
  shoal_requirement items[3];
  shoal_requirements requirements;
  uint64_t max_suppressed, max_classes;
  bool needs_rows;
} task;

static void draw_task(task *t, const sample *s, shoal_random *random) {
  memset(t, 0, sizeof *t);
  bool monotone = shoal_random_below(random, 3) > 0;
  for (size_t i = 0; i < COUNT(t->items); i++)
    t->items[i] =
        (shoal_requirement){.type = &model, .count = {1 + shoal_random_below(random, 4), i}};
  uint64_t k = t->items[0].count[0], p = t->items[1].count[0];
  t->requirements = (shoal_requirements){.items = t->items,
                                         .n_items = monotone ? 2 : 3,
                                         .monotone = monotone,
                                         .k = k,
                                         .whole_k = k,
                                         .p = p};
  uint64_t n_records = s->table.n_records;
  t->max_suppressed = shoal_random_below(random, n_records * shoal_random_below(random, 2) + 1);
  t->needs_rows = shoal_random_below(random, 2);
  shoal_value_frequencies spread;
  succeeds(shoal_value_frequencies_count(&s->table, s->pointers[s->n_quasi], &spread, &error));
  uint64_t most = shoal_value_frequencies_max_groups(&spread, p);
  t->max_classes = most < n_records / k ? most : n_records / k;
  if (shoal_random_below(random, 4) == 0) t->max_classes = UINT64_MAX;
  free(spread.descending);
}

static void start(shoal_search *search, const sample *s, const task *t) {
  error = (shoal_error){0};
  succeeds(shoal_search_init(search, s->frequency, &t->requirements, t->max_suppressed,
                             t->max_classes, t->needs_rows, NULL, &error));
}

/* ---------------------------------------------------------------- naive figures, and searches */

static bool same_class(const sample *s, const uint32_t *levels, size_t a, size_t b) {
  bool same = true;
  for (size_t q = 0; q < s->n_quasi; q++)
    same = same && s->values[q][a] / powers[levels[q]] == s->values[q][b] / powers[levels[q]];
  return same;
}

/* Counts a node's classes row by row, in the terms of the models. */
static void count_naively(const sample *s, const task *t, const uint32_t *levels,
                          shoal_node *figures) {
  for (size_t a = 0; a < s->n_rows; a++) {
    uint64_t n_rows = 0, seen = 0;
    bool first = true;
    for (size_t b = 0; b < s->n_rows; b++) {
      if (!same_class(s, levels, a, b)) continue;
      first = first && b >= a;
      n_rows += s->counts[b];
      seen |= UINT64_C(1) << s->values[s->n_quasi][b];
    }
    if (!first) continue;
    uint64_t distinct = (uint64_t)__builtin_popcountll(seen);
    bool violates = n_rows < t->items[0].count[0] || distinct < t->items[1].count[0] ||
                    (t->requirements.n_items == 3 && n_rows % t->items[2].count[0] == 1);
    if (violates) figures->suppressed += n_rows;
    else if (figures->n_classes++ == 0 || n_rows < figures->smallest_class)
      figures->smallest_class = n_rows;
  }
  figures->satisfies = figures->suppressed <= t->max_suppressed &&
                       (!t->needs_rows || figures->suppressed < s->table.n_records);
}

static shoal_node expected[MAX_NODES]; /* all nodes by ascending number */
static size_t n_expected;
static uint64_t n_bounded; /* nodes that the second necessary condition refused, in all tests */

static void count_all_naively(const sample *s, const task *t) {
  static uint32_t vectors[MAX_NODES][MAX_QUASI];
  uint32_t levels[MAX_QUASI] = {0};
  size_t n = 0;
  do {
    memcpy(vectors[n], levels, sizeof levels);
    expected[n] = (shoal_node){.number = n, .height = sum(levels, s->n_quasi)};
    count_naively(s, t, levels, &expected[n]);
    bool above = false;
    for (size_t i = 0; i < n; i++)
      above = above || (expected[i].satisfies && below(vectors[i], levels, s->n_quasi));
    expected[n].minimal = expected[n].satisfies && !above;
    n++;
  } while (step(s->tops, s->n_quasi, levels));
  n_expected = n;
}

static void check_node(const shoal_node *found) {
  const shoal_node *node = &expected[found->number];
  assert_true(found->height == node->height && found->suppressed == node->suppressed);
  assert_true(found->n_classes == node->n_classes && found->smallest_class == node->smallest_class);
  assert_true(found->satisfies == node->satisfies && found->minimal == node->minimal);
}

static void check_every_node(const sample *s, const task *t, shoal_random *random) {
  shoal_search search;
  start(&search, s, t);
  shoal_node_list nodes = {0};
  succeeds(shoal_search_all(&search, &nodes, &error));
  assert_int_equal(nodes.n_items, n_expected);
  for (size_t i = 0; i < n_expected; i++) check_node(&nodes.items[i]);
  for (size_t i = 0; i < n_expected; i++) assert_int_equal(nodes.items[i].number, i);
  shoal_node_list_reset(&nodes);
  for (size_t i = 0; i < 2 * n_expected; i++) { /* in any order, and again */
    uint64_t node = shoal_random_below(random, n_expected);
    bool satisfies;
    if (i % 2) succeeds(shoal_search_decide(&search, node, &satisfies, &error));
    else succeeds(shoal_search_satisfies(&search, node, &satisfies, &error));
    assert_int_equal(satisfies, expected[node].satisfies);
  }
  n_bounded += search.n_bounded;
  shoal_search_reset(&search);
}

static void check_minimal(const sample *s, const task *t, uint32_t from_height) {
  shoal_search search;
  start(&search, s, t);
  shoal_node_list minimal = {0};
  succeeds(shoal_search_minimal(&search, from_height, &minimal, &error));
  size_t n = 0;
  for (size_t i = 0; i < n_expected; i++) {
    if (!expected[i].minimal) continue;
    assert_true(n < minimal.n_items && minimal.items[n].number == i);
    check_node(&minimal.items[n++]);
  }
  assert_int_equal(minimal.n_items, n);
  shoal_node_list_reset(&minimal);
  shoal_search_reset(&search);
}

static bool solve(const sample *s, const task *t, shoal_node *solution) {
  shoal_search search;
  shoal_solution found;
  start(&search, s, t);
  succeeds(shoal_search_samarati(&search, NULL, &found, &error));
  shoal_search_reset(&search);
  *solution = found.node;
  return found.found;
}

static void searches_find_what_naive_counting_finds(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 52);
  unsigned n_found = 0, n_none = 0, n_all = 500;
  for (unsigned i = 0; i < n_all; i++) {
    sample s;
    task t;
    draw(&s, &random);
    draw_task(&t, &s, &random);
    count_all_naively(&s, &t);
    check_every_node(&s, &t, &random);
    const shoal_node *best = NULL; /* the least height, and there the least number */
    for (const shoal_node *node = expected; node < expected + n_expected; node++)
      if (node->satisfies && (!best || node->height < best->height)) best = node;
    check_minimal(&s, &t, 0);
    if (best) check_minimal(&s, &t, best->height);
    shoal_node solution = {0};
    assert_int_equal(solve(&s, &t, &solution), best != NULL);
    if (best) check_node(&solution);
    n_found += best && solution.number == best->number;
    n_none += !best;
    shoal_frequency_set_free(s.frequency);
  }
  assert_true(n_found + n_none == n_all && n_found > 100 && n_none > 20);
  assert_true(n_bounded > 100);
}

static void a_search_that_succeeds_leaves_the_error_alone(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 53);
  sample s;
  task t;
  draw(&s, &random);
  draw_task(&t, &s, &random);
  (void)solve(&s, &t, &(shoal_node){0});
  shoal_frequency_set_free(s.frequency);
  assert_string_equal(error.message, "");
}

/* ---------------------------------------------------------------- preferences */

static int compare(const char *name, const uint32_t *tops, size_t n, const shoal_decimal *weights,
                   const uint32_t *a, const uint32_t *b) {
  shoal_preference self = shoal_preference_types[0];
  for (size_t i = 0; strcmp(self.name, name) != 0;) self = shoal_preference_types[++i];
  self.weights = weights;
  shoal_search search = {0};
  make_space(&search.space, tops, n);
  shoal_node x = {.number = shoal_space_node(&search.space, a)};
  shoal_node y = {.number = shoal_space_node(&search.space, b)};
  int order = self.compare(&self, &search, &x, &y);
  assert_int_equal(self.compare(&self, &search, &y, &x), -order);
  shoal_space_reset(&search.space);
  return order;
}

#define VECTOR(...) ((const uint32_t[]){__VA_ARGS__})

/* Over 27720, which all heights up to 12 divide; weights in thousandths. */
static void distances_are_compared_as_fractions(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 54);
  unsigned n_ties = 0;
  for (unsigned i = 0; i < 50000; i++) {
    uint32_t tops[4], a[4], b[4];
    shoal_decimal weights[4];
    int64_t absolute = 0, relative = 0;
    for (size_t q = 0; q < 4; q++) {
      tops[q] = 1 + (uint32_t)shoal_random_below(&random, i % 2 ? 4 : 12);
      a[q] = (uint32_t)shoal_random_below(&random, tops[q] + 1);
      b[q] = (uint32_t)shoal_random_below(&random, tops[q] + 1);
      bool tenths = shoal_random_below(&random, 2);
      weights[q] = (shoal_decimal){(int64_t)shoal_random_below(&random, 4), tenths ? 1 : 3};
      int64_t weight = i % 3 ? weights[q].mantissa * (tenths ? 100 : 1) : 1;
      absolute += weight * ((int64_t)a[q] - b[q]);
      relative += weight * ((int64_t)a[q] - b[q]) * (27720 / tops[q]);
    }
    const shoal_decimal *given = i % 3 ? weights : NULL;
    int order = compare("absolute-distance", tops, 4, given, a, b);
    assert_int_equal(order, (absolute > 0) - (absolute < 0));
    order = compare("relative-distance", tops, 4, given, a, b);
    assert_int_equal(order, (relative > 0) - (relative < 0));
    n_ties += relative == 0;
  }
  assert_true(n_ties > 500);
  const uint32_t *tops = VECTOR(2, 3, 6), *a = VECTOR(1, 1, 0); /* 1/2 + 1/3 is 5/6 */
  const uint32_t *others[] = {VECTOR(0, 0, 4), VECTOR(0, 0, 5), VECTOR(0, 0, 6)};
  for (int i = 0; i < 3; i++)
    assert_int_equal(compare("relative-distance", tops, 3, NULL, a, others[i]), 1 - i);
  const shoal_decimal weights[] = {{1, 1}, {2, 1}, {3, 1}}; /* 0.1 + 0.2 is 0.3 */
  assert_int_equal(compare("absolute-distance", tops, 3, weights, a, VECTOR(0, 0, 1)), 0);
}

/* Four terms of 126 bits: the largest weights, and heights without a common divisor. */
static void distances_beyond_128_bits_are_exact(void **state UNUSED) {
  static const uint32_t tops[] = {55001, 55003, 55009, 54998}, none[4];
  const shoal_decimal most = {INT64_MAX, 0}, weights[] = {most, most, most, most};
  assert_int_equal(compare("relative-distance", tops, 4, weights, tops, none), 1);
  assert_int_equal(compare("relative-distance", tops, 4, weights, VECTOR(55001, 55003, 0, 0),
                           VECTOR(0, 0, 55009, 54998)),
                   0);
  assert_int_equal(compare("relative-distance", tops, 4, weights, VECTOR(55001, 55003, 0, 1),
                           VECTOR(0, 0, 55009, 54998)),
                   1);
}

/* Nodes of a lattice of 4 x 4: their levels are number / 4 and number % 4. */
static void prefers(const char *first, const char *second, uint64_t best) {
  shoal_search search = {0};
  make_space(&search.space, VECTOR(3, 3), 2);
  shoal_node items[] = {{.number = 9, .suppressed = 1, .n_classes = 5},
                        {.number = 6, .suppressed = 1, .n_classes = 7},
                        {.number = 3, .suppressed = 2, .n_classes = 8},
                        {.number = 12, .suppressed = 2, .n_classes = 7}};
  shoal_node_list list = {.items = items, .n_items = COUNT(items)};
  const shoal_column *quasi[] = {&(shoal_column){.name = "zip"}, &(shoal_column){.name = "age"}};
  const shoal_frequency_set frequency = {.n_quasi = 2, .quasi = quasi};
  const shoal_word words[] = {{.text = first}, {.text = second}};
  const shoal_policy policy = {.prefer = words, .n_prefer = 2};
  shoal_preference *preferences;
  size_t n;
  succeeds(shoal_preferences_bind(&policy, &frequency, NULL, &preferences, &n, &error));
  assert_int_equal(shoal_prefer(&search, preferences, n, &list)->number, best);
  free(preferences);
  shoal_space_reset(&search.space);
}

static void the_best_node_is_by_the_first_preference_then_the_next(void **state UNUSED) {
  prefers("min-suppression", "zip", 6);
  prefers("min-suppression", "age", 9);
  prefers("highest-peak", "age", 12);
  prefers("fewest-attributes", "max-distribution", 3);
  prefers("most-attributes", "zip", 6);
  prefers("absolute-distance", "relative-distance", 3); /* all are equal: the least number */
}

static void weights_that_cannot_be_added_exactly_are_refused(void **state UNUSED) {
  const shoal_decimal weights[] = {{100000000000000000, 0}, {1, 2}}; /* 10^17 and 0.01 */
  const shoal_frequency_set two = {.n_quasi = 2};
  shoal_preference *bound;
  size_t n;
  shoal_status status = shoal_preferences_bind(&(shoal_policy){0}, &two, weights, &bound, &n, NULL);
  assert_int_equal(status, SHOAL_BAD_INPUT);
}

#define TEST(name) cmocka_unit_test(name)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(nodes_are_numbered_by_ascending_vectors),
      TEST(searches_find_what_naive_counting_finds),
      TEST(a_search_that_succeeds_leaves_the_error_alone),
      TEST(distances_are_compared_as_fractions),
      TEST(distances_beyond_128_bits_are_exact),
      TEST(weights_that_cannot_be_added_exactly_are_refused),
      TEST(the_best_node_is_by_the_first_preference_then_the_next),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
