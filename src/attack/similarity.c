/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/similarity: the values of a class differ, but all are below one protected node of the
 * attribute's tree, for example kinds of cancer (Campan & Truta 2006, sections 2 and 3). Each value
 * counts as its strong ancestor.
 */
#include <stdlib.h>

#include "attack/tally.h"

static shoal_status run_on(const shoal_attack *self, const shoal_attack_case *attacked, size_t s,
                           shoal_attack_findings *findings, shoal_error *error) {
  const shoal_sensitive *sensitive = &attacked->sensitive[s];
  if (!sensitive->hierarchy || !sensitive->attribute->n_protect)
    return shoal_attack_skip(findings, self, s,
                             "the policy gives the attribute no hierarchy with 'protect'", error);
  uint32_t *group_of, n_groups;
  SHOAL_TRY(shoal_strong_ancestors(attacked->policy, sensitive, &group_of, &n_groups, error));
  shoal_class_attack attack = {.attacked = attacked,
                               .sensitive = s,
                               .group_of = group_of,
                               .n_groups = n_groups,
                               .counts = true,
                               .required = 2};
  shoal_attack_finding *finding;
  shoal_status status = shoal_class_attack_run(&attack, self, findings, &finding, error);
  free(group_of);
  if (status == SHOAL_OK) shoal_attack_doubt_rows(attacked, finding);
  return status;
}

const shoal_attack shoal_attack_similarity = {
    .name = "similarity",
    .knowledge = "as homogeneity, and the tree of the sensitive values",
    .learns = "the protected node that the sensitive value is under",
    .measure = "protected subtrees in a class",
    .needs = "'hierarchy' and 'protect' of a sensitive attribute",
    .run_on = run_on,
};
