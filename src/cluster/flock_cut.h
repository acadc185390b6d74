/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_cut: divides a table into blocks of similar rows. Private to flock*.c.
 *
 * Blocks are cut in two recursively, at one position of one axis. A good cut separates few near
 * neighbours: the items of a sample are paired with their nearest ones, and the cut that separates
 * the fewest pairs, relative to the smaller side, is taken. That treats numbers, trees and flat
 * categories alike. Pairs that the previous division separated weigh more.
 */
#ifndef SHOAL_CLUSTER_FLOCK_CUT_H
#define SHOAL_CLUSTER_FLOCK_CUT_H

#include "cluster/cluster.h"

/* The rows of a tuple, or a cluster, at the position of one of its tuples. */
typedef struct shoal_item {
  uint32_t id;
  uint32_t tuple;
  uint32_t weight; /* distinct tuples: a measure of the work on it */
  uint32_t rows;   /* counted up to k: more do not give more clusters */
  uint32_t block;  /* of the previous division; all 0 in the first */
} shoal_item;

typedef struct shoal_cut_limits {
  uint64_t max_weight; /* of a block, unless it is one item, */
  uint64_t min_rows;   /* or has no more rows than this */
  uint32_t n_samples;  /* per cut: items that are paired */
  uint32_t n_others;   /* per cut: candidates for their partners; at most SHOAL_CUT_OTHERS */
  uint64_t seed;
  bool (*stops)(void *user); /* called before each cut; true: end early. NULL: never */
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
