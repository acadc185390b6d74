/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/render: rows as bytes. A packed row is moved at once, and rendered by copying one rendered
 * cell per column:
 *
 *   | group (4 bytes, if a cell depends on it) | code (1, 2 or 4 bytes) | code | ... | padding to 4
 * |
 *
 * Short cells are stored in slots of 16 or 32 bytes and copied whole. If a release has few
 * different lines, these are rendered in advance: a packed row is then the number of its line (4
 * bytes), and rendering it is one copy. Private to this directory.
 */
#pragma once

#include <string.h>

#include "write/csv.h"

/* Bytes after a cell that may be read, and after a rendered row that may be overwritten. */
enum { SHOAL_COPY_SLACK = 32 };

typedef struct shoal_column_renderer {
  const shoal_csv_column *cells;
  size_t position;    /* of its code in a packed row */
  unsigned code_size; /* bytes of it; 0: the group chooses the cell */
  size_t slot_bytes;  /* 16 or 32; 0: cells are too long or too many for slots */
  char *slots;
  uint8_t *sizes; /* by cell, the separator included */
  size_t widest;  /* bytes of the longest cell, or of a blank */
  char star[4];   /* "*" with its separator, quoted if it must be */
  uint8_t star_bytes;
  uint32_t factor; /* of its code in the number of a line */
} shoal_column_renderer;

/* Prerendered lines start at multiples of a cache line. */
enum { SHOAL_LINE_STEP = 64 };

typedef struct shoal_prerendered_lines {
  char *texts; /* NULL: rows are rendered cell by cell */
  uint16_t *sizes;
  size_t line_bytes;  /* from one line to the next */
  uint32_t *of_group; /* the first line of rows of the group */
} shoal_prerendered_lines;

typedef struct shoal_row_renderer {
  const shoal_csv_plan *out;
  shoal_column_renderer *columns;
  bool has_group;      /* some cell depends on the row's group */
  size_t packed_bytes; /* a packed row */
  size_t widest;       /* bytes of the longest row */
  shoal_prerendered_lines lines;
} shoal_row_renderer;

/* False: no memory. A zeroed one may be reset too. */
bool shoal_row_renderer_init(shoal_row_renderer *rows, const shoal_csv_plan *out,
                             uint32_t n_groups);
void shoal_row_renderer_reset(shoal_row_renderer *rows);

/* Prerenders lines if that pays for n_rows rows. False: no memory. */
bool shoal_rows_make_lines(shoal_row_renderer *rows, uint32_t n_groups, uint64_t n_rows);

/* The lines of rows that are released. */
void shoal_rows_number(const shoal_row_renderer *rows, const uint64_t *row_of, size_t n,
                       uint32_t *lines);

/*
 * Copies lines; with `positions`, line numbers[positions[0]] first. `to` has room for n of the
 * widest and line_bytes more. Returns the end.
 */
char *shoal_rows_copy_lines(const shoal_row_renderer *rows, const uint32_t *numbers,
                            const uint32_t *positions, size_t n, char *to);

/* Packs n rows of the table, one after the other. */
void shoal_rows_pack(const shoal_row_renderer *rows, const uint64_t *row_of, size_t n, uint8_t *to);

static inline char *shoal_put_cell(const shoal_column_renderer *column, uint32_t cell, char *to) {
  if (column->slot_bytes == 16) {
    memcpy(to, column->slots + (size_t)cell * 16, 16);
    return to + column->sizes[cell];
  }
  if (column->slot_bytes) {
    memcpy(to, column->slots + (size_t)cell * SHOAL_COPY_SLACK, SHOAL_COPY_SLACK);
    return to + column->sizes[cell];
  }
  const uint64_t *offset = column->cells->offsets + cell;
  size_t size = (size_t)(offset[1] - offset[0]);
  if (size <= SHOAL_COPY_SLACK) memcpy(to, column->cells->bytes + *offset, SHOAL_COPY_SLACK);
  else memcpy(to, column->cells->bytes + *offset, size);
  return to + size;
}

static inline char *shoal_put_star(const shoal_column_renderer *column, char *to) {
  memcpy(to, column->star, sizeof column->star);
  return to + column->star_bytes;
}

/* Rendered bytes that grow. */
typedef struct shoal_bytes {
  char *bytes;
  size_t size, capacity;
} shoal_bytes;

/* Room for `more` bytes and the slack; NULL: no memory. */
static inline char *shoal_bytes_room(shoal_bytes *b, size_t more) {
  size_t needed = b->size + more + SHOAL_COPY_SLACK;
  if (needed > b->capacity && !shoal_grow(&b->bytes, &b->capacity, needed, 1)) return NULL;
  return b->bytes + b->size;
}

/* Appends n rendered rows; with `positions`, row positions[0] first. False: no memory. */
bool shoal_rows_render(const shoal_row_renderer *rows, const uint8_t *packed,
                       const uint32_t *positions, size_t n, shoal_bytes *to);

/* Rendered bytes to be written by a pipeline (base/pipeline.h). */
typedef struct shoal_output_chunk {
  shoal_bytes rendered;
  uint64_t offset;
  bool placed; /* to be written at the offset; else they are written already */
} shoal_output_chunk;

/* The first in order, the second on any thread. */
shoal_status shoal_output_chunk_write(shoal_output_chunk *chunk, shoal_sink *sink,
                                      shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_output_chunk_complete(const shoal_output_chunk *chunk, const shoal_sink *sink,
                                         shoal_error *error) SHOAL_MUST_CHECK;
