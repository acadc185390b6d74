/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/flock_rows: packing the rows of a block, and boxes around them; see flock_rows.h. */
#include "cluster/flock_rows.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"

/* ------------------------------------------------------------ boxes */

bool shoal_boxes_init(shoal_boxes *boxes, const shoal_packed_rows *p, size_t n) {
  boxes->spans = shoal_alloc_zero(n * 2 * p->n_spans, sizeof *boxes->spans);
  boxes->sets = shoal_alloc_zero(n * p->n_words, sizeof *boxes->sets);
  return boxes->spans && boxes->sets;
}

void shoal_boxes_reset(shoal_boxes *boxes) {
  free(boxes->spans);
  free(boxes->sets);
  memset(boxes, 0, sizeof *boxes);
}

static void add_to_sets(const shoal_packed_rows *p, uint64_t *sets, const int16_t *values) {
  for (size_t q = p->n_spans; q < p->n_axes; q++) {
    unsigned value = (unsigned)values[q];
    sets[p->axes[q].word + value / 64] |= UINT64_C(1) << (value % 64);
  }
}

void shoal_box_start(const shoal_packed_rows *p, shoal_box box, const int16_t *values) {
  memcpy(box.lo, values, p->n_spans * sizeof *values);
  memcpy(box.hi, values, p->n_spans * sizeof *values);
  if (!p->n_words) return;
  memset(box.sets, 0, p->n_words * sizeof *box.sets);
  add_to_sets(p, box.sets, values);
}

void shoal_box_add(const shoal_packed_rows *p, shoal_box box, const int16_t *values) {
  for (size_t q = 0; q < p->n_spans; q++) {
    if (values[q] < box.lo[q]) box.lo[q] = values[q];
    if (values[q] > box.hi[q]) box.hi[q] = values[q];
  }
  if (p->n_words) add_to_sets(p, box.sets, values);
}

void shoal_box_join(const shoal_packed_rows *p, shoal_box box, shoal_box other) {
  for (size_t q = 0; q < p->n_spans; q++) {
    if (other.lo[q] < box.lo[q]) box.lo[q] = other.lo[q];
    if (other.hi[q] > box.hi[q]) box.hi[q] = other.hi[q];
  }
  for (size_t w = 0; w < p->n_words; w++) box.sets[w] |= other.sets[w];
}

static uint32_t set_size(const shoal_packed_axis *axis, const uint64_t *sets) {
  uint32_t n = 0;
  for (size_t w = 0; w < axis->n_words; w++) n += shoal_n_bits(sets[axis->word + w]);
  return n;
}

uint32_t shoal_box_loss(const shoal_packed_rows *p, shoal_box box) {
  uint32_t loss = 0;
  for (size_t q = 0; q < p->n_spans; q++) loss += shoal_span_loss(p, q, box.lo[q], box.hi[q]);
  for (size_t q = p->n_spans; q < p->n_axes; q++)
    loss += (set_size(&p->axes[q], box.sets) - 1) * p->axes[q].step;
  return loss;
}

uint32_t shoal_box_loss_with(const shoal_packed_rows *p, shoal_box box, const int16_t *values) {
  uint32_t loss = 0;
  for (size_t q = 0; q < p->n_spans; q++) {
    int lo = values[q] < box.lo[q] ? values[q] : box.lo[q];
    int hi = values[q] > box.hi[q] ? values[q] : box.hi[q];
    loss += shoal_span_loss(p, q, lo, hi);
  }
  for (size_t q = p->n_spans; q < p->n_axes; q++) {
    bool has = shoal_set_has(&p->axes[q], box.sets, values[q]);
    loss += (set_size(&p->axes[q], box.sets) - has) * p->axes[q].step;
  }
  return loss;
}

/* ------------------------------------------------------------ values of the block */

/*
 * Numbers the distinct keys of n items from 0, ascending. `keys` holds key << 32 | item; number_of
 * receives the number of each item. Returns how many there are.
 */
static uint32_t number_keys(uint64_t *keys, uint32_t n, uint32_t *number_of) {
  uint32_t numbers = 0;
  shoal_sort_keys(keys, n);
  for (uint32_t i = 0; i < n; i++) {
    numbers += i && keys[i] >> 32 != keys[i - 1] >> 32;
    number_of[(uint32_t)keys[i]] = numbers;
  }
  return numbers + 1;
}

/* What packing one block needs: places of all tuples on one axis, in several forms. */
typedef struct packing {
  const shoal_axes *axes;
  uint64_t *keys;      /* n_tuples or n rows */
  uint32_t *number_of; /* by tuple: its value among those of the block */
  uint32_t *place_at;  /* by value: its place on the axis */
  double scale;
  bool truncates; /* steps of sets: rounded, their sum could exceed 16 bits */
} packing;

