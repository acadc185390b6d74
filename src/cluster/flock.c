/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock: little information loss at a cost that grows little faster than the rows.
 *
 * The rows are put into an order in which neighbours are alike, and cut into blocks. Each block is
 * clustered by itself: tuples are gathered from the bottom up (where the number of clusters is the
 * aim, rows are halved from the top down); then rows are moved between clusters and pools of
 * neighbours are divided anew while the loss falls. Blocks depend on the rows alone, so that the
 * clusters do not depend on the threads. The work spent on each row falls with the number of rows.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/work.h"
#include "cluster/flock.h"

enum {
  BLOCK_ROWS = 8000,      /* of a block at least: tuples are not cut */
  BLOCK_CLUSTERS = 64,    /* of k rows, that a block has room for at least */
  WHOLE_ROWS = 1 << 17,   /* up to so many rows are one block where clusters must not be lost */
  COUNTED_ROWS = 1 << 16, /* of a block above that */
  SMALL_ROWS = 4000,      /* fewer leave time for more than flock_small and flock_scarce do, */
  SMALL_AXES = 4,         /* and runs of an order by fewer are as good, */
  SCARCE_AXES = 5,        /* or where values are scarce by fewer than that */
  WORK_A_ROW = 4000       /* rows and clusters looked at for each row, at most */
};

/* How hard a table of so many rows is worked on. */
typedef struct effort {
  uint32_t most_rows;
  int rounds;       /* of improving, for the aim il */
  int other_rounds; /* for the others */
  bool regathers;
  bool in_haste;     /* of ordering */
  uint32_t reach;    /* of gathering */
  unsigned attempts; /* with different orders; the best one counts */
} effort;

enum { MOST_ATTEMPTS = 2 };

static const effort efforts[] = {
    {20000, 6, 8, true, false, SHOAL_REACH, 2},
    {60000, 1, 4, false, false, SHOAL_REACH, 1},
    {WHOLE_ROWS, 0, 1, false, true, SHOAL_SHORT_REACH, 1},
    {UINT32_MAX, 0, 0, false, true, SHOAL_SHORT_REACH, 1},
};

typedef struct flocking {
  const shoal_cluster_task *task;
  const effort *effort;
  unsigned attempt;
  uint32_t n_found;
  uint32_t n;
  uint32_t *rows;       /* in the flock's order */
  uint32_t *cluster_of; /* by row: a cluster of its block */
  uint32_t *first_of;   /* blocks: their first place in `rows`; n_blocks + 1 */
  size_t n_blocks;
  uint32_t *n_clusters; /* by block */
  atomic_size_t next;
  atomic_uint_fast64_t sum; /* of the blocks' losses */
  atomic_bool failed;
  atomic_bool *stopped; /* shared by all attempts */
  atomic_bool unfit;    /* some block cannot even be one cluster */
  shoal_status status;  /* of reporting, which the first thread does */
  shoal_error error;
} flocking;

static uint64_t least_block(const flocking *f) {
  uint64_t least = f->task->aim == SHOAL_AIM_IL ? BLOCK_ROWS
                   : f->n <= WHOLE_ROWS         ? f->n
                                                : COUNTED_ROWS;
  uint64_t clusters = f->task->fit->k > UINT32_MAX ? UINT32_MAX : BLOCK_CLUSTERS * f->task->fit->k;
  if (least < clusters) least = clusters;
  return least ? least : 1; /* never blocks of nothing */
}

/* Blocks of at least so many rows, about as large as each other; a tuple's rows stay together. */
static bool cut_blocks(flocking *f, uint64_t least) {
  const shoal_axes *axes = f->task->axes;
  free(f->first_of);
  free(f->n_clusters);
  f->first_of = shoal_alloc((size_t)(f->n / least) + 2, sizeof *f->first_of);
  f->n_clusters = shoal_alloc_zero((size_t)(f->n / least) + 1, sizeof *f->n_clusters);
  if (!f->first_of || !f->n_clusters) return false;
  f->n_blocks = 0;
  f->first_of[f->n_blocks++] = 0;
  uint64_t even = f->n < least ? f->n : f->n / (f->n / least);
  for (uint32_t i = 1; i < f->n; i++) {
    if (i - f->first_of[f->n_blocks - 1] < even || f->n - i < least) continue;
    if (axes->tuple_of_row[f->rows[i]] != axes->tuple_of_row[f->rows[i - 1]])
      f->first_of[f->n_blocks++] = i;
  }
  f->first_of[f->n_blocks] = f->n;
  return true;
}

/* ------------------------------------------------------------ a block */

/* The most clusters whose every count the block's rows allow. */
static uint64_t most_for_count(const shoal_herd *h, size_t d, uint64_t most) {
  uint32_t *rows_of = h->seen[d];
  uint64_t low = 0, high = most;
  for (uint32_t i = 0; i < h->n; i++)
    if (h->group[d][i] != SHOAL_NO_GROUP) rows_of[h->group[d][i]]++;
  while (low < high) { /* the largest m with sum of min(rows of the group, m) >= p x m */
    uint64_t m = (low + high + 1) / 2, sum = 0;
    for (uint32_t g = 0; g < h->n_groups[d]; g++) sum += rows_of[g] < m ? rows_of[g] : m;
    if (sum >= m * h->fit->counts[d].least) low = m;
    else high = m - 1;
  }
  for (uint32_t i = 0; i < h->n; i++)
    if (h->group[d][i] != SHOAL_NO_GROUP) rows_of[h->group[d][i]] = 0;
  return low;
}

