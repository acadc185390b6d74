/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/flock_rows: packs the rows of a block; boxes of packed rows. */
#include "cluster/flock_rows.h"

#include <math.h>

#include "base/sort.h"

/* ------------------------------------------------------------ boxes */

bool shoal_packed_boxes_init(shoal_packed_boxes *boxes, const shoal_packed_rows *p, size_t n,
                             shoal_arena *arena) {
  return SHOAL_ARENA_ZEROED(arena, boxes->spans, n * 2 * p->n_spans) &&
         SHOAL_ARENA_ZEROED(arena, boxes->sets, n * p->n_words);
}

static void add_to_sets(const shoal_packed_rows *p, uint64_t *sets, const int16_t *values) {
  for (size_t q = p->n_spans; q < p->n_axes; q++) {
    unsigned value = (unsigned)values[q];
    sets[p->axes[q].word + value / 64] |= UINT64_C(1) << (value % 64);
  }
}

void shoal_packed_box_start(const shoal_packed_rows *p, shoal_packed_box box,
                            const int16_t *values) {
  memcpy(box.lo, values, p->n_spans * sizeof *values);
  memcpy(box.hi, values, p->n_spans * sizeof *values);
  if (!p->n_words) return;
  memset(box.sets, 0, p->n_words * sizeof *box.sets);
  add_to_sets(p, box.sets, values);
}

void shoal_packed_box_add(const shoal_packed_rows *p, shoal_packed_box box, const int16_t *values) {
  for (size_t q = 0; q < p->n_spans; q++) {
    box.lo[q] = values[q] < box.lo[q] ? values[q] : box.lo[q]; /* no branches: they mispredict */
    box.hi[q] = values[q] > box.hi[q] ? values[q] : box.hi[q];
  }
  if (p->n_words) add_to_sets(p, box.sets, values);
}

void shoal_packed_box_join(const shoal_packed_rows *p, shoal_packed_box box,
                           shoal_packed_box other) {
  for (size_t q = 0; q < p->n_spans; q++) {
    box.lo[q] = other.lo[q] < box.lo[q] ? other.lo[q] : box.lo[q];
    box.hi[q] = other.hi[q] > box.hi[q] ? other.hi[q] : box.hi[q];
  }
  uint64_t *sets = box.sets;
  for (size_t w = 0; w < p->n_words; w++) sets[w] |= other.sets[w];
}

uint32_t shoal_packed_box_loss(const shoal_packed_rows *p, shoal_packed_box box) {
  uint32_t loss = 0;
  for (size_t q = 0; q < p->n_spans; q++) loss += shoal_span_loss(p, q, box.lo[q], box.hi[q]);
  for (size_t q = p->n_spans; q < p->n_axes; q++)
    loss += shoal_packed_set_loss(&p->axes[q], shoal_set_size(&p->axes[q], box.sets));
  return loss;
}

uint32_t shoal_packed_box_loss_with(const shoal_packed_rows *p, shoal_packed_box box,
                                    const int16_t *values) {
  uint32_t loss = 0;
  for (size_t q = 0; q < p->n_spans; q++) {
    int lo = values[q] < box.lo[q] ? values[q] : box.lo[q];
    int hi = values[q] > box.hi[q] ? values[q] : box.hi[q];
    loss += shoal_span_loss(p, q, lo, hi);
  }
  for (size_t q = p->n_spans; q < p->n_axes; q++) {
    bool has = shoal_set_has(&p->axes[q], box.sets, values[q]);
    loss += shoal_packed_set_loss(&p->axes[q], shoal_set_size(&p->axes[q], box.sets) + !has);
  }
  return loss;
}

/* ------------------------------------------------------------ values of the block */

/*
 * Numbers the distinct keys of n items from 0, ascending. `keys` holds key << 32 | item; number_of
 * receives the number of each item. Returns the number of distinct keys.
 */
static uint32_t number_keys(uint64_t *keys, uint32_t n, uint32_t *number_of) {
  uint32_t numbers = 0;
  shoal_sort_u64(keys, n);
  for (uint32_t i = 0; i < n; i++) {
    numbers += i && keys[i] >> 32 != keys[i - 1] >> 32;
    number_of[(uint32_t)keys[i]] = numbers;
  }
  return numbers + 1;
}

/* Scratch of packing: the positions of all tuples on one axis. */
typedef struct packing {
  const shoal_axes *axes;
  uint64_t *keys;        /* n_tuples or n rows */
  uint32_t *number_of;   /* by tuple: its value among those of the block */
  uint32_t *position_at; /* by value: its position on the axis */
  double scale;
} packing;

static uint32_t position_of(const packing *k, const shoal_packed_rows *p, size_t q,
                            uint32_t tuple) {
  return shoal_axes_row(k->axes, p->row[p->first[tuple]])[p->axes[q].source];
}

