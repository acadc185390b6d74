/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/row_tree: a trie of sorted rows, searched depth first with bounds on the loss. */
#include "cluster/row_tree.h"

#include <stdlib.h>
#include <string.h>

void shoal_row_tree_reset(shoal_row_tree *tree) {
  shoal_arena_reset(&tree->arena);
  tree->nodes = NULL;
}

/* ------------------------------------------------------------ building */

/* Axes with few positions come first: fewer nodes at the top. */
static void order_axes(shoal_row_tree *tree) {
  const shoal_axis *items = tree->axes->items;
  for (size_t q = 0; q < tree->axes->n; q++) {
    size_t at = q;
    for (; at && items[tree->axis_at[at - 1]].n_positions > items[q].n_positions; at--)
      tree->axis_at[at] = tree->axis_at[at - 1];
    tree->axis_at[at] = (uint32_t)q;
  }
}

/* Depth 0 is the key, depth d + 1 the axis axis_at[d]. */
static uint32_t value_at(const shoal_row_tree *tree, size_t depth, uint32_t row) {
  if (depth) return shoal_axes_row(tree->axes, row)[tree->axis_at[depth - 1]];
  return tree->key_of_row ? tree->key_of_row[row] : 0;
}

/* Sorts by all depths, the last first; equal rows stay ascending. `scratch` has n_rows entries. */
static bool sort_rows(shoal_row_tree *tree, uint32_t *scratch) {
  uint32_t n = (uint32_t)tree->axes->n_rows;
  uint64_t *keys = shoal_alloc(n, sizeof *keys);
  for (uint32_t row = 0; row < n; row++) tree->sorted[row] = row;
  for (size_t depth = tree->axes->n + 1; keys && depth-- > 0;) {
    for (uint32_t i = 0; i < n; i++)
      keys[i] = (uint64_t)value_at(tree, depth, tree->sorted[i]) << 32 | i;
    shoal_sort_items(tree->sorted, keys, scratch, n);
  }
  free(keys);
  return keys;
}

/* The first depth at which a sorted row differs from its predecessor; one past the last: none. */
static size_t first_difference(const shoal_row_tree *tree, uint32_t i) {
  size_t depth = 0;
  while (i && depth <= tree->axes->n &&
         value_at(tree, depth, tree->sorted[i]) == value_at(tree, depth, tree->sorted[i - 1]))
    depth++;
  return depth;
}

/* start[d]: index of the first node of depth d; one entry more than depths. */
static bool count_nodes(const shoal_row_tree *tree, size_t *start) {
  size_t n_depths = tree->axes->n + 1;
  for (uint32_t i = 0; i < tree->axes->n_rows; i++)
    for (size_t d = first_difference(tree, i); d < n_depths; d++) start[d + 1]++;
  for (size_t d = 0; d < n_depths; d++) start[d + 1] += start[d];
  return start[n_depths] < SHOAL_NONE;
}

/* One node per distinct prefix; next[d]: index of the next node of depth d. */
static void fill_nodes(shoal_row_tree *tree, size_t *next) {
  size_t last = tree->axes->n;
  for (uint32_t i = 0; i < tree->axes->n_rows; i++) {
    uint32_t row = tree->sorted[i];
    for (size_t d = first_difference(tree, i); d <= last; d++) {
      uint32_t parent = d ? (uint32_t)(next[d - 1] - 1) : SHOAL_NONE, self = (uint32_t)next[d]++;
      tree->nodes[self] = (shoal_row_node){
          .position = value_at(tree, d, row), .lowest = row, .first = i, .parent = parent};
      if (d && !tree->nodes[parent].n++) tree->nodes[parent].first = self;
    }
    tree->leaf_of[row] = (uint32_t)(next[last] - 1);
    tree->nodes[tree->leaf_of[row]].n++;
    for (size_t d = 0; d <= last; d++)
      if (row < tree->nodes[next[d] - 1].lowest) tree->nodes[next[d] - 1].lowest = row;
  }
}

static bool build(shoal_row_tree *tree) {
  size_t n_depths = tree->axes->n + 1;
  order_axes(tree);
  if (!sort_rows(tree, tree->leaf_of)) return false;
  size_t *start = shoal_alloc_zero(n_depths + 1, sizeof *start);
  if (start && count_nodes(tree, start))
    tree->nodes = shoal_arena_alloc(&tree->arena, start[n_depths], sizeof *tree->nodes);
  if (start && tree->nodes) fill_nodes(tree, start);
  free(start);
  return tree->nodes;
}

shoal_status shoal_row_tree_init(shoal_row_tree *tree, const shoal_axes *axes,
                                 const uint32_t *key_of_row, const uint8_t *is_free,
                                 shoal_error *error) {
  *tree = (shoal_row_tree){.axes = axes, .is_free = is_free, .key_of_row = key_of_row};
  size_t n_rows = (size_t)axes->n_rows;
  if (SHOAL_ARENA_ARRAY(&tree->arena, tree->axis_at, axes->n) &&
      SHOAL_ARENA_ARRAY(&tree->arena, tree->sorted, n_rows) &&
      SHOAL_ARENA_ARRAY(&tree->arena, tree->leaf_of, n_rows) &&
      SHOAL_ARENA_ARRAY(&tree->arena, tree->loss_now, axes->n) &&
      SHOAL_ARENA_ARRAY(&tree->arena, tree->loss_below, axes->n + 1) &&
      SHOAL_ARENA_ARRAY(&tree->arena, tree->point, axes->n_spans) && build(tree)) {
    tree->loss_below[axes->n] = 0;
    return SHOAL_OK;
  }
  shoal_row_tree_reset(tree);
  return shoal_fail_memory(error);
}

