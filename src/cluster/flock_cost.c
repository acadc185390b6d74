/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_cost: the cost table of a block. One comparison adds up 16-bit losses of
 * SHOAL_STRIDE clusters per axis in loops that compilers turn into vector instructions; the same
 * code is compiled twice, for AVX2 and for any processor, with the same results. Axes with too many
 * values for lines (see flock_clusters.h) are compared cluster by cluster.
 */
#include <math.h>

#include "base/simd.h"
#include "cluster/flock_clusters.h"

#if defined(__GNUC__) && !defined(__clang__)
#define VECTORIZE __attribute__((optimize("O3")))
#else
#define VECTORIZE
#endif
#if SHOAL_HAS_AVX2
#define AVX2 __attribute__((target("avx2")))
#endif
#define INLINE static inline __attribute__((always_inline))

enum { STRIDE = SHOAL_STRIDE };

/* ------------------------------------------------------------ noting boxes */

static void note_tree(shoal_clusters *b, size_t q, uint32_t c, int lo, int hi) {
  const shoal_packed_axis *axis = &b->p->axes[q];
  for (uint32_t i = 0; i < b->n_active[q]; i++) {
    int v = b->active[q][i];
    b->lines[q][(size_t)v * b->room + c] =
        (uint16_t)shoal_tree_loss(axis, v < lo ? v : lo, v > hi ? v : hi);
  }
}

static void note_set(shoal_clusters *b, size_t q, uint32_t c, shoal_packed_box box) {
  const shoal_packed_axis *axis = &b->p->axes[q];
  uint32_t n = shoal_set_size(axis, box.sets);
  if (n > SHOAL_MAX_SET + 1) n = SHOAL_MAX_SET + 1; /* add_set has to see that it is too large */
  b->own[(q - b->p->n_spans) * b->room + c] = (uint16_t)((n - 1) * axis->step);
  for (uint32_t i = 0; i < b->n_active[q]; i++) {
    uint16_t v = b->active[q][i];
    b->lines[q][(size_t)v * b->room + c] = shoal_set_has(axis, box.sets, v) ? 0 : axis->step;
  }
}

void shoal_clusters_note(shoal_clusters *b, uint32_t c) {
  const shoal_packed_rows *p = b->p;
  uint32_t size = b->size[c];
  b->weight[c] = size ? (float)size + 1 : 0;
  b->offset[c] = INFINITY;
  if (!size) return;
  b->offset[c] = (float)(b->cost.square * (2 * (int64_t)size + 1) - (int64_t)size * b->loss[c]);
  shoal_packed_box box = shoal_clusters_box(b, c), noted = shoal_packed_boxes_at(&b->noted, p, c);
  bool fresh = !b->is_noted[c];
  for (size_t q = 0; q < p->n_numbers; q++) {
    b->lo[q * b->room + c] = box.lo[q];
    b->hi[q * b->room + c] = box.hi[q];
  }
  for (size_t q = p->n_numbers; q < p->n_spans; q++)
    if (b->lines[q] && (fresh || box.lo[q] != noted.lo[q] || box.hi[q] != noted.hi[q]))
      note_tree(b, q, c, box.lo[q], box.hi[q]);
  for (size_t q = p->n_spans; q < p->n_axes; q++) note_set(b, q, c, box);
  shoal_packed_box_copy(p, noted, box);
  b->is_noted[c] = true;
}

void shoal_clusters_activate(shoal_clusters *b, const uint32_t *rows, uint32_t n) {
  const shoal_packed_rows *p = b->p;
  uint64_t seen[SHOAL_STRIDE];
  for (size_t q = p->n_numbers; q < p->n_axes; q++) {
    if (!b->lines[q]) continue;
    memset(seen, 0, sizeof seen);
    b->n_active[q] = 0;
    for (uint32_t i = 0; i < n; i++) {
      unsigned v = (unsigned)shoal_packed_values(p, p->tuple[rows[i]])[q];
      if (seen[v / 64] >> (v % 64) & 1) continue;
      seen[v / 64] |= UINT64_C(1) << (v % 64);
      b->active[q][b->n_active[q]++] = (uint16_t)v;
    }
  }
}

/* ------------------------------------------------------------ comparing */

INLINE void add_number(uint16_t *sum, const int16_t *los, const int16_t *his, int16_t lo,
                       int16_t hi, uint16_t cap) {
  for (int i = 0; i < STRIDE; i++) {
    int16_t high = his[i] > hi ? his[i] : hi, low = los[i] < lo ? los[i] : lo;
    uint16_t width = (uint16_t)(high - low);
    sum[i] = (uint16_t)(sum[i] + (width < cap ? width : cap));
  }
}

