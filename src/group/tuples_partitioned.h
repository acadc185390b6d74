/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group/tuples_partitioned: the same as tuples.h, for large tables of nearly distinct rows. One
 * hash table would be several times as large as the rows, and every access a cache miss. Here words
 * are partitioned into bins by their hash, and equal words are found bin by bin, in a table that
 * stays in the cache. Threads process bins independently. Private to this directory.
 */
#pragma once

#include "base/thread.h"
#include "group/tuples.h"

/* The columns of a word, and the bits of each, the first lowest. */
typedef struct shoal_words {
  const shoal_column *const *columns;
  const unsigned *bits;
  size_t n_columns;
  uint64_t n_rows;
} shoal_words;

/* Are there many rows, and nearly all of them distinct? An estimate from a sample. */
bool shoal_tuple_partitions_pay(const shoal_words *words);

/*
 * The tuples of the rows, numbered by first appearance, with their counts. Nothing can be added to
 * `tuples` afterwards; take its arrays or reset it. At most 2^32 - 2 rows.
 */
shoal_status shoal_tuple_partitions_group(const shoal_words *words, const shoal_run *run,
                                          uint32_t *tuple_of_row, shoal_tuples *tuples,
                                          shoal_error *error) SHOAL_MUST_CHECK;
