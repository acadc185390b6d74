/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/mondrian: multidimensional partitioning (LeFevre, DeWitt & Ramakrishnan 2006) with local
 * recoding: all rows are cut in two, then each side again, until no cut leaves both sides
 * satisfying every demand (cut.c says which cut is taken). Models that are not monotone serve as a
 * condition like any other.
 *
 * Rows lie in one array that is divided in place; a node is a stretch of it, and the clusters are
 * what lies between the cuts. Nodes do not know of each other, so that threads share them; the
 * result is the same whoever cuts what. Cost: about O(n log n) for n rows, and 13 bytes a row.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/cut.h"

enum {
  LEAST_SHARED = 4096, /* rows of a node that is worth giving to another thread */
  NODES_A_THREAD = 16, /* that many at least, so that all threads end about together */
  DEEPEST = 33,        /* the smaller side first: what waits doubles from one to the next */
  REPORTS = 100
};

typedef struct node {
  uint32_t start, n;
} node;

typedef struct carving {
  const shoal_cluster_task *task;
  uint32_t n_rows;
  uint32_t *rows;
  uint32_t *scratch;     /* 2 n_rows: each node has its stretch */
  uint8_t *starts;       /* by position: a cluster starts here */
  shoal_cutter *cutters; /* by thread */
  unsigned n_threads;
  uint32_t n_shared; /* nodes of so many rows are cut once, and their sides shared */
  node *nodes;       /* to be worked on now */
  uint32_t *n_left;  /* shared ones: where each was cut */
  size_t n_nodes;
  atomic_size_t next;
  atomic_uint_fast64_t n_done; /* rows that have their cluster */
  atomic_bool stopped;
  uint64_t n_reported;
  shoal_status status; /* of the reports */
  shoal_error *error;
} carving;

/* ------------------------------------------------------------ a thread's work */

/* The first thread is the caller's: it alone reports. */
static void count_done(carving *c, unsigned thread, uint32_t n) {
  uint64_t done = atomic_fetch_add(&c->n_done, n) + n;
  if (thread || done - c->n_reported < c->n_rows / REPORTS + 1) return;
  c->n_reported = done;
  c->status = shoal_run_report(c->task->run, "cluster", done, c->n_rows, "rows", c->error);
  if (c->status != SHOAL_OK) atomic_store(&c->stopped, true);
}

static uint32_t cut_node(carving *c, unsigned thread, node at) {
  uint32_t n_left = shoal_cutter_cut(&c->cutters[thread], c->rows + at.start, at.n,
                                     c->scratch + 2 * (size_t)at.start);
  if (n_left) c->starts[at.start + n_left] = 1;
  else count_done(c, thread, at.n);
  return n_left;
}

/* Cuts a node down to its clusters. */
static void finish_node(carving *c, unsigned thread, node at) {
  node waiting[DEEPEST];
  size_t n_waiting = 0;
  while (!atomic_load_explicit(&c->stopped, memory_order_relaxed)) {
    uint32_t n_left = cut_node(c, thread, at);
    if (!n_left) {
      if (!n_waiting) return;
      at = waiting[--n_waiting];
      continue;
    }
    node left = {at.start, n_left}, right = {at.start + n_left, at.n - n_left};
    bool left_first = left.n <= right.n;
    at = left_first ? left : right;
    waiting[n_waiting++] = left_first ? right : left;
  }
}

static void work(void *user, unsigned thread) {
  carving *c = user;
  size_t i;
  while (!atomic_load(&c->stopped) && (i = atomic_fetch_add(&c->next, 1)) < c->n_nodes) {
    c->n_left[i] = 0;
    if (c->nodes[i].n >= c->n_shared) c->n_left[i] = cut_node(c, thread, c->nodes[i]);
    else finish_node(c, thread, c->nodes[i]);
  }
}

/* ------------------------------------------------------------ rounds */

