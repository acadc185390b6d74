/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_units_score: what a unit loses at least with each other one, sixteen at once. With
 * J what a row loses in both together, and La and Lb what their rows lose now: if two that do not
 * fit come together, each row loses J less a mean of La and Lb more, so J - max(La, Lb) at least;
 * if a, which does not fit, comes to b, which does, each row of a is settled at J - La at least.
 * Chance and counts only add to that, so that few others have to be looked at closely. Two that fit
 * together may score a little less, so that now and then a better one is missed.
 */
#include <math.h>
#include <string.h>

#include "cluster/flock_units.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_AVX2 1
#define AVX2 __attribute__((target("avx2")))
#endif

enum { LANES = 16, FLOATS = 8, STRIDE = SHOAL_UNITS_STRIDE, STEPS = STRIDE / LANES };

/* ------------------------------------------------------------ lines */

void shoal_units_clear_lines(shoal_units *u) {
  for (size_t q = u->ground->n_numbers; q < u->ground->n_axes; q++) {
    for (uint32_t i = 0; i < u->n_made[q]; i++) u->is_made[q][u->made[q][i]] = false;
    u->n_made[q] = 0;
  }
}

static const uint16_t *line_of(shoal_units *u, size_t q, uint32_t label) {
  uint16_t *line = u->lines[q] + (size_t)label * u->room;
  if (u->is_made[q][label]) return line;
  const shoal_ground_tree *tree = &u->ground->trees[q];
  const uint16_t *loss = tree->loss + (size_t)label * tree->n_labels;
  u->is_made[q][label] = true;
  u->made[q][u->n_made[q]++] = (uint8_t)label;
  for (uint32_t i = 0; i < u->n; i++) line[i] = loss[u->box[i].lo[q]];
  for (uint32_t i = u->n; i % STRIDE; i++) line[i] = 0;
  return line;
}

void shoal_units_note(shoal_units *u, uint32_t unit) {
  const shoal_ground *g = u->ground;
  const shoal_box *box = &u->box[unit];
  size_t q = 0;
  for (; q < g->n_numbers; q++) {
    u->lo[q * u->room + unit] = box->lo[q];
    u->hi[q * u->room + unit] = box->hi[q];
  }
  for (; q < g->n_axes; q++) {
    const shoal_ground_tree *tree = &g->trees[q];
    const uint16_t *loss = tree->loss + (size_t)box->lo[q] * tree->n_labels; /* it is symmetric */
    for (uint32_t i = 0; i < u->n_made[q]; i++)
      u->lines[q][(size_t)u->made[q][i] * u->room + unit] = loss[u->made[q][i]];
  }
}

void shoal_units_shift(shoal_units *u, uint32_t from, uint32_t to) {
  size_t q = 0;
  u->own[to] = u->own[from];
  u->bar[to] = u->bar[from];
  u->hears[to] = u->hears[from];
  for (; q < u->ground->n_numbers; q++) {
    u->lo[q * u->room + to] = u->lo[q * u->room + from];
    u->hi[q * u->room + to] = u->hi[q * u->room + from];
  }
  for (; q < u->ground->n_axes; q++)
    for (uint32_t i = 0; i < u->n_made[q]; i++) {
      uint16_t *line = u->lines[q] + (size_t)u->made[q][i] * u->room;
      line[to] = line[from];
    }
}

/* ------------------------------------------------------------ bounds */

/* The unit that is asked for. */
typedef struct asked {
  const shoal_box *box;
  const uint16_t *lines[SHOAL_GROUND_AXES];
  int16_t own; /* what it loses, if it does not fit */
} asked;

