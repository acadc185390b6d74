/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_scarce: least information loss for small tables where sensitive values, not k,
 * bound the number of clusters. The rows are cut in two, so that two threads may work. In each half
 * cells are gathered into lines and these cut (flock_lines), bettered by single steps; then columns
 * are founded for parts of those that lose most, out of rows that others can spare, and all are
 * bettered again. At the end the clusters are halved along another axis, so that those that have
 * not met do, and the same is done once more. The halves depend on the rows alone, not on the
 * threads.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "cluster/flock_halves.h"
#include "cluster/flock_lines.h"

enum {
  MOST_CLUSTERS = 1024, /* that k would allow: above that looking at all takes too long */
  TUPLE_WORK = 60,      /* a tuple is as much work as so many rows of one */
  PASSES = 2,           /* of single steps over all clusters */
  MOST_NEEDED = 128,    /* rows that a cluster needs for its values: larger ones are not bettered */
  ROUNDS = 1,           /* of founding and single steps, */
  PATIENT = 200,        /* or if there can only be fewer clusters than this, */
  PATIENT_ROUNDS = 4,   /* so many */
  MOST_FOUNDED = 2      /* columns out of one, each time */
};

typedef struct scarce {
  shoal_halves halves;
  shoal_fit fit; /* without counts that follow from others */
  bool patient;  /* the clusters are so few that there is time for more */
  uint32_t *rows;
  shoal_ground ground;
  shoal_lines lines;
  shoal_swarm swarms[SHOAL_HALVES], later[SHOAL_HALVES];
  uint32_t first[SHOAL_HALVES + 1];
  uint8_t *half_of[SHOAL_HALVES]; /* by column of a swarm: where it goes later */
} scarce;

/* ------------------------------------------------------------ a swarm */

static bool is_over(const scarce *f, const shoal_swarm *s) {
  return shoal_halves_are_over(&f->halves, s);
}

/* Single steps on all columns that have changed, until none helps. */
static void polish(const scarce *f, shoal_swarm *s) {
  bool any = true;
  for (int pass = 0; pass < PASSES && any; pass++) {
    any = false;
    for (uint32_t c = 0; c < s->n_columns && !is_over(f, s); c++)
      if (s->size[c] && s->changed[c] > s->tried[c]) any |= shoal_swarm_improve(s, c);
    s->n_moved = 0;
  }
}

/* New columns out of those that lose more than they do in the mean. */
static void found(const scarce *f, shoal_swarm *s) {
  for (uint32_t c = 0; c < s->n_columns; c++)
    for (int i = 0; i < MOST_FOUNDED && !is_over(f, s); i++) {
      uint64_t mean = shoal_swarm_total(s) / s->n_columns;
      if (shoal_swarm_cost(s, c) <= mean || !shoal_swarm_found(s, c)) break;
    }
  s->n_moved = 0;
}

static bool start(const scarce *f, shoal_swarm *s) {
  uint32_t most = f->ground.n / (uint32_t)f->fit.k;
  bool ok = shoal_swarm_init(s, &f->ground, most, 0);
  s->failed = !ok;
  return ok;
}

static void cluster_half(void *user, unsigned i) {
  scarce *f = user;
  shoal_swarm *s = &f->swarms[i];
  bool fit;
  if (!start(f, s) || f->first[i] == f->first[i + 1]) return;
  if (!shoal_lines_gather(&f->lines, s, f->first[i], f->first[i + 1], &fit)) {
    s->failed = true;
    return;
  }
  if (!fit) atomic_store(&f->halves.unfit, true);
  if (atomic_load(&f->halves.unfit)) return;
  polish(f, s);
  for (int round = 0; round < (f->patient ? PATIENT_ROUNDS : ROUNDS); round++) {
    if (i == 0) shoal_halves_report(&f->halves, f->ground.n / 4);
    found(f, s);
    polish(f, s);
  }
}

/* ------------------------------------------------------------ other halves */

/* Tuples of a column, about: rows of one are mostly neighbours in its list. */
static uint32_t work_of(const shoal_swarm *s, uint32_t column) {
  uint32_t n = 0, last = SHOAL_NIL;
  for (uint32_t r = s->head[column]; r != SHOAL_NIL; r = s->next[r]) {
    n += s->ground->tuple[r] != last;
    last = s->ground->tuple[r];
  }
  return n;
}

/* Twice the middle of a column along the axis of the lines. */
static uint64_t middle_of(const scarce *f, const shoal_swarm *s, uint32_t column) {
  const shoal_box *box = &s->box[column];
  size_t q = f->lines.axis;
  if (q < f->ground.n_numbers) return (uint64_t)box->lo[q] + (uint64_t)box->hi[q];
  const shoal_ground_tree *tree = &f->ground.trees[q];
  return (uint64_t)tree->first[box->lo[q]] + tree->last[box->lo[q]];
}

