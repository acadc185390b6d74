/* SPDX-License-Identifier: Apache-2.0 */
/* measure/parts: what measure.c puts together, each from a pair. Private to this directory. */
#pragma once

#include "base/thread.h"
#include "measure/figures.h"
#include "measure/pair.h"

/* ---- distributions.c: distances over values, bars by released labels, association (Cramer's V) */

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

/* ---- losses.c: utility, from the counts of labels and of original values (docs/measures.md) */

/*
 * Fills rows, dm, avg, il, accuracy, distances, completeness, disclosures, precision, ncp, entropy,
 * ambiguity and loss, in total and by attribute; not distributions.
 * `measures->attributes` has room for all attributes of the pair. False: no memory.
 */
bool shoal_losses_measure(const shoal_release_pair *pair, shoal_measures *measures);

/* ---- risk.c and population.c: disclosure by classes alone: identity (El Emam & Dankar 2008:
 * prosecutor, journalist, marketer), and sensitive values */

/* Re-identification by an attacker who knows that the person is in the table. */
void shoal_identity_measure(const shoal_frequency_set *classes, shoal_identity_risk *out);

/* Counts labels of single quasi-identifiers that occur in 1 to 10 rows. */
void shoal_small_labels_count(const shoal_release_pair *pair, shoal_risk *risk);

/*
 * Re-identification by an attacker who knows only that the person is in `population`, a table with
 * raw values of some of the quasi-identifiers: counts the people who match each class.
 */
shoal_status shoal_population_measure(const shoal_release_pair *pair, const shoal_policy *policy,
                                      const shoal_table *population, const shoal_run *run,
                                      shoal_population_risk *out,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/* Disclosure of each sensitive attribute; `out` has room for all. False: no memory. */
bool shoal_disclosure_measure(const shoal_release_pair *pair, shoal_attribute_risk *out);

/* ---- queries.c: the error of COUNT queries (paper 003, section 6.5, eq. 4-5, after Xiao & Tao
 * 2006) */

/*
 * A query counts rows whose values are in a range of positions of some quasi-identifiers. On the
 * release it is answered as an analyst would: each row counts by the share of its label's values
 * that the query selects. `out` has n_queries, dimensions, selectivity and seed, and receives the
 * rest. The result does not depend on the number of threads. Cost: queries x (tuples of the
 * original + classes).
 */
shoal_status shoal_queries_measure(const shoal_release_pair *pair, const shoal_run *run,
                                   shoal_query_error *out, shoal_error *error) SHOAL_MUST_CHECK;
