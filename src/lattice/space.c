/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/space: numbers, vectors and heights of nodes, and lists of nodes. */
#include <stdlib.h>
#include <string.h>

#include "base/wide.h"
#include "lattice/lattice.h"

/* Do the heights have a common multiple for relative distances? Without limits they always do. */
static bool have_common_height(const shoal_space *space) {
  uint64_t common = 1;
  for (size_t q = 0; q < space->n; q++) {
    uint64_t height = space->full[q] ? space->full[q] : 1;
    if (__builtin_mul_overflow(common / shoal_gcd(common, height), height, &common) ||
        common > INT64_MAX)
      return false;
  }
  return true;
}

shoal_status shoal_space_init(shoal_space *space, const shoal_frequency_set *frequency,
                              shoal_error *error) {
  memset(space, 0, sizeof *space);
  space->n = frequency->n_quasi;
  space->top = shoal_alloc(space->n, sizeof *space->top);
  space->stride = shoal_alloc(space->n, sizeof *space->stride);
  space->inverse = shoal_alloc(space->n, sizeof *space->inverse);
  space->unnumbered = shoal_alloc_zero(space->n, sizeof *space->unnumbered);
  space->bottom = shoal_alloc(space->n, sizeof *space->bottom);
  space->full = shoal_alloc(space->n, sizeof *space->full);
  if (!space->top || !space->stride || !space->inverse || !space->unnumbered || !space->bottom ||
      !space->full) {
    shoal_space_reset(space);
    return shoal_fail_memory(error);
  }
  space->n_nodes = 1;
  for (size_t q = space->n; q-- > 0;) {
    const shoal_hierarchy *hierarchy = frequency->hierarchies[q];
    space->full[q] = shoal_hierarchy_height(hierarchy);
    space->top[q] = hierarchy->max_level;
    space->bottom[q] = hierarchy->min_level;
    space->height += space->top[q];
    space->stride[q] = space->n_nodes;
    space->inverse[q] = space->n_nodes == 1 ? 0 : UINT64_MAX / space->n_nodes + 1;
    uint64_t n_levels = (uint64_t)space->top[q] - space->bottom[q] + 1;
    if (__builtin_mul_overflow(space->n_nodes, n_levels, &space->n_nodes) ||
        space->n_nodes > INT64_MAX) /* JSON reports have signed numbers */
      space->n_nodes = UINT64_MAX;
  }
  if (!have_common_height(space)) space->n_nodes = UINT64_MAX;
  return SHOAL_OK;
}

void shoal_space_reset(shoal_space *space) {
  free(space->top);
  free(space->bottom);
  free(space->full);
  free(space->stride);
  free(space->inverse);
  free(space->unnumbered);
  memset(space, 0, sizeof *space);
}

void shoal_space_levels(const shoal_space *space, uint64_t node, uint32_t *levels) {
  if (space->n_nodes <= UINT32_MAX) { /* for 32 bits, a product with the inverse is exact */
    uint32_t before = 0;
    for (size_t q = 0; q < space->n; q++) {
      uint64_t inverse = space->inverse[q];
      uint32_t quotient =
          inverse ? (uint32_t)((shoal_uint128)node * inverse >> 64) : (uint32_t)node;
      uint32_t bottom = shoal_space_bottom(space, q);
      levels[q] = bottom + quotient - before * (space->top[q] - bottom + 1);
      before = quotient;
    }
    return;
  }
  if (space->n_nodes == UINT64_MAX) {
    memcpy(levels, space->unnumbered, space->n * sizeof *levels);
    return;
  }
  for (size_t q = 0; q < space->n; q++) {
    levels[q] = shoal_space_bottom(space, q) + (uint32_t)(node / space->stride[q]);
    node %= space->stride[q];
  }
}

uint64_t shoal_space_node(const shoal_space *space, const uint32_t *levels) {
  uint64_t node = 0;
  for (size_t q = 0; q < space->n; q++)
    node += space->stride[q] * (levels[q] - shoal_space_bottom(space, q));
  return node;
}

uint32_t shoal_space_height(const shoal_space *space, uint64_t node) {
  uint32_t height = 0;
  for (size_t q = 0; q < space->n; q++) {
    height += shoal_space_bottom(space, q) + (uint32_t)(node / space->stride[q]);
    node %= space->stride[q];
  }
  return height;
}

bool shoal_space_below(const shoal_space *space, uint64_t a, uint64_t b) {
  if (a > b) return false;
  for (size_t q = 0; q < space->n; q++) {
    if (a / space->stride[q] > b / space->stride[q]) return false;
    a %= space->stride[q];
    b %= space->stride[q];
  }
  return true;
}

/* The first vector of that sum on the attributes from `first` on: filled from the right. */
static bool fill_from_right(const shoal_space *space, size_t first, uint32_t sum,
                            uint32_t *levels) {
  for (size_t q = first; q < space->n; q++) {
    levels[q] = shoal_space_bottom(space, q);
    if (levels[q] > sum) return false;
    sum -= levels[q];
  }
  for (size_t q = space->n; q-- > first;) {
    uint32_t room = space->top[q] - levels[q], steps = sum < room ? sum : room;
    levels[q] += steps;
    sum -= steps;
  }
  return sum == 0;
}

bool shoal_space_first(const shoal_space *space, uint32_t height, uint32_t *levels) {
  return fill_from_right(space, 0, height, levels);
}

bool shoal_space_next(const shoal_space *space, uint32_t *levels) {
  uint32_t right = 0, steps = 0; /* sum of the levels after q, and of their steps */
  for (size_t q = space->n; q-- > 0;) {
    if (steps > 0 && levels[q] < space->top[q]) {
      levels[q]++;
      return fill_from_right(space, q + 1, right - 1, levels);
    }
    right += levels[q];
    steps += levels[q] - shoal_space_bottom(space, q);
  }
  return false;
}

bool shoal_node_list_add(shoal_node_list *list, const shoal_node *node) {
  if (!shoal_grow(&list->items, &list->capacity, list->n_items + 1, sizeof *node)) return false;
  list->items[list->n_items++] = *node;
  return true;
}

void shoal_node_list_reset(shoal_node_list *list) {
  free(list->items);
  memset(list, 0, sizeof *list);
}
