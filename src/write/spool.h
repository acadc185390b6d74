/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/spool: buckets of rendered rows that do not fit into memory together. Each bucket has a
 * small buffer; full ones are put, one behind the other, into a file without a name. What stands
 * there is what the release will contain, and nothing else.
 */
#ifndef SHOAL_WRITE_SPOOL_H
#define SHOAL_WRITE_SPOOL_H

#include "write/rows.h"

typedef struct shoal_spool shoal_spool;

/* The file descriptor stays the caller's. Memory: 32 KiB a bucket that has rows. */
shoal_status shoal_spool_new(int fd, uint32_t n_buckets, shoal_spool **spool,
                             shoal_error *error) SHOAL_MUST_CHECK;
void shoal_spool_free(shoal_spool *spool); /* accepts NULL */

/* Adds a rendered row to a bucket. One thread at a time. */
shoal_status shoal_spool_add(shoal_spool *spool, uint32_t bucket, const char *row,
                             uint32_t size_bytes, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * A bucket's rows as they were added: each is its size (4 bytes) and its bytes. Any thread, once
 * nothing more is added. *n_rows receives their number.
 */
shoal_status shoal_spool_load(const shoal_spool *spool, uint32_t bucket, shoal_bytes *rows,
                              uint32_t *n_rows, shoal_error *error) SHOAL_MUST_CHECK;

#endif
