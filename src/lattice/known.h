/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/known: what monotonicity tells without looking. Above a node that satisfies every node
 * does; below one that does not, none does. Only the lowest of the first and the highest of the
 * second are kept.
 */
#ifndef SHOAL_LATTICE_KNOWN_H
#define SHOAL_LATTICE_KNOWN_H

#include "lattice/lattice.h"

typedef struct shoal_node_set {
  uint64_t *nodes;
  size_t n, capacity;
} shoal_node_set;

typedef struct shoal_known {
  bool monotone; /* else nothing is concluded */
  shoal_node_set lowest_good;
  shoal_node_set highest_bad;
} shoal_known;

void shoal_known_init(shoal_known *known, bool monotone);
void shoal_known_reset(shoal_known *known);

/* Is it known without looking that the node satisfies, or that it does not? */
bool shoal_known_good(const shoal_known *known, const shoal_space *space, uint64_t node);
bool shoal_known_bad(const shoal_known *known, const shoal_space *space, uint64_t node);

/* Does the node satisfy? Looks only where it is not known, and remembers. */
shoal_status shoal_known_decide(shoal_known *known, shoal_search *search, uint64_t node,
                                bool *satisfies, shoal_error *error) SHOAL_MUST_CHECK;

#endif