/* Halves all columns along the axis of the lines, by their work. */
static bool halve_again(scarce *f) {
  uint32_t room = f->swarms[0].n_columns + f->swarms[1].n_columns, n = 0;
  uint64_t *keys = shoal_alloc(room, sizeof *keys), all = 0, sum = 0;
  bool ok = keys != NULL;
  for (uint32_t h = 0; ok && h < SHOAL_HALVES; h++) {
    const shoal_swarm *s = &f->swarms[h];
    f->half_of[h] = shoal_alloc_zero(s->n_columns, sizeof *f->half_of[h]);
    ok = f->half_of[h] != NULL;
    for (uint32_t c = 0; ok && c < s->n_columns; c++) {
      if (!s->size[c]) continue;
      keys[n++] = middle_of(f, s, c) << 32 | (uint64_t)h << 31 | c;
      all += work_of(s, c);
    }
  }
  if (ok) shoal_sort_keys(keys, n);
  for (uint32_t i = 0; ok && i < n; i++) {
    uint32_t h = (uint32_t)keys[i] >> 31, c = (uint32_t)keys[i] & INT32_MAX;
    f->half_of[h][c] = 2 * sum >= all;
    sum += work_of(&f->swarms[h], c);
  }
  free(keys);
  return ok;
}

static void better_half(void *user, unsigned i) {
  scarce *f = user;
  shoal_swarm *s = &f->later[i];
  if (!start(f, s)) return;
  for (uint32_t h = 0; h < SHOAL_HALVES; h++) {
    const shoal_swarm *from = &f->swarms[h];
    for (uint32_t c = 0; c < from->n_columns; c++) {
      if (from->size[c] && f->half_of[h][c] == i) shoal_swarm_adopt(s, from, c);
    }
  }
  found(f, s);
  polish(f, s);
}

/* ------------------------------------------------------------ the whole */

/* Two halves of about as much work each, of whole cells. */
static void cut_halves(scarce *f) {
  const shoal_ground *g = &f->ground, *cells = &f->lines.cells;
  uint64_t all = (uint64_t)g->n_tuples * TUPLE_WORK + g->n, sum = 0;
  uint32_t t = 0;
  for (; 2 * sum < all; t++) sum += TUPLE_WORK + g->first[t + 1] - g->first[t];
  f->first[1] = t < g->n_tuples ? cells->first[cells->tuple[g->first[t]]] : g->n;
  f->first[2] = g->n;
}

/* Does something for both halves; false: no memory. */
static bool do_both(scarce *f, void (*work)(void *user, unsigned i), const shoal_swarm *swarms) {
  shoal_halves_work(&f->halves, SHOAL_HALVES, work, f);
  return !swarms[0].failed && !swarms[1].failed;
}

/* False: no memory. */
static bool cluster(scarce *f, shoal_partition *partition) {
  cut_halves(f);
  shoal_halves_report(&f->halves, 0);
  if (!do_both(f, cluster_half, f->swarms)) return false;
  shoal_halves_report(&f->halves, f->ground.n / 2);
  if (atomic_load(&f->halves.unfit) || f->halves.status != SHOAL_OK) return true;
  if (!halve_again(f) || !do_both(f, better_half, f->later)) return false;
  return shoal_halves_hand_over(f->later, SHOAL_HALVES, f->rows, partition);
}

static bool prepare(scarce *f, const shoal_cluster_task *task) {
  shoal_cluster_task reduced = *task;
  f->rows = shoal_alloc((size_t)task->axes->n_rows, sizeof *f->rows);
  reduced.fit = &f->fit;
  return f->rows && shoal_lines_order(task->axes, f->rows) &&
         shoal_ground_init(&f->ground, &reduced, f->rows) &&
         shoal_lines_init(&f->lines, &f->ground, task->axes);
}

static void clean_up(scarce *f) {
  for (size_t i = 0; i < SHOAL_HALVES; i++) {
    shoal_swarm_reset(&f->swarms[i]);
    shoal_swarm_reset(&f->later[i]);
    free(f->half_of[i]);
  }
  shoal_lines_reset(&f->lines);
  shoal_ground_reset(&f->ground);
  free(f->fit.counts);
  free(f->rows);
  free(f);
}

/* Is the table small enough, and are clusters not too large to be bettered? */
static bool is_for_it(const shoal_cluster_task *task) {
  uint64_t n = task->axes->n_rows, most = shoal_fit_most_clusters(task->fit);
  return shoal_ground_carries(task) && task->axes->n > 1 && n / task->fit->k <= MOST_CLUSTERS &&
         n <= most * MOST_NEEDED;
}

shoal_status shoal_flock_scarce(const shoal_cluster_task *task, shoal_partition *partition,
                                bool *done, shoal_error *error) {
  *done = false;
  if (!is_for_it(task)) return SHOAL_OK;
  scarce *f = shoal_alloc_zero(1, sizeof *f);
  if (!f) return shoal_fail_memory(error);
  f->halves.task = task;
  f->halves.error = error;
  f->patient = shoal_fit_most_clusters(task->fit) < PATIENT;
  bool ok = shoal_halves_reduce_fit(task->fit, &f->fit);
  ok = ok && prepare(f, task);
  if (ok && f->ground.groups) ok = cluster(f, partition);
  *done = partition->cluster_of_row != NULL;
  shoal_status status = ok ? f->halves.status : shoal_fail_memory(error);
  clean_up(f);
  return status;
}
