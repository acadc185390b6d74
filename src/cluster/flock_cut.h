/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_cut: divides a table into blocks of similar rows. Private to flock*.c.
 *
 * Blocks are cut in two again and again, at one position of one axis. A cut is good if it separates
 * few near neighbours: of a sample of items, each is paired with its nearest ones, and the cut that
 * separates the fewest pairs, in proportion to the smaller side, is taken. That treats numbers,
 * trees and flat categories alike. A second division can be asked to keep together what the first
 * one separated.
 */
#ifndef SHOAL_CLUSTER_FLOCK_CUT_H
#define SHOAL_CLUSTER_FLOCK_CUT_H

#include "cluster/cluster.h"

/* What is divided: the rows of a tuple, or a cluster, which stands where one of its tuples is. */
typedef struct shoal_item {
  uint32_t id;
  uint32_t tuple;
  uint32_t weight; /* what the work on it grows with: distinct tuples */
  uint32_t rows;   /* at most k: more do not make more clusters */
  uint32_t block;  /* of the division before; all 0 in the first */
} shoal_item;

typedef struct shoal_cut_limits {
  uint64_t max_weight; /* of a block, unless it is one item, */
  uint64_t min_rows;   /* or has no more rows than this */
  uint32_t n_samples;  /* per cut: items that are paired, */
  uint32_t n_others;   /* and items that they are paired with; at most SHOAL_CUT_OTHERS */
  uint64_t seed;
  bool (*stops)(void *user); /* asked before each cut whether to end early; NULL: never */
  void *user;
} shoal_cut_limits;

enum { SHOAL_CUT_OTHERS = 512 };

/*
 * Reorders the items and writes the index of each block's first item, and n at the end, to first[];
 * it has room for n + 1. Returns the number of blocks; 0: no memory, or it was stopped.
 */
uint32_t shoal_flock_cut(const shoal_axes *axes, shoal_item *items, uint32_t n,
                         const shoal_cut_limits *limits, uint32_t *first);

#endif
