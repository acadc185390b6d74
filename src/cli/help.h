/* SPDX-License-Identifier: Apache-2.0 */
/* cli/help: help screens, generated from the tables of commands and options. */
#pragma once

#include <stdio.h>

#include "cli/commands.h"

/* Text that help screens and man pages share. */
typedef struct cli_text {
  const char *summary;  /* of the program */
  const char *purpose;  /* a paragraph */
  const char *data;     /* a paragraph about DATA */
  const char *exits[4]; /* the meaning of each exit status */
} cli_text;
const cli_text *cli_common_text(void);

/* The meaning of an exit status of `command`, or of any command if it is NULL. NULL: not used. */
const char *cli_exit_meaning(const cli_command *command, unsigned status);

/* The library's tables of policy keys and values; the last title is NULL. */
typedef struct cli_chapter {
  const char *title;
  const char *intro;
  const shoal_entry *(*entries)(void);
} cli_chapter;
const cli_chapter *cli_policy_chapters(void);
const char *cli_policy_example(void);

void cli_help_usage(FILE *out);   /* for `shoal` without a command */
void cli_help_program(FILE *out); /* shoal --help */
void cli_help_command(FILE *out, const cli_command *command);
void cli_help_policy(FILE *out);

/* ---- man.c: man pages in mdoc(7), generated from the same tables */

void cli_man_program(FILE *out);                             /* shoal(1) */
void cli_man_command(FILE *out, const cli_command *command); /* shoal-COMMAND(1) */
void cli_man_policy(FILE *out);                              /* shoal-policy(5) */
