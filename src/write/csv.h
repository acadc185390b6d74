/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write: classes -> release, as CSV. Each column has its cells ready, quoted where needed, by code
 * of the value or, in local recoding, by class of the row; a row is a few copies. Threads render
 * stretches of rows, or buckets of shuffled ones, which are written in order.
 */
#ifndef SHOAL_WRITE_CSV_H
#define SHOAL_WRITE_CSV_H

#include "base/random.h"
#include "base/work.h"
#include "group/keys.h"
#include "table/table.h"
#include "write/sink.h"

/* Cells of one released column, ready to be copied, each with its separator behind it. */
typedef struct shoal_cells_out {
  const shoal_column *column;    /* whose codes choose the cell */
  const uint32_t *cell_of_group; /* the row's group chooses it instead; NULL: its code does */
  shoal_codes code_of_group;     /* what all rows of a group have; no words: not known */
  char *bytes;
  uint64_t *offsets; /* n_values + 1 */
  size_t capacity;
  uint32_t n_values;     /* cells */
  bool generalized;      /* a quasi-identifier: "*" where the row is blanked */
  const uint8_t *hidden; /* by group: 1, this cell is "*" in it; NULL: in none */
} shoal_cells_out;

/* What becomes of a row. */
typedef enum shoal_fate { SHOAL_FATE_KEEP, SHOAL_FATE_REMOVE, SHOAL_FATE_BLANK } shoal_fate;

typedef struct shoal_csv_out {
  const shoal_table *table;
  char delimiter;
  shoal_cells_out *columns;
  size_t n_columns;
  const uint32_t *group_of_row; /* row -> group */
  const uint8_t *fate;          /* group -> shoal_fate */
  uint32_t n_groups;            /* 0: not known, nor are their rows */
  const uint64_t *rows_of_group;
  const uint32_t *order; /* all rows, where they are not shuffled; NULL: as numbered */
  bool quote_formulas;   /* an apostrophe before cells that a spreadsheet would run */
} shoal_csv_out;

/* What a cell can have beside its own bytes twice: two quotes, an apostrophe, a separator. */
enum { SHOAL_CELL_EXTRA = 4 };

/* Adds the next cell to a column: quoted where it must be. */
bool shoal_cells_out_add(shoal_cells_out *cells, const shoal_csv_out *out, const char *bytes,
                         size_t size_bytes);
void shoal_cells_out_reset(shoal_cells_out *cells);

/* The header alone. */
shoal_status shoal_csv_write_header(const shoal_csv_out *out, shoal_sink *sink,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Writes header and rows. `random` shuffles the rows; NULL keeps their order. A row that stands
 * for several records is written as often. *n_rows receives the rows written.
 */
shoal_status shoal_csv_write(const shoal_csv_out *out, shoal_sink *sink, shoal_random *random,
                             const shoal_run *run, uint64_t *n_rows,
                             shoal_error *error) SHOAL_MUST_CHECK;

#endif
