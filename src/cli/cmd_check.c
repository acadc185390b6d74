/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_check: does a table, raw or released, satisfy the policy as it stands? The printed
 * result says which model breaks where; the exit status says yes or no.
 */
#include "cli/commands.h"

shoal_status cli_check(cli_job *job) {
  bool holds = false;
  shoal_status status = cli_study(job, SHOAL_FOR_REVIEW, shoal_check, cli_format(job), &holds);
  if (status != SHOAL_OK) return status;
  return holds ? SHOAL_OK : SHOAL_REFUSED;
}
