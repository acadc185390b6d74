/* SPDX-License-Identifier: Apache-2.0 */
/* cli/commands: the one table of commands, from which help screens and man pages are made. */
#ifndef SHOAL_CLI_COMMANDS_H
#define SHOAL_CLI_COMMANDS_H

#include "cli/job.h"
#include "cli/options.h"

typedef struct cli_example {
  const char *purpose; /* stands above the line */
  const char *line;    /* after "shoal " */
} cli_example;

typedef struct cli_command {
  const char *name;
  unsigned bit;                  /* CLI_PROFILE, ... */
  const char *const *usages;     /* after "shoal NAME "; ends with NULL */
  const char *summary;           /* one line, no stop */
  const char *const *paragraphs; /* ends with NULL */
  const cli_example *examples;   /* ends with NULLs */
  const char *means_zero;        /* what exit status 0 says; NULL: that it is done */
  const char *means_one;         /* what exit status 1 says; NULL: it does not occur */
  const char *operands;          /* what its operands are, for messages */
  size_t min_operands;
  size_t max_operands;
  unsigned required; /* options that must be given, as bits 1 << cli_option_id */
  /*
   * Does the work. The error is set where the status is not SHOAL_OK, but for a SHOAL_REFUSED that
   * the printed result explains.
   */
  shoal_status (*run)(cli_job *job);
} cli_command;

/* The table; ends with an entry whose name is NULL. */
const cli_command *cli_command_table(void);

/* The command of that name; SHOAL_BAD_INPUT with the nearest name where there is none. */
shoal_status cli_command_find(const char *name, const cli_command **command,
                              shoal_error *error) SHOAL_MUST_CHECK;

shoal_status cli_profile(cli_job *job);
shoal_status cli_check(cli_job *job);
shoal_status cli_conditions(cli_job *job);
shoal_status cli_anonymize(cli_job *job);
shoal_status cli_lattice(cli_job *job);
shoal_status cli_explain(cli_job *job);
shoal_status cli_measure(cli_job *job);
shoal_status cli_hierarchy(cli_job *job);

#endif
