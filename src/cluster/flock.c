/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock: clusters of low information loss, in time nearly proportional to the rows.
 *
 *     rows -> flock_cut (blocks of similar rows) -> each block, on any thread: flock_start and
 *     flock_agglomerate (initial clusters) -> flock_moves, flock_exchange (local moves) ->
 *     flock_repair (destroy and repair)
 *
 * That is the first pass. The second pass divides the clusters into blocks across the borders of
 * the first, and improves them again.
 *
 * Blocks depend on the rows alone, and each has its own random numbers: the clusters do not depend
 * on the threads. The work per row falls as the number of rows grows; `effort` multiplies it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/thread.h"
#include "cluster/flock_clusters.h"

enum {
  FEW_TUPLES = 20000,  /* a table with at most this many distinct tuples has the largest blocks */
  MAX_BLOCK = 4000,    /* distinct tuples of a block in such a table */
  MIN_BLOCK = 1100,    /* distinct tuples of a block in a large table */
  USUAL_AXES = 8,      /* with more axes, blocks are smaller: a step costs more */
  COUNTED = 4,         /* factor of the block size if the objective counts clusters or their rows */
  BLOCK_CLUSTERS = 64, /* clusters of k rows that a block has room for */
  MAX_MISSING = 3,     /* `balanced`: percent of the possible clusters that may be missing */
  MAX_REPAIRS = 64,    /* destroy-and-repair steps per cluster */
  MAX_ENLARGED = 2     /* times that blocks are made four times larger */
};

typedef struct flock {
  const shoal_cluster_task *task;
  uint32_t n;
  unsigned pass, n_passes;
  shoal_item *items; /* tuples in the first pass, clusters later */
  uint32_t n_items;
  uint32_t *rows, *first_row; /* rows by item; where those of an item begin, and n */
  uint32_t *first_item;       /* of each block, and n_items */
  uint32_t n_blocks;
  uint32_t *cluster_of; /* by row of the table: within its block; between passes, of all */
  uint32_t n_clusters, *block_clusters;
  shoal_cut_limits limits;
  double repairs; /* destroy-and-repair steps per cluster, over all passes */
  shoal_flock_stop stop;
  atomic_uint next;
  atomic_bool unsatisfied; /* some block is one cluster that does not satisfy the requirements */
  bool merges; /* last pass: only clusters that do not satisfy the requirements are merged */
  atomic_uint_fast64_t done; /* rows of finished blocks, over all passes */
  uint64_t within;           /* rows of the block that the caller's thread works on */
  shoal_status status;       /* of reporting, which the caller's thread does */
  shoal_error error;
} flock;

/* ------------------------------------------------------------ progress */

static void report(void *user) {
  flock *f = user;
  if (f->status != SHOAL_OK) return;
  uint64_t all = (uint64_t)f->n * f->n_passes, done = atomic_load(&f->done) + f->within;
  f->status = shoal_run_report(f->task->run, "cluster", done < all ? done / f->n_passes : f->n,
                               f->n, "rows", &f->error);
  if (f->status != SHOAL_OK) atomic_store(&f->stop.stopped, true);
}

static bool stops(void *user) {
  flock *f = user;
  report(f);
  return f->status != SHOAL_OK;
}

/* ------------------------------------------------------------ settings */

/* The more distinct tuples, the smaller the blocks and the fewer the repair steps per cluster. */
static void choose_effort(flock *f) {
  double effort = f->task->effort ? f->task->effort : 1, n = f->task->axes->n_tuples + 1.0;
  double weight = MAX_BLOCK * FEW_TUPLES / n, repairs = 11 * pow(MAX_BLOCK / n, 1.25);
  double width = f->task->axes->n > USUAL_AXES ? (double)f->task->axes->n / USUAL_AXES : 1;
  weight = weight < MIN_BLOCK ? MIN_BLOCK : weight > MAX_BLOCK ? MAX_BLOCK : weight;
  if (f->task->objective != SHOAL_OBJECTIVE_IL) { /* left-over rows must be in one block */
    weight *= COUNTED;
    repairs *= COUNTED;
  }
  weight /= width; /* a step costs more the more axes there are */
  repairs /= width;
  f->limits =
      (shoal_cut_limits){.max_weight = (uint64_t)weight + 1,
                         .min_rows = f->task->required->k < f->n ? f->task->required->k : f->n,
                         .n_samples = 48,
                         .n_others = 160,
                         .stops = stops,
                         .user = f};
  f->limits.min_rows *= BLOCK_CLUSTERS;
  f->n_passes = effort < 4 ? 2 : 4;
  f->repairs = effort * (repairs < MAX_REPAIRS ? repairs : MAX_REPAIRS);
}

