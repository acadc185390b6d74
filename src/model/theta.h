/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/theta: the variance of theta-sensitive, for attacks and for algorithms that change classes
 * until they reach it.
 */
#pragma once

#include "base/wide.h"
#include "model/model.h"

/*
 * spread / n^2, where spread is n x (sum of squared weights) - (sum of weights)^2. With d values it
 * is at most (n d)^2 / 9: it fits if n d is below 2^65, as in local recoding (docs/limits.md).
 */
typedef struct shoal_variance {
  shoal_uint128 spread;
  uint64_t n; /* rows with a value */
} shoal_variance;

/* The same for any class: up to 2^63 - 1 rows and 2^32 values. */
typedef struct shoal_wide_variance {
  shoal_wide spread;
  uint64_t n;
} shoal_wide_variance;

/* `rows`: of each value, in descending order. */
shoal_wide_variance shoal_wide_variance_of(const uint64_t *rows, size_t n_values);
double shoal_wide_variance_double(shoal_wide_variance variance);

/* Is the variance at least mu (k^2 - 1) / 12? Without a row it is not, unless that is 0. */
bool shoal_wide_variance_reaches(shoal_wide_variance variance, shoal_decimal mu, uint64_t k);

bool shoal_requirement_is_theta(const shoal_requirement *requirement);

/* Is the variance at least theta? */
bool shoal_theta_reached(const shoal_requirement *requirement, shoal_variance variance);

/* Negative, 0 or positive: a against b. */
int shoal_variance_compare(shoal_variance a, shoal_variance b);

/* No class with fewer distinct values reaches theta, whatever its size. */
uint64_t shoal_theta_min_distinct(const shoal_requirement *requirement);
