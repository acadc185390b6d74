/* SPDX-License-Identifier: Apache-2.0 */
/* api/facts: the public functions of shoal_facts, and facts of results. */
#include "describe/facts.h"

#include <stdlib.h>

#include "api/arguments.h"
#include "policy/policy.h"
#include "report/result.h"

shoal_status shoal_facts_new(const shoal_release *release, shoal_facts **facts,
                             shoal_error *error) {
  SHOAL_BEGIN(error);
  if (facts) *facts = NULL;
  SHOAL_NEED(release && facts, error);
  shoal_facts *made = shoal_alloc_zero(1, sizeof *made);
  if (!made) return shoal_answer(shoal_fail_memory(error), error);
  shoal_status status = shoal_facts_make(made, release, error);
  if (status == SHOAL_OK) *facts = made;
  else shoal_facts_free(made);
  return shoal_answer(status, error);
}

void shoal_facts_free(shoal_facts *facts) {
  if (facts) shoal_facts_reset(facts);
  free(facts);
}

size_t shoal_facts_quasi(const shoal_facts *facts) {
  return facts ? facts->release->decision.n_quasi : 0;
}

const char *shoal_facts_name(const shoal_facts *facts, size_t quasi) {
  return quasi < shoal_facts_quasi(facts) ? facts->release->context.quasi[quasi]->name : NULL;
}

size_t shoal_facts_classes(const shoal_facts *facts) { return facts ? facts->n_classes : 0; }

bool shoal_facts_class(const shoal_facts *facts, size_t number, shoal_class_fact *fact) {
  if (!fact || number >= shoal_facts_classes(facts)) return false;
  const shoal_fact_class *found = &facts->classes[number];
  uint8_t action = facts->release->decision.action_of_group[found->group];
  *fact = (shoal_class_fact){.n_rows = found->rows,
                             .n_noise = found->noise,
                             .fate = action == SHOAL_ROW_KEEP     ? SHOAL_RELEASED
                                     : action == SHOAL_ROW_REMOVE ? SHOAL_REMOVED
                                                                  : SHOAL_BLANKED};
  return true;
}

const char *shoal_facts_label(const shoal_facts *facts, size_t number, size_t quasi,
                              size_t *size_bytes) {
  if (!size_bytes || number >= shoal_facts_classes(facts) || quasi >= shoal_facts_quasi(facts))
    return NULL;
  shoal_label label = shoal_facts_class_label(facts, (uint32_t)number, quasi);
  *size_bytes = label.size_bytes;
  return label.bytes;
}

const uint32_t *shoal_facts_class_of_rows(const shoal_facts *facts, uint64_t *n_rows) {
  if (n_rows) *n_rows = facts ? facts->n_rows : 0;
  return facts && n_rows ? facts->class_of_row : NULL;
}

const shoal_share_fact *shoal_facts_shares(const shoal_facts *facts, size_t *n) {
  if (n) *n = facts ? facts->n_shares : 0;
  return facts && n ? facts->shares : NULL;
}

size_t shoal_facts_sensitive(const shoal_facts *facts) {
  return facts ? facts->release->context.n_sensitive : 0;
}

const char *shoal_facts_sensitive_name(const shoal_facts *facts, size_t sensitive) {
  return sensitive < shoal_facts_sensitive(facts)
             ? facts->release->context.sensitive[sensitive].column->name
             : NULL;
}

const char *shoal_facts_cell(const shoal_facts *facts, size_t sensitive, uint64_t row,
                             size_t *size_bytes) {
  if (!size_bytes || sensitive >= shoal_facts_sensitive(facts) ||
      row >= facts->release->given->n_rows)
    return NULL;
  shoal_label cell = shoal_facts_sensitive_cell(facts, sensitive, row);
  *size_bytes = cell.size_bytes;
  return cell.bytes;
}

