/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/theta: what the parts of theta share; private to theta*.c.
 *
 *     classes (flock, or sorted runs) -> theta_swap (rows change places) -> theta_unite (classes of
 *     equal labels are one), then swaps again -> theta_noise (invented rows, if allowed) ->
 *     theta_merge (what still breaks a demand), then from the swaps again -> clusters
 *
 * Classes are numbered in an order in which neighbours are alike, so that near donors have near
 * numbers.
 */
#ifndef SHOAL_CLUSTER_THETA_H
#define SHOAL_CLUSTER_THETA_H

#include "cluster/cluster.h"
#include "model/theta.h"

#define SHOAL_NO_VALUE UINT32_MAX

/* Rows of classes so small that nothing about their variance leaves 64 bits. */
#define SHOAL_SMALL_CLASS 256

/* How often each value of an attribute occurs in a class. */
typedef struct shoal_tally {
  uint32_t *count;    /* by value; all 0 between uses */
  uint32_t *values;   /* those that were counted */
  uint32_t n_values;  /* of them */
  uint32_t *by_count; /* values that occur so often, from 1; all 0 between uses */
  uint32_t top;       /* no value occurs more often */
  uint64_t n_rows;    /* rows with a value */
} shoal_tally;

/* What is known of a class and an attribute until its rows change. */
typedef struct shoal_theta_known {
  shoal_variance variance;
  bool passes;
  uint64_t has;             /* a bit a value that occurs; values from 64 on share one with others */
  uint64_t judged, allowed; /* gifts, by how often it has what it gives and what it gets, below 8 */
} shoal_theta_known;

/* A theta demand and its attribute. */
typedef struct shoal_theta_aim {
  const shoal_demand *demand;
  const shoal_column *column;
  uint32_t *value_of;       /* by slot; SHOAL_NO_VALUE: missing */
  size_t tracked;           /* which of the tracked columns */
  uint32_t *by_frequency;   /* values of the table that are not missing, most frequent first */
  uint32_t n_known;         /* of them */
  uint32_t *slots;          /* by value: slots that had it when the index was made */
  uint32_t *first;          /* by value: its first in `slots`; n_values + 1 */
  uint32_t *cursor;         /* by value: which of them is looked at next */
  shoal_theta_known *known; /* by class */
  uint64_t *least_spread;   /* by rows, up to SHOAL_SMALL_CLASS: the spread that reaches theta */
  uint32_t turn;            /* of `by_frequency`: which value is looked at next */
  shoal_tally here, there;  /* of the class that needs help, and of one that may give */
} shoal_theta_aim;

typedef struct shoal_theta {
  const shoal_cluster_task *task;
  const shoal_axes *axes;
  shoal_fit rest;        /* every demand but theta; borrows all but `others` */
  bool has_rest;         /* they ask for more than a size */
  shoal_judging judging; /* of `rest` */
  shoal_judging all;     /* of every demand */
  shoal_theta_aim *aims;
  size_t n_aims;
  uint32_t n_rows, n_classes;
  uint32_t *rows;     /* by slot; a class's slots are neighbours */
  uint32_t *class_of; /* by slot */
  uint32_t *first;    /* by class: its first slot; n_classes + 1 */
  shoal_span *extent; /* by class: one an axis */
  uint8_t *fails;     /* by class: a demand does not hold */
  uint8_t *rests;     /* by class: every demand but theta holds */
  uint8_t *closed;    /* by class: it has invented rows or is given up, and stays as it is */
  uint8_t *tried;     /* by class: rounds in which no swap was found for it */
  uint32_t *seen;     /* by class: when it was last looked at as a donor */
  uint32_t now;
  shoal_span *spans;                /* scratch */
  uint32_t *trial;                  /* scratch: rows of a class as they might be */
  struct shoal_theta_offer *offers; /* scratch of swaps */
  size_t n_offers;
  shoal_noise noise;
  size_t cluster_capacity, like_capacity, value_capacity; /* of it */
  uint64_t n_swaps, n_united, n_merged, n_given_up;
  bool noise_short; /* more invented rows than the task allows would have helped a class */
  bool failed;      /* no memory */
} shoal_theta;

