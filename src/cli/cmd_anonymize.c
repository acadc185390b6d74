/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_anonymize: the main job. What can be wrong with the names on the command line is told
 * before the data is read; the release itself is written, verified and named by the library; the
 * report follows only when the release stands.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/words.h"

static bool is_standard(const char *path) { return !strcmp(path, "-"); }

/* Two things would go to standard output, or a file would overwrite another. */
static shoal_status check_names(cli_job *job) {
  const char *data = cli_operand(job, 0), *policy = cli_value(job, CLI_POLICY);
  const char *output = cli_value(job, CLI_OUTPUT);
  shoal_error *error = &job->error;
  if (is_standard(output) && cli_value(job, CLI_JSON))
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "'--json' and '-o -' would both go to standard output: use '--report "
                    "FILE.json' for the report");
  if (!is_standard(output) && (cli_same_file(output, data) || cli_same_file(output, policy)))
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "%s: the output would overwrite the %s: choose another name", output,
                    cli_same_file(output, data) ? "data" : "policy");
  if (is_standard(output) && job->options->n_repeated)
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "'--previous' reads the release again: give '-o' a file name");
  for (size_t i = 0; i < job->options->n_repeated; i++)
    if (!is_standard(output) && cli_same_file(output, job->options->repeated[i]))
      return cli_fail(error, SHOAL_BAD_INPUT,
                      "%s: the output would overwrite the earlier release: choose another name",
                      output);
  if (!is_standard(output)) {
    shoal_status status = cli_check_place(output, error);
    if (status != SHOAL_OK) return status;
  }
  return cli_check_report(job);
}

/* What nobody asked to see need not be found out. */
static shoal_detail wanted_detail(const cli_job *job) {
  if (cli_value(job, CLI_HTML)) return SHOAL_DETAIL_PAGE;
  bool json = cli_value(job, CLI_REPORT) || cli_value(job, CLI_JSON);
  return json ? SHOAL_DETAIL_FACTS : SHOAL_DETAIL_FIGURES;
}

static shoal_status write_release(cli_job *job, shoal_release *release) {
  const char *data = cli_operand(job, 0);
  const char *avoid[] = {is_standard(data) ? "/dev/stdin" : data, cli_value(job, CLI_POLICY)};
  shoal_write_options options = {
      .keep_order = cli_value(job, CLI_KEEP_ORDER) != NULL,
      .avoid = avoid,
      .n_avoid = sizeof avoid / sizeof *avoid,
      .detail = wanted_detail(job),
  };
  cli_progress_erase(&job->progress); /* the release may go to the same terminal */
  return shoal_release_write(release, cli_value(job, CLI_OUTPUT), &options, &job->run, &job->error);
}

/* The summary goes to standard error where the release went to standard output. */
static shoal_status print_summary(cli_job *job, const shoal_result *result) {
  bool json = cli_value(job, CLI_JSON) != NULL;
  if (!json && cli_value(job, CLI_QUIET)) return SHOAL_OK;
  if (!is_standard(cli_value(job, CLI_OUTPUT)))
    return cli_print_result(job, result, cli_format(job));
  char *text = NULL;
  shoal_status status = shoal_result_render(result, SHOAL_TEXT, &text, &job->error);
  if (status == SHOAL_OK) cli_put(job, text, stderr);
  free(text);
  return status;
}

/* The earlier releases of --previous. */
typedef struct earlier {
  shoal_table *tables[CLI_MAX_REPEATED];
} earlier;

/* Read before the work begins, so that a wrong file is told at once. */
static shoal_status read_earlier(cli_job *job, const shoal_policy *policy, earlier *previous) {
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; status == SHOAL_OK && i < job->options->n_repeated; i++)
    status = cli_read_table(job, job->options->repeated[i], policy, SHOAL_FOR_REVIEW,
                            &previous->tables[i]);
  return status;
}

/* What was written, together with earlier releases: a warning where it breaks the policy. */
static shoal_status compare(cli_job *job, shoal_release *made, const shoal_policy *policy,
                            const earlier *previous) {
  size_t n = job->options->n_repeated;
  if (!n) return SHOAL_OK;
  shoal_table *masked = NULL;
  shoal_status status =
      cli_read_table(job, cli_value(job, CLI_OUTPUT), policy, SHOAL_FOR_REVIEW, &masked);
  if (status == SHOAL_OK)
    status = shoal_release_compare(made, masked, (const shoal_table *const *)previous->tables, n,
                                   &job->run, &job->error);
  shoal_table_free(masked);
  return status;
}

static shoal_status release(cli_job *job, const shoal_table *table, const shoal_policy *policy,
                            const earlier *previous, cli_file *report) {
  shoal_release *made = NULL;
  shoal_status status = shoal_anonymize(table, policy, &job->run, &made, &job->error);
  if (status == SHOAL_OK) status = write_release(job, made);
  if (status == SHOAL_OK) status = compare(job, made, policy, previous);
  if (status == SHOAL_OK) status = cli_write_report(job, shoal_release_result(made), report);
  if (status == SHOAL_OK) status = print_summary(job, shoal_release_result(made));
  shoal_release_free(made);
  return status;
}

shoal_status cli_anonymize(cli_job *job) {
  cli_file report = {NULL};
  shoal_policy *policy = NULL;
  shoal_table *table = NULL;
  earlier previous = {{NULL}};
  const char *report_path = cli_value(job, CLI_REPORT);
  shoal_status status = check_names(job);
  if (status == SHOAL_OK) status = cli_read_policy(job, &policy);
  if (status == SHOAL_OK) status = cli_check_policy_files(job, policy);
  if (status == SHOAL_OK && report_path) status = cli_file_begin(&report, report_path, &job->error);
  if (status == SHOAL_OK) status = cli_begin_page(job);
  if (status == SHOAL_OK)
    status = cli_read_table(job, cli_operand(job, 0), policy, SHOAL_FOR_RELEASE, &table);
  if (status == SHOAL_OK) status = read_earlier(job, policy, &previous);
  if (status == SHOAL_OK) status = release(job, table, policy, &previous, &report);
  for (size_t i = 0; i < CLI_MAX_REPEATED; i++) shoal_table_free(previous.tables[i]);
  shoal_table_free(table);
  shoal_policy_free(policy);
  cli_file_discard(&report);
  return status;
}
