/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/cluster/mondrian.c and cut.c on random tables of numbers, trees and missing
 * values: the clusters are a partition, each satisfies the policy, no cut at a median is left
 * undone, regions of a strict partition do not overlap, and threads change nothing.
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
#include "cluster/cut.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define UNUSED __attribute__((unused))

enum { MOST_AXES = 32 };

/* ---------------------------------------------------------------- tables */

/* A column's kind: number, number with missing values, tree of nine leaves; then its values. */
typedef struct shape {
  const char *kinds; /* one of "nmt" for each quasi-identifier */
  uint32_t n_values; /* of a number */
  uint32_t n_sensitive;
  bool heavy; /* half of the cells have one value */
} shape;

typedef struct fixture {
  size_t n_quasi, n_rows;
  uint64_t k, p;
  shoal_table *table;
  shoal_policy *policy;
  shoal_hierarchy *hierarchies[MOST_AXES];
  shoal_sensitive sensitive;
  shoal_tracked tracked;
  const shoal_column *tracked_columns[MOST_AXES + 1];
  shoal_track track[MOST_AXES + 1];
  shoal_demands demands;
  shoal_frequency *frequency;
  shoal_axes axes;
  shoal_fit fit;
  shoal_judging judging;
  shoal_partition partition;
  shoal_error error;
} fixture;

static void succeeds(const fixture *f, shoal_status status) {
  if (status != SHOAL_OK) fail_msg("%s", f->error.message);
}

static void read_policy(fixture *f, const shape *s, const char *models) {
  shoal_text text = {0};
  shoal_text_add(&text, "shoal: 1\ndata: {missing: ['?']}\nattributes:\n");
  for (size_t q = 0; q < f->n_quasi; q++)
    shoal_text_print(&text, "  q%zu: {role: quasi, %s}\n", q,
                     s->kinds[q] == 't' ? "hierarchy: {tree: {a: {b: [v0, v1, v2], c: [v3]}, "
                                          "d: {e: [v4, v5], f: [v6, v7, v8]}}}"
                                        : "type: number");
  shoal_text_print(&text, "  s: {role: sensitive}\nprivacy: {k: %u, p: %u%s%s}\n", (unsigned)f->k,
                   (unsigned)f->p, *models ? ", models: " : "", models);
  succeeds(f,
           shoal_policy_parse(text.bytes, text.size_bytes, "policy", ".", &f->policy, &f->error));
  shoal_text_reset(&text);
}

static void draw_cell(shoal_text *text, const shape *s, size_t column, shoal_random *random) {
  bool quasi = column < strlen(s->kinds);
  char kind = quasi ? s->kinds[column] : 's';
  uint32_t n = kind == 't' ? 9 : kind == 's' ? s->n_sensitive : s->n_values;
  uint32_t value = (uint32_t)shoal_random_below(random, n);
  if (kind == 'm' && shoal_random_below(random, 4) == 0) shoal_text_add(text, "?");
  else if (s->heavy && shoal_random_below(random, 2))
    shoal_text_add(text, quasi && kind != 't' ? "1" : "v1");
  else if (kind == 'n' || kind == 'm') shoal_text_print(text, "%u", value * value);
  else shoal_text_print(text, "v%u", value);
}

static void draw_table(fixture *f, const shape *s, shoal_random *random) {
  size_t n_columns = f->n_quasi + 1;
  shoal_text texts[MOST_AXES + 1] = {{0}};
  uint64_t *offsets[MOST_AXES + 1];
  shoal_text_view views[MOST_AXES + 1];
  char names[MOST_AXES + 1][8];
  const char *pointers[MOST_AXES + 1];
  for (size_t c = 0; c < n_columns; c++) {
    (void)snprintf(names[c], sizeof names[c], c < f->n_quasi ? "q%zu" : "s", c);
    pointers[c] = names[c];
    offsets[c] = calloc(f->n_rows + 1, sizeof **offsets);
    assert_non_null(offsets[c]);
    for (size_t r = 0; r < f->n_rows; r++) {
      draw_cell(&texts[c], s, c, random);
      offsets[c][r + 1] = texts[c].size_bytes;
    }
    views[c] = (shoal_text_view){texts[c].bytes, offsets[c]};
  }
  succeeds(f, shoal_table_new(pointers, n_columns, &f->table, &f->error));
  succeeds(f, shoal_table_append(f->table, views, n_columns, f->n_rows, NULL, &f->error));
  succeeds(f, shoal_table_finish(f->table, f->policy, SHOAL_FOR_RELEASE, &f->error));
  for (size_t c = 0; c < n_columns; c++) {
    shoal_text_reset(&texts[c]);
    free(offsets[c]);
  }
}

