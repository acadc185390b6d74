/* SPDX-License-Identifier: Apache-2.0 */
/* decide/method: the algorithm and the objective that a policy asks for. */
#pragma once

#include "cluster/cluster.h"
#include "lattice/objective.h"
#include "report/result.h"

/* An objective of local recoding. */
typedef struct shoal_local_objective {
  const char *name;
  const char *summary; /* NULL: that of the full-domain objective of this name */
  shoal_cluster_objective objective;
  shoal_loss_kind kind;
} shoal_local_objective;

/* One of `node` and `local` is NULL. */
typedef struct shoal_method {
  shoal_method_kind kind;
  const char *name; /* of the algorithm */
  const shoal_algorithm *node;
  const shoal_objective *node_objective;
  const shoal_local_algorithm *local;
  const shoal_local_objective *local_objective;
  bool automatic;    /* the policy leaves the choice to "auto" */
  bool bounded;      /* the search ends after SHOAL_AUTO_CLASSES classes */
  uint64_t max_work; /* a lower limit for bounded searches, in classes; 0: none */
  char reason[160];  /* why "auto" chose it, or that it was asked for */
} shoal_method;

/*
 * Classes that the full-domain search of "auto" reads, at most: these, or SHOAL_AUTO_TIMES times
 * the distinct tuples of the table if that is more. Then it takes the best node found so far.
 */
enum { SHOAL_AUTO_CLASSES = 50000000, SHOAL_AUTO_TIMES = 100 };

/* "auto" uses local recoding for larger tables only where there is no lattice. */
enum { SHOAL_AUTO_ROWS = 10000000 };

/* What a policy asks for: one method, or those whose best release "auto" takes, local first. */
typedef struct shoal_methods {
  shoal_method items[2];
  size_t n;
} shoal_methods;

/*
 * Binds the policy's names to rows of the tables. SHOAL_BAD_INPUT, with the policy's line, if a
 * name is unknown, or if the objective or another setting does not fit the algorithm.
 */
shoal_status shoal_methods_bind(const shoal_policy *policy, shoal_methods *methods,
                                shoal_error *error) SHOAL_MUST_CHECK;

/* Is one of them of this kind? */
bool shoal_methods_have(const shoal_methods *methods, shoal_method_kind kind);

/* SHOAL_BAD_INPUT if the local algorithm does not support a model of the policy. */
shoal_status shoal_method_check_support(const shoal_method *method, const shoal_policy *policy,
                                        const shoal_cluster_requirements *required,
                                        shoal_error *error) SHOAL_MUST_CHECK;

/* SHOAL_BAD_INPUT if people or households must be counted and the algorithm counts rows only. */
shoal_status shoal_method_check_people(const shoal_method *method, const shoal_policy *policy,
                                       const shoal_tracked *tracked,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* Names and summaries for help texts, ended by an entry without a name. */
const shoal_entry *shoal_method_algorithms(void);
const shoal_entry *shoal_method_objectives(void);
