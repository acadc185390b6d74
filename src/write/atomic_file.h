/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/atomic_file: a file that is complete under its name, or does not exist. It is written
 * without a name (O_TMPFILE) or, if the file system cannot do that, under a random name in the same
 * directory, readable by its owner only, and renamed into place when it is committed. Stale
 * temporary files of killed runs in that directory are removed first.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

typedef struct shoal_atomic_file {
  char *path;      /* the final name */
  char *directory; /* where it lies */
  char *temporary; /* its name until then, NULL while it has none */
  int fd;
  mode_t mode;    /* that it gets when it is committed */
  bool is_stream; /* `path` is not a regular file: the content is copied there */
  bool to_stdout; /* it is standard output; `path` is what messages call it */
} shoal_atomic_file;

/* Opens a new file to become `path` ("-": standard output). */
shoal_status shoal_atomic_file_open(shoal_atomic_file *atomic_file, const char *path,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/* A file without a name, in the directory of `path`; gone when it is closed. */
shoal_status shoal_atomic_file_open_unnamed(shoal_atomic_file *atomic_file, const char *path,
                                            shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Starts writing to disk, so that the commit waits less. May wait for the disk, so call it on a
 * thread that has nothing else to do. A failure is reported by the commit.
 */
void shoal_atomic_file_flush(const shoal_atomic_file *atomic_file);

/* Makes the file what `path` names, with the permissions that open(2) would have given it. On
 * failure nothing changes. */
shoal_status shoal_atomic_file_commit(shoal_atomic_file *atomic_file,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Commits up to four files that belong together; the last is the main one. If one of them fails,
 * none is there under its name: older files are restored (the main one where the file system has
 * hard links) or stay. If the process is killed, there are only older files, or only new ones, but
 * companions of the main file may be missing.
 */
shoal_status shoal_atomic_file_commit_all(shoal_atomic_file *const *files, size_t n,
                                          shoal_error *error) SHOAL_MUST_CHECK;

/* Closes; a file that was not committed is gone. Safe at any time after open. */
void shoal_atomic_file_close(shoal_atomic_file *atomic_file);

/* Is `path` the same file as one of the others? Returns its index, or n. */
size_t shoal_same_file(const char *path, const char *const *others, size_t n);

/* ------------------------------------------------------------ stale files, for tests too */

/* Locks a temporary file. False: another run has just removed it as stale; make another. */
bool shoal_stale_files_hold(int fd);

/* Removes stale files of the same user in `directory`; ignores errors. */
void shoal_stale_files_sweep(const char *directory);

/* Their names: this, 16 digits of hexadecimal, and the ending. */
#define SHOAL_STALE_FILE_PREFIX ".shoal-"
#define SHOAL_STALE_FILE_SUFFIX ".part"
