/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_lines: first clusters where values are scarce. The rows that agree on all axes but
 * one, the one with most places, are a cell. Cells are gathered into lines whose rows fit, as units
 * are; along that one axis, which gathering does not see, each line is then cut into clusters by
 * dynamic programming. There are far fewer cells than tuples, and a line of few rows is not cut at
 * all, which is right where a cluster needs many rows for its values.
 */
#ifndef SHOAL_CLUSTER_FLOCK_LINES_H
#define SHOAL_CLUSTER_FLOCK_LINES_H

#include "cluster/flock_swarm.h"

typedef struct shoal_lines {
  const shoal_ground *ground;
  size_t axis;        /* of the ground: lines run along it */
  shoal_ground cells; /* the ground without it; but for rows, tuples and values it is borrowed */
} shoal_lines;

/* The rows of the table, those of one cell as neighbours, in the order of the axis. False without
 * memory. */
bool shoal_lines_order(const shoal_axes *axes, uint32_t *rows);

/* Of a ground whose rows are in that order. False without memory. */
bool shoal_lines_init(shoal_lines *lines, const shoal_ground *ground, const shoal_axes *axes);
void shoal_lines_reset(shoal_lines *lines);

/*
 * Makes columns of the rows from `first` on, which begins a cell, to before `end`. Where these
 * cannot fit, or cells are too many to be looked at, *fit is false. False without memory.
 */
bool shoal_lines_gather(const shoal_lines *lines, shoal_swarm *swarm, uint32_t first, uint32_t end,
                        bool *fit);

#endif
