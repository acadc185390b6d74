/* SPDX-License-Identifier: Apache-2.0 */
/* read/source: where bytes come from: a file or standard input, plain, .gz or .zst, or a database.
 */
#pragma once

#include "base/error.h"
#include "read/database.h"

typedef struct shoal_source shoal_source;

/*
 * Opens `path` ("-": standard input). Compressed content is recognized by its first bytes; a name
 * that ends in .gz or .zst must have such content (an empty file excepted). SHOAL_BAD_INPUT: no
 * such file, a directory, wrong content; SHOAL_FAILED: other system errors.
 */
shoal_status shoal_source_open(const char *path, shoal_source **source,
                               shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Before the first read of a database: connects, and starts to read. Cells are separated by
 * `delimiter`, and `null_cell` stands for NULL; both are borrowed. Files need no start.
 */
shoal_status shoal_source_start(shoal_source *source, char delimiter, const char *null_cell,
                                shoal_error *error) SHOAL_MUST_CHECK;
/* The columns of a database's table, once it is started; NULL: it is a file. The caller may take
 * what they own. */
shoal_database_columns *shoal_source_columns(shoal_source *source);

/* Reads up to `capacity` bytes; *size_bytes = 0 is the end. */
shoal_status shoal_source_read(shoal_source *source, char *bytes, size_t capacity,
                               size_t *size_bytes, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The bytes that are read become UTF-8, from now on (encoding.h). NULL: the encoding is detected,
 * with `or_utf8` whether it is UTF-8 instead. The name is borrowed. Before the first read.
 */
shoal_status shoal_source_decode(shoal_source *source, const char *encoding, bool or_utf8,
                                 shoal_error *error) SHOAL_MUST_CHECK;
/* The detected encoding, if it is not UTF-8; known when all was read. NULL: UTF-8, or given. */
const char *shoal_source_encoding(const shoal_source *source);

/*
 * Decompresses, or reads a database, on a thread of its own from now on, a few buffers ahead of the
 * reader. Other content is read as before, also if no thread can be started. Reads the first bytes.
 */
shoal_status shoal_source_read_ahead(shoal_source *source, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * While a pipe or terminal has no data, `wait` is called several times a second; if it returns true
 * the read ends with SHOAL_CANCELLED. Without it, a read waits indefinitely.
 */
typedef bool (*shoal_wait_fn)(void *user);
void shoal_source_set_wait(shoal_source *source, shoal_wait_fn wait, void *user);

/* Bytes read from the file so far, and its size (0: unknown), for progress; of a database: rows. */
uint64_t shoal_source_position(const shoal_source *source);
uint64_t shoal_source_size(const shoal_source *source);
/* "bytes" or "rows". */
const char *shoal_source_unit(const shoal_source *source);

/* Is the content compressed? Known once something was read. */
bool shoal_source_is_compressed(const shoal_source *source);

/* Which file it is, and its state when it was opened. */
typedef struct shoal_stamp {
  uint64_t device, inode, size_bytes;
  int64_t seconds, nanoseconds; /* of its last change */
} shoal_stamp;

/* False: not a regular file, or standard input; it cannot be read a second time. */
bool shoal_source_stamp(const shoal_source *source, shoal_stamp *stamp);
/* Has it changed since it was opened? */
bool shoal_source_touched(const shoal_source *source);
bool shoal_stamp_equal(const shoal_stamp *a, const shoal_stamp *b);

void shoal_source_close(shoal_source *source);

/* A whole file as UTF-8, its encoding detected, followed by a NUL and 64 bytes of slack; at most
 * `limit` bytes. */
shoal_status shoal_source_slurp_text(const char *path, size_t limit, char **bytes,
                                     size_t *size_bytes, shoal_error *error) SHOAL_MUST_CHECK;
