/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/datafly: a greedy walk from the bottom of the lattice (Samarati 2001, section 7).
 *
 * 1. Each attribute alone: its anonymity level and the recipient's profile give a bin size, and the
 *    attribute is generalized until each of its labels has that many rows. An anonymity level and a
 *    profile of 1 "imply generalization to the maximum level".
 * 2. Combinations, over the attributes whose profile is 1: while too many rows violate, the
 *    attribute with the most labels in use goes up one level; ties: the first column. To leave out
 *    the other attributes, the node with them at their top is evaluated: there they have one label.
 */
#include "lattice/datafly.h"

#include <stdlib.h>

#include "base/wide.h"

typedef struct datafly {
  shoal_search *search;
  const shoal_datafly_options *options;
  uint32_t *levels;     /* of the current node */
  uint32_t *decisive;   /* scratch: levels of the node to evaluate */
  shoal_label_use *use; /* by attribute, at its level */
} datafly;

static bool is_fraction(shoal_decimal number) {
  return number.mantissa >= 0 && (uint64_t)number.mantissa <= shoal_power_of_ten(number.scale);
}

static bool is_one(shoal_decimal number) {
  return number.mantissa > 0 && (uint64_t)number.mantissa == shoal_power_of_ten(number.scale);
}

static shoal_decimal anonymity_of(const datafly *f, size_t q) {
  return f->options->anonymity ? f->options->anonymity[q] : (shoal_decimal){0, 0};
}

static shoal_decimal profile_of(const datafly *f, size_t q) {
  return f->options->profile ? f->options->profile[q] : (shoal_decimal){1, 0};
}

/* The bin size, rows per label of an attribute alone: ceil(k x anonymity x profile), exact. */
static uint64_t bin_size(uint64_t k, shoal_decimal anonymity, shoal_decimal profile) {
  shoal_uint128 part = (shoal_uint128)(uint64_t)anonymity.mantissa * (uint64_t)profile.mantissa;
  shoal_uint128 whole =
      (shoal_uint128)shoal_power_of_ten(anonymity.scale) * shoal_power_of_ten(profile.scale);
  /* Long division, bit by bit of k: the product needs up to 184 bits, the remainders 122. */
  shoal_uint128 rest = 0;
  uint64_t quotient = 0;
  for (unsigned bit = 64; bit-- > 0;) {
    quotient *= 2;
    rest *= 2;
    if (k >> bit & 1) rest += part;
    for (; rest >= whole; rest -= whole) quotient++;
  }
  return quotient + (rest > 0);
}

static shoal_status count_labels(datafly *f, size_t q, shoal_error *error) {
  return shoal_label_use_count(f->search->frequency, q, f->levels[q], &f->use[q], error);
}

static shoal_status generalize(datafly *f, size_t q, uint32_t level, shoal_error *error) {
  f->levels[q] = level;
  return count_labels(f, q, error);
}

/* Generalizes one attribute up to its bin size. */
static shoal_status generalize_alone(datafly *f, size_t q, shoal_error *error) {
  uint32_t top = f->search->space.top[q];
  shoal_decimal anonymity = anonymity_of(f, q), profile = profile_of(f, q);
  SHOAL_TRY(count_labels(f, q, error));
  if (is_one(anonymity) && is_one(profile))
    return top > f->levels[q] ? generalize(f, q, top, error) : SHOAL_OK;
  uint64_t bin = bin_size(f->search->requirements->k, anonymity, profile);
  while (f->levels[q] < top && f->use[q].fewest_rows < bin)
    SHOAL_TRY(generalize(f, q, f->levels[q] + 1, error));
  return SHOAL_OK;
}

/* Evaluates the current node, attributes with a profile below 1 at their top. */
static shoal_status evaluate_decisive(datafly *f, shoal_node *node, shoal_error *error) {
  const shoal_space *space = &f->search->space;
  for (size_t q = 0; q < space->n; q++)
    f->decisive[q] = is_one(profile_of(f, q)) ? f->levels[q] : space->top[q];
  return shoal_search_evaluate(f->search, shoal_space_node(space, f->decisive), node, error);
}

/* The attribute with the most labels; false if all with a profile of 1 are at their top. */
static bool max_labels(const datafly *f, size_t *attribute) {
  bool any = false;
  for (size_t q = 0; q < f->search->space.n; q++) {
    if (!is_one(profile_of(f, q)) || f->levels[q] == f->search->space.top[q]) continue;
    if (any && f->use[q].n_labels <= f->use[*attribute].n_labels) continue;
    *attribute = q;
    any = true;
  }
  return any;
}

static shoal_status walk_up(datafly *f, shoal_solution *solution, shoal_error *error) {
  for (size_t q = 0; q < f->search->space.n; q++) {
    bool bad_anonymity = !is_fraction(anonymity_of(f, q));
    if (bad_anonymity || !is_fraction(profile_of(f, q)))
      return shoal_fail(error, SHOAL_BAD_INPUT,
                        "datafly: the %s of '%.60s' must be a number from 0 to 1",
                        bad_anonymity ? "anonymity level" : "profile value",
                        f->search->frequency->quasi[q]->name);
  }
  shoal_space_levels(&f->search->space, 0, f->levels);
  for (size_t q = 0; q < f->search->space.n; q++) SHOAL_TRY(generalize_alone(f, q, error));
  shoal_node decisive;
  SHOAL_TRY(evaluate_decisive(f, &decisive, error));
  for (size_t q = 0; !decisive.satisfies && max_labels(f, &q);) {
    SHOAL_TRY(generalize(f, q, f->levels[q] + 1, error));
    SHOAL_TRY(evaluate_decisive(f, &decisive, error));
  }
  solution->found = decisive.satisfies;
  if (!solution->found) return SHOAL_OK;
  uint64_t node = shoal_space_node(&f->search->space, f->levels);
  return shoal_search_evaluate(f->search, node, &solution->node, error);
}

shoal_status shoal_search_datafly(shoal_search *search, const shoal_algorithm_options *options,
                                  shoal_solution *solution, shoal_error *error) {
  static const shoal_datafly_options defaults;
  size_t n = search->space.n;
  datafly f = {.search = search,
               .options = options && options->datafly ? options->datafly : &defaults,
               .levels = shoal_alloc_zero(n, sizeof *f.levels),
               .decisive = shoal_alloc(n, sizeof *f.decisive),
               .use = shoal_alloc(n, sizeof *f.use)};
  *solution = (shoal_solution){0};
  shoal_status status =
      f.levels && f.decisive && f.use ? walk_up(&f, solution, error) : shoal_fail_memory(error);
  free(f.levels);
  free(f.decisive);
  free(f.use);
  return status;
}
