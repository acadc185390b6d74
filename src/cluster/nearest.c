/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/nearest: builds the tree, searches it best first, and removes rows from it. */
#include "cluster/nearest.h"

#include "base/sort.h"

enum { LEAF = 4 }; /* maximum number of items */

void shoal_nearest_reset(shoal_nearest *t) {
  shoal_arena_reset(&t->arena);
  t->nodes = NULL;
}

static const shoal_span *box_of(const shoal_nearest *t, uint32_t c) {
  return t->boxes + (size_t)c * t->axes->n_spans;
}

static shoal_span *bounds_of(const shoal_nearest *t, uint32_t at) {
  return t->bounds + (size_t)at * t->axes->n_spans;
}

static shoal_span span_of(const shoal_nearest *t, uint32_t item, size_t q) {
  if (t->boxes) return box_of(t, item)[q];
  uint32_t position = shoal_axes_row(t->axes, item)[q];
  return (shoal_span){position, position};
}

static uint32_t middle_of(const shoal_nearest *t, uint32_t item, size_t q) {
  shoal_span span = span_of(t, item, q);
  return span.lo + (span.hi - span.lo) / 2;
}

/* ------------------------------------------------------------ the tree */

/* The axis with the largest loss between the middles of a node's items. */
static size_t widest_axis(const shoal_nearest *t, const shoal_near_node *node) {
  size_t widest = 0;
  uint32_t most = 0;
  for (size_t q = 0; q < t->axes->n; q++) {
    shoal_span covers = {UINT32_MAX, 0};
    for (uint32_t i = node->first; i < node->first + node->n; i++) {
      uint32_t middle = middle_of(t, t->order[i], q);
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

/* Keeps the values of a set axis that the item has too. */
static void narrow_set(const shoal_nearest *t, const shoal_axis *axis, size_t q, uint32_t item,
                       shoal_span *bounds) {
  uint32_t alone[] = {1, span_of(t, item, q).lo};
  const uint32_t *own = t->boxes ? shoal_box_set_const(axis, box_of(t, item)) : alone;
  shoal_set_intersect(shoal_box_set(axis, bounds), own);
}

static void bound(const shoal_nearest *t, uint32_t at) {
  shoal_near_node *node = &t->nodes[at];
  shoal_span *bounds = bounds_of(t, at);
  const uint32_t *items = t->order + node->first;
  node->min_rows = UINT64_MAX;
  node->lowest = SHOAL_NONE;
  for (uint32_t i = 0; i < node->n; i++) {
    uint32_t item = items[i];
    if (item < node->lowest) node->lowest = item;
    if (!t->boxes) continue;
    if (t->loss[item] > node->max_loss) node->max_loss = t->loss[item];
    if (t->n_rows[item] < node->min_rows) node->min_rows = t->n_rows[item];
  }
  for (size_t q = 0; q < t->axes->n; q++) {
    const shoal_axis *axis = &t->axes->items[q];
    bounds[q] = (shoal_span){0, UINT32_MAX};
    if (axis->kind == SHOAL_AXIS_SET) shoal_box_set(axis, bounds)[0] = SHOAL_MAX_SET + 1;
    for (uint32_t i = 0; i < node->n; i++) {
      shoal_span span = span_of(t, items[i], q);
      if (span.lo > bounds[q].lo) bounds[q].lo = span.lo;
      if (span.hi < bounds[q].hi) bounds[q].hi = span.hi;
      if (axis->kind == SHOAL_AXIS_SET) narrow_set(t, axis, q, items[i], bounds);
    }
  }
}

/*
 * Where to divide n sorted keys: between two middles, as near to half as possible, so that few
 * items on both sides have equal ones. Both sides have at least LEAF / 2 items.
 */
static uint32_t divide_at(const uint64_t *keys, uint32_t n) {
  for (uint32_t low = n / 2, high = low; low >= LEAF / 2; low--, high++) {
    if (keys[low - 1] >> 32 != keys[low] >> 32) return low;
    if (n - high >= LEAF / 2 && keys[high - 1] >> 32 != keys[high] >> 32) return high;
  }
  return n / 2;
}

/* Children come after their parents, so one pass builds the tree. `keys`: one per item. */
static void build(shoal_nearest *t, uint64_t *keys) {
  for (uint32_t at = 0; at < t->n_nodes; at++) {
    shoal_near_node *node = &t->nodes[at];
    uint32_t *items = t->order + node->first;
    bound(t, at);
    if (node->n <= LEAF) {
      for (uint32_t i = 0; i < node->n; i++) t->leaf_of[items[i]] = at;
      continue;
    }
    size_t q = widest_axis(t, node);
    for (uint32_t i = 0; i < node->n; i++)
      keys[i] = (uint64_t)middle_of(t, items[i], q) << 32 | items[i];
    shoal_sort_u64(keys, node->n);
    for (uint32_t i = 0; i < node->n; i++) items[i] = (uint32_t)keys[i];
    uint32_t left = divide_at(keys, node->n);
    node->children = t->n_nodes;
    t->nodes[t->n_nodes++] = (shoal_near_node){.first = node->first, .n = left, .parent = at};
    t->nodes[t->n_nodes++] =
        (shoal_near_node){.first = node->first + left, .n = node->n - left, .parent = at};
  }
}

/* One root for each key; key_of NULL: all items have key 0. */
static shoal_status init(shoal_nearest *t, uint32_t n, const uint32_t *key_of, uint32_t n_keys,
                         shoal_error *error) {
  size_t max_nodes = (size_t)n * 4 / LEAF + n_keys; /* children have at least LEAF / 2 items */
  uint64_t *keys;
  uint32_t *first;
  if (!SHOAL_ARENA_ARRAY(&t->arena, keys, n) || !SHOAL_ARENA_ARRAY(&t->arena, t->order, n) ||
      !SHOAL_ARENA_ZEROED(&t->arena, t->leaf_of, n) ||
      !SHOAL_ARENA_ARRAY(&t->arena, t->loss, t->boxes ? n : 0) ||
      !SHOAL_ARENA_ARRAY(&t->arena, first, (size_t)n_keys + 1) ||
      !SHOAL_ARENA_ARRAY(&t->arena, t->nodes, max_nodes) ||
      !SHOAL_ARENA_ARRAY(&t->arena, t->bounds, max_nodes * t->axes->n_spans)) {
    shoal_nearest_reset(t);
    return shoal_fail_memory(error);
  }
  for (uint32_t c = 0; t->boxes && c < n; c++) t->loss[c] = shoal_box_loss(t->axes, box_of(t, c));
  shoal_sort_by_group(NULL, n, key_of ? key_of : t->leaf_of, n_keys, first, t->order);
  for (uint32_t key = 0; key < n_keys; key++)
    t->nodes[key] = (shoal_near_node){
        .first = first[key], .n = first[key + 1] - first[key], .parent = SHOAL_NONE};
  t->n_nodes = n_keys;
  build(t, keys);
  return SHOAL_OK;
}

shoal_status shoal_nearest_init(shoal_nearest *t, const shoal_axes *axes, const shoal_span *boxes,
                                const uint64_t *n_rows, uint32_t n, shoal_error *error) {
  *t = (shoal_nearest){.axes = axes, .boxes = boxes, .n_rows = n_rows};
  return init(t, n, NULL, 1, error);
}

shoal_status shoal_nearest_init_rows(shoal_nearest *t, const shoal_axes *axes,
                                     const uint32_t *key_of_row, uint32_t n_keys,
                                     const uint8_t *is_free, shoal_error *error) {
  *t = (shoal_nearest){.axes = axes, .is_free = is_free};
  return init(t, (uint32_t)axes->n_rows, key_of_row, n_keys, error);
}

/* ------------------------------------------------------------ queries */

typedef struct query {
  const shoal_nearest *t;
  const shoal_span *box;
  bool far;                /* for the row of the largest loss */
  uint32_t c;              /* classes: the one whose box it is */
  const uint8_t *excluded; /* by class, or NULL */
  uint64_t least;          /* cost of the best item so far */
  uint32_t found;
} query;

/* The loss of a row in the box; at least ask->least if the search is not for the furthest. */
static uint32_t row_loss(const query *ask, uint32_t row) {
  const shoal_axes *axes = ask->t->axes;
  const uint32_t *positions = shoal_axes_row(axes, row);
  uint64_t limit = ask->far ? UINT64_MAX : ask->least;
  uint32_t loss = 0;
  for (size_t q = 0; q < axes->n && loss <= limit; q++)
    loss += shoal_box_axis_loss_with(&axes->items[q], ask->box, q, positions[q]);
  return loss;
}

/* The cost of a loss: the lower, the better. */
static uint64_t row_cost(const query *ask, uint32_t loss) {
  return ask->far ? SHOAL_MAX_LOSS - loss : loss;
}

static uint64_t cost_of(const query *ask, uint32_t item) {
  const shoal_nearest *t = ask->t;
  if (!t->boxes) return row_cost(ask, row_loss(ask, item));
  uint64_t joined = shoal_box_loss_joined(t->axes, ask->box, box_of(t, item));
  return t->n_rows[ask->c] * (joined - t->loss[ask->c]) +
         t->n_rows[item] * (joined - t->loss[item]);
}

/* The most that a row at a single position loses with a row below a node. */
static uint32_t max_pair_loss(const query *ask, const shoal_span *bounds) {
  uint32_t loss = 0;
  for (size_t q = 0; q < ask->t->axes->n; q++) {
    const shoal_axis *axis = &ask->t->axes->items[q];
    uint32_t own = ask->box[q].lo, lowest = bounds[q].hi, highest = bounds[q].lo;
    if (axis->kind == SHOAL_AXIS_SET) {
      loss += shoal_set_axis_loss(axis, own == lowest && own == highest ? 1 : 2);
      continue;
    }
    uint32_t down = shoal_axis_loss(axis, lowest < own ? lowest : own, own);
    uint32_t up = shoal_axis_loss(axis, own, highest > own ? highest : own);
    loss += down > up ? down : up;
  }
  return loss;
}

/* A lower bound on the cost of the items below a node. */
static uint64_t min_cost(const query *ask, uint32_t at) {
  const shoal_nearest *t = ask->t;
  const shoal_near_node *node = &t->nodes[at];
  if (ask->far) return row_cost(ask, max_pair_loss(ask, bounds_of(t, at)));
  uint64_t joined = shoal_box_loss_joined(t->axes, ask->box, bounds_of(t, at));
  if (!t->boxes) return joined;
  uint64_t cost = t->n_rows[ask->c] * (joined - t->loss[ask->c]);
  return joined > node->max_loss ? cost + node->min_rows * (joined - node->max_loss) : cost;
}

static bool may_improve(const query *ask, uint64_t cost, uint32_t lowest) {
  return cost < ask->least || (cost == ask->least && lowest < ask->found);
}

static void search_below(query *ask, uint32_t at) {
  const shoal_nearest *t = ask->t;
  const shoal_near_node *node = &t->nodes[at];
  if (node->children) {
    uint64_t cost[2];
    for (uint32_t side = 0; side < 2; side++) {
      bool any = t->nodes[node->children + side].lowest != SHOAL_NONE;
      cost[side] = any ? min_cost(ask, node->children + side) : UINT64_MAX;
    }
    uint32_t better = cost[1] < cost[0];
    for (uint32_t i = 0; i < 2; i++) {
      uint32_t side = better ^ i, child = node->children + side;
      if (may_improve(ask, cost[side], t->nodes[child].lowest)) search_below(ask, child);
    }
    return;
  }
  for (uint32_t i = node->first; i < node->first + node->n; i++) {
    uint32_t item = t->order[i];
    if (t->boxes ? item == ask->c || (ask->excluded && ask->excluded[item]) : !t->is_free[item])
      continue;
    uint64_t cost = cost_of(ask, item);
    if (!may_improve(ask, cost, item)) continue;
    ask->least = cost;
    ask->found = item;
  }
}

uint32_t shoal_nearest_class(const shoal_nearest *t, uint32_t c, const uint8_t *excluded) {
  query ask = {.t = t, .box = box_of(t, c), .c = c, .excluded = excluded, .least = UINT64_MAX};
  ask.found = SHOAL_NONE;
  search_below(&ask, 0);
  return ask.found;
}

void shoal_nearest_row(const shoal_nearest *t, uint32_t key, const shoal_span *box,
                       shoal_found *found) {
  query ask = {.t = t, .box = box, .least = found->loss, .found = found->row};
  if (t->nodes[key].lowest == SHOAL_NONE) return;
  if (may_improve(&ask, min_cost(&ask, key), t->nodes[key].lowest)) search_below(&ask, key);
  *found = (shoal_found){ask.least, ask.found};
}

uint32_t shoal_nearest_furthest(const shoal_nearest *t, uint32_t row, shoal_span *box) {
  query ask = {.t = t, .box = box, .far = true, .least = UINT64_MAX, .found = SHOAL_NONE};
  shoal_box_start(t->axes, box, shoal_axes_row(t->axes, row));
  search_below(&ask, 0);
  return ask.found;
}

/* ------------------------------------------------------------ taking and putting rows */

void shoal_nearest_take(shoal_nearest *t, uint32_t row) {
  uint32_t at = t->leaf_of[row], lowest = SHOAL_NONE;
  const uint32_t *items = t->order + t->nodes[at].first;
  for (uint32_t i = 0; i < t->nodes[at].n; i++)
    if (t->is_free[items[i]] && items[i] < lowest) lowest = items[i];
  while (at != SHOAL_NONE && t->nodes[at].lowest == row) {
    t->nodes[at].lowest = lowest;
    at = t->nodes[at].parent;
    if (at == SHOAL_NONE) break;
    const shoal_near_node *child = &t->nodes[t->nodes[at].children];
    lowest = child[0].lowest < child[1].lowest ? child[0].lowest : child[1].lowest;
  }
}

void shoal_nearest_put(shoal_nearest *t, uint32_t row) {
  for (uint32_t at = t->leaf_of[row]; at != SHOAL_NONE && row < t->nodes[at].lowest;
       at = t->nodes[at].parent)
    t->nodes[at].lowest = row;
}
