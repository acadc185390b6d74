/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/objective: what a node costs, to be made least. A suppressed row is lost wholly: it
 * costs as much as one in which every quasi-identifier is at its top. Weights count where costs
 * are of attributes (height, precision, il, loss, entropy), not where they are of classes.
 *
 * An objective that is a sum over attributes of what their levels cost (`by_level`) is a lower
 * bound by itself: suppression only adds to it, and it only grows going up the lattice. For the
 * others the classes before suppression bound what any node above can reach.
 */
#ifndef SHOAL_LATTICE_OBJECTIVE_H
#define SHOAL_LATTICE_OBJECTIVE_H

#include "lattice/lattice.h"

/* Costs of levels, by quasi-identifier and level; computed once for a search. */
typedef struct shoal_level_costs {
  size_t n;
  double **il;          /* rows x height of the label's subtree / height of the tree */
  double **loss;        /* mean over rows of ARX's share of the domain that a label stands for */
  double **entropy;     /* sum over rows of -log2(rows of the value / rows of its label) */
  double *entropy_lost; /* by quasi-identifier: the same if nothing were told */
} shoal_level_costs;

shoal_status shoal_level_costs_init(shoal_level_costs *costs, const shoal_frequency *frequency,
                                    shoal_error *error) SHOAL_MUST_CHECK;
void shoal_level_costs_reset(shoal_level_costs *costs);

/* What a cost is computed from. */
typedef struct shoal_cost_view {
  const shoal_search *search;
  const shoal_level_costs *levels_cost;
  const uint32_t *levels;
  const shoal_classes *classes;
  const uint8_t *breaks;  /* classes that are suppressed */
  const shoal_node *node; /* figures of the node */
} shoal_cost_view;

typedef struct shoal_objective {
  const char *name; /* NULL ends the table */
  const char *summary;
  double (*cost)(const shoal_cost_view *view);
  /* By levels alone, no node at or above these levels costs less; NULL: nothing is known so. */
  double (*by_level)(const shoal_search *search, const shoal_level_costs *costs,
                     const uint32_t *levels);
  /* By the classes before suppression, no node above costs less; NULL where by_level tells. */
  double (*by_classes)(const shoal_cost_view *view);
} shoal_objective;

/* The table, ended by a NULL name. */
extern const shoal_objective shoal_objective_types[];

#endif
