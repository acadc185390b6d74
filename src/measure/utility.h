/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure: what a full-domain release is still good for. Sums run over the released rows;
 * suppressed rows are told beside them (docs/reading-the-papers.md R9, R16).
 */
#ifndef SHOAL_MEASURE_UTILITY_H
#define SHOAL_MEASURE_UTILITY_H

#include "lattice/lattice.h"

typedef struct shoal_utility {
  double dm;              /* discernibility: sum of squared class sizes */
  double avg;             /* rows / (classes x k) */
  double il;              /* information loss of Truta, Campan & Meyer 2007, eq. 4-5 */
  double nil;             /* il / (rows x quasi-identifiers) */
  double accuracy;        /* 1 - mean of level / height */
  double height_accuracy; /* Samarati 2001, section 6: 1 - height / height of the top */
  double completeness;    /* released rows / rows */
} shoal_utility;

/* `breaks[c]`: class c is suppressed. `loss`, by quasi-identifier, receives its share of nil. */
shoal_utility shoal_utility_measure(const shoal_frequency *frequency, const shoal_space *space,
                                    const uint32_t *levels, const shoal_classes *classes,
                                    const uint8_t *breaks, uint64_t k, double *loss);

#endif
