/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/wide: whole numbers of 256 bits, for verdicts without rounding. A table has up to 2^63 - 1
 * records and 2^32 values, and a number of a policy has 18 digits: products of four of them decide
 * whether a model holds.
 */
#pragma once

#include <stdint.h>

__extension__ typedef __int128 shoal_int128;
__extension__ typedef unsigned __int128 shoal_uint128;

typedef struct shoal_wide {
  shoal_uint128 high, low;
} shoal_wide;

/* a x b; it always fits. */
shoal_wide shoal_wide_product(shoal_uint128 a, shoal_uint128 b);

/* Callers know that the result fits; a - b: that a is at least b. */
shoal_wide shoal_wide_add(shoal_wide a, shoal_wide b);
shoal_wide shoal_wide_subtract(shoal_wide a, shoal_wide b);
shoal_wide shoal_wide_times(shoal_wide a, uint64_t b);

/* Negative, 0 or positive: a against b. */
int shoal_wide_compare(shoal_wide a, shoal_wide b);

/* To show it; rounded. */
double shoal_wide_double(shoal_wide a);

/* a x a2 against b x b2: negative, 0 or positive; exact, however large. */
int shoal_compare_products(shoal_uint128 a, shoal_uint128 a2, shoal_uint128 b, shoal_uint128 b2);
