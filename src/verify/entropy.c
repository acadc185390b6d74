/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/entropy: is the entropy of a class at least log l? With n rows, f_i of them of value i, it
 * is if and only if the product over i of (n / (l f_i))^f_i is at least 1. Entropy l-diversity:
 * Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam 2007.
 *
 * 1. The logarithm of the product is a sum of terms f log(n / (l f)), in long doubles. Numerator
 *    and denominator are exact. If they are near each other, their difference is divided and
 *    log1p is used, so every term has a relative error below 8 epsilon. Each addition adds an error
 *    below epsilon times the sum of the magnitudes. With t terms the error is below t + 8 epsilon
 *    times that sum; the bound is twice as much. If the sum exceeds the bound, its sign is certain.
 * 2. Otherwise the product is written as powers of whole numbers, which are refined until they are
 *    pairwise coprime: a and b with the common divisor d become a / d, b / d and d. Powers of
 *    coprime numbers multiply to 1 only if every exponent is 0: the entropy equals log l, and the
 *    condition holds. No number is factored. If they are not equal, but too near for step 1, the
 *    result is undecided.
 */
#include "verify/exact.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/decimal.h"
#include "base/memory.h"

enum { MAX_ROWS_BITS = 52 }; /* n, times a power of ten or in exponents, stays within its type */

/* The number of equal counts from `from` on. */
static size_t count_equal(const uint64_t *rows, size_t n_values, size_t from) {
  size_t end = from + 1;
  while (end < n_values && rows[end] == rows[from]) end++;
  return end - from;
}

/* ---------------------------------------------------------------- by logarithms */

static long double logarithm(shoal_verify_wide numerator, shoal_verify_wide denominator) {
  long double over = (long double)numerator, under = (long double)denominator;
  if (numerator / 2 > denominator || denominator / 2 > numerator) return logl(over / under);
  return numerator < denominator ? log1pl(-(long double)(denominator - numerator) / under)
                                 : log1pl((long double)(numerator - denominator) / under);
}

/* ---------------------------------------------------------------- exactly */

typedef struct power {
  uint64_t base;
  int64_t exponent;
} power;

typedef struct powers {
  power *items;
  size_t n;
  size_t capacity;
} powers;

/* Reserves room for `more` powers; false: no memory. */
static bool reserve(powers *product, size_t more) {
  return shoal_grow(&product->items, &product->capacity, product->n + more, sizeof(power));
}

/* Adds a factor unless it is 1. The caller has reserved the room. */
static void add_power(powers *product, uint64_t base, int64_t exponent) {
  if (base == 1 || exponent == 0) return;
  product->items[product->n++] = (power){.base = base, .exponent = exponent};
}

/* n^n l^-n and f^-f for each value, equal counts in one factor; false: no memory. */
static bool add_all_powers(powers *product, const uint64_t *rows, size_t n_values, uint64_t n_rows,
                           shoal_verify_fraction l) {
  int64_t n = (int64_t)n_rows;
  if (!reserve(product, 3)) return false;
  add_power(product, n_rows, n);
  add_power(product, l.denominator, n);
  add_power(product, l.numerator, -n);
  for (size_t i = 0, same; i < n_values; i += same) {
    same = count_equal(rows, n_values, i);
    if (!reserve(product, 1)) return false;
    add_power(product, rows[i], -(int64_t)(rows[i] * same));
  }
  return true;
}

/* Multiplies `refined`, whose bases are coprime, by the waiting factors; false: no memory. */
static bool refine_waiting(powers *refined, powers *waiting) {
  while (waiting->n) {
    power next = waiting->items[--waiting->n];
    uint64_t shared = 1;
    size_t i = 0;
    for (; i < refined->n; i++) {
      shared = shoal_gcd(next.base, refined->items[i].base);
      if (shared > 1) break;
    }
    if (!reserve(refined, 1) || !reserve(waiting, 3)) return false;
    if (shared <= 1) {
      add_power(refined, next.base, next.exponent);
      continue;
    }
    power met = refined->items[i];
    refined->items[i] = refined->items[--refined->n];
    add_power(waiting, next.base / shared, next.exponent);
    add_power(waiting, met.base / shared, met.exponent);
    add_power(waiting, shared, next.exponent + met.exponent);
  }
  return true;
}

shoal_verify_verdict shoal_verify_entropy(const uint64_t *rows, size_t n_values,
                                          shoal_verify_fraction l) {
  uint64_t n_rows = 0;
  for (size_t i = 0; i < n_values; i++)
    if (__builtin_add_overflow(n_rows, rows[i], &n_rows)) return SHOAL_VERIFY_UNDECIDED;
  if (!n_rows) return SHOAL_VERIFY_VIOLATES; /* without a value the entropy is 0 */
  if (n_rows >> MAX_ROWS_BITS) return SHOAL_VERIFY_UNDECIDED;
  /* -1 or 1: the sign of the logarithm; 0: it is not certain. */
  long double sum = 0, magnitude = 0, n_terms = 0;
  shoal_verify_wide numerator = (shoal_verify_wide)n_rows * l.denominator;
  for (size_t i = 0, same; i < n_values; i += same) {
    n_terms++;
    same = count_equal(rows, n_values, i);
    long double term = (long double)(rows[i] * same) *
                       logarithm(numerator, (shoal_verify_wide)rows[i] * l.numerator);
    sum += term;
    magnitude += fabsl(term);
  }
  long double bound = 2 * (n_terms + 8) * LDBL_EPSILON * magnitude;
  int sign = (sum > bound) - (sum < -bound);
  if (!sign) {
    powers product = {0}, refined = {0};
    shoal_verify_verdict verdict = SHOAL_VERIFY_NO_MEMORY;
    if (add_all_powers(&product, rows, n_values, n_rows, l) && refine_waiting(&refined, &product))
      verdict = refined.n == 0 ? SHOAL_VERIFY_HOLDS : SHOAL_VERIFY_UNDECIDED;
    free(product.items);
    free(refined.items);
    return verdict;
  }
  return sign > 0 ? SHOAL_VERIFY_HOLDS : SHOAL_VERIFY_VIOLATES;
}
