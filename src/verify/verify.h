/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify: the second opinion. Reads a release as anyone will read it, as strings, and proves each
 * model of the policy on it. It shares nothing with the engine that made the release: its own CSV
 * reader, its own grouping, its own reading of each model's definition. It may include base/ and
 * nothing else of this tree.
 */
#ifndef SHOAL_VERIFY_VERIFY_H
#define SHOAL_VERIFY_VERIFY_H

#include "base/work.h"

/* One model to prove: its name as in a policy, its parameters as they were written. */
typedef struct shoal_verify_parameter {
  const char *name;
  const char *value;
} shoal_verify_parameter;

typedef struct shoal_verify_model {
  const char *name;
  const char *attribute; /* NULL: every sensitive attribute */
  const shoal_verify_parameter *parameters;
  size_t n_parameters;
} shoal_verify_model;

/* What is known of a sensitive value, as strings and counts; what no model needs may be left 0. */
typedef struct shoal_verify_value {
  const char *value;
  const char *const *path; /* its ancestors, the nearest first, the root last; NULL ends; or NULL */
  int64_t category;        /* 0: the most sensitive; -1: none */
  uint64_t n_original;     /* rows of the original table that have it */
} shoal_verify_value;

/* What is known of a sensitive attribute beyond the release itself. */
typedef struct shoal_verify_knowledge {
  const shoal_verify_value *values; /* every value of the original table that is not missing */
  size_t n_values;
  size_t
      n_missing; /* behind them: spellings of a missing one, which count for the tree's heights */
  const char *const *protect; /* nodes of its tree that are protected; ancestors decide */
  size_t n_protect;
  size_t n_categories;
} shoal_verify_knowledge;

/* What the release claims to be. All strings are borrowed. */
typedef struct shoal_verify_claim {
  char delimiter;
  const char *const *columns; /* the release's header, in order */
  size_t n_columns;
  const char *const *quasi;
  size_t n_quasi;
  const char *const *sensitive;
  size_t n_sensitive;
  const shoal_verify_knowledge *attributes; /* by sensitive attribute; NULL: nothing known */
  uint64_t k;                               /* class size asked for: theta-sensitive is about it */
  int guards_fd; /* personalized: a file with one guarding node a line, row by row as in the
                    release, under a header line that is the column's name; -1: none */
  const char *const *missing; /* spellings that count as no value */
  size_t n_missing;
  const shoal_verify_model *models;
  size_t n_models;
  uint64_t n_rows;      /* rows that must be there */
  bool formulas_quoted; /* no cell may be one that a spreadsheet would run */
  uint8_t *formulas;    /* filled, by column: 1, it has such a cell; NULL: nobody asks */
} shoal_verify_claim;

/* What the verifier counted by itself; the job compares it with what the engine says. */
typedef struct shoal_verify_finding {
  uint64_t n_rows;
  uint64_t n_classes;
  uint64_t smallest_class;
} shoal_verify_finding;

/*
 * Reads the release from the file behind `fd` (from its start, whatever its offset; .gz and .zst
 * content is recognized by its first bytes) and proves the claim. SHOAL_OK: it holds, and
 * `finding` is filled. SHOAL_FAILED: it does not, or the file cannot be read; the message says
 * which model breaks on how many classes and rows, never a cell's content. A model it does not
 * know is SHOAL_FAILED: what cannot be proven is not released. Cost: one pass, memory for the
 * distinct classes and their sensitive values.
 */
shoal_status shoal_verify(int fd, const shoal_verify_claim *claim, const shoal_run *run,
                          shoal_verify_finding *finding, shoal_error *error) SHOAL_MUST_CHECK;

#endif
