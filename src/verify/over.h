/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/over: the counted release, grouped by some of its quasi-identifiers only. Input: the keys
 * of the classes (counter.h), from which the cells of other columns are left out.
 */
#pragma once

#include "verify/counter.h"
#include "verify/models.h"

/*
 * Fills a zeroed tally. `tally`: over all quasi-identifiers; its names and texts are borrowed.
 * SHOAL_FAILED if the set names no quasi-identifier of the request. Reset it also after an error.
 */
shoal_status shoal_verify_tally_over(const shoal_verify_counter *count,
                                     const shoal_verify_tally *tally, const shoal_verify_set *set,
                                     shoal_verify_tally *over, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_verify_tally_over_reset(shoal_verify_tally *over);
