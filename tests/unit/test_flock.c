/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/cluster/flock*.c on random tables: for every aim, clusters that are a
 * partition, fit and are no more than there can be, and as many as enhanced-pk's where that counts;
 * threads change nothing; a run can be stopped; and no allocation that fails is forgotten.
 */
#include "flock_fixture.h"
#include "lowmem_memory.h"
#include "slice.h"

#include "cluster/theta.h"

/* ---------------------------------------------------------------- clusters */

static const shoal_cluster_objective objectives[] = {SHOAL_OBJECTIVE_IL, SHOAL_OBJECTIVE_AVG,
                                                     SHOAL_OBJECTIVE_DM, SHOAL_OBJECTIVE_BALANCED};

static shoal_partition cluster(fixture *f, shoal_cluster_objective objective,
                               const shoal_run *run) {
  const shoal_cluster_task task = {
      .axes = &f->axes, .required = &f->required, .objective = objective, .run = run};
  shoal_partition partition = {0};
  succeeds(f, shoal_cluster_flock(&task, &partition, &f->error));
  return partition;
}

/* What is asked for can be had by the whole table: algorithms may rely on it. */
static bool is_possible(fixture *f) {
  bool possible = f->n_rows >= f->required.k;
  for (size_t d = 0; d < f->required.n_counts; d++)
    possible = possible && f->required.counts[d].max_clusters > 0;
  return possible;
}

/* Clusters that break a demand, if there are several. */
static uint32_t check_partition(fixture *f, const shoal_partition *p) {
  uint32_t *n_rows = calloc((size_t)p->n_clusters + 1, sizeof *n_rows), broken = 0;
  uint32_t *rows = calloc(f->n_rows, sizeof *rows);
  assert_true(n_rows && rows);
  assert_in_range(p->n_clusters, 1, f->n_rows);
  for (size_t r = 0; r < f->n_rows; r++) {
    assert_true(p->cluster_of_row[r] < p->n_clusters);
    n_rows[p->cluster_of_row[r] + 1]++; /* then: where a cluster's rows start */
  }
  for (uint32_t c = 0; c < p->n_clusters; c++) {
    assert_true(n_rows[c + 1] > 0);
    n_rows[c + 1] += n_rows[c];
  }
  for (uint32_t r = (uint32_t)f->n_rows; r-- > 0;) rows[--n_rows[p->cluster_of_row[r] + 1]] = r;
  for (uint32_t c = 0; p->n_clusters > 1 && c < p->n_clusters; c++) {
    uint32_t first = n_rows[c + 1];
    uint32_t end = c + 1 < p->n_clusters ? n_rows[c + 2] : (uint32_t)f->n_rows;
    broken += !shoal_requirement_checker_satisfies(&f->checker, rows + first, end - first);
  }
  free(n_rows);
  free(rows);
  return broken;
}

/* Sum of size x loss, from each cluster's rows. */
static uint64_t information_loss(const fixture *f, const shoal_partition *p) {
  uint64_t sum = 0;
  shoal_span *boxes = calloc(p->n_clusters * f->n_quasi, sizeof *boxes);
  uint32_t *n_rows = calloc(p->n_clusters, sizeof *n_rows);
  assert_true(boxes && n_rows);
  for (uint32_t r = 0; r < f->n_rows; r++) {
    shoal_span *box = boxes + p->cluster_of_row[r] * f->n_quasi;
    if (n_rows[p->cluster_of_row[r]]++) shoal_box_add(&f->axes, box, shoal_axes_row(&f->axes, r));
    else shoal_box_start(&f->axes, box, shoal_axes_row(&f->axes, r));
  }
  for (uint32_t c = 0; c < p->n_clusters; c++)
    sum += n_rows[c] * (uint64_t)shoal_box_loss(&f->axes, boxes + c * f->n_quasi);
  free(boxes);
  free(n_rows);
  return sum;
}

