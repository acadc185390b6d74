/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/load: cells -> codes, on several threads. Each worker takes the next block of whole
 * records, splits it, and encodes it with dictionaries of its own; at the end the dictionaries are
 * merged by first appearance, so that the table does not depend on the number of workers.
 */
#ifndef SHOAL_TABLE_LOAD_H
#define SHOAL_TABLE_LOAD_H

#include "base/work.h"
#include "table/table.h"

/* What is wanted of a column. */
typedef enum shoal_use {
  SHOAL_USE_NONE,    /* cells are dropped */
  SHOAL_USE_CODES,   /* cells become codes */
  SHOAL_USE_KEEP,    /* so do these; where rows are only counted, they are dropped */
  SHOAL_USE_IDENTITY /* cells are dropped, repeated ones counted */
} shoal_use;

static inline bool shoal_use_has_codes(shoal_use use) {
  return use == SHOAL_USE_CODES || use == SHOAL_USE_KEEP;
}

/* Decides, once the header is known, what each column is for; may refuse. */
typedef shoal_status (*shoal_plan_fn)(void *user, const char *file, const char *const *names,
                                      size_t n_columns, shoal_use *uses, shoal_error *error);

typedef struct shoal_load_options {
  char delimiter;             /* 0: found by itself */
  const char *const *missing; /* spellings of a missing value */
  size_t n_missing;
  bool unquote;       /* cells quoted as formulas are read without their apostrophe */
  shoal_plan_fn plan; /* NULL: every column becomes codes */
  void *plan_user;
  const shoal_use *uses; /* of shoal_table_settle; NULL: every column becomes codes */
} shoal_load_options;

/*
 * Reads a CSV file; see shoal_table_read. If the run has a limit of memory and the rows will not
 * fit into it, the table has distinct rows with counts (count.h) and knows its origin.
 */
shoal_status shoal_table_load(const char *path, const shoal_load_options *options,
                              const shoal_run *run, shoal_table **table,
                              shoal_error *error) SHOAL_MUST_CHECK;

/* The same for a table filled by shoal_table_append. */
shoal_status shoal_table_settle(shoal_table *table, const shoal_load_options *options,
                                shoal_error *error) SHOAL_MUST_CHECK;

/* ------------------------------------------------- shared by the loaders of this folder */

/* Codes of one column as one worker wrote them; 1, 2 or 4 bytes each, widened as values appear. */
typedef struct shoal_code_vector {
  void *codes;
  size_t n_codes;
  size_t capacity_bytes;
  unsigned code_size;
} shoal_code_vector;

bool shoal_code_vector_append(shoal_code_vector *vector, const uint32_t *codes, size_t n,
                              uint32_t n_values);

struct shoal_dictionary;
struct shoal_counted;
struct shoal_blocks;

/* Where a piece of the file starts among a share's rows. */
typedef struct shoal_piece_mark {
  size_t first_row;
  size_t number; /* of the piece */
} shoal_piece_mark;

/* One worker's share of the table. */
typedef struct shoal_share {
  struct shoal_dictionary *dictionaries; /* n_columns */
  shoal_code_vector *codes;              /* n_columns */
  uint64_t **hashes;                     /* n_columns; SHOAL_USE_IDENTITY: one a row */
  size_t *hash_capacity;
  struct shoal_counted *tuples; /* distinct rows, counted; NULL: rows are kept as codes */
  size_t n_rows;
  shoal_piece_mark *marks; /* its pieces */
  size_t n_marks, marks_capacity;
} shoal_share;

/* A block of rows, in the order of the file. */
typedef struct shoal_piece {
  unsigned share;
  size_t first_row; /* within the share */
  size_t n_rows;
} shoal_piece;

bool shoal_share_init(shoal_share *share, const shoal_use *uses, size_t n_columns);
void shoal_share_reset(shoal_share *share, size_t n_columns);

/* Adds rows of cells (row-major, n_columns a row) to a share; `number` is the piece's, in order. */
bool shoal_share_add(shoal_share *share, const shoal_use *uses, size_t n_columns, const char *bytes,
                     const uint32_t *begin, const uint32_t *end, size_t n_rows, size_t number);

/* What is to be merged. */
typedef struct shoal_merge_plan {
  shoal_share *shares;
  unsigned n_shares;
  const shoal_piece *pieces;
  size_t n_pieces;
  const shoal_use *uses;
  const char *const *missing;
  size_t n_missing;
  bool unquote; /* see shoal_load_options */
  unsigned n_threads;
} shoal_merge_plan;

/*
 * Merges shares into the table's columns, in the order of the pieces, and empties the shares.
 * `table` has its names and counts; n_rows is set here.
 */
shoal_status shoal_table_merge(shoal_table *table, const shoal_merge_plan *plan,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* The final dictionary of a column, and each share's map from its codes to the final ones. */
bool shoal_merge_values(const shoal_merge_plan *plan, size_t c, struct shoal_dictionary *merged,
                        uint32_t **maps);
/* The dictionary's strings, marks of missing values and first rows become the column's. */
bool shoal_merge_settle(const shoal_merge_plan *plan, const uint64_t *piece_start,
                        shoal_column *column, struct shoal_dictionary *merged);
/* The row at which each piece starts, and behind them the number of rows. NULL: no memory. */
uint64_t *shoal_merge_starts(const shoal_merge_plan *plan, uint64_t *n_rows);

/* Reads the header: names of columns, the delimiter. What follows it is given back. */
shoal_status shoal_table_take_header(struct shoal_blocks *blocks, shoal_table *table,
                                     char delimiter, shoal_error *error) SHOAL_MUST_CHECK;

/* How many of n hashes another one equals. Reorders nothing; NULL memory: returns UINT64_MAX. */
uint64_t shoal_count_repeated(const uint64_t *hashes, size_t n);

#endif
