/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/arrow: the stream is read chunk by chunk, and a chunk in slices of rows, between which the
 * caller may cancel. Each slice is a piece of the only part (load.h). What a slice does to a
 * column:
 *
 *     codes       text        cells are looked up where they are, or in a copy with slack
 *                 numbers     recent values have their code in a cache; others are printed
 *                 dictionary  each index gets the code of its value when a row first has it
 *     identity    a hash of each cell
 *     sample      the text of each cell, or of each value of a dictionary with its rows
 */
#include "table/arrow.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "read/arrow.h"
#include "table/dictionary.h"

enum {
  SLICE_ROWS = 1 << 18,
  MIN_PARALLEL_ROWS = 1 << 13,
  TILE_ROWS = 256,
  MAX_TILE_BYTES = 1 << 26,
  CACHE_BITS = 11,
  SCRATCH_BYTES = SHOAL_ARROW_PRINTED + 2 * SHOAL_DICTIONARY_SLACK
};

/* A number and its code, in the place that its hash says. */
typedef struct cached {
  uint64_t word;
  uint32_t code_plus_1; /* 0: empty */
} cached;

typedef struct arrow_column {
  shoal_use use;
  shoal_arrow_type type;
  cached *cache;           /* of numbers that become codes */
  shoal_arrow_cells cells; /* of the chunk, or of its dictionary */
  shoal_arrow_cells indices;
  uint32_t *map; /* by index: code + 1, or rows of the slice */
  size_t map_capacity;
  bool has_map; /* is the map worth its size? */
  char *bytes;  /* cells of a tile, with slack */
  size_t bytes_capacity;
  uint32_t n_checked; /* values that are known to be text */
  const char *fault;  /* what is wrong */
  uint64_t fault_row; /* from 1; 0: no row */
  bool no_memory;
} arrow_column;

typedef struct arrow_loader {
  const char *null_text;
  size_t null_size;
  const shoal_sampling *sampling;
  shoal_table *table;
  arrow_column *columns;
  shoal_use *uses;
  shoal_load_part part;
  shoal_piece *pieces;
  size_t n_pieces, pieces_capacity;
  int64_t first, n; /* the slice, within the chunk */
  atomic_size_t next_column;
} arrow_loader;

/* ------------------------------------------------------------ cells */

typedef struct text_cell {
  const char *bytes;
  uint64_t size_bytes;
} text_cell;

