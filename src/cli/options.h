/* SPDX-License-Identifier: Apache-2.0 */
/* cli/options: the table of options, and the parser of command lines. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "shoal/shoal.h"

struct cli_command;

/* In the order of the help screens. */
typedef enum cli_option_id {
  CLI_POLICY,
  CLI_OUTPUT,
  CLI_TABLE,
  CLI_QUERY,
  CLI_OUTPUT_TABLE,
  CLI_REPLACE,
  CLI_IN_DATABASE,
  CLI_POLICY_OUT,
  CLI_DECIDE,
  CLI_PRESET,
  CLI_COLUMN,
  CLI_SPEC,
  CLI_EXTERNAL,
  CLI_ORIGINAL,
  CLI_PREVIOUS,
  CLI_BOUND,
  CLI_RULE_OUT,
  CLI_KNOWS_RECORDS,
  CLI_MIN_CATEGORIES,
  CLI_MU,
  CLI_K,
  CLI_P,
  CLI_ALGORITHM,
  CLI_EFFORT,
  CLI_MAX_SUPPRESSION,
  CLI_PREFER,
  CLI_POPULATION,
  CLI_QUERIES,
  CLI_DIMENSIONS,
  CLI_SELECTIVITY,
  CLI_LEFT_OUT,
  CLI_PORT,
  CLI_NO_OPEN,
  CLI_IDLE_MINUTES,
  CLI_TIME_LIMIT,
  CLI_QUICK,
  CLI_STRICT,
  CLI_KEEP_ORDER,
  CLI_FORMULAS,
  CLI_SEED,
  CLI_REPORT,
  CLI_HTML,
  CLI_CERTIFICATE,
  CLI_MAPPING,
  CLI_FORMAT,
  CLI_MATRIX,
  CLI_JSON,
  CLI_DELIMITER,
  CLI_THREADS,
  CLI_MEMORY,
  CLI_QUIET,
  CLI_HELP,
  CLI_VERSION,
  CLI_N_OPTIONS
} cli_option_id;

/* Commands as bits, for the column `commands` of the table. */
enum {
  CLI_PROFILE = 1 << 0,
  CLI_CHECK = 1 << 1,
  CLI_CONDITIONS = 1 << 2,
  CLI_ANONYMIZE = 1 << 3,
  CLI_LATTICE = 1 << 4,
  CLI_HIERARCHY = 1 << 5,
  CLI_EXPLAIN = 1 << 6,
  CLI_MEASURE = 1 << 7,
  CLI_ATTACK = 1 << 8,
  CLI_CERTIFY = 1 << 9,
  CLI_SERVE = 1 << 10,
  CLI_LAST_COMMAND = CLI_SERVE,
  CLI_EVERY_COMMAND = 2 * CLI_LAST_COMMAND - 1
};

/* An option has several rows if its meaning differs between commands. */
typedef struct cli_option {
  cli_option_id id;
  const char *name;     /* after "--"; NULL: only a letter */
  char letter;          /* after "-"; 0: only a name */
  const char *argument; /* the name of its argument; NULL: none; "X ...": it may be repeated */
  unsigned commands;
  const char *help;
  const char *policy_key; /* of shoal_policy_set, for options that override the policy; or NULL */
} cli_option;

/* The table; the help of its last entry is NULL. */
const cli_option *cli_option_table(void);

enum { CLI_MAX_OPERANDS = 3, CLI_MAX_REPEATED = 16 };

/* A parsed command line. Strings are borrowed from argv. */
typedef struct cli_options {
  const char *values[CLI_N_OPTIONS]; /* NULL: absent; "": present without argument */
  const char *operands[CLI_MAX_OPERANDS];
  size_t n_operands;
  const char
      *repeated[CLI_MAX_REPEATED]; /* arguments of the option that may be repeated, in order */
  size_t n_repeated;
} cli_options;

/*
 * Parses the words after the command's name. Stops at --help and --version and ignores what follows
 * them. SHOAL_BAD_INPUT: the message says what is wrong.
 */
shoal_status cli_options_parse(const struct cli_command *command, int n_words, char *const *words,
                               cli_options *options, shoal_error *error) SHOAL_MUST_CHECK;

/* "--policy", or "-k" without a long name; `out` has at least 32 bytes. Returns `out`. */
const char *cli_option_title(const cli_option *option, char *out);

/* The row of an option for a command, or NULL if the command does not take it. */
const cli_option *cli_option_of(const struct cli_command *command, cli_option_id id);

/* The one of `n` words that a misspelled `word` most likely means, or NULL if none is similar. */
const char *cli_nearest_word(const char *word, const char *const *words, size_t n);