typedef struct tally {
  uint32_t n_tables, n_several, n_broken, n_fewer, n_compared;
  double loss, greedy_loss; /* of rows, as a share of everything */
} tally;

/* Clusters and losses beside those of the paper's algorithms, where these can be asked. */
static void compare(fixture *f, const shoal_partition *p, shoal_cluster_objective objective,
                    tally *t) {
  if (f->required.n_others) return;
  const shoal_cluster_task task = {.axes = &f->axes, .required = &f->required};
  shoal_partition other = {0};
  if (objective == SHOAL_OBJECTIVE_IL) {
    succeeds(f, shoal_cluster_greedy_pk(&task, &other, &f->error));
    double all = (double)f->n_rows * (double)SHOAL_MAX_LOSS;
    t->loss += (double)information_loss(f, p) / all;
    t->greedy_loss += (double)information_loss(f, &other) / all;
  } else {
    succeeds(f, shoal_cluster_enhanced_pk(&task, &other, &f->error));
    t->n_compared++;
    t->n_fewer += p->n_clusters < other.n_clusters;
  }
  shoal_partition_reset(&other);
}

static void check_objective(fixture *f, shoal_cluster_objective objective, tally *t) {
  shoal_partition whole = {0}, p = cluster(f, objective, &(shoal_run){.n_threads = 1});
  uint32_t broken = check_partition(f, &p);
  t->n_broken += broken > 0;
  t->n_several += p.n_clusters > 1;
  uint64_t most = shoal_cluster_requirements_max_clusters(&f->required);
  if (!broken) assert_true(p.n_clusters <= (most ? most : 1));
  succeeds(f, shoal_partition_whole(&whole, f->n_rows, &f->error));
  if (objective == SHOAL_OBJECTIVE_IL)
    assert_true(information_loss(f, &p) <= information_loss(f, &whole));
  if (objective == SHOAL_OBJECTIVE_IL || objective == SHOAL_OBJECTIVE_AVG)
    compare(f, &p, objective, t);
  shoal_partition_reset(&whole);
  shoal_partition_reset(&p);
}

static void random_tables_become_clusters_that_fit(void **state UNUSED) {
  static const char *const some[] = {"",
                                     "",
                                     "[alpha-k: {alpha: 0.5}]",
                                     "[l-diversity: {kind: entropy, l: 2}]",
                                     "",
                                     "[t-closeness: {t: 0.3, distance: equal}]"};
  shoal_random random;
  shoal_random_seed(&random, 43);
  tally tallies[COUNT(objectives)] = {{0}};
  for (uint64_t seed = 0; seed < SLICE(50, 20); seed++) { /* tests/property has thousands */
    fixture f;
    shape s = draw_shape(&random, seed % 4 ? 120 : 30);
    s.models = some[seed % COUNT(some)];
    setup(&f, &s, seed);
    for (size_t a = 0; is_possible(&f) && a < COUNT(objectives); a++) {
      tallies[a].n_tables++;
      check_objective(&f, objectives[a], &tallies[a]);
    }
    teardown(&f);
  }
  for (size_t a = 0; a < COUNT(objectives); a++) {
    const tally *t = &tallies[a];
    print_message("aim %zu: %u tables, %u of several clusters, %u with one that breaks a demand; "
                  "fewer clusters than enhanced-pk %u of %u; loss %.4f, greedy-pk %.4f\n",
                  a, t->n_tables, t->n_several, t->n_broken, t->n_fewer, t->n_compared, t->loss,
                  t->greedy_loss);
    assert_int_equal(t->n_broken, 0);
    assert_true(t->n_several > t->n_tables / 2);
    assert_int_equal(t->n_fewer, 0);
  }
  assert_true(tallies[0].loss < tallies[0].greedy_loss);
}

/* ---------------------------------------------------------------- several blocks, threads */

