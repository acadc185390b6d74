/* SPDX-License-Identifier: Apache-2.0 */
/* bench/bound_pairs: see bound.h. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "bound.h"

/* What two values of one axis lose together. */
static double axis_loss(const bound_axis *axis, uint32_t s, uint32_t t) {
  uint32_t a = axis->place[s], c = axis->place[t];
  if (a == c) return 0;
  if (axis->number)
    return a < axis->n_numbers && c < axis->n_numbers ? fabs(axis->position[a] - axis->position[c])
                                                      : 1;
  uint32_t l = 0;
  while (axis->label[l][a] != axis->label[l][c]) l++;
  return axis->loss[l][axis->label[l][a]];
}

/* The same over all axes; anything from `most` on is as good as more. */
static double pair_loss(const bound *b, uint32_t s, uint32_t t, double most) {
  double loss = 0;
  for (size_t d = b->n_axes; d-- && loss < most;) loss += axis_loss(&b->axes[d], s, t);
  return loss;
}

/* The nearest rows of a tuple: losses ascending, each with its rows; at most k rows in all. */
typedef struct nearest {
  double *loss;
  uint32_t *n_rows;
  uint32_t n, sum;
} nearest;

static void nearest_add(nearest *near, uint32_t k, double loss, uint32_t n_rows) {
  if (near->sum >= k && loss >= near->loss[near->n - 1]) return;
  uint32_t at = near->n++;
  for (; at && near->loss[at - 1] > loss; at--) {
    near->loss[at] = near->loss[at - 1];
    near->n_rows[at] = near->n_rows[at - 1];
  }
  near->loss[at] = loss;
  near->n_rows[at] = n_rows > k ? k : n_rows;
  near->sum += near->n_rows[at];
  while (near->sum - near->n_rows[near->n - 1] >= k) near->sum -= near->n_rows[--near->n];
}

/* Looks to both sides of a tuple, in the order of one axis, until that axis alone loses more. */
static double k_nearest(bound *b, const bound_axis *axis, const uint32_t *order, uint32_t at,
                        nearest *near) {
  uint32_t tuple = order[at];
  near->n = near->sum = 0;
  nearest_add(near, b->k, 0, b->rows_of[tuple]);
  for (int side = 0; side < 2; side++)
    for (uint32_t i = at;;) {
      if (side ? ++i == b->n_tuples : i-- == 0) break;
      double most = near->sum >= b->k ? near->loss[near->n - 1] : INFINITY;
      b->work++;
      /* missing values lie behind the numbers and lose everything: no reason to stop there */
      if (axis->place[order[i]] < axis->n_numbers && axis_loss(axis, tuple, order[i]) >= most)
        break;
      nearest_add(near, b->k, pair_loss(b, tuple, order[i], most), b->rows_of[order[i]]);
    }
  return near->loss[near->n - 1];
}

static const bound_axis *sort_axis;

static int by_place(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  uint32_t p = sort_axis->place[x], q = sort_axis->place[y];
  return p != q ? (p < q ? -1 : 1) : x < y ? -1 : 1;
}

bool bound_pairs(bound *b) {
  uint32_t *order = b->sets[b->n_axes];
  nearest near = {.loss = shoal_alloc((size_t)b->k + 2, sizeof *near.loss),
                  .n_rows = shoal_alloc((size_t)b->k + 2, sizeof *near.n_rows)};
  bool done = near.loss && near.n_rows;
  for (uint32_t t = 0; t < b->n_tuples; t++) order[t] = t;
  sort_axis = &b->axes[b->n_axes - 1];
  qsort(order, b->n_tuples, sizeof *order, by_place);
  for (uint32_t i = 0; done && i < b->n_tuples; i++) {
    b->y[order[i]] = k_nearest(b, sort_axis, order, i, &near);
    done = b->work <= b->max_work;
  }
  free(near.loss);
  free(near.n_rows);
  return done;
}
