/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_explain: why a policy cannot be met or costs much, and what would help. The explanation
 * is printed in either case; the exit status says whether the policy can be met.
 */
#include "cli/commands.h"

shoal_status cli_explain(cli_job *job) {
  bool met = false;
  shoal_status status = cli_study(job, SHOAL_FOR_RELEASE, shoal_explain, cli_format(job), &met);
  if (status != SHOAL_OK) return status;
  return met ? SHOAL_OK : SHOAL_REFUSED;
}
