/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of looking at several nodes together: every search against each node judged by itself
 * from the tuples, on a table with so many of them that nodes are really taken together, for 1, 2
 * and 4 threads; that threads are used, and which error is given.
 */
#include "lattice_fixture.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/random.h"
#include "lattice/objective.h"
#include "lattice/search.h"

enum { N_ROWS = 90000, MAX_NODES = 64 };

/* ---------------------------------------------------------------- a large table */

static bool never(const shoal_requirement *requirement UNUSED) { return false; }

/* No value is that of more than 3 in 10 rows: merging can break it. */
static bool none_prevails(const shoal_requirement *requirement UNUSED,
                          const shoal_class_view *view) {
  for (size_t i = 0; i < view->values.n; i++)
    if (view->values.n_rows[i] * 10 > view->n_rows * 3) return false;
  return true;
}

static const shoal_model_type prevailing = {.name = "prevailing",
                                            .needs = SHOAL_NEEDS_HISTOGRAM,
                                            .monotone = never,
                                            .holds = none_prevails};

/* The fourth column is the sensitive one. */
static void group_with_values(fixture *f) {
  const shoal_column *quasi[3], *sensitive = &f->table->columns[3];
  shoal_track track = SHOAL_TRACK_HISTOGRAM;
  for (size_t q = 0; q < 3; q++) quasi[q] = &f->table->columns[q];
  shoal_frequency_set_free(f->frequency);
  succeeds(f, shoal_frequency_set_build(f->table, quasi,
                                        (const shoal_hierarchy *const *)f->hierarchies, 3,
                                        &sensitive, &track, 1, NULL, &f->frequency, &f->error));
}

static void draw(fixture *f, size_t n_rows) {
  static const char *const names[] = {"a", "b", "c", "d"};
  static const char *const hierarchies[] = {"{mask: right}",
                                            "{tree: {x: [p, q], y: [r, s, t], z: [u]}}",
                                            "{mask: left}", "{mask: right}"};
  static const char *const letters[] = {"p", "q", "r", "s", "t", "u"};
  static const char *const values[] = {"0", "0", "1", "2", "3", "4", "5", "6"};
  char(*text)[2][8] = calloc(n_rows, sizeof *text);
  const char **cells = calloc(n_rows * 4, sizeof *cells);
  shoal_random random;
  shoal_random_seed(&random, 71);
  assert_true(text && cells);
  for (size_t r = 0; r < n_rows; r++) {
    (void)snprintf(text[r][0], 8, "%03u", (unsigned)shoal_random_below(&random, 400));
    (void)snprintf(text[r][1], 8, "%03u", (unsigned)shoal_random_below(&random, 400));
    cells[r * 4] = text[r][0];
    cells[r * 4 + 1] = letters[shoal_random_below(&random, COUNT(letters))];
    cells[r * 4 + 2] = text[r][1];
    cells[r * 4 + 3] = values[shoal_random_below(&random, COUNT(values))];
  }
  setup(f, names, hierarchies, 4, cells, n_rows, NULL);
  group_with_values(f);
  free(cells);
  free(text);
}

/* A search for k, and that no value prevails; not monotone then. */
static void start(fixture *f, shoal_requirement *both, uint64_t k, uint64_t limit, bool values,
                  const shoal_run *run) {
  start_search(f, k, limit);
  if (values) {
    shoal_search_reset(&f->search);
    both[0] = f->requirement;
    both[1] = (shoal_requirement){.type = &prevailing, .guard = SHOAL_NO_ATTRIBUTE};
    f->requirements =
        (shoal_requirements){.items = both, .n_items = 2, .k = k, .whole_k = k, .p = 1};
    succeeds(f, shoal_search_init(&f->search, f->frequency, &f->requirements, limit, UINT64_MAX,
                                  true, NULL, &f->error));
  }
  f->search.run = run;
}

/* ---------------------------------------------------------------- each node by itself */

static shoal_node expected[MAX_NODES];
static const shoal_objective *objective; /* of the search; NULL: none */
static double costs[MAX_NODES];          /* under it */

