/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/minimality: whoever knows that a release is generalized no more than needed learns from
 * each step that one less would not have done (Wong, Fu, Wang & Pei 2007). With the people's
 * quasi-identifiers in hand, class sizes one step lower can be counted; where they are enough, it
 * was the sensitive values that were not, and so these become known. It is a risk of how the
 * release was chosen: told, not simulated.
 */
#include "attack/attack.h"

const char *shoal_minimality_risk(const shoal_attack_case *attacked) {
  if (attacked->minimality == SHOAL_MINIMAL_YES) return "yes";
  if (attacked->minimality == SHOAL_MINIMAL_NO) return "no";
  return attacked->policy->slack ? "answered" : "unknown";
}

/* Only a demand on sensitive values can give them away. */
static bool asks_of_values(const shoal_demands *demands) {
  for (size_t i = 0; i < demands->n_items; i++)
    if (demands->items[i].sensitive != SHOAL_NO_ATTRIBUTE) return true;
  return false;
}

static shoal_status run(const shoal_attack *self, const shoal_attack_case *attacked,
                        shoal_attack_findings *findings, shoal_error *error) {
  shoal_attack_finding *finding = shoal_attack_findings_add(findings, self, SHOAL_NO_ATTRIBUTE);
  if (!finding) return shoal_fail_memory(error);
  finding->n_tried = attacked->frequency->n_records;
  finding->risk = shoal_minimality_risk(attacked);
  finding->note = "a minimal release tells that one step less would break the policy; where class "
                  "sizes do not explain it, sensitive values do. 'method: {slack: 1}' in the "
                  "policy takes a node above a minimal one";
  if (!asks_of_values(attacked->demands)) {
    finding->risk = "no";
    finding->note = "the policy asks nothing of sensitive values: how far the release is "
                    "generalized says nothing of them";
  }
  return SHOAL_OK;
}

const shoal_attack shoal_attack_minimality = {
    .name = "minimality",
    .knowledge = "the policy, that the release is generalized no more than needed, and everyone's "
                 "quasi-identifiers",
    .learns = "the sensitive value",
    .run = run,
};
