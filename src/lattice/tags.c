/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/tags: what monotonicity tells without looking. Above a node that satisfies every node
 * does; below one that does not, none does. Each node is tagged at most once, so that all tagging
 * together costs no more than a walk over the lattice.
 */
#include <stdlib.h>

#include "lattice/lattice.h"

static bool push(shoal_search *search, uint64_t node) {
  if (!shoal_grow(&search->stack, &search->stack_capacity, search->stack_size + 1,
                  sizeof *search->stack))
    return false;
  search->stack[search->stack_size++] = node;
  return true;
}

/* Tags the node and all above it (good), or all below it (bad). */
static bool spread(shoal_search *search, uint64_t node, shoal_tag tag) {
  const shoal_space *space = &search->space;
  bool up = tag == SHOAL_TAG_GOOD;
  search->tags[node] = (uint8_t)tag;
  search->stack_size = 0;
  if (!push(search, node)) return false;
  while (search->stack_size) {
    uint64_t at = search->stack[--search->stack_size];
    for (size_t q = 0; q < space->n; q++) {
      uint64_t level = at / space->stride[q] % ((uint64_t)space->top[q] + 1);
      if (up ? level == space->top[q] : level == 0) continue;
      uint64_t next = up ? at + space->stride[q] : at - space->stride[q];
      if (search->tags[next] == (uint8_t)tag) continue;
      search->tags[next] = (uint8_t)tag;
      if (!push(search, next)) return false;
    }
  }
  return true;
}

static shoal_status tag_several(shoal_search *search, const uint64_t *nodes, size_t n,
                                shoal_error *error) {
  uint64_t unknown[SHOAL_LOOKS];
  size_t n_unknown = 0;
  bool satisfies[SHOAL_LOOKS];
  for (size_t i = 0; i < n; i++)
    if (search->tags[nodes[i]] == SHOAL_TAG_NONE) unknown[n_unknown++] = nodes[i];
  if (!n_unknown) return SHOAL_OK;
  SHOAL_TRY(shoal_search_decide_several(search, unknown, n_unknown, satisfies, error));
  for (size_t i = 0; i < n_unknown; i++)
    if (!spread(search, unknown[i], satisfies[i] ? SHOAL_TAG_GOOD : SHOAL_TAG_BAD))
      return shoal_fail_memory(error);
  return SHOAL_OK;
}

shoal_status shoal_search_satisfies_several(shoal_search *search, const uint64_t *nodes, size_t n,
                                            bool *satisfies, shoal_error *error) {
  if (!search->tags) return shoal_search_decide_several(search, nodes, n, satisfies, error);
  SHOAL_TRY(tag_several(search, nodes, n, error));
  for (size_t i = 0; i < n; i++) satisfies[i] = search->tags[nodes[i]] == SHOAL_TAG_GOOD;
  return SHOAL_OK;
}
