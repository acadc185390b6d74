/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/explain: what the parts of the explanation share. explain.c finds the node to explain and
 * holds the demands against the whole table, explain_costs.c looks around that node,
 * explain_changes.c tries other policies. Private to this folder.
 */
#ifndef SHOAL_JOB_EXPLAIN_H
#define SHOAL_JOB_EXPLAIN_H

#include "job/prepare.h"
#include "report/explain.h"

typedef struct shoal_study {
  const shoal_prepared *prepared;
  shoal_result *result;
  shoal_explanation *explanation;
  shoal_search search;
  shoal_node_list nodes; /* every node by its number; empty where the lattice is too large */
  bool met;
  bool has_base;
  shoal_node base;  /* the chosen node, or the one with the fewest rows to suppress */
  uint64_t limit;   /* rows that may be suppressed: as asked, or as the base needs */
  uint64_t n_tried; /* nodes looked at by trials that are over, for the progress */
} shoal_study;

/* A node's figures: known, or measured. */
shoal_status shoal_study_node(shoal_study *study, uint64_t number, shoal_node *node,
                              shoal_error *error) SHOAL_MUST_CHECK;

/* The node of least height that satisfies another policy or table: one trial, from scratch. */
shoal_status shoal_study_try(shoal_study *study, const shoal_prepared *other, shoal_node *node,
                             bool *found, shoal_error *error) SHOAL_MUST_CHECK;

/* Can trials be afforded? Without monotonicity each looks at every node. */
bool shoal_study_affords_trials(const shoal_study *study);

/* Into the explanation: what each quasi-identifier costs, and the outliers. */
shoal_status shoal_explain_costs(shoal_study *study, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_explain_outliers(shoal_study *study, shoal_error *error) SHOAL_MUST_CHECK;

/* Into the explanation: the policy without each demand; the smallest changes that help. */
shoal_status shoal_explain_left_out(shoal_study *study, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_explain_changes(shoal_study *study, shoal_error *error) SHOAL_MUST_CHECK;

#endif
