/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job: runs the stages of each command. Every function below does the work of the public function
 * of the same command (shoal.h has the contracts). `anonymize` is in release.h, `certificate` in
 * describe/certificate.h; `profile` and `explain` have directories of their own.
 *
 * A job that takes a `result` fills a new one of its kind. The caller deletes it, also on failure.
 */
#pragma once

#include "context/context.h"
#include "policy/policy.h"
#include "report/result.h"
#include "table/table.h"

shoal_status shoal_job_check(shoal_result *result, const shoal_table *table,
                             const shoal_policy *policy, const shoal_run *run,
                             shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_job_conditions(shoal_result *result, const shoal_table *table,
                                  const shoal_policy *policy, const shoal_run *run,
                                  shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_job_lattice(shoal_result *result, const shoal_table *table,
                               const shoal_policy *policy, const shoal_run *run,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* Distance vectors of all pairs of distinct tuples. */
shoal_status shoal_job_distances(shoal_result *result, const shoal_table *table,
                                 const shoal_policy *policy, const shoal_run *run,
                                 shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_job_attack(shoal_result *result, const shoal_table *masked,
                              const shoal_policy *policy, const shoal_attack_options *options,
                              const shoal_run *run, shoal_error *error) SHOAL_MUST_CHECK;
/* `options` may be NULL. */
shoal_status shoal_job_measure(shoal_result *result, const shoal_table *original,
                               const shoal_table *masked, const shoal_policy *policy,
                               const shoal_measure_options *options, const shoal_run *run,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* `original` and `found` may be NULL. */
shoal_status shoal_job_verify(const shoal_table *masked, const shoal_table *original,
                              const shoal_policy *policy, const shoal_run *run,
                              shoal_verified *found, shoal_error *error) SHOAL_MUST_CHECK;

shoal_status shoal_job_hierarchy(shoal_result *result, const char *source,
                                 const shoal_policy *policy, const shoal_table *table,
                                 shoal_error *error) SHOAL_MUST_CHECK;
/* The caller frees *csv. */
shoal_status shoal_job_hierarchy_build(const char *spec, const shoal_table *table,
                                       const char *column, char **csv,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* True if `path` is the policy's own file or one that the policy reads. */
bool shoal_policy_uses_file(const shoal_policy *policy, const char *path);
