/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/theta: the variance of theta-sensitive, for algorithms that change classes until they
 * reach it.
 */
#ifndef SHOAL_MODEL_THETA_H
#define SHOAL_MODEL_THETA_H

#include "model/exact.h"
#include "model/model.h"

/* spread / n^2, where spread is n x (sum of squared weights) - (sum of weights)^2. */
typedef struct shoal_variance {
  shoal_uint128 spread;
  uint64_t n; /* rows with a value */
} shoal_variance;

bool shoal_requirement_is_theta(const shoal_requirement *requirement);

/* Is the variance at least theta? */
bool shoal_theta_reached(const shoal_requirement *requirement, shoal_variance variance);

/* Negative, 0 or positive: a against b. */
int shoal_variance_compare(shoal_variance a, shoal_variance b);

/* No class with fewer distinct values reaches theta, whatever its size. */
uint64_t shoal_theta_min_distinct(const shoal_requirement *requirement);

#endif
