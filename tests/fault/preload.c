/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library to be loaded before all others (LD_PRELOAD) that makes one call fail: the FAULT_AT-th
 * (from 1) of the kind FAULT_CALL, and with FAULT_FROM all after it. What it does is said by the
 * environment alone:
 *
 *   FAULT_CALL   malloc open read write fsync rename link truncate chmod stat random thread close
 *   FAULT_ERRNO  the number that errno gets; FAULT_SHORT: half of the bytes are done instead
 *   FAULT_INSIDE malloc: only those made inside libfyaml; else those are left out, since that
 *                library (0.7.12) does not survive all of them
 *   FAULT_KILL   the process is killed before the call
 *   FAULT_COUNT  a file to which the number of calls of the kind is written at the end
 *   FAULT_ROOM   no more bytes than that can be written in all: ENOSPC
 *   FAULT_NAMED  no file without a name can be had: O_TMPFILE is refused
 *   FAULT_TRACE  who made the call that failed is said on standard error
 *   FAULT_CHANGE "cut PATH", "grow PATH": done to that file before the FAULT_AT-th read
 *
 * Standard error is left alone: the message must be seen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static bool armed;
static const char *call, *count_file, *change;
static long fault_at, fault_errno;
static bool fault_from, fault_kill, fault_short, fault_inside, fault_named, fault_trace;
static atomic_long n_calls, room;

typedef struct range {
  uintptr_t begin, end;
} range;
static range fyaml, libc;

static bool is_in(range r, const void *address) {
  return (uintptr_t)address >= r.begin && (uintptr_t)address < r.end;
}

static int note_library(struct dl_phdr_info *info, size_t size, void *user) {
  (void)size;
  (void)user;
  range *r = strstr(info->dlpi_name, "libfyaml")  ? &fyaml
             : strstr(info->dlpi_name, "libc.so") ? &libc
                                                  : NULL;
  for (int i = 0; r && i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
    if (part->p_type != PT_LOAD) continue;
    if (!r->begin || begin < r->begin) r->begin = begin;
    if (end > r->end) r->end = end;
  }
  return 0;
}

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void arm(void) {
  void *frames[4];
  (void)backtrace(frames, 4); /* loads what it needs now */
  (void)dl_iterate_phdr(note_library, NULL);
  call = getenv("FAULT_CALL");
  count_file = getenv("FAULT_COUNT");
  change = getenv("FAULT_CHANGE");
  fault_at = number("FAULT_AT", 0);
  fault_errno = number("FAULT_ERRNO", EIO);
  fault_from = getenv("FAULT_FROM");
  fault_kill = getenv("FAULT_KILL");
  fault_short = getenv("FAULT_SHORT");
  fault_inside = getenv("FAULT_INSIDE");
  fault_named = getenv("FAULT_NAMED");
  fault_trace = getenv("FAULT_TRACE");
  room = number("FAULT_ROOM", -1);
  if (!call) call = "";
  (void)unsetenv("LD_PRELOAD");
  armed = true;
}

