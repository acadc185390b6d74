/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/p_plus: p+-sensitive k-anonymity: every class has values of at least p categories (Sun et
 * al., as cited by Khan et al. 2020, Definition 8). In the balanced form (our reading) the
 * categories present also differ by at most one row. Only the first is monotone.
 */
#include "model/value_groups.h"

static bool holds_balanced(const shoal_requirement *requirement, const shoal_class_view *view) {
  shoal_group_tally tally = shoal_value_groups_tally(requirement->own, &view->values);
  return !shoal_requirement_failed(requirement, tally.failed) &&
         tally.n_distinct >= requirement->count[0] && shoal_group_tally_is_balanced(&tally);
}

const shoal_model_type shoal_model_p_plus_sensitive = {
    .name = "p-plus-sensitive",
    .parameters_help = "p, attribute; the attribute's categories",
    .summary = "each class has values of at least p categories",
    .parameters = shoal_parameter_p,
    .needs = SHOAL_NEEDS_VALUES,
    .on_attribute = true,
    .is_p = true,
    .monotone = shoal_is_monotone,
    .prepare = shoal_categories_prepare,
    .release = shoal_value_groups_release,
    .holds = shoal_value_groups_hold,
    .reached = shoal_value_groups_reached,
    .required = shoal_required_count,
    .min_distinct = shoal_min_distinct_count,
    .groups = shoal_value_groups_frequencies,
    .group_noun = "category",
    .group_nouns = "categories",
    .distinct = shoal_value_groups_distinct,
};

const shoal_model_type shoal_model_balanced_p_plus = {
    .name = "balanced-p-plus",
    .parameters_help = "p, attribute; the attribute's categories",
    .summary =
        "p-plus-sensitive, and the categories of a class have equally many rows, or one more",
    .parameters = shoal_parameter_p,
    .needs = SHOAL_NEEDS_HISTOGRAM,
    .on_attribute = true,
    .is_p = true,
    .monotone = shoal_is_not_monotone,
    .prepare = shoal_categories_prepare,
    .release = shoal_value_groups_release,
    .holds = holds_balanced,
    .reached = shoal_value_groups_reached,
    .deficit = shoal_balanced_deficit,
    .required = shoal_required_count,
    .min_distinct = shoal_min_distinct_count,
    .groups = shoal_value_groups_frequencies,
    .group_noun = "category",
    .group_nouns = "categories",
    .balances = shoal_value_groups_distinct,
};
