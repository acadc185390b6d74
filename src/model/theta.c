/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/theta: theta-sensitive k-anonymity (Khan et al. 2020, Definition 10, read as in
 * docs/reading-the-papers.md R17): the variance of a class is at least mu x (k^2 - 1) / 12, mu
 * times that of k rows with k different values. The most frequent value weighs 1, the next 2, and
 * so on. Not monotone: two classes that pass can merge into one that does not (R2).
 */
#include "model/types.h"

/* n, the sum of weights and the sum of squared weights over the rows with a value. */
typedef struct moments {
  uint64_t n;
  shoal_uint128 sum, squares;
  bool failed;
} moments;

static moments moments_of(const shoal_class_view *view) {
  shoal_frequencies f;
  shoal_frequencies_init(&f, &view->values);
  moments m = {.n = f.sum, .failed = f.failed};
  for (size_t i = 0; !f.failed && i < f.n; i++) {
    uint64_t weight = i + 1;
    m.sum += (shoal_uint128)f.rows[i] * weight;
    m.squares += (shoal_uint128)f.rows[i] * weight * weight;
  }
  shoal_frequencies_reset(&f);
  return m;
}

/* (n x squares - sum^2) / n^2 >= mu (k^2 - 1) / 12 */
static bool holds(const shoal_demand *demand, const shoal_class_view *view) {
  moments m = moments_of(view);
  if (m.failed) return false;
  shoal_decimal mu = demand->number[0];
  shoal_uint128 k = demand->k;
  if (mu.mantissa <= 0 || k < 2) return true;
  if (m.n == 0) return false;
  shoal_uint128 spread = m.n * m.squares - m.sum * m.sum;
  return shoal_compare_products(spread, (shoal_uint128)12 * shoal_power_of_ten(mu.scale),
                                (shoal_uint128)m.n * m.n,
                                (shoal_uint128)mu.mantissa * (k * k - 1)) >= 0;
}

static double reached(const shoal_demand *demand, const shoal_class_view *view) {
  (void)demand;
  moments m = moments_of(view);
  if (m.failed || m.n == 0) return 0;
  return (double)(m.n * m.squares - m.sum * m.sum) / ((double)m.n * (double)m.n);
}

static double required(const shoal_demand *demand) {
  double k = (double)demand->k;
  return shoal_decimal_double(demand->number[0]) * (k * k - 1) / 12;
}

static const shoal_parameter parameters[] = {
    {.name = "mu", .kind = SHOAL_PARAMETER_NUMBER, .least = "0", .most = "1"},
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
};
