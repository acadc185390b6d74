/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/pair: an original and a release of it, brought together attribute by attribute. Rows of
 * the two are not linked: their order is random, rows may be gone or invented. What is known is how
 * often each value stands in the original, how often each label in the release, and which values a
 * label can stand for. Both tables are kept as distinct tuples with counts (group/), never as rows.
 */
#ifndef SHOAL_MEASURE_PAIR_H
#define SHOAL_MEASURE_PAIR_H

#include "group/classes.h"
#include "measure/cover.h"

/* One attribute in both tables. */
typedef struct shoal_pair_attribute {
  const shoal_attribute *attribute; /* of the policy */
  const shoal_column *original;
  const shoal_column *released; /* labels that mean the same have one code: `merged`, if any do */
  shoal_column merged;
  shoal_domain domain;  /* released column 0, raw column 0 */
  uint64_t *value_rows; /* by place: rows of the original */
  uint64_t *label_rows; /* by code of the released column: rows of the release */
  double *mass;         /* by place: rows of the release, each label's spread over its places */
} shoal_pair_attribute;

typedef struct shoal_pair {
  size_t n_quasi, n_sensitive;
  shoal_pair_attribute *attributes; /* quasi-identifiers, then sensitive ones */
  shoal_frequency *original, *released;
  uint64_t k, p; /* what the policy asks for; 1 where it does not */
} shoal_pair;

/*
 * `quasi` and `sensitive` are attributes of the policy that both tables have. The tables must
 * outlive the pair. SHOAL_BAD_INPUT: see shoal_domain_init.
 */
shoal_status shoal_pair_init(shoal_pair *pair, const shoal_policy *policy,
                             const shoal_attribute *const *quasi, size_t n_quasi,
                             const shoal_attribute *const *sensitive, size_t n_sensitive,
                             const shoal_table *original, const shoal_table *released,
                             const shoal_run *run, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_pair_reset(shoal_pair *pair);

static inline const shoal_cover *shoal_pair_cover(const shoal_pair_attribute *a, uint32_t code) {
  return shoal_domain_cover(&a->domain, 0, code);
}

/* Adds `amount` to every place that the label can stand for. */
void shoal_cover_spread(const shoal_domain *domain, const shoal_cover *cover, double amount,
                        double *to);

#endif
