/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/buckets: packed rows of one thread on their way into a random order (order.h), by bucket.
 * How many rows a bucket gets is not known before: it is a chain of short pieces, taken from one
 * block of memory as they are needed. Private to this folder.
 */
#ifndef SHOAL_WRITE_BUCKETS_H
#define SHOAL_WRITE_BUCKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

enum { SHOAL_PIECE_ROWS = 256 };

typedef struct shoal_bucket {
  uint64_t n_rows;
  uint64_t first, last; /* pieces, where there are rows */
} shoal_bucket;

typedef struct shoal_buckets {
  size_t row_bytes; /* a multiple of four */
  uint8_t *rows;    /* of all pieces */
  uint64_t *next;   /* by piece: the one behind it in its bucket */
  uint64_t n_pieces;
  shoal_bucket *buckets;
} shoal_buckets;

/* For at most so many rows. False: no memory. Zeroed ones may be reset, too. */
bool shoal_buckets_init(shoal_buckets *b, uint32_t n_buckets, uint64_t most_rows, size_t row_bytes);
void shoal_buckets_reset(shoal_buckets *b);

/* Copies the rows of a bucket, in the order in which they were added. Returns the end. */
uint8_t *shoal_buckets_copy(const shoal_buckets *b, uint32_t bucket, uint8_t *to);

static inline void shoal_buckets_add(shoal_buckets *b, uint32_t bucket, const uint8_t *row) {
  shoal_bucket *own = &b->buckets[bucket];
  size_t place = own->n_rows++ % SHOAL_PIECE_ROWS;
  if (place == 0) {
    uint64_t piece = b->n_pieces++;
    if (own->n_rows == 1) own->first = piece;
    else b->next[own->last] = piece;
    own->last = piece;
  }
  uint8_t *to = b->rows + ((size_t)own->last * SHOAL_PIECE_ROWS + place) * b->row_bytes;
  for (size_t at = 0; at < b->row_bytes; at += 4) memcpy(to + at, row + at, 4);
}

#endif
