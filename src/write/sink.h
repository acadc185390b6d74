/* SPDX-License-Identifier: Apache-2.0 */
/* write/sink: bytes to a file descriptor, compressed as the file's name says. */
#ifndef SHOAL_WRITE_SINK_H
#define SHOAL_WRITE_SINK_H

#include "base/error.h"

typedef struct shoal_sink shoal_sink;

/* `name` ending in .gz or .zst compresses; it also stands in messages. The fd stays the caller's.
 */
shoal_status shoal_sink_open(int fd, const char *name, shoal_sink **sink,
                             shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_sink_write(shoal_sink *sink, const char *bytes, size_t size_bytes,
                              shoal_error *error) SHOAL_MUST_CHECK;
/*
 * A place for so many bytes behind all that was written or reserved, to be filled by any thread at
 * any time; false where bytes must come in order, since they are compressed or no file.
 */
bool shoal_sink_reserve(shoal_sink *sink, size_t size_bytes, uint64_t *offset);
shoal_status shoal_sink_write_at(const shoal_sink *sink, uint64_t offset, const char *bytes,
                                 size_t size_bytes, shoal_error *error) SHOAL_MUST_CHECK;
/* Writes what is still held back. */
shoal_status shoal_sink_finish(shoal_sink *sink, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_sink_free(shoal_sink *sink);

/* All of the bytes to a file descriptor; `name` stands in messages. */
shoal_status shoal_write_all(int fd, const char *name, const char *bytes, size_t size_bytes,
                             shoal_error *error) SHOAL_MUST_CHECK;
/* The same at a place of its own. */
shoal_status shoal_write_all_at(int fd, const char *name, uint64_t offset, const char *bytes,
                                size_t size_bytes, shoal_error *error) SHOAL_MUST_CHECK;

#endif