INLINE void add_line(uint16_t *sum, const uint16_t *line) {
  for (int i = 0; i < STRIDE; i++) sum[i] = (uint16_t)(sum[i] + line[i]);
}

INLINE void add_larger(uint16_t *sum, const uint16_t *x, const uint16_t *y) {
  for (int i = 0; i < STRIDE; i++) sum[i] = (uint16_t)(sum[i] + (x[i] > y[i] ? x[i] : y[i]));
}

/* Axes without lines: the box of each cluster. */
static void add_slow(const shoal_clusters *b, size_t q, shoal_packed_box box, uint32_t from,
                     uint16_t *sum) {
  const shoal_packed_axis *axis = &b->p->axes[q];
  for (uint32_t i = 0; i < STRIDE; i++) {
    if (!b->size[from + i]) continue;
    shoal_packed_box own = shoal_clusters_box(b, from + i);
    uint32_t n = 0;
    if (q < b->p->n_spans) {
      n = shoal_tree_loss(axis, own.lo[q] < box.lo[q] ? own.lo[q] : box.lo[q],
                          own.hi[q] > box.hi[q] ? own.hi[q] : box.hi[q]);
    } else {
      for (size_t w = axis->word; w < axis->word + axis->n_words; w++)
        n += shoal_n_bits(own.sets[w] | box.sets[w]);
      n = shoal_packed_set_loss(axis, n);
    }
    sum[i] = (uint16_t)(sum[i] + n);
  }
}

INLINE void add_set(const shoal_clusters *b, size_t q, shoal_packed_box box, uint32_t from,
                    uint16_t *sum) {
  const shoal_packed_axis *axis = &b->p->axes[q];
  bool limited = axis->n_values > SHOAL_MAX_SET;
  uint16_t largest = (uint16_t)((SHOAL_MAX_SET - 1) * axis->step), cap = axis->cap;
  uint16_t own[STRIDE], *to = limited ? own : sum;
  if (limited && shoal_set_size(axis, box.sets) > SHOAL_MAX_SET) {
    for (int i = 0; i < STRIDE; i++) sum[i] = (uint16_t)(sum[i] + cap);
    return;
  }
  if (limited) memset(own, 0, sizeof own);
  add_line(to, b->own + (q - b->p->n_spans) * b->room + from);
  for (size_t w = 0; w < axis->n_words; w++)
    for (uint64_t set = box.sets[axis->word + w]; set; set &= set - 1)
      add_line(to, b->lines[q] + (64 * w + (size_t)__builtin_ctzll(set)) * b->room + from);
  for (int i = 0; limited && i < STRIDE; i++)
    sum[i] = (uint16_t)(sum[i] + (own[i] > largest ? cap : own[i]));
}

/* The losses of STRIDE clusters with a box added. */
INLINE void join_stride(const shoal_clusters *b, shoal_packed_box box, uint32_t from,
                        uint16_t *sum) {
  const shoal_packed_rows *p = b->p;
  for (int i = 0; i < STRIDE; i++) sum[i] = 0;
  for (size_t q = 0; q < p->n_numbers; q++)
    add_number(sum, b->lo + q * b->room + from, b->hi + q * b->room + from, box.lo[q], box.hi[q],
               p->axes[q].cap);
  for (size_t q = p->n_numbers; q < p->n_axes; q++) {
    if (!b->lines[q]) {
      add_slow(b, q, box, from, sum);
    } else if (q >= p->n_spans) {
      add_set(b, q, box, from, sum);
    } else {
      const uint16_t *low = b->lines[q] + (size_t)box.lo[q] * b->room + from;
      if (box.lo[q] < box.hi[q])
        add_larger(sum, low, b->lines[q] + (size_t)box.hi[q] * b->room + from);
      else add_line(sum, low);
    }
  }
}

/* ------------------------------------------------------------ kernels, compiled twice */

