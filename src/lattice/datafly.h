/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/datafly: Sweeney's Datafly as Samarati 2001, section 7, describes it: a greedy walk up
 * the lattice. It ends at a node that satisfies, often above a minimal one.
 */
#ifndef SHOAL_LATTICE_DATAFLY_H
#define SHOAL_LATTICE_DATAFLY_H

#include "lattice/lattice.h"

/* One step of the walk: an attribute is generalized. */
typedef struct shoal_datafly_step {
  size_t attribute;
  uint32_t level;    /* that it comes to */
  uint32_t n_labels; /* in use before the step */
  bool alone;        /* for the attribute's own bin size, not for combinations */
} shoal_datafly_step;

/* The strategy walked, and what the control on combinations left out. */
typedef struct shoal_datafly_walk {
  shoal_datafly_step *steps;
  size_t n_steps;
  size_t capacity;
  /*
   * Some attribute's profile is below 1, so that it was left out of the control on combinations:
   * solution->satisfies tells whether the node satisfies on all quasi-identifiers, and it may not.
   */
  bool partial;
} shoal_datafly_walk;

void shoal_datafly_walk_reset(shoal_datafly_walk *walk);

typedef struct shoal_datafly_options {
  const shoal_decimal *anonymity; /* by quasi-identifier, 0 to 1; NULL: 0, nothing is asked */
  const shoal_decimal *profile;   /* of the recipient, by quasi-identifier, 0 to 1; NULL: 1 */
  shoal_datafly_walk *walk;       /* filled, to be reset by the caller; NULL: not wanted */
} shoal_datafly_options;

/*
 * The rows that each label of an attribute must have by itself: ceil(k x anonymity x profile),
 * exact. Both decimals are from 0 to 1.
 */
uint64_t shoal_datafly_bin(uint64_t k, shoal_decimal anonymity, shoal_decimal profile);

/*
 * The node where the walk ends, with its exact figures; `minimal` is not known and not set.
 * *found is false where even the last node that it can reach does not satisfy. SHOAL_BAD_INPUT
 * for anonymity levels or profiles outside 0 to 1. `options` may be NULL: the defaults.
 */
shoal_status shoal_search_datafly(shoal_search *search, const shoal_datafly_options *options,
                                  shoal_node *solution, bool *found,
                                  shoal_error *error) SHOAL_MUST_CHECK;

#endif
