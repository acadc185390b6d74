/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack: simulates what an attacker could learn from a release. Each attack runs on the released
 * table with knowledge that is stated in words. There is one file per attack and one row per attack
 * in the table in attacks.c. A finding has counts and class numbers, never a cell; outcome.c
 * decides what may be shown of a class.
 *
 *     released classes + attacker's knowledge (setup.c)  ->  attacks  ->  findings  ->  outcomes
 */
#pragma once

#include "measure/domain.h"
#include "measure/figures.h"
#include "model/model.h"

enum { SHOAL_ATTACK_EXAMPLES = 5 };

/* Limits of attacks. */
typedef struct shoal_attack_bounds {
  shoal_decimal guess; /* a guess succeeds above this probability */
  bool guess_given;    /* by an option: then guesses count against the release */
  uint32_t rule_out;   /* maximum number of values that the attacker can rule out */
  uint32_t records;    /* of a person that the attacker knows; 0: no such attack */
  uint64_t categories; /* the attack succeeds on a class with fewer categories */
  shoal_decimal mu;    /* of theta, if the policy has no theta-sensitive */
  bool mu_given;
} shoal_attack_bounds;

struct shoal_linked_people;

/* An earlier release of an overlapping table. Borrows both. */
typedef struct shoal_previous_release {
  const shoal_table *table;
  const shoal_frequency_set *frequency;
} shoal_previous_release;

/* Whether the attacked release is a minimal generalization of the original. */
typedef enum shoal_minimality {
  SHOAL_MINIMAL_UNKNOWN, /* the original is not given, or the release is not full-domain */
  SHOAL_MINIMAL_YES,     /* no node one step below satisfies the policy */
  SHOAL_MINIMAL_NO
} shoal_minimality;

/* The release under attack and the attacker's knowledge. Borrows everything. */
typedef struct shoal_attack_case {
  const shoal_policy *policy;
  const shoal_table *table;
  const shoal_frequency_set
      *frequency; /* base classes with a histogram of every sensitive attribute */
  const shoal_requirements *requirements;
  const shoal_sensitive *sensitive;
  size_t n_sensitive;
  bool people_absent; /* the policy has people, and the release does not say who they are */
  shoal_attack_bounds bounds;
  const struct shoal_linked_people *external; /* named people; NULL: none */
  const struct shoal_linked_people *original; /* people of the original table; NULL: none */
  const shoal_table *original_table;
  const shoal_previous_release *previous; /* earlier releases */
  size_t n_previous;
  /* by quasi-identifier; released column 0 is the attacked release, 1 .. n_previous earlier ones */
  const shoal_domain *domains;
  shoal_minimality minimality;
  const shoal_run *run;
} shoal_attack_case;

/* A class, or a person of another table, on whom the attack succeeds. */
typedef struct shoal_attack_example {
  uint32_t class_id;
  uint64_t person_row; /* row of the external table, the first is 1; 0: none */
  uint64_t n_rows;     /* of the class, or candidates of the person */
  double probability;  /* of the most likely value */
} shoal_attack_example;

typedef struct shoal_attack shoal_attack;

/* The result of one attack, on one sensitive attribute or on all. */
typedef struct shoal_attack_finding {
  const shoal_attack *attack;
  size_t sensitive;      /* SHOAL_NO_ATTRIBUTE: not about one */
  uint32_t ruled_out;    /* background: values that the attacker can rule out */
  size_t previous;       /* repeated releases: which one; SIZE_MAX: none */
  bool by_people;        /* counts are people of another table, not rows */
  const char *not_run;   /* why it was not run; NULL: it was */
  const char *untested;  /* why its outcome shows nothing; NULL: it does */
  bool succeeds;         /* by the attack's own measure */
  bool counts;           /* the policy or an option requires protection against it */
  const char *risk;      /* of an attack that is not simulated: "yes", "no", ..; NULL: simulated */
  uint64_t n_tried;      /* rows or people that were attacked */
  uint64_t n_matched;    /* people with at least one candidate row */
  uint64_t n_classes;    /* classes (or pairs of classes) on which it succeeds */
  uint64_t n_rows;       /* rows in them, or people on whom it succeeds */
  uint64_t reidentified; /* rows that are known to be one person's */
  uint64_t certain;      /* rows whose sensitive value (group, category) is learnt for certain */
  uint64_t guessed;      /* rows whose value is guessed above the bound; certain ones too */
  uint64_t below_k,
      below_p;    /* linking, repeated releases: rows or people with fewer candidates or values */
  double highest; /* probability of a right guess */
  double required, reached; /* the attack's own measure: its bound, and the worst class */
  const char *note;         /* explanation for the reader; NULL: none */
  shoal_attack_example examples[SHOAL_ATTACK_EXAMPLES];
  size_t n_examples;
} shoal_attack_finding;

