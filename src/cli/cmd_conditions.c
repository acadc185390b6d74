/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_conditions: prints the necessary conditions of Truta & Vinay 2006. The exit status says
 * whether all of them can be met.
 */
#include "cli/commands.h"

shoal_status cli_conditions(cli_job *job) {
  bool holds = false;
  shoal_status status =
      cli_study(job, SHOAL_FOR_RELEASE, shoal_conditions, cli_format(job), &holds);
  if (status != SHOAL_OK) return status;
  return holds ? SHOAL_OK : SHOAL_REFUSED;
}
