/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/alpha_k: (alpha, k)-anonymity (Wong et al. 2006): no sensitive value has more than alpha of
 * a class's rows, or people where people have several rows. Not monotone if rows may be suppressed
 * (docs/reading-the-papers.md R2), but two classes that satisfy it merge into one that does.
 */
#include "model/types.h"

static uint64_t most_frequent(const shoal_class_view *view) {
  size_t at = 0;
  uint32_t value;
  uint64_t n_rows, max_rows = 0;
  while (shoal_view_next(&view->values, &at, &value, &n_rows))
    if (n_rows > max_rows) max_rows = n_rows;
  return max_rows;
}

static bool holds(const shoal_requirement *requirement, const shoal_class_view *view) {
  shoal_decimal alpha = requirement->number[0];
  return shoal_compare_products(most_frequent(view), shoal_power_of_ten(alpha.scale), view->n_rows,
                                (shoal_uint128)alpha.mantissa) <= 0;
}

/*
 * A part of s rows has at most alpha s rows of each value, so s is at most the sum of these limits.
 * Each round applies this to the bound of the one before; any round gives a valid bound.
 */
static uint64_t max_part(const shoal_requirement *requirement, const shoal_class_view *view) {
  double alpha = shoal_decimal_double(requirement->number[0]);
  uint64_t n_missing = view->n_rows - shoal_view_valued(&view->values), most = view->n_rows;
  for (int round = 0; round < SHOAL_PART_ROUNDS; round++) {
    uint64_t limit = shoal_rounded_down(alpha * (double)most), sum = n_missing, n_rows;
    size_t at = 0;
    uint32_t value;
    while (shoal_view_next(&view->values, &at, &value, &n_rows))
      sum += n_rows < limit ? n_rows : limit;
    if (sum >= most) break;
    most = sum;
  }
  return most;
}

static double reached(const shoal_requirement *requirement, const shoal_class_view *view) {
  (void)requirement;
  return view->n_rows ? (double)most_frequent(view) / (double)view->n_rows : 0;
}

/* Rows above the limit, of all values. */
static double deficit(const shoal_requirement *requirement, const shoal_class_view *view) {
  double limit = shoal_required_number(requirement) * (double)view->n_rows, sum = 0;
  size_t at = 0;
  uint32_t value;
  uint64_t n_rows;
  while (shoal_view_next(&view->values, &at, &value, &n_rows))
    if ((double)n_rows > limit) sum += (double)n_rows - limit;
  return sum;
}

static const shoal_parameter parameters[] = {
    {.name = "alpha", .kind = SHOAL_PARAMETER_NUMBER, .min = "0", .max = "1", .above_min = true},
    {.name = NULL},
};

const shoal_model_type shoal_model_alpha_k = {
    .name = "alpha-k",
    .parameters_help = "alpha, attribute",
    .summary = "no sensitive value has more than the share alpha of a class's rows",
    .parameters = parameters,
    .needs = SHOAL_NEEDS_HISTOGRAM,
    .on_attribute = true,
    .at_most = true,
    .bounds_share = true,
    .of_people = true,
    .monotone = shoal_is_not_monotone,
    .merges = true,
    .max_part = max_part,
    .holds = holds,
    .reached = reached,
    .deficit = deficit,
    .required = shoal_required_number,
};
