/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/grown: clusters while they grow row by row, what they lose (Truta, Campan & Meyer 2007,
 * Definition 9) and how diverse they are (Definitions 11 and 12). Whole numbers throughout.
 */
#ifndef SHOAL_CLUSTER_GROWN_H
#define SHOAL_CLUSTER_GROWN_H

#include "cluster/cluster.h"

typedef struct shoal_grown {
  const shoal_axes *axes;
  uint32_t capacity;   /* clusters there is room for */
  uint32_t *order;     /* the clusters as the algorithm counts them; at first as numbered */
  shoal_span *extents; /* by cluster, one span an axis */
  uint32_t *n_rows;    /* by cluster */
  uint32_t *loss;      /* by cluster: what each of its rows loses */
  uint32_t *first_row; /* by cluster: the row that came last; then next_row to the end */
  uint32_t *next_row;  /* by row; SHOAL_NO_ROW ends a cluster */
} shoal_grown;

/* `capacity` empty clusters. */
shoal_status shoal_grown_init(shoal_grown *grown, const shoal_axes *axes, uint64_t capacity,
                              shoal_error *error) SHOAL_MUST_CHECK;
void shoal_grown_reset(shoal_grown *grown);

static inline shoal_span *shoal_grown_extent(const shoal_grown *grown, uint32_t cluster) {
  return grown->extents + (size_t)cluster * grown->axes->n;
}

void shoal_grown_add(shoal_grown *grown, uint32_t cluster, uint32_t row);
void shoal_grown_clear(shoal_grown *grown, uint32_t cluster);

/* IL(cl + t) - IL(cl), where each row loses `loss` once t has joined. */
static inline uint64_t shoal_grown_increase(const shoal_grown *grown, uint32_t cluster,
                                            uint32_t loss) {
  uint64_t n = grown->n_rows[cluster];
  return (n + 1) * loss - n * grown->loss[cluster];
}

/*
 * The clusters order[0 .. n - 1], numbered so, as a partition: rows that are in none of them join,
 * in the order of their numbers, the one whose information loss grows least, the first of equals.
 * Without any cluster all rows form one.
 */
shoal_status shoal_grown_finish(shoal_grown *grown, uint32_t n, const shoal_run *run,
                                shoal_partition *partition, shoal_error *error) SHOAL_MUST_CHECK;

/* ---- diversity of one cluster at a time */

typedef struct shoal_diversity {
  const shoal_fit *fit;
  uint64_t **seen;    /* by count, by group: the cluster that had it last */
  uint64_t now;       /* number of the cluster at hand */
  uint32_t *distinct; /* by count: groups of the cluster at hand, at most `least` */
  uint64_t *gain;     /* by count: what one more group adds to Div */
  uint64_t hom;       /* Hom: 0 if every count is reached */
} shoal_diversity;

shoal_status shoal_diversity_init(shoal_diversity *diversity, const shoal_fit *fit,
                                  shoal_error *error) SHOAL_MUST_CHECK;
void shoal_diversity_reset(shoal_diversity *diversity);

/* The cluster at hand is an empty one; a row with these groups (one a count) has joined it. */
void shoal_diversity_start(shoal_diversity *diversity);
void shoal_diversity_add(shoal_diversity *diversity, const uint32_t *groups);

/* Div of a row with these groups and the cluster at hand. */
static inline uint64_t shoal_diversity_of(const shoal_diversity *diversity,
                                          const uint32_t *groups) {
  uint64_t sum = 0;
  for (size_t d = 0; d < diversity->fit->n_counts; d++)
    if (groups[d] != SHOAL_NO_GROUP && diversity->seen[d][groups[d]] != diversity->now)
      sum += diversity->gain[d];
  return sum;
}

#endif
