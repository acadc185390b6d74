/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/main: the program shoal. It uses shoal/shoal.h only. It protects the process that holds raw
 * data, runs a command, and turns its status into an error message and an exit status.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/terminal.h"

/*
 * A closed standard stream would give its number to the next file opened, and a message could be
 * written into a release. The replacement is opened in the wrong mode, so that using it fails.
 */
static bool fill_standard_streams(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) return false;
  }
  return true;
}

/*
 * Raw data in memory must not be written to a core file or read by other processes of the same
 * user. The limit alone is not enough: it does not apply if core files are piped to a program.
 * Developers set SHOAL_ALLOW_CORE=1. Under AddressSanitizer the process must stay traceable, to
 * find leaks.
 */
static void refuse_core_files(void) {
  const char *allow = getenv("SHOAL_ALLOW_CORE");
  if (allow && !strcmp(allow, "1")) return;
  struct rlimit none = {0, 0};
  (void)setrlimit(RLIMIT_CORE, &none);
#ifndef __SANITIZE_ADDRESS__
  (void)prctl(PR_SET_DUMPABLE, 0);
#endif
}

/* Output may still be buffered, and writing it may fail. */
static shoal_status close_standard_output(shoal_status status) {
  bool failed = fflush(stdout) || ferror(stdout);
  int code = errno;
  if (fclose(stdout) && !failed) {
    failed = true;
    code = errno;
  }
  if (!failed) return status;
  shoal_error error;
  (void)cli_fail(&error, SHOAL_FAILED, "cannot write to standard output: %s", strerror(code));
  cli_print_error(&error);
  return SHOAL_FAILED;
}

static shoal_status print_version(void) {
  printf("shoal %s\n", shoal_version());
  return SHOAL_OK;
}

static shoal_status run_command(const cli_command *command, int n_words, char *const *words) {
  cli_options options;
  cli_job job;
  shoal_error error = {0};
  shoal_status status = cli_options_parse(command, n_words, words, &options, &error);
  if (status != SHOAL_OK) {
    cli_print_error(&error);
    return status;
  }
  if (options.values[CLI_VERSION]) return print_version();
  if (options.values[CLI_HELP]) {
    cli_help_command(stdout, command);
    return SHOAL_OK;
  }
  status = cli_job_begin(&job, command, &options);
  if (status == SHOAL_OK) status = command->run(&job);
  cli_job_end(&job);
  /* A SHOAL_REFUSED without a message is explained by the printed result. */
  if (status != SHOAL_OK && (status != SHOAL_REFUSED || job.error.message[0]))
    cli_print_error(&job.error);
  return status;
}

/* shoal help, shoal help COMMAND, shoal help policy, shoal --help */
static shoal_status run_help(int n_words, char *const *words) {
  const cli_command *command;
  shoal_error error;
  if (n_words == 0 || words[0][0] == '-') {
    cli_help_program(stdout);
    return SHOAL_OK;
  }
  if (!strcmp(words[0], "policy")) {
    cli_help_policy(stdout);
    return SHOAL_OK;
  }
  shoal_status status = cli_command_find(words[0], &command, &error);
  if (status == SHOAL_OK) cli_help_command(stdout, command);
  else cli_print_error(&error);
  return status;
}

static shoal_status run_words(int n_words, char *const *words) {
  const cli_command *command;
  shoal_error error;
  if (n_words == 0) {
    cli_help_usage(stderr);
    return SHOAL_BAD_INPUT;
  }
  const char *first = words[0];
  if (!strcmp(first, "help") || !strcmp(first, "--help") || !strcmp(first, "-h"))
    return run_help(n_words - 1, words + 1);
  if (!strcmp(first, "--version")) return print_version();
  shoal_status status = cli_command_find(first, &command, &error);
  if (status == SHOAL_OK) return run_command(command, n_words - 1, words + 1);
  cli_print_error(&error);
  return status;
}

/*
 * Keeps freed memory for the next step: getting it from the system page by page is slow. One heap
 * serves all threads, which allocate few, large blocks; with several heaps, each would keep what
 * its own threads freed.
 */
static void keep_memory(void) {
#ifdef M_MMAP_THRESHOLD
  enum { MMAP_BYTES = 4 << 20, KEPT_BYTES = 16 << 20 };
  (void)mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
  (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
  (void)mallopt(M_ARENA_MAX, 1);
#endif
}

/* The manual lists them. */
static int exit_status(shoal_status status) {
  switch (status) {
  case SHOAL_OK: return 0;
  case SHOAL_REFUSED: return 1;
  case SHOAL_BAD_INPUT:
  case SHOAL_BAD_POLICY: return 2;
  default: return 3;
  }
}

int main(int argc, char **argv) {
  if (!fill_standard_streams()) return SHOAL_FAILED;
  refuse_core_files();
  keep_memory();
  cli_signals_catch();
  shoal_status status = run_words(argc > 0 ? argc - 1 : 0, argv + (argc > 0));
  status = close_standard_output(status);
  if (status == SHOAL_CANCELLED) { /* so that the shell sees the signal */
    cli_signals_raise_again();
    return exit_status(status);
  }
  return exit_status(status);
}
