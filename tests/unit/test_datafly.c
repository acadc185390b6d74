/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/lattice/datafly.c: bin sizes exactly; anonymity levels and profiles on the
 * table of Samarati 2001, Figure 4; random tables against a walk on strings of labels.
 * tests/golden/test_datafly_argus.py has the walks of the paper.
 */
#include "lattice_fixture.h"

#include "base/random.h"
#include "lattice/datafly.h"

static shoal_decimal number(const char *text) {
  shoal_decimal out = {0, 0};
  assert_int_equal(shoal_decimal_parse(text, strlen(text), &out), SHOAL_NUMBER_OK);
  return out;
}

/* ---------------------------------------------------------------- Figure 4 */

static const char *const names[] = {"Race", "ZIP"};
static const char *const hierarchies[] = {
    "{tree: [asian, black, white]}",
    "{tree: {'9413*': ['94138', '94139'], '9414*': ['94141', '94142']}}"};
static const char *const figure_4[] = {
    "asian", "94138", "asian", "94139", "asian", "94141", "asian", "94142",
    "black", "94138", "black", "94139", "black", "94141", "black", "94142",
    "white", "94138", "white", "94139", "white", "94141", "white", "94142",
};

static void setup_figure_4(fixture *f) {
  setup(f, names, hierarchies, 2, figure_4, COUNT(figure_4) / 2, NULL);
}

static void check_step(const shoal_datafly_walk *walk, size_t i, size_t attribute, uint32_t level,
                       uint32_t n_labels, bool alone) {
  assert_true(i < walk->n_steps);
  assert_int_equal(walk->steps[i].attribute, attribute);
  assert_int_equal(walk->steps[i].level, level);
  assert_int_equal(walk->steps[i].n_labels, n_labels);
  assert_int_equal(walk->steps[i].alone, alone);
}

/* ---------------------------------------------------------------- anonymity and profiles */

static void bin_sizes_are_exact(void **state UNUSED) {
  static const struct {
    uint64_t k;
    const char *anonymity, *profile;
    uint64_t bin;
  } cases[] = {
      {10, "0", "1", 0},
      {10, "1", "0", 0},
      {10, "0.3", "1", 3}, /* as doubles, 10 x 0.1 x 3 would be above 3 */
      {10, "0.1", "0.1", 1},
      {10, "0.5", "0.5", 3},
      {100, "0.07", "1", 7},
      {1000, "0.29", "0.1", 29},
      {1000, "0.29", "0.100000000000000001", 30},
      {5, "1", "1.000", 5},
      {1, "0.000000000000000001", "0.000000000000000001", 1},
      {UINT64_MAX, "1", "1", UINT64_MAX},
      {UINT64_MAX, "0.999999999999999999", "0.999999999999999999", UINT64_MAX - 36},
      {UINT64_C(1000000000000000000), "0.000000000000000003", "1", 3},
  };
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_true(shoal_datafly_bin(cases[i].k, number(cases[i].anonymity),
                                  number(cases[i].profile)) == cases[i].bin);
}

/* Runs Datafly on Figure 4. */
static bool fly(fixture *f, uint64_t k, const char *const anonymity[2],
                const char *const profile[2], shoal_datafly_walk *walk, shoal_node *solution) {
  shoal_decimal levels[2], values[2];
  for (size_t q = 0; q < 2; q++) {
    levels[q] = number(anonymity[q]);
    values[q] = number(profile[q]);
  }
  shoal_datafly_options options = {.anonymity = levels, .profile = values, .walk = walk};
  start_search(f, k, 0);
  return runs(f, shoal_search_datafly, &(shoal_algorithm_options){.datafly = &options}, solution);
}

