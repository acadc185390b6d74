/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/people: households: every class has rows of at least K distinct households
 * (privacy.households); and the pairs of a value and a person that proportions of people count.
 * The first is monotone, as a number of distinct values is. Proportions of people are not, even if
 * no row is suppressed: of {1v, 2v, 3a, 4b} and {3c, 4d, 5v, 6v}, half of the four people have v;
 * of the six people of both, four do.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "model/types.h"
#include "table/whole.h"

static bool holds(const shoal_requirement *requirement, const shoal_class_view *view) {
  return view->n_people >= requirement->count[0];
}

static double reached(const shoal_requirement *requirement, const shoal_class_view *view) {
  (void)requirement;
  return (double)view->n_people;
}

static const shoal_parameter parameters[] = {
    {.name = "households", .kind = SHOAL_PARAMETER_COUNT},
    {.name = NULL},
};

const shoal_model_type shoal_model_households = {
    .name = "households",
    .parameters_help = "households",
    .summary = "each class has at least this number of households",
    .parameters = parameters,
    .needs = SHOAL_NEEDS_SIZE,
    .monotone = shoal_is_monotone,
    .holds = holds,
    .reached = reached,
    .required = shoal_required_count,
};

/* ------------------------------------------------------------ pairs */

void shoal_pairs_free(shoal_pairs *pairs) {
  if (!pairs) return;
  free(pairs->column.codes);
  free(pairs->value_of);
  free(pairs);
}

static uint32_t first_missing(const shoal_column *column) {
  uint32_t v = 0;
  while (v < column->n_values && !shoal_column_missing(column, v)) v++;
  return v;
}

/* The pair of each row, numbered by first appearance, into `codes`. False: no memory. */
static bool number_pairs(const shoal_table *table, const shoal_column *values,
                         const shoal_column *person, shoal_ids *ids, uint32_t *codes) {
  uint32_t missing = first_missing(values);
  for (uint64_t row = 0; row < table->n_rows; row++) {
    uint32_t value = shoal_column_code(values, row);
    if (shoal_column_missing(values, value)) value = missing;
    codes[row] = shoal_ids_insert(ids, (uint64_t)value << 32 | shoal_column_code(person, row));
    if (codes[row] == SHOAL_NONE) return false;
  }
  return true;
}

/* Numbers pairs by value, then by person. False: no memory. */
static bool sort_pairs(shoal_pairs *pairs, uint64_t n_rows, const shoal_ids *ids) {
  uint32_t n = ids->n_ids, *codes = pairs->column.codes;
  uint64_t *sorted = shoal_alloc(n, sizeof *sorted);
  uint32_t *rank_of = shoal_alloc(n, sizeof *rank_of);
  pairs->value_of = shoal_alloc(n, sizeof *pairs->value_of);
  bool ok = sorted && rank_of && pairs->value_of;
  for (uint32_t i = 0; ok && i < n; i++) sorted[i] = ids->of_id[i];
  if (ok) shoal_sort_u64(sorted, n);
  for (uint32_t i = 0; ok && i < n; i++) {
    pairs->value_of[i] = (uint32_t)(sorted[i] >> 32);
    rank_of[shoal_ids_find(ids, sorted[i])] = i;
  }
  for (uint64_t row = 0; ok && row < n_rows; row++) codes[row] = rank_of[codes[row]];
  free(sorted);
  free(rank_of);
  return ok;
}

shoal_pairs *shoal_pairs_new(const shoal_table *table, const shoal_column *values,
                             const shoal_column *person) {
  shoal_pairs *pairs = shoal_alloc_zero(1, sizeof *pairs);
  if (!pairs) return NULL;
  shoal_ids ids = {0};
  pairs->column = (shoal_column){.name = values->name,
                                 .code_size = sizeof(uint32_t),
                                 .codes = shoal_alloc((size_t)table->n_rows, sizeof(uint32_t))};
  bool ok = pairs->column.codes && shoal_ids_init(&ids, 1024) &&
            number_pairs(table, values, person, &ids, pairs->column.codes) &&
            sort_pairs(pairs, table->n_rows, &ids);
  pairs->column.n_values = ids.n_ids;
  shoal_ids_reset(&ids);
  if (ok) return pairs;
  shoal_pairs_free(pairs);
  return NULL;
}

uint64_t *shoal_requirement_count_values(const shoal_requirement *requirement,
                                         const shoal_table *table, const shoal_column *column) {
  const shoal_pairs *pairs = requirement->pairs;
  if (shoal_whole_has(table, column)) return shoal_whole_rows(table, column);
  if (!pairs) return shoal_count_values(table, column);
  uint64_t *people = shoal_alloc_zero(column->n_values, sizeof *people);
  for (uint32_t i = 0; people && i < pairs->column.n_values; i++) people[pairs->value_of[i]]++;
  return people;
}
