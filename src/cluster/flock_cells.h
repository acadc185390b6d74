/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_cells: rows of a ground that are to be gathered start in parts. A cell is what
 * agrees on all trees; tuples of a cell that are near each other on the first number come together
 * sooner or later, so they need not be looked at one by one.
 */
#ifndef SHOAL_CLUSTER_FLOCK_CELLS_H
#define SHOAL_CLUSTER_FLOCK_CELLS_H

#include "cluster/flock_ground.h"

enum {
  SHOAL_CELLS_LITTLE = 60, /* a part of several tuples loses such a part of all there is to lose, */
  SHOAL_CELLS_FEW = 2      /* and has such a part of k rows, at most */
};

/*
 * Lists the rows from `from` to before `to`, whole tuples, by cell, and numbers the parts that they
 * start in, as they come. `keys`: scratch, as many as tuples.
 */
void shoal_cells_part(const shoal_ground *ground, uint32_t from, uint32_t to, uint64_t *keys,
                      uint32_t *rows, uint32_t *part);

#endif
