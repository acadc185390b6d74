/* SPDX-License-Identifier: Apache-2.0 */
/* table/arrow_codes: cells of Arrow columns -> codes, hashes and samples. */
#include "table/arrow_codes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "table/dictionary.h"

enum {
  TILE_ROWS = 256,
  MAX_TILE_BYTES = 1 << 26,
  SCRATCH_BYTES = SHOAL_ARROW_PRINTED + 2 * SHOAL_DICTIONARY_SLACK
};

/* ------------------------------------------------------------ cells */

typedef struct text_cell {
  const char *bytes;
  uint64_t size_bytes;
} text_cell;

/* The text of value i of the column's cells. `scratch` holds SCRATCH_BYTES. */
static const char *value_text(const shoal_arrow_loader *self, const shoal_arrow_cells *cells,
                              int64_t i, char *scratch, text_cell *text) {
  const shoal_arrow_type *type = &cells->type;
  bool null = shoal_arrow_is_null(cells, i);
  if (!null && !shoal_arrow_is_word(type) && type->kind != SHOAL_ARROW_DECIMAL)
    return shoal_arrow_text(cells, i, &text->bytes, &text->size_bytes);
  text->bytes = scratch;
  text->size_bytes = 0;
  if (!null && type->kind == SHOAL_ARROW_DECIMAL) {
    const char *at = (const char *)cells->values + (uint64_t)(cells->offset + i) * type->width;
    text->size_bytes = shoal_arrow_print_decimal(type, at, scratch);
  } else if (!null) {
    text->size_bytes = shoal_arrow_print_word(type, shoal_arrow_word(cells, i), scratch);
  }
  if (!text->size_bytes) *text = (text_cell){self->null_text, self->null_size};
  return NULL;
}

/* The index of row i into the dictionary. False: it has none of its values. */
static bool index_of(const shoal_arrow_column *column, int64_t i, uint64_t *index) {
  *index = shoal_arrow_word(&column->indices, i);
  return *index < (uint64_t)column->cells.n; /* a negative one is huge */
}

static const char *row_text(const shoal_arrow_loader *self, const shoal_arrow_column *column,
                            int64_t i, char *scratch, text_cell *text) {
  uint64_t index;
  if (!column->type.index_width) return value_text(self, &column->cells, i, scratch, text);
  if (shoal_arrow_is_null(&column->indices, i)) {
    *text = (text_cell){self->null_text, self->null_size};
    return NULL;
  }
  if (!index_of(column, i, &index)) return "has an index that its dictionary lacks";
  return value_text(self, &column->cells, (int64_t)index, scratch, text);
}

static bool fail_cell(const shoal_arrow_loader *self, shoal_arrow_column *column, int64_t i,
                      const char *fault) {
  column->fault = fault;
  column->fault_row = self->part.n_rows + (uint64_t)(i - self->first) + 1;
  return false;
}

static bool fail_memory(shoal_arrow_column *column) {
  column->no_memory = true;
  return false;
}

/* ------------------------------------------------------------ tiles of cells */

typedef struct tile {
  const char *bytes;
  uint32_t begin[TILE_ROWS], end[TILE_ROWS];
  size_t n;
} tile;

/* Cells as they are in the chunk, if their offsets are sane and all of them have slack behind them.
 * A cell without a value is empty. */
static bool share_tile(const shoal_arrow_loader *self, const shoal_arrow_column *column,
                       int64_t from, size_t n, tile *t) {
  const shoal_arrow_cells *cells = &column->cells;
  if (!shoal_arrow_has_offsets(&column->type) || column->type.index_width || !cells->bytes ||
      (cells->valid && self->null_size))
    return false;
  int64_t first = shoal_arrow_offset(cells, from), last = first;
  if (first < 0) return false;
  for (size_t i = 0; i < n; i++) {
    int64_t next = shoal_arrow_offset(cells, from + (int64_t)i + 1);
    if (next < last || next - first > MAX_TILE_BYTES) return false;
    t->begin[i] = (uint32_t)(last - first);
    t->end[i] = (uint32_t)(next - first);
    last = next;
  }
  for (size_t i = 0; cells->valid && i < n; i++)
    if (shoal_arrow_is_null(cells, from + (int64_t)i)) t->end[i] = t->begin[i];
  t->bytes = cells->bytes + first;
  t->n = n;
  return last <= cells->end - SHOAL_DICTIONARY_SLACK;
}

