/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_visit: a column of a swarm while single steps are tried on it, tuple by tuple, and
 * the rows that it could fetch from other columns.
 */
#ifndef SHOAL_CLUSTER_FLOCK_VISIT_H
#define SHOAL_CLUSTER_FLOCK_VISIT_H

#include "cluster/flock_swarm.h"

enum {
  SHOAL_VISIT_TUPLES = 256, /* columns of more are left alone */
  SHOAL_VISIT_PLANNED = 32, /* columns that rows of one step may go to */
  SHOAL_VISIT_FETCHED = 256 /* rows that are looked at to be fetched, and columns */
};

/* A column as it will be once rows have gone to it. */
typedef struct shoal_planned {
  uint32_t column, size, loss;
  shoal_box box;
} shoal_planned;

typedef struct shoal_plan {
  shoal_planned items[SHOAL_VISIT_PLANNED];
  uint32_t n;
} shoal_plan;

/* A column that overlaps the one at hand: what it loses, and how many rows could be fetched;
 * SHOAL_NIL: they have not been counted yet. */
typedef struct shoal_lender {
  uint32_t column, loss, n_rows;
} shoal_lender;

typedef struct shoal_lenders {
  shoal_lender items[SHOAL_VISIT_FETCHED];
  uint32_t n;
} shoal_lenders;

/* A column, tuple by tuple. */
typedef struct shoal_visit {
  shoal_swarm *swarm;
  uint32_t column, n;
  uint32_t row[SHOAL_VISIT_TUPLES]; /* one of each tuple */
  uint32_t n_rows[SHOAL_VISIT_TUPLES];
  const uint16_t *values[SHOAL_VISIT_TUPLES];
  const int16_t *lanes[SHOAL_VISIT_TUPLES]; /* see flock_lanes.h */
  shoal_lanes behind[SHOAL_VISIT_TUPLES];   /* of that tuple and all behind it: scratch */
  shoal_home home[SHOAL_VISIT_TUPLES];
  uint64_t alone[SHOAL_VISIT_TUPLES]; /* what all rows of the tuple cost in that home, */
  uint64_t cost;                      /* and those of all tuples */
  uint32_t goes_to[SHOAL_VISIT_TUPLES];
  uint64_t groups[SHOAL_VISIT_TUPLES][SHOAL_SWARM_KNOWN]; /* of the first counts */
  bool out[SHOAL_VISIT_TUPLES];                           /* the set at hand */
  shoal_plan plan;                                        /* where it would go */
  shoal_lenders lenders;                                  /* of all rows that the column covers, */
  bool knows_lenders;                                     /* once they have been asked for */
} shoal_visit;

/* ------------------------------------------------------------ fetching */

typedef struct shoal_fetching {
  shoal_swarm *swarm;
  uint32_t column, rows[SHOAL_VISIT_FETCHED], n;
  shoal_wanted wanted;
  uint64_t has[SHOAL_SWARM_KNOWN]; /* groups of the column once the set has left */
} shoal_fetching;

/*
 * Lists the rows that the column may fetch once the set has left, before anything is moved: so many
 * rows are then left, in that box, and at most `budget` may be lost. False: it cannot be enough.
 */
bool shoal_visit_prepare(shoal_visit *visit, shoal_fetching *fetching, const shoal_box *rest,
                         uint32_t n_rest, int64_t budget);
/* Fetches rows until the column fits; at most `budget` may be lost by that. False: it cannot. */
bool shoal_visit_fetch(shoal_fetching *fetching, int64_t budget);

#endif
