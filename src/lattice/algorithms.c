/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/algorithms: the table of full-domain algorithms. */
#include <pthread.h>
#include <string.h>

#include "base/text.h"
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

enum { N_ALGORITHMS = sizeof shoal_algorithm_types / sizeof *shoal_algorithm_types };

static shoal_entry entries[N_ALGORITHMS + 1];

static void fill_entries(void) {
  entries[0] = (shoal_entry){"auto", "", "picks one and says why"};
  for (size_t i = 0; shoal_algorithm_types[i].name; i++)
    entries[i + 1] =
        (shoal_entry){shoal_algorithm_types[i].name, "", shoal_algorithm_types[i].summary};
}

const shoal_entry *shoal_algorithms(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, fill_entries);
  return entries;
}

shoal_status shoal_algorithm_bind(const shoal_policy *policy, const shoal_algorithm **algorithm,
                                  const char **reason, shoal_error *error) {
  const char *name = policy->algorithm.text ? policy->algorithm.text : "auto";
  *reason = policy->algorithm.mark.line ? "the policy names it" : "asked for";
  if (strcmp(name, "auto") == 0) {
    bool optimal = policy->objective.text != NULL && policy->n_prefer == 0;
    *algorithm = &shoal_algorithm_types[optimal ? 2 : 0];
    *reason = optimal ? "the policy names an objective: the best node of all under it"
                      : "every quasi-identifier has a hierarchy: full-domain, least height";
    return SHOAL_OK;
  }
  const char *names[N_ALGORITHMS + 1] = {"auto"};
  for (size_t i = 0; shoal_algorithm_types[i].name; i++) {
    names[i + 1] = shoal_algorithm_types[i].name;
    if (strcmp(names[i + 1], name) != 0) continue;
    *algorithm = &shoal_algorithm_types[i];
    return SHOAL_OK;
  }
  const char *near = shoal_nearest_word(name, names);
  return shoal_policy_fail(policy, policy->algorithm.mark, error,
                           "unknown algorithm '%.60s'%s%s%s; 'shoal help policy' lists them", name,
                           near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}
