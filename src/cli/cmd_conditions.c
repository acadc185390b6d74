/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_conditions: prints the necessary conditions of Truta & Vinay 2006. The exit status does
 * not depend on them.
 */
#include "cli/commands.h"

shoal_status cli_conditions(cli_job *job) {
  bool holds;
  return cli_study(job, SHOAL_FOR_RELEASE, shoal_conditions, cli_format(job), &holds);
}
