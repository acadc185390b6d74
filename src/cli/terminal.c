/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/terminal: the progress bar is one line that is drawn over itself:
 *
 *     search  [#########.......]  57%  1,234 of 2,160 nodes  3 s left
 *
 * The remaining time is that of the stage: its time so far, in proportion. If the terminal is too
 * narrow, first the bar shrinks, then it is dropped, then the line is cut.
 */
#include "cli/terminal.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------------------------- signals */

/* The only global variable that changes: a signal handler has no other way to report. */
static volatile sig_atomic_t caught_signal;

static void note_signal(int number) { caught_signal = number; }

void cli_signals_catch(void) {
  static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
  /* Without SA_RESTART, so that a read that waits for standard input returns. */
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

bool cli_signals_caught(void) { return caught_signal != 0; }

void cli_signals_raise_again(void) {
  int number = caught_signal;
  if (!number) return;
  (void)signal(number, SIG_DFL);
  (void)raise(number);
}

/* ---------------------------------------------------------------- progress bar */

enum { MAX_COLUMNS = 200, MIN_CELLS = 8, MAX_CELLS = 32 };

static const double WAIT_SECONDS = 0.5, REDRAW_SECONDS = 0.1;

static double seconds_now(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static size_t terminal_columns(void) {
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col) return 80;
  return size.ws_col < MAX_COLUMNS ? size.ws_col : MAX_COLUMNS;
}

void cli_progress_init(cli_progress *bar, bool quiet) {
  memset(bar, 0, sizeof *bar);
  bar->visible = !quiet && isatty(STDERR_FILENO);
  bar->start = bar->stage_start = seconds_now();
}

/* 1234567 as "1,234,567". */
static void print_count(char *out, size_t cap, uint64_t n) {
  char digits[32];
  int size = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
  size_t at = 0;
  for (int i = 0; i < size && at + 2 < cap; i++) {
    if (i && (size - i) % 3 == 0) out[at++] = ',';
    out[at++] = digits[i];
  }
  out[at] = '\0';
}

/* "1,234 of 2,160 nodes"; bytes are printed as megabytes. */
static void print_amount(char *out, size_t cap, const shoal_progress *progress) {
  bool bytes = !strcmp(progress->unit, "bytes");
  uint64_t unit = bytes ? 1000000 : 1;
  char done[40], total[40];
  print_count(done, sizeof done, progress->done / unit);
  print_count(total, sizeof total, progress->total / unit);
  const char *name = bytes ? "MB" : progress->unit;
  if (progress->total) (void)snprintf(out, cap, "%s of %s %s", done, total, name);
  else (void)snprintf(out, cap, "%s %s", done, name);
}

static void print_time_left(char *out, size_t cap, double seconds) {
  uint64_t s = seconds < 1e7 ? (uint64_t)seconds + 1 : 10000000;
  unsigned long long minutes = (s + 30) / 60;
  if (s < 100) (void)snprintf(out, cap, "  %llu s left", (unsigned long long)s);
  else if (minutes < 100) (void)snprintf(out, cap, "  %llu min left", minutes);
  else (void)snprintf(out, cap, "  %llu h %llu min left", minutes / 60, minutes % 60);
}

/* "[####....]  57%  " in at most `room` columns; nothing if that is too narrow. */
static void print_bar(char *out, size_t cap, double share, size_t room) {
  enum { AROUND = 9 }; /* brackets, percent and spaces */
  out[0] = '\0';
  if (room < AROUND + MIN_CELLS) return;
  size_t n_cells = room - AROUND < MAX_CELLS ? room - AROUND : MAX_CELLS;
  size_t n_full = (size_t)(share * (double)n_cells);
  char cells[MAX_CELLS + 1];
  memset(cells, '#', n_full);
  memset(cells + n_full, '.', n_cells - n_full);
  cells[n_cells] = '\0';
  (void)snprintf(out, cap, "[%s] %3d%%  ", cells, (int)(share * 100));
}

/* Draws the line and erases the rest of the previous one. */
static void draw(cli_progress *bar, const char *text, size_t columns) {
  char line[2 * MAX_COLUMNS + 4];
  size_t size = strnlen(text, columns);
  size_t blanks = bar->drawn_columns > size ? bar->drawn_columns - size : 0;
  int length = snprintf(line, sizeof line, "\r%.*s%*s\r", (int)size, text, (int)blanks, "");
  if (length > 0) (void)fwrite(line, 1, (size_t)length, stderr);
  bar->drawn_columns = size;
}

static void draw_progress(cli_progress *bar, const shoal_progress *progress, double now) {
  char amount[128], left[64] = "", cells[80] = "", line[320];
  print_amount(amount, sizeof amount, progress);
  size_t columns = terminal_columns() - 1; /* some terminals wrap after the last column */
  if (progress->total) {
    double share = (double)progress->done / (double)progress->total;
    if (share > 1) share = 1;
    double spent = now - bar->stage_start;
    if (share > 0 && share < 1 && spent >= WAIT_SECONDS)
      print_time_left(left, sizeof left, spent * (1 - share) / share);
    size_t taken = 8 + strlen(amount) + strlen(left);
    print_bar(cells, sizeof cells, share, columns > taken ? columns - taken : 0);
  }
  (void)snprintf(line, sizeof line, "%-6s  %s%s%s", bar->stage, cells, amount, left);
  draw(bar, line, columns);
}

bool cli_progress_report(void *user, const shoal_progress *progress) {
  cli_progress *bar = user;
  if (caught_signal) return true;
  if (!bar->visible) return false;
  double now = seconds_now();
  if (strncmp(bar->stage, progress->stage, sizeof bar->stage - 1) != 0) {
    (void)snprintf(bar->stage, sizeof bar->stage, "%s", progress->stage);
    bar->stage_start = now;
  }
  if (now - bar->start < WAIT_SECONDS || now - bar->last_drawn < REDRAW_SECONDS) return false;
  bar->last_drawn = now;
  draw_progress(bar, progress, now);
  return false;
}

void cli_progress_erase(cli_progress *bar) {
  if (bar->drawn_columns) draw(bar, "", 0);
  bar->drawn_columns = 0;
}

/* ---------------------------------------------------------------- errors */

shoal_status cli_fail(shoal_error *error, shoal_status status, const char *format, ...) {
  *error = (shoal_error){.status = status};
  va_list args;
  va_start(args, format);
  (void)vsnprintf(error->message, sizeof error->message, format, args);
  va_end(args);
  return status;
}

void cli_print_error(const shoal_error *error) {
  char line[sizeof error->message];
  (void)shoal_printable(error->message, line, sizeof line);
  fprintf(stderr, "shoal: %s\n", *line ? line : "failed without a message");
}
