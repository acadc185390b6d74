/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_order: the order of a best-cut tree. A set of tuples is cut in two on the attribute
 * and at the place where the two parts together lose least information, and so on down to single
 * tuples. Read from left to right, with each pair of parts turned so that the nearer one comes
 * first, neighbours are alike in all attributes at once, which no sorting by columns gives.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/work.h"
#include "cluster/flock.h"

enum {
  SAMPLE = 16384,      /* tuples that a cut is chosen by */
  SMALL_SAMPLE = 1024, /* in haste, */
  TINY_SAMPLE = 256,   /* and for a rough order */
  DEEP = 40,           /* levels of the tree */
  OFTEN = 512,         /* parts above so many tuples are a reason to ask whether to go on */
  ROUGH = 2000,        /* tuples that are not cut further in a rough order */
  FEW = 64             /* tuples that are cut quickly, in haste: they are neighbours anyway */
};

/* Tuples of a node that share a place on the axis at hand. */
typedef struct slice {
  uint32_t place;
  uint32_t n_tuples;
  uint64_t weight;
} slice;

typedef struct cut {
  uint64_t cost; /* of both sides */
  uint64_t
      evenness; /* rows of the lighter side; of cuts that are not ample: tuples of the smaller */
  size_t axis;
  uint32_t last; /* places up to this one are on the left */
  bool found;
  bool ample; /* both sides have rows enough */
} cut;

typedef struct ordering {
  const shoal_axes *axes;
  const uint32_t *weight;
  uint64_t least;
  bool in_haste;             /* rows are many: small parts are cut quickly */
  const uint32_t *middle;    /* of a rough order: cuts are chosen by few tuples; else NULL */
  bool even;                 /* the tree is deep: parts are made even */
  uint32_t *scratch;         /* by tuple of the node */
  slice *slices;             /* of the axis at hand */
  shoal_span *extents;       /* of each slice: n spans */
  uint64_t *left_cost;       /* by slice: of all up to it */
  uint32_t *slice_of;        /* by place: its slice + 1; 0 where the node has none */
  uint64_t *keys;            /* for sorting: place and index */
  shoal_span *run;           /* n spans: growing extent */
  uint32_t *sample;          /* SAMPLE tuples of a large part */
  shoal_span *extent, *wide; /* n spans each */
  const shoal_run *asked;    /* whom to ask whether to go on; NULL: nobody */
  shoal_status status;       /* of asking */
  shoal_error error;
} ordering;

static void add_to_slice(const ordering *o, uint32_t s, bool first, uint32_t tuple) {
  const uint32_t *places = shoal_axes_tuple(o->axes, tuple);
  shoal_span *extent = o->extents + (size_t)s * o->axes->n;
  if (first) shoal_extent_start(o->axes, extent, places);
  else shoal_extent_add(o->axes, extent, places);
  o->slices[s].weight += o->weight[tuple];
  o->slices[s].n_tuples++;
}

/* The node's slices on an axis, by ascending place, from a sorted list of its tuples. */
static uint32_t slice_sorted(ordering *o, const uint32_t *tuples, size_t m, size_t axis) {
  for (size_t i = 0; i < m; i++)
    o->keys[i] = (uint64_t)shoal_axes_tuple(o->axes, tuples[i])[axis] << 32 | i;
  shoal_sort_keys(o->keys, m);
  uint32_t n = 0;
  for (size_t i = 0; i < m; i++) {
    uint32_t place = (uint32_t)(o->keys[i] >> 32);
    bool first = i == 0 || place != o->slices[n - 1].place;
    if (first) o->slices[n++] = (slice){place, 0, 0};
    add_to_slice(o, n - 1, first, tuples[(uint32_t)o->keys[i]]);
  }
  return n;
}

/* The same by counting places from lo to hi: for nodes with many tuples. */
static uint32_t slice_counted(ordering *o, const uint32_t *tuples, size_t m, size_t axis,
                              shoal_span span) {
  uint32_t *slice_of = o->slice_of, n = 0;
  memset(slice_of, 0, ((size_t)span.hi - span.lo + 1) * sizeof *slice_of);
  for (size_t i = 0; i < m; i++) slice_of[shoal_axes_tuple(o->axes, tuples[i])[axis] - span.lo] = 1;
  for (uint32_t p = 0; p <= span.hi - span.lo; p++) {
    if (!slice_of[p]) continue;
    o->slices[n++] = (slice){span.lo + p, 0, 0};
    slice_of[p] = n;
  }
  for (size_t i = 0; i < m; i++) {
    uint32_t s = slice_of[shoal_axes_tuple(o->axes, tuples[i])[axis] - span.lo] - 1;
    add_to_slice(o, s, o->slices[s].weight == 0, tuples[i]);
  }
  return n;
}

