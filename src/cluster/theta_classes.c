/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/theta_classes: the classes that theta works on, and how often each sensitive value occurs
 * in them. A variance needs only how many values occur how often, since weights follow from that
 * order (Khan et al. 2020, section 4; docs/reading-the-papers.md R17): the cost of asking what a
 * swap would do is the largest frequency of the class.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/row_order.h"
#include "cluster/theta.h"

/* ------------------------------------------------------------ tallies */

void shoal_tally_put(shoal_tally *tally, uint32_t value) {
  if (value == SHOAL_NO_VALUE) return;
  uint32_t count = tally->count[value]++;
  if (count) tally->by_count[count]--;
  tally->by_count[count + 1]++;
  if (count + 1 > tally->top) tally->top = count + 1;
  tally->n_rows++;
}

void shoal_tally_take(shoal_tally *tally, uint32_t value) {
  if (value == SHOAL_NO_VALUE) return;
  uint32_t count = tally->count[value]--;
  tally->by_count[count]--;
  if (count > 1) tally->by_count[count - 1]++;
  tally->n_rows--;
}

void shoal_tally_fill(shoal_tally *tally, const uint32_t *values, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t value = values[i];
    if (value != SHOAL_NO_VALUE && !tally->count[value]) tally->values[tally->n_values++] = value;
    shoal_tally_put(tally, value);
  }
}

void shoal_tally_clear(shoal_tally *tally) {
  for (uint32_t i = 0; i < tally->n_values; i++) tally->count[tally->values[i]] = 0;
  memset(tally->by_count, 0, ((size_t)tally->top + 1) * sizeof *tally->by_count);
  tally->n_values = tally->top = 0;
  tally->n_rows = 0;
}

/* 1 + 4 + ... + x^2 */
static shoal_uint128 squares_up_to(uint64_t x) {
  return (shoal_uint128)x * (x + 1) * (2 * (shoal_uint128)x + 1) / 6;
}

/* The same for classes so small that no product leaves 64 bits. */
static uint64_t small_spread(const shoal_tally *tally) {
  uint64_t sum = 0, squares = 0, weight = 0;
  for (uint32_t count = tally->top; count; count--)
    for (uint32_t n = tally->by_count[count]; n; n--) {
      weight++;
      sum += count * weight;
      squares += count * weight * weight;
    }
  return tally->n_rows * squares - sum * sum;
}

shoal_variance shoal_tally_variance(const shoal_tally *tally) {
  if (tally->n_rows <= SHOAL_SMALL_CLASS)
    return (shoal_variance){small_spread(tally), tally->n_rows};
  shoal_uint128 sum = 0, squares = 0;
  uint64_t weight = 0; /* given out so far: the most frequent value has 1 */
  for (uint32_t count = tally->top; count; count--) {
    uint64_t n = tally->by_count[count];
    if (!n) continue;
    shoal_uint128 weights = (shoal_uint128)n * (2 * weight + n + 1) / 2;
    sum += weights * count;
    squares += (squares_up_to(weight + n) - squares_up_to(weight)) * count;
    weight += n;
  }
  return (shoal_variance){tally->n_rows * squares - sum * sum, tally->n_rows};
}

shoal_variance shoal_tally_swapped(shoal_tally *tally, uint32_t out, uint32_t in) {
  uint32_t top = tally->top;
  shoal_tally_take(tally, out);
  shoal_tally_put(tally, in);
  shoal_variance variance = shoal_tally_variance(tally);
  shoal_tally_take(tally, in);
  shoal_tally_put(tally, out);
  tally->top = top;
  return variance;
}

shoal_variance shoal_tally_renewed(shoal_tally *tally, uint32_t out) {
  shoal_tally_take(tally, out);
  tally->by_count[1]++;
  tally->n_rows++;
  shoal_variance variance = shoal_tally_variance(tally);
  tally->by_count[1]--;
  tally->n_rows--;
  shoal_tally_put(tally, out);
  return variance;
}

/* ------------------------------------------------------------ classes */

static void learn(const shoal_theta *t, shoal_theta_aim *aim, uint32_t c) {
  shoal_tally *tally = &aim->here;
  shoal_theta_known *known = &aim->known[c];
  shoal_tally_fill(tally, shoal_theta_values(t, aim, c), shoal_theta_size(t, c));
  *known = (shoal_theta_known){.variance = shoal_tally_variance(tally)};
  known->passes = shoal_aim_reached(aim, known->variance);
  for (uint32_t i = 0; i < tally->n_values; i++) known->has |= UINT64_C(1) << tally->values[i] % 64;
  shoal_tally_clear(tally);
}

