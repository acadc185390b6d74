/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/mondrian: multidimensional partitioning (LeFevre, DeWitt & Ramakrishnan 2006) with local
 * recoding. All rows are cut in two, then each side again, until no cut leaves both sides
 * satisfying every requirement. The requirements may include models that are not monotone.
 *
 * Axes are tried in the order of their loss, the largest first, as in the paper. The paper cuts at
 * the median only; here the allowed cut nearest to the median is taken, so that a frequent value,
 * or a requirement that the median breaks, does not rule out the axis. Cuts at the end of a label
 * come first: between children of the lowest common ancestor, and between numbers and missing
 * values (together they are `*`). Only then a cut may divide a child.
 *
 * If every requirement is monotone, the left side satisfies them from some cut on, and the right
 * side up to some cut; binary search finds both. Otherwise up to MAX_TRIES cuts are tried, the
 * nearest first: judging costs a pass over the rows.
 *
 * Relaxed cuts (section 3.2 of the paper): rows at the median position go to both sides, the first
 * ones left, and the sides are equally large.
 *
 * Rows are in one array that is divided in place; a node is a range of it. Nodes are independent,
 * so threads share them, and the result does not depend on the number of threads. Cost: about
 * O(n log n) for n rows, and 13 bytes per row.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "cluster/cluster.h"

enum {
  MAX_TRIES = 16,        /* cuts judged on an axis if not every requirement is monotone */
  MIN_SHARED = 4096,     /* rows of a node that is worth giving to another thread */
  NODES_PER_THREAD = 16, /* at least, for an even load */
  REPORTS = 100
};

/* ------------------------------------------------------------ one node */

/* A position, and the number of rows at it or a lower one: a cut after that position. */
typedef shoal_position_count step;

/* Cuts the rows of one node; one per thread. */
typedef struct cutter {
  const shoal_cluster_task *task;
  shoal_requirement_checker checker;
  shoal_arena arena;
  shoal_span *box;   /* of the node, by axis */
  uint32_t *losses;  /* of the box, by axis */
  size_t *order;     /* axes on which the rows differ, the largest loss first */
  uint32_t *scratch; /* one entry per position */
  step *steps;       /* of the node's rows on the current axis, ascending */
  uint32_t n_steps;
  step *picked; /* steps at the end of a label */
  size_t axis;  /* the current axis */
  const uint32_t *rows;
  uint32_t n;
  uint32_t *positions; /* of the rows on that axis */
  uint32_t *sides;     /* the rows divided: left ones, then right ones */
} cutter;

static void cutter_reset(cutter *c) {
  shoal_requirement_checker_reset(&c->checker);
  shoal_arena_reset(&c->arena);
}

static shoal_status cutter_init(cutter *c, const shoal_cluster_task *task, shoal_error *error) {
  const shoal_axes *axes = task->axes;
  *c = (cutter){.task = task};
  SHOAL_TRY(shoal_requirement_checker_init(&c->checker, task->required, error));
  bool ok = SHOAL_ARENA_ARRAY(&c->arena, c->box, axes->n_spans) &&
            SHOAL_ARENA_ARRAY(&c->arena, c->losses, axes->n) &&
            SHOAL_ARENA_ARRAY(&c->arena, c->order, axes->n) &&
            SHOAL_ARENA_ARRAY(&c->arena, c->scratch, axes->max_positions) &&
            SHOAL_ARENA_ARRAY(&c->arena, c->steps, axes->max_positions) &&
            SHOAL_ARENA_ARRAY(&c->arena, c->picked, axes->max_positions);
  if (ok) return SHOAL_OK;
  cutter_reset(c);
  return shoal_fail_memory(error);
}

/* Finds the axes on which the rows differ, sorted by loss; of equal losses the first axis first. */
static size_t order_axes(cutter *c) {
  const shoal_axes *axes = c->task->axes;
  size_t n = 0;
  shoal_box_of(axes, c->box, c->rows, c->n);
  for (size_t q = 0; q < axes->n; q++) {
    shoal_span span = c->box[q];
    if (span.lo == span.hi) continue;
    c->losses[q] = shoal_box_axis_loss(&axes->items[q], c->box, q);
    size_t at = n++;
    for (; at && c->losses[c->order[at - 1]] < c->losses[q]; at--) c->order[at] = c->order[at - 1];
    c->order[at] = q;
  }
  return n;
}

