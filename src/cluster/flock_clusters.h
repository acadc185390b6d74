/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_clusters: the clusters of a block, their boxes, and a cost table that compares one
 * box with all clusters at once. Private to flock*.c.
 *
 * A cluster is a slot; a slot of size 0 is free. Rows of a cluster are a list through `next` and
 * `prev`. The objective gives a cluster of s rows that lose L each the cost
 *
 *     s x L + square x s^2 - bonus
 *
 * with square > 0 for `dm` and bonus > 0 for `avg` and `balanced`. The cost table is stored by
 * cluster, so that one pass over consecutive memory yields the loss of every cluster with a box
 * added (`joint`):
 *
 *     numbers   lo and hi of each cluster
 *     trees     a line for each leaf: loss of each cluster once that leaf joins
 *     sets      the cluster's own loss, and a line for each value: what it adds
 *
 * Moves of rows are recorded, so that any number of them can be rolled back.
 */
#pragma once

#include <stdatomic.h>

#include "cluster/flock_rows.h"

enum {
  SHOAL_STRIDE = 64,        /* clusters compared in one step; room is a multiple of it */
  SHOAL_POLL_WORK = 1 << 17 /* clusters compared between two polls: about a millisecond */
};

/* Groups of one requirement in a cluster; sets of group numbers modulo 64. */
typedef struct shoal_group_set {
  uint64_t once, twice; /* groups with a row; with two rows or more */
  uint32_t distinct;
} shoal_group_set;

/* Terms of the objective beside the loss; see above. */
typedef struct shoal_cluster_cost {
  int64_t square, bonus;
  bool exact_sizes;     /* agglomeration makes clusters of exactly k rows where it can */
  unsigned max_missing; /* percent of the possible clusters that may be missing */
} shoal_cluster_cost;

/* A row that left a cluster. */
typedef struct shoal_move {
  uint32_t row, from;
} shoal_move;

/* Ends the work on all blocks. */
typedef struct shoal_flock_stop {
  atomic_bool stopped, failed; /* failed: no memory */
  void (*poll)(void *user);    /* reports progress and may set `stopped`; on one thread only */
  void *user;
} shoal_flock_stop;

typedef struct shoal_clusters {
  const shoal_packed_rows *p;
  shoal_arena arena; /* of all arrays but `moves` */
  shoal_cluster_cost cost;
  uint32_t room, n;                   /* slots at and above n are free */
  uint32_t n_live, min_live;          /* clusters; local moves leave at least min_live */
  int64_t total;                      /* cost of all clusters */
  uint32_t *cluster_of, *next, *prev; /* by row; cluster_of SHOAL_NONE: in none */
  uint32_t *head, *size, *loss;       /* by cluster */
  shoal_packed_boxes boxes;           /* by cluster */
  shoal_group_set *groups;            /* by cluster and requirement */
  uint64_t clock, *changed, *tried;   /* by cluster: when it changed, when moves last failed */
  /* the cost table; see flock_cost.c */
  int16_t *lo, *hi;         /* numbers: by axis and cluster */
  uint16_t **lines;         /* trees and sets: by axis; by value and cluster; NULL: too large */
  uint16_t *own;            /* sets: by axis and cluster */
  shoal_packed_boxes noted; /* boxes as the table has them */
  bool *is_noted;           /* by cluster */
  uint16_t **active;        /* by axis: values that have lines */
  uint32_t *n_active;       /* by axis */
  float *weight, *offset;   /* by cluster: cost of one more row = joint x weight + offset */
  uint16_t *joint;          /* by cluster: result of the last comparison */
  float *join_cost;         /* by cluster: the same as a cost */
  /* moves */
  shoal_move *moves;
  size_t n_moved, move_capacity;
  uint32_t *stamp, stamps, *touched, *donors; /* by cluster: scratch */
  uint32_t *tuple_index;                      /* by tuple: scratch */
  uint32_t *group_stamp, group_stamps, *rows; /* by group, by row: scratch */
  shoal_packed_boxes scratch;                 /* of local moves */
  shoal_requirement_checker checker;
  shoal_flock_stop *stop;
  bool polls; /* this thread reports progress */
  bool avx2;
  uint64_t random;
  uint64_t work, polled; /* clusters compared so far; when it last polled */
} shoal_clusters;

