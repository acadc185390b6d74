/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/known: see known.h. */
#include "lattice/known.h"

#include <stdlib.h>
#include <string.h>

void shoal_known_init(shoal_known *known, bool monotone) {
  memset(known, 0, sizeof *known);
  known->monotone = monotone;
}

void shoal_known_reset(shoal_known *known) {
  free(known->lowest_good.nodes);
  free(known->highest_bad.nodes);
  memset(known, 0, sizeof *known);
}

bool shoal_known_good(const shoal_known *known, const shoal_space *space, uint64_t node) {
  const shoal_node_set *set = &known->lowest_good;
  for (size_t i = 0; i < set->n; i++)
    if (shoal_space_below(space, set->nodes[i], node)) return true;
  return false;
}

bool shoal_known_bad(const shoal_known *known, const shoal_space *space, uint64_t node) {
  const shoal_node_set *set = &known->highest_bad;
  for (size_t i = set->n; i-- > 0;)
    if (shoal_space_below(space, node, set->nodes[i])) return true;
  return false;
}

/* Adds a node and drops those it makes needless: above it in a good set, below it in a bad one. */
static bool remember(shoal_node_set *set, const shoal_space *space, uint64_t node, bool good) {
  size_t kept = 0;
  for (size_t i = 0; i < set->n; i++) {
    uint64_t other = set->nodes[i];
    bool needless =
        good ? shoal_space_below(space, node, other) : shoal_space_below(space, other, node);
    if (!needless) set->nodes[kept++] = other;
  }
  set->n = kept;
  if (!shoal_grow(&set->nodes, &set->capacity, set->n + 1, sizeof *set->nodes)) return false;
  set->nodes[set->n++] = node;
  return true;
}

shoal_status shoal_known_decide(shoal_known *known, shoal_search *search, uint64_t node,
                                bool *satisfies, shoal_error *error) {
  const shoal_space *space = &search->space;
  *satisfies = known->monotone && shoal_known_good(known, space, node);
  if (*satisfies || (known->monotone && shoal_known_bad(known, space, node))) return SHOAL_OK;
  SHOAL_TRY(shoal_search_decide(search, node, satisfies, error));
  if (!known->monotone) return SHOAL_OK;
  shoal_node_set *set = *satisfies ? &known->lowest_good : &known->highest_bad;
  return remember(set, space, node, *satisfies) ? SHOAL_OK : shoal_fail_memory(error);
}
