/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/count: distinct rows and their counts, for tables whose rows do not fit into memory. Only
 * columns that determine classes are counted (quasi-identifiers, sensitive attributes, guarding
 * nodes); other released cells are copied from the file when it is read again.
 */
#pragma once

#include "read/blocks.h"
#include "table/load.h"

/* Distinct tuples of codes, numbered by first appearance. */
typedef struct shoal_row_counts {
  size_t width;    /* codes a tuple */
  uint32_t n;      /* tuples */
  uint32_t *codes; /* n * width */
  uint64_t *counts;
  uint64_t *first_position;
  size_t codes_capacity, counts_capacity, position_capacity;
  uint32_t *slots; /* number + 1; 0: empty */
  unsigned bits;   /* 2^bits slots, at most half of them full */
} shoal_row_counts;

shoal_row_counts *shoal_row_counts_new(size_t width); /* NULL: no memory */
void shoal_row_counts_free(shoal_row_counts *tuples); /* accepts NULL */

/* Adds `times` to the count of a tuple; a new one gets `position`. False: no memory. */
bool shoal_row_counts_add(shoal_row_counts *tuples, const uint32_t *codes, uint64_t times,
                          uint64_t position);

/*
 * The numbers of n tuples, SHOAL_NONE for an unknown one. Thread-safe while nothing is added.
 */
void shoal_row_counts_find(const shoal_row_counts *tuples, const uint32_t *codes, size_t n,
                           uint32_t *numbers);

/* ------------------------------------------------- while a file is loaded */

/* Bytes that releasing a table of n_rows * whole rows needs, judged by one part. */
double shoal_load_part_estimate(const shoal_load_part *part, const shoal_use *uses,
                                size_t n_columns, uint64_t n_rows, double whole);

/* Counts the rows of a part, and those that will be added to it. False: no memory. */
bool shoal_load_part_count(shoal_load_part *part, const shoal_use *uses, size_t n_columns);
bool shoal_load_part_add_counted(shoal_load_part *part, const shoal_use *uses, size_t n_columns,
                                 const char *bytes, const uint32_t *begin, const uint32_t *end,
                                 size_t n_rows, size_t number);

/* As shoal_table_merge, of counted parts. Memory: twice that of the tuples. */
shoal_status shoal_table_merge_counted(shoal_table *table, const shoal_merge_plan *plan,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* ------------------------------------------------- the file */

/* The file of a table that must be read again to write the release, and how to recognize it. */
typedef struct shoal_table_source {
  char *path;     /* NULL: it cannot be read again */
  char *encoding; /* NULL: detected */
  bool or_utf8;
  shoal_stamp stamp;
  uint64_t *piece_start; /* row at which each block starts; after them the number of rows */
  uint64_t *piece_hash;  /* of each block's bytes; NULL where rows were counted */
  size_t n_pieces;
} shoal_table_source;

shoal_status shoal_table_note_source(shoal_table *table, const shoal_merge_plan *plan,
                                     const shoal_blocks *blocks,
                                     shoal_error *error) SHOAL_MUST_CHECK;
void shoal_table_source_free(shoal_table_source *source); /* accepts NULL */

/* Fails with SHOAL_FAILED: the file is not what it was when it was read first. */
shoal_status shoal_table_source_changed(const shoal_table *table, shoal_error *error);
