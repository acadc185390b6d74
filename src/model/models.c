/* SPDX-License-Identifier: Apache-2.0 */
/* model/models: the table of privacy models. */
#include <pthread.h>

#include "model/types.h"

const shoal_model_type *const shoal_model_types[] = {
    &shoal_model_k_anonymity,
    &shoal_model_p_sensitive,
    &shoal_model_extended_p_sensitive,
    &shoal_model_p_plus_sensitive,
    &shoal_model_p_alpha_sensitive,
    &shoal_model_balanced_p_plus,
    &shoal_model_balanced_p_alpha,
    &shoal_model_theta_sensitive,
    &shoal_model_l_diversity,
    &shoal_model_t_closeness,
    &shoal_model_alpha_k,
    &shoal_model_personalized,
    NULL,
};

static shoal_entry entries[sizeof shoal_model_types / sizeof *shoal_model_types];

static void fill_entries(void) {
  for (size_t i = 0; shoal_model_types[i]; i++)
    entries[i] = (shoal_entry){shoal_model_types[i]->name, shoal_model_types[i]->parameters_help,
                               shoal_model_types[i]->summary};
}

const shoal_entry *shoal_models(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, fill_entries);
  return entries;
}
