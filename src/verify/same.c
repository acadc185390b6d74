/* SPDX-License-Identifier: Apache-2.0 */
/* verify/same: a row is the sizes and bytes of its cells; files are sums over hashes of rows. */
#include "verify/same.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "verify/reader.h"

typedef struct sums {
  uint64_t n_rows, first, second;
} sums;

/* The whole number in a cell; 0: it is none. */
static uint64_t number_of(const shoal_verify_cell *cell) {
  uint64_t n = 0;
  for (size_t i = 0; i < cell->size_bytes; i++) {
    if (cell->bytes[i] < '0' || cell->bytes[i] > '9' || n > UINT64_MAX / 100) return 0;
    n = 10 * n + (uint64_t)(cell->bytes[i] - '0');
  }
  return n;
}

static shoal_status add_rows(int fd, bool has_header, bool counted, char delimiter,
                             shoal_verify_cell *cells, size_t n, const shoal_run *run,
                             shoal_text *row, sums *total, shoal_error *error) {
  shoal_verify_reader *reader;
  SHOAL_TRY(shoal_verify_reader_open(fd, "the release", delimiter, run, &reader, error));
  shoal_status status = SHOAL_OK;
  for (bool found = true; status == SHOAL_OK && found;) {
    status = shoal_verify_reader_next(reader, cells, n, &found, error);
    if (status != SHOAL_OK || !found) break;
    shoal_text_cut(row, 0);
    uint64_t count = counted ? number_of(&cells[0]) : 1;
    for (size_t c = counted; c < n; c++) {
      uint64_t size = cells[c].size_bytes;
      shoal_text_add_bytes(row, (const char *)&size, sizeof size);
      shoal_text_add_bytes(row, cells[c].bytes, cells[c].size_bytes);
    }
    if (row->failed) status = shoal_fail_memory(error);
    else if (has_header) has_header = false;
    else {
      uint64_t hash = shoal_hash_bytes(row->bytes, row->size_bytes);
      total->n_rows += count;
      total->first += count * hash;
      shoal_text_add(row, "2");
      if (!row->failed) total->second += count * shoal_hash_bytes(row->bytes, row->size_bytes);
    }
  }
  shoal_verify_reader_close(reader);
  return status;
}

shoal_status shoal_verify_same_rows(int verified_fd, int returned_fd, char delimiter,
                                    size_t n_columns, bool counted, const shoal_run *run,
                                    shoal_error *error) {
  sums verified = {0}, returned = {0};
  shoal_text row;
  shoal_text_init(&row);
  shoal_verify_cell *cells = shoal_alloc(n_columns + 1, sizeof *cells);
  shoal_status status = cells ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK)
    status = add_rows(verified_fd, true, false, delimiter, cells, n_columns, run, &row, &verified,
                      error);
  if (status == SHOAL_OK)
    status = add_rows(returned_fd, false, counted, delimiter, cells, n_columns + counted, run, &row,
                      &returned, error);
  if (row.bytes) shoal_wipe_free(row.bytes, row.capacity);
  free(cells);
  SHOAL_TRY(status);
  if (verified.n_rows == returned.n_rows && verified.first == returned.first &&
      verified.second == returned.second)
    return SHOAL_OK;
  (void)shoal_fail(error, SHOAL_FAILED,
                   "the database returned %llu rows that are not the %llu verified ones; "
                   "nothing was written. Do its types change values?",
                   (unsigned long long)returned.n_rows, (unsigned long long)verified.n_rows);
  return shoal_fail_as(error, SHOAL_FAILED, SHOAL_NOT_VERIFIED);
}
