/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/theta: theta-sensitive k-anonymity (Khan et al. 2020, Definition 10, as interpreted in
 * docs/reading-the-papers.md R17): the variance of a class is at least mu x (k^2 - 1) / 12, mu
 * times that of k rows with k different values. The most frequent value weighs 1, the next 2, and
 * so on. Not monotone: two classes that satisfy it can merge into one that does not (R2).
 */
#include "model/theta.h"

#include <stdio.h>

#include "model/types.h"

/* With n rows and d values the sum of squares is below n d^2, less than 2^127. */
shoal_wide_variance shoal_wide_variance_of(const uint64_t *rows, size_t n_values) {
  shoal_uint128 sum = 0, squares = 0;
  uint64_t n = 0;
  for (size_t i = 0; i < n_values; i++) {
    uint64_t weight = i + 1;
    n += rows[i];
    sum += (shoal_uint128)rows[i] * weight;
    squares += (shoal_uint128)rows[i] * weight * weight;
  }
  return (shoal_wide_variance){
      shoal_wide_subtract(shoal_wide_product(n, squares), shoal_wide_product(sum, sum)), n};
}

double shoal_wide_variance_double(shoal_wide_variance variance) {
  double n = (double)variance.n;
  return variance.n ? shoal_wide_double(variance.spread) / (n * n) : 0;
}

/*
 * 12 spread >= mu (k^2 - 1) n^2, both times a power of ten up to 10^18. The spread is at most
 * n^2 d^2 / 9, less than 2^187, so the left side fits into 256 bits, and is below 2^128 n^2. The
 * right side fits too, or its factor of n^2 is 2^128 or more.
 */
bool shoal_wide_variance_reaches(shoal_wide_variance variance, shoal_decimal mu, uint64_t k) {
  shoal_uint128 n = variance.n, theta;
  if (mu.mantissa <= 0 || k < 2) return true;
  if (n == 0) return false;
  if (__builtin_mul_overflow((shoal_uint128)k * k - 1, (shoal_uint128)mu.mantissa, &theta))
    return false;
  shoal_wide spread = shoal_wide_times(variance.spread, 12 * shoal_power_of_ten(mu.scale));
  return shoal_wide_compare(spread, shoal_wide_product(n * n, theta)) >= 0;
}

static shoal_wide_variance variance_of(const shoal_class_view *view, bool *failed) {
  shoal_frequencies f;
  shoal_frequencies_init(&f, &view->values);
  shoal_wide_variance variance = shoal_wide_variance_of(f.rows, f.failed ? 0 : f.n);
  *failed = f.failed;
  shoal_frequencies_reset(&f);
  return variance;
}

bool shoal_theta_reached(const shoal_requirement *requirement, shoal_variance variance) {
  return shoal_wide_variance_reaches((shoal_wide_variance){{.low = variance.spread}, variance.n},
                                     requirement->number[0], requirement->k);
}

int shoal_variance_compare(shoal_variance a, shoal_variance b) {
  if (a.n == b.n) return (a.spread > b.spread) - (a.spread < b.spread);
  if (!a.n || !b.n) return a.n ? a.spread > 0 : -(b.spread > 0);
  shoal_uint128 n = a.n, m = b.n;
  return shoal_compare_products(a.spread, m * m, b.spread, n * n);
}

bool shoal_requirement_is_theta(const shoal_requirement *requirement) {
  return requirement->type == &shoal_model_theta_sensitive;
}

static bool holds(const shoal_requirement *requirement, const shoal_class_view *view) {
  bool failed;
  shoal_wide_variance variance = variance_of(view, &failed);
  return !shoal_requirement_failed(requirement, failed) &&
         shoal_wide_variance_reaches(variance, requirement->number[0], requirement->k);
}

static double reached(const shoal_requirement *requirement, const shoal_class_view *view) {
  bool failed;
  shoal_wide_variance variance = variance_of(view, &failed);
  return shoal_requirement_failed(requirement, failed) ? 0 : shoal_wide_variance_double(variance);
}

/*
 * No class of any size with d values has a variance above ((2 d - 1) / 6)^2
 * (docs/reading-the-papers.md R19): (2 d - 1)^2 >= 3 mu (k^2 - 1) is needed.
 */
uint64_t shoal_theta_min_distinct(const shoal_requirement *requirement) {
  shoal_decimal mu = requirement->number[0];
  shoal_uint128 k = requirement->k;
  uint64_t low = 1, high = UINT64_C(1) << 62;
  if (mu.mantissa <= 0 || k < 2) return 1;
  while (low < high) {
    uint64_t d = low + (high - low) / 2;
    shoal_uint128 odd = 2 * (shoal_uint128)d - 1;
    if (shoal_compare_products(odd * odd, shoal_power_of_ten(mu.scale),
                               3 * (shoal_uint128)mu.mantissa, k * k - 1) >= 0)
      high = d;
    else low = d + 1;
  }
  return low;
}

/* Without a theta above 0, not even a value is needed. */
static uint64_t min_distinct(const shoal_requirement *requirement) {
  bool bounds = requirement->number[0].mantissa > 0 && requirement->k >= 2;
  return bounds ? shoal_theta_min_distinct(requirement) : 0;
}

static void explain(const shoal_requirement *requirement,
                    const shoal_value_frequencies *frequencies, const char *attribute, char *out,
                    size_t capacity) {
  char mu[32];
  shoal_decimal_print(requirement->number[0].mantissa, requirement->number[0].scale, mu);
  (void)snprintf(out, capacity,
                 "theta-sensitive with k = %llu and mu = %s needs at least %llu distinct values in "
                 "every class, and '%s' has %zu in the whole table: lower k or mu",
                 (unsigned long long)requirement->k, mu,
                 (unsigned long long)shoal_theta_min_distinct(requirement), attribute,
                 frequencies->n_distinct);
}

static double required(const shoal_requirement *requirement) {
  double k = (double)requirement->k;
  return shoal_decimal_double(requirement->number[0]) * (k * k - 1) / 12;
}

static const shoal_parameter parameters[] = {
    {.name = "mu", .kind = SHOAL_PARAMETER_NUMBER, .min = "0", .max = "1"},
    {.name = NULL},
};

const shoal_model_type shoal_model_theta_sensitive = {
    .name = "theta-sensitive",
    .parameters_help = "mu, attribute",
    .summary = "the variance of each class is at least mu times that of k different values",
    .parameters = parameters,
    .needs = SHOAL_NEEDS_HISTOGRAM,
    .on_attribute = true,
    .monotone = shoal_is_not_monotone,
    .holds = holds,
    .reached = reached,
    .required = required,
    .min_distinct = min_distinct,
    .explain = explain,
};
