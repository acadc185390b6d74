/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/requirements: counts and other models of a policy; sets of groups; judging rows. */
#include "cluster/requirements.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"

enum { MAX_WEIGHT = 1 << 20 };

void shoal_cluster_requirements_reset(shoal_cluster_requirements *required) {
  shoal_arena_reset(&required->arena);
  memset(required, 0, sizeof *required);
}

/* ------------------------------------------------------------ counts */

/* `tracked`: the column whose values are counted. */
static shoal_status add_count(shoal_cluster_requirements *required,
                              const shoal_requirement *requirement, size_t tracked,
                              const shoal_distinct *distinct, const shoal_table *table,
                              shoal_error *error) {
  const shoal_column *column = required->tracked->columns[tracked];
  shoal_distinct_requirement *count = &required->counts[required->n_counts++];
  *count = (shoal_distinct_requirement){
      .column = column,
      .tracked = tracked,
      .n_groups = distinct->group_of ? distinct->n_groups : column->n_values,
      .min_distinct = distinct->min > UINT32_MAX ? UINT32_MAX : (uint32_t)distinct->min,
      .group_of = shoal_arena_alloc(&required->arena, column->n_values, sizeof *count->group_of)};
  if (!count->group_of) return shoal_fail_memory(error);
  for (uint32_t v = 0; v < column->n_values; v++)
    count->group_of[v] = shoal_column_missing(column, v) ? SHOAL_NONE
                         : distinct->group_of            ? distinct->group_of[v]
                                                         : v;
  const shoal_value_frequencies *groups =
      requirement->type->groups ? requirement->type->groups(requirement) : NULL;
  shoal_value_frequencies spread = {0};
  if (!groups) SHOAL_TRY(shoal_value_frequencies_count(table, column, &spread, error));
  count->max_clusters =
      shoal_value_frequencies_max_groups(groups ? groups : &spread, count->min_distinct);
  free(spread.descending);
  return SHOAL_OK;
}

static shoal_status sort_requirements(shoal_cluster_requirements *required,
                                      const shoal_table *table, shoal_error *error) {
  required->monotone = true;
  for (size_t i = 0; i < required->requirements->n_items; i++) {
    const shoal_requirement *requirement = &required->requirements->items[i];
    shoal_distinct distinct;
    if (shoal_requirement_is_size(requirement)) {
      if (requirement->count[0] > required->k) required->k = requirement->count[0];
      distinct = (shoal_distinct){.min = requirement->count[0]};
      if (requirement->counts_people)
        SHOAL_TRY(add_count(required, requirement, requirement->people, &distinct, table, error));
    } else if (requirement->type->distinct && requirement->type->distinct(requirement, &distinct)) {
      SHOAL_TRY(add_count(required, requirement, requirement->sensitive, &distinct, table, error));
    } else {
      required->others[required->n_others++] = requirement;
      required->monotone = required->monotone && shoal_requirement_is_monotone(requirement);
    }
  }
  return SHOAL_OK;
}

/* The policy's weight of the attribute that is counted; that of people is 1. */
static shoal_decimal weight_of(const shoal_cluster_requirements *required,
                               const shoal_distinct_requirement *count) {
  const shoal_tracked *tracked = required->tracked;
  return count->tracked < tracked->n_sensitive
             ? tracked->sensitive[count->tracked].attribute->weight
             : (shoal_decimal){1, 0};
}

/* Integers in the proportion of the given weights, or of 1 / (number of groups). */
static void weigh(shoal_cluster_requirements *required, shoal_requirement_weights weights) {
  unsigned scale = 0;
  uint64_t product = 1;
  for (size_t d = 0; d < required->n_counts; d++) {
    unsigned own = weight_of(required, &required->counts[d]).scale;
    if (own > scale) scale = own;
    product = product > MAX_WEIGHT ? product : product * required->counts[d].n_groups;
  }
  for (size_t d = 0; d < required->n_counts; d++) {
    shoal_distinct_requirement *count = &required->counts[d];
    int64_t weight = 1;
    if (weights == SHOAL_WEIGHTS_INVERSE)
      weight = (int64_t)((product > MAX_WEIGHT ? MAX_WEIGHT : product) / count->n_groups);
    else if (!shoal_decimal_rescale(weight_of(required, count), scale, &weight) ||
             weight > MAX_WEIGHT)
      weight = MAX_WEIGHT;
    count->weight = weight > 0 ? (uint32_t)weight : 1;
  }
}

