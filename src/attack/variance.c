/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/variance: the sensitive variance attack (Khan et al. 2020, Definition 6, Table 5). Values
 * repeat in a class, so its variance, with weight 1 for the most frequent value, 2 for the next and
 * so on, is below theta = mu x (k^2 - 1) / 12 (docs/reading-the-papers.md R17, R21). mu is the
 * option's, the policy's, or 0.6, the paper's choice for k = 4.
 */
#include "attack/tally.h"
#include "model/theta.h"

typedef struct threshold {
  shoal_decimal mu;
  uint64_t k;
} threshold;

static shoal_class_outcome evaluate(const shoal_class_attack *self, shoal_class_tally *tally) {
  const threshold *theta = self->own;
  shoal_class_outcome outcome = shoal_class_outcome_by_share(self, tally);
  shoal_class_tally_sort(tally);
  shoal_wide_variance variance = shoal_wide_variance_of(tally->rows, tally->n);
  outcome.succeeds = !shoal_wide_variance_reaches(variance, theta->mu, theta->k);
  outcome.reached = shoal_wide_variance_double(variance);
  return outcome;
}

/* The policy's theta for the attribute, if it has one. */
static bool find_theta(const shoal_attack_case *attacked, size_t s, threshold *theta) {
  *theta = (threshold){attacked->bounds.mu, attacked->requirements->k};
  if (attacked->bounds.mu_given) return true;
  for (size_t i = 0; i < attacked->requirements->n_items; i++) {
    const shoal_requirement *requirement = &attacked->requirements->items[i];
    if (requirement->sensitive != s || !shoal_requirement_is_theta(requirement) ||
        !shoal_requirement_is_whole(requirement))
      continue;
    *theta = (threshold){requirement->number[0], requirement->k};
    return true;
  }
  return false;
}

static shoal_status run(const shoal_attack *self, const shoal_attack_case *attacked,
                        shoal_attack_findings *findings, shoal_error *error) {
  for (size_t s = 0; s < attacked->n_sensitive; s++) {
    threshold theta;
    shoal_class_attack attack = {.attacked = attacked, .sensitive = s, .evaluate = evaluate};
    attack.counts = find_theta(attacked, s, &theta);
    attack.own = &theta;
    attack.required = shoal_decimal_double(theta.mu) * ((double)theta.k * (double)theta.k - 1) / 12;
    shoal_attack_finding *finding;
    SHOAL_TRY(shoal_class_attack_run(&attack, self, findings, &finding, error));
  }
  return SHOAL_OK;
}

const shoal_attack shoal_attack_variance = {
    .name = "sensitive-variance",
    .knowledge = "as homogeneity, and which sensitive values repeat",
    .learns = "the sensitive value",
    .measure = "variance of a class",
    .run = run,
};
