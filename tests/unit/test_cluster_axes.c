/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/cluster/{axes,fit}.c on random tables of numbers, trees and missing values:
 * what a span loses and which rows fit, against slow computations.
 */
#include <math.h>

#include "flock_fixture.h"

/* ---------------------------------------------------------------- axes, slowly */

static bool same_label(const shoal_level *a, uint32_t x, const shoal_level *b, uint32_t y) {
  size_t size_a, size_b;
  const char *text_a = shoal_level_label(a, x, &size_a), *text_b = shoal_level_label(b, y, &size_b);
  return size_a == size_b && memcmp(text_a, text_b, size_a) == 0;
}

/* The height of the subtree below a label, steps to a label of the same text not counted. */
static uint32_t slow_height(const shoal_hierarchy *h, uint32_t level, uint32_t leaf) {
  uint32_t highest = 0;
  for (uint32_t v = 0; v < h->n_leaves; v++) {
    uint32_t steps = 0;
    if (!same_label(&h->levels[level], h->levels[level].of_leaf[v], &h->levels[level],
                    h->levels[level].of_leaf[leaf]))
      continue;
    for (uint32_t l = 0; l < level; l++)
      steps += !same_label(&h->levels[l], h->levels[l].of_leaf[v], &h->levels[l + 1],
                           h->levels[l + 1].of_leaf[v]);
    if (steps > highest) highest = steps;
  }
  return highest;
}

static double slow_tree_loss(const shoal_hierarchy *h, const uint32_t *codes, size_t n,
                             shoal_loss_kind kind) {
  uint32_t level = 0, leaves = 0;
  for (size_t i = 1; i < n; i++)
    while (!same_label(&h->levels[level], h->levels[level].of_leaf[codes[0]], &h->levels[level],
                       h->levels[level].of_leaf[codes[i]]))
      level++;
  for (uint32_t v = 0; v < h->n_leaves; v++)
    leaves += h->levels[level].of_leaf[v] == h->levels[level].of_leaf[codes[0]];
  if (kind == SHOAL_LOSS_LEAVES) return (leaves - 1.0) / (h->n_leaves - 1.0);
  return (double)slow_height(h, level, codes[0]) / slow_height(h, h->n_levels - 1, codes[0]);
}

static double number_of(const shoal_column *column, uint32_t code) {
  size_t size;
  char text[32];
  const char *bytes = shoal_column_value(column, code, &size);
  (void)snprintf(text, sizeof text, "%.*s", (int)size, bytes);
  return strtod(text, NULL);
}

/* (max - min) / (range of the column); 1 with a missing value beside numbers. */
static double slow_number_loss(const shoal_column *column, const uint32_t *codes, size_t n) {
  double low = INFINITY, high = -INFINITY, least = INFINITY, greatest = -INFINITY;
  bool missing = false;
  for (uint32_t v = 0; v < column->n_values; v++) {
    if (shoal_column_missing(column, v)) continue;
    least = fmin(least, number_of(column, v));
    greatest = fmax(greatest, number_of(column, v));
  }
  for (size_t i = 0; i < n; i++) {
    missing = missing || shoal_column_missing(column, codes[i]);
    if (shoal_column_missing(column, codes[i])) continue;
    low = fmin(low, number_of(column, codes[i]));
    high = fmax(high, number_of(column, codes[i]));
  }
  if (missing) return high >= low;
  return greatest > least ? (high - low) / (greatest - least) : 0;
}

static void check_losses(const fixture *f, shoal_loss_kind kind, shoal_random *random) {
  uint32_t rows[6], codes[6];
  shoal_span box[MAX_AXES];
  size_t n = 1 + below(random, COUNT(rows));
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    rows[i] = below(random, f->n_rows);
    const uint32_t *positions = shoal_axes_row(&f->axes, rows[i]);
    if (i) shoal_box_add(&f->axes, box, positions);
    else shoal_box_start(&f->axes, box, positions);
  }
  for (size_t q = 0; q < f->n_quasi; q++) {
    const shoal_column *column = &f->table->columns[q];
    const shoal_axis *axis = &f->axes.items[q];
    for (size_t i = 0; i < n; i++) codes[i] = shoal_column_code(column, rows[i]);
    double part = f->hierarchies[q] ? slow_tree_loss(f->hierarchies[q], codes, n, kind)
                                    : slow_number_loss(column, codes, n);
    uint32_t loss = shoal_axis_loss(axis, box[q].lo, box[q].hi);
    sum += loss;
    assert_int_equal(loss, shoal_axis_loss_slow(axis, box[q].lo, box[q].hi));
    double off = fabs(loss - part * axis->full);
    if (off > (f->axes.exact ? 1e-3 : 1.001))
      fail_msg("axis %zu (%c) loses %u of %u, not %f", q, f->s->kinds[q], loss, axis->full, part);
  }
  assert_int_equal(sum, shoal_box_loss(&f->axes, box));
  assert_int_equal(sum, shoal_box_loss_with(&f->axes, box, shoal_axes_row(&f->axes, rows[0])));
}

static void check_weights(const fixture *f, const uint32_t *weights, uint32_t sum) {
  uint64_t all = 0;
  for (size_t q = 0; q < f->n_quasi; q++) all += f->axes.items[q].full;
  assert_true(all <= SHOAL_MAX_LOSS);
  for (size_t q = 0; q < f->n_quasi; q++) {
    double part = (double)f->axes.items[q].full / (double)all, wanted = (double)weights[q] / sum;
    assert_true(fabs(part - wanted) < 1e-7);
    if (f->axes.exact) assert_int_equal(f->axes.items[q].full * (uint64_t)sum, weights[q] * all);
  }
}

