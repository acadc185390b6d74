/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/theta_classes: the classes that theta works on, and the histograms of sensitive values in
 * them. A variance depends only on how many values occur how often, since weights follow from that
 * order (Khan et al. 2020, section 4; docs/reading-the-papers.md R17). The cost of evaluating a
 * swap is the largest count in the class.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "cluster/theta.h"

/* ------------------------------------------------------------ tallies */

/* One row more, not noted in `values`. */
static void put(shoal_tally *tally, uint32_t value) {
  if (value == SHOAL_NO_VALUE) return;
  uint32_t count = tally->count[value]++;
  if (count) tally->by_count[count]--;
  tally->by_count[count + 1]++;
  if (count + 1 > tally->top) tally->top = count + 1;
  tally->n_rows++;
}

static void take(shoal_tally *tally, uint32_t value) {
  if (value == SHOAL_NO_VALUE) return;
  uint32_t count = tally->count[value]--;
  tally->by_count[count]--;
  if (count > 1) tally->by_count[count - 1]++;
  tally->n_rows--;
}

void shoal_tally_add(shoal_tally *tally, uint32_t value) {
  if (value != SHOAL_NO_VALUE && !tally->count[value]) tally->values[tally->n_values++] = value;
  put(tally, value);
}

void shoal_tally_fill(shoal_tally *tally, const shoal_theta *t, const shoal_theta_aim *aim,
                      uint32_t c) {
  for (uint32_t slot = t->first[c]; slot < t->first[c + 1]; slot++)
    shoal_tally_add(tally, aim->value_of[slot]);
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

/* The spread of a small class, in 64 bits. */
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
  uint64_t weight = 0; /* the last one assigned: the most frequent value has weight 1 */
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
  take(tally, out);
  put(tally, in);
  shoal_variance variance = shoal_tally_variance(tally);
  take(tally, in);
  put(tally, out);
  tally->top = top;
  return variance;
}

shoal_variance shoal_tally_renewed(shoal_tally *tally, uint32_t out) {
  take(tally, out);
  tally->by_count[1]++;
  tally->n_rows++;
  shoal_variance variance = shoal_tally_variance(tally);
  tally->by_count[1]--;
  tally->n_rows--;
  put(tally, out);
  return variance;
}

/* ------------------------------------------------------------ classes */

/* Recomputes aim->known of a class. */
static void refresh_known(const shoal_theta *t, shoal_theta_aim *aim, uint32_t c) {
  shoal_tally *tally = &aim->here;
  shoal_theta_known *known = &aim->known[c];
  shoal_tally_fill(tally, t, aim, c);
  *known = (shoal_theta_known){.variance = shoal_tally_variance(tally)};
  known->passes = shoal_aim_reached(aim, known->variance);
  for (uint32_t i = 0; i < tally->n_values; i++) known->has |= UINT64_C(1) << tally->values[i] % 64;
  shoal_tally_clear(tally);
}

void shoal_theta_refresh(shoal_theta *t, uint32_t c) {
  const uint32_t *rows = shoal_theta_rows(t, c);
  uint32_t size = shoal_theta_size(t, c);
  shoal_extent_of(t->axes, shoal_theta_extent(t, c), rows, size);
  t->rests[c] = t->has_rest ? shoal_judging_fits(&t->judging, rows, size) : size >= t->rest.k;
  t->fails[c] = !t->rests[c];
  for (size_t a = 0; a < t->n_aims; a++) {
    refresh_known(t, &t->aims[a], c);
    t->fails[c] = t->fails[c] || !t->aims[a].known[c].passes;
  }
  t->failed = t->failed || t->judging.failed;
}

static void refresh_all(shoal_theta *t) {
  for (size_t a = 0; a < t->n_aims; a++) {
    const shoal_column *column = t->aims[a].column;
    for (uint32_t slot = 0; slot < t->n_rows; slot++) {
      uint32_t code = shoal_column_code(column, t->rows[slot]);
      t->aims[a].value_of[slot] = shoal_column_missing(column, code) ? SHOAL_NO_VALUE : code;
    }
  }
  memset(t->tried, 0, t->n_classes);
  for (uint32_t c = 0; c < t->n_classes; c++) {
    for (uint32_t slot = t->first[c]; slot < t->first[c + 1]; slot++) t->class_of[slot] = c;
    shoal_theta_refresh(t, c);
  }
}

