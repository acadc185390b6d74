/* SPDX-License-Identifier: Apache-2.0 */
/* cli/job: one run of a command: its options, its bar, its error; and what commands share. */
#ifndef SHOAL_CLI_JOB_H
#define SHOAL_CLI_JOB_H

#include <stdio.h>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "shoal/shoal.h"

typedef struct cli_job {
  const struct cli_command *command;
  const cli_options *options;
  cli_progress progress;
  shoal_run run;   /* points to `progress`: a job does not move */
  cli_file output; /* of -o, where the command prints; not anonymize's release */
  cli_file page;   /* of --html */
  shoal_error error;
} cli_job;

/* Makes a job ready to run. After it, and whatever it returned, call cli_job_end. */
shoal_status cli_job_begin(cli_job *job, const struct cli_command *command,
                           const cli_options *options) SHOAL_MUST_CHECK;
void cli_job_end(cli_job *job);

/* The option's value, or NULL; the operand, or NULL. */
const char *cli_value(const cli_job *job, cli_option_id id);
const char *cli_operand(const cli_job *job, size_t i);

/* SHOAL_JSON with --json, else SHOAL_TEXT. */
shoal_format cli_format(const cli_job *job);

/* The policy of -P with what the command line overrides. The caller frees it. */
shoal_status cli_read_policy(cli_job *job, shoal_policy **policy) SHOAL_MUST_CHECK;

/* The table in `path`, with --delimiter. `policy` may be NULL. The caller frees it. */
shoal_status cli_read_table(cli_job *job, const char *path, const shoal_policy *policy,
                            shoal_purpose purpose, shoal_table **table) SHOAL_MUST_CHECK;

/* Writes text, and a newline if it has none at its end, over the bar's line. */
void cli_put(cli_job *job, const char *text, FILE *out);

/* The same to the file of -o, or to standard output. */
shoal_status cli_print(cli_job *job, const char *text) SHOAL_MUST_CHECK;

/* Renders a result and prints it. */
shoal_status cli_print_result(cli_job *job, const shoal_result *result,
                              shoal_format format) SHOAL_MUST_CHECK;

/* --report and --html name files of their own. */
shoal_status cli_check_report(cli_job *job) SHOAL_MUST_CHECK;

/* Neither -o nor --report nor --html names a file that the policy stands on. */
shoal_status cli_check_policy_files(cli_job *job, const shoal_policy *policy) SHOAL_MUST_CHECK;

/* Makes the file of --html ready, if there is one. */
shoal_status cli_begin_page(cli_job *job) SHOAL_MUST_CHECK;

/*
 * The result as JSON into the begun file of --report, and as a page into that of --html; nothing
 * where there is none.
 */
shoal_status cli_write_report(cli_job *job, const shoal_result *result,
                              cli_file *report) SHOAL_MUST_CHECK;

/* shoal_check, shoal_conditions, shoal_lattice */
typedef shoal_status (*cli_study_fn)(const shoal_table *table, const shoal_policy *policy,
                                     const shoal_run *run, shoal_result **result,
                                     shoal_error *error);

/* Policy and data are read, studied, and what was found is printed; does it hold? */
shoal_status cli_study(cli_job *job, shoal_purpose purpose, cli_study_fn study, shoal_format format,
                       bool *holds) SHOAL_MUST_CHECK;

#endif