static void check_threads(const shape *s, shoal_cluster_objective objective, uint64_t seed,
                          uint32_t min_clusters) {
  fixture f;
  setup(&f, s, seed);
  shoal_partition first = cluster(&f, objective, &(shoal_run){.n_threads = 1});
  assert_int_equal(check_partition(&f, &first), 0);
  if (first.n_clusters < min_clusters) fail_msg("%u clusters", first.n_clusters);
  for (unsigned n_threads = 2; n_threads < 6; n_threads += 3) {
    shoal_partition p = cluster(&f, objective, &(shoal_run){.n_threads = n_threads});
    assert_int_equal(p.n_clusters, first.n_clusters);
    assert_memory_equal(p.cluster_of_row, first.cluster_of_row,
                        f.n_rows * sizeof *p.cluster_of_row);
    shoal_partition_reset(&p);
  }
  shoal_partition_reset(&first);
  teardown(&f);
}

static void threads_do_not_change_the_result(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 44);
  for (uint64_t seed = 0; seed < 20; seed++) {
    shape s = draw_shape(&random, 200);
    s.p = 1;
    s.gaps = false;
    check_threads(&s, objectives[seed % COUNT(objectives)], seed, 1);
  }
  static const shape large = {.n_rows = SLICE(24000, 9000),
                              .kinds = "ntm",
                              .n_values = 90,
                              .n_sensitive = 1,
                              .n_sensitive_values = 6,
                              .k = 10,
                              .p = 2,
                              .models = ""};
  check_threads(&large, SHOAL_OBJECTIVE_IL, 1, SLICE(1200, 400));
  shape pools = large; /* pools are gathered anew, on threads of two attempts */
  pools.n_rows = 1500;
  check_threads(&pools, SHOAL_OBJECTIVE_IL, 1, 100);
}

/* Sensitive values that follow from the order: blocks have too few of them by themselves. */
static void blocks_without_enough_values_are_joined(void **state UNUSED) {
  static const shape tied = {.n_rows = SLICE(24000, 9000),
                             .kinds = "n",
                             .n_values = 2,
                             .n_sensitive = 1,
                             .n_sensitive_values = 2,
                             .tied = true,
                             .k = 5,
                             .p = 2,
                             .models = ""};
  check_threads(&tied, SHOAL_OBJECTIVE_IL, 1, 1);
}

/* ---------------------------------------------------------------- edges */

static void many_axes_are_clustered(void **state UNUSED) {
  shape wide = {.n_rows = 120,
                .n_values = 3,
                .n_sensitive = 2,
                .n_sensitive_values = 5,
                .heavy = true,
                .k = 4,
                .p = 3,
                .models = ""};
  for (size_t q = 0; q < 70; q++) wide.kinds[q] = "nmtuw"[q % 5];
  for (size_t a = 0; a < COUNT(objectives); a++) {
    fixture f;
    setup(&f, &wide, 9);
    shoal_partition p = cluster(&f, objectives[a], NULL);
    assert_int_equal(check_partition(&f, &p), 0);
    assert_true(p.n_clusters > 8);
    shoal_partition_reset(&p);
    teardown(&f);
  }
}

/* ---------------------------------------------------------------- stopping, failing */

static void a_run_can_be_stopped(void **state UNUSED) {
  static const shape some = {.n_rows = 24000,
                             .kinds = "nn",
                             .n_values = 100,
                             .n_sensitive = 1,
                             .n_sensitive_values = 6,
                             .k = 10,
                             .p = 2,
                             .models = ""};
  fixture f;
  setup(&f, &some, 3);
  for (unsigned n_threads = 1; n_threads < 3; n_threads++) {
    watch w = {.stop_at = 1};
    shoal_run run = {.n_threads = n_threads, .progress = look, .progress_user = &w};
    const shoal_cluster_task task = {.axes = &f.axes, .required = &f.required, .run = &run};
    shoal_partition none = {0};
    assert_int_equal(shoal_cluster_flock(&task, &none, &f.error), SHOAL_CANCELLED);
    assert_int_equal(w.n_reports, 1);
    assert_null(none.cluster_of_row);
  }
  teardown(&f);
}

