/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/entropy: is the entropy of a class at least log l? By logarithms where these leave no
 * doubt, else exactly.
 */
#ifndef SHOAL_VERIFY_ENTROPY_H
#define SHOAL_VERIFY_ENTROPY_H

#include <stddef.h>

#include "verify/exact.h"

typedef enum shoal_verify_verdict {
  SHOAL_VERIFY_HOLDS,
  SHOAL_VERIFY_BREAKS,
  SHOAL_VERIFY_UNDECIDED, /* too large, or no tie and yet too near to one */
  SHOAL_VERIFY_NO_MEMORY
} shoal_verify_verdict;

/* `rows` are the rows of each value, in descending order and above 0; l is at least 1. */
shoal_verify_verdict shoal_verify_entropy(const uint64_t *rows, size_t n_values,
                                          shoal_verify_fraction l);

#endif
