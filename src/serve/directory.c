/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 500, MAX_DEPTH = 4, PATH_BYTES = 4096 };

/* Appends the names of `path` to out, resolving ".."; false if it leads out. */
static bool append_names(const char *path, char *out, size_t size) {
  for (const char *name = path; *name;) {
    size_t length = strcspn(name, "/"), used = strlen(out);
    if (length == 2 && !strncmp(name, "..", 2)) {
      if (!used) return false;
      char *slash = strrchr(out, '/');
      *(slash ? slash : out) = '\0';
    } else if (length && !(length == 1 && *name == '.')) {
      if (used + length + 2 > size) return false;
      (void)snprintf(out + used, size - used, "%s%.*s", used ? "/" : "", (int)length, name);
    }
    name += length + (name[length] == '/');
  }
  return true;
}

bool serve_path_below(const char *base, const char *path, char *out, size_t size) {
  out[0] = '\0';
  if (path[0] == '/' || base[0] == '/') return false;
  return append_names(base, out, size) && append_names(path, out, size);
}

int serve_open_below(int directory, const char *path) {
  char name[PATH_BYTES];
  struct stat status;
  int fd = fcntl(directory, F_DUPFD_CLOEXEC, 3);
  while (fd >= 0) {
    size_t length = strcspn(path, "/");
    bool last = !path[length];
    if (!length || length >= sizeof name || !strncmp(path, "..", length + 1)) {
      (void)close(fd);
      errno = EINVAL;
      return -1;
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)length, path);
    /* O_NONBLOCK: a named pipe must not stop the server. */
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (last ? 0 : O_DIRECTORY);
    int next = openat(fd, name, flags);
    int code = errno;
    (void)close(fd);
    errno = code;
    fd = next;
    path += length + !last;
    if (last) break;
  }
  if (fd < 0) return -1;
  if (!fstat(fd, &status) && S_ISREG(status.st_mode)) return fd;
  (void)close(fd);
  errno = EINVAL;
  return -1;
}

static bool ends_in(const char *name, const char *suffix) {
  size_t length = strlen(name), end = strlen(suffix);
  return length > end && !strcasecmp(name + length - end, suffix);
}

/* "data", "policy" or NULL, by the suffix. */
static const char *kind_of_file(const char *name) {
  static const char *const data[] = {".csv", ".tsv",     ".csv.gz", ".tsv.gz",  ".csv.zst",
                                     ".sav", ".tsv.zst", ".dta",    ".sas7bdat"};
  for (size_t i = 0; i < sizeof data / sizeof *data; i++)
    if (ends_in(name, data[i])) return "data";
  return ends_in(name, ".yaml") || ends_in(name, ".yml") ? "policy" : NULL;
}

/* Adds the files of one directory; takes the descriptor. */
static void list_into(json_t *list, int fd, const char *path, int depth) {
  DIR *directory = fd < 0 ? NULL : fdopendir(fd);
  if (!directory && fd >= 0) (void)close(fd);
  for (struct dirent *entry; directory && (entry = readdir(directory));) {
    char below[PATH_BYTES];
    struct stat status;
    const char *name = entry->d_name, *kind = kind_of_file(name);
    int size = snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", name);
    if (name[0] == '.' || size < 0 || (size_t)size >= sizeof below) continue;
    if (json_array_size(list) >= MAX_FILES) break;
    if (fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW)) continue;
    if (S_ISDIR(status.st_mode) && depth < MAX_DEPTH) {
      int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
      list_into(list, openat(dirfd(directory), name, flags), below, depth + 1);
    } else if (S_ISREG(status.st_mode) && kind) {
      json_t *item = json_pack("{s:s, s:s, s:I}", "path", below, "kind", kind, "size",
                               (json_int_t)status.st_size);
      if (item) (void)json_array_append_new(list, item); /* NULL: the name is no UTF-8 */
    }
  }
  if (directory) (void)closedir(directory);
}

static int by_path(const void *a, const void *b) {
  const json_t *const *left = a, *const *right = b;
  return strcmp(json_string_value(json_object_get(*left, "path")),
                json_string_value(json_object_get(*right, "path")));
}

json_t *serve_list_files(int directory) {
  json_t *list = json_array(), *sorted = json_array();
  json_t **items = calloc(MAX_FILES, sizeof *items);
  if (list && sorted && items) {
    list_into(list, openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "", 1);
    size_t n = json_array_size(list);
    for (size_t i = 0; i < n; i++) items[i] = json_array_get(list, i);
    qsort(items, n, sizeof *items, by_path);
    for (size_t i = 0; i < n; i++) (void)json_array_append(sorted, items[i]);
  }
  json_decref(list);
  free(items);
  return sorted;
}
