/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/set_bounds: rows that violate over one set of quasi-identifiers (`over` and `known` of
 * the policy). They depend on the levels of this set only: few combinations, each computed once.
 *
 *      set {age, zip}, levels (1, 2) of (4, 3)      entry 1 x 3 + 2 = 5 of 12
 *
 * At a node no fewer rows are suppressed than violate over any set. If none violates over any set,
 * none is suppressed. Private to this directory.
 */
#pragma once

#include <stdatomic.h>

#include "lattice/lattice.h"

typedef struct shoal_set_bound {
  shoal_classes base;     /* over the set, at its lowest levels; no classes: not kept */
  _Atomic uint64_t *rows; /* by entry; UINT64_MAX: not computed; NULL: too many entries */
  bool used;              /* a requirement covers the set */
} shoal_set_bound;

typedef struct shoal_set_bounds {
  const shoal_frequency_set *frequency;
  const shoal_requirements *requirements;
  const shoal_space *space;
  shoal_set_bound *sets; /* by set of the requirements; the first is not used */
  size_t n_sets;
} shoal_set_bounds;

enum { SHOAL_MAX_SET_ENTRIES = 1 << 20 }; /* of one set: 8 MiB */

/* Combinations of levels of the set; more than SHOAL_MAX_SET_ENTRIES: too many. */
uint64_t shoal_set_count_entries(const shoal_space *space, const shoal_quasi_set *set);
/* The number of the node's levels in the set among them. */
uint64_t shoal_set_entry_at(const shoal_space *space, const shoal_quasi_set *set,
                            const uint32_t *levels);

/* All pointers are borrowed. Reset it also if it fails. */
shoal_status shoal_set_bounds_init(shoal_set_bounds *bounds, const shoal_frequency_set *frequency,
                                   const shoal_requirements *requirements, const shoal_space *space,
                                   const shoal_run *run, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_set_bounds_reset(shoal_set_bounds *bounds);

/*
 * Rows that must be suppressed at the node at least, from all sets but the first; stops once that
 * is more than `limit`. `clean`, if not NULL, receives 1 for each set over which no row violates.
 * *complete: every set was judged, and none is required but these. Any thread may call it.
 */
shoal_status shoal_set_bounds_at(const shoal_set_bounds *bounds, const uint32_t *levels,
                                 uint64_t limit, shoal_grouper *grouper, uint8_t *clean,
                                 uint64_t *rows, bool *complete,
                                 shoal_error *error) SHOAL_MUST_CHECK;

/*
 * ---- set_rounds.c: the rows that must be suppressed at a node so that no class over any set
 * violates, for monotone requirements. The work is in proportion to the rows that are suppressed,
 * not to the classes. shoal_suppress_over_sets gives the same result for every kind of requirement.
 */

typedef struct shoal_set_rounds shoal_set_rounds;

/*
 * *rounds receives NULL if it is of no use: no sets, no suppression, requirements that are not
 * monotone or about all quasi-identifiers, or indexes too large for memory. All pointers are
 * borrowed. Cost: a projection of the tuples onto each set.
 */
shoal_status shoal_set_rounds_new(const shoal_frequency_set *frequency,
                                  const shoal_requirements *requirements, const shoal_space *space,
                                  uint64_t max_suppressed, const shoal_run *run,
                                  shoal_set_rounds **rounds, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_set_rounds_free(shoal_set_rounds *rounds); /* NULL: nothing */

/*
 * suppressed[t] receives 1 for each tuple that must be suppressed, else 0; *rows their rows. Stops
 * early once that is more than `limit`. *done: false if it does not apply at this node. Any thread
 * may call it.
 */
shoal_status shoal_set_rounds_run(const shoal_set_rounds *rounds, const uint32_t *levels,
                                  uint64_t limit, uint8_t *suppressed, uint64_t *rows, bool *done,
                                  shoal_error *error) SHOAL_MUST_CHECK;
