/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/theta: the variance that theta-sensitive asks for, for whoever changes classes until they
 * have it.
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

bool shoal_demand_is_theta(const shoal_demand *demand);

/* Is it at least theta? */
bool shoal_theta_reached(const shoal_demand *demand, shoal_variance variance);

/* Negative, 0 or positive: a against b. */
int shoal_variance_compare(shoal_variance a, shoal_variance b);

/* Distinct values below which no class of any size reaches theta. */
uint64_t shoal_theta_least_distinct(const shoal_demand *demand);

#endif
