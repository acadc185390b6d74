/* SPDX-License-Identifier: Apache-2.0 */
/* job/check: does a table as it stands satisfy the policy? And the necessary conditions. */
#include "job/page.h"

enum { WORST_CLASSES = 5 };

static shoal_status check(const shoal_prepared *p, shoal_result *result, shoal_error *error) {
  SHOAL_TRY(shoal_result_input(result, p, error));
  const shoal_classes *classes = &p->frequency->base;
  result->classes = classes->n_classes;
  shoal_result_sizes(&result->sizes_before, classes, NULL);
  for (uint32_t c = 0; c < classes->n_classes; c++)
    if (c == 0 || classes->n_rows[c] < result->smallest_class)
      result->smallest_class = classes->n_rows[c];
  SHOAL_TRY(shoal_result_models(result, p, classes, NULL, WORST_CLASSES, error));
  SHOAL_TRY(shoal_page_begin(result, p, error));
  for (size_t i = 0; i < p->demands.n_items; i++) {
    const shoal_model_type *type = p->demands.items[i].type;
    if (type->against_table)
      return shoal_result_warn(result, error,
                               "%s compares each class with the whole table, here the one that is "
                               "checked: of a release from which rows were suppressed it says "
                               "something else than of the original",
                               type->name);
  }
  return SHOAL_OK;
}

shoal_status shoal_check(const shoal_table *table, const shoal_policy *policy, const shoal_run *run,
                         shoal_result **out, shoal_error *error) {
  *out = NULL;
  shoal_prepared prepared;
  SHOAL_TRY(shoal_prepare(&prepared, table, policy, SHOAL_PREPARE_CLASSES, run, error));
  shoal_result *result = shoal_result_new(SHOAL_RESULT_CHECK);
  shoal_status status = result ? check(&prepared, result, error) : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = shoal_demands_trust(&prepared.demands, error);
  shoal_prepared_reset(&prepared);
  if (status != SHOAL_OK) {
    shoal_result_free(result);
    return status;
  }
  *out = result;
  return SHOAL_OK;
}

static shoal_status conditions(const shoal_prepared *p, shoal_result *result, shoal_error *error) {
  SHOAL_TRY(shoal_result_input(result, p, error));
  if (p->n_sensitive == 0)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_place){.file = p->policy->file},
                         "no attribute has 'role: sensitive': the conditions are about these");
  result->p = p->demands.p;
  SHOAL_TRY(shoal_result_conditions(result, p, error));
  result->holds = result->p <= result->max_p;
  return SHOAL_OK;
}

shoal_status shoal_conditions(const shoal_table *table, const shoal_policy *policy,
                              const shoal_run *run, shoal_result **out, shoal_error *error) {
  *out = NULL;
  shoal_prepared prepared;
  SHOAL_TRY(shoal_prepare(&prepared, table, policy, SHOAL_PREPARE_DEMANDS, run, error));
  shoal_result *result = shoal_result_new(SHOAL_RESULT_CONDITIONS);
  shoal_status status = result ? conditions(&prepared, result, error) : shoal_fail_memory(error);
  shoal_prepared_reset(&prepared);
  if (status != SHOAL_OK) {
    shoal_result_free(result);
    return status;
  }
  *out = result;
  return SHOAL_OK;
}
