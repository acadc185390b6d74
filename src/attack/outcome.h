/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/outcome: outcomes of attacks as plain data in an arena, for reports. Classes are shown by
 * labels that cover more than one value, people by their row in their own table. No raw value is
 * in here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An example: a class, or a person, on which the attack succeeds. */
typedef struct shoal_attack_sight {
  const char **labels; /* by quasi-identifier; NULL: it may be a raw value */
  size_t n_shown;
  uint64_t person_row; /* in the table of people, the first is 1; 0: none */
  uint64_t n_rows;     /* of the class, or of the classes that the person can be in */
  double probability;  /* of the most likely value there; 0: not known */
} shoal_attack_sight;

/* One attack, on one sensitive attribute or on all. */
typedef struct shoal_attack_outcome {
  const char *name;
  const char *knowledge, *learns, *measure; /* in words; measure may be NULL */
  const char *attribute;                    /* sensitive; NULL: not about one */
  const char *previous;                     /* name of the earlier release; NULL: none */
  uint32_t ruled_out;                       /* values; 0: not that attack */
  const char *not_run;                      /* why it was not run; NULL: it was */
  const char *untested;                     /* it ran, but its outcome shows nothing: why */
  const char *risk; /* "yes", "no", "answered", "unknown"; NULL: simulated */
  const char *note;
  bool by_people; /* counts are people, not rows */
  bool succeeds, counts;
  uint64_t n_tried, n_matched, n_classes, n_rows;
  uint64_t reidentified, certain, guessed, below_k, below_p;
  double bound; /* of a guess */
  double highest, required, reached;
  shoal_attack_sight *examples;
  size_t n_examples;
} shoal_attack_outcome;

typedef struct shoal_attack_outcomes {
  shoal_attack_outcome *items;
  size_t n_items;
  uint64_t k;
  const char *external, *original; /* names of tables; NULL: not given */
} shoal_attack_outcomes;
