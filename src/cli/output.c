/* SPDX-License-Identifier: Apache-2.0 */
/* cli/output: see output.h. The library writes; here is what a command line can get wrong. */
#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/words.h"

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
  if (!sibling) return NULL;
  memcpy(sibling, path, length);
  memcpy(sibling + length, name, size);
  return sibling;
}

shoal_status cli_file_begin(cli_file *file, const char *path, shoal_error *error) {
  file->file = NULL;
  shoal_status status = cli_check_place(path, error);
  return status == SHOAL_OK ? shoal_file_begin(path, &file->file, error) : status;
}

shoal_status cli_file_commit(cli_file *file, const char *text, shoal_error *error) {
  shoal_status status = shoal_file_commit(file->file, text, error);
  cli_file_discard(file);
  return status;
}

void cli_file_discard(cli_file *file) {
  shoal_file_free(file->file);
  file->file = NULL;
}

/* stat(2) of the directory that holds `path`. */
static bool stat_directory(const char *path, struct stat *info) {
  char *directory = beside(path, ".");
  bool found = directory && !stat(directory, info);
  free(directory);
  return found;
}

bool cli_same_file(const char *a, const char *b) {
  if (!strcmp(a, "-")) a = "/dev/stdin";
  if (!strcmp(b, "-")) b = "/dev/stdin";
  if (!strcmp(a, b)) return true;
  struct stat info_a, info_b;
  bool exists_a = !stat(a, &info_a), exists_b = !stat(b, &info_b);
  if (exists_a != exists_b) return false;
  if (!exists_a) { /* two files to be: the same name in the same directory */
    if (strcmp(a + directory_length(a), b + directory_length(b)) != 0) return false;
    if (!stat_directory(a, &info_a) || !stat_directory(b, &info_b)) return false;
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
    if (stat_directory(path, &info)) return SHOAL_OK;
    return fail_path(error, path, errno);
  }
  if (S_ISDIR(info.st_mode)) return fail_path(error, path, EISDIR);
  if (is_printed_to(&info))
    return cli_fail(error, SHOAL_BAD_INPUT,
                    "%s: standard output or standard error goes there: choose another name", path);
  return SHOAL_OK;
}
