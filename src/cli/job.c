/* SPDX-License-Identifier: Apache-2.0 */
/* cli/job: see job.h. */
#include "cli/job.h"

#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/words.h"

const char *cli_value(const cli_job *job, cli_option_id id) { return job->options->values[id]; }

const char *cli_operand(const cli_job *job, size_t i) {
  return i < job->options->n_operands ? job->options->operands[i] : NULL;
}

shoal_format cli_format(const cli_job *job) {
  return cli_value(job, CLI_JSON) ? SHOAL_JSON : SHOAL_TEXT;
}

static shoal_status parse_threads(const char *text, unsigned *n_threads, shoal_error *error) {
  size_t length = strlen(text);
  unsigned n = 0;
  bool digits = length <= 2 && strspn(text, "0123456789") == length;
  for (size_t i = 0; digits && i < length; i++) n = n * 10 + (unsigned)(text[i] - '0');
  if (!digits || n < 1 || n > 64)
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "option '--threads' needs a whole number from 1 to 64, not '%s'", text);
  *n_threads = n;
  return SHOAL_OK;
}

/* "500M", "2G", "123456": bytes. */
static shoal_status parse_memory(const char *text, uint64_t *bytes, shoal_error *error) {
  static const char units[] = "KMG";
  size_t digits = strspn(text, "0123456789");
  const char *unit = text[digits] ? strchr(units, text[digits] & ~0x20) : NULL;
  uint64_t n = 0;
  bool ok = digits > 0 && digits <= 15 && (!text[digits] || (unit && !text[digits + 1]));
  for (size_t i = 0; ok && i < digits; i++) n = n * 10 + (uint64_t)(text[i] - '0');
  for (const char *u = units; ok && unit && u <= unit; u++) {
    ok = n <= UINT64_MAX / 1024;
    n *= 1024;
  }
  if (!ok || n == 0)
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "option '--memory' needs a size such as 500M or 2G, not '%s'", text);
  *bytes = n;
  return SHOAL_OK;
}

/* Is the path a table that an option names? */
static bool is_side_table(const cli_job *job, const char *path) {
  static const cli_option_id sides[] = {CLI_EXTERNAL, CLI_ORIGINAL, CLI_POPULATION};
  for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
    if (cli_value(job, sides[i]) && cli_same_file(path, cli_value(job, sides[i]))) return true;
  for (size_t i = 0; i < job->options->n_repeated; i++)
    if (cli_same_file(path, job->options->repeated[i])) return true;
  return false;
}

static shoal_status parse_seconds(const char *text, double *seconds, shoal_error *error) {
  char *end;
  *seconds = strtod(text, &end);
  bool plain = strspn(text, "0123456789.") == strlen(text);
  if (!plain || end == text || *end || !(*seconds > 0 && *seconds <= 1e9))
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "option '--time-limit' needs a number of seconds above 0, not '%s'", text);
  return SHOAL_OK;
}

/* -o of a command that prints: the file is begun now, and committed by cli_print. */
static shoal_status begin_output(cli_job *job) {
  const char *path = cli_value(job, CLI_OUTPUT), *policy = cli_value(job, CLI_POLICY);
  if (!path || !strcmp(path, "-") || job->command->bit == CLI_ANONYMIZE) return SHOAL_OK;
  bool taken = (policy && cli_same_file(path, policy)) || is_side_table(job, path);
  size_t first = job->command->bit == CLI_HIERARCHY ? 1 : 0; /* after build, check or show */
  for (size_t i = first; i < job->options->n_operands; i++)
    taken = taken || cli_same_file(path, cli_operand(job, i));
  if (taken)
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "%s: the output would overwrite what is read: choose another name", path);
  return cli_file_begin(&job->output, path, &job->error);
}

shoal_status cli_job_begin(cli_job *job, const cli_command *command, const cli_options *options) {
  memset(job, 0, sizeof *job);
  job->command = command;
  job->options = options;
  cli_progress_init(&job->progress, cli_value(job, CLI_QUIET) != NULL);
  job->run.progress = cli_progress_report;
  job->run.progress_user = &job->progress;
  const char *threads = cli_value(job, CLI_THREADS);
  shoal_status status = SHOAL_OK;
  if (threads) status = parse_threads(threads, &job->run.n_threads, &job->error);
  const char *memory = cli_value(job, CLI_MEMORY);
  if (status == SHOAL_OK && memory)
    status = parse_memory(memory, &job->run.memory_bytes, &job->error);
  const char *limit = cli_value(job, CLI_TIME_LIMIT);
  if (status == SHOAL_OK && limit)
    status = parse_seconds(limit, &job->run.time_limit_seconds, &job->error);
  return status == SHOAL_OK ? begin_output(job) : status;
}

void cli_job_end(cli_job *job) {
  cli_progress_erase(&job->progress);
  cli_file_discard(&job->output);
  cli_file_discard(&job->page);
}

/* Every option with a policy key goes to the policy as it was written. */
static shoal_status override(cli_job *job, shoal_policy *policy) {
  for (const cli_option *option = cli_option_table(); option->help; option++) {
    const char *value = cli_value(job, option->id);
    if (!option->policy_key || !value) continue;
    shoal_status status = shoal_policy_set(policy, option->policy_key, value, &job->error);
    if (status != SHOAL_OK) return status;
  }
  return SHOAL_OK;
}

shoal_status cli_read_policy(cli_job *job, shoal_policy **policy) {
  shoal_policy *read = NULL;
  shoal_status status = shoal_policy_read(cli_value(job, CLI_POLICY), &read, &job->error);
  if (status != SHOAL_OK) return status;
  status = override(job, read);
  if (status == SHOAL_OK) *policy = read;
  else shoal_policy_free(read);
  return status;
}

