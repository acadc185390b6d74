/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/fit: the demands on a cluster, in a form that can be tested often: a size, numbers of
 * distinct groups of sensitive values (p-sensitive, extended, by categories, distinct l: `counts`),
 * and the other models, which are judged on the whole class.
 */
#ifndef SHOAL_CLUSTER_FIT_H
#define SHOAL_CLUSTER_FIT_H

#include "cluster/axes.h"
#include "model/model.h"

#define SHOAL_NO_GROUP UINT32_MAX

/* A class needs at least `least` distinct groups of an attribute's values. */
typedef struct shoal_count {
  const shoal_column *column;
  size_t sensitive;   /* index of the tracked column */
  uint32_t *group_of; /* by value of the column; SHOAL_NO_GROUP: missing, never counted */
  uint32_t n_groups;
  uint32_t least;
  uint32_t weight; /* in Div and Hom (Definition 11): integers in the proportion of the weights */
  uint64_t most;   /* clusters that can all satisfy it: the second necessary condition */
} shoal_count;

typedef struct shoal_fit {
  const shoal_demands *demands;
  const shoal_tracked *tracked;
  uint64_t n_rows;
  uint64_t k; /* minimum class size, at least 1 */
  shoal_count *counts;
  size_t n_counts;
  const shoal_demand **others; /* demands that are neither a size nor a count */
  size_t n_others;
  bool monotone; /* a superset of a class that fits also fits */
} shoal_fit;

/* The weight of each sensitive attribute in Div and Hom. */
typedef enum shoal_fit_weights { SHOAL_FIT_GIVEN, SHOAL_FIT_INVERSE } shoal_fit_weights;

shoal_status shoal_fit_init(shoal_fit *fit, const shoal_demands *demands,
                            const shoal_tracked *tracked, const shoal_table *table,
                            shoal_fit_weights weights, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_fit_reset(shoal_fit *fit);

/* Upper bound on the number of clusters, from the size and the counts. */
uint64_t shoal_fit_most_clusters(const shoal_fit *fit);

/* The group of a row in a count, or SHOAL_NO_GROUP. */
static inline uint32_t shoal_count_group(const shoal_count *count, uint64_t row) {
  return count->group_of[shoal_column_code(count->column, row)];
}

/* The set of groups seen so far, one set per count. */
typedef struct shoal_seen {
  const shoal_fit *fit;
  uint32_t **stamp; /* by count, by group: the round in which it was last added */
  uint32_t round;
} shoal_seen;

/* Returns false without memory. */
bool shoal_seen_init(shoal_seen *seen, const shoal_fit *fit);
void shoal_seen_reset(shoal_seen *seen);

/* Empties all sets. Call it before the first shoal_seen_add. */
void shoal_seen_clear(shoal_seen *seen);

/* Is the group missing from the set of count d? SHOAL_NO_GROUP is never new. */
static inline bool shoal_seen_is_new(const shoal_seen *seen, size_t d, uint32_t group) {
  return group != SHOAL_NO_GROUP && seen->stamp[d][group] != seen->round;
}

/* Adds the group; returns whether it was new. */
static inline bool shoal_seen_add(shoal_seen *seen, size_t d, uint32_t group) {
  bool is_new = shoal_seen_is_new(seen, d, group);
  if (is_new) seen->stamp[d][group] = seen->round;
  return is_new;
}

/* Tests rows against the demands; scratch memory, one per thread. */
typedef struct shoal_judging {
  const shoal_fit *fit;
  shoal_seen seen;
  uint32_t *values; /* two histograms of `others`: the values of a class, ascending, */
  uint64_t *n_rows; /* and their numbers of rows */
  uint32_t *scratch;
  shoal_place_count *counted;
  size_t value_capacity, row_capacity, scratch_capacity, counted_capacity;
  bool failed; /* out of memory: every answer is "does not fit" */
} shoal_judging;

shoal_status shoal_judging_init(shoal_judging *judging, const shoal_fit *fit,
                                shoal_error *error) SHOAL_MUST_CHECK;
void shoal_judging_reset(shoal_judging *judging);

/* Do these rows, as one class, satisfy every demand? Cost: one pass over the rows per demand. */
bool shoal_judging_fits(shoal_judging *judging, const uint32_t *rows, size_t n);

/* Noise rows that are judged with rows of the table: a code for each tracked column. */
typedef struct shoal_added {
  const uint32_t *values; /* n_columns per row */
  size_t n, n_columns;
} shoal_added;

/* The same with noise rows added to the class. */
bool shoal_judging_fits_with(shoal_judging *judging, const uint32_t *rows, size_t n,
                             shoal_added added);

/* The same for `others` only: no size, no counts. */
bool shoal_judging_others(shoal_judging *judging, const uint32_t *rows, size_t n);

#endif
