/* SPDX-License-Identifier: Apache-2.0 */
/* cli/signals: the wish to stop. A caught signal only sets a flag; the job ends by itself. */
#ifndef SHOAL_CLI_SIGNALS_H
#define SHOAL_CLI_SIGNALS_H

/*
 * From now on SIGINT, SIGTERM and SIGHUP ask the job to stop (unless they were ignored already, as
 * under nohup); a second one of the same kind ends the program at once. SIGPIPE and SIGXFSZ are
 * ignored: a closed pipe and a file that may not grow are write errors like others.
 */
void cli_signals_catch(void);

/* The signal that asked to stop, or 0. */
int cli_signals_caught(void);

/* Ends the program by that signal, so that the shell sees it; returns if there was none. */
void cli_signals_raise_again(void);

#endif
