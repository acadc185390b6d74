/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/k_anonymity: every combination of quasi-identifier values has at least k rows (Samarati
 * 2001, Definition 2.2), or k people where people have several rows. Monotone: classes only grow
 * going up the lattice (Theorem 5.2).
 */
#include "model/types.h"

static bool holds(const shoal_requirement *requirement, const shoal_class_view *view) {
  return view->n_rows >= requirement->count[0] &&
         (!requirement->counts_people || view->n_people >= requirement->count[0]);
}

static double reached(const shoal_requirement *requirement, const shoal_class_view *view) {
  return (double)(requirement->counts_people ? view->n_people : view->n_rows);
}

static const shoal_parameter parameters[] = {
    {.name = "k", .kind = SHOAL_PARAMETER_COUNT, .default_key = "k"},
    {.name = NULL},
};

const shoal_model_type shoal_model_k_anonymity = {
    .name = "k-anonymity",
    .parameters_help = "k",
    .summary = "each class has at least k rows, or people where an attribute has role person",
    .parameters = parameters,
    .needs = SHOAL_NEEDS_SIZE,
    .is_size = true,
    .monotone = shoal_is_monotone,
    .holds = holds,
    .reached = reached,
    .required = shoal_required_count,
};
