/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/p_plus: p+-sensitive k-anonymity: values of at least p categories in every class (Sun et
 * al., as told in Khan et al. 2020, Definition 8); and the balanced form (own reading): besides,
 * the rows of the categories present differ by at most one. The first is monotone, the second not.
 */
#include <stdio.h>

#include "model/categories.h"

static bool holds(const shoal_demand *demand, const shoal_class_view *view) {
  shoal_category_tally tally = shoal_categories_tally(demand->own, &view->values);
  return !shoal_demand_failed(demand, tally.failed) && tally.n_distinct >= demand->count[0];
}

static bool holds_balanced(const shoal_demand *demand, const shoal_class_view *view) {
  shoal_category_tally tally = shoal_categories_tally(demand->own, &view->values);
  return !shoal_demand_failed(demand, tally.failed) && tally.n_distinct >= demand->count[0] &&
         shoal_categories_balanced(&tally);
}

static double reached(const shoal_demand *demand, const shoal_class_view *view) {
  return (double)shoal_categories_tally(demand->own, &view->values).n_distinct;
}

static uint64_t most_classes(const shoal_demand *demand, const shoal_spread *spread) {
  (void)spread;
  const shoal_category_map *map = demand->own;
  return shoal_spread_max_groups(&map->spread, demand->count[0]);
}

static const shoal_spread *groups(const shoal_demand *demand) {
  return &((const shoal_category_map *)demand->own)->spread;
}

static bool distinct(const shoal_demand *demand, shoal_distinct *out) {
  const shoal_category_map *map = demand->own;
  *out = (shoal_distinct){demand->count[0], map->category_of, map->n_categories};
  return true;
}

static void explain(const shoal_demand *demand, const shoal_spread *spread, const char *attribute,
                    char *out, size_t capacity) {
  (void)spread;
  const shoal_category_map *map = demand->own;
  (void)snprintf(out, capacity,
                 "p is %llu, but the values of '%s' are of only %zu categor%s: lower p, or give "
                 "finer categories",
                 (unsigned long long)demand->count[0], attribute, map->spread.n_distinct,
                 map->spread.n_distinct == 1 ? "y" : "ies");
}

static const shoal_parameter parameters[] = {
    {.name = "p", .kind = SHOAL_PARAMETER_COUNT, .default_key = "p"},
    {.name = NULL},
};

const shoal_model_type shoal_model_p_plus_sensitive = {
    .name = "p-plus-sensitive",
    .parameters_help = "p, attribute; the attribute's categories",
    .summary = "each class has values of at least p categories",
    .parameters = parameters,
    .needs = SHOAL_NEEDS_VALUES,
    .on_attribute = true,
    .is_p = true,
    .monotone = shoal_is_monotone,
    .prepare = shoal_categories_prepare,
    .release = shoal_categories_release,
    .holds = holds,
    .reached = reached,
    .required = shoal_required_count,
    .most_classes = most_classes,
    .groups = groups,
    .distinct = distinct,
    .explain = explain,
};

const shoal_model_type shoal_model_balanced_p_plus = {
    .name = "balanced-p-plus",
    .parameters_help = "p, attribute; the attribute's categories",
    .summary =
        "p-plus-sensitive, and the categories of a class have equally many rows, or one more",
    .parameters = parameters,
    .needs = SHOAL_NEEDS_HISTOGRAM,
    .on_attribute = true,
    .is_p = true,
    .monotone = shoal_is_not_monotone,
    .prepare = shoal_categories_prepare,
    .release = shoal_categories_release,
    .holds = holds_balanced,
    .reached = reached,
    .required = shoal_required_count,
    .most_classes = most_classes,
    .groups = groups,
    .balances = shoal_categories_are_balanced,
    .explain = explain,
};