shoal_status shoal_cluster_requirements_init(shoal_cluster_requirements *required,
                                             const shoal_requirements *requirements,
                                             const shoal_tracked *tracked, const shoal_table *table,
                                             shoal_requirement_weights weights,
                                             shoal_error *error) {
  *required = (shoal_cluster_requirements){
      .requirements = requirements, .tracked = tracked, .n_rows = table->n_records, .k = 1};
  bool ok = SHOAL_ARENA_ARRAY(&required->arena, required->counts, requirements->n_items) &&
            SHOAL_ARENA_ARRAY(&required->arena, required->others, requirements->n_items);
  shoal_status status = ok ? sort_requirements(required, table, error) : shoal_fail_memory(error);
  if (status == SHOAL_OK) weigh(required, weights);
  else shoal_cluster_requirements_reset(required);
  return status;
}

uint64_t shoal_cluster_requirements_max_clusters(const shoal_cluster_requirements *required) {
  uint64_t max = required->n_rows / required->k;
  for (size_t d = 0; d < required->n_counts; d++)
    if (required->counts[d].max_clusters < max) max = required->counts[d].max_clusters;
  return max;
}

/* ------------------------------------------------------------ kinds of rows */

uint32_t shoal_split_kinds(uint32_t *kind_of_row, uint64_t n_rows, const shoal_column *column,
                           const uint32_t *group_of) {
  shoal_ids ids;
  if (!shoal_ids_init(&ids, 1024)) return SHOAL_NONE;
  uint32_t kind = 0;
  for (uint64_t row = 0; row < n_rows && kind != SHOAL_NONE; row++) {
    uint32_t value = shoal_column_code(column, row);
    if (group_of) value = group_of[value];
    kind = shoal_ids_insert(&ids, (uint64_t)kind_of_row[row] << 32 | value);
    kind_of_row[row] = kind;
  }
  uint32_t n_kinds = kind == SHOAL_NONE ? SHOAL_NONE : ids.n_ids;
  shoal_ids_reset(&ids);
  return n_kinds;
}

/* ------------------------------------------------------------ groups seen */

bool shoal_seen_init(shoal_seen *seen, const shoal_cluster_requirements *required,
                     shoal_arena *arena) {
  *seen = (shoal_seen){.required = required};
  if (!SHOAL_ARENA_ARRAY(arena, seen->stamp, required->n_counts)) return false;
  for (size_t d = 0; d < required->n_counts; d++)
    if (!SHOAL_ARENA_ZEROED(arena, seen->stamp[d], required->counts[d].n_groups)) return false;
  return true;
}

void shoal_seen_clear(shoal_seen *seen) {
  if (++seen->round) return;
  for (size_t d = 0; d < seen->required->n_counts; d++)
    memset(seen->stamp[d], 0, seen->required->counts[d].n_groups * sizeof **seen->stamp);
  seen->round = 1;
}

/* ------------------------------------------------------------ judging rows */

void shoal_requirement_checker_reset(shoal_requirement_checker *checker) {
  shoal_arena_reset(&checker->arena);
  memset(checker, 0, sizeof *checker);
}

shoal_status shoal_requirement_checker_init(shoal_requirement_checker *checker,
                                            const shoal_cluster_requirements *required,
                                            shoal_error *error) {
  *checker = (shoal_requirement_checker){.required = required};
  if (shoal_seen_init(&checker->seen, required, &checker->arena)) return SHOAL_OK;
  shoal_requirement_checker_reset(checker);
  return shoal_fail_memory(error);
}

/* Rows that are judged as one class. */
typedef struct judged {
  const uint32_t *rows;
  const uint32_t *counts; /* rows that each stands for; NULL: one, and noise rows may be added */
  size_t n;
  shoal_added added;
} judged;

static uint64_t count_rows(const judged *class) {
  uint64_t n_rows = 0;
  if (!class->counts) return class->n + class->added.n;
  for (size_t i = 0; i < class->n; i++) n_rows += class->counts[i];
  return n_rows;
}

