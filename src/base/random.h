/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/random: the ChaCha20 stream (Bernstein 2008; RFC 8439 block function), the only source of
 * randomness in results. With a seed it repeats on every machine; without, it is keyed by the
 * kernel's entropy, and the row order of a release cannot be guessed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct shoal_random {
  uint32_t state[16];
  uint32_t block[16];
  unsigned used; /* words of `block` handed out */
} shoal_random;

void shoal_random_seed(shoal_random *random, uint64_t seed);
/* Stream `stream` of a key, from its block `block` of 64 bytes on. */
void shoal_random_stream(shoal_random *random, const uint32_t key[8], uint64_t stream,
                         uint64_t block);
/* From the kernel's entropy; false if it gives none. */
bool shoal_random_entropy(shoal_random *random);
uint64_t shoal_random_next(shoal_random *random);
/* The next four whole blocks; unused words of the current one are skipped. Faster than one. */
enum { SHOAL_RANDOM_WORDS = 4 * 16 };
void shoal_random_blocks(shoal_random *random, uint32_t words[SHOAL_RANDOM_WORDS]);
/* Uniform in 0 .. bound - 1, without bias; bound > 0. */
uint64_t shoal_random_below(shoal_random *random, uint64_t bound);
