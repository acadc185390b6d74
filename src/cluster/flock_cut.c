/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_cut: divides a table into blocks of similar rows.
 *
 * Blocks are cut in two recursively, at one position of one axis. A good cut separates few near
 * neighbours: the items of a sample are paired with their nearest ones, and the cut that separates
 * the fewest pairs, relative to the smaller side, is taken. That treats numbers, trees and flat
 * categories alike. Pairs that the previous division separated weigh more.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "cluster/flock_rows.h"

enum {
  NEIGHBOURS = 2, /* pairs per sampled item */
  SEPARATED = 8,  /* weight of a pair that the division before separated */
  MIN_SHARE = 16  /* each side has at least 1 / MIN_SHARE of the weight, if possible */
};

typedef struct near_pair {
  uint32_t a, b; /* of the sample */
  uint32_t weight;
} near_pair;

typedef struct cutter {
  const shoal_axes *axes;
  const shoal_cut_limits *limits;
  shoal_item *scratch;
  uint64_t random;
  uint32_t sample[SHOAL_CUT_OTHERS], n_sample; /* indices of items */
  uint64_t sample_weight;
  near_pair *pairs; /* NEIGHBOURS for each paired item */
  uint32_t n_pairs;
} cutter;

typedef struct cut {
  size_t axis;
  uint32_t position; /* the last position of the left side */
  double score;      /* the lower, the better */
} cut;

static uint32_t position_on(const cutter *c, const shoal_item *item, size_t q) {
  return shoal_axes_tuple(c->axes, item->tuple)[q];
}

/* ------------------------------------------------------------ pairs */

static uint32_t pair_loss(const shoal_axes *axes, const shoal_item *a, const shoal_item *b,
                          uint32_t limit) {
  const uint32_t *x = shoal_axes_tuple(axes, a->tuple), *y = shoal_axes_tuple(axes, b->tuple);
  uint32_t loss = 0;
  for (size_t q = 0; q < axes->n && loss < limit; q++) {
    if (x[q] == y[q]) continue;
    loss += axes->items[q].kind == SHOAL_AXIS_SET
                ? axes->items[q].full / (axes->items[q].n_positions - 1)
            : x[q] < y[q] ? shoal_axis_loss(&axes->items[q], x[q], y[q])
                          : shoal_axis_loss(&axes->items[q], y[q], x[q]);
  }
  return loss;
}

static void draw_sample(cutter *c, const shoal_item *items, uint32_t n) {
  c->n_sample = c->limits->n_others < n ? c->limits->n_others : n;
  c->sample_weight = 0;
  for (uint32_t i = 0; i < c->n_sample; i++) { /* one of each range: no item twice */
    uint32_t from = (uint32_t)((uint64_t)n * i / c->n_sample);
    uint32_t to = (uint32_t)((uint64_t)n * (i + 1) / c->n_sample);
    c->sample[i] = from + shoal_flock_random(&c->random, to - from);
    c->sample_weight += items[c->sample[i]].weight;
  }
}

/* Pairs some items of the sample with their nearest others in it. */
static void find_pairs(cutter *c, const shoal_item *items) {
  uint32_t n = c->limits->n_samples < c->n_sample ? c->limits->n_samples : c->n_sample;
  c->n_pairs = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t own = (uint32_t)((uint64_t)c->n_sample * i / n), found[NEIGHBOURS], n_found = 0;
    uint32_t loss[NEIGHBOURS + 1];
    for (uint32_t j = 0; j < c->n_sample; j++) {
      if (j == own) continue;
      uint32_t limit = n_found < NEIGHBOURS ? UINT32_MAX : loss[NEIGHBOURS - 1];
      uint32_t lost = pair_loss(c->axes, &items[c->sample[own]], &items[c->sample[j]], limit);
      if (lost >= limit) continue;
      uint32_t at = n_found < NEIGHBOURS ? n_found++ : NEIGHBOURS - 1;
      for (; at > 0 && loss[at - 1] > lost; at--) {
        loss[at] = loss[at - 1];
        found[at] = found[at - 1];
      }
      loss[at] = lost;
      found[at] = j;
    }
    for (uint32_t f = 0; f < n_found; f++) {
      bool apart = items[c->sample[own]].block != items[c->sample[found[f]]].block;
      c->pairs[c->n_pairs++] = (near_pair){own, found[f], apart ? SEPARATED : 1};
    }
  }
}

/* ------------------------------------------------------------ the best cut */

