/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_attack: simulates attacks on a release. The exit status says whether an attack succeeds
 * beyond what the policy allows.
 */
#include "cli/commands.h"

typedef struct tables {
  shoal_policy *policy;
  shoal_table *masked, *external, *original;
  shoal_table *previous[CLI_MAX_REPEATED];
} tables;

static shoal_status read_tables(cli_job *job, tables *t) {
  const char *external = cli_value(job, CLI_EXTERNAL), *original = cli_value(job, CLI_ORIGINAL);
  shoal_status status =
      cli_read_table(job, cli_operand(job, 0), t->policy, SHOAL_FOR_REVIEW, &t->masked);
  if (status == SHOAL_OK && external)
    status = cli_read_table(job, external, t->policy, SHOAL_FOR_LINKING, &t->external);
  if (status == SHOAL_OK && original)
    status = cli_read_table(job, original, t->policy, SHOAL_FOR_RELEASE, &t->original);
  for (size_t i = 0; status == SHOAL_OK && i < job->options->n_repeated; i++)
    status = cli_read_table(job, job->options->repeated[i], t->policy, SHOAL_FOR_REVIEW,
                            &t->previous[i]);
  return status;
}

static shoal_status attack(cli_job *job, tables *t, shoal_result **result) {
  shoal_attack_options options = {.bound = cli_value(job, CLI_BOUND), .mu = cli_value(job, CLI_MU)};
  uint64_t rule_out = 0, min_categories = 0, records = 0; /* 0: the default */
  shoal_status status = cli_whole_value(job, CLI_RULE_OUT, 1, SHOAL_MAX_RULE_OUT, &rule_out);
  if (status == SHOAL_OK)
    status = cli_whole_value(job, CLI_MIN_CATEGORIES, 1, 9999, &min_categories);
  if (status == SHOAL_OK)
    status = cli_whole_value(job, CLI_KNOWS_RECORDS, 1, SHOAL_MAX_KNOWN_RECORDS, &records);
  if (status == SHOAL_OK) status = read_tables(job, t);
  if (status != SHOAL_OK) return status;
  options.rule_out = (unsigned)rule_out;
  options.known_records = (unsigned)records;
  options.min_categories = (unsigned)min_categories;
  options.external = t->external;
  options.original = t->original;
  options.previous = (const shoal_table *const *)t->previous;
  options.n_previous = job->options->n_repeated;
  return shoal_attack_release(t->masked, t->policy, &options, &job->run, result, &job->error);
}

shoal_status cli_attack(cli_job *job) {
  tables t = {0};
  shoal_result *result = NULL;
  shoal_status status = cli_begin_policy(job, &t.policy);
  if (status == SHOAL_OK) status = attack(job, &t, &result);
  if (status == SHOAL_OK) status = cli_write_report(job, result);
  if (status == SHOAL_OK) status = cli_print_result(job, result, cli_format(job));
  if (status == SHOAL_OK && !cli_holds(job, result)) status = SHOAL_REFUSED;
  shoal_result_free(result);
  shoal_table_free(t.masked);
  shoal_table_free(t.external);
  shoal_table_free(t.original);
  for (size_t i = 0; i < CLI_MAX_REPEATED; i++) shoal_table_free(t.previous[i]);
  shoal_policy_free(t.policy);
  return status;
}
