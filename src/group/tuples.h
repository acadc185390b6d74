/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group/tuples: rows, block by block, become numbers of distinct tuples, by first appearance, and
 * each tuple's rows are counted. A tuple is a word: its codes side by side, each in as many bits
 * as its column needs. Words of few bits are looked up in a dense table; others are hashed, those
 * of up to 32 bits with the word in the slot itself. Private to this folder.
 */
#ifndef SHOAL_GROUP_TUPLES_H
#define SHOAL_GROUP_TUPLES_H

#include "base/hash.h"
#include "table/table.h"

enum { SHOAL_TUPLES_BLOCK = 4096 }; /* rows at a time */

typedef struct shoal_wide_slot {
  uint64_t word;
  uint64_t id; /* + 1; 0: empty */
} shoal_wide_slot;

typedef struct shoal_tuples {
  unsigned bits; /* of a word */
  bool dense;
  uint32_t *table;       /* dense: by word, id + 1; 0: none */
  uint64_t *narrow;      /* hashed, up to 32 bits: the word, and below it id + 1; 0: empty */
  shoal_wide_slot *wide; /* hashed, more bits */
  unsigned slot_bits;    /* 2^slot_bits slots, at most half full */
  uint64_t *words;       /* by id */
  size_t words_capacity;
  uint64_t *n_rows; /* by id */
  size_t n_rows_capacity;
  uint32_t n_ids;
  uint64_t rows_seen, rows_expected;
} shoal_tuples;

/* For about so many rows. False: no memory. */
bool shoal_tuples_init(shoal_tuples *tuples, unsigned bits, uint64_t n_rows);
void shoal_tuples_reset(shoal_tuples *tuples);

/*
 * Rows first .. first + n of the columns, n up to SHOAL_TUPLES_BLOCK: ids[i] is the tuple of row
 * first + i. `column_bits`: of each column in the word, the first lowest. False: no memory, or
 * more than 2^32 - 2 tuples.
 */
bool shoal_tuples_rows(shoal_tuples *tuples, const shoal_column *const *columns,
                       const unsigned *column_bits, size_t n_columns, uint64_t first, size_t n,
                       uint32_t *ids);

/* The words of rows first .. first + n, any number of them; a whole block at a time is fastest. */
void shoal_tuples_words(const shoal_column *const *columns, const unsigned *column_bits,
                        size_t n_columns, uint64_t first, size_t n, uint64_t *words);

/*
 * All ids in order, in the memory that the table or the slots had: nothing can be added any more.
 * The caller owns it; NULL: no memory.
 */
uint32_t *shoal_tuples_take_ids(shoal_tuples *tuples);

/* The id of a word that stands for so many rows more; SHOAL_NO_ID as above. */
uint32_t shoal_tuples_add(shoal_tuples *tuples, uint64_t word, uint64_t n_rows);

#endif
