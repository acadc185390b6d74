/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_rows: blocks of similar rows, and the rows of one block, packed for fast
 * comparison. Private to flock*.c.
 *
 * Losses are whole numbers of at most 16 bits, scaled so that a box around the whole block loses
 * at most SHOAL_PACKED_LOSS. They are rounded: the clusters can be slightly worse for it, but
 * never invalid. Axes come in this order:
 *
 *     numbers   value = distance from the smallest number of the block; loss = hi - lo. A missing
 *               value lies so far away that any box with another value reaches `cap`, full loss.
 *               If intervals are widened to a grid, the width of one grid cell is left out: every
 *               row loses it in any cluster.
 *     trees     value = index of the leaf among those of the block, in the order of the tree.
 *               loss = height of the lowest common ancestor: the maximum over neighbouring leaves
 *               from lo to hi (`range_max`, a sparse table, so any number of leaves works).
 *     sets      value = bit; loss = (values in the set - 1) x `step`, or `cap` if they are more
 *               than a label can have.
 *
 * A box is one span (lo, hi) for each number and tree, and one bit set for each set axis. Because a
 * tree's loss is a maximum over neighbours, the loss of two spans united is the larger of the
 * losses with either end added: cost tables need one line per leaf, not one per pair.
 */
#pragma once

#include <string.h>

#include "base/hash.h"
#include "cluster/cluster.h"

enum { SHOAL_PACKED_LOSS = 60000, SHOAL_PACKED_COORDINATE = 32000 };

typedef struct shoal_packed_axis {
  const shoal_axis *axis;
  size_t source;        /* its index in the table's axes */
  uint16_t cap;         /* numbers: no span loses more; sets: loss above SHOAL_MAX_SET values */
  uint16_t step;        /* sets: loss of each value beyond the first */
  uint32_t n_values;    /* trees and sets: values that occur in the block */
  uint16_t *range_max;  /* trees: by power of two, then by leaf */
  size_t word, n_words; /* sets: their words in a box */
} shoal_packed_axis;

typedef struct shoal_packed_rows {
  shoal_arena arena; /* of all arrays */
  const shoal_cluster_requirements *required;
  const uint32_t *row; /* borrowed: rows of the table; rows of one tuple are neighbours */
  uint32_t n, n_tuples;
  uint32_t *tuple;                   /* by row */
  uint32_t *first;                   /* by tuple: its first row; n_tuples + 1 entries */
  size_t n_axes, n_numbers, n_spans; /* n_spans: numbers and trees */
  size_t n_words;                    /* of all sets of a box */
  shoal_packed_axis *axes;
  int16_t *values;  /* by tuple: n_axes values */
  size_t n_counts;  /* requirements on distinct values */
  uint32_t **group; /* by requirement, by row: its group, numbered within the block */
  bool *exact;      /* by requirement: the block has at most 64 groups */
} shoal_packed_rows;

/* `rows` must outlive the packed rows. False: no memory. */
bool shoal_packed_rows_init(shoal_packed_rows *p, const shoal_cluster_task *task,
                            const uint32_t *rows, uint32_t n);
void shoal_packed_rows_reset(shoal_packed_rows *p);

static inline const int16_t *shoal_packed_values(const shoal_packed_rows *p, uint32_t tuple) {
  return p->values + (size_t)tuple * p->n_axes;
}

/* A pseudo-random number below a bound. */
static inline uint32_t shoal_flock_random(uint64_t *state, uint32_t below) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)((shoal_mix(*state) >> 32) * below >> 32);
}

/* ---- blocks: flock_cut.c */

/* The rows of a tuple, or a cluster, at the position of one of its tuples. */
typedef struct shoal_item {
  uint32_t id;
  uint32_t tuple;
  uint32_t weight; /* distinct tuples: a measure of the work on it */
  uint32_t rows;   /* counted up to k: more do not give more clusters */
  uint32_t block;  /* of the previous division; all 0 in the first */
} shoal_item;

typedef struct shoal_cut_limits {
  uint64_t max_weight; /* of a block, unless it is one item, */
  uint64_t min_rows;   /* or has no more rows than this */
  uint32_t n_samples;  /* per cut: items that are paired */
  uint32_t n_others;   /* per cut: candidates for their partners; at most SHOAL_CUT_OTHERS */
  uint64_t seed;
  bool (*stops)(void *user); /* called before each cut; true: end early. NULL: never */
  void *user;
} shoal_cut_limits;