/* What the objective adds to the loss of a cluster, for a block of n rows. */
static shoal_cluster_cost cost_for(const flock *f, uint32_t n) {
  shoal_cluster_cost cost = {.exact_sizes = f->task->objective != SHOAL_OBJECTIVE_IL};
  int64_t rows = n, k = f->task->required->k < n ? (int64_t)f->task->required->k : rows;
  if (f->task->objective == SHOAL_OBJECTIVE_DM) {
    cost.square = (INT64_C(1) << 16) * (k + 1);
    while (cost.square > (INT64_C(1) << 61) / rows / rows && cost.square > 1) cost.square /= 2;
  }
  if (f->task->objective == SHOAL_OBJECTIVE_AVG || f->task->objective == SHOAL_OBJECTIVE_BALANCED)
    cost.bonus = (INT64_C(1) << 16) * rows; /* more than all rows can lose */
  if (f->task->objective == SHOAL_OBJECTIVE_BALANCED) cost.max_missing = MAX_MISSING;
  return cost;
}

/* ------------------------------------------------------------ a block */

typedef struct block_work {
  flock *f;
  uint32_t index;
  uint32_t *rows, n;
  shoal_packed_rows packed;
  shoal_clusters block;
} block_work;

/* Takes over the clusters of the previous pass, and merges those that do not satisfy. */
static bool adopt_clusters(block_work *w, bool *satisfied) {
  shoal_clusters *b = &w->block;
  const flock *f = w->f;
  b->n = f->first_item[w->index + 1] - f->first_item[w->index];
  for (uint32_t r = 0; r < w->n; r++) shoal_clusters_put(b, r, f->cluster_of[w->rows[r]]);
  for (uint32_t c = 0; c < b->n; c++) {
    shoal_clusters_refresh(b, c);
    *satisfied = *satisfied && shoal_clusters_satisfies(b, c);
  }
  if (*satisfied) return true;
  shoal_agglomeration g;
  if (!shoal_agglomeration_init(&g, b)) return false;
  *satisfied = shoal_agglomerate(&g, 0);
  shoal_agglomeration_reset(&g);
  return true;
}

static void improve_all(block_work *w) {
  shoal_clusters *b = &w->block;
  for (uint32_t c = 0; c < b->n && !shoal_clusters_is_stopped(b); c++) {
    if (b->size[c] && b->changed[c] > b->tried[c]) (void)shoal_clusters_improve(b, c);
    b->n_moved = 0;
  }
}

static bool repair_some(block_work *w) {
  shoal_clusters *b = &w->block;
  shoal_repair r;
  uint64_t steps = (uint64_t)(w->f->repairs / w->f->n_passes * b->n_live + 0.5);
  if (!steps || b->n_live < 2) return true;
  if (!shoal_repair_init(&r, b)) return false;
  for (uint64_t i = 0; i < steps && !shoal_clusters_is_stopped(b); i++) {
    if (b->polls) w->f->within = w->n * i / steps;
    shoal_repair_step(&r);
  }
  shoal_repair_reset(&r);
  return true;
}

/* Numbers the clusters from 0. */
static void write_back(const block_work *w) {
  const shoal_clusters *b = &w->block;
  uint32_t n = 0;
  for (uint32_t c = 0; c < b->n; c++) {
    if (!b->size[c]) continue;
    for (uint32_t r = b->head[c]; r != SHOAL_NONE; r = b->next[r])
      w->f->cluster_of[w->packed.row[r]] = n;
    n++;
  }
  w->f->block_clusters[w->index] = n;
}

/* Lists the rows of the block's items, rows of one tuple together; sets f->cluster_of. */
static bool list_rows(block_work *w) {
  flock *f = w->f;
  uint32_t from = f->first_item[w->index], to = f->first_item[w->index + 1];
  for (uint32_t i = from; i < to; i++)
    w->n += f->first_row[f->items[i].id + 1] - f->first_row[f->items[i].id];
  w->rows = shoal_alloc(w->n, sizeof *w->rows);
  uint64_t *keys = shoal_alloc(f->pass ? w->n : 0, sizeof *keys);
  bool ok = w->rows && keys;
  for (uint32_t i = from, n = 0; ok && i < to; i++) {
    uint32_t first = f->first_row[f->items[i].id], end = f->first_row[f->items[i].id + 1];
    for (uint32_t r = first; r < end; r++, n++) {
      w->rows[n] = f->rows[r];
      f->cluster_of[f->rows[r]] = i - from;
      if (f->pass) keys[n] = (uint64_t)f->task->axes->tuple_of_row[f->rows[r]] << 32 | f->rows[r];
    }
  }
  if (ok && f->pass) {
    shoal_sort_u64(keys, w->n);
    for (uint32_t i = 0; i < w->n; i++) w->rows[i] = (uint32_t)keys[i];
  }
  free(keys);
  return ok;
}