void shoal_theta_refresh(shoal_theta *t, uint32_t c) {
  const uint32_t *rows = shoal_theta_rows(t, c);
  uint32_t size = shoal_theta_size(t, c);
  shoal_span *extent = shoal_theta_extent(t, c);
  shoal_extent_start(t->axes, extent, shoal_axes_row(t->axes, rows[0]));
  for (uint32_t i = 1; i < size; i++)
    shoal_extent_add(t->axes, extent, shoal_axes_row(t->axes, rows[i]));
  t->rests[c] = t->has_rest ? shoal_judging_fits(&t->judging, rows, size) : size >= t->rest.k;
  t->fails[c] = !t->rests[c];
  for (size_t a = 0; a < t->n_aims; a++) {
    learn(t, &t->aims[a], c);
    t->fails[c] = t->fails[c] || !t->aims[a].known[c].passes;
  }
  t->failed = t->failed || t->judging.failed;
}

static void refresh_all(shoal_theta *t) {
  for (size_t a = 0; a < t->n_aims; a++)
    for (uint32_t slot = 0; slot < t->n_rows; slot++)
      t->aims[a].value_of[slot] = shoal_theta_value(&t->aims[a], t->rows[slot]);
  memset(t->tried, 0, t->n_classes);
  for (uint32_t c = 0; c < t->n_classes; c++) {
    for (uint32_t slot = t->first[c]; slot < t->first[c + 1]; slot++) t->class_of[slot] = c;
    shoal_theta_refresh(t, c);
  }
}

/* Rows by class, classes as `group` (by row) numbers them; `first` receives where each starts. */
static void deal(const uint32_t *rows, uint32_t n_rows, const uint32_t *group, uint32_t n_groups,
                 uint32_t *first, uint32_t *dealt) {
  memset(first, 0, ((size_t)n_groups + 1) * sizeof *first);
  for (uint32_t i = 0; i < n_rows; i++) first[group[i] + 1]++;
  for (uint32_t g = 0; g < n_groups; g++) first[g + 1] += first[g];
  for (uint32_t i = 0; i < n_rows; i++) dealt[first[group[i]]++] = rows[i];
  for (uint32_t g = n_groups; g > 0; g--) first[g] = first[g - 1];
  first[0] = 0;
}

shoal_status shoal_theta_regroup(shoal_theta *t, const uint32_t *group, uint32_t n_groups,
                                 shoal_error *error) {
  uint32_t *rows = shoal_alloc(t->n_rows, sizeof *rows);
  uint32_t *first = shoal_alloc((size_t)n_groups + 1, sizeof *first);
  if (!rows || !first) {
    free(rows);
    free(first);
    return shoal_fail_memory(error);
  }
  for (uint32_t slot = 0; slot < t->n_rows; slot++) t->class_of[slot] = group[t->class_of[slot]];
  deal(t->rows, t->n_rows, t->class_of, n_groups, first, rows);
  for (uint32_t i = 0; i < t->noise.n; i++) t->noise.cluster[i] = group[t->noise.cluster[i]];
  for (uint32_t c = 0; c < t->n_classes; c++) t->closed[group[c]] = t->closed[c];
  free(t->rows);
  free(t->first);
  t->rows = rows;
  t->first = first;
  t->n_classes = n_groups;
  refresh_all(t);
  for (uint32_t c = 0; c < n_groups; c++) /* closed ones are done with */
    t->fails[c] = t->fails[c] && !t->closed[c];
  return t->failed ? shoal_fail_memory(error) : SHOAL_OK;
}

/* ------------------------------------------------------------ the order of the classes */

typedef struct placed {
  uint64_t place; /* sum of its rows' places in the order, over their number */
  uint32_t class;
} placed;

static int by_place(const void *a, const void *b) {
  const placed *x = a, *y = b;
  if (x->place != y->place) return x->place < y->place ? -1 : 1;
  return (x->class > y->class) - (x->class < y->class);
}

/* The mean place of each class's rows, in the order of a tree of best cuts. */
static bool place_classes(const shoal_theta *t, const uint32_t *order, const uint32_t *weight,
                          const shoal_partition *partition, placed *classes) {
  uint32_t *place = shoal_alloc(t->axes->n_tuples, sizeof *place), at = 0;
  uint32_t *size = shoal_alloc_zero(t->n_classes, sizeof *size);
  bool ok = place && size;
  for (uint32_t i = 0; ok && i < t->axes->n_tuples; i++) {
    place[order[i]] = at;
    at += weight[order[i]];
  }
  for (uint32_t c = 0; ok && c < t->n_classes; c++) classes[c] = (placed){0, c};
  for (uint32_t r = 0; ok && r < t->n_rows; r++) {
    classes[partition->cluster_of_row[r]].place += place[t->axes->tuple_of_row[r]];
    size[partition->cluster_of_row[r]]++;
  }
  for (uint32_t c = 0; ok && c < t->n_classes; c++) classes[c].place /= size[c];
  free(place);
  free(size);
  return ok;
}