static bool is_better(const cut *a, const cut *b) {
  if (!b->found || a->ample != b->ample) return !b->found || a->ample;
  if (a->ample && a->cost != b->cost) return a->cost < b->cost;
  return a->evenness > b->evenness;
}

/*
 * The best cut on an axis: of ample ones the one of least cost. Where none is, the one that parts
 * the tuples most evenly, so that the tree does not grow deep.
 */
static void try_axis(ordering *o, uint32_t n_slices, size_t axis, uint64_t weight, size_t n_tuples,
                     cut *best) {
  const shoal_axes *axes = o->axes;
  uint64_t left = 0, least = o->even ? UINT64_MAX : weight / 4 < o->least ? weight / 4 : o->least;
  memcpy(o->run, o->extents, axes->n * sizeof *o->run);
  for (uint32_t s = 0; s + 1 < n_slices; s++) {
    shoal_extent_join(axes, o->run, o->extents + (size_t)s * axes->n);
    left += o->slices[s].weight;
    o->left_cost[s] = left * shoal_extent_loss(axes, o->run);
  }
  uint64_t right = 0, tuples = 0;
  memcpy(o->run, o->extents + (size_t)(n_slices - 1) * axes->n, axes->n * sizeof *o->run);
  for (uint32_t s = n_slices - 1; s > 0; s--) {
    shoal_extent_join(axes, o->run, o->extents + (size_t)s * axes->n);
    right += o->slices[s].weight;
    tuples += o->slices[s].n_tuples;
    uint64_t lighter = right < weight - right ? right : weight - right;
    uint64_t smaller = tuples < n_tuples - tuples ? tuples : n_tuples - tuples;
    cut c = {.cost = o->left_cost[s - 1] + right * shoal_extent_loss(axes, o->run),
             .axis = axis,
             .last = o->slices[s - 1].place,
             .found = true,
             .ample = lighter >= least};
    c.evenness = c.ample ? lighter : smaller;
    if (is_better(&c, best)) *best = c;
  }
}

static cut best_cut(ordering *o, const uint32_t *tuples, size_t m, const shoal_span *extent,
                    uint64_t weight) {
  cut best = {0};
  for (size_t q = 0; q < o->axes->n; q++) {
    if (extent[q].lo == extent[q].hi) continue;
    uint32_t n = extent[q].hi - extent[q].lo < 4 * m ? slice_counted(o, tuples, m, q, extent[q])
                                                     : slice_sorted(o, tuples, m, q);
    try_axis(o, n, q, weight, m, &best);
  }
  return best;
}

static void extent_of(const ordering *o, const uint32_t *tuples, size_t m, shoal_span *extent,
                      uint64_t *weight) {
  shoal_extent_start(o->axes, extent, shoal_axes_tuple(o->axes, tuples[0]));
  *weight = 0;
  for (size_t i = 0; i < m; i++) {
    shoal_extent_add(o->axes, extent, shoal_axes_tuple(o->axes, tuples[i]));
    *weight += o->weight[tuples[i]];
  }
}

/* Stable: tuples up to the cut first; returns how many. `flip`: the others first. */
static size_t divide(ordering *o, uint32_t *tuples, size_t m, const cut *c) {
  size_t left = 0, right = 0;
  for (size_t i = 0; i < m; i++) {
    if (shoal_axes_tuple(o->axes, tuples[i])[c->axis] <= c->last) tuples[left++] = tuples[i];
    else o->scratch[right++] = tuples[i];
  }
  memcpy(tuples + left, o->scratch, right * sizeof *tuples);
  return left;
}

