/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/signals: see signals.h. The flag is the program's only global that changes: a handler has no
 * other way to tell something.
 */
#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t caught_signal;

static void note_signal(int number) { caught_signal = number; }

void cli_signals_catch(void) {
  static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
  /* No SA_RESTART: a read that waits for standard input must wake up. */
  struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
  (void)sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
    struct sigaction before;
    if (!sigaction(stops[i], NULL, &before) && before.sa_handler != SIG_IGN)
      (void)sigaction(stops[i], &action, NULL);
  }
  (void)signal(SIGPIPE, SIG_IGN);
  (void)signal(SIGXFSZ, SIG_IGN);
}

int cli_signals_caught(void) { return caught_signal; }

void cli_signals_raise_again(void) {
  int number = caught_signal;
  if (!number) return;
  (void)signal(number, SIG_DFL);
  (void)raise(number);
}
