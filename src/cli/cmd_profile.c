/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_profile: describes a table and writes a starting policy. The table is read without a
 * policy, so every column is text.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"

/* Where the policy goes; NULL: it is not written. */
static const char *policy_path(const cli_job *job) {
  const char *path = cli_value(job, CLI_POLICY_OUT);
  bool wanted = cli_value(job, CLI_DECIDE) || cli_value(job, CLI_PRESET);
  return path || !wanted ? path : "-";
}

static shoal_status read_style(cli_job *job, shoal_policy_style *style) {
  const char *decide = cli_value(job, CLI_DECIDE);
  *style = (shoal_policy_style){.decided = decide != NULL, .preset = cli_value(job, CLI_PRESET)};
  if (!decide || !strcmp(decide, "safe")) return SHOAL_OK;
  return cli_fail(&job->error, SHOAL_BAD_INPUT, "--decide takes 'safe'");
}

/* --policy-out must not be the data or another output. */
static shoal_status begin_policy(cli_job *job, shoal_file **file) {
  const char *path = policy_path(job), *output = cli_value(job, CLI_OUTPUT);
  if (!path) return SHOAL_OK;
  if (!strcmp(path, "-")) {
    if (!cli_value(job, CLI_JSON)) return SHOAL_OK;
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "'--json' and '--policy-out -' would both go to standard output; give "
                    "'--policy-out' a file name");
  }
  if (cli_same_file(path, cli_operand(job, 0)))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "%s: the policy would overwrite the data; choose another name", path);
  if (output && strcmp(output, "-") != 0 && cli_same_file(path, output))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "%s: --policy-out and -o name the same file; choose two names", path);
  return cli_file_begin(path, file, &job->error);
}

static shoal_status print_profile(cli_job *job, const shoal_result *profile, shoal_file **file) {
  const char *policy = policy_path(job);
  if (policy) {
    /* Writes the policy to its file; with "-", prints it instead of the profile. */
    char *yaml = NULL;
    shoal_policy_style style;
    shoal_status status = read_style(job, &style);
    if (status == SHOAL_OK) status = shoal_profile_policy_as(profile, &style, &yaml, &job->error);
    if (status == SHOAL_OK)
      status = *file ? cli_file_commit(file, yaml, &job->error) : cli_print(job, yaml);
    free(yaml);
    if (status != SHOAL_OK || !strcmp(policy, "-")) return status;
  }
  return cli_print_result(job, profile, cli_format(job));
}

shoal_status cli_profile(cli_job *job) {
  shoal_file *policy = NULL;
  shoal_table *table = NULL;
  shoal_result *profile = NULL;
  shoal_status status = begin_policy(job, &policy);
  if (status == SHOAL_OK)
    status = cli_read_table(job, cli_operand(job, 0), NULL, SHOAL_FOR_RELEASE, &table);
  if (status == SHOAL_OK) status = shoal_profile(table, &job->run, &profile, &job->error);
  if (status == SHOAL_OK) status = print_profile(job, profile, &policy);
  shoal_result_free(profile);
  shoal_table_free(table);
  shoal_file_free(policy);
  return status;
}
