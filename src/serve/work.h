/* SPDX-License-Identifier: Apache-2.0 */
/* serve/work: what the kinds of jobs share (work.c) and the kinds themselves. */
#pragma once

#include "serve/jobs.h"

/* In the engine's message if a table was read with a policy that differs too much. */
#define SERVE_OTHER_POLICY "read the table with this policy"

/* The policy of the job, with its seed; the caller frees it. Files that it names must be below the
 * directory of the policy. */
shoal_status serve_work_policy(serve_job *job, shoal_policy **policy,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* The data, read without a policy, from the session's cache if possible. The caller drops it. */
shoal_status serve_work_raw(serve_job *job, serve_table **table,
                            shoal_error *error) SHOAL_MUST_CHECK;

/* The data, read with the policy. `fresh`: the cached table did not fit. */
shoal_status serve_work_table(serve_job *job, const shoal_policy *policy, bool fresh,
                              serve_table **table, shoal_error *error) SHOAL_MUST_CHECK;

/* {"holds": .., "answer": what --json prints} */
shoal_status serve_work_answer(const shoal_result *result, json_t **answer,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* A value of the table as JSON: text that is no UTF-8 gets replacement characters. */
json_t *serve_json_text(const char *bytes, size_t size);
/* The first rows as {"columns": [..], "rows": [[..]]}. */
json_t *serve_table_rows(const shoal_table *table, uint64_t from, uint64_t n);

shoal_status serve_work_open(serve_job *job, json_t **answer, shoal_error *error);
shoal_status serve_work_profile(serve_job *job, json_t **answer, shoal_error *error);
shoal_status serve_work_values(serve_job *job, json_t **answer, shoal_error *error);
shoal_status serve_work_check(serve_job *job, json_t **answer, shoal_error *error);
shoal_status serve_work_conditions(serve_job *job, json_t **answer, shoal_error *error);
shoal_status serve_work_lattice(serve_job *job, json_t **answer, shoal_error *error);
shoal_status serve_work_explain(serve_job *job, json_t **answer, shoal_error *error);
shoal_status serve_work_hierarchy(serve_job *job, json_t **answer, shoal_error *error);
shoal_status serve_work_nodes(serve_job *job, json_t **answer, shoal_error *error);
shoal_status serve_work_frontier(serve_job *job, json_t **answer, shoal_error *error);
shoal_status serve_work_anonymize(serve_job *job, json_t **answer, shoal_error *error);
shoal_status serve_work_measure(serve_job *job, json_t **answer, shoal_error *error);
shoal_status serve_work_attack(serve_job *job, json_t **answer, shoal_error *error);