static void setup(fixture *f, const shape *s, size_t n_rows, uint64_t k, uint64_t p,
                  const char *models, uint64_t seed) {
  memset(f, 0, sizeof *f);
  shoal_random random;
  shoal_random_seed(&random, seed);
  f->n_quasi = strlen(s->kinds);
  f->n_rows = n_rows;
  f->k = k;
  f->p = p;
  read_policy(f, s, models);
  draw_table(f, s, &random);
  const shoal_column *quasi[MOST_AXES];
  for (size_t q = 0; q < f->n_quasi; q++) {
    quasi[q] = &f->table->columns[q];
    const shoal_attribute *attribute = shoal_policy_attribute(f->policy, quasi[q]->name);
    shoal_hierarchy_options options = {.attribute = quasi[q]->name};
    if (attribute->has_hierarchy)
      succeeds(f, shoal_hierarchy_compile(&attribute->hierarchy, f->table, quasi[q], &options,
                                          &f->hierarchies[q], &f->error));
  }
  f->sensitive = (shoal_sensitive){.column = &f->table->columns[f->n_quasi],
                                   .attribute = shoal_policy_attribute(f->policy, "s")};
  f->tracked = (shoal_tracked){.sensitive = &f->sensitive,
                               .n_sensitive = 1,
                               .columns = f->tracked_columns,
                               .track = f->track};
  succeeds(f, shoal_demands_bind(f->policy, f->table, &f->tracked, &f->demands, &f->error));
  succeeds(f, shoal_frequency_build(f->table, quasi, (const shoal_hierarchy *const *)f->hierarchies,
                                    f->n_quasi, f->tracked.columns, f->tracked.track,
                                    f->tracked.n_columns, NULL, &f->frequency, &f->error));
  succeeds(f, shoal_axes_init(&f->axes, f->frequency, NULL, SHOAL_LOSS_HEIGHT, &f->error));
  succeeds(f,
           shoal_fit_init(&f->fit, &f->demands, &f->tracked, f->table, SHOAL_FIT_GIVEN, &f->error));
  succeeds(f, shoal_judging_init(&f->judging, &f->fit, &f->error));
}

static void cluster(fixture *f, bool relaxed, const shoal_run *run) {
  shoal_cluster_task task = {.axes = &f->axes, .fit = &f->fit, .relaxed = relaxed, .run = run};
  shoal_partition_reset(&f->partition);
  succeeds(f, shoal_cluster_mondrian(&task, &f->partition, &f->error));
}

static void teardown(fixture *f) {
  shoal_partition_reset(&f->partition);
  shoal_judging_reset(&f->judging);
  shoal_fit_reset(&f->fit);
  shoal_axes_reset(&f->axes);
  shoal_frequency_free(f->frequency);
  shoal_demands_reset(&f->demands);
  for (size_t q = 0; q < f->n_quasi; q++) shoal_hierarchy_free(f->hierarchies[q]);
  shoal_table_free(f->table);
  shoal_policy_free(f->policy);
}

/* ---------------------------------------------------------------- slow checks */

/* The rows of a cluster; the caller frees them. */
static uint32_t *members(const fixture *f, uint32_t cluster_id, size_t *n) {
  uint32_t *rows = calloc(f->n_rows + 1, sizeof *rows);
  assert_non_null(rows);
  *n = 0;
  for (uint32_t r = 0; r < f->n_rows; r++)
    if (f->partition.cluster_of_row[r] == cluster_id) rows[(*n)++] = r;
  return rows;
}

static uint32_t place(const fixture *f, uint32_t row, size_t axis) {
  return shoal_axes_row(&f->axes, row)[axis];
}

/* k and p counted out here, the other demands by their own code. */
static bool satisfies(fixture *f, const uint32_t *rows, size_t n) {
  uint32_t distinct = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t value = shoal_column_code(f->sensitive.column, rows[i]);
    size_t before = 0;
    while (before < i && shoal_column_code(f->sensitive.column, rows[before]) != value) before++;
    distinct += before == i;
  }
  return n >= f->k && distinct >= f->p && shoal_judging_others(&f->judging, rows, n);
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
  for (size_t i = 0; i < n; i++) sorted[i] = place(f, rows[i], axis);
  qsort(sorted, n, sizeof *sorted, ascending);
  uint32_t median = sorted[(n - 1) / 2];
  size_t n_left = 0, n_right = 0;
  for (size_t i = 0; i < n; i++) {
    if (place(f, rows[i], axis) <= median) left[n_left++] = rows[i];
    else right[n_right++] = rows[i];
  }
  bool allowed = n_right && satisfies(f, left, n_left) && satisfies(f, right, n_right);
  free(sorted);
  free(left);
  free(right);
  return allowed;
}

