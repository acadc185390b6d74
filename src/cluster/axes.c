/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/axes: positions of values, losses as integers, and sorts that the algorithms share. */
#include "cluster/axes.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/wide.h"

/* Places of an axis with a table of losses by pair: it stays in the cache. */
enum { MAX_PAIRED = 128 };

void shoal_axes_reset(shoal_axes *axes) {
  for (size_t q = 0; axes->items && q < axes->n; q++) free(axes->items[q].numbers);
  shoal_arena_reset(&axes->arena);
  memset(axes, 0, sizeof *axes);
}

void shoal_axis_ancestor(const shoal_axis *axis, shoal_span span, uint32_t *level,
                         uint32_t *label) {
  uint32_t a = axis->code_at[span.lo], b = axis->code_at[span.hi];
  for (uint32_t l = axis->hierarchy->min_level;; l++) { /* the top has one label */
    const uint32_t *of_leaf = axis->hierarchy->levels[l].of_leaf;
    if (of_leaf[a] != of_leaf[b]) continue;
    *level = l;
    *label = of_leaf[a];
    return;
  }
}

uint32_t shoal_axis_loss_slow(const shoal_axis *axis, uint32_t lo, uint32_t hi) {
  uint32_t level, label;
  if (axis->kind == SHOAL_AXIS_SET) return shoal_set_axis_loss(axis, hi - lo + 1);
  if (axis->hierarchy) {
    shoal_axis_ancestor(axis, (shoal_span){lo, hi}, &level, &label);
    return axis->loss_at[level][label];
  }
  if (hi < axis->n_numbers) return axis->high_end[hi] - axis->low_end[lo];
  return lo == hi ? 0 : axis->full; /* a missing value beside others */
}

const shoal_level *shoal_axis_children(const shoal_axis *axis, uint32_t lo, uint32_t hi) {
  const shoal_level *level = axis->hierarchy->levels;
  uint32_t a = axis->code_at[lo], b = axis->code_at[hi];
  while (level[1].of_leaf[a] != level[1].of_leaf[b]) level++;
  return level;
}

/* ------------------------------------------------------------ sets */

/* The number of positions of a list that is too long. */
enum { TOO_MANY = SHOAL_MAX_SET + 1 };

void shoal_set_insert(uint32_t *set, uint32_t position) {
  if (set[0] == TOO_MANY || shoal_set_contains(set, position)) return;
  uint32_t at = ++set[0];
  if (at == TOO_MANY) return;
  for (; at > 1 && set[at - 1] > position; at--) set[at] = set[at - 1];
  set[at] = position;
}

void shoal_box_add_sets(const shoal_axes *axes, shoal_span *box, const uint32_t *positions) {
  for (size_t q = 0; q < axes->n; q++)
    if (axes->items[q].kind == SHOAL_AXIS_SET)
      shoal_set_insert(shoal_box_set(&axes->items[q], box), positions[q]);
}

uint32_t shoal_set_union_size(const uint32_t *a, const uint32_t *b) {
  uint32_t n = 0, i = 1, j = 1;
  if (a[0] == TOO_MANY || b[0] == TOO_MANY) return TOO_MANY;
  for (; i <= a[0] && j <= b[0]; n++) {
    uint32_t x = a[i], y = b[j];
    i += x <= y;
    j += y <= x;
  }
  n += a[0] + 1 - i + b[0] + 1 - j;
  return n < TOO_MANY ? n : TOO_MANY;
}

void shoal_set_join(uint32_t *set, const uint32_t *other) {
  if (other[0] == TOO_MANY) set[0] = TOO_MANY;
  for (uint32_t i = 1; i <= other[0] && set[0] != TOO_MANY; i++) shoal_set_insert(set, other[i]);
}

void shoal_set_intersect(uint32_t *set, const uint32_t *other) {
  if (other[0] == TOO_MANY) return;
  if (set[0] == TOO_MANY) {
    memcpy(set, other, (other[0] + 1) * sizeof *set);
    return;
  }
  uint32_t n = 0;
  for (uint32_t i = 1; i <= set[0]; i++)
    if (shoal_set_contains(other, set[i])) set[++n] = set[i];
  set[0] = n;
}

