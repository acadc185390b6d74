/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/job: one run of a command, and what the commands share: reading policy and tables, checking
 * file names, writing the result to its files.
 */
#pragma once

#include <stdio.h>

#include "cli/options.h"
#include "cli/terminal.h"
#include "shoal/program.h"

typedef struct cli_job {
  const struct cli_command *command;
  const cli_options *options;
  cli_progress progress;
  shoal_run run; /* points to `progress`: do not move a job */
  /* Files of options, begun before the work and committed with the result; NULL: none. */
  shoal_file *output; /* -o of a command that prints; not the release of anonymize */
  shoal_file *report; /* --report */
  shoal_file *html;   /* --html */
  shoal_error error;
} cli_job;

/* Prepares a job. Call cli_job_end afterwards, also after an error. */
shoal_status cli_job_begin(cli_job *job, const struct cli_command *command,
                           const cli_options *options) SHOAL_MUST_CHECK;
void cli_job_end(cli_job *job);

/* The option's value, or NULL; the operand, or NULL. */
const char *cli_value(const cli_job *job, cli_option_id id);
const char *cli_operand(const cli_job *job, size_t i);

/* The option's value as a whole number from `min` to `max`; *number is unchanged without it. */
shoal_status cli_whole_value(cli_job *job, cli_option_id id, uint64_t min, uint64_t max,
                             uint64_t *number) SHOAL_MUST_CHECK;

/* SHOAL_JSON with --json, else SHOAL_TEXT. */
shoal_format cli_format(const cli_job *job);

/* Reads the policy of -P and applies the options that override it. The caller frees it. */
shoal_status cli_read_policy(cli_job *job, shoal_policy **policy) SHOAL_MUST_CHECK;

/* Makes --delimiter, if given, part of the policy: then the certificate states it. */
shoal_status cli_set_delimiter(cli_job *job, shoal_policy *policy) SHOAL_MUST_CHECK;

/* The address of a database with a table or query, unless it has one; freed by the caller. Other
 * paths are copied. */
shoal_status cli_address(cli_job *job, const char *path, const char *table, const char *query,
                         char **address) SHOAL_MUST_CHECK;

/* The same of DATA with --table or --query. */
shoal_status cli_table_address(cli_job *job, char **address) SHOAL_MUST_CHECK;

/* Reads a table with --delimiter, --table and --query. `policy` may be NULL. The caller frees it.
 */
shoal_status cli_read_table(cli_job *job, const char *path, const shoal_policy *policy,
                            shoal_purpose purpose, shoal_table **table) SHOAL_MUST_CHECK;

/*
 * What a command with a policy does before it reads data: checks the names of -o, --report and
 * --html, reads the policy and begins the two files. The caller frees the policy.
 */
shoal_status cli_begin_policy(cli_job *job, shoal_policy **policy) SHOAL_MUST_CHECK;

/* Does the result hold and, with --strict, does its verdict hold without open risks? */
bool cli_holds(const cli_job *job, const shoal_result *result);

/* Erases the progress bar and prints text, with a newline at its end. */
void cli_put(cli_job *job, const char *text, FILE *out);

/* Prints text to the file of -o or to standard output. */
shoal_status cli_print(cli_job *job, const char *text) SHOAL_MUST_CHECK;

/* Prints the result in a format. With --quiet, text is printed only if -o is given. */
shoal_status cli_print_result(cli_job *job, const shoal_result *result,
                              shoal_format format) SHOAL_MUST_CHECK;

/* Writes the result to the files of --report and --html, if any. */
shoal_status cli_write_report(cli_job *job, const shoal_result *result) SHOAL_MUST_CHECK;

/* shoal_check, shoal_conditions, shoal_lattice, shoal_explain */
typedef shoal_status (*cli_study_fn)(const shoal_table *table, const shoal_policy *policy,
                                     const shoal_run *run, shoal_result **result,
                                     shoal_error *error);

/* Runs a command on one table and a policy: reads both, calls `study`, prints its result. *holds:
 * cli_holds. */
shoal_status cli_study(cli_job *job, shoal_purpose purpose, cli_study_fn study, shoal_format format,
                       bool *holds) SHOAL_MUST_CHECK;

/* Do both paths lead to one file, or would they if it were created? "-" is standard input's file.
 */
bool cli_same_file(const char *a, const char *b);

/*
 * SHOAL_BAD_INPUT or SHOAL_FAILED if no file can be created at the path: its directory is missing,
 * it is a directory, or standard output or standard error goes to it.
 */
shoal_status cli_check_output_path(const char *path, shoal_error *error) SHOAL_MUST_CHECK;

/* Checks the path and creates the temporary file, so that a bad path fails before long work. */
shoal_status cli_file_begin(const char *path, shoal_file **file,
                            shoal_error *error) SHOAL_MUST_CHECK;

/* Writes the text and renames the file into place; frees it and sets it to NULL. */
shoal_status cli_file_commit(shoal_file **file, const char *text,
                             shoal_error *error) SHOAL_MUST_CHECK;
