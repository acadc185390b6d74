/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/fit: see fit.h. */
#include "cluster/fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { MOST_WEIGHT = 1 << 20 };

void shoal_fit_reset(shoal_fit *fit) {
  for (size_t d = 0; fit->counts && d < fit->n_counts; d++) free(fit->counts[d].group_of);
  free(fit->counts);
  free(fit->others);
  memset(fit, 0, sizeof *fit);
}

/* ------------------------------------------------------------ counts */

static shoal_status add_count(shoal_fit *fit, const shoal_demand *demand,
                              const shoal_distinct *distinct, const shoal_table *table,
                              shoal_error *error) {
  const shoal_column *column = fit->tracked->columns[demand->sensitive];
  shoal_count *count = &fit->counts[fit->n_counts++];
  *count =
      (shoal_count){.column = column,
                    .sensitive = demand->sensitive,
                    .n_groups = distinct->group_of ? distinct->n_groups : column->n_values,
                    .least = distinct->least > UINT32_MAX ? UINT32_MAX : (uint32_t)distinct->least,
                    .group_of = shoal_alloc(column->n_values, sizeof *count->group_of)};
  if (!count->group_of) return shoal_fail_memory(error);
  for (uint32_t v = 0; v < column->n_values; v++)
    count->group_of[v] = shoal_column_missing(column, v) ? SHOAL_NO_GROUP
                         : distinct->group_of            ? distinct->group_of[v]
                                                         : v;
  const shoal_spread *groups = demand->type->groups ? demand->type->groups(demand) : NULL;
  shoal_spread spread = {0};
  if (!groups) SHOAL_TRY(shoal_spread_count(table, column, &spread, error));
  count->most = shoal_spread_max_groups(groups ? groups : &spread, count->least);
  free(spread.descending);
  return SHOAL_OK;
}

static shoal_status sort_demands(shoal_fit *fit, const shoal_table *table, shoal_error *error) {
  fit->monotone = true;
  for (size_t i = 0; i < fit->demands->n_items; i++) {
    const shoal_demand *demand = &fit->demands->items[i];
    shoal_distinct distinct;
    if (demand->type->is_size) {
      if (demand->count[0] > fit->k) fit->k = demand->count[0];
    } else if (demand->type->distinct && demand->type->distinct(demand, &distinct)) {
      SHOAL_TRY(add_count(fit, demand, &distinct, table, error));
    } else {
      fit->others[fit->n_others++] = demand;
      fit->monotone = fit->monotone && demand->type->monotone(demand);
    }
  }
  return SHOAL_OK;
}

/* Integers in the proportion of the given weights, or of 1 / (number of groups). */
static void weigh(shoal_fit *fit, shoal_fit_weights weights) {
  unsigned scale = 0;
  uint64_t product = 1;
  for (size_t d = 0; d < fit->n_counts; d++) {
    unsigned own = fit->tracked->sensitive[fit->counts[d].sensitive].attribute->weight.scale;
    if (own > scale) scale = own;
    product = product > MOST_WEIGHT ? product : product * fit->counts[d].n_groups;
  }
  for (size_t d = 0; d < fit->n_counts; d++) {
    shoal_count *count = &fit->counts[d];
    int64_t weight = 1;
    if (weights == SHOAL_FIT_INVERSE)
      weight = (int64_t)((product > MOST_WEIGHT ? MOST_WEIGHT : product) / count->n_groups);
    else if (!shoal_decimal_rescale(fit->tracked->sensitive[count->sensitive].attribute->weight,
                                    scale, &weight) ||
             weight > MOST_WEIGHT)
      weight = MOST_WEIGHT;
    count->weight = weight > 0 ? (uint32_t)weight : 1;
  }
}

shoal_status shoal_fit_init(shoal_fit *fit, const shoal_demands *demands,
                            const shoal_tracked *tracked, const shoal_table *table,
                            shoal_fit_weights weights, shoal_error *error) {
  *fit = (shoal_fit){.demands = demands,
                     .tracked = tracked,
                     .n_rows = table->n_records,
                     .k = 1,
                     .counts = shoal_alloc_zero(demands->n_items, sizeof *fit->counts),
                     .others = shoal_alloc_zero(demands->n_items, sizeof *fit->others)};
  shoal_status status =
      fit->counts && fit->others ? sort_demands(fit, table, error) : shoal_fail_memory(error);
  if (status == SHOAL_OK) weigh(fit, weights);
  else shoal_fit_reset(fit);
  return status;
}

uint64_t shoal_fit_most_clusters(const shoal_fit *fit) {
  uint64_t most = fit->n_rows / fit->k;
  for (size_t d = 0; d < fit->n_counts; d++)
    if (fit->counts[d].most < most) most = fit->counts[d].most;
  return most;
}

/* ------------------------------------------------------------ groups seen */

void shoal_seen_reset(shoal_seen *seen) {
  for (size_t d = 0; seen->stamp && d < seen->fit->n_counts; d++) free(seen->stamp[d]);
  free(seen->stamp);
  memset(seen, 0, sizeof *seen);
}

bool shoal_seen_init(shoal_seen *seen, const shoal_fit *fit) {
  *seen = (shoal_seen){fit, shoal_alloc_zero(fit->n_counts, sizeof *seen->stamp), 0};
  bool ok = seen->stamp != NULL;
  for (size_t d = 0; ok && d < fit->n_counts; d++) {
    seen->stamp[d] = shoal_alloc_zero(fit->counts[d].n_groups, sizeof **seen->stamp);
    ok = seen->stamp[d] != NULL;
  }
  if (!ok) shoal_seen_reset(seen);
  return ok;
}

