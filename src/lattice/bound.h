/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/bound: no node at these levels that suppresses so many rows costs less. For objectives
 * that join what the attributes cost by themselves: what a level costs is known before any class
 * is, and of the suppressed rows, which lose everything, those are taken to be suppressed whose
 * labels had lost most already.
 */
#ifndef SHOAL_LATTICE_BOUND_H
#define SHOAL_LATTICE_BOUND_H

#include "lattice/objective.h"

/* One attribute at one level. */
typedef struct shoal_level_bound {
  double cost;      /* nothing suppressed */
  double joined;    /* the same, as it goes into the sum over attributes */
  uint32_t n_steps; /* labels in use, those first whose rows lose least by being suppressed */
  uint64_t *rows;   /* of the first i labels together; n_steps + 1 of them */
  double *more;     /* what they lose together */
  double ratio;     /* of a step to the next level: cost a bit of what it hides */
} shoal_level_bound;

typedef struct shoal_bound {
  const shoal_search *search;
  const shoal_objective *objective;
  size_t n;
  double *weight;             /* by quasi-identifier, the objective's mean already in it */
  shoal_level_bound **levels; /* by quasi-identifier and level */
} shoal_bound;

shoal_status shoal_bound_init(shoal_bound *bound, const shoal_search *search,
                              const shoal_objective *objective, const shoal_level_costs *costs,
                              shoal_error *error) SHOAL_MUST_CHECK;
void shoal_bound_reset(shoal_bound *bound);

/* The least cost at these levels with at least so many rows suppressed. */
double shoal_bound_at(const shoal_bound *bound, const uint32_t *levels, uint64_t suppressed);

/*
 * A path from the node to the top: each step raises the attribute that pays least for what it
 * hides. Returns its length, at most the lattice's height + 1; `levels` ends at the top.
 */
size_t shoal_bound_path(const shoal_bound *bound, uint64_t node, uint32_t *levels, uint64_t *path);

#endif
