/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify: the independent verifier. It reads a release as text and proves each model of the policy
 * on it. It has its own CSV reader, grouping and implementation of each model, and shares only
 * base/ with the engine that made the release.
 */
#pragma once

#include "base/thread.h"

/* One model to prove, with its name and parameters as in the policy. */
typedef struct shoal_verify_parameter {
  const char *name;
  const char *value;
} shoal_verify_parameter;

/* Some quasi-identifiers: a model can be about classes over these alone. */
typedef struct shoal_verify_set {
  const char *const *quasi;
  size_t n;
} shoal_verify_set;

typedef struct shoal_verify_model {
  const char *name;
  const char *attribute; /* NULL: every sensitive attribute */
  const shoal_verify_parameter *parameters;
  size_t n_parameters;
  const size_t *over; /* n_over indices into request->over; n_over 0: all quasi-identifiers */
  size_t n_over;
} shoal_verify_model;

/* A sensitive value of the original table or of the policy. Fields that no model needs may be 0. */
typedef struct shoal_verify_value {
  const char *value;
  const char *const *path; /* its ancestors, from the parent to the root, then NULL; or NULL */
  int64_t category;        /* 0: the most sensitive; -1: none */
  uint64_t n_original;     /* rows of the original table that have it; people with n_person */
} shoal_verify_value;

/* What the original table and the policy say about a sensitive attribute. */
typedef struct shoal_verify_knowledge {
  const shoal_verify_value *values; /* every value of the original table that is not missing, */
  size_t n_values;
  size_t n_missing;           /* then the missing values, which count for the heights of the tree */
  const char *const *protect; /* protected nodes of its tree */
  size_t n_protect;
  size_t n_categories;
  bool invented; /* noise rows may have values that only categories list */
} shoal_verify_knowledge;

/* Which cells of a column are one value; all false: those with equal bytes. */
typedef struct shoal_verify_fold {
  bool numbers; /* 50, 5e1 and 50.0; alone */
  bool letter_case, space, unicode;
  char decimal; /* mark of the numbers: ',' or '.' (0 too) */
} shoal_verify_fold;

/* Extreme numbers, or values of few rows, that no cell of a column may show. */
typedef struct shoal_verify_code {
  const char *top,
      *bottom;   /* as numbers: cells are between them, or labels as ">=90"; NULL: none */
  bool words;    /* cells may also be words of a hierarchy */
  uint64_t rare; /* values of fewer original rows may not be shown (verify/rare.h); 0: none */
  bool labels;   /* cells may be stars, */
  bool sets;     /* and sets of values */
  const shoal_verify_value *values; /* with `rare`: every value of the table as it was recoded */
  size_t n_values;
} shoal_verify_code;

/* String i is bytes[offsets[i] .. offsets[i + 1]). */
typedef struct shoal_verify_strings {
  const char *bytes;
  const uint64_t *offsets;
  uint32_t n;
} shoal_verify_strings;

/* What the labels of a quasi-identifier stand for (verify/meaning.h). */
typedef enum shoal_verify_kind {
  SHOAL_VERIFY_PLAIN,  /* values and "*" only */
  SHOAL_VERIFY_RANGES, /* numbers, intervals, codes: "[20-29]", ">=90" */
  SHOAL_VERIFY_SETS,   /* sets of values: "{a|b}" */
  SHOAL_VERIFY_MASK,   /* values with masked characters: "12***" */
  SHOAL_VERIFY_DATES,  /* "2019-05-30", "2019-05", "2019", "[2015-2019]" */
  SHOAL_VERIFY_TREE    /* labels of a tree or file */
} shoal_verify_kind;

/* A level of a tree: the label of each leaf. */
typedef struct shoal_verify_level {
  shoal_verify_strings labels;
  const uint32_t *of_leaf;
} shoal_verify_level;

typedef struct shoal_verify_paths {
  const shoal_verify_level *levels; /* 0: the leaves themselves */
  uint32_t n_levels, n_leaves;
} shoal_verify_paths;

typedef struct shoal_verify_meaning {
  shoal_verify_kind kind;
  char mask;                      /* MASK: the character, */
  bool mask_left;                 /* from the left, */
  bool mask_code;                 /* or of codes: first what follows the dot */
  bool mask_numbers;              /* it masks the plain spelling of numbers */
  const char *date_format;        /* DATES: of the values: YYYY or YY, MM, DD, other bytes */
  unsigned pivot;                 /* the last year that YY can mean */
  const shoal_verify_paths *tree; /* TREE, and other kinds if they are */
  bool limited;                   /* to labels of these levels of the tree */
  uint32_t min_level, max_level;
} shoal_verify_meaning;

