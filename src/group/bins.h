/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group/bins: the same as tuples.h for many rows nearly all of which differ. One table of slots
 * would be several times as large as the rows, and touched all over; here words are put into bins
 * by their hash, and equal ones found bin by bin, in a table that stays in the cache. Bins are
 * independent of each other, so threads share them. Private to this folder.
 */
#ifndef SHOAL_GROUP_BINS_H
#define SHOAL_GROUP_BINS_H

#include "base/work.h"
#include "group/tuples.h"

/* Columns whose codes make up a word, and the bits of each in it, the first lowest. */
typedef struct shoal_words {
  const shoal_column *const *columns;
  const unsigned *bits;
  size_t n_columns;
  uint64_t n_rows;
} shoal_words;

/* Are there many rows, and so many different ones among them? Judged on some; a guess is enough. */
bool shoal_bins_pay(const shoal_words *words);

/*
 * The rows' tuples, numbered by first appearance, and how many rows each has. What `tuples` holds
 * then can be taken or reset, nothing can be added. At most 2^32 - 2 rows.
 */
shoal_status shoal_bins_group(const shoal_words *words, const shoal_run *run,
                              uint32_t *tuple_of_row, shoal_tuples *tuples,
                              shoal_error *error) SHOAL_MUST_CHECK;

#endif
