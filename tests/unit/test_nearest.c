/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/cluster/nearest.c: the same class as a scan of all finds, ties included,
 * on numbers, trees and missing values, with some classes left out.
 */

#include "cluster_fixture.h"

#include "cluster/nearest.h"

enum { MAX_CLASSES = 600 };

typedef struct drawn {
  shoal_span *boxes;
  uint64_t n_rows[MAX_CLASSES];
  uint8_t left_out[MAX_CLASSES];
  uint32_t n;
} drawn;

/* Classes of a few random rows each; few of them cover the same. */
static void draw(fixture *f, drawn *d, uint32_t n, shoal_random *random) {
  uint32_t *class_of = calloc(f->n_rows, sizeof *class_of);
  assert_non_null(class_of);
  memset(d, 0, sizeof *d);
  d->n = n;
  for (uint32_t r = 0; r < f->n_rows; r++) {
    class_of[r] = r < n ? r : (uint32_t)shoal_random_below(random, n);
    d->n_rows[class_of[r]]++;
  }
  for (uint32_t c = 0; c < n; c++) d->left_out[c] = shoal_random_below(random, 3) == 0;
  d->boxes = shoal_boxes_of_rows(&f->axes, class_of, n);
  assert_non_null(d->boxes);
  free(class_of);
}

static uint64_t cost(const fixture *f, const drawn *d, uint32_t a, uint32_t b) {
  uint64_t sum = 0;
  for (size_t q = 0; q < f->n_quasi; q++) {
    shoal_span x = d->boxes[a * f->n_quasi + q], y = d->boxes[b * f->n_quasi + q];
    uint32_t lo = x.lo < y.lo ? x.lo : y.lo, hi = x.hi > y.hi ? x.hi : y.hi;
    const shoal_axis *axis = &f->axes.items[q];
    sum += d->n_rows[a] * (shoal_axis_loss(axis, lo, hi) - shoal_axis_loss(axis, x.lo, x.hi));
    sum += d->n_rows[b] * (shoal_axis_loss(axis, lo, hi) - shoal_axis_loss(axis, y.lo, y.hi));
  }
  return sum;
}

static uint32_t scan(const fixture *f, const drawn *d, uint32_t c, const uint8_t *left_out) {
  uint32_t found = SHOAL_NONE;
  for (uint32_t other = 0; other < d->n; other++) {
    if (other == c || (left_out && left_out[other])) continue;
    if (found == SHOAL_NONE || cost(f, d, c, other) < cost(f, d, c, found)) found = other;
  }
  return found;
}

static void a_scan_finds_the_same(void **state UNUSED) {
  static const char *const kinds[] = {"n", "nn", "ntm", "ttt", "nmtnn"};
  shoal_random random;
  shoal_random_seed(&random, 9);
  for (size_t i = 0; i < 40; i++) {
    shape some = {kinds[i % COUNT(kinds)], i % 3 ? 1000 : 6, 5, i % 4 == 0, NULL};
    uint32_t n = 1 + (uint32_t)shoal_random_below(&random, i % 2 ? 12 : MAX_CLASSES);
    fixture f;
    drawn d;
    shoal_nearest nearest;
    setup(&f, &some, n + shoal_random_below(&random, 2 * n), 2, 2, "", i);
    draw(&f, &d, n, &random);
    succeeds(&f, shoal_nearest_init(&nearest, &f.axes, d.boxes, d.n_rows, n, &f.error));
    for (uint32_t c = 0; c < n; c += 1 + n / 64) {
      uint32_t all = scan(&f, &d, c, NULL), some_of_them = scan(&f, &d, c, d.left_out);
      assert_int_equal(shoal_nearest_class(&nearest, c, NULL), all);
      assert_int_equal(shoal_nearest_class(&nearest, c, d.left_out), some_of_them);
    }
    shoal_nearest_reset(&nearest);
    free(d.boxes);
    teardown(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_scan_finds_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
