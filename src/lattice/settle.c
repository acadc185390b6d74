/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/settle: does a node satisfy, found on a path from it up to the top through nodes of which
 * nothing is known (Kohlmayer et al. 2012, "Flash"). On it the answer changes once, from bad to
 * good, and is found by bisection. Each step raises the attribute that loses least for what it
 * hides: so the path stays bad long, and what is found bad high up answers for many below.
 */
#include <stdlib.h>

#include "lattice/bound.h"
#include "lattice/walk.h"

struct shoal_guide {
  shoal_level_costs costs;
  shoal_bound bound; /* of no weights: its ratios are what is asked for */
};

static const shoal_objective *guiding_objective(void) {
  const shoal_objective *objective = shoal_objective_types;
  while (!objective->multiplies) objective++;
  return objective;
}

void shoal_search_free_guide(shoal_search *search) {
  if (!search->guide) return;
  shoal_bound_reset(&search->guide->bound);
  shoal_level_costs_reset(&search->guide->costs);
  free(search->guide);
  search->guide = NULL;
}

static shoal_status prepare(shoal_search *search, shoal_error *error) {
  if (search->guide) return SHOAL_OK;
  if (!search->path)
    search->path = shoal_alloc((size_t)search->space.height + 1, sizeof *search->path);
  struct shoal_guide *guide = shoal_alloc_zero(1, sizeof *guide);
  search->guide = guide;
  if (!search->path || !guide) return shoal_fail_memory(error);
  shoal_status status = shoal_level_costs_init(&guide->costs, search->frequency, error);
  if (status == SHOAL_OK)
    status = shoal_bound_init(&guide->bound, search, guiding_objective(), &guide->costs, error);
  if (status != SHOAL_OK) shoal_search_free_guide(search);
  return status;
}

static size_t unknown_path(const shoal_search *search, uint64_t node, uint64_t *path) {
  const shoal_space *space = &search->space;
  shoal_level_bound *const *levels = search->guide->bound.levels;
  size_t length = 0, best;
  do {
    path[length++] = node;
    best = space->n;
    double least = 0;
    for (size_t q = 0; q < space->n; q++) {
      uint64_t level = node / space->stride[q] % ((uint64_t)space->top[q] + 1);
      if (level == space->top[q] || search->tags[node + space->stride[q]] != SHOAL_TAG_NONE)
        continue;
      if (best < space->n && levels[q][level].ratio >= least) continue;
      best = q;
      least = levels[q][level].ratio;
    }
    if (best < space->n) node += space->stride[best];
  } while (best < space->n);
  return length;
}

/*
 * One place: what it tells saves about as much as a second thread. Not high up, though classes are
 * few there: most nodes that are asked about later are rolled up from what is found in the middle.
 */
static const shoal_places MIDDLE = {.one = 5};

static shoal_status ask(void *user, const size_t *places, size_t n, bool *satisfy,
                        shoal_error *error) {
  shoal_search *search = user;
  uint64_t nodes[SHOAL_LOOKS];
  for (size_t i = 0; i < n; i++) nodes[i] = search->path[places[i]];
  return shoal_search_satisfies_several(search, nodes, n, satisfy, error);
}

shoal_status shoal_search_settle(shoal_search *search, uint64_t node, bool *satisfies,
                                 shoal_error *error) {
  if (search->tags && search->tags[node] == SHOAL_TAG_NONE) {
    SHOAL_TRY(prepare(search, error));
    size_t length = unknown_path(search, node, search->path);
    SHOAL_TRY(shoal_walk_bisect(search, length, &MIDDLE, ask, search, error));
  }
  return shoal_search_satisfies(search, node, satisfies, error);
}