/* From the tuples, sharing nothing with other nodes. */
static void judge_node(fixture *f, uint64_t number) {
  shoal_classes classes;
  uint8_t *violates;
  uint32_t *class_of_tuple, levels[3];
  succeeds(
      f, shoal_search_classes(&f->search, number, &classes, &violates, &class_of_tuple, &f->error));
  shoal_space_levels(&f->search.space, number, levels);
  shoal_node *node = &expected[number];
  *node = (shoal_node){.number = number, .height = levels[0] + levels[1] + levels[2]};
  for (uint32_t c = 0; c < classes.n_classes; c++) {
    uint64_t n_rows = classes.n_rows[c];
    node->n_classes += !violates[c];
    if (violates[c]) node->suppressed += n_rows;
    else if (!node->smallest_class || n_rows < node->smallest_class) node->smallest_class = n_rows;
  }
  node->satisfies = node->suppressed <= f->search.max_suppressed && node->suppressed < N_ROWS;
  shoal_cost_view view = {.search = &f->search,
                          .levels = levels,
                          .classes = &classes,
                          .violates = violates,
                          .node = node,
                          .class_of_tuple = class_of_tuple};
  if (objective) costs[number] = objective->cost(&view);
  shoal_classes_reset(&classes);
  free(violates);
  free(class_of_tuple);
}

static uint64_t judge_all(fixture *f) {
  const shoal_space *space = &f->search.space;
  assert_true(space->n_nodes <= MAX_NODES);
  uint64_t n_minimal = 0;
  for (uint64_t node = 0; node < space->n_nodes; node++) {
    judge_node(f, node);
    bool above = false; /* those below have smaller numbers */
    for (uint64_t i = 0; i < node; i++)
      above = above || (expected[i].satisfies && shoal_space_below(space, i, node));
    expected[node].minimal = expected[node].satisfies && !above;
    n_minimal += expected[node].minimal;
  }
  return n_minimal;
}

/* Of least height, or of least cost; among equals of least height, then number. */
static const shoal_node *best_of(const fixture *f, bool by_cost) {
  const shoal_node *best = NULL;
  for (uint32_t height = 0; height <= f->search.space.height; height++)
    for (uint64_t i = 0; i < f->search.space.n_nodes; i++) {
      if (!expected[i].satisfies || expected[i].height != height) continue;
      if (!best || (by_cost && costs[i] < costs[best->number])) best = &expected[i];
    }
  return best;
}

static void check_node(const shoal_node *found, const shoal_node *node, bool minimal) {
  assert_true(found->number == node->number && found->height == node->height);
  assert_true(found->suppressed == node->suppressed && found->n_classes == node->n_classes);
  assert_int_equal(found->smallest_class, node->smallest_class);
  assert_int_equal(found->satisfies, node->satisfies);
  if (minimal) assert_int_equal(found->minimal, node->minimal);
}

/* ---------------------------------------------------------------- searches on threads */

typedef void searcher(fixture *f);

static void find_all(fixture *f) {
  shoal_node_list nodes = {0};
  succeeds(f, shoal_search_all(&f->search, &nodes, &f->error));
  assert_int_equal(nodes.n_items, f->search.space.n_nodes);
  for (size_t i = 0; i < nodes.n_items; i++) check_node(&nodes.items[i], &expected[i], true);
  shoal_node_list_reset(&nodes);
}

static void find_minimal(fixture *f) {
  shoal_node_list minimal = {0};
  succeeds(f, shoal_search_minimal(&f->search, 0, &minimal, &f->error));
  size_t n = 0;
  for (uint64_t i = 0; i < f->search.space.n_nodes; i++) {
    if (!expected[i].minimal) continue;
    assert_true(n < minimal.n_items);
    check_node(&minimal.items[n++], &expected[i], true);
  }
  assert_int_equal(minimal.n_items, n);
  shoal_node_list_reset(&minimal);
}

static void find_lowest(fixture *f) {
  shoal_node solution;
  assert_true(runs(f, shoal_search_samarati, NULL, &solution));
  check_node(&solution, best_of(f, false), true);
}

static void find_best(fixture *f) {
  shoal_solution solution;
  shoal_algorithm_options options = {.objective = objective};
  succeeds(f, shoal_search_optimal(&f->search, &options, &solution, &f->error));
  assert_true(solution.found);
  check_node(&solution.node, best_of(f, true), false);
  assert_true(solution.cost == costs[solution.node.number]);
}

