/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy: the YAML policy and the command line's overrides, as one checked struct.
 *
 * Checked here: syntax, keys, types and ranges of values, each mistake with line and column, what
 * was expected and the nearest right word. Not checked here: what needs the data (columns that
 * exist, k against the rows) and what other tables know (names of models, their parameters, names
 * of algorithms and preferences): these keep their place in the file for later messages.
 */
#ifndef SHOAL_POLICY_POLICY_H
#define SHOAL_POLICY_POLICY_H

#include "base/decimal.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "hierarchy/spec.h"

/* Where something stands in the policy file; line 0: it came from the command line. */
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
  SHOAL_ROLE_KEEP, /* released as it is */
  SHOAL_ROLE_DROP  /* not released: `unlisted: drop` */
} shoal_role;

typedef enum shoal_type { SHOAL_TYPE_TEXT, SHOAL_TYPE_NUMBER } shoal_type;

/* Categories of a sensitive attribute, most sensitive first: inline lists, or a file. */
typedef struct shoal_categories {
  const char *file;                /* resolved path, or NULL */
  const char *const *const *lists; /* n_lists lists, each ended by NULL */
  size_t n_lists;
} shoal_categories;

typedef struct shoal_attribute {
  const char *name;
  shoal_mark mark;
  shoal_role role;
  shoal_type type;
  bool has_hierarchy;
  shoal_hierarchy_spec hierarchy;
  const shoal_word *protect; /* n_protect nodes of the hierarchy */
  size_t n_protect;
  shoal_categories categories;
  bool recode_hierarchy;   /* local: a number is released as a label, not as an interval */
  shoal_decimal snap;      /* 0: none */
  shoal_decimal weight;    /* of method.weights; 1 unless given */
  shoal_decimal anonymity; /* datafly; 0 unless given */
  shoal_decimal profile;   /* datafly; 1 unless given */
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

enum { SHOAL_MOST_EFFORT = 1000 };

struct shoal_policy {
  shoal_arena arena;
  const char *file;               /* its name in messages */
  char sha256[SHOAL_SHA256_TEXT]; /* of its bytes, before the command line's overrides */
  const char *directory;          /* paths are relative to it */
  char delimiter;                 /* 0: found by itself */
  const char *const *missing;
  size_t n_missing; /* default: one, "" */
  const shoal_attribute *attributes;
  size_t n_attributes;
  shoal_unlisted unlisted;
  bool has_k, has_p;
  uint64_t k, p; /* 1 and 0 unless given */
  shoal_mark k_mark, p_mark;
  const shoal_model_request *models; /* privacy.models only; k and p stand above */
  size_t n_models;
  shoal_word algorithm; /* "auto" unless given */
  shoal_amount max_suppression;
  bool blank_suppressed;
  bool quote_formulas; /* formulas: keep -> false */
  const shoal_word *prefer;
  size_t n_prefer;
  shoal_word objective;
  shoal_word satisfies;         /* "classes" unless given */
  bool has_cuts, relaxed_cuts;  /* mondrian; strict unless given */
  bool has_start, sorted_start; /* theta; flock unless given */
  bool noise_allowed;           /* noise: refuse -> false */
  shoal_amount noise;
  bool has_effort;
  uint32_t effort; /* multiplies the search budget, 1 .. SHOAL_MOST_EFFORT; 1 unless given */
  uint64_t slack;  /* steps above a minimal node; 0 unless given */
  shoal_mark slack_mark;
  bool weights_inverse;
  bool has_seed;
  uint64_t seed;
};

/* The attribute of that name, or NULL. */
const shoal_attribute *shoal_policy_attribute(const shoal_policy *policy, const char *name);

/* floor(rows x amount): rows to be suppressed at most. */
uint64_t shoal_amount_rows(shoal_amount amount, uint64_t n_rows);

/* Fails with SHOAL_BAD_INPUT at a place of the policy. */
shoal_status shoal_policy_fail(const shoal_policy *policy, shoal_mark mark, shoal_error *error,
                               const char *format, ...) SHOAL_PRINTF(4, 5);

/*
 * Parses one hierarchy written as in a policy ("{intervals: [5, 10]}"); strings live in `arena`,
 * file paths are taken relative to `directory`.
 */
shoal_status shoal_policy_parse_hierarchy(const char *yaml, const char *directory,
                                          shoal_arena *arena, shoal_hierarchy_spec *spec,
                                          shoal_error *error) SHOAL_MUST_CHECK;

#endif