/* ------------------------------------------------------------ classes: theta_classes.c */

shoal_status shoal_theta_init(shoal_theta *theta, const shoal_cluster_task *task,
                              const shoal_partition *partition,
                              shoal_error *error) SHOAL_MUST_CHECK;
void shoal_theta_reset(shoal_theta *theta);

static inline uint32_t shoal_theta_size(const shoal_theta *theta, uint32_t c) {
  return theta->first[c + 1] - theta->first[c];
}

static inline uint32_t *shoal_theta_rows(const shoal_theta *theta, uint32_t c) {
  return theta->rows + theta->first[c];
}

static inline shoal_span *shoal_theta_extent(const shoal_theta *theta, uint32_t c) {
  return theta->extent + (size_t)c * theta->axes->n;
}

/* The value of a row, or SHOAL_NO_VALUE where it is missing. */
static inline uint32_t shoal_theta_value(const shoal_theta_aim *aim, uint32_t row) {
  uint32_t code = shoal_column_code(aim->column, row);
  return shoal_column_missing(aim->column, code) ? SHOAL_NO_VALUE : code;
}

/* Is it at least theta? */
static inline bool shoal_aim_reached(const shoal_theta_aim *aim, shoal_variance variance) {
  return variance.n <= SHOAL_SMALL_CLASS ? variance.spread >= aim->least_spread[variance.n]
                                         : shoal_theta_reached(aim->demand, variance);
}

/* The values of a class's rows. */
static inline const uint32_t *shoal_theta_values(const shoal_theta *theta,
                                                 const shoal_theta_aim *aim, uint32_t c) {
  return aim->value_of + theta->first[c];
}

/* Extent, and which demands hold, from the rows. */
void shoal_theta_refresh(shoal_theta *theta, uint32_t c);

/* Joins classes of one `group` (by class; ascending where they first appear), n_groups of them. */
shoal_status shoal_theta_regroup(shoal_theta *theta, const uint32_t *group, uint32_t n_groups,
                                 shoal_error *error) SHOAL_MUST_CHECK;

/* ---- tallies */

void shoal_tally_fill(shoal_tally *tally, const uint32_t *values, uint32_t n);
void shoal_tally_clear(shoal_tally *tally);
/* One row more or less of a value, which may be SHOAL_NO_VALUE; not noted in `values`. */
void shoal_tally_put(shoal_tally *tally, uint32_t value);
void shoal_tally_take(shoal_tally *tally, uint32_t value);
shoal_variance shoal_tally_variance(const shoal_tally *tally);
/* The same once a row of `out` has become one of `in`. */
shoal_variance shoal_tally_swapped(shoal_tally *tally, uint32_t out, uint32_t in);
/* Or one of a value that the class lacks, whichever. */
shoal_variance shoal_tally_renewed(shoal_tally *tally, uint32_t out);

/* ------------------------------------------------------------ steps */

/* Rounds of swaps while they help. */
shoal_status shoal_theta_swap(shoal_theta *theta, shoal_error *error) SHOAL_MUST_CHECK;

/* Makes one class of classes that would get equal labels and cannot stay apart. *any: there were.
 */
shoal_status shoal_theta_unite(shoal_theta *theta, bool *any, shoal_error *error) SHOAL_MUST_CHECK;

/* Invents rows for classes that fail: those that need the fewest first, within the limit. */
shoal_status shoal_theta_add_noise(shoal_theta *theta, shoal_error *error) SHOAL_MUST_CHECK;

/* One round: each class that fails is joined to another or given up. *any: something was done. */
shoal_status shoal_theta_merge(shoal_theta *theta, bool *any, shoal_error *error) SHOAL_MUST_CHECK;

/* Classes of rows sorted by quasi-identifiers: runs of k, the remainder in the last. */
shoal_status shoal_theta_sorted(const shoal_cluster_task *task, shoal_partition *partition,
                                shoal_error *error) SHOAL_MUST_CHECK;

#endif
