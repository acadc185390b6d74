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
#pragma once

#include "base/text.h"
#include "base/thread.h"
#include "policy/policy.h"
#include "report/result.h"
#include "table/sample.h"
#include "table/table.h"

/* ------------------------------------------------------------ figures of a column */

typedef enum shoal_value_type {
  SHOAL_VALUE_TEXT,
  SHOAL_VALUE_NUMBER,
  SHOAL_VALUE_DATE
} shoal_value_type;

/* What nearly all values of a text column look like. */
typedef enum shoal_value_shape {
  SHOAL_SHAPE_NONE,
  SHOAL_SHAPE_EMAIL,
  SHOAL_SHAPE_URL,
  SHOAL_SHAPE_PHONE,
  SHOAL_SHAPE_UUID,
  SHOAL_SHAPE_PERSON,   /* Jane Doe; Doe, Jane */
  SHOAL_SHAPE_ICD,      /* E11.9 */
  SHOAL_SHAPE_ATC,      /* A10BA02 */
  SHOAL_SHAPE_MONEY,    /* $1,200.50 */
  SHOAL_SHAPE_POSTCODE, /* SW1A 1AA, 1012 AB, K1A 0B1, D-53113 */
  SHOAL_SHAPE_PLACE,    /* 52.52, 13.40 */
  SHOAL_SHAPE_FRACTION, /* 101.58499908447266: some have more than 18 digits, or it were NUMBER */
  SHOAL_SHAPE_DATE,     /* 5 Mar 2024: a form that no hierarchy reads */
  SHOAL_SHAPE_PROSE     /* several words, most of them long */
} shoal_value_shape;

enum { SHOAL_PROFILE_K = 5, SHOAL_BAD_ROWS = 3 };
enum { SHOAL_FEW_ROWS = 20 }; /* with fewer, values that all differ prove little */

/* Values that look missing count only as missing. Rows are records, by the table's counts. */
typedef struct shoal_column_stats {
  uint64_t present, missing; /* rows */
  uint64_t distinct;         /* values */
  uint64_t unique;           /* values of one row only */
  uint64_t most_frequent;    /* rows of the most frequent value */
  uint64_t rare;             /* rows of values that fewer than SHOAL_PROFILE_K rows have */
  uint32_t marks;            /* bit m: spelling m of shoal_missing_marks means missing here */
  shoal_value_type value_type;
  const char *date_format; /* DATE: as a policy writes it */
  unsigned pivot;          /* DATE: the current year */
  bool has_times;          /* every value is a date with a time of day */
  unsigned scale;          /* NUMBER: decimals; 0: all are whole */
  int64_t low, high; /* NUMBER: at that scale, without the lowest and highest 1% of the rows */
  int64_t least, greatest; /* NUMBER: at that scale, of all rows; unknown of a sample */
  bool ascending;          /* NUMBER: each value that appears is greater than those before it */
  uint64_t bad_cells;      /* NUMBER: rows whose cell is neither a number nor missing */
  uint64_t bad_rows[SHOAL_BAD_ROWS]; /* the first of them, from 1; 0: no more */
  shoal_value_shape shape;           /* TEXT: of nearly all values */
  size_t digits;        /* every value has this number of digits and nothing else; 0: not so */
  size_t longest_bytes; /* at most 255 */
} shoal_column_stats;

/* Spellings that look like a missing value, ended by NULL; the empty cell is the first. */
extern const char *const shoal_missing_marks[];

/* Is it one of them? */
bool shoal_looks_missing(const char *bytes, size_t size_bytes);

/*
 * Computes the statistics of every column, in parallel. Cost: one pass over rows and dictionaries.
 */
shoal_status shoal_profile_scan(const shoal_table *table, const shoal_run *run,
                                shoal_column_stats *stats, shoal_error *error) SHOAL_MUST_CHECK;

/* The same of one column with codes. False: no memory. */
bool shoal_profile_column(const shoal_table *table, const shoal_column *column,
                          shoal_column_stats *stats);

/* The shape of nearly all values of the column, from at most 2,000 of them. */
shoal_value_shape shoal_column_shape(const shoal_column *column);

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
  SHOAL_MEANS_COUNT,    /* numbers are quantities, also if there are few */
  SHOAL_MEANS_DATE,
  SHOAL_MEANS_DURATION,
  SHOAL_MEANS_HEALTH,
  SHOAL_MEANS_CENSORED, /* whether an observation ended with an event */
  SHOAL_MEANS_CARE,     /* names of hospitals: the table is about health */
  SHOAL_MEANS_WEIGHT,   /* of a body, or of a row in a survey */
  SHOAL_MEANS_PERSON,   /* one value for each person */
  SHOAL_MEANS_HOUSEHOLD
} shoal_meaning;

