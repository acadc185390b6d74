/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/models: the verifier's own reading of each model's definition, on nothing but counted
 * rows: how many stand in each class, and how many of them carry each sensitive value.
 */
#ifndef SHOAL_VERIFY_MODELS_H
#define SHOAL_VERIFY_MODELS_H

#include "verify/verify.h"

/* How often a sensitive value stands in a class; values are numbered within their attribute. */
typedef struct shoal_verify_count {
  uint64_t n_rows;
  uint32_t value;
} shoal_verify_count;

/*
 * One sensitive attribute: class c has the counts starts[c] .. starts[c + 1] - 1, one for each
 * value with a row. Missing values have none: their rows are what the class has beyond these.
 */
typedef struct shoal_verify_attribute {
  const char *name;
  size_t *starts; /* n_classes + 1 */
  shoal_verify_count *counts;
} shoal_verify_attribute;

/* All that the models are proven on. */
typedef struct shoal_verify_tally {
  uint64_t n_rows;
  size_t n_classes;
  uint64_t *class_rows;               /* of each class, at least 1 */
  shoal_verify_attribute *attributes; /* in the order of the claim's sensitive attributes */
  size_t n_attributes;
} shoal_verify_tally;

/* SHOAL_OK: every model of the claim holds. Else SHOAL_FAILED, with the first that does not. */
shoal_status shoal_verify_models(const shoal_verify_claim *claim, const shoal_verify_tally *tally,
                                 shoal_error *error) SHOAL_MUST_CHECK;

#endif
