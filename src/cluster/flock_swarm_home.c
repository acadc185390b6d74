/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_swarm_home: the best home of a row among all columns of a swarm. With J what a
 * column's label loses once the row has joined, L what it loses now and s its rows, the row costs
 * J + s (J - L). J is the sum of a line of the table for each tree, of 16-bit numbers, and of what
 * numbers say of themselves; the product is one multiply-add of the pairs (J, J - L) and (1, s).
 *
 * Unpacking pairs leaves columns 4 to 11 of every 16 in another order, in which `weight` and `cost`
 * are kept. Columns that no row may find have a loss far below 0 and a large weight.
 */
#include "cluster/flock_swarm.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_AVX2 1
#define AVX2 __attribute__((target("avx2")))
#endif

enum {
  LANES = 16,
  STRIDE = SHOAL_SWARM_STRIDE,
  STEPS = STRIDE / LANES,
  BARRED_LOSS = -16000, /* with the weight: more than any row costs, below 2^31 */
  BARRED_WEIGHT = 30000,
  BARRED_COST = 16000 * 30000
};

static void set(shoal_swarm *s, uint32_t column, int loss, uint32_t weight) {
  s->own_loss[column] = (int16_t)loss;
  s->weight[shoal_swarm_slot(column)] = weight << 16 | 1;
}

void shoal_swarm_weigh(shoal_swarm *s, uint32_t column, bool barred) {
  if (barred) set(s, column, BARRED_LOSS, BARRED_WEIGHT);
  else set(s, column, (int)s->loss[column], s->size[column]);
}

void shoal_swarm_note(shoal_swarm *s, uint32_t column) {
  const shoal_ground *g = s->ground;
  const shoal_box *box = &s->box[column];
  size_t q = 0, room = s->room;
  for (; q < g->n_numbers; q++) {
    s->lo[q * room + column] = box->lo[q];
    s->hi[q * room + column] = box->hi[q];
  }
  for (; q < g->n_axes; q++) {
    const shoal_ground_tree *tree = &g->trees[q];
    const uint16_t *loss = tree->loss + (size_t)box->lo[q] * tree->n_labels;
    uint16_t *line = s->lines[q] + column;
    for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) line[leaf * room] = loss[leaf];
  }
  shoal_lanes_cover(g, box, s->cover + column * g->n_lanes);
  shoal_swarm_weigh(s, column, false);
}

/* ------------------------------------------------------------ costs of all columns */

static int32_t fill_portable(shoal_swarm *s, const uint16_t *values) {
  const shoal_ground *g = s->ground;
  int32_t least = INT32_MAX;
  for (uint32_t c = 0; c < (s->n_columns + STRIDE - 1) / STRIDE * STRIDE; c++) {
    int32_t joined = 0;
    size_t q = 0;
    for (; q < g->n_numbers; q++) {
      int32_t value = values[q], lo = s->lo[q * s->room + c], hi = s->hi[q * s->room + c];
      joined += (hi > value ? hi : value) - (lo < value ? lo : value);
    }
    for (; q < g->n_axes; q++) joined += s->lines[q][(size_t)values[q] * s->room + c];
    uint32_t slot = shoal_swarm_slot(c);
    int32_t cost = joined + (int32_t)(s->weight[slot] >> 16) * (joined - s->own_loss[c]);
    s->cost[slot] = cost;
    if (cost < least) least = cost;
  }
  return least;
}

#ifdef HAVE_AVX2
AVX2 static inline __m256i load(const void *at) { return _mm256_loadu_si256((const __m256i *)at); }