void shoal_theta_sort(const uint32_t *items, uint32_t n, const uint32_t *group, uint32_t n_groups,
                      uint32_t *first, uint32_t *sorted) {
  memset(first, 0, ((size_t)n_groups + 1) * sizeof *first);
  for (uint32_t i = 0; i < n; i++) first[group[i] + 1]++;
  for (uint32_t g = 0; g < n_groups; g++) first[g + 1] += first[g];
  for (uint32_t i = 0; i < n; i++) sorted[first[group[i]]++] = items ? items[i] : i;
  for (uint32_t g = n_groups; g > 0; g--) first[g] = first[g - 1];
  first[0] = 0;
}

shoal_status shoal_theta_regroup(shoal_theta *t, const uint32_t *group, uint32_t n_groups,
                                 shoal_error *error) {
  shoal_noise *noise = &t->noise.rows;
  for (uint32_t slot = 0; slot < t->n_rows; slot++) t->class_of[slot] = group[t->class_of[slot]];
  shoal_theta_sort(t->rows, t->n_rows, t->class_of, n_groups, t->first, t->trial);
  uint32_t *rows = t->rows;
  t->rows = t->trial;
  t->trial = rows;
  for (uint32_t i = 0; i < noise->n; i++) noise->cluster[i] = group[noise->cluster[i]];
  for (uint32_t c = 0; c < t->n_classes; c++) t->closed[group[c]] = t->closed[c];
  t->n_classes = n_groups;
  refresh_all(t);
  for (uint32_t c = 0; c < n_groups; c++) t->fails[c] = t->fails[c] && !t->closed[c];
  return t->failed ? shoal_fail_memory(error) : SHOAL_OK;
}

/* Sorts the rows by class, with the classes in the order of theta_order.c. */
static shoal_status sort_rows(shoal_theta *t, const shoal_partition *partition,
                              shoal_error *error) {
  uint32_t *number;
  if (!SHOAL_ARENA_ARRAY(&t->arena, number, t->n_classes)) return shoal_fail_memory(error);
  SHOAL_TRY(shoal_theta_order(t->task, partition, number, error));
  for (uint32_t r = 0; r < t->n_rows; r++) t->class_of[r] = number[partition->cluster_of_row[r]];
  shoal_theta_sort(NULL, t->n_rows, t->class_of, t->n_classes, t->first, t->rows);
  refresh_all(t);
  return SHOAL_OK;
}

uint32_t *shoal_noise_add(shoal_noise_list *noise, uint32_t cluster, uint32_t like) {
  shoal_noise *rows = &noise->rows;
  size_t n = (size_t)rows->n + 1, width = rows->n_columns;
  if (rows->n == UINT32_MAX ||
      !shoal_grow(&rows->cluster, &noise->cluster_capacity, n, sizeof *rows->cluster) ||
      !shoal_grow(&rows->like, &noise->like_capacity, n, sizeof *rows->like) ||
      !shoal_grow(&rows->values, &noise->value_capacity, n * width, sizeof *rows->values))
    return NULL;
  rows->cluster[rows->n] = cluster;
  rows->like[rows->n] = like;
  return rows->values + rows->n++ * width;
}

/* ------------------------------------------------------------ memory */

static void *zeroed(shoal_theta *t, size_t n, size_t size) {
  void *memory = shoal_arena_alloc(&t->arena, n, size);
  if (memory) memset(memory, 0, n * size);
  return memory;
}

static bool init_tally(shoal_theta *t, shoal_tally *tally, uint32_t n_values) {
  tally->count = zeroed(t, n_values, sizeof *tally->count);
  tally->by_count = zeroed(t, (size_t)t->n_rows + n_values + 2, sizeof *tally->by_count);
  return tally->count && tally->by_count && SHOAL_ARENA_ARRAY(&t->arena, tally->values, n_values);
}

/* Fills aim->by_frequency. */
static bool rank_values(shoal_theta *t, shoal_theta_aim *aim) {
  uint32_t n = aim->column->n_values;
  uint64_t *keys; /* (UINT32_MAX - rows) << 32 | value */
  if (!SHOAL_ARENA_ARRAY(&t->arena, keys, n)) return false;
  for (uint32_t v = 0; v < n; v++) keys[v] = (uint64_t)UINT32_MAX << 32 | v;
  for (uint32_t r = 0; r < t->n_rows; r++)
    keys[shoal_column_code(aim->column, r)] -= UINT64_C(1) << 32;
  shoal_sort_keys(keys, n);
  for (uint32_t i = 0; i < n && keys[i] >> 32 < UINT32_MAX; i++)
    if (!shoal_column_missing(aim->column, (uint32_t)keys[i]))
      aim->by_frequency[aim->n_known++] = (uint32_t)keys[i];
  return true;
}

