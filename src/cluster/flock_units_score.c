/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_units_score: what a unit loses with each other one, eight at once. With J what a
 * row loses in both together: if a, which does not fit, joins b, or borrows from b, which fits, as
 * many rows as it lacks, that is (J (rows of a and b) - what they lose now) / rows settled by it.
 *
 * Both ways of computing do the same operations in the same order, so that they agree to the bit.
 */
#include <math.h>
#include <string.h>

#include "cluster/flock_units.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_AVX2 1
#define AVX2 __attribute__((target("avx2")))
#endif

enum { LANES = 8 };

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

/* ------------------------------------------------------------ scores */

/* The unit that is asked for. */
typedef struct asked {
  uint32_t unit;
  const uint16_t *lines[SHOAL_GROUND_AXES];
  float size, loss, cost, chance, k;
  float loan, need; /* if it does not fit: rows that it lacks, and that a lender must have */
} asked;

static uint32_t joint_loss(const shoal_units *u, const asked *a, uint32_t b) {
  const shoal_box *box = &u->box[a->unit];
  uint32_t loss = 0;
  size_t q = 0;
  for (; q < u->ground->n_numbers; q++) {
    int lo = u->lo[q * u->room + b], hi = u->hi[q * u->room + b];
    loss += (uint32_t)((hi > box->hi[q] ? hi : box->hi[q]) - (lo < box->lo[q] ? lo : box->lo[q]));
  }
  for (; q < u->ground->n_axes; q++) loss += a->lines[q][b];
  return loss;
}

static void score_portable(shoal_units *u, const asked *a) {
  for (uint32_t b = 0; b < u->n; b++) {
    float joint = (float)joint_loss(u, a, b), other = u->size[b], settled = u->settled[b];
    bool lends = settled == 0 && other >= a->need;
    float rows = lends ? a->loan : other, all = a->size + other * settled;
    float sum = (a->size + rows) * joint - a->cost - rows * u->loss[b];
    u->score[b] = sum / all * (a->chance + u->chance[b]) + u->bar[b];
  }
}

static void score_fit_portable(shoal_units *u, const asked *a) {
  for (uint32_t b = 0; b < u->n; b++) {
    float joint = (float)joint_loss(u, a, b), size = u->size[b];
    float loan = a->k - size;
    bool lends = loan > 0 && a->size >= a->k + loan;
    float rows = lends ? loan : a->size;
    float sum = (size + rows) * joint - size * u->loss[b] - rows * a->loss;
    u->score[b] = sum / size * (a->chance + u->chance[b]) + u->bar[b];
  }
}

#ifdef HAVE_AVX2
AVX2 static inline __m256i load(const void *at) { return _mm256_loadu_si256((const __m256i *)at); }

/* What is lost with each of 16 units from b on. */
AVX2 static inline void joint_avx2(const shoal_units *u, const asked *a, uint32_t b,
                                   __m256 joint[2]) {
  const shoal_box *box = &u->box[a->unit];
  __m256i sum = _mm256_setzero_si256();
  size_t q = 0;
  for (; q < u->ground->n_numbers; q++) {
    __m256i hi = _mm256_max_epi16(load(u->hi + q * u->room + b), _mm256_set1_epi16(box->hi[q]));
    __m256i lo = _mm256_min_epi16(load(u->lo + q * u->room + b), _mm256_set1_epi16(box->lo[q]));
    sum = _mm256_add_epi16(sum, _mm256_sub_epi16(hi, lo));
  }
  for (; q < u->ground->n_axes; q++) sum = _mm256_add_epi16(sum, load(a->lines[q] + b));
  joint[0] = _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(sum)));
  joint[1] = _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm256_extracti128_si256(sum, 1)));
}

AVX2 static inline void store_avx2(shoal_units *u, const asked *a, uint32_t b, __m256 score) {
  __m256 chance = _mm256_add_ps(_mm256_set1_ps(a->chance), _mm256_loadu_ps(u->chance + b));
  score = _mm256_add_ps(_mm256_mul_ps(score, chance), _mm256_loadu_ps(u->bar + b));
  _mm256_storeu_ps(u->score + b, score);
}

AVX2 static void score_avx2(shoal_units *u, const asked *a) {
  const __m256 size = _mm256_set1_ps(a->size), cost = _mm256_set1_ps(a->cost);
  const __m256 loan = _mm256_set1_ps(a->loan), need = _mm256_set1_ps(a->need);
  __m256 joint[2];
  for (uint32_t b = 0; b < u->n; b += LANES) {
    if (b % (2 * LANES) == 0) joint_avx2(u, a, b, joint);
    __m256 other = _mm256_loadu_ps(u->size + b), settled = _mm256_loadu_ps(u->settled + b);
    __m256 lends = _mm256_and_ps(_mm256_cmp_ps(settled, _mm256_setzero_ps(), _CMP_EQ_OQ),
                                 _mm256_cmp_ps(other, need, _CMP_GE_OQ));
    __m256 rows = _mm256_blendv_ps(other, loan, lends);
    __m256 all = _mm256_add_ps(size, _mm256_mul_ps(other, settled));
    __m256 sum = _mm256_mul_ps(_mm256_add_ps(size, rows), joint[b / LANES % 2]);
    sum = _mm256_sub_ps(sum, cost);
    sum = _mm256_sub_ps(sum, _mm256_mul_ps(rows, _mm256_loadu_ps(u->loss + b)));
    store_avx2(u, a, b, _mm256_div_ps(sum, all));
  }
}

