/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/recode: labels of clusters. A class is released with the label of its values' lowest
 * common ancestor, or, for a number, as their smallest interval, which can be widened to a grid
 * (docs/reading-the-papers.md R24). Clusters whose labels are equal strings are one class (R23).
 */
#ifndef SHOAL_CLUSTER_RECODE_H
#define SHOAL_CLUSTER_RECODE_H

#include "base/intern.h"
#include "cluster/axes.h"

/* The boxes of groups of rows, by group and axis. NULL: no memory. */
shoal_span *shoal_boxes_of_rows(const shoal_axes *axes, const uint32_t *group_of_row,
                                uint32_t n_groups);

/* Labels of groups of rows, by quasi-identifier. */
typedef struct shoal_class_labels {
  size_t n;
  shoal_strings *strings; /* the distinct labels */
  uint32_t **of_group;    /* by group: index of its label */
} shoal_class_labels;

/* `boxes`: of the groups, by group and axis. */
shoal_status shoal_class_labels_make(shoal_class_labels *labels, const shoal_axes *axes,
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
