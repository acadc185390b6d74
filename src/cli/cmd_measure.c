/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_measure: measures utility and risk of a release. Both tables and the population are read
 * with one policy. Without --strict the exit status does not depend on the
 * release.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"

enum { MAX_WHOLE = 999999999 };

static shoal_status read_selectivity(cli_job *job, double *selectivity) {
  const char *text = cli_value(job, CLI_SELECTIVITY);
  if (!text) return SHOAL_OK;
  char *end = NULL;
  *selectivity = strtod(text, &end);
  bool plain = strspn(text, "0123456789.eE-+") == strlen(text);
  if (plain && end != text && !*end && *selectivity > 0 && *selectivity <= 1) return SHOAL_OK;
  return cli_fail(&job->error, SHOAL_BAD_INPUT,
                  "option '--selectivity' needs a number above 0 and at most 1, not '%s'", text);
}

static shoal_status read_settings(cli_job *job, shoal_measure_options *options) {
  uint64_t dimensions = 0;
  options->has_queries = cli_value(job, CLI_QUERIES) != NULL;
  shoal_status status = cli_whole_value(job, CLI_QUERIES, 0, MAX_WHOLE, &options->n_queries);
  if (status == SHOAL_OK) status = cli_whole_value(job, CLI_DIMENSIONS, 1, MAX_WHOLE, &dimensions);
  if (status == SHOAL_OK) status = read_selectivity(job, &options->selectivity);
  options->dimensions = (uint32_t)dimensions;
  return status;
}

/* Only one table can be standard input, and the reports must not overwrite a table. */
static shoal_status check_names(cli_job *job) {
  const char *original = cli_operand(job, 0), *masked = cli_operand(job, 1);
  const char *population = cli_value(job, CLI_POPULATION);
  const char *written[] = {cli_value(job, CLI_REPORT), cli_value(job, CLI_HTML)};
  int standard = !strcmp(original, "-") + !strcmp(masked, "-");
  standard += population && !strcmp(population, "-");
  if (standard > 1)
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "only one table can be standard input ('-'); name files for the others");
  for (size_t i = 0; i < sizeof written / sizeof *written; i++)
    if (written[i] && (cli_same_file(written[i], masked) ||
                       (population && cli_same_file(written[i], population))))
      return cli_fail(&job->error, SHOAL_BAD_INPUT,
                      "%s: the %s would overwrite an input; choose another name", written[i],
                      i ? "HTML report" : "report");
  return SHOAL_OK;
}

typedef struct tables {
  shoal_policy *policy;
  shoal_table *original, *masked, *population;
} tables;

static shoal_status read_all(cli_job *job, tables *t) {
  const char *population = cli_value(job, CLI_POPULATION);
  shoal_status status =
      cli_read_table(job, cli_operand(job, 0), t->policy, SHOAL_FOR_COMPARISON, &t->original);
  if (status == SHOAL_OK)
    status = cli_read_table(job, cli_operand(job, 1), t->policy, SHOAL_FOR_REVIEW, &t->masked);
  if (status == SHOAL_OK && population)
    status = cli_read_table(job, population, t->policy, SHOAL_FOR_LINKING, &t->population);
  return status;
}

shoal_status cli_measure(cli_job *job) {
  tables t = {0};
  shoal_result *result = NULL;
  shoal_measure_options options = {0};
  shoal_status status = check_names(job);
  if (status == SHOAL_OK) status = read_settings(job, &options);
  if (status == SHOAL_OK) status = cli_begin_policy(job, &t.policy);
  if (status == SHOAL_OK) status = read_all(job, &t);
  options.population = t.population;
  if (status == SHOAL_OK)
    status =
        shoal_measure(t.original, t.masked, t.policy, &options, &job->run, &result, &job->error);
  if (status == SHOAL_OK) status = cli_write_report(job, result);
  if (status == SHOAL_OK) status = cli_print_result(job, result, cli_format(job));
  if (status == SHOAL_OK && !cli_holds(job, result)) status = SHOAL_REFUSED;
  shoal_result_free(result);
  shoal_table_free(t.original);
  shoal_table_free(t.masked);
  shoal_table_free(t.population);
  shoal_policy_free(t.policy);
  return status;
}
