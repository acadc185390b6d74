/* SPDX-License-Identifier: Apache-2.0 */
/* report/sizes: see sizes.h. */
#include "report/sizes.h"

#include <string.h>

static const uint64_t least[SHOAL_SIZE_BINS] = {1, 2, 3, 5, 11, 20};

/* The bin of a size: most are small, and which one follows which cannot be foreseen. */
static size_t bin_of(uint64_t size) {
  static const uint8_t small[20] = {0, 0, 1, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4};
  return size < 20 ? small[size] : SHOAL_SIZE_BINS - 1;
}

void shoal_sizes_add(shoal_sizes *sizes, uint64_t size) {
  sizes->records[bin_of(size)] += size;
  sizes->n_records += size;
  if (!sizes->n_classes++ || size < sizes->smallest) sizes->smallest = size;
}

static bool is_small(uint64_t n, uint64_t k) { return n > 0 && n < k; }

static void join(shoal_size_row *rows, size_t *n, size_t at) {
  rows[at].high = rows[at + 1].high;
  rows[at].before += rows[at + 1].before;
  rows[at].after += rows[at + 1].after;
  memmove(rows + at + 1, rows + at + 2, (*n - at - 2) * sizeof *rows);
  (*n)--;
}

size_t shoal_sizes_rows(const shoal_sizes *before, const shoal_sizes *after, uint64_t k,
                        shoal_size_row rows[SHOAL_SIZE_BINS]) {
  size_t n = SHOAL_SIZE_BINS;
  for (size_t i = 0; i < n; i++)
    rows[i] = (shoal_size_row){least[i], i + 1 < n ? least[i + 1] - 1 : 0, before->records[i],
                               after->records[i]};
  for (size_t i = 0; n > 1 && i < n;) {
    if (!is_small(rows[i].before, k) && !is_small(rows[i].after, k)) {
      i++;
      continue;
    }
    i = i + 1 < n ? i : i - 1; /* the last one joins the one before it */
    join(rows, &n, i);
  }
  return n;
}

bool shoal_sizes_below(const shoal_size_row *rows, size_t n, uint64_t size, uint64_t *before,
                       uint64_t *after) {
  *before = *after = 0;
  for (size_t i = 0; i < n; i++) {
    if (rows[i].low >= size) return rows[i].low == size;
    *before += rows[i].before;
    *after += rows[i].after;
  }
  return false;
}