/* The sides of what was cut in this round are the nodes of the next. */
static void next_round(carving *c, node *sides) {
  size_t n = 0;
  for (size_t i = 0; i < c->n_nodes; i++) {
    node at = c->nodes[i];
    uint32_t n_left = c->n_left[i];
    if (!n_left) continue;
    sides[n++] = (node){at.start, n_left};
    sides[n++] = (node){at.start + n_left, at.n - n_left};
  }
  memcpy(c->nodes, sides, n * sizeof *sides);
  c->n_nodes = n;
}

static shoal_status carve(carving *c, node *sides, shoal_error *error) {
  c->nodes[0] = (node){0, c->n_rows};
  c->n_nodes = 1;
  while (c->n_nodes) {
    atomic_store(&c->next, 0);
    size_t n_threads = c->n_nodes < c->n_threads ? c->n_nodes : c->n_threads;
    shoal_parallel((unsigned)n_threads, work, c);
    if (c->status != SHOAL_OK) return c->status;
    next_round(c, sides);
  }
  for (unsigned t = 0; t < c->n_threads; t++)
    if (c->cutters[t].judging.failed) return shoal_fail_memory(error);
  return SHOAL_OK;
}

/* ------------------------------------------------------------ memory */

static void reset(carving *c) {
  for (unsigned t = 0; c->cutters && t < c->n_threads; t++) shoal_cutter_reset(&c->cutters[t]);
  free(c->cutters);
  free(c->rows);
  free(c->scratch);
  free(c->starts);
  free(c->nodes);
  free(c->n_left);
}

static shoal_status prepare(carving *c, size_t most_nodes, shoal_error *error) {
  c->rows = shoal_alloc(c->n_rows, sizeof *c->rows);
  c->scratch = shoal_alloc(c->n_rows, 2 * sizeof *c->scratch);
  c->starts = shoal_alloc_zero(c->n_rows, sizeof *c->starts);
  c->cutters = shoal_alloc_zero(c->n_threads, sizeof *c->cutters);
  c->nodes = shoal_alloc(most_nodes, sizeof *c->nodes);
  c->n_left = shoal_alloc(most_nodes, sizeof *c->n_left);
  if (!c->rows || !c->scratch || !c->starts || !c->cutters || !c->nodes || !c->n_left)
    return shoal_fail_memory(error);
  for (unsigned t = 0; t < c->n_threads; t++)
    SHOAL_TRY(shoal_cutter_init(&c->cutters[t], c->task, error));
  for (uint32_t i = 0; i < c->n_rows; i++) c->rows[i] = i;
  c->starts[0] = 1;
  return SHOAL_OK;
}

shoal_status shoal_cluster_mondrian(const shoal_cluster_task *task, shoal_partition *partition,
                                    shoal_error *error) {
  uint64_t n_rows = task->axes->n_rows;
  if (n_rows < 2) return shoal_partition_whole(partition, n_rows, error);
  if (n_rows > UINT32_MAX)
    return shoal_fail(error, SHOAL_BAD_INPUT, "local recoding takes at most %" PRIu32 " rows",
                      UINT32_MAX);
  carving c = {.task = task, .n_rows = (uint32_t)n_rows, .status = SHOAL_OK, .error = error};
  c.n_threads = n_rows < LEAST_SHARED ? 1 : shoal_run_threads(task->run);
  c.n_shared = c.n_rows / (NODES_A_THREAD * c.n_threads);
  if (c.n_shared < LEAST_SHARED) c.n_shared = LEAST_SHARED;
  if (c.n_threads == 1) c.n_shared = UINT32_MAX;
  size_t most_nodes = 2 * ((size_t)c.n_rows / c.n_shared + 1); /* sides of the shared ones */
  node *sides = shoal_alloc(most_nodes, sizeof *sides);
  shoal_status status = sides ? prepare(&c, most_nodes, error) : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = carve(&c, sides, error);
  if (status == SHOAL_OK)
    status = shoal_partition_stretches(partition, c.rows, c.starts, c.n_rows, error);
  free(sides);
  reset(&c);
  return status;
}
