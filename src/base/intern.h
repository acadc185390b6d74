/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/intern: strings to whole numbers 0, 1, 2, ... in order of first appearance. Strings are
 * compared byte by byte: a hash alone never decides. They are stored one after the other, as the
 * labels of a level are, so a finished set becomes a level without copying.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct shoal_label {
  const char *bytes;
  size_t size_bytes;
} shoal_label;

typedef struct shoal_strings {
  char *bytes; /* string i is bytes[offsets[i] .. offsets[i + 1]) */
  size_t bytes_capacity;
  uint64_t *offsets; /* n_strings + 1 */
  size_t offsets_capacity;
  uint32_t n_strings;
  uint64_t *slots; /* upper half of the string's hash, and its number + 1; 0: empty */
  unsigned bits;   /* 2^bits slots */
} shoal_strings;

/* False without memory; then nothing needs a reset. */
bool shoal_strings_init(shoal_strings *strings);
void shoal_strings_reset(shoal_strings *strings);

/* The string's number, a new one if it has none. SHOAL_NONE: no memory. */
uint32_t shoal_strings_intern(shoal_strings *strings, shoal_label string);
/* The string's number; SHOAL_NONE if it has none. */
uint32_t shoal_strings_find(const shoal_strings *strings, shoal_label string);

/*
 * Appends n strings without looking for them: bytes[offsets[i] .. offsets[i + 1]). Only for a set
 * that nothing is interned into. False without memory.
 */
bool shoal_strings_load(shoal_strings *strings, const char *bytes, const uint64_t *offsets,
                        uint32_t n);

/* String `i`, which the next intern may move. */
static inline shoal_label shoal_strings_get(const shoal_strings *strings, uint32_t i) {
  uint64_t begin = strings->offsets[i];
  return (shoal_label){strings->bytes + begin, (size_t)(strings->offsets[i + 1] - begin)};
}

/* Hands over the bytes and offsets, to be freed by the caller; the rest is reset. */
void shoal_strings_take(shoal_strings *strings, char **bytes, uint64_t **offsets,
                        uint32_t *n_strings);

bool shoal_label_equal(shoal_label a, shoal_label b);
