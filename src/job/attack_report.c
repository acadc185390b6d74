/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/attack_report: findings become a result; and is the release a minimal one? A label is shown
 * only where it stands for more than one value, whoever made the release.
 */
#include <stdlib.h>
#include <string.h>

#include "job/attack.h"
#include "job/page.h"
#include "report/attacks.h"

/* ------------------------------------------------------------ what may be shown */

/* A label of the tree that stands above values, be it above one only. */
static bool is_above(const shoal_domain *domain, const shoal_cover *cover) {
  if (!domain->hierarchy || cover->level == SHOAL_NO_LEVEL || cover->lo > cover->hi) return false;
  const shoal_level *level = &domain->hierarchy->levels[cover->level];
  return level->node_height[level->of_leaf[domain->leaf_at[cover->lo]]] > 0;
}

static bool is_general(const shoal_domain *domain, const shoal_cover *cover) {
  if (cover->missing) return false;
  if (cover->everything || cover->n_places > 1 || cover->prefix_bytes > 0) return true;
  if (is_above(domain, cover)) return true;
  const shoal_range *range = &cover->range;
  return cover->is_range && (!range->has_low || !range->has_high ||
                             shoal_decimal_compare(range->low, range->high) != 0);
}

static shoal_status show(const shoal_siege *siege, const shoal_attack_example *example,
                         shoal_result *result, shoal_attack_sight *sight, shoal_error *error) {
  const shoal_prepared *p = &siege->prepared;
  uint32_t tuple = p->frequency->base.tuple[example->class_id];
  *sight = (shoal_attack_sight){.person_row = example->person_row,
                                .n_rows = example->n_rows,
                                .probability = example->probability};
  sight->labels = shoal_arena_alloc(&result->arena, p->n_quasi, sizeof *sight->labels);
  if (!sight->labels) return shoal_fail_memory(error);
  for (size_t q = 0; q < p->n_quasi; q++) {
    uint32_t code = shoal_code_at(p->frequency->codes[q], tuple);
    size_t size;
    const char *label = shoal_column_value(p->quasi[q], code, &size);
    sight->labels[q] = NULL;
    const shoal_domain *domain = &siege->domains[q];
    if (!siege->has_domain[q] || !is_general(domain, shoal_domain_cover(domain, 0, code))) continue;
    sight->labels[q] = shoal_result_string(result, label, size);
    if (!sight->labels[q]) return shoal_fail_memory(error);
    sight->n_shown++;
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ findings */

static shoal_status copy(shoal_result *result, const char *name, const char **to,
                         shoal_error *error) {
  *to = shoal_result_string(result, name, strlen(name));
  return *to ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status report(const shoal_siege *siege, const shoal_attack_finding *f,
                           shoal_result *result, shoal_attack_outcome *outcome,
                           shoal_error *error) {
  bool asked;
  *outcome = (shoal_attack_outcome){
      .name = f->attack->name,
      .knowledge = f->attack->knowledge,
      .learns = f->attack->learns,
      .measure = f->attack->measure,
      .ruled_out = f->ruled_out,
      .not_run = f->not_run,
      .risk = f->risk,
      .note = f->note,
      .by_people = f->by_people,
      .succeeds = f->succeeds,
      .counts = f->counts,
      .n_tried = f->n_tried,
      .n_matched = f->n_matched,
      .n_classes = f->n_classes,
      .n_rows = f->n_rows,
      .reidentified = f->reidentified,
      .certain = f->certain,
      .guessed = f->guessed,
      .below_k = f->below_k,
      .below_p = f->below_p,
      .bound = shoal_decimal_double(shoal_attack_bound(&siege->attacked, f->sensitive, &asked)),
      .highest = f->highest,
      .required = f->required,
      .reached = f->reached,
  };
  if (f->sensitive != SHOAL_NO_ATTRIBUTE)
    SHOAL_TRY(copy(result, siege->prepared.sensitive[f->sensitive].column->name,
                   &outcome->attribute, error));
  if (f->earlier != SIZE_MAX)
    SHOAL_TRY(copy(result, siege->earlier[f->earlier].table->name, &outcome->previous, error));
  outcome->examples = shoal_arena_alloc(&result->arena, f->n_examples, sizeof *outcome->examples);
  if (!outcome->examples) return shoal_fail_memory(error);
  for (size_t i = 0; i < f->n_examples; i++) {
    SHOAL_TRY(show(siege, &f->examples[i], result, &outcome->examples[i], error));
    outcome->n_examples = i + 1;
  }
  return SHOAL_OK;
}

shoal_status shoal_siege_tell(const shoal_siege *siege, shoal_result *result, bool *withstands,
                              shoal_error *error) {
  const shoal_attack_findings *findings = &siege->findings;
  shoal_attack_report *attacks = shoal_arena_alloc(&result->arena, 1, sizeof *attacks);
  if (!attacks) return shoal_fail_memory(error);
  memset(attacks, 0, sizeof *attacks);
  attacks->k = siege->prepared.demands.k;
  attacks->items = shoal_arena_alloc(&result->arena, findings->n_items, sizeof *attacks->items);
  if (!attacks->items) return shoal_fail_memory(error);
  if (siege->external_table)
    SHOAL_TRY(copy(result, siege->external_table->name, &attacks->external, error));
  if (siege->original_table)
    SHOAL_TRY(copy(result, siege->original_table->name, &attacks->original, error));
  *withstands = true;
  for (size_t i = 0; i < findings->n_items; i++) {
    const shoal_attack_finding *finding = &findings->items[i];
    SHOAL_TRY(report(siege, finding, result, &attacks->items[i], error));
    attacks->n_items = i + 1;
    if (finding->succeeds && finding->counts) *withstands = false;
  }
  result->attacks = attacks;
  return SHOAL_OK;
}

shoal_status shoal_siege_report(const shoal_siege *siege, shoal_result *result,
                                shoal_error *error) {
  const shoal_classes *classes = &siege->prepared.frequency->base;
  SHOAL_TRY(shoal_result_input(result, &siege->prepared, error));
  result->classes = classes->n_classes;
  shoal_result_sizes(&result->sizes_before, classes, NULL);
  result->smallest_class = result->sizes_before.smallest;
  SHOAL_TRY(shoal_page_begin(result, &siege->prepared, error));
  return shoal_siege_tell(siege, result, &result->holds, error);
}

/* ------------------------------------------------------------ minimality */

/* The node of a full-domain release: each column's labels are of one level. */
static bool find_node(const shoal_siege *siege, const shoal_space *space, uint32_t *levels) {
  for (size_t q = 0; q < space->n; q++) {
    levels[q] = siege->domains[q].released[0].level;
    if (levels[q] == SHOAL_NO_LEVEL || levels[q] > space->top[q]) return false;
  }
  return true;
}

/* It is minimal where it satisfies the policy and nothing one step below does. */
static shoal_status look_below(shoal_siege *siege, shoal_search *search, uint32_t *levels,
                               shoal_error *error) {
  bool satisfies;
  SHOAL_TRY(
      shoal_search_decide(search, shoal_space_node(&search->space, levels), &satisfies, error));
  if (!satisfies) return SHOAL_OK;
  siege->attacked.minimality = SHOAL_MINIMAL_YES;
  for (size_t q = 0; q < search->space.n; q++) {
    if (!levels[q]) continue;
    levels[q]--;
    shoal_status status =
        shoal_search_decide(search, shoal_space_node(&search->space, levels), &satisfies, error);
    levels[q]++;
    SHOAL_TRY(status);
    if (satisfies) siege->attacked.minimality = SHOAL_MINIMAL_NO;
  }
  return SHOAL_OK;
}

/* The original's quasi-identifiers in the order of the release's: else the nodes differ. */
static bool same_order(const shoal_prepared *a, const shoal_prepared *b) {
  for (size_t q = 0; q < a->n_quasi; q++)
    if (strcmp(a->quasi[q]->name, b->quasi[q]->name) != 0) return false;
  return true;
}

static shoal_status search_original(shoal_siege *siege, const shoal_prepared *original,
                                    shoal_error *error) {
  shoal_search search;
  SHOAL_TRY(shoal_prepared_search(original, true, &search, error));
  uint32_t *levels = shoal_alloc(search.space.n, sizeof *levels);
  shoal_status status = levels ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK && find_node(siege, &search.space, levels))
    status = look_below(siege, &search, levels, error);
  free(levels);
  shoal_search_reset(&search);
  return status;
}

shoal_status shoal_siege_find_minimality(shoal_siege *siege, shoal_error *error) {
  const shoal_prepared *p = &siege->prepared;
  if (!siege->original_table) return SHOAL_OK;
  for (size_t q = 0; q < p->n_quasi; q++)
    if (!p->quasi_attributes[q]->has_hierarchy) return SHOAL_OK;
  shoal_prepared original;
  shoal_error ignored;
  shoal_status status = shoal_prepare(&original, siege->original_table, p->policy,
                                      SHOAL_PREPARE_LATTICE, p->run, &ignored);
  if (status == SHOAL_BAD_INPUT) return SHOAL_OK; /* no lattice: its nodes say nothing */
  if (status == SHOAL_OK) {
    if (same_order(p, &original)) status = search_original(siege, &original, &ignored);
    shoal_prepared_reset(&original);
  }
  if (status == SHOAL_BAD_INPUT) return SHOAL_OK;
  if (status != SHOAL_OK && error) *error = ignored;
  return status;
}
