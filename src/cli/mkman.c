/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/mkman: a build-time program that writes a man page to standard output: `mkman shoal`,
 * `mkman COMMAND` or `mkman policy`.
 */
#include <string.h>

#include "cli/help.h"
#include "cli/terminal.h"

int main(int argc, char **argv) {
  const cli_command *command;
  shoal_error error;
  if (argc != 2) {
    fputs("usage: mkman shoal | policy | COMMAND\n", stderr);
    return SHOAL_BAD_INPUT;
  }
  if (!strcmp(argv[1], "shoal")) {
    cli_man_program(stdout);
  } else if (!strcmp(argv[1], "policy")) {
    cli_man_policy(stdout);
  } else if (cli_command_find(argv[1], &command, &error) == SHOAL_OK) {
    cli_man_command(stdout, command);
  } else {
    cli_print_error(&error);
    return SHOAL_BAD_INPUT;
  }
  if (fflush(stdout) || ferror(stdout)) {
    perror("mkman: standard output");
    return SHOAL_FAILED;
  }
  return SHOAL_OK;
}
