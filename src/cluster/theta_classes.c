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

/* ------------------------------------------------------------ histograms */

/* One row more, not noted in `values`. */
static void put(shoal_value_histogram *histogram, uint32_t value) {
  if (value == SHOAL_NONE) return;
  uint32_t count = histogram->count[value]++;
  if (count) histogram->by_count[count]--;
  histogram->by_count[count + 1]++;
  if (count + 1 > histogram->top) histogram->top = count + 1;
  histogram->n_rows++;
}

static void take(shoal_value_histogram *histogram, uint32_t value) {
  if (value == SHOAL_NONE) return;
  uint32_t count = histogram->count[value]--;
  histogram->by_count[count]--;
  if (count > 1) histogram->by_count[count - 1]++;
  histogram->n_rows--;
}

void shoal_value_histogram_add(shoal_value_histogram *histogram, uint32_t value) {
  if (value != SHOAL_NONE && !histogram->count[value])
    histogram->values[histogram->n_values++] = value;
  put(histogram, value);
}

void shoal_value_histogram_fill(shoal_value_histogram *histogram, const shoal_theta *t,
                                const shoal_theta_target *target, uint32_t c) {
  for (uint32_t slot = t->first[c]; slot < t->first[c + 1]; slot++)
    shoal_value_histogram_add(histogram, target->value_of[slot]);
}

void shoal_value_histogram_clear(shoal_value_histogram *histogram) {
  for (uint32_t i = 0; i < histogram->n_values; i++) histogram->count[histogram->values[i]] = 0;
  memset(histogram->by_count, 0, ((size_t)histogram->top + 1) * sizeof *histogram->by_count);
  histogram->n_values = histogram->top = 0;
  histogram->n_rows = 0;
}

/* 1 + 4 + ... + x^2 */
static shoal_uint128 squares_up_to(uint64_t x) {
  if (x < UINT64_C(1) << 20) return x * (x + 1) * (2 * x + 1) / 6;
  return (shoal_uint128)x * (x + 1) * (2 * (shoal_uint128)x + 1) / 6;
}

shoal_variance shoal_value_histogram_variance(const shoal_value_histogram *histogram) {
  shoal_uint128 sum = 0, squares = 0;
  uint64_t weight = 0; /* the last one assigned: the most frequent value has weight 1 */
  for (uint32_t count = histogram->top; count; count--) {
    uint64_t n = histogram->by_count[count];
    if (!n) continue;
    shoal_uint128 weights = (shoal_uint128)n * (2 * weight + n + 1) / 2;
    sum += weights * count;
    squares += (squares_up_to(weight + n) - squares_up_to(weight)) * count;
    weight += n;
  }
  return (shoal_variance){histogram->n_rows * squares - sum * sum, histogram->n_rows};
}

shoal_variance shoal_value_histogram_swapped(shoal_value_histogram *histogram, uint32_t out,
                                             uint32_t in) {
  uint32_t top = histogram->top;
  take(histogram, out);
  put(histogram, in);
  shoal_variance variance = shoal_value_histogram_variance(histogram);
  take(histogram, in);
  put(histogram, out);
  histogram->top = top;
  return variance;
}

/* ------------------------------------------------------------ classes */

/* Recomputes target->cached of a class. */
static void refresh_cached(const shoal_theta *t, shoal_theta_target *target, uint32_t c) {
  shoal_value_histogram *histogram = &target->here;
  shoal_theta_cached *cached = &target->cached[c];
  shoal_value_histogram_fill(histogram, t, target, c);
  *cached = (shoal_theta_cached){.variance = shoal_value_histogram_variance(histogram)};
  cached->passes = shoal_theta_reached(target->requirement, cached->variance);
  shoal_value_histogram_clear(histogram);
}

