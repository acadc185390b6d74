/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/distance: distance of a distribution over the positions of a domain from a fixed one:
 * total variation, and the earth mover's distance (Li, Li & Venkatasubramanian 2007). The ground
 * distance depends on the attribute: numbers by rank, trees by the height of the lowest common
 * ancestor, other values all equally far. All distances are from 0 to 1.
 */
#pragma once

#include "measure/domain.h"

typedef enum shoal_ground_distance {
  SHOAL_GROUND_EQUAL,
  SHOAL_GROUND_ORDERED,
  SHOAL_GROUND_HIERARCHICAL
} shoal_ground_distance;

/* A distribution to compare others with. */
typedef struct shoal_reference {
  const shoal_domain *domain;
  shoal_ground_distance ground;
  double *share;             /* by position */
  double *up_to;             /* by position: sum of the shares before it; n_positions + 1 */
  double *sum_up_to;         /* by position: sum of up_to[1 .. position] */
  double **at_level;         /* trees: share of each label, by level */
  struct shoal_moved *moved; /* trees: scratch, one distribution */
} shoal_reference;

/* One value of a sparse distribution: shares above 0, by ascending position, with sum 1. */
typedef struct shoal_share_at {
  uint32_t position;
  double share;
} shoal_share_at;

/* `rows` by position; all 0: there is no distribution, and every distance is 0. */
bool shoal_reference_init(shoal_reference *reference, const shoal_domain *domain,
                          const uint64_t *rows);
void shoal_reference_reset(shoal_reference *reference);

const char *shoal_ground_distance_name(shoal_ground_distance ground);

/* Cost of both: the number of shares, times levels or the logarithm of the positions. */
double shoal_total_variation(const shoal_reference *reference, const shoal_share_at *shares,
                             size_t n);
double shoal_earth_mover(shoal_reference *reference, const shoal_share_at *shares, size_t n);