__attribute__((destructor)) static void tell(void) {
  armed = false;
  if (!count_file) return;
  char text[32];
  int size = snprintf(text, sizeof text, "%ld\n", (long)n_calls);
  int fd = (int)syscall(SYS_openat, AT_FDCWD, count_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return;
  (void)syscall(SYS_write, fd, text, (size_t)size);
  (void)syscall(SYS_close, fd);
}

/* Is this the call that fails? */
static bool strikes(const char *kind) {
  if (!armed || strcmp(call, kind) != 0) return false;
  long n = ++n_calls;
  if (!fault_at || n < fault_at || (n > fault_at && !fault_from)) return false;
  if (fault_trace) {
    void *frames[24];
    armed = false;
    backtrace_symbols_fd(frames, backtrace(frames, 24), STDERR_FILENO);
    armed = true;
  }
  if (fault_kill) (void)raise(SIGKILL);
  errno = (int)fault_errno;
  return true;
}

/* ------------------------------------------------------------ memory */

/* Called by libfyaml, or by libc for it (strdup, asprintf). */
static bool called_inside(const void *caller) {
  if (is_in(fyaml, caller)) return true;
  if (!is_in(libc, caller)) return false;
  void *frames[12];
  int n = backtrace(frames, 12);
  for (int i = 0; i < n; i++)
    if (is_in(fyaml, frames[i])) return true;
  return false;
}

static bool memory_strikes(const void *caller) {
  static __thread bool busy;
  if (!armed || busy || strcmp(call, "malloc") != 0) return false;
  busy = true;
  bool counted = called_inside(caller) == fault_inside;
  busy = false;
  if (!counted || !strikes("malloc")) return false;
  errno = ENOMEM;
  return true;
}

void *malloc(size_t size) {
  return memory_strikes(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
  return memory_strikes(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size) {
  return memory_strikes(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

/* ------------------------------------------------------------ files */

#define NEXT(name) (*(__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int open_mode(int flags, va_list args) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, int) : 0;
}

int open64(const char *path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  int mode = open_mode(flags, args);
  va_end(args);
  if (fault_named && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  if (strikes("open")) return -1;
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list args;
  va_start(args, flags);
  int mode = open_mode(flags, args);
  va_end(args);
  return open64(path, flags, mode);
}

/* Somebody else writes to the file. */
static void change_file(void) {
  const char *path = strchr(change, ' ') + 1;
  struct stat info;
  if (stat(path, &info) != 0) return;
  if (change[0] == 'c') {
    (void)syscall(SYS_truncate, path, info.st_size / 2);
    return;
  }
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND, 0);
  (void)syscall(SYS_write, fd, "x,", 2);
  (void)syscall(SYS_close, fd);
}

/* Of a call that moves bytes: false, or what it returns is in *done. */
static bool moves_strike(const char *kind, size_t *size, ssize_t *done) {
  if (!strikes(kind)) return false;
  if (change) {
    change_file();
    return false;
  }
  if (fault_short) {
    if (*size > 1) *size /= 2;
    return false;
  }
  *done = -1;
  return true;
}

ssize_t read(int fd, void *bytes, size_t size) {
  ssize_t done;
  return moves_strike("read", &size, &done) ? done : syscall(SYS_read, fd, bytes, size);
}

ssize_t pread64(int fd, void *bytes, size_t size, off_t at) {
  ssize_t done;
  return moves_strike("read", &size, &done) ? done : syscall(SYS_pread64, fd, bytes, size, at);
}

/* The disk may be nearly full. */
static bool has_room(size_t *size) {
  if (room < 0) return true;
  if (!room && *size) {
    errno = ENOSPC;
    return false;
  }
  if (*size > (size_t)room) *size = (size_t)room;
  room -= (long)*size;
  return true;
}

ssize_t write(int fd, const void *bytes, size_t size) {
  ssize_t done;
  if (fd == STDERR_FILENO) return syscall(SYS_write, fd, bytes, size);
  if (moves_strike("write", &size, &done)) return done;
  return has_room(&size) ? syscall(SYS_write, fd, bytes, size) : -1;
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at) {
  ssize_t done;
  if (moves_strike("write", &size, &done)) return done;
  return has_room(&size) ? syscall(SYS_pwrite64, fd, bytes, size, at) : -1;
}

int fsync(int fd) { return strikes("fsync") ? -1 : (int)syscall(SYS_fsync, fd); }

int close(int fd) {
  if (!strikes("close")) return (int)syscall(SYS_close, fd);
  int code = errno;
  (void)syscall(SYS_close, fd);
  errno = code;
  return -1;
}

int rename(const char *from, const char *to) {
  return strikes("rename") ? -1 : (int)syscall(SYS_rename, from, to);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags) {
  if (strikes("link")) return -1;
  return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

int ftruncate64(int fd, off_t size) {
  return strikes("truncate") ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int fchmod(int fd, mode_t mode) {
  return strikes("chmod") ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int fstat64(int fd, struct stat64 *info) { return strikes("stat") ? -1 : NEXT(fstat64)(fd, info); }

ssize_t getrandom(void *bytes, size_t size, unsigned flags) {
  return strikes("random") ? -1 : syscall(SYS_getrandom, bytes, size, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *user) {
  return strikes("thread") ? EAGAIN : NEXT(pthread_create)(thread, attributes, start, user);
}
