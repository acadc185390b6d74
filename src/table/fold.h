/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/fold: gives equal values of a column one code and one spelling (equality.h), before the
 * table is used. Of the spellings of a value the most frequent is kept; of these the shortest, of
 * these the least by bytes. So the spelling does not depend on the order of rows. It is for
 * messages and pages that nobody publishes: the spelling that is released depends on the released
 * rows only (shoal_folded_best, decide/respell.c).
 */
#pragma once

#include "table/equality.h"
#include "table/table.h"

/* How the file spells the values of a column, where writing reads the file again. */
struct shoal_spellings {
  uint32_t n_spellings;
  char *bytes; /* spelling s is bytes[offsets[s] .. offsets[s + 1]) */
  uint64_t *offsets;
  uint32_t *code_of; /* by spelling: the code of its value */
};

/* The spellings of a column in which a value has several, and which row has which. */
struct shoal_folded {
  uint32_t n_spellings;
  char *bytes; /* spelling s is bytes[offsets[s] .. offsets[s + 1]) */
  uint64_t *offsets;
  uint32_t *value_of; /* by spelling: the code of its value */
  void *codes;        /* by row, of a counted table by spelled row: its spelling */
  unsigned code_size; /* as in a column */
};

/* The rows of a counted table before folding made some of them equal and they were merged. */
struct shoal_spelled_rows {
  uint64_t n;
  uint32_t *row_of; /* the row that has it now */
  uint64_t *counts;
};

/*
 * Folds each column that has codes by equality_of[column]. A value that equals one of the `missing`
 * spellings is missing. Rows of a counted table that become equal are merged. Cost: the key of each
 * distinct value; a pass over the rows only if a column has a value of several spellings.
 */
shoal_status shoal_table_fold(shoal_table *table, const shoal_equality *equality_of,
                              const char *const *missing, size_t n_missing,
                              shoal_error *error) SHOAL_MUST_CHECK;

/* Rows of each value; NULL: no memory. The caller frees them. */
uint64_t *shoal_column_rows(const shoal_table *table, const shoal_column *column);

/*
 * Gives all values of a group one code, the group's number, and one spelling. Groups are numbered
 * from 0, each has a value; takes `group_of` (by value). Rows of a counted table that become equal
 * stay apart until shoal_table_merge_rows. False: no memory, and the column is unchanged.
 */
bool shoal_column_regroup(const shoal_table *table, shoal_column *column, uint32_t *group_of,
                          const shoal_label *spelling, uint32_t n_groups);

/*
 * Merges rows of a counted table whose codes are equal; they stay in the order of their first rows
 * in the file. False: no memory.
 */
bool shoal_table_merge_rows(shoal_table *table);

/*
 * Puts the extreme numbers of each column that has codes under the labels of its coding
 * (coding.h), and counts their rows; cells that are no numbers stay. Puts rare values of a column
 * that collects them under theirs.
 */
shoal_status shoal_table_code(shoal_table *table, shoal_error *error) SHOAL_MUST_CHECK;
/*
 * Gives value v of a column with codes the spelling bytes[offsets[v] .. offsets[v + 1]), which
 * replaces that of the file; values of equal spelling become one. `is_missing`: by value. The three
 * stay the caller's. Before the table is folded. Cost: as folding.
 */
shoal_status shoal_column_respell(shoal_table *table, shoal_column *column, char *bytes,
                                  uint64_t *offsets, uint8_t *is_missing,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/* Free them, raw bytes overwritten. NULL: nothing. */
void shoal_spellings_free(struct shoal_spellings *spellings);
void shoal_folded_free(struct shoal_folded *folded);
void shoal_spelled_rows_free(struct shoal_spelled_rows *spelled);

/* As if each row of a table with counts were as many rows. NULL: no memory. */
struct shoal_folded *shoal_folded_expand(const shoal_table *table,
                                         const struct shoal_folded *folded);

/*
 * The best spelling of each value of a folded column, if only rows that are `in` (by row, 1: it is)
 * are counted: the most frequent, of these the shortest, of these the least by bytes. A value
 * without such a row, and one that is not spelled so in the table (the label of a code), has size
 * SIZE_MAX. Borrows the column. NULL: no memory; the caller frees it.
 */
shoal_label *shoal_folded_best(const shoal_table *table, const shoal_column *column,
                               const uint8_t *in);

/* Values of a column that would be one with another value, were they folded. */
typedef struct shoal_variants {
  uint64_t n_values;                   /* by all three */
  uint64_t n_rows;                     /* that have them */
  uint64_t n_case, n_space, n_unicode; /* values, by one of them alone */
} shoal_variants;

/* Counts the variants of a text column; missing values are left out. False: no memory. */
bool shoal_column_variants(const shoal_table *table, const shoal_column *column,
                           shoal_variants *variants);
