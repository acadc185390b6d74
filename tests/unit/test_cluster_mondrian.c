/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/cluster/mondrian.c on random tables of numbers, trees and missing
 * values: the clusters are a partition, each satisfies the policy, no cut at a median is left
 * undone, and regions of a strict partition do not overlap.
 */
#include "cluster_fixture.h"

static void cluster(fixture *f, bool relaxed, const shoal_run *run) {
  shoal_cluster_task task = {
      .axes = &f->axes, .required = &f->required, .relaxed = relaxed, .run = run};
  shoal_partition_reset(&f->partition);
  succeeds(f, shoal_cluster_mondrian(&task, &f->partition, &f->error));
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Would LeFevre's cut be allowed: rows up to the (lower) median against the others? */
static bool median_cut_allowed(fixture *f, const uint32_t *rows, size_t n, size_t axis) {
  uint32_t *sorted = calloc(n, sizeof *sorted), *left = calloc(n, sizeof *left),
           *right = calloc(n, sizeof *right);
  assert_true(sorted && left && right);
  for (size_t i = 0; i < n; i++) sorted[i] = position(f, rows[i], axis);
  qsort(sorted, n, sizeof *sorted, ascending);
  uint32_t median = sorted[(n - 1) / 2];
  size_t n_left = 0, n_right = 0;
  for (size_t i = 0; i < n; i++) {
    if (position(f, rows[i], axis) <= median) left[n_left++] = rows[i];
    else right[n_right++] = rows[i];
  }
  bool allowed = n_right && satisfies(f, left, n_left) && satisfies(f, right, n_right);
  free(sorted);
  free(left);
  free(right);
  return allowed;
}

static void check_clusters(fixture *f, bool maximal) {
  check_partition(f);
  for (uint32_t c = 0; maximal && c < f->partition.n_clusters; c++) {
    size_t n;
    uint32_t *rows = members(f, c, &n);
    for (size_t q = 0; q < f->n_quasi; q++) assert_false(median_cut_allowed(f, rows, n, q));
    free(rows);
  }
}

static void box(const fixture *f, uint32_t cluster_id, shoal_span *spans) {
  size_t n;
  uint32_t *rows = members(f, cluster_id, &n);
  shoal_box_start(&f->axes, spans, shoal_axes_row(&f->axes, rows[0]));
  for (size_t i = 1; i < n; i++) shoal_box_add(&f->axes, spans, shoal_axes_row(&f->axes, rows[i]));
  free(rows);
}

/* Strict: any two regions are apart on some axis. */
static void check_apart(const fixture *f) {
  shoal_span a[MAX_AXES], b[MAX_AXES];
  for (uint32_t x = 0; x < f->partition.n_clusters; x++) {
    box(f, x, a);
    for (uint32_t y = 0; y < x; y++) {
      bool apart = false;
      box(f, y, b);
      for (size_t q = 0; q < f->n_quasi; q++)
        apart = apart || a[q].hi < b[q].lo || b[q].hi < a[q].lo;
      assert_true(apart);
    }
  }
}

/* ---------------------------------------------------------------- random tables */

static const shape shapes[] = {
    {"n", 30, 3, false, NULL},   {"n", 5, 3, true, NULL},   {"t", 0, 2, false, NULL},
    {"m", 8, 4, false, NULL},    {"nt", 9, 3, false, NULL}, {"tm", 6, 3, true, NULL},
    {"nnn", 4, 5, false, NULL},  {"tt", 0, 3, true, NULL},  {"mmt", 9, 4, false, NULL},
    {"nnntm", 7, 3, true, NULL}, {"n", 1, 2, false, NULL},  {"nn", 2000, 6, false, NULL},
};

static void every_model_is_a_condition_of_cuts(void **state UNUSED) {
  static const char *const models[] = {"", "", "[{alpha-k: {alpha: 0.5}}]",
                                       "[{l-diversity: {kind: entropy, l: 2}}]",
                                       "[{t-closeness: {t: 0.3, distance: equal}}]"};
  unsigned n_cut = 0;
  for (uint64_t seed = 0; seed < 600; seed++) {
    fixture f;
    size_t n_rows = 1 + seed * 7 % 90;
    uint64_t k = 1 + seed % 5;
    if (k > n_rows) k = n_rows;
    setup(&f, &shapes[seed % COUNT(shapes)], n_rows, k, 1 + seed / 5 % 3, models[seed / 11 % 5],
          seed);
    cluster(&f, false, NULL);
    check_clusters(&f, true);
    check_apart(&f);
    n_cut += f.partition.n_clusters > 1;
    cluster(&f, true, NULL);
    check_clusters(&f, true);
    teardown(&f);
  }
  assert_in_range(n_cut, 200, 600);
}

static void relaxed_cuts_go_through_heavy_values(void **state UNUSED) {
  unsigned strict = 0, relaxed = 0;
  static const shape heavy = {"nn", 3, 4, true, NULL};
  for (uint64_t seed = 0; seed < 60; seed++) {
    fixture f;
    setup(&f, &heavy, 60, 5, 2, "", seed);
    cluster(&f, false, NULL);
    strict += f.partition.n_clusters;
    cluster(&f, true, NULL);
    relaxed += f.partition.n_clusters;
    teardown(&f);
  }
  assert_true(relaxed > strict);
}

/* Some rows of a table, on which axes lose differently; k allows one cut: on the widest axis. */
static void the_widest_axis_is_cut(void **state UNUSED) {
  static const shape numbers = {"nnn", 5000, 3, false, NULL};
  for (uint64_t seed = 0; seed < 40; seed++) {
    fixture f;
    setup(&f, &numbers, 300, 2, 1, "", seed);
    uint32_t rows[300], tuples[300], n = 0;
    size_t widest = 0;
    for (uint32_t r = 0; r < f.n_rows; r++) /* a third of one axis, two thirds of another */
      if (position(&f, r, seed % 3) < 100 && position(&f, r, (seed + 1) % 3) < 200) rows[n++] = r;
    shoal_span span[3];
    shoal_box_start(&f.axes, span, shoal_axes_row(&f.axes, rows[0]));
    for (uint32_t i = 1; i < n; i++) shoal_box_add(&f.axes, span, shoal_axes_row(&f.axes, rows[i]));
    for (size_t q = 1; q < 3; q++)
      if (shoal_axis_loss(&f.axes.items[q], span[q].lo, span[q].hi) >
          shoal_axis_loss(&f.axes.items[widest], span[widest].lo, span[widest].hi))
        widest = q;
    shoal_axes some = f.axes;
    for (uint32_t i = 0; i < n; i++) tuples[i] = f.axes.tuple_of_row[rows[i]];
    some.n_rows = n;
    some.tuple_of_row = tuples;
    f.required.k = n / 2 - 5; /* near the median */
    shoal_cluster_task task = {.axes = &some, .required = &f.required};
    succeeds(&f, shoal_cluster_mondrian(&task, &f.partition, &f.error));
    assert_int_equal(f.partition.n_clusters, 2);
    uint32_t highest = 0, lowest = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t at = position(&f, rows[i], widest);
      if (f.partition.cluster_of_row[i] == 0 && at > highest) highest = at;
      if (f.partition.cluster_of_row[i] == 1 && at < lowest) lowest = at;
    }
    assert_true(highest < lowest);
    teardown(&f);
  }
}

/* ---------------------------------------------------------------- edges */

static void numbers_and_missing_values_part_first(void **state UNUSED) {
  static const shape missing = {"m", 200, 3, false, NULL};
  fixture f;
  setup(&f, &missing, 200, 10, 1, "", 4);
  cluster(&f, false, NULL);
  assert_true(f.partition.n_clusters > 3);
  for (uint32_t c = 0; c < f.partition.n_clusters; c++) {
    shoal_span span;
    box(&f, c, &span);
    assert_true(span.hi < f.axes.items[0].n_numbers || span.lo == span.hi);
  }
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_model_is_a_condition_of_cuts),
      cmocka_unit_test(relaxed_cuts_go_through_heavy_values),
      cmocka_unit_test(the_widest_axis_is_cut),
      cmocka_unit_test(numbers_and_missing_values_part_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
