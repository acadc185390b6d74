/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/sample: a hash table of keys, rows and traits. A short value can be computed from its key,
 * so the table is wiped. Beyond the limit the level rises, and the table is built anew from the
 * keys that remain.
 */
#include "table/sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { FIRST_BITS = 6, SHORT_BYTES = 7, BATCH = 64 };

/* ------------------------------------------------------------ keys */

static inline uint64_t load_word(const char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

static inline uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

/* The first n bytes of a word, n < 8. */
static inline uint64_t first_bytes(uint64_t word, size_t n) {
  return word & ((UINT64_C(1) << 8 * n) - 1);
}

/* A round of SipHash (Aumasson and Bernstein 2012). */
static inline void mix_words(uint64_t v[4]) {
  v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
  v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
  v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
  v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
}

static inline void add_word(uint64_t v[4], uint64_t word) {
  v[3] ^= word;
  mix_words(v);
  v[0] ^= word;
}

/*
 * SipHash-1-3 with a fixed key. A chain of shoal_mix would not do: it can be undone, so whoever
 * chooses the last word of a text chooses its key, and a column of such texts has one value.
 */
static uint64_t key_of_long(const char *bytes, size_t size) {
  uint64_t v[4] = {UINT64_C(0x736f6d6570736575), UINT64_C(0x646f72616e646f6d),
                   UINT64_C(0x6c7967656e657261), UINT64_C(0x7465646279746573)};
  size_t at = 0;
  for (; at + 8 <= size; at += 8) add_word(v, load_word(bytes + at));
  uint64_t rest = at < size ? first_bytes(load_word(bytes + at), size - at) : 0;
  add_word(v, rest | (uint64_t)size << 56);
  v[2] ^= 0xff;
  for (int i = 0; i < 3; i++) mix_words(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/*
 * The same in every run. A value of up to 7 bytes has a key of its own, because shoal_mix is a
 * permutation. Longer values share one with a probability of about 2^-64; they would count as one.
 */
static inline uint64_t key_of(const char *bytes, size_t size) {
  uint64_t key = size <= SHORT_BYTES
                     ? shoal_mix(first_bytes(load_word(bytes), size) | (uint64_t)(size + 1) << 56)
                     : key_of_long(bytes, size);
  return key ? key : 1;
}

static inline bool is_sampled(const shoal_value_sample *s, uint64_t key) {
  return key >> (63 - s->level) >> 1 == 0;
}

/* ------------------------------------------------------------ slots */

/* Two keys share a first slot with a probability of 2 / slots (Dietzfelbinger et al. 1997). */
static inline size_t first_slot(const shoal_value_sample *s, uint64_t key) {
  return (size_t)((key * s->factor) >> (64 - s->bits));
}

/*
 * The value's slot, or the empty one where it belongs. Half of the key is enough to recognize it
 * among its neighbours: another value near it has the same half with a probability of 2^-32.
 */
static inline size_t slot_of(const shoal_value_sample *s, uint64_t key) {
  size_t mask = ((size_t)1 << s->bits) - 1, at = first_slot(s, key);
  while (s->slots[at] && s->slots[at] >> 32 != (uint32_t)key) at = (at + 1) & mask;
  return at;
}

static void put(shoal_value_sample *s, uint64_t key, uint32_t rows, uint32_t traits) {
  size_t at = slot_of(s, key);
  s->slots[at] = key << 32 | rows;
  s->keys[at] = key;
  s->traits[at] = traits;
  s->n_values++;
}

/* Moves the values that are sampled to 2^bits new slots. */
static bool rebuild(shoal_value_sample *s, unsigned bits) {
  shoal_value_sample old = *s;
  size_t n_slots = (size_t)1 << bits, n_old = old.bits ? (size_t)1 << old.bits : 0;
  s->slots = shoal_alloc_zero(n_slots, sizeof *s->slots);
  s->keys = shoal_alloc(n_slots, sizeof *s->keys);
  s->traits = shoal_alloc(n_slots, sizeof *s->traits);
  if (!s->slots || !s->keys || !s->traits) {
    free(s->slots);
    free(s->keys);
    free(s->traits);
    *s = old;
    return false;
  }
  s->bits = bits;
  s->n_values = 0;
  for (size_t i = 0; i < n_old; i++)
    if (old.slots[i] && is_sampled(s, old.keys[i]))
      put(s, old.keys[i], (uint32_t)old.slots[i], old.traits[i]);
  shoal_value_sample_reset(&old);
  return true;
}

static uint32_t count_sampled(const shoal_value_sample *s) {
  uint32_t n = 0;
  for (size_t i = 0; i < (size_t)1 << s->bits; i++) n += s->slots[i] && is_sampled(s, s->keys[i]);
  return n;
}

/* Too many values: raises the level until few enough are sampled. */
static bool thin(shoal_value_sample *s) {
  enum { SAMPLE_BITS = 11 };
  do s->level++;
  while (count_sampled(s) > SHOAL_SAMPLE_VALUES && s->level < 63);
  return rebuild(s, SAMPLE_BITS);
}

static uint32_t cap_rows(uint64_t rows) { return rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX; }

/* Adds rows to the value of a slot. */
static void add_rows(shoal_value_sample *s, size_t at, uint64_t times) {
  uint64_t rows = (uint64_t)cap_rows(times) + (uint32_t)s->slots[at];
  s->slots[at] = s->slots[at] >> 32 << 32 | cap_rows(rows);
}

/* Adds a value that is not there yet. */
static bool insert(shoal_value_sample *s, uint64_t key, uint32_t traits, uint64_t times) {
  put(s, key, cap_rows(times), traits);
  uint32_t most = s->level ? SHOAL_SAMPLE_VALUES : SHOAL_SAMPLE_EXACT;
  if (s->n_values > most) return thin(s);
  bool full = (size_t)s->n_values * 4 > ((size_t)3 << s->bits);
  return !full || rebuild(s, s->bits + 1);
}

static bool prepare(shoal_value_sample *s) {
  if (s->bits) return true;
  s->factor = shoal_hash_word(1) | 1;
  return rebuild(s, FIRST_BITS);
}

/* ------------------------------------------------------------ values */

static bool add(shoal_value_sample *s, const shoal_sampling *sampling, uint64_t key,
                const char *bytes, size_t size, uint64_t times) {
  size_t at = slot_of(s, key);
  if (!s->slots[at]) return insert(s, key, sampling->traits(sampling->user, bytes, size), times);
  add_rows(s, at, times);
  return true;
}

bool shoal_value_sample_add_value(shoal_value_sample *s, const shoal_sampling *sampling,
                                  const char *bytes, size_t size, uint64_t times) {
  uint64_t key = key_of(bytes, size);
  return prepare(s) && (!is_sampled(s, key) || add(s, sampling, key, bytes, size, times));
}

/*
 * Most of the time would be cache misses: the keys of a batch are computed and their slots are
 * prefetched first.
 */
bool shoal_value_sample_add(shoal_value_sample *s, const shoal_sampling *sampling,
                            const char *bytes, const uint32_t *begin, const uint32_t *end,
                            size_t stride, size_t n) {
  uint64_t keys[BATCH], *slots[BATCH];
  if (!prepare(s)) return false;
  for (size_t first = 0, done = 0; first < n; first += done) {
    size_t some = n - first < BATCH ? n - first : BATCH;
    for (size_t i = 0; i < some; i++) {
      size_t cell = (first + i) * stride;
      keys[i] = key_of(bytes + begin[cell], end[cell] - begin[cell]);
      slots[i] = &s->slots[first_slot(s, keys[i])];
      __builtin_prefetch(slots[i], 1);
    }
    const uint64_t *before = s->slots;
    for (done = 0; done < some && s->slots == before; done++) { /* rebuilt: slots are others */
      uint64_t slot = *slots[done];
      if (slot >> 32 == (uint32_t)keys[done] && slot) {
        *slots[done] = slot + ((uint32_t)slot < UINT32_MAX);
        continue;
      }
      size_t cell = (first + done) * stride;
      if (is_sampled(s, keys[done]) &&
          !add(s, sampling, keys[done], bytes + begin[cell], end[cell] - begin[cell], 1))
        return false;
    }
  }
  return true;
}

bool shoal_value_sample_merge(shoal_value_sample *s, const shoal_value_sample *other) {
  if (!prepare(s)) return false;
  if (s->level < other->level) {
    s->level = other->level;
    if (!rebuild(s, s->bits) || (s->n_values > SHOAL_SAMPLE_VALUES && !thin(s))) return false;
  }
  for (size_t i = 0; other->bits && i < (size_t)1 << other->bits; i++) {
    uint32_t rows = shoal_value_sample_rows(other, i);
    if (!rows || !is_sampled(s, other->keys[i])) continue;
    size_t at = slot_of(s, other->keys[i]);
    if (s->slots[at]) add_rows(s, at, rows);
    else if (!insert(s, other->keys[i], other->traits[i], rows)) return false;
  }
  return true;
}

void shoal_value_sample_reset(shoal_value_sample *s) {
  size_t n = s->bits ? (size_t)1 << s->bits : 0;
  shoal_wipe_free(s->slots, n * sizeof *s->slots); /* a short value can be computed from its key */
  shoal_wipe_free(s->keys, n * sizeof *s->keys);
  free(s->traits);
  memset(s, 0, sizeof *s);
}
