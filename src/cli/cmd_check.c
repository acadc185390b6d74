/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_check: checks whether a table, raw or released, satisfies the policy. The exit status is
 * the answer.
 */
#include "cli/commands.h"

shoal_status cli_check(cli_job *job) {
  bool holds = false;
  shoal_status status = cli_study(job, SHOAL_FOR_REVIEW, shoal_check, cli_format(job), &holds);
  if (status != SHOAL_OK) return status;
  return holds ? SHOAL_OK : SHOAL_REFUSED;
}
