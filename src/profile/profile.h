/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile: statistics of a table without a policy, suggested roles and hierarchies, and a policy to
 * start from.
 *
 *     table -> scan (statistics of a column) -> suggest, names (a role and a hierarchy)
 *           -> profile (the result) -> policy (YAML)
 *           -> variants (warnings about spellings)
 *
 * The result has counts, and spellings of missing values from a fixed list. It has no other cell.
 */
#ifndef SHOAL_PROFILE_PROFILE_H
#define SHOAL_PROFILE_PROFILE_H

#include "base/text.h"
#include "base/thread.h"
#include "policy/policy.h"
#include "table/sample.h"
#include "table/table.h"

/* ------------------------------------------------------------ figures of a column */

typedef enum shoal_value_type {
  SHOAL_VALUE_TEXT,
  SHOAL_VALUE_NUMBER,
  SHOAL_VALUE_DATE
} shoal_value_type;

/* Values that look missing count only as missing. Rows are records, by the table's counts. */
typedef struct shoal_column_stats {
  uint64_t present, missing; /* rows */
  uint64_t distinct;         /* values */
  uint64_t unique;           /* values of one row only */
  uint64_t most_frequent;    /* rows of the most frequent value */
  uint32_t marks;            /* bit m: spelling m of shoal_missing_marks means missing here */
  shoal_value_type value_type;
  const char *date_format; /* DATE: as a policy writes it */
  bool date_exact;         /* DATE: no value has a time or a month or day of one digit */
  unsigned pivot;          /* DATE: the current year */
  bool has_times;          /* every value is a date with a time of day */
  unsigned scale;          /* NUMBER: decimals; 0: all are whole */
  int64_t low, high;    /* NUMBER: at that scale, without the lowest and highest 1% of the rows */
  size_t digits;        /* every value has this number of digits and nothing else; 0: not so */
  size_t longest_bytes; /* at most 255 */
} shoal_column_stats;

/* Spellings that look like a missing value, ended by NULL; the empty cell is the first. */
extern const char *const shoal_missing_marks[];

/*
 * Computes the statistics of every column, in parallel. Cost: one pass over rows and dictionaries.
 */
shoal_status shoal_profile_scan(const shoal_table *table, const shoal_run *run,
                                shoal_column_stats *stats, shoal_error *error) SHOAL_MUST_CHECK;

/* The same of one column with codes. False: no memory. */
bool shoal_profile_column(const shoal_table *table, const shoal_column *column,
                          shoal_column_stats *stats);

/* Which values are missing, for shoal_value_traits. */
typedef struct shoal_traits_rule {
  const char *const *missing;
  size_t n_missing;
  bool unquote; /* remove the apostrophe of cells quoted as formulas */
} shoal_traits_rule;

/* Describes one value for shoal_profile_sample; `rule` is a shoal_traits_rule (table/sample.h). */
uint32_t shoal_value_traits(const void *rule, const char *bytes, size_t size_bytes);

/*
 * The same of the values of a sample, for a table of n_records. Beyond level 0 all counts are those
 * of the sampled values. The range of numbers is not known. False: no memory.
 */
bool shoal_profile_sample(const shoal_value_sample *sample, uint64_t n_records,
                          shoal_column_stats *stats);

/* ------------------------------------------------------------ what a column's name tells */

/* The meaning of values, as far as it decides the hierarchy. */
typedef enum shoal_meaning {
  SHOAL_MEANS_ANYTHING,
  SHOAL_MEANS_AGE,
  SHOAL_MEANS_POSTCODE,
  SHOAL_MEANS_CATEGORY, /* numbers are only names: no intervals */
  SHOAL_MEANS_PERSON    /* one value for each person */
} shoal_meaning;

/* How sure a word is. Words such as "id" and "number" occur in many names. */
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

/* The hint of a column's name, or NULL. `mostly_differ`: most of its values occur once. */
const shoal_name_hint *shoal_name_hint_find(const char *name, bool mostly_differ);

/* ------------------------------------------------------------ spellings */

/*
 * Adds a warning if values of a text column differ only in case, spaces or Unicode form. `name` is
 * the column's as the result has it; `folded`: what the policy folds already. Cost: the distinct
 * values; a pass over the rows if there is something to warn of.
 */
shoal_status shoal_warn_of_variants(shoal_result *result, const shoal_table *table,
                                    const shoal_column *column, const char *name,
                                    shoal_equality folded, shoal_error *error) SHOAL_MUST_CHECK;

/* ------------------------------------------------------------ suggestions */

typedef struct shoal_suggestion {
  shoal_role role;
  bool undecided;     /* no evidence for the role: the steward must decide */
  bool is_person_key; /* an identifier that should have one value for each person */
  char why[256];      /* in plain words */
  char hierarchy[96]; /* as YAML; "" if none */
} shoal_suggestion;

void shoal_suggest(const char *name, const shoal_column_stats *stats, shoal_suggestion *suggestion);

/*
 * Does a column that is released unchanged identify people by itself? It does if it would become an
 * identifier, unless only its name says so and its few values are shared by many rows; and if its
 * dates nearly all differ, or its times are shared by few rows. *why: a fixed text.
 */
bool shoal_identifies_people(const char *name, const shoal_column_stats *stats, const char **why);

/* ------------------------------------------------------------ the job */

/* Fills a new result of kind SHOAL_RESULT_PROFILE. */
shoal_status shoal_profile_table(shoal_result *result, const shoal_table *table,
                                 const shoal_run *run, shoal_error *error) SHOAL_MUST_CHECK;
/* The suggested policy as commented YAML; the caller frees *yaml. */
shoal_status shoal_profile_yaml(const shoal_result *profile, char **yaml,
                                shoal_error *error) SHOAL_MUST_CHECK;

#endif