typedef struct shoal_attack_findings {
  shoal_attack_finding *items;
  size_t n_items;
  size_t capacity;
} shoal_attack_findings;

struct shoal_attack {
  const char *name;
  const char *knowledge; /* what the attacker knows, in words */
  const char *learns;    /* what is learnt for certain, or guessed */
  const char *measure;   /* its own measure of a class, bounded by `required`; NULL: none */
  const char *needs;     /* what it cannot run without; NULL: nothing */
  /* One of the three: on the release, on each sensitive attribute, on each earlier release. */
  shoal_status (*run)(const shoal_attack *self, const shoal_attack_case *attacked,
                      shoal_attack_findings *findings, shoal_error *error);
  shoal_status (*run_on)(const shoal_attack *self, const shoal_attack_case *attacked,
                         size_t sensitive, shoal_attack_findings *findings, shoal_error *error);
  shoal_status (*run_previous)(const shoal_attack *self, const shoal_attack_case *attacked,
                               size_t previous, shoal_attack_findings *findings,
                               shoal_error *error);
};

/* The table of attacks, ended by NULL. */
extern const shoal_attack *const shoal_attack_types[];

/* Runs every attack; the caller resets the findings, also after a failure. */
shoal_status shoal_attacks_run(const shoal_attack_case *attacked, shoal_attack_findings *findings,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_attack_findings_reset(shoal_attack_findings *findings);

/* Runs one attack. */
shoal_status shoal_attack_run(const shoal_attack *attack, const shoal_attack_case *attacked,
                              shoal_attack_findings *findings, shoal_error *error) SHOAL_MUST_CHECK;

/* ---- for the files of this directory */

/* A new, zeroed finding; NULL: no memory. Valid until the next is added. */
shoal_attack_finding *shoal_attack_findings_add(shoal_attack_findings *findings,
                                                const shoal_attack *attack, size_t sensitive);
/* Adds a finding for an attack that cannot run, and why. */
shoal_status shoal_attack_skip(shoal_attack_findings *findings, const shoal_attack *attack,
                               size_t sensitive, const char *why, shoal_error *error);
/* Keeps the examples with the highest probability; ties: more rows, then the earlier one. */
void shoal_attack_note_example(shoal_attack_finding *finding, shoal_attack_example example);

/* n / of > bound, computed exactly. */
bool shoal_attack_above(shoal_decimal bound, uint64_t n, uint64_t of);

/* The bound of a guess: the option's, else the policy's alpha (both: *given), else the default. */
shoal_decimal shoal_attack_bound(const shoal_attack_case *attacked, size_t sensitive, bool *given);

/* Distinct values of the attribute that the policy requires in every class; at least 1. */
uint64_t shoal_attack_promised_p(const shoal_attack_case *attacked, size_t sensitive);

/*
 * The risk of the people of the original table, in itself and in the release. Needs the original
 * and, in it, people with several rows: *known is false without them.
 */
shoal_status shoal_attack_person_risk(const shoal_attack_case *attacked, bool *known,
                                      shoal_person_risk *before, shoal_person_risk *after,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/* Whether the release is minimal: "yes", "no", "answered" (by slack) or "unknown". */
const char *shoal_minimality_risk(const shoal_attack_case *attacked);

extern const shoal_attack shoal_attack_linking;
extern const shoal_attack shoal_attack_homogeneity;
extern const shoal_attack shoal_attack_background;
extern const shoal_attack shoal_attack_similarity;
extern const shoal_attack shoal_attack_skewness;
extern const shoal_attack shoal_attack_categorical;
extern const shoal_attack shoal_attack_variance;
extern const shoal_attack shoal_attack_repeated;
extern const shoal_attack shoal_attack_order;
extern const shoal_attack shoal_attack_minimality;
extern const shoal_attack shoal_attack_downcoding;
extern const shoal_attack shoal_attack_known_records;