static int16_t bound_portable(shoal_units *u, const asked *a) {
  int16_t least = INT16_MAX;
  for (uint32_t b = 0; b < u->n; b++) {
    int loss = 0, less = a->own > u->own[b] ? a->own : u->own[b];
    size_t q = 0;
    for (; q < u->ground->n_numbers; q++) {
      int lo = u->lo[q * u->room + b], hi = u->hi[q * u->room + b];
      loss += hi > a->box->hi[q] ? hi : a->box->hi[q];
      loss -= lo < a->box->lo[q] ? lo : a->box->lo[q];
    }
    for (; q < u->ground->n_axes; q++) loss += a->lines[q][b];
    u->bound[b] = u->bar[b] ? u->bar[b] : (int16_t)(loss - less);
    if (u->bound[b] < least) least = u->bound[b];
  }
  return least;
}

#ifdef HAVE_AVX2
AVX2 static inline __m256i load(const void *at) { return _mm256_loadu_si256((const __m256i *)at); }

/* What is lost together with each of STRIDE units from b on. */
AVX2 static inline void join_avx2(const shoal_units *u, const asked *a, uint32_t b,
                                  __m256i joint[STEPS]) {
  const shoal_ground *g = u->ground;
  size_t q = 0;
#pragma GCC unroll 4
  for (int i = 0; i < STEPS; i++) joint[i] = _mm256_setzero_si256();
  for (; q < g->n_numbers; q++) {
    const int16_t *his = u->hi + q * u->room + b, *los = u->lo + q * u->room + b;
    __m256i own_hi = _mm256_set1_epi16(a->box->hi[q]), own_lo = _mm256_set1_epi16(a->box->lo[q]);
#pragma GCC unroll 4
    for (int i = 0; i < STEPS; i++) {
      __m256i hi = _mm256_max_epi16(own_hi, load(his + LANES * i));
      __m256i lo = _mm256_min_epi16(own_lo, load(los + LANES * i));
      joint[i] = _mm256_add_epi16(joint[i], _mm256_sub_epi16(hi, lo));
    }
  }
  for (; q < g->n_axes; q++) {
    const uint16_t *line = a->lines[q] + b;
#pragma GCC unroll 4
    for (int i = 0; i < STEPS; i++) joint[i] = _mm256_add_epi16(joint[i], load(line + LANES * i));
  }
}

AVX2 static int16_t bound_avx2(shoal_units *u, const asked *a) {
  __m256i least = _mm256_set1_epi16(INT16_MAX), own = _mm256_set1_epi16(a->own), joint[STEPS];
  for (uint32_t b = 0; b < u->n; b += STRIDE) {
    join_avx2(u, a, b, joint);
    const int16_t *owns = u->own + b, *bars = u->bar + b;
    int16_t *bounds = u->bound + b;
#pragma GCC unroll 4
    for (int i = 0; i < STEPS; i++) {
      __m256i less = _mm256_max_epi16(own, load(owns + LANES * i));
      __m256i bound = _mm256_sub_epi16(joint[i], less);
      bound = _mm256_max_epi16(bound, load(bars + LANES * i));
      _mm256_storeu_si256((__m256i *)(void *)(bounds + LANES * i), bound);
      least = _mm256_min_epi16(least, bound);
    }
  }
  __m128i half = _mm_min_epi16(_mm256_castsi256_si128(least), _mm256_extracti128_si256(least, 1));
  return (int16_t)_mm_extract_epi16(_mm_minpos_epu16(half), 0); /* none is below 0 */
}

AVX2 static uint32_t find_avx2(const int16_t *x, int16_t wanted) {
  const __m256i all = _mm256_set1_epi16(wanted);
  for (uint32_t i = 0;; i += LANES) {
    uint32_t mask = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi16(all, load(x + i)));
    if (mask) return i + (uint32_t)__builtin_ctz(mask) / 2;
  }
}
#endif

static int16_t fill(shoal_units *u, const asked *a) {
#ifdef HAVE_AVX2
  if (u->ground->avx2) return bound_avx2(u, a);
#endif
  return bound_portable(u, a);
}

