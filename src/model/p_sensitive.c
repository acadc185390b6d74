/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/p_sensitive: every class has at least p distinct values of the sensitive attribute (Truta
 * & Vinay 2006, Definition 2). A missing value adds none. Monotone: a class that contains a class
 * with p distinct values has p itself (docs/reading-the-papers.md R1).
 */
#include "model/types.h"

static bool holds(const shoal_requirement *requirement, const shoal_class_view *view) {
  return view->n_distinct >= requirement->count[0];
}

static double reached(const shoal_requirement *requirement, const shoal_class_view *view) {
  (void)requirement;
  return view->n_distinct;
}

static bool distinct(const shoal_requirement *requirement, shoal_distinct *out) {
  *out = (shoal_distinct){.min = requirement->count[0]};
  return true;
}

const shoal_model_type shoal_model_p_sensitive = {
    .name = "p-sensitive",
    .parameters_help = "p, attribute",
    .summary = "each class has at least p distinct values of a sensitive attribute",
    .parameters = shoal_parameter_p,
    .needs = SHOAL_NEEDS_VALUES,
    .on_attribute = true,
    .is_p = true,
    .monotone = shoal_is_monotone,
    .holds = holds,
    .reached = reached,
    .required = shoal_required_count,
    .min_distinct = shoal_min_distinct_count,
    .distinct = distinct,
};
