/* SPDX-License-Identifier: Apache-2.0 */
/* table/count: tuples, and shares that count; see count.h. */
#include "table/count.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "table/dictionary.h"

enum { FIRST_BITS = 10, TILE_ROWS = 256, BATCH = 64 };

/* ------------------------------------------------------------ tuples */

shoal_tuples *shoal_tuples_new(size_t width) {
  shoal_tuples *t = shoal_alloc_zero(1, sizeof *t);
  if (!t) return NULL;
  t->width = width;
  t->bits = FIRST_BITS;
  t->slots = shoal_alloc_zero((size_t)1 << t->bits, sizeof *t->slots);
  if (t->slots) return t;
  free(t);
  return NULL;
}

void shoal_tuples_free(shoal_tuples *t) {
  if (!t) return;
  free(t->codes);
  free(t->counts);
  free(t->first_place);
  free(t->slots);
  free(t);
}

static inline const uint32_t *codes_of(const shoal_tuples *t, uint32_t number) {
  return t->codes + (size_t)number * t->width;
}

static inline uint64_t hash_of(const shoal_tuples *t, const uint32_t *codes) {
  uint64_t hash = 0;
  for (size_t i = 0; i < t->width; i++)
    hash = ((hash << 23 | hash >> 41) ^ codes[i]) * UINT64_C(0x9e3779b97f4a7c15);
  return shoal_mix(hash);
}

static inline bool equal(const uint32_t *a, const uint32_t *b, size_t width) {
  uint32_t differ = 0;
  for (size_t i = 0; i < width; i++) differ |= a[i] ^ b[i];
  return !differ;
}

/* The slot of the tuple, or the empty one where it belongs. */
static inline size_t slot_of(const shoal_tuples *t, uint64_t hash, const uint32_t *codes) {
  size_t mask = ((size_t)1 << t->bits) - 1, at = (size_t)(hash >> (64 - t->bits));
  while (t->slots[at] && !equal(codes_of(t, t->slots[at] - 1), codes, t->width))
    at = (at + 1) & mask;
  return at;
}

/*
 * Tuples come in no order, and most of the time would go into waiting for memory. So that of a
 * whole batch is asked for, slots first and then what they name, before it is looked at.
 */
static void hash_batch(const shoal_tuples *t, const uint32_t *codes, size_t n, uint64_t *hashes) {
  for (size_t i = 0; i < n; i++) {
    hashes[i] = hash_of(t, codes + i * t->width);
    __builtin_prefetch(&t->slots[hashes[i] >> (64 - t->bits)]);
  }
  for (size_t i = 0; i < n; i++) {
    uint32_t number_plus_1 = t->slots[hashes[i] >> (64 - t->bits)];
    if (!number_plus_1) continue;
    __builtin_prefetch(codes_of(t, number_plus_1 - 1));
    __builtin_prefetch(&t->counts[number_plus_1 - 1], 1);
  }
}

void shoal_tuples_find(const shoal_tuples *t, const uint32_t *codes, size_t n, uint32_t *numbers) {
  uint64_t hashes[BATCH];
  for (size_t first = 0; first < n; first += BATCH, codes += BATCH * t->width) {
    size_t some = n - first < BATCH ? n - first : BATCH;
    hash_batch(t, codes, some, hashes);
    for (size_t i = 0; i < some; i++) {
      uint32_t number_plus_1 = t->slots[slot_of(t, hashes[i], codes + i * t->width)];
      numbers[first + i] = number_plus_1 ? number_plus_1 - 1 : SHOAL_NO_TUPLE;
    }
  }
}

static bool grow_slots(shoal_tuples *t) {
  uint32_t *slots = shoal_alloc_zero((size_t)2 << t->bits, sizeof *slots);
  if (!slots) return false;
  free(t->slots);
  t->slots = slots;
  t->bits++;
  size_t mask = ((size_t)1 << t->bits) - 1;
  for (uint32_t i = 0; i < t->n; i++) {
    size_t at = (size_t)(hash_of(t, codes_of(t, i)) >> (64 - t->bits));
    while (slots[at]) at = (at + 1) & mask;
    slots[at] = i + 1;
  }
  return true;
}

static bool add(shoal_tuples *t, uint64_t hash, const uint32_t *codes, uint64_t times,
                uint64_t place) {
  size_t at = slot_of(t, hash, codes), n = t->n;
  if (t->slots[at]) {
    t->counts[t->slots[at] - 1] += times;
    return true;
  }
  if (n >= SHOAL_NO_TUPLE - 1 ||
      !shoal_grow(&t->codes, &t->codes_capacity, (n + 1) * t->width, sizeof *t->codes) ||
      !shoal_grow(&t->counts, &t->counts_capacity, n + 1, sizeof *t->counts) ||
      !shoal_grow(&t->first_place, &t->place_capacity, n + 1, sizeof *t->first_place))
    return false;
  if (t->width) memcpy(t->codes + n * t->width, codes, t->width * sizeof *codes);
  t->counts[n] = times;
  t->first_place[n] = place;
  t->slots[at] = ++t->n;
  return (size_t)t->n * 2 <= (size_t)1 << t->bits || grow_slots(t);
}

bool shoal_tuples_add(shoal_tuples *t, const uint32_t *codes, uint64_t times, uint64_t place) {
  return add(t, hash_of(t, codes), codes, times, place);
}

