/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_ground: the rows of a small table as a swarm of clusters sees them: losses in so
 * small whole numbers that sixteen of them are added at once, labels of trees by number, with a
 * table of what two of them become, and rows by tuple. It does not change while it is used.
 *
 * Losses are exact where all axes together lose at most SHOAL_GROUND_LOSS units, else rounded: then
 * the clusters are a little worse, never wrong.
 */
#ifndef SHOAL_CLUSTER_FLOCK_GROUND_H
#define SHOAL_CLUSTER_FLOCK_GROUND_H

#include "cluster/flock.h"

enum {
  SHOAL_GROUND_LOSS = 15000, /* of all axes together: twice that is below 2^15 */
  SHOAL_GROUND_ROWS = 20000, /* below 2^15 */
  SHOAL_GROUND_AXES = 32,
  SHOAL_GROUND_LEAVES = 128,  /* of one tree: */
  SHOAL_GROUND_LABELS = 255,  /* with as many leaves it has no more */
  SHOAL_GROUND_GROUPS = 64,   /* of one count */
  SHOAL_GROUND_COUNTS = 4,    /* whose groups are also one set, if there are few enough */
  SHOAL_GROUND_NO_GROUP = 255 /* counts for nothing */
};

/* A tree: labels below n_leaves are its leaves, by place. */
typedef struct shoal_ground_tree {
  uint32_t n_leaves, n_labels;
  uint8_t *parent; /* by label; the top's is itself */
  uint8_t *first;  /* by label: the first leaf below it, or itself, */
  uint8_t *last;   /* and the last */
  uint8_t *join;   /* by label x n_labels + label: their lowest common ancestor */
  uint16_t *loss;  /* of that; of one label with itself: its own */
} shoal_ground_tree;

typedef struct shoal_ground {
  const shoal_fit *fit;
  uint32_t n, n_tuples;
  size_t n_axes, n_numbers, n_counts; /* axes that are numbers come first */
  size_t axis[SHOAL_GROUND_AXES];     /* of the table */
  shoal_ground_tree trees[SHOAL_GROUND_AXES];
  const uint32_t *row; /* borrowed: of the table; rows of one tuple are neighbours */
  uint32_t *tuple;     /* by row */
  uint32_t *first;     /* by tuple: its first row; n_tuples + 1 */
  uint16_t *values;    /* by tuple: n_axes; numbers: what is lost from the least; trees: labels */
  size_t n_lanes;      /* see flock_lanes.h */
  int16_t *lanes;      /* by tuple: n_lanes */
  uint8_t *group;      /* by row: n_counts */
  uint64_t *groups;    /* by row: those of all counts as one set; NULL: they are too many */
  uint32_t shift[SHOAL_GROUND_COUNTS];      /* by count: where its groups begin in such a set */
  uint64_t all_groups[SHOAL_GROUND_COUNTS]; /* by count: all there are, not shifted */
  bool avx2;                                /* the machine has it */
} shoal_ground;

/* Can the table be seen so? */
bool shoal_ground_carries(const shoal_cluster_task *task);

/* `rows` must outlive it. False without memory. */
bool shoal_ground_init(shoal_ground *ground, const shoal_cluster_task *task, const uint32_t *rows);
void shoal_ground_reset(shoal_ground *ground);

static inline const uint16_t *shoal_ground_values(const shoal_ground *ground, uint32_t row) {
  return ground->values + (size_t)ground->tuple[row] * ground->n_axes;
}

/* What rows cover: of numbers from lo to hi; of trees the label lo. */
typedef struct shoal_box {
  int16_t lo[SHOAL_GROUND_AXES], hi[SHOAL_GROUND_AXES];
} shoal_box;

static inline void shoal_box_start(const shoal_ground *ground, shoal_box *box,
                                   const uint16_t *values) {
  size_t q = 0;
  for (; q < ground->n_numbers; q++) box->lo[q] = box->hi[q] = (int16_t)values[q];
  for (; q < ground->n_axes; q++) box->lo[q] = (int16_t)values[q];
}

static inline void shoal_box_add(const shoal_ground *ground, shoal_box *box,
                                 const uint16_t *values) {
  size_t q = 0;
  for (; q < ground->n_numbers; q++) {
    int16_t value = (int16_t)values[q];
    if (value < box->lo[q]) box->lo[q] = value;
    if (value > box->hi[q]) box->hi[q] = value;
  }
  for (; q < ground->n_axes; q++) {
    const shoal_ground_tree *tree = &ground->trees[q];
    box->lo[q] = tree->join[(uint32_t)box->lo[q] * tree->n_labels + values[q]];
  }
}

void shoal_box_join(const shoal_ground *ground, shoal_box *box, const shoal_box *other);

/* Does it cover the values? May the two cover the same ones? */
static inline bool shoal_box_covers(const shoal_ground *ground, const shoal_box *box,
                                    const uint16_t *values) {
  size_t q = 0;
  for (; q < ground->n_numbers; q++)
    if ((int16_t)values[q] < box->lo[q] || (int16_t)values[q] > box->hi[q]) return false;
  for (; q < ground->n_axes; q++) {
    const shoal_ground_tree *tree = &ground->trees[q];
    if (values[q] < tree->first[box->lo[q]] || values[q] > tree->last[box->lo[q]]) return false;
  }
  return true;
}

static inline bool shoal_box_overlaps(const shoal_ground *ground, const shoal_box *a,
                                      const shoal_box *b) {
  size_t q = 0;
  for (; q < ground->n_numbers; q++)
    if (a->lo[q] > b->hi[q] || b->lo[q] > a->hi[q]) return false;
  for (; q < ground->n_axes; q++) { /* one label lies below the other */
    const shoal_ground_tree *tree = &ground->trees[q];
    if (tree->first[a->lo[q]] > tree->last[b->lo[q]]) return false;
    if (tree->first[b->lo[q]] > tree->last[a->lo[q]]) return false;
  }
  return true;
}

/* How many groups a set of them has. */
static inline uint32_t shoal_n_groups(uint64_t set) {
  set -= set >> 1 & UINT64_C(0x5555555555555555);
  set = (set & UINT64_C(0x3333333333333333)) + (set >> 2 & UINT64_C(0x3333333333333333));
  set = (set + (set >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (uint32_t)(set * UINT64_C(0x0101010101010101) >> 56);
}

/* Groups by count as one set, where that is known. */
static inline uint64_t shoal_ground_pack(const shoal_ground *ground, const uint64_t *groups) {
  uint64_t set = 0;
  for (size_t d = 0; d < ground->n_counts; d++)
    set |= (groups[d] & ground->all_groups[d]) << ground->shift[d];
  return set;
}

/* What a row loses in the box; in it and another one; in it once a row has joined. */
uint32_t shoal_box_loss(const shoal_ground *ground, const shoal_box *box);
uint32_t shoal_box_loss_joined(const shoal_ground *ground, const shoal_box *a, const shoal_box *b);

static inline uint32_t shoal_box_loss_with(const shoal_ground *ground, const shoal_box *box,
                                           const uint16_t *values) {
  uint32_t loss = 0;
  size_t q = 0;
  for (; q < ground->n_numbers; q++) {
    int value = values[q], hi = box->hi[q] > value ? box->hi[q] : value;
    loss += (uint32_t)(hi - (box->lo[q] < value ? box->lo[q] : value));
  }
  for (; q < ground->n_axes; q++) {
    const shoal_ground_tree *tree = &ground->trees[q];
    loss += tree->loss[(uint32_t)box->lo[q] * tree->n_labels + values[q]];
  }
  return loss;
}

#endif
