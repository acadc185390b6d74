/* SPDX-License-Identifier: Apache-2.0 */
/* write/sink: bytes to a file descriptor, compressed if the file name ends in .gz or .zst. */
#pragma once

#include "base/error.h"

typedef struct shoal_sink shoal_sink;

/* Messages use `name`, whose ending selects compression. The fd stays the caller's. */
shoal_status shoal_sink_open(int fd, const char *name, shoal_sink **sink,
                             shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_sink_write(shoal_sink *sink, const char *bytes, size_t size_bytes,
                              shoal_error *error) SHOAL_MUST_CHECK;
/*
 * Reserves size_bytes at the end, to be written by any thread at any time. False: bytes must be
 * written in order, because they are compressed or do not go to a regular file.
 */
bool shoal_sink_reserve(shoal_sink *sink, size_t size_bytes, uint64_t *offset);
shoal_status shoal_sink_write_at(const shoal_sink *sink, uint64_t offset, const char *bytes,
                                 size_t size_bytes, shoal_error *error) SHOAL_MUST_CHECK;
/* Writes bytes that the compressor still holds. */
shoal_status shoal_sink_finish(shoal_sink *sink, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_sink_free(shoal_sink *sink);

/* Writes all bytes to a file descriptor; messages use `name`. */
shoal_status shoal_write_all(int fd, const char *name, const char *bytes, size_t size_bytes,
                             shoal_error *error) SHOAL_MUST_CHECK;
/* The same at an offset. */
shoal_status shoal_write_all_at(int fd, const char *name, uint64_t offset, const char *bytes,
                                size_t size_bytes, shoal_error *error) SHOAL_MUST_CHECK;
