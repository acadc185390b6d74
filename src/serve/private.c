/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/text.h"

shoal_status serve_private_make(serve_private *p, shoal_error *error) {
  const char *top = getenv("TMPDIR");
  if (!top || top[0] != '/') top = "/tmp";
  int size = snprintf(p->path, sizeof p->path, "%s/shoal-serve-XXXXXX", top);
  if (size < 0 || (size_t)size >= sizeof p->path) {
    p->path[0] = '\0';
    return serve_fail(error, SHOAL_BAD_INPUT, "TMPDIR is too long; choose another directory");
  }
  if (!mkdtemp(p->path)) {
    p->path[0] = '\0';
    return serve_fail(error, SHOAL_FAILED, "%s: cannot create a directory: %s", top,
                      strerror(errno));
  }
  return SHOAL_OK;
}

void serve_private_remove(serve_private *p) {
  if (!p->path[0]) return;
  DIR *directory = opendir(p->path);
  for (struct dirent *entry; directory && (entry = readdir(directory));)
    if (entry->d_name[0] != '.') (void)unlinkat(dirfd(directory), entry->d_name, 0);
  if (directory) (void)closedir(directory);
  (void)rmdir(p->path);
  p->path[0] = '\0';
}

/* Keeps letters, digits, dots and dashes of a file name, at most its last 40 bytes. */
static void safe_suffix(const char *name, char *out, size_t size) {
  size_t length = strlen(name), n = 0;
  if (length > 40) name += length - 40;
  for (; *name && n + 1 < size; name++) {
    bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                 (*name >= '0' && *name <= '9') || *name == '.' || *name == '-';
    bool second_dot = *name == '.' && n && out[n - 1] == '.';
    out[n++] = plain && !second_dot ? *name : '-';
  }
  out[n] = '\0';
}

void serve_private_name(serve_private *p, const char *suffix, char *path, size_t size) {
  char safe[64];
  safe_suffix(suffix, safe, sizeof safe);
  (void)snprintf(path, size, "%s/%u-%s", p->path, atomic_fetch_add(&p->n_names, 1), safe);
}

shoal_status serve_private_redirect(serve_private *p, const char *address, char *path, size_t size,
                                    shoal_error *error) {
  (void)snprintf(path, size, "%s/open.html", p->path);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  if (!file) {
    if (fd >= 0) (void)close(fd);
    return serve_fail(error, SHOAL_FAILED, "%s: cannot create the file: %s", path, strerror(errno));
  }
  fprintf(file,
          "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n<title>shoal</title>\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n"
          "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n"
          "<p><a href=\"%s\">Open shoal</a></p>\n</html>\n",
          address, address);
  if (!fclose(file)) return SHOAL_OK;
  return serve_fail(error, SHOAL_FAILED, "%s: cannot write the file: %s", path, strerror(errno));
}

/* ---------------------------------------------------------------- links */

bool serve_links_make(serve_private *p, const char *below, serve_links *links) {
  serve_links_reset(links);
  serve_private_name(p, "files", links->top, sizeof links->top);
  if (mkdir(links->top, 0700)) {
    links->top[0] = '\0';
    return false;
  }
  return serve_join(links->directory, sizeof links->directory, links->top, below);
}

/* A link to an open file, by which the engine can open it. */
static int link_to(int fd, const char *path) {
  char target[64];
  (void)snprintf(target, sizeof target, "/proc/%ld/fd/%d", (long)getpid(), fd);
  return symlink(target, path);
}

bool serve_links_add(serve_links *links, const char *name, int fd) {
  char path[sizeof links->directory + 4096];
  int *grown = realloc(links->fds, (links->n_fds + 1) * sizeof *grown);
  bool ok = grown && serve_join(path, sizeof path, links->directory, name);
  if (grown) links->fds = grown;
  for (char *at = path + strlen(links->top) + 1; ok && (at = strchr(at, '/')); at++) {
    *at = '\0';
    ok = !mkdir(path, 0700) || errno == EEXIST;
    *at = '/';
  }
  if (ok && !link_to(fd, path)) {
    links->fds[links->n_fds++] = fd;
    return true;
  }
  ok = ok && errno == EEXIST; /* named twice */
  (void)close(fd);
  return ok;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
  (void)status, (void)kind, (void)place;
  return remove(path);
}

void serve_links_reset(serve_links *links) {
  if (links->top[0]) (void)nftw(links->top, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
  for (size_t i = 0; i < links->n_fds; i++) (void)close(links->fds[i]);
  free(links->fds);
  *links = (serve_links){0};
}

/* ---------------------------------------------------------------- blobs */

static serve_blob *new_blob(int fd, const char *name) {
  serve_blob *blob = calloc(1, sizeof *blob);
  if (!blob) return NULL;
  atomic_init(&blob->n_users, 1);
  blob->fd = fd;
  (void)snprintf(blob->name, sizeof blob->name, "%s", name);
  return blob;
}

/* Gives an unlinked file a name for the engine. Takes the descriptor, also on failure. */
serve_blob *serve_blob_of_fd(serve_private *p, int fd, const char *name) {
  serve_blob *blob = fd < 0 ? NULL : new_blob(fd, name);
  if (blob) serve_private_name(p, name, blob->path, sizeof blob->path);
  if (blob && !link_to(fd, blob->path)) return blob;
  if (fd >= 0) (void)close(fd);
  free(blob);
  return NULL;
}

serve_blob *serve_blob_new(serve_private *p, const char *name) {
  char path[4096];
  serve_private_name(p, "upload", path, sizeof path);
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0) (void)unlink(path);
  return serve_blob_of_fd(p, fd, name);
}

serve_blob *serve_blob_take(serve_private *p, const char *path, const char *name) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  (void)unlink(path);
  return serve_blob_of_fd(p, fd, name);
}

serve_blob *serve_blob_of_path(const char *path, const char *name) {
  serve_blob *blob = new_blob(-1, name);
  if (!blob) return NULL;
  int size = snprintf(blob->path, sizeof blob->path, "%s", path);
  if (size >= 0 && (size_t)size < sizeof blob->path) return blob;
  free(blob);
  return NULL;
}

serve_blob *serve_blob_ref(serve_blob *blob) {
  if (blob) atomic_fetch_add(&blob->n_users, 1);
  return blob;
}

void serve_blob_drop(serve_blob *blob) {
  if (!blob || atomic_fetch_sub(&blob->n_users, 1) != 1) return;
  if (blob->fd >= 0) {
    (void)unlink(blob->path);
    (void)close(blob->fd);
  }
  free(blob);
}
