/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/climb: local search on the lattice: descents in two neighbourhoods, and restarts
 * (variable neighbourhood search, Mladenovic & Hansen 1997).
 *
 * From the current node a step raises or lowers one attribute by a level. Where no step improves,
 * an exchange raises one attribute and lowers another. Where no exchange improves either, the best
 * node found is disturbed: some attributes get random levels, more after each failure, and the
 * search continues from there. The random numbers come from a fixed sequence. If time is left after
 * many failures, every second round of disturbances walks: it starts from the last node that could
 * not be improved, not from the best one, and so reaches regions that a single disturbance misses.
 *
 * Attributes are tried in batches of fixed size, and the best move of a batch is made: the search
 * does not depend on the number of threads (neighbours.h).
 */
#include "lattice/climb.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "lattice/neighbours.h"

enum {
  MIN_CHANGES = 2,            /* attributes that get another level in the first disturbance */
  MIN_FAILURES = 32,          /* in a row, until a search without a deadline ends; then it ends */
  FAILURES_PER_ATTRIBUTE = 16 /* in a row; or after reading MANY_SCANNED in vain */
};
static const uint64_t MANY_SCANNED = 200000000;

typedef struct climb {
  shoal_search *search;
  const shoal_search_limits *limits;
  shoal_place at;
  size_t next; /* the attribute whose neighbours are tried next, in a circle */
  uint32_t *best_levels;
  shoal_node_figures best;
  shoal_node best_node;
  shoal_random random;
} climb;

/* Makes the node at c->at.levels the current one, and the best one if it is better. */
static shoal_status arrive(climb *c, shoal_error *error) {
  SHOAL_TRY(shoal_place_arrive(&c->at, error));
  if (!shoal_node_figures_better(&c->at.figures, &c->best)) return SHOAL_OK;
  c->best = c->at.figures;
  c->best_node = c->at.node;
  memcpy(c->best_levels, c->at.levels, c->search->space.n * sizeof *c->best_levels);
  return SHOAL_OK;
}

/* Moves as long as a neighbour of that kind is better; *moved: there was one. */
static shoal_status descend(climb *c, shoal_neighbourhood kind, bool *moved, shoal_error *error) {
  size_t n = c->search->space.n, n_tried = 0;
  *moved = false;
  while (n_tried < n && !shoal_search_is_over(c->search, c->limits)) {
    size_t n_batch = n - n_tried < SHOAL_BATCH_NODES ? n - n_tried : SHOAL_BATCH_NODES;
    shoal_move best;
    SHOAL_TRY(shoal_place_try(&c->at, kind, c->next, n_batch, &best, error));
    c->next = (c->next + n_batch) % n;
    n_tried += n_batch;
    if (!best.improves) continue;
    c->at.levels[best.q] = best.lq;
    if (best.r != SHOAL_NO_ATTRIBUTE) c->at.levels[best.r] = best.lr;
    SHOAL_TRY(arrive(c, error));
    *moved = true;
    if (kind == SHOAL_EXCHANGES) return SHOAL_OK; /* steps are cheaper: first again */
    n_tried = 0;
  }
  return SHOAL_OK;
}

/* To a node that no step and no exchange improves. */
static shoal_status descend_fully(climb *c, shoal_error *error) {
  bool moved;
  do {
    SHOAL_TRY(descend(c, SHOAL_STEPS, &moved, error));
    SHOAL_TRY(descend(c, SHOAL_EXCHANGES, &moved, error));
  } while (moved);
  return SHOAL_OK;
}

/* Is another disturbance not worth its work? `scanned`: n_scanned at the last improvement. */
static bool has_failed_enough(const climb *c, size_t n_failures, uint64_t scanned) {
  size_t n = c->search->space.n;
  return n_failures >= MIN_FAILURES && n_failures >= n &&
         (n_failures >= FAILURES_PER_ATTRIBUTE * n ||
          c->search->n_scanned - scanned > MANY_SCANNED);
}

/*
 * From the top, and from the start if there is one; then from disturbed nodes, with one more change
 * after each failure, up to the number of attributes.
 */
static shoal_status search_on(climb *c, bool has_start, shoal_error *error) {
  const shoal_space *space = &c->search->space;
  if (has_start) {
    SHOAL_TRY(arrive(c, error));
    SHOAL_TRY(descend_fully(c, error));
  }
  memcpy(c->at.levels, space->top, space->n * sizeof *space->top);
  SHOAL_TRY(arrive(c, error));
  if (!c->at.figures.satisfies && c->search->monotone) return SHOAL_OK; /* no node satisfies */
  SHOAL_TRY(descend_fully(c, error));
  size_t n_failures = 0;
  uint64_t scanned = c->search->n_scanned; /* at the last improvement */
  while (space->n_nodes > 1 && !shoal_search_is_over(c->search, c->limits)) {
    shoal_node_figures before = c->best;
    bool walks = has_failed_enough(c, n_failures, scanned) && n_failures / space->n % 2;
    size_t n_changes = MIN_CHANGES + n_failures % (walks ? MIN_CHANGES : space->n);
    /*
     * Goes to a node near the best one, or with `walks` near the current one: up to n_changes
     * attributes get another level.
     */
    if (!walks) memcpy(c->at.levels, c->best_levels, space->n * sizeof *c->at.levels);
    for (size_t i = 0; i < n_changes; i++) {
      size_t q = (size_t)shoal_random_below(&c->random, space->n);
      uint32_t bottom = shoal_space_bottom(space, q);
      c->at.levels[q] =
          bottom + (uint32_t)shoal_random_below(&c->random, (uint64_t)(space->top[q] - bottom) + 1);
    }
    SHOAL_TRY(arrive(c, error));
    SHOAL_TRY(descend_fully(c, error));
    n_failures = shoal_node_figures_better(&c->best, &before) ? 0 : n_failures + 1;
    if (!n_failures) scanned = c->search->n_scanned;
    if (c->limits->deadline <= 0 && has_failed_enough(c, n_failures, scanned)) break;
  }
  return SHOAL_OK;
}

static void finish(const climb *c, shoal_solution *solution) {
  shoal_space *space = &c->search->space;
  *solution = (shoal_solution){
      .found = c->best.satisfies, .node = c->best_node, .cost = c->best.cost, .unproven = true};
  if (!solution->found) /* the top was evaluated: if all is monotone, that is a proof */
    solution->unproven = !c->search->monotone;
  else if (space->n_nodes == UINT64_MAX)
    memcpy(space->unnumbered, c->best_levels, space->n * sizeof *c->best_levels);
  else solution->node.number = shoal_space_node(space, c->best_levels);
}

shoal_status shoal_search_climb(shoal_search *search, const shoal_objective *objective,
                                const shoal_search_limits *limits, shoal_solution *solution,
                                shoal_error *error) {
  const shoal_space *space = &search->space;
  climb c = {.search = search, .limits = limits, .best = {.suppressed = UINT64_MAX}};
  SHOAL_TRY(shoal_place_init(&c.at, search, objective, limits, error));
  shoal_random_seed(&c.random, 0);
  c.best_levels = shoal_alloc(space->n, sizeof *c.best_levels);
  shoal_status status = c.best_levels ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK && solution->found)
    shoal_space_levels(space, solution->node.number, c.at.levels);
  if (status == SHOAL_OK) status = search_on(&c, solution->found, error);
  if (status == SHOAL_OK) finish(&c, solution);
  free(c.best_levels);
  shoal_place_reset(&c.at);
  return status;
}
