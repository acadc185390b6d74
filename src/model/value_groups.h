/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/value_groups: sensitive values in groups, and what the models on them share. Groups are
 * categories, D1 the most sensitive (p_plus.c, p_alpha.c), or strong ancestors (extended_p.c).
 * Private to this directory.
 */
#pragma once

#include "model/types.h"

/* requirement->own of these models. */
typedef struct shoal_value_groups {
  uint32_t *group_of; /* by value; categories: UINT32_MAX for missing values */
  uint32_t n_groups;
  shoal_value_frequencies frequencies; /* of the groups in the table */
} shoal_value_groups;

/* `prepare` of the models on categories. */
shoal_status shoal_categories_prepare(shoal_requirement *requirement,
                                      const shoal_model_context *context, shoal_error *error);

/* `release`, `groups` and `distinct` of the models that count groups. */
void shoal_value_groups_release(void *own);
const shoal_value_frequencies *shoal_value_groups_frequencies(const shoal_requirement *requirement);
bool shoal_value_groups_distinct(const shoal_requirement *requirement, shoal_distinct *out);

/* `holds` and `reached` of the models that ask for count[0] distinct groups. */
bool shoal_value_groups_hold(const shoal_requirement *requirement, const shoal_class_view *view);
double shoal_value_groups_reached(const shoal_requirement *requirement,
                                  const shoal_class_view *view);

/* Rows of the groups in a class. */
typedef struct shoal_group_tally {
  uint64_t n_distinct;         /* groups present */
  uint64_t sum_of_ranks;       /* over distinct values: 0 for D1, 1 for D2, ... */
  uint64_t min_rows, max_rows; /* of a group that is present */
  bool failed;                 /* no memory: the class counts as violating */
} shoal_group_tally;

shoal_group_tally shoal_value_groups_tally(const shoal_value_groups *groups,
                                           const shoal_value_view *view);

/* `deficit` of the balanced models: the rows to add or remove until the groups differ by at most
 * one row, and what `reached` lacks. */
double shoal_balanced_deficit(const shoal_requirement *requirement, const shoal_class_view *view);

/* Do the groups that are present differ by at most one row? */
bool shoal_group_tally_is_balanced(const shoal_group_tally *tally);
