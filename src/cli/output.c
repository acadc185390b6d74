/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/output: see output.h. A file is written under a hidden name in its own directory, with mode
 * 0600 until it is whole; then it gets the mode the umask leaves, and its name by rename(2). What
 * is not a regular file (a pipe, /dev/null) must not be replaced, and is written into.
 */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/words.h"

static const char ASIDE_NAME[] = ".shoal.XXXXXX";

/* What the user can mend by another name is bad input; the rest is the machine's. */
static shoal_status fail_path(shoal_error *error, const char *path, int code) {
  if (code == ENOENT || code == ENOTDIR)
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "%s: its directory does not exist: make it, or choose another name", path);
  if (code == EISDIR)
    return cli_fail(error, SHOAL_BAD_INPUT, "%s: is a directory: give the name of a file", path);
  return cli_fail(error, SHOAL_FAILED, "%s: cannot write: %s", path, strerror(code));
}

static size_t directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* "dir/" + name, or NULL without memory. */
static char *beside(const char *path, const char *name) {
  size_t length = directory_length(path), size = strlen(name) + 1;
  char *sibling = malloc(length + size);
  if (!sibling)
    return NULL;
  memcpy(sibling, path, length);
  memcpy(sibling + length, name, size);
  return sibling;
}

static shoal_status open_aside(cli_file *file, shoal_error *error) {
  file->aside = beside(file->target, ASIDE_NAME);
  if (!file->aside)
    return cli_fail_memory(error);
  file->fd = mkostemp(file->aside, O_CLOEXEC);
  if (file->fd >= 0)
    return SHOAL_OK;
  int code = errno;
  free(file->aside);
  file->aside = NULL;
  return fail_path(error, file->path, code);
}

shoal_status cli_file_begin(cli_file *file, const char *path, shoal_error *error) {
  *file = (cli_file){.path = path, .fd = -1};
  file->target = realpath(path, NULL);
  if (!file->target)
    file->target = strdup(path);
  if (!file->target)
    return cli_fail_memory(error);
  struct stat info;
  shoal_status status = cli_check_place(path, error);
  if (status == SHOAL_OK && (stat(file->target, &info) || S_ISREG(info.st_mode)))
    status = open_aside(file, error);
  if (status != SHOAL_OK)
    cli_file_discard(file);
  return status;
}

static bool write_all(int fd, const char *bytes, size_t size) {
  while (size) {
    ssize_t n = write(fd, bytes, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    bytes += n;
    size -= (size_t)n;
  }
  return true;
}

/* A text file ends with a newline, also where the text does not. */
static bool write_text(int fd, const char *text) {
  size_t size = strlen(text);
  bool ended = size && text[size - 1] == '\n';
  return write_all(fd, text, size) && (ended || write_all(fd, "\n", 1));
}

/* The mode a new file would have. The umask can only be read by setting it. */
static mode_t new_file_mode(void) {
  mode_t mask = umask(077);
  (void)umask(mask);
  return 0666 & ~mask;
}

/* The file under its hidden name, whole and on the disk; leaves `fd` closed. */
static bool finish_aside(cli_file *file, const char *text) {
  bool written =
      write_text(file->fd, text) && !fchmod(file->fd, new_file_mode()) && !fsync(file->fd);
  int code = errno;
  if (close(file->fd) && written) {
    written = false;
    code = errno;
  }
  file->fd = -1;
  errno = code;
  return written;
}

static bool write_into(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  bool written = write_text(fd, text);
  int code = errno;
  if (close(fd) && written)
    return false;
  errno = code;
  return written;
}

shoal_status cli_file_commit(cli_file *file, const char *text, shoal_error *error) {
  bool done;
  if (file->aside)
    done = finish_aside(file, text) && !rename(file->aside, file->target);
  else
    done = write_into(file->target, text);
  shoal_status status = done ? SHOAL_OK : fail_path(error, file->path, errno);
  if (done) {
    free(file->aside);
    file->aside = NULL;
  }
  cli_file_discard(file);
  return status;
}

void cli_file_discard(cli_file *file) {
  if (file->aside) {
    if (file->fd >= 0)
      (void)close(file->fd);
    (void)unlink(file->aside);
  }
  free(file->aside);
  free(file->target);
  *file = (cli_file){.fd = -1};
}

/* stat(2) of the directory that holds `path`. */
static bool stat_directory(const char *path, struct stat *info) {
  char *directory = beside(path, ".");
  bool found = directory && !stat(directory, info);
  free(directory);
  return found;
}

bool cli_same_file(const char *a, const char *b) {
  if (!strcmp(a, "-"))
    a = "/dev/stdin";
  if (!strcmp(b, "-"))
    b = "/dev/stdin";
  if (!strcmp(a, b))
    return true;
  struct stat info_a, info_b;
  bool exists_a = !stat(a, &info_a), exists_b = !stat(b, &info_b);
  if (exists_a != exists_b)
    return false;
  if (!exists_a) { /* two files to be: the same name in the same directory */
    if (strcmp(a + directory_length(a), b + directory_length(b)))
      return false;
    if (!stat_directory(a, &info_a) || !stat_directory(b, &info_b))
      return false;
  }
  return info_a.st_dev == info_b.st_dev && info_a.st_ino == info_b.st_ino;
}

/* `> log` and `/dev/stdout`: a file under that name would take the place of what is printed. */
static bool is_printed_to(const struct stat *info) {
  for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
    struct stat stream;
    if (S_ISREG(info->st_mode) && !fstat(fd, &stream) && stream.st_dev == info->st_dev &&
        stream.st_ino == info->st_ino)
      return true;
  }
  return false;
}

shoal_status cli_check_place(const char *path, shoal_error *error) {
  struct stat info;
  if (stat(path, &info)) {
    if (stat_directory(path, &info))
      return SHOAL_OK;
    return fail_path(error, path, errno);
  }
  if (S_ISDIR(info.st_mode))
    return fail_path(error, path, EISDIR);
  if (is_printed_to(&info))
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "%s: standard output or standard error goes there: choose another name", path);
  return SHOAL_OK;
}
