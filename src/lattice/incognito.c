/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/incognito: every node that satisfies, as Incognito finds them (LeFevre et al. 2005),
 * adapted to p and the other monotone models as Truta, Campan & Meyer 2007, section 4, did.
 *
 * It goes from single quasi-identifiers to all of them. Leaving an attribute out is the same as
 * putting it at its top, so that the lattice of a subset is a part of the whole one, and both of
 * Incognito's prunings are what tags do: a node that fails on a subset fails with more attributes
 * (a-priori), one that satisfies does so at every generalization. Rows to suppress can only grow
 * with more attributes, so that the limit on suppression prunes too.
 */
#include <stdlib.h>

#include "lattice/lattice.h"

/* Nodes of all subset lattices together: beyond it, even walking them takes too long. */
static const uint64_t MAX_WALK = 200000000;

/* The lattice of one subset: attributes outside it stay at their top. */
static shoal_status walk_subset(shoal_search *search, const bool *inside, uint32_t *levels,
                                shoal_error *error) {
  const shoal_space *space = &search->space;
  for (size_t q = 0; q < space->n; q++) levels[q] = inside[q] ? 0 : space->top[q];
  for (;;) { /* ascending vectors: every node comes after those below it */
    bool satisfies;
    SHOAL_TRY(shoal_search_satisfies(search, shoal_space_node(space, levels), &satisfies, error));
    size_t q = space->n;
    while (q > 0 && (!inside[q - 1] || levels[q - 1] == space->top[q - 1])) {
      q--;
      if (inside[q]) levels[q] = 0;
    }
    if (q == 0) return SHOAL_OK;
    levels[q - 1]++;
  }
}

/* The next subset of the same size, in order of the attributes; false after the last. */
static bool next_subset(bool *inside, size_t n) {
  size_t i = n, moved = 0;
  while (i > 0 && inside[i - 1]) {
    inside[--i] = false;
    moved++;
  }
  while (i > 0 && !inside[i - 1]) i--;
  if (i == 0) return false;
  inside[i - 1] = false;
  for (size_t j = 0; j <= moved; j++) inside[i + j] = true;
  return true;
}

static shoal_status walk_sizes(shoal_search *search, bool *inside, uint32_t *levels,
                               shoal_error *error) {
  size_t n = search->space.n;
  for (size_t size = 1; size <= n; size++) {
    for (size_t q = 0; q < n; q++) inside[q] = q < size;
    bool more = true;
    while (more) {
      SHOAL_TRY(walk_subset(search, inside, levels, error));
      more = next_subset(inside, n);
    }
  }
  return SHOAL_OK;
}

static bool too_many(const shoal_space *space) {
  uint64_t walk = 1;
  for (size_t q = 0; q < space->n; q++)
    if (__builtin_mul_overflow(walk, (uint64_t)space->top[q] + 2, &walk) || walk > MAX_WALK)
      return true;
  return false;
}

/* The least of the nodes that are tagged as solutions: by height, then number. */
static bool least_solution(const shoal_search *search, uint64_t *solution) {
  bool found = false;
  uint32_t least = 0;
  for (uint64_t node = 0; node < search->space.n_nodes; node++) {
    if (search->tags[node] != SHOAL_TAG_GOOD) continue;
    uint32_t height = shoal_space_height(&search->space, node);
    if (found && height >= least) continue;
    *solution = node;
    least = height;
    found = true;
  }
  return found;
}

shoal_status shoal_search_incognito(shoal_search *search, shoal_node *solution, bool *found,
                                    shoal_error *error) {
  SHOAL_TRY(shoal_search_refuse_vast(search, error));
  if (!search->tags) return shoal_search_samarati(search, solution, found, error);
  if (too_many(&search->space))
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "incognito would walk more than %llu million subset nodes: use 'samarati' "
                      "or 'optimal', or fewer quasi-identifiers",
                      (unsigned long long)(MAX_WALK / 1000000));
  bool *inside = shoal_alloc(search->space.n, sizeof *inside);
  uint32_t *levels = shoal_alloc(search->space.n, sizeof *levels);
  shoal_status status =
      inside && levels ? walk_sizes(search, inside, levels, error) : shoal_fail_memory(error);
  free(inside);
  free(levels);
  uint64_t node = 0;
  *found = status == SHOAL_OK && least_solution(search, &node);
  if (*found) status = shoal_search_measure(search, node, solution, error);
  if (status == SHOAL_OK && *found) solution->minimal = true;
  return status;
}
