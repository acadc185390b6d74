/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/l_diversity: distinct, entropy and recursive (c, l)-diversity (Machanavajjhala et al. 2006;
 * docs/reading-the-papers.md R22). Distinct is monotone; the others are not if rows may be
 * suppressed (R2), but two classes that satisfy any kind merge into one that does.
 */
#include <math.h>
#include <stdlib.h>

#include "base/wide.h"
#include "model/types.h"

enum { L, KIND, C };
enum { DISTINCT, ENTROPY, RECURSIVE };
enum { MAX_PRIMES = 512 };

/* ------------------------------------------------------------ entropy */

/* Exponents of primes, to see whether two products are equal. */
typedef struct exponents {
  uint64_t prime[MAX_PRIMES];
  shoal_int128 power[MAX_PRIMES]; /* a sum of 2^32 counts below 2^63, times up to 63 */
  size_t n;
  bool failed;
} exponents;

static void add_power(exponents *e, uint64_t prime, shoal_int128 power) {
  for (size_t i = 0; i < e->n; i++) {
    if (e->prime[i] != prime) continue;
    e->power[i] += power;
    return;
  }
  e->failed = e->failed || e->n == MAX_PRIMES;
  if (e->failed) return;
  e->prime[e->n] = prime;
  e->power[e->n++] = power;
}

/* Multiplies by base^power. */
static void add_factor(exponents *e, uint64_t base, shoal_int128 power) {
  for (uint64_t d = 2; d <= base / d && d < 2000000; d++) {
    while (base % d == 0) {
      add_power(e, d, power);
      base /= d;
    }
  }
  if (base > 1) add_power(e, base, power);
}

/* Is n^n = l^n x product of f^f, with l = mantissa / 10^scale? */
static bool is_tie(const shoal_requirement *requirement, const shoal_frequencies *f,
                   shoal_decimal l) {
  exponents *e = shoal_alloc_zero(1, sizeof *e);
  if (shoal_requirement_failed(requirement, !e) || !e) return false;
  shoal_int128 n = f->sum;
  add_factor(e, f->sum, n);
  add_factor(e, 10, n * l.scale);
  add_factor(e, (uint64_t)l.mantissa, -n);
  for (size_t i = 0; i < f->n; i++) add_factor(e, f->rows[i], -(shoal_int128)f->rows[i]);
  bool tie = !e->failed;
  for (size_t i = 0; i < e->n; i++) tie = tie && e->power[i] == 0;
  free(e);
  return tie;
}

/*
 * entropy >= log l, that is n log n - sum f log f >= n log l. Logarithms decide if the two sides
 * differ by more than the rounding error. Otherwise integers decide whether they are equal. If
 * neither decides, the class counts as violating.
 */
static bool holds_entropy(const shoal_requirement *requirement, const shoal_frequencies *f,
                          shoal_decimal l) {
  if (f->sum == 0) return false;
  long double n = (long double)f->sum, sum = n * logl(n);
  for (size_t i = 0; i < f->n; i++) sum -= (long double)f->rows[i] * logl((long double)f->rows[i]);
  long double wanted = n * (logl((long double)l.mantissa) - (long double)l.scale * logl(10.0L));
  long double slack =
      (long double)(f->n + 8) * n * (logl(n) + logl((long double)l.mantissa) + 50) * 0x1p-62L;
  if (sum - wanted > slack) return true;
  if (wanted - sum > slack) return false;
  return is_tie(requirement, f, l);
}

/* The number of equally frequent values that would have the same entropy. */
static double reached_entropy(const shoal_frequencies *f) {
  double n = (double)f->sum, entropy = 0;
  for (size_t i = 0; i < f->n; i++) {
    double share = (double)f->rows[i] / n;
    entropy -= share * log(share);
  }
  return f->sum ? exp(entropy) : 0;
}

/* ------------------------------------------------------------ recursive */

