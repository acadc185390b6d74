/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/atomic_file: temporary files that are renamed into place, and the removal of those that
 * killed runs left. A named temporary file is locked while its process lives; if the lock can be
 * taken, the file is stale.
 */
#include "write/atomic_file.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "read/database.h"
#include "write/sink.h"

/* ------------------------------------------------------------ stale files */

enum { DIGITS = 16 };

/* Where there are no locks (some network disks) nothing is swept either. */
bool shoal_stale_files_hold(int fd) {
  struct stat info;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  return fstat(fd, &info) != 0 || info.st_nlink > 0;
}

static bool has_our_name(const char *name) {
  const size_t before = sizeof SHOAL_STALE_FILE_PREFIX - 1;
  return strncmp(name, SHOAL_STALE_FILE_PREFIX, before) == 0 &&
         strspn(name + before, "0123456789abcdef") == DIGITS &&
         strcmp(name + before + DIGITS, SHOAL_STALE_FILE_SUFFIX) == 0;
}

static void sweep_file(int directory, const char *name) {
  int fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
      flock(fd, LOCK_EX | LOCK_NB) == 0)
    (void)unlinkat(directory, name, 0);
  (void)close(fd);
}

void shoal_stale_files_sweep(const char *directory) {
  DIR *open = opendir(directory);
  if (!open) return;
  for (const struct dirent *entry = readdir(open); entry; entry = readdir(open))
    if (has_our_name(entry->d_name)) sweep_file(dirfd(open), entry->d_name);
  (void)closedir(open);
}

/* ------------------------------------------------------------ the file */

enum { COPY_BYTES = 1 << 20, NAME_TRIES = 16 };

static shoal_status fail_system(const char *path, const char *what, int code, shoal_error *error) {
  shoal_location location = {.file = path};
  bool usage = code == ENOENT || code == ENOTDIR || code == EISDIR || code == ENAMETOOLONG;
  return shoal_fail_at(error, usage ? SHOAL_BAD_INPUT : SHOAL_FAILED, &location, "%s: %s", what,
                       strerror(code));
}

static char *directory_of(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return strdup(".");
  if (slash == path) return strdup("/");
  return strndup(path, (size_t)(slash - path));
}

/* A name beside the final one that nobody can guess; NULL without memory or entropy. */
static char *random_name(const shoal_atomic_file *atomic_file) {
  uint64_t random;
  if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) return NULL;
  size_t size = strlen(atomic_file->directory) + 40;
  char *name = shoal_alloc(size, 1);
  if (name)
    (void)snprintf(name, size, "%s/" SHOAL_STALE_FILE_PREFIX "%016llx" SHOAL_STALE_FILE_SUFFIX,
                   atomic_file->directory, (unsigned long long)random);
  return name;
}

static shoal_status open_named(shoal_atomic_file *atomic_file, mode_t mode, shoal_error *error) {
  for (int i = 0; i < NAME_TRIES; i++) {
    char *name = random_name(atomic_file);
    if (!name) return shoal_fail_memory(error);
    atomic_file->fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    int code = errno;
    if (atomic_file->fd >= 0) {
      atomic_file->temporary = name;
      if (shoal_stale_files_hold(atomic_file->fd)) return SHOAL_OK;
      (void)close(atomic_file->fd);
      (void)unlink(name);
      atomic_file->temporary = NULL;
      atomic_file->fd = -1;
      code = EEXIST;
    }
    free(name);
    if (code != EEXIST) return fail_system(atomic_file->path, "cannot be written", code, error);
  }
  return fail_system(atomic_file->path, "cannot be written", EEXIST, error);
}

static void forget_name(shoal_atomic_file *atomic_file) {
  if (!atomic_file->temporary) return;
  (void)unlink(atomic_file->temporary);
  free(atomic_file->temporary);
  atomic_file->temporary = NULL;
}

/*
 * The permissions that the directory gives to a new file. They depend on the umask, or on the
 * directory's default ACL. umask(2) cannot be read without changing it for all threads of the
 * process, so a file is made with mode 0666 and asked what became of it.
 */
static shoal_status learn_mode(shoal_atomic_file *atomic_file, shoal_error *error) {
  struct stat info;
  if (fstat(atomic_file->fd, &info) != 0)
    return fail_system(atomic_file->path, "cannot be written", errno, error);
  atomic_file->mode = info.st_mode & 0777;
  return SHOAL_OK;
}

/* Without a name nobody else can open the file while its mode is 0666. */
static shoal_status open_unnamed(shoal_atomic_file *atomic_file, shoal_error *error) {
  SHOAL_TRY(learn_mode(atomic_file, error));
  if (fchmod(atomic_file->fd, 0600) == 0) return SHOAL_OK;
  return fail_system(atomic_file->path, "cannot be written", errno, error);
}

