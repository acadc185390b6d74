/* SPDX-License-Identifier: Apache-2.0 */
/* base/wide: 256 bits as two halves of 128. */
#include "base/wide.h"

#include <assert.h>

/* From products of the halves. */
shoal_wide shoal_wide_product(shoal_uint128 a, shoal_uint128 b) {
  shoal_uint128 a1 = a >> 64, a0 = (uint64_t)a, b1 = b >> 64, b0 = (uint64_t)b;
  shoal_uint128 low = a0 * b0, cross = a1 * b0, other = a0 * b1;
  shoal_uint128 middle = (low >> 64) + (uint64_t)cross + (uint64_t)other;
  return (shoal_wide){.high = a1 * b1 + (cross >> 64) + (other >> 64) + (middle >> 64),
                      .low = middle << 64 | (uint64_t)low};
}

shoal_wide shoal_wide_add(shoal_wide a, shoal_wide b) {
  shoal_wide sum = {.high = a.high + b.high, .low = a.low + b.low};
  sum.high += sum.low < a.low;
  assert(shoal_wide_compare(sum, a) >= 0);
  return sum;
}

shoal_wide shoal_wide_subtract(shoal_wide a, shoal_wide b) {
  assert(shoal_wide_compare(a, b) >= 0);
  return (shoal_wide){.high = a.high - b.high - (a.low < b.low), .low = a.low - b.low};
}

shoal_wide shoal_wide_times(shoal_wide a, uint64_t b) {
  shoal_wide upper = shoal_wide_product(a.high, b);
  assert(upper.high == 0);
  return shoal_wide_add((shoal_wide){.high = upper.low}, shoal_wide_product(a.low, b));
}

int shoal_wide_compare(shoal_wide a, shoal_wide b) {
  if (a.high != b.high) return a.high > b.high ? 1 : -1;
  return (a.low > b.low) - (a.low < b.low);
}

double shoal_wide_double(shoal_wide a) { return (double)a.high * 0x1p128 + (double)a.low; }

int shoal_compare_products(shoal_uint128 a, shoal_uint128 a2, shoal_uint128 b, shoal_uint128 b2) {
  return shoal_wide_compare(shoal_wide_product(a, a2), shoal_wide_product(b, b2));
}