/* r1 < c (r_l + ... + r_m) */
static bool holds_recursive(const shoal_frequencies *f, uint64_t l, shoal_decimal c) {
  if (l > f->n) return false;
  uint64_t tail = 0;
  for (size_t i = (size_t)l - 1; i < f->n; i++) tail += f->rows[i];
  return shoal_compare_products(f->rows[0], shoal_power_of_ten(c.scale), (shoal_uint128)c.mantissa,
                                tail) < 0;
}

/* The largest l that the class satisfies with this c. */
static double reached_recursive(const shoal_frequencies *f, shoal_decimal c) {
  uint64_t l = f->n;
  while (l > 0 && !holds_recursive(f, l, c)) l--;
  return (double)l;
}

/* ------------------------------------------------------------ the model */

static bool holds(const shoal_requirement *requirement, const shoal_class_view *view) {
  if (requirement->word[KIND] == DISTINCT) {
    shoal_decimal l = requirement->number[L]; /* an integer: see prepare */
    return view->n_distinct >= (uint64_t)l.mantissa;
  }
  shoal_frequencies f;
  shoal_frequencies_init(&f, &view->values);
  bool ok = !shoal_requirement_failed(requirement, f.failed) &&
            (requirement->word[KIND] == ENTROPY
                 ? holds_entropy(requirement, &f, requirement->number[L])
                 : holds_recursive(&f, (uint64_t)requirement->number[L].mantissa,
                                   requirement->number[C]));
  shoal_frequencies_reset(&f);
  return ok;
}

static double reached(const shoal_requirement *requirement, const shoal_class_view *view) {
  if (requirement->word[KIND] == DISTINCT) return view->n_distinct;
  shoal_frequencies f;
  shoal_frequencies_init(&f, &view->values);
  double value = shoal_requirement_failed(requirement, f.failed) ? 0
                 : requirement->word[KIND] == ENTROPY
                     ? reached_entropy(&f)
                     : reached_recursive(&f, requirement->number[C]);
  shoal_frequencies_reset(&f);
  return value;
}

static double deficit(const shoal_requirement *requirement, const shoal_class_view *view) {
  if (requirement->word[KIND] != RECURSIVE)
    return (shoal_required_number(requirement) - reached(requirement, view)) * (double)view->n_rows;
  shoal_frequencies f;
  shoal_frequencies_init(&f, &view->values);
  uint64_t l = (uint64_t)requirement->number[L].mantissa, tail = 0;
  for (size_t i = (size_t)l - 1; !f.failed && i < f.n; i++) tail += f.rows[i];
  double missing = l > f.n ? (double)(l - f.n) : 0;
  double gap = f.failed || !f.n ? 0
                                : (double)f.rows[0] -
                                      shoal_decimal_double(requirement->number[C]) * (double)tail;
  (void)shoal_requirement_failed(requirement, f.failed);
  shoal_frequencies_reset(&f);
  return gap + missing + 0.5; /* r1 = c x tail is not enough */
}

/* Rows of the class if no value keeps more than `cap` of its rows. */
static uint64_t capped_sum(const shoal_frequencies *f, uint64_t cap) {
  uint64_t sum = 0;
  for (size_t i = 0; i < f->n; i++) sum += f->rows[i] < cap ? f->rows[i] : cap;
  return sum;
}

/* Is the entropy of the capped class at least log l, or a little less? */
static bool capped_entropy(const shoal_frequencies *f, shoal_decimal l, uint64_t cap) {
  double n = (double)capped_sum(f, cap), sum = n * log(n);
  for (size_t i = 0; i < f->n; i++) {
    double rows = (double)(f->rows[i] < cap ? f->rows[i] : cap);
    sum -= rows * log(rows);
  }
  return sum >= n * log(shoal_decimal_double(l)) * (1 - 1e-9) - 1e-6;
}

static bool capped_recursive(const shoal_frequencies *f, uint64_t l, shoal_decimal c,
                             uint64_t cap) {
  uint64_t tail = 0;
  for (size_t i = (size_t)l - 1; i < f->n; i++) tail += f->rows[i] < cap ? f->rows[i] : cap;
  return shoal_compare_products(cap, shoal_power_of_ten(c.scale), (shoal_uint128)c.mantissa, tail) <
         0;
}

