/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/joint: the sensitive values of two releases under common numbers: equal tuples of
 * sensitive values are one secret in both; and how often each class has each secret.
 */
#ifndef SHOAL_ATTACK_JOINT_H
#define SHOAL_ATTACK_JOINT_H

#include "attack/attack.h"

/* Secrets of one release, by class: entries start[c] .. start[c + 1], by ascending secret. */
typedef struct shoal_secret_counts {
  size_t *start;
  uint32_t *secret;
  uint64_t *n_rows;
} shoal_secret_counts;

typedef struct shoal_joint {
  size_t n_sensitive;
  uint32_t n_secrets;
  uint32_t **value_of;     /* by sensitive attribute, by secret; UINT32_MAX: missing */
  uint32_t *n_values;      /* by sensitive attribute: values of both releases */
  uint32_t *secret_of_row; /* rows of the attacked release, then of the earlier one */
  shoal_secret_counts counts[2];
} shoal_joint;

shoal_status shoal_joint_build(shoal_joint *joint, const shoal_attack_case *attacked,
                               const shoal_earlier *earlier, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_joint_reset(shoal_joint *joint);

#endif
