/* SPDX-License-Identifier: Apache-2.0 */
/* cli/help: the help screens, made from the tables of commands and options. */
#ifndef SHOAL_CLI_HELP_H
#define SHOAL_CLI_HELP_H

#include <stdio.h>

#include "cli/commands.h"

/* What screens and man pages say alike. */
typedef struct cli_text {
  const char *summary;  /* of the program */
  const char *purpose;  /* a paragraph */
  const char *data;     /* what DATA is: a paragraph */
  const char *exits[4]; /* what each exit status says, after any command */
} cli_text;
const cli_text *cli_common_text(void);

/* What the exit status says after the command; `command` NULL: after any. NULL: not used. */
const char *cli_exit_meaning(const cli_command *command, unsigned status);

/* The tables of the library that a policy's author chooses from; ends with a NULL title. */
typedef struct cli_chapter {
  const char *title;
  const char *intro;
  const shoal_entry *(*entries)(void);
} cli_chapter;
const cli_chapter *cli_policy_chapters(void);
const char *cli_policy_example(void);

void cli_help_usage(FILE *out);   /* three lines, for `shoal` alone */
void cli_help_program(FILE *out); /* shoal --help */
void cli_help_command(FILE *out, const cli_command *command);
void cli_help_policy(FILE *out);

#endif