/* The right answer with any number of threads, by the same looks. */
static void check_search(fixture *f, searcher *search, bool values, const shoal_objective *o) {
  objective = o;
  uint64_t n_evaluated = 0, n_scanned = 0, n_bounded = 0;
  for (unsigned threads = 1; threads <= 4; threads *= 2) {
    shoal_requirement both[2];
    shoal_run run = {.n_threads = threads};
    start(f, both, 5, values ? 20000 : 900, values, &run);
    if (threads == 1) assert_true(judge_all(f) > 3);
    search(f);
    if (threads > 1) {
      assert_int_equal(f->search.n_evaluated, n_evaluated);
      assert_int_equal(f->search.n_scanned, n_scanned);
      assert_int_equal(f->search.n_bounded, n_bounded);
    }
    n_evaluated = f->search.n_evaluated;
    n_scanned = f->search.n_scanned;
    n_bounded = f->search.n_bounded;
  }
}

static void every_search_finds_the_same_on_threads(void **state UNUSED) {
  fixture f;
  draw(&f, N_ROWS);
  assert_true(f.frequency->n_tuples >= 60000); /* two places on a path */
  for (int values = 0; values < 2; values++) {
    check_search(&f, find_all, values, NULL);
    check_search(&f, find_minimal, values, NULL);
    check_search(&f, find_lowest, values, NULL);
    for (const shoal_objective *o = shoal_objective_types; o->name; o++)
      if (o->by_classes) check_search(&f, find_best, values, o);
  }
  teardown(&f);
}

/* ---------------------------------------------------------------- threads and errors */

typedef struct meeting {
  const shoal_search *search;
  pthread_t threads[SHOAL_BATCH_NODES];
  atomic_uint n_here;
  unsigned n_wanted; /* at once */
  bool fails[SHOAL_BATCH_NODES];
} meeting;

/* Waits until as many are at work as there should be. */
static shoal_status meet(void *user, size_t i, shoal_node_evaluation *look) {
  meeting *m = user;
  m->threads[i] = pthread_self();
  atomic_fetch_add(&m->n_here, 1);
  while (atomic_load(&m->n_here) < m->n_wanted) (void)sched_yield();
  SHOAL_TRY(shoal_node_evaluation_roll_up(m->search, look, i % 2));
  if (m->fails[i]) return shoal_fail(&look->error, SHOAL_REFUSED, "at %zu", i);
  return SHOAL_OK;
}

static const uint64_t some_nodes[SHOAL_BATCH_NODES] = {3, 9, 1, 30, 7, 12, 20, 2};

static void threads_are_used_where_classes_are_many(void **state UNUSED) {
  for (int many = 0; many < 2; many++) {
    fixture f;
    shoal_run run = {.n_threads = 2};
    draw(&f, many ? N_ROWS : 3000);
    start_search(&f, 5, 10);
    f.search.run = &run;
    assert_int_equal(shoal_node_batch_size(&f.search), many ? SHOAL_BATCH_NODES : 1);
    meeting m = {.search = &f.search, .n_wanted = many ? 2 : 0};
    succeeds(&f, shoal_node_batch_evaluate(&f.search, some_nodes, 4, false, meet, &m, &f.error));
    bool others = false;
    for (size_t i = 0; i < 4; i++) others = others || !pthread_equal(m.threads[i], pthread_self());
    assert_int_equal(others, many);
    assert_int_equal(f.search.n_evaluated, 4);
    teardown(&f);
  }
}

static void the_first_error_in_order_is_given(void **state UNUSED) {
  fixture f;
  draw(&f, N_ROWS);
  for (unsigned threads = 1; threads <= 4; threads *= 2) {
    shoal_run run = {.n_threads = threads};
    start_search(&f, 5, 10);
    f.search.run = &run;
    meeting m = {.search = &f.search, .fails = {[2] = true, [5] = true}};
    shoal_status status = shoal_node_batch_evaluate(&f.search, some_nodes, SHOAL_BATCH_NODES, false,
                                                    meet, &m, &f.error);
    assert_int_equal(status, SHOAL_REFUSED);
    assert_string_equal(f.error.message, "at 2");
    assert_int_equal(
        shoal_node_batch_evaluate(&f.search, some_nodes, SHOAL_BATCH_NODES, false, meet, &m, NULL),
        SHOAL_REFUSED);
    uint64_t n_scanned = f.search.n_scanned; /* nothing was kept: it is computed from the tuples */
    shoal_node figures;
    succeeds(&f, shoal_search_evaluate(&f.search, 47, &figures, &f.error));
    assert_int_equal(f.search.n_scanned - n_scanned, f.frequency->n_tuples);
  }
  teardown(&f);
}

