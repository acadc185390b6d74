/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain: what its files share. explain.c finds the node to explain and tests the requirements on
 * the whole table, costs.c examines the node's neighbourhood, changes.c tries other policies,
 * local.c tries local recoding.
 */
#pragma once

#include "decide/method.h"
#include "decide/models_report.h"
#include "report/explain.h"

typedef struct shoal_explain_state {
  const shoal_context *context;
  shoal_result *result;
  shoal_explanation *explanation;
  shoal_search search;
  shoal_node_list nodes; /* every node by its number; empty: the lattice is too large */
  bool met;
  bool has_base;
  shoal_node base;  /* the chosen node, or the one with the fewest rows to suppress */
  uint64_t limit;   /* rows that may be suppressed: by the policy, or as many as the base needs */
  uint64_t n_tried; /* nodes evaluated by finished trials, for the progress */
} shoal_explain_state;

/* The evaluation of a node: stored, or computed now. */
shoal_status shoal_explain_state_node(shoal_explain_state *state, uint64_t number, shoal_node *node,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/* Searches the lowest node that satisfies another policy or table: one trial, from scratch. */
shoal_status shoal_explain_state_try(shoal_explain_state *state, const shoal_context *other,
                                     shoal_node *node, bool *found,
                                     shoal_error *error) SHOAL_MUST_CHECK;

/* Whether trials are affordable. Without monotonicity each evaluates every node. */
bool shoal_explain_state_affords_trials(const shoal_explain_state *state);

/* Adds to the explanation: the cost of each quasi-identifier; the outliers. */
shoal_status shoal_explain_costs(shoal_explain_state *state, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_explain_outliers(shoal_explain_state *state,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/* Adds to the explanation: the policy without each requirement; the smallest changes that help. */
shoal_status shoal_explain_left_out(shoal_explain_state *state,
                                    shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_explain_changes(shoal_explain_state *state, shoal_error *error) SHOAL_MUST_CHECK;

/* A copy of a policy that shares everything with it except what was lowered. */
typedef struct shoal_lowered_policy {
  shoal_policy policy;
  shoal_arena arena; /* reset it, also on failure */
} shoal_lowered_policy;

/* The policy with every k at most `k` and every p at most `p`. False: no memory. */
bool shoal_lowered_policy_make(shoal_lowered_policy *lowered, const shoal_policy *policy,
                               uint64_t k, uint64_t p);

/* local.c: the local algorithm that `anonymize` would use. False: none. */
bool shoal_explain_find_local(const shoal_policy *policy, shoal_method *method);

/*
 * If no node satisfies and the policy's method may use local recoding, tries it: with the policy,
 * and with smaller changes than those that help nodes.
 */
shoal_status shoal_explain_local(shoal_explain_state *state, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * For a context without a lattice: makes a release by local recoding, one without each
 * quasi-identifier, and others with small changes. Larger tables than SHOAL_ALTERNATIVES_ROWS are
 * represented by a sample.
 */
shoal_status shoal_explain_local_only(shoal_explain_state *state,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/* The job: fills a new result of kind SHOAL_RESULT_EXPLAIN. */
shoal_status shoal_explain_policy(shoal_result *result, const shoal_table *table,
                                  const shoal_policy *policy, const shoal_run *run,
                                  shoal_error *error) SHOAL_MUST_CHECK;
