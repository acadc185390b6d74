/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/intern: open addressing with linear probing, at most half full. A slot has 32 bits of the
 * hash beside the number: growing reads no string again, and most unequal strings are recognized
 * without comparing their bytes.
 */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { FIRST_BITS = 6, MAX_BITS = 32 };

bool shoal_label_equal(shoal_label a, shoal_label b) {
  return a.size_bytes == b.size_bytes &&
         (a.size_bytes == 0 || memcmp(a.bytes, b.bytes, a.size_bytes) == 0);
}

bool shoal_strings_init(shoal_strings *strings) {
  memset(strings, 0, sizeof *strings);
  strings->slots = shoal_alloc_zero((size_t)1 << FIRST_BITS, sizeof *strings->slots);
  strings->bits = FIRST_BITS;
  if (strings->slots &&
      shoal_grow(&strings->offsets, &strings->offsets_capacity, 1, sizeof *strings->offsets) &&
      shoal_grow(&strings->bytes, &strings->bytes_capacity, 1, 1)) {
    strings->offsets[0] = 0;
    return true;
  }
  shoal_strings_reset(strings);
  return false;
}

void shoal_strings_reset(shoal_strings *strings) {
  free(strings->bytes);
  free(strings->offsets);
  free(strings->slots);
  memset(strings, 0, sizeof *strings);
}

/* The slot that holds the string, or the empty one where it belongs. */
static size_t find_slot(const shoal_strings *strings, uint64_t tag, shoal_label string) {
  size_t mask = ((size_t)1 << strings->bits) - 1;
  size_t slot = (size_t)(tag >> (32 - strings->bits));
  for (; strings->slots[slot]; slot = (slot + 1) & mask) {
    uint64_t found = strings->slots[slot];
    if (found >> 32 == tag &&
        shoal_label_equal(shoal_strings_get(strings, (uint32_t)found - 1), string))
      break;
  }
  return slot;
}

static bool grow_slots(shoal_strings *strings) {
  if (strings->bits == MAX_BITS) return false;
  unsigned bits = strings->bits + 1;
  uint64_t *slots = shoal_alloc_zero((size_t)1 << bits, sizeof *slots);
  if (!slots) return false;
  size_t mask = ((size_t)1 << bits) - 1;
  for (size_t i = 0; i < (size_t)1 << strings->bits; i++) {
    uint64_t entry = strings->slots[i];
    if (!entry) continue;
    size_t slot = (size_t)((entry >> 32) >> (32 - bits));
    while (slots[slot]) slot = (slot + 1) & mask;
    slots[slot] = entry;
  }
  free(strings->slots);
  strings->slots = slots;
  strings->bits = bits;
  return true;
}

static bool append(shoal_strings *strings, shoal_label string) {
  size_t begin = (size_t)strings->offsets[strings->n_strings];
  size_t end;
  if (__builtin_add_overflow(begin, string.size_bytes, &end)) return false;
  size_t n_offsets = (size_t)strings->n_strings + 2;
  if (!shoal_grow(&strings->offsets, &strings->offsets_capacity, n_offsets,
                  sizeof *strings->offsets) ||
      !shoal_grow(&strings->bytes, &strings->bytes_capacity, end, 1))
    return false;
  if (string.size_bytes) memcpy(strings->bytes + begin, string.bytes, string.size_bytes);
  strings->offsets[++strings->n_strings] = end;
  return true;
}

uint32_t shoal_strings_intern(shoal_strings *strings, shoal_label string) {
  uint64_t tag = shoal_hash_bytes(string.bytes, string.size_bytes) >> 32;
  size_t slot = find_slot(strings, tag, string);
  if (strings->slots[slot]) return (uint32_t)strings->slots[slot] - 1;
  if (((size_t)strings->n_strings + 1) * 2 > (size_t)1 << strings->bits) {
    if (!grow_slots(strings)) return SHOAL_NONE;
    slot = find_slot(strings, tag, string);
  }
  if (!append(strings, string)) return SHOAL_NONE;
  strings->slots[slot] = tag << 32 | strings->n_strings;
  return strings->n_strings - 1;
}

uint32_t shoal_strings_find(const shoal_strings *strings, shoal_label string) {
  uint64_t tag = shoal_hash_bytes(string.bytes, string.size_bytes) >> 32;
  uint64_t slot = strings->slots[find_slot(strings, tag, string)];
  return slot ? (uint32_t)slot - 1 : SHOAL_NONE;
}

bool shoal_strings_load(shoal_strings *strings, const char *bytes, const uint64_t *offsets,
                        uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    shoal_label string = {bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i])};
    if (!append(strings, string)) return false;
  }
  return true;
}

void shoal_strings_take(shoal_strings *strings, char **bytes, uint64_t **offsets,
                        uint32_t *n_strings) {
  *bytes = strings->bytes;
  *offsets = strings->offsets;
  *n_strings = strings->n_strings;
  strings->bytes = NULL;
  strings->offsets = NULL;
  shoal_strings_reset(strings);
}
