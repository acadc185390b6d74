/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy: the YAML policy and the command line's overrides, as one checked struct.
 *
 * Checked here: syntax, keys, types and ranges of values. Errors have line and column, the expected
 * form and a suggestion. Not checked here: what needs the data (columns, k against the rows) and
 * what other tables list (models and their parameters, algorithms, preferences). Such words keep
 * line and column for later messages.
 */
#pragma once

#include "base/decimal.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "hierarchy/spec.h"
#include "table/equality.h"

/* A position in the policy file; line 0: the command line. */
typedef struct shoal_mark {
  uint32_t line;
  uint32_t at;
} shoal_mark;

typedef struct shoal_word {
  const char *text; /* NULL: not given */
  shoal_mark mark;
} shoal_word;

typedef enum shoal_role {
  SHOAL_ROLE_IDENTIFIER, /* never released */
  SHOAL_ROLE_QUASI,
  SHOAL_ROLE_SENSITIVE,
  SHOAL_ROLE_KEEP,      /* released as it is */
  SHOAL_ROLE_PSEUDONYM, /* an identifier that is released as a keyed hash */
  SHOAL_ROLE_PERSON,    /* never released; says who a row is about, with others of this role */
  SHOAL_ROLE_HOUSEHOLD, /* never released; the group that the person belongs to */
  SHOAL_ROLE_DROP       /* not released: `unlisted: drop` */
} shoal_role;

/* As policies spell them, by role, ended by NULL: SHOAL_ROLE_DROP has no name. */
extern const char *const shoal_role_names[];

/* Risks that models do not rule out. The release is written, and its verdict lists them. */
typedef enum shoal_risk_kind {
  SHOAL_RISK_UNPROTECTED, /* a sensitive column that no model protects */
  SHOAL_RISK_KEPT,        /* a kept column that identifies people, or singles out many rows */
  SHOAL_RISK_REPEATS, /* an identifier or pseudonym whose values repeat: one person, many rows */
  SHOAL_RISK_ATTACKS, /* a simulated attack that succeeds */
  SHOAL_RISK_SINGLE_ROWS, /* rows were suppressed one by one */
  SHOAL_N_RISKS
} shoal_risk_kind;

/* Their names in policies and reports. */
extern const char *const shoal_risk_names[SHOAL_N_RISKS];
/* The risk of that name, which must be one. */
shoal_risk_kind shoal_risk_named(const char *name);

/* Risks of one kind that the policy accepts: names of columns or attacks. */
typedef struct shoal_accepted {
  const shoal_word *names;
  size_t n_names;
} shoal_accepted;

/* A date is a number too, of its day: `coding.dates` says that cells are read as dates. */
typedef enum shoal_type { SHOAL_TYPE_TEXT, SHOAL_TYPE_NUMBER } shoal_type;

/* Categories of a sensitive attribute, most sensitive first: inline lists, or a file. */
typedef struct shoal_categories {
  const char *file;                /* resolved path, or NULL */
  const char *const *const *lists; /* n_lists lists, each ended by NULL */
  size_t n_lists;
} shoal_categories;

/* The key of a pseudonym: exactly one of `file` and `env`, or neither if the policy has none. */
typedef struct shoal_pseudonym_key {
  const char *file;    /* resolved path, or NULL */
  const char *env;     /* name of an environment variable, or NULL */
  const char *context; /* hashed with each identifier; NULL: random, for each release */
} shoal_pseudonym_key;

typedef struct shoal_attribute {
  const char *name; /* a column, or a pattern of names: "V5*" */
  shoal_mark mark;
  shoal_role role;
  bool undecided; /* decide: true */
  shoal_type type;
  bool otherwise_missing;  /* cells that are not a number or date */
  const char *date_format; /* dates: of the cells (hierarchy/date.h) */
  unsigned pivot;          /* dates: the last year that YY can mean; 0: the current year */
  bool has_hierarchy;
  bool default_sets; /* text without a hierarchy: it got sets */
  shoal_hierarchy_spec hierarchy;
  const shoal_word *protect; /* n_protect nodes of the hierarchy */
  size_t n_protect;
  shoal_categories categories;
  shoal_pseudonym_key key; /* pseudonyms */
  bool is_person;          /* pseudonyms: person: true, a part of the key of people */
  uint32_t min_level;      /* of labels that are released; default 0 */
  bool has_max_level;      /* default: the hierarchy's top */
  uint32_t max_level;
  shoal_coding coding;     /* top-code, bottom-code and rare */
  bool recode_hierarchy;   /* local: a number is a label or a set, not an interval */
  shoal_decimal snap;      /* 0: none */
  shoal_decimal weight;    /* of method.weights; default 1 */
  shoal_decimal anonymity; /* datafly; default 0 */
  shoal_decimal profile;   /* datafly; default 1 */
  bool has_sensitivity;    /* mu-argus */
  uint8_t sensitivity;
} shoal_attribute;