enum { SHOAL_CUT_OTHERS = 512 };

/*
 * Reorders the items and writes the index of each block's first item, and n at the end, to first[];
 * it has room for n + 1. Returns the number of blocks; 0: no memory, or it was stopped.
 */
uint32_t shoal_flock_cut(const shoal_axes *axes, shoal_item *items, uint32_t n,
                         const shoal_cut_limits *limits, uint32_t *first);

/* ---- boxes */

typedef struct shoal_packed_box {
  int16_t *lo, *hi; /* by span */
  uint64_t *sets;   /* n_words */
} shoal_packed_box;

/* n boxes, in an arena, and the i-th of them. */
typedef struct shoal_packed_boxes {
  int16_t *spans;
  uint64_t *sets;
} shoal_packed_boxes;

bool shoal_packed_boxes_init(shoal_packed_boxes *boxes, const shoal_packed_rows *p, size_t n,
                             shoal_arena *arena);

static inline shoal_packed_box shoal_packed_boxes_at(const shoal_packed_boxes *boxes,
                                                     const shoal_packed_rows *p, size_t i) {
  int16_t *lo = boxes->spans + i * 2 * p->n_spans;
  return (shoal_packed_box){lo, lo + p->n_spans, boxes->sets + i * p->n_words};
}

static inline uint32_t shoal_number_loss(const shoal_packed_axis *axis, int lo, int hi) {
  return hi - lo < axis->cap ? (uint32_t)(hi - lo) : axis->cap;
}

static inline uint32_t shoal_tree_loss(const shoal_packed_axis *axis, int lo, int hi) {
  if (lo == hi) return 0;
  unsigned power = 31U - (unsigned)__builtin_clz((unsigned)(hi - lo));
  const uint16_t *max = axis->range_max + (size_t)power * axis->n_values;
  uint16_t left = max[lo], right = max[hi - (1 << power)];
  return left > right ? left : right;
}

static inline uint32_t shoal_span_loss(const shoal_packed_rows *p, size_t q, int lo, int hi) {
  return q < p->n_numbers ? shoal_number_loss(&p->axes[q], lo, hi)
                          : shoal_tree_loss(&p->axes[q], lo, hi);
}

/* Bits of a set. The builtin is a function call on processors that need not have popcnt. */
static inline uint32_t shoal_n_bits(uint64_t set) {
  set -= set >> 1 & UINT64_C(0x5555555555555555);
  set = (set & UINT64_C(0x3333333333333333)) + (set >> 2 & UINT64_C(0x3333333333333333));
  set = (set + (set >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (uint32_t)(set * UINT64_C(0x0101010101010101) >> 56);
}

static inline uint32_t shoal_set_size(const shoal_packed_axis *axis, const uint64_t *sets) {
  uint32_t n = 0;
  for (size_t w = 0; w < axis->n_words; w++) n += shoal_n_bits(sets[axis->word + w]);
  return n;
}

/* The loss of a set of n values. */
static inline uint32_t shoal_packed_set_loss(const shoal_packed_axis *axis, uint32_t n) {
  return n > SHOAL_MAX_SET ? axis->cap : (n - 1) * axis->step;
}

static inline bool shoal_set_has(const shoal_packed_axis *axis, const uint64_t *sets, int value) {
  return sets[axis->word + (unsigned)value / 64] >> ((unsigned)value % 64) & 1;
}

static inline void shoal_packed_box_copy(const shoal_packed_rows *p, shoal_packed_box to,
                                         shoal_packed_box from) {
  memcpy(to.lo, from.lo, 2 * p->n_spans * sizeof *to.lo); /* hi follows lo */
  if (p->n_words) memcpy(to.sets, from.sets, p->n_words * sizeof *to.sets);
}

void shoal_packed_box_start(const shoal_packed_rows *p, shoal_packed_box box,
                            const int16_t *values);
void shoal_packed_box_add(const shoal_packed_rows *p, shoal_packed_box box, const int16_t *values);
void shoal_packed_box_join(const shoal_packed_rows *p, shoal_packed_box box,
                           shoal_packed_box other);

/* The loss of a row in the box; in the box once a tuple has joined it. */
uint32_t shoal_packed_box_loss(const shoal_packed_rows *p, shoal_packed_box box);
uint32_t shoal_packed_box_loss_with(const shoal_packed_rows *p, shoal_packed_box box,
                                    const int16_t *values);
