/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_lanes: what rows reach from and to on all axes of a ground, eight axes at once.
 * Leaves of a tree stand in such an order that those below a label are neighbours, so that the
 * least and the greatest leaf of some rows tell their label, as the least and the greatest number
 * tell their range. A reach holds all least values and all greatest ones with the sign changed:
 * what two of them reach together is the lower one, lane by lane.
 */
#ifndef SHOAL_CLUSTER_FLOCK_LANES_H
#define SHOAL_CLUSTER_FLOCK_LANES_H

#include <string.h>

#include "cluster/flock_ground.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { SHOAL_LANES_AXES = 8, SHOAL_LANES_BLOCK = 2 * SHOAL_LANES_AXES };

typedef struct shoal_lanes {
  int16_t lane[2 * SHOAL_GROUND_AXES]; /* eight axes: from, then to with the sign changed */
} shoal_lanes;

static inline size_t shoal_lanes_from(size_t axis) {
  return axis + (axis & ~(size_t)(SHOAL_LANES_AXES - 1));
}
static inline size_t shoal_lanes_to(size_t axis) {
  return shoal_lanes_from(axis) + SHOAL_LANES_AXES;
}

/* What the rows of a tuple reach. */
static inline const int16_t *shoal_lanes_of_tuple(const shoal_ground *ground, uint32_t tuple) {
  return ground->lanes + (size_t)tuple * ground->n_lanes;
}

static inline void shoal_lanes_start(const shoal_ground *ground, shoal_lanes *reach,
                                     const int16_t *lanes) {
  size_t i = 0;
  do memcpy(reach->lane + i, lanes + i, SHOAL_LANES_BLOCK * sizeof *lanes);
  while ((i += SHOAL_LANES_BLOCK) < ground->n_lanes);
}

static inline void shoal_lanes_add(const shoal_ground *ground, shoal_lanes *reach,
                                   const int16_t *lanes) {
#if defined(__SSE2__)
  for (size_t i = 0; i < ground->n_lanes; i += SHOAL_LANES_AXES) {
    __m128i *own = (__m128i *)(void *)(reach->lane + i);
    __m128i other = _mm_loadu_si128((const __m128i *)(const void *)(lanes + i));
    _mm_storeu_si128(own, _mm_min_epi16(_mm_loadu_si128(own), other));
  }
#else
  for (size_t i = 0; i < ground->n_lanes; i++)
    if (lanes[i] < reach->lane[i]) reach->lane[i] = lanes[i];
#endif
}

/* Is no lane of a above that of b? */
static inline bool shoal_lanes_below(const shoal_ground *ground, const int16_t *a,
                                     const int16_t *b) {
#if defined(__SSE2__)
  __m128i above = _mm_setzero_si128();
  for (size_t i = 0; i < ground->n_lanes; i += SHOAL_LANES_AXES)
    above = _mm_or_si128(above,
                         _mm_cmpgt_epi16(_mm_loadu_si128((const __m128i *)(const void *)(a + i)),
                                         _mm_loadu_si128((const __m128i *)(const void *)(b + i))));
  return !_mm_movemask_epi8(above);
#else
  for (size_t i = 0; i < ground->n_lanes; i++)
    if (a[i] > b[i]) return false;
  return true;
#endif
}

/* What a row loses that is covered with all rows of a reach. */
static inline uint32_t shoal_lanes_loss(const shoal_ground *ground, const shoal_lanes *reach) {
  uint32_t loss = 0;
  size_t q = 0;
  for (; q < ground->n_numbers; q++)
    loss += (uint32_t)(-reach->lane[shoal_lanes_to(q)] - reach->lane[shoal_lanes_from(q)]);
  for (; q < ground->n_axes; q++) {
    const shoal_ground_tree *tree = &ground->trees[q];
    uint32_t from = (uint32_t)reach->lane[shoal_lanes_from(q)];
    loss += tree->loss[from * tree->n_labels + (uint32_t)-reach->lane[shoal_lanes_to(q)]];
  }
  return loss;
}

static inline void shoal_lanes_box(const shoal_ground *ground, const shoal_lanes *reach,
                                   shoal_box *box) {
  size_t q = 0;
  for (; q < ground->n_numbers; q++) {
    box->lo[q] = reach->lane[shoal_lanes_from(q)];
    box->hi[q] = (int16_t)-reach->lane[shoal_lanes_to(q)];
  }
  for (; q < ground->n_axes; q++) {
    const shoal_ground_tree *tree = &ground->trees[q];
    uint32_t from = (uint32_t)reach->lane[shoal_lanes_from(q)];
    box->lo[q] = tree->join[from * tree->n_labels + (uint32_t)-reach->lane[shoal_lanes_to(q)]];
  }
}

/* All that a box covers. A tuple's reach is not below it if the box does not cover the tuple. */
static inline void shoal_lanes_cover(const shoal_ground *ground, const shoal_box *box,
                                     int16_t *lanes) {
  size_t q = 0;
  memset(lanes, 0, ground->n_lanes * sizeof *lanes);
  for (; q < ground->n_numbers; q++) {
    lanes[shoal_lanes_from(q)] = box->lo[q];
    lanes[shoal_lanes_to(q)] = (int16_t)-box->hi[q];
  }
  for (; q < ground->n_axes; q++) {
    const shoal_ground_tree *tree = &ground->trees[q];
    lanes[shoal_lanes_from(q)] = tree->first[box->lo[q]];
    lanes[shoal_lanes_to(q)] = (int16_t)-tree->last[box->lo[q]];
  }
}

/* What a cover that has something in common with this one is below. */
static inline void shoal_lanes_turn(const shoal_ground *ground, const int16_t *cover,
                                    int16_t *turned) {
  for (size_t i = 0; i < ground->n_lanes; i += SHOAL_LANES_BLOCK)
    for (size_t q = 0; q < SHOAL_LANES_AXES; q++) {
      turned[i + q] = (int16_t)-cover[i + SHOAL_LANES_AXES + q];
      turned[i + SHOAL_LANES_AXES + q] = (int16_t)-cover[i + q];
    }
}

#endif
