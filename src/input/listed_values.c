/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input/listed_values: values for noise rows that no row of the table has (Khan et al. 2020, Rule
 * 8). The categories of a sensitive attribute list them. They become values of its column without
 * rows: the algorithm may use them, and models, writer and verifier know them like any other value.
 *
 * Left out: attributes with a tree, which lacks such values; numbers; and attributes that a model
 * compares with the table, which has no row of them.
 */
#include <string.h>

#include "input/input.h"
#include "model/types.h"
#include "table/more_values.h"

/* Has the attribute a theta model, and none that compares classes with the table? */
static bool is_open(const shoal_policy *policy, const shoal_attribute *attribute) {
  bool theta = false;
  for (size_t i = 0; i < policy->n_models; i++) {
    const shoal_model_request *request = &policy->models[i];
    const shoal_model_type *type = shoal_model_find(request->name.text);
    if (!type || (request->attribute.text && strcmp(request->attribute.text, attribute->name) != 0))
      continue;
    if (type->against_table) return false;
    theta = theta || type == &shoal_model_theta_sensitive;
  }
  return theta;
}

/* Drops listed values that are missing values. False: no memory. */
static bool leave_missing_out(const shoal_policy *policy, uint32_t n_known,
                              const shoal_values *listed, shoal_strings *kept) {
  shoal_values missing = {0};
  bool ok = shoal_values_init(&missing, listed->equality), failed = false;
  for (size_t i = 0; ok && i < policy->n_missing; i++) {
    shoal_label text = {policy->missing[i], strlen(policy->missing[i])};
    ok = shoal_values_intern(&missing, text) != SHOAL_NONE;
  }
  for (uint32_t v = 0; ok && v < listed->spellings.n_strings; v++) {
    shoal_label value = shoal_strings_get(&listed->spellings, v);
    if (v >= n_known && shoal_values_find(&missing, value, &failed) != SHOAL_NONE) continue;
    ok = !failed && shoal_strings_intern(kept, value) != SHOAL_NONE;
  }
  shoal_values_reset(&missing);
  return ok;
}

static shoal_status add_values(shoal_table *table, shoal_column *column, const shoal_policy *policy,
                               const shoal_attribute *attribute, shoal_arena *arena,
                               shoal_error *error) {
  shoal_sensitive sensitive = {.column = column, .attribute = attribute};
  shoal_values listed;
  SHOAL_TRY(shoal_listed_values(policy, &sensitive, &listed, error));
  shoal_strings kept;
  bool ready = shoal_strings_init(&kept);
  bool ok = ready && leave_missing_out(policy, column->n_values, &listed, &kept);
  if (ok && kept.n_strings > column->n_values)
    ok = shoal_column_add_values(column, table->n_rows, &kept, arena);
  if (ready) shoal_strings_reset(&kept);
  shoal_values_reset(&listed);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_input_list_values(const shoal_table **table, const shoal_policy *policy,
                                     shoal_arena *arena, shoal_error *error) {
  if (!policy->noise_allowed) return SHOAL_OK;
  shoal_table *shared = shoal_table_share(*table, arena);
  if (!shared) return shoal_fail_memory(error);
  for (size_t c = 0; c < shared->n_columns; c++) {
    shoal_column *column = &shared->columns[c];
    const shoal_attribute *attribute = shoal_policy_attribute(policy, column->name);
    if (!attribute || attribute->role != SHOAL_ROLE_SENSITIVE || attribute->has_hierarchy ||
        attribute->type == SHOAL_TYPE_NUMBER || !column->codes ||
        !(attribute->categories.file || attribute->categories.n_lists) ||
        !is_open(policy, attribute))
      continue;
    SHOAL_TRY(add_values(shared, column, policy, attribute, arena, error));
  }
  *table = shared;
  return SHOAL_OK;
}
