/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/set_rounds: the rows that must be suppressed at a node so that no class over any set of
 * quasi-identifiers violates, for monotone requirements. The work is in proportion to the rows that
 * are suppressed, not to the classes. shoal_suppress_over_sets gives the same result for every kind
 * of requirement. Private to this directory.
 */
#ifndef SHOAL_LATTICE_SET_ROUNDS_H
#define SHOAL_LATTICE_SET_ROUNDS_H

#include "lattice/lattice.h"

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

#endif