static uint32_t wanted_clusters(const shoal_herd *h) {
  uint64_t most = h->n / h->fit->k;
  for (size_t d = 0; d < h->n_counts; d++) most = most_for_count(h, d, most);
  if (h->aim == SHOAL_AIM_BALANCED) most -= most * 3 / 100;
  return most ? (uint32_t)most : 1;
}

static void report(flocking *f, uint32_t done) {
  if (f->status != SHOAL_OK) return;
  f->status = shoal_run_report(f->task->run, "cluster", done, f->n, "rows", &f->error);
  if (f->status != SHOAL_OK) atomic_store(f->stopped, true);
}

/* One round: single steps, then pools, of which those that are gathered anew gain most. */
static void improve(const flocking *f, shoal_herd *h, uint64_t round) {
  bool il = h->aim == SHOAL_AIM_IL, regathers = f->effort->regathers;
  unsigned threads = f->n_blocks == 1 ? shoal_run_threads(f->task->run) : 1;
  (void)shoal_flock_improve(h);
  if (regathers) shoal_flock_regather(h, 2 * round, threads);
  if (!il) {
    (void)shoal_flock_improve(h);
    if (regathers) shoal_flock_regather(h, 2 * round + 1, threads);
    shoal_flock_chain(h);
  }
  if (!il || !regathers || round == 1) shoal_flock_mix(h, round);
}

/* Rounds of improving, until one gains little. */
static void refine(flocking *f, shoal_herd *h, uint32_t done, bool reports) {
  bool il = h->aim == SHOAL_AIM_IL, idle = false;
  int rounds = il ? f->effort->rounds : f->effort->other_rounds;
  uint64_t before = shoal_herd_total(h), little = h->n <= 2000 ? UINT64_MAX : il ? 256 : 4096;
  h->limit = h->work + (uint64_t)WORK_A_ROW * h->n;
  h->stop = f->stopped;
  for (int i = 0; i < rounds && !shoal_herd_is_done(h); i++) {
    if (reports) report(f, done);
    improve(f, h, (uint64_t)i);
    uint64_t after = shoal_herd_total(h);
    bool gained = before > after && before - after >= after / little;
    if (!gained && (il || idle)) return; /* another random order may still help the others */
    idle = !gained;
    before = after;
  }
}

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

static bool cluster_block(flocking *f, size_t b, bool reports) {
  shoal_herd h;
  uint32_t first = f->first_of[b], n = f->first_of[b + 1] - first;
  if (shoal_herd_init(&h, f->task, f->rows + first, n, NULL) != SHOAL_OK) return false;
  h.reach = f->effort->reach;
  bool counts = h.aim != SHOAL_AIM_IL && !h.fit->n_others;
  bool ok = !counts || shoal_flock_divide(&h, wanted_clusters(&h));
  ok = ok && shoal_flock_gather(&h);
  if (ok) refine(f, &h, first, reports);
  f->n_clusters[b] = number(f, &h);
  atomic_fetch_add(&f->sum, shoal_herd_total(&h));
  if (f->n_clusters[b] == 1 && !shoal_herd_fits(&h, h.cluster_of[0])) atomic_store(&f->unfit, true);
  ok = ok && !h.failed;
  shoal_herd_reset(&h);
  return ok;
}

static void work(void *user, unsigned i) {
  flocking *f = user;
  for (size_t b; (b = atomic_fetch_add(&f->next, 1)) < f->n_blocks;) {
    if (atomic_load(&f->failed) || atomic_load(f->stopped)) return;
    if (!cluster_block(f, b, i == 0)) atomic_store(&f->failed, true);
    if (i == 0) report(f, f->first_of[b + 1]);
  }
}

/* ------------------------------------------------------------ all blocks together */

static shoal_status cluster_blocks(flocking *f, uint64_t least, shoal_error *error) {
  if (!cut_blocks(f, least)) return shoal_fail_memory(error);
  atomic_store(&f->next, 0);
  atomic_store(&f->unfit, false);
  atomic_store(&f->sum, 0);
  unsigned threads = shoal_run_threads(f->task->run);
  if (threads > f->n_blocks) threads = (unsigned)f->n_blocks;
  shoal_parallel(threads, work, f);
  if (f->status != SHOAL_OK && error) *error = f->error;
  if (f->status != SHOAL_OK) return f->status;
  return atomic_load(&f->failed) ? shoal_fail_memory(error) : SHOAL_OK;
}

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

