/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/samarati: a node of least height, by binary search on height (Samarati 2001, Figure 10),
 * with p and the necessary conditions as in Truta & Vinay 2006, Algorithm 3, without its slips
 * (docs/reading-the-papers.md R1, R3, R4): every node of a height is tried, classes are counted
 * after suppression, and the top node is tried too. What monotonicity tells of the nodes of a
 * height is found on paths up from them, so that few of them are looked at.
 */
#include <stdlib.h>

#include "lattice/walk.h"

/* The first node of a height, in ascending order, that satisfies. */
static shoal_status try_height(shoal_search *search, uint32_t height, uint32_t *levels, bool *found,
                               uint64_t *node, shoal_error *error) {
  *found = false;
  for (bool more = shoal_space_first(&search->space, height, levels); more && !*found;
       more = shoal_space_next(&search->space, levels)) {
    uint64_t number = shoal_space_node(&search->space, levels);
    SHOAL_TRY(shoal_search_settle(search, number, found, error));
    if (*found) *node = number;
  }
  return SHOAL_OK;
}

/* Monotone demands: a height that has a solution is below heights that have one too. */
static shoal_status by_bisection(shoal_search *search, bool *found, uint64_t *node,
                                 shoal_error *error) {
  uint32_t low = 0, high = search->space.height;
  uint32_t *levels = shoal_alloc(search->space.n, sizeof *levels);
  shoal_status status = levels ? SHOAL_OK : shoal_fail_memory(error);
  *found = false;
  while (status == SHOAL_OK && low <= high) {
    uint32_t height = low + (high - low) / 2;
    bool here;
    uint64_t candidate = 0;
    status = try_height(search, height, levels, &here, &candidate, error);
    if (here) {
      *found = true;
      *node = candidate;
      if (height == 0) break;
      high = height - 1;
    } else {
      low = height + 1;
    }
  }
  free(levels);
  return status;
}

/* The first node that satisfies, in the order of a walk. */
typedef struct first {
  shoal_search *search;
  uint64_t node;
  bool found;
} first;

static shoal_status take_first(void *user, const uint64_t *nodes, size_t n, bool *enough,
                               shoal_error *error) {
  first *f = user;
  bool satisfies[SHOAL_LOOKS];
  SHOAL_TRY(shoal_search_decide_several(f->search, nodes, n, satisfies, error));
  for (size_t i = 0; i < n && !f->found; i++) {
    f->found = satisfies[i];
    f->node = nodes[i];
  }
  *enough = f->found;
  return SHOAL_OK;
}

/* Others: from the bottom, height by height, every node. */
static shoal_status by_height(shoal_search *search, bool *found, uint64_t *node,
                              shoal_error *error) {
  first f = {.search = search};
  shoal_walk walk = {.search = search, .user = &f, .look = take_first};
  shoal_status status = shoal_walk_heights(&walk, 0, error);
  *found = f.found;
  *node = f.node;
  return status;
}

shoal_status shoal_search_samarati(shoal_search *search, shoal_node *solution, bool *found,
                                   shoal_error *error) {
  SHOAL_TRY(shoal_search_refuse_vast(search, error));
  uint64_t node = 0;
  shoal_status status = search->demands->monotone ? by_bisection(search, found, &node, error)
                                                  : by_height(search, found, &node, error);
  if (status == SHOAL_OK && *found) status = shoal_search_measure(search, node, solution, error);
  if (status == SHOAL_OK && *found) solution->minimal = true;
  return status;
}