static uint32_t place_of(const packing *k, const shoal_packed_rows *p, size_t q, uint32_t tuple) {
  return shoal_axes_row(k->axes, p->row[p->first[tuple]])[p->axes[q].source];
}

static uint32_t find_values(packing *k, const shoal_packed_rows *p, size_t q) {
  for (uint32_t t = 0; t < p->n_tuples; t++) k->keys[t] = (uint64_t)place_of(k, p, q, t) << 32 | t;
  uint32_t n = number_keys(k->keys, p->n_tuples, k->number_of);
  if (n > SHOAL_PACKED_COORDINATE) { /* neighbours share a value */
    for (uint32_t t = 0; t < p->n_tuples; t++)
      k->number_of[t] = (uint32_t)((uint64_t)k->number_of[t] * SHOAL_PACKED_COORDINATE / n);
    n = SHOAL_PACKED_COORDINATE;
  }
  for (uint32_t t = 0; t < p->n_tuples; t++) k->place_at[k->number_of[t]] = place_of(k, p, q, t);
  return n;
}

/*
 * At most what the block's whole box loses on an axis, in the table's units; `coordinate`: at most
 * its largest coordinate.
 */
static double extent_of(const packing *k, const shoal_packed_rows *p, size_t q,
                        double *coordinate) {
  const shoal_axis *axis = p->axes[q].axis;
  uint32_t lo = UINT32_MAX, hi = 0, last = 0; /* last: of the numbers */
  for (uint32_t t = 0; t < p->n_tuples; t++) {
    uint32_t place = place_of(k, p, q, t);
    if (place < lo) lo = place;
    if (place > hi) hi = place;
    if (place < axis->n_numbers && place > last) last = place;
  }
  *coordinate = 0;
  if (axis->kind == SHOAL_AXIS_SET) {
    double n = p->n_tuples < axis->n_places ? p->n_tuples : axis->n_places;
    return axis->n_places > 1 ? axis->full * (n - 1) / (axis->n_places - 1) : 0;
  }
  if (axis->kind == SHOAL_AXIS_NUMBER) {
    double width = lo < axis->n_numbers ? shoal_axis_loss(axis, lo, last) : 0;
    uint32_t n_missing = hi < axis->n_numbers ? 0 : axis->n_places - axis->n_numbers;
    *coordinate = width + (double)n_missing * axis->full;
  }
  return shoal_axis_loss(axis, lo, hi);
}

static uint16_t scaled(const packing *k, double loss) { return (uint16_t)(loss * k->scale + 0.5); }

static void pack_numbers(packing *k, shoal_packed_rows *p, size_t q, uint32_t n) {
  shoal_packed_axis *own = &p->axes[q];
  const shoal_axis *axis = own->axis;
  uint32_t least = k->place_at[0], missing = 0;
  double width = 0;
  for (uint32_t i = 0; i < n; i++) { /* place_at becomes the coordinate */
    uint32_t place = k->place_at[i];
    if (place < axis->n_numbers) width = shoal_axis_loss(axis, least, place);
    else missing++;
    k->place_at[i] = scaled(k, width + (double)missing * axis->full);
  }
  own->cap = missing && n > 1 ? scaled(k, axis->full) : UINT16_MAX;
  for (uint32_t t = 0; t < p->n_tuples; t++)
    p->values[t * p->n_axes + q] = (int16_t)k->place_at[k->number_of[t]];
}

static bool pack_tree(packing *k, shoal_packed_rows *p, size_t q, uint32_t n) {
  shoal_packed_axis *own = &p->axes[q];
  unsigned powers = 1;
  while ((UINT32_C(1) << powers) < n) powers++;
  own->n_values = n;
  own->range_max = shoal_alloc_zero((size_t)powers * n, sizeof *own->range_max);
  if (!own->range_max) return false;
  for (uint32_t i = 0; i + 1 < n; i++)
    own->range_max[i] = scaled(k, shoal_axis_loss(own->axis, k->place_at[i], k->place_at[i + 1]));
  for (unsigned power = 1; power < powers; power++) {
    const uint16_t *below = own->range_max + (size_t)(power - 1) * n;
    uint16_t *max = own->range_max + (size_t)power * n;
    for (uint32_t i = 0; i + (UINT32_C(1) << power) < n; i++) {
      uint16_t right = below[i + (UINT32_C(1) << (power - 1))];
      max[i] = below[i] > right ? below[i] : right;
    }
  }
  for (uint32_t t = 0; t < p->n_tuples; t++)
    p->values[t * p->n_axes + q] = (int16_t)k->number_of[t];
  return true;
}

/* The loss of a value of a set beyond the first. */
static uint16_t step_of(const packing *k, const shoal_axis *axis) {
  if (axis->n_places < 2) return 0;
  double step = (double)axis->full / (axis->n_places - 1);
  if (k->truncates) return (uint16_t)(step * k->scale);
  return scaled(k, step) ? scaled(k, step) : 1;
}

