/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_small: least information loss for small tables with k and counts alone, where there
 * is time to look at all clusters for every row. The order of the rows is cut in two, so that two
 * threads may work; each half is gathered, as a whole if it is not large, and bettered by single
 * steps. Then again and again some clusters near each other are made anew (see flock_remake.h).
 * After a while all clusters are halved another way, along some axis, and so on for a few turns, so
 * that those that were kept apart meet. The halves depend on the rows alone, not on the threads.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "cluster/flock_cells.h"
#include "cluster/flock_halves.h"
#include "cluster/flock_remake.h"

enum {
  LEAST_HALVED = 4000,  /* rows: fewer are one whole */
  STRETCH = 2000,       /* tuples that are gathered together at first, */
  LONGEST = 3000,       /* or a few more where few are left over */
  MOST_K = 100,         /* larger clusters are not for pools */
  MOST_CLUSTERS = 1024, /* that the rows could form: above that looking at all takes too long */
  TURNS = 4,            /* each with other halves */
  USUAL_K = 20,         /* clusters of more rows are made anew less often */
  OFTEN = 16            /* remakes between two reports */
};

/* How long clusters are made anew: pairs of units looked at by that, for each tuple. The more of a
 * cluster's k rows must differ, the more such a pair costs, and the less is gained by it; so it is
 * the more rows a cluster has above USUAL_K. */
static const struct effort {
  uint64_t most_values; /* that a cluster needs, in hundredths of k */
  uint32_t pairs;
} efforts[] = {{10, 80}, {30, 56}, {UINT32_MAX, 15}};

typedef struct small {
  shoal_halves halves;
  shoal_fit fit; /* without counts that follow from others */
  uint32_t *rows;
  shoal_ground ground;
  uint32_t first[SHOAL_HALVES + 1], n_halves;
  unsigned turn;
  bool halved[SHOAL_GROUND_AXES];                         /* along that axis, in some turn */
  shoal_swarm swarms[SHOAL_HALVES], before[SHOAL_HALVES]; /* of this turn; of the one before */
  uint8_t *half_of[SHOAL_HALVES]; /* by half before and column: the half of this turn */
} small;

/* ------------------------------------------------------------ a swarm */

static bool is_over(const small *f, const shoal_swarm *s) {
  return shoal_halves_are_over(&f->halves, s);
}

/* In one turn. */
static uint64_t pairs_to_look_at(const small *f, uint32_t n_tuples) {
  const shoal_fit *fit = f->ground.fit;
  uint64_t values = 0;
  size_t i = 0;
  for (size_t d = 0; d < fit->n_counts; d++)
    if (fit->counts[d].least > values) values = fit->counts[d].least;
  while (100 * values > efforts[i].most_values * fit->k && i + 1 < sizeof efforts / sizeof *efforts)
    i++;
  uint64_t pairs = (uint64_t)efforts[i].pairs * n_tuples / (f->n_halves > 1 ? TURNS : 1);
  return fit->k > USUAL_K ? pairs * USUAL_K / fit->k + 1 : pairs;
}

static void report(small *f, unsigned half, uint64_t part, uint64_t all) {
  bool alone =
      shoal_run_threads(f->halves.task->run) == 1; /* then one half comes after the other */
  uint64_t n = f->ground.n, done = n * part / all;
  if (half && !alone) return;
  if (alone) done = (done + half * n) / f->n_halves;
  shoal_halves_report(&f->halves, (f->turn * n + done) / (f->n_halves > 1 ? TURNS : 1));
}

/* Single steps on all columns that have changed. */
static void polish(small *f, unsigned half, bool last) {
  shoal_swarm *s = &f->swarms[half];
  for (uint32_t c = 0; c < s->n_columns && !is_over(f, s); c++) {
    if (c % OFTEN == 0) report(f, half, last, 1);
    if (s->size[c] && s->changed[c] > s->tried[c]) (void)shoal_swarm_improve(s, c);
  }
  s->n_moved = 0;
}

/* At most as often as there are clusters: where they are small, pools are cheap but gain little. */
static void make_anew(small *f, unsigned half, shoal_units *units, uint32_t n_tuples) {
  shoal_swarm *s = &f->swarms[half];
  shoal_remaking m; /* large: not to be cleared */
  m.swarm = s;
  m.units = units;
  uint64_t pairs = pairs_to_look_at(f, n_tuples), end = units->n_looked + pairs;
  for (uint32_t i = 0; i < s->n_columns && units->n_looked < end && !is_over(f, s); i++) {
    if (i % OFTEN == 0) report(f, half, pairs - (end - units->n_looked), pairs);
    shoal_remake(&m);
  }
  polish(f, half, true);
}

/* ------------------------------------------------------------ first clusters */

static void take_units(shoal_swarm *s, const shoal_units *units) {
  for (uint32_t a = 0; a < units->n; a++) {
    if (units->head[a] == SHOAL_NIL) continue;
    uint32_t column = shoal_swarm_take(s);
    for (uint32_t r = units->head[a]; r != SHOAL_NIL; r = units->next[r])
      shoal_swarm_put(s, r, column);
    shoal_swarm_settle(s, column);
  }
}

