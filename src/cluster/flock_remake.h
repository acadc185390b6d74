/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_remake: some columns of a swarm near each other are made anew, with some chance in
 * it, bettered by single steps, and kept so if nothing is lost by that: one step of a large
 * neighbourhood search (Shaw 1998). What is made anew does not start from tuples but from parts of
 * the columns whose tuples lose little together: that is several times as fast, and nearly as much
 * is gained by it.
 */
#ifndef SHOAL_CLUSTER_FLOCK_REMAKE_H
#define SHOAL_CLUSTER_FLOCK_REMAKE_H

#include "cluster/flock_swarm.h"
#include "cluster/flock_units.h"

enum {
  SHOAL_REMAKE_PARTNERS = 3, /* of a column that is made anew */
  SHOAL_REMAKE_ROWS = 1024   /* of all of them, at most */
};

typedef struct shoal_remaking {
  shoal_swarm *swarm;
  shoal_units *units; /* on the same ground */
  uint32_t columns[SHOAL_REMAKE_PARTNERS + 1], n_columns;
  uint32_t rows[SHOAL_REMAKE_ROWS], n;
  uint32_t part[SHOAL_REMAKE_ROWS], n_parts; /* of each row */
} shoal_remaking;

/* Numbers the parts that the rows of the columns start as. A tuple comes to a part of its column if
 * they lose at most so many hundredths of what the column loses. */
void shoal_remake_part(shoal_remaking *remaking, uint32_t hundredths);

/* Makes a column and some near it anew. */
void shoal_remake(shoal_remaking *remaking);

#endif
