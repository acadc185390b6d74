/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/theta_order: the order of a best-cut tree. A set of tuples is cut in two on the attribute
 * and at the position where both parts together lose the least information, and so on down to
 * single tuples. Of two parts, the one nearer to the preceding tuple comes first. Neighbours are
 * then similar in all attributes, which sorting by columns cannot achieve.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/thread.h"
#include "cluster/theta.h"

enum {
  SAMPLE = 16384,     /* tuples by which a cut is chosen */
  MAX_DEPTH = 40,     /* of the tree; deeper parts are cut in half */
  MIN_REPORTED = 512, /* tuples of a part that is worth a progress report */
  MIN_SMALL = 1024    /* tuples of a part that is ordered separately */
};

/* Tuples of a part that share a position on the current axis. */
typedef struct slice {
  uint32_t position;
  uint32_t n_tuples;
  uint64_t weight;
} slice;

typedef struct cut {
  uint64_t cost;     /* loss of both sides */
  uint64_t evenness; /* ample: rows of the lighter side; otherwise tuples of the smaller side */
  size_t axis;
  uint32_t last; /* positions up to this one are on the left */
  bool found;
  bool ample; /* both sides have enough rows */
} cut;

typedef struct ordering {
  const shoal_axes *axes;
  const uint32_t *weight;
  uint64_t min_weight;
  bool even; /* the tree is deep: cut in half */
  shoal_arena arena;
  uint32_t *scratch;   /* tuples of a part */
  slice *slices;       /* of the current axis */
  shoal_span *boxes;   /* by slice: axes->n_spans */
  uint64_t *left_cost; /* by slice: of the slices up to it */
  uint64_t *keys;      /* position << 32 | index */
  uint32_t *sample;    /* SAMPLE tuples of a large part */
  shoal_span *box;     /* of a part or its sample */
  shoal_span *grown;   /* an box that grows */
  const shoal_run *run;
  shoal_status status; /* of the reports */
  shoal_error error;
} ordering;

static void add_to_slice(const ordering *o, uint32_t s, bool first, uint32_t tuple) {
  const uint32_t *positions = shoal_axes_tuple(o->axes, tuple);
  shoal_span *box = o->boxes + (size_t)s * o->axes->n_spans;
  if (first) shoal_box_start(o->axes, box, positions);
  else shoal_box_add(o->axes, box, positions);
  o->slices[s].weight += o->weight[tuple];
  o->slices[s].n_tuples++;
}

/* Makes the slices of m tuples on an axis, ascending; returns their number. */
static uint32_t make_slices(ordering *o, const uint32_t *tuples, size_t m, size_t axis) {
  for (size_t i = 0; i < m; i++)
    o->keys[i] = (uint64_t)shoal_axes_tuple(o->axes, tuples[i])[axis] << 32 | i;
  shoal_sort_u64(o->keys, m);
  uint32_t n = 0;
  for (size_t i = 0; i < m; i++) {
    uint32_t position = (uint32_t)(o->keys[i] >> 32);
    bool first = i == 0 || position != o->slices[n - 1].position;
    if (first) o->slices[n++] = (slice){position, 0, 0};
    add_to_slice(o, n - 1, first, tuples[(uint32_t)o->keys[i]]);
  }
  return n;
}

static bool is_better(const cut *a, const cut *b) {
  if (!b->found || a->ample != b->ample) return !b->found || a->ample;
  if (a->ample && a->cost != b->cost) return a->cost < b->cost;
  return a->evenness > b->evenness;
}

/*
 * The best cut on an axis: the ample one of least cost. If none is ample, the one that divides the
 * tuples most evenly, so that the tree does not get deep.
 */
static void try_axis(ordering *o, uint32_t n_slices, size_t axis, uint64_t weight, size_t n_tuples,
                     cut *best) {
  const shoal_axes *axes = o->axes;
  uint64_t left = 0, least = o->even                      ? UINT64_MAX
                             : weight / 4 < o->min_weight ? weight / 4
                                                          : o->min_weight;
  memcpy(o->grown, o->boxes, axes->n_spans * sizeof *o->grown);
  for (uint32_t s = 0; s + 1 < n_slices; s++) {
    shoal_box_join(axes, o->grown, o->boxes + (size_t)s * axes->n_spans);
    left += o->slices[s].weight;
    o->left_cost[s] = left * shoal_box_loss(axes, o->grown);
  }
  uint64_t right = 0, tuples = 0;
  memcpy(o->grown, o->boxes + (size_t)(n_slices - 1) * axes->n_spans,
         axes->n_spans * sizeof *o->grown);
  for (uint32_t s = n_slices - 1; s > 0; s--) {
    shoal_box_join(axes, o->grown, o->boxes + (size_t)s * axes->n_spans);
    right += o->slices[s].weight;
    tuples += o->slices[s].n_tuples;
    uint64_t lighter = right < weight - right ? right : weight - right;
    uint64_t smaller = tuples < n_tuples - tuples ? tuples : n_tuples - tuples;
    cut c = {.cost = o->left_cost[s - 1] + right * shoal_box_loss(axes, o->grown),
             .axis = axis,
             .last = o->slices[s - 1].position,
             .found = true,
             .ample = lighter >= least};
    c.evenness = c.ample ? lighter : smaller;
    if (is_better(&c, best)) *best = c;
  }
}

