/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/nearest: see nearest.h. A tree of halves, after Bentley 1975, with bounds at its nodes.
 */
#include "cluster/nearest.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { LEAF = 8 };

void shoal_nearest_reset(shoal_nearest *t) {
  free(t->order);
  free(t->loss);
  free(t->nodes);
  free(t->bounds);
  memset(t, 0, sizeof *t);
}

static const shoal_span *extent_of(const shoal_nearest *t, uint32_t c) {
  return t->extents + (size_t)c * t->axes->n;
}

/* ------------------------------------------------------------ the tree */

/* A class, and its middle on the axis that is cut. */
typedef struct keyed {
  uint32_t middle, c;
} keyed;

static int by_middle(const void *a, const void *b) {
  const keyed *x = a, *y = b;
  if (x->middle != y->middle) return x->middle < y->middle ? -1 : 1;
  return (x->c > y->c) - (x->c < y->c);
}

static uint32_t middle_of(shoal_span span) { return span.lo + (span.hi - span.lo) / 2; }

/* The axis on which the middles of a node's classes lie furthest apart. */
static size_t widest_axis(const shoal_nearest *t, const shoal_near_node *node) {
  size_t widest = 0;
  uint32_t most = 0;
  for (size_t q = 0; q < t->axes->n; q++) {
    shoal_span covers = {UINT32_MAX, 0};
    for (uint32_t i = node->first; i < node->first + node->n; i++) {
      uint32_t middle = middle_of(extent_of(t, t->order[i])[q]);
      if (middle < covers.lo) covers.lo = middle;
      if (middle > covers.hi) covers.hi = middle;
    }
    uint32_t loss = shoal_axis_loss(&t->axes->items[q], covers.lo, covers.hi);
    if (loss <= most) continue;
    most = loss;
    widest = q;
  }
  return widest;
}

static void bound(const shoal_nearest *t, uint32_t at) {
  shoal_near_node *node = &t->nodes[at];
  shoal_span *bounds = t->bounds + (size_t)at * t->axes->n;
  node->least_rows = UINT64_MAX;
  for (size_t q = 0; q < t->axes->n; q++) bounds[q] = (shoal_span){0, UINT32_MAX};
  for (uint32_t i = node->first; i < node->first + node->n; i++) {
    uint32_t c = t->order[i];
    if (t->loss[c] > node->most_loss) node->most_loss = t->loss[c];
    if (t->n_rows[c] < node->least_rows) node->least_rows = t->n_rows[c];
    for (size_t q = 0; q < t->axes->n; q++) {
      shoal_span span = extent_of(t, c)[q];
      if (span.lo > bounds[q].lo) bounds[q].lo = span.lo;
      if (span.hi < bounds[q].hi) bounds[q].hi = span.hi;
    }
  }
}

/* Nodes follow their parents, so that a walk through them builds the tree. */
static void build(shoal_nearest *t, keyed *sorted) {
  for (uint32_t at = 0; at < t->n_nodes; at++) {
    shoal_near_node *node = &t->nodes[at];
    bound(t, at);
    if (node->n <= LEAF) continue;
    size_t q = widest_axis(t, node);
    for (uint32_t i = 0; i < node->n; i++) {
      uint32_t c = t->order[node->first + i];
      sorted[i] = (keyed){middle_of(extent_of(t, c)[q]), c};
    }
    qsort(sorted, node->n, sizeof *sorted, by_middle);
    for (uint32_t i = 0; i < node->n; i++) t->order[node->first + i] = sorted[i].c;
    uint32_t half = node->n / 2;
    node->children = t->n_nodes;
    t->nodes[t->n_nodes++] = (shoal_near_node){.first = node->first, .n = half};
    t->nodes[t->n_nodes++] = (shoal_near_node){.first = node->first + half, .n = node->n - half};
  }
}

