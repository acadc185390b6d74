/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/local: what a release of local recoding is still good for. An attribute with a hierarchy
 * loses the height of its values' lowest common ancestor over the height of the tree, a number
 * without one max - min of the class over max - min of the table (Truta, Campan & Meyer 2007,
 * eq. 4-5; docs/reading-the-papers.md R16); unweighted.
 */
#ifndef SHOAL_MEASURE_LOCAL_H
#define SHOAL_MEASURE_LOCAL_H

#include "cluster/recode.h"
#include "measure/utility.h"

/*
 * `extents` are those of the classes on `axes`. An attribute with a tree there loses by height,
 * one without by width.
 * `breaks[c]`: class c is suppressed. `noise[c]`: of its rows so many are invented and lose
 * nothing; NULL: none are. `loss`, by quasi-identifier, receives its share of nil.
 */
shoal_utility shoal_local_measure(const shoal_axes *axes, const shoal_recoding *recoding,
                                  const shoal_classes *classes, const shoal_span *extents,
                                  const uint8_t *breaks, const uint64_t *noise, uint64_t k,
                                  double *loss);

/*
 * Sum of squared sizes and rows / (groups x k) of the groups whose class does not break.
 * `class_of` NULL: the groups are the classes.
 */
void shoal_sizes_measure(const shoal_classes *groups, const uint32_t *class_of,
                         const uint8_t *breaks, uint64_t k, double *dm, double *avg);

#endif
