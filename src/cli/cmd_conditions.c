/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cmd_conditions: the necessary conditions of Truta & Vinay 2006, before any search. They are
 * an answer, not a verdict: the exit status is 0 whatever they are.
 */
#include "cli/commands.h"

shoal_status cli_conditions(cli_job *job) {
  bool holds;
  return cli_study(job, SHOAL_FOR_RELEASE, shoal_conditions, cli_format(job), &holds);
}