bool shoal_tuples_add_rows(shoal_tuples *t, const uint32_t *codes, size_t n, uint64_t place) {
  uint64_t hashes[BATCH];
  for (size_t first = 0; first < n; first += BATCH, codes += BATCH * t->width) {
    size_t some = n - first < BATCH ? n - first : BATCH;
    hash_batch(t, codes, some, hashes);
    for (size_t i = 0; i < some; i++)
      if (!add(t, hashes[i], codes + i * t->width, 1, place + first + i)) return false;
  }
  return true;
}

/* ------------------------------------------------------------ shares */

static size_t counted_columns(const shoal_use *uses, size_t n_columns) {
  size_t n = 0;
  for (size_t c = 0; c < n_columns; c++) n += uses[c] == SHOAL_USE_CODES;
  return n;
}

/*
 * A row is held as codes while it is loaded and once more, packed and with its group, while it is
 * written; an identifier's hash is held three times while repeated ones are counted. Values that
 * nearly every row has one of its own grow with the file.
 */
double shoal_share_estimate(const shoal_share *share, const shoal_use *uses, size_t n_columns,
                            uint64_t n_rows, double whole) {
  enum { BYTES_A_ROW = 12, BYTES_AN_IDENTITY = 24, BYTES_A_VALUE = 64, AT_LEAST = 16 << 20 };
  double a_row = BYTES_A_ROW, values = 0;
  for (size_t c = 0; c < n_columns; c++) {
    if (uses[c] == SHOAL_USE_IDENTITY) a_row += BYTES_AN_IDENTITY;
    if (!shoal_use_has_codes(uses[c])) continue;
    const shoal_dictionary *d = &share->dictionaries[c];
    double bytes = (double)d->offsets[d->n_values] + (double)d->n_values * BYTES_A_VALUE;
    values += d->n_values > share->n_rows / 4 ? bytes * whole : bytes;
    a_row += 2 * (double)share->codes[c].code_size;
  }
  return AT_LEAST + (double)n_rows * whole * a_row + 2 * values;
}

static uint32_t code_at(const shoal_code_vector *vector, size_t row) {
  switch (vector->code_size) {
  case 1: return ((const uint8_t *)vector->codes)[row];
  case 2: return ((const uint16_t *)vector->codes)[row];
  default: return ((const uint32_t *)vector->codes)[row];
  }
}

/* Counts the rows that the share has kept so far. */
static bool count_kept(const shoal_share *share, const shoal_use *uses, size_t n_columns,
                       shoal_tuples *tuples, uint32_t *codes) {
  size_t mark = 0;
  for (size_t row = 0; row < share->n_rows; row++) {
    size_t n = 0;
    for (size_t c = 0; c < n_columns; c++)
      if (uses[c] == SHOAL_USE_CODES) codes[n++] = code_at(&share->codes[c], row);
    while (mark + 1 < share->n_marks && share->marks[mark + 1].first_row <= row) mark++;
    uint64_t place =
        (uint64_t)share->marks[mark].number << 32 | (row - share->marks[mark].first_row);
    if (!shoal_tuples_add(tuples, codes, 1, place)) return false;
  }
  return true;
}

bool shoal_share_count(shoal_share *share, const shoal_use *uses, size_t n_columns) {
  size_t width = counted_columns(uses, n_columns);
  shoal_tuples *tuples = shoal_tuples_new(width);
  uint32_t *codes = shoal_alloc(width, sizeof *codes);
  bool ok = tuples && codes && count_kept(share, uses, n_columns, tuples, codes);
  free(codes);
  if (!ok) {
    shoal_tuples_free(tuples);
    return false;
  }
  share->tuples = tuples;
  for (size_t c = 0; c < n_columns; c++) {
    free(share->codes[c].codes);
    free(share->hashes[c]);
    share->hashes[c] = NULL;
    memset(&share->codes[c], 0, sizeof share->codes[c]);
    if (uses[c] == SHOAL_USE_KEEP) shoal_dictionary_reset(&share->dictionaries[c]);
  }
  return true;
}

bool shoal_share_add_counted(shoal_share *share, const shoal_use *uses, size_t n_columns,
                             const char *bytes, const uint32_t *begin, const uint32_t *end,
                             size_t n_rows, size_t number) {
  size_t width = share->tuples->width;
  uint32_t column[TILE_ROWS], *codes = shoal_alloc(width * TILE_ROWS, sizeof *codes);
  bool ok = codes != NULL;
  for (size_t row = 0; ok && row < n_rows; row += TILE_ROWS) {
    size_t n = n_rows - row < TILE_ROWS ? n_rows - row : TILE_ROWS, at = 0;
    uint64_t place = (uint64_t)number << 32 | row;
    for (size_t c = 0; ok && c < n_columns; c++) {
      if (uses[c] != SHOAL_USE_CODES) continue;
      size_t cell = row * n_columns + c;
      ok = shoal_dictionary_encode(&share->dictionaries[c], bytes, begin + cell, end + cell,
                                   n_columns, n, place, column);
      for (size_t i = 0; ok && i < n; i++) codes[i * width + at] = column[i];
      at++;
    }
    ok = ok && shoal_tuples_add_rows(share->tuples, codes, n, place);
  }
  free(codes);
  share->n_rows += n_rows;
  return ok;
}
