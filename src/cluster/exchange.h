/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/exchange: the state of an exchange of rows; private to exchange*.c, which exchange.c
 * describes.
 *
 * Rows are of one kind if every requirement sees them as equal: they have equal sensitive values,
 * or values of one group if a model knows groups only. A cluster knows how many rows of each kind
 * it has, so the cost of judging it does not depend on its size.
 */
#pragma once

#include "base/memory.h"
#include "base/random.h"
#include "cluster/cluster.h"

enum { SHOAL_EXCHANGE_KINDS = 16 }; /* kinds of rows tried in a cluster */

/* Sums of deficits that differ by less are equal. */
#define SHOAL_EXCHANGE_EPSILON 1e-9

typedef struct shoal_kind_count {
  uint32_t kind, n;
} shoal_kind_count;

typedef struct shoal_exchange_cluster {
  uint32_t *rows;
  size_t n, capacity;
  shoal_kind_count *kinds; /* of its rows, ascending */
  size_t n_kinds, kind_capacity;
  shoal_span *box; /* of the rows, if has_box */
  bool has_box;
  double deficit;
} shoal_exchange_cluster;

/* The cluster of each row; n_clusters: suppressed. */
typedef struct shoal_exchange_state {
  uint32_t *cluster_of_row;
  double sum; /* of deficits */
} shoal_exchange_state;

typedef struct shoal_exchange {
  const shoal_cluster_task *task;
  shoal_requirement_checker checker;
  uint32_t *kind_of_row;
  uint32_t *row_of_kind; /* a row of each kind */
  shoal_exchange_cluster *clusters;
  uint32_t n_clusters;
  shoal_exchange_cluster bin; /* suppressed rows */
  uint32_t *scratch_rows, *scratch_counts;
  size_t rows_capacity, counts_capacity;
  shoal_exchange_state best;    /* of all */
  shoal_exchange_state current; /* that random changes start from; nothing is suppressed in it */
  uint64_t work, max_work;      /* kinds looked at */
  shoal_random random;
  bool failed; /* out of memory */
} shoal_exchange;

/* A change of two clusters: a row of each kind moves to the other. SHOAL_NONE: none of that side.
 */
typedef struct shoal_exchange_step {
  shoal_exchange_cluster *a, *b;
  uint32_t from_a, from_b; /* kinds */
  bool join;               /* all rows of b move to a instead */
  double gain;             /* by which the sum of both deficits falls */
} shoal_exchange_step;

/* ------------------------------------------------------------ exchange_clusters.c */

/* False: no memory; x->failed is set. */
bool shoal_exchange_add(shoal_exchange *x, shoal_exchange_cluster *c, uint32_t row);
/* Takes the last row of the kind, which the cluster has. */
uint32_t shoal_exchange_take(const shoal_exchange *x, shoal_exchange_cluster *c, uint32_t kind);
void shoal_exchange_empty(shoal_exchange_cluster *c);
void shoal_exchange_free(shoal_exchange_cluster *c);

/* Copies the bounding box of a cluster, which is computed if rows have changed. */
void shoal_exchange_box(shoal_exchange *x, shoal_exchange_cluster *c, shoal_span *box);

/* The deficit of a cluster with a row of `out` less and one of `in` more (SHOAL_NONE: none). */
double shoal_exchange_deficit(shoal_exchange *x, const shoal_exchange_cluster *c, uint32_t out,
                              uint32_t in);
double shoal_exchange_joined(shoal_exchange *x, const shoal_exchange_cluster *a,
                             const shoal_exchange_cluster *b);
/* Sets the deficit of a cluster. */
void shoal_exchange_judge(shoal_exchange *x, shoal_exchange_cluster *c);

/* The kinds of a cluster, at most SHOAL_EXCHANGE_KINDS: those with the most rows. */
size_t shoal_exchange_kinds(const shoal_exchange_cluster *c, uint32_t *kinds);

/* Takes a step and judges both clusters. */
void shoal_exchange_apply(shoal_exchange *x, const shoal_exchange_step *step);

static inline bool shoal_exchange_is_spent(const shoal_exchange *x) {
  return x->failed || x->checker.failed || x->work > x->max_work;
}

/* ------------------------------------------------------------ exchange_steps.c */

/* Takes steps that lower the sum of deficits until there is none. */
shoal_status shoal_exchange_descend(shoal_exchange *x, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Moves rows from a cluster with a deficit to `to`, which has max_rows at
 * most, of the kinds that lower the deficit most, until it is 0 or stays as it is.
 */
void shoal_exchange_relieve(shoal_exchange *x, shoal_exchange_cluster *c,
                            shoal_exchange_cluster *to, uint64_t max_rows);
/* Moves rows of violating clusters to the bin, up to max_suppressed. */
shoal_status shoal_exchange_suppress(shoal_exchange *x, shoal_error *error) SHOAL_MUST_CHECK;
/* Returns rows from the bin to clusters that satisfy the requirements with them, too. */
void shoal_exchange_bring_back(shoal_exchange *x);
