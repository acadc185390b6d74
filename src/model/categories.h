/* SPDX-License-Identifier: Apache-2.0 */
/* model/categories: sensitive values in categories, D1 the most sensitive. Private to this folder.
 */
#ifndef SHOAL_MODEL_CATEGORIES_H
#define SHOAL_MODEL_CATEGORIES_H

#include "model/types.h"

/* What the models on categories keep. */
typedef struct shoal_category_map {
  uint32_t *category_of; /* by value */
  uint32_t n_categories;
  shoal_spread spread; /* of the categories over the table */
} shoal_category_map;

shoal_status shoal_categories_prepare(shoal_demand *demand, const shoal_model_context *context,
                                      shoal_error *error);
void shoal_categories_release(void *own);

/* What a class has of the categories. */
typedef struct shoal_category_tally {
  uint64_t n_distinct;   /* categories present */
  uint64_t sum_of_ranks; /* over distinct values: 0 for D1, 1 for D2, ... */
  uint64_t least, most;  /* rows of a category that is present */
  bool failed;           /* no memory: nothing is proven */
} shoal_category_tally;

shoal_category_tally shoal_categories_tally(const shoal_category_map *map,
                                            const shoal_value_view *view);

/* `balances` of the balanced forms. */
bool shoal_categories_are_balanced(const shoal_demand *demand, shoal_distinct *groups);

/* The rows of the categories that are present differ by at most one. */
bool shoal_categories_balanced(const shoal_category_tally *tally);

#endif