/* What is lost in each of STRIDE columns from c on once a row of these values has joined. */
AVX2 static inline void join_avx2(const shoal_swarm *s, const uint16_t *values, uint32_t c,
                                  __m256i joined[STEPS]) {
  const shoal_ground *g = s->ground;
  size_t q = 0;
#pragma GCC unroll 4
  for (int i = 0; i < STEPS; i++) joined[i] = _mm256_setzero_si256();
  for (; q < g->n_numbers; q++) {
    const int16_t *his = s->hi + q * s->room + c, *los = s->lo + q * s->room + c;
    __m256i value = _mm256_set1_epi16((int16_t)values[q]);
#pragma GCC unroll 4
    for (int i = 0; i < STEPS; i++) {
      __m256i hi = _mm256_max_epi16(value, load(his + LANES * i));
      __m256i lo = _mm256_min_epi16(value, load(los + LANES * i));
      joined[i] = _mm256_add_epi16(joined[i], _mm256_sub_epi16(hi, lo));
    }
  }
  for (; q < g->n_axes; q++) {
    const uint16_t *line = s->lines[q] + (size_t)values[q] * s->room + c;
#pragma GCC unroll 4
    for (int i = 0; i < STEPS; i++) joined[i] = _mm256_add_epi16(joined[i], load(line + LANES * i));
  }
}

AVX2 static int32_t fill_avx2(shoal_swarm *s, const uint16_t *values) {
  __m256i least = _mm256_set1_epi32(INT32_MAX), joined[STEPS];
  for (uint32_t c = 0; c < s->n_columns; c += STRIDE) {
    join_avx2(s, values, c, joined);
#pragma GCC unroll 4
    for (uint32_t i = 0; i < STEPS; i++) {
      uint32_t at = c + LANES * i;
      __m256i grown = _mm256_sub_epi16(joined[i], load(s->own_loss + at));
      __m256i low = _mm256_unpacklo_epi16(joined[i], grown);
      __m256i high = _mm256_unpackhi_epi16(joined[i], grown);
      low = _mm256_madd_epi16(low, load(s->weight + at));
      high = _mm256_madd_epi16(high, load(s->weight + at + LANES / 2));
      _mm256_storeu_si256((__m256i *)(void *)(s->cost + at), low);
      _mm256_storeu_si256((__m256i *)(void *)(s->cost + at + LANES / 2), high);
      least = _mm256_min_epi32(least, _mm256_min_epi32(low, high));
    }
  }
  __m128i half = _mm_min_epi32(_mm256_castsi256_si128(least), _mm256_extracti128_si256(least, 1));
  half = _mm_min_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  return _mm_cvtsi128_si32(_mm_min_epi32(half, _mm_shuffle_epi32(half, 0xb1)));
}

AVX2 static uint32_t find_avx2(const int32_t *cost, int32_t wanted) {
  const __m256i all = _mm256_set1_epi32(wanted);
  for (uint32_t i = 0;; i += 8) {
    __m256i equal = _mm256_cmpeq_epi32(all, load(cost + i));
    uint32_t mask = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(equal));
    if (mask) return i + (uint32_t)__builtin_ctz(mask);
  }
}
#endif

static int32_t fill(shoal_swarm *s, const uint16_t *values) {
#ifdef HAVE_AVX2
  if (s->ground->avx2) return fill_avx2(s, values);
#endif
  return fill_portable(s, values);
}

static uint32_t find(const shoal_swarm *s, int32_t wanted) {
  uint32_t i = 0;
#ifdef HAVE_AVX2
  if (s->ground->avx2) return find_avx2(s->cost, wanted);
#endif
  while (s->cost[i] != wanted) i++;
  return i;
}

shoal_home shoal_swarm_home(shoal_swarm *s, uint32_t row, uint32_t from) {
  const uint16_t *values = shoal_ground_values(s->ground, row);
  bool empty = !s->size[from];
  shoal_swarm_weigh(s, from, true);
  int32_t least = fill(s, values);
  shoal_swarm_weigh(s, from, empty);
  if (least >= BARRED_COST) return (shoal_home){SHOAL_NIL, 0, 0};
  uint32_t column = shoal_swarm_slot(find(s, least));
  return (shoal_home){column, (uint32_t)least,
                      shoal_box_loss_with(s->ground, &s->box[column], values)};
}
