/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/tally: how a class's rows spread over sensitive values, or over groups of them; and the
 * loop over classes that the attacks on single classes share.
 */
#ifndef SHOAL_ATTACK_TALLY_H
#define SHOAL_ATTACK_TALLY_H

#include "attack/attack.h"

/* Rows of each group that occurs; missing values are none. Arrays are reused class by class. */
typedef struct shoal_class_tally {
  uint32_t n_groups; /* that there can be */
  uint32_t *groups;  /* n of them, in order of appearance */
  uint64_t *rows;    /* of each */
  size_t n;
  uint64_t sum;      /* rows with a value */
  uint64_t most;     /* rows of the most frequent group */
  uint32_t *slot_of; /* by group: its place + 1; 0 outside of a tally */
} shoal_class_tally;

bool shoal_class_tally_init(shoal_class_tally *tally, uint32_t n_groups);
void shoal_class_tally_reset(shoal_class_tally *tally);
/* Forgets what was added. */
void shoal_class_tally_clear(shoal_class_tally *tally);
/* Adds class c; group_of NULL: each value is its own group. */
void shoal_class_tally_add(shoal_class_tally *tally, const shoal_frequency *frequency,
                           size_t sensitive, uint32_t c, const uint32_t *group_of);
/* Most frequent first; the groups go with their rows. */
void shoal_class_tally_sort(shoal_class_tally *tally);

/* What an attack on classes says of one class. */
typedef struct shoal_class_fall {
  bool falls;
  uint64_t certain, guessed;
  double probability; /* of the most likely value */
  double reached;     /* of the attack's own measure; the least is kept */
} shoal_class_fall;

typedef struct shoal_class_attack {
  const shoal_attack_case *attacked;
  size_t sensitive;
  shoal_decimal bound;
  const uint32_t *group_of; /* NULL: values themselves */
  uint32_t n_groups;
  const void *own;
  /* Looks at one class with at least one value, tallied. */
  shoal_class_fall (*look)(const struct shoal_class_attack *self, shoal_class_tally *tally,
                           uint32_t c);
} shoal_class_attack;

/* Looks at every class and sums up into the finding. */
shoal_status shoal_class_attack_run(const shoal_class_attack *self, shoal_attack_finding *finding,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/* certain and guessed of a tally by its shares alone; `falls` where there is one group. */
shoal_class_fall shoal_class_fall_by_share(const shoal_class_attack *self,
                                           const shoal_class_tally *tally);

/* The rows that are alone in their class: whoever knows the quasi-identifiers finds the person. */
uint64_t shoal_rows_alone(const shoal_classes *classes);

#endif
