/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/known: how many rows must be suppressed at a node at least, or at most, from the nodes
 * looked at so far. Rows to suppress can only fall going up: what a node above loses is lost here
 * too, and no more is lost here than at a node below. A list holds only what the others do not
 * tell, so that asking does not walk the lattice. Levels, which fit into a byte, are four to a
 * word: whether one node is above another takes a subtraction for each word.
 */
#ifndef SHOAL_LATTICE_KNOWN_H
#define SHOAL_LATTICE_KNOWN_H

#include "lattice/lattice.h"

typedef struct shoal_known {
  size_t n_levels;
  bool from_above;   /* at least: told by nodes above; else at most: by nodes below */
  uint64_t *entries; /* the strongest first: rows suppressed, then the words of the levels */
  size_t n_entries, capacity;
} shoal_known;

void shoal_known_init(shoal_known *known, size_t n_levels, bool from_above);
void shoal_known_reset(shoal_known *known);

/* False: no memory. */
bool shoal_known_add(shoal_known *known, const uint32_t *levels, uint64_t suppressed);

/* The bound at these levels; `otherwise` where nothing is known. */
uint64_t shoal_known_ask(const shoal_known *known, const uint32_t *levels, uint64_t otherwise);

#endif
