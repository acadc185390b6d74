/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/csv: classes -> release, as CSV. The cells of each column are rendered once, quoted where
 * needed: one per code of a value or, in local recoding, per class. A row is a few copies. Threads
 * render ranges of rows, or buckets of shuffled ones, which are written in order.
 */
#pragma once

#include "base/intern.h"
#include "base/random.h"
#include "base/thread.h"
#include "group/grouper.h"
#include "table/table.h"
#include "write/sink.h"

/* The rendered cells of one released column, each with its separator. */
typedef struct shoal_csv_column {
  const shoal_column *column;    /* whose codes choose the cell */
  const uint32_t *cell_of_group; /* the row's group chooses it instead; NULL: its code does */
  shoal_codes code_of_group;     /* what all rows of a group have; no words: unknown */
  char *bytes;
  uint64_t *offsets; /* n_values + 1 */
  size_t capacity;
  uint32_t n_values;               /* cells */
  shoal_strings replaced;          /* what the column's values became, by code; or empty */
  bool generalized;                /* a quasi-identifier: "*" where the row is blanked */
  const uint8_t *suppressed_cells; /* by group: 1, this cell is "*" in it; NULL: in none */
} shoal_csv_column;

/* How a row is released. */
typedef enum shoal_row_action {
  SHOAL_ROW_KEEP,
  SHOAL_ROW_REMOVE,
  SHOAL_ROW_BLANK
} shoal_row_action;

typedef struct shoal_csv_plan {
  const shoal_table *table;
  char delimiter;
  shoal_csv_column *columns;
  size_t n_columns;
  const uint32_t *group_of_row; /* row -> group */
  const uint8_t *action;        /* group -> shoal_row_action */
  uint32_t n_groups;            /* 0: unknown, as are their rows */
  const uint64_t *rows_of_group;
  const uint32_t *order; /* all rows, if they are not shuffled; NULL: in table order */
  bool quote_formulas;   /* put an apostrophe before cells that a spreadsheet would run */
} shoal_csv_plan;

/* Rendered bytes of a cell beside its own, doubled: quotes, an apostrophe, a separator. */
enum { SHOAL_CELL_EXTRA = 4 };

/* A cell as CSV has it; `to` has room for twice its size and SHOAL_CELL_EXTRA. Returns its size.
 * Of the plan only the delimiter, the number of columns and quote_formulas matter. */
size_t shoal_cell_render(const shoal_csv_plan *out, const char *bytes, size_t size_bytes, char *to);

/* Adds the next cell to a column: quoted where it must be. */
bool shoal_csv_column_add(shoal_csv_column *cells, const shoal_csv_plan *out, const char *bytes,
                          size_t size_bytes);
void shoal_csv_column_reset(shoal_csv_column *cells);

/* The header alone. */
shoal_status shoal_csv_write_header(const shoal_csv_plan *out, shoal_sink *sink,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Writes header and rows. `random` shuffles the rows; NULL keeps their order. A row with a count is
 * written that many times. *n_rows receives the number of rows written.
 */
shoal_status shoal_csv_write(const shoal_csv_plan *out, shoal_sink *sink, shoal_random *random,
                             const shoal_run *run, uint64_t *n_rows,
                             shoal_error *error) SHOAL_MUST_CHECK;
