/* SPDX-License-Identifier: Apache-2.0 */
#include "table/sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { FIRST_BITS = 6, SHORT_BYTES = 7 };

/* ------------------------------------------------------------ keys */

static inline uint64_t load_word(const char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/* The first n bytes of a word, n < 8. */
static inline uint64_t first_bytes(uint64_t word, size_t n) {
  return word & ((UINT64_C(1) << 8 * n) - 1);
}

/*
 * The same in every run. A value of up to 7 bytes has a key of its own, because shoal_mix is a
 * permutation. Longer values share one with a probability of about 2^-64; they would count as one.
 */
static inline uint64_t key_of(const char *bytes, size_t size) {
  uint64_t key;
  if (size <= SHORT_BYTES) {
    key = shoal_mix(first_bytes(load_word(bytes), size) | (uint64_t)(size + 1) << 56);
  } else {
    key = size;
    size_t at = 0;
    for (; at + 8 <= size; at += 8) key = shoal_mix(key ^ load_word(bytes + at));
    if (at < size) key = shoal_mix(key ^ first_bytes(load_word(bytes + at), size - at));
    key = shoal_mix(key);
  }
  return key ? key : 1;
}

static inline bool is_sampled(const shoal_value_sample *s, uint64_t key) {
  return key >> (63 - s->level) >> 1 == 0;
}

/* ------------------------------------------------------------ slots */

static inline size_t slot_of(const shoal_value_sample *s, uint64_t key) {
  size_t mask = ((size_t)1 << s->bits) - 1, at = (size_t)(shoal_hash_word(key) >> (64 - s->bits));
  while (s->keys[at] && s->keys[at] != key) at = (at + 1) & mask;
  return at;
}

/* Moves the values that are sampled to 2^bits new slots. */
static bool rebuild(shoal_value_sample *s, unsigned bits) {
  shoal_value_sample old = *s;
  size_t n_slots = (size_t)1 << bits, n_old = old.bits ? (size_t)1 << old.bits : 0;
  s->keys = shoal_alloc_zero(n_slots, sizeof *s->keys);
  s->n_rows = shoal_alloc(n_slots, sizeof *s->n_rows);
  s->traits = shoal_alloc(n_slots, sizeof *s->traits);
  if (!s->keys || !s->n_rows || !s->traits) {
    shoal_value_sample_reset(s);
    *s = old;
    return false;
  }
  s->bits = bits;
  s->n_values = 0;
  for (size_t i = 0; i < n_old; i++) {
    if (!old.keys[i] || !is_sampled(s, old.keys[i])) continue;
    size_t at = slot_of(s, old.keys[i]);
    s->keys[at] = old.keys[i];
    s->n_rows[at] = old.n_rows[i];
    s->traits[at] = old.traits[i];
    s->n_values++;
  }
  shoal_value_sample_reset(&old);
  return true;
}

static uint32_t count_sampled(const shoal_value_sample *s) {
  uint32_t n = 0;
  for (size_t i = 0; i < (size_t)1 << s->bits; i++) n += s->keys[i] && is_sampled(s, s->keys[i]);
  return n;
}

/* Too many values: raises the level until few enough are sampled. */
static bool thin(shoal_value_sample *s) {
  enum { SAMPLE_BITS = 11 };
  do s->level++;
  while (count_sampled(s) > SHOAL_SAMPLE_VALUES && s->level < 63);
  return rebuild(s, SAMPLE_BITS);
}

static inline void add_rows(shoal_value_sample *s, size_t at, uint64_t times) {
  uint64_t sum = s->n_rows[at] + times;
  s->n_rows[at] = sum < times || sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

/* Adds a value that is not there yet, at the empty slot where it belongs. */
static bool insert(shoal_value_sample *s, size_t at, uint64_t key, uint32_t traits,
                   uint64_t times) {
  s->keys[at] = key;
  s->traits[at] = traits;
  s->n_rows[at] = 0;
  add_rows(s, at, times);
  s->n_values++;
  uint32_t most = s->level ? SHOAL_SAMPLE_VALUES : SHOAL_SAMPLE_EXACT;
  if (s->n_values > most) return thin(s);
  bool full = (size_t)s->n_values * 4 > ((size_t)3 << s->bits);
  return !full || rebuild(s, s->bits + 1);
}

static bool prepare(shoal_value_sample *s) { return s->bits || rebuild(s, FIRST_BITS); }

/* ------------------------------------------------------------ values */

bool shoal_value_sample_add_value(shoal_value_sample *s, const shoal_sampling *sampling,
                                  const char *bytes, size_t size, uint64_t times) {
  if (!prepare(s)) return false;
  uint64_t key = key_of(bytes, size);
  if (!is_sampled(s, key)) return true;
  size_t at = slot_of(s, key);
  if (s->keys[at]) {
    add_rows(s, at, times);
    return true;
  }
  return insert(s, at, key, sampling->traits(sampling->user, bytes, size), times);
}

bool shoal_value_sample_add(shoal_value_sample *s, const shoal_sampling *sampling,
                            const char *bytes, const uint32_t *begin, const uint32_t *end,
                            size_t stride, size_t n) {
  if (!prepare(s)) return false;
  for (size_t i = 0; i < n; i++) {
    const char *cell = bytes + begin[i * stride];
    size_t size = end[i * stride] - begin[i * stride];
    uint64_t key = key_of(cell, size);
    if (!is_sampled(s, key)) continue;
    size_t at = slot_of(s, key);
    if (s->keys[at]) add_rows(s, at, 1);
    else if (!insert(s, at, key, sampling->traits(sampling->user, cell, size), 1)) return false;
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
    uint64_t key = other->keys[i];
    if (!key || !is_sampled(s, key)) continue;
    size_t at = slot_of(s, key);
    if (s->keys[at]) add_rows(s, at, other->n_rows[i]);
    else if (!insert(s, at, key, other->traits[i], other->n_rows[i])) return false;
  }
  return true;
}

void shoal_value_sample_reset(shoal_value_sample *s) {
  free(s->keys);
  free(s->n_rows);
  free(s->traits);
  memset(s, 0, sizeof *s);
}
