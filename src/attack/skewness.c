/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/skewness: a class whose values are distributed differently from the table's discloses more
 * than the table (Li, Li & Venkatasubramanian 2007, section 3). The attack succeeds on a class if a
 * value exceeds the bound in the class but not in the whole table. The table is the original if it
 * is given, else the release. The measure is the total variation distance of class and table, 0 to
 * 1.
 */
#include <stdlib.h>

#include "attack/tally.h"
#include "base/intern.h"

/* The table compared with: rows of each value of the released column. */
typedef struct reference {
  uint64_t *rows;
  uint64_t sum; /* rows with a value */
} reference;

static bool count_original(const shoal_column *column, shoal_equality equality,
                           const shoal_table *original, const shoal_column *from, reference *r) {
  shoal_values values;
  uint64_t *counts = shoal_count_values(original, from);
  if (!counts) return false;
  size_t size;
  bool ok = shoal_values_init(&values, equality);
  for (uint32_t v = 0; ok && v < column->n_values; v++) {
    const char *bytes = shoal_column_value(column, v, &size);
    ok = shoal_values_intern(&values, (shoal_label){bytes, size}) == v;
  }
  for (uint32_t v = 0; ok && v < from->n_values; v++) {
    const char *bytes = shoal_column_value(from, v, &size);
    uint32_t value = shoal_values_intern(&values, (shoal_label){bytes, size});
    ok = value != UINT32_MAX;
    if (!ok || shoal_column_missing(from, v)) continue;
    r->sum += counts[v];
    if (value < column->n_values) r->rows[value] += counts[v];
  }
  shoal_values_reset(&values);
  free(counts);
  return ok;
}

static bool count_reference(const shoal_attack_case *attacked, size_t s, reference *r) {
  const shoal_column *column = attacked->sensitive[s].column;
  const shoal_column *from =
      attacked->original_table ? shoal_table_column(attacked->original_table, column->name) : NULL;
  *r = (reference){.rows = NULL};
  if (from && from->code_size) {
    r->rows = shoal_alloc_zero(column->n_values, sizeof *r->rows);
    shoal_equality equality =
        shoal_policy_equality(attacked->policy, attacked->sensitive[s].attribute);
    return r->rows && count_original(column, equality, attacked->original_table, from, r);
  }
  r->rows = shoal_count_values(attacked->table, column);
  for (uint32_t v = 0; r->rows && v < column->n_values; v++)
    if (!shoal_column_missing(column, v)) r->sum += r->rows[v];
  return r->rows != NULL;
}

/* The finding keeps the minimum of `reached`: the distance is negated. */
static shoal_class_outcome evaluate(const shoal_class_attack *self, shoal_class_tally *tally) {
  const reference *table = self->own;
  shoal_class_outcome outcome = {.probability = (double)tally->most / (double)tally->sum};
  double distance = 0;
  for (size_t i = 0; i < tally->n; i++) {
    uint64_t rows = tally->rows[i], in_table = table->rows[tally->groups[i]];
    double rise = (double)rows / (double)tally->sum -
                  (table->sum ? (double)in_table / (double)table->sum : 0);
    if (rise > 0) distance += rise;
    if (!shoal_attack_above(self->bound, rows, tally->sum)) continue;
    if (table->sum && shoal_attack_above(self->bound, in_table, table->sum)) continue;
    outcome.succeeds = true;
    outcome.guessed += rows;
    if (rows == tally->sum) outcome.certain = rows;
  }
  outcome.reached = -distance;
  return outcome;
}

static shoal_status run_on(const shoal_attack *self, const shoal_attack_case *attacked, size_t s,
                           shoal_attack_findings *findings, shoal_error *error) {
  reference table;
  bool ok = count_reference(attacked, s, &table);
  shoal_class_attack attack = {
      .attacked = attacked, .sensitive = s, .own = &table, .evaluate = evaluate};
  shoal_attack_finding *finding;
  shoal_status status = ok ? shoal_class_attack_run(&attack, self, findings, &finding, error)
                           : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    finding->counts = attack.is_bound_given;
    finding->reached = finding->reached < 0 ? -finding->reached : 0;
    finding->note = attacked->original_table ? "compared with the original table"
                                             : "compared with the release as a whole";
  }
  free(table.rows);
  return status;
}

const shoal_attack shoal_attack_skewness = {
    .name = "skewness",
    .knowledge = "as homogeneity, and how common each sensitive value is in the whole table",
    .learns = "a sensitive value that is no likely guess in the whole table",
    .measure = "greatest distance of a class to the table",
    .run_on = run_on,
};