static void large_classes_are_fewer_at_a_time(void **state UNUSED) {
  fixture f;
  draw(&f, 6000);
  start_search(&f, 5, 10);
  assert_int_equal(shoal_node_batch_size(&f.search), SHOAL_BATCH_NODES);
  shoal_frequency_set large = *f.frequency; /* as if it had more tuples */
  large.base.histograms = NULL;
  large.base.n_tracked = 0;
  f.search.frequency = &large;
  size_t before = SHOAL_BATCH_NODES;
  for (uint32_t millions = 1; millions <= 64; millions *= 2) {
    large.base.n_classes = millions * 1000000;
    size_t at_once = shoal_node_batch_size(&f.search);
    size_t bytes = shoal_classes_bytes(&large.base);
    assert_true(at_once <= before && (at_once == 2 || at_once * bytes <= (size_t)128 << 20));
    before = at_once;
  }
  assert_int_equal(before, 2);
  teardown(&f);
}

/* ---------------------------------------------------------------- places on a path */

enum { LONGEST = 60 };

typedef struct path {
  size_t length, change; /* the first place beyond */
  bool two;
  size_t low, high; /* what the answers so far leave open */
  unsigned n_rounds;
} path;

static shoal_status answer(void *user, const size_t *positions, size_t n, bool *beyond,
                           shoal_error *error) {
  path *p = user;
  assert_int_equal(n, p->two && p->high - p->low > 2 ? 2 : 1);
  if (n == 2) assert_true(positions[0] < positions[1]);
  size_t low = p->low, high = p->high;
  for (size_t i = 0; i < n; i++) {
    assert_true(positions[i] >= low && positions[i] < high); /* nothing is asked that is known */
    beyond[i] = positions[i] >= p->change;
    if (beyond[i] && positions[i] < p->high) p->high = positions[i];
    if (!beyond[i] && positions[i] >= p->low) p->low = positions[i] + 1;
  }
  p->n_rounds++;
  return p->n_rounds < 100 ? SHOAL_OK : shoal_fail(error, SHOAL_REFUSED, "no end");
}

static void a_change_is_found_in_few_rounds(void **state UNUSED) {
  shoal_error error;
  const shoal_path_fractions positions[] = {{.one = 5}, {.one = 7, .two = {5, 8}}};
  for (int which = 0; which < 4; which++)
    for (size_t length = 0; length <= LONGEST; length++)
      for (size_t change = 0; change <= length; change++) {
        bool two = which == 3;
        shoal_frequency_set frequency = {.n_tuples = which < 2 ? 59999 : 60000};
        shoal_search search = {.frequency = &frequency};
        path p = {.length = length, .change = change, .two = two, .high = length};
        assert_int_equal(
            shoal_path_bisect(&search, length, &positions[which % 2], answer, &p, &error),
            SHOAL_OK);
        assert_true(p.low == change && p.high == change);
        double shrinks = two ? 0.5 : 0.7; /* what a round leaves, at most */
        assert_true(p.n_rounds <= 2 + log((double)length + 1) / -log(shrinks));
      }
}

static void nodes_tell_of_themselves_each(void **state UNUSED) {
  fixture f;
  draw(&f, 6000);
  start_search(&f, 5, 10);
  uint64_t nodes[] = {0, f.search.space.n_nodes - 1};
  for (int again = 0; again < 2; again++) { /* looked at, then known */
    bool satisfy[2];
    succeeds(&f, shoal_search_satisfies_batch(&f.search, nodes, 2, satisfy, &f.error));
    assert_true(!satisfy[0] && satisfy[1]);
    assert_int_equal(f.search.n_evaluated, 2);
  }
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_search_finds_the_same_on_threads),
      cmocka_unit_test(threads_are_used_where_classes_are_many),
      cmocka_unit_test(the_first_error_in_order_is_given),
      cmocka_unit_test(large_classes_are_fewer_at_a_time),
      cmocka_unit_test(a_change_is_found_in_few_rounds),
      cmocka_unit_test(nodes_tell_of_themselves_each),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
