/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock: what the parts of flock share; private to flock*.c.
 *
 *     rows -> flock_order (neighbours alike) -> blocks of rows, each by itself:
 *     flock_gather, flock_fill or flock_halve (first clusters) -> flock_improve (eject, dissolve),
 *     flock_chain (rows go round), flock_mix and flock_regather (pools of neighbours divided anew)
 *     while the loss falls -> clusters
 */
#ifndef SHOAL_CLUSTER_FLOCK_H
#define SHOAL_CLUSTER_FLOCK_H

#include <stdatomic.h>

#include "cluster/cluster.h"

#define SHOAL_NIL UINT32_MAX

enum { SHOAL_REACH = 16, SHOAL_SHORT_REACH = 5 }; /* of gathering, unless and where rows are many */

/*
 * The tuples in an order in which neighbours are alike: that of a tree of best cuts. `weight` is
 * the rows of each tuple; cuts leave at least `least` rows on each side where they can. In haste,
 * small parts are not cut where they then lose least, but where they lose most and evenly.
 */
shoal_status shoal_flock_order(const shoal_axes *axes, const uint32_t *weight, uint64_t least,
                               bool in_haste, const shoal_run *run, uint32_t *order,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* The rows of the table in that order; rows of one tuple are neighbours. */
shoal_status shoal_flock_order_rows(const shoal_cluster_task *task, uint64_t least, bool in_haste,
                                    uint32_t *rows, shoal_error *error) SHOAL_MUST_CHECK;
/* The same in haste, and only so far that each half is alike, and large parts of it. */
shoal_status shoal_flock_order_roughly(const shoal_cluster_task *task, uint32_t *rows,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* ------------------------------------------------------------ small tables */

/* Clusters of least loss where the table is small enough for that; else *done stays false. */
shoal_status shoal_flock_small(const shoal_cluster_task *task, shoal_partition *partition,
                               bool *done, shoal_error *error) SHOAL_MUST_CHECK;

/* The same where values, not k, bound the number of clusters. */
shoal_status shoal_flock_scarce(const shoal_cluster_task *task, shoal_partition *partition,
                                bool *done, shoal_error *error) SHOAL_MUST_CHECK;

/* ------------------------------------------------------------ a herd: clusters at work */

/* Counts of the lowest and highest places of a cluster on an axis, to see what one row adds. */
typedef struct shoal_ends {
  uint32_t lo, next_lo, n_lo;
  uint32_t hi, next_hi, n_hi;
} shoal_ends;

/* A cluster as it was when a trial first touched it. */
typedef struct shoal_saved {
  uint32_t cluster, size, loss;
  bool stale; /* rows left it: extent and counts are to be computed again */
} shoal_saved;

/* Groups of one count in a cluster; the sets are exact where the count has at most 64 groups. */
typedef struct shoal_variety {
  uint64_t groups, twice; /* bits modulo 64: of groups that are there; that have two rows or more */
  uint32_t distinct;
} shoal_variety;

/*
 * The rows of a block and the clusters they are in. Rows are numbered within the block, in the
 * flock's order; so are tuples. A cluster is a slot; a slot of size 0 is free. Rows of a cluster
 * are a list through `next` and `prev`.
 */
typedef struct shoal_herd {
  const shoal_axes *axes;
  const shoal_fit *fit;
  shoal_aim aim;
  size_t n_axes, n_counts;
  uint32_t n;      /* rows */
  uint32_t *row;   /* the table's row of each */
  uint32_t *tuple; /* its tuple, of this block */
  uint32_t n_tuples;
  uint32_t reach;     /* neighbours on each side that gathering looks at */
  uint32_t *places;   /* by tuple: n_axes places */
  uint32_t **group;   /* by count, by row: numbered within the block */
  uint32_t *n_groups; /* by count */
  uint32_t n_slots;
  uint32_t *cluster_of, *next, *prev; /* by row */
  uint32_t *head, *size, *loss;       /* by slot */
  shoal_span *extent;                 /* by slot: n_axes spans */
  uint32_t *axis_loss;                /* by slot: n_axes losses */
  shoal_variety *variety;             /* by slot: one a count */
  shoal_ends *ends;                   /* by slot: one an axis, where known */
  uint8_t *has_ends;                  /* by slot */
  uint32_t *free_slots, n_free;
  /* neighbours: clusters by where their rows stand in the order */
  uint32_t *at, *position, n_at; /* of each slot, SHOAL_NIL: not among them yet */
  uint32_t *worst, n_worst;      /* clusters that lose most: they take outliers */
  /* what has changed since a cluster was last tried */
  uint64_t clock, *changed; /* by slot: when it changed */
  uint64_t *tried, *mixed;  /* by slot: when that was last tried in vain */
  /* a trial: moves that are kept or taken back */
  uint32_t *moved, *moved_from, n_moved; /* rows */
  size_t moved_capacity, from_capacity;
  shoal_saved *saved;
  size_t n_saved, saved_capacity;
  shoal_span *saved_extent;     /* by saved: n_axes */
  uint32_t *saved_losses;       /* by saved: n_axes */
  shoal_variety *saved_variety; /* by saved: n_counts */
  uint32_t *saved_at;           /* by slot: its place in `saved` + 1 */
  /* scratch */
  uint32_t **seen; /* by count, by group: rows in the cluster at hand; all 0 between uses */
  shoal_span *span;
  uint32_t *list, *set; /* n rows each */
  uint64_t *keys;       /* n */
  shoal_judging judging;
  const atomic_bool *stop; /* set: improving ends; NULL: never */
  uint64_t work;           /* rows and clusters looked at so far */
  uint64_t limit;          /* of it: then improving ends */
  bool failed;             /* no memory */
} shoal_herd;

shoal_status shoal_herd_init(shoal_herd *herd, const shoal_cluster_task *task, const uint32_t *rows,
                             uint32_t n, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_herd_reset(shoal_herd *herd);
/* No row is in a cluster any more. */
void shoal_herd_clear(shoal_herd *herd);

static inline const uint32_t *shoal_herd_places(const shoal_herd *herd, uint32_t row) {
  return herd->places + (size_t)herd->tuple[row] * herd->n_axes;
}

static inline uint64_t shoal_herd_cost(const shoal_herd *herd, uint32_t cluster) {
  return (uint64_t)herd->size[cluster] * herd->loss[cluster];
}

uint64_t shoal_herd_total(const shoal_herd *herd);

/* Lists: a row into a cluster, out of its cluster; figures are not touched. */
void shoal_herd_link(shoal_herd *herd, uint32_t row, uint32_t cluster);
void shoal_herd_unlink(shoal_herd *herd, uint32_t row);
/* A row that is in no list joins a cluster; figures too. */
void shoal_herd_join(shoal_herd *herd, uint32_t row, uint32_t cluster);
/* Every tuple becomes a cluster, of its own number; there are none yet. */
void shoal_herd_make_tuples(shoal_herd *herd);
/* All figures of a cluster, from its rows. */
void shoal_herd_refresh(shoal_herd *herd, uint32_t cluster);
/* A free slot; SHOAL_NIL if there is none. Slots are given back by shoal_herd_release. */
uint32_t shoal_herd_take(shoal_herd *herd);
void shoal_herd_release(shoal_herd *herd, uint32_t cluster);

/* All rows of one cluster go to another; its slot is given back. */
void shoal_herd_absorb(shoal_herd *herd, uint32_t cluster, uint32_t into);

/* Is improving over: out of memory, enough work done, or told to stop? */
static inline bool shoal_herd_is_done(const shoal_herd *herd) {
  return herd->failed || herd->work >= herd->limit ||
         (herd->stop && atomic_load_explicit(herd->stop, memory_order_relaxed));
}

/* Does the cluster satisfy every demand? */
bool shoal_herd_fits(shoal_herd *herd, uint32_t cluster);
/* May the row leave its cluster, as to size and counts? */
bool shoal_herd_spares(const shoal_herd *herd, uint32_t row);
/* Has the cluster at least so many rows, 1 or 2, of a group? */
bool shoal_herd_has(const shoal_herd *herd, uint32_t cluster, size_t count, uint32_t group,
                    uint32_t n_rows);

static inline shoal_variety *shoal_herd_variety(const shoal_herd *herd, uint32_t cluster,
                                                size_t count) {
  return herd->variety + (size_t)cluster * herd->n_counts + count;
}

/*
 * What the cluster's loss grows by if a row at `places` joins; at least `limit` where it is not
 * below it.
 */
static inline uint64_t shoal_herd_join_cost(const shoal_herd *herd, uint32_t cluster,
                                            const uint32_t *places, uint64_t limit) {
  uint64_t cost = herd->loss[cluster], size = (uint64_t)herd->size[cluster] + 1;
  const shoal_span *extent = herd->extent + (size_t)cluster * herd->n_axes;
  const uint32_t *losses = herd->axis_loss + (size_t)cluster * herd->n_axes;
  for (size_t q = 0; q < herd->n_axes && cost < limit; q++) {
    uint32_t place = places[q];
    if (place < extent[q].lo)
      cost += size * (shoal_axis_loss(&herd->axes->items[q], place, extent[q].hi) - losses[q]);
    else if (place > extent[q].hi)
      cost += size * (shoal_axis_loss(&herd->axes->items[q], extent[q].lo, place) - losses[q]);
  }
  return cost;
}

/* The ends of a cluster on every axis, and its loss once a row at `places` has left. */
const shoal_ends *shoal_herd_ends(shoal_herd *herd, uint32_t cluster);
uint32_t shoal_herd_loss_without(const shoal_herd *herd, const shoal_ends *ends,
                                 const uint32_t *places);
/* Whichever row leaves, the loss is not below this. */
uint32_t shoal_herd_least_loss_without(const shoal_herd *herd, const shoal_ends *ends);

/* Puts the clusters into the order of their rows, and lists those that lose most. */
void shoal_herd_arrange(shoal_herd *herd);

/* ---- trials */

void shoal_trial_begin(shoal_herd *herd);
bool shoal_trial_move(shoal_herd *herd, uint32_t row, uint32_t to);
/* Brings the figures of clusters that lost rows up to date. */
void shoal_trial_settle(shoal_herd *herd);
/* Was the row moved in this trial? */
bool shoal_trial_has_moved(const shoal_herd *herd, uint32_t row);
/* Keeps the moves as they are. */
void shoal_trial_keep(shoal_herd *herd);
/* Keeps the moves if every cluster still fits and the aim is served; else takes them back. */
bool shoal_trial_end(shoal_herd *herd);
void shoal_trial_undo(shoal_herd *herd);

/* ------------------------------------------------------------ pools */

enum { SHOAL_MOST_PARTNERS = 8, SHOAL_MOST_POOLED = 4096 };

/* The rows of a few clusters, thrown together to be divided anew. */
typedef struct shoal_flock_pool {
  shoal_herd *herd;
  uint64_t state; /* of the pseudo-random orders */
  uint32_t clusters[SHOAL_MOST_PARTNERS + 1], n_clusters;
  uint64_t loss; /* of all of them */
  uint32_t *rows, n;
  struct shoal_pooled *sorting;
  uint32_t *order; /* axes */
  uint32_t n_used; /* slots given out while the pool is put back */
} shoal_flock_pool;

/* False without memory. */
bool shoal_flock_pool_init(shoal_flock_pool *pool, shoal_herd *herd, uint64_t seed);
void shoal_flock_pool_reset(shoal_flock_pool *pool);

/* A cluster and its nearest `partners`; false where they have too many rows. */
bool shoal_flock_pool_fill(shoal_flock_pool *pool, uint32_t cluster, uint32_t partners);

/* Sorts the rows by the axes in a new random order; rows of one tuple are neighbours. */
void shoal_flock_pool_sort(shoal_flock_pool *pool);

/* Empties the pool's clusters; then slots for the new ones, which are to be filled; then the end.
 */
void shoal_flock_pool_clear(shoal_flock_pool *pool);
uint32_t shoal_flock_pool_slot(shoal_flock_pool *pool);
void shoal_flock_pool_close(shoal_flock_pool *pool);

/* ------------------------------------------------------------ the steps */

/*
 * Joins clusters, cheapest first, until every one fits or one is left: the tuples where there are
 * no clusters yet, else those that do not fit. False without memory.
 */
bool shoal_flock_gather(shoal_herd *herd);

/*
 * The same, but clusters get k rows each, and what they have beyond goes on looking. Some rows may
 * be left in clusters that do not fit.
 */
bool shoal_flock_gather_exact(shoal_herd *herd);

/* First clusters of k rows each, but for what is left over. False without memory. */
bool shoal_flock_fill(shoal_herd *herd);

/*
 * First clusters: the rows halved again and again so that `target` clusters come out; some may not
 * fit. False without memory.
 */
bool shoal_flock_halve(shoal_herd *herd, uint32_t target);

/*
 * First clusters where their number is the aim: filled with k rows each where the rows are just
 * enough for `target` of them, else or if that does not make as many, halved.
 */
bool shoal_flock_divide(shoal_herd *herd, uint32_t target);

/*
 * Some rows of the herd as enhanced-pk divides them: cluster[i] of rows[i], below *n_clusters; 0
 * where they cannot even form one. False without memory.
 */
bool shoal_flock_by_counts(shoal_herd *herd, const uint32_t *rows, uint32_t n, uint32_t *cluster,
                           uint32_t *n_clusters);

/* A row that another cluster may have, and what both then lose less. */
typedef struct shoal_loan {
  uint32_t row;
  int64_t gain;
} shoal_loan;

/* The best loan that c can give a, if it gains more than *best does. */
void shoal_flock_look_for_loan(shoal_herd *herd, uint32_t a, uint32_t c, shoal_loan *best);

/* The cluster near `from`, or of the worst, that a row costs least, below *limit; SHOAL_NIL: none.
 */
uint32_t shoal_flock_home(shoal_herd *herd, uint32_t row, uint32_t from, uint64_t *limit);

/* One round of single steps; returns whether any helped. */
bool shoal_flock_improve(shoal_herd *herd);

/* One round of chains: rows that go round several clusters. */
void shoal_flock_chain(shoal_herd *herd);

/* One round of pools: neighbouring clusters cut anew by dynamic programming. */
void shoal_flock_mix(shoal_herd *herd, uint64_t round);

/* One round of larger pools, gathered anew; the result does not depend on the threads. */
void shoal_flock_regather(shoal_herd *herd, uint64_t round, unsigned threads);

#endif
