/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/greedy: clusters that grow row by row, and the rows that are still free; shared by
 * k-member, greedy-pk and enhanced-pk (Truta, Campan & Meyer 2007). Losses (Definition 9) and
 * diversity (Definitions 11 and 12) are integers.
 *
 * Free rows with equal groups of sensitive values are of one kind. Div depends on the kind only, so
 * only the kinds of the largest Div are searched for the row of least loss.
 */
#pragma once

#include "base/memory.h"
#include "cluster/cluster.h"
#include "cluster/nearest.h"

typedef struct shoal_growing_clusters {
  const shoal_cluster_task *task;
  const shoal_axes *axes;
  const shoal_cluster_requirements *required;
  shoal_arena arena; /* of all arrays below */
  /* clusters */
  uint32_t capacity;
  uint32_t *order;     /* 0 .. capacity - 1 at first; the algorithm may sort it */
  shoal_span *boxes;   /* by cluster: axes->n_spans */
  uint32_t *n_rows;    /* by cluster */
  uint32_t *loss;      /* by cluster: of each of its rows */
  uint32_t *first_row; /* by cluster: the row added last, the head of a list */
  uint32_t *next_row;  /* by row; SHOAL_NONE ends the list */
  /* free rows */
  uint32_t n_free;
  uint8_t *is_free; /* by row */
  shoal_nearest all;
  /* kinds; none without counts */
  uint32_t n_kinds;
  uint32_t *kind_of_row;
  uint32_t *groups;      /* by kind and count */
  uint64_t *div;         /* by kind: scratch */
  shoal_nearest by_kind; /* the free rows with their kind as key */
  shoal_span *point;     /* scratch */
  /* the current cluster: that of the last shoal_growing_clusters_measure */
  shoal_seen seen;
  uint32_t *distinct; /* by count: its groups, at most `least` */
  uint64_t *gain;     /* by count: the part of one more group in Div */
  uint64_t hom;       /* Hom: 0 if every count is satisfied */
} shoal_growing_clusters;

/* Sorts kinds by the rank of their group in one of the counts; missing values come last. */
typedef struct shoal_kind_order {
  size_t count;
  const uint32_t *rank_of; /* by group, below n_groups */
} shoal_kind_order;

/* `capacity` empty clusters; all rows are free. `order` may be NULL. */
shoal_status shoal_growing_clusters_init(shoal_growing_clusters *g, const shoal_cluster_task *task,
                                         uint64_t capacity, const shoal_kind_order *order,
                                         shoal_error *error) SHOAL_MUST_CHECK;
void shoal_growing_clusters_reset(shoal_growing_clusters *g);

/* Moves a free row to a cluster. */
void shoal_growing_clusters_give(shoal_growing_clusters *g, uint32_t cluster, uint32_t row);
/* Frees the rows of a cluster. */
void shoal_growing_clusters_empty(shoal_growing_clusters *g, uint32_t cluster);

/* Makes `cluster` the current one: Hom, and what Div depends on, are computed from its rows. */
void shoal_growing_clusters_measure(shoal_growing_clusters *g, uint32_t cluster);
/* The same after `row` joined the current cluster. */
void shoal_growing_clusters_note(shoal_growing_clusters *g, uint32_t row);

/* The free row that increases the loss of a cluster, which has rows, least. */
uint32_t shoal_growing_clusters_nearest(shoal_growing_clusters *g, uint32_t cluster);

typedef struct shoal_choice {
  uint64_t div;      /* of the row and the cluster */
  uint64_t increase; /* of the cluster's information loss */
  uint32_t row;      /* SHOAL_NONE: no row is free */
} shoal_choice;

/*
 * BestMatch for the current cluster among the free rows of the kinds from .. to - 1: the largest
 * Div, then the least increase, then the lowest row.
 */
shoal_choice shoal_growing_clusters_best(shoal_growing_clusters *g, uint32_t cluster, uint32_t from,
                                         uint32_t to);

/* Reports progress: rows that are in a cluster. */
shoal_status shoal_growing_clusters_report(const shoal_growing_clusters *g,
                                           shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Makes a partition of the clusters order[0 .. n - 1], in that order. Free rows join, in row order,
 * the cluster whose loss increases least, the first of equals. Without clusters (n = 0), all rows
 * form one.
 */
shoal_status shoal_growing_clusters_finish(shoal_growing_clusters *g, uint32_t n,
                                           shoal_partition *partition,
                                           shoal_error *error) SHOAL_MUST_CHECK;
