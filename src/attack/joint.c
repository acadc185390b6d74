/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/joint: the dictionaries of both releases become common numbers, the columns are folded
 * into one number per tuple of sensitive values, and the tuples of each class are sorted and
 * counted.
 */
#include "attack/joint.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "group/grouper.h"

/* The attacked release and the earlier one. */
typedef struct sides {
  const shoal_attack_case *attacked;
  const shoal_frequency_set *frequency[2];
  size_t n_rows[2];
} sides;

static const shoal_column *column_of(const sides *both, int side, size_t s) {
  return shoal_table_column(both->frequency[side]->table,
                            both->attacked->sensitive[s].column->name);
}

/* Common numbers for the values of both releases. */
static bool unite_values(const sides *both, size_t s, uint32_t **common, uint32_t *n_values) {
  shoal_values values;
  const shoal_attribute *attribute = both->attacked->sensitive[s].attribute;
  if (!shoal_values_init(&values, shoal_policy_equality(both->attacked->policy, attribute)))
    return false;
  bool ok = true;
  for (int side = 0; ok && side < 2; side++) {
    const shoal_column *column = column_of(both, side, s);
    common[side] = shoal_alloc(column->n_values, sizeof **common);
    ok = common[side] != NULL;
    for (uint32_t v = 0; ok && v < column->n_values; v++) {
      size_t size;
      const char *bytes = shoal_column_value(column, v, &size);
      common[side][v] = shoal_values_intern(&values, (shoal_label){bytes, size});
      ok = common[side][v] != SHOAL_NONE;
    }
  }
  *n_values = values.spellings.n_strings;
  shoal_values_reset(&values);
  return ok;
}

/* Folds one sensitive attribute of all rows into the keys. */
static bool fold(const sides *both, size_t s, uint32_t *const *common, uint32_t n_values,
                 uint32_t *codes, shoal_grouper *grouper, uint32_t *ids) {
  size_t at = 0;
  for (int side = 0; side < 2; side++) {
    const shoal_column *column = column_of(both, side, s);
    for (size_t r = 0; r < both->n_rows[side]; r++)
      codes[at++] = common[side][shoal_column_code(column, r)];
  }
  return shoal_grouper_fold(grouper, at, NULL, codes, n_values, ids);
}

static bool number_sensitive_tuples(shoal_joint *joint, const sides *both, uint32_t *(*common)[2]) {
  size_t n = both->n_rows[0] + both->n_rows[1];
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  uint32_t *codes = shoal_alloc(n, sizeof *codes);
  joint->sensitive_tuple_of_row = shoal_alloc(n, sizeof *joint->sensitive_tuple_of_row);
  bool ok = codes && joint->sensitive_tuple_of_row && shoal_grouper_start(&grouper, n);
  for (size_t s = 0; ok && s < joint->n_sensitive; s++)
    ok = unite_values(both, s, common[s], &joint->n_values[s]) &&
         fold(both, s, common[s], joint->n_values[s], codes, &grouper,
              joint->sensitive_tuple_of_row);
  if (ok) joint->n_sensitive_tuples = shoal_grouper_ids(&grouper, n, joint->sensitive_tuple_of_row);
  free(codes);
  shoal_grouper_reset(&grouper);
  return ok && joint->n_sensitive_tuples != SHOAL_NONE;
}

/* The values of each sensitive tuple. */
static bool decode(shoal_joint *joint, const sides *both, uint32_t *(*common)[2]) {
  for (size_t s = 0; s < joint->n_sensitive; s++) {
    joint->value_of[s] = shoal_alloc(joint->n_sensitive_tuples, sizeof **joint->value_of);
    if (!joint->value_of[s]) return false;
    size_t at = 0;
    for (int side = 0; side < 2; side++) {
      const shoal_column *column = column_of(both, side, s);
      for (size_t r = 0; r < both->n_rows[side]; r++, at++) {
        uint32_t code = shoal_column_code(column, r);
        joint->value_of[s][joint->sensitive_tuple_of_row[at]] =
            shoal_column_missing(column, code) ? SHOAL_NONE : common[s][side][code];
      }
    }
  }
  return true;
}

/* Items in the order of keys below n_keys, stable; begin, if not NULL, receives n_keys + 1. */
static bool counting_sort(const uint32_t *keys, const uint32_t *items, size_t n, uint32_t n_keys,
                          uint32_t *sorted, size_t *begin) {
  size_t *start = shoal_alloc_zero((size_t)n_keys + 1, sizeof *start);
  if (!start) return false;
  for (size_t i = 0; i < n; i++) start[keys[items ? items[i] : i] + 1]++;
  for (uint32_t k = 0; k < n_keys; k++) start[k + 1] += start[k];
  if (begin) memcpy(begin, start, ((size_t)n_keys + 1) * sizeof *start);
  for (size_t i = 0; i < n; i++) {
    uint32_t item = items ? items[i] : (uint32_t)i;
    sorted[start[keys[item]]++] = item;
  }
  free(start);
  return true;
}