shoal_status cli_read_table(cli_job *job, const char *path, const shoal_policy *policy,
                            shoal_purpose purpose, shoal_table **table) {
  const char *delimiter = cli_value(job, CLI_DELIMITER);
  /* A tab is hard to type: "tab" and "\t" stand for it. */
  if (delimiter && (!strcmp(delimiter, "tab") || !strcmp(delimiter, "\\t"))) delimiter = "\t";
  return shoal_table_read(path, policy, purpose, delimiter, &job->run, table, &job->error);
}

void cli_put(cli_job *job, const char *text, FILE *out) {
  size_t length = strlen(text);
  cli_progress_erase(&job->progress);
  (void)fputs(text, out); /* an error is found when standard output is closed */
  if (!length || text[length - 1] != '\n') (void)fputc('\n', out);
}

shoal_status cli_print(cli_job *job, const char *text) {
  if (job->output.file) return cli_file_commit(&job->output, text, &job->error);
  cli_put(job, text, stdout);
  return SHOAL_OK;
}

shoal_status cli_print_result(cli_job *job, const shoal_result *result, shoal_format format) {
  char *text = NULL;
  shoal_status status = shoal_result_render(result, format, &text, &job->error);
  if (status == SHOAL_OK) status = cli_print(job, text);
  free(text);
  return status;
}

/* A file that is written beside the result: not what is read, nor another output. */
static shoal_status check_extra(cli_job *job, cli_option_id id, const char *what,
                                const char *instead) {
  const char *path = cli_value(job, id), *output = cli_value(job, CLI_OUTPUT);
  const char *data = cli_operand(job, 0), *policy = cli_value(job, CLI_POLICY);
  char title[32];
  if (!path) return SHOAL_OK;
  if (!strcmp(path, "-"))
    return cli_fail(&job->error, SHOAL_BAD_INPUT, "'%s' needs a file name%s",
                    cli_option_title(cli_option_of(job->command, id), title), instead);
  if (cli_same_file(path, data) || cli_same_file(path, policy))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "%s: the %s would overwrite the %s: choose another name", path, what,
                    cli_same_file(path, data) ? "data" : "policy");
  if (output && strcmp(output, "-") != 0 && cli_same_file(path, output))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "%s: the output and the %s are one file: choose two names", path, what);
  if (is_side_table(job, path))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "%s: the %s would overwrite what is read: choose another name", path, what);
  return SHOAL_OK;
}

shoal_status cli_check_report(cli_job *job) {
  const char *report = cli_value(job, CLI_REPORT), *page = cli_value(job, CLI_HTML);
  shoal_status status =
      check_extra(job, CLI_REPORT, "report", ": '--json' prints the report to standard output");
  if (status == SHOAL_OK) status = check_extra(job, CLI_HTML, "page", "");
  if (status == SHOAL_OK && report && page && cli_same_file(report, page))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "%s: the report and the page are one file: choose two names", page);
  return status;
}

/* No file that the policy stands on may be overwritten. */
shoal_status cli_check_policy_files(cli_job *job, const shoal_policy *policy) {
  static const cli_option_id outputs[] = {CLI_OUTPUT, CLI_REPORT, CLI_HTML};
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
    const char *path = cli_value(job, outputs[i]);
    if (path && strcmp(path, "-") != 0 && shoal_policy_names_file(policy, path))
      return cli_fail(&job->error, SHOAL_BAD_INPUT,
                      "%s: is a file that the policy uses: choose another name", path);
  }
  return SHOAL_OK;
}

shoal_status cli_begin_page(cli_job *job) {
  const char *path = cli_value(job, CLI_HTML);
  return path ? cli_file_begin(&job->page, path, &job->error) : SHOAL_OK;
}

static shoal_status write_as(cli_job *job, const shoal_result *result, shoal_format format,
                             cli_file *file) {
  if (!file->file) return SHOAL_OK;
  char *text = NULL;
  shoal_status status = shoal_result_render(result, format, &text, &job->error);
  if (status == SHOAL_OK) status = cli_file_commit(file, text, &job->error);
  free(text);
  return status;
}

shoal_status cli_write_report(cli_job *job, const shoal_result *result, cli_file *report) {
  shoal_status status = write_as(job, result, SHOAL_JSON, report);
  return status == SHOAL_OK ? write_as(job, result, SHOAL_HTML, &job->page) : status;
}

shoal_status cli_study(cli_job *job, shoal_purpose purpose, cli_study_fn study, shoal_format format,
                       bool *holds) {
  cli_file report = {NULL};
  shoal_policy *policy = NULL;
  shoal_table *table = NULL;
  shoal_result *result = NULL;
  shoal_status status = cli_check_report(job);
  if (status == SHOAL_OK) status = cli_read_policy(job, &policy);
  if (status == SHOAL_OK) status = cli_check_policy_files(job, policy);
  if (status == SHOAL_OK && cli_value(job, CLI_REPORT))
    status = cli_file_begin(&report, cli_value(job, CLI_REPORT), &job->error);
  if (status == SHOAL_OK) status = cli_begin_page(job);
  if (status == SHOAL_OK)
    status = cli_read_table(job, cli_operand(job, 0), policy, purpose, &table);
  if (status == SHOAL_OK) status = study(table, policy, &job->run, &result, &job->error);
  if (status == SHOAL_OK) status = cli_write_report(job, result, &report);
  if (status == SHOAL_OK) {
    *holds = shoal_result_holds(result);
    if (!cli_value(job, CLI_QUIET) || format != SHOAL_TEXT || cli_value(job, CLI_OUTPUT))
      status = cli_print_result(job, result, format);
  }
  shoal_result_free(result);
  shoal_table_free(table);
  shoal_policy_free(policy);
  cli_file_discard(&report);
  return status;
}
