/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/release_loss: what a release lost. All sums run over the released rows; suppressed rows
 * are reported beside them (docs/reading-the-papers.md R9, R16). Losses are unweighted.
 *
 * A cell loses the height of its label's subtree over the height of the tree; a number that is
 * released as an interval the width of the interval over max - min of the table (Truta, Campan &
 * Meyer 2007, eq. 4-5); a set (values - 1) / (values of the column - 1), and 1 if it is too large
 * to be written.
 */
#pragma once

#include "cluster/axes.h"
#include "measure/figures.h"

/* Released classes: violates[c] is 0. */
typedef struct shoal_released {
  const shoal_classes *classes;
  const uint8_t *violates;
  const uint64_t *noise_rows; /* by class: noise rows; NULL: none */
} shoal_released;

/*
 * All but accuracy by levels: accuracy and height_accuracy are 1 - nil. `loss`, by
 * quasi-identifier: in, what its cells lose, summed over the released rows; out, the mean.
 */
shoal_release_loss shoal_release_loss_measure(const shoal_released *released, uint64_t n_records,
                                              uint64_t k, size_t n_quasi, double *loss);

/* What quasi-identifier q loses at a level, summed over the released rows. */
double shoal_level_loss(const shoal_frequency_set *frequency, size_t q, uint32_t level,
                        const shoal_released *released);

/*
 * The same for local recoding and every quasi-identifier. `boxes` are those of the classes on
 * `axes`.
 */
void shoal_box_losses(const shoal_axes *axes, const shoal_span *boxes,
                      const shoal_released *released, double *loss);

/*
 * Sum of squared sizes and rows / (groups x k) of the groups whose class does not violate.
 * `class_of` NULL: the groups are the classes.
 */
void shoal_sizes_measure(const shoal_classes *groups, const uint32_t *class_of,
                         const uint8_t *violates, uint64_t k, double *dm, double *avg);
