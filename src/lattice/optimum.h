/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/optimum: the search for the best node by bounds (optimal.c), and looking at nodes for it
 * (looks.c). Private to this folder.
 */
#ifndef SHOAL_LATTICE_OPTIMUM_H
#define SHOAL_LATTICE_OPTIMUM_H

#include "lattice/frontier.h"
#include "lattice/known.h"
#include "lattice/walk.h"

/* What looking at a node told. */
typedef struct shoal_finding {
  uint64_t suppressed; /* by the demands asked for; UINT64_MAX: more than the limit */
  bool refused;        /* by the second necessary condition */
  bool costed;         /* it satisfies, and its cost is worth knowing */
  shoal_node figures;  /* where costed */
  double cost;
} shoal_finding;

typedef struct shoal_optimum {
  shoal_search *search;
  const shoal_objective *objective;
  uint64_t limit; /* rows that may be suppressed, such that some are left where they must be */
  shoal_level_costs costs;
  shoal_bound bound;
  shoal_frontier frontier;
  shoal_demands monotone; /* those of the demands that are */
  bool all_monotone;
  bool sizes_tell;   /* the monotone ones ask for sizes alone */
  shoal_known least; /* rows suppressed by them at least, and at most */
  shoal_known most;
  shoal_ids whole; /* nodes looked at wholly */
  uint64_t *path;
  uint32_t *levels; /* scratch */
  double deadline;  /* 0: none */
  bool found;
  double cost;       /* of the best node found */
  double best_bound; /* of its levels */
  shoal_node best;
} shoal_optimum;

/*
 * Can a node of this bound not be the one? Rounding apart: of equals the one whose levels cost
 * less is taken, then the one with the least number.
 */
bool shoal_optimum_hopeless(const shoal_optimum *optimum, double bound, double level_bound,
                            uint64_t node);

/* Looks at n nodes, up to SHOAL_LOOKS, on as many threads as there are, and learns from them. */
shoal_status shoal_optimum_look(shoal_optimum *optimum, const uint64_t *nodes, size_t n, bool whole,
                                shoal_error *error) SHOAL_MUST_CHECK;

#endif
