/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/samarati: a node of minimum height that satisfies, by binary search on height (Samarati
 * 2001, Figure 10), with p and the necessary conditions of Truta & Vinay 2006, Algorithm 3. Its
 * errors are corrected (docs/reading-the-papers.md R1, R3, R4): every node of a height is tried,
 * classes are counted after suppression, and the top node is tried too. Nodes of a height are
 * decided on paths to the top (monotone.c), so few of them are evaluated.
 */
#include <stdlib.h>

#include "lattice/search.h"

/* Monotone requirements: if a height has a solution, so has every height above. */
static shoal_status search_by_bisection(shoal_search *search, bool *found, uint64_t *node,
                                        shoal_error *error) {
  const shoal_space *space = &search->space;
  uint32_t low = 0, high = space->height;
  uint32_t *levels = shoal_alloc(space->n, sizeof *levels);
  shoal_status status = levels ? SHOAL_OK : shoal_fail_memory(error);
  while (status == SHOAL_OK && low <= high) {
    uint32_t height = low + (high - low) / 2;
    bool here = false; /* the first node of the height, ascending, that satisfies */
    for (bool more = shoal_space_first(space, height, levels); status == SHOAL_OK && more && !here;
         more = shoal_space_next(space, levels)) {
      uint64_t number = shoal_space_node(space, levels);
      status = shoal_search_decide_by_path(search, number, &here, error);
      if (status == SHOAL_OK && here) *node = number;
    }
    if (status == SHOAL_OK && here) {
      *found = true;
      if (height == 0) break;
      high = height - 1;
    } else {
      low = height + 1;
    }
  }
  free(levels);
  return status;
}

typedef struct first_node {
  shoal_search *search;
  uint64_t node;
  bool found;
} first_node;

static shoal_status take_first(void *user, const uint64_t *nodes, size_t n, bool *done,
                               shoal_error *error) {
  first_node *first = user;
  bool satisfies[SHOAL_BATCH_NODES];
  SHOAL_TRY(shoal_search_decide_batch(first->search, nodes, n, satisfies, error));
  for (size_t i = 0; i < n && !first->found; i++) {
    first->found = satisfies[i];
    first->node = nodes[i];
  }
  *done = first->found;
  return SHOAL_OK;
}

/* Other requirements: every node from the bottom, height by height. */
static shoal_status search_by_height(shoal_search *search, bool *found, uint64_t *node,
                                     shoal_error *error) {
  first_node first = {.search = search};
  shoal_level_walk walk = {.search = search, .user = &first, .evaluate = take_first};
  shoal_status status = shoal_level_walk_heights(&walk, 0, error);
  *found = first.found;
  *node = first.node;
  return status;
}

shoal_status shoal_search_samarati(shoal_search *search, const shoal_algorithm_options *options,
                                   shoal_solution *solution, shoal_error *error) {
  (void)options;
  *solution = (shoal_solution){0};
  SHOAL_TRY(shoal_search_check_size(search, error));
  uint64_t node = 0;
  SHOAL_TRY(search->monotone ? search_by_bisection(search, &solution->found, &node, error)
                             : search_by_height(search, &solution->found, &node, error));
  if (!solution->found) return SHOAL_OK;
  SHOAL_TRY(shoal_search_evaluate(search, node, &solution->node, error));
  solution->node.minimal = true;
  return SHOAL_OK;
}