/* One model asked for. privacy.k and privacy.p become models too, first of all. */
typedef struct shoal_model_request {
  shoal_word name;
  shoal_word attribute;         /* text NULL: every sensitive attribute */
  const shoal_word *parameters; /* names */
  const shoal_word *values;     /* scalars as written */
  size_t n_parameters;
  const shoal_word *over; /* quasi-identifiers; NULL: all of them */
  size_t n_over;
  shoal_word known;     /* N: every set of N quasi-identifiers; text NULL: not given */
  uint64_t known_count; /* the same as a number; 0: not given */
} shoal_model_request;

/* "10" rows, or "1.5%". */
typedef struct shoal_amount {
  bool percent;
  shoal_decimal number;
} shoal_amount;

typedef enum shoal_unlisted {
  SHOAL_UNLISTED_REFUSE,
  SHOAL_UNLISTED_DROP,
  SHOAL_UNLISTED_KEEP
} shoal_unlisted;

enum { SHOAL_MAX_EFFORT = 1000 };

struct shoal_policy {
  shoal_arena arena;
  const char *file;               /* its name in messages */
  char sha256[SHOAL_SHA256_TEXT]; /* of its bytes, before the command line's overrides */
  const char *directory;          /* paths are relative to it */
  char delimiter;                 /* 0: detected */
  const char *const *missing;
  size_t n_missing;      /* default: one, "" */
  shoal_equality fold;   /* of text: data.fold; default BYTES */
  char decimal;          /* '.' or ',' */
  const char *thousands; /* "," "." "'" or " "; NULL: none */
  const char *encoding;  /* as iconv has it; NULL: detected */
  bool value_labels;     /* cells of SPSS and Stata files are labels, not codes */
  const shoal_attribute *attributes;
  size_t n_attributes;
  shoal_strings names; /* of the attributes: a name's number is its index */
  size_t *patterns;    /* indices of attributes whose names are patterns */
  size_t n_patterns;
  shoal_unlisted unlisted;
  shoal_accepted accept[SHOAL_N_RISKS]; /* by shoal_risk_kind; that of single rows has no names */
  bool accept_single_rows;
  bool has_k, has_p, has_households;
  uint64_t k, p, households; /* defaults 1, 0 and 0 */
  shoal_mark k_mark, p_mark, households_mark;
  const shoal_model_request *models; /* privacy.models only, without k and p */
  size_t n_models;
  shoal_word algorithm; /* default "auto" */
  bool uniform_labels;  /* labels: any -> false */
  shoal_mark labels_mark;
  shoal_amount max_suppression;
  bool blank_suppressed;
  bool quote_formulas; /* formulas: keep -> false */
  const shoal_word *prefer;
  size_t n_prefer;
  shoal_word objective;
  shoal_word satisfies;          /* default "classes" */
  bool has_cuts, relaxed_cuts;   /* mondrian; default strict */
  bool has_start, sorted_start;  /* theta; default flock */
  bool has_mu_argus, only_cells; /* mu-argus: generalize -> false */
  shoal_mark mu_argus_mark;
  bool noise_allowed; /* noise: refuse -> false */
  shoal_amount noise;
  bool has_effort;
  uint32_t effort; /* multiplies the search budget, 1 .. SHOAL_MAX_EFFORT; default 1 */
  uint64_t slack;  /* steps above a minimal node; default 0 */
  shoal_mark slack_mark;
  bool weights_inverse;
  bool has_seed, seed_in_text; /* in_text: given by the policy, not by the command line */
  uint64_t seed;
};