static void losses_are_those_of_the_definitions(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 41);
  uint32_t n_exact = 0, n_rounded = 0, n_paired = 0, n_unpaired = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    fixture f;
    shape s = draw_shape(&random, 300);
    uint32_t weights[MAX_AXES], sum = 0;
    shoal_decimal decimals[MAX_AXES];
    for (size_t q = 0; s.kinds[q]; q++) {
      weights[q] = seed % 2 ? 10 : 5 * (1 + below(&random, 40)); /* in tenths */
      sum += weights[q];
      decimals[q] = (shoal_decimal){weights[q], 1};
    }
    shoal_loss_kind kind = seed % 3 ? SHOAL_LOSS_HEIGHT : SHOAL_LOSS_LEAVES;
    setup_weighted(&f, &s, seed % 2 ? NULL : decimals, kind, seed);
    check_weights(&f, weights, sum);
    for (int i = 0; i < 60; i++) check_losses(&f, kind, &random);
    n_exact += f.axes.exact;
    n_rounded += !f.axes.exact;
    for (size_t q = 0; q < f.n_quasi; q++) *(f.axes.items[q].pairs ? &n_paired : &n_unpaired) += 1;
    teardown(&f);
  }
  assert_true(n_exact > 30 && n_rounded > 30 && n_paired > 100 && n_unpaired > 30);
}

/* ---------------------------------------------------------------- fit, slowly */

static const char *const models[] = {
    "[k-anonymity: {k: 3}]",
    "[p-sensitive: {p: 3}]",
    "[extended-p-sensitive: {p: 3}]",
    "[p-plus-sensitive: {p: 2}]",
    "[p-alpha-sensitive: {p: 2, alpha: 1}]",
    "[balanced-p-plus: {p: 2}]",
    "[balanced-p-alpha: {p: 2, alpha: 1}]",
    "[theta-sensitive: {mu: 0.2}]",
    "[l-diversity: {l: 1}]",
    "[l-diversity: {l: 3}]",
    "[l-diversity: {kind: entropy, l: 2}]",
    "[l-diversity: {kind: recursive, l: 2, c: 1.5}]",
    "[t-closeness: {t: 0.3, distance: equal}]",
    "[t-closeness: {t: 0.3, distance: hierarchical}]",
    "[alpha-k: {alpha: 0.5}]",
    "[personalized: {column: g, breach: 0.4}]",
    ("[alpha-k: {alpha: 0.6}, l-diversity: {kind: entropy, l: 1.5}, personalized: {column: g, "
     "breach: 0.6}, p-sensitive: {p: 2, attribute: s0}]"),
};

/* Rows of `side`, counted out for k and p, and judged as a class of a whole grouping. */
static bool slow_fits(fixture *f, const uint32_t *side_of, uint32_t side) {
  shoal_classes classes;
  uint8_t violates[2];
  succeeds(f, shoal_classes_of_rows(f->frequency, side_of, 2, &classes, &f->error));
  shoal_judge(&f->requirements, f->frequency, &classes, UINT64_MAX, violates);
  shoal_classes_reset(&classes);
  uint32_t n = 0;
  for (size_t r = 0; r < f->n_rows; r++) n += side_of[r] == side;
  bool fits = n >= f->s->k;
  for (size_t i = 0; i < f->s->n_sensitive; i++) {
    uint32_t seen = 0;
    for (size_t r = 0; r < f->n_rows; r++) {
      uint32_t code = shoal_column_code(f->sensitive[i].column, r);
      if (side_of[r] == side && !shoal_column_missing(f->sensitive[i].column, code))
        seen |= UINT32_C(1) << code;
    }
    fits = fits && (uint32_t)__builtin_popcount(seen) >= f->s->p;
  }
  if (!fits) assert_true(violates[side]);
  return !violates[side];
}

static void rows_fit_where_every_model_holds(void **state UNUSED) {
  shoal_random random;
  shoal_random_seed(&random, 42);
  uint32_t n_fit[COUNT(models)] = {0}, n_not[COUNT(models)] = {0};
  for (uint64_t seed = 0; seed < 40 * COUNT(models); seed++) {
    fixture f;
    shape s = draw_shape(&random, 40);
    size_t m = seed % COUNT(models);
    s.models = models[m];
    s.n_rows += 1;
    s.k = s.k > 3 ? 3 : s.k;
    s.p = s.p > 2 ? 0 : s.p;
    setup(&f, &s, seed);
    for (int t = 0; t < 20; t++) {
      uint32_t side_of[42], rows[42], n = 0;
      for (size_t r = 0; r < f.n_rows; r++) side_of[r] = below(&random, 2);
      side_of[0] = 0;
      side_of[1] = 1;
      for (uint32_t r = 0; r < f.n_rows; r++)
        if (side_of[r]) rows[n++] = r;
      bool fits = shoal_requirement_checker_satisfies(&f.checker, rows, n),
           expected = slow_fits(&f, side_of, 1);
      if (fits != expected) fail_msg("%s: %d, not %d", models[m], fits, expected);
      n_fit[m] += fits;
      n_not[m] += !fits;
    }
    teardown(&f);
  }
  for (size_t m = 0; m < COUNT(models); m++)
    if (n_fit[m] < 5 || n_not[m] < 5) fail_msg("%s: %u fit, %u not", models[m], n_fit[m], n_not[m]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(losses_are_those_of_the_definitions),
      cmocka_unit_test(rows_fit_where_every_model_holds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
