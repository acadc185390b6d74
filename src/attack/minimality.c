/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/minimality: an attacker who knows that a release is minimal learns from each
 * generalization step that one step less violates the policy (Wong, Fu, Wang & Pei 2007). With the
 * quasi-identifiers of the people the attacker counts class sizes one step lower; if these suffice,
 * the sensitive values must violate it, and become known. The risk comes from how the release was
 * chosen. It is reported, not simulated. If the original is given, the lattice is searched to find
 * out whether the release is minimal.
 */
#include <stdlib.h>
#include <string.h>

#include "attack/setup.h"

const char *shoal_minimality_risk(const shoal_attack_case *attacked) {
  if (attacked->minimality == SHOAL_MINIMAL_YES) return "yes";
  if (attacked->minimality == SHOAL_MINIMAL_NO) return "no";
  return attacked->policy->slack ? "answered" : "unknown";
}

/* Only a requirement on sensitive values can disclose them. */
static bool asks_of_values(const shoal_requirements *requirements) {
  for (size_t i = 0; i < requirements->n_items; i++)
    if (requirements->items[i].sensitive != SHOAL_NO_ATTRIBUTE) return true;
  return false;
}

static shoal_status run(const shoal_attack *self, const shoal_attack_case *attacked,
                        shoal_attack_findings *findings, shoal_error *error) {
  shoal_attack_finding *finding = shoal_attack_findings_add(findings, self, SHOAL_NO_ATTRIBUTE);
  if (!finding) return shoal_fail_memory(error);
  finding->n_tried = attacked->frequency->n_records;
  finding->risk = shoal_minimality_risk(attacked);
  finding->note = "a minimal release tells that one step less would break the policy; where class "
                  "sizes do not explain it, sensitive values do. 'method: {slack: 1}' in the "
                  "policy takes a node above a minimal one";
  if (!asks_of_values(attacked->requirements)) {
    finding->risk = "no";
    finding->note = "the policy asks nothing of sensitive values: how far the release is "
                    "generalized says nothing of them";
  }
  return SHOAL_OK;
}

const shoal_attack shoal_attack_minimality = {
    .name = "minimality",
    .knowledge = "the policy, that the release is generalized no more than needed, and everyone's "
                 "quasi-identifiers",
    .learns = "the sensitive value",
    .run = run,
};

/* ------------------------------------------------------------ is the release minimal? */

/* The node of a full-domain release; false unless all labels of each column are of one level. */
static bool find_node(const shoal_attack_setup *setup, const shoal_space *space, uint32_t *levels) {
  for (size_t q = 0; q < space->n; q++) {
    levels[q] = setup->domains[q].released[0].level;
    if (levels[q] == SHOAL_NONE || levels[q] > space->top[q] ||
        levels[q] < shoal_space_bottom(space, q))
      return false;
  }
  return true;
}

/* The node is minimal if it satisfies the policy and no node one step below does. */
static shoal_status check_below(shoal_attack_setup *setup, shoal_search *search, uint32_t *levels,
                                shoal_error *error) {
  bool satisfies;
  SHOAL_TRY(
      shoal_search_decide(search, shoal_space_node(&search->space, levels), &satisfies, error));
  if (!satisfies) return SHOAL_OK;
  setup->attacked.minimality = SHOAL_MINIMAL_YES;
  for (size_t q = 0; q < search->space.n; q++) {
    if (levels[q] == shoal_space_bottom(&search->space, q)) continue;
    levels[q]--;
    shoal_status status =
        shoal_search_decide(search, shoal_space_node(&search->space, levels), &satisfies, error);
    levels[q]++;
    SHOAL_TRY(status);
    if (satisfies) setup->attacked.minimality = SHOAL_MINIMAL_NO;
  }
  return SHOAL_OK;
}

/* Both tables have the quasi-identifiers in one order; otherwise their nodes differ. */
static bool same_order(const shoal_context *a, const shoal_context *b) {
  for (size_t q = 0; q < a->n_quasi; q++)
    if (strcmp(a->quasi[q]->name, b->quasi[q]->name) != 0) return false;
  return true;
}

static shoal_status search_original(shoal_attack_setup *setup, const shoal_context *original,
                                    shoal_error *error) {
  shoal_search search;
  SHOAL_TRY(shoal_context_search(original, true, &search, error));
  uint32_t *levels = shoal_alloc(search.space.n, sizeof *levels);
  shoal_status status = levels ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK && find_node(setup, &search.space, levels))
    status = check_below(setup, &search, levels, error);
  free(levels);
  shoal_search_reset(&search);
  return status;
}

shoal_status shoal_attack_setup_find_minimality(shoal_attack_setup *setup, shoal_error *error) {
  const shoal_context *p = &setup->context;
  if (!setup->original_table) return SHOAL_OK;
  for (size_t q = 0; q < p->n_quasi; q++)
    if (!p->quasi_attributes[q]->has_hierarchy) return SHOAL_OK;
  shoal_context original;
  shoal_error unused_error;
  shoal_status status = shoal_context_init(&original, setup->original_table, p->policy,
                                           SHOAL_CONTEXT_LATTICE, p->run, &unused_error);
  if (status == SHOAL_BAD_INPUT) return SHOAL_OK; /* without a lattice the question has no answer */
  if (status == SHOAL_OK) {
    if (same_order(p, &original)) status = search_original(setup, &original, &unused_error);
    shoal_context_reset(&original);
  }
  if (status == SHOAL_BAD_INPUT) return SHOAL_OK;
  if (status != SHOAL_OK && error) *error = unused_error;
  return status;
}
