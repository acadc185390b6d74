/* SPDX-License-Identifier: Apache-2.0 */
/* cli/progress: the bar on standard error while long work runs, if that is a terminal. */
#ifndef SHOAL_CLI_PROGRESS_H
#define SHOAL_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "shoal/shoal.h"

typedef struct cli_progress {
  bool visible; /* standard error is a terminal, and nobody asked for quiet */
  double start; /* seconds, as all times here */
  double stage_start;
  double last_drawn;
  char stage[16];
  size_t drawn_columns; /* of the line that stands there now; 0: none */
} cli_progress;

void cli_progress_init(cli_progress *bar, bool quiet);

/* A shoal_progress_fn on a cli_progress: draws at most 10 times a second; true after a signal. */
bool cli_progress_report(void *bar, const shoal_progress *progress);

/* Erases the line, if one stands. */
void cli_progress_erase(cli_progress *bar);

#endif