/* number[c]: where class c of the partition stands. */
static shoal_status order_classes(const shoal_theta *t, const shoal_partition *partition,
                                  uint32_t *number, shoal_error *error) {
  uint32_t n = t->axes->n_tuples;
  uint32_t *weight = shoal_alloc_zero(n, sizeof *weight), *order = shoal_alloc(n, sizeof *order);
  placed *classes = shoal_alloc(t->n_classes, sizeof *classes);
  shoal_status status = weight && order && classes ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    for (uint32_t r = 0; r < t->n_rows; r++) weight[t->axes->tuple_of_row[r]]++;
    status = shoal_row_order(t->axes, weight, t->rest.k, t->task->run, order, error);
  }
  if (status == SHOAL_OK && !place_classes(t, order, weight, partition, classes))
    status = shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    qsort(classes, t->n_classes, sizeof *classes, by_place);
    for (uint32_t i = 0; i < t->n_classes; i++) number[classes[i].class] = i;
  }
  free(weight);
  free(order);
  free(classes);
  return status;
}

static shoal_status deal_rows(shoal_theta *t, const shoal_partition *partition,
                              shoal_error *error) {
  uint32_t *number = shoal_alloc(t->n_classes, sizeof *number);
  uint32_t *rows = shoal_alloc(t->n_rows, sizeof *rows);
  shoal_status status = number && rows ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = order_classes(t, partition, number, error);
  if (status == SHOAL_OK) {
    for (uint32_t r = 0; r < t->n_rows; r++) {
      rows[r] = r;
      t->class_of[r] = number[partition->cluster_of_row[r]];
    }
    deal(rows, t->n_rows, t->class_of, t->n_classes, t->first, t->rows);
    refresh_all(t);
  }
  free(number);
  free(rows);
  return status;
}

/* ------------------------------------------------------------ memory */

static bool init_tally(shoal_tally *tally, uint32_t n_values, uint32_t n_rows) {
  tally->count = shoal_alloc_zero(n_values, sizeof *tally->count);
  tally->values = shoal_alloc(n_values, sizeof *tally->values);
  tally->by_count = shoal_alloc_zero((size_t)n_rows + n_values + 2, sizeof *tally->by_count);
  return tally->count && tally->values && tally->by_count;
}

static void reset_tally(shoal_tally *tally) {
  free(tally->count);
  free(tally->values);
  free(tally->by_count);
}

typedef struct frequent {
  uint32_t n_rows, value;
} frequent;

static int most_frequent_first(const void *a, const void *b) {
  const frequent *x = a, *y = b;
  if (x->n_rows != y->n_rows) return x->n_rows > y->n_rows ? -1 : 1;
  return (x->value > y->value) - (x->value < y->value);
}

static bool rank_values(const shoal_theta *t, shoal_theta_aim *aim) {
  frequent *ranked = shoal_alloc(aim->column->n_values, sizeof *ranked);
  if (!ranked) return false;
  for (uint32_t v = 0; v < aim->column->n_values; v++) ranked[v] = (frequent){0, v};
  for (uint32_t r = 0; r < t->n_rows; r++) ranked[shoal_column_code(aim->column, r)].n_rows++;
  qsort(ranked, aim->column->n_values, sizeof *ranked, most_frequent_first);
  for (uint32_t i = 0; i < aim->column->n_values; i++)
    if (!shoal_column_missing(aim->column, ranked[i].value) && ranked[i].n_rows)
      aim->by_frequency[aim->n_known++] = ranked[i].value;
  free(ranked);
  return true;
}

/* A small class has a spread below 2^33. */
static void find_least_spreads(shoal_theta_aim *aim) {
  for (uint64_t n = 0; n <= SHOAL_SMALL_CLASS; n++) {
    uint64_t low = 0, high = UINT64_C(1) << 33;
    while (low < high) {
      uint64_t spread = low + (high - low) / 2;
      if (shoal_theta_reached(aim->demand, (shoal_variance){spread, n})) high = spread;
      else low = spread + 1;
    }
    aim->least_spread[n] = low;
  }
}

