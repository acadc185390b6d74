/* SPDX-License-Identifier: Apache-2.0 */
/* write/leftover: see leftover.h. */
#include "write/leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 16 };

/* Where there are no locks (some network disks) nothing is swept either. */
bool shoal_leftover_hold(int fd) {
  struct stat info;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  return fstat(fd, &info) != 0 || info.st_nlink > 0;
}

static bool has_our_name(const char *name) {
  const size_t before = sizeof SHOAL_LEFTOVER_PREFIX - 1;
  return strncmp(name, SHOAL_LEFTOVER_PREFIX, before) == 0 &&
         strspn(name + before, "0123456789abcdef") == DIGITS &&
         strcmp(name + before + DIGITS, SHOAL_LEFTOVER_SUFFIX) == 0;
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

void shoal_leftover_sweep(const char *directory) {
  DIR *open = opendir(directory);
  if (!open) return;
  for (const struct dirent *entry = readdir(open); entry; entry = readdir(open))
    if (has_our_name(entry->d_name)) sweep_file(dirfd(open), entry->d_name);
  (void)closedir(open);
}
