/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster: clusters of rows for local recoding, in which each class is generalized separately
 * (Truta, Campan & Meyer 2007, section 3). Every algorithm returns a partition of all rows and has
 * a row in the table of algorithms.c. Labels are made later (recode.c).
 */
#pragma once

#include "base/intern.h"
#include "cluster/axes.h"
#include "cluster/requirements.h"

/* What is minimized. */
typedef enum shoal_cluster_objective {
  SHOAL_OBJECTIVE_IL,      /* information loss */
  SHOAL_OBJECTIVE_AVG,     /* rows per cluster: as many clusters as possible */
  SHOAL_OBJECTIVE_DM,      /* discernibility: sum of squared sizes */
  SHOAL_OBJECTIVE_BALANCED /* information loss, with at least 97% of the possible clusters */
} shoal_cluster_objective;

/* The first classes of theta. */
typedef enum shoal_theta_start {
  SHOAL_START_FLOCK, /* flock's, on every requirement except theta */
  SHOAL_START_SORTED /* rows sorted by quasi-identifiers, runs of k (Khan et al. 2020) */
} shoal_theta_start;

typedef struct shoal_cluster_task {
  const shoal_axes *axes; /* k .. UINT32_MAX rows */
  const shoal_cluster_requirements *required;
  shoal_cluster_objective objective;
  uint32_t effort;         /* flock: multiplies the search budget; 0 counts as 1 */
  bool relaxed;            /* mondrian: rows of one value may go to both sides */
  shoal_theta_start start; /* theta */
  uint64_t max_noise;      /* theta: maximum number of noise rows */
  uint64_t max_suppressed; /* theta, exchange: maximum rows in classes that break the policy */
  uint64_t seed;           /* theta: chooses the rows that noise rows copy */
  const shoal_run *run;
} shoal_cluster_task;

/* Noise rows. Each has the labels of its cluster and copies one of its rows otherwise. */
typedef struct shoal_noise {
  uint32_t n;
  size_t n_columns;  /* tracked columns */
  uint32_t *cluster; /* by noise row */
  uint32_t *like;    /* the row it copies */
  uint32_t *values;  /* n_columns per noise row: a code of each tracked column */
  size_t cluster_capacity, like_capacity, value_capacity;
} shoal_noise;

void shoal_noise_reset(shoal_noise *noise);
/* Adds a noise row with these values; false: no memory. */
bool shoal_noise_add(shoal_noise *noise, uint32_t cluster, uint32_t like, const uint32_t *values);
/* Keeps the noise rows whose cluster has a nonzero entry. */
void shoal_noise_keep(shoal_noise *noise, const uint8_t *by_cluster);

/* Clusters are numbered 0 .. n_clusters - 1; none is empty. */
typedef struct shoal_partition {
  uint32_t *cluster_of_row;
  uint32_t n_clusters;
  shoal_noise noise;
  bool noise_short; /* more noise rows than the task allows would have helped */
  uint64_t
      n_abandoned;   /* rows of clusters that break a requirement, and that merging does not help */
  uint64_t n_single; /* of these, rows that exchange.c suppresses one by one */
  char why[200];     /* a note on how it was made, for the report; may be "" */
} shoal_partition;

void shoal_partition_reset(shoal_partition *partition);

/* The requirements that an algorithm supports. */
typedef enum shoal_supported_models {
  SHOAL_SUPPORTS_SIZE,   /* k alone */
  SHOAL_SUPPORTS_COUNTS, /* k and numbers of distinct values; other models by exchanging rows */
  SHOAL_SUPPORTS_ALL     /* every model */
} shoal_supported_models;

/*
 * Finds clusters that each satisfy every requirement that the algorithm supports, or puts all rows
 * in one cluster. The caller judges them. Every count can be satisfied by the whole table.
 */
typedef shoal_status shoal_cluster_run(const shoal_cluster_task *task, shoal_partition *partition,
                                       shoal_error *error);

SHOAL_MUST_CHECK shoal_cluster_run shoal_cluster_k_member, shoal_cluster_greedy_pk,
    shoal_cluster_enhanced_pk, shoal_cluster_hybrid_pk, shoal_cluster_mondrian,
    shoal_cluster_top_down, shoal_cluster_flock, shoal_cluster_theta;

/*
 * Changes `partition` in place: exchanges rows of clusters that violate requirements with others,
 * joins them, and suppresses up to max_suppressed rows: whole clusters that violate requirements
 * (n_abandoned) if that is enough, else also single rows (the last cluster, n_single). No noise
 * rows. Clusters may still violate requirements afterwards.
 */
shoal_cluster_run shoal_cluster_exchange SHOAL_MUST_CHECK;

typedef struct shoal_local_algorithm {
  const char *name;
  const char *summary;
  shoal_supported_models supports;
  bool has_objective; /* it minimizes the policy's `objective` */
  bool has_effort;    /* it has a search budget, which `effort` multiplies */
  bool has_noise;     /* it can add noise rows, if `noise` allows them */
  bool has_start;     /* it uses `start` */
  bool has_cuts;      /* it uses `cuts` */
  bool counts_people; /* it can tell people, who have several rows, apart */
  shoal_cluster_run *run;
} shoal_local_algorithm;

/* The table, ended by a NULL name. */
extern const shoal_local_algorithm shoal_local_algorithms[];

/* All rows in one cluster. */
shoal_status shoal_partition_whole(shoal_partition *partition, uint64_t n_rows,
                                   shoal_error *error) SHOAL_MUST_CHECK;

typedef struct shoal_row_range {
  uint32_t start, n;
} shoal_row_range;

/* All rows in one array; clusters are ranges of it. */
typedef struct shoal_ranges {
  uint32_t n_rows;
  uint32_t *rows;
  uint8_t *starts; /* by position: 1 if a cluster starts there, otherwise 0 */
} shoal_ranges;

/* One range with all rows, ascending. */
shoal_status shoal_ranges_init(shoal_ranges *ranges, uint64_t n_rows,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_ranges_reset(shoal_ranges *ranges);
shoal_status shoal_ranges_partition(const shoal_ranges *ranges, shoal_partition *partition,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/* The root of c in a disjoint-set forest; paths to it become shorter. */
static inline uint32_t shoal_find_root(uint32_t *parent, uint32_t c) {
  while (parent[c] != c) c = parent[c] = parent[parent[c]];
  return c;
}

/* ---- labels: recode.c */

/* The boxes of groups of rows, by group and axis. NULL: no memory. */
shoal_span *shoal_boxes_of_rows(const shoal_axes *axes, const uint32_t *group_of_row,
                                uint32_t n_groups);

/* Labels of groups of rows, by quasi-identifier. */
typedef struct shoal_class_labels {
  size_t n;
  shoal_arena arena;      /* of both arrays */
  shoal_strings *strings; /* the distinct labels */
  uint32_t **of_group;    /* by group: index of its label */
} shoal_class_labels;

/* `boxes`: of the groups, by group and axis. */
shoal_status shoal_class_labels_make(shoal_class_labels *labels, const shoal_axes *axes,
                                     const shoal_span *boxes, uint32_t n_groups,
                                     shoal_error *error) SHOAL_MUST_CHECK;
void shoal_class_labels_reset(shoal_class_labels *labels);

/*
 * Makes one class of groups whose labels are all equal; `labels` are by class then. `class_of`
 * receives the class of each group, numbered in order of first appearance.
 */
shoal_status shoal_class_labels_unite(shoal_class_labels *labels, uint32_t n_groups,
                                      uint32_t *class_of, uint32_t *n_classes,
                                      shoal_error *error) SHOAL_MUST_CHECK;
