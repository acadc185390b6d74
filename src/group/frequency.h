/* SPDX-License-Identifier: Apache-2.0 */
/* group/frequency: what building and rolling up share. Private to this directory. */
#ifndef SHOAL_GROUP_FREQUENCY_H
#define SHOAL_GROUP_FREQUENCY_H

#include "group/classes.h"

/*
 * Allocates classes with nothing tracked. `classes` must be zeroed, or have its tuple and n_rows
 * arrays already. False: no memory, and the classes are reset.
 */
bool shoal_classes_init(shoal_classes *classes, uint32_t n_classes, size_t n_sensitive);

/* A histogram of entries (class, value, rows) in any order; equal entries are summed. */
bool shoal_histogram_from_entries(shoal_histogram *out, uint32_t n_classes, uint32_t n_values,
                                  size_t n_entries, const uint32_t *class_of, const uint32_t *value,
                                  const uint64_t *n_rows);

/* Makes frequency->base. Its tuple and n_rows arrays may be there already. */
shoal_status shoal_classes_of_tuples(shoal_frequency_set *frequency,
                                     shoal_error *error) SHOAL_MUST_CHECK;

#endif
