/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/bounds: the necessary conditions of Truta & Vinay 2006 and Campan & Truta 2006, for each
 * requirement by itself: what a class needs at least, what the table has, and how many classes can
 * satisfy it at most (docs/reading-the-papers.md R3, R7). `conditions` reports them, `anonymize`
 * refuses by them, and searches prune with them.
 */
#pragma once

#include "model/model.h"

/* The bound of one requirement. */
typedef struct shoal_bound {
  const shoal_requirement *requirement;
  /* Of what it counts: distinct values, strong ancestors, categories, people. NULL: rows. */
  const shoal_value_frequencies *frequencies;
  uint64_t min_distinct; /* of these that a class needs; rows if it counts rows */
  uint64_t n_rows;       /* of the table */
  uint64_t max_classes;  /* that can all satisfy it; 0: not even one */
  bool p_above_k;        /* the policy contradicts itself: R3 */
  uint64_t k;            /* that p is above */
} shoal_bound;

typedef struct shoal_bounds {
  shoal_value_frequencies *values; /* by sensitive attribute */
  size_t n_sensitive;
  shoal_value_frequencies people, households; /* rows of each, if they are counted */
  shoal_bound *items; /* of the requirements that have one, in their order */
  size_t n_items;
  uint64_t max_classes; /* over all quasi-identifiers, that can satisfy all; UINT64_MAX: unknown */
} shoal_bounds;

/*
 * Borrows requirements, tracked columns and table. Cost: a pass over each sensitive column. Nothing
 * to reset on failure.
 */
shoal_status shoal_bounds_init(const shoal_requirements *requirements, const shoal_tracked *tracked,
                               const shoal_table *table, shoal_bounds *bounds,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_bounds_reset(shoal_bounds *bounds);

/* The bound of a requirement, given the frequencies of its attribute's values. */
shoal_bound shoal_bound_of(const shoal_requirement *requirement,
                           const shoal_value_frequencies *values);

/* "distinct value", "strong ancestor", "category", "row", "person" or "household", and their
 * plurals. */
const char *shoal_bound_noun(const shoal_bound *bound, bool plural);

/* A sentence that says why no class can satisfy it, and what to do. `attribute` may be "". */
void shoal_bound_explain(const shoal_bound *bound, const char *attribute, char *out,
                         size_t capacity);