shoal_status shoal_facts_histograms(shoal_facts *facts, size_t sensitive,
                                    const shoal_count_fact **counts, size_t *n,
                                    shoal_error *error) {
  SHOAL_BEGIN(error);
  if (counts) *counts = NULL;
  if (n) *n = 0;
  SHOAL_NEED(facts && counts && n, error);
  SHOAL_NEED_VALUE(sensitive < shoal_facts_sensitive(facts), error);
  shoal_status status = shoal_facts_count(facts, sensitive, n, error);
  if (status == SHOAL_OK) *counts = facts->counts;
  return shoal_answer(status, error);
}

size_t shoal_facts_values(const shoal_facts *facts) { return facts ? facts->n_values : 0; }

bool shoal_facts_value(const shoal_facts *facts, size_t number, shoal_value_fact *fact) {
  if (!fact || number >= shoal_facts_values(facts)) return false;
  const shoal_mapped_value *found = &facts->values[number];
  shoal_label value = shoal_facts_value_text(facts, found);
  shoal_label label = shoal_facts_value_label(facts, found);
  *fact = (shoal_value_fact){.quasi = found->q,
                             .value = value.bytes,
                             .value_bytes = value.size_bytes,
                             .label = label.bytes,
                             .label_bytes = label.size_bytes,
                             .level = facts->release->decision.levels[found->q],
                             .is_star = found->is_starred,
                             .n_rows = found->rows,
                             .n_suppressed = found->suppressed};
  return true;
}

/* ------------------------------------------------------------ results */

size_t shoal_result_n_models(const shoal_result *result) {
  const shoal_model_outcomes *models = result ? shoal_result_models_of(result) : NULL;
  return models ? models->n_items : 0;
}

bool shoal_result_model(const shoal_result *result, size_t number, shoal_model_fact *fact) {
  if (!fact || number >= shoal_result_n_models(result)) return false;
  const shoal_model_outcome *model = &shoal_result_models_of(result)->items[number];
  *fact = (shoal_model_fact){.model = model->model,
                             .attribute = model->attribute,
                             .summary = model->summary,
                             .required = model->required,
                             .reached = model->reached,
                             .at_most = model->at_most,
                             .holds = model->holds,
                             .is_judged = !shoal_model_unknown(model),
                             .violating_rows = model->breaking_rows,
                             .violating_classes = model->breaking_classes};
  return true;
}

/* The nodes of a result; NULL: it has none. */
static const shoal_node_outcome *nodes_of(const shoal_result *result, size_t *n) {
  *n = 0;
  if (!result) return NULL;
  if (result->kind == SHOAL_RESULT_LATTICE) {
    *n = result->lattice.n_nodes;
    return result->lattice.nodes;
  }
  if (result->kind != SHOAL_RESULT_RELEASE || result->release.method != SHOAL_METHOD_NODE)
    return NULL;
  *n = result->release.node.n_nodes;
  return result->release.node.nodes;
}

size_t shoal_result_n_nodes(const shoal_result *result) {
  size_t n;
  (void)nodes_of(result, &n);
  return n;
}

bool shoal_result_node(const shoal_result *result, size_t number, shoal_node_fact *fact) {
  size_t n;
  const shoal_node_outcome *nodes = nodes_of(result, &n);
  if (!fact || number >= n) return false;
  *fact = (shoal_node_fact){.levels = nodes[number].levels,
                            .n_levels = result->n_quasi,
                            .height = nodes[number].height,
                            .suppressed = nodes[number].suppressed,
                            .classes = nodes[number].classes,
                            .satisfies = nodes[number].satisfies,
                            .minimal = nodes[number].minimal,
                            .chosen = nodes[number].chosen};
  return true;
}

size_t shoal_result_n_risks(const shoal_result *result) {
  return result ? result->safety.n_risks : 0;
}

bool shoal_result_risk(const shoal_result *result, size_t number, shoal_risk_fact *fact) {
  if (!fact || number >= shoal_result_n_risks(result)) return false;
  const shoal_risk_outcome *risk = &result->safety.risks[number];
  *fact = (shoal_risk_fact){.kind = shoal_risk_names[risk->kind],
                            .column = risk->attribute,
                            .attack = risk->attack,
                            .why = risk->why,
                            .is_accepted = risk->accepted,
                            .blocks = risk->blocks};
  return true;
}