/* A column of the release, and what its cells were made of. */
typedef struct shoal_verify_source {
  const void *codes;  /* by row of the original, then by noise row; noise rows of quasi-identifiers
                         are not read. NULL: cells are not in memory, the column is left out */
  unsigned code_size; /* bytes: 1, 2 or 4 */
  shoal_verify_strings values; /* by code */
  bool commas;                 /* numbers of the release have decimal commas; here points */
  /* Quasi-identifiers: the label of a row, chosen by its group or by its code. */
  const shoal_verify_meaning *meaning; /* NULL: the column is released as it is */
  shoal_verify_strings labels;
  const uint32_t *label_of_group; /* NULL: label_of_code */
  const uint32_t *label_of_code;
  const uint8_t *stars; /* by group: 1, the cell is "*" instead; NULL: in none */
} shoal_verify_source;

typedef enum shoal_verify_action {
  SHOAL_VERIFY_KEPT,
  SHOAL_VERIFY_REMOVED,
  SHOAL_VERIFY_BLANKED /* "*" in every quasi-identifier */
} shoal_verify_action;

/*
 * What became of each row of the original, as the engine says (verify/trace.h). The verifier proves
 * that each label covers the value of its row, and that the release has these rows.
 */
typedef struct shoal_verify_trace {
  uint64_t n_rows, n_noise;       /* rows of the original; noise rows follow them */
  uint64_t max_noise;             /* what the policy allows */
  const uint64_t *counts;         /* by row: its records; NULL: one */
  const uint32_t *group_of_row;   /* noise rows too */
  const uint8_t *action_of_group; /* shoal_verify_action */
  uint32_t n_groups;
  const shoal_verify_source *sources; /* by column of the release */
} shoal_verify_trace;

/* What the release must be. All strings are borrowed. */
typedef struct shoal_verify_request {
  char delimiter;
  const char *const *columns; /* the release's header, in order */
  size_t n_columns;
  const shoal_verify_fold *folds; /* by column; NULL: none */
  const shoal_verify_code *codes; /* by column; NULL: none */
  const char *const *quasi;
  size_t n_quasi;
  const char *const *sensitive;
  size_t n_sensitive;
  const shoal_verify_knowledge *attributes; /* by sensitive attribute; NULL: none */
  uint64_t k;                               /* minimum class size, for theta-sensitive */
  int guards_fd; /* personalized: a file with the column's name as header, then the guarding
                    node of each row of the release, one for each line; -1: none */
  size_t n_person, n_household; /* columns of people_fd that tell people, then households, apart; 0:
                                   each row counts as one; both 0: people_fd is not used */
  bool by_person;               /* a model is a proportion of people */
  /* The policy says who rows are about. Without n_person, no two rows may be about one person: */
  bool asks_people, asks_households;
  const uint64_t *person_hashes; /* of the key of each row of the original, ascending; or NULL */
  size_t n_hashes;
  int people_fd; /* a file with these columns: a header, then the cells of each row of the release,
                    one line for each */
  const shoal_verify_trace *trace; /* NULL: rows are not compared with the original */
  /* By line of the release: the rows that it stands for, as GROUP BY counts them. Without a trace
   * and pseudonyms. NULL: each line is a row. */
  const uint64_t *counts;
  size_t n_counts;
  const char *const *pseudonyms; /* columns whose cells are keyed hashes (verify/pseudonyms.h) */
  size_t n_pseudonyms;
  uint8_t *pseudonym_links;   /* output: 1 if one has rows in several classes, or a class
                                 fewer than k of them */
  const char *const *missing; /* cells that count as missing */
  size_t n_missing;
  const shoal_verify_model *models;
  size_t n_models;
  const shoal_verify_set *over; /* sets of quasi-identifiers that models are about */
  size_t n_over;
  uint64_t n_rows;   /* rows that the release must have */
  bool values_known; /* `attributes` has every value: others must not be in the release, nor
                        values without original rows, unless noise rows may have them */
  bool rows_known; /* n_original counts rows: no value may have more of them in the release, beyond
                    */
  uint64_t max_added;   /* those that noise may add */
  bool formulas_quoted; /* no cell may be a formula */
  uint8_t *formulas;    /* output, by column: 1 if it has a formula; NULL: not wanted */
} shoal_verify_request;

/* What the verifier counted; job/ compares it with the engine's figures. */
typedef struct shoal_verify_finding {
  uint64_t n_rows;
  uint64_t n_classes;
  uint64_t smallest_class;
  uint64_t fewest_people; /* of a class; rows if the request has no people */
} shoal_verify_finding;

/*
 * Reads the release from the file `fd` (from its start, whatever its offset; gzip and zstd are
 * recognized by their first bytes) and proves the request. SHOAL_OK: it holds, and `finding` is
 * filled. SHOAL_FAILED: a model is violated, cannot be proven or is unknown, or the file cannot be
 * read. The message names the model and the number of classes and rows, never a cell. Cost: one
 * pass, memory for the distinct classes and their sensitive values.
 */
shoal_status shoal_verify(int fd, const shoal_verify_request *request, const shoal_run *run,
                          shoal_verify_finding *finding, shoal_error *error) SHOAL_MUST_CHECK;
