/* SPDX-License-Identifier: Apache-2.0 */
/* write/order: see order.h. Stream 0 of the key throws rows, stream b + 1 shuffles bucket b. */
#include "write/order.h"

enum { BUCKET_ROWS = 32 * 1024, MOST_BITS = 10, ROWS_A_BLOCK = 32 };

void shoal_order_init(shoal_order *order, shoal_random *random, uint64_t n_rows) {
  for (unsigned i = 0; i < 8; i += 2) {
    uint64_t word = shoal_random_next(random);
    order->key[i] = (uint32_t)word;
    order->key[i + 1] = (uint32_t)(word >> 32);
  }
  order->bits = 0;
  while (order->bits < MOST_BITS && n_rows >> order->bits > BUCKET_ROWS) order->bits++;
}

/* Each row has 16 bits of the stream, of which the upper ones are its bucket. */
void shoal_order_throw(const shoal_order *order, uint64_t first, uint64_t n, uint16_t *buckets) {
  shoal_random random;
  shoal_random_stream(&random, order->key, 0, first / ROWS_A_BLOCK);
  const uint32_t *block = shoal_random_block(&random);
  for (uint64_t i = 0; i < n; i++) {
    unsigned at = (unsigned)((first + i) % ROWS_A_BLOCK);
    if (at == 0 && i) block = shoal_random_block(&random);
    uint32_t half = block[at / 2] >> (at % 2 * 16) & UINT16_MAX;
    buckets[i] = (uint16_t)(half >> (16 - order->bits));
  }
}

/* Words of a block are handed out one by one. */
typedef struct words {
  shoal_random random;
  const uint32_t *block;
  unsigned used;
} words;

static inline uint32_t next_word(words *w) {
  if (w->used == 16) {
    w->block = shoal_random_block(&w->random);
    w->used = 0;
  }
  return w->block[w->used++];
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
void shoal_order_shuffle(const shoal_order *order, uint32_t bucket, uint32_t n, uint32_t *places) {
  words w = {.used = 16};
  shoal_random_stream(&w.random, order->key, (uint64_t)bucket + 1, 0);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t j = below(&w, i + 1);
    places[i] = i;
    places[i] = places[j];
    places[j] = i;
  }
}
