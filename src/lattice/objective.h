/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice/objective: the cost of a node, which `optimal` minimizes. A suppressed row loses
 * everything: it costs as much as a row with every quasi-identifier at its top. Weights apply to
 * objectives of attributes (height, precision, il, loss, granularity, entropy), not to those of
 * classes.
 *
 * There are two kinds of objectives. Some combine costs of attributes at their levels
 * (`level_cost`): this is a lower bound, since suppression adds to it, and it never falls going up
 * (optimal_bounds.h). For the others (`by_classes`) the classes before suppression bound the cost
 * of every node above.
 */
#pragma once

#include "lattice/lattice.h"

/* Costs of levels, by quasi-identifier and level. */
typedef struct shoal_level_costs {
  size_t n;
  uint64_t **rows;  /* of each value */
  double **il;      /* rows x height of the label's subtree / height of the tree */
  double **loss;    /* mean over rows of the share of the domain that a label covers (ARX) */
  double **entropy; /* sum over rows of -log2(rows of the value / rows of its label) */
} shoal_level_costs;

/* Cost: a pass over the tuples, and over the values for each level. Nothing to reset on failure. */
shoal_status shoal_level_costs_init(shoal_level_costs *costs, const shoal_frequency_set *frequency,
                                    shoal_error *error) SHOAL_MUST_CHECK;
void shoal_level_costs_reset(shoal_level_costs *costs);

/* What the cost of a node is computed from. */
typedef struct shoal_cost_view {
  const shoal_search *search;
  const shoal_level_costs *levels_cost;
  const uint32_t *levels;
  const shoal_classes *classes;
  const uint8_t *violates; /* by class: suppressed; may be NULL if nothing is */
  const shoal_node *node;
  const uint32_t *class_of_tuple; /* if rows are suppressed and the objective needs_tuples */
} shoal_cost_view;

typedef struct shoal_objective {
  const char *name; /* NULL ends the table */
  const char *summary;
  double (*cost)(const shoal_cost_view *view);
  /* The cost of an attribute at a level, nothing suppressed; NULL: not of this kind. */
  double (*level_cost)(const shoal_search *search, const shoal_level_costs *costs, size_t q,
                       uint32_t l);
  /* What suppressing a row of that label adds to the cost of the attribute. */
  double (*row_lost)(const shoal_frequency_set *frequency, size_t q, uint32_t l, uint32_t label,
                     uint64_t label_rows);
  bool is_mean;      /* mean over the attributes; else their sum */
  bool multiplies;   /* the mean is the geometric mean of 1 + cost, minus 1 */
  bool needs_tuples; /* with suppression, the cost is a sum over tuples */
  /* From the classes before suppression: no node at or above costs less. NULL: level_cost does. */
  double (*by_classes)(const shoal_cost_view *view);
} shoal_objective;

/* The weight of an attribute (default: 1). */
double shoal_objective_weight(const shoal_search *search, size_t q);

/* The table, ended by a NULL name. */
extern const shoal_objective shoal_objective_types[];
