/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/over: the counted release, grouped by some of its quasi-identifiers only. Input: the keys
 * of the classes (counter.h), from which the cells of other columns are left out.
 */
#pragma once

#include "verify/counter.h"
#include "verify/models.h"

/* The keys of the classes by number, in the order of memory. The caller frees it; NULL: no memory.
 */
const shoal_verify_entry **shoal_verify_list_classes(const shoal_verify_counter *count);

/*
 * Fills a zeroed tally. `classes`: as listed. `tally`: over all quasi-identifiers; its names and
 * texts are borrowed. SHOAL_FAILED if the set names no quasi-identifier of the request. Reset it
 * also after an error.
 */
shoal_status shoal_verify_tally_over(const shoal_verify_counter *count,
                                     const shoal_verify_entry *const *classes,
                                     const shoal_verify_tally *tally, const shoal_verify_set *set,
                                     shoal_verify_tally *over, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_verify_tally_over_reset(shoal_verify_tally *over);
