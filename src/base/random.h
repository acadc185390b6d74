/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/random: the ChaCha20 stream (Bernstein 2008; RFC 8439 block function) as the one source of
 * randomness. With a seed it repeats on every machine; without, it starts from the kernel's
 * entropy and nobody can guess the order of a release.
 */
#ifndef SHOAL_BASE_RANDOM_H
#define SHOAL_BASE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct shoal_random {
  uint32_t state[16];
  uint32_t block[16];
  unsigned used; /* words of `block` handed out */
} shoal_random;

void shoal_random_seed(shoal_random *random, uint64_t seed);
/* From the kernel's entropy; false if it gives none. */
bool shoal_random_entropy(shoal_random *random);
uint64_t shoal_random_next(shoal_random *random);
/* Uniform in 0 .. bound - 1, without bias; bound > 0. */
uint64_t shoal_random_below(shoal_random *random, uint64_t bound);

#endif
