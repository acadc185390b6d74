/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/requirements: the requirements on a cluster, in a form that can be tested often: a size,
 * numbers of distinct groups of sensitive values (p-sensitive, extended, by categories, distinct l:
 * `counts`), and the other models, which are judged on the whole class.
 */
#pragma once

#include "cluster/axes.h"
#include "model/model.h"

/* A class needs at least `min_distinct` distinct groups of an attribute's values. */
typedef struct shoal_distinct_requirement {
  const shoal_column *column;
  size_t tracked;     /* index of the tracked column */
  uint32_t *group_of; /* by value of the column; SHOAL_NONE: missing, never counted */
  uint32_t n_groups;
  uint32_t min_distinct;
  uint32_t weight; /* in Div and Hom (Definition 11): integers in the proportion of the weights */
  uint64_t max_clusters; /* clusters that can all satisfy it: the second necessary condition */
} shoal_distinct_requirement;

typedef struct shoal_cluster_requirements {
  const shoal_requirements *requirements;
  const shoal_tracked *tracked;
  uint64_t n_rows;
  uint64_t k;        /* minimum class size, at least 1 */
  shoal_arena arena; /* of the arrays below */
  shoal_distinct_requirement *counts;
  size_t n_counts;
  const shoal_requirement **others; /* requirements that are neither a size nor a count */
  size_t n_others;
  bool monotone; /* a superset of a class that fits also fits */
} shoal_cluster_requirements;

/* The weight of each sensitive attribute in Div and Hom. */
typedef enum shoal_requirement_weights {
  SHOAL_WEIGHTS_GIVEN,
  SHOAL_WEIGHTS_INVERSE
} shoal_requirement_weights;

shoal_status shoal_cluster_requirements_init(shoal_cluster_requirements *required,
                                             const shoal_requirements *requirements,
                                             const shoal_tracked *tracked, const shoal_table *table,
                                             shoal_requirement_weights weights,
                                             shoal_error *error) SHOAL_MUST_CHECK;
void shoal_cluster_requirements_reset(shoal_cluster_requirements *required);

/* Upper bound on the number of clusters, from the size and the counts. */
uint64_t shoal_cluster_requirements_max_clusters(const shoal_cluster_requirements *required);

/* The group of a row in a count, or SHOAL_NONE. */
static inline uint32_t shoal_distinct_requirement_group(const shoal_distinct_requirement *count,
                                                        uint64_t row) {
  return count->group_of[shoal_column_code(count->column, row)];
}

/*
 * Splits kinds of rows by one more column: rows stay of one kind if they have one value of it, or
 * one group of values if group_of is not NULL. Kinds are numbered from 0 in order of first
 * appearance. Returns their number; SHOAL_NONE: no memory.
 */
uint32_t shoal_split_kinds(uint32_t *kind_of_row, uint64_t n_rows, const shoal_column *column,
                           const uint32_t *group_of);

/* The set of groups seen so far, one set per count. */
typedef struct shoal_seen {
  const shoal_cluster_requirements *required;
  uint32_t **stamp; /* by count, by group: the round in which it was last added */
  uint32_t round;
} shoal_seen;

/* Returns false without memory. */
bool shoal_seen_init(shoal_seen *seen, const shoal_cluster_requirements *required,
                     shoal_arena *arena);

/* Empties all sets. Call it before the first shoal_seen_add. */
void shoal_seen_clear(shoal_seen *seen);

/* Is the group missing from the set of count d? SHOAL_NONE is never new. */
static inline bool shoal_seen_is_new(const shoal_seen *seen, size_t d, uint32_t group) {
  return group != SHOAL_NONE && seen->stamp[d][group] != seen->round;
}

/* Adds the group; returns whether it was new. */
static inline bool shoal_seen_add(shoal_seen *seen, size_t d, uint32_t group) {
  bool is_new = shoal_seen_is_new(seen, d, group);
  if (is_new) seen->stamp[d][group] = seen->round;
  return is_new;
}

/* Tests rows against the requirements; scratch memory, one per thread. */
typedef struct shoal_requirement_checker {
  const shoal_cluster_requirements *required;
  shoal_arena arena;
  shoal_seen seen;
  size_t room;      /* rows that the arrays below have room for */
  uint32_t *values; /* three histograms: sensitive values, guarding nodes, people; ascending */
  uint64_t *n_rows; /* by value: rows of the class */
  uint32_t *scratch;
  shoal_position_count *counted;
  bool failed; /* out of memory: every answer is "does not fit" */
} shoal_requirement_checker;

shoal_status shoal_requirement_checker_init(shoal_requirement_checker *checker,
                                            const shoal_cluster_requirements *required,
                                            shoal_error *error) SHOAL_MUST_CHECK;
void shoal_requirement_checker_reset(shoal_requirement_checker *checker);

/* Do these rows, as one class, satisfy every requirement? Cost: one pass over the rows per
 * requirement. */
bool shoal_requirement_checker_satisfies(shoal_requirement_checker *checker, const uint32_t *rows,
                                         size_t n);

/* Noise rows that are judged with rows of the table: a code for each tracked column. */
typedef struct shoal_added {
  const uint32_t *values; /* n_columns per row */
  size_t n, n_columns;
} shoal_added;

/* The same with noise rows added to the class. */
bool shoal_requirement_checker_satisfies_with(shoal_requirement_checker *checker,
                                              const uint32_t *rows, size_t n, shoal_added added);

/* The same for `others` only: no size, no counts. */
bool shoal_requirement_checker_others(shoal_requirement_checker *checker, const uint32_t *rows,
                                      size_t n);

/*
 * How far rows are from satisfying every requirement, about in rows; 0 if they do, or if there are
 * none. Each of the n rows stands for counts[i] rows with equal tracked values. Cost: a pass over
 * the n rows per requirement, without an early stop.
 */
double shoal_requirement_checker_deficit(shoal_requirement_checker *checker, const uint32_t *rows,
                                         const uint32_t *counts, size_t n);
