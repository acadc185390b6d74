/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve/private: files of this process. Uploads and releases are unlinked files of mode 0600: they
 * vanish with the process, however it ends. The engine opens files by name, and some by their
 * suffix. So a blob has a name too: a symbolic link to /proc/PID/fd/N in a directory of mode 0700.
 *
 *     /tmp/shoal-serve-XXXXXX/          0700
 *         open.html                     0600   redirects the browser to the address
 *         3-patients.csv  ->  /proc/123/fd/9   (an unlinked file)
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "shoal/shoal.h"

typedef struct serve_private {
  char path[256];
  atomic_uint n_names; /* given out so far */
} serve_private;

/* Makes the directory below TMPDIR or /tmp. */
shoal_status serve_private_make(serve_private *private_files, shoal_error *error) SHOAL_MUST_CHECK;
/* Removes it with everything in it. */
void serve_private_remove(serve_private *private_files);

/* Writes the file that redirects to `address`; `path` receives its name. */
shoal_status serve_private_redirect(serve_private *private_files, const char *address, char *path,
                                    size_t size, shoal_error *error) SHOAL_MUST_CHECK;

/* A file without a name in any directory that others can read, shared by reference. */
typedef struct serve_blob {
  atomic_uint n_users;
  int fd;          /* -1: `path` is a file of the steward's */
  char path[4096]; /* for the engine */
  char name[256];  /* for people */
} serve_blob;

/* An empty one to write to. NULL: no memory or disk. `name` gives the suffix and is shown. */
serve_blob *serve_blob_new(serve_private *private_files, const char *name);
/* A file that the engine wrote below the directory becomes a blob: its name is unlinked. */
serve_blob *serve_blob_take(serve_private *private_files, const char *path, const char *name);
/* The same of an open file, which keeps its own name. Takes the descriptor, also on failure. */
serve_blob *serve_blob_of_fd(serve_private *private_files, int fd, const char *name);
/* One that stands for a file of the steward's, which is not removed. */
serve_blob *serve_blob_of_path(const char *path, const char *name);
serve_blob *serve_blob_ref(serve_blob *blob);
void serve_blob_drop(serve_blob *blob);

/*
 * Files for an engine that opens them by name: links to open descriptors, in a directory of their
 * own. What happens to the names outside after they were checked does not matter.
 */
typedef struct serve_links {
  char top[300];        /* removed with all below it; "": none */
  char directory[4096]; /* below top: where the names begin */
  int *fds;
  size_t n_fds;
} serve_links;

/* Makes the directory; `below` is its name in the steward's. */
bool serve_links_make(serve_private *private_files, const char *below, serve_links *links);
/* Adds a file. ".." in its name must not lead out. Takes the descriptor, also on failure. */
bool serve_links_add(serve_links *links, const char *name, int fd);
/* Removes them. */
void serve_links_reset(serve_links *links);

/* A name in the directory that no other call gets. */
void serve_private_name(serve_private *private_files, const char *suffix, char *path, size_t size);
