/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/losses: utility of a release, from the counts of its labels and of the original's values.
 * docs/measures.md has the formulas and their sources.
 */
#ifndef SHOAL_MEASURE_LOSSES_H
#define SHOAL_MEASURE_LOSSES_H

#include "measure/figures.h"
#include "measure/pair.h"

/*
 * Fills rows, dm, avg, il, accuracy, distances, completeness, disclosures, precision, ncp, entropy,
 * ambiguity and loss, in total and by attribute; not distributions (distributions.h).
 * `measures->attributes` has room for all attributes of the pair. False: no memory.
 */
bool shoal_losses_measure(const shoal_release_pair *pair, shoal_measures *measures);

#endif
