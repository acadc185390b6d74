/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/pair: an original and a release, attribute by attribute. Rows of the two are not linked:
 * their order is random, rows may be removed or added. Known are the rows of each value in the
 * original, the rows of each label in the release, and the values that each label covers. Both
 * tables are kept as distinct tuples with counts (group/), not as rows.
 */
#pragma once

#include "group/classes.h"
#include "measure/domain.h"

/* One attribute in both tables. */
typedef struct shoal_release_pair_attribute {
  const shoal_attribute *attribute; /* of the policy */
  const shoal_column *original;
  const shoal_column *released; /* labels with one meaning have one code: then it is `merged` */
  shoal_column merged;
  shoal_domain domain;  /* released column 0, raw column 0 */
  uint64_t *value_rows; /* by position: rows of the original */
  uint64_t *label_rows; /* by code of the released column: rows of the release */
  double *mass; /* by position: rows of the release, each label's divided over its positions */
} shoal_release_pair_attribute;

/* How the release was made: labels and rows can have two readings, and this decides. */
typedef struct shoal_release_origin {
  bool local;           /* local recoding: numbers are written as the smallest intervals */
  bool cells;           /* single cells may be suppressed: their stars have no level */
  uint64_t max_blanked; /* suppressed rows that may have been blanked; 0: none */
  bool exact;           /* max_blanked rows were blanked */
  /* How it was made if its labels are of no node of the lattice; NULL: in the same way. */
  const struct shoal_release_origin *without_node;
} shoal_release_origin;

typedef struct shoal_release_pair {
  shoal_release_origin origin;
  size_t n_quasi, n_sensitive;
  shoal_release_pair_attribute *attributes; /* quasi-identifiers, then sensitive ones */
  shoal_frequency_set *original, *released;
  uint64_t k, p; /* of the policy; 1: not required */
} shoal_release_pair;

/*
 * `quasi` and `sensitive` are attributes of the policy that both tables have. The tables must
 * outlive the pair. SHOAL_BAD_INPUT: see shoal_domain_init.
 */
shoal_status shoal_release_pair_init(shoal_release_pair *pair, const shoal_policy *policy,
                                     const shoal_attribute *const *quasi, size_t n_quasi,
                                     const shoal_attribute *const *sensitive, size_t n_sensitive,
                                     const shoal_table *original, const shoal_table *released,
                                     const shoal_release_origin *origin, const shoal_run *run,
                                     shoal_error *error) SHOAL_MUST_CHECK;
void shoal_release_pair_reset(shoal_release_pair *pair);

static inline const shoal_label_span *shoal_release_pair_span(const shoal_release_pair_attribute *a,
                                                              uint32_t code) {
  return shoal_domain_span(&a->domain, 0, code);
}

/*
 * Divides the rows of each label (by code of the first released column) evenly over the positions
 * that it covers. `mass` has n_positions + 1 zeros: first differences at the ends of spans, then
 * their sums.
 */
void shoal_labels_spread(const shoal_domain *domain, const uint64_t *rows, double *mass);

/* Adds `amount` at every position that the label covers. */
void shoal_span_distribute(const shoal_domain *domain, const shoal_label_span *span, double amount,
                           double *to);

/* Does the attribute have sets, and is each of its labels a star? So its level is the top. */
bool shoal_release_pair_hides_sets(const shoal_release_pair_attribute *attribute);
