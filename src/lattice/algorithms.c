/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/algorithms: the table of full-domain algorithms. */
#include "lattice/datafly.h"
#include "lattice/lattice.h"

static shoal_status run_datafly(shoal_search *search, shoal_node *solution, bool *found,
                                shoal_error *error) {
  return shoal_search_datafly(search, search->datafly, solution, found, error);
}

const shoal_algorithm shoal_algorithm_types[] = {
    {"samarati", "full-domain: a node of least height, by binary search on height", true, true,
     shoal_search_samarati},
    {"incognito", "full-domain: every node that satisfies, by subsets; takes one of least height",
     true, true, shoal_search_incognito},
    {"optimal", "full-domain: the best node of all under the objective", false, false,
     shoal_search_optimal},
    {"datafly", "full-domain: greedy, the attribute with most labels first; may go too high", false,
     true, run_datafly},
    {"mu-argus", "combinations of two and three, cells suppressed; refused where it is unsafe",
     false, false, NULL},
    {NULL, NULL, false, false, NULL},
};
