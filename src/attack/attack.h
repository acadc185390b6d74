/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack: what an intruder could do with the release. Each attack is a simulation on the released
 * file with knowledge that is stated in words; one file an attack, one row of the table in
 * attacks.c. A finding holds counts and classes by number, never a cell: what may be shown of a
 * class is decided where results are made.
 *
 *     released classes + what the intruder knows  ->  attacks  ->  findings
 */
#ifndef SHOAL_ATTACK_ATTACK_H
#define SHOAL_ATTACK_ATTACK_H

#include "measure/cover.h"
#include "model/model.h"

enum { SHOAL_ATTACK_EXAMPLES = 5 };

/* How far attacks go. */
typedef struct shoal_attack_bounds {
  shoal_decimal guess; /* a guess counts where it is right with a higher probability than this */
  bool guess_asked;    /* it was asked for: guesses above it count against the release */
  uint32_t rule_out;   /* values that the intruder can rule out, at most */
  uint64_t categories; /* a class with fewer categories falls */
  shoal_decimal mu;    /* of theta, where the policy has no theta-sensitive */
  bool mu_asked;
} shoal_attack_bounds;

struct shoal_people;

/* An earlier release of an overlapping table. Borrowed, as everything here. */
typedef struct shoal_earlier {
  const shoal_table *table;
  const shoal_frequency *frequency;
} shoal_earlier;

/* Is the attacked release a minimal generalization of the original? */
typedef enum shoal_minimality {
  SHOAL_MINIMAL_UNKNOWN, /* the original is not given, or the release is not full-domain */
  SHOAL_MINIMAL_YES,     /* no node one step below satisfies the policy */
  SHOAL_MINIMAL_NO
} shoal_minimality;

/* The release under attack, and what else is known. Everything is borrowed. */
typedef struct shoal_attack_case {
  const shoal_policy *policy;
  const shoal_table *table;
  const shoal_frequency *frequency; /* its base classes have histograms of every sensitive one */
  const shoal_demands *demands;
  const shoal_sensitive *sensitive;
  size_t n_sensitive;
  shoal_attack_bounds bounds;
  const struct shoal_people *external; /* people with names; NULL: none */
  const struct shoal_people *original; /* those of the original table; NULL: it is not given */
  const shoal_table *original_table;
  const shoal_earlier *earlier; /* previous releases */
  size_t n_earlier;
  /* by quasi-identifier; released column 0 is the attacked one, 1 .. the earlier ones */
  const shoal_domain *domains;
  shoal_minimality minimality;
  const shoal_run *run;
} shoal_attack_case;

/* A class that falls, or a person of another table who does. */
typedef struct shoal_attack_example {
  uint32_t class_id;
  uint64_t person_row; /* row of the external table, the first is 1; 0: none */
  uint64_t n_rows;     /* of the class, or among which the person is */
  double probability;  /* of the most likely value there */
} shoal_attack_example;

typedef struct shoal_attack shoal_attack;

/* What one attack comes to, on one sensitive attribute or on all. */
typedef struct shoal_attack_finding {
  const shoal_attack *attack;
  size_t sensitive;      /* SHOAL_NO_ATTRIBUTE: not about one */
  uint32_t ruled_out;    /* background: values that the intruder can rule out */
  size_t earlier;        /* repeated releases: which one; SIZE_MAX: none */
  bool by_people;        /* counts are people of another table, not rows */
  const char *not_run;   /* why it was not run; NULL: it was */
  bool succeeds;         /* by its own measure */
  bool counts;           /* the policy or an option asks for protection against it */
  const char *risk;      /* of a risk that cannot be simulated: "yes", "no", ..; NULL: it was */
  uint64_t n_tried;      /* rows or people that were attacked */
  uint64_t n_matched;    /* people whom some released row can be */
  uint64_t n_classes;    /* classes (or pairs of classes) that fall */
  uint64_t n_rows;       /* rows in them, or people who fall */
  uint64_t reidentified; /* rows known to be one person's */
  uint64_t certain;      /* rows whose sensitive value (group, category) is learnt for certain */
  uint64_t guessed;      /* rows whose value is guessed above the bound; certain ones too */
  uint64_t below_k, below_p; /* linking, repeated releases: rows or people left among fewer */
  double highest;            /* probability of a right guess */
  double required, reached;  /* of the attack's own measure: the bound, and the worst class */
  const char *note;          /* what a person should know of it; NULL: nothing */
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
  const char *knowledge; /* what the intruder knows, in words */
  const char *learns;    /* what is learnt for certain, or guessed */
  const char *measure;   /* its own measure of a class, of which `required` asks; NULL: none */
  const char *needs;     /* what it cannot run without; NULL: nothing */
  /* One of the two: on the release, or on one sensitive attribute of it after the other. */
  shoal_status (*run)(const shoal_attack *self, const shoal_attack_case *attacked,
                      shoal_attack_findings *findings, shoal_error *error);
  shoal_status (*run_on)(const shoal_attack *self, const shoal_attack_case *attacked,
                         size_t sensitive, shoal_attack_findings *findings, shoal_error *error);
};

/* The table of attacks, ended by NULL. */
extern const shoal_attack *const shoal_attack_types[];

/* Runs every attack; the caller resets the findings, also after a failure. */
shoal_status shoal_attacks_run(const shoal_attack_case *attacked, shoal_attack_findings *findings,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_attack_findings_reset(shoal_attack_findings *findings);

/* ---- for the files of this folder, and for who runs one attack alone */

/* A new, zeroed finding; NULL without memory. It moves when the next is added. */
shoal_attack_finding *shoal_attack_findings_add(shoal_attack_findings *findings,
                                                const shoal_attack *attack, size_t sensitive);
/* The same for an attack that cannot run, and why. */
shoal_status shoal_attack_skip(shoal_attack_findings *findings, const shoal_attack *attack,
                               size_t sensitive, const char *why, shoal_error *error);
/* Keeps the examples of highest probability, then of most rows, then the first ones. */
void shoal_attack_note_example(shoal_attack_finding *finding, shoal_attack_example example);

/* Is n of `of` more than the bound? Exact. */
bool shoal_attack_above(shoal_decimal bound, uint64_t n, uint64_t of);

/* The bound of a guess on an attribute: the option's, the policy's alpha, or the default. */
shoal_decimal shoal_attack_bound(const shoal_attack_case *attacked, size_t sensitive, bool *asked);

/* Distinct values of the attribute that the policy promises for every class; 1: none. */
uint64_t shoal_attack_promised_p(const shoal_attack_case *attacked, size_t sensitive);

/* "yes", "no", "answered" (by slack) or "unknown": is the release minimal? */
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

#endif
