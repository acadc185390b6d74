/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/monotone: what monotonicity saves. If requirements are monotone, every node above one
 * that satisfies does so too, and no node below one that does not (Samarati 2001, section 4).
 *
 * - Tags. Each decision is propagated: up from a node that satisfies, down from one that does not.
 *   A node is tagged at most once, so all tagging costs no more than one walk over the lattice.
 * - Paths. On a path to the top through untagged nodes the answer changes once and is found by
 *   bisection (Kohlmayer et al. 2012, "Flash"). Each step raises the attribute that costs least for
 *   the information it removes. Such a path stays unsatisfied for long, so a node found on it that
 *   does not satisfy is high and tags many below.
 * - Heights. Nodes of one height say nothing about each other and make a batch.
 */
#include <assert.h>
#include <stdlib.h>

#include "lattice/optimal_bounds.h"

/* From this number of tuples on, probing a path at two positions on two threads pays. */
enum { MIN_TUPLES_FOR_TWO = 60000 };

/* ------------------------------------------------------------ tags */

static bool push(shoal_search *search, uint64_t node) {
  if (!shoal_grow(&search->stack, &search->stack_capacity, search->stack_size + 1,
                  sizeof *search->stack))
    return false;
  search->stack[search->stack_size++] = node;
  return true;
}

/* Tags the node and all above it (GOOD), or all below it (BAD). False: no memory. */
static bool propagate(shoal_search *search, uint64_t node, shoal_tag tag) {
  const shoal_space *space = &search->space;
  bool up = tag == SHOAL_TAG_GOOD;
  search->tags[node] = (uint8_t)tag;
  search->stack_size = 0;
  if (!push(search, node)) return false;
  while (search->stack_size) {
    uint64_t at = search->stack[--search->stack_size];
    for (size_t q = 0; q < space->n; q++) {
      uint32_t level = shoal_space_level(space, at, q);
      if (up ? level == space->top[q] : level == shoal_space_bottom(space, q)) continue;
      uint64_t next = up ? at + space->stride[q] : at - space->stride[q];
      if (search->tags[next] == (uint8_t)tag) continue;
      search->tags[next] = (uint8_t)tag;
      if (!push(search, next)) return false;
    }
  }
  return true;
}

