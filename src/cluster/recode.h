/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/recode: clusters -> labels. A class is released with the label of its values' lowest
 * common ancestor, or, a number, as their smallest interval, which may be widened to a grid
 * (docs/reading-the-papers.md R24). What costs are counted on (cluster/axes) may differ from what
 * labels are made of: a number with a hierarchy costs by its tree and is released as an interval,
 * except where the algorithm's row says `costs_as_released`.
 * Labels are strings: clusters whose labels are all spelled alike are one class (R23).
 */
#ifndef SHOAL_CLUSTER_RECODE_H
#define SHOAL_CLUSTER_RECODE_H

#include "cluster/axes.h"
#include "hierarchy/strings.h"

/* How a quasi-identifier is released. */
typedef struct shoal_recode_rule {
  bool interval;      /* a number as the smallest interval; else by its hierarchy */
  shoal_decimal snap; /* intervals go out to multiples of it; 0: they do not */
} shoal_recode_rule;

typedef struct shoal_recoding {
  const shoal_frequency *frequency;
  const shoal_recode_rule *rules;      /* by quasi-identifier */
  const shoal_hierarchy **hierarchies; /* what labels are made of; NULL: intervals of numbers */
  shoal_axes axes;                     /* places in the order that these give */
  int64_t **numbers;                   /* by quasi-identifier: x 10^-scale, by code; NULL: labels */
  unsigned *scale;
} shoal_recoding;

/* `rules`, one a quasi-identifier, and the frequency set must outlive the recoding. */
shoal_status shoal_recoding_init(shoal_recoding *recoding, const shoal_frequency *frequency,
                                 const shoal_recode_rule *rules,
                                 shoal_error *error) SHOAL_MUST_CHECK;
void shoal_recoding_reset(shoal_recoding *recoding);

/* What each group of rows covers: n spans a group, side by side. NULL: no memory. */
shoal_span *shoal_extents_of_rows(const shoal_axes *axes, const uint32_t *group_of_row,
                                  uint32_t n_groups);

/* Does a span of numbers hold a missing value beside others? */
static inline bool shoal_axis_mixed(const shoal_axis *axis, shoal_span span) {
  return span.hi >= axis->n_numbers && span.lo != span.hi;
}

/* The labels of groups of rows, by quasi-identifier. */
typedef struct shoal_labels {
  size_t n;
  shoal_strings *strings; /* the distinct ones */
  uint32_t **of_group;    /* by group: which of them */
} shoal_labels;

/* `extents` are those of the groups on recoding->axes. */
shoal_status shoal_labels_make(shoal_labels *labels, const shoal_recoding *recoding,
                               const shoal_span *extents, uint32_t n_groups,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_labels_reset(shoal_labels *labels);

/*
 * Groups whose labels are all alike become one class; labels are by class then. `class_of`
 * receives each group's class, in order of first appearance.
 */
shoal_status shoal_labels_unite(shoal_labels *labels, uint32_t n_groups, uint32_t *class_of,
                                uint32_t *n_classes, shoal_error *error) SHOAL_MUST_CHECK;

#endif