/* ------------------------------------------------------------ taking and putting rows */

/* The next free row of a leaf after `row`. */
static uint32_t next_free(const shoal_row_tree *tree, const shoal_row_node *leaf, uint32_t row) {
  const uint32_t *rows = tree->sorted + leaf->first;
  uint32_t low = 0, high = leaf->n; /* the first of `rows` above `row` is in low .. high */
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (rows[middle] <= row) low = middle + 1;
    else high = middle;
  }
  while (low < leaf->n && !tree->is_free[rows[low]]) low++;
  return low < leaf->n ? rows[low] : SHOAL_NONE;
}

void shoal_row_tree_take(shoal_row_tree *tree, uint32_t row) {
  shoal_row_node *node = &tree->nodes[tree->leaf_of[row]];
  if (node->lowest != row) return;
  node->lowest = next_free(tree, node, row);
  while (node->parent != SHOAL_NONE && tree->nodes[node->parent].lowest == row) {
    node = &tree->nodes[node->parent];
    const shoal_row_node *child = &tree->nodes[node->first];
    node->lowest = SHOAL_NONE;
    for (uint32_t i = 0; i < node->n; i++)
      if (child[i].lowest < node->lowest) node->lowest = child[i].lowest;
  }
}

void shoal_row_tree_put(shoal_row_tree *tree, uint32_t row) {
  for (uint32_t at = tree->leaf_of[row]; at != SHOAL_NONE && row < tree->nodes[at].lowest;
       at = tree->nodes[at].parent)
    tree->nodes[at].lowest = row;
}

/* ------------------------------------------------------------ queries */

static void search_below(const shoal_row_tree *tree, const shoal_row_node *node, size_t depth,
                         uint32_t lost, shoal_found *found);

/* `lost`: loss on the axes down to the node's, which has `depth`. */
static void offer(const shoal_row_tree *tree, const shoal_row_node *node, size_t depth,
                  uint32_t lost, shoal_found *found) {
  uint32_t bound = lost + tree->loss_below[depth];
  if (node->lowest == SHOAL_NONE) return;
  if (tree->far ? bound < found->loss : bound > found->loss) return;
  if (bound == found->loss && node->lowest >= found->row) return;
  if (depth == tree->axes->n) *found = (shoal_found){bound, node->lowest};
  else search_below(tree, node, depth, lost, found);
}