/* The nearer part first: the one that would lose less together with what came before. */
static size_t turn(ordering *o, uint32_t *tuples, size_t m, size_t left, const uint32_t *before) {
  shoal_span *extent = o->run;
  uint64_t weight;
  extent_of(o, tuples, left, extent, &weight);
  uint32_t near =
      shoal_extent_loss_with(o->axes, extent, before) - shoal_extent_loss(o->axes, extent);
  extent_of(o, tuples + left, m - left, extent, &weight);
  uint32_t far =
      shoal_extent_loss_with(o->axes, extent, before) - shoal_extent_loss(o->axes, extent);
  if (near <= far) return left;
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

/* A few tuples are cut on the axis on which they lose most, where it parts them most evenly. */
static cut quick_cut(ordering *o, const part *p, const shoal_span *extent) {
  cut best = {0};
  uint32_t most = 0, places[FEW] = {0};
  for (size_t q = 0; q < o->axes->n; q++) {
    uint32_t loss = shoal_axis_loss(&o->axes->items[q], extent[q].lo, extent[q].hi);
    if (loss > most || (!best.found && extent[q].lo < extent[q].hi)) {
      most = loss;
      best = (cut){.axis = q, .found = true};
    }
  }
  for (size_t i = 0; best.found && i < p->n; i++) { /* in order: they are few */
    uint32_t place = shoal_axes_tuple(o->axes, p->tuples[i])[best.axis];
    size_t at = i;
    for (; at > 0 && places[at - 1] > place; at--) places[at] = places[at - 1];
    places[at] = place;
  }
  for (size_t i = 1; best.found && i < p->n; i++) {
    size_t smaller = i < p->n - i ? i : p->n - i;
    if (places[i] == places[i - 1] || smaller <= best.evenness) continue;
    best.evenness = smaller;
    best.last = places[i - 1];
  }
  return best;
}

/* The cut of a large part is chosen by some of its tuples, evenly taken. */
static cut choose_cut(ordering *o, const part *p, const shoal_span *extent, uint64_t weight) {
  size_t sample = o->middle ? TINY_SAMPLE : o->in_haste ? SMALL_SAMPLE : SAMPLE;
  if (o->in_haste && p->n <= FEW) return quick_cut(o, p, extent);
  if (p->n <= sample) return best_cut(o, p->tuples, p->n, extent, weight);
  for (size_t i = 0; i < sample; i++) o->sample[i] = p->tuples[i * (p->n / sample)];
  uint64_t sampled;
  extent_of(o, o->sample, sample, o->wide, &sampled);
  return best_cut(o, o->sample, sample, o->wide, sampled); /* tuples differ: there is one */
}

/* Asks whether to go on; no row is done yet. */
static bool goes_on(ordering *o) {
  o->status = shoal_run_report(o->asked, "cluster", 0, o->axes->n_rows, "rows", &o->error);
  return o->status == SHOAL_OK;
}

/* In a rough order: parts that are not large, or few tuples around the middle. */
static bool is_rough_enough(const ordering *o, const part *p) {
  bool has_middle = p->tuples < o->middle && o->middle < p->tuples + p->n;
  return p->n <= (has_middle ? FEW : ROUGH);
}

/*
 * Orders tuples; parts of at most `small` tuples are put on a list instead, if there is one. A part
 * is turned by what stands before it within these tuples. False without memory or when told to
 * stop.
 */
static bool order_tuples(ordering *o, uint32_t *tuples, size_t n, size_t small, parts *later) {
  parts stack = {0};
  bool ok = add_part(&stack, tuples, n, 0);
  while (ok && stack.n) {
    part p = stack.items[--stack.n];
    if (p.n < 2 || (o->middle && is_rough_enough(o, &p))) continue;
    if (later && p.n <= small) {
      ok = add_part(later, p.tuples, p.n, 0);
      continue;
    }
    if (p.n > OFTEN && !goes_on(o)) break;
    uint64_t weight;
    extent_of(o, p.tuples, p.n, o->extent, &weight);
    o->even = p.depth > DEEP;
    cut c = choose_cut(o, &p, o->extent, weight);
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

/* ------------------------------------------------------------ on several threads */

static void ordering_reset(ordering *o) {
  free(o->scratch);
  free(o->sample);
  free(o->slices);
  free(o->extents);
  free(o->left_cost);
  free(o->slice_of);
  free(o->keys);
  free(o->run);
  free(o->extent);
  free(o->wide);
}

/* Room for parts of up to n tuples. */
static bool ordering_init(ordering *o, const shoal_axes *axes, const uint32_t *weight,
                          uint64_t least, bool in_haste, size_t n) {
  size_t places = 1;
  for (size_t q = 0; q < axes->n; q++)
    if (axes->items[q].n_places > places) places = axes->items[q].n_places;
  size_t looked = n < SAMPLE ? n : SAMPLE; /* tuples that a cut is chosen by */
  size_t slices = places < looked ? places : looked;
  if (places > 4 * looked) places = 4 * looked; /* wider spans are sorted */
  *o = (ordering){.axes = axes,
                  .weight = weight,
                  .least = least,
                  .in_haste = in_haste,
                  .scratch = shoal_alloc(n, sizeof *o->scratch),
                  .sample = shoal_alloc(SAMPLE, sizeof *o->sample),
                  .slices = shoal_alloc(slices, sizeof *o->slices),
                  .extents = shoal_alloc(slices * axes->n, sizeof *o->extents),
                  .left_cost = shoal_alloc(slices, sizeof *o->left_cost),
                  .slice_of = shoal_alloc(places, sizeof *o->slice_of),
                  .keys = shoal_alloc(looked, sizeof *o->keys),
                  .run = shoal_alloc(axes->n, sizeof *o->run),
                  .extent = shoal_alloc(axes->n, sizeof *o->extent),
                  .wide = shoal_alloc(axes->n, sizeof *o->wide)};
  bool ok = o->scratch && o->sample && o->slices && o->extents && o->left_cost && o->slice_of &&
            o->keys && o->run && o->extent && o->wide;
  if (!ok) ordering_reset(o);
  return ok;
}

typedef struct shared {
  const shoal_axes *axes;
  const uint32_t *weight;
  uint64_t least;
  bool in_haste;
  const parts *later;
  size_t small;
  const shoal_run *run;
  atomic_size_t next;
  atomic_bool failed;  /* no memory, or told to stop */
  shoal_status status; /* of asking, which the first thread does */
  shoal_error error;
} shared;

static void order_share(void *user, unsigned i) {
  shared *s = user;
  ordering o;
  bool ok = ordering_init(&o, s->axes, s->weight, s->least, s->in_haste, s->small);
  if (!ok) {
    atomic_store(&s->failed, true);
    return;
  }
  if (i == 0) o.asked = s->run;
  for (size_t p; ok && (p = atomic_fetch_add(&s->next, 1)) < s->later->n;)
    ok = !atomic_load(&s->failed) &&
         order_tuples(&o, s->later->items[p].tuples, s->later->items[p].n, 0, NULL);
  if (!ok) atomic_store(&s->failed, true);
  if (i == 0) s->status = o.status;
  if (i == 0) s->error = o.error;
  ordering_reset(&o);
}

/* Orders down to single tuples, or roughly. */
static shoal_status order_all(const shoal_axes *axes, const uint32_t *weight, uint64_t least,
                              bool in_haste, bool roughly, const shoal_run *run, uint32_t *order,
                              shoal_error *error) {
  size_t n = axes->n_tuples;
  ordering o;
  parts later = {0};
  for (uint32_t t = 0; t < n; t++) order[t] = t;
  size_t small = n / 64 > 1024 ? n / 64 : 1024;
  shared s = {.axes = axes, .weight = weight, .least = least, .in_haste = in_haste};
  s.later = &later;
  s.small = small;
  s.run = run;
  bool ok = ordering_init(&o, axes, weight, least, in_haste, n);
  if (ok) {
    o.asked = run;
    if (roughly) o.middle = order + n / 2;
    ok = order_tuples(&o, order, n, small, roughly ? NULL : &later);
    s.status = o.status;
    s.error = o.error;
    ordering_reset(&o);
  }
  if (ok && !roughly) shoal_parallel(shoal_run_threads(run), order_share, &s);
  free(later.items);
  if (s.status != SHOAL_OK && error) *error = s.error;
  if (s.status != SHOAL_OK) return s.status;
  return ok && !atomic_load(&s.failed) ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_flock_order(const shoal_axes *axes, const uint32_t *weight, uint64_t least,
                               bool in_haste, const shoal_run *run, uint32_t *order,
                               shoal_error *error) {
  return order_all(axes, weight, least, in_haste, false, run, order, error);
}

/* ------------------------------------------------------------ rows */

static bool sort_rows(const shoal_axes *axes, const uint32_t *order, const uint32_t *weight,
                      uint32_t *rows) {
  uint32_t *place = shoal_alloc(axes->n_tuples, sizeof *place), at = 0;
  if (!place) return false;
  for (uint32_t i = 0; i < axes->n_tuples; i++) {
    place[order[i]] = at;
    at += weight[order[i]];
  }
  for (uint32_t r = 0; r < axes->n_rows; r++) rows[place[axes->tuple_of_row[r]]++] = r;
  free(place);
  return true;
}

static shoal_status order_rows(const shoal_cluster_task *task, uint64_t least, bool in_haste,
                               bool roughly, uint32_t *rows, shoal_error *error) {
  const shoal_axes *axes = task->axes;
  uint32_t *weight = shoal_alloc_zero(axes->n_tuples, sizeof *weight);
  uint32_t *order = shoal_alloc(axes->n_tuples, sizeof *order);
  shoal_status status = weight && order ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    for (uint32_t r = 0; r < axes->n_rows; r++) weight[axes->tuple_of_row[r]]++;
    status = order_all(axes, weight, least, in_haste, roughly, task->run, order, error);
  }
  if (status == SHOAL_OK && !sort_rows(axes, order, weight, rows))
    status = shoal_fail_memory(error);
  free(weight);
  free(order);
  return status;
}

shoal_status shoal_flock_order_rows(const shoal_cluster_task *task, uint64_t least, bool in_haste,
                                    uint32_t *rows, shoal_error *error) {
  return order_rows(task, least, in_haste, false, rows, error);
}

shoal_status shoal_flock_order_roughly(const shoal_cluster_task *task, uint32_t *rows,
                                       shoal_error *error) {
  return order_rows(task, 1, true, true, rows, error);
}
