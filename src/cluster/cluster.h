/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster: rows -> clusters, for local recoding: each class is generalized by itself (Truta,
 * Campan & Meyer 2007, section 3). One file an algorithm, one row of the table in algorithms.c.
 * Every algorithm gives a partition of all rows; which labels it leads to is not its business.
 */
#ifndef SHOAL_CLUSTER_CLUSTER_H
#define SHOAL_CLUSTER_CLUSTER_H

#include "cluster/axes.h"
#include "cluster/fit.h"

/* What is made least. */
typedef enum shoal_aim {
  SHOAL_AIM_IL,      /* information loss */
  SHOAL_AIM_AVG,     /* rows a cluster: as many clusters as there can be */
  SHOAL_AIM_DM,      /* discernibility: sum of squared sizes */
  SHOAL_AIM_BALANCED /* information loss, with clusters within 3% of what there can be */
} shoal_aim;

/* Which classes theta starts from. */
typedef enum shoal_theta_start {
  SHOAL_START_FLOCK, /* flock's, on every demand but theta */
  SHOAL_START_SORTED /* rows sorted by quasi-identifiers, runs of k (Khan et al. 2020) */
} shoal_theta_start;

typedef struct shoal_cluster_task {
  const shoal_axes *axes;
  const shoal_fit *fit;
  shoal_aim aim;
  uint32_t effort;                       /* flock: multiplies the search budget; 0 counts as 1 */
  bool relaxed;                          /* mondrian: rows of one value may go to both sides */
  shoal_theta_start start;               /* theta */
  const struct shoal_recoding *recoding; /* theta: what labels will be; NULL: no two are alike */
  uint64_t most_noise;                   /* theta: rows that it may invent */
  uint64_t most_suppressed; /* theta: rows that it may leave in classes that break the policy */
  uint64_t seed;            /* theta: of what invented rows copy */
  const shoal_run *run;
} shoal_cluster_task;

/* Invented rows: each has its cluster's labels, and is otherwise like a row of it. */
typedef struct shoal_noise {
  uint32_t n;
  size_t n_columns;  /* tracked columns */
  uint32_t *cluster; /* by invented row */
  uint32_t *like;    /* the row it copies */
  uint32_t *values;  /* n_columns a row: a code of each tracked column */
} shoal_noise;

void shoal_noise_reset(shoal_noise *noise);

/* Clusters are numbered 0 .. n_clusters - 1, none is empty. */
typedef struct shoal_partition {
  uint32_t *cluster_of_row;
  uint32_t n_clusters;
  shoal_noise noise;
  bool noise_short;    /* more invented rows than the task allows would have helped */
  uint64_t n_given_up; /* rows of clusters that break a demand and that merging does not help */
  char why[200];       /* what a person should know of how it was made; "" if nothing */
} shoal_partition;

void shoal_partition_reset(shoal_partition *partition);

/* What an algorithm can reach. */
typedef enum shoal_reach {
  SHOAL_REACH_SIZE,   /* k alone */
  SHOAL_REACH_COUNTS, /* k and numbers of distinct values */
  SHOAL_REACH_ALL     /* every model, where the table lets it */
} shoal_reach;

typedef struct shoal_local_algorithm {
  const char *name;
  const char *summary;
  shoal_reach reach;
  bool has_aim;    /* it follows `objective` */
  bool has_effort; /* it has a search budget, which `effort` multiplies */
  /* A number that is released as an interval costs by the interval's width, also where it has a
   * hierarchy; else it costs by the hierarchy. */
  bool costs_as_released;
  /*
   * Clusters that each satisfy every demand; all rows in one where nothing smaller was found
   * (whether that satisfies them is for the caller to see). There are k rows or more, and every
   * count can be reached by the whole table.
   */
  shoal_status (*run)(const shoal_cluster_task *task, shoal_partition *partition,
                      shoal_error *error);
} shoal_local_algorithm;

/* The table, ended by a NULL name. */
extern const shoal_local_algorithm shoal_local_algorithms[];

shoal_status shoal_cluster_k_member(const shoal_cluster_task *task, shoal_partition *partition,
                                    shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_cluster_greedy_pk(const shoal_cluster_task *task, shoal_partition *partition,
                                     shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_cluster_enhanced_pk(const shoal_cluster_task *task, shoal_partition *partition,
                                       shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_cluster_hybrid_pk(const shoal_cluster_task *task, shoal_partition *partition,
                                     shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_cluster_mondrian(const shoal_cluster_task *task, shoal_partition *partition,
                                    shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_cluster_top_down(const shoal_cluster_task *task, shoal_partition *partition,
                                    shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_cluster_flock(const shoal_cluster_task *task, shoal_partition *partition,
                                 shoal_error *error) SHOAL_MUST_CHECK;

shoal_status shoal_cluster_theta(const shoal_cluster_task *task, shoal_partition *partition,
                                 shoal_error *error) SHOAL_MUST_CHECK;

/*
 * What theta does once it has classes: swaps rows between them, invents rows where the task allows
 * it, merges or gives up what still breaks a demand. `partition` is changed in place.
 */
shoal_status shoal_theta_mend(const shoal_cluster_task *task, shoal_partition *partition,
                              shoal_error *error) SHOAL_MUST_CHECK;

/* All rows in one cluster. */
shoal_status shoal_partition_whole(shoal_partition *partition, uint64_t n_rows,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/* Clusters are stretches of an array of all rows; starts[i] is 1 where one starts, else 0. */
shoal_status shoal_partition_stretches(shoal_partition *partition, const uint32_t *rows,
                                       const uint8_t *starts, uint32_t n_rows,
                                       shoal_error *error) SHOAL_MUST_CHECK;

#endif