static uint32_t find_values(packing *k, const shoal_packed_rows *p, size_t q) {
  for (uint32_t t = 0; t < p->n_tuples; t++)
    k->keys[t] = (uint64_t)position_of(k, p, q, t) << 32 | t;
  uint32_t n = number_keys(k->keys, p->n_tuples, k->number_of);
  if (n > SHOAL_PACKED_COORDINATE) { /* neighbours share a value */
    for (uint32_t t = 0; t < p->n_tuples; t++)
      k->number_of[t] = (uint32_t)((uint64_t)k->number_of[t] * SHOAL_PACKED_COORDINATE / n);
    n = SHOAL_PACKED_COORDINATE;
  }
  for (uint32_t t = 0; t < p->n_tuples; t++)
    k->position_at[k->number_of[t]] = position_of(k, p, q, t);
  return n;
}

/*
 * An upper bound on the loss of the block's whole box on an axis, in the table's units;
 * *coordinate: an upper bound on its largest coordinate.
 */
static double extent_of(const packing *k, const shoal_packed_rows *p, size_t q,
                        double *coordinate) {
  const shoal_axis *axis = p->axes[q].axis;
  uint32_t lo = UINT32_MAX, hi = 0, last = 0; /* last: of the numbers */
  for (uint32_t t = 0; t < p->n_tuples; t++) {
    uint32_t position = position_of(k, p, q, t);
    if (position < lo) lo = position;
    if (position > hi) hi = position;
    if (position < axis->n_numbers && position > last) last = position;
  }
  *coordinate = 0;
  if (axis->kind == SHOAL_AXIS_SET) {
    double n = p->n_tuples < axis->n_positions ? p->n_tuples : axis->n_positions;
    if (n > SHOAL_MAX_SET) return axis->full;
    return axis->n_positions > 1 ? axis->full * (n - 1) / (axis->n_positions - 1) : 0;
  }
  if (axis->kind == SHOAL_AXIS_NUMBER) {
    double width = lo < axis->n_numbers ? shoal_axis_loss(axis, lo, last) : 0;
    uint32_t n_missing = hi < axis->n_numbers ? 0 : axis->n_positions - axis->n_numbers;
    *coordinate = width + (double)n_missing * axis->full;
  }
  return shoal_axis_loss(axis, lo, hi);
}

static uint16_t scaled(const packing *k, double loss) { return (uint16_t)(loss * k->scale + 0.5); }

static void pack_numbers(packing *k, shoal_packed_rows *p, size_t q, uint32_t n) {
  shoal_packed_axis *own = &p->axes[q];
  const shoal_axis *axis = own->axis;
  uint32_t least = k->position_at[0], missing = 0;
  double width = 0;
  for (uint32_t i = 0; i < n; i++) { /* position_at becomes the coordinate */
    uint32_t position = k->position_at[i];
    if (position < axis->n_numbers) width = axis->low_end[position] - axis->low_end[least];
    else missing++;
    k->position_at[i] = scaled(k, width + (double)missing * axis->full);
  }
  own->cap = missing && n > 1 ? scaled(k, axis->full) : UINT16_MAX;
  for (uint32_t t = 0; t < p->n_tuples; t++)
    p->values[t * p->n_axes + q] = (int16_t)k->position_at[k->number_of[t]];
}

static bool pack_tree(packing *k, shoal_packed_rows *p, size_t q, uint32_t n) {
  shoal_packed_axis *own = &p->axes[q];
  unsigned powers = 1;
  while ((UINT32_C(1) << powers) < n) powers++;
  own->n_values = n;
  if (!SHOAL_ARENA_ZEROED(&p->arena, own->range_max, (size_t)powers * n)) return false;
  for (uint32_t i = 0; i + 1 < n; i++)
    own->range_max[i] =
        scaled(k, shoal_axis_loss(own->axis, k->position_at[i], k->position_at[i + 1]));
  for (unsigned power = 1; power < powers; power++) {
    const uint16_t *below = own->range_max + (size_t)(power - 1) * n;
    uint16_t *max = own->range_max + (size_t)power * n;
    for (uint32_t i = 0; i + (UINT32_C(1) << power) < n; i++) {
      uint16_t right = below[i + (UINT32_C(1) << (power - 1))];
      max[i] = below[i] > right ? below[i] : right;
    }
  }
  return true;
}

static void pack_set(packing *k, shoal_packed_rows *p, size_t q, uint32_t n) {
  shoal_packed_axis *own = &p->axes[q];
  own->n_values = n;
  own->word = p->n_words;
  own->n_words = ((size_t)n + 63) / 64;
  p->n_words += own->n_words;
  own->step = n > 1 ? scaled(k, (double)own->axis->full / (own->axis->n_positions - 1)) : 0;
  if (!own->step) own->step = 1;
  uint32_t largest = (SHOAL_MAX_SET - 1U) * own->step, full = scaled(k, own->axis->full);
  own->cap = n > SHOAL_MAX_SET ? (uint16_t)(full > largest ? full : largest) : UINT16_MAX;
}