static void find_steps(cutter *c, size_t axis) {
  const shoal_axes *axes = c->task->axes;
  c->axis = axis;
  for (uint32_t i = 0; i < c->n; i++) c->positions[i] = shoal_axes_row(axes, c->rows[i])[axis];
  c->n_steps = shoal_count_positions(c->positions, c->n, c->box[axis], c->scratch, c->steps);
  for (uint32_t s = 1; s < c->n_steps; s++) c->steps[s].n += c->steps[s - 1].n;
}

/* Picks the steps at the end of a label, unless all are; returns their number. */
static uint32_t pick_steps(cutter *c) {
  const shoal_axis *axis = &c->task->axes->items[c->axis];
  shoal_span span = c->box[c->axis];
  if (!axis->hierarchy && span.hi < axis->n_numbers) return 0;
  const shoal_level *level = axis->hierarchy ? shoal_axis_children(axis, span.lo, span.hi) : NULL;
  uint32_t n = 0;
  for (uint32_t s = 0; s + 1 < c->n_steps; s++) {
    uint32_t here = c->steps[s].position, next = c->steps[s + 1].position;
    bool ends = level ? level->of_leaf[axis->code_at[here]] != level->of_leaf[axis->code_at[next]]
                      : next >= axis->n_numbers;
    if (ends) c->picked[n++] = c->steps[s];
  }
  return n;
}

/* ------------------------------------------------------------ trying a cut */

/* Rows below `position` go left, and the first n_at_position of those at it: n_left rows in total.
 */
static void divide(cutter *c, uint32_t position, uint32_t n_left, uint32_t n_at_position) {
  uint32_t *to[2] = {c->sides + n_left, c->sides};
  for (uint32_t i = 0; i < c->n; i++) {
    bool is_left = c->positions[i] < position;
    if (c->positions[i] == position && n_at_position) {
      is_left = true;
      n_at_position--;
    }
    *to[is_left]++ = c->rows[i];
  }
}

static void divide_after(cutter *c, step at) { divide(c, at.position, at.n, UINT32_MAX); }

static bool left_satisfies(cutter *c, step at) {
  return shoal_requirement_checker_satisfies(&c->checker, c->sides, at.n);
}

static bool right_satisfies(cutter *c, step at) {
  return shoal_requirement_checker_satisfies(&c->checker, c->sides + at.n, c->n - at.n);
}

static bool both_satisfy(cutter *c, step at) {
  divide_after(c, at);
  return left_satisfies(c, at) && right_satisfies(c, at);
}

/* Twice the distance of a cut from the middle, in rows. */
static uint64_t off_middle(const cutter *c, step at) {
  uint64_t twice = 2 * (uint64_t)at.n;
  return twice > c->n ? twice - c->n : c->n - twice;
}

/* The steps that leave k rows on both sides; from `middle` on, at least half are on the left. */
typedef struct range {
  const step *steps;
  uint32_t first, middle, end;
} range;

static range large_enough(const cutter *c, const step *steps, uint32_t n) {
  uint64_t k = c->task->required->k;
  range r = {.steps = steps};
  while (r.first < n && steps[r.first].n < k) r.first++;
  r.middle = r.first;
  while (r.middle < n && 2 * (uint64_t)steps[r.middle].n < c->n) r.middle++;
  r.end = n;
  while (r.end > r.first && c->n - steps[r.end - 1].n < k) r.end--;
  if (r.middle > r.end) r.middle = r.end;
  return r;
}

/* The side of the middle to try next: both neighbours of the median first, then the nearer one. */
static bool low_is_next(const cutter *c, range r, uint32_t low, uint32_t high) {
  if (low == r.first || high == r.end) return high == r.end;
  bool low_tried = low != r.middle, high_tried = high != r.middle;
  if (low_tried != high_tried) return high_tried;
  return off_middle(c, r.steps[low - 1]) <= off_middle(c, r.steps[high]);
}

/* Monotone requirements: binary search. */
static uint32_t cut_by_halving(cutter *c, range r) {
  uint32_t at = low_is_next(c, r, r.middle, r.middle) ? r.middle - 1 : r.middle;
  divide_after(c, r.steps[at]);
  bool left = left_satisfies(c, r.steps[at]), right = right_satisfies(c, r.steps[at]);
  if (left && right) return r.steps[at].n;
  if (!left && !right) return 0;
  uint32_t low = left ? r.first : at + 1, high = left ? at : r.end;
  while (low < high) { /* the first step whose left side fits, or whose right side does not */
    uint32_t half = low + (high - low) / 2;
    divide_after(c, r.steps[half]);
    bool below = left ? right_satisfies(c, r.steps[half]) : !left_satisfies(c, r.steps[half]);
    if (below) low = half + 1;
    else high = half;
  }
  if (low == (left ? r.first : r.end)) return 0;
  step found = r.steps[left ? low - 1 : low];
  return both_satisfy(c, found) ? found.n : 0;
}

