/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/homogeneity: all rows of a class have one sensitive value, so that it is learnt although
 * nobody is re-identified (Truta & Vinay 2006, section 2, Tables 1 and 2; Machanavajjhala et al.
 * 2006). The guess: the most frequent value of the class.
 */
#include "attack/tally.h"

static shoal_class_fall look(const shoal_class_attack *self, shoal_class_tally *tally, uint32_t c) {
  (void)c;
  return shoal_class_fall_by_share(self, tally);
}

static shoal_status run(const shoal_attack *self, const shoal_attack_case *attacked,
                        shoal_attack_findings *findings, shoal_error *error) {
  for (size_t s = 0; s < attacked->n_sensitive; s++) {
    bool asked;
    shoal_class_attack attack = {.attacked = attacked,
                                 .sensitive = s,
                                 .bound = shoal_attack_bound(attacked, s, &asked),
                                 .n_groups = attacked->sensitive[s].column->n_values,
                                 .look = look};
    shoal_attack_finding *finding = shoal_attack_findings_add(findings, self, s);
    if (!finding) return shoal_fail_memory(error);
    finding->counts = true;
    finding->required = 2;
    SHOAL_TRY(shoal_class_attack_run(&attack, finding, error));
    finding->succeeds = finding->succeeds || (asked && finding->guessed);
  }
  return SHOAL_OK;
}

const shoal_attack shoal_attack_homogeneity = {
    .name = "homogeneity",
    .knowledge = "a person is in the release, and the person's quasi-identifiers",
    .learns = "the sensitive value",
    .measure = "distinct values in a class",
    .run = run,
};