/* The first clusters: false where some stretch does not fit as a whole. */
static bool gather_stretches(small *f, unsigned half, shoal_units *units, uint32_t first,
                             uint32_t end) {
  const shoal_ground *g = &f->ground;
  shoal_swarm *s = &f->swarms[half];
  uint32_t *rows = shoal_alloc(end - first, sizeof *rows), last = g->tuple[end - 1] + 1;
  uint32_t *part = shoal_alloc(end - first, sizeof *part);
  uint64_t *keys = shoal_alloc(units->room, sizeof *keys);
  bool fit = true;
  s->failed = !rows || !part || !keys;
  for (uint32_t from = first, to; from < end && fit && !is_over(f, s); from = to) {
    uint32_t tuple = g->tuple[from];
    report(f, half, 0, 1);
    to = last - tuple < LONGEST ? end : g->first[tuple + STRETCH];
    shoal_cells_part(g, from, to, keys, rows, part);
    fit = shoal_units_gather(units, rows, to - from, part, 0, &s->random);
    if (fit) take_units(s, units);
  }
  free(rows);
  free(part);
  free(keys);
  return fit;
}

/* ------------------------------------------------------------ a half */

static bool start(small *f, unsigned half, shoal_units *units, uint32_t n_rows, uint32_t room) {
  const shoal_ground *g = &f->ground;
  shoal_swarm *s = &f->swarms[half];
  bool ok = shoal_swarm_init(s, g, n_rows / (uint32_t)g->fit->k, half + SHOAL_HALVES * f->turn);
  s->failed = !ok || !shoal_units_init(units, g, room);
  return !s->failed;
}

static void cluster_half(void *user, unsigned i) {
  small *f = user;
  const shoal_ground *g = &f->ground;
  shoal_units units;
  uint32_t first = f->first[i], end = f->first[i + 1];
  uint32_t n_tuples = g->tuple[end - 1] - g->tuple[first] + 1, room = LONGEST;
  if (room > n_tuples) room = n_tuples; /* which a pool has no more of */
  if (!start(f, i, &units, end - first, room)) return;
  if (gather_stretches(f, i, &units, first, end)) {
    polish(f, i, false);
    make_anew(f, i, &units, n_tuples);
  } else {
    atomic_store(&f->halves.unfit, true);
  }
  shoal_units_reset(&units);
}

/* ------------------------------------------------------------ other halves */

/* What all rows lose along an axis. */
static uint64_t loss_along(const small *f, size_t q) {
  uint64_t loss = 0;
  for (size_t h = 0; h < SHOAL_HALVES; h++)
    for (uint32_t c = 0; c < f->swarms[h].n_columns; c++) {
      const shoal_swarm *s = &f->swarms[h];
      const shoal_ground_tree *tree = &f->ground.trees[q];
      uint32_t lo = (uint32_t)s->box[c].lo[q];
      uint32_t own = q < f->ground.n_numbers ? (uint32_t)s->box[c].hi[q] - lo
                                             : tree->loss[lo * tree->n_labels + lo];
      loss += (uint64_t)s->size[c] * own;
    }
  return loss;
}

/* The axis along which most is lost, of those that have had no turn; trees before numbers, along
 * which clusters have their near ones. */
static size_t choose_axis(small *f) {
  const shoal_ground *g = &f->ground;
  size_t best = g->n_axes;
  uint64_t most = 0;
  for (size_t q = g->n_axes; q-- > 0;) {
    if (q + 1 == g->n_numbers && best < g->n_axes) break;
    if (f->halved[q]) continue;
    uint64_t loss = loss_along(f, q);
    if (best < g->n_axes && loss <= most) continue;
    best = q;
    most = loss;
  }
  if (best == g->n_axes) { /* once more, then */
    memset(f->halved, 0, sizeof f->halved);
    return choose_axis(f);
  }
  f->halved[best] = true;
  return best;
}

/* Twice the middle of a column along an axis. */
static uint64_t middle_of(const shoal_swarm *s, uint32_t column, size_t q) {
  const shoal_box *box = &s->box[column];
  if (q < s->ground->n_numbers) return (uint64_t)box->lo[q] + (uint64_t)box->hi[q];
  const shoal_ground_tree *tree = &s->ground->trees[q];
  return (uint64_t)tree->first[box->lo[q]] + tree->last[box->lo[q]];
}