shoal_status shoal_search_satisfies_batch(shoal_search *search, const uint64_t *nodes, size_t n,
                                          bool *satisfies, shoal_error *error) {
  assert(n <= SHOAL_BATCH_NODES);
  if (!search->tags) return shoal_search_decide_batch(search, nodes, n, satisfies, error);
  uint64_t unknown[SHOAL_BATCH_NODES];
  size_t n_unknown = 0;
  bool decided[SHOAL_BATCH_NODES];
  for (size_t i = 0; i < n; i++)
    if (search->tags[nodes[i]] == SHOAL_TAG_NONE) unknown[n_unknown++] = nodes[i];
  if (n_unknown) SHOAL_TRY(shoal_search_decide_batch(search, unknown, n_unknown, decided, error));
  for (size_t i = 0; i < n_unknown; i++)
    if (!propagate(search, unknown[i], decided[i] ? SHOAL_TAG_GOOD : SHOAL_TAG_BAD))
      return shoal_fail_memory(error);
  for (size_t i = 0; i < n; i++) satisfies[i] = search->tags[nodes[i]] == SHOAL_TAG_GOOD;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ paths */

shoal_status shoal_path_bisect(const shoal_search *search, size_t length,
                               const shoal_path_fractions *fractions, shoal_path_probe *probe,
                               void *user, shoal_error *error) {
  bool may_take_two = fractions->two[1] && search->frequency->n_tuples >= MIN_TUPLES_FOR_TWO;
  size_t low = 0, high = length; /* the change is at one of low .. high */
  while (low < high) {
    size_t span = high - low;
    bool two = may_take_two && span > 2, after[2];
    size_t positions[2] = {low + span * (two ? fractions->two[0] : fractions->one) / 10,
                           low + span * fractions->two[1] / 10};
    size_t n = two ? 2 : 1;
    SHOAL_TRY(probe(user, positions, n, after, error));
    for (size_t i = 0; i < n && positions[i] < high; i++) {
      if (after[i]) high = positions[i];
      else low = positions[i] + 1;
    }
  }
  return SHOAL_OK;
}

/* Which attribute a path raises next: the one with the smallest ratio. */
struct shoal_path_order {
  shoal_level_costs costs;
  shoal_cost_bound bound; /* used for its ratios only */
};

void shoal_search_free_path_order(shoal_search *search) {
  if (!search->path_order) return;
  shoal_cost_bound_reset(&search->path_order->bound);
  shoal_level_costs_reset(&search->path_order->costs);
  free(search->path_order);
  search->path_order = NULL;
}

static shoal_status prepare_path_order(shoal_search *search, shoal_error *error) {
  if (search->path_order) return SHOAL_OK;
  if (!search->path)
    search->path = shoal_alloc((size_t)search->space.height + 1, sizeof *search->path);
  struct shoal_path_order *order = shoal_alloc_zero(1, sizeof *order);
  search->path_order = order;
  if (!search->path || !order) return shoal_fail_memory(error);
  const shoal_objective *objective = shoal_objective_types;
  while (!objective->multiplies) objective++; /* loss */
  shoal_status status = shoal_level_costs_init(&order->costs, search->frequency, error);
  if (status == SHOAL_OK)
    status = shoal_cost_bound_init(&order->bound, search, objective, &order->costs, error);
  if (status != SHOAL_OK) shoal_search_free_path_order(search);
  return status;
}

/* A path up from the node through untagged nodes; returns its length. */
static size_t find_untagged_path(const shoal_search *search, uint64_t node, uint64_t *path) {
  const shoal_space *space = &search->space;
  shoal_level_bound *const *levels = search->path_order->bound.levels;
  size_t length = 0, best;
  do {
    path[length++] = node;
    best = space->n;
    double min_ratio = 0;
    for (size_t q = 0; q < space->n; q++) {
      uint32_t level = shoal_space_level(space, node, q);
      if (level == space->top[q] || search->tags[node + space->stride[q]] != SHOAL_TAG_NONE)
        continue;
      if (best < space->n && levels[q][level].ratio >= min_ratio) continue;
      best = q;
      min_ratio = levels[q][level].ratio;
    }
    if (best < space->n) node += space->stride[best];
  } while (best < space->n);
  return length;
}

static shoal_status probe_path(void *user, const size_t *positions, size_t n, bool *satisfies,
                               shoal_error *error) {
  shoal_search *search = user;
  uint64_t nodes[SHOAL_BATCH_NODES];
  for (size_t i = 0; i < n; i++) nodes[i] = search->path[positions[i]];
  return shoal_search_satisfies_batch(search, nodes, n, satisfies, error);
}

/*
 * One probe at a time: its answer saves about as much work as a second thread would do. In the
 * middle, although classes are fewer higher up: most nodes probed later are rolled up from it.
 */
static const shoal_path_fractions MIDDLE = {.one = 5};

shoal_status shoal_search_decide_by_path(shoal_search *search, uint64_t node, bool *satisfies,
                                         shoal_error *error) {
  if (search->tags && search->tags[node] == SHOAL_TAG_NONE) {
    SHOAL_TRY(prepare_path_order(search, error));
    size_t length = find_untagged_path(search, node, search->path);
    SHOAL_TRY(shoal_path_bisect(search, length, &MIDDLE, probe_path, search, error));
    assert(search->tags[node] != SHOAL_TAG_NONE); /* the path begins at the node */
  }
  return shoal_search_satisfies(search, node, satisfies, error);
}

/* ------------------------------------------------------------ heights */

/* Nodes of one height that wait for their batch. */
typedef struct pending {
  uint64_t nodes[SHOAL_BATCH_NODES];
  size_t n, max;
  bool done;
} pending;

static shoal_status flush(const shoal_level_walk *walk, pending *p, shoal_error *error) {
  size_t n = p->n;
  p->n = 0;
  return n ? walk->evaluate(walk->user, p->nodes, n, &p->done, error) : SHOAL_OK;
}

static shoal_status visit(const shoal_level_walk *walk, pending *p, uint64_t node,
                          shoal_error *error) {
  bool wanted = true;
  if (walk->wants) SHOAL_TRY(walk->wants(walk->user, node, &wanted, error));
  if (wanted) p->nodes[p->n++] = node;
  return p->n == p->max ? flush(walk, p, error) : SHOAL_OK;
}

static shoal_status visit_heights(const shoal_level_walk *walk, uint32_t from_height,
                                  uint32_t *levels, shoal_error *error) {
  const shoal_space *space = &walk->search->space;
  pending p = {.max = shoal_node_batch_size(walk->search)};
  for (uint32_t height = from_height; height <= space->height && !p.done; height++) {
    for (bool more = shoal_space_first(space, height, levels); more && !p.done;
         more = shoal_space_next(space, levels))
      SHOAL_TRY(visit(walk, &p, shoal_space_node(space, levels), error));
    SHOAL_TRY(flush(walk, &p, error));
  }
  return SHOAL_OK;
}

shoal_status shoal_level_walk_heights(const shoal_level_walk *walk, uint32_t from_height,
                                      shoal_error *error) {
  uint32_t *levels = shoal_alloc(walk->search->space.n, sizeof *levels);
  if (!levels) return shoal_fail_memory(error);
  shoal_status status = visit_heights(walk, from_height, levels, error);
  free(levels);
  return status;
}
