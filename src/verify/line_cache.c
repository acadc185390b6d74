/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/line_cache: lines are looked up several at a time, their slots prefetched. The hit rate is
 * checked from time to time.
 */
#include "verify/line_cache.h"

#include <stdlib.h>
#include <string.h>

enum {
  MAX_LINES = 1 << 16,
  MAX_BYTES = 16 << 20,     /* all lines */
  MAX_LINE_BYTES = 1 << 12, /* longer lines are not looked up */
  MAX_AHEAD = 16,           /* lines prefetched before the first is looked up */
  CHECK_ROWS = 1 << 14,     /* lookups between two checks of the hit rate */
  /* One lookup in N must succeed: a lookup costs a quarter of parsing, adding a line costs more. */
  MIN_HITS_WHEN_FULL = 4,
  MIN_HITS_BEFORE = 32
};

bool shoal_verify_line_cache_init(shoal_verify_line_cache *lines, size_t width) {
  lines->width = width;
  return shoal_verify_dictionary_init(&lines->known);
}

void shoal_verify_line_cache_reset(shoal_verify_line_cache *lines) {
  shoal_verify_dictionary_reset(&lines->known);
  free(lines->entries);
}

/* ---------------------------------------------------------------- lookup */

static bool is_full(const shoal_verify_line_cache *lines) {
  return lines->known.n_entries >= MAX_LINES || lines->known.entries.size_bytes >= MAX_BYTES;
}

/* A line to look up. */
typedef struct wanted {
  const char *bytes;
  size_t size_bytes;
  uint64_t hash;
} wanted;

/* Finds and hashes the next lines, at most n, and prefetches their slots. Returns their number. */
static size_t take_lines(const shoal_verify_line_cache *lines, const char *at, const char *end,
                         size_t n, wanted *next) {
  size_t taken = 0;
  for (; taken < n; taken++) {
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    size_t size = feed ? (size_t)(feed - at) + 1 : 0;
    if (!size || size > MAX_LINE_BYTES) break;
    next[taken] = (wanted){.bytes = at, .size_bytes = size, .hash = shoal_hash_bytes(at, size)};
    __builtin_prefetch(shoal_verify_slot_of(&lines->known, next[taken].hash));
    at = feed + 1;
  }
  return taken;
}

/* Counts lines up to the first that is not cached; returns their number. */
static size_t count_known(const shoal_verify_line_cache *lines, const wanted *next, size_t n) {
  for (size_t i = 0; i < n; i++)
    __builtin_prefetch(shoal_verify_entry_of(&lines->known, next[i].hash), 1);
  for (size_t i = 0; i < n; i++) {
    shoal_verify_entry *line =
        shoal_verify_find(&lines->known, next[i].hash, next[i].bytes, next[i].size_bytes);
    if (!line) return i;
    line->n_rows++;
  }
  return n;
}

void shoal_verify_line_cache_skip(shoal_verify_line_cache *lines, shoal_verify_reader *reader,
                                  uint64_t max_rows) {
  wanted next[MAX_AHEAD];
  size_t size, ahead = 1, n; /* doubles while lines are found: fewer are hashed in vain */
  const char *bytes = shoal_verify_reader_window(reader, &size), *at = bytes;
  uint64_t n_rows = 0;
  lines->missed_bytes = 0;
  while ((n = take_lines(lines, at, bytes + size, ahead, next)) && n_rows < max_rows) {
    if (n > max_rows - n_rows) n = (size_t)(max_rows - n_rows);
    size_t n_known = count_known(lines, next, n);
    n_rows += n_known;
    at = n_known ? next[n_known - 1].bytes + next[n_known - 1].size_bytes : at;
    if (n_known < n) {
      lines->missed = at;
      lines->missed_bytes = next[n_known].size_bytes;
      lines->missed_hash = next[n_known].hash;
      lines->n_missed++;
      break;
    }
    ahead = ahead < MAX_AHEAD ? 2 * ahead : ahead;
  }
  shoal_verify_reader_skip(reader, (size_t)(at - bytes), n_rows);
  lines->missed_position = shoal_verify_reader_position(reader);
  lines->n_again += n_rows;
  uint64_t again = lines->n_again - lines->n_again_before;
  uint64_t missed = lines->n_missed - lines->n_missed_before;
  if (again + missed < CHECK_ROWS) return;
  lines->off = again < (again + missed) / (is_full(lines) ? MIN_HITS_WHEN_FULL : MIN_HITS_BEFORE);
  lines->n_again_before = lines->n_again;
  lines->n_missed_before = lines->n_missed;
}

bool shoal_verify_line_cache_keep(shoal_verify_line_cache *lines, const shoal_verify_reader *reader,
                                  const shoal_verify_cell *cells, size_t n_cells, int32_t *line) {
  *line = SHOAL_VERIFY_NO_LINE;
  if (!lines->missed_bytes || is_full(lines)) return true;
  if (shoal_verify_reader_position(reader) != lines->missed_position + lines->missed_bytes)
    return true;
  for (size_t i = 0; i < n_cells; i++)
    if (cells[i].doubled) return true; /* the reader has changed the bytes */
  size_t needed = (lines->known.n_entries + (size_t)1) * lines->width;
  if (!shoal_grow(&lines->entries, &lines->entries_capacity, needed, sizeof(void *))) return false;
  const shoal_verify_entry *made =
      shoal_verify_intern(&lines->known, lines->missed_hash, lines->missed, lines->missed_bytes);
  if (!made) return false;
  *line = (int32_t)made->id;
  return true;
}
