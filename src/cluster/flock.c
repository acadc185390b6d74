/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock: least information loss at a cost that grows little faster than the rows.
 *
 * The rows are put into an order in which neighbours are alike, and cut into blocks. Each block is
 * clustered by itself: tuples are gathered from the bottom up (for fewest clusters lost, rows are
 * halved from the top down), then clusters are improved by ejecting and borrowing rows, and pools
 * of neighbours are divided anew, while the loss falls. A second pass over blocks that lie across
 * the first ones' borders mends these. Blocks depend on the rows alone, so that the clusters do not
 * depend on threads. The work spent on a row falls with the number of rows.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/work.h"
#include "cluster/flock.h"

enum {
  BLOCK_ROWS = 5000,       /* of a block, or more: tuples are not cut */
  WHOLE_ROWS = 1 << 17,    /* up to so many rows are one block where clusters must not be lost */
  LARGE_BLOCK_ROWS = 65536 /* of a block then */
};

typedef struct flocking {
  const shoal_cluster_task *task;
  uint32_t n;
  uint32_t *rows;       /* in the flock's order */
  uint32_t *rank;       /* by row: where it stands in it */
  uint32_t *cluster_of; /* by row: SHOAL_NIL or a cluster of its block */
  uint32_t *first_of;   /* blocks: their first row in `rows`; n_blocks + 1 */
  size_t n_blocks;
  uint32_t *n_clusters; /* by block */
  atomic_size_t next;
  atomic_bool failed, stop;
  shoal_status status; /* of the first thread's reports */
  shoal_error error;
} flocking;

/* ------------------------------------------------------------ rows in order */

static bool sort_rows(flocking *f, const uint32_t *order, uint32_t *weight) {
  const shoal_axes *axes = f->task->axes;
  uint32_t *place = shoal_alloc(axes->n_tuples, sizeof *place), at = 0;
  if (!place) return false;
  for (uint32_t i = 0; i < axes->n_tuples; i++) {
    place[order[i]] = at;
    at += weight[order[i]];
  }
  for (uint32_t r = 0; r < f->n; r++) {
    uint32_t to = place[axes->tuple_of_row[r]]++;
    f->rows[to] = r;
    f->rank[r] = to;
  }
  free(place);
  return true;
}

static shoal_status order_rows(flocking *f, shoal_error *error) {
  const shoal_axes *axes = f->task->axes;
  uint32_t *weight = shoal_alloc_zero(axes->n_tuples, sizeof *weight);
  uint32_t *order = shoal_alloc(axes->n_tuples, sizeof *order);
  shoal_status status = weight && order ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    for (uint32_t r = 0; r < f->n; r++) weight[axes->tuple_of_row[r]]++;
    status = shoal_flock_order(axes, weight, f->task->fit->k, f->task->run, order, error);
  }
  if (status == SHOAL_OK && !sort_rows(f, order, weight)) status = shoal_fail_memory(error);
  free(weight);
  free(order);
  return status;
}

/* Blocks of at least so many rows; rows of one tuple stay together. */
static bool cut_blocks(flocking *f) {
  const shoal_axes *axes = f->task->axes;
  uint64_t least = f->task->aim == SHOAL_AIM_IL ? BLOCK_ROWS
                   : f->n <= WHOLE_ROWS         ? UINT32_MAX
                                                : LARGE_BLOCK_ROWS;
  uint64_t few = 64 * f->task->fit->k;
  if (least < few) least = few;
  f->first_of = shoal_alloc((size_t)(f->n / least) + 2, sizeof *f->first_of);
  if (!f->first_of) return false;
  f->first_of[f->n_blocks++] = 0;
  for (uint32_t i = 1; i < f->n; i++) {
    bool same = axes->tuple_of_row[f->rows[i]] == axes->tuple_of_row[f->rows[i - 1]];
    if (same || i - f->first_of[f->n_blocks - 1] < least || f->n - i < least) continue;
    f->first_of[f->n_blocks++] = i;
  }
  f->first_of[f->n_blocks] = f->n;
  return true;
}

/* ------------------------------------------------------------ a block */

static uint32_t wanted_clusters(const shoal_herd *h) {
  uint64_t most = h->n / h->fit->k;
  for (size_t d = 0; d < h->n_counts; d++) { /* the largest m with sum of min(rows, m) >= p x m */
    uint64_t low = 0, high = most;
    for (uint32_t i = 0; i < h->n; i++)
      if (h->group[d][i] != SHOAL_NO_GROUP) h->seen[d][h->group[d][i]]++;
    while (low < high) {
      uint64_t m = (low + high + 1) / 2, sum = 0;
      for (uint32_t g = 0; g < h->fit->counts[d].n_groups; g++)
        sum += h->seen[d][g] < m ? h->seen[d][g] : m;
      if (sum >= m * h->fit->counts[d].least) low = m;
      else high = m - 1;
    }
    for (uint32_t i = 0; i < h->n; i++)
      if (h->group[d][i] != SHOAL_NO_GROUP) h->seen[d][h->group[d][i]] = 0;
    most = low;
  }
  if (h->aim == SHOAL_AIM_BALANCED) most -= most * 3 / 100;
  return most ? (uint32_t)most : 1;
}