/*
 * Capping all values at the same number of rows gives the most even part of that size: the lower
 * the cap, the higher the entropy, and what holds for recursive diversity at one cap holds at all
 * lower ones. So no part that satisfies has as many rows as a capped class that does not. Bisects
 * for about the lowest such cap.
 */
static uint64_t max_part(const shoal_requirement *requirement, const shoal_class_view *view) {
  shoal_frequencies f;
  shoal_frequencies_init(&f, &view->values);
  uint64_t most = view->n_rows;
  if (!shoal_requirement_failed(requirement, f.failed)) {
    bool entropy = requirement->word[KIND] == ENTROPY;
    uint64_t l = entropy ? 1 : (uint64_t)requirement->number[L].mantissa;
    uint64_t holds = 0, fails = f.n >= l ? f.rows[0] : 1; /* caps */
    while (fails > holds + 1 + fails / 16) {
      uint64_t cap = holds + (fails - holds) / 2;
      bool ok = entropy ? capped_entropy(&f, requirement->number[L], cap)
                        : capped_recursive(&f, l, requirement->number[C], cap);
      if (ok) holds = cap;
      else fails = cap;
    }
    most = fails > 1 ? capped_sum(&f, fails) + view->n_rows - f.sum : 0; /* with missing values */
  }
  shoal_frequencies_reset(&f);
  return most;
}

static bool monotone(const shoal_requirement *requirement) {
  return requirement->word[KIND] == DISTINCT;
}

static shoal_status prepare(shoal_requirement *requirement, const shoal_model_context *context,
                            shoal_error *error) {
  if (requirement->word[KIND] != ENTROPY && requirement->number[L].scale != 0)
    return shoal_policy_fail(context->policy, requirement->mark, error,
                             "l of l-diversity must be a whole number, unless its kind is entropy");
  if (requirement->word[KIND] == RECURSIVE && !requirement->given[C])
    return shoal_policy_fail(context->policy, requirement->mark, error,
                             "recursive l-diversity needs 'c', such as c: 3");
  if (requirement->word[KIND] != RECURSIVE && requirement->given[C])
    return shoal_policy_fail(context->policy, requirement->mark, error,
                             "'c' belongs to recursive l-diversity: leave it out, or add 'kind: "
                             "recursive'");
  return SHOAL_OK;
}

/* Every kind needs at least l distinct values in a class; l is rounded up. */
static uint64_t min_distinct(const shoal_requirement *requirement) {
  shoal_decimal l = requirement->number[L];
  uint64_t unit = shoal_power_of_ten(l.scale), mantissa = (uint64_t)l.mantissa;
  return mantissa / unit + (mantissa % unit != 0);
}

static bool distinct(const shoal_requirement *requirement, shoal_distinct *out) {
  *out = (shoal_distinct){.min = min_distinct(requirement)};
  return requirement->word[KIND] == DISTINCT;
}

static const char *const kinds[] = {"distinct", "entropy", "recursive", NULL};

static const shoal_parameter parameters[] = {
    {.name = "l", .kind = SHOAL_PARAMETER_NUMBER, .min = "1"},
    {.name = "kind", .kind = SHOAL_PARAMETER_WORD, .words = kinds, .optional = true},
    {.name = "c", .kind = SHOAL_PARAMETER_NUMBER, .min = "0", .above_min = true, .optional = true},
    {.name = NULL},
};

const shoal_model_type shoal_model_l_diversity = {
    .name = "l-diversity",
    .parameters_help = "kind: distinct|entropy|recursive, l, c, attribute",
    .summary = "each class has l well-represented sensitive values",
    .parameters = parameters,
    .needs = SHOAL_NEEDS_HISTOGRAM,
    .on_attribute = true,
    .monotone = monotone,
    .merges = true,
    .max_part = max_part,
    .prepare = prepare,
    .holds = holds,
    .reached = reached,
    .deficit = deficit,
    .required = shoal_required_number,
    .min_distinct = min_distinct,
    .distinct = distinct,
};
