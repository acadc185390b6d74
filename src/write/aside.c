/* SPDX-License-Identifier: Apache-2.0 */
/* write/aside: see aside.h. */
#include "write/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "write/leftover.h"
#include "write/sink.h"

enum { COPY_BYTES = 1 << 20, NAME_TRIES = 16 };

static shoal_status fail_system(const char *path, const char *what, int code, shoal_error *error) {
  shoal_place place = {.file = path};
  bool usage = code == ENOENT || code == ENOTDIR || code == EISDIR || code == ENAMETOOLONG;
  return shoal_fail_at(error, usage ? SHOAL_BAD_INPUT : SHOAL_FAILED, &place, "%s: %s", what,
                       strerror(code));
}

static char *directory_of(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return strdup(".");
  if (slash == path) return strdup("/");
  return strndup(path, (size_t)(slash - path));
}

/* A name beside the final one that nobody can guess; NULL without memory or entropy. */
static char *random_name(const shoal_aside *aside) {
  uint64_t random;
  if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) return NULL;
  size_t size = strlen(aside->directory) + 40;
  char *name = shoal_alloc(size, 1);
  if (name)
    (void)snprintf(name, size, "%s/" SHOAL_LEFTOVER_PREFIX "%016llx" SHOAL_LEFTOVER_SUFFIX,
                   aside->directory, (unsigned long long)random);
  return name;
}

static shoal_status open_named(shoal_aside *aside, shoal_error *error) {
  for (int i = 0; i < NAME_TRIES; i++) {
    char *name = random_name(aside);
    if (!name) return shoal_fail_memory(error);
    aside->fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int code = errno;
    if (aside->fd >= 0) {
      aside->temporary = name;
      if (shoal_leftover_hold(aside->fd)) return SHOAL_OK;
      (void)close(aside->fd);
      (void)unlink(name);
      aside->temporary = NULL;
      aside->fd = -1;
      code = EEXIST;
    }
    free(name);
    if (code != EEXIST) return fail_system(aside->path, "cannot be written", code, error);
  }
  return fail_system(aside->path, "cannot be written", EEXIST, error);
}

