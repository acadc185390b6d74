/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/lines: rows that were read before, known again by their bytes. A release of few classes
 * has few distinct lines, each very often: such a line is read into cells once, and counted after
 * that by finding its bytes, all of them compared, among those of the lines already read.
 *
 * A line is known only if the strict reader took it, from its first byte to its line feed, for one
 * row. What a reader makes of a row follows from the row's bytes alone, so the same bytes at the
 * start of another row are the same row.
 *
 * Where lines are all different this would cost and gain nothing: only so many are kept, and where
 * few are found again, the sooner when there is no more room, no line is looked up any more.
 */
#ifndef SHOAL_VERIFY_LINES_H
#define SHOAL_VERIFY_LINES_H

#include "verify/reader.h"
#include "verify/tables.h"

enum { SHOAL_VERIFY_NO_LINE = -1 };

typedef struct shoal_verify_lines {
  shoal_verify_dictionary known; /* n_rows: rows of each line behind its first */
  shoal_verify_entry **entries;  /* by line: those of its class and its values, `width` of them */
  size_t entries_capacity;
  size_t width;
  uint64_t n_again; /* rows that were found */
  uint64_t n_missed;
  uint64_t n_again_before, n_missed_before; /* when it was last asked whether it is worth it */
  bool off;
  /* The line that was not found and that the reader comes to next; 0 bytes: there is none. */
  const char *missed;
  size_t missed_bytes;
  uint64_t missed_hash, missed_place;
} shoal_verify_lines;

/* `width`: entries of a line. False: no memory. Zeroed ones may be reset, too. */
bool shoal_verify_lines_init(shoal_verify_lines *lines, size_t width);
void shoal_verify_lines_reset(shoal_verify_lines *lines);

/*
 * Counts the rows that come next and are known, at most `most` of them. It ends before a row that
 * is not known, or whose end is not in the reader's window.
 */
void shoal_verify_lines_skip(shoal_verify_lines *lines, shoal_verify_reader *reader, uint64_t most);

/*
 * Makes the row that was read next, into these cells, a known one, if it may be; *line is its
 * number or SHOAL_VERIFY_NO_LINE. Its entries are to be filled in. False: no memory.
 */
bool shoal_verify_lines_keep(shoal_verify_lines *lines, const shoal_verify_reader *reader,
                             const shoal_verify_cell *cells, size_t n_cells, int32_t *line);

#endif