/* Distinct groups of count d, counted up to the minimum. */
static uint32_t count_groups(shoal_requirement_checker *checker, size_t d, const judged *class) {
  const shoal_distinct_requirement *count = &checker->required->counts[d];
  const shoal_added *added = &class->added;
  uint32_t distinct = 0;
  shoal_seen_clear(&checker->seen);
  for (size_t i = 0; i < class->n + added->n && distinct < count->min_distinct; i++) {
    const uint32_t *values = added->values + (i - class->n) * added->n_columns;
    uint32_t group = i < class->n ? shoal_distinct_requirement_group(count, class->rows[i])
                                  : count->group_of[values[count->tracked]];
    distinct += shoal_seen_add(&checker->seen, d, group);
  }
  return distinct;
}

/* Histogram of a column: the distinct values, ascending, and their rows. Returns their number. */
static uint32_t count_values(shoal_requirement_checker *checker, size_t tracked,
                             const judged *class, uint32_t *values, uint64_t *n_rows) {
  const shoal_column *column = checker->required->tracked->columns[tracked];
  const shoal_added *added = &class->added;
  for (size_t i = 0; i < class->n; i++) values[i] = shoal_column_code(column, class->rows[i]);
  for (size_t i = 0; i < added->n; i++)
    values[class->n + i] = added->values[i * added->n_columns + tracked];
  uint32_t kept = shoal_count_positions(values, (uint32_t)(class->n + added->n),
                                        (shoal_span){0, column->n_values - 1}, checker->scratch,
                                        checker->counted);
  for (uint32_t i = 0; i < kept; i++) {
    values[i] = checker->counted[i].position;
    n_rows[i] = checker->counted[i].n;
  }
  return kept;
}

/* The same for rows that each stand for several. */
static uint32_t weigh_values(const shoal_requirement_checker *checker, size_t tracked,
                             const judged *class, uint32_t *values, uint64_t *n_rows) {
  const shoal_column *column = checker->required->tracked->columns[tracked];
  uint64_t *keys = n_rows; /* value << 32 | index; overwritten from the front */
  uint32_t kept = 0;
  for (size_t i = 0; i < class->n; i++)
    keys[i] = (uint64_t)shoal_column_code(column, class->rows[i]) << 32 | i;
  shoal_sort_u64(keys, class->n);
  for (size_t i = 0; i < class->n; i++) {
    uint32_t value = (uint32_t)(keys[i] >> 32), count = class->counts[(uint32_t)keys[i]];
    if (!kept || values[kept - 1] != value) {
      values[kept] = value;
      n_rows[kept++] = 0;
    }
    n_rows[kept - 1] += count;
  }
  return kept;
}

enum { SENSITIVE, GUARDS, PEOPLE, HISTOGRAMS };

static shoal_value_view view_values(shoal_requirement_checker *checker, size_t tracked,
                                    const judged *class, size_t histogram) {
  uint32_t *values = checker->values + histogram * checker->room;
  uint64_t *n_rows = checker->n_rows + histogram * checker->room;
  uint32_t n = class->counts ? weigh_values(checker, tracked, class, values, n_rows)
                             : count_values(checker, tracked, class, values, n_rows);
  return (shoal_value_view){.values = values,
                            .n_rows = n_rows,
                            .n = n,
                            .is_missing = checker->required->tracked->columns[tracked]->is_missing};
}

/* Room for the histograms of n rows; twice as much each time, since smaller arrays are not freed.
 */
static bool make_room(shoal_requirement_checker *j, size_t n) {
  if (n <= j->room) return true;
  size_t room = n > SIZE_MAX / 16 ? n : 2 * n;
  bool ok = SHOAL_ARENA_ARRAY(&j->arena, j->values, HISTOGRAMS * room) &&
            SHOAL_ARENA_ARRAY(&j->arena, j->n_rows, HISTOGRAMS * room) &&
            SHOAL_ARENA_ARRAY(&j->arena, j->scratch, SHOAL_SPARSE_POSITIONS * (room + 1)) &&
            SHOAL_ARENA_ARRAY(&j->arena, j->counted, room);
  j->room = ok ? room : 0;
  j->failed = j->failed || !ok;
  return ok;
}

static uint32_t distinct_values(const shoal_value_view *view) {
  uint32_t distinct = 0, value;
  uint64_t n_rows;
  for (size_t at = 0; shoal_view_next(view, &at, &value, &n_rows);) distinct++;
  return distinct;
}

