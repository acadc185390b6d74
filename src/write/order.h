/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/order: the random order of a release. Every row is thrown into one of up to 1,024 buckets,
 * and each bucket is shuffled by itself (Rao 1961; Sandelius 1962): every order is equally likely,
 * as with one shuffle of all rows, but each bucket fits into the cache, buckets can be shuffled on
 * several threads, and rows that lie on a disk are shuffled with one bucket in memory.
 *
 * Which bucket a row is thrown into follows from the key and the row's number alone; how a bucket
 * is shuffled, from the key and the bucket's number. So the order is the same however the work is
 * done: with any number of threads, in memory or not.
 */
#ifndef SHOAL_WRITE_ORDER_H
#define SHOAL_WRITE_ORDER_H

#include "base/random.h"

typedef struct shoal_order {
  uint32_t key[8];
  unsigned bits; /* 2^bits buckets */
} shoal_order;

/* `n_rows` are all rows, those that will not be released too. Draws a key. */
void shoal_order_init(shoal_order *order, shoal_random *random, uint64_t n_rows);

static inline uint32_t shoal_order_buckets(const shoal_order *order) {
  return UINT32_C(1) << order->bits;
}

/* The buckets of rows first .. first + n - 1. */
void shoal_order_throw(const shoal_order *order, uint64_t first, uint64_t n, uint16_t *buckets);

/* The order of a bucket's n rows: `places` receives 0 .. n - 1, shuffled. */
void shoal_order_shuffle(const shoal_order *order, uint32_t bucket, uint32_t n, uint32_t *places);

#endif
