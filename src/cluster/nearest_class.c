/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/nearest_class: a k-d tree (Bentley 1975) with bounds at its nodes. */
#include "cluster/nearest_class.h"

#include "base/sort.h"

enum { LEAF = 8 }; /* maximum number of classes */

void shoal_nearest_class_reset(shoal_nearest_class *t) {
  shoal_arena_reset(&t->arena);
  t->nodes = NULL;
}

static const shoal_span *box_of(const shoal_nearest_class *t, uint32_t c) {
  return t->boxes + (size_t)c * t->axes->n_spans;
}

/* ------------------------------------------------------------ the tree */

static uint32_t middle_of(shoal_span span) { return span.lo + (span.hi - span.lo) / 2; }

/* The axis with the largest loss between the middles of a node's classes. */
static size_t widest_axis(const shoal_nearest_class *t, const shoal_near_node *node) {
  size_t widest = 0;
  uint32_t most = 0;
  for (size_t q = 0; q < t->axes->n; q++) {
    shoal_span covers = {UINT32_MAX, 0};
    for (uint32_t i = node->first; i < node->first + node->n; i++) {
      uint32_t middle = middle_of(box_of(t, t->order[i])[q]);
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

static void bound(const shoal_nearest_class *t, uint32_t at) {
  shoal_near_node *node = &t->nodes[at];
  shoal_span *bounds = t->bounds + (size_t)at * t->axes->n_spans;
  node->min_rows = UINT64_MAX;
  for (size_t q = 0; q < t->axes->n; q++) {
    const shoal_axis *axis = &t->axes->items[q];
    bounds[q] = (shoal_span){0, UINT32_MAX};
    if (axis->kind == SHOAL_AXIS_SET) shoal_box_set(axis, bounds)[0] = SHOAL_MAX_SET + 1;
  }
  for (uint32_t i = node->first; i < node->first + node->n; i++) {
    uint32_t c = t->order[i];
    if (t->loss[c] > node->max_loss) node->max_loss = t->loss[c];
    if (t->n_rows[c] < node->min_rows) node->min_rows = t->n_rows[c];
    for (size_t q = 0; q < t->axes->n; q++) {
      shoal_span span = box_of(t, c)[q];
      if (span.lo > bounds[q].lo) bounds[q].lo = span.lo;
      if (span.hi < bounds[q].hi) bounds[q].hi = span.hi;
      const shoal_axis *axis = &t->axes->items[q];
      if (axis->kind == SHOAL_AXIS_SET)
        shoal_set_intersect(shoal_box_set(axis, bounds), shoal_box_set_const(axis, box_of(t, c)));
    }
  }
}

/* Children come after their parents, so one pass builds the tree. `keys`: one per class. */
static void build(shoal_nearest_class *t, uint64_t *keys) {
  for (uint32_t at = 0; at < t->n_nodes; at++) {
    shoal_near_node *node = &t->nodes[at];
    bound(t, at);
    if (node->n <= LEAF) continue;
    uint32_t *order = t->order + node->first, half = node->n / 2;
    size_t q = widest_axis(t, node);
    for (uint32_t i = 0; i < node->n; i++)
      keys[i] = (uint64_t)middle_of(box_of(t, order[i])[q]) << 32 | order[i];
    shoal_sort_u64(keys, node->n);
    for (uint32_t i = 0; i < node->n; i++) order[i] = (uint32_t)keys[i];
    node->children = t->n_nodes;
    t->nodes[t->n_nodes++] = (shoal_near_node){.first = node->first, .n = half};
    t->nodes[t->n_nodes++] = (shoal_near_node){.first = node->first + half, .n = node->n - half};
  }
}

shoal_status shoal_nearest_class_init(shoal_nearest_class *t, const shoal_axes *axes,
                                      const shoal_span *boxes, const uint64_t *n_rows, uint32_t n,
                                      shoal_error *error) {
  size_t max_nodes = (size_t)n / 2 + 1; /* halves of more than LEAF have more than LEAF / 2 */
  *t = (shoal_nearest_class){.axes = axes, .boxes = boxes, .n_rows = n_rows, .n_nodes = 1};
  uint64_t *keys;
  if (!SHOAL_ARENA_ARRAY(&t->arena, keys, n) || !SHOAL_ARENA_ARRAY(&t->arena, t->order, n) ||
      !SHOAL_ARENA_ARRAY(&t->arena, t->loss, n) ||
      !SHOAL_ARENA_ARRAY(&t->arena, t->nodes, max_nodes) ||
      !SHOAL_ARENA_ARRAY(&t->arena, t->bounds, max_nodes * axes->n_spans)) {
    shoal_nearest_class_reset(t);
    return shoal_fail_memory(error);
  }
  for (uint32_t c = 0; c < n; c++) {
    t->order[c] = c;
    t->loss[c] = shoal_box_loss(axes, box_of(t, c));
  }
  t->nodes[0] = (shoal_near_node){.first = 0, .n = n};
  build(t, keys);
  return SHOAL_OK;
}

/* ------------------------------------------------------------ queries */

typedef struct query {
  const shoal_nearest_class *t;
  uint32_t c;
  const uint8_t *excluded;
  uint64_t least;
  uint32_t found;
} query;

/* The increase in loss over all rows of two classes if they become one. */
static uint64_t cost_of(const shoal_nearest_class *t, uint32_t a, uint32_t b) {
  uint64_t joined = shoal_box_loss_joined(t->axes, box_of(t, a), box_of(t, b));
  return t->n_rows[a] * (joined - t->loss[a]) + t->n_rows[b] * (joined - t->loss[b]);
}

/* A lower bound on the cost of the classes below a node. */
static uint64_t min_cost(const query *ask, uint32_t at) {
  const shoal_nearest_class *t = ask->t;
  const shoal_near_node *node = &t->nodes[at];
  uint64_t joined =
      shoal_box_loss_joined(t->axes, box_of(t, ask->c), t->bounds + (size_t)at * t->axes->n_spans);
  uint64_t cost = t->n_rows[ask->c] * (joined - t->loss[ask->c]);
  return joined > node->max_loss ? cost + node->min_rows * (joined - node->max_loss) : cost;
}

static void search_below(query *ask, uint32_t at) {
  const shoal_nearest_class *t = ask->t;
  const shoal_near_node *node = &t->nodes[at];
  if (node->children) {
    uint64_t left = min_cost(ask, node->children), right = min_cost(ask, node->children + 1);
    bool swap = right < left;
    if ((swap ? right : left) <= ask->least) search_below(ask, node->children + swap);
    if ((swap ? left : right) <= ask->least) search_below(ask, node->children + !swap);
    return;
  }
  for (uint32_t i = node->first; i < node->first + node->n; i++) {
    uint32_t other = t->order[i];
    if (other == ask->c || (ask->excluded && ask->excluded[other])) continue;
    uint64_t cost = cost_of(t, ask->c, other);
    if (cost > ask->least || (cost == ask->least && other > ask->found)) continue;
    ask->least = cost;
    ask->found = other;
  }
}

uint32_t shoal_nearest_class_find(const shoal_nearest_class *t, uint32_t c,
                                  const uint8_t *excluded) {
  query ask = {.t = t, .c = c, .excluded = excluded, .least = UINT64_MAX, .found = SHOAL_NONE};
  search_below(&ask, 0);
  return ask.found;
}
