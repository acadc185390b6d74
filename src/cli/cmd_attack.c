/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_attack: what an intruder learns from a release. The printed result tells of each attack;
 * the exit status says whether some attack gets further than the policy allows.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/words.h"

/* All tables of one attack. */
typedef struct tables {
  shoal_policy *policy;
  shoal_table *masked, *external, *original;
  shoal_table *previous[CLI_MAX_REPEATED];
} tables;

/* A whole number of at least 1; 0 where the option is not given. */
static shoal_status read_count(cli_job *job, cli_option_id id, const char *title, unsigned *count) {
  const char *text = cli_value(job, id);
  unsigned long n = 0;
  *count = 0;
  if (!text) return SHOAL_OK;
  size_t length = strlen(text);
  bool digits = length <= 4 && strspn(text, "0123456789") == length;
  for (size_t i = 0; digits && i < length; i++) n = n * 10 + (unsigned long)(text[i] - '0');
  if (!digits || n < 1)
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "option '%s' needs a whole number from 1 to 9999, not '%s'", title, text);
  *count = (unsigned)n;
  return SHOAL_OK;
}

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
  shoal_status status = read_count(job, CLI_RULE_OUT, "--rule-out", &options.rule_out);
  if (status == SHOAL_OK)
    status = read_count(job, CLI_MIN_CATEGORIES, "--min-categories", &options.min_categories);
  if (status == SHOAL_OK) status = read_tables(job, t);
  if (status != SHOAL_OK) return status;
  options.external = t->external;
  options.original = t->original;
  options.previous = (const shoal_table *const *)t->previous;
  options.n_previous = job->options->n_repeated;
  return shoal_attack_release(t->masked, t->policy, &options, &job->run, result, &job->error);
}

static shoal_status print(cli_job *job, const shoal_result *result) {
  bool shown = !cli_value(job, CLI_QUIET) || cli_value(job, CLI_JSON) || cli_value(job, CLI_OUTPUT);
  shoal_status status = shown ? cli_print_result(job, result, cli_format(job)) : SHOAL_OK;
  if (status != SHOAL_OK) return status;
  return shoal_result_holds(result) ? SHOAL_OK : SHOAL_REFUSED;
}

shoal_status cli_attack(cli_job *job) {
  cli_file report = {NULL};
  tables t = {0};
  shoal_result *result = NULL;
  shoal_status status = cli_check_report(job);
  if (status == SHOAL_OK) status = cli_read_policy(job, &t.policy);
  if (status == SHOAL_OK) status = cli_check_policy_files(job, t.policy);
  if (status == SHOAL_OK && cli_value(job, CLI_REPORT))
    status = cli_file_begin(&report, cli_value(job, CLI_REPORT), &job->error);
  if (status == SHOAL_OK) status = cli_begin_page(job);
  if (status == SHOAL_OK) status = attack(job, &t, &result);
  if (status == SHOAL_OK) status = cli_write_report(job, result, &report);
  if (status == SHOAL_OK) status = print(job, result);
  shoal_result_free(result);
  shoal_table_free(t.masked);
  shoal_table_free(t.external);
  shoal_table_free(t.original);
  for (size_t i = 0; i < CLI_MAX_REPEATED; i++) shoal_table_free(t.previous[i]);
  shoal_policy_free(t.policy);
  cli_file_discard(&report);
  return status;
}
