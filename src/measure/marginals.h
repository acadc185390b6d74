/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/marginals: one attribute's distribution before and after: distances over its values, bars
 * by released labels; and how closely two attributes go together (Cramer's V).
 */
#ifndef SHOAL_MEASURE_MARGINALS_H
#define SHOAL_MEASURE_MARGINALS_H

#include "measure/figures.h"
#include "measure/pair.h"

/*
 * Name, distances and bars of every attribute. No bar stands for fewer than k rows: rare labels
 * are one bar without a label, which takes up more labels until it is no small cell either.
 * Strings and bars live in `arena`. False without memory.
 */
bool shoal_marginals_measure(const shoal_pair *pair, shoal_arena *arena, shoal_measures *measures);

/* Cramer's V of each quasi-identifier and each sensitive attribute. False without memory. */
bool shoal_associations_measure(const shoal_pair *pair, shoal_arena *arena,
                                shoal_measures *measures);

/* A name or label in the arena, as valid UTF-8; NULL without memory. */
const char *shoal_arena_text(shoal_arena *arena, const char *bytes, size_t size_bytes);

#endif
