/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/outcome: findings as plain data that may be shown. A class is shown by its labels, but
 * only by those that cover more than one value; sensitive values are not shown.
 */
#include <stdlib.h>
#include <string.h>

#include "attack/setup.h"
#include "base/text.h"

/* ------------------------------------------------------------ labels that may be shown */

static shoal_status show(const shoal_attack_setup *setup, const shoal_attack_example *example,
                         shoal_arena *arena, shoal_attack_sight *sight, shoal_error *error) {
  const shoal_context *p = &setup->context;
  uint32_t tuple = p->frequency->base.tuple[example->class_id];
  *sight = (shoal_attack_sight){.person_row = example->person_row,
                                .n_rows = example->n_rows,
                                .probability = example->probability};
  sight->labels = shoal_arena_alloc(arena, p->n_quasi, sizeof *sight->labels);
  if (!sight->labels) return shoal_fail_memory(error);
  for (size_t q = 0; q < p->n_quasi; q++) {
    uint32_t code = shoal_code_at(p->frequency->codes[q], tuple);
    size_t size;
    const char *label = shoal_column_value(p->quasi[q], code, &size);
    sight->labels[q] = NULL;
    const shoal_domain *domain = &setup->domains[q];
    if (!setup->has_domain[q] ||
        !shoal_domain_is_general(domain, shoal_domain_span(domain, 0, code)))
      continue;
    sight->labels[q] = shoal_arena_copy_utf8(arena, label, size);
    if (!sight->labels[q]) return shoal_fail_memory(error);
    sight->n_shown++;
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ findings */

static shoal_status copy(shoal_arena *arena, const char *name, const char **to,
                         shoal_error *error) {
  *to = shoal_arena_copy_utf8(arena, name, strlen(name));
  return *to ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status report(const shoal_attack_setup *setup, const shoal_attack_finding *f,
                           shoal_arena *arena, shoal_attack_outcome *outcome, shoal_error *error) {
  bool given;
  *outcome = (shoal_attack_outcome){
      .name = f->attack->name,
      .knowledge = f->attack->knowledge,
      .learns = f->attack->learns,
      .measure = f->attack->measure,
      .ruled_out = f->ruled_out,
      .not_run = f->not_run,
      .untested = f->untested,
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
      .bound = shoal_decimal_double(shoal_attack_bound(&setup->attacked, f->sensitive, &given)),
      .highest = f->highest,
      .required = f->required,
      .reached = f->reached,
  };
  if (f->sensitive != SHOAL_NO_ATTRIBUTE)
    SHOAL_TRY(copy(arena, setup->context.sensitive[f->sensitive].column->name, &outcome->attribute,
                   error));
  if (f->previous != SIZE_MAX)
    SHOAL_TRY(copy(arena, setup->previous[f->previous].table->name, &outcome->previous, error));
  outcome->examples = shoal_arena_alloc(arena, f->n_examples, sizeof *outcome->examples);
  if (!outcome->examples) return shoal_fail_memory(error);
  for (size_t i = 0; i < f->n_examples; i++) {
    SHOAL_TRY(show(setup, &f->examples[i], arena, &outcome->examples[i], error));
    outcome->n_examples = i + 1;
  }
  return SHOAL_OK;
}

static shoal_status report_all(const shoal_attack_setup *setup, shoal_arena *arena,
                               shoal_attack_outcomes *attacks, bool *withstands,
                               shoal_error *error) {
  const shoal_attack_findings *findings = &setup->findings;
  attacks->k = setup->context.requirements.k;
  attacks->items = shoal_arena_alloc(arena, findings->n_items, sizeof *attacks->items);
  if (!attacks->items) return shoal_fail_memory(error);
  if (setup->external_table)
    SHOAL_TRY(copy(arena, setup->external_table->name, &attacks->external, error));
  if (setup->original_table)
    SHOAL_TRY(copy(arena, setup->original_table->name, &attacks->original, error));
  *withstands = true;
  for (size_t i = 0; i < findings->n_items; i++) {
    const shoal_attack_finding *finding = &findings->items[i];
    SHOAL_TRY(report(setup, finding, arena, &attacks->items[i], error));
    attacks->n_items = i + 1;
    if (finding->counts && (finding->succeeds || finding->untested)) *withstands = false;
  }
  return SHOAL_OK;
}

shoal_status shoal_attack_setup_run(shoal_attack_setup *setup, shoal_arena *arena,
                                    shoal_attack_outcomes **out, bool *withstands,
                                    shoal_error *error) {
  SHOAL_TRY(shoal_attack_setup_find_minimality(setup, error));
  SHOAL_TRY(shoal_attacks_run(&setup->attacked, &setup->findings, error));
  shoal_attack_outcomes *attacks = shoal_arena_alloc(arena, 1, sizeof *attacks);
  if (!attacks) return shoal_fail_memory(error);
  memset(attacks, 0, sizeof *attacks);
  SHOAL_TRY(report_all(setup, arena, attacks, withstands, error));
  *out = attacks;
  return SHOAL_OK;
}
