/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/minimal: all minimal nodes (Samarati 2001, Definition 4.3; Truta & Vinay 2006,
 * Definition 3), and every node with its figures. Minimal means: it satisfies, and no node
 * strictly below does, whatever the demands (docs/reading-the-papers.md R2, R4).
 */
#include <stdlib.h>

#include "lattice/known.h"

static int by_number(const void *a, const void *b) {
  uint64_t x = ((const shoal_node *)a)->number, y = ((const shoal_node *)b)->number;
  return (x > y) - (x < y);
}

static bool above_some(const shoal_space *space, const shoal_node_list *minimal, uint64_t node) {
  for (size_t i = 0; i < minimal->n_items; i++)
    if (shoal_space_below(space, minimal->items[i].number, node)) return true;
  return false;
}

/*
 * Heights from the bottom up: a node that is not above a minimal one and satisfies is minimal, for
 * all below it have been looked at. Nodes below one that fails are known to fail where demands are
 * monotone: looking at a height's nodes from above would tell more, but heights must ascend.
 */
static shoal_status collect(shoal_search *search, shoal_known *known, uint32_t from_height,
                            uint32_t *levels, shoal_node_list *minimal, shoal_error *error) {
  const shoal_space *space = &search->space;
  for (uint32_t height = from_height; height <= space->height; height++) {
    bool open = false; /* some node is not above a minimal one */
    size_t before = minimal->n_items;
    for (bool more = shoal_space_first(space, height, levels); more;
         more = shoal_space_next(space, levels)) {
      uint64_t node = shoal_space_node(space, levels);
      if (above_some(space, minimal, node)) continue;
      bool satisfies;
      open = true;
      SHOAL_TRY(shoal_known_decide(known, search, node, &satisfies, error));
      if (!satisfies) continue;
      shoal_node found = {.number = node};
      if (!shoal_node_list_add(minimal, &found)) return shoal_fail_memory(error);
    }
    for (size_t i = before; i < minimal->n_items; i++) {
      SHOAL_TRY(shoal_search_measure(search, minimal->items[i].number, &minimal->items[i], error));
      minimal->items[i].minimal = true;
    }
    if (!open) break;
  }
  return SHOAL_OK;
}

shoal_status shoal_search_minimal(shoal_search *search, uint32_t from_height,
                                  shoal_node_list *minimal, shoal_error *error) {
  shoal_known known;
  shoal_known_init(&known, search->demands->monotone);
  uint32_t *levels = shoal_alloc(search->space.n, sizeof *levels);
  shoal_status status = levels
                            ? collect(search, &known, from_height, levels, minimal, error)
                            : shoal_fail_memory(error);
  if (status == SHOAL_OK && minimal->n_items > 1)
    qsort(minimal->items, minimal->n_items, sizeof *minimal->items, by_number);
  free(levels);
  shoal_known_reset(&known);
  return status;
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
