/* SPDX-License-Identifier: Apache-2.0 */
/* cli/output: files that come to be whole or not at all: reports, policies, hierarchies. */
#ifndef SHOAL_CLI_OUTPUT_H
#define SHOAL_CLI_OUTPUT_H

#include <stdbool.h>

#include "shoal/shoal.h"

/* A file on its way. Zero-initialized: none. */
typedef struct cli_file {
  shoal_file *file;
} cli_file;

/*
 * Makes ready before the work begins, so that a wrong name or a missing permission is told at
 * once.
 */
shoal_status cli_file_begin(cli_file *file, const char *path, shoal_error *error) SHOAL_MUST_CHECK;

/* Writes the text, ended by a newline, and names the file. If it fails, nothing new is there. */
shoal_status cli_file_commit(cli_file *file, const char *text, shoal_error *error) SHOAL_MUST_CHECK;

/* Removes what was not committed. Does nothing after a commit, or where nothing was begun. */
void cli_file_discard(cli_file *file);

/* Do the two paths lead to one file, or would they? "-" is the file behind standard input. */
bool cli_same_file(const char *a, const char *b);

/*
 * Refuses a path that no file can be made at: its directory is missing, it is a directory, or it
 * is the file that standard output or standard error goes to.
 */
shoal_status cli_check_place(const char *path, shoal_error *error) SHOAL_MUST_CHECK;

#endif