/* Reads a policy from a file, or from text whose relative paths start at `directory`. */
shoal_status shoal_policy_load(const char *path, shoal_policy **policy,
                               shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_policy_load_text(const char *text, size_t size_bytes, const char *name,
                                    const char *directory, shoal_policy **policy,
                                    shoal_error *error) SHOAL_MUST_CHECK;
/* Sets one option of the command line; the policy changes only if the value is valid. */
shoal_status shoal_policy_override(shoal_policy *policy, const char *key, const char *value,
                                   shoal_error *error) SHOAL_MUST_CHECK;
void shoal_policy_delete(shoal_policy *policy); /* NULL: nothing */

/*
 * The entry that applies to the column `name`, or NULL: the one of that name, else the longest
 * pattern that fits it. Its own name can be the pattern. A column `row_names` that no entry names
 * is an identifier; that attribute is not one of the policy's.
 */
const shoal_attribute *shoal_policy_attribute(const shoal_policy *policy, const char *name);
/* The entry that is written so in the policy, or NULL. */
const shoal_attribute *shoal_policy_entry(const shoal_policy *policy, const char *name);
/* Does the policy name the column, other than by a pattern of nothing but `*`? */
bool shoal_policy_knows_name(const shoal_policy *policy, const char *name);
bool shoal_name_is_pattern(const char *name);
bool shoal_name_fits(const char *pattern, const char *name);

/*
 * Is row 1 a header, if the policy knows n_known of its n cells? If not, the others may be data:
 * messages and reports must not quote them.
 */
static inline bool shoal_policy_knows_header(size_t n_known, size_t n) {
  return n_known >= n - n_known;
}

/* Has it a file, levels or a tree, with values of its own? Other kinds are built from the data. */
static inline bool shoal_attribute_has_tree(const shoal_attribute *attribute) {
  shoal_hierarchy_kind kind = attribute->hierarchy.kind;
  return attribute->has_hierarchy &&
         (kind == SHOAL_HIERARCHY_FILE || kind == SHOAL_HIERARCHY_LEVELS ||
          kind == SHOAL_HIERARCHY_TREE);
}

/* In local recoding, is a class labelled with the set of its values? */
static inline bool shoal_attribute_has_sets(const shoal_attribute *attribute) {
  return attribute->has_hierarchy && attribute->hierarchy.kind == SHOAL_HIERARCHY_SETS;
}

/* Is a column of this role never in a release? */
static inline bool shoal_role_is_removed(shoal_role role) {
  return role == SHOAL_ROLE_IDENTIFIER || role == SHOAL_ROLE_PERSON ||
         role == SHOAL_ROLE_HOUSEHOLD || role == SHOAL_ROLE_DROP;
}

/* Does a column of this role tell people or households apart? */
static inline bool shoal_role_counts_people(shoal_role role) {
  return role == SHOAL_ROLE_PERSON || role == SHOAL_ROLE_HOUSEHOLD;
}

/* Is the attribute part of the key of people or households? A pseudonym can be, too. */
static inline bool shoal_attribute_is_key(const shoal_attribute *attribute, shoal_role role) {
  return attribute->role == role || (role == SHOAL_ROLE_PERSON && attribute->is_person);
}

/* Has an attribute of the policy this role, or is it part of its key? */
bool shoal_policy_has_role(const shoal_policy *policy, shoal_role role);

/* Does a model ask for this column by name: a guard column? */
bool shoal_policy_guards_by(const shoal_policy *policy, const char *column);

/* Which of the attribute's spellings are one value. */
static inline shoal_equality shoal_policy_equality(const shoal_policy *policy,
                                                   const shoal_attribute *attribute) {
  return attribute->type == SHOAL_TYPE_NUMBER ? SHOAL_EQUAL_NUMBERS : policy->fold;
}

/* SHOAL_BAD_INPUT, with the attribute's line, if a file that it names does not exist; NULL: none.
 */
shoal_status shoal_policy_find_file(const shoal_policy *policy, const shoal_attribute *attribute,
                                    const char *file, shoal_error *error) SHOAL_MUST_CHECK;

/* Does the policy accept this risk of the column or attack `name`? Single rows: name NULL. */
bool shoal_policy_accepts(const shoal_policy *policy, shoal_risk_kind kind, const char *name);

/* The amount as a number of rows, rounded down and at most n_rows. */
uint64_t shoal_amount_rows(shoal_amount amount, uint64_t n_rows);
/* "10 rows", "1% of the rows" */
void shoal_amount_print(shoal_amount amount, char *out, size_t size);

/* Fails with SHOAL_BAD_INPUT at a line and column of the policy. */
shoal_status shoal_policy_fail(const shoal_policy *policy, shoal_mark mark, shoal_error *error,
                               const char *format, ...) SHOAL_PRINTF(4, 5);

/*
 * Parses one hierarchy written as in a policy ("{intervals: [5, 10]}"); strings live in `arena`,
 * file paths are taken relative to `directory`.
 */
shoal_status shoal_policy_parse_hierarchy(const char *yaml, const char *directory,
                                          shoal_arena *arena, shoal_hierarchy_spec *spec,
                                          shoal_error *error) SHOAL_MUST_CHECK;
