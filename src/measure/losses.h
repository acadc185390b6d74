/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/losses: what a release is still good for, from how often its labels stand in it and how
 * often values stand in the original. docs/measures.md has the formulas and where they come from.
 */
#ifndef SHOAL_MEASURE_LOSSES_H
#define SHOAL_MEASURE_LOSSES_H

#include "measure/figures.h"
#include "measure/pair.h"

/*
 * Rows, dm, avg, il, accuracy, distances, completeness, disclosures, precision, ncp, entropy,
 * ambiguity, loss, and the same attribute by attribute, but for distributions (marginals.h).
 * `measures->attributes` has room for all attributes of the pair. False without memory.
 */
bool shoal_losses_measure(const shoal_pair *pair, shoal_measures *measures);

/* The class of rows that say nothing in any quasi-identifier, beside others; UINT32_MAX: none. */
uint32_t shoal_pair_blank_class(const shoal_pair *pair);

#endif
