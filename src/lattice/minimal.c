/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/minimal: all minimal nodes (Samarati 2001, Definition 4.3; Truta & Vinay 2006,
 * Definition 3), and every node with its figures. Minimal means: it satisfies, and no node
 * strictly below does, whatever the demands (docs/reading-the-papers.md R2, R4).
 */
#include <stdlib.h>

#include "lattice/walk.h"

/* ------------------------------------------------------------ monotone demands */

/* The node is settled on a path up: there is no more to look at. */
static shoal_status settle(void *user, uint64_t node, bool *wanted, shoal_error *error) {
  bool satisfies;
  *wanted = false;
  return shoal_search_settle(user, node, &satisfies, error);
}

/* After it, every node from that height on is tagged. */
static shoal_status tag_all(shoal_search *search, uint32_t from_height, shoal_error *error) {
  shoal_walk walk = {.search = search, .user = search, .wants = settle};
  return shoal_walk_heights(&walk, from_height, error);
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

static shoal_status collect_tagged(shoal_search *search, uint32_t from_height,
                                   shoal_node_list *minimal, shoal_error *error) {
  shoal_status status = tag_all(search, from_height, error);
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

/* Minimal nodes being collected. */
typedef struct collecting {
  shoal_search *search;
  shoal_node_list *minimal;
} collecting;

static shoal_status may_be_minimal(void *user, uint64_t node, bool *wanted, shoal_error *error) {
  (void)error;
  const collecting *c = user;
  *wanted = !above_some(&c->search->space, c->minimal, node);
  return SHOAL_OK;
}

static shoal_status add_if_good(void *user, const uint64_t *nodes, size_t n, bool *enough,
                                shoal_error *error) {
  (void)enough;
  const collecting *c = user;
  bool satisfies[SHOAL_LOOKS];
  SHOAL_TRY(shoal_search_decide_several(c->search, nodes, n, satisfies, error));
  for (size_t i = 0; i < n; i++) {
    shoal_node found = {.number = nodes[i]};
    if (satisfies[i] && !shoal_node_list_add(c->minimal, &found)) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

/*
 * Heights from the bottom up: a node that is not above a minimal one and satisfies is minimal, for
 * all nodes below it have been looked at, and none of its own height is below it.
 */
static shoal_status collect_untagged(shoal_search *search, uint32_t from_height,
                                     shoal_node_list *minimal, shoal_error *error) {
  collecting c = {.search = search, .minimal = minimal};
  shoal_walk walk = {.search = search, .user = &c, .wants = may_be_minimal, .look = add_if_good};
  return shoal_walk_heights(&walk, from_height, error);
}

/* ------------------------------------------------------------ all minimal nodes */

static int by_number(const void *a, const void *b) {
  uint64_t x = ((const shoal_node *)a)->number, y = ((const shoal_node *)b)->number;
  return (x > y) - (x < y);
}

/* None of them is below another: any may be looked at together. */
static shoal_status measure_minimal(shoal_search *search, shoal_node_list *minimal,
                                    shoal_error *error) {
  size_t most = shoal_several_at_once(search);
  for (size_t from = 0; from < minimal->n_items; from += most) {
    uint64_t nodes[SHOAL_LOOKS];
    size_t n = minimal->n_items - from < most ? minimal->n_items - from : most;
    for (size_t i = 0; i < n; i++) nodes[i] = minimal->items[from + i].number;
    SHOAL_TRY(shoal_search_measure_several(search, nodes, n, &minimal->items[from], error));
    for (size_t i = 0; i < n; i++) minimal->items[from + i].minimal = true;
  }
  return SHOAL_OK;
}

shoal_status shoal_search_minimal(shoal_search *search, uint32_t from_height,
                                  shoal_node_list *minimal, shoal_error *error) {
  SHOAL_TRY(shoal_search_refuse_vast(search, error));
  SHOAL_TRY(search->tags ? collect_tagged(search, from_height, minimal, error)
                         : collect_untagged(search, from_height, minimal, error));
  if (minimal->n_items > 1)
    qsort(minimal->items, minimal->n_items, sizeof *minimal->items, by_number);
  return measure_minimal(search, minimal, error);
}

/* ------------------------------------------------------------ every node */

/* Every node being measured. */
typedef struct measuring {
  shoal_search *search;
  shoal_node *nodes;
} measuring;

static shoal_status measure(void *user, const uint64_t *nodes, size_t n, bool *enough,
                            shoal_error *error) {
  (void)enough;
  const measuring *m = user;
  shoal_node figures[SHOAL_LOOKS];
  SHOAL_TRY(shoal_search_measure_several(m->search, nodes, n, figures, error));
  for (size_t i = 0; i < n; i++) m->nodes[nodes[i]] = figures[i];
  return SHOAL_OK;
}

static shoal_status measure_all(shoal_search *search, shoal_node *nodes, shoal_error *error) {
  measuring m = {.search = search, .nodes = nodes};
  shoal_walk walk = {.search = search, .user = &m, .look = measure};
  return shoal_walk_heights(&walk, 0, error);
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
  uint8_t *reaches = shoal_alloc(n, 1);
  shoal_status status =
      reaches ? measure_all(search, nodes->items, error) : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    nodes->n_items = n;
    mark_minimal(&search->space, nodes->items, reaches);
  }
  free(reaches);
  return status;
}