/* Compiles name##_body for AVX2 and for any processor; `name` calls the one for this processor. */
#if SHOAL_HAS_AVX2
#define DISPATCH(type, name, parameters, arguments)                                                \
  AVX2 VECTORIZE static type name##_avx2 parameters { return name##_body arguments; }              \
  VECTORIZE static type name##_any parameters { return name##_body arguments; }                    \
  type name parameters { return b->avx2 ? name##_avx2 arguments : name##_any arguments; }
#else
#define DISPATCH(type, name, parameters, arguments)                                                \
  VECTORIZE type name parameters { return name##_body arguments; }
#endif

INLINE float smallest(const float *x) {
  float least[8];
  memcpy(least, x, sizeof least);
  for (int j = 8; j < STRIDE; j += 8)
    for (int i = 0; i < 8; i++) least[i] = x[j + i] < least[i] ? x[j + i] : least[i];
  for (int i = 1; i < 8; i++) least[0] = least[i] < least[0] ? least[i] : least[0];
  return least[0];
}

/* The first index, of a stride, of the least value; SHOAL_NONE where all are infinite. */
static uint32_t index_of(const float *x, uint32_t from, float least) {
  if (least == INFINITY) return SHOAL_NONE;
  while (x[from] != least) from++;
  return from;
}

static int compare(shoal_clusters *b, shoal_packed_box box);
static int price(shoal_clusters *b);

INLINE int compare_body(shoal_clusters *b, shoal_packed_box box) {
  for (uint32_t from = 0; from < b->n; from += STRIDE) {
    uint16_t sum[STRIDE];
    join_stride(b, box, from, sum);
    memcpy(b->joint + from, sum, sizeof sum);
  }
  return 0;
}
DISPATCH(int, compare, (shoal_clusters * b, shoal_packed_box box), (b, box))

/* The joint losses as costs. */
INLINE int price_body(shoal_clusters *b) {
  uint32_t n = (b->n + STRIDE - 1) / STRIDE * STRIDE;
  for (uint32_t c = 0; c < n; c++)
    b->join_cost[c] = (float)b->joint[c] * b->weight[c] + b->offset[c];
  return 0;
}
DISPATCH(int, price, (shoal_clusters * b), (b))

INLINE uint32_t shoal_open_lowest_body(const shoal_clusters *b, const float *x) {
  float least = INFINITY;
  uint32_t best = 0;
  for (uint32_t from = 0; from < b->n; from += STRIDE) {
    float own = smallest(x + from);
    best = own < least ? from : best;
    least = own < least ? own : least;
  }
  return index_of(x, best, least);
}
DISPATCH(uint32_t, shoal_open_lowest, (const shoal_clusters *b, const float *x), (b, x))

INLINE uint32_t shoal_open_bounds_body(const shoal_clusters *b, const shoal_open *open,
                                       uint16_t own) {
  uint16_t least = UINT16_MAX;
  uint32_t best = 0;
  for (uint32_t from = 0; from < b->n; from += STRIDE) {
    const uint16_t *joint = b->joint + from, *loss = open->loss + from, *bar = open->bar + from;
    uint16_t bound[STRIDE], stride_min = UINT16_MAX;
    for (int i = 0; i < STRIDE; i++) {
      uint16_t less = own > loss[i] ? own : loss[i], x = (uint16_t)(joint[i] - less);
      bound[i] = x > bar[i] ? x : bar[i];
    }
    for (int i = 0; i < STRIDE; i++) stride_min = bound[i] < stride_min ? bound[i] : stride_min;
    memcpy(open->bound + from, bound, sizeof bound);
    best = stride_min < least ? from : best;
    least = stride_min < least ? stride_min : least;
  }
  if (least == UINT16_MAX) return SHOAL_NONE;
  while (open->bound[best] != least) best++;
  return best;
}
DISPATCH(uint32_t, shoal_open_bounds,
         (const shoal_clusters *b, const shoal_open *open, uint16_t own), (b, open, own))

INLINE bool shoal_open_any_below_body(const shoal_clusters *b, const shoal_open *open,
                                      uint32_t from, uint16_t limit, bool mutual) {
  const uint16_t *bound = open->bound + from, *score = open->score + from;
  uint16_t any = 0;
  (void)b;
  for (int i = 0; i < STRIDE; i++) {
    uint16_t max = mutual && score[i] > limit ? score[i] : limit;
    any = (uint16_t)(any | (bound[i] < max ? 1 : 0));
  }
  return any;
}
DISPATCH(bool, shoal_open_any_below,
         (const shoal_clusters *b, const shoal_open *open, uint32_t from, uint16_t limit,
          bool mutual),
         (b, open, from, limit, mutual))

/* ------------------------------------------------------------ interface */

void shoal_clusters_compare(shoal_clusters *b, shoal_packed_box box) {
  b->work += b->n;
  (void)compare(b, box);
}

uint32_t shoal_clusters_cheapest(shoal_clusters *b, const int16_t *values, uint32_t except) {
  shoal_packed_box box = shoal_packed_boxes_at(&b->noted, b->p, b->room); /* the scratch box */
  float offset = b->offset[except];
  shoal_packed_box_start(b->p, box, values);
  shoal_clusters_compare(b, box);
  b->offset[except] = INFINITY;
  (void)price(b);
  b->offset[except] = offset;
  return shoal_open_lowest(b, b->join_cost);
}
