/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the local search: its node satisfies and costs what it says, is rarely worse than
 * the optimum and never worse than a plain climb, and depends on the work bound only.
 */
#include "lattice_fixture.h"

#include <math.h>

#include "base/random.h"
#include "lattice/climb.h"

static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};

/* Rows of numbers of n_digits digits with a hierarchy of n_digits levels. Columns depend on each
 * other, as they do in real tables: digits are often copied from the column before. */
static void draw(fixture *f, shoal_random *random, size_t n_rows, size_t n_columns,
                 size_t n_digits) {
  static const char *const masks[] = {"{mask: right}", "{mask: right}", "{mask: left}",
                                      "{mask: right}", "{mask: left}",  "{mask: right}",
                                      "{mask: right}", "{mask: left}",  "{mask: right}",
                                      "{mask: left}",  "{mask: right}", "{mask: right}"};
  char(*text)[8] = calloc(n_rows * n_columns, sizeof *text);
  const char **cells = calloc(n_rows * n_columns, sizeof *cells);
  assert_true(text && cells && n_columns <= COUNT(names) && n_digits < sizeof *text);
  for (size_t i = 0; i < n_rows * n_columns; i++) {
    for (size_t d = 0; d < n_digits; d++) {
      bool copy = i % n_columns && shoal_random_below(random, 3);
      text[i][d] = copy ? text[i - 1][d] : (char)('0' + shoal_random_below(random, 2 + i % 4));
    }
    cells[i] = text[i];
  }
  setup(f, names, masks, n_columns, cells, n_rows, NULL);
  free(cells);
  free(text);
}

static const shoal_objective *objective_named(const char *name) {
  const shoal_objective *o = shoal_objective_types;
  while (strcmp(o->name, name) != 0) o++;
  return o;
}

static shoal_solution climb(fixture *f, const shoal_objective *o, uint64_t max_scanned) {
  shoal_search_limits limits = {.max_scanned = max_scanned};
  shoal_solution solution = {0};
  succeeds(f, shoal_search_climb(&f->search, o, &limits, &solution, &f->error));
  return solution;
}

/* ---------------------------------------------------------------- against all nodes */

/* Costs of nodes, computed when they are needed; INFINITY: the node does not satisfy. */
typedef struct costs {
  fixture *f;
  const shoal_objective *objective;
  shoal_level_costs levels;
} costs;

static double cost_at(costs *c, uint64_t number) {
  shoal_node node;
  double cost = cost_of(c->f, c->objective, &c->levels, number, &node);
  return node.satisfies ? cost : INFINITY;
}

/* The best neighbour of a node: one attribute a level up or down, or one up and another down. */
static uint64_t best_neighbour(costs *c, uint64_t node, double *cost) {
  const shoal_space *space = &c->f->search.space;
  uint64_t best = node;
  *cost = cost_at(c, node);
  for (size_t q = 0; q < space->n; q++) {
    for (size_t r = 0; r <= space->n; r++) { /* r = q: only up; r = n: only down */
      bool up = r != space->n, down = r != q;
      size_t lowered = up ? r : q;
      if (up && shoal_space_level(space, node, q) == space->top[q]) continue;
      if (down && shoal_space_level(space, node, lowered) == 0) continue;
      uint64_t other = node + (up ? space->stride[q] : 0) - (down ? space->stride[lowered] : 0);
      double other_cost = cost_at(c, other);
      if (other_cost >= *cost) continue;
      *cost = other_cost;
      best = other;
    }
  }
  return best;
}

static double plain_climb(costs *c, uint64_t node) {
  double cost;
  for (uint64_t next; (next = best_neighbour(c, node, &cost)) != node;) node = next;
  return cost;
}

static bool is_at_most(double a, double b) { return a <= b + 1e-9 * fabs(b); }

