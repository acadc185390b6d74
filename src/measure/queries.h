/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/queries: error of COUNT queries on the release (paper 003, section 6.5, eq. 4-5, after
 * Xiao & Tao 2006). A query counts rows whose values are in a range of positions of some quasi-
 * identifiers. On the release it is answered as an analyst would: each row counts by the share of
 * its label's values that the query selects.
 */
#ifndef SHOAL_MEASURE_QUERIES_H
#define SHOAL_MEASURE_QUERIES_H

#include "base/thread.h"
#include "measure/figures.h"
#include "measure/pair.h"

/*
 * `out` has n_queries, dimensions, selectivity and seed, and receives the rest. The result does not
 * depend on the number of threads. Cost: queries x (tuples of the original + classes).
 */
shoal_status shoal_queries_measure(const shoal_release_pair *pair, const shoal_run *run,
                                   shoal_query_error *out, shoal_error *error) SHOAL_MUST_CHECK;

#endif