/* `balanced`: from here on, minimizes the loss with at least enough clusters. */
static void balance(const flock *f, shoal_clusters *b) {
  if (f->task->objective != SHOAL_OBJECTIVE_BALANCED) return;
  uint32_t enough = shoal_enough_clusters(b);
  b->min_live = enough < b->n_live ? enough : b->n_live;
  b->total += b->cost.bonus * b->n_live;
  b->cost.bonus = 0;
}

static bool improve(block_work *w) {
  balance(w->f, &w->block);
  improve_all(w);
  bool ok = repair_some(w);
  improve_all(w);
  return ok;
}

static bool cluster_block(flock *f, uint32_t index, bool polls) {
  block_work w = {.f = f, .index = index};
  bool satisfied = true,
       ok = list_rows(&w) && shoal_packed_rows_init(&w.packed, f->task, w.rows, w.n);
  uint64_t room = w.n / f->task->required->k,
           n_items = f->first_item[index + 1] - f->first_item[index];
  if (f->pass && room < n_items) room = n_items; /* some may have fewer than k rows */
  ok = ok && shoal_clusters_init(&w.block, &w.packed, (uint32_t)room, &f->stop);
  if (ok) {
    w.block.random = ((uint64_t)f->pass << 32 | index) + 1;
    w.block.cost = cost_for(f, w.n);
    w.block.polls = polls;
    ok = f->pass ? adopt_clusters(&w, &satisfied)
                 : shoal_flock_start(&w.block, f->task->axes, index, &satisfied);
    if (!satisfied) atomic_store(&f->unsatisfied, true);
  }
  if (ok && !shoal_clusters_is_stopped(&w.block)) {
    if (!f->merges) ok = improve(&w);
    write_back(&w);
  }
  atomic_fetch_add(&f->done, w.n);
  if (polls) f->within = 0;
  shoal_clusters_reset(&w.block);
  shoal_packed_rows_reset(&w.packed);
  free(w.rows);
  return ok;
}

static void run_blocks(void *user, unsigned thread) {
  flock *f = user;
  for (uint32_t b; (b = atomic_fetch_add(&f->next, 1)) < f->n_blocks;) {
    if (atomic_load(&f->stop.failed) || atomic_load(&f->stop.stopped)) return;
    if (thread == 0) report(f);
    if (!cluster_block(f, b, thread == 0)) atomic_store(&f->stop.failed, true);
  }
}

/* ------------------------------------------------------------ passes */

/* Distinct tuples of each item. False: no memory. */
static bool weigh_items(flock *f) {
  const shoal_axes *axes = f->task->axes;
  uint32_t *seen_in = shoal_alloc_zero(axes->n_tuples, sizeof *seen_in); /* item + 1 */
  for (uint32_t i = 0; seen_in && i < f->n_items; i++)
    for (uint32_t r = f->first_row[i]; r < f->first_row[i + 1]; r++) {
      uint32_t tuple = axes->tuple_of_row[f->rows[r]];
      f->items[i].weight += seen_in[tuple] != i + 1;
      seen_in[tuple] = i + 1;
    }
  free(seen_in);
  return seen_in != NULL;
}

/* Lists the rows by item; item_of is the tuple or the cluster of each row. */
static bool list_items(flock *f, const uint32_t *item_of, uint32_t n_items) {
  const shoal_axes *axes = f->task->axes;
  uint64_t k = f->task->objective == SHOAL_OBJECTIVE_IL ? f->task->required->k : UINT32_MAX;
  free(f->items);
  free(f->first_row);
  free(f->first_item);
  f->items = shoal_alloc(n_items, sizeof *f->items);
  f->first_row = shoal_alloc((size_t)n_items + 1, sizeof *f->first_row);
  f->first_item = shoal_alloc((size_t)n_items + 1, sizeof *f->first_item);
  f->n_items = n_items;
  if (!f->items || !f->first_row || !f->first_item) return false;
  shoal_sort_by_group(NULL, f->n, item_of, n_items, f->first_row, f->rows);
  for (uint32_t i = 0; i < n_items; i++) { /* a row in the middle represents the item */
    uint32_t size = f->first_row[i + 1] - f->first_row[i];
    f->items[i] = (shoal_item){.id = i,
                               .tuple = axes->tuple_of_row[f->rows[f->first_row[i] + size / 2]],
                               .rows = size < k ? size : (uint32_t)k};
  }
  return weigh_items(f);
}