static void each_attribute_reaches_its_own_bin_size(void **state UNUSED) {
  static const struct {
    uint64_t k;
    const char *anonymity[2], *profile[2];
    uint32_t levels[2];
    size_t n_steps;
    bool partial, satisfies;
  } cases[] = {
      /* Each ZIP code has 3 rows, each prefix 6, each race 4. */
      {1, {"1", "0"}, {"1", "1"}, {1, 0}, 1, false, true}, /* to the top at once */
      {1, {"0", "1"}, {"1", "1"}, {0, 2}, 1, false, true},
      {1, {"1", "1"}, {"0.999", "0.999"}, {0, 0}, 0, true, true}, /* one row is enough */
      {6, {"0", "0.5"}, {"0", "1"}, {0, 1}, 1, true, false},      /* 3 codes alone; k of ZIP is 6 */
      {6, {"0.5", "0.5"}, {"0.9", "0.9"}, {0, 0}, 0, true, false}, /* ceil(2.7) of 4 and of 3 */
      {6, {"0.9", "0"}, {"0.9", "0"}, {1, 0}, 1, true, false},     /* ceil(4.86) of 4 */
      {12, {"0", "0.51"}, {"0.5", "0.9"}, {0, 1}, 1, true, false}, /* ceil(5.508) = 6 of 3 */
      {3, {"0", "0"}, {"0", "1"}, {0, 0}, 0, true, false},         /* ZIP codes alone have 3 */
      {4, {"0", "0"}, {"1", "0"}, {0, 0}, 0, true, false},
  };
  fixture f;
  setup_figure_4(&f);
  for (size_t i = 0; i < COUNT(cases); i++) {
    shoal_datafly_walk walk;
    shoal_node solution;
    assert_true(fly(&f, cases[i].k, cases[i].anonymity, cases[i].profile, &walk, &solution));
    assert_int_equal(solution.number, shoal_space_node(&f.search.space, cases[i].levels));
    assert_int_equal(walk.n_steps, cases[i].n_steps);
    assert_int_equal(walk.partial, cases[i].partial);
    assert_int_equal(solution.satisfies, cases[i].satisfies);
    shoal_datafly_walk_reset(&walk);
  }
  teardown(&f);
}

/* One attribute alone first, then combinations: ZIP goes to 9413* for itself, Race for both. */
static void both_parts_of_the_walk_are_told_apart(void **state UNUSED) {
  fixture f;
  shoal_datafly_walk walk;
  shoal_node solution;
  setup_figure_4(&f);
  assert_true(
      fly(&f, 5, (const char *[]){"0", "0.9"}, (const char *[]){"1", "1"}, &walk, &solution));
  assert_true(solution.satisfies);
  assert_int_equal(walk.n_steps, 2);
  check_step(&walk, 0, 1, 1, 4, true);
  check_step(&walk, 1, 0, 1, 3, false);
  shoal_datafly_walk_reset(&walk);
  teardown(&f);
}

static void values_outside_0_to_1_are_refused(void **state UNUSED) {
  static const char *const bad[] = {"-0.1", "1.001", "2"};
  fixture f;
  setup_figure_4(&f);
  start_search(&f, 2, 0);
  for (size_t i = 0; i < 2 * COUNT(bad); i++) {
    shoal_decimal values[2] = {{1, 0}, number(bad[i / 2])};
    shoal_datafly_walk walk;
    shoal_datafly_options options = {.walk = &walk};
    if (i % 2) options.profile = values;
    else options.anonymity = values;
    shoal_algorithm_options all = {.datafly = &options};
    shoal_solution solution;
    assert_int_equal(shoal_search_datafly(&f.search, &all, &solution, &f.error), SHOAL_BAD_INPUT);
    assert_non_null(strstr(f.error.message, "'ZIP'"));
    assert_non_null(strstr(f.error.message, i % 2 ? "profile" : "anonymity"));
    assert_true(!solution.found && walk.n_steps == 0);
  }
  teardown(&f);
}

/* ---------------------------------------------------------------- random tables */

enum { MAX_ROWS = 40, N_COLUMNS = 3 };

/* Numbers of three digits, masked from the right: a label is what is left of the number. */
typedef struct digits {
  unsigned cells[MAX_ROWS][N_COLUMNS];
  size_t n_rows;
} digits;

static unsigned label_of(unsigned value, uint32_t level) {
  for (; level; level--) value /= 10;
  return value;
}