/* How sure a word is. Words such as "id" and "number" occur in many names. */
typedef enum shoal_hint_strength {
  SHOAL_HINT_SURE,
  SHOAL_HINT_IF_NAMES, /* if it is the whole name, and there are more values than yes and no */
  SHOAL_HINT_IF_KEYS,  /* if it is the whole name, and there are more than SHOAL_FEW_CODES values */
  SHOAL_HINT_IF_ALONE, /* if it is the whole name, or the values mostly differ */
  SHOAL_HINT_IF_MANY,  /* if it is the whole name, or there are more than SHOAL_FEW_CODES values */
  SHOAL_HINT_IF_DIFFERENT /* if the values mostly differ */
} shoal_hint_strength;

typedef struct shoal_name_hint {
  shoal_role role;
  shoal_meaning meaning;
  shoal_hint_strength strength;
  const char *noun; /* "a postal code" */
  const char *words;
} shoal_name_hint;

enum { SHOAL_FEW_CODES = 20 };

/* The hint of a column's name, or NULL. The statistics decide whether an unsure word counts. */
const shoal_name_hint *shoal_name_hint_find(const char *name, const shoal_column_stats *stats);

/* Does the name say that each person has one value, as "ssn" and "patient_id" do? "id" and
 * "row_names" do not: they may number visits or rows. */
bool shoal_name_is_of_people(const char *name);

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

/* What all columns together tell about the table. */
typedef struct shoal_table_traits {
  bool is_health; /* several columns are about health: others are findings */
  bool is_study;  /* many columns are quantities without a meaning */
} shoal_table_traits;

typedef struct shoal_suggestion {
  shoal_role role;
  shoal_meaning meaning;
  bool by_name;
  bool undecided;     /* no evidence for the role: the steward must decide */
  bool is_person_key; /* an identifier that should have one value for each person */
  bool names_person;  /* its name says that it is one of people, not of things or households */
  bool is_health;
  bool is_quantity;   /* a number whose meaning is not known */
  bool may_be_number; /* numbers that are no codes */
  bool as_number;     /* the policy says `type: number` */
  char why[256];      /* the evidence, in plain words */
  char date[64];      /* dates: "date" and their format, after `type:` as YAML; else "" */
  char hierarchy[96]; /* as YAML; "" if none */
} shoal_suggestion;

void shoal_suggest(const char *name, const shoal_column_stats *stats,
                   const shoal_table_traits *table, shoal_suggestion *suggestion);

/*
 * Suggestions for all columns. At least one becomes a quasi-identifier if any can. At most five are
 * undecided, and one more for each 20 columns above 20.
 */
void shoal_suggest_table(const shoal_table *table, const shoal_column_stats *stats,
                         shoal_suggestion *suggestions);

/* May a kept column of these values pass the gates, and are most rows' values shared by many? */
bool shoal_may_be_kept(const char *name, const shoal_column_stats *stats);

/*
 * Does a column that is released unchanged identify people by itself? It does if it would become an
 * identifier, unless only its name says so and its few values are shared by many rows; and if its
 * dates nearly all differ, or its times are shared by few rows. *why: a fixed text.
 */
bool shoal_identifies_people(const char *name, const shoal_column_stats *stats, const char **why);

/* Are these years, dates, times or ages, of which others often know those of a person? */
bool shoal_others_may_know(const char *name, const shoal_column_stats *stats);

/* ------------------------------------------------------------ the job */

/* Fills a new result of kind SHOAL_RESULT_PROFILE. */
shoal_status shoal_profile_table(shoal_result *result, const shoal_table *table,
                                 const shoal_run *run, shoal_error *error) SHOAL_MUST_CHECK;
/* An entry of the suggested policy: one column, or a pattern of several with the same roles. */
typedef struct shoal_profile_entry {
  size_t column;     /* the first one of the profile */
  size_t name_bytes; /* of its name that the pattern has before `*`; 0: no pattern */
  size_t n_columns;  /* that it decides */
} shoal_profile_entry;

/*
 * Fewest entries that give each column its suggestion, in column order; an exact name wins, then
 * the longest pattern. Tables of few columns get one for each. `entries`: n_columns. False: no
 * memory.
 */
bool shoal_profile_merge(const shoal_profile_report *profile, bool safe,
                         shoal_profile_entry *entries, size_t *n_entries);

/* A named set of rules, from a published source. */
typedef struct shoal_preset {
  const char *name, *summary;
  unsigned k;
  bool years_only, short_postcodes, top_coded_ages;
  bool rare_findings; /* sensitive texts of fewer than k rows are collected */
  const char *source; /* lines of comment */
} shoal_preset;

/* Ended by an entry without a name; the first is the default. */
extern const shoal_preset shoal_presets[];

/*
 * The suggested policy as commented YAML; the caller frees *yaml. `safe`: nothing is left to
 * decide. `preset`: a name of shoal_presets, or NULL.
 */
shoal_status shoal_profile_yaml(const shoal_result *profile, bool safe, const char *preset,
                                char **yaml, shoal_error *error) SHOAL_MUST_CHECK;
