/* SPDX-License-Identifier: Apache-2.0 */
/* cli/man: man pages in mdoc(7), generated from the tables of the help screens. */
#ifndef SHOAL_CLI_MAN_H
#define SHOAL_CLI_MAN_H

#include <stdio.h>

#include "cli/commands.h"

void cli_man_program(FILE *out);                             /* shoal(1) */
void cli_man_command(FILE *out, const cli_command *command); /* shoal-COMMAND(1) */
void cli_man_policy(FILE *out);                              /* shoal-policy(5) */

#endif
