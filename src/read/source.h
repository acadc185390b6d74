/* SPDX-License-Identifier: Apache-2.0 */
/* read/source: where bytes come from: a file, standard input, .gz, .zst, or memory. */
#ifndef SHOAL_READ_SOURCE_H
#define SHOAL_READ_SOURCE_H

#include "base/error.h"

typedef struct shoal_source shoal_source;

/*
 * Opens `path` ("-": standard input). Compressed content is recognized by its first bytes; a name
 * that ends in .gz or .zst must have such content (an empty file excepted). SHOAL_BAD_INPUT: no
 * such file, a directory, no permission, wrong content; SHOAL_FAILED: the machine.
 */
shoal_status shoal_source_open(const char *path, shoal_source **source,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* Reads up to `capacity` bytes; *size_bytes = 0 is the end. */
shoal_status shoal_source_read(shoal_source *source, char *bytes, size_t capacity,
                               size_t *size_bytes, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * From now on compressed content is decompressed by a thread of its own, a few blocks ahead of who
 * reads; other content is read as before. Looks at the first bytes. Without a thread nothing
 * changes.
 */
shoal_status shoal_source_read_ahead(shoal_source *source, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * While a pipe or terminal gives nothing, `wait` is called several times a second; if it returns
 * true the read ends with SHOAL_CANCELLED. Without it, a read waits for ever.
 */
typedef bool (*shoal_wait_fn)(void *user);
void shoal_source_set_wait(shoal_source *source, shoal_wait_fn wait, void *user);

/* Bytes taken from the file so far, and its size (0: not known), for progress. */
uint64_t shoal_source_position(const shoal_source *source);
uint64_t shoal_source_size(const shoal_source *source);

/* Which file it was, and how it stood when it was opened. */
typedef struct shoal_stamp {
  uint64_t device, inode, size_bytes;
  int64_t seconds, nanoseconds; /* of its last change */
} shoal_stamp;

/* False: no regular file, or standard input; it cannot be read a second time. */
bool shoal_source_stamp(const shoal_source *source, shoal_stamp *stamp);
/* Has it changed since it was opened? */
bool shoal_source_touched(const shoal_source *source);
bool shoal_stamp_equal(const shoal_stamp *a, const shoal_stamp *b);

void shoal_source_close(shoal_source *source);

/* The whole of a file, with a NUL behind it and 64 bytes of slack; at most `limit` bytes. */
shoal_status shoal_source_slurp(const char *path, size_t limit, char **bytes, size_t *size_bytes,
                                shoal_error *error) SHOAL_MUST_CHECK;

#endif
