/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchy/file: the kind "file": CSV rows value;level1;...;top without header -> paths. Empty
 * cells at a row's end are dropped (spreadsheets leave them behind shorter rows), and so are rows
 * that have nothing else.
 */
#include <stdlib.h>
#include <string.h>

#include "hierarchy/builder.h"
#include "read/csv.h"
#include "read/source.h"

/* Cells are found by 32-bit places. */
static const size_t most_bytes = UINT32_MAX - 128;

/* A row's cells as labels, value first, without the empty ones at its end. */
static shoal_status take_row(const shoal_cells *cells, size_t row, shoal_label **labels,
                             size_t *capacity, size_t *n_labels, shoal_error *error) {
  size_t begin = row ? cells->row_end[row - 1] : 0;
  size_t end = cells->row_end[row];
  while (end > begin && cells->begin[end - 1] == cells->end[end - 1]) end--;
  *n_labels = end - begin;
  if (!shoal_grow(labels, capacity, *n_labels, sizeof **labels)) return shoal_fail_memory(error);
  for (size_t i = 0; i < *n_labels; i++) {
    uint32_t from = cells->begin[begin + i];
    (*labels)[i] = (shoal_label){cells->bytes + from, cells->end[begin + i] - from};
  }
  return SHOAL_OK;
}

static shoal_status add_rows(shoal_builder *builder, const shoal_cells *cells, shoal_error *error) {
  shoal_label *labels = NULL;
  size_t capacity = 0;
  shoal_status status = SHOAL_OK;
  for (size_t row = 0; row < cells->n_rows && status == SHOAL_OK; row++) {
    size_t n;
    status = take_row(cells, row, &labels, &capacity, &n, error);
    if (status != SHOAL_OK || n == 0) continue;
    if (n == 1)
      status = shoal_path_fail(builder, row + 1, error,
                               "has one column only, so no top: each row is value;level1;...;top, "
                               "with ; or , or tab between");
    else if (n - 1 > SHOAL_MOST_LEVELS)
      status = shoal_path_fail(builder, row + 1, error, "has %zu levels: %d is the most", n - 1,
                               SHOAL_MOST_LEVELS);
    else
      status = shoal_paths_add(builder, labels[0], labels + 1, (uint32_t)(n - 1), row + 1, error);
  }
  free(labels);
  return status;
}

static shoal_status read_rows(shoal_builder *builder, char *bytes, size_t size_bytes,
                              shoal_error *error) {
  shoal_cells cells;
  shoal_cells_init(&cells);
  char delimiter = shoal_csv_side_delimiter(bytes, size_bytes);
  shoal_csv_problem problem = shoal_csv_split(bytes, size_bytes, delimiter, 0, &cells);
  shoal_status status;
  if (problem.fault == SHOAL_CSV_MEMORY) {
    status = shoal_fail_memory(error);
  } else if (problem.fault != SHOAL_CSV_OK) {
    char detail[256];
    shoal_csv_explain(problem, 0, detail, sizeof detail);
    status = shoal_path_fail(builder, problem.row + 1, error, "%s", detail);
  } else {
    status = add_rows(builder, &cells, error);
  }
  shoal_cells_reset(&cells);
  return status;
}

shoal_status shoal_file_start(shoal_builder *builder, shoal_error *error) {
  char *bytes;
  size_t size_bytes;
  SHOAL_TRY(shoal_source_slurp(builder->spec->file, most_bytes, &bytes, &size_bytes, error));
  builder->owned = bytes; /* labels point into it */
  if (size_bytes >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
    bytes += 3;
    size_bytes -= 3;
  }
  SHOAL_TRY(read_rows(builder, bytes, size_bytes, error));
  if (builder->paths.n_paths == 0)
    return shoal_path_fail(builder, 0, error, "is empty: give it rows value;level1;...;top");
  return shoal_paths_finish(builder, error);
}
