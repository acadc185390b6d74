/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/fit: what the demands ask of a cluster, in a form that clustering can ask often. A size,
 * numbers of distinct groups of sensitive values (p-sensitive, extended, by categories, distinct l:
 * `counts`), and whatever else the models say, which needs the whole class.
 */
#ifndef SHOAL_CLUSTER_FIT_H
#define SHOAL_CLUSTER_FIT_H

#include "model/model.h"

/* A class needs `least` distinct groups of an attribute's values. */
typedef struct shoal_count {
  const shoal_column *column;
  size_t sensitive;   /* which of the tracked columns */
  uint32_t *group_of; /* by value of the column; SHOAL_NO_GROUP: missing, counts for nothing */
  uint32_t n_groups;
  uint32_t least;
  uint32_t weight; /* of Div and Hom (Definition 11), whole numbers in the right proportion */
  uint64_t most;   /* clusters that can have it together: the second necessary condition */
} shoal_count;

#define SHOAL_NO_GROUP UINT32_MAX

typedef struct shoal_fit {
  const shoal_demands *demands;
  const shoal_tracked *tracked;
  uint64_t n_rows;
  uint64_t k; /* rows that a class needs at least; 1 or more */
  shoal_count *counts;
  size_t n_counts;
  const shoal_demand **others; /* demands that are neither a size nor a count */
  size_t n_others;
  bool monotone; /* a class that contains one that fits does fit */
} shoal_fit;

/* How much each sensitive attribute counts in Div and Hom. */
typedef enum shoal_fit_weights { SHOAL_FIT_GIVEN, SHOAL_FIT_INVERSE } shoal_fit_weights;

shoal_status shoal_fit_init(shoal_fit *fit, const shoal_demands *demands,
                            const shoal_tracked *tracked, const shoal_table *table,
                            shoal_fit_weights weights, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_fit_reset(shoal_fit *fit);

/* The most clusters that the size and the counts leave possible. */
uint64_t shoal_fit_most_clusters(const shoal_fit *fit);

/* The group of a row in a count, or SHOAL_NO_GROUP. */
static inline uint32_t shoal_count_group(const shoal_count *count, uint64_t row) {
  return count->group_of[shoal_column_code(count->column, row)];
}

/* Scratch memory of judging; one a thread. */
typedef struct shoal_judging {
  const shoal_fit *fit;
  uint32_t **stamp; /* by count, by group: when it was last seen */
  uint32_t now;
  uint32_t *values; /* others: values of a cluster, sorted */
  uint64_t *n_rows;
  size_t capacity;
  bool failed; /* without memory nothing fits */
} shoal_judging;

shoal_status shoal_judging_init(shoal_judging *judging, const shoal_fit *fit,
                                shoal_error *error) SHOAL_MUST_CHECK;
void shoal_judging_reset(shoal_judging *judging);

/* Do these rows, as one class, satisfy every demand? */
bool shoal_judging_fits(shoal_judging *judging, const uint32_t *rows, size_t n);

/* Invented rows that are judged with those of the table: a code of each tracked column. */
typedef struct shoal_added {
  const uint32_t *values; /* n_columns a row */
  size_t n, n_columns;
} shoal_added;

/* Do these rows and the invented ones, as one class, satisfy every demand? */
bool shoal_judging_fits_with(shoal_judging *judging, const uint32_t *rows, size_t n,
                             shoal_added added);

/* The same of the demands that are no size and no count alone. */
bool shoal_judging_others(shoal_judging *judging, const uint32_t *rows, size_t n);

#endif
