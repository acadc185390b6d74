/* SPDX-License-Identifier: Apache-2.0 */
/* group/frequency: what building and rolling up share. Private to this directory. */
#pragma once

#include "group/classes.h"

/*
 * Allocates classes with nothing tracked. `classes` must be zeroed, or have its tuple and n_rows
 * arrays already. False: no memory, and the classes are reset.
 */
bool shoal_classes_init(shoal_classes *classes, uint32_t n_classes, size_t n_tracked);

/* A histogram of entries (class, value, rows) in any order; equal entries are summed. */
bool shoal_histogram_from_entries(shoal_histogram *out, uint32_t n_classes, uint32_t n_values,
                                  size_t n_entries, const uint32_t *class_of, const uint32_t *value,
                                  const uint64_t *n_rows);

/* Lists of up to `cap` distinct values by class, while they are filled. */
typedef struct shoal_capped_lists {
  uint32_t n_classes;
  uint32_t cap;
  size_t *start;    /* n_classes + 1: of the room of each class */
  uint32_t *length; /* by class */
  uint32_t *value;
} shoal_capped_lists;

/* `most`: by class, an upper bound of its values. False: no memory; nothing to free. */
bool shoal_capped_lists_init(shoal_capped_lists *lists, uint32_t n_classes, uint32_t cap,
                             const uint64_t *most);
void shoal_capped_lists_add(shoal_capped_lists *lists, uint32_t c, uint32_t value);
/* Moves the lists into `out` and frees the rest. */
void shoal_capped_lists_take(shoal_capped_lists *lists, uint32_t n_values, shoal_histogram *out);

/* Makes frequency->base. Its tuple and n_rows arrays may be there already. */
shoal_status shoal_classes_of_tuples(shoal_frequency_set *frequency,
                                     shoal_error *error) SHOAL_MUST_CHECK;