void shoal_theta_refresh(shoal_theta *t, uint32_t c) {
  const uint32_t *rows = shoal_theta_rows(t, c);
  uint32_t size = shoal_theta_size(t, c);
  shoal_box_of(t->axes, shoal_theta_box(t, c), rows, size);
  t->rests[c] = t->has_rest ? shoal_requirement_checker_satisfies(&t->checker, rows, size)
                            : size >= t->rest.k;
  t->fails[c] = !t->rests[c];
  for (size_t a = 0; a < t->n_targets; a++) {
    refresh_cached(t, &t->targets[a], c);
    t->fails[c] = t->fails[c] || !t->targets[a].cached[c].passes;
  }
  t->failed = t->failed || t->checker.failed;
}

static void refresh_all(shoal_theta *t) {
  for (size_t a = 0; a < t->n_targets; a++) {
    const shoal_column *column = t->targets[a].column;
    for (uint32_t slot = 0; slot < t->n_rows; slot++) {
      uint32_t code = shoal_column_code(column, t->rows[slot]);
      t->targets[a].value_of[slot] = shoal_column_missing(column, code) ? SHOAL_NONE : code;
    }
  }
  memset(t->tried, 0, t->n_classes);
  for (uint32_t c = 0; c < t->n_classes; c++) {
    for (uint32_t slot = t->first[c]; slot < t->first[c + 1]; slot++) t->class_of[slot] = c;
    shoal_theta_refresh(t, c);
  }
}

shoal_status shoal_theta_regroup(shoal_theta *t, const uint32_t *group, uint32_t n_groups,
                                 shoal_error *error) {
  shoal_noise *noise = &t->noise;
  for (uint32_t slot = 0; slot < t->n_rows; slot++) t->class_of[slot] = group[t->class_of[slot]];
  shoal_sort_by_group(t->rows, t->n_rows, t->class_of, n_groups, t->first, t->trial);
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
  shoal_sort_by_group(NULL, t->n_rows, t->class_of, t->n_classes, t->first, t->rows);
  refresh_all(t);
  return SHOAL_OK;
}

/* ------------------------------------------------------------ memory */

static bool init_histogram(shoal_theta *t, shoal_value_histogram *histogram, uint32_t n_values) {
  return SHOAL_ARENA_ZEROED(&t->arena, histogram->count, n_values) &&
         SHOAL_ARENA_ZEROED(&t->arena, histogram->by_count, (size_t)t->n_rows + n_values + 2) &&
         SHOAL_ARENA_ARRAY(&t->arena, histogram->values, n_values);
}

/* Fills target->by_frequency. */
static bool rank_values(shoal_theta *t, shoal_theta_target *target) {
  uint32_t n = target->column->n_values;
  uint64_t *keys; /* (UINT32_MAX - rows) << 32 | value */
  if (!SHOAL_ARENA_ARRAY(&t->arena, keys, n)) return false;
  for (uint32_t v = 0; v < n; v++) keys[v] = (uint64_t)UINT32_MAX << 32 | v;
  for (uint32_t r = 0; r < t->n_rows; r++)
    keys[shoal_column_code(target->column, r)] -= UINT64_C(1) << 32;
  shoal_sort_u64(keys, n);
  for (uint32_t i = 0; i < n; i++) {
    if (shoal_column_missing(target->column, (uint32_t)keys[i])) continue;
    target->by_frequency[target->n_values++] = (uint32_t)keys[i];
    target->n_known += keys[i] >> 32 < UINT32_MAX;
  }
  return true;
}

static bool init_target(shoal_theta *t, const shoal_requirement *requirement) {
  shoal_theta_target *target = &t->targets[t->n_targets++];
  const shoal_column *column = t->task->required->tracked->columns[requirement->sensitive];
  uint32_t n = column->n_values;
  *target = (shoal_theta_target){
      .requirement = requirement, .column = column, .tracked = requirement->sensitive};
  if (!SHOAL_ARENA_ZEROED(&t->arena, target->cursor, n) ||
      !SHOAL_ARENA_ARRAY(&t->arena, target->by_frequency, n) ||
      !SHOAL_ARENA_ARRAY(&t->arena, target->slots, t->n_rows) ||
      !SHOAL_ARENA_ARRAY(&t->arena, target->value_of, t->n_rows) ||
      !SHOAL_ARENA_ARRAY(&t->arena, target->first, (size_t)n + 1) ||
      !SHOAL_ARENA_ARRAY(&t->arena, target->cached, t->n_classes))
    return false;
  return init_histogram(t, &target->here, n) && init_histogram(t, &target->there, n) &&
         rank_values(t, target);
}

