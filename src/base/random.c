/* SPDX-License-Identifier: Apache-2.0 */
/* base/random: ChaCha20 for single words and, for shuffles, four blocks at once. */
#include "base/random.h"

#include <string.h>
#include <sys/random.h>

#include "base/wide.h"

/* ChaCha20's rounds, for words or for vectors of words. */
#define TURN(X, N) ((X) << (N) | (X) >> (32 - (N)))
#define QUARTER(X, A, B, C, D)                                                                     \
  do {                                                                                             \
    X[A] += X[B], X[D] ^= X[A], X[D] = TURN(X[D], 16);                                             \
    X[C] += X[D], X[B] ^= X[C], X[B] = TURN(X[B], 12);                                             \
    X[A] += X[B], X[D] ^= X[A], X[D] = TURN(X[D], 8);                                              \
    X[C] += X[D], X[B] ^= X[C], X[B] = TURN(X[B], 7);                                              \
  } while (0)
#define ROUNDS(X)                                                                                  \
  for (int round = 0; round < 10; round++) {                                                       \
    QUARTER(X, 0, 4, 8, 12);                                                                       \
    QUARTER(X, 1, 5, 9, 13);                                                                       \
    QUARTER(X, 2, 6, 10, 14);                                                                      \
    QUARTER(X, 3, 7, 11, 15);                                                                      \
    QUARTER(X, 0, 5, 10, 15);                                                                      \
    QUARTER(X, 1, 6, 11, 12);                                                                      \
    QUARTER(X, 2, 7, 8, 13);                                                                       \
    QUARTER(X, 3, 4, 9, 14);                                                                       \
  }

static void next_block(shoal_random *random) {
  uint32_t *x = random->block;
  memcpy(x, random->state, sizeof random->block);
  ROUNDS(x)
  for (int i = 0; i < 16; i++) x[i] += random->state[i];
  if (++random->state[12] == 0) random->state[13]++;
  random->used = 0;
}

static void start(shoal_random *random, const uint32_t key[8]) {
  static const uint32_t constant[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  memset(random, 0, sizeof *random);
  memcpy(random->state, constant, sizeof constant);
  memcpy(random->state + 4, key, 8 * sizeof *key);
  next_block(random);
}

void shoal_random_seed(shoal_random *random, uint64_t seed) {
  uint32_t key[8] = {(uint32_t)seed, (uint32_t)(seed >> 32), 0, 0, 0, 0, 0, 0};
  start(random, key);
}

void shoal_random_stream(shoal_random *random, const uint32_t key[8], uint64_t stream,
                         uint64_t block) {
  start(random, key);
  random->state[12] = (uint32_t)block;
  random->state[13] = (uint32_t)(block >> 32);
  random->state[14] = (uint32_t)stream;
  random->state[15] = (uint32_t)(stream >> 32);
  random->used = 16;
}

/* ------------------------------------------------------------ four blocks at once */

/* The same word of four blocks in one vector. */
typedef uint32_t four __attribute__((vector_size(16)));

void shoal_random_blocks(shoal_random *random, uint32_t words[SHOAL_RANDOM_WORDS]) {
  uint32_t *state = random->state;
  uint64_t first = (uint64_t)state[13] << 32 | state[12], next = first + 4;
  four start[16], x[16];
  for (int i = 0; i < 16; i++) start[i] = (four){state[i], state[i], state[i], state[i]};
  for (unsigned b = 0; b < 4; b++) {
    start[12][b] = (uint32_t)(first + b);
    start[13][b] = (uint32_t)((first + b) >> 32);
  }
  memcpy(x, start, sizeof x);
  ROUNDS(x)
  for (unsigned i = 0; i < 16; i++) {
    x[i] += start[i];
    for (unsigned b = 0; b < 4; b++) words[b * 16 + i] = x[i][b];
  }
  state[12] = (uint32_t)next;
  state[13] = (uint32_t)(next >> 32);
  random->used = 16;
}

bool shoal_random_entropy(shoal_random *random) {
  uint32_t key[8];
  if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key) return false;
  start(random, key);
  return true;
}

uint64_t shoal_random_next(shoal_random *random) {
  if (random->used > 14) next_block(random);
  uint64_t low = random->block[random->used], high = random->block[random->used + 1];
  random->used += 2;
  return high << 32 | low;
}

/* Lemire 2019: multiply, and reject the few values that would favour some results. */
uint64_t shoal_random_below(shoal_random *random, uint64_t bound) {
  shoal_uint128 product = (shoal_uint128)shoal_random_next(random) * bound;
  if ((uint64_t)product < bound) {
    uint64_t threshold = (0 - bound) % bound;
    while ((uint64_t)product < threshold)
      product = (shoal_uint128)shoal_random_next(random) * bound;
  }
  return (uint64_t)(product >> 64);
}
