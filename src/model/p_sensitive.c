/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/p_sensitive: every class has at least p distinct values of the sensitive attribute (Truta
 * & Vinay 2006, Definition 2). A missing value adds none. Monotone: a class that contains a class
 * with p distinct values has p itself (docs/reading-the-papers.md R1).
 */
#include <stdio.h>

#include "model/types.h"

static bool holds(const shoal_demand *demand, const shoal_class_view *view) {
  return view->n_distinct >= demand->count[0];
}

static double reached(const shoal_demand *demand, const shoal_class_view *view) {
  (void)demand;
  return view->n_distinct;
}

static uint64_t most_classes(const shoal_demand *demand, const shoal_spread *spread) {
  return shoal_spread_max_groups(spread, demand->count[0]);
}

/* Condition 1: p is at most the number of distinct values in the table. */
static void explain(const shoal_demand *demand, const shoal_spread *spread, const char *attribute,
                    char *out, size_t capacity) {
  if (spread->n_distinct == 0) {
    (void)snprintf(out, capacity, "every value of '%s' is missing: there is nothing to vary",
                   attribute);
    return;
  }
  (void)snprintf(out, capacity,
                 "p is %llu, but '%s' has only %zu distinct value%s in the whole table (first "
                 "necessary condition): lower p to %zu or less",
                 (unsigned long long)demand->count[0], attribute, spread->n_distinct,
                 spread->n_distinct == 1 ? "" : "s", spread->n_distinct);
}

static const shoal_parameter parameters[] = {
    {.name = "p", .kind = SHOAL_PARAMETER_COUNT, .default_key = "p"},
    {.name = NULL},
};

const shoal_model_type shoal_model_p_sensitive = {
    .name = "p-sensitive",
    .parameters_help = "p, attribute",
    .summary = "each class has at least p distinct values of a sensitive attribute",
    .parameters = parameters,
    .needs = SHOAL_NEEDS_VALUES,
    .on_attribute = true,
    .is_p = true,
    .monotone = shoal_is_monotone,
    .holds = holds,
    .reached = reached,
    .required = shoal_required_count,
    .most_classes = most_classes,
    .explain = explain,
};
