/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/known: see known.h. */
#include "lattice/known.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 4, LANE_BITS = 16 };
static const uint64_t GUARDS = UINT64_C(0x8000800080008000);

void shoal_known_init(shoal_known *known, size_t n_levels, bool from_above) {
  *known = (shoal_known){.n_levels = n_levels, .from_above = from_above};
}

void shoal_known_reset(shoal_known *known) {
  free(known->entries);
  shoal_known_init(known, known->n_levels, known->from_above);
}

static size_t entry_words(const shoal_known *known) { return 1 + (known->n_levels + 3) / LANES; }

/* The levels as an entry has them; what is suppressed is left as it is. */
static inline void pack(const shoal_known *known, const uint32_t *levels, uint64_t *entry) {
  size_t q = 0;
  for (; q + LANES <= known->n_levels; q += LANES)
    entry[1 + q / LANES] = levels[q] | (uint64_t)levels[q + 1] << LANE_BITS |
                           (uint64_t)levels[q + 2] << 2 * LANE_BITS |
                           (uint64_t)levels[q + 3] << 3 * LANE_BITS;
  if (q == known->n_levels) return;
  uint64_t word = 0;
  for (size_t i = q; i < known->n_levels; i++)
    word |= (uint64_t)levels[i] << LANE_BITS * (i % LANES);
  entry[1 + q / LANES] = word;
}

/* No lane of a above that of b: then no guard is borrowed from. */
static inline bool below(uint64_t a, uint64_t b) { return (((b | GUARDS) - a) & GUARDS) == GUARDS; }

/* Does what one entry tells bound the levels of another? */
static bool tells(const shoal_known *known, const uint64_t *teller, const uint64_t *other) {
  for (size_t w = 1; w < entry_words(known); w++)
    if (known->from_above ? !below(other[w], teller[w]) : !below(teller[w], other[w])) return false;
  return true;
}

static bool at_least_as_strong(const shoal_known *known, uint64_t a, uint64_t b) {
  return known->from_above ? a >= b : a <= b;
}

uint64_t shoal_known_ask(const shoal_known *known, const uint32_t *levels, uint64_t otherwise) {
  size_t words = entry_words(known), n = known->n_entries;
  if (!n) return otherwise;
  uint64_t *asked = known->entries + n * words; /* there is room for one more */
  pack(known, levels, asked);
  const uint64_t *entry = known->entries;
  if (known->from_above) { /* most entries differ in the first word already */
    for (size_t i = 0; i < n; i++, entry += words)
      if (below(asked[1], entry[1]) && tells(known, entry, asked)) return entry[0];
  } else {
    for (size_t i = 0; i < n; i++, entry += words)
      if (below(entry[1], asked[1]) && tells(known, entry, asked)) return entry[0];
  }
  return otherwise;
}

/* What the new entry, behind all others, tells as well is dropped; returns where it belongs. */
static size_t make_place(shoal_known *known, const uint64_t *new) {
  size_t words = entry_words(known), kept = 0, place = 0;
  for (size_t i = 0; i < known->n_entries; i++) {
    const uint64_t *entry = known->entries + i * words;
    if (at_least_as_strong(known, new[0], entry[0]) && tells(known, new, entry)) continue;
    bool stronger = at_least_as_strong(known, entry[0], new[0]);
    memmove(known->entries + kept++ * words, entry, words * sizeof *entry);
    if (stronger) place = kept;
  }
  known->n_entries = kept;
  return place;
}

bool shoal_known_add(shoal_known *known, const uint32_t *levels, uint64_t suppressed) {
  size_t words = entry_words(known), size = words * sizeof *known->entries;
  if (!shoal_grow(&known->entries, &known->capacity, (known->n_entries + 2) * words,
                  sizeof *known->entries))
    return false;
  uint64_t *new = known->entries + (known->n_entries + 1) * words; /* room for one before it */
  new[0] = suppressed;
  pack(known, levels, new);
  for (size_t i = 0; i < known->n_entries; i++) {
    const uint64_t *entry = known->entries + i * words;
    if (at_least_as_strong(known, entry[0], suppressed) && tells(known, entry, new)) return true;
  }
  uint64_t *place = known->entries + make_place(known, new) * words;
  memmove(place + words, place,
          (size_t)(known->entries + known->n_entries * words - place) * sizeof *place);
  memcpy(place, new, size);
  known->n_entries++;
  return true;
}
