/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/walk: which nodes are looked at together. Nodes of one height tell nothing of each other:
 * a walk up the heights takes several at a time, and never of two heights. On a path up, on which
 * the answer changes once, two places can be asked about. Private to this folder.
 */
#ifndef SHOAL_LATTICE_WALK_H
#define SHOAL_LATTICE_WALK_H

#include "lattice/several.h"

typedef struct shoal_walk {
  shoal_search *search;
  void *user;
  /* Is the node to be looked at? NULL: each is. */
  shoal_status (*wants)(void *user, uint64_t node, bool *wanted, shoal_error *error);
  /* Looks at up to SHOAL_LOOKS nodes of one height, ascending; *enough: the walk ends. */
  shoal_status (*look)(void *user, const uint64_t *nodes, size_t n, bool *enough,
                       shoal_error *error);
} shoal_walk;

/* From that height to the top, each height by ascending number. */
shoal_status shoal_walk_heights(const shoal_walk *walk, uint32_t from_height,
                                shoal_error *error) SHOAL_MUST_CHECK;

/* Where to ask next, in tenths of what is left of a path. */
typedef struct shoal_places {
  unsigned one;
  unsigned two[2]; /* at once, where tuples are many; zeros: never two */
} shoal_places;

/*
 * Finds the first place of a path that is beyond the change. `ask` tells of one or two places,
 * ascending, whether they are beyond.
 */
typedef shoal_status (*shoal_ask)(void *user, const size_t *places, size_t n, bool *beyond,
                                  shoal_error *error);
shoal_status shoal_walk_bisect(const shoal_search *search, size_t length,
                               const shoal_places *places, shoal_ask ask, void *user,
                               shoal_error *error) SHOAL_MUST_CHECK;

#endif