/* The column whose histogram the requirement needs. */
static size_t counted_column(const shoal_requirement *requirement) {
  return requirement->pairs ? requirement->pair_column : requirement->sensitive;
}

/* The class as requirement i of `others` sees it. Histograms of the one before are used again. */
static void view_class(shoal_requirement_checker *checker, size_t i, const judged *class,
                       shoal_class_view *view) {
  const shoal_requirement *const *others = checker->required->others, *own = others[i];
  view->n_rows = count_rows(class);
  size_t counted = counted_column(own);
  if (counted != SHOAL_NO_ATTRIBUTE && (i == 0 || counted != counted_column(others[i - 1]))) {
    view->values = view_values(checker, counted, class, SENSITIVE);
    if (own->pairs) { /* the values that people have */
      view->values.value_of = own->pairs->value_of;
      view->values.is_missing = checker->required->tracked->columns[own->sensitive]->is_missing;
    }
    view->n_distinct = distinct_values(&view->values);
  }
  if (own->counts_people) view->n_people = view_values(checker, own->people, class, PEOPLE).n;
  if (own->pairs) view->n_rows = own->type->of_people ? view->n_people : view->values.n;
  if (own->guard != SHOAL_NO_ATTRIBUTE)
    view->guards = view_values(checker, own->guard, class, GUARDS);
}

static bool others_hold(shoal_requirement_checker *checker, const judged *class) {
  const shoal_cluster_requirements *required = checker->required;
  shoal_class_view view = {0};
  if (required->n_others && !make_room(checker, class->n + class->added.n)) return false;
  for (size_t i = 0; i < required->n_others; i++) {
    view_class(checker, i, class, &view);
    if (!required->others[i]->type->holds(required->others[i], &view)) return false;
  }
  return true;
}

bool shoal_requirement_checker_others(shoal_requirement_checker *checker, const uint32_t *rows,
                                      size_t n) {
  return others_hold(checker, &(judged){.rows = rows, .n = n});
}

bool shoal_requirement_checker_satisfies_with(shoal_requirement_checker *checker,
                                              const uint32_t *rows, size_t n, shoal_added added) {
  const judged class = {.rows = rows, .n = n, .added = added};
  if (n + added.n < checker->required->k) return false;
  for (size_t d = 0; d < checker->required->n_counts; d++)
    if (count_groups(checker, d, &class) < checker->required->counts[d].min_distinct) return false;
  return others_hold(checker, &class);
}

bool shoal_requirement_checker_satisfies(shoal_requirement_checker *checker, const uint32_t *rows,
                                         size_t n) {
  return shoal_requirement_checker_satisfies_with(checker, rows, n, (shoal_added){0});
}

/* ------------------------------------------------------------ deficits */

/* How far a class that violates a requirement is from satisfying it. */
static double deficit_of(const shoal_requirement *requirement, const shoal_class_view *view) {
  const shoal_model_type *type = requirement->type;
  double deficit, gap = type->required(requirement) - type->reached(requirement, view);
  if (type->deficit) deficit = type->deficit(requirement, view);
  else deficit = (type->at_most ? -gap : gap) * (double)view->n_rows;
  return deficit > 0.01 ? deficit : 0.01;
}

double shoal_requirement_checker_deficit(shoal_requirement_checker *checker, const uint32_t *rows,
                                         const uint32_t *counts, size_t n) {
  const shoal_cluster_requirements *required = checker->required;
  const judged class = {.rows = rows, .counts = counts, .n = n};
  uint64_t n_rows = count_rows(&class);
  double deficit = n_rows < required->k ? (double)(required->k - n_rows) : 0;
  shoal_class_view view = {0};
  if (n == 0) return 0;
  for (size_t d = 0; d < required->n_counts; d++)
    deficit += required->counts[d].min_distinct - count_groups(checker, d, &class);
  if (required->n_others && !make_room(checker, n)) return (double)n;
  for (size_t i = 0; i < required->n_others; i++) {
    view_class(checker, i, &class, &view);
    if (!required->others[i]->type->holds(required->others[i], &view))
      deficit += deficit_of(required->others[i], &view);
  }
  return deficit;
}