/* `rows` is sorted by class, then by sensitive tuple: adds up runs of equal ones. */
static void add_up(shoal_sensitive_tuple_counts *counts, const shoal_frequency_set *frequency,
                   const uint32_t *sensitive_tuple_of_row, const uint32_t *rows,
                   const size_t *begin) {
  size_t at = 0;
  for (uint32_t c = 0; c < frequency->base.n_classes; c++) {
    counts->start[c] = at;
    for (size_t i = begin[c]; i < begin[c + 1]; i++) {
      uint32_t sensitive_tuple = sensitive_tuple_of_row[rows[i]];
      if (at == counts->start[c] || counts->sensitive_tuple[at - 1] != sensitive_tuple) {
        counts->sensitive_tuple[at] = sensitive_tuple;
        counts->n_rows[at++] = 0;
      }
      counts->n_rows[at - 1] += shoal_table_count(frequency->table, rows[i]);
    }
  }
  counts->start[frequency->base.n_classes] = at;
}

static bool count_sensitive_tuples(shoal_sensitive_tuple_counts *counts,
                                   const shoal_frequency_set *frequency, size_t n,
                                   const uint32_t *sensitive_tuple_of_row,
                                   uint32_t n_sensitive_tuples) {
  uint32_t n_classes = frequency->base.n_classes;
  uint32_t *by_sensitive_tuple = shoal_alloc(n, sizeof *by_sensitive_tuple);
  uint32_t *rows = shoal_alloc(n, sizeof *rows);
  size_t *begin = shoal_alloc((size_t)n_classes + 1, sizeof *begin);
  counts->start = shoal_alloc((size_t)n_classes + 1, sizeof *counts->start);
  counts->sensitive_tuple = shoal_alloc(n, sizeof *counts->sensitive_tuple);
  counts->n_rows = shoal_alloc(n, sizeof *counts->n_rows);
  bool ok = by_sensitive_tuple && rows && begin && counts->start && counts->sensitive_tuple &&
            counts->n_rows &&
            counting_sort(sensitive_tuple_of_row, NULL, n, n_sensitive_tuples, by_sensitive_tuple,
                          NULL) &&
            counting_sort(frequency->tuple_of_row, by_sensitive_tuple, n, n_classes, rows, begin);
  if (ok) add_up(counts, frequency, sensitive_tuple_of_row, rows, begin);
  free(by_sensitive_tuple);
  free(rows);
  free(begin);
  return ok;
}

static bool build(shoal_joint *joint, const sides *both, uint32_t *(*common)[2]) {
  joint->value_of = shoal_alloc_zero(joint->n_sensitive, sizeof *joint->value_of);
  joint->n_values = shoal_alloc_zero(joint->n_sensitive, sizeof *joint->n_values);
  return joint->value_of && joint->n_values && number_sensitive_tuples(joint, both, common) &&
         decode(joint, both, common) &&
         count_sensitive_tuples(&joint->counts[0], both->frequency[0], both->n_rows[0],
                                joint->sensitive_tuple_of_row, joint->n_sensitive_tuples) &&
         count_sensitive_tuples(&joint->counts[1], both->frequency[1], both->n_rows[1],
                                joint->sensitive_tuple_of_row + both->n_rows[0],
                                joint->n_sensitive_tuples);
}

shoal_status shoal_joint_build(shoal_joint *joint, const shoal_attack_case *attacked,
                               const shoal_previous_release *previous, shoal_error *error) {
  memset(joint, 0, sizeof *joint);
  joint->n_sensitive = attacked->n_sensitive;
  sides both = {.attacked = attacked,
                .frequency = {attacked->frequency, previous->frequency},
                .n_rows = {(size_t)attacked->table->n_rows, (size_t)previous->table->n_rows}};
  uint32_t *(*common)[2] = shoal_alloc_zero(joint->n_sensitive, sizeof *common);
  bool ok = common && build(joint, &both, common);
  for (size_t s = 0; common && s < joint->n_sensitive; s++) {
    free(common[s][0]);
    free(common[s][1]);
  }
  free(common);
  if (ok) return SHOAL_OK;
  shoal_joint_reset(joint);
  return shoal_fail_memory(error);
}

void shoal_joint_reset(shoal_joint *joint) {
  for (size_t s = 0; joint->value_of && s < joint->n_sensitive; s++) free(joint->value_of[s]);
  for (int side = 0; side < 2; side++) {
    free(joint->counts[side].start);
    free(joint->counts[side].sensitive_tuple);
    free(joint->counts[side].n_rows);
  }
  free(joint->value_of);
  free(joint->n_values);
  free(joint->sensitive_tuple_of_row);
  memset(joint, 0, sizeof *joint);
}