/* The text of value i of the column's cells. `scratch` holds SCRATCH_BYTES. */
static const char *value_text(const arrow_loader *self, const shoal_arrow_cells *cells, int64_t i,
                              char *scratch, text_cell *text) {
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
static bool index_of(const arrow_column *column, int64_t i, uint64_t *index) {
  *index = shoal_arrow_word(&column->indices, i);
  return *index < (uint64_t)column->cells.n; /* a negative one is huge */
}

static const char *row_text(const arrow_loader *self, const arrow_column *column, int64_t i,
                            char *scratch, text_cell *text) {
  uint64_t index;
  if (!column->type.index_width) return value_text(self, &column->cells, i, scratch, text);
  if (shoal_arrow_is_null(&column->indices, i)) {
    *text = (text_cell){self->null_text, self->null_size};
    return NULL;
  }
  if (!index_of(column, i, &index)) return "has an index that its dictionary lacks";
  return value_text(self, &column->cells, (int64_t)index, scratch, text);
}

static bool fail_cell(const arrow_loader *self, arrow_column *column, int64_t i,
                      const char *fault) {
  column->fault = fault;
  column->fault_row = self->part.n_rows + (uint64_t)(i - self->first) + 1;
  return false;
}

static bool fail_memory(arrow_column *column) {
  column->no_memory = true;
  return false;
}

/* ------------------------------------------------------------ tiles of cells */

typedef struct tile {
  const char *bytes;
  uint32_t begin[TILE_ROWS], end[TILE_ROWS];
  size_t n;
} tile;

/* Cells as they are in the chunk, if all of them have slack behind them. */
static bool share_tile(const arrow_loader *self, const arrow_column *column, int64_t from, size_t n,
                       tile *t) {
  const shoal_arrow_cells *cells = &column->cells;
  bool may = shoal_arrow_has_offsets(&column->type) && !column->type.index_width &&
             (!cells->valid || !self->null_size);
  const char *first = NULL;
  for (size_t i = 0; may && i < n; i++) {
    text_cell text;
    if (shoal_arrow_text(cells, from + (int64_t)i, &text.bytes, &text.size_bytes)) return false;
    if (i == 0) first = text.bytes;
    if (cells->bytes && text.bytes + text.size_bytes - first > MAX_TILE_BYTES) return false;
    bool null = shoal_arrow_is_null(cells, from + (int64_t)i);
    t->begin[i] = (uint32_t)(text.bytes - first);
    t->end[i] = null ? t->begin[i] : (uint32_t)(t->begin[i] + text.size_bytes);
    if (i + 1 == n)
      may = cells->bytes &&
            text.bytes + text.size_bytes + SHOAL_DICTIONARY_SLACK <= cells->bytes + cells->end;
  }
  t->bytes = first;
  t->n = n;
  return may;
}

/* Copies of cells, at least one; t->n is set to their number. */
static bool copy_tile(const arrow_loader *self, arrow_column *column, int64_t from, size_t n,
                      tile *t) {
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
static bool check_values(const arrow_loader *self, arrow_column *column,
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

static uint64_t position_of(const arrow_loader *self, int64_t i) {
  return (uint64_t)self->n_pieces << 32 | (uint64_t)(i - self->first);
}

/* The code of row i's cell. */
static uint32_t code_of(const arrow_loader *self, arrow_column *column, int64_t i,
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

static bool encode_numbers(const arrow_loader *self, arrow_column *column, int64_t from, size_t n,
                           shoal_dictionary *dictionary, uint32_t *codes) {
  for (size_t i = 0; i < n; i++) {
    int64_t row = from + (int64_t)i;
    bool null = shoal_arrow_is_null(&column->cells, row);
    uint64_t word = null ? 0 : shoal_arrow_word(&column->cells, row);
    cached *slot = &column->cache[shoal_hash_word(word) >> (64 - CACHE_BITS)];
    if (!null && slot->code_plus_1 && slot->word == word) {
      codes[i] = slot->code_plus_1 - 1;
      continue;
    }
    codes[i] = code_of(self, column, row, dictionary);
    if (codes[i] == SHOAL_NONE) return false;
    if (!null) *slot = (cached){word, codes[i] + 1};
  }
  return true;
}

static bool encode_indices(const arrow_loader *self, arrow_column *column, int64_t from, size_t n,
                           shoal_dictionary *dictionary, uint32_t *codes) {
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

static bool encode_texts(const arrow_loader *self, arrow_column *column, int64_t from, size_t *n,
                         shoal_dictionary *dictionary, uint32_t *codes) {
  tile t;
  if (!share_tile(self, column, from, *n, &t) && !copy_tile(self, column, from, *n, &t))
    return false;
  *n = t.n;
  return shoal_dictionary_encode(dictionary, t.bytes, t.begin, t.end, 1, t.n,
                                 position_of(self, from), codes) ||
         fail_memory(column);
}

static bool add_codes(arrow_loader *self, size_t c) {
  arrow_column *column = &self->columns[c];
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

static bool add_identities(arrow_loader *self, size_t c) {
  arrow_column *column = &self->columns[c];
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

/* Adds the values of the dictionary that rows have, and how many. */
static bool sample_dictionary(arrow_loader *self, arrow_column *column,
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
    size_t size = (size_t)text.size_bytes;
    if (!shoal_grow_wiping(&column->bytes, &column->bytes_capacity, size + 8))
      return fail_memory(column);
    memcpy(column->bytes, text.bytes, size);
    memset(column->bytes + size, 0, 8);
    if (!shoal_value_sample_add_value(sample, self->sampling, column->bytes, size, times))
      return fail_memory(column);
  }
  return true;
}

static bool add_sample(arrow_loader *self, size_t c) {
  arrow_column *column = &self->columns[c];
  shoal_value_sample *sample = &self->part.samples[c];
  if (column->type.index_width && column->has_map) return sample_dictionary(self, column, sample);
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

/* ------------------------------------------------------------ chunks */

static bool has_text(const shoal_arrow_type *type) {
  return type->kind != SHOAL_ARROW_OPAQUE && type->kind != SHOAL_ARROW_BYTES &&
         type->kind != SHOAL_ARROW_BYTE_VIEWS;
}

static bool is_sampled(const arrow_loader *self, const arrow_column *column) {
  return self->sampling && shoal_use_is_sampled(column->use) && has_text(&column->type);
}

static bool is_read(const arrow_loader *self, const arrow_column *column) {
  return shoal_use_has_codes(column->use) || column->use == SHOAL_USE_IDENTITY ||
         is_sampled(self, column);
}

static void add_columns(void *user, unsigned i) {
  (void)i;
  arrow_loader *self = user;
  for (;;) {
    size_t c = atomic_fetch_add(&self->next_column, 1);
    if (c >= self->table->n_columns) return;
    const arrow_column *column = &self->columns[c];
    if (column->use == SHOAL_USE_IDENTITY) (void)add_identities(self, c);
    else if (shoal_use_has_codes(column->use)) (void)add_codes(self, c);
    else if (is_sampled(self, column)) (void)add_sample(self, c);
  }
}

/* The first fault, by row and then by column. */
static shoal_status find_fault(const arrow_loader *self, shoal_error *error) {
  const arrow_column *first = NULL;
  for (size_t c = 0; c < self->table->n_columns; c++) {
    const arrow_column *column = &self->columns[c];
    if (column->no_memory) return shoal_fail_memory(error);
    if (column->fault && (!first || column->fault_row < first->fault_row)) first = column;
  }
  if (!first) return SHOAL_OK;
  shoal_location location = {.file = self->table->name,
                             .row = first->fault_row,
                             .column = self->table->columns[first - self->columns].name};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "%s", first->fault);
}

/* Finds the buffers of a column in a chunk of rows [offset, offset + n) of its struct. */
static const char *open_column(arrow_column *column, const struct ArrowArray *array, int64_t offset,
                               int64_t n) {
  const char *fault = NULL;
  shoal_arrow_type values = column->type;
  values.index_width = 0;
  if (!array) return "its array is NULL";
  if (column->type.index_width) {
    fault = shoal_arrow_indices_of(array, &column->type, &column->indices);
    if (!fault && column->indices.n < offset + n) fault = "it has fewer rows than the table";
    if (!fault) fault = shoal_arrow_cells_of(array->dictionary, &values, &column->cells);
    if (fault) return fault;
    column->indices.offset += offset;
    column->has_map = column->cells.n <= UINT32_MAX / 2 && column->cells.n / 4 <= n;
    if (!column->has_map) return NULL;
    if (!shoal_grow(&column->map, &column->map_capacity, (size_t)column->cells.n,
                    sizeof *column->map)) {
      column->no_memory = true;
      return NULL;
    }
    if (column->cells.n) memset(column->map, 0, (size_t)column->cells.n * sizeof *column->map);
    return NULL;
  }
  fault = shoal_arrow_cells_of(array, &values, &column->cells);
  if (!fault && column->cells.n < offset + n) fault = "it has fewer rows than the table";
  column->cells.offset += offset;
  return fault;
}

static shoal_status open_chunk(arrow_loader *self, const struct ArrowArray *chunk,
                               shoal_error *error) {
  shoal_location location = {.file = self->table->name};
  const shoal_arrow_type rows = {.kind = SHOAL_ARROW_OPAQUE};
  shoal_arrow_cells cells;
  bool sane = chunk->length >= 0 && chunk->offset >= 0 &&
              chunk->length <= INT64_MAX / 16 - chunk->offset && chunk->children &&
              chunk->n_children == (int64_t)self->table->n_columns && chunk->n_buffers <= 1;
  if (!sane)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "an Arrow array does not fit its schema: the stream is damaged");
  cells = (shoal_arrow_cells){.type = rows, .offset = chunk->offset, .n = chunk->length};
  if (chunk->null_count != 0 && chunk->n_buffers == 1 && chunk->buffers)
    cells.valid = chunk->buffers[0];
  for (int64_t i = 0; cells.valid && i < cells.n; i++) {
    location.row = self->part.n_rows + (uint64_t)i + 1;
    if (shoal_arrow_is_null(&cells, i))
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                           "is null as a whole: give nulls column by column");
  }
  for (size_t c = 0; c < self->table->n_columns; c++) {
    arrow_column *column = &self->columns[c];
    if (!is_read(self, column)) continue;
    column->fault = open_column(column, chunk->children[c], chunk->offset, chunk->length);
  }
  return find_fault(self, error);
}

static shoal_status add_chunk(arrow_loader *self, const struct ArrowArray *chunk,
                              const shoal_run *run, shoal_error *error) {
  if (chunk->length == 0) return SHOAL_OK;
  SHOAL_TRY(open_chunk(self, chunk, error));
  for (self->first = 0; self->first < chunk->length; self->first += self->n) {
    int64_t left = chunk->length - self->first;
    self->n = left < SLICE_ROWS ? left : SLICE_ROWS;
    unsigned n_threads = shoal_run_threads(run);
    if (!shoal_grow(&self->pieces, &self->pieces_capacity, self->n_pieces + 1,
                    sizeof *self->pieces))
      return shoal_fail_memory(error);
    atomic_store(&self->next_column, 0);
    if (n_threads > self->table->n_columns) n_threads = (unsigned)self->table->n_columns;
    shoal_parallel(self->n < MIN_PARALLEL_ROWS ? 1 : n_threads, add_columns, self);
    SHOAL_TRY(find_fault(self, error));
    self->pieces[self->n_pieces++] =
        (shoal_piece){.first_row = self->part.n_rows, .n_rows = (size_t)self->n};
    self->part.n_rows += (size_t)self->n;
    SHOAL_TRY(shoal_run_report(run, "read", self->part.n_rows, 0, "rows", error));
  }
  return SHOAL_OK;
}

/* ------------------------------------------------------------ the stream */

/* What the producer says may quote cells: it is not passed on. */
static shoal_status fail_stream(int code, const char *what, shoal_error *error) {
  if (code == ENOMEM) return shoal_fail_memory(error);
  return shoal_fail(error, SHOAL_FAILED, "the Arrow stream failed to give %s: %s", what,
                    strerror(code));
}

static shoal_status add_chunks(arrow_loader *self, struct ArrowArrayStream *stream,
                               const shoal_run *run, shoal_error *error) {
  for (;;) {
    struct ArrowArray chunk = {0};
    int code = stream->get_next(stream, &chunk);
    if (code) return fail_stream(code, "its next rows", error);
    if (!chunk.release) return SHOAL_OK;
    shoal_status status = add_chunk(self, &chunk, run, error);
    chunk.release(&chunk);
    SHOAL_TRY(status);
  }
}

/* Takes names and types of the columns; `known`: an empty set. */
static shoal_status take_columns(arrow_loader *self, const struct ArrowSchema *schema,
                                 shoal_strings *known, const char **names, shoal_error *error) {
  for (size_t c = 0; c < self->table->n_columns; c++) {
    const struct ArrowSchema *child = schema->children[c];
    shoal_location location = {.file = self->table->name};
    if (!shoal_arrow_type_of(child, &self->columns[c].type))
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                           "column %zu has no valid Arrow type: the stream is damaged", c + 1);
    const char *name = child->name ? child->name : "";
    if (!*name)
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "column %zu has no name", c + 1);
    uint32_t number = shoal_strings_intern(known, (shoal_label){name, strlen(name)});
    if (number == SHOAL_NONE) return shoal_fail_memory(error);
    if (number < c)
      return shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "column '%s' occurs twice", name);
    names[c] = self->table->columns[c].name = strdup(name);
    if (!names[c]) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

static shoal_status take_schema(arrow_loader *self, const struct ArrowSchema *schema,
                                const char **names, shoal_error *error) {
  shoal_strings known;
  if (!shoal_strings_init(&known)) return shoal_fail_memory(error);
  shoal_status status = take_columns(self, schema, &known, names, error);
  shoal_strings_reset(&known);
  return status;
}

static shoal_status check_type(const arrow_loader *self, size_t c, shoal_error *error) {
  const arrow_column *column = &self->columns[c];
  bool opaque = column->type.kind == SHOAL_ARROW_OPAQUE;
  if (shoal_use_has_codes(column->use) ? has_text(&column->type)
                                       : column->use != SHOAL_USE_IDENTITY || !opaque)
    return SHOAL_OK;
  shoal_location location = {.file = self->table->name, .column = self->table->columns[c].name};
  return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                       "is nested or of a type that has no text: cast it to text%s",
                       column->use == SHOAL_USE_IDENTITY ? ", or remove it" : "");
}

/* Decides how columns are used. */
static shoal_status plan_columns(arrow_loader *self, const shoal_load_options *options,
                                 const char *const *names, shoal_error *error) {
  size_t n = self->table->n_columns;
  for (size_t c = 0; c < n; c++) self->uses[c] = SHOAL_USE_CODES;
  if (options->plan)
    SHOAL_TRY(options->plan(options->plan_user, self->table->name, names, n, self->uses, error));
  for (size_t c = 0; c < n; c++) {
    arrow_column *column = &self->columns[c];
    column->use = self->uses[c];
    column->type.is_rough = shoal_use_is_sampled(column->use);
    self->table->columns[c].is_outside = column->use == SHOAL_USE_COPY;
    self->table->columns[c].has_plain_numbers = shoal_arrow_is_number(&column->type);
    SHOAL_TRY(check_type(self, c, error));
    if (!shoal_use_has_codes(column->use) || !shoal_arrow_is_word(&column->type) ||
        column->type.index_width)
      continue;
    column->cache = shoal_alloc_zero((size_t)1 << CACHE_BITS, sizeof *column->cache);
    if (!column->cache) return shoal_fail_memory(error);
  }
  return shoal_load_part_init(&self->part, self->uses, n) ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status open_stream(arrow_loader *self, struct ArrowArrayStream *stream,
                                const shoal_load_options *options, shoal_error *error) {
  struct ArrowSchema schema = {0};
  int code = stream->get_schema(stream, &schema);
  if (code) return fail_stream(code, "its schema", error);
  shoal_status status = SHOAL_OK;
  const char **names = NULL;
  bool sane = schema.release && schema.format && strcmp(schema.format, "+s") == 0 &&
              schema.n_children > 0 && schema.children;
  if (!sane) {
    status = shoal_fail(error, SHOAL_BAD_INPUT,
                        "the Arrow stream is not a table with at least one column");
  } else {
    size_t n = (size_t)schema.n_children;
    self->columns = shoal_alloc_zero(n, sizeof *self->columns);
    self->uses = shoal_alloc(n, sizeof *self->uses);
    self->table->columns = shoal_alloc_zero(n, sizeof *self->table->columns);
    names = shoal_alloc(n, sizeof *names);
    if (self->columns && self->uses && self->table->columns && names) self->table->n_columns = n;
    else status = shoal_fail_memory(error);
  }
  if (status == SHOAL_OK) status = take_schema(self, &schema, names, error);
  if (schema.release) schema.release(&schema);
  if (status == SHOAL_OK) status = plan_columns(self, options, names, error);
  free(names);
  return status;
}

static shoal_status merge(arrow_loader *self, const shoal_load_options *options,
                          const shoal_run *run, shoal_error *error) {
  shoal_merge_plan plan = {.parts = &self->part,
                           .n_parts = 1,
                           .pieces = self->pieces,
                           .n_pieces = self->n_pieces,
                           .uses = self->uses,
                           .missing = options->missing,
                           .n_missing = options->n_missing,
                           .unquote = options->unquote,
                           .n_threads = shoal_run_threads(run)};
  if (!self->part.n_rows)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the table has no rows: there is nothing to work on");
  SHOAL_TRY(shoal_table_merge_samples(self->table, &plan, error));
  SHOAL_TRY(shoal_table_merge(self->table, &plan, error));
  self->table->n_records = self->table->n_rows;
  self->table->finished = true;
  return SHOAL_OK;
}

static void loader_reset(arrow_loader *self, size_t n_columns) {
  for (size_t c = 0; self->columns && c < n_columns; c++) {
    arrow_column *column = &self->columns[c];
    shoal_wipe_free(column->cache, ((size_t)1 << CACHE_BITS) * sizeof *column->cache);
    shoal_wipe_free(column->bytes, column->bytes_capacity);
    free(column->map);
  }
  if (self->part.dictionaries) shoal_load_part_reset(&self->part, n_columns);
  free(self->columns);
  free(self->uses);
  free(self->pieces);
}

shoal_status shoal_table_load_arrow(struct ArrowArrayStream *stream, const char *null_text,
                                    const shoal_load_options *options, const shoal_run *run,
                                    shoal_table **out, shoal_error *error) {
  *out = NULL;
  double started = shoal_seconds();
  shoal_table *table = shoal_alloc_zero(1, sizeof *table);
  if (!table) return shoal_fail_memory(error);
  arrow_loader self = {.null_text = null_text,
                       .null_size = strlen(null_text),
                       .sampling = options->sampling,
                       .table = table};
  table->name = strdup("the table");
  table->delimiter = options->delimiter ? options->delimiter : ',';
  shoal_status status = table->name ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = open_stream(&self, stream, options, error);
  if (status == SHOAL_OK) status = add_chunks(&self, stream, run, error);
  if (status == SHOAL_OK) status = merge(&self, options, run, error);
  loader_reset(&self, table->n_columns);
  if (status != SHOAL_OK) {
    shoal_table_delete(table);
    return status;
  }
  table->seconds_read = shoal_seconds() - started;
  *out = table;
  return SHOAL_OK;
}