/* With a name somebody could: an empty file tells the mode, and the real one has 0600 at once. */
static shoal_status open_private(shoal_atomic_file *atomic_file, shoal_error *error) {
  SHOAL_TRY(open_named(atomic_file, 0666, error));
  shoal_status status = learn_mode(atomic_file, error);
  forget_name(atomic_file);
  (void)close(atomic_file->fd);
  atomic_file->fd = -1;
  return status == SHOAL_OK ? open_named(atomic_file, 0600, error) : status;
}

/* Where the bytes lie until they are committed: the final directory, or the temporary one. */
static shoal_status open_temporary(shoal_atomic_file *atomic_file, const char *path,
                                   shoal_error *error) {
  struct stat info;
  if (!*path) return fail_system("the output", "has no name", ENOENT, error);
  bool to_stdout = strcmp(path, "-") == 0;
  bool exists = !to_stdout && stat(path, &info) == 0;
  atomic_file->to_stdout = to_stdout;
  if (exists && S_ISDIR(info.st_mode)) return fail_system(path, "cannot be written", EISDIR, error);
  atomic_file->is_stream = to_stdout || (exists && !S_ISREG(info.st_mode));
  const char *spill = getenv("TMPDIR");
  if (!spill || !spill[0]) spill = "/tmp";
  atomic_file->path = strdup(to_stdout ? "standard output" : path);
  char *real = exists && !atomic_file->is_stream ? realpath(path, NULL) : NULL;
  if (real) { /* a symbolic link stays one: what it points to is replaced */
    free(atomic_file->path);
    atomic_file->path = real;
  }
  atomic_file->directory = !atomic_file->path       ? NULL
                           : atomic_file->is_stream ? strdup(spill)
                                                    : directory_of(atomic_file->path);
  if (!atomic_file->path || !atomic_file->directory) return shoal_fail_memory(error);
  if (stat(atomic_file->directory, &info) != 0)
    return fail_system(atomic_file->path, "its directory cannot be used", errno, error);
  return SHOAL_OK;
}

shoal_status shoal_atomic_file_open(shoal_atomic_file *atomic_file, const char *path,
                                    shoal_error *error) {
  memset(atomic_file, 0, sizeof *atomic_file);
  atomic_file->fd = -1;
  shoal_status status = open_temporary(atomic_file, path, error);
  if (status == SHOAL_OK) {
    shoal_stale_files_sweep(atomic_file->directory);
    atomic_file->fd = open(atomic_file->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    status =
        atomic_file->fd < 0 ? open_private(atomic_file, error) : open_unnamed(atomic_file, error);
    if (status == SHOAL_OK && atomic_file->is_stream) forget_name(atomic_file);
  }
  if (status != SHOAL_OK) shoal_atomic_file_close(atomic_file);
  return status;
}

shoal_status shoal_atomic_file_open_unnamed(shoal_atomic_file *atomic_file, const char *path,
                                            shoal_error *error) {
  SHOAL_TRY(shoal_atomic_file_open(atomic_file, path, error));
  forget_name(atomic_file);
  return SHOAL_OK;
}

static shoal_status copy_out(shoal_atomic_file *atomic_file, int to, shoal_error *error) {
  char *bytes = shoal_alloc(COPY_BYTES, 1);
  if (!bytes) return shoal_fail_memory(error);
  shoal_status status = SHOAL_OK;
  off_t at = 0;
  while (status == SHOAL_OK) {
    ssize_t n = pread(atomic_file->fd, bytes, COPY_BYTES, at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) status = fail_system(atomic_file->path, "cannot be read back", errno, error);
    if (n <= 0) break;
    status = shoal_write_all(to, atomic_file->path, bytes, (size_t)n, error);
    at += n;
  }
  free(bytes);
  return status;
}

/* Gives an unnamed file a temporary name, from which it can be renamed over an older file. */
static shoal_status name_it(shoal_atomic_file *atomic_file, shoal_error *error) {
  char link[64];
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", atomic_file->fd);
  (void)shoal_stale_files_hold(atomic_file->fd); /* before it has a name nobody else can */
  for (int i = 0; i < NAME_TRIES; i++) {
    char *name = random_name(atomic_file);
    if (!name) return shoal_fail_memory(error);
    if (linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
      atomic_file->temporary = name;
      return SHOAL_OK;
    }
    int code = errno;
    free(name);
    if (code != EEXIST) return fail_system(atomic_file->path, "cannot be named", code, error);
  }
  return fail_system(atomic_file->path, "cannot be named", EEXIST, error);
}

static void sync_directory(const char *directory) {
  int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd); /* the file is whole either way */
  (void)close(fd);
}

