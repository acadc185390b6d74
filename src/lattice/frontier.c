/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/frontier: see frontier.h. */
#include "lattice/frontier.h"

#include <stdlib.h>
#include <string.h>

static bool before(const shoal_frontier_node *a, const shoal_frontier_node *b) {
  return a->bound != b->bound ? a->bound < b->bound : a->node < b->node;
}

static bool push(shoal_frontier *f, shoal_frontier_node item) {
  if (!shoal_grow(&f->heap, &f->capacity, f->n_heap + 1, sizeof *f->heap)) return false;
  size_t at = f->n_heap++;
  while (at > 0 && before(&item, &f->heap[(at - 1) / 2])) {
    f->heap[at] = f->heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  f->heap[at] = item;
  return true;
}

static shoal_frontier_node pop(shoal_frontier *f) {
  shoal_frontier_node first = f->heap[0], last = f->heap[--f->n_heap];
  size_t at = 0;
  for (size_t child = 1; child < f->n_heap; child = 2 * at + 1) {
    if (child + 1 < f->n_heap && before(&f->heap[child + 1], &f->heap[child])) child++;
    if (!before(&f->heap[child], &last)) break;
    f->heap[at] = f->heap[child];
    at = child;
  }
  f->heap[at] = last;
  return first;
}

shoal_status shoal_frontier_init(shoal_frontier *f, const shoal_space *space,
                                 const shoal_bound *bound, shoal_error *error) {
  *f = (shoal_frontier){.space = space, .bound = bound};
  f->levels = shoal_alloc_zero(space->n, sizeof *f->levels);
  if (f->levels && push(f, (shoal_frontier_node){shoal_bound_at(bound, f->levels, 0), 0}))
    return SHOAL_OK;
  shoal_frontier_reset(f);
  return shoal_fail_memory(error);
}

void shoal_frontier_reset(shoal_frontier *f) {
  free(f->heap);
  free(f->levels);
  memset(f, 0, sizeof *f);
}

/* Nodes that have this one below them by their last raised attribute. */
static bool push_above(shoal_frontier *f, uint64_t node) {
  size_t first = f->space->n;
  while (first > 0 && f->levels[first - 1] == 0) first--;
  if (first > 0) first--;
  for (size_t q = first; q < f->space->n; q++) {
    if (f->levels[q] == f->space->top[q]) continue;
    f->levels[q]++;
    shoal_frontier_node above = {shoal_bound_at(f->bound, f->levels, 0),
                                 node + f->space->stride[q]};
    f->levels[q]--;
    if (!push(f, above)) return false;
  }
  return true;
}

shoal_status shoal_frontier_next(shoal_frontier *f, shoal_frontier_node *next, bool *more,
                                 shoal_error *error) {
  *more = f->n_heap > 0;
  if (!*more) return SHOAL_OK;
  *next = pop(f);
  shoal_space_levels(f->space, next->node, f->levels);
  return push_above(f, next->node) ? SHOAL_OK : shoal_fail_memory(error);
}
