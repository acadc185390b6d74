/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/count: distinct rows and how often each stands in the file, for tables that do not fit into
 * memory as rows. Only columns that decide about classes are counted (quasi-identifiers, sensitive
 * attributes, guarding nodes); what else is released is taken from the file when it is read again.
 */
#ifndef SHOAL_TABLE_COUNT_H
#define SHOAL_TABLE_COUNT_H

#include "read/blocks.h"
#include "table/load.h"

/* Distinct tuples of codes, numbered by first appearance. */
typedef struct shoal_tuples {
  size_t width;    /* codes a tuple */
  uint32_t n;      /* tuples */
  uint32_t *codes; /* n * width */
  uint64_t *counts;
  uint64_t *first_place;
  size_t codes_capacity, counts_capacity, place_capacity;
  uint32_t *slots; /* number + 1; 0: empty */
  unsigned bits;   /* 2^bits slots, at most half of them full */
} shoal_tuples;

shoal_tuples *shoal_tuples_new(size_t width); /* NULL: no memory */
void shoal_tuples_free(shoal_tuples *tuples); /* accepts NULL */

#define SHOAL_NO_TUPLE UINT32_MAX

/* Counts a tuple so many times; `place` is kept for a new one. False: no memory. */
bool shoal_tuples_add(shoal_tuples *tuples, const uint32_t *codes, uint64_t times, uint64_t place);
/* The same once for each of n tuples, whose places follow one another. */
bool shoal_tuples_add_rows(shoal_tuples *tuples, const uint32_t *codes, size_t n, uint64_t place);
/*
 * The numbers of n tuples, SHOAL_NO_TUPLE for one that is not there. Several threads may ask at
 * once.
 */
void shoal_tuples_find(const shoal_tuples *tuples, const uint32_t *codes, size_t n,
                       uint32_t *numbers);

/* ------------------------------------------------- while a file is loaded */

/* Bytes that a table of so many rows, times `whole`, would need on its way to a release. */
double shoal_share_estimate(const shoal_share *share, const shoal_use *uses, size_t n_columns,
                            uint64_t n_rows, double whole);

/* The rows of a share become counted tuples, and so will those to come. False: no memory. */
bool shoal_share_count(shoal_share *share, const shoal_use *uses, size_t n_columns);
bool shoal_share_add_counted(shoal_share *share, const shoal_use *uses, size_t n_columns,
                             const char *bytes, const uint32_t *begin, const uint32_t *end,
                             size_t n_rows, size_t number);

/* As shoal_table_merge, of counted shares. Memory: that of the tuples, twice. */
shoal_status shoal_table_merge_counted(shoal_table *table, const shoal_merge_plan *plan,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* ------------------------------------------------- the file */

/* What is known of the file whose rows were counted, to read it again and to see it is the same. */
typedef struct shoal_origin {
  char *path; /* NULL: it cannot be read again */
  shoal_stamp stamp;
  uint64_t *piece_start; /* row at which each block starts; behind them the number of rows */
  size_t n_pieces;
} shoal_origin;

shoal_status shoal_table_note_origin(shoal_table *table, const shoal_merge_plan *plan,
                                     const shoal_blocks *blocks,
                                     shoal_error *error) SHOAL_MUST_CHECK;
void shoal_origin_free(shoal_origin *origin); /* accepts NULL */

/* SHOAL_FAILED: the file is not what it was when its rows were counted. */
shoal_status shoal_origin_changed(const shoal_table *table, shoal_error *error);

#endif
