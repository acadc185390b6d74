/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group/tuples: rows -> numbers of distinct tuples, by first appearance, in blocks; the rows of
 * each tuple are counted. Private to this directory.
 *
 * A tuple is a word: its codes packed, each in as many bits as its column needs, the first column
 * lowest. Example: columns of 5, 2 and 100 values:
 *
 *      bit   63            11 10          4  3   3 2     0
 *           | 0 ...         0 | code of c2 | c1   | c0    |      11 bits in all
 *
 * The bits of a word choose the table, all with id + 1, 0 meaning empty:
 *
 *      dense    up to 20 bits    table[word] = id + 1
 *      narrow   up to 32 bits    narrow[hash] = | word (32 bits) | id + 1 (32 bits) |
 *      wide     up to 64 bits    wide[hash] = { word, id + 1 }
 */
#pragma once

#include "base/hash.h"
#include "table/table.h"

enum { SHOAL_TUPLES_BLOCK = 4096 }; /* rows per block */

typedef struct shoal_wide_slot {
  uint64_t word;
  uint64_t id; /* + 1; 0: empty */
} shoal_wide_slot;

typedef struct shoal_tuples {
  unsigned bits; /* of a word */
  bool dense;
  uint32_t *table;       /* dense */
  uint64_t *narrow;      /* not dense, up to 32 bits */
  shoal_wide_slot *wide; /* not dense, more bits */
  unsigned slot_bits;    /* 2^slot_bits slots, at most half of them full */
  uint64_t *words;       /* by id */
  size_t words_capacity;
  uint64_t *n_rows; /* by id */
  size_t n_rows_capacity;
  uint32_t n_ids;
  uint64_t rows_seen, rows_expected;
} shoal_tuples;

/* n_rows is an estimate. False: no memory. */
bool shoal_tuples_init(shoal_tuples *tuples, unsigned bits, uint64_t n_rows);
void shoal_tuples_reset(shoal_tuples *tuples);

/*
 * Adds rows first .. first + n - 1 of the columns, n <= SHOAL_TUPLES_BLOCK; ids[i] becomes the
 * tuple of row first + i. `column_bits`: bits of each column. False: no memory, or more than 2^32 -
 * 2 tuples.
 */
bool shoal_tuples_rows(shoal_tuples *tuples, const shoal_column *const *columns,
                       const unsigned *column_bits, size_t n_columns, uint64_t first, size_t n,
                       uint32_t *ids);

/* The words of rows first .. first + n - 1; blocks of SHOAL_TUPLES_BLOCK are fastest. */
void shoal_tuples_words(const shoal_column *const *columns, const unsigned *column_bits,
                        size_t n_columns, uint64_t first, size_t n, uint64_t *words);

/*
 * All ids in order, in the memory of the table: nothing can be added afterwards. The caller frees
 * them. NULL: no memory.
 */
uint32_t *shoal_tuples_take_ids(shoal_tuples *tuples);

/* Adds n_rows rows of one word; returns its id. SHOAL_NONE: no memory, or too many tuples. */
uint32_t shoal_tuples_add(shoal_tuples *tuples, uint64_t word, uint64_t n_rows);
