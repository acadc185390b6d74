/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/people_risk: homogeneity judged by people. A person with several rows can have a value
 * that everybody else of the class has too, beside others: of P1 {u, v}, P2 {u}, P3 {u} everybody
 * knows that each has u, although the class has two values. The same for groups of values: those of
 * a protected subtree, or of a category.
 */
#include <stdlib.h>

#include "decide/risks.h"

/* The class at hand: who is in it, and how many people have each value. */
typedef struct class_people {
  uint32_t *person_seen_in, *pair_seen_in; /* the number of a class + 1 */
  uint32_t *people_of_value;               /* of the class */
  uint32_t *values;                        /* that occur in it */
} class_people;

/* Does everybody among the rows have one value? */
static bool share_value(const shoal_context *p, const shoal_column *column,
                        const shoal_pairs *pairs, const uint64_t *rows, uint64_t n, uint32_t c,
                        class_people *of) {
  uint32_t n_people = 0, n_values = 0, most = 0;
  for (uint64_t i = 0; i < n; i++) {
    uint32_t person = shoal_column_code(p->people.column, rows[i]);
    uint32_t pair = shoal_column_code(&pairs->column, rows[i]), value = pairs->value_of[pair];
    n_people += of->person_seen_in[person] != c + 1;
    of->person_seen_in[person] = c + 1;
    if (shoal_column_missing(column, value) || of->pair_seen_in[pair] == c + 1) continue;
    of->pair_seen_in[pair] = c + 1;
    if (!of->people_of_value[value]++) of->values[n_values++] = value;
    if (of->people_of_value[value] > most) most = of->people_of_value[value];
  }
  for (uint32_t v = 0; v < n_values; v++) of->people_of_value[of->values[v]] = 0;
  return most && most == n_people;
}

static bool mark_classes(const shoal_context *p, const shoal_column *column,
                         const uint32_t *class_of_row, uint32_t n_classes, uint8_t *shared) {
  uint64_t *sorted = NULL, *end = NULL;
  shoal_pairs *pairs = shoal_pairs_new(p->table, column, p->people.column);
  class_people of = {0};
  bool ok = pairs && shoal_rows_by_class(p->table, class_of_row, n_classes, &sorted, &end);
  if (ok) {
    of.person_seen_in = shoal_alloc_zero(p->people.column->n_values, sizeof(uint32_t));
    of.pair_seen_in = shoal_alloc_zero(pairs->column.n_values, sizeof(uint32_t));
    of.people_of_value = shoal_alloc_zero(column->n_values, sizeof(uint32_t));
    of.values = shoal_alloc(column->n_values, sizeof(uint32_t));
    ok = of.person_seen_in && of.pair_seen_in && of.people_of_value && of.values;
  }
  for (uint32_t c = 0; ok && c < n_classes; c++) {
    uint64_t start = c ? end[c - 1] : 0;
    shared[c] = share_value(p, column, pairs, sorted + start, end[c] - start, c, &of);
  }
  free(of.person_seen_in);
  free(of.pair_seen_in);
  free(of.people_of_value);
  free(of.values);
  free(sorted);
  free(end);
  shoal_pairs_free(pairs);
  return ok;
}

/* The group of each row as a column; missing values are one more group, which is missing. */
static bool group_values(const shoal_context *p, const shoal_column *values,
                         const uint32_t *group_of, uint32_t n_groups, shoal_column *groups) {
  uint64_t n_rows = p->table->n_rows;
  uint32_t *codes = shoal_alloc((size_t)n_rows, sizeof *codes);
  uint8_t *is_missing = shoal_alloc_zero((size_t)n_groups + 1, 1);
  *groups = (shoal_column){.name = values->name,
                           .code_size = sizeof *codes,
                           .codes = codes,
                           .n_values = n_groups + 1,
                           .is_missing = is_missing};
  if (!codes || !is_missing) return false;
  is_missing[n_groups] = 1;
  for (uint64_t row = 0; row < n_rows; row++) {
    uint32_t value = shoal_column_code(values, row);
    codes[row] = shoal_column_missing(values, value) ? n_groups : group_of[value];
  }
  return true;
}

shoal_status shoal_mark_shared_values(const shoal_context *p, const shoal_risk_classes *released,
                                      size_t s, const uint32_t *group_of, uint32_t n_groups,
                                      uint8_t *shared, shoal_error *error) {
  const shoal_column *column = p->sensitive[s].column;
  shoal_column groups = {0};
  uint32_t *class_of_row = shoal_alloc((size_t)p->table->n_rows, sizeof *class_of_row);
  for (uint64_t row = 0; class_of_row && row < p->table->n_rows; row++) {
    uint32_t group = released->group_of_row[p->ordered ? p->ordered->row_of[row] : row];
    class_of_row[row] = released->class_of_group ? released->class_of_group[group] : group;
  }
  bool ok = class_of_row && (!group_of || group_values(p, column, group_of, n_groups, &groups)) &&
            mark_classes(p, group_of ? &groups : column, class_of_row, released->classes->n_classes,
                         shared);
  free(class_of_row);
  free(groups.codes);
  free(groups.is_missing);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}
