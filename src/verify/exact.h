/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/exact: whole numbers of 128 bits that say when they overflow. Every verdict of the
 * verifier is a comparison of two products of counts: where 128 bits cannot hold one of them
 * exactly, nothing is proven.
 */
#ifndef SHOAL_VERIFY_EXACT_H
#define SHOAL_VERIFY_EXACT_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 shoal_verify_wide;
__extension__ typedef __int128 shoal_verify_signed;

/* A number as it was written: 0.2 is 2/10. The denominator is a power of ten. */
typedef struct shoal_verify_fraction {
  uint64_t numerator;
  uint64_t denominator;
} shoal_verify_fraction;

/* *product *= factor; false: too large. */
static inline bool shoal_verify_times(shoal_verify_wide *product, shoal_verify_wide factor) {
  return !__builtin_mul_overflow(*product, factor, product);
}

/*
 * *order is below, at or above 0 as part / whole is below, at or above the fraction; `whole` may
 * be 0: then it is as `part` compared with 0. False: too large.
 */
static inline bool shoal_verify_compare(shoal_verify_wide part, shoal_verify_wide whole,
                                        shoal_verify_fraction fraction, int *order) {
  if (!shoal_verify_times(&part, fraction.denominator) ||
      !shoal_verify_times(&whole, fraction.numerator))
    return false;
  *order = (part > whole) - (part < whole);
  return true;
}

/* The same of counts, whose products always fit: below, at or above 0. */
static inline int shoal_verify_compare_counts(uint64_t part, uint64_t whole,
                                              shoal_verify_fraction fraction) {
  shoal_verify_wide x = (shoal_verify_wide)part * fraction.denominator;
  shoal_verify_wide y = (shoal_verify_wide)whole * fraction.numerator;
  return (x > y) - (x < y);
}

#endif
