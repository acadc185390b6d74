/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/dictionary: see dictionary.h. Open addressing with linear probing. A cell of up to 8 bytes
 * is its own key, so that most look-ups compare one word and never touch the stored string. Slots
 * are chosen with a secret of the process, so that no file can be made whose cells all collide;
 * codes do not depend on it.
 */
#include "table/dictionary.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/hash.h"
#include "base/memory.h"

enum { FIRST_BITS = 6 };

static uint64_t secret;

static void choose_secret(void) {
  if (getrandom(&secret, sizeof secret, GRND_NONBLOCK) != (ssize_t)sizeof secret)
    secret = (uint64_t)time(NULL) * UINT64_C(0x9e3779b97f4a7c15);
}

bool shoal_dictionary_init(shoal_dictionary *d) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, choose_secret);
  memset(d, 0, sizeof *d);
  d->secret = secret;
  d->bits = FIRST_BITS;
  d->slots = shoal_alloc_zero((size_t)1 << d->bits, sizeof *d->slots);
  bool ok = d->slots && shoal_grow(&d->offsets, &d->offsets_capacity, 1, sizeof *d->offsets);
  if (ok) d->offsets[0] = 0;
  return ok;
}

void shoal_dictionary_reset(shoal_dictionary *d) {
  free(d->slots);
  free(d->bytes);
  free(d->offsets);
  free(d->first_place);
  memset(d, 0, sizeof *d);
}

static inline uint64_t load8(const char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/* The low `size_bytes` bytes of a word as it lies in memory (little-endian machines). */
static inline uint64_t keep_low(uint64_t word, uint32_t size_bytes) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return size_bytes >= 8 ? word : word & ((UINT64_C(1) << (8 * size_bytes)) - 1);
}

static inline uint64_t key_of(const char *bytes, uint32_t size_bytes) {
  uint64_t word = keep_low(load8(bytes), size_bytes);
  if (size_bytes <= 8) return word;
  uint64_t last = load8(bytes + size_bytes - 8);
  if (size_bytes <= 16) return word * UINT64_C(0x9e3779b97f4a7c15) ^ shoal_mix(last);
  return shoal_hash_bytes(bytes, size_bytes);
}

static inline size_t slot_of(const shoal_dictionary *d, uint64_t key, uint32_t size_bytes) {
  uint64_t mixed = (key ^ d->secret ^ size_bytes) * (d->secret | 1);
  return (size_t)((mixed ^ mixed >> 32) * UINT64_C(0xd6e8feb86659fd93) >> (64 - d->bits));
}

static inline bool same(const shoal_dictionary *d, const shoal_slot *slot, uint64_t key,
                        const char *bytes, uint32_t size_bytes) {
  if (slot->key != key || slot->size_bytes != size_bytes) return false;
  if (size_bytes <= 8) return true;
  return memcmp(d->bytes + d->offsets[slot->code_plus_1 - 1], bytes, size_bytes) == 0;
}

static bool grow_slots(shoal_dictionary *d) {
  size_t n = (size_t)1 << d->bits;
  shoal_slot *old = d->slots;
  shoal_slot *slots = shoal_alloc_zero(n * 2, sizeof *slots);
  if (!slots) return false;
  d->slots = slots;
  d->bits++;
  size_t mask = n * 2 - 1;
  for (size_t i = 0; i < n; i++) {
    if (!old[i].code_plus_1) continue;
    size_t at = slot_of(d, old[i].key, old[i].size_bytes);
    while (slots[at].code_plus_1) at = (at + 1) & mask;
    slots[at] = old[i];
  }
  free(old);
  return true;
}

static uint32_t add_value(shoal_dictionary *d, uint64_t key, const char *bytes, uint32_t size_bytes,
                          uint64_t place) {
  uint32_t code = d->n_values;
  uint64_t start = d->offsets[code];
  if (code == SHOAL_NO_CODE - 1) return SHOAL_NO_CODE;
  if (!shoal_grow(&d->offsets, &d->offsets_capacity, (size_t)code + 2, sizeof *d->offsets) ||
      !shoal_grow(&d->first_place, &d->place_capacity, (size_t)code + 1, sizeof(uint64_t)) ||
      !shoal_grow(&d->bytes, &d->bytes_capacity, (size_t)start + size_bytes + 8, 1))
    return SHOAL_NO_CODE;
  if (((size_t)code + 1) * 2 > (size_t)1 << d->bits && !grow_slots(d)) return SHOAL_NO_CODE;
  if (size_bytes) memcpy(d->bytes + start, bytes, size_bytes);
  d->offsets[code + 1] = start + size_bytes;
  d->first_place[code] = place;
  size_t mask = ((size_t)1 << d->bits) - 1;
  size_t at = slot_of(d, key, size_bytes);
  while (d->slots[at].code_plus_1) at = (at + 1) & mask;
  d->slots[at] = (shoal_slot){key, size_bytes, code + 1};
  d->n_values = code + 1;
  return code;
}

static inline uint32_t code_of(shoal_dictionary *d, const char *bytes, uint32_t size_bytes,
                               uint64_t place) {
  uint64_t key = key_of(bytes, size_bytes);
  size_t mask = ((size_t)1 << d->bits) - 1;
  for (size_t at = slot_of(d, key, size_bytes);; at = (at + 1) & mask) {
    const shoal_slot *slot = &d->slots[at];
    if (!slot->code_plus_1) return add_value(d, key, bytes, size_bytes, place);
    if (same(d, slot, key, bytes, size_bytes)) return slot->code_plus_1 - 1;
  }
}

uint32_t shoal_dictionary_code(shoal_dictionary *d, const char *bytes, uint32_t size_bytes,
                               uint64_t place) {
  return code_of(d, bytes, size_bytes, place);
}

bool shoal_dictionary_encode(shoal_dictionary *d, const char *bytes, const uint32_t *begin,
                             const uint32_t *end, size_t stride, size_t n_rows,
                             uint64_t first_place, uint32_t *codes) {
  for (size_t row = 0; row < n_rows; row++) {
    uint32_t from = begin[row * stride];
    uint32_t code = code_of(d, bytes + from, end[row * stride] - from, first_place + row);
    if (code == SHOAL_NO_CODE) return false;
    codes[row] = code;
  }
  return true;
}