/* The number of children below the position. */
static uint32_t children_below(const shoal_row_node *child, uint32_t n, uint32_t position) {
  uint32_t low = 0, high = n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (child[middle].position < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

static bool is_child(const shoal_row_node *child, uint32_t n, uint32_t at, uint32_t position) {
  return at < n && child[at].position == position;
}

/* Sets, the nearest: the values of the set first. The others lose alike. */
static void nearest_of_set(const shoal_row_tree *tree, const shoal_row_node *node, size_t depth,
                           uint32_t lost, shoal_found *found) {
  const shoal_axis *axis = &tree->axes->items[tree->axis_at[depth]];
  const shoal_row_node *child = &tree->nodes[node->first];
  const uint32_t *set = shoal_box_set_const(axis, tree->query);
  uint32_t now = lost + tree->loss_now[depth], next = 1;
  for (uint32_t i = 1; i <= set[0] && i <= SHOAL_MAX_SET; i++) {
    uint32_t at = children_below(child, node->n, set[i]);
    if (is_child(child, node->n, at, set[i])) offer(tree, &child[at], depth + 1, now, found);
  }
  uint32_t loss = lost + shoal_set_axis_loss(axis, set[0] + 1);
  for (uint32_t i = 0; i < node->n; i++) {
    if (loss + tree->loss_below[depth + 1] > found->loss) return;
    while (next <= set[0] && next <= SHOAL_MAX_SET && set[next] < child[i].position) next++;
    if (next <= set[0] && next <= SHOAL_MAX_SET && set[next] == child[i].position) continue;
    offer(tree, &child[i], depth + 1, loss, found);
  }
}

/* Sets, the furthest: any other value, then the same one. */
static void furthest_of_set(const shoal_row_tree *tree, const shoal_row_node *node, size_t depth,
                            uint32_t lost, shoal_found *found) {
  const shoal_row_node *child = &tree->nodes[node->first];
  const uint32_t position = tree->query[tree->axis_at[depth]].lo;
  uint32_t at = children_below(child, node->n, position);
  for (uint32_t i = 0; i < node->n; i++)
    if (child[i].position != position)
      offer(tree, &child[i], depth + 1, lost + tree->loss_now[depth], found);
  if (is_child(child, node->n, at, position)) offer(tree, &child[at], depth + 1, lost, found);
}

/* The children inside the span first, then outwards on both sides: losses grow that way. */
static void nearest_below(const shoal_row_tree *tree, const shoal_row_node *node, size_t depth,
                          uint32_t lost, shoal_found *found) {
  const shoal_axis *axis = &tree->axes->items[tree->axis_at[depth]];
  const shoal_span span = tree->query[tree->axis_at[depth]];
  const shoal_row_node *child = &tree->nodes[node->first];
  uint32_t below = children_below(child, node->n, span.lo), above = below;
  for (; above < node->n && child[above].position <= span.hi; above++)
    offer(tree, &child[above], depth + 1, lost + tree->loss_now[depth], found);
  for (;;) {
    while (below && child[below - 1].lowest == SHOAL_NONE) below--;
    while (above < node->n && child[above].lowest == SHOAL_NONE) above++;
    if (!below && above == node->n) return;
    uint32_t down = below ? shoal_axis_loss(axis, child[below - 1].position, span.hi) : UINT32_MAX;
    uint32_t up =
        above < node->n ? shoal_axis_loss(axis, span.lo, child[above].position) : UINT32_MAX;
    uint32_t loss = lost + (down <= up ? down : up);
    if (loss + tree->loss_below[depth + 1] > found->loss) return;
    offer(tree, down <= up ? &child[--below] : &child[above++], depth + 1, loss, found);
  }
}

static uint32_t pair_loss(const shoal_axis *axis, uint32_t a, uint32_t b) {
  return a < b ? shoal_axis_loss(axis, a, b) : shoal_axis_loss(axis, b, a);
}

/* From both ends inwards: the child with the largest loss is always at an end. */
static void furthest_below(const shoal_row_tree *tree, const shoal_row_node *node, size_t depth,
                           uint32_t lost, shoal_found *found) {
  const shoal_axis *axis = &tree->axes->items[tree->axis_at[depth]];
  const uint32_t position = tree->query[tree->axis_at[depth]].lo;
  const shoal_row_node *child = &tree->nodes[node->first];
  uint32_t low = 0, high = node->n;
  for (;;) {
    while (low < high && child[low].lowest == SHOAL_NONE) low++;
    while (low < high && child[high - 1].lowest == SHOAL_NONE) high--;
    if (low == high) return;
    uint32_t first = pair_loss(axis, child[low].position, position);
    uint32_t last = pair_loss(axis, child[high - 1].position, position);
    uint32_t loss = lost + (first >= last ? first : last);
    if (loss + tree->loss_below[depth + 1] < found->loss) return;
    offer(tree, first >= last ? &child[low++] : &child[--high], depth + 1, loss, found);
  }
}

static void search_below(const shoal_row_tree *tree, const shoal_row_node *node, size_t depth,
                         uint32_t lost, shoal_found *found) {
  bool set = tree->axes->items[tree->axis_at[depth]].kind == SHOAL_AXIS_SET;
  if (tree->far && set) furthest_of_set(tree, node, depth, lost, found);
  else if (tree->far) furthest_below(tree, node, depth, lost, found);
  else if (set) nearest_of_set(tree, node, depth, lost, found);
  else nearest_below(tree, node, depth, lost, found);
}

/* Bounds on the loss on one axis: at least that of the target, at most that of a pair with an end.
 */
static uint32_t loss_bound(const shoal_row_tree *tree, size_t q) {
  const shoal_axis *axis = &tree->axes->items[q];
  shoal_span query = tree->query[q];
  if (!tree->far) return shoal_box_axis_loss(axis, tree->query, q);
  if (axis->kind == SHOAL_AXIS_SET) return shoal_set_axis_loss(axis, axis->n_positions > 1 ? 2 : 1);
  uint32_t first = shoal_axis_loss(axis, 0, query.lo);
  uint32_t last = shoal_axis_loss(axis, query.lo, axis->n_positions - 1);
  return first > last ? first : last;
}

static void start_query(shoal_row_tree *tree, const shoal_span *box, bool far) {
  tree->query = box;
  tree->far = far;
  for (size_t d = tree->axes->n; d-- > 0;) {
    uint32_t q = tree->axis_at[d];
    tree->loss_now[d] = loss_bound(tree, q);
    tree->loss_below[d] = tree->loss_below[d + 1] + tree->loss_now[d];
  }
}

void shoal_row_tree_query(shoal_row_tree *tree, const shoal_span *box) {
  start_query(tree, box, false);
}

void shoal_row_tree_nearest(const shoal_row_tree *tree, uint32_t key, shoal_found *found) {
  offer(tree, &tree->nodes[key], 0, 0, found);
}

uint32_t shoal_row_tree_furthest(shoal_row_tree *tree, uint32_t row) {
  shoal_found found = {0, SHOAL_NONE};
  shoal_box_start(tree->axes, tree->point, shoal_axes_row(tree->axes, row));
  start_query(tree, tree->point, true);
  offer(tree, &tree->nodes[0], 0, 0, &found);
  return found.row;
}
