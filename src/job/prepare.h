/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job: the only place that knows every stage. `prepare` brings a table and a policy together:
 * which column is what, hierarchies compiled, demands bound, rows grouped.
 */
#ifndef SHOAL_JOB_PREPARE_H
#define SHOAL_JOB_PREPARE_H

#include "base/work.h"
#include "lattice/lattice.h"
#include "report/result.h"

typedef struct shoal_prepared {
  const shoal_table *table;
  const shoal_policy *policy;
  const shoal_run *run;
  shoal_role *roles; /* by column of the table */
  size_t n_quasi;
  const shoal_column **quasi; /* in column order */
  const shoal_attribute **quasi_attributes;
  shoal_hierarchy **hierarchies; /* by quasi-identifier; NULL where none was compiled */
  shoal_decimal *weights;        /* by quasi-identifier */
  bool weighted;                 /* some weight is not 1 */
  size_t n_sensitive;
  shoal_sensitive *sensitive;        /* in column order */
  shoal_hierarchy **sensitive_trees; /* owned; NULL where an attribute has none */
  shoal_tracked tracked;             /* sensitive attributes and guard columns */
  shoal_demands demands;
  shoal_frequency *frequency;
} shoal_prepared;

/* How far to prepare. */
typedef enum shoal_depth {
  SHOAL_PREPARE_DEMANDS, /* roles and demands */
  SHOAL_PREPARE_CLASSES, /* demands, and rows grouped as they stand */
  SHOAL_PREPARE_COUNTS,  /* the same, with rows of each value of every sensitive attribute */
  SHOAL_PREPARE_LOCAL,   /* hierarchies too; a number needs none, and they may be ragged */
  SHOAL_PREPARE_LATTICE  /* hierarchies of equal heights for all */
} shoal_depth;

shoal_status shoal_prepare(shoal_prepared *prepared, const shoal_table *table,
                           const shoal_policy *policy, shoal_depth depth, const shoal_run *run,
                           shoal_error *error) SHOAL_MUST_CHECK;
void shoal_prepared_reset(shoal_prepared *prepared);

/* A search on what was prepared; the lattice must not be larger than can be searched. */
shoal_status shoal_prepared_search(const shoal_prepared *prepared, bool needs_rows,
                                   shoal_search *search, shoal_error *error) SHOAL_MUST_CHECK;

/* The least of what the demands allow as number of classes; *impossible: which one allows none. */
shoal_status shoal_prepared_most_classes(const shoal_prepared *prepared, uint64_t *most,
                                         const shoal_demand **impossible, char *why,
                                         size_t why_size, shoal_error *error) SHOAL_MUST_CHECK;

/* ---- what jobs put into results */

shoal_status shoal_result_input(shoal_result *result, const shoal_prepared *prepared,
                                shoal_error *error) SHOAL_MUST_CHECK;
/* Outcomes of all demands on the classes that are not left out; `worst` examples a demand. */
shoal_status shoal_result_models(shoal_result *result, const shoal_prepared *prepared,
                                 const shoal_classes *classes, const uint8_t *left_out,
                                 size_t worst, shoal_error *error) SHOAL_MUST_CHECK;
/* How large the classes are that are not left out. */
void shoal_result_sizes(shoal_sizes *sizes, const shoal_classes *classes, const uint8_t *left_out);
/* What was released: rows, classes, models, conditions. `breaks`: classes that are suppressed. */
shoal_status shoal_result_released(shoal_result *result, const shoal_prepared *prepared,
                                   const shoal_classes *classes, const uint8_t *breaks,
                                   const shoal_verdict *verdict,
                                   shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_result_conditions(shoal_result *result, const shoal_prepared *prepared,
                                     shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_result_node(shoal_result *result, const shoal_space *space,
                               const shoal_node *node, shoal_node_outcome *outcome,
                               shoal_error *error) SHOAL_MUST_CHECK;

#endif