/* ------------------------------------------------------------ building */

static void order_axes(shoal_packed_rows *p, const shoal_axes *axes) {
  static const shoal_axis_kind kinds[] = {SHOAL_AXIS_NUMBER, SHOAL_AXIS_TREE, SHOAL_AXIS_SET};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    for (size_t q = 0; q < axes->n; q++)
      if (axes->items[q].kind == kinds[i])
        p->axes[p->n_axes++] = (shoal_packed_axis){.axis = &axes->items[q], .source = q};
    if (kinds[i] == SHOAL_AXIS_NUMBER) p->n_numbers = p->n_axes;
    if (kinds[i] == SHOAL_AXIS_TREE) p->n_spans = p->n_axes;
  }
}

static void find_tuples(shoal_packed_rows *p, const shoal_axes *axes) {
  for (uint32_t i = 0; i < p->n; i++) {
    if (i == 0 || axes->tuple_of_row[p->row[i]] != axes->tuple_of_row[p->row[i - 1]])
      p->first[p->n_tuples++] = i;
    p->tuple[i] = p->n_tuples - 1;
  }
  p->first[p->n_tuples] = p->n;
}

static bool fill_values(packing *k, shoal_packed_rows *p) {
  double loss = 1, coordinate = 1, own;
  if (!SHOAL_ARENA_ARRAY(&p->arena, p->values, (size_t)p->n_tuples * p->n_axes)) return false;
  for (size_t q = 0; q < p->n_axes; q++) {
    loss += extent_of(k, p, q, &own);
    if (own > coordinate) coordinate = own;
  }
  /* Rounding adds at most 1 per axis and per step of a set: the sum still fits 16 bits. */
  double room =
      UINT16_MAX - (double)p->n_axes - (SHOAL_MAX_SET - 1.0) * (double)(p->n_axes - p->n_spans);
  k->scale = fmax(1, fmin(room, SHOAL_PACKED_LOSS)) / loss;
  if (k->scale > SHOAL_PACKED_COORDINATE / coordinate)
    k->scale = SHOAL_PACKED_COORDINATE / coordinate;
  for (size_t q = 0; q < p->n_axes; q++) {
    uint32_t n = find_values(k, p, q);
    for (uint32_t t = 0; t < p->n_tuples; t++)
      p->values[t * p->n_axes + q] = (int16_t)k->number_of[t];
    if (q < p->n_numbers) pack_numbers(k, p, q, n);
    else if (q >= p->n_spans) pack_set(k, p, q, n);
    else if (!pack_tree(k, p, q, n)) return false;
  }
  return true;
}

static bool fill_groups(packing *k, shoal_packed_rows *p) {
  for (size_t d = 0; d < p->n_counts; d++) {
    uint32_t n = 0;
    if (!SHOAL_ARENA_ARRAY(&p->arena, p->group[d], p->n)) return false;
    for (uint32_t i = 0; i < p->n; i++) {
      uint32_t group = shoal_distinct_requirement_group(&p->required->counts[d], p->row[i]);
      p->group[d][i] = SHOAL_NONE;
      if (group != SHOAL_NONE) k->keys[n++] = (uint64_t)group << 32 | i;
    }
    p->exact[d] = !n || number_keys(k->keys, n, p->group[d]) <= 64;
  }
  return true;
}

bool shoal_packed_rows_init(shoal_packed_rows *p, const shoal_cluster_task *task,
                            const uint32_t *rows, uint32_t n) {
  *p = (shoal_packed_rows){
      .required = task->required, .row = rows, .n = n, .n_counts = task->required->n_counts};
  shoal_arena scratch = {0};
  packing k = {.axes = task->axes};
  bool ok = SHOAL_ARENA_ARRAY(&scratch, k.keys, n) && SHOAL_ARENA_ARRAY(&scratch, k.number_of, n) &&
            SHOAL_ARENA_ARRAY(&scratch, k.position_at, n) &&
            SHOAL_ARENA_ZEROED(&p->arena, p->axes, task->axes->n) &&
            SHOAL_ARENA_ARRAY(&p->arena, p->tuple, n) &&
            SHOAL_ARENA_ARRAY(&p->arena, p->first, (size_t)n + 1) &&
            SHOAL_ARENA_ARRAY(&p->arena, p->group, p->n_counts) &&
            SHOAL_ARENA_ZEROED(&p->arena, p->exact, p->n_counts);
  if (ok) {
    order_axes(p, task->axes);
    find_tuples(p, task->axes);
    ok = fill_values(&k, p) && fill_groups(&k, p);
  }
  shoal_arena_reset(&scratch);
  if (!ok) shoal_packed_rows_reset(p);
  return ok;
}

void shoal_packed_rows_reset(shoal_packed_rows *p) {
  shoal_arena_reset(&p->arena);
  memset(p, 0, sizeof *p);
}
