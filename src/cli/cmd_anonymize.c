/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_anonymize: checks the names on the command line before it reads data. The library writes,
 * verifies and renames the release, and its certificate and mapping with it; the report is written
 * after that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"

static bool is_standard(const char *path) { return !strcmp(path, "-"); }

/* The file, or the address of the output table; freed by the caller. */
static shoal_status output_of(cli_job *job, char **output) {
  return cli_address(job, cli_value(job, CLI_OUTPUT), cli_value(job, CLI_OUTPUT_TABLE), NULL,
                     output);
}

/* Before data is read: can the table be written? */
static shoal_status try_table(cli_job *job) {
  char *address = NULL;
  shoal_status status = output_of(job, &address);
  if (status == SHOAL_OK)
    status =
        shoal_path_try_table(address, cli_value(job, CLI_REPLACE) != NULL, &job->run, &job->error);
  free(address);
  return status;
}

/* No two outputs may go to standard output, and no output may overwrite an input. */
static shoal_status check_names(cli_job *job) {
  const char *data = cli_operand(job, 0), *policy = cli_value(job, CLI_POLICY);
  const char *output = cli_value(job, CLI_OUTPUT);
  shoal_error *error = &job->error;
  if (is_standard(output) && cli_value(job, CLI_JSON))
    return cli_fail(
        error, SHOAL_BAD_INPUT,
        "'--json' and '-o -' would both go to standard output; use '--report FILE.json'");
  if (shoal_path_is_database(output)) return try_table(job);
  if (!is_standard(output) && (cli_same_file(output, data) || cli_same_file(output, policy)))
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "%s: the output would overwrite the %s; choose another name", output,
                    cli_same_file(output, data) ? "data" : "policy");
  if (is_standard(output) && job->options->n_repeated)
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "'--previous' reads the release again; give '-o' a file name");
  for (size_t i = 0; i < job->options->n_repeated; i++)
    if (!is_standard(output) && cli_same_file(output, job->options->repeated[i]))
      return cli_fail(error, SHOAL_BAD_INPUT,
                      "%s: the output would overwrite the earlier release; choose another name",
                      output);
  if (cli_value(job, CLI_OUTPUT_TABLE) || cli_value(job, CLI_REPLACE))
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "'--output-table' and '--replace' are for '-o' with a database");
  return is_standard(output) ? SHOAL_OK : cli_check_output_path(output, error);
}

/* Only what is printed is computed. */
static shoal_detail wanted_detail(const cli_job *job) {
  if (cli_value(job, CLI_HTML)) return SHOAL_DETAIL_HTML;
  bool json = cli_value(job, CLI_REPORT) || cli_value(job, CLI_JSON);
  return json ? SHOAL_DETAIL_FACTS : SHOAL_DETAIL_FIGURES;
}

/* The earlier releases of --previous. */
typedef struct earlier {
  shoal_table *tables[CLI_MAX_REPEATED];
} earlier;

static shoal_status write_release(cli_job *job, shoal_release *release, const earlier *previous) {
  const char *data = cli_operand(job, 0);
  const char *avoid[] = {is_standard(data) ? "/dev/stdin" : data, cli_value(job, CLI_POLICY)};
  shoal_write_options options = {
      .keep_order = cli_value(job, CLI_KEEP_ORDER) != NULL,
      .strict = cli_value(job, CLI_STRICT) != NULL,
      .detail = wanted_detail(job),
      .previous = (const shoal_table *const *)previous->tables,
      .n_previous = job->options->n_repeated,
      .certificate = cli_value(job, CLI_CERTIFICATE),
      .mapping = cli_value(job, CLI_MAPPING),
      .replace = cli_value(job, CLI_REPLACE) != NULL,
  };
  char *output = NULL;
  cli_progress_erase(&job->progress); /* the release may go to the same terminal */
  shoal_avoided avoided = {avoid, sizeof avoid / sizeof *avoid};
  shoal_status status = output_of(job, &output);
  if (status == SHOAL_OK)
    status =
        shoal_release_write_beside(release, output, &avoided, &options, &job->run, &job->error);
  free(output);
  return status;
}

