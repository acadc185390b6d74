/* SPDX-License-Identifier: Apache-2.0 */
/* measure/domain_parts: what the files of a domain share while it is made. */
#pragma once

#include "base/intern.h"
#include "hierarchy/set_label.h"
#include "measure/domain.h"

/* A label of a released column. */
typedef struct shoal_label_at {
  size_t released;
  uint32_t code;
} shoal_label_at;

/* Labels that cover no known value. */
typedef struct shoal_unknown_labels {
  shoal_label_at *items;
  size_t n, capacity;
} shoal_unknown_labels;

/* The bytes of a leaf, which may be a value of a column or only the tree's. */
static inline shoal_label shoal_domain_leaf(const shoal_domain *domain, uint32_t leaf) {
  shoal_label label;
  if (domain->hierarchy)
    label.bytes = shoal_level_label(&domain->hierarchy->levels[0], leaf, &label.size_bytes);
  else label.bytes = shoal_column_value(&domain->values, leaf, &label.size_bytes);
  return label;
}

/*
 * Orders the values of the raw columns and those that `unknown` labels add. Fills all of the domain
 * except `released`.
 */
shoal_status shoal_domain_order_values(shoal_domain *domain, const shoal_domain_request *request,
                                       const shoal_unknown_labels *unknown,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* Interns into `known` the values that a label without known values adds. */
shoal_status shoal_label_add_values(const shoal_domain_request *request, shoal_label label,
                                    shoal_values *known, shoal_error *error) SHOAL_MUST_CHECK;

/* Finds the spans of all released labels; those without a known value are listed in `unknown`. */
shoal_status shoal_domain_read_labels(shoal_domain *domain, const shoal_domain_request *request,
                                      shoal_unknown_labels *unknown,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Adds to the label of rare values those values of an external table that can be rare. After the
 * labels were read. False: no memory.
 */
bool shoal_domain_extend_rare(shoal_domain *domain, const shoal_domain_request *request);

/* Fills same_as. False: no memory. */
bool shoal_labels_find_same(shoal_released_labels *released);

/* A released label as a set. */
typedef struct shoal_domain_set {
  bool is_set;               /* it can only be read as a set */
  const uint32_t *positions; /* of its values, ascending; NULL: not all are known */
  uint32_t n;
} shoal_domain_set;

/*
 * Reads the labels of a column of the kind "sets" as sets, by code. `complete`: values that are not
 * known do not count. False: no memory.
 */
bool shoal_domain_find_sets(shoal_domain *domain, const shoal_column *column,
                            shoal_equality equality, bool complete, shoal_domain_set *sets);

/* The loss of a label of such a column; n_original: values of the original, or 0. */
double shoal_domain_set_loss(const shoal_domain *domain, uint32_t n_original,
                             const shoal_label_span *span);

/* Fills same_as of labels with the same values. False: no memory. */
bool shoal_sets_find_same(shoal_released_labels *released);

/* Interns the elements of a set label and reports for each value whether it is missing. */
typedef shoal_status shoal_missing_mark(void *user, uint32_t value, bool missing,
                                        shoal_error *error);
shoal_status shoal_set_add_values(const shoal_policy *policy, shoal_label label,
                                  shoal_values *known, shoal_missing_mark *mark, void *user,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/* Is it a hierarchy of numbers, whatever the attribute's type? */
static inline bool shoal_spec_has_numbers(const shoal_attribute *attribute) {
  shoal_hierarchy_kind kind = attribute->hierarchy.kind;
  return attribute->has_hierarchy &&
         (kind == SHOAL_HIERARCHY_INTERVALS || kind == SHOAL_HIERARCHY_ROUND ||
          kind == SHOAL_HIERARCHY_CUTS);
}