/* Halves all columns along an axis, as many for each. False: no memory. */
static bool halve_again(small *f, size_t axis) {
  uint32_t room = f->swarms[0].n_columns + f->swarms[1].n_columns, n = 0;
  uint64_t *keys = shoal_alloc(room, sizeof *keys);
  bool ok = keys != NULL;
  for (uint32_t h = 0; ok && h < SHOAL_HALVES; h++) {
    const shoal_swarm *s = &f->swarms[h];
    free(f->half_of[h]);
    f->half_of[h] = shoal_alloc_zero(s->n_columns, sizeof *f->half_of[h]);
    ok = f->half_of[h] != NULL;
    for (uint32_t c = 0; ok && c < s->n_columns; c++)
      if (s->size[c]) keys[n++] = middle_of(s, c, axis) << 32 | (uint64_t)h << 31 | c;
  }
  if (ok) shoal_sort_keys(keys, n);
  for (uint32_t i = n / 2; ok && i < n; i++)
    f->half_of[(uint32_t)keys[i] >> 31][(uint32_t)keys[i] & INT32_MAX] = 1;
  free(keys);
  return ok;
}

/* Rows of a half of this turn; `to`: they come to it. */
static uint32_t take_rows(const small *f, unsigned half, shoal_swarm *to) {
  uint32_t n_rows = 0;
  for (uint32_t h = 0; h < SHOAL_HALVES; h++) {
    const shoal_swarm *from = &f->before[h];
    for (uint32_t c = 0; c < from->n_columns; c++) {
      if (!from->size[c] || f->half_of[h][c] != half) continue;
      n_rows += from->size[c];
      if (to) shoal_swarm_adopt(to, from, c);
    }
  }
  return n_rows;
}

static void better_half(void *user, unsigned i) {
  small *f = user;
  shoal_units units;
  if (!start(f, i, &units, take_rows(f, i, NULL), SHOAL_REMAKE_ROWS)) return;
  (void)take_rows(f, i, &f->swarms[i]);
  make_anew(f, i, &units, f->ground.n_tuples / SHOAL_HALVES);
  shoal_units_reset(&units);
}

/* ------------------------------------------------------------ all turns */

static void cut_halves(small *f) {
  const shoal_ground *g = &f->ground;
  bool whole = g->n < LEAST_HALVED || g->n_tuples < SHOAL_HALVES;
  uint32_t middle = whole ? g->n : g->first[g->n_tuples / 2];
  f->first[1] = middle;
  f->first[2] = g->n;
  f->n_halves = middle < g->n ? 2 : 1;
}

/* The halves are worked on; false: no memory. */
static bool work(small *f, void (*work_on)(void *user, unsigned i)) {
  shoal_halves_work(&f->halves, f->n_halves, work_on, f);
  for (uint32_t i = 0; i < f->n_halves; i++)
    if (f->swarms[i].failed) return false;
  return true;
}

static bool take_turn(small *f) {
  if (!halve_again(f, choose_axis(f))) return false;
  for (size_t i = 0; i < SHOAL_HALVES; i++) {
    f->before[i] = f->swarms[i];
    memset(&f->swarms[i], 0, sizeof f->swarms[i]);
  }
  f->turn++;
  bool ok = work(f, better_half);
  for (size_t i = 0; i < SHOAL_HALVES; i++) shoal_swarm_reset(&f->before[i]);
  return ok;
}

/* False: no memory. */
static bool cluster(small *f, shoal_partition *partition) {
  cut_halves(f);
  shoal_halves_report(&f->halves, 0);
  if (!work(f, cluster_half)) return false;
  if (atomic_load(&f->halves.unfit)) return true;
  while (f->n_halves > 1 && f->turn + 1 < TURNS && f->halves.status == SHOAL_OK)
    if (!take_turn(f)) return false;
  if (f->halves.status != SHOAL_OK) return true;
  return shoal_halves_hand_over(f->swarms, f->n_halves, f->rows, partition);
}

shoal_status shoal_flock_small(const shoal_cluster_task *task, shoal_partition *partition,
                               bool *done, shoal_error *error) {
  *done = false;
  uint64_t k = task->fit->k;
  if (!shoal_ground_carries(task) || k > MOST_K || task->axes->n_rows / k > MOST_CLUSTERS)
    return SHOAL_OK;
  small *f = shoal_alloc_zero(1, sizeof *f);
  if (!f) return shoal_fail_memory(error);
  f->halves.task = task;
  f->halves.error = error;
  f->rows = shoal_alloc((size_t)task->axes->n_rows, sizeof *f->rows);
  bool ok = f->rows && shoal_halves_reduce_fit(task->fit, &f->fit);
  if (ok) f->halves.status = shoal_flock_order_roughly(task, f->rows, error);
  shoal_cluster_task reduced = *task;
  reduced.fit = &f->fit;
  if (ok && f->halves.status == SHOAL_OK)
    ok = shoal_ground_init(&f->ground, &reduced, f->rows) && cluster(f, partition);
  *done = partition->cluster_of_row != NULL;
  shoal_status status = ok ? f->halves.status : shoal_fail_memory(error);
  for (size_t i = 0; i < SHOAL_HALVES; i++) {
    shoal_swarm_reset(&f->swarms[i]);
    shoal_swarm_reset(&f->before[i]);
    free(f->half_of[i]);
  }
  shoal_ground_reset(&f->ground);
  free(f->fit.counts);
  free(f->rows);
  free(f);
  return status;
}
