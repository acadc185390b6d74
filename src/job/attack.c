/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/attack: simulates all attacks on a release made by any tool, and compares a release just
 * written with earlier ones.
 */
#include "attack/setup.h"
#include "decide/gates.h"
#include "describe/page.h"
#include "input/input.h"
#include "job/job.h"
#include "job/release.h"

static shoal_status attack(shoal_attack_setup *setup, shoal_result *result, shoal_error *error) {
  const shoal_context *p = &setup->context;
  bool withstands;
  const shoal_labelling values = {0};
  shoal_model_outcomes models;
  SHOAL_TRY(
      shoal_attack_setup_run(setup, &result->arena, &result->attack.attacks, &withstands, error));
  SHOAL_TRY(shoal_result_input(result, p, error));
  SHOAL_TRY(
      shoal_result_models(result, p, &p->frequency->base, &values, NULL, NULL, 0, &models, error));
  SHOAL_TRY(shoal_result_levels(result, p, true, &models, error));
  result->safety.models_unjudged = shoal_models_unjudged(&models);
  SHOAL_TRY(shoal_gates_judge(result, p, error));
  SHOAL_TRY(shoal_risks_of_attacks(result, p->policy, result->attack.attacks, error));
  result->holds = withstands;
  shoal_result_sizes(&result->attack.sizes, &setup->context.frequency->base, NULL);
  return shoal_html_report_begin(result, &setup->context, error);
}

/* Every table that the attack uses. */
static shoal_status check_tables(const shoal_table *masked, const shoal_policy *policy,
                                 const shoal_attack_options *options, shoal_error *error) {
  SHOAL_TRY(shoal_input_check(masked, policy, SHOAL_FOR_REVIEW, error));
  if (options->original)
    SHOAL_TRY(shoal_input_check(options->original, policy, SHOAL_FOR_COMPARISON, error));
  if (options->external)
    SHOAL_TRY(shoal_input_check(options->external, policy, SHOAL_FOR_LINKING, error));
  for (size_t i = 0; i < options->n_previous; i++)
    SHOAL_TRY(shoal_input_check(options->previous[i], policy, SHOAL_FOR_REVIEW, error));
  return SHOAL_OK;
}

shoal_status shoal_job_attack(shoal_result *result, const shoal_table *masked,
                              const shoal_policy *policy, const shoal_attack_options *options,
                              const shoal_run *run, shoal_error *error) {
  shoal_attack_setup setup = {0};
  SHOAL_TRY(check_tables(masked, policy, options, error));
  shoal_status status = shoal_attack_setup_init(&setup, masked, policy, options, run, error);
  if (status == SHOAL_OK) status = attack(&setup, result, error);
  shoal_attack_setup_reset(&setup);
  return status;
}

/* ------------------------------------------------------------ a release and earlier ones */

static shoal_status warn(shoal_result *result, const shoal_attack_setup *setup,
                         const shoal_attack_finding *finding, shoal_error *error) {
  const char *name = setup->previous[finding->previous].table->name;
  if (finding->untested)
    return shoal_result_warn(result, error, "compared with %s: %s", name, finding->untested);
  if (finding->attack == &shoal_attack_order)
    return shoal_result_warn(
        result, error,
        "the rows are in the same order as in %s, so rows of both files can be linked: release "
        "without --keep-order and with another seed",
        name);
  return shoal_result_warn(
      result, error,
      "together with %s the release breaks the policy for %llu people: %llu have fewer than %llu "
      "possible rows, %llu fewer distinct sensitive values than required, and for %llu a "
      "sensitive value is certain",
      name, (unsigned long long)finding->n_rows, (unsigned long long)finding->below_k,
      (unsigned long long)setup->context.requirements.k, (unsigned long long)finding->below_p,
      (unsigned long long)finding->certain);
}

static shoal_status compare(shoal_attack_setup *setup, shoal_result *result, shoal_error *error) {
  shoal_attack_findings *findings = &setup->findings;
  static const shoal_attack *const attacks[] = {&shoal_attack_repeated, &shoal_attack_order};
  for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
    SHOAL_TRY(shoal_attack_run(attacks[i], &setup->attacked, findings, error));
  for (size_t i = 0; i < findings->n_items; i++) {
    if (!findings->items[i].succeeds && !findings->items[i].untested) continue;
    SHOAL_TRY(warn(result, setup, &findings->items[i], error));
    if (!findings->items[i].succeeds) continue;
    SHOAL_TRY(shoal_risk_add(result, setup->context.policy, SHOAL_RISK_ATTACKS, NULL,
                             findings->items[i].attack->name, false,
                             "it succeeds together with an earlier release", error));
  }
  return SHOAL_OK;
}

shoal_status shoal_job_compare(shoal_release *release, const shoal_table *masked,
                               const shoal_table *const *previous, size_t n_previous,
                               const shoal_run *run, shoal_error *error) {
  shoal_attack_options options = {.original = shoal_context_original(&release->context),
                                  .previous = previous,
                                  .n_previous = n_previous};
  const shoal_policy *policy = release->context.policy;
  shoal_attack_setup setup = {0};
  shoal_error found = {0};
  shoal_status status = check_tables(masked, policy, &options, &found);
  if (status == SHOAL_OK)
    status = shoal_attack_setup_init(&setup, masked, policy, &options, run, &found);
  if (status == SHOAL_OK) status = compare(&setup, release->result, error);
  else if (status == SHOAL_BAD_INPUT) /* the release is valid: a warning, not a failure */
    status = shoal_result_warn(release->result, error,
                               "the release was not compared with earlier ones: %s", found.message);
  else if (error) *error = found;
  shoal_attack_setup_reset(&setup);
  return status;
}