void shoal_atomic_file_flush(const shoal_atomic_file *atomic_file) {
  if (!atomic_file->is_stream) (void)sync_file_range(atomic_file->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

/* All of a commit that can be expected to fail: after it, only the rename is left. */
static shoal_status prepare(shoal_atomic_file *atomic_file, shoal_error *error) {
  if (fchmod(atomic_file->fd, atomic_file->mode) != 0 || fsync(atomic_file->fd) != 0)
    return fail_system(atomic_file->path, "cannot be written", errno, error);
  return atomic_file->temporary ? SHOAL_OK : name_it(atomic_file, error);
}

shoal_status shoal_atomic_file_commit(shoal_atomic_file *atomic_file, shoal_error *error) {
  if (atomic_file->is_stream) {
    bool to_stdout = atomic_file->to_stdout; /* a file may have any name */
    int to = to_stdout ? STDOUT_FILENO : open(atomic_file->path, O_WRONLY | O_CLOEXEC);
    if (to < 0) return fail_system(atomic_file->path, "cannot be opened", errno, error);
    shoal_status status = copy_out(atomic_file, to, error);
    if (!to_stdout && close(to) != 0 && status == SHOAL_OK)
      status = fail_system(atomic_file->path, "cannot be written", errno, error);
    return status;
  }
  SHOAL_TRY(prepare(atomic_file, error));
  if (rename(atomic_file->temporary, atomic_file->path) != 0)
    return fail_system(atomic_file->path, "cannot be named", errno, error);
  free(atomic_file->temporary);
  atomic_file->temporary = NULL;
  sync_directory(atomic_file->directory);
  return SHOAL_OK;
}

/* ------------------------------------------------------------ files that belong together */

/* A second name for the file that a commit will replace; NULL: there is none, or it cannot be had.
 */
static char *keep_previous(const shoal_atomic_file *atomic_file) {
  char *name = atomic_file->is_stream ? NULL : random_name(atomic_file);
  if (name && link(atomic_file->path, name) == 0) return name;
  free(name);
  return NULL;
}

/* The same, and the file loses its own name. */
static char *move_aside(const shoal_atomic_file *atomic_file) {
  struct stat info;
  if (lstat(atomic_file->path, &info) != 0 || !S_ISREG(info.st_mode)) return NULL;
  char *name = random_name(atomic_file);
  if (name && rename(atomic_file->path, name) == 0) return name;
  free(name);
  return NULL;
}

/* Takes back a file that was committed, if it was, and gives the older one its name again. */
static void restore(const shoal_atomic_file *atomic_file, bool committed, const char *previous) {
  if (atomic_file->is_stream || (!committed && !previous)) return;
  if (!previous || rename(previous, atomic_file->path) != 0)
    if (committed) (void)unlink(atomic_file->path);
}

enum { MAX_TOGETHER = 4 };

/*
 * Older companions lose their names first, then the main file is renamed, then the new companions:
 * whenever the process ends, files of two runs are never side by side. A stream comes last: what it
 * got cannot be taken back.
 */
static shoal_status commit_together(shoal_atomic_file *const *files, size_t n, shoal_error *error) {
  char *previous[MAX_TOGETHER] = {NULL};
  bool committed[MAX_TOGETHER] = {false};
  size_t main_file = n - 1;
  bool streams = files[main_file]->is_stream;
  for (size_t i = 0; i < main_file; i++) previous[i] = move_aside(files[i]);
  previous[main_file] = keep_previous(files[main_file]);
  sync_directory(files[0]->directory);
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; status == SHOAL_OK && i < n; i++) {
    size_t next = streams ? i : (i + main_file) % n;
    status = shoal_atomic_file_commit(files[next], error);
    committed[next] = status == SHOAL_OK;
  }
  for (size_t i = 0; i < n; i++) {
    if (status != SHOAL_OK) restore(files[i], committed[i], previous[i]);
    if (previous[i]) (void)unlink(previous[i]); /* not there after it was restored */
    free(previous[i]);
  }
  return status;
}

shoal_status shoal_atomic_file_commit_all(shoal_atomic_file *const *files, size_t n,
                                          shoal_error *error) {
  assert(n >= 1 && n <= MAX_TOGETHER);
  for (size_t i = n; i-- > 0;)
    if (!files[i]->is_stream) SHOAL_TRY(prepare(files[i], error));
  return n == 1 ? shoal_atomic_file_commit(files[0], error) : commit_together(files, n, error);
}

void shoal_atomic_file_close(shoal_atomic_file *atomic_file) {
  if (atomic_file->fd >= 0) (void)close(atomic_file->fd);
  if (atomic_file->temporary) (void)unlink(atomic_file->temporary);
  free(atomic_file->temporary);
  free(atomic_file->path);
  free(atomic_file->directory);
  memset(atomic_file, 0, sizeof *atomic_file);
  atomic_file->fd = -1;
}

size_t shoal_same_file(const char *path, const char *const *others, size_t n) {
  struct stat info, other;
  bool exists = stat(path, &info) == 0 && S_ISREG(info.st_mode);
  size_t i = 0;
  for (bool same = false; i < n; i++) {
    if (!others[i] || strcmp(others[i], "-") == 0 || strcmp(path, "-") == 0) continue;
    char buffer[PATH_MAX];
    const char *file = shoal_file_of_path(others[i], buffer, sizeof buffer);
    same = strcmp(path, file) == 0 || (exists && stat(file, &other) == 0 &&
                                       info.st_dev == other.st_dev && info.st_ino == other.st_ino);
    if (same) break;
  }
  return i;
}
