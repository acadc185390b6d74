/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/recode: labels of clusters. A class is released with the label of its values' lowest
 * common ancestor, or, for a number, as their smallest interval, which can be widened to a grid
 * (docs/reading-the-papers.md R24). Costs (cluster/axes) can be counted on something else: unless
 * the algorithm has `costs_as_released`, a number with a hierarchy costs by its tree and is
 * released as an interval. Clusters whose labels are equal strings are one class (R23).
 */
#ifndef SHOAL_CLUSTER_RECODE_H
#define SHOAL_CLUSTER_RECODE_H

#include "base/intern.h"
#include "cluster/axes.h"

/* How a quasi-identifier is released. */
typedef struct shoal_recode_rule {
  bool interval;      /* a number as the smallest interval; else by its hierarchy */
  shoal_decimal snap; /* ends of intervals are widened to multiples of it; 0: they are not */
} shoal_recode_rule;

typedef struct shoal_recoding {
  const shoal_frequency_set *frequency;
  const shoal_recode_rule *rules;      /* by quasi-identifier */
  const shoal_hierarchy **hierarchies; /* of the labels; NULL: intervals of numbers */
  shoal_axes axes;                     /* of these hierarchies */
  int64_t **numbers;                   /* by quasi-identifier: x 10^-scale, by code; NULL: labels */
  unsigned *scale;
} shoal_recoding;

/* `rules`, one per quasi-identifier, and the frequency set must outlive the recoding. */
shoal_status shoal_recoding_init(shoal_recoding *recoding, const shoal_frequency_set *frequency,
                                 const shoal_recode_rule *rules,
                                 shoal_error *error) SHOAL_MUST_CHECK;
void shoal_recoding_reset(shoal_recoding *recoding);

/* The boxes of groups of rows, by group and axis. NULL: no memory. */
shoal_span *shoal_boxes_of_rows(const shoal_axes *axes, const uint32_t *group_of_row,
                                uint32_t n_groups);

/* Does a span of numbers include a missing value and others? */
static inline bool shoal_axis_mixed(const shoal_axis *axis, shoal_span span) {
  return span.hi >= axis->n_numbers && span.lo != span.hi;
}

/* Labels of groups of rows, by quasi-identifier. */
typedef struct shoal_class_labels {
  size_t n;
  shoal_strings *strings; /* the distinct labels */
  uint32_t **of_group;    /* by group: index of its label */
} shoal_class_labels;

/* `boxes`: of the groups, on recoding->axes. */
shoal_status shoal_class_labels_make(shoal_class_labels *labels, const shoal_recoding *recoding,
                                     const shoal_span *boxes, uint32_t n_groups,
                                     shoal_error *error) SHOAL_MUST_CHECK;
void shoal_class_labels_reset(shoal_class_labels *labels);

/*
 * Makes one class of groups whose labels are all equal; `labels` are by class then. `class_of`
 * receives the class of each group, numbered in order of first appearance.
 */
shoal_status shoal_class_labels_unite(shoal_class_labels *labels, uint32_t n_groups,
                                      uint32_t *class_of, uint32_t *n_classes,
                                      shoal_error *error) SHOAL_MUST_CHECK;

#endif
