/* SPDX-License-Identifier: Apache-2.0 */
/* model/types: the models there are, each in the file of its name; what they share. Private. */
#ifndef SHOAL_MODEL_TYPES_H
#define SHOAL_MODEL_TYPES_H

#include "model/exact.h"
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

bool shoal_is_monotone(const shoal_demand *demand);
bool shoal_is_not_monotone(const shoal_demand *demand);

/* The demand's first parameter as what is required: a count, or a number. */
double shoal_required_count(const shoal_demand *demand);
double shoal_required_number(const shoal_demand *demand);

/* Models whose first parameter is a p of distinct values: their bound, and why it is 0. */
uint64_t shoal_most_distinct(const shoal_demand *demand, const shoal_spread *spread);
void shoal_explain_distinct(const shoal_demand *demand, const shoal_spread *spread,
                            const char *attribute, char *out, size_t capacity);

/* Rows of the values of a class that are not missing, most frequent first. */
typedef struct shoal_frequencies {
  uint64_t few[64];
  uint64_t *rows;
  size_t n;
  uint64_t sum;
  bool failed; /* no memory: nothing is proven */
} shoal_frequencies;

void shoal_frequencies_init(shoal_frequencies *frequencies, const shoal_value_view *view);
void shoal_frequencies_reset(shoal_frequencies *frequencies);

void shoal_sort_descending(uint64_t *items, size_t n);

/* Rows of the class whose value is not missing. */
uint64_t shoal_view_valued(const shoal_value_view *view);

/* Fails at the demand's place of the policy: the attribute lacks what the model needs. */
shoal_status shoal_lacks(const shoal_demand *demand, const shoal_model_context *context,
                         const char *what, shoal_error *error);

#endif
