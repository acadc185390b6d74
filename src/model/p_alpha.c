/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/p_alpha: (p, alpha)-sensitive k-anonymity: at least p distinct values in every class, and
 * the weights of these values' categories add up to at least alpha (Sun et al., as told in Khan et
 * al. 2020, Definition 9; docs/reading-the-papers.md R21). Of m categories, D1 weighs 0, D2
 * 1/(m-1), .., Dm 1. The balanced form asks besides that the rows of the categories present differ
 * by at most one. The first is monotone, the second not.
 */
#include "model/categories.h"

enum { P, ALPHA };

/* sum of ranks / (m - 1) >= alpha, on integers. */
static bool weighs_enough(const shoal_demand *demand, const shoal_category_map *map,
                          uint64_t sum_of_ranks) {
  shoal_decimal alpha = demand->number[ALPHA];
  if (alpha.mantissa <= 0) return true;
  if (map->n_categories < 2) return false;
  return shoal_compare_products(sum_of_ranks, shoal_power_of_ten(alpha.scale),
                                (shoal_uint128)alpha.mantissa, map->n_categories - 1) >= 0;
}

static bool enough(const shoal_demand *demand, const shoal_class_view *view,
                   const shoal_category_tally *tally) {
  return !shoal_demand_failed(demand, tally->failed) && view->n_distinct >= demand->count[P] &&
         weighs_enough(demand, demand->own, tally->sum_of_ranks);
}

static bool holds(const shoal_demand *demand, const shoal_class_view *view) {
  shoal_category_tally tally = shoal_categories_tally(demand->own, &view->values);
  return enough(demand, view, &tally);
}

static bool holds_balanced(const shoal_demand *demand, const shoal_class_view *view) {
  shoal_category_tally tally = shoal_categories_tally(demand->own, &view->values);
  return enough(demand, view, &tally) && shoal_categories_balanced(&tally);
}

/* The weight: p is told by p-sensitive where it is asked for by itself. */
static double reached(const shoal_demand *demand, const shoal_class_view *view) {
  const shoal_category_map *map = demand->own;
  if (map->n_categories < 2) return 0;
  shoal_category_tally tally = shoal_categories_tally(map, &view->values);
  return (double)tally.sum_of_ranks / (map->n_categories - 1);
}

static double required(const shoal_demand *demand) {
  return shoal_decimal_double(demand->number[ALPHA]);
}

static const shoal_parameter parameters[] = {
    {.name = "p", .kind = SHOAL_PARAMETER_COUNT, .default_key = "p"},
    {.name = "alpha", .kind = SHOAL_PARAMETER_NUMBER, .least = "0"},
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
    .release = shoal_categories_release,
    .holds = holds,
    .reached = reached,
    .required = required,
    .most_classes = shoal_most_distinct,
    .explain = shoal_explain_distinct,
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
    .release = shoal_categories_release,
    .holds = holds_balanced,
    .reached = reached,
    .required = required,
    .most_classes = shoal_most_distinct,
    .balances = shoal_categories_are_balanced,
    .explain = shoal_explain_distinct,
};