/* Prints the summary, to standard error if the release went to standard output. */
static shoal_status print_summary(cli_job *job, const shoal_result *result) {
  if (cli_value(job, CLI_QUIET) && !cli_value(job, CLI_JSON)) return SHOAL_OK;
  if (!is_standard(cli_value(job, CLI_OUTPUT)))
    return cli_print_result(job, result, cli_format(job));
  char *text = NULL;
  shoal_status status = shoal_result_render(result, SHOAL_TEXT, &text, &job->error);
  if (status == SHOAL_OK) cli_put(job, text, stderr);
  free(text);
  return status;
}

/* Creates and removes the file's temporary file, so that a bad path fails early. */
static shoal_status try_file(cli_job *job, cli_option_id id) {
  const char *path = cli_value(job, id);
  shoal_file *file = NULL;
  shoal_status status = path ? cli_file_begin(path, &file, &job->error) : SHOAL_OK;
  shoal_file_free(file);
  return status;
}

/* Reads them before the work begins, so that a bad file fails early. */
static shoal_status read_earlier(cli_job *job, const shoal_policy *policy, earlier *previous) {
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; status == SHOAL_OK && i < job->options->n_repeated; i++)
    status = cli_read_table(job, job->options->repeated[i], policy, SHOAL_FOR_REVIEW,
                            &previous->tables[i]);
  return status;
}

static shoal_status release(cli_job *job, const shoal_table *table, const shoal_policy *policy,
                            const earlier *previous) {
  shoal_release *made = NULL;
  bool shown = !cli_value(job, CLI_QUIET) || wanted_detail(job) != SHOAL_DETAIL_FIGURES;
  job->run.quick = cli_value(job, CLI_QUICK) != NULL || !shown;
  shoal_status status = shoal_anonymize(table, policy, &job->run, &made, &job->error);
  if (status == SHOAL_OK) status = write_release(job, made, previous);
  if (status == SHOAL_OK) status = cli_write_report(job, shoal_release_result(made));
  if (status == SHOAL_OK) status = print_summary(job, shoal_release_result(made));
  shoal_release_free(made);
  return status;
}

/* --in-database: the server keeps the rows. */
static shoal_status release_inside(cli_job *job, const shoal_policy *policy) {
  char *source = NULL, *output = NULL;
  shoal_release *made = NULL;
  shoal_write_options options = {
      .keep_order = cli_value(job, CLI_KEEP_ORDER) != NULL,
      .strict = cli_value(job, CLI_STRICT) != NULL,
      .certificate = cli_value(job, CLI_CERTIFICATE),
      .mapping = cli_value(job, CLI_MAPPING),
      .n_previous = job->options->n_repeated,
      .detail = cli_value(job, CLI_HTML) ? SHOAL_DETAIL_HTML : SHOAL_DETAIL_FIGURES,
      .replace = cli_value(job, CLI_REPLACE) != NULL,
  };
  shoal_status status = cli_table_address(job, &source);
  if (status == SHOAL_OK) status = output_of(job, &output);
  if (status == SHOAL_OK)
    status =
        shoal_anonymize_inside(source, output, policy, &options, &job->run, &made, &job->error);
  if (status == SHOAL_OK) status = cli_write_report(job, shoal_release_result(made));
  if (status == SHOAL_OK) status = print_summary(job, shoal_release_result(made));
  shoal_release_free(made);
  free(source);
  free(output);
  return status;
}

shoal_status cli_anonymize(cli_job *job) {
  shoal_policy *policy = NULL;
  shoal_table *table = NULL;
  earlier previous = {{NULL}};
  shoal_status status = check_names(job);
  if (status == SHOAL_OK) status = cli_begin_policy(job, &policy);
  if (status == SHOAL_OK) status = cli_set_delimiter(job, policy);
  if (cli_value(job, CLI_IN_DATABASE)) {
    if (status == SHOAL_OK) status = release_inside(job, policy);
    shoal_policy_free(policy);
    return status;
  }
  if (status == SHOAL_OK) status = try_file(job, CLI_CERTIFICATE);
  if (status == SHOAL_OK) status = try_file(job, CLI_MAPPING);
  if (status == SHOAL_OK)
    status = cli_read_table(job, cli_operand(job, 0), policy, SHOAL_FOR_RELEASE, &table);
  if (status == SHOAL_OK) status = read_earlier(job, policy, &previous);
  if (status == SHOAL_OK) status = release(job, table, policy, &previous);
  for (size_t i = 0; i < CLI_MAX_REPEATED; i++) shoal_table_free(previous.tables[i]);
  shoal_table_free(table);
  shoal_policy_free(policy);
  return status;
}