/* ------------------------------------------------------------ boxes and rows */

void shoal_box_join(const shoal_axes *axes, shoal_span *box, const shoal_span *other) {
  for (size_t q = 0; q < axes->n; q++) {
    if (other[q].lo < box[q].lo) box[q].lo = other[q].lo;
    if (other[q].hi > box[q].hi) box[q].hi = other[q].hi;
    const shoal_axis *axis = &axes->items[q];
    if (axis->kind == SHOAL_AXIS_SET)
      shoal_set_join(shoal_box_set(axis, box), shoal_box_set_const(axis, other));
  }
}

uint32_t shoal_box_loss_joined(const shoal_axes *axes, const shoal_span *box,
                               const shoal_span *other) {
  uint32_t loss = 0;
  for (size_t q = 0; q < axes->n; q++) {
    const shoal_axis *axis = &axes->items[q];
    if (axis->kind == SHOAL_AXIS_SET) {
      loss += axis->set_loss[shoal_set_union_size(shoal_box_set_const(axis, box),
                                                  shoal_box_set_const(axis, other))];
      continue;
    }
    uint32_t lo = other[q].lo < box[q].lo ? other[q].lo : box[q].lo;
    uint32_t hi = other[q].hi > box[q].hi ? other[q].hi : box[q].hi;
    loss += shoal_axis_loss(axis, lo, hi);
  }
  return loss;
}

void shoal_box_of(const shoal_axes *axes, shoal_span *box, const uint32_t *rows, size_t n) {
  shoal_box_start(axes, box, shoal_axes_row(axes, rows[0]));
  for (size_t i = 1; i < n; i++) shoal_box_add(axes, box, shoal_axes_row(axes, rows[i]));
}

/* Sorts n items by key, stably. keys[i] is key << 32 | i; `scratch` has room for n items. */
static void sort_items(uint32_t *items, uint64_t *keys, uint32_t *scratch, size_t n) {
  shoal_sort_u64(keys, n);
  for (size_t i = 0; i < n; i++) scratch[i] = items[(uint32_t)keys[i]];
  memcpy(items, scratch, n * sizeof *items);
}

void shoal_sort_by_group(const uint32_t *items, uint32_t n, const uint32_t *group,
                         uint32_t n_groups, uint32_t *first, uint32_t *sorted) {
  memset(first, 0, ((size_t)n_groups + 1) * sizeof *first);
  for (uint32_t i = 0; i < n; i++) first[group[i] + 1]++;
  for (uint32_t g = 0; g < n_groups; g++) first[g + 1] += first[g];
  for (uint32_t i = 0; i < n; i++) sorted[first[group[i]]++] = items ? items[i] : i;
  for (uint32_t g = n_groups; g > 0; g--) first[g] = first[g - 1];
  first[0] = 0;
}

uint32_t shoal_count_positions(const uint32_t *positions, uint32_t n, shoal_span span,
                               uint32_t *scratch, shoal_position_count *counts) {
  uint32_t n_positions = span.hi - span.lo + 1, found = 0;
  if (n_positions / SHOAL_SPARSE_POSITIONS <= n) {
    memset(scratch, 0, n_positions * sizeof *scratch);
    for (uint32_t i = 0; i < n; i++) scratch[positions[i] - span.lo]++;
    for (uint32_t p = 0; p < n_positions; p++)
      if (scratch[p]) counts[found++] = (shoal_position_count){span.lo + p, scratch[p]};
    return found;
  }
  memcpy(scratch, positions, n * sizeof *scratch);
  shoal_sort_u32(scratch, n);
  for (uint32_t i = 0; i < n; i++) {
    if (i && scratch[i] == scratch[i - 1]) counts[found - 1].n++;
    else counts[found++] = (shoal_position_count){scratch[i], 1};
  }
  return found;
}