/* Tries every position of an axis between positions of the sample. */
static void try_axis(const cutter *c, const shoal_item *items, size_t q, cut *best) {
  uint64_t order[SHOAL_CUT_OTHERS];
  uint32_t rank[SHOAL_CUT_OTHERS] = {0};      /* by sampled item: which position it has */
  int64_t opened[SHOAL_CUT_OTHERS + 1] = {0}; /* by rank: pairs that begin less those that end */
  uint64_t weight = 0;
  int64_t separated = 0;
  for (uint32_t i = 0; i < c->n_sample; i++)
    order[i] = (uint64_t)position_on(c, &items[c->sample[i]], q) << 32 | i;
  shoal_sort_u64(order, c->n_sample);
  for (uint32_t i = 0, position = 0; i < c->n_sample; i++) {
    position += i && order[i] >> 32 != order[i - 1] >> 32;
    rank[(uint32_t)order[i]] = position;
  }
  for (uint32_t i = 0; i < c->n_pairs; i++) {
    uint32_t a = rank[c->pairs[i].a], b = rank[c->pairs[i].b];
    opened[a < b ? a : b] += c->pairs[i].weight;
    opened[a < b ? b : a] -= c->pairs[i].weight;
  }
  for (uint32_t i = 0; i + 1 < c->n_sample; i++) {
    weight += items[c->sample[(uint32_t)order[i]]].weight;
    if (order[i] >> 32 == order[i + 1] >> 32) continue;
    separated += opened[rank[(uint32_t)order[i]]];
    uint64_t rest = c->sample_weight - weight, smaller = weight < rest ? weight : rest;
    double score = ((double)separated + 0.5) / ((double)smaller + 1e-9);
    if (smaller * MIN_SHARE < c->sample_weight) score *= 1e6;
    if (score >= best->score) continue;
    *best = (cut){q, (uint32_t)(order[i] >> 32), score};
  }
}

/* Moves the items left of the cut to the front; returns their number. */
static uint32_t divide(const cutter *c, shoal_item *items, uint32_t n, const cut *at) {
  uint32_t left = 0, right = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (position_on(c, &items[i], at->axis) <= at->position) items[left++] = items[i];
    else c->scratch[right++] = items[i];
  }
  memcpy(items + left, c->scratch, right * sizeof *items);
  return left;
}

static uint32_t cut_items(cutter *c, shoal_item *items, uint32_t n) {
  cut best = {0, 0, 1e300};
  draw_sample(c, items, n);
  find_pairs(c, items);
  for (size_t q = 0; q < c->axes->n; q++) try_axis(c, items, q, &best);
  if (best.score == 1e300) return n / 2; /* the sampled items are all alike */
  return divide(c, items, n, &best);
}

/* ------------------------------------------------------------ all blocks */

static bool is_small(const shoal_item *items, uint32_t n, const shoal_cut_limits *limits) {
  uint64_t weight = 0, rows = 0;
  for (uint32_t i = 0; i < n; i++) {
    weight += items[i].weight;
    rows += items[i].rows;
  }
  return n < 2 || weight <= limits->max_weight || rows <= limits->min_rows;
}

uint32_t shoal_flock_cut(const shoal_axes *axes, shoal_item *items, uint32_t n,
                         const shoal_cut_limits *limits, uint32_t *first) {
  cutter c = {.axes = axes, .limits = limits, .random = limits->seed};
  uint32_t *ends = shoal_alloc((size_t)n + 1, sizeof *ends), n_ends = 0, n_blocks = 0, from = 0;
  c.scratch = shoal_alloc(n, sizeof *c.scratch);
  c.pairs = shoal_alloc((size_t)limits->n_samples * NEIGHBOURS, sizeof *c.pairs);
  if (ends && c.scratch && c.pairs) {
    ends[n_ends++] = n;
    while (n_ends) { /* ends of parts that are still to be cut, the nearest last */
      if (limits->stops && limits->stops(limits->user)) {
        n_blocks = 0;
        break;
      }
      uint32_t end = ends[n_ends - 1];
      if (!is_small(items + from, end - from, limits)) {
        ends[n_ends++] = from + cut_items(&c, items + from, end - from);
        continue;
      }
      first[n_blocks++] = from;
      from = end;
      n_ends--;
    }
    first[n_blocks] = n;
  }
  free(ends);
  free(c.scratch);
  free(c.pairs);
  return n_blocks;
}
