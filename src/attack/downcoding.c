/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/downcoding: an attacker who knows how the data is distributed can partly undo a minimal
 * hierarchical generalization: of all tables that the release can come from, few have it as a
 * minimal one (Cohen 2022, "Attacks on deidentification's defenses", section 4). The risk comes
 * from how the release was chosen. It is reported, not simulated.
 */
#include "attack/attack.h"

static shoal_status run(const shoal_attack *self, const shoal_attack_case *attacked,
                        shoal_attack_findings *findings, shoal_error *error) {
  shoal_attack_finding *finding = shoal_attack_findings_add(findings, self, SHOAL_NO_ATTRIBUTE);
  if (!finding) return shoal_fail_memory(error);
  finding->n_tried = attacked->frequency->n_records;
  finding->risk = shoal_minimality_risk(attacked);
  finding->note = "labels that are as fine as the policy allows can partly be undone. 'method: "
                  "{slack: 1}' takes a node above a minimal one; in local recoding ask for a "
                  "larger k";
  return SHOAL_OK;
}

const shoal_attack shoal_attack_downcoding = {
    .name = "downcoding",
    .knowledge = "that the release is generalized no more than needed, and how the data is "
                 "distributed",
    .learns = "finer quasi-identifiers than were released",
    .run = run,
};