/* Room for n_clusters. False: no memory. */
bool shoal_clusters_init(shoal_clusters *b, const shoal_packed_rows *p, uint32_t n_clusters,
                         shoal_flock_stop *stop);
/* The same on the rows of another one, with its cost and polling. */
bool shoal_clusters_init_like(shoal_clusters *b, const shoal_clusters *other, uint32_t n_clusters);
void shoal_clusters_reset(shoal_clusters *b);
/* Removes all rows from their clusters. */
void shoal_clusters_clear(shoal_clusters *b);

static inline bool shoal_clusters_is_stopped(shoal_clusters *b) {
  if (b->polls && b->work - b->polled > SHOAL_POLL_WORK) {
    b->polled = b->work;
    b->stop->poll(b->stop->user);
  }
  return atomic_load_explicit(&b->stop->stopped, memory_order_relaxed) ||
         atomic_load_explicit(&b->stop->failed, memory_order_relaxed);
}

static inline shoal_packed_box shoal_clusters_box(const shoal_clusters *b, uint32_t cluster) {
  return shoal_packed_boxes_at(&b->boxes, b->p, cluster);
}

static inline int64_t shoal_cost_of(const shoal_clusters *b, uint32_t size, uint32_t loss) {
  return size ? (int64_t)size * loss + b->cost.square * size * size - b->cost.bonus : 0;
}

static inline int64_t shoal_clusters_cost(const shoal_clusters *b, uint32_t cluster) {
  return shoal_cost_of(b, b->size[cluster], b->loss[cluster]);
}

/* A pseudo-random number below a bound. */
static inline uint32_t shoal_clusters_random(shoal_clusters *b, uint32_t below) {
  return shoal_flock_random(&b->random, below);
}

/* ---- rows in and out */

/* A free slot for a new cluster; SHOAL_NONE: none. */
uint32_t shoal_clusters_open(shoal_clusters *b);
/* Adds a row without a cluster to one; call shoal_clusters_refresh after the last. */
void shoal_clusters_put(shoal_clusters *b, uint32_t row, uint32_t cluster);
/* Recomputes box, loss and groups of a cluster from its rows. */
void shoal_clusters_refresh(shoal_clusters *b, uint32_t cluster);
/* Unites two clusters. */
void shoal_clusters_merge(shoal_clusters *b, uint32_t from, uint32_t into);

/* Moves a row and updates the new cluster; the old one needs a refresh. */
void shoal_clusters_move(shoal_clusters *b, uint32_t row, uint32_t to);
/* Refreshes every cluster that lost or gained a row since move number `since`. */
void shoal_clusters_recompute(shoal_clusters *b, size_t since);
/* Undoes all moves but the first n_kept. */
void shoal_clusters_rollback(shoal_clusters *b, size_t n_kept);

/* ---- requirements */

/* Has the cluster k rows and its distinct values? Does it satisfy every requirement? */
bool shoal_clusters_has_counts(const shoal_clusters *b, uint32_t cluster);
bool shoal_clusters_satisfies(shoal_clusters *b, uint32_t cluster);
/* The first requirement whose distinct values it lacks, or n_counts. */
size_t shoal_clusters_lacking(const shoal_clusters *b, uint32_t cluster);
/* Has the cluster at least n_rows (1 or 2) rows of that row's group? */
bool shoal_clusters_has_group(const shoal_clusters *b, uint32_t cluster, size_t count, uint32_t row,
                              uint32_t n_rows);
/* May the row leave its cluster, as far as k and distinct values are concerned? */
bool shoal_clusters_may_leave(const shoal_clusters *b, uint32_t row);

static inline shoal_group_set *shoal_clusters_groups(const shoal_clusters *b, uint32_t cluster,
                                                     size_t count) {
  return b->groups + (size_t)cluster * b->p->n_counts + count;
}

/* ---- the cost table */

