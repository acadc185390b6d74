/* SPDX-License-Identifier: Apache-2.0 */
/* job/check: does a table as it stands satisfy the policy? And the necessary conditions. */
#include "decide/gates.h"
#include "describe/page.h"
#include "input/input.h"
#include "job/job.h"

enum { WORST_CLASSES = 5 };

static shoal_status check(const shoal_context *p, shoal_result *result, shoal_error *error) {
  SHOAL_TRY(shoal_result_input(result, p, error));
  shoal_classes *classes = &p->frequency->base;
  const shoal_labelling values = {0};
  SHOAL_TRY(shoal_classes_count_distinct(p->frequency, p->frequency->tuple_of_row, classes, error));
  shoal_result_sizes(&result->check.sizes, classes, NULL);
  SHOAL_TRY(shoal_result_models(result, p, classes, &values, NULL, p->frequency->tuple_of_row,
                                WORST_CLASSES, &result->check.models, error));
  SHOAL_TRY(shoal_result_levels(result, p, true, &result->check.models, error));
  result->safety.models_unjudged = shoal_models_unjudged(&result->check.models);
  SHOAL_TRY(shoal_gates_judge(result, p, error));
  SHOAL_TRY(shoal_risks_of_repeats(result, p, error));
  SHOAL_TRY(shoal_html_report_begin(result, p, error));
  SHOAL_TRY(shoal_warn_of_policy(p, result, error));
  SHOAL_TRY(shoal_warn_of_spellings(p, result, error));
  for (size_t i = 0; i < p->requirements.n_items; i++) {
    const shoal_model_type *type = p->requirements.items[i].type;
    if (type->against_table)
      return shoal_result_warn(result, error,
                               "%s compares each class with the whole table, here the one that is "
                               "checked: of a release from which rows were suppressed it says "
                               "something else than of the original",
                               type->name);
  }
  return SHOAL_OK;
}

shoal_status shoal_job_check(shoal_result *result, const shoal_table *table,
                             const shoal_policy *policy, const shoal_run *run, shoal_error *error) {
  shoal_context context;
  SHOAL_TRY(shoal_input_check(table, policy, SHOAL_FOR_REVIEW, error));
  SHOAL_TRY(shoal_context_init(&context, table, policy, SHOAL_CONTEXT_CLASSES, run, error));
  shoal_status status = shoal_check_inputs(&context, result, error);
  if (status == SHOAL_OK) status = check(&context, result, error);
  if (status == SHOAL_OK) status = shoal_requirements_status(&context.requirements, error);
  shoal_context_reset(&context);
  return status;
}

static shoal_status conditions(const shoal_context *p, shoal_result *result, shoal_error *error) {
  SHOAL_TRY(shoal_result_input(result, p, error));
  if (p->n_sensitive == 0)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = p->policy->file},
                         "no attribute has 'role: sensitive': the conditions are about these");
  return shoal_result_bounds(result, p, &result->conditions, error);
}

shoal_status shoal_job_conditions(shoal_result *result, const shoal_table *table,
                                  const shoal_policy *policy, const shoal_run *run,
                                  shoal_error *error) {
  shoal_context context;
  SHOAL_TRY(shoal_input_check(table, policy, SHOAL_FOR_REVIEW, error));
  SHOAL_TRY(shoal_context_init(&context, table, policy, SHOAL_CONTEXT_REQUIREMENTS, run, error));
  shoal_status status = conditions(&context, result, error);
  shoal_context_reset(&context);
  return status;
}
