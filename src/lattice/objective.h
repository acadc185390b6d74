/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/objective: what a node costs, to be made least. A suppressed row is lost wholly: it
 * costs as much as one in which every quasi-identifier is at its top. Weights count where costs
 * are of attributes (height, precision, il, loss, entropy), not where they are of classes.
 *
 * An objective that joins what the attributes cost by their levels (`level_cost`) is a lower bound
 * by itself: suppression only adds to it, and it only grows going up the lattice (bound.h). For the
 * others the classes before suppression bound what any node above can reach.
 */
#ifndef SHOAL_LATTICE_OBJECTIVE_H
#define SHOAL_LATTICE_OBJECTIVE_H

#include "lattice/lattice.h"

/* Costs of levels, by quasi-identifier and level; computed once for a search. */
typedef struct shoal_level_costs {
  size_t n;
  uint64_t **rows;      /* by value: how many rows have it */
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
  const uint8_t *breaks;          /* classes that are suppressed */
  const shoal_node *node;         /* figures of the node */
  const uint32_t *class_of_tuple; /* where rows are suppressed and the objective needs tuples */
} shoal_cost_view;

typedef struct shoal_objective {
  const char *name; /* NULL ends the table */
  const char *summary;
  double (*cost)(const shoal_cost_view *view);
  /* What an attribute costs at a level, nothing suppressed; NULL: nothing is known by levels. */
  double (*level_cost)(const shoal_search *search, const shoal_level_costs *costs, size_t q,
                       uint32_t l);
  /* What a row of that label costs more in the attribute by being suppressed; not negative. */
  double (*row_lost)(const shoal_frequency *frequency, size_t q, uint32_t l, uint32_t label,
                     uint64_t label_rows);
  bool is_mean;      /* over the attributes; else their sum */
  bool multiplies;   /* the mean is the geometric one of 1 + cost, minus 1 */
  bool needs_tuples; /* costs with suppression go over tuples */
  /* By the classes before suppression, no node above costs less; NULL where levels tell. */
  double (*by_classes)(const shoal_cost_view *view);
} shoal_objective;

/* What an attribute counts for, beside the others: 1 unless the policy weighs it. */
double shoal_objective_weight(const shoal_search *search, size_t q);

/* The table, ended by a NULL name. */
extern const shoal_objective shoal_objective_types[];

#endif
