/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/optimal: the best node of all under an objective that attributes cost by their levels.
 *
 * Nodes come by what their levels cost, about the least first; once that is not below the best cost
 * found, no node behind can be better. For each that what is known does not rule out, the highest
 * node on a path to the top that rules it out is found by bisection (as Kohlmayer et al. 2012,
 * "Flash", find where a path begins to satisfy): a node above that breaks the limit rules out all
 * below it, and one that suppresses many rows rules out all those that these rows make too dear.
 * High nodes have few classes and rule out most. Every node that satisfies on the way is costed.
 *
 * Where demands are not monotone, those that are rule out; what they leave is looked at, several
 * nodes at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "lattice/optimum.h"

/* More nodes are searched under a time limit only. */
static const uint64_t MOST_NODES = 20000000;

/* Where tuples are many, classes a tuple that there can be at a node that others are made of. */
enum { MANY_TUPLES = 60000, TOO_MANY = 64 };

/* ------------------------------------------------------------ what is known rules out */

/* Is a node that suppresses so many rows not the one? */
static bool ruled_out(const shoal_optimum *o, const shoal_frontier_node *node,
                      const uint32_t *levels, uint64_t suppressed) {
  if (suppressed > o->limit) return true;
  if (!o->found) return false;
  double bound = suppressed ? shoal_bound_at(&o->bound, levels, suppressed) : node->bound;
  return shoal_optimum_hopeless(o, bound, node->bound, node->node);
}

static bool known_out(const shoal_optimum *o, const shoal_frontier_node *node,
                      const uint32_t *levels) {
  return ruled_out(o, node, levels, shoal_known_ask(&o->least, levels, 0));
}

static bool looked_wholly(const shoal_optimum *o, uint64_t node) {
  return shoal_ids_find(&o->whole, node) != SHOAL_NO_ID;
}

/* What is known of a place on the path: 1 it rules the node out, 0 it does not, -1 look. */
static int asked(shoal_optimum *o, const shoal_frontier_node *node, uint64_t at) {
  const uint32_t *levels = o->frontier.levels;
  shoal_space_levels(&o->search->space, at, o->levels);
  if (ruled_out(o, node, levels, shoal_known_ask(&o->least, o->levels, 0))) return 1;
  uint64_t most = shoal_known_ask(&o->most, o->levels, UINT64_MAX);
  return most != UINT64_MAX && !ruled_out(o, node, levels, most) ? 0 : -1;
}

/* High up, where classes are few. */
static const shoal_places HIGH_UP = {.one = 7, .two = {5, 8}};

/* A node that places on a path up are asked about: do they rule it out? */
typedef struct climbing {
  shoal_optimum *optimum;
  const shoal_frontier_node *node;
} climbing;

static shoal_status ask(void *user, const size_t *places, size_t n, bool *beyond,
                        shoal_error *error) {
  const climbing *c = user;
  shoal_optimum *o = c->optimum;
  uint64_t unknown[SHOAL_LOOKS];
  size_t n_unknown = 0;
  for (size_t i = 0; i < n; i++) {
    int known = asked(o, c->node, o->path[places[i]]);
    beyond[i] = known != 1;
    if (known < 0) unknown[n_unknown++] = o->path[places[i]];
  }
  if (!n_unknown) return SHOAL_OK;
  SHOAL_TRY(shoal_optimum_look(o, unknown, n_unknown, o->all_monotone, error));
  for (size_t i = 0; i < n; i++) beyond[i] = asked(o, c->node, o->path[places[i]]) != 1;
  return SHOAL_OK;
}

/* Finds the highest node on a path from this one up that rules it out, looking where it must. */
static shoal_status climb(shoal_optimum *o, const shoal_frontier_node *node, shoal_error *error) {
  climbing c = {.optimum = o, .node = node};
  memcpy(o->levels, o->frontier.levels, o->search->space.n * sizeof *o->levels);
  size_t length = shoal_bound_path(&o->bound, node->node, o->levels, o->path);
  return shoal_walk_bisect(o->search, length, &HIGH_UP, ask, &c, error);
}

/* ------------------------------------------------------------ the search */

/* Nodes to be looked at wholly, together: only where demands are not monotone. */
typedef struct queue {
  shoal_frontier_node nodes[SHOAL_LOOKS];
  size_t n, most;
} queue;