/* ------------------------------------------------------------ positions */

/* An axis before its losses are integers: they are fractions of `denominator`. */
typedef struct draft {
  uint64_t denominator; /* 0: every loss is 0 */
  uint64_t weight;
} draft;

/* Leaves from left to right: sorted by label, the highest level first. */
static bool position_leaves(shoal_axis *axis) {
  uint32_t n = axis->n_positions = axis->n_values, *scratch = shoal_alloc(n, sizeof *scratch);
  uint64_t *keys = shoal_alloc(n, sizeof *keys);
  bool ok = scratch && keys;
  for (uint32_t v = 0; ok && v < n; v++) axis->code_at[v] = v;
  for (uint32_t l = 1; ok && l < axis->hierarchy->n_levels; l++) {
    const uint32_t *of_leaf = axis->hierarchy->levels[l].of_leaf;
    for (uint32_t p = 0; p < n; p++) keys[p] = (uint64_t)of_leaf[axis->code_at[p]] << 32 | p;
    sort_items(axis->code_at, keys, scratch, n);
  }
  for (uint32_t p = 0; ok && p < n; p++) axis->position_of[axis->code_at[p]] = p;
  free(scratch);
  free(keys);
  return ok;
}

typedef struct numbered {
  int64_t number;
  uint32_t code;
  bool missing;
} numbered;

static int by_number(const void *a, const void *b) {
  const numbered *x = a, *y = b;
  if (x->missing != y->missing) return x->missing ? 1 : -1;
  if (!x->missing && x->number != y->number) return x->number < y->number ? -1 : 1;
  return x->code < y->code ? -1 : 1;
}

/* Are two neighbouring numbers released with the same label, each alone? */
static bool have_one_label(const shoal_axis *axis, int64_t a, int64_t b) {
  char labels[2][SHOAL_INTERVAL_BYTES];
  const shoal_coding *coding = &axis->column->coding;
  if (a == b || !axis->snap.mantissa) return a == b;
  size_t size = shoal_snapped_label(a, a, axis->scale, axis->snap, coding, labels[0]);
  return size == shoal_snapped_label(b, b, axis->scale, axis->snap, coding, labels[1]) &&
         memcmp(labels[0], labels[1], size) == 0;
}

/* Numbers ascending; those of one label share a position, each missing value has its own. */
static bool position_numbers(shoal_axis *axis) {
  numbered *order = shoal_alloc(axis->n_values, sizeof *order);
  if (!order) return false;
  for (uint32_t v = 0; v < axis->n_values; v++)
    order[v] = (numbered){axis->numbers[v], v, shoal_column_missing(axis->column, v)};
  if (axis->n_values > 1) qsort(order, axis->n_values, sizeof *order, by_number);
  for (uint32_t i = 0; i < axis->n_values; i++) {
    bool is_number = !order[i].missing;
    bool again = i && is_number && have_one_label(axis, order[i - 1].number, order[i].number);
    if (!again) axis->code_at[axis->n_positions++] = order[i].code;
    if (!again && is_number) axis->n_numbers++;
    axis->position_of[order[i].code] = axis->n_positions - 1;
    if (is_number) axis->most = order[i].number;
  }
  axis->least = axis->n_numbers ? order[0].number : 0;
  free(order);
  return true;
}

/* The ends of the label of a position, as distances from the least number. */
static void find_ends(const shoal_axis *axis, uint32_t position, uint64_t *low, uint64_t *high) {
  int64_t number = axis->numbers[axis->code_at[position]];
  *low = *high = (uint64_t)number - (uint64_t)axis->least;
  if (axis->snap.mantissa)
    shoal_snapped_ends(number, axis->least, axis->most, axis->scale, axis->snap, low, high);
}

/* The range of the numbers, in the unit of their ends. */
static uint64_t range_of(const shoal_axis *axis) {
  uint64_t low, high = 0;
  if (axis->n_numbers) find_ends(axis, axis->n_numbers - 1, &low, &high);
  return high;
}