shoal_status shoal_nearest_init(shoal_nearest *t, const shoal_axes *axes, const shoal_span *extents,
                                const uint64_t *n_rows, uint32_t n, shoal_error *error) {
  size_t most_nodes = (size_t)n / 2 + 1; /* halves of more than LEAF have more than LEAF / 2 */
  *t = (shoal_nearest){.axes = axes,
                       .extents = extents,
                       .n_rows = n_rows,
                       .order = shoal_alloc(n, sizeof *t->order),
                       .loss = shoal_alloc(n, sizeof *t->loss),
                       .nodes = shoal_alloc_zero(most_nodes, sizeof *t->nodes),
                       .bounds = shoal_alloc(most_nodes * axes->n, sizeof *t->bounds)};
  keyed *sorted = shoal_alloc(n, sizeof *sorted);
  bool ok = t->order && t->loss && t->nodes && t->bounds && sorted;
  for (uint32_t c = 0; ok && c < n; c++) {
    t->order[c] = c;
    t->loss[c] = shoal_extent_loss(axes, extents + (size_t)c * axes->n);
  }
  if (ok) {
    t->nodes[0] = (shoal_near_node){.first = 0, .n = n};
    t->n_nodes = 1;
    build(t, sorted);
  }
  free(sorted);
  if (ok) return SHOAL_OK;
  shoal_nearest_reset(t);
  return shoal_fail_memory(error);
}

/* ------------------------------------------------------------ questions */

typedef struct question {
  const shoal_nearest *t;
  uint32_t c;
  const uint8_t *left_out;
  uint64_t least;
  uint32_t found;
} question;

/* What a row loses in a class that covers `extent` and, on each axis, a span around `other`. */
static uint32_t loss_around(const shoal_axes *axes, const shoal_span *extent,
                            const shoal_span *other) {
  uint32_t loss = 0;
  for (size_t q = 0; q < axes->n; q++) {
    uint32_t lo = other[q].lo < extent[q].lo ? other[q].lo : extent[q].lo;
    uint32_t hi = other[q].hi > extent[q].hi ? other[q].hi : extent[q].hi;
    loss += shoal_axis_loss(&axes->items[q], lo, hi);
  }
  return loss;
}

uint64_t shoal_nearest_cost(const shoal_nearest *t, uint32_t a, uint32_t b) {
  uint64_t together = loss_around(t->axes, extent_of(t, a), extent_of(t, b));
  return t->n_rows[a] * (together - t->loss[a]) + t->n_rows[b] * (together - t->loss[b]);
}

/* No class below a node costs less. */
static uint64_t least_cost(const question *ask, uint32_t at) {
  const shoal_nearest *t = ask->t;
  const shoal_near_node *node = &t->nodes[at];
  uint64_t together =
      loss_around(t->axes, extent_of(t, ask->c), t->bounds + (size_t)at * t->axes->n);
  uint64_t cost = t->n_rows[ask->c] * (together - t->loss[ask->c]);
  return together > node->most_loss ? cost + node->least_rows * (together - node->most_loss) : cost;
}

static void look_below(question *ask, uint32_t at) {
  const shoal_nearest *t = ask->t;
  const shoal_near_node *node = &t->nodes[at];
  if (node->children) {
    uint64_t left = least_cost(ask, node->children), right = least_cost(ask, node->children + 1);
    bool swap = right < left;
    if ((swap ? right : left) <= ask->least) look_below(ask, node->children + swap);
    if ((swap ? left : right) <= ask->least) look_below(ask, node->children + !swap);
    return;
  }
  for (uint32_t i = node->first; i < node->first + node->n; i++) {
    uint32_t other = t->order[i];
    if (other == ask->c || (ask->left_out && ask->left_out[other])) continue;
    uint64_t cost = shoal_nearest_cost(t, ask->c, other);
    if (cost > ask->least || (cost == ask->least && other > ask->found)) continue;
    ask->least = cost;
    ask->found = other;
  }
}

uint32_t shoal_nearest_find(const shoal_nearest *t, uint32_t c, const uint8_t *left_out) {
  question ask = {
      .t = t, .c = c, .left_out = left_out, .least = UINT64_MAX, .found = SHOAL_NO_CLASS};
  look_below(&ask, 0);
  return ask.found;
}