/* Large tables are ordered for a while before the first cluster is made. */
static void ordering_can_be_stopped(void **state UNUSED) {
  static const shape some = {
      .n_rows = 9000, .kinds = "nnn", .n_values = 1000, .k = 2, .models = ""};
  fixture f;
  setup(&f, &some, 3);
  uint32_t *weight = calloc(f.axes.n_tuples, sizeof *weight);
  uint32_t *order = calloc(f.axes.n_tuples, sizeof *order);
  assert_true(weight && order);
  for (size_t r = 0; r < f.n_rows; r++) weight[f.axes.tuple_of_row[r]]++;
  for (unsigned n_threads = 1; n_threads < 3; n_threads++) {
    watch all = {.stop_at = 0};
    shoal_run run = {.n_threads = n_threads, .progress = look, .progress_user = &all};
    succeeds(&f, shoal_row_order(&f.axes, weight, 2, &run, order, &f.error));
    assert_true(all.n_reports > 8); /* some while the tree is cut, some in the shares of threads */
    unsigned most = n_threads == 1 ? all.n_reports : 4;
    for (unsigned at = 1; at <= most; at++) {
      watch w = {.stop_at = at};
      run.progress_user = &w;
      assert_int_equal(shoal_row_order(&f.axes, weight, 2, &run, order, &f.error), SHOAL_CANCELLED);
      assert_int_equal(w.n_reports, at);
    }
  }
  free(weight);
  free(order);
  teardown(&f);
}

/* An allocation fails: an error and nothing else, or the same clusters without it. */
static bool check_failure(fixture *f, const shoal_cluster_task *task, const shoal_partition *whole,
                          long n) {
  shoal_partition p = {0};
  allocations_left = n;
  shoal_status status = shoal_cluster_flock(task, &p, &f->error);
  bool failed = allocations_left < 1;
  allocations_left = -1;
  if (status == SHOAL_OK) {
    assert_int_equal(p.n_clusters, whole->n_clusters);
    assert_memory_equal(p.cluster_of_row, whole->cluster_of_row,
                        f->n_rows * sizeof *p.cluster_of_row);
    shoal_partition_reset(&p);
  } else {
    assert_int_equal(status, SHOAL_FAILED);
    assert_null(p.cluster_of_row);
  }
  return failed;
}

static void memory_may_run_out_anywhere(void **state UNUSED) {
  static const char *const some[] = {"", "[alpha-k: {alpha: 0.7}]"};
  static shape small = {.n_rows = 45,
                        .kinds = "ntm",
                        .n_values = 20,
                        .n_sensitive = 2,
                        .n_sensitive_values = 4,
                        .skewed = true,
                        .k = 3,
                        .p = 2};
  for (size_t i = 0; i < 2 * COUNT(objectives) * COUNT(some); i++) {
    fixture f;
    small.models = some[i / 2 / COUNT(objectives)];
    setup(&f, &small, 5);
    const shoal_run run = {.n_threads = 1};
    shoal_cluster_task task = {.axes = &f.axes,
                               .required = &f.required,
                               .objective = objectives[i / 2 % COUNT(objectives)],
                               .run = &run};
    shoal_partition whole = cluster(&f, task.objective, &run);
    long n = 0;
    fails_once = i % 2;
    while (check_failure(&f, &task, &whole, n)) n += 1 + n / 25;
    assert_true(n > 20);
    shoal_partition_reset(&whole);
    teardown(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_tables_become_clusters_that_fit),
      cmocka_unit_test(threads_do_not_change_the_result),
      cmocka_unit_test(blocks_without_enough_values_are_joined),
      cmocka_unit_test(many_axes_are_clustered),
      cmocka_unit_test(a_run_can_be_stopped),
      cmocka_unit_test(ordering_can_be_stopped),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
