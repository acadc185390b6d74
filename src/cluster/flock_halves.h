/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_halves: what the ways of flock for small tables share: two halves of a table, each
 * a swarm, are worked on at the same time; the first of them reports, and both stop if it is told
 * to. Then all swarms' columns are the clusters.
 */
#ifndef SHOAL_CLUSTER_FLOCK_HALVES_H
#define SHOAL_CLUSTER_FLOCK_HALVES_H

#include <stdatomic.h>

#include "cluster/flock_swarm.h"

enum { SHOAL_HALVES = 2 };

typedef struct shoal_halves {
  const shoal_cluster_task *task;
  atomic_bool unfit;   /* some rows do not fit: this is no table for it */
  atomic_bool stopped; /* as `status` says */
  shoal_status status; /* of reporting, which the caller's thread does */
  shoal_error *error;
} shoal_halves;

/* Leaves out counts that follow from others; `reduced->counts` is then to be freed. False without
 * memory. */
bool shoal_halves_reduce_fit(const shoal_fit *fit, shoal_fit *reduced);

/* Does something for halves 0 .. n - 1, on as many threads if there are some. */
void shoal_halves_work(const shoal_halves *halves, unsigned n, void (*work)(void *user, unsigned i),
                       void *user);

void shoal_halves_report(shoal_halves *halves, uint64_t rows_done);

/* Must work on a swarm end? It has no memory, or was stopped. */
bool shoal_halves_are_over(const shoal_halves *halves, const shoal_swarm *swarm);

/* Numbers the columns of n swarms from 0: `rows` are the table's, by row of the ground. False
 * without memory. */
bool shoal_halves_hand_over(const shoal_swarm *swarms, size_t n, const uint32_t *rows,
                            shoal_partition *partition);

#endif