AVX2 static void score_fit_avx2(shoal_units *u, const asked *a) {
  const __m256 own = _mm256_set1_ps(a->size), k = _mm256_set1_ps(a->k);
  __m256 joint[2];
  for (uint32_t b = 0; b < u->n; b += LANES) {
    if (b % (2 * LANES) == 0) joint_avx2(u, a, b, joint);
    __m256 size = _mm256_loadu_ps(u->size + b), loan = _mm256_sub_ps(k, size);
    __m256 lends = _mm256_and_ps(_mm256_cmp_ps(loan, _mm256_setzero_ps(), _CMP_GT_OQ),
                                 _mm256_cmp_ps(own, _mm256_add_ps(k, loan), _CMP_GE_OQ));
    __m256 rows = _mm256_blendv_ps(own, loan, lends);
    __m256 sum = _mm256_mul_ps(_mm256_add_ps(size, rows), joint[b / LANES % 2]);
    sum = _mm256_sub_ps(sum, _mm256_mul_ps(size, _mm256_loadu_ps(u->loss + b)));
    sum = _mm256_sub_ps(sum, _mm256_mul_ps(rows, _mm256_set1_ps(a->loss)));
    store_avx2(u, a, b, _mm256_div_ps(sum, size));
  }
}
#endif

void shoal_units_score(shoal_units *u, uint32_t unit) {
  const shoal_ground *g = u->ground;
  asked a;
  float k = (float)g->fit->k, size = u->size[unit];
  a.unit = unit;
  a.size = size;
  a.loss = u->loss[unit];
  a.cost = size * a.loss;
  a.chance = u->chance[unit];
  a.k = k;
  a.loan = size < k ? k - size : 0;
  a.need = size < k ? k + a.loan : INFINITY;
  for (size_t q = g->n_numbers; q < g->n_axes; q++)
    a.lines[q] = line_of(u, q, (uint32_t)u->box[unit].lo[q]);
#ifdef HAVE_AVX2
  if (g->avx2 && u->fits[unit]) score_fit_avx2(u, &a);
  else if (g->avx2) score_avx2(u, &a);
  else
#endif
      if (u->fits[unit])
    score_fit_portable(u, &a);
  else score_portable(u, &a);
  u->score[unit] = INFINITY;
}

/* ------------------------------------------------------------ searching */

#ifdef HAVE_AVX2
AVX2 static uint32_t find_avx2(const float *x, uint32_t n) {
  __m256 least = _mm256_set1_ps(INFINITY);
  for (uint32_t i = 0; i < n; i += LANES) least = _mm256_min_ps(least, _mm256_loadu_ps(x + i));
  least = _mm256_min_ps(least, _mm256_permute2f128_ps(least, least, 1));
  least = _mm256_min_ps(least, _mm256_shuffle_ps(least, least, 0x4e));
  least = _mm256_min_ps(least, _mm256_shuffle_ps(least, least, 0xb1)); /* in every lane */
  if (_mm_cvtss_f32(_mm256_castps256_ps128(least)) == INFINITY) return SHOAL_NIL;
  for (uint32_t i = 0;; i += LANES) {
    __m256 equal = _mm256_cmp_ps(least, _mm256_loadu_ps(x + i), _CMP_EQ_OQ);
    uint32_t mask = (uint32_t)_mm256_movemask_ps(equal);
    if (mask) return i + (uint32_t)__builtin_ctz(mask);
  }
}

AVX2 static uint32_t next_avx2(const shoal_units *u, uint32_t from, float least, bool tells) {
  const __m256 all = _mm256_set1_ps(least);
  uint32_t skip = from % LANES;
  for (uint32_t i = from - skip; i < u->n; i += LANES, skip = 0) {
    __m256 bound = tells ? _mm256_max_ps(all, _mm256_loadu_ps(u->hears + i)) : all;
    __m256 is_below = _mm256_cmp_ps(_mm256_loadu_ps(u->score + i), bound, _CMP_LT_OQ);
    uint32_t mask = (uint32_t)_mm256_movemask_ps(is_below) >> skip << skip;
    if (mask) return i + (uint32_t)__builtin_ctz(mask);
  }
  return u->n;
}
#endif

static uint32_t find_portable(const float *x, uint32_t n) {
  float least = INFINITY;
  uint32_t at = SHOAL_NIL;
  for (uint32_t i = 0; i < n; i++)
    if (x[i] < least) {
      least = x[i];
      at = i;
    }
  return at;
}

/* Where the least of the units' numbers stands; SHOAL_NIL: all are infinite. */
static uint32_t find_least(const shoal_units *u, const float *x) {
#ifdef HAVE_AVX2
  if (u->ground->avx2) return find_avx2(x, u->n);
#endif
  return find_portable(x, u->n);
}

uint32_t shoal_units_least_score(const shoal_units *u) { return find_least(u, u->score); }

uint32_t shoal_units_least_offer(const shoal_units *u) { return find_least(u, u->offer); }

uint32_t shoal_units_next(const shoal_units *u, uint32_t from, float least, bool tells) {
#ifdef HAVE_AVX2
  if (u->ground->avx2) return next_avx2(u, from, least, tells);
#endif
  for (; from < u->n; from++)
    if (u->score[from] < least || (tells && u->score[from] < u->hears[from])) break;
  return from < u->n ? from : u->n;
}
