/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/aside: a file that is complete under its name or not there. It is written without a name
 * (O_TMPFILE) or, where the file system cannot do that, under a random one beside the final name,
 * readable by its owner only; it gets its name when it is committed. What a killed run left in the
 * directory is removed first.
 */
#ifndef SHOAL_WRITE_ASIDE_H
#define SHOAL_WRITE_ASIDE_H

#include "base/error.h"

typedef struct shoal_aside {
  char *path;      /* the final name */
  char *directory; /* where it lies */
  char *temporary; /* its name until then, NULL while it has none */
  int fd;
  bool is_stream; /* the final place is no regular file: it is copied there */
} shoal_aside;

/* Opens a new file to become `path` ("-": standard output). */
shoal_status shoal_aside_open(shoal_aside *aside, const char *path,
                              shoal_error *error) SHOAL_MUST_CHECK;

/* A file that will never have a name, on the disk where `path` is to be; gone when it is closed. */
shoal_status shoal_aside_spool(shoal_aside *aside, const char *path,
                               shoal_error *error) SHOAL_MUST_CHECK;

/*
 * What was written begins to go to the disk, so that a commit later waits less. May wait for the
 * disk itself: for a thread that has nothing else to do. What fails here fails in the commit.
 */
void shoal_aside_flush(const shoal_aside *aside);

/* Makes the file what `path` names, with the usual permissions; on failure nothing changes. */
shoal_status shoal_aside_commit(shoal_aside *aside, shoal_error *error) SHOAL_MUST_CHECK;

/* Closes; what is not committed is gone. Safe to call at any time after open. */
void shoal_aside_close(shoal_aside *aside);

/* Is `path` the same file as one of the others? Returns its index, or n. */
size_t shoal_same_file(const char *path, const char *const *others, size_t n);

#endif
