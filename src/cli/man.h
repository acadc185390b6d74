/* SPDX-License-Identifier: Apache-2.0 */
/* cli/man: the man pages, in mdoc, made from the tables that the help screens are made from. */
#ifndef SHOAL_CLI_MAN_H
#define SHOAL_CLI_MAN_H

#include <stdio.h>

#include "cli/commands.h"

void cli_man_program(FILE *out);                             /* shoal(1) */
void cli_man_command(FILE *out, const cli_command *command); /* shoal-COMMAND(1) */
void cli_man_policy(FILE *out);                              /* shoal-policy(5) */

#endif
