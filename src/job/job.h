/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job: runs the stages of each command. Every function below does the work of the public function
 * of the same command (shoal.h has the contracts). `anonymize` is in release.h, `certificate` in
 * certificate.h; `profile` and `explain` have directories of their own.
 *
 * A job that takes a `result` fills a new one of its kind. The caller deletes it, also on failure.
 */
#ifndef SHOAL_JOB_JOB_H
#define SHOAL_JOB_JOB_H

#include "context/context.h"
#include "policy/policy.h"
#include "read/stat_file.h"
#include "report/result.h"
#include "table/table.h"

/* Reads a CSV file, or finishes a table filled from memory. The policy says which columns matter:
 * columns without a use are not kept. */
shoal_status shoal_input_read(const char *path, const shoal_policy *policy, shoal_purpose purpose,
                              const char *delimiter, const shoal_run *run, shoal_table **table,
                              shoal_error *error) SHOAL_MUST_CHECK;
/* The same of an SPSS, Stata or SAS file. */
shoal_status shoal_input_read_stat(const char *path, shoal_stat_kind kind,
                                   const shoal_policy *policy, shoal_purpose purpose,
                                   const shoal_run *run, shoal_table **table,
                                   shoal_error *error) SHOAL_MUST_CHECK;
/* The cell of a missing value of such a file. */
const char *shoal_stat_missing(const shoal_policy *policy);
shoal_status shoal_input_finish(shoal_table *table, const shoal_policy *policy,
                                shoal_purpose purpose, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Can a job with `policy` that needs a table of `purpose` use this one, which may have been read
 * with another policy or for another purpose? SHOAL_BAD_INPUT if it is not finished, lacks cells
 * that the job needs, or is not what reading it with `policy` would give. Cost: a pass over the
 * dictionaries of the quasi-identifiers and sensitive columns.
 */
shoal_status shoal_input_check(const shoal_table *table, const shoal_policy *policy,
                               shoal_purpose purpose, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Fails with SHOAL_BAD_INPUT if `anonymize` would refuse the policy, or a cell that is neither raw
 * nor a label. Warns of quasi-identifiers without a hierarchy. The context has scope CLASSES. Cost:
 * the distinct values x levels.
 */
shoal_status shoal_check_inputs(const shoal_context *context, shoal_result *result,
                                shoal_error *error) SHOAL_MUST_CHECK;
/* Warns of text values that may mean the same, in every column that is compared. */
shoal_status shoal_warn_of_spellings(const shoal_context *context, shoal_result *result,
                                     shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_job_check(shoal_result *result, const shoal_table *table,
                             const shoal_policy *policy, const shoal_run *run,
                             shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_job_conditions(shoal_result *result, const shoal_table *table,
                                  const shoal_policy *policy, const shoal_run *run,
                                  shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_job_lattice(shoal_result *result, const shoal_table *table,
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

shoal_status shoal_job_hierarchy(shoal_result *result, const char *source,
                                 const shoal_policy *policy, const shoal_table *table,
                                 shoal_error *error) SHOAL_MUST_CHECK;
/* The caller frees *csv. */
shoal_status shoal_job_hierarchy_build(const char *spec, const shoal_table *table,
                                       const char *column, char **csv,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* True if `path` is the policy's own file or one that the policy reads. */
bool shoal_policy_uses_file(const shoal_policy *policy, const char *path);

#endif
