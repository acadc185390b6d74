/* SPDX-License-Identifier: Apache-2.0 */
/* write/buckets: see buckets.h. */
#include "write/buckets.h"

#include <stdlib.h>

bool shoal_buckets_init(shoal_buckets *b, uint32_t n_buckets, uint64_t most_rows,
                        size_t row_bytes) {
  *b = (shoal_buckets){.row_bytes = row_bytes};
  size_t most_pieces = (size_t)(most_rows / SHOAL_PIECE_ROWS) + n_buckets;
  b->rows = shoal_alloc(most_pieces, SHOAL_PIECE_ROWS * row_bytes);
  b->next = shoal_alloc(most_pieces, sizeof *b->next);
  b->buckets = shoal_alloc_zero(n_buckets, sizeof *b->buckets);
  return b->rows && b->next && b->buckets;
}

void shoal_buckets_reset(shoal_buckets *b) {
  free(b->rows);
  free(b->next);
  free(b->buckets);
  memset(b, 0, sizeof *b);
}

uint8_t *shoal_buckets_copy(const shoal_buckets *b, uint32_t bucket, uint8_t *to) {
  uint64_t left = b->buckets[bucket].n_rows, piece = b->buckets[bucket].first;
  while (left) {
    size_t n = left < SHOAL_PIECE_ROWS ? (size_t)left : SHOAL_PIECE_ROWS;
    memcpy(to, b->rows + (size_t)piece * SHOAL_PIECE_ROWS * b->row_bytes, n * b->row_bytes);
    to += n * b->row_bytes;
    left -= n;
    if (left) piece = b->next[piece];
  }
  return to;
}
