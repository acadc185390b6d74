/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system that fails where a test wants it to: its calls stand in the test program, in place of
 * the C library's, and go to the kernel. The call number `call_that_fails` of those that are
 * counted fails with `failing_code`; `call_that_halts` gives or takes half of the bytes only.
 */
#ifndef SHOAL_TESTS_LOWMEM_SYSTEM_H
#define SHOAL_TESTS_LOWMEM_SYSTEM_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool counts_calls; /* off: nothing is counted and none fails */
static _Atomic long n_calls;
static long call_that_fails, call_that_halts;  /* counted from 1; 0: none */
static int failing_code;                       /* 0: it answers with no bytes */
static bool fails_ever_after;                  /* all calls behind it fail, too */
static const char *only_call;                  /* its name; NULL: calls of any name are counted */
static bool lacks_unnamed;                     /* no O_TMPFILE: files have names */
static void (*before_pread)(int fd, off_t at); /* to change a file between two reads; or NULL */

static bool fails_now(const char *call) {
  if (!counts_calls || (only_call && strcmp(only_call, call) != 0)) return false;
  long n = ++n_calls;
  if (n != call_that_fails && !(fails_ever_after && call_that_fails && n > call_that_fails))
    return false;
  errno = failing_code;
  return true;
}

static size_t allowed(size_t n) {
  return counts_calls && n_calls == call_that_halts && n > 1 ? n / 2 : n;
}

static ssize_t refused(void) { return failing_code ? -1 : 0; }

ssize_t write(int fd, const void *bytes, size_t n) {
  return fails_now("write") ? refused() : syscall(SYS_write, fd, bytes, allowed(n));
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
  return fails_now("pwrite") ? refused() : syscall(SYS_pwrite64, fd, bytes, allowed(n), at);
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at) {
  if (before_pread) before_pread(fd, at);
  return fails_now("pread") ? refused() : syscall(SYS_pread64, fd, bytes, allowed(n), at);
}

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (counts_calls && lacks_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return fails_now("open") ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int close(int fd) {
  bool fails = fails_now("close");
  return (int)syscall(SYS_close, fd) || fails ? -1 : 0;
}

int fsync(int fd) { return fails_now("fsync") ? -1 : fcntl(fd, F_GETFD) < 0 ? -1 : 0; }

int fchmod(int fd, mode_t mode) {
  return fails_now("fchmod") ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int rename(const char *from, const char *to) {
  return fails_now("rename") ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags) {
  return fails_now("linkat") ? -1 : (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
}

ssize_t getrandom(void *bytes, size_t n, unsigned flags) {
  return fails_now("getrandom") ? -1 : syscall(SYS_getrandom, bytes, n, flags);
}

char *strdup(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = fails_now("strdup") ? NULL : malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

#endif