/* Where the bytes lie until they are committed: the final directory, or the temporary one. */
static shoal_status place_aside(shoal_aside *aside, const char *path, shoal_error *error) {
  struct stat info;
  bool to_stdout = strcmp(path, "-") == 0;
  bool exists = !to_stdout && stat(path, &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return fail_system(path, "cannot be written", EISDIR, error);
  aside->is_stream = to_stdout || (exists && !S_ISREG(info.st_mode));
  const char *spool = getenv("TMPDIR");
  if (!spool || !spool[0]) spool = "/tmp";
  aside->path = strdup(to_stdout ? "standard output" : path);
  char *real = exists && !aside->is_stream ? realpath(path, NULL) : NULL;
  if (real) { /* a symbolic link stays one: what it points to is replaced */
    free(aside->path);
    aside->path = real;
  }
  aside->directory = !aside->path       ? NULL
                     : aside->is_stream ? strdup(spool)
                                        : directory_of(aside->path);
  if (!aside->path || !aside->directory) return shoal_fail_memory(error);
  if (stat(aside->directory, &info) != 0)
    return fail_system(aside->path, "its directory cannot be used", errno, error);
  return SHOAL_OK;
}

/* Spooled, never to be named. */
static void forget_name(shoal_aside *aside) {
  if (!aside->temporary) return;
  (void)unlink(aside->temporary);
  free(aside->temporary);
  aside->temporary = NULL;
}

shoal_status shoal_aside_open(shoal_aside *aside, const char *path, shoal_error *error) {
  memset(aside, 0, sizeof *aside);
  aside->fd = -1;
  shoal_status status = place_aside(aside, path, error);
  if (status == SHOAL_OK) {
    shoal_leftover_sweep(aside->directory);
    aside->fd = open(aside->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (aside->fd < 0) status = open_named(aside, error);
    if (status == SHOAL_OK && aside->is_stream) forget_name(aside);
  }
  if (status != SHOAL_OK) shoal_aside_close(aside);
  return status;
}

shoal_status shoal_aside_spool(shoal_aside *aside, const char *path, shoal_error *error) {
  SHOAL_TRY(shoal_aside_open(aside, path, error));
  forget_name(aside);
  return SHOAL_OK;
}

static shoal_status copy_out(shoal_aside *aside, int to, shoal_error *error) {
  char *bytes = shoal_alloc(COPY_BYTES, 1);
  if (!bytes) return shoal_fail_memory(error);
  shoal_status status = SHOAL_OK;
  off_t at = 0;
  while (status == SHOAL_OK) {
    ssize_t n = pread(aside->fd, bytes, COPY_BYTES, at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) status = fail_system(aside->path, "cannot be read back", errno, error);
    if (n <= 0) break;
    status = shoal_write_all(to, aside->path, bytes, (size_t)n, error);
    at += n;
  }
  free(bytes);
  return status;
}

static shoal_status commit_stream(shoal_aside *aside, shoal_error *error) {
  bool to_stdout = strcmp(aside->path, "standard output") == 0;
  int to = to_stdout ? STDOUT_FILENO : open(aside->path, O_WRONLY | O_CLOEXEC);
  if (to < 0) return fail_system(aside->path, "cannot be opened", errno, error);
  shoal_status status = copy_out(aside, to, error);
  if (!to_stdout && close(to) != 0 && status == SHOAL_OK)
    status = fail_system(aside->path, "cannot be written", errno, error);
  return status;
}

/* Gives an unnamed file a temporary name, from which it can be renamed over an older file. */
static shoal_status name_it(shoal_aside *aside, shoal_error *error) {
  char link[64];
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", aside->fd);
  (void)shoal_leftover_hold(aside->fd); /* before it has a name nobody else can */
  for (int i = 0; i < NAME_TRIES; i++) {
    char *name = random_name(aside);
    if (!name) return shoal_fail_memory(error);
    if (linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
      aside->temporary = name;
      return SHOAL_OK;
    }
    int code = errno;
    free(name);
    if (code != EEXIST) return fail_system(aside->path, "cannot be named", code, error);
  }
  return fail_system(aside->path, "cannot be named", EEXIST, error);
}

static void sync_directory(const char *directory) {
  int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd); /* the file is whole either way */
  (void)close(fd);
}

void shoal_aside_flush(const shoal_aside *aside) {
  if (!aside->is_stream) (void)sync_file_range(aside->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

shoal_status shoal_aside_commit(shoal_aside *aside, shoal_error *error) {
  if (aside->is_stream) return commit_stream(aside, error);
  mode_t mask = umask(0);
  (void)umask(mask);
  if (fchmod(aside->fd, 0666 & ~mask) != 0 || fsync(aside->fd) != 0)
    return fail_system(aside->path, "cannot be written", errno, error);
  if (!aside->temporary) SHOAL_TRY(name_it(aside, error));
  if (rename(aside->temporary, aside->path) != 0)
    return fail_system(aside->path, "cannot be named", errno, error);
  free(aside->temporary);
  aside->temporary = NULL;
  sync_directory(aside->directory);
  return SHOAL_OK;
}

void shoal_aside_close(shoal_aside *aside) {
  if (aside->fd >= 0) (void)close(aside->fd);
  if (aside->temporary) (void)unlink(aside->temporary);
  free(aside->temporary);
  free(aside->path);
  free(aside->directory);
  memset(aside, 0, sizeof *aside);
  aside->fd = -1;
}

/* ------------------------------------------------------------ text files */

struct shoal_file {
  shoal_aside aside;
};

shoal_status shoal_file_begin(const char *path, shoal_file **out, shoal_error *error) {
  *out = NULL;
  shoal_file *file = shoal_alloc_zero(1, sizeof *file);
  if (!file) return shoal_fail_memory(error);
  shoal_status status = shoal_aside_open(&file->aside, path, error);
  if (status != SHOAL_OK) {
    free(file);
    return status;
  }
  *out = file;
  return SHOAL_OK;
}

shoal_status shoal_file_commit(shoal_file *file, const char *text, shoal_error *error) {
  shoal_aside *aside = &file->aside;
  size_t size = strlen(text);
  SHOAL_TRY(shoal_write_all(aside->fd, aside->path, text, size, error));
  if (!size || text[size - 1] != '\n')
    SHOAL_TRY(shoal_write_all(aside->fd, aside->path, "\n", 1, error));
  return shoal_aside_commit(aside, error);
}

void shoal_file_free(shoal_file *file) {
  if (!file) return;
  shoal_aside_close(&file->aside);
  free(file);
}

size_t shoal_same_file(const char *path, const char *const *others, size_t n) {
  struct stat info, other;
  bool exists = stat(path, &info) == 0 && S_ISREG(info.st_mode);
  for (size_t i = 0; i < n; i++) {
    if (!others[i] || strcmp(others[i], "-") == 0 || strcmp(path, "-") == 0) continue;
    if (strcmp(path, others[i]) == 0) return i;
    if (exists && stat(others[i], &other) == 0 && info.st_dev == other.st_dev &&
        info.st_ino == other.st_ino)
      return i;
  }
  return n;
}
