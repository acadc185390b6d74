/* SPDX-License-Identifier: Apache-2.0 */
/* model/exact: whole numbers that are large enough for verdicts without rounding. */
#ifndef SHOAL_MODEL_EXACT_H
#define SHOAL_MODEL_EXACT_H

#include <stdint.h>

__extension__ typedef unsigned __int128 shoal_uint128;

/* a x a2 against b x b2: negative, 0 or positive; exact, however large. */
int shoal_compare_products(shoal_uint128 a, shoal_uint128 a2, shoal_uint128 b, shoal_uint128 b2);

#endif
