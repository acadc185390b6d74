/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/line_cache: counts repeated lines without parsing them again. A release with few classes
 * has few distinct lines. Each is parsed once; afterwards an equal line is found by its bytes, all
 * of which are compared.
 *
 * A line is cached only if the strict reader parsed it, from its first byte to its line feed, as
 * one row. The cells of a row depend on its bytes only, so equal bytes at the start of another row
 * are an equal row.
 *
 * If most lines are distinct, the cache only costs time. It keeps a limited number of lines and
 * switches itself off if too few lookups succeed.
 */
#pragma once

#include "verify/reader.h"
#include "verify/tables.h"

enum { SHOAL_VERIFY_NO_LINE = -1 };

typedef struct shoal_verify_line_cache {
  shoal_verify_dictionary known; /* n_rows: repetitions of each line */
  shoal_verify_entry **entries;  /* by line: `width` entries, its class and its values */
  size_t entries_capacity;
  size_t width;
  uint64_t n_again; /* rows found in the cache */
  uint64_t n_missed;
  uint64_t n_again_before, n_missed_before; /* when the hit rate was last checked */
  bool off;
  /* The line that was not found and that the reader parses next; 0 bytes: none. */
  const char *missed;
  size_t missed_bytes;
  uint64_t missed_hash, missed_position;
} shoal_verify_line_cache;

/* `width`: entries of a line. False: no memory. A zeroed cache may be reset. */
bool shoal_verify_line_cache_init(shoal_verify_line_cache *lines, size_t width);
void shoal_verify_line_cache_reset(shoal_verify_line_cache *lines);

/*
 * Counts and skips the next rows of the reader that are cached, at most `max_rows`. Stops before a
 * row that is not cached or that does not end in the reader's window.
 */
void shoal_verify_line_cache_skip(shoal_verify_line_cache *lines, shoal_verify_reader *reader,
                                  uint64_t max_rows);

/*
 * Call it after the row at which `_skip` stopped was read into `cells`: caches that line if it can
 * be. *line is its number, whose `entries` the caller fills, or SHOAL_VERIFY_NO_LINE. False: no
 * memory.
 */
bool shoal_verify_line_cache_keep(shoal_verify_line_cache *lines, const shoal_verify_reader *reader,
                                  const shoal_verify_cell *cells, size_t n_cells, int32_t *line);
