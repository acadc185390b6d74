/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/algorithms: the table of full-domain algorithms. */
#include "lattice/lattice.h"

const shoal_algorithm shoal_algorithm_types[] = {
    {"samarati", "full-domain: one level per column, as few steps in all as possible", true, true,
     false, shoal_search_samarati},
    {"incognito",
     "full-domain: finds all combinations of levels that satisfy the policy; takes a lowest", true,
     true, false, shoal_search_incognito},
    {"optimal", "full-domain: the best node of all under the objective", false, false, true,
     shoal_search_optimal},
    {"datafly",
     "full-domain: greedy, the attribute with most labels first; fast, may lose too much", false,
     true, false, shoal_search_datafly},
    {"mu-argus",
     "checks two or three columns at a time, blanks single cells; unsafe results are refused",
     false, false, false, NULL},
    {NULL, NULL, false, false, false, NULL},
};
