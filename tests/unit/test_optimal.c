/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of what `optimal` rests on: what is known of rows to suppress against all that was
 * told, the order of nodes by bound against sorting all of them, bounds against costs, and the
 * same node for every number of threads.
 */
#include "lattice_fixture.h"

#include <math.h>

#include "base/random.h"
#include "lattice/optimal_bounds.h"

enum { N_LEVELS = 3, TOP = 3 };

/* ---------------------------------------------------------------- what is known */

typedef struct told {
  uint32_t levels[N_LEVELS];
  uint64_t suppressed;
} told;

static bool below(const uint32_t *a, const uint32_t *b) {
  for (size_t i = 0; i < N_LEVELS; i++)
    if (a[i] > b[i]) return false;
  return true;
}

static uint64_t ask_naively(const told *all, size_t n, bool from_above, const uint32_t *levels,
                            uint64_t otherwise) {
  uint64_t answer = otherwise;
  bool found = false;
  for (size_t i = 0; i < n; i++) {
    if (from_above ? !below(levels, all[i].levels) : !below(all[i].levels, levels)) continue;
    bool stronger = from_above ? all[i].suppressed > answer : all[i].suppressed < answer;
    if (!found || stronger) answer = all[i].suppressed;
    found = true;
  }
  return answer;
}

static void what_is_known_is_the_strongest_of_what_was_told(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 61);
  for (int round = 0; round < 200; round++) {
    bool from_above = round % 2;
    told all[40];
    shoal_suppression_bounds known;
    shoal_suppression_bounds_init(&known, N_LEVELS, from_above);
    for (size_t n = 1; n <= COUNT(all); n++) {
      told *next = &all[n - 1];
      for (size_t i = 0; i < N_LEVELS; i++)
        next->levels[i] = (uint32_t)shoal_random_below(&random, TOP + 1);
      next->suppressed = shoal_random_below(&random, 20);
      assert_true(shoal_suppression_bounds_add(&known, next->levels, next->suppressed));
      uint32_t levels[N_LEVELS];
      for (size_t i = 0; i < N_LEVELS; i++)
        levels[i] = (uint32_t)shoal_random_below(&random, TOP + 1);
      assert_int_equal(shoal_suppression_bounds_at(&known, levels, 7),
                       ask_naively(all, n, from_above, levels, 7));
    }
    assert_true(known.n_entries < COUNT(all)); /* what others tell is not kept */
    shoal_suppression_bounds_reset(&known);
  }
}

/* ---------------------------------------------------------------- bounds and their order */

static const char *const names[] = {"a", "b", "c"};
static const char *const hierarchies[] = {
    "{mask: right}", "{tree: {x: [p, q], y: [r, s, t], z: [u]}}", "{mask: left}"};

/* Rows of a number of 4 digits, a letter and another number. */
static void draw(fixture *f, shoal_random *random, size_t n_rows, uint32_t numbers) {
  static const char *const letters[] = {"p", "q", "r", "s", "t", "u"};
  char(*text)[2][8] = calloc(n_rows, sizeof *text);
  const char **cells = calloc(n_rows * 3, sizeof *cells);
  assert_true(text && cells);
  for (size_t r = 0; r < n_rows; r++) {
    (void)snprintf(text[r][0], 8, "%04u", (unsigned)shoal_random_below(random, numbers));
    (void)snprintf(text[r][1], 8, "%04u", (unsigned)shoal_random_below(random, numbers));
    cells[r * 3] = text[r][0];
    cells[r * 3 + 1] = letters[shoal_random_below(random, COUNT(letters))];
    cells[r * 3 + 2] = text[r][1];
  }
  setup(f, names, hierarchies, 3, cells, n_rows, NULL);
  free(cells);
  free(text);
}

static void nodes_come_by_bound(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 62);
  fixture f;
  draw(&f, &random, 60, 30);
  start_search(&f, 2, 10);
  for (const shoal_objective *o = shoal_objective_types; o->name; o++) {
    if (!o->level_cost) continue;
    shoal_level_costs costs;
    shoal_cost_bound bound;
    shoal_frontier frontier;
    succeeds(&f, shoal_level_costs_init(&costs, f.frequency, &f.error));
    succeeds(&f, shoal_cost_bound_init(&bound, &f.search, o, &costs, &f.error));
    succeeds(&f, shoal_frontier_init(&frontier, &f.search.space, &bound, &f.error));
    shoal_frontier_node node;
    double least = 0, most = shoal_cost_bound_at(&bound, f.search.space.top, 0);
    uint64_t n = 0, sum = 0;
    for (bool more = true;; n++) {
      succeeds(&f, shoal_frontier_next(&frontier, &node, &more, &f.error));
      if (!more) break;
      assert_true(shoal_frontier_min(&frontier) >= least); /* it only rises */
      least = shoal_frontier_min(&frontier);
      assert_true(node.bound >= least && node.bound <= least + most / 1000);
      uint32_t levels[3];
      shoal_space_levels(&f.search.space, node.node, levels);
      assert_memory_equal(levels, frontier.levels, sizeof levels);
      sum += node.node;
    }
    uint64_t n_nodes = f.search.space.n_nodes;
    assert_int_equal(n, n_nodes); /* each once */
    assert_int_equal(sum, n_nodes * (n_nodes - 1) / 2);
    shoal_frontier_reset(&frontier);
    shoal_cost_bound_reset(&bound);
    shoal_level_costs_reset(&costs);
  }
  teardown(&f);
}

