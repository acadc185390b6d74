/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/known: how many rows must be suppressed at a node at least, or at most, from the nodes
 * looked at so far. Rows to suppress can only fall going up: what a node above loses is lost here
 * too, and no more is lost here than at a node below. A list holds only what the others do not
 * tell, so that asking does not walk the lattice.
 */
#ifndef SHOAL_LATTICE_KNOWN_H
#define SHOAL_LATTICE_KNOWN_H

#include "lattice/lattice.h"

typedef struct shoal_known_entry {
  uint64_t suppressed;
  uint32_t *levels;
} shoal_known_entry;

typedef struct shoal_known {
  size_t n_levels;
  bool from_above;            /* at least: told by nodes above; else at most: by nodes below */
  shoal_known_entry *entries; /* the strongest first */
  size_t n_entries, capacity;
} shoal_known;

void shoal_known_init(shoal_known *known, size_t n_levels, bool from_above);
void shoal_known_reset(shoal_known *known);

/* The levels are copied. False: no memory. */
bool shoal_known_add(shoal_known *known, const uint32_t *levels, uint64_t suppressed);

/* The bound at these levels; `otherwise` where nothing is known. */
uint64_t shoal_known_ask(const shoal_known *known, const uint32_t *levels, uint64_t otherwise);

#endif
