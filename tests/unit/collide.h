/* SPDX-License-Identifier: Apache-2.0 */
/* Two texts of 16 bytes with the same hash: only who knows the key of the process can make them. */
#ifndef SHOAL_TESTS_COLLIDE_H
#define SHOAL_TESTS_COLLIDE_H

#include <assert.h>
#include <string.h>

#include "base/hash.h"

/* The factors of the product change places: each word becomes the other, with the other's key. */
static inline void collide(char first[17], char second[17]) {
  uint64_t keys = shoal_hash_key.text[1] - shoal_hash_key.text[0], words[2], other[2];
  memset(second, 0, 17);
  first[16] = '\0';
  for (uint64_t i = 1; strlen(second) < 16 || strpbrk(second, "\",\r\n;"); i++) {
    for (unsigned at = 0; at < 16; at++) first[at] = (char)('a' + shoal_mix(i * 16 + at) % 26);
    memcpy(words, first, sizeof words);
    other[0] = words[1] + keys;
    other[1] = words[0] - keys;
    memcpy(second, other, sizeof other);
  }
  assert(strcmp(first, second) != 0);
}

#endif
