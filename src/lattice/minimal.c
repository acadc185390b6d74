/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/minimal: all minimal nodes (Samarati 2001, Definition 4.3; Truta & Vinay 2006,
 * Definition 3), and every node with its figures. A node is minimal if it satisfies and no node
 * strictly below does, whether requirements are monotone or not (docs/reading-the-papers.md R2,
 * R4).
 */
#include <stdlib.h>

#include "lattice/search.h"

/* ------------------------------------------------------------ monotone requirements */

static shoal_status tag_by_path(void *user, uint64_t node, bool *wanted, shoal_error *error) {
  bool satisfies;
  *wanted = false; /* nothing is left to evaluate */
  return shoal_search_decide_by_path(user, node, &satisfies, error);
}

static bool is_lowest_good(const shoal_search *search, uint64_t node) {
  const shoal_space *space = &search->space;
  if (search->tags[node] != SHOAL_TAG_GOOD) return false;
  for (size_t q = 0; q < space->n; q++)
    if (shoal_space_level(space, node, q) > shoal_space_bottom(space, q) &&
        search->tags[node - space->stride[q]] == SHOAL_TAG_GOOD)
      return false;
  return true;
}

static shoal_status collect_tagged(shoal_search *search, uint32_t from_height,
                                   shoal_node_list *minimal, shoal_error *error) {
  shoal_level_walk walk = {.search = search, .user = search, .wants = tag_by_path};
  SHOAL_TRY(shoal_level_walk_heights(&walk, from_height, error));
  for (uint64_t node = 0; node < search->space.n_nodes; node++) {
    shoal_node found = {.number = node};
    if (is_lowest_good(search, node) && !shoal_node_list_add(minimal, &found))
      return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ other requirements */

typedef struct minimal_walk {
  shoal_search *search;
  shoal_node_list *minimal;
} minimal_walk;

static shoal_status is_above_no_minimal(void *user, uint64_t node, bool *wanted,
                                        shoal_error *error) {
  (void)error;
  const minimal_walk *w = user;
  *wanted = true;
  for (size_t i = 0; i < w->minimal->n_items && *wanted; i++)
    *wanted = !shoal_space_below(&w->search->space, w->minimal->items[i].number, node);
  return SHOAL_OK;
}

static shoal_status add_satisfying(void *user, const uint64_t *nodes, size_t n, bool *done,
                                   shoal_error *error) {
  (void)done;
  const minimal_walk *w = user;
  bool satisfies[SHOAL_BATCH_NODES];
  SHOAL_TRY(shoal_search_decide_batch(w->search, nodes, n, satisfies, error));
  for (size_t i = 0; i < n; i++) {
    shoal_node found = {.number = nodes[i]};
    if (satisfies[i] && !shoal_node_list_add(w->minimal, &found)) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

/*
 * Heights ascend. A node that satisfies and is above no minimal node is minimal: all nodes below it
 * have been decided, and no node of its own height is below it.
 */
static shoal_status collect_untagged(shoal_search *search, uint32_t from_height,
                                     shoal_node_list *minimal, shoal_error *error) {
  minimal_walk w = {.search = search, .minimal = minimal};
  shoal_level_walk walk = {
      .search = search, .user = &w, .wants = is_above_no_minimal, .evaluate = add_satisfying};
  return shoal_level_walk_heights(&walk, from_height, error);
}

/* ------------------------------------------------------------ all minimal nodes */

static int by_number(const void *a, const void *b) {
  uint64_t x = ((const shoal_node *)a)->number, y = ((const shoal_node *)b)->number;
  return (x > y) - (x < y);
}

shoal_status shoal_search_minimal(shoal_search *search, uint32_t from_height,
                                  shoal_node_list *minimal, shoal_error *error) {
  SHOAL_TRY(shoal_search_check_size(search, error));
  SHOAL_TRY(search->tags ? collect_tagged(search, from_height, minimal, error)
                         : collect_untagged(search, from_height, minimal, error));
  if (minimal->n_items > 1)
    qsort(minimal->items, minimal->n_items, sizeof *minimal->items, by_number);
  size_t batch = shoal_node_batch_size(search); /* none is below another: any make a batch */
  for (size_t from = 0; from < minimal->n_items; from += batch) {
    uint64_t nodes[SHOAL_BATCH_NODES];
    size_t n = minimal->n_items - from < batch ? minimal->n_items - from : batch;
    for (size_t i = 0; i < n; i++) nodes[i] = minimal->items[from + i].number;
    SHOAL_TRY(shoal_search_evaluate_batch(search, nodes, n, &minimal->items[from], error));
    for (size_t i = 0; i < n; i++) minimal->items[from + i].minimal = true;
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ every node */

typedef struct full_walk {
  shoal_search *search;
  shoal_node *nodes;
} full_walk;

static shoal_status evaluate_batch(void *user, const uint64_t *nodes, size_t n, bool *done,
                                   shoal_error *error) {
  (void)done;
  const full_walk *w = user;
  shoal_node evaluated[SHOAL_BATCH_NODES];
  SHOAL_TRY(shoal_search_evaluate_batch(w->search, nodes, n, evaluated, error));
  for (size_t i = 0; i < n; i++) w->nodes[nodes[i]] = evaluated[i];
  return SHOAL_OK;
}

/* reaches[node]: the node or one below it satisfies. Nodes below have smaller numbers. */
static void mark_minimal(const shoal_space *space, shoal_node *nodes, uint8_t *reaches) {
  for (uint64_t node = 0; node < space->n_nodes; node++) {
    bool below = false;
    for (size_t q = 0; q < space->n; q++)
      if (shoal_space_level(space, node, q) > shoal_space_bottom(space, q) &&
          reaches[node - space->stride[q]])
        below = true;
    nodes[node].minimal = nodes[node].satisfies && !below;
    reaches[node] = nodes[node].satisfies || below;
  }
}

shoal_status shoal_search_all(shoal_search *search, shoal_node_list *nodes, shoal_error *error) {
  SHOAL_TRY(shoal_search_check_size(search, error));
  size_t n = (size_t)search->space.n_nodes;
  if (!shoal_grow(&nodes->items, &nodes->capacity, n, sizeof *nodes->items))
    return shoal_fail_memory(error);
  uint8_t *reaches = shoal_alloc(n, 1);
  if (!reaches) return shoal_fail_memory(error);
  full_walk w = {.search = search, .nodes = nodes->items};
  shoal_level_walk walk = {.search = search, .user = &w, .evaluate = evaluate_batch};
  shoal_status status = shoal_level_walk_heights(&walk, 0, error);
  if (status == SHOAL_OK) {
    nodes->n_items = n;
    mark_minimal(&search->space, nodes->items, reaches);
  }
  free(reaches);
  return status;
}
