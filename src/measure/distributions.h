/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/distributions: the distribution of each attribute before and after: distances over its
 * values, bars by released labels; and the association of two attributes (Cramer's V).
 */
#ifndef SHOAL_MEASURE_DISTRIBUTIONS_H
#define SHOAL_MEASURE_DISTRIBUTIONS_H

#include "measure/figures.h"
#include "measure/pair.h"

/*
 * Fills name, distances and bars of every attribute. No bar has fewer than k rows: rare labels form
 * one bar without a label, which takes more labels until it is not small either. Strings and bars
 * are in the arena. False: no memory.
 */
bool shoal_marginals_measure(const shoal_release_pair *pair, shoal_arena *arena,
                             shoal_measures *measures);

/* Cramer's V of each quasi-identifier with each sensitive attribute. False: no memory. */
bool shoal_associations_measure(const shoal_release_pair *pair, shoal_arena *arena,
                                shoal_measures *measures);

#endif
