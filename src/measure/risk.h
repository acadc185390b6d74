/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/risk: what an intruder could learn from classes alone: who a record is of (El Emam &
 * Dankar 2008: prosecutor, journalist, marketer), and what its sensitive value is.
 */
#ifndef SHOAL_MEASURE_RISK_H
#define SHOAL_MEASURE_RISK_H

#include "measure/figures.h"
#include "measure/pair.h"

/* Re-identification where the intruder knows that the person is in the table. */
void shoal_identity_measure(const shoal_frequency *classes, shoal_identity_risk *out);

/* Labels of one quasi-identifier that stand on 1 to 10 rows. */
void shoal_small_labels_count(const shoal_pair *pair, shoal_risk *risk);

/*
 * Re-identification where the intruder knows only that the person is in `population`, a table with
 * some of the quasi-identifiers as raw values: for each class of the release, how many people fit.
 */
shoal_status shoal_population_measure(const shoal_pair *pair, const shoal_policy *policy,
                                      const shoal_table *population, const shoal_run *run,
                                      shoal_population_risk *out,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/* What classes tell of each sensitive attribute; `out` has room for all. False without memory. */
bool shoal_disclosure_measure(const shoal_pair *pair, shoal_attribute_risk *out);

#endif