static void box_of(const shoal_axes *axes, const uint32_t *tuples, size_t m, shoal_span *box) {
  shoal_box_start(axes, box, shoal_axes_tuple(axes, tuples[0]));
  for (size_t i = 1; i < m; i++) shoal_box_add(axes, box, shoal_axes_tuple(axes, tuples[i]));
}

/* Moves the tuples of the left side to the front, stably; returns their number. */
static size_t divide(ordering *o, uint32_t *tuples, size_t m, const cut *c) {
  size_t left = 0, right = 0;
  for (size_t i = 0; i < m; i++) {
    if (shoal_axes_tuple(o->axes, tuples[i])[c->axis] <= c->last) tuples[left++] = tuples[i];
    else o->scratch[right++] = tuples[i];
  }
  memcpy(tuples + left, o->scratch, right * sizeof *tuples);
  return left;
}

/* The increase in loss of m tuples by one more. */
static uint32_t increase(ordering *o, const uint32_t *tuples, size_t m, const uint32_t *positions) {
  box_of(o->axes, tuples, m, o->grown);
  return shoal_box_loss_with(o->axes, o->grown, positions) - shoal_box_loss(o->axes, o->grown);
}

/* Puts the part first that loses less by the tuple `before`; returns its size. */
static size_t turn(ordering *o, uint32_t *tuples, size_t m, size_t left, const uint32_t *before) {
  if (increase(o, tuples, left, before) <= increase(o, tuples + left, m - left, before))
    return left;
  memcpy(o->scratch, tuples, left * sizeof *tuples);
  memmove(tuples, tuples + left, (m - left) * sizeof *tuples);
  memcpy(tuples + (m - left), o->scratch, left * sizeof *tuples);
  return m - left;
}

typedef struct part {
  uint32_t *tuples;
  size_t n;
  unsigned depth;
} part;

typedef struct parts {
  part *items;
  size_t n, capacity;
} parts;

static bool add_part(parts *list, uint32_t *tuples, size_t n, unsigned depth) {
  if (!shoal_grow(&list->items, &list->capacity, list->n + 1, sizeof *list->items)) return false;
  list->items[list->n++] = (part){tuples, n, depth};
  return true;
}

/* The best cut; of a large part, by a sample of its tuples. */
static cut choose_cut(ordering *o, const part *p) {
  const uint32_t *tuples = p->tuples;
  size_t m = p->n;
  uint64_t weight = 0;
  if (m > SAMPLE) {
    for (size_t i = 0; i < SAMPLE; i++) o->sample[i] = p->tuples[i * (p->n / SAMPLE)];
    tuples = o->sample;
    m = SAMPLE;
  }
  for (size_t i = 0; i < m; i++) weight += o->weight[tuples[i]];
  box_of(o->axes, tuples, m, o->box);
  cut best = {0};
  for (size_t q = 0; q < o->axes->n; q++) {
    if (o->box[q].lo == o->box[q].hi) continue;
    try_axis(o, make_slices(o, tuples, m, q), q, weight, m, &best);
  }
  return best;
}

/*
 * Orders tuples. Parts of at most `small` tuples are put on the list `later` instead, if there is
 * one; the first part of a call has no preceding tuple. False: no memory, or cancelled.
 */