static shoal_status flock(flocking *f, shoal_error *error) {
  uint64_t least = f->task->fit->k * (f->attempt ? 1 : 2);
  shoal_status status = shoal_flock_order_rows(f->task, least, f->effort->in_haste, f->rows, error);
  if (status != SHOAL_OK) atomic_store(f->stopped, true); /* the other attempt may end too */
  if (status != SHOAL_OK) return status;
  for (least = least_block(f);; least *= 4) {
    SHOAL_TRY(cluster_blocks(f, least, error));
    if (!atomic_load(&f->unfit) || f->n_blocks == 1) break; /* else with larger blocks */
  }
  f->n_found = number_through(f);
  return SHOAL_OK;
}

/* ------------------------------------------------------------ attempts */

/* One of several attempts: it runs on one thread, and the first one reports. */
typedef struct attempt {
  flocking flocking;
  shoal_cluster_task task;
  shoal_run run;
  shoal_status status;
  shoal_error error;
} attempt;

static bool attempt_init(attempt *a, const shoal_cluster_task *task, const effort *level,
                         unsigned i, unsigned n, atomic_bool *stopped) {
  a->task = *task;
  if (n > 1) {
    if (task->run && i == 0) a->run = *task->run;
    a->run.n_threads = (shoal_run_threads(task->run) + n - 1 - i) / n;
    if (!a->run.n_threads) a->run.n_threads = 1;
    a->task.run = &a->run;
  }
  flocking *f = &a->flocking;
  f->task = &a->task;
  f->effort = level;
  f->attempt = i;
  f->stopped = stopped;
  f->n = (uint32_t)task->axes->n_rows;
  f->rows = shoal_alloc(f->n, sizeof *f->rows);
  f->cluster_of = shoal_alloc_zero(f->n, sizeof *f->cluster_of);
  return f->rows && f->cluster_of;
}

static void attempt_reset(attempt *a) {
  free(a->flocking.rows);
  free(a->flocking.cluster_of);
  free(a->flocking.first_of);
  free(a->flocking.n_clusters);
}

static void make_attempt(void *user, unsigned i) {
  attempt *a = (attempt *)user + i;
  a->status = flock(&a->flocking, &a->error);
}

static bool is_better(shoal_aim aim, const flocking *a, const flocking *b) {
  uint64_t x = a->n_found, y = b->n_found;
  bool near = aim == SHOAL_AIM_BALANCED && 100 * x >= 97 * y && 100 * y >= 97 * x;
  if (aim != SHOAL_AIM_IL && !near && x != y) return x > y;
  return atomic_load(&a->sum) < atomic_load(&b->sum);
}

/* Makes all attempts and hands over the clusters of the best, of equals the first. */
static shoal_status attempt_all(attempt *attempts, const shoal_cluster_task *task, unsigned n,
                                shoal_partition *partition, shoal_error *error) {
  if (shoal_run_threads(task->run) > 1) shoal_parallel(n, make_attempt, attempts);
  else
    for (unsigned i = 0; i < n && (i == 0 || attempts[i - 1].status == SHOAL_OK); i++)
      make_attempt(attempts, i);
  flocking *best = &attempts[0].flocking;
  for (unsigned i = 0; i < n; i++) {
    if (attempts[i].status != SHOAL_OK && error) *error = attempts[i].error;
    if (attempts[i].status != SHOAL_OK) return attempts[i].status;
    if (is_better(task->aim, &attempts[i].flocking, best)) best = &attempts[i].flocking;
  }
  partition->cluster_of_row = best->cluster_of;
  partition->n_clusters = best->n_found;
  best->cluster_of = NULL;
  return SHOAL_OK;
}

/* Is there time to look at all clusters for every row, and a gain by that? */
static bool is_small(const shoal_cluster_task *task, size_t least_axes) {
  return task->axes->n_rows >= SMALL_ROWS && task->axes->n >= least_axes;
}

/* Do values, not k, bound the number of clusters? */
static bool is_scarce(const shoal_cluster_task *task) {
  return task->axes->n_rows / task->fit->k > shoal_fit_most_clusters(task->fit);
}

shoal_status shoal_cluster_flock(const shoal_cluster_task *task, shoal_partition *partition,
                                 shoal_error *error) {
  memset(partition, 0, sizeof *partition);
  bool done = false;
  if (!is_scarce(task)) {
    if (is_small(task, SMALL_AXES)) SHOAL_TRY(shoal_flock_small(task, partition, &done, error));
  } else if (is_small(task, SCARCE_AXES)) {
    SHOAL_TRY(shoal_flock_scarce(task, partition, &done, error));
  }
  if (done) return SHOAL_OK;
  const effort *level = efforts;
  while (task->axes->n_rows > level->most_rows) level++;
  unsigned n = level->attempts;
  attempt *attempts = shoal_alloc_zero(MOST_ATTEMPTS, sizeof *attempts);
  bool ok = attempts != NULL;
  atomic_bool stopped = false;
  for (unsigned i = 0; ok && i < n; i++)
    ok = attempt_init(&attempts[i], task, level, i, n, &stopped);
  shoal_status status =
      ok ? attempt_all(attempts, task, n, partition, error) : shoal_fail_memory(error);
  for (unsigned i = 0; attempts && i < n; i++) attempt_reset(&attempts[i]);
  free(attempts);
  return status;
}