static shoal_status draft_number(shoal_axis *axis, const shoal_table *table, draft *d,
                                 shoal_error *error) {
  SHOAL_TRY(shoal_column_numbers(table, axis->column, &axis->numbers, &axis->scale, error));
  if (!position_numbers(axis)) return shoal_fail_memory(error);
  uint64_t divisor = 0, low, high;
  for (uint32_t p = 0; p < axis->n_numbers; p++) {
    find_ends(axis, p, &low, &high);
    divisor = shoal_gcd(high, shoal_gcd(low, divisor));
  }
  if (divisor) d->denominator = range_of(axis) / divisor;
  return SHOAL_OK;
}

/*
 * Positions are codes. Those of a sorted table are in the order of the values' keys
 * (table/order.h). The order of spellings would depend on suppressed rows, which choose among them
 * too.
 */
static void draft_set(shoal_axes *axes, shoal_axis *axis, draft *d) {
  uint32_t n = axis->n_positions = axis->n_values;
  for (uint32_t v = 0; v < n; v++) axis->code_at[v] = axis->position_of[v] = v;
  axis->set = axes->n_spans;
  axes->n_spans += SHOAL_SET_SPANS;
  d->denominator = n ? n - 1 : 0;
}

static shoal_status draft_axis(shoal_axes *axes, const shoal_frequency_set *f,
                               const shoal_attribute *const *attributes, size_t q,
                               shoal_loss_kind kind, draft *d, shoal_error *error) {
  shoal_axis *axis = &axes->items[q];
  uint32_t n = f->quasi[q]->n_values;
  const shoal_attribute *attribute = attributes ? attributes[q] : NULL;
  bool interval = attribute ? attribute->type == SHOAL_TYPE_NUMBER && !attribute->recode_hierarchy
                            : !f->hierarchies[q];
  bool set = attribute && shoal_attribute_has_sets(attribute);
  *axis = (shoal_axis){.hierarchy = interval || set ? NULL : f->hierarchies[q],
                       .kind = set        ? SHOAL_AXIS_SET
                               : interval ? SHOAL_AXIS_NUMBER
                                          : SHOAL_AXIS_TREE,
                       .column = f->quasi[q],
                       .n_values = n,
                       .position_of = shoal_arena_alloc(&axes->arena, n, sizeof *axis->position_of),
                       .code_at = shoal_arena_alloc(&axes->arena, n, sizeof *axis->code_at)};
  if (attribute) axis->snap = attribute->snap;
  if (!axis->position_of || !axis->code_at) return shoal_fail_memory(error);
  if (interval) return draft_number(axis, f->table, d, error);
  if (set) {
    draft_set(axes, axis, d);
    if (attribute->type != SHOAL_TYPE_NUMBER) return SHOAL_OK; /* every cell must be a number */
    return shoal_column_numbers(f->table, axis->column, &axis->numbers, &axis->scale, error);
  }
  axis->has_floor = axis->hierarchy->min_level > 0;
  if (!position_leaves(axis)) return shoal_fail_memory(error);
  d->denominator = kind == SHOAL_LOSS_HEIGHT ? axis->hierarchy->tree_height
                                             : (uint64_t)axis->hierarchy->n_leaves - 1;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ losses as integers */

/* Weights as integers without a common divisor. */
static void draft_weights(draft *drafts, size_t n, const shoal_decimal *weights) {
  unsigned scale = 0;
  uint64_t common = 0;
  for (size_t q = 0; weights && q < n; q++)
    if (weights[q].scale > scale) scale = weights[q].scale;
  for (size_t q = 0; q < n; q++) {
    int64_t weight = 1;
    if (weights && !shoal_decimal_rescale(weights[q], scale, &weight)) weight = INT64_MAX;
    drafts[q].weight = weight > 0 ? (uint64_t)weight : 0;
    common = shoal_gcd(drafts[q].weight, common);
  }
  for (size_t q = 0; common && q < n; q++) drafts[q].weight /= common;
}

/* Sets the full loss of each axis; false if a common multiple of the denominators is too large. */
static bool choose_exact(shoal_axes *axes, const draft *drafts) {
  uint64_t unit = 1;
  for (size_t q = 0; q < axes->n; q++) {
    if (!drafts[q].denominator) continue;
    uint64_t factor = drafts[q].denominator / shoal_gcd(drafts[q].denominator, unit);
    if (factor > SHOAL_MAX_LOSS / unit) return false;
    unit *= factor;
  }
  shoal_uint128 sum = 0;
  for (size_t q = 0; q < axes->n; q++) sum += (shoal_uint128)unit * drafts[q].weight;
  if (sum > SHOAL_MAX_LOSS) return false;
  for (size_t q = 0; q < axes->n; q++) axes->items[q].full = (uint32_t)(unit * drafts[q].weight);
  return true;
}

static void choose_rounded(shoal_axes *axes, const draft *drafts) {
  shoal_uint128 sum = 0;
  for (size_t q = 0; q < axes->n; q++) sum += drafts[q].weight;
  for (size_t q = 0; sum && q < axes->n; q++)
    axes->items[q].full = (uint32_t)((shoal_uint128)SHOAL_MAX_LOSS * drafts[q].weight / sum);
}

static uint32_t share(const shoal_axis *axis, uint64_t part, uint64_t denominator) {
  if (!denominator) return 0;
  return (uint32_t)(((shoal_uint128)axis->full * part + denominator / 2) / denominator);
}

static bool fill_tree(shoal_axes *axes, shoal_axis *axis, const draft *d, shoal_loss_kind kind) {
  const shoal_hierarchy *hierarchy = axis->hierarchy;
  axis->loss_at = shoal_arena_alloc(&axes->arena, hierarchy->n_levels, sizeof *axis->loss_at);
  for (uint32_t l = 0; axis->loss_at && l < hierarchy->n_levels; l++) {
    const shoal_level *level = &hierarchy->levels[l];
    uint32_t *loss = shoal_arena_alloc(&axes->arena, level->n_labels, sizeof *loss);
    if (!loss) return false;
    axis->loss_at[l] = loss;
    for (uint32_t t = 0; t < level->n_labels; t++)
      loss[t] = share(axis,
                      kind == SHOAL_LOSS_HEIGHT ? level->node_height[t]
                                                : (uint64_t)level->n_leaves[t] - 1,
                      d->denominator);
  }
  return axis->loss_at;
}

static bool fill_numbers(shoal_axes *axes, shoal_axis *axis) {
  uint32_t n = axis->n_numbers;
  uint64_t low, high, range = range_of(axis);
  if (!SHOAL_ARENA_ARRAY(&axes->arena, axis->low_end, n)) return false;
  axis->high_end = axis->low_end;
  if (axis->snap.mantissa && !SHOAL_ARENA_ARRAY(&axes->arena, axis->high_end, n)) return false;
  for (uint32_t p = 0; p < n; p++) {
    find_ends(axis, p, &low, &high);
    axis->low_end[p] = share(axis, low, range);
    axis->high_end[p] = share(axis, high, range);
  }
  return true;
}

static void fill_set(shoal_axis *axis, const draft *d) {
  for (uint32_t n = 2; n <= SHOAL_MAX_SET; n++)
    axis->set_loss[n] = n <= axis->n_values ? share(axis, n - 1, d->denominator) : axis->full;
  axis->set_loss[SHOAL_MAX_SET + 1] = axis->full;
}

static bool fill_pairs(shoal_axes *axes, shoal_axis *axis) {
  uint32_t n = axis->n_positions;
  if (n > MAX_PAIRED) return true;
  uint32_t *pairs = shoal_arena_alloc(&axes->arena, (size_t)n * n, sizeof *pairs);
  for (uint32_t lo = 0; pairs && lo < n; lo++)
    for (uint32_t hi = 0; hi < n; hi++)
      pairs[(size_t)lo * n + hi] = hi < lo ? 0 : shoal_axis_loss_slow(axis, lo, hi);
  axis->pairs = pairs;
  return pairs;
}

double shoal_box_share(const shoal_axes *axes, const shoal_span *box, size_t q) {
  const shoal_axis *axis = &axes->items[q];
  shoal_span span = box[q];
  if (axis->kind == SHOAL_AXIS_SET) {
    uint32_t n = shoal_box_set_const(axis, box)[0];
    if (n > SHOAL_MAX_SET) return 1;
    return n > 1 ? (double)(n - 1) / (double)(axis->n_values - 1) : 0;
  }
  if (axis->hierarchy) {
    uint32_t level, label, height = axis->hierarchy->tree_height;
    shoal_axis_ancestor(axis, span, &level, &label);
    return height ? (double)axis->hierarchy->levels[level].node_height[label] / height : 0;
  }
  if (span.hi >= axis->n_numbers) return span.lo != span.hi; /* missing values */
  uint64_t low, high, ignored, range = range_of(axis);
  find_ends(axis, span.lo, &low, &ignored);
  find_ends(axis, span.hi, &ignored, &high);
  return range ? (double)(high - low) / (double)range : 0;
}

/* ------------------------------------------------------------ all of them */

static bool fill_positions(shoal_axes *axes, const shoal_frequency_set *f) {
  if (axes->n > SIZE_MAX / ((size_t)f->n_tuples + 1)) return false;
  axes->positions = shoal_arena_alloc(&axes->arena, f->n_tuples * axes->n, sizeof *axes->positions);
  for (uint32_t t = 0; axes->positions && t < f->n_tuples; t++)
    for (size_t q = 0; q < axes->n; q++)
      axes->positions[(size_t)t * axes->n + q] =
          axes->items[q].position_of[shoal_code_at(f->codes[q], t)];
  return axes->positions != NULL;
}

static shoal_status build(shoal_axes *axes, const shoal_frequency_set *f,
                          const shoal_attribute *const *attributes, const shoal_decimal *weights,
                          shoal_loss_kind kind, draft *drafts, shoal_error *error) {
  for (size_t q = 0; q < axes->n; q++)
    SHOAL_TRY(draft_axis(axes, f, attributes, q, kind, &drafts[q], error));
  draft_weights(drafts, axes->n, weights);
  axes->exact = choose_exact(axes, drafts);
  if (!axes->exact) choose_rounded(axes, drafts);
  for (size_t q = 0; q < axes->n; q++) {
    shoal_axis *axis = &axes->items[q];
    if (axis->kind == SHOAL_AXIS_SET) {
      fill_set(axis, &drafts[q]);
    } else {
      bool ok =
          axis->hierarchy ? fill_tree(axes, axis, &drafts[q], kind) : fill_numbers(axes, axis);
      if (!ok || !fill_pairs(axes, axis)) return shoal_fail_memory(error);
    }
    if (axis->n_positions > axes->max_positions) axes->max_positions = axis->n_positions;
  }
  return fill_positions(axes, f) ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_axes_init(shoal_axes *axes, const shoal_frequency_set *frequency,
                             const shoal_attribute *const *attributes, const shoal_decimal *weights,
                             shoal_loss_kind kind, shoal_error *error) {
  *axes = (shoal_axes){.n = frequency->n_quasi,
                       .n_spans = frequency->n_quasi,
                       .max_positions = 1,
                       .n_rows = frequency->table->n_rows,
                       .n_tuples = frequency->n_tuples,
                       .tuple_of_row = frequency->tuple_of_row};
  draft *drafts = shoal_alloc_zero(axes->n, sizeof *drafts);
  shoal_status status = drafts && SHOAL_ARENA_ZEROED(&axes->arena, axes->items, axes->n)
                            ? build(axes, frequency, attributes, weights, kind, drafts, error)
                            : shoal_fail_memory(error);
  free(drafts);
  if (status != SHOAL_OK) shoal_axes_reset(axes);
  return status;
}
