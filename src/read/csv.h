/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/csv: bytes -> cells. RFC 4180 and common deviations: quoted cells may contain newlines and
 * doubled quotes, lines end in CRLF or LF, a quote inside an unquoted cell is an ordinary byte.
 *
 * A block of whole records is split at once into the positions of all cells, row by row. It is
 * scanned 64 bytes at a time (scan.h); a block with irregular quotes or an error is read byte by
 * byte. Both give the same cells. Doubled quotes become single, in place.
 */
#pragma once

#include "base/error.h"
#include "read/scan.h"

/* Bytes after a block that must be readable. */
enum { SHOAL_CSV_SLACK = 64 };

/* Cells of a block: cell i is bytes[begin[i] .. end[i]). Row r ends before cell row_end[r]. */
typedef struct shoal_cells {
  const char *bytes;
  uint32_t *begin;
  uint32_t *end;
  size_t n_cells;
  size_t capacity;
  size_t n_rows;
  size_t *row_end; /* only for ragged splitting (n_columns 0) */
  size_t row_capacity;
} shoal_cells;

typedef enum shoal_csv_fault {
  SHOAL_CSV_OK,
  SHOAL_CSV_RAGGED,   /* a row with more or fewer cells than n_columns */
  SHOAL_CSV_UNCLOSED, /* a quote that is not closed before the end */
  SHOAL_CSV_STRAY,    /* bytes between a closing quote and the delimiter */
  SHOAL_CSV_NUL,      /* a NUL byte */
  SHOAL_CSV_MEMORY
} shoal_csv_fault;

/* An error, and the row of the block (0-based). */
typedef struct shoal_csv_problem {
  shoal_csv_fault fault;
  size_t row;
  size_t n_found; /* RAGGED: cells in that row */
} shoal_csv_problem;

void shoal_cells_init(shoal_cells *cells);
void shoal_cells_reset(shoal_cells *cells);

/*
 * Splits a block of whole records (the last may lack its newline) into cells. `n_columns` is the
 * number each row must have; 0: rows may differ, and row_end is filled. The block is changed where
 * quoted cells are decoded, and its SLACK bytes must be readable. Offsets are 32 bits: at most
 * 4 GiB - 1 a block.
 */
shoal_csv_problem shoal_csv_split(char *block, size_t size_bytes, char delimiter, size_t n_columns,
                                  shoal_cells *cells);

/* The same with one kind of scan, for tests: all give the same result. */
shoal_csv_problem shoal_csv_split_by(shoal_scan_way way, char *block, size_t size_bytes,
                                     char delimiter, size_t n_columns, shoal_cells *cells);

/*
 * How many bytes at the front of `block` are whole records: up to and including the last newline
 * outside quotes; 0 if there is none. The block starts at a record's start.
 */
size_t shoal_csv_whole_records(const char *block, size_t size_bytes, char delimiter);

/* The size of the first record, its newline included; 0 if it does not end in the block. */
size_t shoal_csv_first_record(const char *block, size_t size_bytes, char delimiter);

/*
 * The most frequent of , ; tab | outside quotes in the header; of these rather one that row 1 has
 * as often, commas between digits excepted.
 */
char shoal_csv_guess_delimiter(const char *block, size_t size_bytes);

/*
 * The delimiter of a hierarchy or category file: ';' if the first row has one outside quotes, else
 * ',', else a tab.
 */
char shoal_csv_side_delimiter(const char *block, size_t size_bytes);

/* Describes a problem for a message, such as "has 8 cells where the header has 9: ...". */
void shoal_csv_explain(shoal_csv_problem problem, size_t n_columns, char *out, size_t capacity);
