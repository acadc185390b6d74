/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/minimal: all minimal nodes (Samarati 2001, Definition 4.3; Truta & Vinay 2006,
 * Definition 3), and every node with its figures. Minimal means: it satisfies, and no node
 * strictly below does, whatever the demands (docs/reading-the-papers.md R2, R4).
 */
#include <stdlib.h>

#include "lattice/lattice.h"

/* ------------------------------------------------------------ monotone demands */

/* After it, every node from that height on is tagged. */
static shoal_status tag_all(shoal_search *search, uint32_t from_height, uint32_t *levels,
                            shoal_error *error) {
  const shoal_space *space = &search->space;
  for (uint32_t height = from_height; height <= space->height; height++) {
    for (bool more = shoal_space_first(space, height, levels); more;
         more = shoal_space_next(space, levels)) {
      bool satisfies;
      SHOAL_TRY(shoal_search_settle(search, shoal_space_node(space, levels), &satisfies, error));
    }
  }
  return SHOAL_OK;
}

static bool is_lowest_good(const shoal_search *search, uint64_t node) {
  const shoal_space *space = &search->space;
  if (search->tags[node] != SHOAL_TAG_GOOD) return false;
  for (size_t q = 0; q < space->n; q++) {
    uint64_t level = node / space->stride[q] % ((uint64_t)space->top[q] + 1);
    if (level > 0 && search->tags[node - space->stride[q]] == SHOAL_TAG_GOOD) return false;
  }
  return true;
}

static shoal_status collect_tagged(shoal_search *search, uint32_t from_height, uint32_t *levels,
                                   shoal_node_list *minimal, shoal_error *error) {
  shoal_status status = tag_all(search, from_height, levels, error);
  for (uint64_t node = 0; status == SHOAL_OK && node < search->space.n_nodes; node++) {
    shoal_node found = {.number = node};
    if (is_lowest_good(search, node) && !shoal_node_list_add(minimal, &found))
      status = shoal_fail_memory(error);
  }
  return status;
}

/* ------------------------------------------------------------ other demands */

static bool above_some(const shoal_space *space, const shoal_node_list *minimal, uint64_t node) {
  for (size_t i = 0; i < minimal->n_items; i++)
    if (shoal_space_below(space, minimal->items[i].number, node)) return true;
  return false;
}

/*
 * Heights from the bottom up: a node that is not above a minimal one and satisfies is minimal, for
 * all nodes below it have been looked at.
 */
static shoal_status collect_untagged(shoal_search *search, uint32_t from_height, uint32_t *levels,
                                     shoal_node_list *minimal, shoal_error *error) {
  const shoal_space *space = &search->space;
  for (uint32_t height = from_height; height <= space->height; height++) {
    for (bool more = shoal_space_first(space, height, levels); more;
         more = shoal_space_next(space, levels)) {
      uint64_t node = shoal_space_node(space, levels);
      bool satisfies = false;
      if (!above_some(space, minimal, node))
        SHOAL_TRY(shoal_search_satisfies(search, node, &satisfies, error));
      shoal_node found = {.number = node};
      if (satisfies && !shoal_node_list_add(minimal, &found)) return shoal_fail_memory(error);
    }
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ all minimal nodes */

static int by_number(const void *a, const void *b) {
  uint64_t x = ((const shoal_node *)a)->number, y = ((const shoal_node *)b)->number;
  return (x > y) - (x < y);
}

shoal_status shoal_search_minimal(shoal_search *search, uint32_t from_height,
                                  shoal_node_list *minimal, shoal_error *error) {
  SHOAL_TRY(shoal_search_refuse_vast(search, error));
  uint32_t *levels = shoal_alloc(search->space.n, sizeof *levels);
  if (!levels) return shoal_fail_memory(error);
  shoal_status status = search->tags
                            ? collect_tagged(search, from_height, levels, minimal, error)
                            : collect_untagged(search, from_height, levels, minimal, error);
  free(levels);
  SHOAL_TRY(status);
  if (minimal->n_items > 1)
    qsort(minimal->items, minimal->n_items, sizeof *minimal->items, by_number);
  for (size_t i = 0; i < minimal->n_items; i++) {
    SHOAL_TRY(shoal_search_measure(search, minimal->items[i].number, &minimal->items[i], error));
    minimal->items[i].minimal = true;
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ every node */

static shoal_status measure_all(shoal_search *search, uint32_t *levels, shoal_node *nodes,
                                shoal_error *error) {
  const shoal_space *space = &search->space;
  for (uint32_t height = 0; height <= space->height; height++) {
    for (bool more = shoal_space_first(space, height, levels); more;
         more = shoal_space_next(space, levels)) {
      uint64_t node = shoal_space_node(space, levels);
      SHOAL_TRY(shoal_search_measure(search, node, &nodes[node], error));
    }
  }
  return SHOAL_OK;
}

/* reaches[node]: the node or one below it satisfies. Predecessors have smaller numbers. */
static void mark_minimal(const shoal_space *space, shoal_node *nodes, uint8_t *reaches) {
  for (uint64_t node = 0; node < space->n_nodes; node++) {
    bool below = false;
    uint64_t rest = node;
    for (size_t q = 0; q < space->n; q++) {
      bool can_step = rest / space->stride[q] > 0;
      rest %= space->stride[q];
      if (can_step && reaches[node - space->stride[q]]) below = true;
    }
    nodes[node].minimal = nodes[node].satisfies && !below;
    reaches[node] = nodes[node].satisfies || below;
  }
}

shoal_status shoal_search_all(shoal_search *search, shoal_node_list *nodes, shoal_error *error) {
  SHOAL_TRY(shoal_search_refuse_vast(search, error));
  size_t n = (size_t)search->space.n_nodes;
  if (!shoal_grow(&nodes->items, &nodes->capacity, n, sizeof *nodes->items))
    return shoal_fail_memory(error);
  uint32_t *levels = shoal_alloc(search->space.n, sizeof *levels);
  uint8_t *reaches = shoal_alloc(n, 1);
  shoal_status status = levels && reaches ? measure_all(search, levels, nodes->items, error)
                                          : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    nodes->n_items = n;
    mark_minimal(&search->space, nodes->items, reaches);
  }
  free(levels);
  free(reaches);
  return status;
}
