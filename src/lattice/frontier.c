/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/frontier: see frontier.h. */
#include "lattice/frontier.h"

#include <stdlib.h>
#include <string.h>

enum { N_STEPS = 4096 };

typedef struct shoal_frontier_waiting {
  shoal_frontier_node item;
  uint32_t next; /* of its step, or of the free places, + 1; 0: the last */
} waiting;

/* Not before the step at work: rounding may put a node a little below the one it came from. */
static uint32_t step_of(const shoal_frontier *f, double bound) {
  double step = bound * f->steps;
  if (step <= f->step) return f->step;
  return step < N_STEPS - 1 ? (uint32_t)step : N_STEPS - 1;
}

static bool push(shoal_frontier *f, shoal_frontier_node item) {
  uint32_t place = f->free;
  if (place) {
    f->free = f->waiting[place - 1].next;
  } else {
    if (f->n_waiting == UINT32_MAX - 1 ||
        !shoal_grow(&f->waiting, &f->capacity, f->n_waiting + 1, sizeof *f->waiting))
      return false;
    place = (uint32_t)++f->n_waiting;
  }
  uint32_t step = step_of(f, item.bound), last = f->last[step];
  f->waiting[place - 1] = (waiting){item, 0};
  if (f->first[step]) f->waiting[last - 1].next = place;
  else f->first[step] = place;
  f->last[step] = place;
  return true;
}

/* False where none waits. */
static bool pop(shoal_frontier *f, shoal_frontier_node *item) {
  while (f->step < N_STEPS && !f->first[f->step]) f->step++;
  if (f->step == N_STEPS) return false;
  uint32_t place = f->first[f->step];
  waiting *w = &f->waiting[place - 1];
  *item = w->item;
  f->first[f->step] = w->next;
  w->next = f->free;
  f->free = place;
  return true;
}

shoal_status shoal_frontier_init(shoal_frontier *f, const shoal_space *space,
                                 const shoal_bound *bound, shoal_error *error) {
  *f = (shoal_frontier){.space = space, .bound = bound};
  f->levels = shoal_alloc_zero(space->n, sizeof *f->levels);
  f->first = shoal_alloc_zero(N_STEPS, sizeof *f->first);
  f->last = shoal_alloc_zero(N_STEPS, sizeof *f->last);
  double most = shoal_bound_at(bound, space->top, 0);
  f->steps = most > 0 ? N_STEPS / most : 0;
  if (f->levels && f->first && f->last &&
      push(f, (shoal_frontier_node){shoal_bound_at(bound, f->levels, 0), 0}))
    return SHOAL_OK;
  shoal_frontier_reset(f);
  return shoal_fail_memory(error);
}

void shoal_frontier_reset(shoal_frontier *f) {
  free(f->waiting);
  free(f->first);
  free(f->last);
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
  *more = pop(f, next);
  if (!*more) return SHOAL_OK;
  shoal_space_levels(f->space, next->node, f->levels);
  return push_above(f, next->node) ? SHOAL_OK : shoal_fail_memory(error);
}

/* A step is a rounded product: a little less than its edge is safe. */
double shoal_frontier_least(const shoal_frontier *f) {
  return f->steps > 0 ? f->step / f->steps * (1 - 1e-9) : 0;
}