/* Other requirements: one by one, from the median outward. */
static uint32_t cut_by_trying(cutter *c, range r) {
  uint32_t low = r.middle, high = r.middle;
  for (int tried = 0; tried < MAX_TRIES && high - low < r.end - r.first; tried++) {
    step at = r.steps[low_is_next(c, r, low, high) ? --low : high++];
    if (both_satisfy(c, at)) return at.n;
  }
  return 0;
}

static uint32_t cut_after(cutter *c, const step *steps, uint32_t n) {
  range r = large_enough(c, steps, n);
  if (r.first == r.end) return 0;
  return c->task->required->monotone ? cut_by_halving(c, r) : cut_by_trying(c, r);
}

/* Relaxed: half of the rows go left, whatever their positions. */
static uint32_t cut_in_half(cutter *c) {
  uint32_t n_left = c->n / 2, s = 0;
  while (c->steps[s].n < n_left) s++;
  divide(c, c->steps[s].position, n_left, n_left - (s ? c->steps[s - 1].n : 0));
  step half = {c->steps[s].position, n_left};
  return left_satisfies(c, half) && right_satisfies(c, half) ? n_left : 0;
}

static uint32_t cut_axis(cutter *c, size_t axis) {
  find_steps(c, axis);
  uint32_t n_picked = pick_steps(c), n_left = cut_after(c, c->picked, n_picked);
  if (!n_left && c->task->relaxed) n_left = cut_in_half(c);
  if (!n_left && n_picked + 1 < c->n_steps) n_left = cut_after(c, c->steps, c->n_steps - 1);
  return n_left;
}

/*
 * Cuts n rows, which are ascending: left ones first, then right ones, both ascending. Returns the
 * number of left ones; 0: no cut is allowed. `scratch` has room for 2 n rows.
 */
static uint32_t cut(cutter *c, uint32_t *rows, uint32_t n, uint32_t *scratch) {
  if (n < 2 || n / 2 < c->task->required->k) return 0;
  c->rows = rows;
  c->n = n;
  c->sides = scratch;
  c->positions = scratch + n;
  size_t n_axes = order_axes(c);
  uint32_t n_left = 0;
  for (size_t i = 0; i < n_axes && !n_left; i++) n_left = cut_axis(c, c->order[i]);
  if (n_left) memcpy(rows, scratch, n * sizeof *rows);
  return n_left;
}

/* ------------------------------------------------------------ the work of a thread */

typedef shoal_row_range node;

typedef struct mondrian {
  const shoal_cluster_task *task;
  shoal_ranges ranges;
  shoal_arena arena;
  uint32_t *scratch; /* 2 n_rows: each node has its range */
  cutter *cutters;   /* by thread */
  unsigned n_threads;
  uint32_t n_shared; /* nodes with this number of rows are cut once; their sides are shared */
  node *nodes;       /* of this round */
  node *sides;       /* of the next round */
  uint32_t *n_left;  /* by node of this round: 0 unless it was shared and cut */
  size_t n_nodes;
  atomic_size_t next;
  atomic_uint_fast64_t n_done; /* rows in their final cluster */
  atomic_bool stopped;
  uint64_t n_reported;
  shoal_status status; /* of the reports */
  shoal_error *error;
} mondrian;

/* Only thread 0, which is the caller's, reports. */
static void count_done(mondrian *m, unsigned thread, uint32_t n) {
  uint64_t done = atomic_fetch_add(&m->n_done, n) + n;
  if (thread || done - m->n_reported < m->ranges.n_rows / REPORTS + 1) return;
  m->n_reported = done;
  m->status = shoal_run_report(m->task->run, "cluster", done, m->ranges.n_rows, "rows", m->error);
  if (m->status != SHOAL_OK) atomic_store(&m->stopped, true);
}

static uint32_t cut_node(mondrian *m, unsigned thread, node at) {
  uint32_t n_left =
      cut(&m->cutters[thread], m->ranges.rows + at.start, at.n, m->scratch + 2 * (size_t)at.start);
  if (n_left) m->ranges.starts[at.start + n_left] = 1;
  else count_done(m, thread, at.n);
  return n_left;
}

