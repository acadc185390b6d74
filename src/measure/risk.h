/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/risk: disclosure by classes alone: identity (El Emam & Dankar 2008: prosecutor,
 * journalist, marketer), and sensitive values.
 */
#ifndef SHOAL_MEASURE_RISK_H
#define SHOAL_MEASURE_RISK_H

#include "measure/figures.h"
#include "measure/pair.h"

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

#endif
