/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/rows: rows as bytes. A row is packed: its group, where anything depends on it, and its
 * codes side by side, so that it is moved at once; a packed row is rendered by copying a ready
 * cell a column. Short cells lie side by side in slots of equal size and are copied whole. Where
 * there are few different lines they are rendered beforehand, a packed row is the number of its
 * line, and rendering it is one copy (lines.c). Private to this folder.
 */
#ifndef SHOAL_WRITE_ROWS_H
#define SHOAL_WRITE_ROWS_H

#include <string.h>

#include "write/csv.h"

/* Bytes behind a cell that may be read, and behind a rendered row that may be overwritten. */
enum { SHOAL_COPY_SLACK = 32 };

typedef struct shoal_ready_column {
  const shoal_cells_out *cells;
  size_t place;       /* of its code in a packed row */
  unsigned code_size; /* bytes of it; 0: the group chooses the cell */
  size_t slot_bytes;  /* 16 or 32; 0: cells are too long or too many for slots */
  char *slots;
  uint8_t *sizes; /* by cell, the separator included */
  size_t widest;  /* bytes of the longest cell, or of a blank */
  char star[4];   /* "*" with its separator, quoted if it must be */
  uint8_t star_bytes;
  uint32_t factor; /* what a code counts in the number of a line */
} shoal_ready_column;

/* Ready lines lie in places of whole steps: a cache line. */
enum { SHOAL_LINE_STEP = 64 };

typedef struct shoal_lines_out {
  char *texts; /* NULL: lines are not ready, rows are rendered cell by cell */
  uint16_t *sizes;
  size_t line_bytes;  /* of a line's place */
  uint32_t *of_group; /* the first line of rows of the group */
} shoal_lines_out;

typedef struct shoal_rows_out {
  const shoal_csv_out *out;
  shoal_ready_column *columns;
  bool has_group;      /* some cell depends on the row's group */
  size_t packed_bytes; /* a packed row */
  size_t widest;       /* bytes of the longest row */
  shoal_lines_out lines;
} shoal_rows_out;

/* False: no memory. A zeroed one may be reset too. */
bool shoal_rows_out_init(shoal_rows_out *rows, const shoal_csv_out *out, uint32_t n_groups);
void shoal_rows_out_reset(shoal_rows_out *rows);

/* Makes lines ready where that pays, for so many rows. False: no memory. */
bool shoal_rows_make_lines(shoal_rows_out *rows, uint32_t n_groups, uint64_t n_rows);

/* The lines of rows that are released. */
void shoal_rows_number(const shoal_rows_out *rows, const uint64_t *row_of, size_t n,
                       uint32_t *lines);

/*
 * Copies lines; with `places`, line numbers[places[0]] first. `to` has room for n of the widest and
 * one line's place. Returns the end.
 */
char *shoal_rows_copy_lines(const shoal_rows_out *rows, const uint32_t *numbers,
                            const uint32_t *places, size_t n, char *to);

/* Packs n rows of the table, one behind the other. */
void shoal_rows_pack(const shoal_rows_out *rows, const uint64_t *row_of, size_t n, uint8_t *to);

/* A cell as CSV has it; `to` has room for twice its size and SHOAL_CELL_EXTRA. Returns its size. */
size_t shoal_cell_render(const shoal_csv_out *out, const char *bytes, size_t size_bytes, char *to);

static inline char *shoal_put_cell(const shoal_ready_column *column, uint32_t cell, char *to) {
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

static inline char *shoal_put_star(const shoal_ready_column *column, char *to) {
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

/* Renders n packed rows, with `places` row places[0] first, behind what is there. False: no memory.
 */
bool shoal_rows_render(const shoal_rows_out *rows, const uint8_t *packed, const uint32_t *places,
                       size_t n, shoal_bytes *to);

/* Rendered bytes on their way to a sink, in the order of a line (base/line.h). */
typedef struct shoal_delivery {
  shoal_bytes rendered;
  uint64_t offset;
  bool placed; /* to be written at the offset; else they are written already */
} shoal_delivery;

/* In order; then, on any thread. */
shoal_status shoal_delivery_hand_over(shoal_delivery *delivery, shoal_sink *sink,
                                      shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_delivery_finish(const shoal_delivery *delivery, const shoal_sink *sink,
                                   shoal_error *error) SHOAL_MUST_CHECK;

#endif