/* The spread of a small class is below 2^33. */
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
  const shoal_column *column = t->task->fit->tracked->columns[demand->sensitive];
  uint32_t n = column->n_values;
  *aim = (shoal_theta_aim){.demand = demand, .column = column, .tracked = demand->sensitive};
  aim->cursor = zeroed(t, n, sizeof *aim->cursor);
  if (!aim->cursor || !SHOAL_ARENA_ARRAY(&t->arena, aim->by_frequency, n) ||
      !SHOAL_ARENA_ARRAY(&t->arena, aim->slots, t->n_rows) ||
      !SHOAL_ARENA_ARRAY(&t->arena, aim->value_of, t->n_rows) ||
      !SHOAL_ARENA_ARRAY(&t->arena, aim->first, (size_t)n + 1) ||
      !SHOAL_ARENA_ARRAY(&t->arena, aim->known, t->n_classes) ||
      !SHOAL_ARENA_ARRAY(&t->arena, aim->least_spread, SHOAL_SMALL_CLASS + 1))
    return false;
  find_least_spreads(aim);
  return init_tally(t, &aim->here, n) && init_tally(t, &aim->there, n) && rank_values(t, aim);
}

bool shoal_theta_rest(const shoal_fit *fit, shoal_fit *rest) {
  *rest = *fit;
  rest->n_others = 0;
  rest->monotone = true;
  rest->others = shoal_alloc(fit->n_others, sizeof *rest->others);
  if (!rest->others) return false;
  for (size_t i = 0; i < fit->n_others; i++) {
    if (shoal_demand_is_theta(fit->others[i])) continue;
    rest->others[rest->n_others++] = fit->others[i];
    rest->monotone = rest->monotone && fit->others[i]->type->monotone(fit->others[i]);
  }
  return true;
}

/* Divides the demands into aims and the rest. */
static bool init_demands(shoal_theta *t) {
  const shoal_fit *fit = t->task->fit;
  if (!SHOAL_ARENA_ARRAY(&t->arena, t->aims, fit->n_others) || !shoal_theta_rest(fit, &t->rest))
    return false;
  for (size_t i = 0; i < fit->n_others; i++)
    if (shoal_demand_is_theta(fit->others[i]) && !init_aim(t, fit->others[i])) return false;
  t->has_rest = t->rest.n_counts || t->rest.n_others;
  return true;
}

static bool allocate(shoal_theta *t) {
  size_t n = t->n_classes;
  t->fails = zeroed(t, n, sizeof *t->fails);
  t->rests = zeroed(t, n, sizeof *t->rests);
  t->closed = zeroed(t, n, sizeof *t->closed);
  t->tried = zeroed(t, n, sizeof *t->tried);
  t->seen = zeroed(t, n, sizeof *t->seen);
  return t->fails && t->rests && t->closed && t->tried && t->seen &&
         SHOAL_ARENA_ARRAY(&t->arena, t->rows, t->n_rows) &&
         SHOAL_ARENA_ARRAY(&t->arena, t->class_of, t->n_rows) &&
         SHOAL_ARENA_ARRAY(&t->arena, t->trial, t->n_rows) &&
         SHOAL_ARENA_ARRAY(&t->arena, t->first, n + 1) &&
         SHOAL_ARENA_ARRAY(&t->arena, t->extent, n * t->axes->n);
}

shoal_status shoal_theta_init(shoal_theta *t, const shoal_cluster_task *task,
                              const shoal_partition *partition, shoal_error *error) {
  *t = (shoal_theta){.task = task,
                     .axes = task->axes,
                     .n_rows = (uint32_t)task->axes->n_rows,
                     .n_classes = partition->n_clusters,
                     .noise.rows.n_columns = task->fit->tracked->n_columns};
  bool ok = allocate(t) && init_demands(t);
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = shoal_judging_init(&t->judging, &t->rest, error);
  if (status == SHOAL_OK) status = shoal_judging_init(&t->all, task->fit, error);
  if (status == SHOAL_OK) status = sort_rows(t, partition, error);
  if (status == SHOAL_OK && t->failed) status = shoal_fail_memory(error);
  if (status != SHOAL_OK) shoal_theta_reset(t);
  return status;
}

void shoal_theta_reset(shoal_theta *t) {
  shoal_judging_reset(&t->judging);
  shoal_judging_reset(&t->all);
  free(t->rest.others);
  shoal_noise_reset(&t->noise.rows);
  shoal_arena_reset(&t->arena);
}