static bool init_aim(shoal_theta *t, const shoal_demand *demand) {
  shoal_theta_aim *aim = &t->aims[t->n_aims++];
  aim->demand = demand;
  aim->tracked = demand->sensitive;
  aim->column = t->task->fit->tracked->columns[demand->sensitive];
  uint32_t n = aim->column->n_values;
  aim->by_frequency = shoal_alloc(n, sizeof *aim->by_frequency);
  aim->slots = shoal_alloc(t->n_rows, sizeof *aim->slots);
  aim->value_of = shoal_alloc(t->n_rows, sizeof *aim->value_of);
  aim->first = shoal_alloc((size_t)n + 1, sizeof *aim->first);
  aim->cursor = shoal_alloc_zero(n, sizeof *aim->cursor);
  aim->known = shoal_alloc(t->n_classes, sizeof *aim->known);
  aim->least_spread = shoal_alloc(SHOAL_SMALL_CLASS + 1, sizeof *aim->least_spread);
  if (aim->least_spread) find_least_spreads(aim);
  return aim->known && aim->least_spread && aim->by_frequency && aim->slots && aim->value_of &&
         aim->first && aim->cursor && init_tally(&aim->here, n, t->n_rows) &&
         init_tally(&aim->there, n, t->n_rows) && rank_values(t, aim);
}

/* Theta demands become aims, all others the rest. */
static bool part_demands(shoal_theta *t) {
  const shoal_fit *fit = t->task->fit;
  t->rest = *fit;
  t->rest.n_others = 0;
  t->rest.others = shoal_alloc(fit->n_others, sizeof *t->rest.others);
  t->aims = shoal_alloc_zero(fit->n_others, sizeof *t->aims);
  if (!t->rest.others || !t->aims) return false;
  for (size_t i = 0; i < fit->n_others; i++) {
    if (!shoal_demand_is_theta(fit->others[i])) t->rest.others[t->rest.n_others++] = fit->others[i];
    else if (!init_aim(t, fit->others[i])) return false;
  }
  t->has_rest = t->rest.n_counts || t->rest.n_others;
  return true;
}

static bool allocate(shoal_theta *t) {
  t->rows = shoal_alloc(t->n_rows, sizeof *t->rows);
  t->class_of = shoal_alloc(t->n_rows, sizeof *t->class_of);
  t->trial = shoal_alloc(t->n_rows, sizeof *t->trial);
  t->first = shoal_alloc((size_t)t->n_classes + 1, sizeof *t->first);
  t->extent = shoal_alloc((size_t)t->n_classes * t->axes->n, sizeof *t->extent);
  t->fails = shoal_alloc_zero(t->n_classes, 1);
  t->rests = shoal_alloc_zero(t->n_classes, 1);
  t->closed = shoal_alloc_zero(t->n_classes, 1);
  t->tried = shoal_alloc_zero(t->n_classes, 1);
  t->seen = shoal_alloc_zero(t->n_classes, sizeof *t->seen);
  return t->rows && t->class_of && t->trial && t->first && t->extent && t->fails && t->rests &&
         t->closed && t->tried && t->seen;
}

shoal_status shoal_theta_init(shoal_theta *t, const shoal_cluster_task *task,
                              const shoal_partition *partition, shoal_error *error) {
  *t = (shoal_theta){.task = task,
                     .axes = task->axes,
                     .n_rows = (uint32_t)task->axes->n_rows,
                     .n_classes = partition->n_clusters};
  t->noise.n_columns = task->fit->tracked->n_columns;
  bool ok = allocate(t) && part_demands(t);
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = shoal_judging_init(&t->judging, &t->rest, error);
  if (status == SHOAL_OK) status = shoal_judging_init(&t->all, task->fit, error);
  if (status == SHOAL_OK) status = deal_rows(t, partition, error);
  if (status == SHOAL_OK && t->failed) status = shoal_fail_memory(error);
  if (status != SHOAL_OK) shoal_theta_reset(t);
  return status;
}

void shoal_theta_reset(shoal_theta *t) {
  for (size_t a = 0; t->aims && a < t->n_aims; a++) {
    shoal_theta_aim *aim = &t->aims[a];
    free(aim->by_frequency);
    free(aim->slots);
    free(aim->value_of);
    free(aim->first);
    free(aim->cursor);
    free(aim->known);
    free(aim->least_spread);
    reset_tally(&aim->here);
    reset_tally(&aim->there);
  }
  free(t->aims);
  if (t->judging.fit) shoal_judging_reset(&t->judging);
  if (t->all.fit) shoal_judging_reset(&t->all);
  free(t->rest.others);
  free(t->rows);
  free(t->class_of);
  free(t->trial);
  free(t->first);
  free(t->extent);
  free(t->fails);
  free(t->rests);
  free(t->closed);
  free(t->tried);
  free(t->seen);
  free(t->spans);
  free(t->offers);
  shoal_noise_reset(&t->noise);
  memset(t, 0, sizeof *t);
}
