/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/joint: the dictionaries of both releases become common numbers, the columns are folded
 * into one number per tuple of sensitive values, and the tuples of each class are sorted and
 * counted.
 */
#include "attack/joint.h"

#include <string.h>

#include "base/intern.h"
#include "group/grouper.h"

/* The attacked release and the earlier one. */
typedef struct sides {
  const shoal_attack_case *attacked;
  const shoal_frequency_set *frequency[2];
  size_t n_rows[2];
  uint32_t *(*common)[2]; /* by sensitive attribute, side and code: the value's common number */
  shoal_arena scratch;
} sides;

static const shoal_column *column_of(const sides *both, int side, size_t s) {
  return shoal_table_column(both->frequency[side]->table,
                            both->attacked->sensitive[s].column->name);
}

/* Common numbers for the values of both releases. */
static bool unite_values(sides *both, size_t s, uint32_t *n_values) {
  shoal_values values;
  uint32_t **common = both->common[s];
  const shoal_attribute *attribute = both->attacked->sensitive[s].attribute;
  if (!shoal_values_init(&values, shoal_policy_equality(both->attacked->policy, attribute)))
    return false;
  bool ok = true;
  for (int side = 0; ok && side < 2; side++) {
    const shoal_column *column = column_of(both, side, s);
    ok = SHOAL_ARENA_ARRAY(&both->scratch, common[side], column->n_values) != NULL;
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
static bool fold(const sides *both, size_t s, uint32_t n_values, uint32_t *codes,
                 shoal_grouper *grouper, uint32_t *ids) {
  size_t at = 0;
  for (int side = 0; side < 2; side++) {
    const shoal_column *column = column_of(both, side, s);
    for (size_t r = 0; r < both->n_rows[side]; r++)
      codes[at++] = both->common[s][side][shoal_column_code(column, r)];
  }
  return shoal_grouper_fold(grouper, at, NULL, codes, n_values, ids);
}

static bool number_sensitive_tuples(shoal_joint *joint, sides *both) {
  size_t n = both->n_rows[0] + both->n_rows[1];
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  uint32_t *codes;
  bool ok = SHOAL_ARENA_ARRAY(&both->scratch, codes, n) &&
            SHOAL_ARENA_ARRAY(&joint->arena, joint->sensitive_tuple_of_row, n) &&
            shoal_grouper_start(&grouper, n);
  for (size_t s = 0; ok && s < joint->n_sensitive; s++)
    ok = unite_values(both, s, &joint->n_values[s]) &&
         fold(both, s, joint->n_values[s], codes, &grouper, joint->sensitive_tuple_of_row);
  if (ok) joint->n_sensitive_tuples = shoal_grouper_ids(&grouper, n, joint->sensitive_tuple_of_row);
  shoal_grouper_reset(&grouper);
  return ok && joint->n_sensitive_tuples != SHOAL_NONE;
}

/* The values of each sensitive tuple. */
static bool decode(shoal_joint *joint, const sides *both) {
  for (size_t s = 0; s < joint->n_sensitive; s++) {
    if (!SHOAL_ARENA_ARRAY(&joint->arena, joint->value_of[s], joint->n_sensitive_tuples))
      return false;
    size_t at = 0;
    for (int side = 0; side < 2; side++) {
      const shoal_column *column = column_of(both, side, s);
      for (size_t r = 0; r < both->n_rows[side]; r++, at++) {
        uint32_t code = shoal_column_code(column, r);
        joint->value_of[s][joint->sensitive_tuple_of_row[at]] =
            shoal_column_missing(column, code) ? SHOAL_NONE : both->common[s][side][code];
      }
    }
  }
  return true;
}

/* Items in the order of keys below n_keys, stable; begin, if not NULL, receives n_keys + 1. */
static bool counting_sort(shoal_arena *scratch, const uint32_t *keys, const uint32_t *items,
                          size_t n, uint32_t n_keys, uint32_t *sorted, size_t *begin) {
  size_t *start;
  if (!SHOAL_ARENA_ZEROED(scratch, start, (size_t)n_keys + 1)) return false;
  for (size_t i = 0; i < n; i++) start[keys[items ? items[i] : i] + 1]++;
  for (uint32_t k = 0; k < n_keys; k++) start[k + 1] += start[k];
  if (begin) memcpy(begin, start, ((size_t)n_keys + 1) * sizeof *start);
  for (size_t i = 0; i < n; i++) {
    uint32_t item = items ? items[i] : (uint32_t)i;
    sorted[start[keys[item]]++] = item;
  }
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

static bool count_sensitive_tuples(shoal_joint *joint, sides *both, int side) {
  shoal_sensitive_tuple_counts *counts = &joint->counts[side];
  const shoal_frequency_set *frequency = both->frequency[side];
  const uint32_t *tuples = joint->sensitive_tuple_of_row + (side ? both->n_rows[0] : 0);
  size_t n = both->n_rows[side], *begin;
  uint32_t n_classes = frequency->base.n_classes, *by_sensitive_tuple, *rows;
  shoal_arena *scratch = &both->scratch;
  if (!SHOAL_ARENA_ARRAY(scratch, by_sensitive_tuple, n) || !SHOAL_ARENA_ARRAY(scratch, rows, n) ||
      !SHOAL_ARENA_ARRAY(scratch, begin, (size_t)n_classes + 1) ||
      !SHOAL_ARENA_ARRAY(&joint->arena, counts->start, (size_t)n_classes + 1) ||
      !SHOAL_ARENA_ARRAY(&joint->arena, counts->sensitive_tuple, n) ||
      !SHOAL_ARENA_ARRAY(&joint->arena, counts->n_rows, n) ||
      !counting_sort(scratch, tuples, NULL, n, joint->n_sensitive_tuples, by_sensitive_tuple,
                     NULL) ||
      !counting_sort(scratch, frequency->tuple_of_row, by_sensitive_tuple, n, n_classes, rows,
                     begin))
    return false;
  add_up(counts, frequency, tuples, rows, begin);
  return true;
}

shoal_status shoal_joint_build(shoal_joint *joint, const shoal_attack_case *attacked,
                               const shoal_previous_release *previous, shoal_error *error) {
  memset(joint, 0, sizeof *joint);
  joint->n_sensitive = attacked->n_sensitive;
  sides both = {.attacked = attacked,
                .frequency = {attacked->frequency, previous->frequency},
                .n_rows = {(size_t)attacked->table->n_rows, (size_t)previous->table->n_rows}};
  bool ok = SHOAL_ARENA_ZEROED(&both.scratch, both.common, joint->n_sensitive) &&
            SHOAL_ARENA_ZEROED(&joint->arena, joint->value_of, joint->n_sensitive) &&
            SHOAL_ARENA_ZEROED(&joint->arena, joint->n_values, joint->n_sensitive) &&
            number_sensitive_tuples(joint, &both) && decode(joint, &both) &&
            count_sensitive_tuples(joint, &both, 0) && count_sensitive_tuples(joint, &both, 1);
  shoal_arena_reset(&both.scratch);
  if (ok) return SHOAL_OK;
  shoal_joint_reset(joint);
  return shoal_fail_memory(error);
}

void shoal_joint_reset(shoal_joint *joint) {
  shoal_arena_reset(&joint->arena);
  memset(joint, 0, sizeof *joint);
}