uint32_t shoal_units_bound(shoal_units *u, uint32_t unit) {
  asked a;
  a.box = &u->box[unit];
  a.own = u->own[unit];
  for (size_t q = u->ground->n_numbers; q < u->ground->n_axes; q++)
    a.lines[q] = line_of(u, q, (uint32_t)a.box->lo[q]);
  u->n_looked += u->n;
  u->bar[unit] = INT16_MAX;
  int16_t least = fill(u, &a);
  u->bar[unit] = 0;
  if (least == INT16_MAX) return SHOAL_NIL;
#ifdef HAVE_AVX2
  if (u->ground->avx2) return find_avx2(u->bound, least);
#endif
  uint32_t i = 0;
  while (u->bound[i] != least) i++;
  return i;
}

/* ------------------------------------------------------------ searching */

int16_t shoal_units_round(float score) {
  if (!(score < (float)INT16_MAX)) return INT16_MAX;
  int16_t whole = (int16_t)score;
  return (int16_t)(whole + ((float)whole < score));
}

#ifdef HAVE_AVX2
/* Of 32 units: one bit for each. */
AVX2 static inline uint32_t below_avx2(const int16_t *bounds, const int16_t *hears, __m256i most,
                                       bool tells) {
  __m256i first = tells ? _mm256_max_epi16(most, load(hears)) : most;
  __m256i second = tells ? _mm256_max_epi16(most, load(hears + LANES)) : most;
  first = _mm256_cmpgt_epi16(first, load(bounds));
  second = _mm256_cmpgt_epi16(second, load(bounds + LANES));
  __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi16(first, second), 0xd8);
  return (uint32_t)_mm256_movemask_epi8(both);
}

AVX2 static uint64_t all_below_avx2(const shoal_units *u, uint32_t from, int16_t most, bool tells) {
  const int16_t *bounds = u->bound + from, *hears = u->hears + from;
  const __m256i all = _mm256_set1_epi16(most);
  return (uint64_t)below_avx2(bounds + STRIDE / 2, hears + STRIDE / 2, all, tells) << STRIDE / 2 |
         below_avx2(bounds, hears, all, tells);
}

AVX2 static uint32_t least_avx2(const float *x, uint32_t n) {
  __m256 least = _mm256_set1_ps(INFINITY);
  for (uint32_t i = 0; i < n; i += FLOATS) least = _mm256_min_ps(least, _mm256_loadu_ps(x + i));
  least = _mm256_min_ps(least, _mm256_permute2f128_ps(least, least, 1));
  least = _mm256_min_ps(least, _mm256_shuffle_ps(least, least, 0x4e));
  least = _mm256_min_ps(least, _mm256_shuffle_ps(least, least, 0xb1)); /* in every lane */
  if (_mm_cvtss_f32(_mm256_castps256_ps128(least)) == INFINITY) return SHOAL_NIL;
  for (uint32_t i = 0;; i += FLOATS) {
    __m256 equal = _mm256_cmp_ps(least, _mm256_loadu_ps(x + i), _CMP_EQ_OQ);
    uint32_t mask = (uint32_t)_mm256_movemask_ps(equal);
    if (mask) return i + (uint32_t)__builtin_ctz(mask);
  }
}
#endif

uint64_t shoal_units_below(const shoal_units *u, uint32_t from, int16_t most, bool tells) {
#ifdef HAVE_AVX2
  if (u->ground->avx2) return all_below_avx2(u, from, most, tells);
#endif
  uint64_t set = 0;
  for (uint32_t i = 0; i < STRIDE && from + i < u->n; i++)
    if (u->bound[from + i] < most || (tells && u->bound[from + i] < u->hears[from + i]))
      set |= UINT64_C(1) << i;
  return set;
}

uint32_t shoal_units_least_offer(const shoal_units *u) {
#ifdef HAVE_AVX2
  if (u->ground->avx2) return least_avx2(u->offer, u->n);
#endif
  float least = INFINITY;
  uint32_t at = SHOAL_NIL;
  for (uint32_t i = 0; i < u->n; i++)
    if (u->offer[i] < least) {
      least = u->offer[i];
      at = i;
    }
  return at;
}
