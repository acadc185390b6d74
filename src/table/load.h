/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/load: cells -> codes, on several threads. Each worker takes the next block of whole
 * records, splits it, and encodes it with dictionaries of its own. At the end the dictionaries are
 * merged by first appearance: the table does not depend on the number of workers.
 */
#pragma once

#include "base/thread.h"
#include "table/sample.h"
#include "table/table.h"

/* How the cells of a column are used. */
typedef enum shoal_use {
  SHOAL_USE_NONE,    /* cells are dropped */
  SHOAL_USE_CODES,   /* cells become codes */
  SHOAL_USE_KEEP,    /* cells become codes; dropped where rows are only counted */
  SHOAL_USE_COPY,    /* released unchanged and only sampled: left in the file if that is cheaper
                        than codes, and copied from it when the release is written */
  SHOAL_USE_SAMPLE,  /* cells are dropped, their values sampled */
  SHOAL_USE_IDENTITY /* cells are dropped, repeated ones counted */
} shoal_use;

/* Once a loader has decided where columns are left, or that none are: then COPY is KEEP. */
static inline bool shoal_use_has_codes(shoal_use use) {
  return use == SHOAL_USE_CODES || use == SHOAL_USE_KEEP;
}

/* Decides the use of each column once the header is known; may fail. */
typedef shoal_status (*shoal_plan_fn)(void *user, const char *file, const char *const *names,
                                      size_t n_columns, shoal_use *uses, shoal_error *error);

typedef struct shoal_load_options {
  char delimiter;             /* 0: detected */
  const char *encoding;       /* NULL: detected */
  bool or_utf8;               /* it may be UTF-8 instead: a release is */
  const char *null_cell;      /* the cell of NULL in a database; NULL: "" */
  const char *const *missing; /* spellings of a missing value */
  size_t n_missing;
  bool unquote;       /* remove the apostrophe of cells quoted as formulas */
  shoal_plan_fn plan; /* NULL: every column becomes codes */
  void *plan_user;
  const shoal_use *uses;          /* of shoal_table_finalize; NULL: every column becomes codes */
  const shoal_sampling *sampling; /* of columns without codes; NULL: none is sampled */
  const struct shoal_table_source *again; /* the file must still be this one; NULL: any file */
} shoal_load_options;

/*
 * Reads a CSV file into a new table. If the run has a limit of memory and the rows will not
 * fit into it, the table has distinct rows with counts (count.h). If it has counts, or columns that
 * were left in the file (SHOAL_USE_COPY), table->source says how to read the file again.
 */
shoal_status shoal_table_load(const char *path, const shoal_load_options *options,
                              const shoal_run *run, shoal_table **table,
                              shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Reads the columns that were left in the file of `table`. *kept receives a table of its own, with
 * the same columns and rows; only these columns have codes. SHOAL_FAILED: the file has changed.
 */
shoal_status shoal_table_load_kept(const shoal_table *table, const char *const *missing,
                                   size_t n_missing, const shoal_run *run, shoal_table **kept,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/* The same for a table filled by shoal_table_add_rows. */
shoal_status shoal_table_finalize(shoal_table *table, const shoal_load_options *options,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/* ------------------------------------------------- private to table and write */

/* Codes of one column as one worker wrote them; 1, 2 or 4 bytes each, widened as values appear. */
typedef struct shoal_code_vector {
  void *codes;
  size_t n_codes;
  size_t capacity_bytes;
  unsigned code_size;
} shoal_code_vector;

struct shoal_dictionary;
struct shoal_row_counts;
struct shoal_blocks;

/* Where a block of the file starts among the rows of a part. */
typedef struct shoal_piece_mark {
  size_t first_row;
  size_t number; /* of the piece */
} shoal_piece_mark;

/* The part of a table that one worker loads. */
typedef struct shoal_load_part {
  struct shoal_dictionary *dictionaries; /* n_columns */
  shoal_code_vector *codes;              /* n_columns */
  uint64_t **hashes;                     /* n_columns; SHOAL_USE_IDENTITY: one a row */
  size_t *hash_capacity;
  const shoal_sampling *sampling;  /* set after init; NULL: no column is sampled */
  shoal_value_sample *samples;     /* n_columns */
  struct shoal_row_counts *tuples; /* distinct rows, counted; NULL: rows are kept as codes */
  size_t n_rows;
  shoal_piece_mark *marks; /* its pieces */
  size_t n_marks, marks_capacity;
} shoal_load_part;

/* A block of rows, in the order of the file. */
typedef struct shoal_piece {
  unsigned part;
  size_t first_row; /* within the part */
  size_t n_rows;
  uint64_t hash; /* of its bytes, where columns were left in the file; else 0 */
} shoal_piece;

/* Appends codes below n_values. False: no memory. */
bool shoal_code_vector_append(shoal_code_vector *vector, const uint32_t *codes, size_t n,
                              uint32_t n_values);

bool shoal_load_part_init(shoal_load_part *part, const shoal_use *uses, size_t n_columns);
void shoal_load_part_reset(shoal_load_part *part, size_t n_columns);

/* Adds rows of cells (row-major, n_columns a row) to a part; `number` is that of the block. */
bool shoal_load_part_add(shoal_load_part *part, const shoal_use *uses, size_t n_columns,
                         const char *bytes, const uint32_t *begin, const uint32_t *end,
                         size_t n_rows, size_t number);

/* The parts to be merged. */
typedef struct shoal_merge_plan {
  shoal_load_part *parts;
  unsigned n_parts;
  const shoal_piece *pieces;
  size_t n_pieces;
  const shoal_use *uses;
  const char *const *missing;
  size_t n_missing;
  bool unquote; /* see shoal_load_options */
  unsigned n_threads;
} shoal_merge_plan;

/*
 * Merges parts into the table's columns, in the order of the blocks, and empties the parts. `table`
 * has its names and counts; n_rows is set here.
 */
shoal_status shoal_table_merge(shoal_table *table, const shoal_merge_plan *plan,
                               shoal_error *error) SHOAL_MUST_CHECK;

/* The final dictionary of a column, and each part's map from its codes to the final ones. */
bool shoal_merge_values(const shoal_merge_plan *plan, size_t c, struct shoal_dictionary *merged,
                        uint32_t **maps);
/* Moves the dictionary's strings and first rows to the column, and marks missing values. */
bool shoal_merge_finalize(const shoal_merge_plan *plan, const uint64_t *piece_start,
                          shoal_column *column, struct shoal_dictionary *merged);
/* The row at which each block starts, then the number of rows. NULL: no memory. */
uint64_t *shoal_merge_starts(const shoal_merge_plan *plan, uint64_t *n_rows);

/* Merges the samples of the parts into the table's columns. */
shoal_status shoal_table_merge_samples(shoal_table *table, const shoal_merge_plan *plan,
                                       shoal_error *error) SHOAL_MUST_CHECK;
/* Does a part that keeps rows sample the column? One that counts them also samples KEEP. */
static inline bool shoal_use_is_sampled(shoal_use use) {
  return use == SHOAL_USE_COPY || use == SHOAL_USE_SAMPLE;
}

/* Reads the header: names of columns, the delimiter. The rest of the block is put back. */
shoal_status shoal_table_take_header(struct shoal_blocks *blocks, shoal_table *table,
                                     char delimiter, shoal_error *error) SHOAL_MUST_CHECK;
