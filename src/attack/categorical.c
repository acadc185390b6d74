/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/categorical: categorical similarity (Khan et al. 2020, Definition 5, Table 3). The values
 * of a class belong to few categories of sensitivity. Definition 5 says a single category, but in
 * the paper the attack succeeds on Table 4a, whose classes have two of four categories, and not on
 * Table 8a with three. It therefore succeeds on a class with fewer than 3 categories by default
 * (docs/reading-the-papers.md R21). The category is learnt for certain if there is only one.
 */
#include <stdlib.h>

#include "attack/tally.h"

static shoal_class_outcome evaluate(const shoal_class_attack *self, shoal_class_tally *tally) {
  shoal_class_outcome outcome = shoal_class_outcome_by_share(self, tally);
  outcome.succeeds = tally->n < self->attacked->bounds.categories;
  return outcome;
}

static shoal_status run_on(const shoal_attack *self, const shoal_attack_case *attacked, size_t s,
                           shoal_attack_findings *findings, shoal_error *error) {
  const shoal_sensitive *sensitive = &attacked->sensitive[s];
  const shoal_categories *categories = &sensitive->attribute->categories;
  if (!categories->file && !categories->n_lists)
    return shoal_attack_skip(findings, self, s, "the policy gives the attribute no 'categories'",
                             error);
  uint32_t *category_of, n_categories;
  SHOAL_TRY(shoal_value_categories(attacked->policy, attacked->table, sensitive, &category_of,
                                   &n_categories, error));
  shoal_class_attack attack = {.attacked = attacked,
                               .sensitive = s,
                               .group_of = category_of,
                               .n_groups = n_categories,
                               .counts = true,
                               .required = (double)attacked->bounds.categories,
                               .evaluate = evaluate};
  shoal_attack_finding *finding;
  shoal_status status = shoal_class_attack_run(&attack, self, findings, &finding, error);
  free(category_of);
  if (status == SHOAL_OK) shoal_attack_doubt_rows(attacked, finding);
  return status;
}

const shoal_attack shoal_attack_categorical = {
    .name = "categorical-similarity",
    .knowledge = "as homogeneity, and the categories of the sensitive values",
    .learns = "the category of the sensitive value",
    .measure = "categories in a class",
    .needs = "'categories' of a sensitive attribute",
    .run_on = run_on,
};
