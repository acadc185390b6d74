/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/labels: how the rows use the labels of one attribute at one level: what Datafly and
 * mu-Argus look at before they look at combinations (Samarati 2001, section 7).
 */
#ifndef SHOAL_LATTICE_LABELS_H
#define SHOAL_LATTICE_LABELS_H

#include "group/classes.h"

typedef struct shoal_label_use {
  uint32_t n_labels;    /* that some row has */
  uint64_t fewest_rows; /* of these labels; 0 where there are no rows */
} shoal_label_use;

/* Cost: one pass over the distinct tuples. */
shoal_status shoal_label_use_count(const shoal_frequency *frequency, size_t attribute,
                                   uint32_t level, shoal_label_use *use,
                                   shoal_error *error) SHOAL_MUST_CHECK;

#endif
