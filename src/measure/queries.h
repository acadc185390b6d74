/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/queries: how far COUNT queries on the release are from the truth (paper 003, section 6.5,
 * eq. 4-5, after Xiao & Tao 2006). A query asks for rows whose values lie in a stretch of the
 * line of each of some quasi-identifiers; on the release it is answered as an analyst would: each
 * row counts for the share of its label's values that the query asks for.
 */
#ifndef SHOAL_MEASURE_QUERIES_H
#define SHOAL_MEASURE_QUERIES_H

#include "base/work.h"
#include "measure/figures.h"
#include "measure/pair.h"

/*
 * `out` tells n_queries, dimensions, selectivity and seed, and receives the rest. The result does
 * not depend on the number of threads. Cost: queries x (tuples of the original + classes).
 */
shoal_status shoal_queries_measure(const shoal_pair *pair, const shoal_run *run,
                                   shoal_query_error *out, shoal_error *error) SHOAL_MUST_CHECK;

#endif
