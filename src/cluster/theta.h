/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/theta: the state of theta; private to theta*.c.
 *
 *     first classes (flock, or sorted runs) -> swap rows between classes -> unite classes of equal
 *     labels, then swap again -> add noise rows if allowed -> merge classes that still break a
 *     requirement, then start again from the swaps
 *
 * Classes are numbered in an order in which neighbours are similar, so near donors have near
 * numbers.
 */
#pragma once

#include "base/memory.h"
#include "cluster/cluster.h"
#include "model/theta.h"

/* Histogram of an attribute in a class. */
typedef struct shoal_value_histogram {
  uint32_t *count;    /* by value; all 0 between uses */
  uint32_t *values;   /* the values that were counted */
  uint32_t n_values;  /* their number */
  uint32_t *by_count; /* by number of rows, from 1: values with that number; 0 between uses */
  uint32_t top;       /* upper bound on the counts */
  uint64_t n_rows;    /* rows with a value */
} shoal_value_histogram;

/* Facts about a class and an attribute, valid until its rows change. */
typedef struct shoal_theta_cached {
  shoal_variance variance;
  bool passes;
  uint64_t judged, allowed; /* swaps by the counts of the values given and received, each below 8 */
} shoal_theta_cached;

/* A theta requirement and its attribute. */
typedef struct shoal_theta_target {
  const shoal_requirement *requirement;
  const shoal_column *column;
  size_t tracked;             /* index of the tracked column */
  uint32_t *value_of;         /* by slot; SHOAL_NONE: missing */
  uint32_t *by_frequency;     /* values that are not missing, most frequent first */
  uint32_t n_known, n_values; /* those that rows have; with those that only noise rows can have */
  uint32_t *slots;            /* index: slots sorted by value when the round began, */
  uint32_t *first;            /* by value: its first in `slots`; n_values + 1 entries */
  uint32_t *cursor;           /* by value: the next of its slots to look at */
  shoal_theta_cached *cached; /* by class */
  uint32_t turn;              /* index in `by_frequency` of the next value to look up */
  shoal_value_histogram here, there; /* of the class that needs a swap, and of a donor */
} shoal_theta_target;

typedef struct shoal_theta {
  const shoal_cluster_task *task;
  const shoal_axes *axes;
  shoal_arena arena;                 /* of the arrays below and of the targets */
  shoal_cluster_requirements rest;   /* every requirement except theta; owns `others` only */
  bool has_rest;                     /* they requirement more than a size */
  shoal_requirement_checker checker; /* of `rest` */
  shoal_requirement_checker all;     /* of every requirement */
  shoal_theta_target *targets;
  size_t n_targets;
  uint32_t n_rows, n_classes;
  uint32_t *rows;     /* by slot; the slots of a class are contiguous */
  uint32_t *class_of; /* by slot */
  uint32_t *first;    /* by class: its first slot; n_classes + 1 entries */
  shoal_span *box;    /* by class: axes->n_spans */
  uint8_t *fails;     /* by class: it breaks a requirement */
  uint8_t *rests;     /* by class: it satisfies every requirement except theta */
  uint8_t *closed;    /* by class: it has noise rows or is given up, and must not change */
  uint8_t *tried;     /* by class: rounds without a swap for it */
  uint32_t *seen;     /* by class: the search in which it was last visited as a donor */
  uint32_t now;       /* number of the current search */
  uint32_t *trial;    /* scratch: n_rows entries */
  shoal_span *spans;  /* scratch of swaps */
  struct shoal_theta_offer *offers;
  size_t n_offers;
  shoal_noise noise;
  uint64_t n_swaps, n_united, n_merged, n_abandoned;
  bool noise_short; /* more noise rows than the task allows would have helped a class */
  bool failed;      /* out of memory */
} shoal_theta;

/* ------------------------------------------------------------ classes: theta_classes.c */

shoal_status shoal_theta_init(shoal_theta *theta, const shoal_cluster_task *task,
                              const shoal_partition *partition,
                              shoal_error *error) SHOAL_MUST_CHECK;
void shoal_theta_reset(shoal_theta *theta);

/* A copy of `required` without theta requirements, of which the caller frees `others`. False: no
 * memory.
 */
bool shoal_theta_rest(const shoal_cluster_requirements *required, shoal_cluster_requirements *rest);

static inline uint32_t shoal_theta_size(const shoal_theta *theta, uint32_t c) {
  return theta->first[c + 1] - theta->first[c];
}

static inline uint32_t *shoal_theta_rows(const shoal_theta *theta, uint32_t c) {
  return theta->rows + theta->first[c];
}

static inline shoal_span *shoal_theta_box(const shoal_theta *theta, uint32_t c) {
  return theta->box + (size_t)c * theta->axes->n_spans;
}

/* Recomputes the box of a class and which requirements it satisfies. */
void shoal_theta_refresh(shoal_theta *theta, uint32_t c);

/* Joins classes of one `group` (by class; numbered in order of first appearance). */
shoal_status shoal_theta_regroup(shoal_theta *theta, const uint32_t *group, uint32_t n_groups,
                                 shoal_error *error) SHOAL_MUST_CHECK;

/* ---- histograms */

/* Counts the values of a class in target->here or target->there. */
void shoal_value_histogram_fill(shoal_value_histogram *histogram, const shoal_theta *theta,
                                const shoal_theta_target *target, uint32_t c);
void shoal_value_histogram_clear(shoal_value_histogram *histogram);
/* Counts one row more; SHOAL_NONE is ignored. */
void shoal_value_histogram_add(shoal_value_histogram *histogram, uint32_t value);
shoal_variance shoal_value_histogram_variance(const shoal_value_histogram *histogram);
/* The variance after a row of `out` has become one of `in`. */
shoal_variance shoal_value_histogram_swapped(shoal_value_histogram *histogram, uint32_t out,
                                             uint32_t in);

/* ------------------------------------------------------------ steps */

/*
 * theta_order.c: an order of tuples in which neighbours are similar. `weight` is the rows of each
 * tuple; cuts leave rows of at least min_weight on each side if possible.
 */
shoal_status shoal_row_order(const shoal_axes *axes, const uint32_t *weight, uint64_t min_weight,
                             const shoal_run *run, uint32_t *order,
                             shoal_error *error) SHOAL_MUST_CHECK;

/* The partition's classes in that order, by the mean position of their rows: number[c]. */
shoal_status shoal_theta_order(const shoal_cluster_task *task, const shoal_partition *partition,
                               uint32_t *number, shoal_error *error) SHOAL_MUST_CHECK;

/* theta_swap.c: rounds of swaps while they help. */
shoal_status shoal_theta_swap(shoal_theta *theta, shoal_error *error) SHOAL_MUST_CHECK;

/* theta_repair.c: adds noise rows to failing classes within the limit, the fewest rows first. */
shoal_status shoal_theta_add_noise(shoal_theta *theta, shoal_error *error) SHOAL_MUST_CHECK;

/* Joins each failing class to another or gives it up. *any: something changed. */
shoal_status shoal_theta_merge(shoal_theta *theta, bool *any, shoal_error *error) SHOAL_MUST_CHECK;