static void check_clusters(fixture *f, bool maximal) {
  const shoal_partition *p = &f->partition;
  assert_in_range(p->n_clusters, 1, f->n_rows);
  size_t together = 0;
  for (uint32_t c = 0; c < p->n_clusters; c++) {
    size_t n;
    uint32_t *rows = members(f, c, &n);
    together += n;
    assert_true(n > 0);
    assert_true(p->n_clusters == 1 || satisfies(f, rows, n));
    for (size_t q = 0; maximal && q < f->n_quasi; q++)
      assert_false(median_cut_allowed(f, rows, n, q));
    free(rows);
  }
  assert_int_equal(together, f->n_rows); /* none has a cluster number that is too large */
}

static void extent(const fixture *f, uint32_t cluster_id, shoal_span *spans) {
  size_t n;
  uint32_t *rows = members(f, cluster_id, &n);
  shoal_extent_start(&f->axes, spans, shoal_axes_row(&f->axes, rows[0]));
  for (size_t i = 1; i < n; i++)
    shoal_extent_add(&f->axes, spans, shoal_axes_row(&f->axes, rows[i]));
  free(rows);
}

/* Strict: any two regions are apart on some axis. */
static void check_apart(const fixture *f) {
  shoal_span a[MOST_AXES], b[MOST_AXES];
  for (uint32_t x = 0; x < f->partition.n_clusters; x++) {
    extent(f, x, a);
    for (uint32_t y = 0; y < x; y++) {
      bool apart = false;
      extent(f, y, b);
      for (size_t q = 0; q < f->n_quasi; q++)
        apart = apart || a[q].hi < b[q].lo || b[q].hi < a[q].lo;
      assert_true(apart);
    }
  }
}

/* ---------------------------------------------------------------- random tables */

