/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/samarati: a node of least height, by binary search on height (Samarati 2001, Figure 10),
 * with p and the necessary conditions as in Truta & Vinay 2006, Algorithm 3, without its slips
 * (docs/reading-the-papers.md R1, R3, R4): every node of a height is tried, classes are counted
 * after suppression, and the top node is tried too. What monotonicity tells of the nodes of a
 * height is found on paths up from them, so that few of them are looked at.
 */
#include <stdlib.h>

#include "lattice/lattice.h"

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
static shoal_status by_bisection(shoal_search *search, uint32_t *levels, bool *found,
                                 uint64_t *node, shoal_error *error) {
  uint32_t low = 0, high = search->space.height;
  *found = false;
  while (low <= high) {
    uint32_t height = low + (high - low) / 2;
    bool here;
    uint64_t candidate = 0;
    SHOAL_TRY(try_height(search, height, levels, &here, &candidate, error));
    if (here) {
      *found = true;
      *node = candidate;
      if (height == 0) break;
      high = height - 1;
    } else {
      low = height + 1;
    }
  }
  return SHOAL_OK;
}

/* Others: from the bottom, height by height, every node. */
static shoal_status by_height(shoal_search *search, uint32_t *levels, bool *found, uint64_t *node,
                              shoal_error *error) {
  *found = false;
  for (uint32_t height = 0; height <= search->space.height && !*found; height++)
    SHOAL_TRY(try_height(search, height, levels, found, node, error));
  return SHOAL_OK;
}

shoal_status shoal_search_samarati(shoal_search *search, shoal_node *solution, bool *found,
                                   shoal_error *error) {
  SHOAL_TRY(shoal_search_refuse_vast(search, error));
  uint32_t *levels = shoal_alloc(search->space.n, sizeof *levels);
  if (!levels) return shoal_fail_memory(error);
  uint64_t node = 0;
  shoal_status status = search->demands->monotone
                            ? by_bisection(search, levels, found, &node, error)
                            : by_height(search, levels, found, &node, error);
  if (status == SHOAL_OK && *found) status = shoal_search_measure(search, node, solution, error);
  if (status == SHOAL_OK && *found) solution->minimal = true;
  free(levels);
  return status;
}