static void small_lattices(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 71);
  size_t n_rounds = 0, n_optimal = 0, n_not_found = 0;
  for (int round = 0; round < 40; round++) {
    fixture f;
    size_t n_rows = 20 + shoal_random_below(&random, 100);
    draw(&f, &random, n_rows, 4, 2 + (size_t)round % 2);
    for (const shoal_objective *o = shoal_objective_types; o->name; o++) {
      start_search(&f, 2 + shoal_random_below(&random, 5), shoal_random_below(&random, n_rows));
      costs c = {.f = &f, .objective = o};
      succeeds(&f, shoal_level_costs_init(&c.levels, f.frequency, &f.error));
      shoal_solution solution = climb(&f, o, UINT64_MAX);
      double least = INFINITY;
      for (uint64_t n = 0; n < f.search.space.n_nodes; n++) least = fmin(least, cost_at(&c, n));
      assert_int_equal(solution.found, least < INFINITY);
      n_not_found += !solution.found;
      if (solution.found) {
        double cost = cost_at(&c, solution.node.number);
        assert_true(solution.unproven && solution.node.satisfies);
        assert_true(fabs(solution.cost - cost) <= 1e-9 * fabs(cost));
        assert_true(is_at_most(cost, plain_climb(&c, f.search.space.n_nodes - 1)));
        n_optimal += is_at_most(cost, least);
        n_rounds++;
      } else {
        assert_false(solution.unproven); /* monotone: the top is the proof */
      }
      shoal_level_costs_reset(&c.levels);
    }
    teardown(&f);
  }
  print_message("local search: the optimum in %zu of %zu lattices\n", n_optimal, n_rounds);
  assert_true(n_rounds >= 300 && n_optimal * 100 >= n_rounds * 98);
  assert_true(n_not_found < 60);
}

/* 4^12 nodes: what remains of a plain climb is the check that no neighbour is better. */
static void wide_tables(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 72);
  static const char *const objectives[] = {"loss", "granularity", "dm"};
  for (size_t i = 0; i < COUNT(objectives); i++) {
    fixture f;
    draw(&f, &random, 400, 12, 3);
    start_search(&f, 3, 40 + 60 * i);
    costs c = {.f = &f, .objective = objective_named(objectives[i])};
    succeeds(&f, shoal_level_costs_init(&c.levels, f.frequency, &f.error));
    shoal_solution solution = climb(&f, c.objective, UINT64_MAX);
    double neighbour;
    assert_true(solution.found);
    (void)best_neighbour(&c, solution.node.number, &neighbour);
    assert_true(is_at_most(solution.cost, neighbour));
    assert_true(is_at_most(solution.cost, plain_climb(&c, f.search.space.n_nodes - 1)));
    shoal_level_costs_reset(&c.levels);
    teardown(&f);
  }
}

/* ---------------------------------------------------------------- limits and threads */

static void only_the_work_bound_counts(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 73);
  fixture f;
  draw(&f, &random, 6000, 10, 3);
  assert_true(f.frequency->n_tuples > 2000); /* enough for threads */
  const shoal_objective *o = objective_named("il");
  double before = INFINITY;
  for (uint64_t max_scanned = 1; max_scanned <= 10000000; max_scanned *= 100) {
    shoal_solution first = {0};
    uint64_t n_evaluated = 0, n_scanned = 0;
    for (unsigned threads = 1; threads <= 4; threads *= 2) {
      shoal_run run = {.n_threads = threads};
      start_search(&f, 5, 600);
      f.search.run = &run;
      shoal_solution solution = climb(&f, o, max_scanned);
      assert_true(solution.found && solution.unproven);
      assert_in_range(f.search.n_scanned, max_scanned, max_scanned + 40 * f.frequency->n_tuples);
      if (threads == 1) {
        first = solution;
        n_evaluated = f.search.n_evaluated;
        n_scanned = f.search.n_scanned;
      }
      assert_int_equal(solution.node.number, first.node.number);
      assert_true(solution.cost == first.cost);
      assert_int_equal(f.search.n_evaluated, n_evaluated);
      assert_int_equal(f.search.n_scanned, n_scanned);
    }
    assert_true(first.cost <= before); /* more work is never worse */
    before = first.cost;
  }
  teardown(&f);
}

/* `optimal` proves what it can within its bound, and passes on the best node if it cannot. */
static void optimal_says_what_it_proved(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 74);
  for (const shoal_objective *o = shoal_objective_types; o->name; o++) {
    fixture f;
    draw(&f, &random, 300, 4, 3);
    double cost = 0;
    for (int proves = 1; proves >= 0; proves--) {
      shoal_algorithm_options options = {.objective = o, .max_scanned = proves ? 0 : 300};
      shoal_solution solution;
      start_search(&f, 3, 40);
      succeeds(&f, shoal_search_optimal(&f.search, &options, &solution, &f.error));
      assert_true(solution.found && solution.node.satisfies);
      assert_int_equal(solution.unproven, !proves);
      if (proves) cost = solution.cost;
      assert_true(is_at_most(cost, solution.cost));
    }
    teardown(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_lattices),
      cmocka_unit_test(wide_tables),
      cmocka_unit_test(only_the_work_bound_counts),
      cmocka_unit_test(optimal_says_what_it_proved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
