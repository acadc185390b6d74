/* SPDX-License-Identifier: Apache-2.0 */
/* lattice/algorithms: the table of full-domain algorithms. */
#include <string.h>

#include "base/text.h"
#include "lattice/lattice.h"

const shoal_algorithm shoal_algorithm_types[] = {
    {"samarati", "full-domain: a node of least height, by binary search on height",
     shoal_search_samarati},
    {NULL, NULL, NULL},
};

const shoal_entry *shoal_algorithms(void) {
  static const shoal_entry entries[] = {
      {"auto", "", "picks one and says why"},
      {"samarati", "", "full-domain: a node of least height, by binary search on height"},
      {NULL, NULL, NULL},
  };
  return entries;
}

shoal_status shoal_algorithm_bind(const shoal_policy *policy, const shoal_algorithm **algorithm,
                                  const char **reason, shoal_error *error) {
  const char *name = policy->algorithm.text ? policy->algorithm.text : "auto";
  *reason = "the policy names it";
  if (strcmp(name, "auto") == 0) {
    *algorithm = &shoal_algorithm_types[0];
    *reason = "every quasi-identifier has a hierarchy: full-domain generalization, least height";
    return SHOAL_OK;
  }
  const char *names[sizeof shoal_algorithm_types / sizeof *shoal_algorithm_types + 1] = {"auto"};
  for (size_t i = 0; shoal_algorithm_types[i].name; i++) {
    names[i + 1] = shoal_algorithm_types[i].name;
    if (strcmp(names[i + 1], name) != 0) continue;
    *algorithm = &shoal_algorithm_types[i];
    return SHOAL_OK;
  }
  const char *near = shoal_nearest_word(name, names);
  return shoal_policy_fail(policy, policy->algorithm.mark, error,
                           "unknown algorithm '%.60s'%s%s%s; this version has: auto, samarati",
                           name, near ? "; did you mean '" : "", near ? near : "",
                           near ? "'?" : "");
}
