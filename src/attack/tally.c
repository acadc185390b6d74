/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/tally: counts in slots that are cleared by group, not all at once, so that a small class
 * of a column with many values costs only its own values.
 */
#include "attack/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

bool shoal_class_tally_init(shoal_class_tally *tally, uint32_t n_groups) {
  memset(tally, 0, sizeof *tally);
  tally->n_groups = n_groups;
  tally->groups = shoal_alloc(n_groups, sizeof *tally->groups);
  tally->rows = shoal_alloc(n_groups, sizeof *tally->rows);
  tally->slot_of = shoal_alloc_zero(n_groups, sizeof *tally->slot_of);
  return tally->groups && tally->rows && tally->slot_of;
}

void shoal_class_tally_reset(shoal_class_tally *tally) {
  free(tally->groups);
  free(tally->rows);
  free(tally->slot_of);
}

void shoal_class_tally_clear(shoal_class_tally *tally) {
  for (size_t i = 0; i < tally->n; i++) tally->slot_of[tally->groups[i]] = 0;
  tally->n = 0;
  tally->sum = tally->most = 0;
}

void shoal_class_tally_add(shoal_class_tally *tally, const shoal_frequency_set *frequency,
                           size_t sensitive, uint32_t c, const uint32_t *group_of) {
  const shoal_histogram *histogram = &frequency->base.histograms[sensitive];
  const uint8_t *is_missing = frequency->tracked[sensitive]->is_missing;
  for (size_t i = histogram->start[c]; i < histogram->start[c + 1]; i++) {
    uint32_t value = histogram->value[i];
    if (is_missing && is_missing[value]) continue;
    uint32_t group = group_of ? group_of[value] : value;
    uint32_t slot = tally->slot_of[group];
    if (!slot) {
      tally->groups[tally->n] = group;
      tally->rows[tally->n] = 0;
      slot = tally->slot_of[group] = (uint32_t)++tally->n;
    }
    uint64_t rows = tally->rows[slot - 1] += histogram->n_rows[i];
    tally->sum += histogram->n_rows[i];
    if (rows > tally->most) tally->most = rows;
  }
}

void shoal_class_tally_sort(shoal_class_tally *tally) {
  shoal_sort_u64(tally->rows, tally->n);
  for (size_t i = 0, j = tally->n; i + 1 < j; i++) {
    uint64_t rows = tally->rows[i];
    tally->rows[i] = tally->rows[--j];
    tally->rows[j] = rows;
  }
}

shoal_class_outcome shoal_class_outcome_by_share(const shoal_class_attack *self,
                                                 const shoal_class_tally *tally) {
  shoal_class_outcome outcome = {.succeeds = tally->n == 1,
                                 .probability = (double)tally->most / (double)tally->sum,
                                 .reached = (double)tally->n};
  if (outcome.succeeds) outcome.certain = tally->sum;
  for (size_t i = 0; i < tally->n; i++)
    if (shoal_attack_above(self->bound, tally->rows[i], tally->sum))
      outcome.guessed += tally->rows[i];
  return outcome;
}

void shoal_attack_doubt_rows(const shoal_attack_case *attacked, shoal_attack_finding *finding) {
  if (attacked->people_absent && !finding->succeeds && !finding->not_run)
    finding->untested = "judged by rows; people cannot be counted here";
}

uint64_t shoal_rows_alone(const shoal_classes *classes) {
  uint64_t alone = 0;
  for (uint32_t c = 0; c < classes->n_classes; c++) alone += classes->n_rows[c] == 1;
  return alone;
}

static void add_outcome(const shoal_class_attack *self, const shoal_class_outcome *outcome,
                        uint32_t c, bool first, shoal_attack_finding *finding) {
  const shoal_classes *classes = &self->attacked->frequency->base;
  finding->certain += outcome->certain;
  finding->guessed += outcome->guessed;
  if (outcome->probability > finding->highest) finding->highest = outcome->probability;
  if (first || outcome->reached < finding->reached) finding->reached = outcome->reached;
  if (!outcome->succeeds) return;
  finding->n_classes++;
  finding->n_rows += classes->n_rows[c];
  shoal_attack_note_example(finding, (shoal_attack_example){.class_id = c,
                                                            .n_rows = classes->n_rows[c],
                                                            .probability = outcome->probability});
}

shoal_status shoal_class_attack_run(shoal_class_attack *self, const shoal_attack *attack,
                                    shoal_attack_findings *findings, shoal_attack_finding **out,
                                    shoal_error *error) {
  const shoal_frequency_set *frequency = self->attacked->frequency;
  const shoal_column *column = self->attacked->sensitive[self->sensitive].column;
  self->bound = shoal_attack_bound(self->attacked, self->sensitive, &self->is_bound_given);
  shoal_attack_finding *finding = *out =
      shoal_attack_findings_add(findings, attack, self->sensitive);
  if (!finding) return shoal_fail_memory(error);
  finding->counts = self->counts;
  finding->required = self->required;
  shoal_class_tally tally;
  if (!shoal_class_tally_init(&tally, self->group_of ? self->n_groups : column->n_values)) {
    shoal_class_tally_reset(&tally);
    return shoal_fail_memory(error);
  }
  bool first = true;
  for (uint32_t c = 0; c < frequency->base.n_classes; c++) {
    shoal_class_tally_add(&tally, frequency, self->sensitive, c, self->group_of);
    if (tally.n) {
      shoal_class_outcome outcome = self->evaluate ? self->evaluate(self, &tally)
                                                   : shoal_class_outcome_by_share(self, &tally);
      add_outcome(self, &outcome, c, first, finding);
      first = false;
    }
    shoal_class_tally_clear(&tally);
  }
  finding->n_tried = frequency->n_records;
  finding->reidentified = shoal_rows_alone(&frequency->base);
  if (first && !finding->reidentified)
    finding->not_run = "no row of the release has a value of the column: there is nothing to learn";
  finding->succeeds = finding->n_classes > 0;
  shoal_class_tally_reset(&tally);
  return SHOAL_OK;
}
