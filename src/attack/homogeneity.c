/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/homogeneity: all rows of a class have one sensitive value, which is learnt without
 * re-identifying anybody (Truta & Vinay 2006, section 2, Tables 1 and 2; Machanavajjhala et al.
 * 2006). The guess is the most frequent value of the class. A row that is alone in its class
 * identifies a person even without a sensitive value; this counts if the policy requires k > 1.
 */
#include "attack/tally.h"

/* Without a sensitive attribute, rows that are alone in their class can still be found. */
static shoal_status find_alone(const shoal_attack *self, const shoal_attack_case *attacked,
                               shoal_attack_findings *findings, shoal_error *error) {
  shoal_attack_finding *finding = shoal_attack_findings_add(findings, self, SHOAL_NO_ATTRIBUTE);
  if (!finding) return shoal_fail_memory(error);
  finding->counts = true;
  finding->n_tried = attacked->frequency->n_records;
  finding->reidentified = shoal_rows_alone(&attacked->frequency->base);
  finding->succeeds = finding->reidentified && attacked->requirements->k > 1;
  finding->note = "the policy names no sensitive attribute: the attack lists rows that are alone "
                  "in their class";
  shoal_attack_doubt_rows(attacked, finding);
  return SHOAL_OK;
}

static shoal_status run(const shoal_attack *self, const shoal_attack_case *attacked,
                        shoal_attack_findings *findings, shoal_error *error) {
  for (size_t s = 0; s < attacked->n_sensitive; s++) {
    shoal_class_attack attack = {
        .attacked = attacked, .sensitive = s, .counts = true, .required = 2};
    shoal_attack_finding *finding;
    SHOAL_TRY(shoal_class_attack_run(&attack, self, findings, &finding, error));
    bool found = finding->reidentified && attacked->requirements->k > 1;
    finding->succeeds = finding->succeeds || found || (attack.is_bound_given && finding->guessed);
    shoal_attack_doubt_rows(attacked, finding);
  }
  return attacked->n_sensitive ? SHOAL_OK : find_alone(self, attacked, findings, error);
}

const shoal_attack shoal_attack_homogeneity = {
    .name = "homogeneity",
    .knowledge = "a person is in the release, and the person's quasi-identifiers",
    .learns = "the sensitive value",
    .measure = "distinct values in a class",
    .run = run,
};
