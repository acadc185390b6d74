/* SPDX-License-Identifier: Apache-2.0 */
/* job/algorithm: which algorithm and which objective a policy asks for, of all there are. */
#ifndef SHOAL_JOB_ALGORITHM_H
#define SHOAL_JOB_ALGORITHM_H

#include "cluster/cluster.h"
#include "lattice/objective.h"

/* An objective of local recoding. */
typedef struct shoal_local_objective {
  const char *name;
  const char *summary; /* NULL: that of the full-domain objective of this name */
  shoal_aim aim;
  shoal_loss_kind kind;
} shoal_local_objective;

/* Full-domain or local: one of the two algorithms is NULL. */
typedef struct shoal_method {
  const shoal_algorithm *node;
  const shoal_objective *node_objective;
  const shoal_local_algorithm *local;
  const shoal_local_objective *local_objective;
  char reason[160];
} shoal_method;

/* "auto" picks; SHOAL_BAD_INPUT, with the policy's line, where a name is wrong or does not fit. */
shoal_status shoal_method_bind(const shoal_policy *policy, shoal_method *method,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* SHOAL_BAD_INPUT where the algorithm cannot reach what the policy asks for. */
shoal_status shoal_method_check_reach(const shoal_method *method, const shoal_policy *policy,
                                      const shoal_fit *fit, shoal_error *error) SHOAL_MUST_CHECK;

#endif
