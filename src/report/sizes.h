/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/sizes: how many records stand in classes of which size, between the sizes that people ask
 * about: 1 / size is the risk that who knows a record's quasi-identifiers picks the right row.
 */
#ifndef SHOAL_REPORT_SIZES_H
#define SHOAL_REPORT_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHOAL_SIZE_BINS = 6 };

/* Records by the size of their class: 1, 2, 3-4, 5-10, 11-19, 20 and more. */
typedef struct shoal_sizes {
  uint64_t records[SHOAL_SIZE_BINS];
  uint64_t n_records, n_classes, smallest;
} shoal_sizes;

void shoal_sizes_add(shoal_sizes *sizes, uint64_t size);

/* A row of what may be shown: classes of `low` to `high` records (0: and more). */
typedef struct shoal_size_row {
  uint64_t low, high;
  uint64_t before, after;
} shoal_size_row;

/*
 * Rows that may be shown: where 1 to k - 1 records of either side would stand alone, a row is
 * joined with its neighbour, until none does. Returns how many rows there are.
 */
size_t shoal_sizes_rows(const shoal_sizes *before, const shoal_sizes *after, uint64_t k,
                        shoal_size_row rows[SHOAL_SIZE_BINS]);

/*
 * Records in classes below `size`, before and after, from rows that may be shown; false: `size`
 * lies within a joined row, and nothing can be said.
 */
bool shoal_sizes_below(const shoal_size_row *rows, size_t n, uint64_t size, uint64_t *before,
                       uint64_t *after);

#endif
