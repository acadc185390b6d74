/* SPDX-License-Identifier: Apache-2.0 */
/* attack/attacks: the table of attacks, the loop over it, and what attacks share. */
#include <stdlib.h>
#include <string.h>

#include "attack/attack.h"
#include "base/wide.h"

const shoal_attack *const shoal_attack_types[] = {
    &shoal_attack_linking,
    &shoal_attack_homogeneity,
    &shoal_attack_background,
    &shoal_attack_similarity,
    &shoal_attack_skewness,
    &shoal_attack_categorical,
    &shoal_attack_variance,
    &shoal_attack_repeated,
    &shoal_attack_order,
    &shoal_attack_minimality,
    &shoal_attack_downcoding,
    &shoal_attack_known_records,
    NULL,
};

shoal_status shoal_attack_run(const shoal_attack *attack, const shoal_attack_case *attacked,
                              shoal_attack_findings *findings, shoal_error *error) {
  if (attack->run) return attack->run(attack, attacked, findings, error);
  if (attack->run_previous && !attacked->n_previous)
    return shoal_attack_skip(findings, attack, SHOAL_NO_ATTRIBUTE,
                             "no earlier release is given (--previous)", error);
  for (size_t i = 0; attack->run_previous && i < attacked->n_previous; i++)
    SHOAL_TRY(attack->run_previous(attack, attacked, i, findings, error));
  for (size_t s = 0; attack->run_on && s < attacked->n_sensitive; s++)
    SHOAL_TRY(attack->run_on(attack, attacked, s, findings, error));
  return SHOAL_OK;
}

shoal_status shoal_attacks_run(const shoal_attack_case *attacked, shoal_attack_findings *findings,
                               shoal_error *error) {
  uint64_t n = sizeof shoal_attack_types / sizeof *shoal_attack_types - 1;
  for (uint64_t i = 0; i < n; i++) {
    SHOAL_TRY(shoal_run_report(attacked->run, "attack", i, n, "attacks", error));
    SHOAL_TRY(shoal_attack_run(shoal_attack_types[i], attacked, findings, error));
  }
  return SHOAL_OK;
}

void shoal_attack_findings_reset(shoal_attack_findings *findings) {
  free(findings->items);
  memset(findings, 0, sizeof *findings);
}

shoal_attack_finding *shoal_attack_findings_add(shoal_attack_findings *findings,
                                                const shoal_attack *attack, size_t sensitive) {
  if (!shoal_grow(&findings->items, &findings->capacity, findings->n_items + 1,
                  sizeof *findings->items))
    return NULL;
  shoal_attack_finding *finding = &findings->items[findings->n_items++];
  memset(finding, 0, sizeof *finding);
  finding->attack = attack;
  finding->sensitive = sensitive;
  finding->previous = SIZE_MAX;
  return finding;
}

shoal_status shoal_attack_skip(shoal_attack_findings *findings, const shoal_attack *attack,
                               size_t sensitive, const char *why, shoal_error *error) {
  shoal_attack_finding *finding = shoal_attack_findings_add(findings, attack, sensitive);
  if (!finding) return shoal_fail_memory(error);
  finding->not_run = why;
  return SHOAL_OK;
}

static bool is_worse(const shoal_attack_example *a, const shoal_attack_example *b) {
  if (a->probability != b->probability) return a->probability > b->probability;
  return a->n_rows > b->n_rows;
}

void shoal_attack_note_example(shoal_attack_finding *finding, shoal_attack_example example) {
  size_t at = finding->n_examples;
  while (at > 0 && is_worse(&example, &finding->examples[at - 1])) at--;
  if (at == SHOAL_ATTACK_EXAMPLES) return;
  size_t last =
      finding->n_examples < SHOAL_ATTACK_EXAMPLES ? finding->n_examples : SHOAL_ATTACK_EXAMPLES - 1;
  memmove(finding->examples + at + 1, finding->examples + at,
          (last - at) * sizeof *finding->examples);
  finding->examples[at] = example;
  if (finding->n_examples < SHOAL_ATTACK_EXAMPLES) finding->n_examples++;
}

bool shoal_attack_above(shoal_decimal bound, uint64_t n, uint64_t of) {
  return (shoal_uint128)n * shoal_power_of_ten(bound.scale) >
         (shoal_uint128)of * (uint64_t)bound.mantissa;
}

shoal_decimal shoal_attack_bound(const shoal_attack_case *attacked, size_t sensitive, bool *given) {
  const shoal_attack_bounds *bounds = &attacked->bounds;
  *given = bounds->guess_given;
  if (*given) return bounds->guess;
  for (size_t i = 0; i < attacked->requirements->n_items; i++) {
    const shoal_requirement *requirement = &attacked->requirements->items[i];
    if (requirement->sensitive != sensitive || !requirement->type->bounds_share ||
        !shoal_requirement_is_whole(requirement))
      continue;
    *given = true;
    return requirement->number[0];
  }
  return bounds->guess;
}

uint64_t shoal_attack_promised_p(const shoal_attack_case *attacked, size_t sensitive) {
  uint64_t p = 1;
  for (size_t i = 0; i < attacked->requirements->n_items; i++) {
    const shoal_requirement *requirement = &attacked->requirements->items[i];
    shoal_distinct distinct;
    if (requirement->sensitive != sensitive || !requirement->type->distinct ||
        !shoal_requirement_is_whole(requirement))
      continue;
    if (requirement->type->distinct(requirement, &distinct) && !distinct.group_of &&
        distinct.min > p)
      p = distinct.min;
  }
  return p;
}