/* Rounds of improving: many on a small table, few on a large one. */
static void refine(const flocking *f, shoal_herd *h, int rounds) {
  bool mixes = f->n <= 400000, regathers = f->n <= 60000;
  for (int i = 0; i < rounds && !h->failed && !atomic_load(&f->stop); i++) {
    bool any = shoal_flock_improve(h);
    if (mixes) any |= shoal_flock_mix(h, (uint64_t)i);
    if (regathers) any |= shoal_flock_regather(h, (uint64_t)i);
    if (!any) break;
  }
}

static int rounds_for(uint32_t n) { return n <= 20000 ? 8 : n <= 60000 ? 4 : n <= 400000 ? 2 : 1; }

/* Numbers the herd's clusters from 0 and tells each row its own. */
static uint32_t number(flocking *f, const shoal_herd *h) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < h->n_slots; c++) {
    if (!h->size[c]) continue;
    for (uint32_t r = h->head[c]; r != SHOAL_NIL; r = h->next[r]) f->cluster_of[h->row[r]] = n;
    n++;
  }
  return n;
}

static bool cluster_block(flocking *f, size_t b) {
  shoal_herd h;
  uint32_t first = f->first_of[b], n = f->first_of[b + 1] - first;
  if (shoal_herd_init(&h, f->task, f->rows + first, n, NULL) != SHOAL_OK) return false;
  bool ok = h.aim == SHOAL_AIM_IL || h.fit->n_others ? shoal_flock_gather(&h)
                                                     : shoal_flock_halve(&h, wanted_clusters(&h));
  if (ok) refine(f, &h, rounds_for(f->n));
  f->n_clusters[b] = number(f, &h);
  ok = ok && !h.failed;
  shoal_herd_reset(&h);
  return ok;
}

static void work(void *user, unsigned i) {
  flocking *f = user;
  for (size_t b; (b = atomic_fetch_add(&f->next, 1)) < f->n_blocks;) {
    if (atomic_load(&f->failed) || atomic_load(&f->stop)) return;
    if (!cluster_block(f, b)) atomic_store(&f->failed, true);
    if (i != 0) continue;
    f->status =
        shoal_run_report(f->task->run, "cluster", f->first_of[b + 1], f->n, "rows", &f->error);
    if (f->status != SHOAL_OK) atomic_store(&f->stop, true);
  }
}

/* ------------------------------------------------------------ all blocks together */

/* The clusters of all blocks, numbered through. */
static uint32_t number_through(flocking *f) {
  uint32_t before = 0;
  for (size_t b = 0; b < f->n_blocks; b++) {
    for (uint32_t i = f->first_of[b]; i < f->first_of[b + 1]; i++)
      f->cluster_of[f->rows[i]] += before;
    before += f->n_clusters[b];
  }
  return before;
}

static shoal_status flock(flocking *f, shoal_partition *partition, shoal_error *error) {
  SHOAL_TRY(order_rows(f, error));
  if (!cut_blocks(f)) return shoal_fail_memory(error);
  f->n_clusters = shoal_alloc_zero(f->n_blocks, sizeof *f->n_clusters);
  if (!f->n_clusters) return shoal_fail_memory(error);
  unsigned threads = shoal_run_threads(f->task->run);
  if (threads > f->n_blocks) threads = (unsigned)f->n_blocks;
  shoal_parallel(threads, work, f);
  if (f->status != SHOAL_OK) {
    if (error) *error = f->error;
    return f->status;
  }
  if (atomic_load(&f->failed)) return shoal_fail_memory(error);
  partition->n_clusters = number_through(f);
  return SHOAL_OK;
}

shoal_status shoal_cluster_flock(const shoal_cluster_task *task, shoal_partition *partition,
                                 shoal_error *error) {
  SHOAL_TRY(shoal_partition_whole(partition, task->axes->n_rows, error));
  flocking *f = shoal_alloc_zero(1, sizeof *f);
  if (f) {
    f->task = task;
    f->n = (uint32_t)task->axes->n_rows;
    f->rows = shoal_alloc(f->n, sizeof *f->rows);
    f->rank = shoal_alloc(f->n, sizeof *f->rank);
    f->cluster_of = partition->cluster_of_row;
  }
  shoal_status status =
      f && f->rows && f->rank ? flock(f, partition, error) : shoal_fail_memory(error);
  if (f) {
    free(f->rows);
    free(f->rank);
    free(f->first_of);
    free(f->n_clusters);
  }
  free(f);
  if (status != SHOAL_OK) shoal_partition_reset(partition);
  return status;
}
