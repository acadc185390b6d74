/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/datafly: options and steps of Datafly (Sweeney, as Samarati 2001, section 7, describes
 * it); shoal_search_datafly in lattice.h runs it.
 */
#ifndef SHOAL_LATTICE_DATAFLY_H
#define SHOAL_LATTICE_DATAFLY_H

#include "lattice/lattice.h"

/* One step: an attribute is generalized. */
typedef struct shoal_datafly_step {
  size_t attribute;
  uint32_t level;    /* after the step */
  uint32_t n_labels; /* in use before the step */
  bool alone;        /* for the attribute's own bin size, not for combinations */
} shoal_datafly_step;

/* The steps taken. */
typedef struct shoal_datafly_walk {
  shoal_datafly_step *steps;
  size_t n_steps;
  size_t capacity;
  /*
   * An attribute's profile is below 1, so combinations were checked without it. Check
   * solution->node.satisfies: the node may not satisfy on all quasi-identifiers.
   */
  bool partial;
} shoal_datafly_walk;

void shoal_datafly_walk_reset(shoal_datafly_walk *walk);

typedef struct shoal_datafly_options {
  const shoal_decimal *anonymity; /* by quasi-identifier, 0 to 1; NULL: 0, no bin size */
  const shoal_decimal *profile;   /* of the recipient, by quasi-identifier, 0 to 1; NULL: 1 */
  shoal_datafly_walk *walk;       /* receives the steps; the caller resets it; or NULL */
} shoal_datafly_options;

/* The bin size, rows per label of an attribute alone: ceil(k x anonymity x profile), exact. */
uint64_t shoal_datafly_bin(uint64_t k, shoal_decimal anonymity, shoal_decimal profile);

#endif
