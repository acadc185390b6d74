/* SPDX-License-Identifier: Apache-2.0 */
/* group/build: what building and rolling up share. Private to this folder. */
#ifndef SHOAL_GROUP_BUILD_H
#define SHOAL_GROUP_BUILD_H

#include "group/classes.h"

/*
 * Classes with nothing tracked yet. `classes` is all zero, or has its tuples and rows already;
 * else they are made, without rows. All of them are freed where it fails.
 */
bool shoal_classes_init(shoal_classes *classes, uint32_t n_classes, size_t n_sensitive);

/* A histogram of entries (class, value, rows) in any order; equal ones are added up. */
bool shoal_histogram_from_entries(shoal_histogram *out, uint32_t n_classes, uint32_t n_values,
                                  size_t n_entries, const uint32_t *class_of, const uint32_t *value,
                                  const uint64_t *n_rows);

/* The base of a frequency set whose tuples are known; it may have them, and their rows, already. */
shoal_status shoal_classes_of_tuples(shoal_frequency *frequency,
                                     shoal_error *error) SHOAL_MUST_CHECK;

#endif
