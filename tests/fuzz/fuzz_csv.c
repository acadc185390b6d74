/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: bytes -> cells. Every way of scanning a block against the reference reader: the same
 * cells, or all refuse, with the same fault in the same row. The first byte chooses the delimiter
 * and how many columns there must be.
 */
#include "read/csv.h"
#include "reference.h"

static reference expected, front, back;
static const char delimiters[] = {',', ';', '\t', '|'};

static void compare(const shoal_cells *cells, const reference *whole, size_t n_columns) {
  MUST(cells->n_rows == whole->n_rows);
  MUST(cells->n_cells == whole->n_cells);
  for (size_t i = 0; i < cells->n_cells; i++)
    MUST(reference_cell_is(whole, i, cells->bytes + cells->begin[i],
                           cells->end[i] - cells->begin[i]));
  for (size_t row = 0; !n_columns && row < cells->n_rows; row++)
    MUST(cells->row_end[row] == whole->row_end[row]);
}

/* Whole records end where records end: both halves together are what the block was. */
static void cut(const char *in, size_t size, char delimiter, const reference *whole) {
  size_t at = shoal_csv_whole_records(in, size, delimiter);
  size_t first = shoal_csv_first_record(in, size, delimiter);
  MUST(at <= size && first <= size && (first == 0) == (at == 0) && first <= at);
  MUST(!at || in[at - 1] == '\n');
  MUST(reference_read(in, at, delimiter, &front));
  MUST(reference_read(in + at, size - at, delimiter, &back));
  MUST(front.n_rows + back.n_rows == whole->n_rows && back.n_rows <= 1);
  MUST(front.n_cells + back.n_cells == whole->n_cells);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1 || size > MAX_BYTES) return 0;
  char delimiter = delimiters[data[0] % sizeof delimiters];
  size_t n_columns = data[0] / 4 % 5; /* 0: any number */
  data++;
  size--;
  bool good = reference_read((const char *)data, size, delimiter, &expected);
  if (good) cut((const char *)data, size, delimiter, &expected);
  good = good && (!n_columns || reference_is_even(&expected, n_columns));
  shoal_csv_problem first = {SHOAL_CSV_OK, 0, 0};
  for (unsigned way = 0; way < SHOAL_SCAN_WAYS; way++) {
    if (!shoal_scan_has((shoal_scan_way)way)) continue;
    char *block = copy_exactly(data, size, SHOAL_CSV_SLACK);
    shoal_cells cells;
    shoal_cells_init(&cells);
    shoal_csv_problem found =
        shoal_csv_split_by((shoal_scan_way)way, block, size, delimiter, n_columns, &cells);
    MUST((found.fault == SHOAL_CSV_OK) == good);
    if (way == 0) first = found;
    MUST(found.fault == first.fault && found.row == first.row && found.n_found == first.n_found);
    if (good) compare(&cells, &expected, n_columns);
    shoal_cells_reset(&cells);
    free(block);
  }
  return 0;
}
