/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/distance: how far a distribution over the places of a domain is from a fixed one: total
 * variation, and the earth mover's distance (Li, Li & Venkatasubramanian 2007) with the ground
 * distance that the attribute has: numbers by rank, trees by the height of the lowest common
 * ancestor, other words all equally far. All distances are from 0 to 1.
 */
#ifndef SHOAL_MEASURE_DISTANCE_H
#define SHOAL_MEASURE_DISTANCE_H

#include "measure/cover.h"

typedef enum shoal_ground {
  SHOAL_GROUND_EQUAL,
  SHOAL_GROUND_ORDERED,
  SHOAL_GROUND_HIERARCHICAL
} shoal_ground;

/* A distribution to compare others with. */
typedef struct shoal_reference {
  const shoal_domain *domain;
  shoal_ground ground;
  double *share;             /* by place */
  double *up_to;             /* by place: sum of the shares before it; n_places + 1 */
  double *sum_up_to;         /* by place: sum of up_to[1 .. place] */
  double **at_level;         /* trees: share of each label, by level */
  struct shoal_moved *moved; /* trees: room for a distribution on its way up */
} shoal_reference;

/* One value of a sparse distribution: shares above 0, by ascending place, that add up to 1. */
typedef struct shoal_share_at {
  uint32_t place;
  double share;
} shoal_share_at;

/* `rows` by place; all 0: the distribution is not there, and every distance is 0. */
bool shoal_reference_init(shoal_reference *reference, const shoal_domain *domain,
                          const uint64_t *rows);
void shoal_reference_reset(shoal_reference *reference);

const char *shoal_ground_name(shoal_ground ground);

/* Both take time in the number of shares (times levels, or the logarithm of the places). */
double shoal_total_variation(const shoal_reference *reference, const shoal_share_at *shares,
                             size_t n);
double shoal_earth_mover(shoal_reference *reference, const shoal_share_at *shares, size_t n);

#endif