/* Could the steps of all sets, rounded, add up to more than 16 bits? */
static bool steps_overflow(const packing *k, const shoal_packed_rows *p, double loss) {
  double sum = loss * k->scale + (double)p->n_axes;
  for (size_t q = p->n_spans; q < p->n_axes; q++) {
    const shoal_axis *axis = p->axes[q].axis;
    double n = p->n_tuples < axis->n_places ? p->n_tuples : axis->n_places;
    if (n > 1) sum += (n - 1) * (step_of(k, axis) - k->scale * axis->full / (axis->n_places - 1));
  }
  return sum > UINT16_MAX;
}

static void pack_set(packing *k, shoal_packed_rows *p, size_t q, uint32_t n) {
  shoal_packed_axis *own = &p->axes[q];
  own->n_values = n;
  own->word = p->n_words;
  own->n_words = ((size_t)n + 63) / 64;
  p->n_words += own->n_words;
  own->step = step_of(k, own->axis);
  for (uint32_t t = 0; t < p->n_tuples; t++)
    p->values[t * p->n_axes + q] = (int16_t)k->number_of[t];
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
  p->values = shoal_alloc((size_t)p->n_tuples * p->n_axes, sizeof *p->values);
  if (!p->values) return false;
  for (size_t q = 0; q < p->n_axes; q++) {
    loss += extent_of(k, p, q, &own);
    if (own > coordinate) coordinate = own;
  }
  k->scale = SHOAL_PACKED_LOSS / loss;
  if (k->scale > SHOAL_PACKED_COORDINATE / coordinate)
    k->scale = SHOAL_PACKED_COORDINATE / coordinate;
  k->truncates = steps_overflow(k, p, loss);
  for (size_t q = 0; q < p->n_axes; q++) {
    uint32_t n = find_values(k, p, q);
    if (q < p->n_numbers) pack_numbers(k, p, q, n);
    else if (q >= p->n_spans) pack_set(k, p, q, n);
    else if (!pack_tree(k, p, q, n)) return false;
  }
  return true;
}

static bool fill_groups(packing *k, shoal_packed_rows *p) {
  for (size_t d = 0; d < p->n_counts; d++) {
    uint32_t n = 0;
    p->group[d] = shoal_alloc(p->n, sizeof *p->group[d]);
    if (!p->group[d]) return false;
    for (uint32_t i = 0; i < p->n; i++) {
      uint32_t group = shoal_count_group(&p->fit->counts[d], p->row[i]);
      p->group[d][i] = SHOAL_NO_GROUP;
      if (group != SHOAL_NO_GROUP) k->keys[n++] = (uint64_t)group << 32 | i;
    }
    p->exact[d] = !n || number_keys(k->keys, n, p->group[d]) <= 64;
  }
  return true;
}

bool shoal_packed_rows_init(shoal_packed_rows *p, const shoal_cluster_task *task,
                            const uint32_t *rows, uint32_t n) {
  *p = (shoal_packed_rows){.fit = task->fit, .row = rows, .n = n, .n_counts = task->fit->n_counts};
  packing k = {.axes = task->axes,
               .keys = shoal_alloc(n, sizeof *k.keys),
               .number_of = shoal_alloc(n, sizeof *k.number_of),
               .place_at = shoal_alloc(n, sizeof *k.place_at)};
  p->axes = shoal_alloc_zero(task->axes->n, sizeof *p->axes);
  p->tuple = shoal_alloc(n, sizeof *p->tuple);
  p->first = shoal_alloc((size_t)n + 1, sizeof *p->first);
  p->group = shoal_alloc_zero(p->n_counts, sizeof *p->group);
  p->exact = shoal_alloc_zero(p->n_counts, sizeof *p->exact);
  bool ok = k.keys && k.number_of && k.place_at && p->axes && p->tuple && p->first && p->group &&
            p->exact;
  if (ok) {
    order_axes(p, task->axes);
    find_tuples(p, task->axes);
    ok = fill_values(&k, p) && fill_groups(&k, p);
  }
  free(k.keys);
  free(k.number_of);
  free(k.place_at);
  if (!ok) shoal_packed_rows_reset(p);
  return ok;
}

void shoal_packed_rows_reset(shoal_packed_rows *p) {
  for (size_t q = 0; p->axes && q < p->n_axes; q++) free(p->axes[q].range_max);
  for (size_t d = 0; p->group && d < p->n_counts; d++) free(p->group[d]);
  free(p->axes);
  free(p->tuple);
  free(p->first);
  free(p->values);
  free(p->group);
  free(p->exact);
  memset(p, 0, sizeof *p);
}