static const shape shapes[] = {
    {"n", 30, 3, false},  {"n", 5, 3, true},     {"t", 0, 2, false},   {"m", 8, 4, false},
    {"nt", 9, 3, false},  {"tm", 6, 3, true},    {"nnn", 4, 5, false}, {"tt", 0, 3, true},
    {"mmt", 9, 4, false}, {"nnntm", 7, 3, true}, {"n", 1, 2, false},   {"nn", 2000, 6, false},
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
  static const shape heavy = {"nn", 3, 4, true};
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

/* Some rows of a table, so that axes lose differently: the cut is on the one that loses most. */
static void the_widest_axis_is_cut(void **state UNUSED) {
  static const shape numbers = {"nnn", 5000, 3, false};
  for (uint64_t seed = 0; seed < 40; seed++) {
    fixture f;
    setup(&f, &numbers, 300, 2, 1, "", seed);
    shoal_cluster_task task = {.axes = &f.axes, .fit = &f.fit};
    shoal_cutter cutter;
    succeeds(&f, shoal_cutter_init(&cutter, &task, &f.error));
    uint32_t rows[300], scratch[600], n = 0;
    size_t widest = 0;
    for (uint32_t r = 0; r < f.n_rows; r++) /* a third of one axis, two thirds of another */
      if (place(&f, r, seed % 3) < 100 && place(&f, r, (seed + 1) % 3) < 200) rows[n++] = r;
    shoal_span span[3];
    shoal_extent_start(&f.axes, span, shoal_axes_row(&f.axes, rows[0]));
    for (uint32_t i = 1; i < n; i++)
      shoal_extent_add(&f.axes, span, shoal_axes_row(&f.axes, rows[i]));
    for (size_t q = 1; q < 3; q++)
      if (shoal_axis_loss(&f.axes.items[q], span[q].lo, span[q].hi) >
          shoal_axis_loss(&f.axes.items[widest], span[widest].lo, span[widest].hi))
        widest = q;
    uint32_t n_left = shoal_cutter_cut(&cutter, rows, n, scratch), highest = 0;
    assert_in_range(n_left, n / 2 - 5, n / 2 + 5); /* near the median */
    for (uint32_t i = 0; i < n_left; i++)
      if (place(&f, rows[i], widest) > highest) highest = place(&f, rows[i], widest);
    for (uint32_t i = n_left; i < n; i++) assert_true(place(&f, rows[i], widest) > highest);
    shoal_cutter_reset(&cutter);
    teardown(&f);
  }
}

/* ---------------------------------------------------------------- edges */

static void nothing_to_cut_is_one_cluster(void **state UNUSED) {
  static const shape equal = {"nn", 1, 3, false}, numbers = {"n", 50, 3, false};
  fixture f;
  for (int relaxed = 0; relaxed < 2; relaxed++) {
    setup(&f, &equal, 40, 2, 1, "", 1); /* all rows are equal */
    cluster(&f, relaxed, NULL);
    assert_int_equal(f.partition.n_clusters, 1);
    teardown(&f);
    setup(&f, &numbers, 19, 10, 1, "", 2); /* fewer than 2 k rows */
    cluster(&f, relaxed, NULL);
    assert_int_equal(f.partition.n_clusters, 1);
    teardown(&f);
    setup(&f, &numbers, 1, 1, 1, "", 3);
    cluster(&f, relaxed, NULL);
    check_clusters(&f, true);
    teardown(&f);
  }
}

static void numbers_and_missing_values_part_first(void **state UNUSED) {
  static const shape missing = {"m", 200, 3, false};
  fixture f;
  setup(&f, &missing, 200, 10, 1, "", 4);
  cluster(&f, false, NULL);
  assert_true(f.partition.n_clusters > 3);
  for (uint32_t c = 0; c < f.partition.n_clusters; c++) {
    shoal_span span;
    extent(&f, c, &span);
    assert_true(span.hi < f.axes.items[0].n_numbers || span.lo == span.hi);
  }
  teardown(&f);
}

static void thirty_axes_can_be_cut(void **state UNUSED) {
  static const shape wide = {"nmtnmtnmtnmtnmtnmtnmtnmtnmtnmt", 12, 4, false};
  fixture f;
  setup(&f, &wide, 300, 4, 2, "", 5);
  cluster(&f, false, NULL);
  assert_true(f.partition.n_clusters > 30);
  check_clusters(&f, true);
  check_apart(&f);
  teardown(&f);
}

/* ---------------------------------------------------------------- threads and progress */

static void threads_do_not_change_the_result(void **state UNUSED) {
  static const shape large = {"nmtn", 900, 5, false};
  for (int relaxed = 0; relaxed < 2; relaxed++) {
    fixture f;
    shoal_partition first = {0};
    setup(&f, &large, 30000, 6, 3, "", 6);
    for (unsigned n_threads = 1; n_threads < 6; n_threads += 2) {
      cluster(&f, relaxed, &(shoal_run){.n_threads = n_threads});
      if (n_threads == 1) {
        first = f.partition;
        f.partition = (shoal_partition){0};
        continue;
      }
      assert_int_equal(f.partition.n_clusters, first.n_clusters);
      assert_memory_equal(f.partition.cluster_of_row, first.cluster_of_row,
                          f.n_rows * sizeof *first.cluster_of_row);
    }
    assert_true(first.n_clusters > 2500);
    shoal_partition_reset(&first);
    teardown(&f);
  }
}

typedef struct watch {
  unsigned n_reports, stop_at;
  uint64_t last;
} watch;

static bool look(void *user, const shoal_progress *progress) {
  watch *w = user;
  assert_string_equal(progress->stage, "cluster");
  assert_true(progress->done >= w->last && progress->done <= progress->total);
  w->last = progress->done;
  return ++w->n_reports == w->stop_at;
}

static void progress_is_told_and_can_stop_it(void **state UNUSED) {
  static const shape large = {"nn", 900, 5, false};
  fixture f;
  setup(&f, &large, 20000, 5, 2, "", 7);
  watch w = {0};
  shoal_run run = {.n_threads = 1, .progress = look, .progress_user = &w};
  cluster(&f, false, &run);
  assert_true(w.n_reports > 5);
  w = (watch){.stop_at = 3};
  shoal_cluster_task task = {.axes = &f.axes, .fit = &f.fit, .run = &run};
  shoal_partition none = {0};
  assert_int_equal(shoal_cluster_mondrian(&task, &none, &f.error), SHOAL_CANCELLED);
  assert_int_equal(w.n_reports, 3);
  assert_null(none.cluster_of_row);
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_model_is_a_condition_of_cuts),
      cmocka_unit_test(relaxed_cuts_go_through_heavy_values),
      cmocka_unit_test(the_widest_axis_is_cut),
      cmocka_unit_test(nothing_to_cut_is_one_cluster),
      cmocka_unit_test(numbers_and_missing_values_part_first),
      cmocka_unit_test(thirty_axes_can_be_cut),
      cmocka_unit_test(threads_do_not_change_the_result),
      cmocka_unit_test(progress_is_told_and_can_stop_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