/* No bound is above a cost, and the search finds the least cost. */
static void check_objective(fixture *f, const shoal_objective *o) {
  shoal_level_costs costs;
  shoal_cost_bound bound;
  succeeds(f, shoal_level_costs_init(&costs, f->frequency, &f->error));
  if (o->level_cost) succeeds(f, shoal_cost_bound_init(&bound, &f->search, o, &costs, &f->error));
  double least = INFINITY;
  for (uint64_t n = 0; n < f->search.space.n_nodes; n++) {
    shoal_node node;
    double cost = cost_of(f, o, &costs, n, &node);
    uint32_t levels[3];
    shoal_space_levels(&f->search.space, n, levels);
    for (uint64_t s = 0; o->level_cost && s <= node.suppressed; s += 1 + s / 3)
      assert_true(shoal_cost_bound_at(&bound, levels, s) <= cost + 1e-9 * fabs(cost));
    if (node.satisfies && cost < least) least = cost;
  }
  shoal_solution solution;
  shoal_algorithm_options options = {.objective = o};
  succeeds(f, shoal_search_optimal(&f->search, &options, &solution, &f->error));
  assert_int_equal(solution.found, least < INFINITY);
  if (solution.found) assert_true(fabs(solution.cost - least) <= 1e-9 * fabs(least));
  if (o->level_cost) shoal_cost_bound_reset(&bound);
  shoal_level_costs_reset(&costs);
}

static void bounds_are_not_above_costs_and_the_least_is_found(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 63);
  for (int round = 0; round < 40; round++) {
    fixture f;
    size_t n_rows = 5 + shoal_random_below(&random, 120);
    draw(&f, &random, n_rows, 1 + (uint32_t)shoal_random_below(&random, 300));
    start_search(&f, 1 + shoal_random_below(&random, 5), shoal_random_below(&random, n_rows + 2));
    for (const shoal_objective *o = shoal_objective_types; o->name; o++) check_objective(&f, o);
    teardown(&f);
  }
}

/* ---------------------------------------------------------------- threads */

static void threads_find_the_same_node(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 64);
  fixture f;
  draw(&f, &random, 90000, 400); /* many tuples: nodes are looked at two at a time */
  assert_true(f.frequency->n_tuples >= 60000);
  for (const shoal_objective *o = shoal_objective_types; o->name; o++) {
    uint64_t number = 0, n_evaluated = 0, n_scanned = 0;
    for (unsigned threads = 1; threads <= 4; threads *= 2) {
      shoal_run run = {.n_threads = threads};
      shoal_node solution;
      start_search(&f, 5, 900);
      f.search.run = &run;
      shoal_algorithm_options options = {.objective = o};
      assert_true(runs(&f, shoal_search_optimal, &options, &solution));
      if (threads > 1) {
        assert_int_equal(solution.number, number);
        assert_int_equal(f.search.n_evaluated, n_evaluated);
        assert_int_equal(f.search.n_scanned, n_scanned);
      }
      number = solution.number;
      n_evaluated = f.search.n_evaluated;
      n_scanned = f.search.n_scanned;
    }
  }
  teardown(&f);
}

/* ---------------------------------------------------------------- where sources are laid */

static uint64_t touched_by_the_search(size_t n_rows, uint32_t numbers, uint32_t *n_tuples) {
  shoal_random random;
  shoal_random_seed(&random, 65);
  fixture f;
  draw(&f, &random, n_rows, numbers);
  start_search(&f, 5, n_rows / 10);
  const shoal_objective *o = shoal_objective_types;
  while (strcmp(o->name, "loss") != 0) o++;
  check_objective(&f, o);
  start_search(&f, 5, n_rows / 10);
  shoal_node solution;
  assert_true(
      runs(&f, shoal_search_optimal, &(shoal_algorithm_options){.objective = o}, &solution));
  *n_tuples = f.frequency->n_tuples;
  uint64_t touched = f.search.n_scanned;
  teardown(&f);
  return touched;
}

/* Where tuples are many, none are rolled up to a node at which nearly all stay apart. */
static void many_tuples_are_not_rolled_up_for_nothing(void **state UNUSED) {
  uint32_t n_many, n_fewer;
  uint64_t touched_many = touched_by_the_search(70000, 9999, &n_many);
  uint64_t touched_fewer = touched_by_the_search(58000, 9999, &n_fewer);
  assert_true(n_many >= 60000 && n_fewer < 60000);
  assert_in_range(touched_many, 5 * n_many, 6 * n_many);
  assert_in_range(touched_fewer, 6 * n_fewer, 7 * n_fewer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_known_is_the_strongest_of_what_was_told),
      cmocka_unit_test(nodes_come_by_bound),
      cmocka_unit_test(bounds_are_not_above_costs_and_the_least_is_found),
      cmocka_unit_test(threads_find_the_same_node),
      cmocka_unit_test(many_tuples_are_not_rolled_up_for_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