void shoal_seen_clear(shoal_seen *seen) {
  if (++seen->round) return;
  for (size_t d = 0; d < seen->fit->n_counts; d++)
    memset(seen->stamp[d], 0, seen->fit->counts[d].n_groups * sizeof **seen->stamp);
  seen->round = 1;
}

/* ------------------------------------------------------------ judging rows */

void shoal_judging_reset(shoal_judging *judging) {
  shoal_seen_reset(&judging->seen);
  free(judging->values);
  free(judging->n_rows);
  free(judging->scratch);
  free(judging->counted);
  memset(judging, 0, sizeof *judging);
}

shoal_status shoal_judging_init(shoal_judging *judging, const shoal_fit *fit, shoal_error *error) {
  *judging = (shoal_judging){.fit = fit};
  return shoal_seen_init(&judging->seen, fit) ? SHOAL_OK : shoal_fail_memory(error);
}

static bool has_enough(shoal_judging *judging, size_t d, const uint32_t *rows, size_t n,
                       shoal_added added) {
  const shoal_count *count = &judging->fit->counts[d];
  uint32_t distinct = 0;
  shoal_seen_clear(&judging->seen);
  for (size_t i = 0; i < n + added.n && distinct < count->least; i++) {
    uint32_t group =
        i < n ? shoal_count_group(count, rows[i])
              : count->group_of[added.values[(i - n) * added.n_columns + count->sensitive]];
    distinct += shoal_seen_add(&judging->seen, d, group);
  }
  return distinct >= count->least;
}

/* Histogram of a tracked column over the rows; the scratch memory begins at `offset`. */
static void tally(shoal_judging *judging, size_t tracked, const uint32_t *rows, size_t n,
                  shoal_added added, size_t offset, shoal_value_view *view) {
  const shoal_column *column = judging->fit->tracked->columns[tracked];
  uint32_t *values = judging->values + offset;
  uint64_t *counts = judging->n_rows + offset;
  for (size_t i = 0; i < n; i++) values[i] = shoal_column_code(column, rows[i]);
  for (size_t i = 0; i < added.n; i++) values[n + i] = added.values[i * added.n_columns + tracked];
  uint32_t kept =
      shoal_count_places(values, (uint32_t)(n + added.n), (shoal_span){0, column->n_values - 1},
                         judging->scratch, judging->counted);
  for (uint32_t i = 0; i < kept; i++) {
    values[i] = judging->counted[i].place;
    counts[i] = judging->counted[i].n;
  }
  *view = (shoal_value_view){
      .values = values, .n_rows = counts, .n = kept, .is_missing = column->is_missing};
}

/* Room for two histograms of n rows. */
static bool make_room(shoal_judging *j, size_t n) {
  size_t n_scratch = SHOAL_SPARSE_PLACES * (n + 1); /* of shoal_count_places */
  return shoal_grow(&j->values, &j->value_capacity, 2 * n, sizeof *j->values) &&
         shoal_grow(&j->n_rows, &j->row_capacity, 2 * n, sizeof *j->n_rows) &&
         shoal_grow(&j->scratch, &j->scratch_capacity, n_scratch, sizeof *j->scratch) &&
         shoal_grow(&j->counted, &j->counted_capacity, n, sizeof *j->counted);
}

static uint32_t distinct_values(const shoal_value_view *view) {
  uint32_t distinct = 0, value;
  uint64_t n_rows;
  for (size_t at = 0; shoal_view_next(view, &at, &value, &n_rows);) distinct++;
  return distinct;
}

static bool others_hold(shoal_judging *judging, const uint32_t *rows, size_t n, shoal_added added) {
  const shoal_fit *fit = judging->fit;
  if (!fit->n_others) return true;
  if (!make_room(judging, n + added.n)) {
    judging->failed = true;
    return false;
  }
  size_t tallied = SHOAL_NO_ATTRIBUTE;
  shoal_class_view view = {.n_rows = n + added.n};
  for (size_t i = 0; i < fit->n_others; i++) {
    const shoal_demand *demand = fit->others[i];
    if (demand->sensitive != SHOAL_NO_ATTRIBUTE && demand->sensitive != tallied) {
      tallied = demand->sensitive;
      tally(judging, tallied, rows, n, added, 0, &view.values);
      view.n_distinct = distinct_values(&view.values);
    }
    if (demand->guard != SHOAL_NO_ATTRIBUTE)
      tally(judging, demand->guard, rows, n, added, n + added.n, &view.guards);
    if (!demand->type->holds(demand, &view)) return false;
  }
  return true;
}

bool shoal_judging_others(shoal_judging *judging, const uint32_t *rows, size_t n) {
  return others_hold(judging, rows, n, (shoal_added){0});
}

bool shoal_judging_fits_with(shoal_judging *judging, const uint32_t *rows, size_t n,
                             shoal_added added) {
  if (n + added.n < judging->fit->k) return false;
  for (size_t d = 0; d < judging->fit->n_counts; d++)
    if (!has_enough(judging, d, rows, n, added)) return false;
  return others_hold(judging, rows, n, added);
}

bool shoal_judging_fits(shoal_judging *judging, const uint32_t *rows, size_t n) {
  return shoal_judging_fits_with(judging, rows, n, (shoal_added){0});
}
