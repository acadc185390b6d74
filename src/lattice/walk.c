/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/walk: see walk.h. */
#include "lattice/walk.h"

#include <stdlib.h>

/* ------------------------------------------------------------ up the heights */

/* Nodes of a height that wait to be looked at together. */
typedef struct waiting {
  uint64_t nodes[SHOAL_LOOKS];
  size_t n, most;
  bool enough;
} waiting;

static shoal_status flush(const shoal_walk *walk, waiting *w, shoal_error *error) {
  size_t n = w->n;
  w->n = 0;
  return n ? walk->look(walk->user, w->nodes, n, &w->enough, error) : SHOAL_OK;
}

static shoal_status visit(const shoal_walk *walk, waiting *w, uint64_t node, shoal_error *error) {
  bool wanted = true;
  if (walk->wants) SHOAL_TRY(walk->wants(walk->user, node, &wanted, error));
  if (wanted) w->nodes[w->n++] = node;
  return w->n == w->most ? flush(walk, w, error) : SHOAL_OK;
}

static shoal_status climb(const shoal_walk *walk, uint32_t from_height, uint32_t *levels,
                          shoal_error *error) {
  const shoal_space *space = &walk->search->space;
  waiting w = {.most = shoal_several_at_once(walk->search)};
  for (uint32_t height = from_height; height <= space->height && !w.enough; height++) {
    for (bool more = shoal_space_first(space, height, levels); more && !w.enough;
         more = shoal_space_next(space, levels))
      SHOAL_TRY(visit(walk, &w, shoal_space_node(space, levels), error));
    SHOAL_TRY(flush(walk, &w, error));
  }
  return SHOAL_OK;
}

shoal_status shoal_walk_heights(const shoal_walk *walk, uint32_t from_height, shoal_error *error) {
  uint32_t *levels = shoal_alloc(walk->search->space.n, sizeof *levels);
  if (!levels) return shoal_fail_memory(error);
  shoal_status status = climb(walk, from_height, levels, error);
  free(levels);
  return status;
}

/* ------------------------------------------------------------ on a path */

/* From so many tuples on it pays to look at two places of a path on two threads. */
enum { MANY_TUPLES = 60000 };

static size_t choose(size_t low, size_t high, bool two, const shoal_places *places,
                     size_t *chosen) {
  size_t span = high - low;
  two = two && span > 2;
  chosen[0] = low + span * (two ? places->two[0] : places->one) / 10;
  chosen[1] = low + span * places->two[1] / 10;
  return two ? 2 : 1;
}

shoal_status shoal_walk_bisect(const shoal_search *search, size_t length,
                               const shoal_places *places, shoal_ask ask, void *user,
                               shoal_error *error) {
  bool two = places->two[1] && search->frequency->n_tuples >= MANY_TUPLES;
  size_t low = 0, high = length;
  while (low < high) {
    size_t chosen[2], n = choose(low, high, two, places, chosen);
    bool beyond[2];
    SHOAL_TRY(ask(user, chosen, n, beyond, error));
    for (size_t i = 0; i < n && chosen[i] < high; i++) {
      if (beyond[i]) high = chosen[i];
      else low = chosen[i] + 1;
    }
  }
  return SHOAL_OK;
}