/* Makes the clusters of all blocks the items of the next pass. */
static bool list_clusters(flock *f) {
  uint32_t n = 0;
  for (uint32_t b = 0; b < f->n_blocks; b++) n += f->block_clusters[b];
  uint32_t *block_of = shoal_alloc(n, sizeof *block_of);
  if (!block_of) return false;
  n = 0;
  for (uint32_t b = 0; b < f->n_blocks; b++) {
    for (uint32_t i = f->first_item[b]; i < f->first_item[b + 1]; i++)
      for (uint32_t r = f->first_row[f->items[i].id]; r < f->first_row[f->items[i].id + 1]; r++)
        f->cluster_of[f->rows[r]] += n;
    for (uint32_t c = 0; c < f->block_clusters[b]; c++) block_of[n + c] = b;
    n += f->block_clusters[b];
  }
  f->n_clusters = n;
  bool ok = list_items(f, f->cluster_of, n);
  for (uint32_t i = 0; ok && i < n; i++) f->items[i].block = block_of[i];
  free(block_of);
  return ok;
}

/* Divides the items into blocks, clusters each, and lists the clusters as items. */
static bool run_pass(flock *f) {
  f->limits.seed = f->pass + 1;
  f->n_blocks = shoal_flock_cut(f->task->axes, f->items, f->n_items, &f->limits, f->first_item);
  if (f->n_blocks == 1) f->n_passes = f->pass + 1; /* there are no borders to cross */
  free(f->block_clusters);
  f->block_clusters = shoal_alloc_zero(f->n_blocks, sizeof *f->block_clusters);
  if (f->status != SHOAL_OK) return true;
  if (!f->n_blocks || !f->block_clusters) return false;
  atomic_store(&f->next, 0);
  atomic_store(&f->unsatisfied, false);
  unsigned threads = shoal_run_threads(f->task->run);
  if (threads > f->n_blocks) threads = (unsigned)f->n_blocks;
  shoal_parallel(threads, run_blocks, f);
  if (atomic_load(&f->stop.failed)) return false;
  return f->status != SHOAL_OK || list_clusters(f);
}

/* Does the objective require more clusters than the blocks have, beyond one for each block? */
static bool lacks_clusters(const flock *f) {
  uint64_t wanted = shoal_cluster_requirements_max_clusters(f->task->required);
  wanted -= wanted * cost_for(f, f->n).max_missing / 100;
  return f->task->objective != SHOAL_OBJECTIVE_IL && f->n_clusters + f->n_blocks < wanted;
}

/*
 * The first pass. Some rows may satisfy the requirements only together with rows of other blocks,
 * and clusters may need rare values of other blocks: then the blocks are enlarged.
 */
static bool start(flock *f) {
  for (int times = 0;; times++) {
    if (!list_items(f, f->task->axes->tuple_of_row, f->task->axes->n_tuples)) return false;
    if (!run_pass(f)) return false;
    if (f->status != SHOAL_OK) return true;
    if (!atomic_load(&f->unsatisfied) && !lacks_clusters(f)) return true;
    if (times == MAX_ENLARGED || f->n_blocks == 1) return true;
    f->limits.max_weight *= 4;
    f->limits.min_rows *= 4;
    atomic_store(&f->done, 0);
  }
}

/* False: no memory. */
static bool cluster(flock *f) {
  choose_effort(f);
  if (!start(f)) return false;
  for (f->pass = 1; f->pass < f->n_passes && f->status == SHOAL_OK; f->pass++)
    if (!run_pass(f)) return false;
  if (f->status != SHOAL_OK || !atomic_load(&f->unsatisfied) || f->n_clusters == 1) return true;
  f->limits.max_weight = UINT64_MAX; /* one block of all clusters */
  f->merges = true;
  return run_pass(f);
}

shoal_status shoal_cluster_flock(const shoal_cluster_task *task, shoal_partition *partition,
                                 shoal_error *error) {
  memset(partition, 0, sizeof *partition);
  flock f = {.task = task, .n = (uint32_t)task->axes->n_rows};
  f.stop.poll = report;
  f.stop.user = &f;
  f.rows = shoal_alloc(f.n, sizeof *f.rows);
  f.cluster_of = shoal_alloc(f.n, sizeof *f.cluster_of);
  bool ok = f.rows && f.cluster_of && cluster(&f);
  shoal_status status = ok ? f.status : shoal_fail_memory(error);
  if (f.status != SHOAL_OK && error) *error = f.error;
  if (status == SHOAL_OK) {
    partition->cluster_of_row = f.cluster_of;
    partition->n_clusters = f.n_clusters;
    f.cluster_of = NULL;
  }
  free(f.rows);
  free(f.cluster_of);
  free(f.items);
  free(f.first_row);
  free(f.first_item);
  free(f.block_clusters);
  return status;
}
