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
  SHOAL_USE_IDENTITY /* cells are dropped, repeated ones counted */
} shoal_use;

/* Decides, once the header is known, what each column is for; may refuse. */
typedef shoal_status (*shoal_plan_fn)(void *user, const char *file, const char *const *names,
                                      size_t n_columns, shoal_use *uses, shoal_error *error);

typedef struct shoal_load_options {
  char delimiter;             /* 0: found by itself */
  const char *const *missing; /* spellings of a missing value */
  size_t n_missing;
  shoal_plan_fn plan; /* NULL: every column becomes codes */
  void *plan_user;
  const shoal_use *uses; /* of shoal_table_settle; NULL: every column becomes codes */
} shoal_load_options;

/* Reads a CSV file; see shoal_table_read. */
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

/* One worker's share of the table. */
typedef struct shoal_share {
  struct shoal_dictionary *dictionaries; /* n_columns */
  shoal_code_vector *codes;              /* n_columns */
  uint64_t **hashes;                     /* n_columns; SHOAL_USE_IDENTITY: one a row */
  size_t *hash_capacity;
  size_t n_rows;
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

/*
 * Merges shares into the table's columns, in the order of the pieces, and empties the shares.
 * `table` has its names and counts; n_rows is set here.
 */
shoal_status shoal_table_merge(shoal_table *table, shoal_share *shares, unsigned n_shares,
                               const shoal_piece *pieces, size_t n_pieces, const shoal_use *uses,
                               const char *const *missing, size_t n_missing, unsigned n_threads,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* How many of n hashes another one equals. Reorders nothing; NULL memory: returns UINT64_MAX. */
uint64_t shoal_count_repeated(const uint64_t *hashes, size_t n);

#endif
