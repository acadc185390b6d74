/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/cut: one step of Mondrian (LeFevre, DeWitt & Ramakrishnan 2006, section 4): the rows of a
 * node are cut in two on one axis, if there is a cut that leaves both sides satisfying every
 * demand. Which cut that is depends on the set of rows alone.
 */
#ifndef SHOAL_CLUSTER_CUT_H
#define SHOAL_CLUSTER_CUT_H

#include "cluster/cluster.h"

/* A place that rows have, and how many rows have it or a lower one. */
typedef struct shoal_step {
  uint32_t place;
  uint32_t n_rows;
} shoal_step;

/* Scratch memory of cutting; one a thread. */
typedef struct shoal_cutter {
  const shoal_cluster_task *task;
  shoal_judging judging;
  shoal_span *extent; /* of the node, by axis */
  uint32_t *losses;   /* of the extent, by axis */
  size_t *order;      /* axes, those that lose most first */
  uint32_t *counts;   /* by place; or places, to be sorted */
  shoal_step *steps;  /* of the node's rows on an axis, ascending */
  uint32_t n_steps;
  shoal_step *picked; /* steps after which a label ends */
  size_t axis;        /* what is looked at: axis and rows */
  const uint32_t *rows;
  uint32_t n;
  uint32_t *places; /* of the rows on that axis */
  uint32_t *sides;  /* the rows once more: left ones, then right ones */
} shoal_cutter;

shoal_status shoal_cutter_init(shoal_cutter *cutter, const shoal_cluster_task *task,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_cutter_reset(shoal_cutter *cutter);

/*
 * Cuts n rows, given in ascending order: the left ones come first, then the right ones, both in
 * ascending order again. Returns the number of left ones; 0 if no cut is allowed. `scratch` has
 * room for 2 n rows. Cost: a few passes over the rows, more where demands refuse the first cut.
 */
uint32_t shoal_cutter_cut(shoal_cutter *cutter, uint32_t *rows, uint32_t n, uint32_t *scratch);

#endif
