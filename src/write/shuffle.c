/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/shuffle: stream 0 of the key assigns rows to buckets, stream b + 1 shuffles bucket b.
 */
#include "write/shuffle.h"

#include <stdlib.h>
#include <string.h>

enum {
  BUCKET_ROWS = 32 * 1024,
  MAX_BITS = 10,
  BLOCK_ROWS = 32, /* rows that one block of the stream throws */
  DRAW_ROWS = 2 * SHOAL_RANDOM_WORDS
};

void shoal_shuffle_init(shoal_shuffle *order, shoal_random *random, uint64_t n_rows) {
  for (unsigned i = 0; i < 8; i += 2) {
    uint64_t word = shoal_random_next(random);
    order->key[i] = (uint32_t)word;
    order->key[i + 1] = (uint32_t)(word >> 32);
  }
  order->bits = 0;
  while (order->bits < MAX_BITS && n_rows >> order->bits > BUCKET_ROWS) order->bits++;
}

/* Each row has 16 bits of the stream, of which the upper ones are its bucket. */
void shoal_shuffle_assign(const shoal_shuffle *order, uint64_t first, uint64_t n,
                          uint16_t *buckets) {
  shoal_random random;
  shoal_random_stream(&random, order->key, 0, first / BLOCK_ROWS);
  uint32_t words[SHOAL_RANDOM_WORDS];
  uint16_t drawn[DRAW_ROWS];
  unsigned shift = 16 - order->bits;
  uint64_t at = first % BLOCK_ROWS; /* the first row's place in what is drawn */
  while (n) {
    shoal_random_blocks(&random, words);
    for (size_t i = 0; i < SHOAL_RANDOM_WORDS; i++) {
      drawn[2 * i] = (uint16_t)((words[i] & UINT16_MAX) >> shift);
      drawn[2 * i + 1] = (uint16_t)(words[i] >> 16 >> shift);
    }
    uint64_t now = DRAW_ROWS - at < n ? DRAW_ROWS - at : n;
    memcpy(buckets, drawn + at, now * sizeof *buckets);
    buckets += now;
    n -= now;
    at = 0;
  }
}

/* Words of the stream are handed out one by one. */
typedef struct words {
  shoal_random random;
  uint32_t drawn[SHOAL_RANDOM_WORDS];
  unsigned used;
} words;

static inline uint32_t next_word(words *w) {
  if (w->used == SHOAL_RANDOM_WORDS) {
    shoal_random_blocks(&w->random, w->drawn);
    w->used = 0;
  }
  return w->drawn[w->used++];
}

/* Uniform below `bound` (Lemire 2019), from 32 bits. */
static inline uint32_t below(words *w, uint32_t bound) {
  uint64_t product = (uint64_t)next_word(w) * bound;
  if ((uint32_t)product < bound) {
    uint32_t threshold = (0 - bound) % bound;
    while ((uint32_t)product < threshold) product = (uint64_t)next_word(w) * bound;
  }
  return (uint32_t)(product >> 32);
}

/* Fisher and Yates, from the front, as the places are made (Durstenfeld 1964). */
void shoal_shuffle_permute(const shoal_shuffle *order, uint32_t bucket, uint32_t n,
                           uint32_t *positions) {
  words w;
  w.used = SHOAL_RANDOM_WORDS;
  shoal_random_stream(&w.random, order->key, (uint64_t)bucket + 1, 0);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t j = below(&w, i + 1);
    positions[i] = i;
    positions[i] = positions[j];
    positions[j] = i;
  }
}

/* ------------------------------------------------------------ buckets of packed rows */

bool shoal_buckets_init(shoal_buckets *b, uint32_t n_buckets, uint64_t max_rows, size_t row_bytes) {
  *b = (shoal_buckets){.row_bytes = row_bytes};
  size_t max_pieces = (size_t)(max_rows / SHOAL_PIECE_ROWS) + n_buckets;
  b->rows = shoal_alloc(max_pieces, SHOAL_PIECE_ROWS * row_bytes);
  b->next = shoal_alloc(max_pieces, sizeof *b->next);
  b->buckets = shoal_alloc_zero(n_buckets, sizeof *b->buckets);
  return b->rows && b->next && b->buckets;
}

void shoal_buckets_reset(shoal_buckets *b) {
  free(b->rows);
  free(b->next);
  free(b->buckets);
  memset(b, 0, sizeof *b);
}

uint8_t *shoal_buckets_copy(const shoal_buckets *b, uint32_t bucket, uint8_t *to) {
  uint64_t left = b->buckets[bucket].n_rows, piece = b->buckets[bucket].first;
  while (left) {
    size_t n = left < SHOAL_PIECE_ROWS ? (size_t)left : SHOAL_PIECE_ROWS;
    memcpy(to, b->rows + (size_t)piece * SHOAL_PIECE_ROWS * b->row_bytes, n * b->row_bytes);
    to += n * b->row_bytes;
    left -= n;
    if (left) piece = b->next[piece];
  }
  return to;
}