/* Copies of cells, at least one; t->n is set to their number. */
static bool copy_tile(const shoal_arrow_loader *self, shoal_arrow_column *column, int64_t from,
                      size_t n, tile *t) {
  char scratch[SCRATCH_BYTES];
  size_t at = 0;
  for (t->n = 0; t->n < n && at < MAX_TILE_BYTES; t->n++) {
    text_cell text;
    const char *fault = row_text(self, column, from + (int64_t)t->n, scratch, &text);
    if (!fault && text.size_bytes > UINT32_MAX / 4) fault = "is larger than 1 GiB";
    if (fault) return fail_cell(self, column, from + (int64_t)t->n, fault);
    size_t size = (size_t)text.size_bytes;
    if (!shoal_grow_wiping(&column->bytes, &column->bytes_capacity,
                           at + size + SHOAL_DICTIONARY_SLACK))
      return fail_memory(column);
    memcpy(column->bytes + at, text.bytes, size);
    t->begin[t->n] = (uint32_t)at;
    t->end[t->n] = (uint32_t)(at += size);
  }
  memset(column->bytes + at, 0, SHOAL_DICTIONARY_SLACK);
  t->bytes = column->bytes;
  return true;
}

/* ------------------------------------------------------------ codes */

/* Values that are new must be text: later steps and reports rely on it. */
static bool check_values(const shoal_arrow_loader *self, shoal_arrow_column *column,
                         const shoal_dictionary *dictionary) {
  for (; column->n_checked < dictionary->n_values; column->n_checked++) {
    uint32_t v = column->n_checked;
    const char *bytes = dictionary->bytes + dictionary->offsets[v];
    size_t left = (size_t)(dictionary->offsets[v + 1] - dictionary->offsets[v]), size = 1;
    const char *fault = memchr(bytes, '\0', left) ? "has a NUL byte: give text" : NULL;
    for (; !fault && left; bytes += size, left -= size) {
      size = (unsigned char)*bytes < 0x80 ? 1 : shoal_utf8_size(bytes, left);
      if (!size) fault = "is not UTF-8";
      if (!size) break;
    }
    if (!fault) continue;
    int64_t row = (int64_t)(dictionary->first_position[v] & UINT32_MAX);
    return fail_cell(self, column, self->first + row, fault);
  }
  return true;
}

static uint64_t position_of(const shoal_arrow_loader *self, int64_t i) {
  return (uint64_t)self->n_pieces << 32 | (uint64_t)(i - self->first);
}

/* The code of row i's cell. */
static uint32_t code_of(const shoal_arrow_loader *self, shoal_arrow_column *column, int64_t i,
                        shoal_dictionary *dictionary) {
  char scratch[SCRATCH_BYTES];
  text_cell text;
  const char *fault = row_text(self, column, i, scratch, &text);
  if (!fault && text.size_bytes > UINT32_MAX / 4) fault = "is larger than 1 GiB";
  if (fault) {
    (void)fail_cell(self, column, i, fault);
    return SHOAL_NONE;
  }
  const char *bytes = text.bytes;
  size_t size = (size_t)text.size_bytes;
  if (bytes != scratch) { /* it may be the last text of its buffer */
    if (!shoal_grow_wiping(&column->bytes, &column->bytes_capacity,
                           size + SHOAL_DICTIONARY_SLACK)) {
      column->no_memory = true;
      return SHOAL_NONE;
    }
    memcpy(column->bytes, bytes, size);
    memset(column->bytes + size, 0, SHOAL_DICTIONARY_SLACK);
    bytes = column->bytes;
  } else {
    memset(scratch + size, 0, SHOAL_DICTIONARY_SLACK);
  }
  uint32_t code = shoal_dictionary_code(dictionary, bytes, (uint32_t)size, position_of(self, i));
  if (code == SHOAL_NONE) column->no_memory = true;
  return code;
}

static shoal_arrow_cached *cached_at(const shoal_arrow_column *column, uint64_t word) {
  return &column->cache[shoal_hash_word(word) >> (64 - SHOAL_ARROW_CACHE_BITS)];
}

static bool encode_numbers(const shoal_arrow_loader *self, shoal_arrow_column *column, int64_t from,
                           size_t n, shoal_dictionary *dictionary, uint32_t *codes) {
  for (size_t i = 0; i < n; i++) {
    int64_t row = from + (int64_t)i;
    bool null = shoal_arrow_is_null(&column->cells, row);
    uint64_t word = null ? 0 : shoal_arrow_word(&column->cells, row);
    shoal_arrow_cached *slot = cached_at(column, word);
    if (!null && slot->n && slot->word == word) {
      codes[i] = slot->n - 1;
      continue;
    }
    codes[i] = code_of(self, column, row, dictionary);
    if (codes[i] == SHOAL_NONE) return false;
    if (!null) *slot = (shoal_arrow_cached){word, codes[i] + 1};
  }
  return true;
}

