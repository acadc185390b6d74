/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/terminal: the user at the terminal. Signals that ask to stop, the progress bar and error
 * messages on standard error.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "shoal/shoal.h"

/* ---------------------------------------------------------------- signals */

/*
 * From now on SIGINT, SIGTERM and SIGHUP ask the job to stop, unless they were ignored before (as
 * under nohup). A second signal of the same kind ends the program at once. SIGPIPE and SIGXFSZ are
 * ignored: a closed pipe and a file size limit are write errors.
 */
void cli_signals_catch(void);

/* Has such a signal been caught? */
bool cli_signals_caught(void);

/* Ends the program by the signal that was caught, so that the shell sees it; returns if none was.
 */
void cli_signals_raise_again(void);

/* ---------------------------------------------------------------- progress bar */

typedef struct cli_progress {
  bool visible; /* standard error is a terminal, and --quiet is absent */
  double start; /* seconds, as all times here */
  double stage_start;
  double last_drawn;
  char stage[16];
  size_t drawn_columns; /* of the line on the terminal; 0: none */
} cli_progress;

void cli_progress_init(cli_progress *bar, bool quiet);

/* A shoal_progress_fn for a cli_progress: draws at most 10 times a second; true after a signal. */
bool cli_progress_report(void *bar, const shoal_progress *progress);

/* Erases the line, if there is one. */
void cli_progress_erase(cli_progress *bar);

/* ---------------------------------------------------------------- errors */

/* Fills the error and returns `status`: `return cli_fail(...)`. */
shoal_status cli_fail(shoal_error *error, shoal_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints "shoal: MESSAGE" on standard error, as one printable line. */
void cli_print_error(const shoal_error *error);
