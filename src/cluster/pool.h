/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/pool: the rows that are in no cluster yet, and which of them a cluster should have next.
 * Rows with the same groups of sensitive values are of one kind: Div (Truta, Campan & Meyer 2007,
 * Definition 11) is a matter of the kind alone, and only the kinds of largest Div are searched.
 */
#ifndef SHOAL_CLUSTER_POOL_H
#define SHOAL_CLUSTER_POOL_H

#include "cluster/grown.h"
#include "cluster/rowtree.h"

/* Kinds follow each other by the rank of their group in one of the counts; missing ones last. */
typedef struct shoal_pool_order {
  size_t count;
  const uint32_t *rank_of; /* by group, below n_groups */
} shoal_pool_order;

typedef struct shoal_pool {
  const shoal_axes *axes;
  const shoal_fit *fit;
  uint32_t n_free;
  uint8_t *is_free; /* by row */
  uint32_t n_kinds;
  uint32_t *kind_of_row;
  uint32_t *groups;       /* by kind: its groups, one a count */
  shoal_row_tree all;     /* the free rows */
  shoal_row_tree by_kind; /* the same, kind by kind; none without counts */
  uint64_t *div;          /* by kind: scratch */
  shoal_span *scratch;    /* one an axis */
} shoal_pool;

/* All rows are free. `fit` NULL: sensitive values do not matter; `order` NULL: any. */
shoal_status shoal_pool_init(shoal_pool *pool, const shoal_axes *axes, const shoal_fit *fit,
                             const shoal_pool_order *order, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_pool_reset(shoal_pool *pool);

static inline const uint32_t *shoal_pool_groups(const shoal_pool *pool, uint32_t row) {
  return pool->groups + (size_t)pool->kind_of_row[row] * pool->fit->n_counts;
}

/* Takes a free row out and gives it to a cluster; puts a cluster's rows back and empties it. */
void shoal_pool_give(shoal_pool *pool, uint32_t row, shoal_grown *grown, uint32_t cluster);
void shoal_pool_take_back(shoal_pool *pool, shoal_grown *grown, uint32_t cluster);

/* The free row whose pair with `row` loses most; SHOAL_NO_ROW: none is free. */
uint32_t shoal_pool_furthest(shoal_pool *pool, uint32_t row);

/* The free row that makes the cluster, which has rows, lose least. */
uint32_t shoal_pool_nearest(shoal_pool *pool, const shoal_grown *grown, uint32_t cluster);

/* A choice, and what speaks for it. */
typedef struct shoal_choice {
  uint64_t div;      /* of the row and the cluster */
  uint64_t increase; /* of the cluster's information loss */
  uint32_t row;      /* SHOAL_NO_ROW: no row is free */
} shoal_choice;

/*
 * BestMatch for one cluster: of the free rows of the kinds from .. to - 1, those of largest Div; of
 * these, the row of least increase; of equals, the lowest. `diversity` is that of the cluster.
 */
shoal_choice shoal_pool_best(shoal_pool *pool, const shoal_grown *grown, uint32_t cluster,
                             const shoal_diversity *diversity, uint32_t from, uint32_t to);

#endif
