/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_certificate: makes the public certificate of a release from the release and the policy.
 * The exit status is its verdict; the page is written in either case.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"

/* The page goes to -o. What is printed besides goes to standard output, unless the page does. */
static shoal_status write_page(cli_job *job, const shoal_result *result) {
  char *page = NULL;
  shoal_status status = shoal_result_render(result, SHOAL_HTML, &page, &job->error);
  if (status == SHOAL_OK) status = cli_print(job, page);
  free(page);
  return status;
}

static shoal_status print_verdict(cli_job *job, const shoal_result *result) {
  bool to_standard = !strcmp(cli_value(job, CLI_OUTPUT), "-");
  char *text = NULL;
  if (cli_value(job, CLI_QUIET) && !cli_value(job, CLI_JSON)) return SHOAL_OK;
  shoal_status status = shoal_result_render(result, cli_format(job), &text, &job->error);
  if (status == SHOAL_OK) cli_put(job, text, to_standard ? stderr : stdout);
  free(text);
  return status;
}

static shoal_status check_names(cli_job *job) {
  if (!strcmp(cli_operand(job, 0), "-"))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "a certificate is about a file; give the name of the release instead of '-'");
  if (cli_value(job, CLI_JSON) && !strcmp(cli_value(job, CLI_OUTPUT), "-"))
    return cli_fail(&job->error, SHOAL_BAD_INPUT,
                    "'--json' and '-o -' would both go to standard output; give '-o' a file name");
  return SHOAL_OK;
}

shoal_status cli_certificate(cli_job *job) {
  shoal_policy *policy = NULL;
  shoal_result *result = NULL;
  shoal_status status = check_names(job);
  if (status == SHOAL_OK) status = cli_begin_policy(job, &policy);
  if (status == SHOAL_OK) status = cli_set_delimiter(job, policy);
  if (status == SHOAL_OK)
    status = shoal_certificate(cli_operand(job, 0), policy, cli_value(job, CLI_LEFT_OUT), &job->run,
                               &result, &job->error);
  if (status == SHOAL_OK) status = write_page(job, result);
  if (status == SHOAL_OK) status = print_verdict(job, result);
  if (status == SHOAL_OK && !shoal_result_holds(result)) status = SHOAL_REFUSED;
  shoal_result_free(result);
  shoal_policy_free(policy);
  return status;
}
