/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_explain: explains why a policy cannot be satisfied or loses much information, and what
 * would help. The exit status says whether the policy can be satisfied.
 */
#include "cli/commands.h"

shoal_status cli_explain(cli_job *job) {
  bool holds = false;
  shoal_status status = cli_study(job, SHOAL_FOR_RELEASE, shoal_explain, cli_format(job), &holds);
  if (status != SHOAL_OK) return status;
  return holds ? SHOAL_OK : SHOAL_REFUSED;
}
