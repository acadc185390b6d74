/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/search: what the algorithms of this directory share beside lattice.h. Private to it.
 *
 * Nodes are evaluated in batches (search.c). A batch is chosen before its threads start, and its
 * results are applied in order after they end. The batch size depends on the data only. Therefore
 * neither the answer nor the counters depend on the number of threads.
 *
 * monotone.c has the two ways through the lattice: height by height, and by bisection on a path.
 */
#pragma once

#include "lattice/lattice.h"

/* ------------------------------------------------------------ batches */

/* The evaluation of one node. */
typedef struct shoal_node_evaluation {
  uint64_t node;
  uint32_t *levels;
  const shoal_classes *source; /* classes to roll up from */
  uint32_t n_source;           /* number of them */
  shoal_grouper *grouper;      /* of the thread */
  shoal_classes classes;       /* if the work leaves them here, they become a snapshot */
  shoal_status status;
  shoal_error error;
} shoal_node_evaluation;

struct shoal_node_batch {
  shoal_node_evaluation evaluations[SHOAL_BATCH_NODES];
  uint32_t *levels;                              /* SHOAL_BATCH_NODES vectors */
  shoal_grouper groupers[SHOAL_BATCH_NODES - 1]; /* of the threads other than the caller's */
};

/* Nodes per batch, for nodes that say nothing about each other: 1 for small tables. */
size_t shoal_node_batch_size(const shoal_search *search);

/*
 * Evaluates n <= SHOAL_BATCH_NODES nodes in parallel: calls work(user, i, evaluation) for node i on
 * any thread. It may fill evaluation->classes and what `user` holds for i. On success the classes
 * are stored as snapshots, in order. Otherwise the first error in order is returned. `sizes_only`:
 * classes without sensitive values will do as a source.
 */
typedef shoal_status shoal_node_work(void *user, size_t i, shoal_node_evaluation *evaluation);
shoal_status shoal_node_batch_evaluate(shoal_search *search, const uint64_t *nodes, size_t n,
                                       bool sizes_only, shoal_node_work *work, void *user,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* The first step of most work: rolls up evaluation->classes, with or without sensitive values. */
shoal_status shoal_node_evaluation_roll_up(const shoal_search *search,
                                           shoal_node_evaluation *evaluation,
                                           bool sizes_only) SHOAL_MUST_CHECK;

/* Histograms are expensive to merge. If there are any, sizes are worth checking first. */
bool shoal_search_sizes_first(const shoal_search *search);

/* Do the sizes and the number of the classes alone show that the node does not satisfy? */
bool shoal_search_fails_by_size(const shoal_search *search, const shoal_classes *classes);

/* shoal_judge for the classes of a node. `grouper`: of the thread. */
shoal_judgement shoal_search_judge(const shoal_search *search, const uint32_t *levels,
                                   shoal_grouper *grouper, const shoal_classes *classes,
                                   uint64_t limit, uint8_t *violates);

/*
 * Rows that are suppressed at a node at least, because they violate over one set (`over`, `known`);
 * not exact above `limit`. *complete: if it is 0, nothing is suppressed. 0 without such models.
 */
shoal_status shoal_search_min_over_sets(const shoal_search *search, const uint32_t *levels,
                                        uint64_t limit, shoal_grouper *grouper, uint64_t *rows,
                                        bool *complete, shoal_error *error) SHOAL_MUST_CHECK;

/* The node with its exact figures; `minimal` is not set. */
shoal_node shoal_search_node(const shoal_search *search, uint64_t node,
                             const shoal_judgement *judged);

/* SHOAL_BAD_INPUT, with advice, if the lattice has more than SHOAL_MAX_NODES nodes. */
shoal_status shoal_search_check_size(const shoal_search *search,
                                     shoal_error *error) SHOAL_MUST_CHECK;

/* ------------------------------------------------------------ limits */

/* When a search ends before it is complete. */
typedef struct shoal_search_limits {
  uint64_t max_scanned; /* when search->n_scanned reaches it */
  double deadline;      /* when shoal_seconds() reaches it; 0: never */
} shoal_search_limits;

/* Has the search reached a limit? */
bool shoal_search_is_over(const shoal_search *search, const shoal_search_limits *limits);

/* ------------------------------------------------------------ height by height */

typedef struct shoal_level_walk {
  shoal_search *search;
  void *user;
  /* Must the node be evaluated? NULL: every node is. */
  shoal_status (*wants)(void *user, uint64_t node, bool *wanted, shoal_error *error);
  /* Evaluates up to SHOAL_BATCH_NODES nodes of one height, ascending. Sets *done to end the walk.
   */
  shoal_status (*evaluate)(void *user, const uint64_t *nodes, size_t n, bool *done,
                           shoal_error *error);
} shoal_level_walk;

/* Visits the nodes from that height to the top, each height by ascending number. */
shoal_status shoal_level_walk_heights(const shoal_level_walk *walk, uint32_t from_height,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/* ------------------------------------------------------------ on a path */

/* Where to probe next, in tenths of the open part of the path. */
typedef struct shoal_path_fractions {
  unsigned one;
  unsigned two[2]; /* two probes at once, for large tables; zeros: always one */
} shoal_path_fractions;

/* Are the n positions (1 or 2, ascending) after the change? */
typedef shoal_status shoal_path_probe(void *user, const size_t *positions, size_t n, bool *after,
                                      shoal_error *error);

/* Bisects a path on which the answer changes once, from false to true. */
shoal_status shoal_path_bisect(const shoal_search *search, size_t length,
                               const shoal_path_fractions *fractions, shoal_path_probe *probe,
                               void *user, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Does a node satisfy? Bisects a path of untagged nodes from it to the top. If many nodes are
 * decided, an answer found high on one path decides many nodes below.
 */
shoal_status shoal_search_decide_by_path(shoal_search *search, uint64_t node, bool *satisfies,
                                         shoal_error *error) SHOAL_MUST_CHECK;
void shoal_search_free_path_order(shoal_search *search);

/* ------------------------------------------------------------ optimal */

/* shoal_search_optimal for objectives that only classes bound (dm, avg, classes), exact. */
shoal_status shoal_search_optimal_levelwise(shoal_search *search,
                                            const struct shoal_objective *objective,
                                            const shoal_search_limits *limits,
                                            shoal_solution *solution,
                                            shoal_error *error) SHOAL_MUST_CHECK;