static shoal_status flush(shoal_optimum *o, queue *waiting, shoal_error *error) {
  uint64_t nodes[SHOAL_LOOKS];
  size_t n = 0;
  for (size_t i = 0; i < waiting->n; i++) {
    shoal_space_levels(&o->search->space, waiting->nodes[i].node, o->levels);
    if (!known_out(o, &waiting->nodes[i], o->levels)) nodes[n++] = waiting->nodes[i].node;
  }
  waiting->n = 0;
  return n ? shoal_optimum_look(o, nodes, n, true, error) : SHOAL_OK;
}

static shoal_status visit(shoal_optimum *o, const shoal_frontier_node *node, queue *waiting,
                          shoal_error *error) {
  const uint32_t *levels = o->frontier.levels;
  if (looked_wholly(o, node->node) || known_out(o, node, levels)) return SHOAL_OK;
  if (o->monotone.n_items) SHOAL_TRY(climb(o, node, error));
  if (looked_wholly(o, node->node) || known_out(o, node, levels)) return SHOAL_OK;
  waiting->nodes[waiting->n++] = *node;
  return waiting->n == waiting->most ? flush(o, waiting, error) : SHOAL_OK;
}

static bool out_of_time(shoal_optimum *o) {
  if (o->deadline <= 0 || shoal_seconds() < o->deadline) return false;
  o->search->unproven = true;
  return true;
}

/*
 * Classes that there can be at levels, all labels in all combinations, for each tuple. Where that
 * is high, most tuples are classes by themselves.
 */
static double classes_a_tuple(const shoal_search *search, const uint32_t *levels) {
  const shoal_frequency *f = search->frequency;
  double classes = 1;
  for (size_t q = 0; q < f->n_quasi; q++) classes *= f->hierarchies[q]->levels[levels[q]].n_labels;
  return classes / f->n_tuples;
}

/*
 * Paths raise attributes in about the same order, wherever they begin: nodes low on the path from
 * the bottom are below most nodes that will be looked at, and their classes are few already. Where
 * tuples are many, not so low that they are not.
 */
static shoal_status lay_sources(shoal_optimum *o, shoal_error *error) {
  bool many = o->search->frequency->n_tuples >= MANY_TUPLES;
  memset(o->levels, 0, o->search->space.n * sizeof *o->levels);
  size_t length = shoal_bound_path(&o->bound, 0, o->levels, o->path);
  for (size_t tenth = 2; o->monotone.n_items && tenth <= 5; tenth++) {
    uint64_t node = o->path[length * tenth / 10];
    shoal_space_levels(&o->search->space, node, o->levels);
    if (many && classes_a_tuple(o->search, o->levels) > TOO_MANY) continue;
    SHOAL_TRY(shoal_optimum_look(o, &node, 1, o->all_monotone, error));
  }
  return SHOAL_OK;
}

/*
 * Greedily down from the top, as long as a node below is better: something good to end with where
 * time is short, and what bounds are measured against.
 */
static shoal_status descend(shoal_optimum *o, shoal_error *error) {
  const shoal_space *space = &o->search->space;
  uint64_t from = space->n_nodes - 1;
  SHOAL_TRY(shoal_optimum_look(o, &from, 1, true, error));
  while (o->found) {
    from = o->best.number;
    for (size_t q = 0; q < space->n && !out_of_time(o); q++) {
      uint64_t below = from - space->stride[q];
      bool can_step = from / space->stride[q] % ((uint64_t)space->top[q] + 1) > 0;
      if (can_step && !looked_wholly(o, below))
        SHOAL_TRY(shoal_optimum_look(o, &below, 1, true, error));
    }
    if (o->best.number == from) break;
  }
  return SHOAL_OK;
}

static shoal_status by_bounds(shoal_optimum *o, shoal_error *error) {
  queue waiting = {.most = o->all_monotone ? 1 : shoal_several_at_once(o->search)};
  if (o->deadline > 0) {
    SHOAL_TRY(descend(o, error));
    if (o->all_monotone && !o->found) return SHOAL_OK; /* no node satisfies */
  }
  SHOAL_TRY(lay_sources(o, error));
  shoal_frontier_node node;
  bool more;
  for (;;) {
    SHOAL_TRY(shoal_frontier_next(&o->frontier, &node, &more, error));
    double least = shoal_frontier_least(&o->frontier);
    if (!more || shoal_optimum_hopeless(o, least, least, node.node)) break;
    if (out_of_time(o)) return SHOAL_OK;
    if (!shoal_optimum_hopeless(o, node.bound, node.bound, node.node))
      SHOAL_TRY(visit(o, &node, &waiting, error));
  }
  return flush(o, &waiting, error);
}