/* Cuts a node down to its clusters. Recurses into the smaller side: at most 32 levels. */
static void finish_node(mondrian *m, unsigned thread, node at) {
  while (!atomic_load_explicit(&m->stopped, memory_order_relaxed)) {
    uint32_t n_left = cut_node(m, thread, at);
    if (!n_left) return;
    node left = {at.start, n_left}, right = {at.start + n_left, at.n - n_left};
    bool left_first = left.n <= right.n;
    finish_node(m, thread, left_first ? left : right);
    at = left_first ? right : left;
  }
}

static void work(void *user, unsigned thread) {
  mondrian *m = user;
  size_t i;
  while (!atomic_load(&m->stopped) && (i = atomic_fetch_add(&m->next, 1)) < m->n_nodes) {
    m->n_left[i] = 0;
    if (m->nodes[i].n >= m->n_shared) m->n_left[i] = cut_node(m, thread, m->nodes[i]);
    else finish_node(m, thread, m->nodes[i]);
  }
}

/* ------------------------------------------------------------ rounds */

/* The sides of the nodes cut in this round are the nodes of the next. */
static void next_round(mondrian *m) {
  size_t n = 0;
  for (size_t i = 0; i < m->n_nodes; i++) {
    node at = m->nodes[i];
    if (!m->n_left[i]) continue;
    m->sides[n++] = (node){at.start, m->n_left[i]};
    m->sides[n++] = (node){at.start + m->n_left[i], at.n - m->n_left[i]};
  }
  node *sides = m->sides;
  m->sides = m->nodes;
  m->nodes = sides;
  m->n_nodes = n;
}

static shoal_status cut_all(mondrian *m, shoal_error *error) {
  m->nodes[0] = (node){0, m->ranges.n_rows};
  m->n_nodes = 1;
  while (m->n_nodes) {
    atomic_store(&m->next, 0);
    size_t n_threads = m->n_nodes < m->n_threads ? m->n_nodes : m->n_threads;
    shoal_parallel((unsigned)n_threads, work, m);
    if (m->status != SHOAL_OK) return m->status;
    next_round(m);
  }
  for (unsigned t = 0; t < m->n_threads; t++)
    if (m->cutters[t].checker.failed) return shoal_fail_memory(error);
  return SHOAL_OK;
}

static shoal_status prepare(mondrian *m, shoal_error *error) {
  SHOAL_TRY(shoal_ranges_init(&m->ranges, m->task->axes->n_rows, error));
  uint32_t n_rows = m->ranges.n_rows;
  unsigned n_threads = n_rows < MIN_SHARED ? 1 : shoal_run_threads(m->task->run);
  m->n_shared = n_rows / (NODES_PER_THREAD * n_threads);
  if (m->n_shared < MIN_SHARED) m->n_shared = MIN_SHARED;
  if (n_threads == 1) m->n_shared = UINT32_MAX;
  size_t max_nodes = 2 * ((size_t)n_rows / m->n_shared + 1); /* sides of the shared ones */
  if (!SHOAL_ARENA_ARRAY(&m->arena, m->scratch, 2 * (size_t)n_rows) ||
      !SHOAL_ARENA_ARRAY(&m->arena, m->cutters, n_threads) ||
      !SHOAL_ARENA_ARRAY(&m->arena, m->nodes, max_nodes) ||
      !SHOAL_ARENA_ARRAY(&m->arena, m->sides, max_nodes) ||
      !SHOAL_ARENA_ARRAY(&m->arena, m->n_left, max_nodes))
    return shoal_fail_memory(error);
  for (; m->n_threads < n_threads; m->n_threads++)
    SHOAL_TRY(cutter_init(&m->cutters[m->n_threads], m->task, error));
  return SHOAL_OK;
}

shoal_status shoal_cluster_mondrian(const shoal_cluster_task *task, shoal_partition *partition,
                                    shoal_error *error) {
  mondrian m = {.task = task, .status = SHOAL_OK, .error = error};
  shoal_status status = prepare(&m, error);
  if (status == SHOAL_OK) status = cut_all(&m, error);
  if (status == SHOAL_OK) status = shoal_ranges_partition(&m.ranges, partition, error);
  for (unsigned t = 0; t < m.n_threads; t++) cutter_reset(&m.cutters[t]);
  shoal_arena_reset(&m.arena);
  shoal_ranges_reset(&m.ranges);
  return status;
}