static bool encode_indices(const shoal_arrow_loader *self, shoal_arrow_column *column, int64_t from,
                           size_t n, shoal_dictionary *dictionary, uint32_t *codes) {
  for (size_t i = 0; i < n; i++) {
    int64_t row = from + (int64_t)i;
    uint64_t index = 0;
    bool null = shoal_arrow_is_null(&column->indices, row);
    if (!null && index_of(column, row, &index) && column->map[index]) {
      codes[i] = column->map[index] - 1;
      continue;
    }
    codes[i] = code_of(self, column, row, dictionary);
    if (codes[i] == SHOAL_NONE) return false;
    if (!null) column->map[index] = codes[i] + 1;
  }
  return true;
}

static bool encode_texts(const shoal_arrow_loader *self, shoal_arrow_column *column, int64_t from,
                         size_t *n, shoal_dictionary *dictionary, uint32_t *codes) {
  tile t;
  if (!share_tile(self, column, from, *n, &t) && !copy_tile(self, column, from, *n, &t))
    return false;
  *n = t.n;
  return shoal_dictionary_encode(dictionary, t.bytes, t.begin, t.end, 1, t.n,
                                 position_of(self, from), codes) ||
         fail_memory(column);
}

static bool add_codes(shoal_arrow_loader *self, size_t c) {
  shoal_arrow_column *column = &self->columns[c];
  shoal_dictionary *dictionary = &self->part.dictionaries[c];
  uint32_t codes[TILE_ROWS];
  for (int64_t at = self->first, end = self->first + self->n; at < end;) {
    size_t n = end - at < TILE_ROWS ? (size_t)(end - at) : TILE_ROWS;
    bool ok = column->type.index_width && column->has_map
                  ? encode_indices(self, column, at, n, dictionary, codes)
              : column->cache ? encode_numbers(self, column, at, n, dictionary, codes)
                              : encode_texts(self, column, at, &n, dictionary, codes);
    if (!ok || !check_values(self, column, dictionary)) return false;
    if (!shoal_code_vector_append(&self->part.codes[c], codes, n, dictionary->n_values))
      return fail_memory(column);
    at += (int64_t)n;
  }
  return true;
}

/* ------------------------------------------------------------ columns without codes */

static bool add_identities(shoal_arrow_loader *self, size_t c) {
  shoal_arrow_column *column = &self->columns[c];
  if (!shoal_grow(&self->part.hashes[c], &self->part.hash_capacity[c],
                  self->part.n_rows + (size_t)self->n, sizeof(uint64_t)))
    return fail_memory(column);
  uint64_t *hashes = self->part.hashes[c] + self->part.n_rows;
  char scratch[SCRATCH_BYTES];
  for (int64_t i = 0; i < self->n; i++) {
    text_cell text;
    const char *fault = row_text(self, column, self->first + i, scratch, &text);
    if (fault) return fail_cell(self, column, self->first + i, fault);
    hashes[i] = shoal_hash_bytes(text.bytes, (size_t)text.size_bytes);
  }
  return true;
}

/* Adds a value that `times` rows have. `text` may be the last of its buffer. */
static bool sample_text(const shoal_arrow_loader *self, shoal_arrow_column *column,
                        shoal_value_sample *sample, const text_cell *text, uint64_t times) {
  enum { SLACK = 8 };
  size_t size = (size_t)text->size_bytes;
  if (!shoal_grow_wiping(&column->bytes, &column->bytes_capacity, size + SLACK))
    return fail_memory(column);
  memcpy(column->bytes, text->bytes, size);
  memset(column->bytes + size, 0, SLACK);
  return shoal_value_sample_add_value(sample, self->sampling, column->bytes, size, times) ||
         fail_memory(column);
}

static bool sample_word(const shoal_arrow_loader *self, shoal_arrow_column *column,
                        shoal_value_sample *sample, const shoal_arrow_cached *slot) {
  char scratch[SCRATCH_BYTES];
  text_cell text = {scratch, shoal_arrow_print_word(&column->type, slot->word, scratch)};
  if (!text.size_bytes) text = (text_cell){self->null_text, self->null_size}; /* NaN */
  return sample_text(self, column, sample, &text, slot->n);
}

