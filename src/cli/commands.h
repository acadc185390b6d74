/* SPDX-License-Identifier: Apache-2.0 */
/* cli/commands: the table of commands, from which help screens and man pages are generated. */
#pragma once

#include "cli/job.h"
#include "cli/options.h"

typedef struct cli_example {
  const char *purpose; /* printed above the line */
  const char *line;    /* after "shoal " */
} cli_example;

typedef struct cli_command {
  const char *name;
  unsigned bit;                  /* CLI_PROFILE, ... */
  const char *const *usages;     /* after "shoal NAME "; NULL is last */
  const char *summary;           /* one line without a full stop */
  const char *const *paragraphs; /* NULL is last */
  const cli_example *examples;   /* {NULL, NULL} is last */
  const char *means_zero;        /* the meaning of exit status 0; NULL: done */
  const char *means_one;         /* the meaning of exit status 1; NULL: it does not occur */
  const char *operands;          /* description of the operands, for messages */
  size_t min_operands;
  size_t max_operands;
  uint64_t required; /* required options, as bits 1 << cli_option_id */
  /*
   * Runs the command. Sets job->error if the status is not SHOAL_OK, except for a SHOAL_REFUSED
   * that the printed result explains.
   */
  shoal_status (*run)(cli_job *job);
} cli_command;

/* The table; the name of its last entry is NULL. */
const cli_command *cli_command_table(void);

/* The command with this name; SHOAL_BAD_INPUT, with a suggestion, if there is none. */
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
shoal_status cli_attack(cli_job *job);
shoal_status cli_certificate(cli_job *job);
shoal_status cli_serve(cli_job *job);
