/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/known: see known.h. */
#include "lattice/known.h"

#include <stdlib.h>
#include <string.h>

void shoal_known_init(shoal_known *known, size_t n_levels, bool from_above) {
  *known = (shoal_known){.n_levels = n_levels, .from_above = from_above};
}

void shoal_known_reset(shoal_known *known) {
  for (size_t i = 0; i < known->n_entries; i++) free(known->entries[i].levels);
  free(known->entries);
  shoal_known_init(known, known->n_levels, known->from_above);
}

static bool below(const uint32_t *a, const uint32_t *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i] > b[i]) return false;
  return true;
}

/* Does what is known at `teller` bound these levels? */
static bool tells(const shoal_known *known, const uint32_t *teller, const uint32_t *levels) {
  return known->from_above ? below(levels, teller, known->n_levels)
                           : below(teller, levels, known->n_levels);
}

static bool at_least_as_strong(const shoal_known *known, uint64_t a, uint64_t b) {
  return known->from_above ? a >= b : a <= b;
}

uint64_t shoal_known_ask(const shoal_known *known, const uint32_t *levels, uint64_t otherwise) {
  for (size_t i = 0; i < known->n_entries; i++)
    if (tells(known, known->entries[i].levels, levels)) return known->entries[i].suppressed;
  return otherwise;
}

/* What the new entry tells as well is dropped; returns the place of the new one. */
static size_t make_place(shoal_known *known, const uint32_t *levels, uint64_t suppressed) {
  size_t kept = 0, place = 0;
  for (size_t i = 0; i < known->n_entries; i++) {
    shoal_known_entry entry = known->entries[i];
    bool stronger = at_least_as_strong(known, entry.suppressed, suppressed);
    if (at_least_as_strong(known, suppressed, entry.suppressed) &&
        tells(known, levels, entry.levels)) {
      free(entry.levels);
      continue;
    }
    known->entries[kept++] = entry;
    if (stronger) place = kept;
  }
  known->n_entries = kept;
  return place;
}

bool shoal_known_add(shoal_known *known, const uint32_t *levels, uint64_t suppressed) {
  for (size_t i = 0; i < known->n_entries; i++)
    if (at_least_as_strong(known, known->entries[i].suppressed, suppressed) &&
        tells(known, known->entries[i].levels, levels))
      return true;
  uint32_t *copy = shoal_alloc(known->n_levels, sizeof *copy);
  if (!copy || !shoal_grow(&known->entries, &known->capacity, known->n_entries + 1,
                           sizeof *known->entries)) {
    free(copy);
    return false;
  }
  memcpy(copy, levels, known->n_levels * sizeof *copy);
  size_t place = make_place(known, levels, suppressed);
  memmove(known->entries + place + 1, known->entries + place,
          (known->n_entries - place) * sizeof *known->entries);
  known->entries[place] = (shoal_known_entry){suppressed, copy};
  known->n_entries++;
  return true;
}
