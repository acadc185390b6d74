/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/shuffle: the random order of a release. Each row is assigned to one of up to 1,024 buckets
 * at random, and each bucket is shuffled separately (Rao 1961; Sandelius 1962). Every order is
 * equally likely, as with one shuffle of all rows, but a bucket fits into the cache, buckets are
 * shuffled on several threads, and rows on disk are shuffled with one bucket in memory.
 *
 * The bucket of a row depends on the key and the row's number only, the order of a bucket on the
 * key and the bucket's number. So the order is the same with any number of threads, in memory or
 * not.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"

typedef struct shoal_shuffle {
  uint32_t key[8];
  unsigned bits; /* 2^bits buckets */
} shoal_shuffle;

/* Draws a key. `n_rows`: all rows, also those that are not released. */
void shoal_shuffle_init(shoal_shuffle *order, shoal_random *random, uint64_t n_rows);

static inline uint32_t shoal_shuffle_buckets(const shoal_shuffle *order) {
  return UINT32_C(1) << order->bits;
}

/* The buckets of rows first .. first + n - 1. */
void shoal_shuffle_assign(const shoal_shuffle *order, uint64_t first, uint64_t n,
                          uint16_t *buckets);

/* The order of a bucket's n rows: `positions` receives 0 .. n - 1, shuffled. */
void shoal_shuffle_permute(const shoal_shuffle *order, uint32_t bucket, uint32_t n,
                           uint32_t *positions);

/* ------------------------------------------------------------ buckets of packed rows */

/*
 * The packed rows of one thread by bucket. The size of a bucket is not known before, so it is a
 * chain of short pieces, taken from one block of memory as they are needed.
 */
enum { SHOAL_PIECE_ROWS = 256 };

typedef struct shoal_bucket {
  uint64_t n_rows;
  uint64_t first, last; /* pieces, if there are rows */
} shoal_bucket;

typedef struct shoal_buckets {
  size_t row_bytes; /* a multiple of four */
  uint8_t *rows;    /* of all pieces */
  uint64_t *next;   /* by piece: the next one in its bucket */
  uint64_t n_pieces;
  shoal_bucket *buckets;
} shoal_buckets;

/* For at most max_rows rows. False: no memory. A zeroed one may be reset. */
bool shoal_buckets_init(shoal_buckets *b, uint32_t n_buckets, uint64_t max_rows, size_t row_bytes);
void shoal_buckets_reset(shoal_buckets *b);

/* Copies the rows of a bucket, in the order in which they were added. Returns the end. */
uint8_t *shoal_buckets_copy(const shoal_buckets *b, uint32_t bucket, uint8_t *to);

static inline void shoal_buckets_add(shoal_buckets *b, uint32_t bucket, const uint8_t *row) {
  shoal_bucket *own = &b->buckets[bucket];
  size_t position = own->n_rows++ % SHOAL_PIECE_ROWS;
  if (position == 0) {
    uint64_t piece = b->n_pieces++;
    if (own->n_rows == 1) own->first = piece;
    else b->next[own->last] = piece;
    own->last = piece;
  }
  uint8_t *to = b->rows + ((size_t)own->last * SHOAL_PIECE_ROWS + position) * b->row_bytes;
  for (size_t at = 0; at < b->row_bytes; at += 4) memcpy(to + at, row + at, 4);
}
