/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/p_alpha: (p, alpha)-sensitive k-anonymity: every class has at least p distinct values, and
 * the weights of their categories sum to at least alpha (Sun et al., as cited by Khan et al. 2020,
 * Definition 9; docs/reading-the-papers.md R21). Of m categories, D1 weighs 0, D2 1/(m-1), ..., Dm
 * 1. In the balanced form the categories present also differ by at most one row. Only the first is
 * monotone.
 */
#include "model/value_groups.h"

enum { P, ALPHA };

/* sum of ranks / (m - 1) >= alpha, in integers. */
static bool weighs_enough(const shoal_requirement *requirement, const shoal_value_groups *groups,
                          uint64_t sum_of_ranks) {
  shoal_decimal alpha = requirement->number[ALPHA];
  if (alpha.mantissa <= 0) return true;
  if (groups->n_groups < 2) return false;
  return shoal_compare_products(sum_of_ranks, shoal_power_of_ten(alpha.scale),
                                (shoal_uint128)alpha.mantissa, groups->n_groups - 1) >= 0;
}

static bool satisfies(const shoal_requirement *requirement, const shoal_class_view *view,
                      const shoal_group_tally *tally) {
  return !shoal_requirement_failed(requirement, tally->failed) &&
         view->n_distinct >= requirement->count[P] &&
         weighs_enough(requirement, requirement->own, tally->sum_of_ranks);
}

static bool holds(const shoal_requirement *requirement, const shoal_class_view *view) {
  shoal_group_tally tally = shoal_value_groups_tally(requirement->own, &view->values);
  return satisfies(requirement, view, &tally);
}

static bool holds_balanced(const shoal_requirement *requirement, const shoal_class_view *view) {
  shoal_group_tally tally = shoal_value_groups_tally(requirement->own, &view->values);
  return satisfies(requirement, view, &tally) && shoal_group_tally_is_balanced(&tally);
}

/* The weight. Whether p is reached, p-sensitive reports. */
static double reached(const shoal_requirement *requirement, const shoal_class_view *view) {
  const shoal_value_groups *groups = requirement->own;
  if (groups->n_groups < 2) return 0;
  shoal_group_tally tally = shoal_value_groups_tally(groups, &view->values);
  return (double)tally.sum_of_ranks / (groups->n_groups - 1);
}

static double required(const shoal_requirement *requirement) {
  return shoal_decimal_double(requirement->number[ALPHA]);
}

static const shoal_parameter parameters[] = {
    {.name = "p", .kind = SHOAL_PARAMETER_COUNT, .default_key = "p"},
    {.name = "alpha", .kind = SHOAL_PARAMETER_NUMBER, .min = "0"},
    {.name = NULL},
};

const shoal_model_type shoal_model_p_alpha_sensitive = {
    .name = "p-alpha-sensitive",
    .parameters_help = "p, alpha, attribute; the attribute's categories",
    .summary = "each class has at least p distinct values, whose categories weigh at least alpha",
    .parameters = parameters,
    .needs = SHOAL_NEEDS_VALUES,
    .on_attribute = true,
    .is_p = true,
    .monotone = shoal_is_monotone,
    .prepare = shoal_categories_prepare,
    .release = shoal_value_groups_release,
    .holds = holds,
    .reached = reached,
    .required = required,
    .min_distinct = shoal_min_distinct_count,
};

const shoal_model_type shoal_model_balanced_p_alpha = {
    .name = "balanced-p-alpha",
    .parameters_help = "p, alpha, attribute; the attribute's categories",
    .summary =
        "p-alpha-sensitive, and the categories of a class have equally many rows, or one more",
    .parameters = parameters,
    .needs = SHOAL_NEEDS_HISTOGRAM,
    .on_attribute = true,
    .is_p = true,
    .monotone = shoal_is_not_monotone,
    .prepare = shoal_categories_prepare,
    .release = shoal_value_groups_release,
    .holds = holds_balanced,
    .reached = reached,
    .deficit = shoal_balanced_deficit,
    .required = required,
    .min_distinct = shoal_min_distinct_count,
    .balances = shoal_value_groups_distinct,
};