/* Numbers: the cache counts the rows of recent values, so that each is printed once. */
static bool sample_words(const shoal_arrow_loader *self, shoal_arrow_column *column,
                         shoal_value_sample *sample) {
  uint64_t nulls = 0;
  for (int64_t i = self->first; i < self->first + self->n; i++) {
    if (shoal_arrow_is_null(&column->cells, i)) {
      nulls++;
      continue;
    }
    uint64_t word = shoal_arrow_word(&column->cells, i);
    shoal_arrow_cached *slot = cached_at(column, word);
    if (slot->n && slot->word != word) {
      if (!sample_word(self, column, sample, slot)) return false;
      slot->n = 0;
    }
    slot->word = word;
    slot->n++;
  }
  for (size_t at = 0; at < (size_t)1 << SHOAL_ARROW_CACHE_BITS; at++) {
    shoal_arrow_cached *slot = &column->cache[at];
    if (slot->n && !sample_word(self, column, sample, slot)) return false;
    slot->n = 0;
  }
  text_cell null = {self->null_text, self->null_size};
  return !nulls || sample_text(self, column, sample, &null, nulls);
}

/* Adds the values of the dictionary that rows have, and how many. */
static bool sample_dictionary(shoal_arrow_loader *self, shoal_arrow_column *column,
                              shoal_value_sample *sample) {
  uint64_t nulls = 0;
  if (column->cells.n) memset(column->map, 0, (size_t)column->cells.n * sizeof *column->map);
  for (int64_t i = self->first; i < self->first + self->n; i++) {
    uint64_t index;
    if (shoal_arrow_is_null(&column->indices, i)) nulls++;
    else if (!index_of(column, i, &index))
      return fail_cell(self, column, i, "has an index that its dictionary lacks");
    else column->map[index]++;
  }
  char scratch[SCRATCH_BYTES];
  for (int64_t v = 0; v <= column->cells.n; v++) {
    text_cell text = {self->null_text, self->null_size};
    uint64_t times = v < column->cells.n ? column->map[v] : nulls;
    if (!times) continue;
    const char *fault =
        v < column->cells.n ? value_text(self, &column->cells, v, scratch, &text) : NULL;
    if (fault) return fail_cell(self, column, self->first, fault);
    if (!sample_text(self, column, sample, &text, times)) return false;
  }
  return true;
}

static bool add_sample(shoal_arrow_loader *self, size_t c) {
  shoal_arrow_column *column = &self->columns[c];
  shoal_value_sample *sample = &self->part.samples[c];
  if (column->type.index_width && column->has_map) return sample_dictionary(self, column, sample);
  if (column->cache) return sample_words(self, column, sample);
  for (int64_t at = self->first, end = self->first + self->n; at < end;) {
    tile t;
    size_t n = end - at < TILE_ROWS ? (size_t)(end - at) : TILE_ROWS;
    if (!share_tile(self, column, at, n, &t) && !copy_tile(self, column, at, n, &t)) return false;
    if (!shoal_value_sample_add(sample, self->sampling, t.bytes, t.begin, t.end, 1, t.n))
      return fail_memory(column);
    at += (int64_t)t.n;
  }
  return true;
}

/* ------------------------------------------------------------ all columns */

bool shoal_arrow_has_text(const shoal_arrow_type *type) {
  return type->kind != SHOAL_ARROW_OPAQUE && type->kind != SHOAL_ARROW_BYTES &&
         type->kind != SHOAL_ARROW_BYTE_VIEWS;
}

bool shoal_arrow_is_sampled(const shoal_arrow_loader *self, const shoal_arrow_column *column) {
  return self->sampling && shoal_use_is_sampled(column->use) && shoal_arrow_has_text(&column->type);
}

bool shoal_arrow_is_read(const shoal_arrow_loader *self, const shoal_arrow_column *column) {
  return shoal_use_has_codes(column->use) || column->use == SHOAL_USE_IDENTITY ||
         shoal_arrow_is_sampled(self, column);
}

void shoal_arrow_add_columns(void *user, unsigned thread) {
  (void)thread;
  shoal_arrow_loader *self = user;
  for (;;) {
    size_t c = atomic_fetch_add(&self->next_column, 1);
    if (c >= self->table->n_columns) return;
    const shoal_arrow_column *column = &self->columns[c];
    if (column->use == SHOAL_USE_IDENTITY) (void)add_identities(self, c);
    else if (shoal_use_has_codes(column->use)) (void)add_codes(self, c);
    else if (shoal_arrow_is_sampled(self, column)) (void)add_sample(self, c);
  }
}
