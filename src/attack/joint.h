/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/joint: common numbers for the sensitive values of two releases. Equal tuples of sensitive
 * values have one number in both; each class has the number of rows per tuple.
 */
#pragma once

#include "attack/attack.h"

/* Sensitive tuples of one release: those of class c are entries start[c] .. start[c + 1],
 * ascending. */
typedef struct shoal_sensitive_tuple_counts {
  size_t *start;
  uint32_t *sensitive_tuple;
  uint64_t *n_rows;
} shoal_sensitive_tuple_counts;

typedef struct shoal_joint {
  size_t n_sensitive;
  uint32_t n_sensitive_tuples;
  uint32_t **value_of;              /* by sensitive attribute and tuple; SHOAL_NONE: missing */
  uint32_t *n_values;               /* by sensitive attribute: values of both releases */
  uint32_t *sensitive_tuple_of_row; /* rows of the attacked release, then of the earlier one */
  shoal_sensitive_tuple_counts counts[2];
  shoal_arena arena; /* of all these */
} shoal_joint;

/* Groups the rows of both releases. Cost: linear in their rows. */
shoal_status shoal_joint_build(shoal_joint *joint, const shoal_attack_case *attacked,
                               const shoal_previous_release *previous,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_joint_reset(shoal_joint *joint);
