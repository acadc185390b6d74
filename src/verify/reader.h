/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/reader: the verifier's own CSV reader, one row at a time. It is strict: input that two CSV
 * readers could split into different cells is an error.
 */
#pragma once

#include "base/thread.h"

/* The end of every message that says that a release is not what the request says. */
#define SHOAL_VERIFY_FAULT "nothing was written; this is a bug in shoal, please report it"

typedef struct shoal_verify_reader shoal_verify_reader;

/* A cell without its quotes. The bytes belong to the reader and are valid until its next row. */
typedef struct shoal_verify_cell {
  char *bytes;
  size_t size_bytes;
  bool doubled; /* it had doubled quotes: its bytes were changed in place */
} shoal_verify_cell;

/*
 * Opens the file `fd` at its start, whatever its offset. The caller keeps `fd`. gzip and zstd are
 * recognized by their first bytes. `name` is borrowed, for messages. `_next` reports progress to
 * `run` in bytes of the file.
 */
shoal_status shoal_verify_reader_open(int fd, const char *name, char delimiter,
                                      const shoal_run *run, shoal_verify_reader **reader,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The same for a part of an uncompressed file: from byte `begin`, where a row must start, to byte
 * `end`, where a row must end.
 */
shoal_status shoal_verify_reader_open_part(int fd, const char *name, char delimiter, uint64_t begin,
                                           uint64_t end, const shoal_run *run,
                                           shoal_verify_reader **reader,
                                           shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Reads the next row, which must have `n_cells` cells; *found is false after the last row. Messages
 * count the first row (the header) as row 0. Errors of the file or the system are SHOAL_FAILED;
 * SHOAL_CANCELLED if the progress callback asks to stop.
 */
shoal_status shoal_verify_reader_next(shoal_verify_reader *reader, shoal_verify_cell *cells,
                                      size_t n_cells, bool *found,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/*
 * For the line cache. _window: the buffered bytes that are not read yet; the first starts a row.
 * _skip: passes over bytes that are `n_rows` rows. _position: bytes of content read or skipped.
 */
const char *shoal_verify_reader_window(const shoal_verify_reader *reader, size_t *size_bytes);
void shoal_verify_reader_skip(shoal_verify_reader *reader, size_t size_bytes, uint64_t n_rows);
uint64_t shoal_verify_reader_position(const shoal_verify_reader *reader);

void shoal_verify_reader_close(shoal_verify_reader *reader); /* accepts NULL */
