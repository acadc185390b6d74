/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/tally: rows of a class per sensitive value, or per group of values, and the loop over
 * classes that attacks on single classes share.
 */
#pragma once

#include "attack/attack.h"

/* Rows of each group that occurs, without missing values. Reused class by class. */
typedef struct shoal_class_tally {
  uint32_t n_groups; /* possible ones */
  uint32_t *groups;  /* the n that occur, in order of first appearance */
  uint64_t *rows;    /* of each */
  size_t n;
  uint64_t sum;      /* rows with a value */
  uint64_t most;     /* rows of the most frequent group */
  uint32_t *slot_of; /* by group: its index in `groups` + 1; 0: it does not occur */
} shoal_class_tally;

bool shoal_class_tally_init(shoal_class_tally *tally, uint32_t n_groups);
void shoal_class_tally_reset(shoal_class_tally *tally);
/* Removes everything that was added. Cost: the number of groups that occur. */
void shoal_class_tally_clear(shoal_class_tally *tally);
/* Adds the rows of class c; group_of NULL: each value is a group. */
void shoal_class_tally_add(shoal_class_tally *tally, const shoal_frequency_set *frequency,
                           size_t sensitive, uint32_t c, const uint32_t *group_of);
/* Sorts `rows`, largest first; `groups` no longer corresponds. */
void shoal_class_tally_sort(shoal_class_tally *tally);

/* The outcome of an attack on one class. */
typedef struct shoal_class_outcome {
  bool succeeds;
  uint64_t certain, guessed;
  double probability; /* of the most likely value */
  double reached;     /* of the attack's own measure; the finding keeps the minimum */
} shoal_class_outcome;

typedef struct shoal_class_attack {
  const shoal_attack_case *attacked;
  size_t sensitive;
  const uint32_t *group_of; /* NULL: values themselves */
  uint32_t n_groups;        /* of group_of */
  const void *own;
  bool counts;     /* of the finding */
  double required; /* of the finding */
  /* The bound of a guess, and whether an option or the policy gives it. Set by the run. */
  shoal_decimal bound;
  bool is_bound_given;
  /* Attacks one class that has at least one value. NULL: shoal_class_outcome_by_share. */
  shoal_class_outcome (*evaluate)(const struct shoal_class_attack *self, shoal_class_tally *tally);
} shoal_class_attack;

/* Attacks every class. *finding: a new one of `attack`, with all outcomes. */
shoal_status shoal_class_attack_run(shoal_class_attack *self, const shoal_attack *attack,
                                    shoal_attack_findings *findings, shoal_attack_finding **finding,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/* The guess is the most frequent group. Succeeds if there is only one. */
shoal_class_outcome shoal_class_outcome_by_share(const shoal_class_attack *self,
                                                 const shoal_class_tally *tally);

/*
 * An attack that found nothing by rows is untested if the release does not say who its rows are
 * about: everybody in a class may have one value beside others (decide/people_risk.c).
 */
void shoal_attack_doubt_rows(const shoal_attack_case *attacked, shoal_attack_finding *finding);

/* Rows that are alone in their class: their quasi-identifiers identify the person. */
uint64_t shoal_rows_alone(const shoal_classes *classes);
