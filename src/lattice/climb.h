/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/climb: the local search of `optimal`, for lattices that are too large for the exact one.
 * Private to this directory.
 */
#pragma once

#include "lattice/objective.h"
#include "lattice/search.h"

/*
 * Improves *solution until a limit is reached: from its node if it is found, and from the top.
 * Without a deadline it also ends if it finds nothing better for a while. Afterwards
 * solution->unproven is set, unless the top shows that no node satisfies. Limits are checked before
 * each node, but both starts are evaluated. Without a deadline neither the answer nor the counters
 * depend on the number of threads. Memory: about 60 bytes per tuple and per thread, whatever the
 * size of the lattice.
 */
shoal_status shoal_search_climb(shoal_search *search, const shoal_objective *objective,
                                const shoal_search_limits *limits, shoal_solution *solution,
                                shoal_error *error) SHOAL_MUST_CHECK;