static unsigned distinct_labels(const digits *d, size_t column, uint32_t level) {
  bool seen[1000] = {false};
  unsigned n = 0;
  for (size_t r = 0; r < d->n_rows; r++) {
    unsigned label = label_of(d->cells[r][column], level);
    n += !seen[label];
    seen[label] = true;
  }
  return n;
}

static uint64_t rows_below_k(const digits *d, const uint32_t *levels, uint64_t k) {
  uint64_t n = 0;
  for (size_t r = 0; r < d->n_rows; r++) {
    uint64_t same = 0;
    for (size_t s = 0; s < d->n_rows; s++) {
      bool equal = true;
      for (size_t c = 0; c < N_COLUMNS; c++)
        equal = equal && label_of(d->cells[r][c], levels[c]) == label_of(d->cells[s][c], levels[c]);
      same += equal;
    }
    n += same < k;
  }
  return n;
}

/* The walk by rows; false where even the top does not do. */
static bool walk_naively(const digits *d, uint64_t k, uint64_t limit, uint32_t *levels) {
  memset(levels, 0, N_COLUMNS * sizeof *levels);
  for (;;) {
    uint64_t n = rows_below_k(d, levels, k);
    if (n <= limit && n < d->n_rows) return true;
    size_t best = N_COLUMNS;
    unsigned most = 0;
    for (size_t c = 0; c < N_COLUMNS; c++) {
      unsigned labels = distinct_labels(d, c, levels[c]);
      if (levels[c] == 3 || labels <= most) continue;
      most = labels;
      best = c;
    }
    if (best == N_COLUMNS) return false;
    levels[best]++;
  }
}

static void random_walks_are_as_by_rows(void **state UNUSED) {
  static const char *const columns[] = {"a", "b", "c"};
  static const char *const masks[] = {"{mask: right}", "{mask: right}", "{mask: right}"};
  shoal_random random;
  shoal_random_seed(&random, 72);
  unsigned n_found = 0;
  for (unsigned i = 0; i < 300; i++) {
    digits d = {.n_rows = 1 + shoal_random_below(&random, MAX_ROWS)};
    char texts[MAX_ROWS * N_COLUMNS][8];
    const char *cells[MAX_ROWS * N_COLUMNS];
    unsigned bound[N_COLUMNS]; /* few values, or many */
    for (size_t c = 0; c < N_COLUMNS; c++) bound[c] = shoal_random_below(&random, 2) ? 1000 : 30;
    for (size_t e = 0; e < d.n_rows * N_COLUMNS; e++) {
      unsigned value = (unsigned)shoal_random_below(&random, bound[e % N_COLUMNS]);
      d.cells[e / N_COLUMNS][e % N_COLUMNS] = value;
      (void)snprintf(texts[e], sizeof texts[e], "%03u", value % 1000);
      cells[e] = texts[e];
    }
    fixture f;
    setup(&f, columns, masks, N_COLUMNS, cells, d.n_rows, NULL);
    uint64_t k = 1 + shoal_random_below(&random, 6), limit = shoal_random_below(&random, 8);
    start_search(&f, k, limit);
    uint32_t levels[N_COLUMNS];
    shoal_node solution;
    bool expected = walk_naively(&d, k, limit, levels);
    bool found = runs(&f, shoal_search_datafly, NULL, &solution);
    assert_int_equal(found, expected);
    if (found) {
      assert_int_equal(solution.number, shoal_space_node(&f.search.space, levels));
      assert_int_equal(solution.suppressed, rows_below_k(&d, levels, k));
    }
    n_found += found;
    teardown(&f);
  }
  assert_true(n_found > 100 && n_found < 300);
}

#define TEST(name) cmocka_unit_test(name)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(bin_sizes_are_exact),
      TEST(each_attribute_reaches_its_own_bin_size),
      TEST(both_parts_of_the_walk_are_told_apart),
      TEST(values_outside_0_to_1_are_refused),
      TEST(random_walks_are_as_by_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
