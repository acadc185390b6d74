/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/spill: buckets of rendered rows that wait to be shuffled. Each bucket has a buffer; full
 * buffers are appended to an unnamed temporary file, which contains only what will be released:
 *
 *   file:    | buffer of bucket 3 | buffer of bucket 0 | buffer of bucket 3 | ...
 *   buffer:  | size of row (4 bytes) | row | size of row | row | ...
 */
#pragma once

#include "write/render.h"

typedef struct shoal_spill shoal_spill;

/* The fd stays the caller's. Memory: 8 MiB for all buckets, or 32 KiB for each if that is more. */
shoal_status shoal_spill_new(int fd, uint32_t n_buckets, shoal_spill **spill,
                             shoal_error *error) SHOAL_MUST_CHECK;
void shoal_spill_free(shoal_spill *spill); /* accepts NULL */

/* Adds a rendered row to a bucket. One thread at a time. */
shoal_status shoal_spill_add(shoal_spill *spill, uint32_t bucket, const char *row,
                             uint32_t size_bytes, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * A bucket's rows in the order they were added, each after its size (4 bytes). Any thread may call
 * it once nothing more is added. *n_rows receives their number.
 */
shoal_status shoal_spill_load(const shoal_spill *spill, uint32_t bucket, shoal_bytes *rows,
                              uint32_t *n_rows, shoal_error *error) SHOAL_MUST_CHECK;
