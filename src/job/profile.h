/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/profile: a table nobody has described yet -> figures, suggested roles and hierarchies, and a
 * policy to start from. What the files of this job share; private to them.
 *
 *     table -> profile_scan (figures of a column) -> profile_names + profile_suggest (a role and
 *     a hierarchy) -> profile (the result) -> profile_policy (YAML)
 *
 * Of the cells only counts go on, and spellings of missing values, which come from a fixed list.
 */
#ifndef SHOAL_JOB_PROFILE_H
#define SHOAL_JOB_PROFILE_H

#include "base/text.h"
#include "base/work.h"
#include "policy/policy.h"
#include "table/table.h"

/* ------------------------------------------------------------ figures of a column */

typedef enum shoal_looks { SHOAL_LOOKS_TEXT, SHOAL_LOOKS_NUMBER, SHOAL_LOOKS_DATE } shoal_looks;

/* Values are those that do not look missing; rows are records, by the table's counts. */
typedef struct shoal_figures {
  uint64_t present, missing; /* rows */
  uint64_t distinct;         /* values */
  uint64_t unique;           /* values of one row only */
  uint64_t most_frequent;    /* rows of the most frequent value */
  uint32_t marks;            /* bit m: spelling m of shoal_missing_marks stands for missing here */
  shoal_looks looks;
  const char *date_format; /* DATE: as a policy writes it */
  unsigned scale;          /* NUMBER: decimals; 0: all are whole */
  int64_t low, high;       /* NUMBER: at that scale, without the outermost hundredths of the rows */
  size_t digits;           /* all values are this many digits and nothing else; 0: they are not */
  size_t longest_bytes;
} shoal_figures;

/* Spellings that look like a missing value, ended by NULL; the empty cell is the first. */
extern const char *const shoal_missing_marks[];

/* The figures of every column, on several threads. Cost: one pass over rows and dictionaries. */
shoal_status shoal_profile_scan(const shoal_table *table, const shoal_run *run,
                                shoal_figures *figures, shoal_error *error) SHOAL_MUST_CHECK;

/* ------------------------------------------------------------ what a column's name tells */

/* What values mean, as far as a hierarchy wants to know. */
typedef enum shoal_meaning {
  SHOAL_MEANS_ANYTHING,
  SHOAL_MEANS_AGE,
  SHOAL_MEANS_POSTCODE,
  SHOAL_MEANS_CATEGORY, /* if they are numbers, then only as names: not to be put into intervals */
  SHOAL_MEANS_PERSON    /* one value for each person */
} shoal_meaning;

/* Words such as "id" and "number" stand in many names. */
typedef enum shoal_hint_strength {
  SHOAL_HINT_SURE,
  SHOAL_HINT_IF_ALONE,    /* if it is the whole name, or the values mostly differ */
  SHOAL_HINT_IF_DIFFERENT /* if the values mostly differ */
} shoal_hint_strength;

typedef struct shoal_name_hint {
  shoal_role role;
  shoal_meaning meaning;
  shoal_hint_strength strength;
  const char *noun; /* "a postal code" */
  const char *words;
} shoal_name_hint;

/* What a column's name suggests, or NULL. `mostly_differ`: so do the column's values. */
const shoal_name_hint *shoal_name_hint_find(const char *name, bool mostly_differ);

/* ------------------------------------------------------------ suggestions */

typedef struct shoal_suggestion {
  shoal_role role;
  bool undecided;     /* nothing speaks for the role: the steward must decide */
  bool is_person_key; /* an identifier that should have one value for each person */
  char why[256];      /* in plain words */
  char hierarchy[96]; /* as YAML; "" if none */
} shoal_suggestion;

void shoal_suggest(const char *name, const shoal_figures *figures, shoal_suggestion *suggestion);

/* ------------------------------------------------------------ YAML */

/* Adds a string as a YAML scalar: plain where nobody can misread it, else in double quotes. */
void shoal_yaml_add_scalar(shoal_text *text, const char *string);
/* The same, always in double quotes. */
void shoal_yaml_add_quoted(shoal_text *text, const char *string);

#endif
