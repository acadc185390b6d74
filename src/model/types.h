/* SPDX-License-Identifier: Apache-2.0 */
/* model/types: the models, each in the file of its name, and what they share. Private. */
#pragma once

#include "base/wide.h"
#include "model/model.h"

extern const shoal_model_type shoal_model_k_anonymity;
extern const shoal_model_type shoal_model_p_sensitive;
extern const shoal_model_type shoal_model_extended_p_sensitive;
extern const shoal_model_type shoal_model_p_plus_sensitive;
extern const shoal_model_type shoal_model_p_alpha_sensitive;
extern const shoal_model_type shoal_model_balanced_p_plus;
extern const shoal_model_type shoal_model_balanced_p_alpha;
extern const shoal_model_type shoal_model_theta_sensitive;
extern const shoal_model_type shoal_model_l_diversity;
extern const shoal_model_type shoal_model_t_closeness;
extern const shoal_model_type shoal_model_alpha_k;
extern const shoal_model_type shoal_model_personalized;
/* Asked for by privacy.households, not by name. */
extern const shoal_model_type shoal_model_households;

/*
 * Binds `over` and `known`: makes the requirements' sets and what each item covers. requests[i]:
 * the request of item i, NULL if it is about all quasi-identifiers.
 */
shoal_status shoal_requirements_bind_sets(const shoal_policy *policy, const shoal_tracked *tracked,
                                          const shoal_model_request *const *requests,
                                          shoal_requirements *requirements,
                                          shoal_error *error) SHOAL_MUST_CHECK;

bool shoal_is_monotone(const shoal_requirement *requirement);
bool shoal_is_not_monotone(const shoal_requirement *requirement);

/* The one parameter p; ended by an entry without a name. */
extern const shoal_parameter shoal_parameter_p[];

/* Every requirement, whatever sets it covers. */
#define SHOAL_EVERY_SET SIZE_MAX

/* `required` of models whose first parameter it is: a count, or a number. */
double shoal_required_count(const shoal_requirement *requirement);
double shoal_required_number(const shoal_requirement *requirement);

/* `min_distinct` of models whose first parameter it is. */
uint64_t shoal_min_distinct_count(const shoal_requirement *requirement);

/* Rows of each value of a class, most frequent first; missing values are left out. */
typedef struct shoal_frequencies {
  uint64_t few[64];
  uint64_t *rows;
  size_t n;
  uint64_t sum;
  bool failed; /* no memory: the class counts as violating */
} shoal_frequencies;

void shoal_frequencies_init(shoal_frequencies *frequencies, const shoal_value_view *view);
void shoal_frequencies_reset(shoal_frequencies *frequencies);

/* Rows of a class whose value is not missing. */
uint64_t shoal_view_valued(const shoal_value_view *view);

/* Rounds that `max_part` refines a bound by. Each costs a pass over the values of the class. */
enum { SHOAL_PART_ROUNDS = 32 };

/* An upper bound of rows as an integer: never below the exact one, whatever rounding did. */
static inline uint64_t shoal_rounded_down(double bound) {
  return (uint64_t)(bound * (1 + 1e-12) + 1e-6);
}

/* SHOAL_BAD_INPUT at the policy's line: the attribute lacks what the model needs. */
shoal_status shoal_lacks(const shoal_requirement *requirement, const shoal_model_context *context,
                         const char *what, shoal_error *error);
