/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/main: the program shoal. It knows the library by shoal/shoal.h only, and does three things:
 * makes the process safe for raw data, hands the words to a command, and turns what comes back
 * into one line on standard error and an exit status.
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
#include "cli/signals.h"
#include "cli/words.h"

/*
 * A closed standard stream would give its number to the next file opened, and a message could end
 * up in a release. What takes its place fails when used: it is opened the wrong way round.
 */
static bool fill_standard_streams(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) return false;
  }
  return true;
}

/*
 * Raw data is in memory: it must not end up in a core file, nor be read by other processes of the
 * same user. The limit alone is not enough, since it does not hold where cores go to a program.
 * A developer who wants them sets SHOAL_ALLOW_CORE=1. Under AddressSanitizer the process must stay
 * traceable: that is how leaks are looked for.
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

/* What was printed may still be in a buffer, and the disk may be full. */
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
  cli_complain(&error);
  return SHOAL_FAILED;
}

static shoal_status print_version(void) {
  printf("shoal %s\n", shoal_version());
  return SHOAL_OK;
}

static shoal_status run_command(const cli_command *command, int n_words, char *const *words) {
  cli_options options;
  cli_job job;
  shoal_error error;
  shoal_status status = cli_options_parse(command, n_words, words, &options, &error);
  if (status != SHOAL_OK) {
    cli_complain(&error);
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
  /* A refusal without a message is explained by the result that was printed. */
  if (status != SHOAL_OK && (status != SHOAL_REFUSED || job.error.message[0]))
    cli_complain(&job.error);
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
  else cli_complain(&error);
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
  cli_complain(&error);
  return status;
}

/*
 * Memory that one step gave back serves the next: asking the system for it page by page is slow.
 * So there is one heap for all threads, which ask for few, large blocks: of several each would
 * keep what its threads gave back.
 */
static void keep_memory(void) {
#ifdef M_MMAP_THRESHOLD
  enum { ALONE_BYTES = 4 << 20, KEPT_BYTES = 16 << 20 };
  (void)mallopt(M_MMAP_THRESHOLD, ALONE_BYTES);
  (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
  (void)mallopt(M_ARENA_MAX, 1);
#endif
}

int main(int argc, char **argv) {
  if (!fill_standard_streams()) return SHOAL_FAILED;
  refuse_core_files();
  keep_memory();
  cli_signals_catch();
  shoal_status status = run_words(argc > 0 ? argc - 1 : 0, argv + (argc > 0));
  status = close_standard_output(status);
  if (status == SHOAL_CANCELLED) { /* the shell is to see what stopped it */
    cli_signals_raise_again();
    return SHOAL_FAILED;
  }
  return (int)status;
}
