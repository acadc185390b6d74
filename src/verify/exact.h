/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/exact: exact comparisons. Each condition of a model compares two products of counts, in
 * whole numbers of 128 bits, times a number of the policy. If a product of counts overflows, which
 * takes more rows than a file can have, the model is not proven. Entropy, which is not rational, is
 * compared with logarithms and, near equality, by factors.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 shoal_verify_wide;
__extension__ typedef __int128 shoal_verify_signed;

/* A decimal number: 0.2 is 2/10. The denominator is a power of ten. */
typedef struct shoal_verify_fraction {
  uint64_t numerator;
  uint64_t denominator;
} shoal_verify_fraction;

/* *product *= factor; false: overflow. */
static inline bool shoal_verify_times(shoal_verify_wide *product, shoal_verify_wide factor) {
  return !__builtin_mul_overflow(*product, factor, product);
}

/* A product of 128 and 64 bits: its upper 128 bits, and its lower 64. */
typedef struct shoal_verify_product {
  shoal_verify_wide upper;
  uint64_t lower;
} shoal_verify_product;

static inline shoal_verify_product shoal_verify_multiply(shoal_verify_wide a, uint64_t b) {
  shoal_verify_wide lower = (shoal_verify_wide)(uint64_t)a * b;
  return (shoal_verify_product){.upper = (a >> 64) * b + (lower >> 64), .lower = (uint64_t)lower};
}

/*
 * Negative, 0 or positive as part / whole is below, equal to or above the fraction; always exact.
 * If `whole` is 0, `part` is compared with 0.
 */
static inline int shoal_verify_compare(shoal_verify_wide part, shoal_verify_wide whole,
                                       shoal_verify_fraction fraction) {
  shoal_verify_product x = shoal_verify_multiply(part, fraction.denominator);
  shoal_verify_product y = shoal_verify_multiply(whole, fraction.numerator);
  if (x.upper != y.upper) return x.upper > y.upper ? 1 : -1;
  return (x.lower > y.lower) - (x.lower < y.lower);
}

/* ---------------------------------------------------------------- entropy: entropy.c */

typedef enum shoal_verify_verdict {
  SHOAL_VERIFY_HOLDS,
  SHOAL_VERIFY_VIOLATES,
  SHOAL_VERIFY_UNDECIDED, /* overflow, or too near to equality without being equal */
  SHOAL_VERIFY_NO_MEMORY
} shoal_verify_verdict;

/* Is the entropy of a class at least log l? `rows`: of each value, descending, above 0. l: at
 * least 1. */
shoal_verify_verdict shoal_verify_entropy(const uint64_t *rows, size_t n_values,
                                          shoal_verify_fraction l);
