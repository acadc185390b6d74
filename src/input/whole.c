/* SPDX-License-Identifier: Apache-2.0 */
/* input/whole: a part of a table gets the values of the whole, without the missing ones. */
#include "table/whole.h"

#include <stdlib.h>
#include <string.h>

#include "input/input.h"

static bool missing_spellings(const shoal_policy *policy, shoal_equality equality,
                              shoal_values *missing) {
  bool ok = shoal_values_init(missing, equality);
  for (size_t i = 0; ok && i < policy->n_missing; i++)
    ok = shoal_values_intern(
             missing, (shoal_label){policy->missing[i], strlen(policy->missing[i])}) != SHOAL_NONE;
  return ok;
}

/* Lists the values that are present; false: no memory. */
static bool leave_missing_out(const shoal_policy *policy, shoal_equality equality,
                              const shoal_text_view *view, const uint64_t *counts, size_t n,
                              shoal_label *values, uint64_t *rows, size_t *n_values) {
  shoal_values missing = {0};
  bool ok = missing_spellings(policy, equality, &missing), failed = false;
  *n_values = 0;
  for (size_t i = 0; ok && i < n; i++) {
    shoal_label value = {view->bytes + view->offsets[i],
                         (size_t)(view->offsets[i + 1] - view->offsets[i])};
    bool found = shoal_values_find(&missing, value, &failed) != SHOAL_NONE;
    ok = !failed;
    if (found) continue;
    values[*n_values] = value;
    rows[(*n_values)++] = counts[i];
  }
  shoal_values_reset(&missing);
  return ok;
}

shoal_status shoal_input_whole(shoal_table *table, const shoal_policy *policy, const char *name,
                               const shoal_text_view *view, const uint64_t *counts, size_t n,
                               shoal_error *error) {
  const shoal_column *column = table->finished ? shoal_table_column(table, name) : NULL;
  if (!column || !column->code_size)
    return shoal_fail_at(error, SHOAL_BAD_INPUT,
                         &(shoal_location){.file = table->name, .column = name},
                         "is not a column with cells of a finished table");
  for (size_t i = 0; i < n; i++)
    if (view->offsets[i + 1] < view->offsets[i])
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.column = name},
                           "its offsets descend");
  shoal_label *values = shoal_alloc(n, sizeof *values);
  uint64_t *rows = shoal_alloc(n, sizeof *rows);
  size_t n_values;
  shoal_status status =
      values && rows &&
              leave_missing_out(policy, column->equality, view, counts, n, values, rows, &n_values)
          ? shoal_whole_set(table, (size_t)(column - table->columns), values, rows, n_values, error)
          : shoal_fail_memory(error);
  free(values);
  free(rows);
  return status;
}
