/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/sets: judging classes over several sets of quasi-identifiers. Suppressing a class over one
 * set takes rows from classes over the others, so this is repeated until nothing changes:
 *
 *      living classes --project--> classes over set 1 --judge--> those that violate -.
 *                     --project--> classes over set 2 --judge--> those that violate -+-> suppressed
 *
 * A round judges every set before it suppresses anything. The result does therefore not depend on
 * the order of the sets. If no larger class than one that satisfies violates a requirement, it is
 * the smallest set of rows that can be suppressed (docs/model-definitions.md).
 */
#include <stdlib.h>
#include <string.h>

#include "model/types.h"

/* Scratch of the rounds; arrays by class. */
typedef struct rounds {
  const shoal_requirements *requirements;
  const shoal_frequency_set *frequency;
  const shoal_classes *classes;
  const shoal_labelling *labelling;
  const uint8_t *suppressed;
  uint8_t *marked;   /* to be suppressed after this round, or suppressed */
  uint64_t rows;     /* of classes that were marked */
  uint8_t *violates; /* by class over the set */
  uint32_t *ids;     /* the class over the set */
  shoal_grouper grouper;
} rounds;

static bool init(rounds *r) {
  size_t n = r->classes->n_classes;
  shoal_grouper_init(&r->grouper);
  r->marked = shoal_alloc_zero(n, 1);
  r->violates = shoal_alloc(n, 1);
  r->ids = shoal_alloc(n, sizeof *r->ids);
  return r->marked && r->violates && r->ids;
}

static void reset(rounds *r) {
  shoal_grouper_reset(&r->grouper);
  free(r->marked);
  free(r->violates);
  free(r->ids);
}

static void mark(rounds *r, uint32_t c) {
  if (r->marked[c] || r->suppressed[c]) return;
  r->marked[c] = 1;
  r->rows += r->classes->n_rows[c];
}

/* Marks the living classes that lie in a class over the set that violates. False: no memory. */
static bool judge_set(rounds *r, size_t set) {
  shoal_classes over;
  if (set == 0) {
    /* The classes are those over all quasi-identifiers. */
    (void)shoal_judge_over(r->requirements, 0, r->frequency, r->classes, r->violates);
    for (uint32_t c = 0; c < r->classes->n_classes; c++)
      if (r->violates[c]) mark(r, c);
    return true;
  }
  if (shoal_classes_project(r->frequency, r->classes, r->labelling, &r->requirements->sets[set],
                            r->suppressed, &r->grouper, &over, r->ids, NULL) != SHOAL_OK)
    return false;
  uint64_t rows = shoal_judge_over(r->requirements, set, r->frequency, &over, r->violates);
  for (uint32_t c = 0; rows && c < r->classes->n_classes; c++)
    if (!r->suppressed[c] && r->violates[r->ids[c]]) mark(r, c);
  shoal_classes_reset(&over);
  return true;
}

/* False: no memory. */
static bool run(rounds *r, const uint8_t *clean, uint64_t limit, uint8_t *suppressed) {
  const shoal_requirements *requirements = r->requirements;
  size_t n_required = 0;
  for (size_t s = 0; s < requirements->n_sets; s++) n_required += requirements->sets[s].required;
  for (bool first = true; r->rows <= limit; first = false) {
    uint64_t before = r->rows;
    for (size_t s = 0; s < requirements->n_sets && r->rows <= limit; s++) {
      if (!requirements->sets[s].required || (first && clean && clean[s])) continue;
      if (!judge_set(r, s)) return false;
    }
    for (uint32_t c = 0; c < r->classes->n_classes; c++) suppressed[c] |= r->marked[c];
    if (r->rows == before || n_required <= 1) break; /* no other set lost rows */
  }
  return true;
}

void shoal_suppress_over_sets(const shoal_requirements *requirements,
                              const shoal_frequency_set *frequency, const shoal_classes *classes,
                              const shoal_labelling *labelling, const uint8_t *clean,
                              uint64_t limit, uint8_t *suppressed) {
  rounds r = {.requirements = requirements,
              .frequency = frequency,
              .classes = classes,
              .labelling = labelling,
              .suppressed = suppressed};
  bool ok = init(&r) && run(&r, clean, limit, suppressed);
  if (!ok) {
    memset(suppressed, 1, classes->n_classes);
    atomic_store(requirements->no_memory, true);
  }
  reset(&r);
}

shoal_judgement shoal_judgement_of(const shoal_classes *classes, const uint8_t *suppressed) {
  shoal_judgement judged = {0, 0, 0};
  for (uint32_t c = 0; c < classes->n_classes; c++) {
    uint64_t rows = classes->n_rows[c];
    if (suppressed[c]) {
      judged.suppressed += rows;
      continue;
    }
    judged.n_classes++;
    if (judged.smallest_class == 0 || rows < judged.smallest_class) judged.smallest_class = rows;
  }
  return judged;
}

/* ------------------------------------------------------------ one requirement */

/* Adds to violates[c] what violates the requirement over one set. */
static shoal_status add_violating(const shoal_requirement *requirement, const shoal_quasi_set *set,
                                  const shoal_frequency_set *frequency,
                                  const shoal_classes *classes, const shoal_labelling *labelling,
                                  const uint8_t *left_out, shoal_grouper *grouper, uint32_t *ids,
                                  uint8_t *violates, shoal_error *error) {
  shoal_classes over;
  SHOAL_TRY(shoal_classes_project(frequency, classes, labelling, set, left_out, grouper, &over, ids,
                                  error));
  uint8_t *broken = shoal_alloc_zero((size_t)over.n_classes + 1, 1);
  for (uint32_t c = 0; broken && c < over.n_classes; c++)
    broken[c] = !shoal_requirement_holds(requirement, frequency, &over, c, NULL);
  for (uint32_t c = 0; broken && c < classes->n_classes; c++) violates[c] |= broken[ids[c]];
  shoal_classes_reset(&over);
  bool ok = broken != NULL;
  free(broken);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_requirement_violating(const shoal_requirements *requirements,
                                         const shoal_requirement *requirement,
                                         const shoal_frequency_set *frequency,
                                         const shoal_classes *classes,
                                         const shoal_labelling *labelling, const uint8_t *left_out,
                                         uint8_t *violates, shoal_error *error) {
  memset(violates, 0, classes->n_classes);
  if (requirements->n_sets <= 1) {
    for (uint32_t c = 0; c < classes->n_classes; c++)
      violates[c] = !(left_out && left_out[c]) &&
                    !shoal_requirement_holds(requirement, frequency, classes, c, NULL);
    return SHOAL_OK;
  }
  uint32_t *ids = shoal_alloc(classes->n_classes, sizeof *ids);
  shoal_grouper grouper;
  shoal_grouper_init(&grouper);
  shoal_status status = ids ? SHOAL_OK : shoal_fail_memory(error);
  for (size_t s = 0; status == SHOAL_OK && s < requirements->n_sets; s++)
    if (requirement->covers[s])
      status = add_violating(requirement, &requirements->sets[s], frequency, classes, labelling,
                             left_out, &grouper, ids, violates, error);
  shoal_grouper_reset(&grouper);
  free(ids);
  return status;
}
