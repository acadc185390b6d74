/* SPDX-License-Identifier: Apache-2.0 */
/* api/jobs: the public functions that fill a new result, and the two that return text. */
#include "api/arguments.h"
#include "describe/certificate.h"
#include "explain/explain.h"
#include "job/job.h"
#include "profile/profile.h"

/*
 * Runs `call`, which fills `made`, and hands the result over with the notes of `table` (or NULL);
 * on failure it is deleted.
 */
#define RETURN_RESULT(result_kind, table, call)                                                    \
  do {                                                                                             \
    shoal_result *made = shoal_result_new(result_kind);                                            \
    if (!made) return shoal_answer(shoal_fail_memory(error), error);                               \
    shoal_status status = (call);                                                                  \
    const shoal_table *noted = (table);                                                            \
    if (status == SHOAL_OK && noted) status = shoal_result_notes(made, noted, error);              \
    if (status == SHOAL_OK) *result = made;                                                        \
    else shoal_result_delete(made);                                                                \
    return shoal_answer(status, error);                                                            \
  } while (0)

shoal_status shoal_profile(const shoal_table *table, const shoal_run *run, shoal_result **result,
                           shoal_error *error) {
  SHOAL_BEGIN(error);
  if (result) *result = NULL;
  SHOAL_NEED(table && result, error);
  SHOAL_NEED_SIZE(run, error);
  RETURN_RESULT(SHOAL_RESULT_PROFILE, table, shoal_profile_table(made, table, run, error));
}

shoal_status shoal_profile_policy(const shoal_result *profile, char **yaml, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (yaml) *yaml = NULL;
  SHOAL_NEED(profile && yaml, error);
  return shoal_answer(shoal_profile_yaml(profile, false, NULL, yaml, error), error);
}

shoal_status shoal_profile_policy_as(const shoal_result *profile, const shoal_policy_style *style,
                                     char **yaml, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (yaml) *yaml = NULL;
  SHOAL_NEED(profile && style && yaml, error);
  SHOAL_NEED_SIZE(style, error);
  return shoal_answer(shoal_profile_yaml(profile, style->decided, style->preset, yaml, error),
                      error);
}

shoal_status shoal_check(const shoal_table *table, const shoal_policy *policy, const shoal_run *run,
                         shoal_result **result, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (result) *result = NULL;
  SHOAL_NEED(table && policy && result, error);
  SHOAL_NEED_SIZE(run, error);
  RETURN_RESULT(SHOAL_RESULT_CHECK, table, shoal_job_check(made, table, policy, run, error));
}

shoal_status shoal_conditions(const shoal_table *table, const shoal_policy *policy,
                              const shoal_run *run, shoal_result **result, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (result) *result = NULL;
  SHOAL_NEED(table && policy && result, error);
  SHOAL_NEED_SIZE(run, error);
  RETURN_RESULT(SHOAL_RESULT_CONDITIONS, table,
                shoal_job_conditions(made, table, policy, run, error));
}

shoal_status shoal_lattice(const shoal_table *table, const shoal_policy *policy,
                           const shoal_run *run, shoal_result **result, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (result) *result = NULL;
  SHOAL_NEED(table && policy && result, error);
  SHOAL_NEED_SIZE(run, error);
  RETURN_RESULT(SHOAL_RESULT_LATTICE, table, shoal_job_lattice(made, table, policy, run, error));
}

shoal_status shoal_distances(const shoal_table *table, const shoal_policy *policy,
                             const shoal_run *run, shoal_result **result, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (result) *result = NULL;
  SHOAL_NEED(table && policy && result, error);
  SHOAL_NEED_SIZE(run, error);
  RETURN_RESULT(SHOAL_RESULT_DISTANCES, table,
                shoal_job_distances(made, table, policy, run, error));
}

shoal_status shoal_explain(const shoal_table *table, const shoal_policy *policy,
                           const shoal_run *run, shoal_result **result, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (result) *result = NULL;
  SHOAL_NEED(table && policy && result, error);
  SHOAL_NEED_SIZE(run, error);
  RETURN_RESULT(SHOAL_RESULT_EXPLAIN, table, shoal_explain_policy(made, table, policy, run, error));
}

shoal_status shoal_attack_release(const shoal_table *masked, const shoal_policy *policy,
                                  const shoal_attack_options *options, const shoal_run *run,
                                  shoal_result **result, shoal_error *error) {
  SHOAL_BEGIN(error);
  static const shoal_attack_options defaults = {0};
  if (result) *result = NULL;
  SHOAL_NEED(masked && policy && result, error);
  if (!options) options = &defaults;
  SHOAL_NEED(shoal_tables_given(options->previous, options->n_previous), error);
  SHOAL_NEED_VALUE(options->rule_out <= SHOAL_MAX_RULE_OUT, error);
  SHOAL_NEED_VALUE(options->known_records <= SHOAL_MAX_KNOWN_RECORDS, error);
  SHOAL_NEED_SIZE(options, error);
  SHOAL_NEED_SIZE(run, error);
  RETURN_RESULT(SHOAL_RESULT_ATTACK, masked,
                shoal_job_attack(made, masked, policy, options, run, error));
}

shoal_status shoal_measure(const shoal_table *original, const shoal_table *masked,
                           const shoal_policy *policy, const shoal_measure_options *options,
                           const shoal_run *run, shoal_result **result, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (result) *result = NULL;
  SHOAL_NEED(original && masked && policy && result, error);
  SHOAL_NEED_SIZE(options, error);
  SHOAL_NEED_SIZE(run, error);
  RETURN_RESULT(SHOAL_RESULT_MEASURE, original,
                shoal_job_measure(made, original, masked, policy, options, run, error));
}

shoal_status shoal_verify_release(const shoal_table *masked, const shoal_table *original,
                                  const shoal_policy *policy, const shoal_run *run,
                                  shoal_verified *found, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (found) *found = (shoal_verified){0};
  SHOAL_NEED(masked && policy, error);
  SHOAL_NEED_SIZE(run, error);
  return shoal_answer(shoal_job_verify(masked, original, policy, run, found, error), error);
}

shoal_status shoal_certificate(const char *path, const shoal_policy *policy, const char *left_out,
                               const shoal_run *run, shoal_result **result, shoal_error *error) {
  SHOAL_BEGIN(error);
  SHOAL_NEED(path && policy && left_out && result, error);
  SHOAL_NEED_SIZE(run, error);
  RETURN_RESULT(SHOAL_RESULT_CERTIFICATE, NULL,
                shoal_job_certificate(made, path, policy, left_out, run, error));
}

shoal_status shoal_hierarchy_describe(const char *source, const shoal_policy *policy,
                                      const shoal_table *table, shoal_result **result,
                                      shoal_error *error) {
  SHOAL_BEGIN(error);
  if (result) *result = NULL;
  SHOAL_NEED(result, error);
  RETURN_RESULT(SHOAL_RESULT_HIERARCHY, table,
                shoal_job_hierarchy(made, source, policy, table, error));
}

shoal_status shoal_hierarchy_build(const char *spec, const shoal_table *table, const char *column,
                                   char **csv, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (csv) *csv = NULL;
  SHOAL_NEED(spec && table && column && csv, error);
  return shoal_answer(shoal_job_hierarchy_build(spec, table, column, csv, error), error);
}