static bool order_tuples(ordering *o, uint32_t *tuples, size_t n, size_t small, parts *later) {
  parts stack = {0};
  bool ok = add_part(&stack, tuples, n, 0);
  while (ok && stack.n) {
    part p = stack.items[--stack.n];
    if (p.n < 2) continue;
    if (later && p.n <= small) {
      ok = add_part(later, p.tuples, p.n, 0);
      continue;
    }
    if (p.n > MIN_REPORTED) /* no row is done yet */
      o->status = shoal_run_report(o->run, "cluster", 0, o->axes->n_rows, "rows", &o->error);
    if (o->status != SHOAL_OK) break;
    o->even = p.depth > MAX_DEPTH;
    cut c = choose_cut(o, &p);
    if (!c.found) continue;
    size_t left = divide(o, p.tuples, p.n, &c);
    if (p.tuples > tuples)
      left = turn(o, p.tuples, p.n, left, shoal_axes_tuple(o->axes, p.tuples[-1]));
    ok = add_part(&stack, p.tuples + left, p.n - left, p.depth + 1) &&
         add_part(&stack, p.tuples, left, p.depth + 1);
  }
  free(stack.items);
  return ok && o->status == SHOAL_OK;
}

/* ------------------------------------------------------------ all tuples */

/* Room for parts of up to n tuples. */
static bool ordering_init(ordering *o, size_t n) {
  const shoal_axes *axes = o->axes;
  size_t sampled = n < SAMPLE ? n : SAMPLE;
  size_t slices = axes->max_positions < sampled ? axes->max_positions : sampled;
  return SHOAL_ARENA_ARRAY(&o->arena, o->scratch, n) &&
         SHOAL_ARENA_ARRAY(&o->arena, o->sample, SAMPLE) &&
         SHOAL_ARENA_ARRAY(&o->arena, o->slices, slices) &&
         SHOAL_ARENA_ARRAY(&o->arena, o->boxes, slices * axes->n_spans) &&
         SHOAL_ARENA_ARRAY(&o->arena, o->left_cost, slices) &&
         SHOAL_ARENA_ARRAY(&o->arena, o->keys, sampled) &&
         SHOAL_ARENA_ARRAY(&o->arena, o->grown, axes->n_spans) &&
         SHOAL_ARENA_ARRAY(&o->arena, o->box, axes->n_spans);
}

shoal_status shoal_row_order(const shoal_axes *axes, const uint32_t *weight, uint64_t min_weight,
                             const shoal_run *run, uint32_t *order, shoal_error *error) {
  size_t n = axes->n_tuples, small = n / 64 > MIN_SMALL ? n / 64 : MIN_SMALL;
  ordering o = {.axes = axes, .weight = weight, .min_weight = min_weight, .run = run};
  parts later = {0};
  for (uint32_t t = 0; t < n; t++) order[t] = t;
  bool ok = ordering_init(&o, n) && order_tuples(&o, order, n, small, &later);
  for (size_t i = 0; ok && i < later.n; i++)
    ok = order_tuples(&o, later.items[i].tuples, later.items[i].n, 0, NULL);
  free(later.items);
  shoal_arena_reset(&o.arena);
  if (o.status != SHOAL_OK && error) *error = o.error;
  return ok ? SHOAL_OK : o.status != SHOAL_OK ? o.status : shoal_fail_memory(error);
}

/* ------------------------------------------------------------ classes */

shoal_status shoal_theta_order(const shoal_cluster_task *task, const shoal_partition *partition,
                               uint32_t *number, shoal_error *error) {
  const shoal_axes *axes = task->axes;
  uint32_t n = axes->n_tuples, n_classes = partition->n_clusters;
  uint32_t *weight = shoal_alloc_zero(n, sizeof *weight), *order = shoal_alloc(n, sizeof *order);
  uint64_t *keys = shoal_alloc_zero(n_classes, sizeof *keys);
  shoal_status status = weight && order && keys ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    for (uint32_t r = 0; r < axes->n_rows; r++) weight[axes->tuple_of_row[r]]++;
    status = shoal_row_order(axes, weight, task->required->k, task->run, order, error);
  }
  if (status == SHOAL_OK) {
    for (uint32_t i = 0, at = 0; i < n; i++) { /* weights become positions */
      uint32_t rows = weight[order[i]];
      weight[order[i]] = at;
      at += rows;
    }
    memset(number, 0, n_classes * sizeof *number);
    for (uint32_t r = 0; r < axes->n_rows; r++) { /* the sum of positions, and the rows */
      keys[partition->cluster_of_row[r]] += weight[axes->tuple_of_row[r]];
      number[partition->cluster_of_row[r]]++;
    }
    for (uint32_t c = 0; c < n_classes; c++) keys[c] = keys[c] / number[c] << 32 | c;
    shoal_sort_u64(keys, n_classes);
    for (uint32_t i = 0; i < n_classes; i++) number[(uint32_t)keys[i]] = i;
  }
  free(weight);
  free(order);
  free(keys);
  return status;
}
