/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of CSV as short as can be, written from docs alone, for fuzz targets to compare with:
 * one record at a time, one byte at a time, each cell a copy.
 */
#ifndef SHOAL_TESTS_REFERENCE_H
#define SHOAL_TESTS_REFERENCE_H

#include <stdbool.h>

#include "fuzz.h"

/* Inputs are smaller than MOST_BYTES, and so have fewer cells. */
enum { MAX_BYTES = 2048 };

typedef struct reference {
  char bytes[MAX_BYTES]; /* of all cells */
  size_t n_bytes;
  size_t begin[MAX_BYTES], end[MAX_BYTES];
  size_t row_end[MAX_BYTES]; /* cells up to and with that row */
  size_t n_cells, n_rows;
} reference;

/* One cell from `at`; returns the place of what ends it, or size + 1 where it is refused. */
static inline size_t reference_cell(const char *in, size_t size, char delimiter, size_t at,
                                    reference *out) {
  size_t cell = out->n_cells++;
  out->begin[cell] = out->n_bytes;
  bool quoted = at < size && in[at] == '"', open = quoted;
  for (at += quoted; at < size && (open || (!quoted && in[at] != delimiter && in[at] != '\n'));) {
    if (quoted && in[at] == '"' && (at + 1 == size || in[at + 1] != '"')) open = false;
    else out->bytes[out->n_bytes++] = in[at];
    at += quoted && in[at] == '"' && open ? 2 : 1;
  }
  bool line_ends = at == size || in[at] == '\n';
  if (!quoted && line_ends && out->n_bytes > out->begin[cell] &&
      out->bytes[out->n_bytes - 1] == '\r')
    out->n_bytes--;
  if (quoted && at < size && in[at] == '\r' && (at + 1 == size || in[at + 1] == '\n')) at++;
  out->end[cell] = out->n_bytes;
  return open || (at < size && in[at] != delimiter && in[at] != '\n') ? size + 1 : at;
}

/* False: refused. Rows may have any number of cells; the caller asks for more. */
static inline bool reference_read(const char *in, size_t size, char delimiter, reference *out) {
  out->n_bytes = out->n_cells = out->n_rows = 0;
  if (size && memchr(in, '\0', size)) return false;
  for (size_t at = 0; at < size;) {
    for (;;) {
      at = reference_cell(in, size, delimiter, at, out);
      if (at > size) return false;
      if (at++ == size || in[at - 1] == '\n') break;
    }
    out->row_end[out->n_rows++] = out->n_cells;
  }
  return true;
}

static inline size_t reference_row_begin(const reference *in, size_t row) {
  return row ? in->row_end[row - 1] : 0;
}

/* Do all rows have that many cells? */
static inline bool reference_is_even(const reference *in, size_t n_columns) {
  for (size_t row = 0; row < in->n_rows; row++)
    if (in->row_end[row] - reference_row_begin(in, row) != n_columns) return false;
  return true;
}

static inline bool reference_cell_is(const reference *in, size_t cell, const char *bytes,
                                     size_t size) {
  return in->end[cell] - in->begin[cell] == size &&
         (size == 0 || memcmp(in->bytes + in->begin[cell], bytes, size) == 0);
}

#endif
