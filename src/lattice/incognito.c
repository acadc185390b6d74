/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/incognito: every node that satisfies, as Incognito finds them (LeFevre et al. 2005),
 * adapted to p and the other monotone models as in Truta, Campan & Meyer 2007, section 4.
 *
 * It goes from single quasi-identifiers to all of them. Leaving an attribute out is the same as
 * putting it at its top, so the lattice of a subset is a part of the whole one. Tags (monotone.c)
 * do both of Incognito's prunings: a node that fails on a subset fails with more attributes (a
 * priori), and a node that satisfies does so at every generalization. More attributes never
 * suppress fewer rows, so the limit on suppression prunes too.
 */
#include <assert.h>
#include <stdlib.h>

#include "lattice/search.h"

/* Nodes of all subset lattices. Beyond this, even visiting them takes too long. */
static const uint64_t MAX_WALK = 200000000;

/* Decides the nodes of one subset's lattice: attributes outside it stay at their top. */
static shoal_status walk_subset(shoal_search *search, const bool *inside, uint32_t *levels,
                                shoal_error *error) {
  const shoal_space *space = &search->space;
  for (size_t q = 0; q < space->n; q++)
    levels[q] = inside[q] ? shoal_space_bottom(space, q) : space->top[q];
  for (;;) { /* ascending vectors: a node comes after all nodes below it */
    bool satisfies;
    SHOAL_TRY(shoal_search_satisfies(search, shoal_space_node(space, levels), &satisfies, error));
    size_t q = space->n;
    while (q > 0 && (!inside[q - 1] || levels[q - 1] == space->top[q - 1])) {
      q--;
      if (inside[q]) levels[q] = shoal_space_bottom(space, q);
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

static shoal_status walk_subsets(shoal_search *search, bool *inside, uint32_t *levels,
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

static bool has_too_many_nodes(const shoal_space *space) {
  uint64_t walk = 1;
  for (size_t q = 0; q < space->n; q++)
    if (__builtin_mul_overflow(walk, (uint64_t)space->top[q] + 2, &walk) || walk > MAX_WALK)
      return true;
  return false;
}

/* Of the nodes tagged as solutions the one of minimum height, then number. */
static bool min_solution(const shoal_search *search, uint64_t *solution) {
  bool found = false;
  uint32_t min_height = 0;
  for (uint64_t node = 0; node < search->space.n_nodes; node++) {
    assert(search->tags[node] != SHOAL_TAG_NONE); /* the last subset is the whole lattice */
    if (search->tags[node] != SHOAL_TAG_GOOD) continue;
    uint32_t height = shoal_space_height(&search->space, node);
    if (found && height >= min_height) continue;
    *solution = node;
    min_height = height;
    found = true;
  }
  return found;
}

shoal_status shoal_search_incognito(shoal_search *search, const shoal_algorithm_options *options,
                                    shoal_solution *solution, shoal_error *error) {
  *solution = (shoal_solution){0};
  SHOAL_TRY(shoal_search_check_size(search, error));
  if (!search->tags) return shoal_search_samarati(search, options, solution, error);
  if (has_too_many_nodes(&search->space))
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "incognito would visit more than %llu million subset nodes: use 'samarati' "
                      "or 'optimal', or fewer quasi-identifiers",
                      (unsigned long long)(MAX_WALK / 1000000));
  bool *inside = shoal_alloc(search->space.n, sizeof *inside);
  uint32_t *levels = shoal_alloc(search->space.n, sizeof *levels);
  shoal_status status =
      inside && levels ? walk_subsets(search, inside, levels, error) : shoal_fail_memory(error);
  free(inside);
  free(levels);
  SHOAL_TRY(status);
  uint64_t node = 0;
  if (!min_solution(search, &node)) return SHOAL_OK;
  solution->found = true;
  SHOAL_TRY(shoal_search_evaluate(search, node, &solution->node, error));
  solution->node.minimal = true;
  return SHOAL_OK;
}
