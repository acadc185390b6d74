/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/reader: the verifier's own CSV reader, one row at a time. Strict where other programs
 * would differ in what they see: a release that two readers could split into different cells is
 * refused, not guessed at.
 */
#ifndef SHOAL_VERIFY_READER_H
#define SHOAL_VERIFY_READER_H

#include "base/work.h"

/* How every message ends that says that a release is not what it claims to be. */
#define SHOAL_VERIFY_FAULT "nothing was written; this is a fault of shoal, please report it"

typedef struct shoal_verify_reader shoal_verify_reader;

/* A cell without its quotes. The bytes are the reader's, until its next row. */
typedef struct shoal_verify_cell {
  char *bytes;
  size_t size_bytes;
  bool doubled; /* there were doubled quotes, now single: bytes behind them were moved */
} shoal_verify_cell;

/*
 * Opens the file behind `fd`, which stays the caller's, at its start; gzip and zstd are recognized
 * by their first bytes. `name` is what messages call it, and is borrowed. Progress goes to `run`
 * in bytes of the file, from within `_next`.
 */
shoal_status shoal_verify_reader_open(int fd, const char *name, char delimiter,
                                      const shoal_run *run, shoal_verify_reader **reader,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The same for a part of a file that is not compressed: rows from byte `begin`, where one must
 * start, to byte `end`, where one must end.
 */
shoal_status shoal_verify_reader_open_part(int fd, const char *name, char delimiter, uint64_t begin,
                                           uint64_t end, const shoal_run *run,
                                           shoal_verify_reader **reader,
                                           shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The next row, of exactly `n_cells` cells; *found is false behind the last one. The first row
 * (the header) is row 0 of the messages. Any fault, of the file or of the machine, is
 * SHOAL_FAILED; SHOAL_CANCELLED if the progress callback asks to stop.
 */
shoal_status shoal_verify_reader_next(shoal_verify_reader *reader, shoal_verify_cell *cells,
                                      size_t n_cells, bool *found,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/*
 * For rows that are known by their bytes: the bytes at hand that are not read yet, of which the
 * first starts a row; how to pass over some of them, which are so many rows; and how many bytes of
 * content were read or passed over so far.
 */
const char *shoal_verify_reader_window(const shoal_verify_reader *reader, size_t *size_bytes);
void shoal_verify_reader_skip(shoal_verify_reader *reader, size_t size_bytes, uint64_t n_rows);
uint64_t shoal_verify_reader_place(const shoal_verify_reader *reader);

void shoal_verify_reader_close(shoal_verify_reader *reader); /* accepts NULL */

#endif