bool shoal_theta_rest(const shoal_cluster_requirements *required,
                      shoal_cluster_requirements *rest) {
  *rest = *required;
  rest->n_others = 0;
  rest->monotone = true;
  rest->others = shoal_alloc(required->n_others, sizeof *rest->others);
  if (!rest->others) return false;
  for (size_t i = 0; i < required->n_others; i++) {
    if (shoal_requirement_is_theta(required->others[i])) continue;
    rest->others[rest->n_others++] = required->others[i];
    rest->monotone = rest->monotone && shoal_requirement_is_monotone(required->others[i]);
  }
  return true;
}

/* Divides the requirements into targets and the rest. */
static bool init_requirements(shoal_theta *t) {
  const shoal_cluster_requirements *required = t->task->required;
  if (!SHOAL_ARENA_ARRAY(&t->arena, t->targets, required->n_others) ||
      !shoal_theta_rest(required, &t->rest))
    return false;
  for (size_t i = 0; i < required->n_others; i++)
    if (shoal_requirement_is_theta(required->others[i]) && !init_target(t, required->others[i]))
      return false;
  t->has_rest = t->rest.n_counts || t->rest.n_others;
  return true;
}

static bool allocate(shoal_theta *t) {
  size_t n = t->n_classes;
  return SHOAL_ARENA_ZEROED(&t->arena, t->fails, n) && SHOAL_ARENA_ZEROED(&t->arena, t->rests, n) &&
         SHOAL_ARENA_ZEROED(&t->arena, t->closed, n) &&
         SHOAL_ARENA_ZEROED(&t->arena, t->tried, n) && SHOAL_ARENA_ZEROED(&t->arena, t->seen, n) &&
         SHOAL_ARENA_ARRAY(&t->arena, t->rows, t->n_rows) &&
         SHOAL_ARENA_ARRAY(&t->arena, t->class_of, t->n_rows) &&
         SHOAL_ARENA_ARRAY(&t->arena, t->trial, t->n_rows) &&
         SHOAL_ARENA_ARRAY(&t->arena, t->first, n + 1) &&
         SHOAL_ARENA_ARRAY(&t->arena, t->box, n * t->axes->n_spans);
}

shoal_status shoal_theta_init(shoal_theta *t, const shoal_cluster_task *task,
                              const shoal_partition *partition, shoal_error *error) {
  *t = (shoal_theta){.task = task,
                     .axes = task->axes,
                     .n_rows = (uint32_t)task->axes->n_rows,
                     .n_classes = partition->n_clusters,
                     .noise.n_columns = task->required->tracked->n_columns};
  bool ok = allocate(t) && init_requirements(t);
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = shoal_requirement_checker_init(&t->checker, &t->rest, error);
  if (status == SHOAL_OK) status = shoal_requirement_checker_init(&t->all, task->required, error);
  if (status == SHOAL_OK) status = sort_rows(t, partition, error);
  if (status == SHOAL_OK && t->failed) status = shoal_fail_memory(error);
  if (status != SHOAL_OK) shoal_theta_reset(t);
  return status;
}

void shoal_theta_reset(shoal_theta *t) {
  shoal_requirement_checker_reset(&t->checker);
  shoal_requirement_checker_reset(&t->all);
  free(t->rest.others);
  shoal_noise_reset(&t->noise);
  shoal_arena_reset(&t->arena);
}