/* Brings the table up to date with a cluster's box, size and loss. */
void shoal_clusters_note(shoal_clusters *b, uint32_t cluster);
/* Limits the lines to values of these rows. Call it while no cluster has rows. */
void shoal_clusters_activate(shoal_clusters *b, const uint32_t *rows, uint32_t n);
/* Fills `joint`: the loss of each cluster with a box added. Garbage for free slots. */
void shoal_clusters_compare(shoal_clusters *b, shoal_packed_box box);
/*
 * The cluster, other than `except`, that a row of these values costs least; SHOAL_NONE: none.
 * Fills `joint` and `join_cost`.
 */
uint32_t shoal_clusters_cheapest(shoal_clusters *b, const int16_t *values, uint32_t except);

/* ---- the steps */

/* Figures of agglomeration that are compared for all clusters at once; by cluster. */
typedef struct shoal_open {
  uint16_t *loss;  /* loss of a cluster that does not satisfy the requirements; else 0 */
  uint16_t *bar;   /* UINT16_MAX: never a partner; else 0 */
  uint16_t *score; /* of its best partner, rounded up; 0 if it needs none */
  uint16_t *bound; /* result of shoal_open_bounds */
} shoal_open;

/*
 * Lower bounds of the scores of a cluster whose own loss, if open, is `own`, with all others;
 * `joint` is filled for it. Returns the cluster of the lowest one; SHOAL_NONE: all are barred.
 */
uint32_t shoal_open_bounds(const shoal_clusters *b, const shoal_open *open, uint16_t own);
/* Is any bound of a stride below `limit` or, if `mutual`, below the cluster's own score? */
bool shoal_open_any_below(const shoal_clusters *b, const shoal_open *open, uint32_t from,
                          uint16_t limit, bool mutual);
/* The cluster of the lowest score; SHOAL_NONE: all are infinite. */
uint32_t shoal_open_lowest(const shoal_clusters *b, const float *score);

/* State of agglomeration; see flock_agglomerate.c. */
typedef struct shoal_agglomeration {
  shoal_clusters *b;
  shoal_arena arena;
  float *score; /* by cluster: with its best partner; INFINITY: none */
  uint32_t *partner, *version_then, *version;
  bool *satisfied;
  uint32_t *lacking; /* by cluster: distinct values it lacks */
  float *noise;      /* by cluster: half the factor of its scores */
  shoal_open open;
} shoal_agglomeration;

bool shoal_agglomeration_init(shoal_agglomeration *g, shoal_clusters *b);
void shoal_agglomeration_reset(shoal_agglomeration *g);
/*
 * Unites clusters, cheapest first, until each satisfies the requirements or one is left. `noise`
 * from 0 to 1 randomizes the order. Returns whether all satisfy them.
 */
bool shoal_agglomerate(shoal_agglomeration *g, float noise);

/*
 * Initial clusters of a block that has none; `seed` varies random choices. *satisfied: all of them
 * satisfy the requirements; otherwise there is one cluster of all rows. False: no memory.
 */
bool shoal_flock_start(shoal_clusters *b, const shoal_axes *axes, uint64_t seed, bool *satisfied);
/* The maximum number of clusters by k and distinct values, and the number that suffices. */
uint32_t shoal_max_clusters(shoal_clusters *b);
uint32_t shoal_enough_clusters(shoal_clusters *b);

/* Boxes that local moves need as scratch. */
size_t shoal_clusters_scratch_boxes(void);
/* Do all clusters that moves from number `since` on touch satisfy every requirement? */
bool shoal_clusters_moves_satisfy(shoal_clusters *b, size_t since);
/* Exchanges one of these rows of a cluster with another cluster; returns whether it lowers the
 * cost.
 */
bool shoal_clusters_exchange(shoal_clusters *b, uint32_t cluster, const uint32_t *rows, uint32_t n);
/* Improves one cluster by local moves; returns whether any helped. */
bool shoal_clusters_improve(shoal_clusters *b, uint32_t cluster);

/* Destroy and repair: takes a few neighbouring clusters apart and rebuilds them. */
typedef struct shoal_repair {
  shoal_clusters *b;
  shoal_clusters pool; /* on the same rows */
  shoal_agglomeration agglomeration;
} shoal_repair;

bool shoal_repair_init(shoal_repair *r, shoal_clusters *b);
void shoal_repair_reset(shoal_repair *r);
void shoal_repair_step(shoal_repair *r);
