/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_measure: what a release is still good for, and what it still risks. Both tables and the
 * population are read by one policy; the figures are printed, and nothing is judged.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/words.h"

static shoal_status read_whole(cli_job *job, cli_option_id id, const char *title, uint64_t least,
                               uint64_t *number) {
  const char *text = cli_value(job, id);
  if (!text) return SHOAL_OK;
  size_t length = strlen(text);
  if (length > 9 || strspn(text, "0123456789") != length || strtoull(text, NULL, 10) < least)
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "option '%s' needs a whole number from %llu on, not '%s'", title,
                    (unsigned long long)least, text);
  *number = strtoull(text, NULL, 10);
  return SHOAL_OK;
}

static shoal_status read_selectivity(cli_job *job, double *selectivity) {
  const char *text = cli_value(job, CLI_SELECTIVITY);
  if (!text) return SHOAL_OK;
  char *end = NULL;
  *selectivity = strtod(text, &end);
  bool plain = strspn(text, "0123456789.eE-+") == strlen(text);
  if (plain && end != text && !*end && *selectivity > 0 && *selectivity <= 1) return SHOAL_OK;
  return cli_fail(&job->error, SHOAL_BAD_INPUT,
                  "option '--selectivity' needs a share of the rows, above 0 and at most 1, not "
                  "'%s'",
                  text);
}

static shoal_status read_settings(cli_job *job, shoal_measure_options *options) {
  uint64_t dimensions = 0;
  options->has_queries = cli_value(job, CLI_QUERIES) != NULL;
  shoal_status status = read_whole(job, CLI_QUERIES, "--queries", 0, &options->n_queries);
  if (status == SHOAL_OK) status = read_whole(job, CLI_DIMENSIONS, "--dimensions", 1, &dimensions);
  if (status == SHOAL_OK) status = read_selectivity(job, &options->selectivity);
  options->dimensions = (uint32_t)dimensions;
  return status;
}

/* Standard input can be read once; no file that is read may be overwritten by the report. */
static shoal_status check_names(cli_job *job) {
  const char *original = cli_operand(job, 0), *masked = cli_operand(job, 1);
  const char *population = cli_value(job, CLI_POPULATION);
  const char *written[] = {cli_value(job, CLI_REPORT), cli_value(job, CLI_HTML)};
  int standard = !strcmp(original, "-") + !strcmp(masked, "-");
  standard += population && !strcmp(population, "-");
  if (standard > 1)
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "only one of the tables can be standard input ('-'): name files for the "
                    "others");
  for (size_t i = 0; i < sizeof written / sizeof *written; i++)
    if (written[i] && (cli_same_file(written[i], masked) ||
                       (population && cli_same_file(written[i], population))))
      return cli_fail(&job->error, SHOAL_BAD_INPUT,
                      "%s: the %s would overwrite what is read: choose another name", written[i],
                      i ? "page" : "report");
  return cli_check_report(job);
}

typedef struct tables {
  shoal_policy *policy;
  shoal_table *original, *masked, *population;
} tables;

static shoal_status read_all(cli_job *job, tables *t) {
  const char *population = cli_value(job, CLI_POPULATION);
  shoal_status status =
      cli_read_table(job, cli_operand(job, 0), t->policy, SHOAL_FOR_REVIEW, &t->original);
  if (status == SHOAL_OK)
    status = cli_read_table(job, cli_operand(job, 1), t->policy, SHOAL_FOR_REVIEW, &t->masked);
  if (status == SHOAL_OK && population)
    status = cli_read_table(job, population, t->policy, SHOAL_FOR_LINKING, &t->population);
  return status;
}

static shoal_status print(cli_job *job, const shoal_result *result, cli_file *report) {
  shoal_status status = cli_write_report(job, result, report);
  bool silent =
      cli_value(job, CLI_QUIET) && !cli_value(job, CLI_JSON) && !cli_value(job, CLI_OUTPUT);
  if (status != SHOAL_OK || silent) return status;
  return cli_print_result(job, result, cli_format(job));
}

shoal_status cli_measure(cli_job *job) {
  cli_file report = {NULL};
  tables t = {0};
  shoal_result *result = NULL;
  shoal_measure_options options = {0};
  shoal_status status = check_names(job);
  if (status == SHOAL_OK) status = read_settings(job, &options);
  if (status == SHOAL_OK) status = cli_read_policy(job, &t.policy);
  if (status == SHOAL_OK) status = cli_check_policy_files(job, t.policy);
  if (status == SHOAL_OK && cli_value(job, CLI_REPORT))
    status = cli_file_begin(&report, cli_value(job, CLI_REPORT), &job->error);
  if (status == SHOAL_OK) status = cli_begin_page(job);
  if (status == SHOAL_OK) status = read_all(job, &t);
  options.population = t.population;
  if (status == SHOAL_OK)
    status =
        shoal_measure(t.original, t.masked, t.policy, &options, &job->run, &result, &job->error);
  if (status == SHOAL_OK) status = print(job, result, &report);
  shoal_result_free(result);
  shoal_table_free(t.original);
  shoal_table_free(t.masked);
  shoal_table_free(t.population);
  shoal_policy_free(t.policy);
  cli_file_discard(&report);
  return status;
}