/* ------------------------------------------------------------ the whole */

static shoal_status pick_monotone(shoal_optimum *o, shoal_error *error) {
  const shoal_demands *all = o->search->demands;
  o->monotone = (shoal_demands){.monotone = true, .k = all->k, .p = all->p};
  o->monotone.items = shoal_alloc(all->n_items, sizeof *o->monotone.items);
  if (!o->monotone.items) return shoal_fail_memory(error);
  o->sizes_tell = !all->monotone;
  for (size_t i = 0; i < all->n_items; i++) {
    const shoal_demand *demand = &all->items[i];
    if (!demand->type->monotone(demand)) continue;
    o->sizes_tell = o->sizes_tell && demand->type->needs == SHOAL_NEEDS_SIZE;
    o->monotone.items[o->monotone.n_items++] = *demand;
  }
  o->all_monotone = all->monotone;
  return SHOAL_OK;
}

static shoal_status prepare(shoal_optimum *o, shoal_error *error) {
  shoal_search *search = o->search;
  size_t n = search->space.n;
  shoal_known_init(&o->least, n, true);
  shoal_known_init(&o->most, n, false);
  bool ok = shoal_ids_init(&o->whole, 1024);
  o->path = shoal_alloc((size_t)search->space.height + 1, sizeof *o->path);
  o->levels = shoal_alloc(n, sizeof *o->levels);
  if (!ok || !o->path || !o->levels) return shoal_fail_memory(error);
  SHOAL_TRY(pick_monotone(o, error));
  SHOAL_TRY(shoal_level_costs_init(&o->costs, search->frequency, error));
  SHOAL_TRY(shoal_bound_init(&o->bound, search, o->objective, &o->costs, error));
  return shoal_frontier_init(&o->frontier, &search->space, &o->bound, error);
}

static void reset(shoal_optimum *o) {
  shoal_known_reset(&o->least);
  shoal_known_reset(&o->most);
  shoal_ids_reset(&o->whole);
  free(o->path);
  free(o->levels);
  free(o->monotone.items);
  shoal_frontier_reset(&o->frontier);
  shoal_bound_reset(&o->bound);
  shoal_level_costs_reset(&o->costs);
  free(o);
}

static shoal_status refuse_size(const shoal_search *search, shoal_error *error) {
  return shoal_fail(error, SHOAL_BAD_INPUT,
                    "the lattice has %llu nodes, too many for 'optimal' to go through: use "
                    "hierarchies with fewer levels, or give it a --time-limit",
                    (unsigned long long)search->space.n_nodes);
}

static shoal_status search_by_bounds(shoal_search *search, shoal_node *solution, bool *found,
                                     shoal_error *error) {
  double seconds = search->run ? search->run->time_limit_seconds : 0;
  if (search->space.n_nodes > MOST_NODES && seconds <= 0) return refuse_size(search, error);
  uint64_t n = search->frequency->n_records;
  *found = false;
  if (search->needs_rows && n == 0) return SHOAL_OK;
  shoal_optimum *o = shoal_alloc_zero(1, sizeof *o);
  if (!o) return shoal_fail_memory(error);
  o->search = search;
  o->objective = search->objective;
  o->limit = search->max_suppressed;
  if (search->needs_rows && o->limit >= n) o->limit = n - 1;
  if (seconds > 0) o->deadline = shoal_seconds() + seconds;
  shoal_status status = prepare(o, error);
  if (status == SHOAL_OK) status = by_bounds(o, error);
  *found = o->found;
  search->cost = o->cost;
  *solution = o->best;
  reset(o);
  return status;
}

shoal_status shoal_search_optimal(shoal_search *search, shoal_node *solution, bool *found,
                                  shoal_error *error) {
  if (search->objective->level_cost) return search_by_bounds(search, solution, found, error);
  if (search->space.n_nodes > MOST_NODES)
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "the lattice has %llu nodes, too many for objective '%s': use hierarchies "
                      "with fewer levels, or an objective that levels tell, such as 'loss'",
                      (unsigned long long)search->space.n_nodes, search->objective->name);
  return shoal_search_by_heights(search, solution, found, error);
}
