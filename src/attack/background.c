/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/background: the attacker also knows up to m values that the person does not have, and
 * rules out the m most frequent ones that are not the person's own (Machanavajjhala et al. 2006;
 * the knowledge of Martin et al. 2007, one negated atom per value). The attack succeeds on a class
 * with d distinct values if m >= d - 1. It counts against the release while the policy's p requires
 * more: m <= p - 2.
 */
#include "attack/tally.h"

/*
 * The probability of guessing a row of value v is n_v / (rows that remain). With values in
 * descending order of rows, the m ruled out are the first m, or, if v is among the first m + 1,
 * these without v.
 */
static shoal_class_outcome evaluate(const shoal_class_attack *self, shoal_class_tally *tally) {
  uint32_t m = *(const uint32_t *)self->own;
  shoal_class_tally_sort(tally);
  uint64_t first_m = 0, first_more = 0;
  for (size_t i = 0; i < tally->n && i <= m; i++) {
    if (i < m) first_m += tally->rows[i];
    first_more += tally->rows[i];
  }
  shoal_class_outcome outcome = {.succeeds = tally->n <= (size_t)m + 1,
                                 .reached = tally->n > m ? (double)(tally->n - m) : 1};
  if (outcome.succeeds) outcome.certain = tally->sum;
  for (size_t i = 0; i < tally->n; i++) {
    uint64_t rows = tally->rows[i];
    uint64_t left = i <= m ? tally->sum - first_more + rows : tally->sum - first_m;
    if (shoal_attack_above(self->bound, rows, left)) outcome.guessed += rows;
    double probability = (double)rows / (double)left;
    if (probability > outcome.probability) outcome.probability = probability;
  }
  return outcome;
}

static shoal_status run_with(const shoal_attack *self, const shoal_attack_case *attacked, size_t s,
                             uint32_t m, shoal_attack_findings *findings, shoal_error *error) {
  shoal_class_attack attack = {.attacked = attacked,
                               .sensitive = s,
                               .own = &m,
                               .counts = (uint64_t)m + 2 <= shoal_attack_promised_p(attacked, s),
                               .required = 2,
                               .evaluate = evaluate};
  shoal_attack_finding *finding;
  SHOAL_TRY(shoal_class_attack_run(&attack, self, findings, &finding, error));
  finding->ruled_out = m;
  return SHOAL_OK;
}

static shoal_status run(const shoal_attack *self, const shoal_attack_case *attacked,
                        shoal_attack_findings *findings, shoal_error *error) {
  for (size_t s = 0; s < attacked->n_sensitive; s++)
    for (uint32_t m = 1; m <= attacked->bounds.rule_out; m++)
      SHOAL_TRY(run_with(self, attacked, s, m, findings, error));
  return SHOAL_OK;
}

const shoal_attack shoal_attack_background = {
    .name = "background-knowledge",
    .knowledge = "as homogeneity, and some values that the person does not have",
    .learns = "the sensitive value",
    .measure = "values of a class that are left",
    .run = run,
};
