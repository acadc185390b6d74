/* SPDX-License-Identifier: Apache-2.0 */
/* verify/lines: see lines.h. */
#include "verify/lines.h"

#include <stdlib.h>
#include <string.h>

enum {
  MOST_LINES = 1 << 16,
  MOST_BYTES = 16 << 20,     /* of all lines */
  MOST_LINE_BYTES = 1 << 12, /* a longer one is not looked up */
  MOST_AHEAD = 16,           /* lines whose memory is asked for before the first is looked up */
  ASK_ROWS = 1 << 14,        /* looked up between two questions whether it is worth it */
  /* One in so many must be found: a look costs a quarter of a reading, and to keep a line more. */
  WORTH_WHEN_FULL = 4,
  WORTH_BEFORE = 32
};

bool shoal_verify_lines_init(shoal_verify_lines *lines, size_t width) {
  lines->width = width;
  return shoal_verify_dictionary_init(&lines->known);
}

void shoal_verify_lines_reset(shoal_verify_lines *lines) {
  shoal_verify_dictionary_reset(&lines->known);
  free(lines->entries);
}

/* ---------------------------------------------------------------- the hash of a line */

static inline uint64_t load(const char *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

/* Both halves of a product, folded: sixteen bytes a multiplication, and none waits for another. */
static inline uint64_t fold(uint64_t a, uint64_t b) {
  __extension__ unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_line(const char *bytes, size_t size_bytes) {
  static const uint64_t KEYS[2] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd6e8feb86659fd93)};
  if (size_bytes < 16) return shoal_hash_bytes(bytes, size_bytes);
  uint64_t hash = size_bytes, place = KEYS[0];
  const char *last = bytes + size_bytes - 16; /* the end is read again, from where it is whole */
  for (; bytes < last; bytes += 16, place += KEYS[1])
    hash += fold(load(bytes) ^ place, load(bytes + 8) ^ KEYS[1]);
  hash += fold(load(last) ^ place, load(last + 8) ^ KEYS[0]);
  return shoal_mix(hash);
}

/* ---------------------------------------------------------------- lines that come again */

static bool is_full(const shoal_verify_lines *lines) {
  return lines->known.n_entries >= MOST_LINES || lines->known.entries.size_bytes >= MOST_BYTES;
}

static void ask_whether_worth_it(shoal_verify_lines *lines) {
  uint64_t again = lines->n_again - lines->n_again_before;
  uint64_t missed = lines->n_missed - lines->n_missed_before;
  if (again + missed < ASK_ROWS) return;
  lines->off = again < (again + missed) / (is_full(lines) ? WORTH_WHEN_FULL : WORTH_BEFORE);
  lines->n_again_before = lines->n_again;
  lines->n_missed_before = lines->n_missed;
}

/* A line that is to be looked up. */
typedef struct wanted {
  const char *bytes;
  size_t size_bytes;
  uint64_t hash;
} wanted;

/* The next lines, at most n; asks for the memory of their slots. Returns how many there are. */
static size_t take_lines(const shoal_verify_lines *lines, const char *at, const char *end, size_t n,
                         wanted *next) {
  size_t taken = 0;
  for (; taken < n; taken++) {
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    size_t size = feed ? (size_t)(feed - at) + 1 : 0;
    if (!size || size > MOST_LINE_BYTES) break;
    next[taken] = (wanted){.bytes = at, .size_bytes = size, .hash = hash_line(at, size)};
    __builtin_prefetch(shoal_verify_slot_of(&lines->known, next[taken].hash));
    at = feed + 1;
  }
  return taken;
}

/* Counts lines up to the first that is not known; returns how many. */
static size_t count_known(const shoal_verify_lines *lines, const wanted *next, size_t n) {
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

void shoal_verify_lines_skip(shoal_verify_lines *lines, shoal_verify_reader *reader,
                             uint64_t most) {
  wanted next[MOST_AHEAD];
  size_t size, ahead = 1, n; /* more ahead while lines are known: less is hashed in vain */
  const char *bytes = shoal_verify_reader_window(reader, &size), *at = bytes;
  uint64_t n_rows = 0;
  lines->missed_bytes = 0;
  while ((n = take_lines(lines, at, bytes + size, ahead, next)) && n_rows < most) {
    if (n > most - n_rows) n = (size_t)(most - n_rows);
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
    ahead = ahead < MOST_AHEAD ? 2 * ahead : ahead;
  }
  shoal_verify_reader_skip(reader, (size_t)(at - bytes), n_rows);
  lines->missed_place = shoal_verify_reader_place(reader);
  lines->n_again += n_rows;
  ask_whether_worth_it(lines);
}

bool shoal_verify_lines_keep(shoal_verify_lines *lines, const shoal_verify_reader *reader,
                             const shoal_verify_cell *cells, size_t n_cells, int32_t *line) {
  *line = SHOAL_VERIFY_NO_LINE;
  if (!lines->missed_bytes || is_full(lines)) return true;
  if (shoal_verify_reader_place(reader) != lines->missed_place + lines->missed_bytes) return true;
  for (size_t i = 0; i < n_cells; i++)
    if (cells[i].doubled) return true; /* the bytes are not those of the file any more */
  size_t needed = (lines->known.n_entries + (size_t)1) * lines->width;
  if (!shoal_grow(&lines->entries, &lines->entries_capacity, needed, sizeof(void *))) return false;
  const shoal_verify_entry *made =
      shoal_verify_intern(&lines->known, lines->missed_hash, lines->missed, lines->missed_bytes);
  if (!made) return false;
  *line = (int32_t)made->id;
  return true;
}
